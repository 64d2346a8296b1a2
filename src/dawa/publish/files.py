"""Tables as files for other tools, by the ending of their names: CSV, JSON, Parquet. A file is new, and whole."""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

from dawa.axis import Axis, DateAxis, NumberAxis, OrderedAxis
from dawa.axis.ordered import Label
from dawa.axis.written import typed
from dawa.errors import FolderError, OptionError
from dawa.host import atomic
from dawa.limits import MOST_CELLS_IN_FLOATS
from dawa.numerals import told
from dawa.publish import tables
from dawa.publish.figures import Figure
from dawa.results.answers import Answer
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
            from dawa.publish import parquet  # noqa: PLC0415  slow to load, and perhaps not installed

            parquet.write(parquet.answers(release, asked, found), file)
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
            from dawa.publish import parquet  # noqa: PLC0415  likewise

            parquet.write(parquet.figures(found), file)
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
            from dawa.publish import parquet  # noqa: PLC0415  likewise

            parquet.write(parquet.band(axis, found), file)
        elif form == ".json":
            file.write(f"{json.dumps(told_as_json, indent=1)}\n".encode())
        else:
            with _text(file) as text:
                tables.write(found, text)


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
        from dawa.publish import parquet  # noqa: PLC0415  likewise

        kinds = [parquet.kind(axis, whole=_in_whole_numbers(axis)) for axis in axes]
        columns = ([_at_days(column, axis) for column, axis in zip(piece, axes, strict=True)] for piece in pieces)
        parquet.write_pieces(file, {axis.column: kind for axis, kind in zip(axes, kinds, strict=True)}, columns)


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


def _in_text(axis: OrderedAxis) -> bool:
    """Whether tables hold its categories as text: they are, or have no type that a column can have."""
    return typed(axis, axis.value(np.arange(axis.size))).dtype.kind in "OU"


def _in_whole_numbers(axis: Axis) -> bool:
    """Whether synthetic values are whole numbers if the axis's borders are."""
    return axis.whole or axis.size > MOST_CELLS_IN_FLOATS


def _at_days(column: NDArray[Any], axis: Axis) -> NDArray[Any]:
    """Values as a table holds them: whole numbers, days on an axis of days, categories of one type."""
    if isinstance(axis, DateAxis):
        return _days(column) if axis.daily else column
    if isinstance(axis, OrderedAxis):
        found = typed(axis, column)
        return found.astype(str).astype(object) if _in_text(axis) else found
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
