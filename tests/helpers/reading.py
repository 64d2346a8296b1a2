"""What reading a table comes to, for tests of its law: one record more moves one count, and nothing else."""

import codecs
import re
from collections import Counter

from dawa import Axis, sources
from dawa.axis.apart import patterns
from dawa.errors import DawaError
from dawa.sources import delimited, places
from dawa.sources.dialect import Dialect

X = Axis("x", 0, 10)
"""The axis that most tests of reading count along, and others by what they count."""
NUMBERS = (X, Axis("x", -100, 100, "0.5", "own"), Axis.edges("x", [0, "0.5", 50], "drop", "drop"))
INTEGERS = (X, Axis("x", -100, 100, 5, "own"), Axis("x", -100, 100, 5, "drop", "drop"), Axis.ordered("x", [0, 5]))
NAIVE = (
    Axis.dates("x", "1969-12-30", "1970-02-01", "1 day"),
    Axis.dates("x", "2013-01-01", "2014-01-01", "1 month", None, "own"),
)
AWARE = (
    Axis.dates("x", "1969-12-30", "1970-02-01", "1 day", "Europe/Berlin"),
    Axis.dates("x", "1969-12-31", "1970-01-02", "1 hour", "UTC", "own", "drop"),
)
LETTERS = (Axis.ordered("x", ["A", "B", "Ä", ""]),)

CANARY = "canary4711"


# --- text by a slow automaton ---------------------------------------------------------------------------------------


def cut(data, dialect):  # noqa: C901, PLR0912  an automaton, one case for each byte
    """Records as lists of byte fields with the raw bytes of each, one byte at a time; empty lines are none.

    Returns:
        For each record its fields, its raw bytes without and with their end, and whether it was complete.
    """
    delimiter, quote, escape = (None if mark is None else ord(mark) for mark in _marks(dialect))
    found, here, state = [], _Open(), "start"
    i = 0
    while i < len(data):
        if not here.raw and data[i : i + 3] == codecs.BOM_UTF8:
            here.raw += codecs.BOM_UTF8
            i += 3
            continue
        byte = data[i]
        here.raw.append(byte)
        i += 1
        if byte == escape:
            state = "quoted" if state == "quoted" else "plain"
            if i < len(data):
                here.raw.append(data[i])
                here.add(data[i])
                i += 1
            else:
                state = "escape"
        elif state == "quoted":
            if byte != quote:
                here.add(byte)
            elif i < len(data) and data[i] == quote:
                here.raw.append(quote)
                here.add(quote)
                i += 1
            else:
                state = "plain"
        elif state == "start" and byte == quote:
            state, here.blank = "quoted", False
        elif byte == delimiter:
            state, here.blank = "start", False
            here.fields.append(bytearray())
        elif byte in b"\r\n":
            here.inner = bytes(here.raw[:-1])
            if byte == 13 and i < len(data) and data[i] == 10:
                here.raw.append(10)
                i += 1
            found.append((here, True))
            here, state = _Open(), "start"
        else:
            state = "plain"
            here.add(byte)
    found.append((here, state not in {"quoted", "escape"}))
    return [
        (
            [bytes(field) for field in one.fields],
            bytes(one.raw) if one.inner is None else one.inner,
            bytes(one.raw),
            whole,
        )
        for one, whole in found
        if not one.blank
    ]


class _Open:
    """A record that goes on."""

    def __init__(self):
        self.fields, self.raw, self.inner, self.blank = [bytearray()], bytearray(), None, True

    def add(self, byte):
        self.fields[-1].append(byte)
        self.blank = False


def _marks(dialect):
    return dialect.delimiter, dialect.quote, dialect.escape


def fitted(rows, columns):
    """Records as a reader keeps them: short ones are filled, damage is missing, all is missing where there is more."""
    filled = ([*row[:columns], *[b""] * (columns - len(row))] for row in rows)
    return [
        (None,) * columns if any(row[columns:]) else tuple(map(as_text, fields))
        for row, fields in zip(rows, filled, strict=True)
    ]


def as_text(field):
    try:
        return field.decode()
    except UnicodeDecodeError:
        return None


def read(path, dialect, columns=None):
    """All records of a text file by the library, as tuples of text."""
    wanted = list(dialect.header or ()) if columns is None else columns
    rows = []
    for batch in delimited.batches([places.file(path)], dialect, wanted):
        rows += zip(*(batch.column(place).to_pylist() for place in range(len(wanted))), strict=True)
    return rows


def named(columns, **marks):
    """A dialect of a file without a header line, with so many columns."""
    return Dialect(header=tuple(f"c{place}" for place in range(columns)), **marks)


# --- counts ---------------------------------------------------------------------------------------------------------


def outcome(table, *axes, unit=None, max_rows_per_unit=1, where=None):
    """What comes of counting a table: its counts, or in their place the words of the refusal, and when it came."""
    step = "opening"
    try:
        with sources.query(table, axes, sources.unit_columns(unit), max_rows_per_unit, where) as query:
            step = "checking"
            query.check()
            step = "reading"
            tally = query.counts()
        return "counted", _counter(tally.inside, None) + _counter(tally.apart, patterns(axes))
    except DawaError as error:
        # where a file lies is public, and not the same for two neighbours
        return step, type(error).__name__, re.sub(r"/\S*/", "", str(error))


def _counter(private, ways):
    """Counts by cell, or by the states of records that are counted apart."""
    if private is None:
        return Counter()
    cells, records = (column.tolist() for column in private.exposed)
    places = cells if ways is None else [ways[cell] for cell in cells]
    return Counter(dict(zip(places, records, strict=True)))


def check_neighbours(more, fewer, most=1):
    """The law, for what came of two tables of which one has a record, or a unit, more."""
    assert more[0] == fewer[0], f"one record changed the outcome: {_short(fewer)} became {_short(more)}"
    if more[0] != "counted":
        assert more == fewer
        return
    assert not fewer[1] - more[1], "a record more took away another"
    assert (more[1] - fewer[1]).total() <= most, f"one record more added {(more[1] - fewer[1]).total()}"


def _short(came):
    return came[0] if came[0] == "counted" else came


def by_row(table, axis, rows):
    """The cell of every row of a table that has the column ``row``; None for a row that is not counted."""
    from dawa import Axis  # noqa: PLC0415  beside its use

    with sources.query(table, (axis, Axis("row", 0, rows))) as query:
        found = query.rows()
    cells = dict.fromkeys(range(rows))
    for flat, number in zip(found["cell"].to_pylist(), found["records"].to_pylist(), strict=True):
        if flat < 0:  # counted apart
            continue
        assert number == 1
        cell, row = divmod(flat, rows)
        cells[row] = cell
    return list(cells.values())
