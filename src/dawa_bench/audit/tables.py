"""Neighbouring tables that are made to hurt, and ways to ask for a release of them.

Two tables are neighbours if one has a record more, or where persons are protected, a person more with all records. The
rows that both have are ordinary. What one has more is the worst that somebody could think of: the ends of every type,
what readers mistake for something else, what makes readers that guess change their mind.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from dawa import Axis
from dawa.axis import AutoAxis

Record = tuple[Any, ...]
"""The values of one row, in the order of ``NAMES``; None is missing."""

NAMES = ("x", "n", "day", "word", "who")
"""A column of floats, one of whole numbers, one of times, and two of text: a category, and whose record it is."""

FEW, MANY = 20, 30_000
CAP = 2
"""How many records of a person are counted."""
NEW = "somebody else"
"""Whose records the odd ones are: nobody's of the ordinary ones."""
NOON = datetime(2013, 6, 1, 12)  # noqa: DTZ001  clocks, as they are written

TYPED, ARROW, LOOSE, TEXT, JSON, GERMAN, SHEET = "typed", "arrow", "loose", "text", "json", "german", "sheet"
"""Kinds of odd records: values of the declared types, text that is not UTF-8 as Arrow can hold it, values of any type,
and bytes of a text file, of JSON lines, of a text file in another dialect, or of a row in a workbook."""


@dataclass(frozen=True)
class Odd:
    """What one of two neighbours has more.

    Attributes:
        name: What is odd about it.
        kind: Which sources can hold it.
        records: Its values; several, if they are all records of one person.
        written: Its bytes in a text file, if it is not given by values.
        last: Whether it comes last: a line that opens a quote would take those that follow with it.
    """

    name: str
    kind: str = TYPED
    records: tuple[Record, ...] = ()
    written: bytes = b""
    last: bool = False


@dataclass(frozen=True)
class Table:
    """A table: ordinary rows, and perhaps odd ones among them."""

    before: tuple[Record, ...]
    after: tuple[Record, ...]
    odd: Odd | None = None

    @property
    def records(self) -> tuple[Record, ...]:
        """All rows that are given by values."""
        return (*self.before, *(() if self.odd is None else self.odd.records), *self.after)


@dataclass(frozen=True)
class Asked:
    """A release that is asked for, in Python and on the command line.

    Attributes:
        name: What is special about it.
        axes: Its axes.
        typed: The same as it is typed.
        options: What else ``dawa.release`` is told.
        rows: How many ordinary rows the table has.
    """

    name: str
    axes: tuple[Axis | AutoAxis, ...]
    typed: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    rows: int = FEW

    @property
    def of_persons(self) -> bool:
        """Whether neighbours differ by a person, and not by a record."""
        return "unit" in self.options


@cache
def ordinary(rows: int) -> tuple[Record, ...]:
    """Rows as everybody has them, without anything missing; all records of a person are the same.

    Which records of a person are kept is chosen at random by the engine, and not at the gates. The proof compares runs
    that choose alike (``sources/unit.md``); here it does not matter how they choose.
    """
    rng, persons = np.random.default_rng(rows), rows // CAP
    values = zip(
        np.round(rng.uniform(0, 10, persons), 2).tolist(),
        rng.integers(0, 10, persons).tolist(),
        rng.integers(0, 365 * 24, persons).tolist(),
        rng.choice(["A", "B", "C"], persons).tolist(),
        strict=True,
    )
    first = datetime(2013, 1, 1)  # noqa: DTZ001  likewise
    found = [
        (x, n, first + timedelta(hours=hour), word, f"p{person}") for person, (x, n, hour, word) in enumerate(values)
    ]
    return (*(record for record in found for _ in range(CAP)), *[(4.5, 4, first, "A", "too many")] * (CAP + 3))


def neighbours(asked: Asked, odd: Odd) -> tuple[Table, Table]:
    """The table without what is odd, and with it."""
    rows = ordinary(asked.rows)
    at = len(rows) if odd.last or asked.rows == MANY else len(rows) // 2
    return Table(rows[:at], rows[at:]), Table(rows[:at], rows[at:], odd)


def odds(kinds: frozenset[str], asked: Asked) -> Iterator[Odd]:
    """Everything odd of these kinds that makes neighbours for what is asked."""
    for odd in ODDS:
        if odd.kind in kinds and (asked.of_persons or len(odd.records) <= 1):
            yield odd


def _one(name: str, *values: Any, kind: str = TYPED) -> Odd:  # noqa: ANN401  values of any type
    return Odd(name, kind, ((*values, NEW),))


def _line(name: str, written: bytes, kind: str = TEXT, *, last: bool = False) -> Odd:
    return Odd(name, kind, written=written, last=last)


class Rude:
    """Raises whatever is asked of it."""

    def _no(self, *_: object) -> Any:  # noqa: ANN401  it never answers
        raise ValueError("a value")

    __str__ = __repr__ = __eq__ = __float__ = __int__ = __bool__ = __len__ = __iter__ = __index__ = _no
    __hash__ = None  # type: ignore[assignment]


