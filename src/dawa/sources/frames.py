"""Tables in memory: frames of pandas, Polars and Arrow, and dicts of arrays or lists.

A column with a declared type has that type, whatever it holds. A column without one (a list, or a column of objects)
becomes text value by value (``values.py``), and the axis says how to read the text.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from dawa.axis import Axis
from dawa.errors import AxisError, DawaError, SourceError
from dawa.sources import streams, values
from dawa.sources.dialect import Dialect
from dawa.sources.streams import DAY, NANOSECONDS, Kind, Stream, Text, Ticks
from dawa.sources.tables import HINT, Source

BATCH = 2**17
"""Rows that are converted at once."""
WIDTHS = {**NANOSECONDS, "D": DAY, "h": 3600 * 10**9, "m": 60 * 10**9, "W": 7 * DAY}
"""Units of numpy's times, in nanoseconds."""
LONGEST = 1000 * 365 * DAY
"""The longest unit of times that makes sense."""
EVEN = "give every column one value per record: a list, or an array with one dimension."


@dataclass(frozen=True)
class Values:
    """One column that is not read yet.

    Attributes:
        kind: Its declared type.
        size: How many values it has.
        part: Gives some of its values, as they are handed over.
    """

    kind: Kind
    size: int
    part: Callable[[int, int], pa.Array] = field(repr=False)


NOBODY = Values(pa.null(), 0, lambda _first, _last: pa.nulls(0))


@contextmanager
def source(
    table: Any,  # noqa: ANN401  one of several libraries'
    axes: tuple[Axis, ...],
    unit: tuple[str, ...],
    also: Sequence[str] = (),
    text: Dialect | None = None,
) -> Iterator[Source]:
    """A frame, or a dict of arrays, in an embedded DuckDB."""
    try:
        stream = _stream(table, [*(axis.column for axis in axes), *also], unit)
    except DawaError:
        raise
    except Exception as error:  # noqa: BLE001  libraries raise errors of their own, which may quote values
        raise SourceError(
            f"The {type(table).__name__} could not be read as a table ({type(error).__name__}).", EVEN
        ) from None
    with streams.source(stream, axes, text) as source:
        yield source


def _stream(table: Any, columns: Sequence[str], unit: tuple[str, ...]) -> Stream:  # noqa: ANN401
    """The wanted columns by their declared types; no value is looked at."""
    if type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "collect_schema"):
        return _polars(table, columns, unit)
    there = _names(table)
    asked = dict.fromkeys([*columns, *unit])
    found = {}
    for name in asked:
        keys = [key for key in there if str(key) == name]
        if len(keys) > 1:
            raise AxisError(f"The table has several columns {name!r}.", "rename all but one of them.")
        if keys:
            found[name] = _values(_of(table, keys[0]), owner=name in unit and name not in columns)
    twice = [name for name in unit if name in columns and isinstance(found.get(name, NOBODY).kind, Text)]
    if twice:
        raise both(twice[0], "pass it as a numpy array with a type, or as a column with a type in a frame.")
    if len({column.size for column in found.values()}) > 1:
        raise SourceError("The columns do not all have one value for each record.", EVEN)
    kinds = {name: column.kind for name, column in found.items()}
    return Stream(kinds, tuple(map(str, there)), lambda: _batches(list(found.values())))


def both(unit: str, hint: str) -> SourceError:
    """The error about a column without a type that would have to be read in two ways."""
    return SourceError(
        f"The column {unit!r} is the unit and also an axis or in the condition, and has no declared type.", hint
    )


def _names(table: Any) -> list[Any]:  # noqa: ANN401
    """All columns' names."""
    if isinstance(table, Mapping):
        return list(table)
    if isinstance(table, (pa.Table, pa.RecordBatch)):
        return list(table.schema.names)
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):
        return list(table.columns)
    raise SourceError(f"A {type(table).__name__} is not a table.", HINT)


def _of(table: Any, key: Any) -> Any:  # noqa: ANN401
    """One column."""
    return table.column(key) if isinstance(table, (pa.Table, pa.RecordBatch)) else table[key]


def _polars(table: Any, columns: Sequence[str], unit: tuple[str, ...]) -> Stream:  # noqa: ANN401
    """A Polars frame; a lazy one runs when its rows are fetched, and not before."""
    schema = table.collect_schema()
    asked = [name for name in dict.fromkeys([*columns, *unit]) if name in schema]
    empty = table.lazy().select(asked).collect_schema().to_frame().to_arrow()
    kinds = {name: streams.declared(empty.schema.field(name).type) for name in asked}

    def batches() -> Iterator[pa.RecordBatch]:
        rows = table.lazy().select(asked).collect().to_arrow()
        yield from _batches([_arrow(rows.column(name)) for name in asked])

    return Stream(kinds, tuple(schema.names()), batches)


def _batches(columns: list[Values]) -> Iterator[pa.RecordBatch]:
    names = [str(place) for place in range(len(columns))]
    for first in range(0, columns[0].size if columns else 0, BATCH):
        yield pa.RecordBatch.from_arrays([column.part(first, first + BATCH) for column in columns], names)


