"""Which columns fit which axes: checked from what is declared about them, before any row is read.

Also: columns of categories on an ordered axis.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import ibis
import ibis.expr.datatypes as dt

from dawa.axis import AddressAxis, Axis, DateAxis, EdgeAxis, NumberAxis, OrderedAxis
from dawa.errors import AxisError, SourceError
from dawa.limits import MOST_DIGITS
from dawa.sources import addresses, casts, numbers, times
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
    column = _readable(named(source, axis.column, "the axis"), axis, source)
    if column.kind.is_null():  # a column that is declared to hold nothing
        never = ibis.literal(value=False)
        return Placed(never, whole(0), tuple((state, never) for state in axis.beyond))
    if isinstance(axis, (NumberAxis, EdgeAxis)):
        _check_numbers(column, axis)
        return numbers.placed(column, axis, source.engine)
    if isinstance(axis, DateAxis):
        _check_times(column, axis)
        return times.placed(column, axis, source.engine)
    if isinstance(axis, AddressAxis):
        _check_addresses(column, axis, source.engine)
        return addresses.placed(column, axis, source.engine)
    ordered = cast("OrderedAxis", axis)
    _check_labels(column, ordered)
    return on_labels(column, ordered)


def converts(axis: Axis) -> bool:
    """Whether an axis reads something else than text from text."""
    return not isinstance(axis, OrderedAxis) or not isinstance(axis.labels[0], str)


def _readable(column: Column, axis: Axis, source: Source) -> Column:
    """The column; text also as the axis reads it, unless a view has read it already."""
    if column.read or not (column.text or (column.kind.is_string() and converts(axis))):
        return column
    dialect = column.text or Dialect()
    if converts(axis):
        check_casts(source, axis.column, dialect, times=isinstance(axis, DateAxis))
    if isinstance(axis, DateAxis) and axis.zone is not None and not source.knows_zone(axis.zone):
        raise AxisError(
            f"{source.engine} does not know the time zone {axis.zone}.", "name one that it knows, such as 'Etc/UTC'."
        )
    return replace(column, text=dialect, read=read(column.value, axis, dialect, source.engine))


def check_casts(source: Source, name: str, dialect: Dialect, *, times: bool) -> None:
    """Refuse to have text read by an engine that might fail at some of it.

    Raises:
        SourceError: If the engine cannot, or does not know the declared format of dates.
    """
    if not source.casts:
        raise casts.refusal(name, source.engine)
    if times and dialect.date_format is not None and source.engine != "duckdb":
        raise SourceError(
            f"{source.engine} cannot read the format {dialect.date_format!r} without failing at some values.",
            f"convert the column {name!r} there, in a view with a declared type, or store it as in ISO 8601.",
        )


def told(source: Source, axes: Iterable[Axis], others: Iterable[str] = ()) -> Source:
    """The source, which also says how text in its columns is read, unless it is a text file and says so anyway.

    Args:
        source: The open table.
        axes: The axes.
        others: Further columns in which numbers, times or missing values are read from text.
    """
    if "dialect" in source.declared:
        return source
    found = {axis.column: source.column(axis.column) for axis in axes if converts(axis)}
    found |= {name: source.column(name) for name in others}
    text = {name: column for name, column in found.items() if column and (column.text or column.kind.is_string())}
    if not text:
        return source
    dialect = next((column.text for column in text.values() if column.text), Dialect())
    return replace(
        source,
        handling=(*source.handling, dialect.describe_values(tuple(text))),
        declared={**source.declared, "text": {"columns": list(text), **dialect.values()}},
    )


def read(
    text: Expression,
    axis: Axis,
    dialect: Dialect,
    engine: str = "duckdb",
    dated: tuple[Expression, Expression] | None = None,
) -> tuple[Expression, ...]:
    """The values that an axis reads from text; ``dated`` says what of it is a date, if some of it are numbers of days.

    Raises:
        AxisError: If these values cannot tell the axis's cells apart.
    """
    if isinstance(axis, OrderedAxis):
        return (as_label(text, axis, dialect, engine),)  # a category that the axis lists is never missing
    if isinstance(axis, DateAxis):
        return (times.read(*dates(text, dialect, dated), axis.zone, dialect, engine),)
    if isinstance(axis, AddressAxis):
        return addresses.read(without_words(text, dialect), axis, engine)
    return numbers.read(without_words(text, dialect), cast("NumberAxis | EdgeAxis", axis), dialect, engine)


def without_words(text: Expression, dialect: Dialect) -> Expression:
    """Text to be read as numbers or dates, without declared words for missing values."""
    if set(dialect.missing) <= set(MISSING):  # the default words cannot be read as numbers or dates anyway
        return text
    return ibis.ifelse(text.isin(dialect.missing), ibis.null("string"), text)


def dates(
    text: Expression, dialect: Dialect, dated: tuple[Expression, Expression] | None
) -> tuple[Expression, Expression | None]:
    """Text in which dates are written and, if some text are numbers of days, their moments; without declared words."""
    there = without_words(text, dialect)
    if dated is None:
        return there, None
    written, serial = dated
    if there is not text:  # numbers may be declared to mean a missing value, too
        serial = ibis.ifelse(there.notnull(), serial, ibis.null("int64"))
    return without_words(written, dialect), serial


def unit(source: Source, name: str) -> Unit:
    """Whose record a row is."""
    column = named(source, name, "unit=")
    kind, value = column.kind, column.value
    if kind.is_nested() or kind.is_binary() or kind.is_json() or kind.is_interval():
        raise SourceError(f"The column {name!r} holds {kind}, which names nobody.", "pass a column of identifiers.")
    if column.gone:
        return Unit(value.notnull() & value.notin(column.gone), value)
    return Unit(value.notnull() & ~value.isnan() if kind.is_floating() else value.notnull(), value)


def _check_numbers(column: Column, axis: Axis) -> None:
    kind = column.kind
    if column.text or is_number(kind):
        return
    hint = "name a column of integers, decimals, or floats of 32 or 64 bits."
    if kind.is_boolean():
        hint = "use dawa.Axis.ordered(column, [False, True])."
    elif kind.is_timestamp() or kind.is_date():
        hint = "use dawa.Axis.dates(column, start, stop, step)."
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


def _check_addresses(column: Column, axis: AddressAxis, engine: str) -> None:
    kind = column.kind
    numbered = axis.version == 4 and kind.is_integer() and column.width is None
    if column.text or numbered or (kind.is_inet() and engine == "postgres"):
        return
    wanted = "text, or whole numbers" if axis.version == 4 else "text"
    raise AxisError(
        f"{_holds(column, axis)}, but the axis counts IPv{axis.version} addresses.", f"name a column of {wanted}."
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
    return f"The column {axis.column!r} holds {in_words(column)}"


def in_words(column: Column) -> str:
    """What a column holds."""
    kind = column.kind
    if kind.is_string():
        return "text"
    if kind.is_boolean():
        return "true and false"
    if kind.is_date():
        return "dates"
    if kind.is_timestamp():
        return "times with a time zone" if column.aware else "times without a time zone"
    return "numbers" if is_number(kind) else f"values of the type {kind}"


def is_number(kind: Any) -> bool:  # noqa: ANN401  Ibis is untyped
    """Whether values of a type can be counted as numbers."""
    return bool(kind.is_integer() or kind.is_decimal() or kind.is_float32() or kind.is_float64())


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
    present = value.notnull() & ~value.isnan() if value.type().is_floating() else value.notnull()
    if column.text is not None and isinstance(axis.labels[0], str):
        present &= value.isin(axis.labels) | value.notin(("", *column.text.missing))
    if not pairs:
        return Placed(present, whole(0), (("unlisted", ibis.literal(value=True)),))
    cells = value.cases(*((ibis.literal(label), whole(cell)) for label, cell in pairs), else_=whole(0))
    return Placed(present, cells, (("unlisted", value.notin([label for label, _ in pairs])),))


def _fits(label: object, kind: Any) -> bool:  # noqa: ANN401  Ibis is untyped
    """Whether a column of a type can hold a label at all."""
    if not isinstance(label, int) or isinstance(label, bool):
        return True
    if kind.is_integer():
        return bool(kind.bounds.lower <= label <= kind.bounds.upper)
    if kind.is_decimal() and kind.precision is not None and kind.scale is not None:
        return bool(abs(label) < 10 ** (kind.precision - kind.scale))
    return True


def _value(column: Column, axis: OrderedAxis) -> Expression:
    """The column in the labels' own type; labels that are text match integers and booleans too."""
    if column.text is not None:
        return column.read[0]
    plain = column.kind.is_string() or not isinstance(axis.labels[0], str)
    return column.value if plain else column.value.cast("string")


def truth(text: Expression, engine: str) -> Expression:
    """Text as one of the words true and false."""
    word = casts.bare(text, engine).lower()
    return ibis.cases((word.isin(YES), ibis.literal("true")), (word.isin(NO), ibis.literal("false")))


def as_label(text: Expression, axis: OrderedAxis, dialect: Dialect, engine: str = "duckdb") -> Expression:
    """Text in the labels' own type; truth values stay words."""
    if isinstance(axis.labels[0], str):
        return text
    if isinstance(axis.labels[0], bool):
        return truth(text, engine)
    largest = max(abs(int(label)) for label in axis.labels)
    if largest >= LARGEST_LABEL:
        raise AxisError(f"The axis {axis.column!r} lists a number of more than 64 bits.", "list it as text.")
    if largest < EXACT or engine == "postgres":  # its decimals have any length
        return casts.number(pointed(text, dialect), engine)
    return casts.decimal(pointed(text, dialect), dt.Decimal(MOST_DIGITS, 6), engine)
