"""Columns of categories, on an ordered axis."""

from typing import Any

import ibis

from dawa.axis import OrderedAxis
from dawa.dialect import Dialect
from dawa.errors import AxisError
from dawa.sources.placed import Expression, Placed, pointed, whole
from dawa.sources.tables import Column

YES, NO = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
"""How truth values are written in text."""
EXACT = 2**53
"""Whole numbers up to here are floats."""
MOST_LABEL = 2**63
"""Whole numbers up to here fit 64 bits."""


def placed(column: Column, axis: OrderedAxis) -> Placed:
    """A column of categories on an axis. A value that is listed counts, whatever else it may mean."""
    value, labels = _value(column, axis), axis.labels
    if column.text is not None and isinstance(labels[0], bool):
        labels = tuple("true" if label else "false" for label in axis.labels)
    pairs = [(label, cell) for cell, label in enumerate(labels) if _fits(label, value.type())]
    if not pairs:
        return Placed(ibis.literal(value=False), whole(0))
    cells = value.cases(*((ibis.literal(label), whole(cell)) for label, cell in pairs), else_=whole(0))
    return Placed(value.notnull() & value.isin([label for label, _ in pairs]), cells)


def _fits(label: object, kind: Any) -> bool:  # noqa: ANN401  Ibis is untyped
    """Whether a column of a type can hold a label at all."""
    whole_numbers = isinstance(label, int) and kind.is_integer()
    return not whole_numbers or bool(kind.bounds.lower <= label <= kind.bounds.upper)


def _value(column: Column, axis: OrderedAxis) -> Expression:
    """The column in the labels' own type; labels in text stand for integers and booleans too."""
    if column.text is not None:
        return column.read[0]
    plain = column.kind.is_string() or not isinstance(axis.labels[0], str)
    return column.value if plain else column.value.cast("string")


def read(text: Expression, axis: OrderedAxis, dialect: Dialect) -> Expression:
    """Text in the labels' own type; truth values stay words."""
    if isinstance(axis.labels[0], str):
        return text
    if isinstance(axis.labels[0], bool):
        word = text.strip().lower()
        return ibis.cases((word.isin(YES), ibis.literal("true")), (word.isin(NO), ibis.literal("false")))
    largest = max(abs(int(label)) for label in axis.labels)
    if largest >= MOST_LABEL:
        raise AxisError(f"The axis {axis.column!r} lists a number of more than 64 bits.", "list it as text.")
    return pointed(text, dialect).try_cast("float64" if largest < EXACT else "decimal(38, 6)")
