"""Valid inputs made hostile: values of other types and sizes, fields twice or gone, and bytes that changed."""

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

NUMBERS = (
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e400",
    "1e-400",
    "1e99999999",
    "-1e99999999",
    "1e-99999999",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "1/3",
    "1/0",
    "0/5",
    "-7/2",
    "1_000",
    "1__0",
    "_1",
    "0x10",
    " 1 ",
    "١٢",
    "1" * 301,
    "9" * 5000,
    "1e300",
    "1e299",
    "0." + "0" * 400 + "1",
    "1/" + "9" * 299,
    "1/" + "9" * 400,
    ".5",
    "5.",
    ".",
    "",
    "+3",
    "--3",
    "1e",
    "e5",
    "1.5.2",
    "0.1",
    "120",
    "2013-01-01",
    "9007199254740993",
    "4611686018427387904",
    "9223372036854775808",
    "1e18",
    "½",
)
TEXTS = (
    "",
    " ",
    "\n",
    "\0",
    "a" * 3000,
    "\ud800",
    "\U0001f600",
    "e\u0301",
    "<script>alert(1)</script>",
    "'; --",
    "../../etc",
    "${HOME}",
    "%s%n",
    "\x1b[31m",
    "null",
    "true",
    "auto",
    "clip",
    "drop",
    "own",
    "tree",
    "hats",
    "Europe/Berlin",
    "UTC",
    "Mars/Olympus",
    "1 day",
    "1 month",
    "0 days",
    "999999999999999999 years",
    "1 fortnight",
    "2013-01-01",
    "9999-12-31",
    "0001-01-01",
    "2013-02-30",
    "2013-01-01T00:00:00+99:99",
    "2013-01-01T00:00:00+01:00",
    "2013-01-01 25:00",
    "24:00",
)
PLAIN: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    64,
    255,
    65_535,
    65_536,
    65_537,
    2**31,
    2**53,
    2**53 + 1,
    2**62,
    2**63,
    2**64,
    -(2**63),
    10**30,
    10**299,
    0.5,
    -0.5,
    0.9,
    0.999999,
    1e-12,
    1e-320,
    1e17,
    1e18,
    1e38,
    1e300,
    1e308,
    -1e308,
    [],
    {},
    [[]],
    [None],
    {"kind": "tree"},
    {"": ""},
    [0, 1],
    [1e308, 1e308],
)
PYTHON: tuple[Any, ...] = (
    Decimal("sNaN"),
    Decimal("NaN"),
    Decimal("Infinity"),
    Decimal("1E+999999"),
    Decimal("0.1"),
    Fraction(1, 3),
    Fraction(10**400, 7),
    np.float32(0.1),
    np.float64("nan"),
    np.int64(5),
    np.bool_(1),
    np.datetime64("2013-06-01"),
    np.datetime64("NaT"),
    np.complex128(1j),
    1j,
    10**5000,
    float("nan"),
    float("inf"),
    -float("inf"),
    date(2013, 6, 1),
    object,
    b"1",
    "1",
    datetime(2013, 6, 1, tzinfo=UTC),
    timedelta(days=1),
    timedelta(0),
    timedelta(microseconds=1),
    np.array([1, 2]),
    range(3),
    (1, 2),
    {1, 2},
    np.str_("1"),
    np.longdouble("1e400"),
    np.timedelta64(1, "D"),
)
"""Values that only Python passes, and no file."""

TOKENS = (
    b"NaN",
    b"Infinity",
    b"-",
    b"1e999",
    b'"',
    b"\\",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b":",
    b"\xff",
    b"\x00",
    b"0",
    b"\\ud800",
    b"\\u0000",
    b"9" * 400,
    b"9" * 5000,
    b"[" * 40,
    b"[" * 3000,
    b'{"a":' * 50,
    b"null",
    b"true",
    b"\xef\xbb\xbf",
    b"1.",
    b".1",
    b"01",
    b"\n",
    b"#",
    b"=",
    b"'''",
    b'"""',
    b"[[",
    b"a.b.c",
    b"..",
    b"&",
    b"%",
)

ADDED = ("order", "lo", "hi", "kind", "unit_column", "searched", "where", "about", "title", "x", "\ud800")
"""Fields that are put where there may be none."""

Place = tuple[Any, Any]
"""A container, and a key or an index in it."""


def nasty(rng: random.Random, *, python: bool = False) -> Any:  # noqa: ANN401  anything at all
    """A value that somebody would try."""
    kind = rng.randrange(8)
    if python and kind < 2:
        return copy.deepcopy(rng.choice(PYTHON))
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind == 3:
        return rng.choice(TEXTS)
    if kind == 4:
        return rng.choice(
            (rng.randint(-5, 300), rng.uniform(-10, 10), rng.randint(-(2**70), 2**70), 10.0 ** rng.randint(-300, 300))
        )
    if kind == 5:
        return nested(rng.choice((1, 2, 5, 30, 40, 200)))
    return copy.deepcopy(rng.choice(PLAIN))  # what is put into a document is changed further


