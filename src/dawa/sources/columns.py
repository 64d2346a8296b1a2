"""Which columns fit which axes: checked from what is declared about them, before any row is read.

Also: columns of categories on an ordered axis.
"""

from dataclasses import dataclass
from typing import Any, cast

import ibis

from dawa.axis import Axis, DateAxis, EdgeAxis, NumberAxis, OrderedAxis
from dawa.errors import AxisError, SourceError
from dawa.sources import numbers, times
from dawa.sources.dialect import MISSING, Dialect
from dawa.sources.placed import Expression, Placed, pointed, whole
from dawa.sources.tables import Column, Source

FEW = 20
"""How many columns an error lists."""


@dataclass(frozen=True)
class Unit:
    """The column that says whose record it is.

    Attributes:
        present: Whether a row has a unit.
        value: The row's unit.
    """

    present: Expression
    value: Expression


def placed(source: Source, axis: Axis) -> Placed:
    """Where the table's rows fall on an axis.

    Raises:
        AxisError: If the table lacks the column, or its type does not fit the axis.
    """
    column = named(source, axis.column, "the axis")
    if column.kind.is_null():  # a column that is declared to hold nothing
        return Placed(ibis.literal(value=False), whole(0))
    if isinstance(axis, (NumberAxis, EdgeAxis)):
        _check_numbers(column, axis)
        return numbers.placed(column, axis, source.engine)
    if isinstance(axis, DateAxis):
        _check_times(column, axis)
        return times.placed(column, axis, source.engine)
    ordered = cast("OrderedAxis", axis)
    _check_labels(column, ordered)
    return on_labels(column, ordered)


def read(text: Expression, axis: Axis, dialect: Dialect, serial: Expression | None = None) -> tuple[Expression, ...]:
    """The values that an axis reads from text of no declared type; ``serial`` are times that are not written as text.

    Raises:
        AxisError: If these values cannot tell the axis's cells apart.
    """
    if isinstance(axis, OrderedAxis):
        return (as_label(text, axis, dialect),)  # a category that the axis lists is never missing
    if not set(dialect.missing) <= set(MISSING):  # the default words cannot be read as numbers or dates anyway
        text = ibis.ifelse(text.isin(dialect.missing), ibis.null("string"), text)
    if isinstance(axis, DateAxis):
        return (times.read(text, axis, dialect, serial),)
    return numbers.read(text, cast("NumberAxis | EdgeAxis", axis), dialect)


def unit(source: Source, name: str) -> Unit:
    """Whose record a row is."""
    column = named(source, name, "unit=")
    kind, value = column.kind, column.value
    if kind.is_nested() or kind.is_binary() or kind.is_json():
        raise SourceError(f"The column {name!r} holds {kind}, which names nobody.", "pass a column of identifiers.")
    if column.text is not None:
        return Unit(value.notnull() & value.notin(("", *column.text.missing)), value)
    return Unit(value.notnull() & ~value.isnan() if kind.is_floating() else value.notnull(), value)


def _check_numbers(column: Column, axis: Axis) -> None:
    kind = column.kind
    if column.text or kind.is_integer() or kind.is_decimal() or kind.is_float32() or kind.is_float64():
        return
    hint = "name a column of integers, decimals, or floats of 32 or 64 bits."
    if kind.is_boolean():
        hint = "use dawa.Axis.ordered(column, [False, True])."
    elif kind.is_timestamp() or kind.is_date():
        hint = "use dawa.Axis.dates(column, start, stop, step)."
    elif kind.is_string():
        hint = "name a column of numbers, convert this one first, or use dawa.Axis.ordered for categories."
    raise AxisError(f"{_holds(column, axis)}, but the axis counts numbers.", hint)


