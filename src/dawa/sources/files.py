"""Files of all kinds. Only what was named is read: a folder's name never says what is in it."""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from dawa.axis import Axis
from dawa.errors import AbsentError, AxisError, DawaError, SourceError
from dawa.sources import (
    database_files,
    delimited,
    engines,
    forms,
    json_lines,
    places,
    remote,
    streams,
    tables,
    workbooks,
)
from dawa.sources.dialect import Dialect
from dawa.sources.places import Place
from dawa.sources.streams import Kind, Stream, Text
from dawa.sources.tables import DOWNLOAD, STANDARD_INPUT, JsonLines, Source, TextFile, Workbook, is_address

ENDINGS = {"Parquet": (".parquet", ".pq"), "Arrow": (".arrow", ".feather", ".ipc")}
"""Files that declare their own types; ``forms.py`` has the others."""
SAVE = "save it as .xlsx, .csv or .jsonl; if it has one JSON record on each line, say --format jsonl."

Where = Path | remote.Object
"""Where a file with a schema is."""
MAGIC = b"PAR1"
"""How a Parquet file begins and ends."""

BY_STATISTICS = "statistics_propagation,filter_pushdown"
"""The steps in which DuckDB leaves out work because of the least and the largest value that a file states. They may be
wrong: NaN is never among them, and old writers compared decimals and unsigned numbers as if they were others."""


@dataclass(frozen=True)
class Parquet:
    """Parquet files that DuckDB reads itself.

    Attributes:
        paths: The files.
        names: All columns' names.
    """

    paths: Sequence[Path]
    names: tuple[str, ...]


@contextmanager
def source(
    table: Any,  # noqa: ANN401  a path, an open file, or declared
    axes: tuple[Axis, ...],
    unit: tuple[str, ...],
    also: Sequence[str] = (),
    text: Dialect | None = None,
) -> Iterator[Source]:
    """A file, a folder of Parquet files, or several files by a pattern such as ``data/*.parquet``; and open files."""
    columns = list(dict.fromkeys([*(axis.column for axis in axes), *unit, *also]))
    with ExitStack() as opened:
        known = _known(table)
        try:
            reading = _reading(known, columns, axes, also, opened)
        except DawaError:
            raise
        except Exception as error:  # noqa: BLE001  Arrow's own, which may quote values
            reason = f": {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
            absent = isinstance(error, FileNotFoundError)
            raise (AbsentError if absent else SourceError)(
                f"{_called(known)} could not be read as {_form(known)} ({type(error).__name__}{reason}).",
                "check that the file is complete, that you may read it, that the ending of its name fits its format,"
                " and the encoding of text.",
            ) from None
        if isinstance(reading, Stream):
            yield opened.enter_context(streams.source(reading, axes, text))
        else:
            yield _native(opened.enter_context(engines.embedded()), reading)


def _known(table: Any) -> Any:  # noqa: ANN401
    """A file with what is declared about it, or with what its name implies; folders hold Parquet files."""
    if isinstance(table, (TextFile, JsonLines, Workbook)):
        return table
    if not isinstance(table, (str, PathLike)):
        return tables.csv(table)
    return table if not is_address(fspath(table)) and _path(table).is_dir() else forms.declared(table)


def _called(known: Any) -> str:  # noqa: ANN401
    """What messages call a file; an address may hold secrets."""
    where = known.path if isinstance(known, (TextFile, JsonLines, Workbook)) else known
    if not isinstance(where, (str, PathLike)):
        return f"The open {type(where).__name__}"
    return remote.shown(fspath(where)) if is_address(fspath(where)) else str(_path(where))


def _form(known: Any) -> str:  # noqa: ANN401
    """What a file is read as."""
    if isinstance(known, (TextFile, JsonLines, Workbook)):
        return {TextFile: forms.TEXT, JsonLines: forms.JSON_LINES, Workbook: forms.EXCEL}[type(known)]
    return _typed_form(_called(known) if is_address(fspath(known)) else _path(known))