def _values(column: Any, *, owner: bool) -> Values:  # noqa: ANN401
    """A column of any library.

    Args:
        column: The column.
        owner: Whether it names units, so that different values must stay different.
    """
    library = type(column).__module__.partition(".")[0]
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return _arrow(column)
    if library == "polars" and hasattr(column, "to_arrow"):
        kind = streams.declared(column.clear().to_arrow().type)
        part = lambda first, last: streams.plain(column.slice(first, last - first).to_arrow(), kind)  # noqa: E731
        return Values(kind, len(column), part)
    if library == "pandas" and hasattr(column, "dtype"):
        return _pandas(column, owner=owner)
    if isinstance(column, np.ndarray):
        return _numpy(column, owner=owner)
    if hasattr(column, "__array__") and isinstance(getattr(column, "dtype", None), np.dtype):
        made = cache(lambda: np.asarray(column))
        kind = _numpy(np.empty((0,) * getattr(column, "ndim", 1), column.dtype), owner=owner).kind
        return Values(kind, len(column), lambda first, last: _numpy(made(), owner=owner).part(first, last))
    if isinstance(column, Sequence) and not isinstance(column, (str, bytes, bytearray, memoryview)):
        return _loose(len(column), lambda first, last: _some(column, first, last), owner=owner)
    raise SourceError(f"A column is a {type(column).__name__}, not a list of values.", EVEN)


def _some(column: Sequence[Any], first: int, last: int) -> Sequence[Any]:
    """Some of a column's values; not every sequence can be sliced."""
    if isinstance(column, (list, tuple, range)):
        return column[first:last]
    return [column[place] for place in range(first, min(last, len(column)))]


def _arrow(column: pa.Array | pa.ChunkedArray) -> Values:
    kind = streams.declared(column.type)
    return Values(kind, len(column), lambda first, last: streams.plain(column.slice(first, last - first), kind))


def _loose(size: int, part: Callable[[int, int], Sequence[Any]], *, owner: bool) -> Values:
    """Values without a type."""
    rule = values.identities if owner else values.texts
    return Values(Text(), size, lambda first, last: rule(part(first, last)))


def _pandas(column: Any, *, owner: bool) -> Values:  # noqa: ANN401
    """A pandas series, index or array; a categorical one has the declared type of its categories."""
    if getattr(column, "ndim", 1) != 1:
        raise SourceError("A column is not a list of values.", EVEN)
    series = column if hasattr(column, "iloc") else sys.modules["pandas"].Series(column)
    kind = getattr(getattr(series.dtype, "categories", None), "dtype", series.dtype)
    if str(kind) == "object":
        return _loose(len(series), lambda first, last: series.iloc[first:last].tolist(), owner=owner)
    if str(kind) == "str" or str(kind).startswith("string"):
        return Values(values.TEXT, len(series), lambda first, last: _written(series.iloc[first:last]))
    try:
        declared = streams.declared(pa.Array.from_pandas(series.iloc[:0]).type)
    except Exception:  # noqa: BLE001  Arrow's own, about a type that it does not know
        raise SourceError(
            f"A column has the pandas type {kind}, which cannot be counted.",
            "convert it first: column.astype('int64').",
        ) from None
    return Values(
        declared,
        len(series),
        lambda first, last: streams.plain(pa.Array.from_pandas(series.iloc[first:last]), declared),
    )


def _written(series: Any) -> pa.Array:  # noqa: ANN401
    """Text from pandas, all at once or, if that fails, value by value."""
    try:
        return streams.plain(pa.Array.from_pandas(series), values.TEXT)
    except Exception:  # noqa: BLE001  for example a value that cannot be written as UTF-8
        return values.texts(series.tolist())


def _numpy(column: Any, *, owner: bool) -> Values:  # noqa: ANN401
    """A numpy array; masked values are missing."""
    if column.ndim != 1:
        raise SourceError("A column is not a list of values.", EVEN)
    mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    array = np.asarray(column) if mask is None else np.ma.getdata(column)
    kind = array.dtype
    if kind.kind == "O":
        there = array if mask is None else np.where(mask, np.array(None, object), array)
        return _loose(len(array), lambda first, last: there[first:last].tolist(), owner=owner)
    if kind.kind == "M":
        return _numpy_times(array, mask)

    if kind.kind == "U":
        there = array if mask is None else np.where(mask, np.array(None, object), array)
        return Values(values.TEXT, len(array), lambda first, last: values.texts(there[first:last].tolist()))
    declared = streams.declared(pa.array(np.empty(0, kind.newbyteorder("="))).type)

    def part(first: int, last: int) -> pa.Array:
        some = array[first:last].astype(kind.newbyteorder("="), copy=False)
        return streams.plain(pa.array(some, mask=None if mask is None else mask[first:last]), declared)

    return Values(declared, len(array), part)


def _numpy_times(array: Any, mask: Any) -> Values:  # noqa: ANN401
    unit, number = np.datetime_data(array.dtype)
    width = WIDTHS.get(unit, 0) * number
    if width != 1 and (width == 0 or width % 1000 or width > LONGEST):
        raise SourceError(
            f"A column holds times in numpy's unit {number}{unit}.", "convert it: values.astype('datetime64[us]')."
        )

    def part(first: int, last: int) -> pa.Array:
        some = array[first:last].astype(array.dtype.newbyteorder("="), copy=False)
        gone = np.isnat(some) if mask is None else np.isnat(some) | mask[first:last]
        return pa.array(some.view(np.int64), pa.int64(), mask=gone)

    return Values(Ticks(width), len(array), part)
