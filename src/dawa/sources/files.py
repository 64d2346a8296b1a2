"""Files: CSV, Parquet and Arrow, read by an embedded DuckDB as it goes."""

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import ibis
import pyarrow.dataset

from dawa.axis import Axis, DateAxis, EdgeAxis, NumberAxis, OrderedAxis
from dawa.errors import DawaError, SourceError
from dawa.sources import engines
from dawa.sources.tables import Source

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
MISSING = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "NaT"]
"""What stands for a missing value in a CSV file."""


@contextmanager
def opened(path: str | PathLike[str], axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:
    """A file, a folder of Parquet files, or several files by a pattern such as ``data/*.parquet``."""
    pattern, kind = _found(Path(fspath(path)).expanduser())
    with engines.embedded() as backend:
        try:
            with engines.quietly():
                table = _table(backend, pattern, kind, axes, unit)
                source = engines.source(backend, table)
        except DawaError:
            raise
        except Exception as error:  # noqa: BLE001  DuckDB's and Arrow's own, which may quote values
            raise SourceError(
                f"{path} could not be read as {kind} ({type(error).__name__}).",
                "check that the file is complete, and that its name ends as its format asks.",
            ) from None
        yield source


def _found(path: Path) -> tuple[str, str]:
    """A pattern for DuckDB that matches at least one file, and the files' format."""
    if path.is_dir():
        pattern = f"{glob.escape(str(path))}/**/*.parquet"
        if not any(path.rglob("*.parquet")):
            raise SourceError(
                f"The folder {path} holds no Parquet file.", "pass a file, or a folder of .parquet files."
            )
        return pattern, "Parquet"
    if path.exists():
        pattern = glob.escape(str(path))
    elif glob.has_magic(str(path)) and any(glob.iglob(str(path), recursive=True)):  # noqa: PTH207  as DuckDB reads patterns
        pattern = str(path)
    else:
        raise SourceError(
            f"There is no file {path}.", "check the path; a relative one begins where the program was started."
        )
    name = path.name.lower()
    for kind, endings in (("Parquet", PARQUET), ("Arrow", ARROW), ("CSV", CSV)):
        if name.endswith(endings):
            return str(path) if kind == "Arrow" else pattern, kind
    raise SourceError(
        f"{path} has no ending that names its format.", f"it should be one of {', '.join(CSV + PARQUET + ARROW)}."
    )


def _table(backend: Any, pattern: str, kind: str, axes: tuple[Axis, ...], unit: str | None) -> Any:  # noqa: ANN401
    if kind == "Parquet":
        return backend.read_parquet(pattern)
    if kind == "Arrow":
        files = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]  # noqa: PTH207
        return ibis.memtable(pyarrow.dataset.dataset(files or [pattern], format="ipc"))
    return _csv(backend, pattern, axes, unit)


def _csv(backend: Any, pattern: str, axes: tuple[Axis, ...], unit: str | None) -> Any:  # noqa: ANN401
    """A CSV file with a header; its types are guessed from its first rows.

    What is asked for as a number or as a name is read as text first, so that a later row that looks different has a
    missing value. An error would tell of it.
    """
    guessed = backend.read_csv(pattern, header=True, nullstr=MISSING)
    kinds = guessed.schema()
    numbers = {
        axis.column: axis
        for axis in axes
        if isinstance(axis, (NumberAxis, EdgeAxis)) and axis.column in kinds and _maybe_number(kinds[axis.column])
    }
    names = {axis.column for axis in axes if isinstance(axis, OrderedAxis) and isinstance(axis.labels[0], str)}
    names |= {unit} if unit is not None else set()
    text = set(numbers) | (names & set(kinds)) - {axis.column for axis in axes if isinstance(axis, DateAxis)}
    if not text:
        return guessed
    types = dict.fromkeys(sorted(text), "VARCHAR")
    table = backend.read_csv(pattern, header=True, nullstr=MISSING, types=types)
    read = {
        name: _number(table[name], kinds[name], axis)
        for name, axis in numbers.items()
        if not kinds[name].is_string() or not _holds_text(backend, table[name])
    }
    return table.mutate(**read) if read else table


def _maybe_number(kind: Any) -> bool:  # noqa: ANN401
    return bool(kind.is_string() or (kind.is_numeric() and not kind.is_boolean()))


def _number(text: Any, kind: Any, axis: NumberAxis | EdgeAxis) -> Any:  # noqa: ANN401
    """Text as a number: as a float, unless the axis goes beyond what floats tell apart."""
    small = max(abs(axis.start), abs(axis.stop)) < 2**53
    return text.try_cast("float64" if small or kind.is_string() else kind)


def _holds_text(backend: Any, column: Any) -> bool:  # noqa: ANN401
    """Whether a column that looks like text is not just empty."""
    words = column.notnull() & column.try_cast("float64").isnull()
    found = backend.to_pyarrow(words.any().as_table())
    return bool(found[0][0].as_py())
