"""Tables as files for other tools, by the ending of their names: CSV, JSON, Parquet. A file is new, and whole.

Columns of a Parquet file have types that follow from the axes: numbers, timestamps (in the axis' zone, if it has one),
or categories.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from dawa.axis import AddressAxis, Axis, DateAxis, NumberAxis, OrderedAxis, readings
from dawa.axis.dates import zone_named
from dawa.axis.ordered import Label
from dawa.axis.written import typed
from dawa.errors import FolderError, OptionError
from dawa.host import atomic
from dawa.limits import MOST_CELLS_IN_FLOATS
from dawa.numerals import exact, told
from dawa.publish import figures, tables
from dawa.publish.figures import Figure
from dawa.results.answers import LISTED, Answer
from dawa.results.grouped import AnyRelease, GroupedRelease
from dawa.spec.ranges import Asked

ANSWERS, ROWS = (".csv", ".json", ".parquet"), (".csv", ".parquet")
"""The endings of files of answers, and of synthetic rows."""


def ending(path: str | os.PathLike[str], known: Sequence[str]) -> str:
    """How a file's name ends.

    Raises:
        OptionError: If that says nothing.
    """
    found = Path(path).suffix.lower()
    if found not in known:
        raise OptionError(
            f"The name {told(os.fspath(path))} does not say what to write.",
            f"let it end with {', '.join(known[:-1])} or {known[-1]}.",
        )
    return found


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file, which appears when all is written.

    Raises:
        FolderError: If there is one of that name, or it cannot be written.
    """
    try:
        with atomic.opened(path, new=True) as file:
            yield file
    except FileExistsError:
        raise FolderError(f"{path} exists already.", "choose another name, or remove it first.") from None
    except OSError as error:
        raise FolderError(f"{path} cannot be written: {error.strerror}.", "choose another place.") from None


def save_answers(
    path: str | os.PathLike[str],
    release: AnyRelease,
    asked: Sequence[Asked],
    found: Sequence[Answer],
    told_as_json: object,
) -> None:
    """Write answers with their ranges.

    Args:
        path: Where to; the ending says in which form.
        release: The release that was asked.
        asked: The ranges.
        found: The answers.
        told_as_json: What a file of JSON holds.

    Raises:
        OptionError: If the ending says nothing.
        FolderError: If there is a file of that name, or it cannot be written.
    """
    form = ending(path, ANSWERS)
    with opened(path) as file:
        if form == ".parquet":
            pyarrow.parquet.write_table(answers_as_arrow(release, asked, found), file)
        elif form == ".json":
            file.write(f"{json.dumps(told_as_json, indent=1)}\n".encode())
        else:
            with _text(file) as text:
                tables.write(tables.answers(release, asked, found), text)


def save_figures(path: str | os.PathLike[str], found: Sequence[Figure], told_as_json: object) -> None:
    """Write figures with their intervals; ``told_as_json`` is what a file of JSON holds.

    Raises:
        OptionError: If the ending says nothing.
        FolderError: If there is a file of that name, or it cannot be written.
    """
    form, rows = ending(path, ANSWERS), tables.figures(found)
    with opened(path) as file:
        if form == ".parquet":
            numbers = figures.alike(found)
            columns = [list(column) for column in zip(*rows.rows, strict=True)]
            by = len(tables.grouped(found))
            kinds = [pa.string(), *[pa.float64() if numbers else pa.string()] * 3, pa.float64(), pa.string()]
            for at in range(by + 1, by + 4):
                columns[at] = [float(value) if numbers else str(value) for value in columns[at]]
            arrays = [pa.array(column, kind) for column, kind in zip(columns[by:], kinds, strict=True)]
            named = [*map(_labels, columns[:by]), *arrays]
            pyarrow.parquet.write_table(pa.table(named, names=list(rows.header)), file)
        elif form == ".json":
            file.write(f"{json.dumps(told_as_json, indent=1)}\n".encode())
        else:
            with _text(file) as text:
                tables.write(rows, text)


def save_band(path: str | os.PathLike[str], axis: Axis, found: tables.Rows, told_as_json: object) -> None:
    """Write a band along an axis; ``told_as_json`` is what a file of JSON holds.

    Raises:
        OptionError: If the ending says nothing.
        FolderError: If there is a file of that name, or it cannot be written.
    """
    form = ending(path, ANSWERS)
    with opened(path) as file:
        if form == ".parquet":
            columns = [list(column) for column in zip(*found.rows, strict=True)]
            columns[0] = [_value(bound, axis) for bound in columns[0]]
            kinds = [_kind(axis), *[pa.float64()] * (len(columns) - 2), pa.string()]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
            pyarrow.parquet.write_table(pa.table(arrays, names=list(found.header)), file)
        elif form == ".json":
            file.write(f"{json.dumps(told_as_json, indent=1)}\n".encode())
        else:
            with _text(file) as text:
                tables.write(found, text)


