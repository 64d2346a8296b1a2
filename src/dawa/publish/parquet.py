"""Tables with typed columns, for Parquet files.

Types follow from the axes: numbers, timestamps (in the axis' zone, if it has one), or categories.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from dawa.axis import AddressAxis, Axis, DateAxis, NumberAxis, OrderedAxis, readings
from dawa.axis.dates import zone_named
from dawa.axis.written import typed
from dawa.limits import MOST_CELLS_IN_FLOATS
from dawa.numerals import exact
from dawa.publish import tables
from dawa.publish.figures import Figure, alike
from dawa.results.answers import LISTED, Answer
from dawa.results.grouped import AnyRelease
from dawa.spec.ranges import Asked


def answers(release: AnyRelease, asked: Sequence[Asked], found: Sequence[Answer]) -> pa.Table:
    """Ranges with their answers, in columns that have the names of the CSV file."""
    rows = tables.answers(release, asked, found)
    axes = [axis for axis in release.axes for _ in ("from", "to")]
    first = len(rows.header) - len(LISTED) - len(axes)
    columns = [list(column) for column in zip(*rows.rows, strict=True)]
    by = len(tables.grouped(asked))
    kinds = [pa.string()] * (first - by) + [kind(axis) for axis in axes]
    kinds += [pa.float64()] * (len(LISTED) - 1) + [pa.string()]
    for at, axis in enumerate(axes, first):
        columns[at] = [value(text, axis) for text in columns[at]]
        if all(isinstance(one, int) for one in columns[at]) and kinds[at - by] == pa.float64():
            kinds[at - by] = pa.int64()
    arrays = [pa.array(column, one) for column, one in zip(columns[by:], kinds, strict=True)]
    return pa.table([*map(_labels, columns[:by]), *arrays], names=list(rows.header))


def figures(found: Sequence[Figure]) -> pa.Table:
    """Figures with their intervals: as numbers if all of them are, else as text."""
    rows, numbers = tables.figures(found), alike(found)
    columns = [list(column) for column in zip(*rows.rows, strict=True)]
    by = len(tables.grouped(found))
    kinds = [pa.string(), *[pa.float64() if numbers else pa.string()] * 3, pa.float64(), pa.string()]
    for at in range(by + 1, by + 4):
        columns[at] = [float(one) if numbers else str(one) for one in columns[at]]
    arrays = [pa.array(column, one) for column, one in zip(columns[by:], kinds, strict=True)]
    return pa.table([*map(_labels, columns[:by]), *arrays], names=list(rows.header))


def band(axis: Axis, found: tables.Rows) -> pa.Table:
    """A band along an axis."""
    columns = [list(column) for column in zip(*found.rows, strict=True)]
    columns[0] = [value(bound, axis) for bound in columns[0]]
    kinds = [kind(axis), *[pa.float64()] * (len(columns) - 2), pa.string()]
    arrays = [pa.array(column, one) for column, one in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=list(found.header))


def write(table: pa.Table, file: BinaryIO) -> None:
    """Write a whole table."""
    pyarrow.parquet.write_table(table, file)


def write_pieces(file: BinaryIO, kinds: Mapping[str, pa.DataType], pieces: Iterable[Sequence[NDArray[Any]]]) -> None:
    """Write a table piece by piece, so that it need not fit in memory; each piece has an array for every column."""
    schema = pa.schema(list(kinds.items()))
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for piece in pieces:
            arrays = [
                pa.array(column.tolist() if column.dtype == object else column, field.type)
                for column, field in zip(piece, schema, strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))


def kind(axis: Axis, *, whole: bool = False) -> pa.DataType:
    """The type of a column with values of an axis."""
    if isinstance(axis, DateAxis):
        return pa.timestamp("us", axis.zone)
    if isinstance(axis, AddressAxis):
        return pa.string()
    if isinstance(axis, OrderedAxis):
        labels = typed(axis, axis.value(np.arange(axis.size)))
        return pa.string() if labels.dtype == object else pa.from_numpy_dtype(labels.dtype)
    large = isinstance(axis, NumberAxis) and axis.large_integers
    whole &= large or max(abs(axis.start), abs(axis.stop)) < MOST_CELLS_IN_FLOATS
    return pa.int64() if whole else pa.float64()


def value(text: Any, axis: Axis) -> Any:  # noqa: ANN401  an end of any kind
    """An end of a range in the type of its column."""
    if isinstance(axis, DateAxis):
        return readings.end(text, axis.column, zone_named(axis.zone))
    if isinstance(axis, OrderedAxis):
        label = axis.labels[int(axis.border(text))]
        return label if kind(axis) != pa.string() else str(label)
    if isinstance(axis, AddressAxis):
        return str(text)
    found = exact(text)
    large = isinstance(axis, NumberAxis) and axis.large_integers
    return int(found) if large and found.denominator == 1 else float(found)


def _labels(column: Sequence[Any]) -> pa.Array:
    """Values of a grouping column, and none where all groups are meant; text if there is a group "other" of numbers."""
    kinds = {type(one) for one in column if one is not None}
    if kinds in ({int}, {bool}):
        return pa.array(column, pa.int64() if kinds == {int} else pa.bool_())
    return pa.array([None if one is None else str(one) for one in column], pa.string())
