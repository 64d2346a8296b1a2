"""Rows that arrive as Arrow batches, counted by an embedded DuckDB: text files, Arrow files, frames, lists.

DuckDB is handed plain types only: whole numbers, floats, decimals, truth values and text. Times are the whole numbers
that Arrow stores for them, so that no conversion can overflow.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np
import pyarrow as pa
import pyarrow.compute

from dawa.axis import Axis
from dawa.errors import DawaError, SourceError
from dawa.sources import columns as reading
from dawa.sources import engines
from dawa.sources.delimited import valid
from dawa.sources.dialect import Dialect
from dawa.sources.tables import Column, Source
from dawa.sources.values import TEXT

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9
ROWS, READ = "dawa_rows", "dawa_read"
EXAMPLE = "2000-01-01"
"""The text on which a query is tried before anything is read."""


@dataclass(frozen=True)
class Text:
    """Text of no declared type: the axis says how to read it.

    Attributes:
        dialect: How numbers, dates and missing values are written.
        serial: Whether some of it are numbers of days. Then two columns follow: the text that is no such number, and
            the moments of the numbers as microseconds since 1970, as clocks show them.
        assumed: Whether nobody has declared the dialect, but the column to be text.
    """

    dialect: Dialect = field(default_factory=Dialect)
    serial: bool = False
    assumed: bool = False


@dataclass(frozen=True)
class Ticks:
    """Times as whole numbers.

    Attributes:
        width: How many nanoseconds each of them counts.
        aware: Whether they are moments in UTC.
    """

    width: int
    aware: bool = False


Kind = Any
"""A column's declared type: a type of Arrow's, ``Text`` or ``Ticks``; Arrow is untyped."""


@dataclass(frozen=True)
class Stream:
    """A table whose rows arrive once, in batches.

    Attributes:
        kinds: The wanted columns, and the declared type of each.
        names: All columns' names; None if they are not known to be public.
        batches: Starts reading. The columns of a batch are in the order of ``kinds``.
        handling: How the rows are read, in sentences.
        declared: The same in plain values.
        header: The columns' names as a header gives them, to be compared and never shown: it may be a record.
    """

    kinds: Mapping[str, Kind]
    names: tuple[str, ...] | None
    batches: Callable[[], Iterator[pa.RecordBatch]] = field(repr=False)
    handling: tuple[str, ...] = ()
    declared: Mapping[str, Any] = field(default_factory=dict)
    header: tuple[str, ...] = field(default=(), repr=False)


def in_memory(table: Any, columns: Sequence[str]) -> Stream:  # noqa: ANN401  Ibis'
    """A table that Ibis holds in memory, by the types that it declares."""
    schema = table.schema().to_pyarrow()
    wanted = [name for name in dict.fromkeys(columns) if name in schema.names]
    kinds = {name: declared(schema.field(name).type) for name in wanted}

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.op().data.to_pyarrow(table.schema()).to_batches():
            arrays = [plain(batch.column(name), kind) for name, kind in kinds.items()]
            yield pa.RecordBatch.from_arrays(arrays, [str(place) for place in range(len(arrays))])

    return Stream(kinds, tuple(schema.names), batches)


def declared(kind: pa.DataType) -> Kind:
    """How a column of a type is handed over."""
    if pa.types.is_dictionary(kind):
        return declared(kind.value_type)
    if pa.types.is_timestamp(kind):
        return Ticks(NANOSECONDS[kind.unit], kind.tz is not None)
    if pa.types.is_date32(kind):
        return Ticks(DAY)
    if pa.types.is_date64(kind):
        return Ticks(NANOSECONDS["ms"])
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return TEXT
    return kind


def plain(values: pa.Array | pa.ChunkedArray, kind: Kind) -> pa.Array:
    """A column as it is handed over, converted by its type alone or value by value."""
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    found = [_plain(chunk, kind) for chunk in chunks]
    return pa.concat_arrays(found) if found else pa.array([], _storage(kind))


def _plain(array: pa.Array, kind: Kind) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return _plain(array.dictionary, kind).take(_listed(array))
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), _storage(kind))
    if isinstance(kind, Ticks) and not pa.types.is_integer(array.type):
        return array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64()).cast(pa.int64())
    return valid(array) if kind == TEXT else array.cast(_storage(kind))


def _listed(array: pa.DictionaryArray) -> pa.Array:
    """The places of values in a dictionary; a place that it does not have is missing."""
    places = array.indices
    there = pa.compute.and_(pa.compute.greater_equal(places, 0), pa.compute.less(places, len(array.dictionary)))
    return pa.compute.if_else(there, places, pa.scalar(None, places.type))


def _storage(kind: Kind) -> pa.DataType:
    """The type in which DuckDB is handed a column of a kind."""
    return TEXT if isinstance(kind, Text) else pa.int64() if isinstance(kind, Ticks) else kind


@contextmanager
def source(stream: Stream, axes: tuple[Axis, ...], text: Dialect | None = None) -> Iterator[Source]:
    """A stream in an embedded DuckDB. None of its rows is read until counts are fetched.

    A view reads text as its axis asks, once for every value.

    Args:
        stream: The table.
        axes: The axes.
        text: What somebody declared about text in its columns.
    """
    by_column = {axis.column: axis for axis in axes}
    stream = replace(
        stream, kinds={name: _text(kind, by_column.get(name), text) for name, kind in stream.kinds.items()}
    )
    schema = _schema(stream.kinds)
    try:
        rows = ibis.table(ibis.Schema.from_pyarrow(schema), name=ROWS)
    except Exception as error:  # noqa: BLE001  Ibis' own, about a type that it does not know
        raise SourceError(
            f"A column has a type that cannot be counted ({type(error).__name__}).",
            "convert it to whole numbers, floats, decimals, dates, times or text.",
        ) from None
    view = _read(rows, stream.kinds, by_column)
    table = ibis.table(view.schema(), name=READ)
    columns = {name: _column(table, place, kind) for place, (name, kind) in enumerate(stream.kinds.items())}
    with engines.embedded() as backend:

        def run(connection: Any, expression: Any, rows: Any) -> Any:  # noqa: ANN401  DuckDB's, Ibis' and Arrow's
            connection.register(ROWS, rows)
            connection.execute(f"create or replace temp view {READ} as {backend.compile(view)}").fetchall()
            return connection.sql(backend.compile(expression)).to_arrow_table()

        def fetch(expression: Any) -> Any:  # noqa: ANN401
            rows = _Once(schema, stream.batches)
            try:
                with backend.con.cursor() as connection:
                    return engines.interruptible(partial(run, connection, expression, rows), rows.stop)
            except Exception:
                if rows.failed is not None:  # DuckDB has put this into words of its own
                    raise rows.failed from None
                raise

        def check(expression: Any) -> None:  # noqa: ANN401
            with backend.con.cursor() as connection:
                run(connection, expression, _example(schema))

        yield Source(
            table,
            backend.name,
            columns.get,
            stream.names,
            fetch,
            check,
            stream.handling,
            dict(stream.declared),
            casts=True,
            header=stream.header,
        )


def _text(kind: Kind, axis: Axis | None, text: Dialect | None) -> Kind:
    """A column's kind, where text is text of no declared type if an axis or somebody's declaration asks for it."""
    if isinstance(kind, Text):
        return kind if text is None else replace(kind, dialect=text)
    if kind == TEXT and (text is not None or (axis is not None and reading.converts(axis))):
        return Text(text or Dialect(), assumed=text is None)
    return kind


def _schema(kinds: Mapping[str, Kind]) -> pa.Schema:
    """The columns that batches have."""
    fields = []
    for place, kind in enumerate(kinds.values()):
        fields.append((f"c{place}", _storage(kind)))
        if isinstance(kind, Text) and kind.serial:
            fields += [(f"w{place}", TEXT), (f"t{place}", pa.int64())]
    return pa.schema(fields)


def _read(rows: Any, kinds: Mapping[str, Kind], axes: Mapping[str, Axis]) -> Any:  # noqa: ANN401  Ibis'
    """All columns; text of no declared type also as its axis reads it."""
    found = {name: rows[name] for name in rows.columns}
    for place, (name, kind) in enumerate(kinds.items()):
        if isinstance(kind, Text) and name in axes:
            values = reading.read(rows[f"c{place}"], axes[name], kind.dialect, dated=_dated(rows, place, kind))
            found |= {f"c{place}_{i}": value for i, value in enumerate(values)}
    return rows.select(**found) if found else rows


def _dated(rows: Any, place: int, kind: Text) -> tuple[Any, Any] | None:  # noqa: ANN401  Ibis'
    """What of a column is a date, if some of its text are numbers of days."""
    return (rows[f"w{place}"], rows[f"t{place}"]) if kind.serial else None


class _Once:
    """Batches behind Arrow's own interface: DuckDB takes them as they come, and pushes no part of the query down."""

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self.schema, self._batches, self._stopped = schema, batches, False
        self.failed: DawaError | None = None

    def stop(self) -> None:
        """Let the next batch be the last; the result is thrown away."""
        self._stopped = True

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Start reading."""
        until = takewhile(lambda _: not self._stopped, self._named())
        return pa.RecordBatchReader.from_batches(self.schema, until).__arrow_c_stream__(requested_schema)

    def _named(self) -> Iterator[pa.RecordBatch]:
        """The batches; an error of our own, which quotes no value, is kept for whoever asked."""
        try:
            for batch in self._batches():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)
        except DawaError as error:
            self.failed = error
            raise


def _example(schema: pa.Schema) -> pa.Table:
    """One made-up row: a query that cannot run is refused on it, before anything is paid.

    Its arrays are made without ``pa.array``, which loads pandas, where it is installed, for nothing.
    """
    words = pa.LargeStringArray.from_buffers(1, *map(pa.py_buffer, (np.array([0, len(EXAMPLE)]), EXAMPLE.encode())))
    return pa.Table.from_arrays([words if kind == TEXT else pa.nulls(1, kind) for kind in schema.types], schema=schema)


def _column(table: Any, place: int, kind: Kind) -> Column:  # noqa: ANN401  Ibis'
    value = table[f"c{place}"]
    if isinstance(kind, Text):
        read = tuple(table[name] for name in table.columns if name.startswith(f"c{place}_"))
        dated = _dated(table, place, kind)
        return Column(value, dt.string, read=read, text=kind.dialect, assumed=kind.assumed, dated=dated)
    if isinstance(kind, Ticks):
        return Column(value, dt.date if kind.width == DAY else dt.timestamp, kind.aware, width=kind.width)
    return Column(value, value.type())