def _reading(
    known: Any,  # noqa: ANN401
    columns: list[str],
    axes: tuple[Axis, ...],
    also: Sequence[str],
    opened: ExitStack,
) -> Stream | Parquet:
    """What is read, and how; only a header or a schema is looked at."""
    if isinstance(known, TextFile):
        return _text(_places(known, opened), known.dialect, columns)
    if isinstance(known, JsonLines):
        return _lines(_places(known, opened), known.dialect, columns)
    if isinstance(known, Workbook):
        return workbooks.stream(known, _path(known.path), columns, axes, also)
    if is_address(fspath(known)):
        form = _form(known)
        return _typed([_remote(fspath(known))], form, columns)
    path = _path(known)
    paths = _found(path, text=False)
    return _typed(paths, _typed_form(path), columns)


def _remote(address: str) -> remote.Object:
    """A file in S3, any part of which can be read; over http, parts of files cannot be had everywhere.

    Raises:
        SourceError: If the address is not one of S3's.
    """
    if not address.lower().startswith(f"{remote.S3}://"):
        raise SourceError(
            f"{remote.shown(address)} cannot be read from its server: over http and https, only text and JSON lines"
            " can.",
            f"{DOWNLOAD.removesuffix('.')}; a text file of any name is read with --format csv.",
        )
    return remote.file(address)


def _places(file: TextFile | JsonLines, opened: ExitStack) -> list[Place]:
    """Where the bytes of text files are; what cannot be read twice is opened, until everything is counted."""
    where, packed = file.path, bool(file.gzip)
    if not isinstance(where, (str, PathLike)):
        return [places.opened_file(where, packed=packed)]
    if where == STANDARD_INPUT:
        return [opened.enter_context(places.standard_input(packed=packed))]
    if is_address(fspath(where)):
        return [opened.enter_context(remote.opened(fspath(where), packed=file.gzip))]
    path = _path(where)
    if str(path).startswith(forms.STREAMS) or (path.exists() and not path.is_file() and not path.is_dir()):
        zipped = places.file(path).packed if file.gzip is None else packed
        return [opened.enter_context(places.piped(path, packed=zipped))]
    found = [places.file(one) for one in _found(path, text=True)]
    return [one if file.gzip is None else replace(one, packed=packed) for one in found]


def _path(name: str | PathLike[str]) -> Path:
    """A path as it is written; a ``~`` in front means the home folder, unless a file has that name."""
    path = Path(fspath(name))
    try:
        return path.expanduser() if str(path).startswith("~") and not path.exists() else path
    except (OSError, RuntimeError):
        return path


