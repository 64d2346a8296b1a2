# ruff: noqa: DTZ001  times without a zone are part of it
"""Conditions by hand: a slow twin with three truth values, and random conditions to try it with."""

import csv
import io
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from hypothesis import strategies as st

from dawa.sources.where import Among, Comparison, Joined, Missing, Not, Number, Text, Truth

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "NaT")
YES, NO = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")


def holds(node, row, untyped=()):
    """Whether a condition is true (True), false (False) or neither (None) of a row.

    Args:
        node: The condition.
        row: Values by column.
        untyped: Columns whose text has no declared type, so that some words mean a missing value.
    """
    if isinstance(node, Not):
        inner = holds(node.part, row, untyped)
        return None if inner is None else not inner
    if isinstance(node, Joined):
        inner = [holds(part, row, untyped) for part in node.parts]
        decisive = node.word == "or"
        if decisive in inner:
            return decisive
        return None if None in inner else not decisive
    value = row[node.column]
    words = MISSING if node.column in untyped else ()
    if isinstance(node, Missing):
        gone = value is None or value != value or (isinstance(value, str) and value in words)  # noqa: PLR0124  NaN
        return gone == node.missing
    if isinstance(node, Among):
        named = [literal.value for literal in node.literals]
        equal = [compared(value, "=", literal, words, named) for literal in node.literals]
        found = None if None in equal else any(equal)
        return found if node.among or found is None else not found
    return compared(value, node.operator, node.literal, words, [node.literal.value])


def compared(value, operator, literal, words, named):
    """One comparison of a value, whose type says how it is compared."""
    if isinstance(value, str) and value in words and value not in named:
        return None
    pair = both(value, literal)
    if pair is None:
        return None
    left, right = pair
    return {
        "=": bool(left == right),
        "!=": bool(left != right),
        "<": bool(left < right),
        "<=": bool(left <= right),
        ">": bool(left > right),
        ">=": bool(left >= right),
    }[operator]


def both(value, literal):  # noqa: PLR0911  one case for each type
    """The value and the literal in a form that Python compares; None if the value has none."""
    if value is None or value != value:  # noqa: PLR0124  NaN
        return None
    if isinstance(value, str):
        return text(value, literal)
    if isinstance(value, (bool, np.bool_)):
        return bool(value), literal.value
    if isinstance(value, (float, np.floating)):
        return value, type(value)(float(literal.value))
    if isinstance(value, (int, Decimal)):
        return Fraction(value), literal.value
    if isinstance(value, datetime):
        return value, moment(literal.value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day), moment(literal.value)
    raise AssertionError(value)


def text(value, literal):  # noqa: PLR0911  one case for each kind of literal
    """Text is read by what it is compared with."""
    if isinstance(literal, Number):
        if re.fullmatch(r"\s*[+-]?inf\s*", value):
            return float(value), 0
        return (Fraction(value.strip()), literal.value) if NUMBER.fullmatch(value) else None
    if isinstance(literal, Truth):
        word = value.strip().lower()
        return (word in YES, literal.value) if word in YES + NO else None
    if not TIME.fullmatch(literal.value):
        return value.encode(), literal.value.encode()
    bound, found = moment(literal.value), TIME.fullmatch(value.strip())
    try:
        time = datetime.fromisoformat(value.strip()) if found else None
    except ValueError:
        return None
    if time is None or (bound.tzinfo is not None and time.tzinfo is None):
        return None
    return (time, bound) if bound.tzinfo is not None else (time.replace(tzinfo=None), bound)


def moment(written):
    time = datetime.fromisoformat(written)
    return time if time.tzinfo is None else time.astimezone(UTC)


# --- random conditions ----------------------------------------------------------------------------------------------

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
NUMBERS = ("0", "5", "-5", "0.1", "2.5", "-0.5", "1e1", "7.005", "9007199254740993", "100000000000000000000")
TIMES = ("2013-01-01", "2013-01-01 10:00", "2012-12-31 23:59:59.999999", "1970-01-01")
MOMENTS = ("2013-01-01 10:00Z", "2013-01-01T00:00:00+05:30", "1969-12-31 23:59:59Z")
LETTERS = ("A", "B", "Ä", "O'Hare", "", "NA", "a;--")
LITERALS = {
    "number": st.sampled_from(NUMBERS).map(Number),
    "time": st.sampled_from(TIMES).map(Text),
    "moment": st.sampled_from(MOMENTS).map(Text),
    "letter": st.sampled_from(LETTERS).map(Text),
    "truth": st.booleans().map(Truth),
}


@st.composite
def atoms(draw, columns):
    """A comparison that fits its column; ``columns`` says which kinds of literals each may be compared with."""
    column = draw(st.sampled_from(sorted(columns)))
    kind = draw(st.sampled_from(columns[column]))
    which = draw(st.sampled_from(["compare", "compare", "list", "missing"]))
    if which == "missing":
        return Missing(column, draw(st.booleans()))
    if which == "list":
        return Among(column, tuple(draw(st.lists(LITERALS[kind], min_size=1, max_size=4))), draw(st.booleans()))
    operator = draw(st.sampled_from(OPERATORS[:2] if kind == "truth" else OPERATORS))
    return Comparison(column, operator, draw(LITERALS[kind]))


def conditions(columns):
    """Conditions over columns, a few levels deep."""
    return st.recursive(
        atoms(columns),
        lambda inner: (
            inner.map(Not)
            | st.builds(Joined, st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3).map(tuple))
        ),
        max_leaves=6,
    )


def as_csv(folder, y):
    """A file of a number x, which is 5, and of these y."""
    path = folder / "x.csv"
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([["x", "y"], *(("5", value) for value in y)])
    path.write_text(file.getvalue(), encoding="utf-8", newline="")
    return path


def as_parquet(folder, y):
    """The same in Parquet."""
    path = folder / "x.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array([5] * len(y)), "y": pa.array(y)}), path, row_group_size=9000)
    return path
