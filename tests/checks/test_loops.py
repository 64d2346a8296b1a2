"""Loops in C that see private numbers have no floats, nor has what they call; and they are those whose machine code is
looked at."""

from textwrap import dedent

import pytest

from checks import floats, loops
from helpers.checking import WHOLE, loop_floats, whole
from kernels.test_native import PRIVATE

HEAD = """\
#include "kernels.h"

/* A comment with a float, 0.5 and sqrt(2). */
static i64 half(i64 x) { return x / 2; }

"""


def lines(body):
    text = HEAD + dedent(body)
    return loop_floats(text, "made"), {at for at, line in enumerate(text.splitlines(), 1) if "here" in line}


@pytest.mark.parametrize(
    "body",
    [
        "KERNEL(void, made, i64 n, const f64 *x) { half(n); } /* here */",
        "KERNEL(void, made, i64 n, i64 *x) {\n    x[0] = (double)n; /* here */\n}",
        "KERNEL(f64, made, i64 n) { return n; } /* here */",
        "KERNEL(void, made, i64 n, i64 *x) { x[0] = n * 1e3; } /* here */",
        "KERNEL(void, made, i64 n, i64 *x) { x[0] = n * 2.; } /* here */",
        "KERNEL(void, made, i64 n, i64 *x) { x[0] = lround(n); } /* here */",
        "static i64 root(i64 x) { return sqrt(x); } /* here */\nKERNEL(i64, made, i64 n) { return root(n); }",
        "#define ROOT(x) sqrt(x) /* here */\nKERNEL(i64, made, i64 n) { return ROOT(n); }",
        (
            "#define OF(kind) static i64 of_##kind(kind x) { return x; }\nOF(f64) /* here */\n"
            "OF(i64)\nKERNEL(i64, made, i64 n) { return of_f64(n); }"
        ),
        (
            "static const i64 SCALE = 3;\nstatic i64 deep(i64 x) { return x * 0.5; } /* here */\n"
            "static i64 root(i64 x) { return deep(x); }\nKERNEL(i64, made,\n       i64 n) {\n    return root(n);\n}"
        ),
    ],
)
def test_a_float_in_a_loop_is_found(body):
    found, expected = lines(body)
    assert found == expected != set()


@pytest.mark.parametrize(
    "body",
    [
        "KERNEL(i64, made, i64 n) { return half(n) + 0x1e5 + 10; } /* 0.5 */",
        'KERNEL(i64, made, i64 n) { /* float */ const char *text = "double 0.5"; return n; } // f64',
        "static f64 other(f64 x) { return x; }\nKERNEL(i64, made, i64 n) { i64 round = n; return round; }",
        (
            "#define OF(kind) static i64 of_##kind(kind x) { return x; }\nOF(f64)\nOF(i64)\n"
            "KERNEL(i64, made, i64 n) { return of_i64(n); }"
        ),
    ],
)
def test_whole_loops_are_left_alone(body):
    assert lines(body)[0] == set()


def test_what_a_loop_writes_to_follows_from_what_it_takes():
    text = HEAD + "KERNEL(void, made, i64 n, const i64 *read, i64 *restrict written,\n       u8 *also) { }"
    assert loops.kernels(loops.read({"made.c": text})) == {"made": (False, False, True, True)}


def test_a_loop_that_is_not_there_is_refused():
    assert loop_floats(HEAD, "made") == {0}


def test_all_loops_are_read():
    """As many as the sources define, and each with what it takes."""
    sources = {path: text for path, text in WHOLE.items() if path.endswith((".c", ".h"))}
    defined = sum(text.count("\nKERNEL(") for text in sources.values())
    assert (
        len({name for parts in loops.read(sources).values() for name, loop in parts.items() if "KERNEL" in loop.text})
        >= defined - 1
    )


def test_private_loops_are_those_whose_machine_code_is_looked_at():
    """Two ways of looking, from the source and from the compiler, at the same loops."""
    looked_at = {name for names in PRIVATE.values() for name in names}
    assert set(whole().loops) <= looked_at


def test_the_sources_are_all_there():
    assert {"src/dawa/counts.py", "src/dawa/sources/__init__.pyi", "src/dawa/kernels/c/hats.h"} <= set(floats.texts())