def _found(path: Path, *, text: bool) -> list[Path]:
    """The files that a path names; a path that exists is not a pattern, and hidden files are left out."""
    if path.is_dir() and text:
        raise SourceError(f"{path} is a folder.", "name its files, with a pattern such as folder/*.csv.")
    if path.is_dir():
        inside = sorted(one for one in path.rglob("*") if one.name.lower().endswith(ENDINGS["Parquet"]))
        found = [one for one in inside if one.is_file() and not _hidden(one.relative_to(path).parts)]
        if not found:
            raise SourceError(
                f"The folder {path} holds no Parquet file.", "pass a file, or a folder of .parquet files."
            )
        return found
    if path.is_file():
        return [path]
    if path.exists():
        raise SourceError(f"{path} is not a regular file.", "write it to a file first: it is read more than once.")
    found = [Path(one) for one in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207  a pattern with folders
    found = [one for one in found if one.is_file() and not _hidden(set(one.parts) - set(path.parts))]
    if found:
        return found
    raise AbsentError(
        f"There is no file {path}.", "check the path; a relative path starts where the program was started."
    )


def _hidden(parts: Iterable[str]) -> bool:
    """Whether a file or its folder is hidden, judged only by names that the user did not write out."""
    return any(part.startswith((".", "_")) for part in parts)


def _typed_form(path: Path | str) -> str:
    if isinstance(path, Path) and path.is_dir():
        return "Parquet"
    for form, endings in ENDINGS.items():
        if str(path).lower().endswith(endings):
            return form
    if isinstance(path, Path) and path.is_file():
        database_files.refuse_without_table(path)
    if what := forms.unread(str(path)):
        raise SourceError(f"{path} is {what}, which dawa does not read.", SAVE)
    known = ", ".join(ending for endings in (*ENDINGS.values(), *forms.ENDINGS.values()) for ending in endings)
    raise SourceError(
        f"The ending of {path} does not name a format.",
        f"it should be one of {known}; files of any name are read if you say what they are: --format csv on the command"
        " line, sources.csv(path) in Python.",
    )


# --- text -----------------------------------------------------------------------------------------------------------


def _text(found: list[Place], written: Dialect, columns: list[str]) -> Stream:
    """Text files, whose columns are all text; only their headers are read here."""
    seen: dict[str, None] = {}
    for place in found:
        places.check(place)
        there = delimited.header(place, written)
        seen |= dict.fromkeys(there.names)
        for column in columns:
            there.place(column, place, written)
    return Stream(
        dict.fromkeys(columns, Text(written)),
        None,
        lambda: delimited.batches(found, written, columns),
        written.describe(),
        {"dialect": written.to_json()},
        tuple(seen),
    )


def _lines(found: list[Place], written: Dialect, columns: list[str]) -> Stream:
    """JSON lines, which have no header: the columns are those that are asked for, and nothing of them is read here."""
    for place in found:
        places.check(place)
    return Stream(
        dict.fromkeys(columns, Text(written)),
        None,
        lambda: json_lines.batches(found, written, columns),
        forms.describe(forms.JSON_LINES, written),
        {"format": forms.JSON_LINES, "dialect": forms.parts(forms.JSON_LINES, written)},
    )


# --- Parquet and Arrow ----------------------------------------------------------------------------------------------


def _typed(paths: Sequence[Where], form: str, columns: list[str]) -> Stream | Parquet:
    """Files with a schema; only the schema is read here."""
    schemas = [_schema(path, form) for path in paths]
    names = tuple(schemas[0].names)
    there = [column for column in columns if column in names]  # columns.named raises for a missing one
    types = {column: [_type(*both, column) for both in zip(schemas, paths, strict=True)] for column in there}
    kinds = {column: _agreed(declared, column) for column, declared in types.items()}
    if form == "Parquet" and all(
        isinstance(path, Path) and _plain(schema, there) and not _old(path)
        for schema, path in zip(schemas, paths, strict=True)
    ):
        return Parquet([path for path in paths if isinstance(path, Path)], names)
    return Stream(kinds, names, lambda: _batches(paths, form, kinds))


def _opened(path: Where) -> Any:  # noqa: ANN401  Arrow is untyped
    """A file, any part of which can be read."""
    return pa.OSFile(str(path)) if isinstance(path, Path) else path.open()


def _schema(path: Where, form: str) -> pa.Schema:
    if form == "Parquet":
        with _parquet(path) as file:
            return file.schema_arrow
    with _opened(path) as file:
        return pa.ipc.open_file(file).schema


def _parquet(path: Where) -> Any:  # noqa: ANN401  Arrow is untyped
    """A Parquet file; old times of 96 bits are read as microseconds, because nanoseconds end in 2262."""
    place = path if isinstance(path, Path) else _opened(path)
    return pa.parquet.ParquetFile(place, metadata=_metadata(path), coerce_int96_timestamp_unit="us")


def _metadata(path: Where) -> Any:  # noqa: ANN401  Arrow is untyped
    """A Parquet file's own metadata, without the schema that Arrow stored beside it: Arrow would check text by it."""
    with _opened(path) as file:
        file.seek(0, 2)
        size = file.tell()
        file.seek(max(size - 8, 0))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if len(end) < 8 or end[4:] != MAGIC or length + 8 > size:
            return pa.parquet.read_metadata(_opened(path))  # this raises an error that says what is wrong
        file.seek(size - 8 - length)
        footer = file.read(length).replace(b"ARROW:schema", b"other:schema")
    return pa.parquet.read_metadata(pa.BufferReader(MAGIC + footer + end))


def _type(schema: pa.Schema, path: Where, column: str) -> pa.DataType:
    places = schema.get_all_field_indices(column)
    if len(places) == 1:
        return schema.field(places[0]).type
    if places:
        raise AxisError(f"{path} has several columns {column!r}.", "rename all but one of them.")
    raise AxisError(f"{path} has no column {column!r}, but other files do.", "pass files with the same columns.")


def _agreed(types: list[pa.DataType], column: str) -> Kind:
    """The type of a column, on which all files must agree."""
    kinds = {streams.declared(kind) for kind in types if not pa.types.is_null(kind)}
    if len(kinds) > 1 and all(isinstance(kind, pa.DataType) and _signed(kind) for kind in kinds):
        return pa.int64()
    if len(kinds) > 1:
        raise SourceError(
            f"The files declare different types for the column {column!r}.", "write them again with one type."
        )
    return kinds.pop() if kinds else pa.null()


def _signed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) and kind != pa.uint64())