def nested(depth: int) -> Any:  # noqa: ANN401  lists in lists
    """Lists in lists."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def place_in(document: Any, rng: random.Random) -> Place | None:  # noqa: ANN401  JSON
    """Somewhere in a document: every level is as likely to be changed as the fields below it."""
    node, found = document, None
    while isinstance(node, (dict, list)) and node:
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        found = (node, key)
        node = node[key]
        if rng.random() < 0.15:
            break
    return found


def _replace(place: Place, rng: random.Random) -> None:
    place[0][place[1]] = nasty(rng)


def _remove(place: Place, rng: random.Random) -> None:
    del rng
    del place[0][place[1]]


def _nudge(place: Place, rng: random.Random) -> None:
    """A number that is a little or a lot off; text with a character changed; a list with entries moved."""
    node, key = place
    value = node[key]
    if isinstance(value, bool) or value is None:
        node[key] = not value
    elif isinstance(value, (int, float)):
        changes: tuple[Callable[[Any], Any], ...] = (
            lambda x: x + 1, lambda x: x - 1, lambda x: -x, lambda x: x * 2, lambda x: x * 1e6, lambda x: x / 3,
            lambda x: x + 0.5, str, lambda x: [x], lambda x: x * 10**17, float,
        )  # fmt: skip
        with suppress(OverflowError):  # a whole number beyond every float stays as it is
            node[key] = rng.choice(changes)(value)
    elif isinstance(value, str):
        node[key] = text(value, rng)
    elif isinstance(value, list):
        _shuffle(value, rng)
    else:
        _replace(place, rng)


def _shuffle(values: list[Any], rng: random.Random) -> None:
    kind = rng.randrange(6)
    if not values or kind == 0:
        values.append(nasty(rng))
    elif kind == 1:
        values.pop(rng.randrange(len(values)))
    elif kind == 2:
        values.insert(rng.randrange(len(values)), values[rng.randrange(len(values))])
    elif kind == 3:
        values.reverse()
    elif kind == 4:
        values.extend(values[: rng.randrange(len(values) + 1)])
    else:
        i, j = rng.randrange(len(values)), rng.randrange(len(values))
        values[i], values[j] = values[j], values[i]


def _add(place: Place, rng: random.Random) -> None:
    node = place[0]
    if isinstance(node, dict):
        node[rng.choice(ADDED)] = nasty(rng)
    else:
        node.insert(rng.randrange(len(node) + 1), nasty(rng))


CHANGES: tuple[Callable[[Place, random.Random], None], ...] = (
    _replace,
    _replace,
    _nudge,
    _nudge,
    _nudge,
    _remove,
    _add,
)


def document(value: Any, rng: random.Random) -> None:  # noqa: ANN401  JSON
    """Change a document in a few places."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = place_in(value, rng)
        if place is not None:
            rng.choice(CHANGES)(place, rng)


def text(value: str, rng: random.Random) -> str:
    """Text with a part changed."""
    at = rng.randrange(len(value) + 1)
    before, after = value[:at], value[at:]
    return rng.choice(
        (
            rng.choice(NUMBERS),
            rng.choice(TEXTS),
            before + after[1:],
            before + rng.choice("0123456789-+.:/, eE_\0\n\u0661\ud800x") + after,
            before + rng.choice(NUMBERS) + after,
            value + after,
            before,
        )
    )


def raw(content: bytes, rng: random.Random) -> bytes:
    """Bytes with a part changed, moved, cut or doubled."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, beyond = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.choice(TOKENS)
        elif kind == 2:
            del data[at : min(beyond, at + 20)]
        elif kind == 3:
            data[at:at] = data[at : min(beyond, at + 200)]
        elif kind == 4 and rng.random() < 0.2:
            del data[at:]
        else:
            data[at : at + rng.randrange(6)] = rng.choice(TOKENS)
    return bytes(data)


def doubled(content: str, rng: random.Random) -> str:
    """JSON text with a field written twice."""
    keys = [at for at in range(len(content)) if content.startswith('"', at) and content[at - 1 : at] in "{, "]
    at = rng.choice(keys or [0])
    return (
        f'{content[:at]}"version": 2, {content[at:]}'
        if rng.random() < 0.5
        else f'{content[:at]}"x": 1, "x": 2, {content[at:]}'
    )


def dumped(value: Any) -> str:  # noqa: ANN401  JSON
    """A document as text; what JSON cannot hold is written as Python writes it."""
    return json.dumps(value, separators=(",", ":"))