def _check_times(column: Column, axis: DateAxis) -> None:
    kind, aware = column.kind, column.aware
    if column.text is not None:
        _check_format(column, axis)
        return
    if not (kind.is_timestamp() or kind.is_date()):
        raise AxisError(
            f"{_holds(column, axis)}, but the axis counts dates or times.",
            "convert the column to a date or timestamp type.",
        )
    if aware and axis.zone is None:
        raise AxisError(
            f"{_holds(column, axis)}, but the axis has no time zone.",
            "say where its days begin: zone='Europe/Berlin' or zone='UTC'.",
        )
    if axis.zone is not None and not aware:
        raise AxisError(
            f"{_holds(column, axis)}, but the axis has the time zone {axis.zone}.",
            "leave out zone=, or convert the column to a type with a time zone.",
        )


def _check_format(column: Column, axis: DateAxis) -> None:
    """A declared format with an offset needs an axis with a zone."""
    if column.text is not None and column.text.zoned and axis.zone is None:
        raise AxisError(
            f"The format {column.text.date_format!r} has an offset from UTC, but the axis {axis.column!r} has no zone.",
            "say where its days begin: zone='Europe/Berlin' or zone='UTC'.",
        )


def _check_labels(column: Column, axis: OrderedAxis) -> None:
    kind, label = column.kind, axis.labels[0]
    if isinstance(label, bool):
        wanted, fits = "booleans", kind.is_boolean()
    elif isinstance(label, int):
        wanted, fits = "integers", kind.is_numeric() and not kind.is_boolean()
    else:
        wanted, fits = "text", kind.is_string() or kind.is_integer() or kind.is_boolean()
    if column.width is not None or not (fits or column.text):
        raise AxisError(
            f"{_holds(column, axis)}, but the axis lists {wanted}.", "list the values as the column holds them."
        )


def named(source: Source, name: str, where: str) -> Column:
    """A column by its name.

    Raises:
        AxisError: If there is no such column; ``where`` says where its name was given.
    """
    found = source.column(name)
    if found is not None:
        return found
    there = source.names or ()
    few = ", ".join(there[:FEW]) + (", …" if len(there) > FEW else "")
    raise AxisError(f"The table has no column {name!r}.", f"name one of its columns in {where}: {few}.")


def _holds(column: Column, axis: Axis) -> str:
    """What a column holds, in words."""
    kind = column.kind
    words = f"values of the type {kind}"
    if kind.is_string():
        words = "text"
    elif kind.is_boolean():
        words = "true and false"
    elif kind.is_date():
        words = "dates"
    elif kind.is_timestamp():
        words = "times with a time zone" if column.aware else "times without a time zone"
    return f"The column {axis.column!r} holds {words}"


YES, NO = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
"""How truth values are written in text."""
EXACT = 2**53
"""Whole numbers up to this one are exact as floats."""
LARGEST_LABEL = 2**63
"""Whole numbers below this one fit 64 bits."""


def on_labels(column: Column, axis: OrderedAxis) -> Placed:
    """A column of categories on an axis; a listed value counts, even if it is also a word for a missing value."""
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
    """The column in the labels' own type; labels that are text match integers and booleans too."""
    if column.text is not None:
        return column.read[0]
    plain = column.kind.is_string() or not isinstance(axis.labels[0], str)
    return column.value if plain else column.value.cast("string")


def as_label(text: Expression, axis: OrderedAxis, dialect: Dialect) -> Expression:
    """Text in the labels' own type; truth values stay words."""
    if isinstance(axis.labels[0], str):
        return text
    if isinstance(axis.labels[0], bool):
        word = text.strip().lower()
        return ibis.cases((word.isin(YES), ibis.literal("true")), (word.isin(NO), ibis.literal("false")))
    largest = max(abs(int(label)) for label in axis.labels)
    if largest >= LARGEST_LABEL:
        raise AxisError(f"The axis {axis.column!r} lists a number of more than 64 bits.", "list it as text.")
    return pointed(text, dialect).try_cast("float64" if largest < EXACT else "decimal(38, 6)")
