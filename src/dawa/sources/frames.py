"""Tables in memory: frames of pandas, Polars and Arrow, and dicts of arrays. DuckDB reads them where they are."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from dawa.axis import Axis
from dawa.errors import DawaError, SourceError
from dawa.sources import engines
from dawa.sources.tables import HINT, Source


@contextmanager
def opened(table: Any, axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:  # noqa: ANN401  one of several libraries'
    """A frame, or a dict of arrays, in an embedded DuckDB."""
    asked = {axis.column for axis in axes} | ({unit} if unit is not None else set())
    try:
        arrow = _arrow(table, asked)
    except DawaError:
        raise
    except Exception as error:  # noqa: BLE001  libraries raise errors of their own, which may quote values
        raise SourceError(
            f"The {type(table).__name__} could not be read as a table ({type(error).__name__}).",
            "give every column one value per record, all of one type.",
        ) from None
    with engines.embedded() as backend:
        yield engines.source(backend, ibis.memtable(arrow))


def _arrow(table: Any, asked: set[str]) -> Any:  # noqa: ANN401
    """The columns that matter, as Arrow has them; the other columns by name only."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, Mapping):
        return _columns({name: _array(table[name]) for name in table if name in asked}, list(table))
    if library == "pandas":
        return _columns({name: pa.Array.from_pandas(table[name]) for name in table if name in asked}, list(table))
    if library == "polars":
        names = list(table.collect_schema())
        few = table.lazy().select([name for name in names if name in asked]).collect().to_arrow()
        return _columns({name: few[name] for name in few.schema.names}, names)
    if isinstance(table, (pa.Table, pa.RecordBatch)):
        names = table.schema.names
        return _columns({name: table.column(name) for name in names if name in asked}, names)
    raise SourceError(f"A {type(table).__name__} is no table.", HINT)


def _columns(arrays: dict[str, Any], names: list[Any]) -> Any:  # noqa: ANN401
    """An Arrow table that also knows the names of columns that nobody asks for, without their values."""
    rows = len(next(iter(arrays.values()))) if arrays else 0
    return pa.table({str(name): arrays[name] if name in arrays else pa.nulls(rows, pa.bool_()) for name in names})


def _array(values: Any) -> Any:  # noqa: ANN401
    """One column of a dict."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if hasattr(values, "__arrow_array__") or type(values).__module__.startswith("pandas"):
        return pa.Array.from_pandas(values)
    if hasattr(values, "to_arrow"):
        return values.to_arrow()
    array = values if isinstance(values, (list, tuple)) else np.asarray(values)
    if isinstance(array, np.ndarray):
        if array.ndim != 1:
            raise SourceError("A column is no list of values.", "give every column one value per record.")
        if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] not in {"D", "s", "ms", "us", "ns"}:
            array = array.astype("M8[s]")
    return pa.array(array)