def _plain(schema: pa.Schema, columns: list[str]) -> bool:
    """Whether DuckDB can read all wanted columns and never fail on a value.

    DuckDB checks text, and converts other times to microseconds; it renames columns whose names differ only in case.
    """
    folded = [name.casefold() for name in schema.names]
    kinds = [schema.field(column).type for column in columns]
    return all(folded.count(column.casefold()) == 1 for column in columns) and all(
        pa.types.is_integer(kind)
        or pa.types.is_float32(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_decimal128(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
        or kind in (pa.timestamp("us"), pa.timestamp("us", "UTC"))
        for kind in kinds
    )


def _old(path: Where) -> bool:
    """Whether a file has times of 96 bits, which each engine reads in its own way."""
    schema = _metadata(path).schema
    return any(schema.column(place).physical_type == "INT96" for place in range(len(schema)))


def _native(backend: Any, files: Parquet) -> Source:  # noqa: ANN401  Ibis'
    """Parquet files as a DuckDB view; in several files, columns are matched by name."""
    backend.con.execute(f"set disabled_optimizers = '{BY_STATISTICS}'").fetchall()
    backend.con.execute("set perfect_ht_threshold = 17").fetchall()  # a place for each number of 16 bits
    paths = [glob.escape(str(path)) for path in files.paths]
    several = len(paths) > 1
    relation = backend.con.read_parquet(paths, hive_partitioning=False, union_by_name=several)
    with engines.quietly():
        relation.create_view(streams.ROWS)
        table = backend.table(streams.ROWS)
    return replace(engines.source(backend, table, files.names, alone=True), sized=True)


def _batches(paths: Sequence[Where], form: str, kinds: Mapping[str, Kind]) -> Iterator[pa.RecordBatch]:
    """The wanted columns of all files, file by file."""
    names = [str(place) for place in range(len(kinds))]
    for path in paths:
        for batch in _parts(path, form, list(kinds)):
            arrays = [streams.plain(batch.column(column), kind) for column, kind in kinds.items()]
            yield pa.RecordBatch.from_arrays(arrays, names)


def _parts(path: Where, form: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    if form == "Parquet":
        with _parquet(path) as file:
            yield from file.iter_batches(columns=columns)
        return
    with _opened(path) as file:
        schema = pa.ipc.open_file(file).schema
        wanted = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(column) for column in columns])
        reader = pa.ipc.open_file(file, options=wanted)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
