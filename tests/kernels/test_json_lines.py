"""Values are picked out of lines of JSON as Python's own parser finds them, whatever is in the lines."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import json_lines as kernel
from dawa.limits import MOST_JSON_DEPTH
from dawa.sources.json_lines import _tree
from helpers import json_twin
from helpers.examples import examples
from helpers.json_twin import lines, read

COLUMNS = ["x", "a.b", "a", "é", "a.b.c", "", "x.x"]
KEYS = ['"x"', '"a"', '"b"', '"a.b"', '"c"', '"é"', '"\\u00e9"', '"\\u0061"', '""', '"x\\u002ex"', '"a\\"b"']
VALUES = [
    *("1", "-0", "01", "1.5", "1e2", "1E+02", "-1.5e-7", "1e", "-", ".5", "5.", "+5", "0x5", "1_0"),
    "12345678901234567890",
    *("true", "false", "null", "True", "NaN", "Infinity", "-Infinity", "-NaN", "nul", "nulll"),
    *('"A"', '""', '"é"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\ude00\\ud83d"', '"\\u0000"', '"\\x"', '"\\u12g4"'),
    '"\\u12',
    *('"q\\"q\\\\"', '"\\/\\b\\f\\n\\r\\t"', '"\t"', "'A'", '"open', "\x00", "true\x00", '"\x7f"', "{}", "[]", "[1,]"),
    "{,}",
]  # fmt: skip
PIECES = [*KEYS, *VALUES, "{", "}", "[", "]", ":", ",", " ", "\t", "\r", "\ufeff", "\\", '"']
LAW = examples(200)


def value(rng, depth=0):
    kind = rng.random()
    if kind < 0.25 and depth < 4:
        pairs = (
            f"{rng.choice(KEYS)}{rng.choice([':', ' : '])}{value(rng, depth + 1)}" for _ in range(rng.randrange(4))
        )
        return "{" + ",".join(pairs) + "}"
    if kind < 0.35 and depth < 4:
        return "[" + ", ".join(value(rng, depth + 1) for _ in range(rng.randrange(3))) + "]"
    return rng.choice(VALUES[: 5 if rng.random() < 0.5 else None])


def some_line(rng):
    """Mostly an object, often a damaged one."""
    if rng.random() < 0.2:
        return "".join(rng.choices(PIECES, k=rng.randrange(12))).encode()
    pairs = ",".join(f"{rng.choice(KEYS)}:{value(rng)}" for _ in range(rng.randrange(5)))
    data = bytearray(f"{{{pairs}}}".encode())
    if rng.random() < 0.2:
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data).replace(b"\n", b" ")


def test_values_are_those_of_pythons_parser():
    rng, there, whole = random.Random(4711), 0, 0  # noqa: S311  a test
    for _ in range(400):
        some = [some_line(rng) for _ in range(60)]
        found = read(b"\n".join(some), COLUMNS)
        expected = lines(b"\n".join(some), COLUMNS)
        if found != expected:
            for one in some:
                assert read(one, COLUMNS) == lines(one, COLUMNS), one
        assert found == expected
        whole += len(found)
        there += sum(any(value is not None for value in row) for row in found)
    assert there > whole / 10, "the test also sees lines that are whole"


@LAW
@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_by_the_twin(data):
    assert read(data, COLUMNS) == lines(data, COLUMNS)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.sampled_from("xab"), inner),
    max_leaves=12,
)


@pytest.mark.long
@LAW
@given(
    st.dictionaries(st.sampled_from(["x", "a", "a.b", "é", ""]) | st.text(max_size=3), anything, max_size=5),
    st.booleans(),
    st.sampled_from([None, 0, 1]),
)
def test_what_programs_write_is_read(record, ascii_only, indent):
    text = json.dumps(record, ensure_ascii=ascii_only, indent=indent).replace("\n", " ")
    data = text.encode("utf-8", "surrogatepass").replace(b"\n", b" ")
    assert read(data, COLUMNS) == lines(data, COLUMNS)
    assert read(data, COLUMNS) != [], "it is a record"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"x": 1e2}', "1e2"),
        ('{"x": 0.10}', "0.10"),
        ('{"x": 12345678901234567890}', "12345678901234567890"),
        ('{"x": 0.1000000000000000055511151231257827}', "0.1000000000000000055511151231257827"),
        ('{"x": -0}', "-0"),
        ('{"x": true}', "true"),
        ('{"x": true\x00}', None),
        ('{"x": -Infinity\x00}', None),
        ('{"x": "1e2"}', "1e2"),
        ('{"x": " 5 "}', " 5 "),
        ('{"x": ""}', ""),
        ('{"x": null}', None),
        ('{"x": [5]}', None),
        ('{"x": {"x": 5}}', None),
        ('{"y": 5}', None),
        ('{"X": 5}', None),
        ('[{"x": 5}]', None),
        ("5", None),
        ('"x"', None),
        ('{"x": 5', None),
        ('{"x": 5} {"x": 6}', None),
        ('{"x": 5}}', None),
        ('{"x": 5} // five', None),
        ('{"x": 5,}', None),
        ("{'x': 5}", None),
        ('{"x": 5, "y": [1, {"x": 7}]}', "5"),
        ('{"x": 5, "x": 6}', "6"),
        ('{"x": 5, "x": null}', None),
        ('{"\\u0078": 5}', "5"),
        ("{}", None),
    ],
)
def test_typical_lines(text, expected):
    assert read(text.encode(), ["x"]) == [(expected,)]


def test_dots_lead_into_objects_unless_there_is_such_a_key():
    for text, expected in (
        ('{"visit": {"age": 5}}', "5"),
        ('{"visit.age": 6, "visit": {"age": 5}}', "6"),
        ('{"visit": {"age": 5}, "visit.age": null}', None),
        ('{"visit": {"age": 5}, "visit": {"year": 1}}', None),
        ('{"visit": {"age": 5}, "visit": {"age": 7}}', "7"),
        ('{"visit": [{"age": 5}]}', None),
        ('{"visit": {"age": {"age": 5}}}', None),
        ('{"visit": {"visit": {"age": 5}}}', None),
        ('{"other": {"visit": {"age": 5}}}', None),
        ('{"visit": "age"}', None),
    ):
        assert read(text.encode(), ["visit.age"]) == [(expected,)], text
        assert lines(text.encode(), ["visit.age"]) == [(expected,)], text


def test_depth_ends_where_it_is_said_to_and_touches_no_other_line():
    for depth, expected in (
        (MOST_JSON_DEPTH - 1, "5"),
        (MOST_JSON_DEPTH, "5"),
        (MOST_JSON_DEPTH + 1, None),
        (10**6, None),
    ):
        deep = b'{"x": 5, "y": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
        assert read(b'{"x": 1}\n' + deep + b'\n{"x": 2}', ["x"]) == [("1",), (expected,), ("2",)]
    unclosed = b'{"x":' * 10**5
    assert read(unclosed + b'\n{"x": 2}', ["x"]) == [(None,), ("2",)]


def test_columns_that_begin_alike_are_told_apart():
    columns = [f"{'a' * size}" for size in range(1, 9)] + ["a.a", "a.a.a", "aa.a"]
    record = {"a" * size: size for size in range(1, 9)} | {"a": {"a": {"a": 11}}, "aa": {"a": 12}}
    data = json.dumps(record).encode()
    assert read(data, columns) == [json_twin.line(data, columns)]
    assert read(data, columns)[0][-2:] == ("11", "12")


def picked(data=b'{"x": 1}\n{"x": 2}\n', room=3, deepest=5, **changed):
    """What the kernel says of two lines, with some arguments changed."""
    tree, column = _tree(["x", "a.b"])
    given = {
        "tree": tree,
        "column": column,
        "text": np.full((2, len(data)), ord("?"), np.uint8),
        "ends": np.full((2, room + 1), -1, np.int32),
        "there": np.zeros((2, room), np.bool_),
    }
    assert not set(changed) - set(given)
    given.update(changed)
    rows = kernel.pick(np.frombuffer(bytearray(data), np.uint8), 100, deepest, ord("."), **given)
    return rows, given["text"].tobytes(), given["ends"].tolist(), given["there"].tolist()


def test_values_follow_one_another_and_nothing_else_is_written():
    assert picked() == (
        2,
        b"12" + b"?" * 34,
        [[0, 1, 2, -1], [0, 0, 0, -1]],
        [[True, True, False], [False, False, False]],
    )
    assert picked(room=2)[0] == 2
    assert picked(b"", room=0) == (0, b"", [[0], [0]], [[], []])


@pytest.mark.parametrize(
    "changed",
    [
        {"room": 1},
        {"room": 0},
        {"deepest": 0},
        {"text": np.zeros((2, 17), np.uint8)},
        {"text": np.zeros((1, 18), np.uint8)},
        {"ends": np.zeros((2, 3), np.int32)},
        {"ends": np.zeros((2, 4), np.int64)},
        {"there": np.zeros((3, 3), np.bool_)},
        {"column": np.zeros((1, 2), np.int64)},
        {"column": np.array([[0, 1], [2, -1]])},
        {"column": np.array([[0, 0], [0, 0]])},
        {"tree": (*_tree(["x", "a.b"])[0][:6], np.zeros(2, np.int64))},
        {"tree": (*_tree(["x", "a.b"])[0][:6], np.full(5, 9))},
    ],
    ids=str,
)
def test_results_and_keys_that_do_not_fit_are_refused(changed):
    """Rather than read or written past."""
    with pytest.raises(InvariantError):
        picked(**changed)