def _spread() -> tuple[Record, ...]:
    """A person who has been everywhere."""
    months = [datetime(2013, month, 1) for month in range(1, 10)]  # noqa: DTZ001  likewise
    return tuple((number + 0.5, number, months[number], "ABC"[number % 3], NEW) for number in range(9))


ODDS = (
    _one("an ordinary record", 5.25, 5, NOON, "A"),
    _one("nothing but a name", None, None, None, None),
    Odd("nothing at all", TYPED, ((None,) * 5,)),
    _one("numbers that are none", float("nan"), 5, NOON, "NaN"),
    _one("the largest", 1.7e308, 2**63 - 1, datetime(9999, 12, 31, 23, 59, 59, 999999), "z" * 100_000),  # noqa: DTZ001  likewise
    _one("the least", float("-inf"), -(2**63), datetime(1, 1, 1), ""),  # noqa: DTZ001  likewise
    _one("the tiniest", 5e-324, -1, datetime(1969, 12, 31, 23, 59, 59, 999999), "Ä"),  # noqa: DTZ001  likewise
    _one("just below a border", 9.999999999999998, 9, datetime(2013, 12, 31, 23, 59, 59, 999999), "A "),  # noqa: DTZ001  likewise
    _one("quotes and line breaks", 5.25, 5, NOON, '"\r\n,;\t"" A'),
    _one("a word for missing", 5.25, 5, NOON, "NA"),
    _one("a statement", 5.25, 5, NOON, "'; drop table people; --"),
    Odd("a person with records everywhere", TYPED, _spread()),
    Odd("a person with a thousand records", TYPED, ((7.5, 7, NOON, "B", NEW),) * 1000),
    Odd("a person with records in no cell", TYPED, ((None, None, None, None, NEW), (-5.0, 99, None, "?", NEW)) * 3),
    _one("text that is not UTF-8", 5.25, 5, NOON, b"A\xff", kind=ARROW),
    _one("words in place of numbers", "late", "soon", "yesterday", 5, kind=LOOSE),
    _one("a float among whole numbers", 5, 5.5, NOON.date(), b"A", kind=LOOSE),
    _one("objects that raise", Rude(), Rude(), Rude(), Rude(), kind=LOOSE),
    _one("numbers of a thousand digits", 10**1000, -(10**1000), 10**1000, 10**1000, kind=LOOSE),
    _one("numbers as text", "5.25", "5", "2013-06-01 12:00:00", 5, kind=LOOSE),
    _one("bytes that are not UTF-8", b"\xff", b"\xff", b"\xff", b"\xff", kind=LOOSE),
    _line("a short line", b"5.25\n"),
    _line("a long line", b"5.25,5,2013-06-01,A,somebody else,more,and more\n"),
    _line("an empty line", b"\n"),
    _line("lines in quotes", b'5.25,5,2013-06-01,"A\r\n\n5.25,5,2013-06-01,B\r\n",somebody else\r\n'),
    _line("quotes in the middle", b'5.25,"5"x,2013-06-01,A"B"C,"somebody"" else"\n'),
    _line("words in place of numbers", b"late,soon,yesterday,5,somebody else\n"),
    _line("a float among whole numbers", b"5,5.5,2013-06-01,A,somebody else\n"),
    _line("a number of 800 digits", b"-" + b"9" * 800 + b"," + b"9" * 800 + b",9999999,A,somebody else\n"),
    _line("more than a float holds", b"1e999,1e999,2013-06-01,A,somebody else\n"),
    _line("a day that is a month", b"5.25,5,13/01/2013,A,somebody else\n"),
    _line("a day that does not exist", b"5.25,5,2013-02-30,A,somebody else\n"),
    _line("words for missing", b"NA,NULL,,N/A,somebody else\n"),
    _line("bytes of Latin-1", b"5.25,5,2013-06-01,\xe4\xff,somebody else\n"),
    _line("zero bytes", b"5\0,\0,2013-06-01,A\0,somebody else\n"),
    _line("another delimiter", b"5;5;2013-06-01;A;somebody else\n"),
    _line("a comment", b"#5.25,5,2013-06-01,A,somebody else\n"),
    _line("a byte order mark", b"\xef\xbb\xbf5.25,5,2013-06-01,A,somebody else\n"),
    _line("three megabytes", b"5.25,5,2013-06-01," + b"z" * 3_000_000 + b",somebody else\n"),
    _line("only a carriage return", b"5.25,5,2013-06-01,A,somebody else\r"),
    _line("a quote that is never closed", b'5.25,5,2013-06-01,"A,somebody else\n', last=True),
    _line("no end", b"5.25,5,2013-06-01,A,somebody else", last=True),
    _line("no JSON", b"{'x': 5}\n", JSON),
    _line("half an object", b'{"x": 5.25, "n": \n', JSON),
    _line("a list", b"[5.25, 5]\n", JSON),
    _line("a key twice", b'{"x": 1, "x": 5.25, "n": 5, "word": "A", "who": "somebody else"}\n', JSON),
    _line("nested", b'{"x": {"y": 5}, "n": [5], "day": {}, "word": [], "who": "somebody else"}\n', JSON),
    _line("nested too deep", b'{"x": ' + b"[" * 5000 + b"]" * 5000 + b"}\n", JSON),
    _line(
        "words in place of numbers", b'{"x": "late", "n": true, "day": 5, "word": 5, "who": "somebody else"}\n', JSON
    ),
    _line("numbers that are none", b'{"x": NaN, "n": Infinity, "who": "somebody else"}\n', JSON),
    _line("half a pair", b'{"x": 5.25, "n": 5, "word": "\\ud800", "who": "somebody else"}\n', JSON),
    _line("a number of 800 digits", b'{"x": ' + b"9" * 800 + b', "n": 1e999, "who": "somebody else"}\n', JSON),
    _line("a byte order mark", b'\xef\xbb\xbf{"x": 5.25, "n": 5, "who": "somebody else"}\n', JSON),
    _line("bytes of Latin-1", b'{"x": 5.25, "n": 5, "word": "\xe4", "who": "somebody else"}\n', JSON),
    _line("a day that is a month", b"5,25;5;01/13/2013;A;somebody else\n", GERMAN),
    _line("a decimal point", b"5.25;5.0;2013-06-01;A;somebody else\n", GERMAN),
    _line("bytes of UTF-8", "5,25;5;01.06.2013;Ä€;somebody else\n".encode(), GERMAN),
    _line("another delimiter", b"5,5,01.06.2013,A,somebody else\n", GERMAN),
    _line("words for missing", b"-99;-99;-99;-99;somebody else\n", GERMAN),
    _line("errors", b'<row><c r="A1" t="e"><v>#DIV/0!</v></c><c r="B1" t="e"><v>#N/A</v></c></row>', SHEET),
    _line("a string that is not there", b'<row><c r="A1" t="s"><v>9999999</v></c></row>', SHEET),
    _line("a kind that is not known", b'<row><c r="A1" t="zz"><v>5</v></c><c r="B1" t="b"><v>7</v></c></row>', SHEET),
    _line("a cell twice", b'<row><c r="A1"><v>1</v></c><c r="A1"><v>5.25</v></c></row>', SHEET),
    _line("a hidden row far below", b'<row r="1048576" hidden="1"><c r="A1048576"><v>5.25</v></c></row>', SHEET),
    _line("a formula", b'<row><c r="A1"><f>1/0</f><v>5.25</v></c><c r="B1"><f>A1</f></c></row>', SHEET),
    _line("far to the right", b'<row><c r="XFD1"><v>5.25</v></c></row>', SHEET),
    _line(
        "words in place of numbers", b'<row><c r="A1" t="str"><v>late</v></c><c r="C1"><v>-1e300</v></c></row>', SHEET
    ),
    _line("an empty row", b"<row/>", SHEET),
    _line("a column of digits", b'<row><c r="1"><v>5</v></c><c><v>5</v></c><c r="A0"><v>5</v></c></row>', SHEET),
)
"""Everything odd, named once for each kind."""