def answers_as_arrow(release: AnyRelease, asked: Sequence[Asked], found: Sequence[Answer]) -> pa.Table:
    """Ranges with their answers in typed columns, which have the names of the CSV file."""
    rows = tables.answers(release, asked, found)
    axes = [axis for axis in release.axes for _ in ("from", "to")]
    first = len(rows.header) - len(LISTED) - len(axes)
    columns = [list(column) for column in zip(*rows.rows, strict=True)]
    by = len(tables.grouped(asked))
    kinds = [pa.string()] * (first - by) + [_kind(axis) for axis in axes]
    kinds += [pa.float64()] * (len(LISTED) - 1) + [pa.string()]
    for at, axis in enumerate(axes, first):
        columns[at] = [_value(text, axis) for text in columns[at]]
        if all(isinstance(value, int) for value in columns[at]) and kinds[at - by] == pa.float64():
            kinds[at - by] = pa.int64()
    arrays = [pa.array(column, kind) for column, kind in zip(columns[by:], kinds, strict=True)]
    return pa.table([*map(_labels, columns[:by]), *arrays], names=list(rows.header))


def columns(release: AnyRelease) -> tuple[Axis, ...]:
    """What the columns of synthetic rows hold: values of grouping columns, as ordered axes have them, then of axes."""
    by = release.by if isinstance(release, GroupedRelease) else ()
    return (*(OrderedAxis(one.column, _of_one_type(one.labels)) for one in by), *release.axes)


def _of_one_type(labels: Sequence[Label]) -> Sequence[Label]:
    """The values of a grouping column; as text if there is a group "other" of numbers."""
    return labels if len({type(label) for label in labels}) == 1 else [str(label) for label in labels]


def save_rows(path: str | os.PathLike[str], axes: Sequence[Axis], pieces: Iterable[Sequence[NDArray[Any]]]) -> None:
    """Write columns of values of axes, piece by piece, so that they need not fit in memory.

    Raises:
        OptionError: If the ending says nothing.
        FolderError: If there is a file of that name, or it cannot be written.
    """
    form = ending(path, ROWS)
    with opened(path) as file:
        if form == ".csv":
            with _text(file) as text:
                write_rows(text, axes, pieces)
            return
        schema = pa.schema([(axis.column, _kind(axis, whole=_in_whole_numbers(axis))) for axis in axes])
        with pyarrow.parquet.ParquetWriter(file, schema) as writer:
            for piece in pieces:
                columns = [_at_days(column, axis) for column, axis in zip(piece, axes, strict=True)]
                arrays = [
                    pa.array(column.tolist() if column.dtype == object else column, field.type)
                    for column, field in zip(columns, schema, strict=True)
                ]
                writer.write_table(pa.table(arrays, schema=schema))


def write_rows(target: TextIO, axes: Sequence[Axis], pieces: Iterable[Sequence[NDArray[Any]]]) -> None:
    """The same as CSV with a header: times as text, without the time of day on an axis of days."""
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([axis.column for axis in axes])
    for piece in pieces:
        writer.writerows(zip(*(_as_text(column, axis) for column, axis in zip(piece, axes, strict=True)), strict=True))


@contextmanager
def _text(file: BinaryIO) -> Iterator[TextIO]:
    """A binary file as text, for a while."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    yield text
    text.detach()  # and flush


def _in_whole_numbers(axis: Axis) -> bool:
    """Whether synthetic values are whole numbers if the axis's borders are."""
    return axis.whole or axis.size > MOST_CELLS_IN_FLOATS


def _kind(axis: Axis, *, whole: bool = False) -> pa.DataType:
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


def _labels(column: Sequence[Any]) -> pa.Array:
    """Values of a grouping column, and none where all groups are meant; text if there is a group "other" of numbers."""
    kinds = {type(one) for one in column if one is not None}
    if kinds in ({int}, {bool}):
        return pa.array(column, pa.int64() if kinds == {int} else pa.bool_())
    return pa.array([None if one is None else str(one) for one in column], pa.string())


def _value(text: Any, axis: Axis) -> Any:  # noqa: ANN401  an end of any kind
    """An end of a range in the type of its column."""
    if isinstance(axis, DateAxis):
        return readings.end(text, axis.column, zone_named(axis.zone))
    if isinstance(axis, OrderedAxis):
        label = axis.labels[int(axis.border(text))]
        return label if _kind(axis) != pa.string() else str(label)
    if isinstance(axis, AddressAxis):
        return str(text)
    value = exact(text)
    large = isinstance(axis, NumberAxis) and axis.large_integers
    return int(value) if large and value.denominator == 1 else float(value)


def _at_days(column: NDArray[Any], axis: Axis) -> NDArray[Any]:
    """Values as a table holds them: whole numbers, days on an axis of days, categories of one type."""
    if isinstance(axis, DateAxis):
        return _days(column) if axis.daily else column
    if isinstance(axis, OrderedAxis):
        found = typed(axis, column)
        return found.astype(str).astype(object) if _kind(axis) == pa.string() else found
    if isinstance(axis, NumberAxis):
        return typed(axis, column) if _in_whole_numbers(axis) else column.astype(np.float64)
    return column


def _days(column: NDArray[Any]) -> NDArray[Any]:
    """When the days of these times begin."""
    if column.dtype != object:
        return column.astype("M8[D]").astype("M8[us]")
    midnights = [moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0) for moment in column]
    return np.fromiter(midnights, object, len(midnights))


def _as_text(column: NDArray[Any], axis: Axis) -> list[Any]:
    """Values as CSV holds them; floats have enough digits to read back as the same float."""
    values: list[Any] = _at_days(column, axis).tolist()
    if isinstance(axis, DateAxis):
        return [str(moment.date() if axis.daily else moment) for moment in values]
    return values
