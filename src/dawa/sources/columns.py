"""Which columns fit which axes: checked from the table's schema, before any row is read."""

from dataclasses import dataclass
from typing import cast

import ibis

from dawa.axis import Axis, DateAxis, EdgeAxis, NumberAxis, OrderedAxis
from dawa.errors import AxisError, SourceError
from dawa.sources import labels, numbers, times
from dawa.sources.placed import Expression, Placed, whole
from dawa.sources.tables import Source

FEW = 20
"""Columns that an error lists."""


@dataclass(frozen=True)
class Unit:
    """The column that says whose record it is.

    Attributes:
        present: Whether a row has one.
        value: Which.
    """

    present: Expression
    value: Expression


def placed(source: Source, axis: Axis) -> Placed:
    """Where the table's rows fall on an axis.

    Raises:
        AxisError: If the table lacks the column, or its type does not fit the axis.
    """
    column = _column(source, axis.column, "the axis")
    if column.type().is_null():  # a column without a single value, and so without a type
        return Placed(ibis.literal(value=False), whole(0))
    if isinstance(axis, (NumberAxis, EdgeAxis)):
        _check_numbers(source, axis)
        return numbers.placed(column, axis)
    if isinstance(axis, DateAxis):
        _check_times(source, axis)
        return times.placed(column, axis, source.engine)
    ordered = cast("OrderedAxis", axis)
    _check_labels(source, ordered)
    return labels.placed(column, ordered)


def unit(source: Source, name: str) -> Unit:
    """Whose record a row is."""
    column = _column(source, name, "unit=")
    kind = column.type()
    if kind.is_nested() or kind.is_binary() or kind.is_json():
        raise SourceError(f"The column {name!r} holds {kind}, which names nobody.", "pass a column of identifiers.")
    present = column.notnull()
    return Unit(present & ~column.isnan() if kind.is_floating() else present, column)


def _check_numbers(source: Source, axis: Axis) -> None:
    kind = source.table[axis.column].type()
    if kind.is_integer() or kind.is_decimal() or kind.is_float32() or kind.is_float64():
        return
    hint = "name a column of integers, decimals, or floats of 32 or 64 bits."
    if kind.is_boolean():
        hint = "use dawa.Axis.ordered(column, [False, True])."
    elif kind.is_timestamp() or kind.is_date():
        hint = "use dawa.Axis.dates(column, start, stop, step)."
    elif kind.is_string():
        hint = "name a column of numbers, convert this one first, or use dawa.Axis.ordered for categories."
    raise AxisError(f"{_holds(source, axis)}, but the axis counts numbers.", hint)


def _check_times(source: Source, axis: DateAxis) -> None:
    kind, aware = source.table[axis.column].type(), axis.column in source.aware
    if not (kind.is_timestamp() or kind.is_date()):
        raise AxisError(
            f"{_holds(source, axis)}, but the axis counts dates or times.",
            "convert the column to a date or timestamp type.",
        )
    if aware and axis.zone is None:
        raise AxisError(
            f"{_holds(source, axis)}, but the axis has no time zone.",
            "say where its days begin: zone='Europe/Berlin' or zone='UTC'.",
        )
    if axis.zone is not None and not aware:
        raise AxisError(
            f"{_holds(source, axis)}, but the axis has the time zone {axis.zone}.",
            "leave out zone=, or convert the column to a type with a time zone.",
        )


def _check_labels(source: Source, axis: OrderedAxis) -> None:
    kind, label = source.table[axis.column].type(), axis.labels[0]
    if isinstance(label, bool):
        wanted, fits = "booleans", kind.is_boolean()
    elif isinstance(label, int):
        wanted, fits = "integers", kind.is_numeric() and not kind.is_boolean()
    else:
        wanted, fits = "text", kind.is_string() or kind.is_integer() or kind.is_boolean()
    if not fits:
        raise AxisError(
            f"{_holds(source, axis)}, but the axis lists {wanted}.", "list the values as the column holds them."
        )


def _column(source: Source, name: str, where: str) -> Expression:
    there = source.table.columns
    if name in there:
        return source.table[name]
    few = ", ".join(map(str, there[:FEW])) + (", …" if len(there) > FEW else "")
    raise AxisError(f"The table has no column {name!r}.", f"name one of its columns in {where}: {few}.")


def _holds(source: Source, axis: Axis) -> str:
    """What a column holds, in words."""
    kind = source.table[axis.column].type()
    words = f"values of the type {kind}"
    if kind.is_string():
        words = "text"
    elif kind.is_boolean():
        words = "true and false"
    elif kind.is_date():
        words = "dates"
    elif kind.is_timestamp():
        words = "times with a time zone" if axis.column in source.aware else "times without a time zone"
    return f"The column {axis.column!r} holds {words}"