X, ON_X = Axis("x", 0, 10), ("--column", "x", "--range", "0:10")
DAYS = Axis.dates("day", "2013-01-01", "2014-01-01", "1 month", outside="own")
ON_DAYS = ("--column", "day", "--range", "2013-01-01..2014-01-01", "--step", "1 month", "--outside", "own")
PERSONS, OF_PERSONS = {"unit": "who", "max_rows_per_unit": CAP}, ("--unit", "who", "--max-rows-per-unit", str(CAP))
WHERE = "n >= 3 and not word = 'A'"

ASKED = (
    Asked("numbers", (X,), ON_X),
    Asked("numbers, many rows", (X,), ON_X, rows=MANY),
    Asked(
        "whole numbers apart",
        (Axis("n", 0, 10, outside="own"),),
        ("--column", "n", "--range", "0:10", "--outside", "own"),
    ),
    Asked("days apart", (DAYS,), ON_DAYS),
    Asked("words", (Axis.ordered("word", ["A", "B", "Ä"]),), ("--column", "word", "--values", "A,B,Ä")),
    Asked("a map", (X, DAYS), (*ON_X, *ON_DAYS)),
    Asked("groups", (X,), (*ON_X, "--by", "word=A,B", "--other"), {"by": {"word": ["A", "B"]}, "other": True}),
    Asked("a condition", (X,), (*ON_X, "--where", WHERE), {"where": WHERE}),
    Asked("persons", (X,), (*ON_X, *OF_PERSONS), PERSONS),
    Asked(
        "persons in groups",
        (DAYS,),
        (*ON_DAYS, *OF_PERSONS, "--by", "word=A,B"),
        {**PERSONS, "by": {"word": ["A", "B"]}},
    ),
    Asked("bounds that are found", (Axis.auto("x"),), ("--column", "x", "--range", "auto")),
    Asked(
        "a cap that is found",
        (X,),
        (*ON_X, "--unit", "who", "--max-rows-per-unit", "auto"),
        {"unit": "who", "max_rows_per_unit": "auto"},
    ),
)
"""Every way to ask that is audited."""
