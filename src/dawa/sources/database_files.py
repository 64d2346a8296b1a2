"""Files that hold a whole database, SQLite's or DuckDB's: which of them a file is, and which of its tables is meant.

A file's first bytes say what it is; they belong to the format, and hold nothing of a record. Files are opened so that
they cannot be changed, and names of tables and columns are all that is read before paying.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dawa.axis import Axis
from dawa.errors import AbsentError, SourceError
from dawa.sources import engines, sqlite, streams
from dawa.sources.dialect import Dialect
from dawa.sources.tables import DATABASES, Source, Table

FEW = 10
"""Tables that an error lists."""
START = 16
"""How many bytes at the beginning of a file say what it is."""
INSIDE = "dawa_file"
"""What the embedded DuckDB calls the file."""


@contextmanager
def source(
    table: Table,
    axes: tuple[Axis, ...],
    unit: tuple[str, ...],
    also: Sequence[str] = (),
    text: Dialect | None = None,
) -> Iterator[Source]:
    """A table in a file."""
    path = _path(table.place)
    form = kind(path)
    if form is None:
        raise SourceError(
            f"{path} is neither a SQLite nor a DuckDB database, so it has no table {table.name!r}.",
            "leave the table out if it is another kind of file; check the path if it is not.",
        )
    if form == "SQLite":
        wanted = [*(axis.column for axis in axes), *also]
        with sqlite.opened(path) as connection:
            stream = sqlite.stream(connection, path, _whole(table), wanted, unit)
            with streams.source(stream, axes, text) as found:
                yield found
        return
    with _attached(path) as backend:
        yield engines.source(backend, _found(backend, path, table), text=text, alone=True)


def kind(path: Path) -> str | None:
    """Whether a file is a database of SQLite's, of DuckDB's, or something else (None).

    Raises:
        SourceError: If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise AbsentError(
                f"There is no file {path}.", "check the path; a relative path starts where the program was started."
            ) from None
        raise SourceError(f"{path} could not be opened ({error.strerror}).", "check that you may read it.") from None
    if start == sqlite.MAGIC:
        return "SQLite"
    return "DuckDB" if start[8:12] == b"DUCK" else None


def refuse_without_table(path: Path) -> None:
    """Refuse a database of which no table is named; any other file is left to others.

    Raises:
        SourceError: If the file is a database, or is called like one.
    """
    form = kind(path)
    if form is None and not path.name.lower().endswith(DATABASES):
        return
    if form is None:
        raise SourceError(
            f"{path} is neither a SQLite nor a DuckDB database, although it is called like one.",
            "check the path; a text file of any name is read with --delimiter ',', or with sources.csv in Python.",
        )
    if form == "SQLite":
        with sqlite.opened(path) as connection:
            there = sqlite.tables(connection, path)
    else:
        with _attached(path) as backend:
            there = _tables(backend)
    raise SourceError(f"{path} is a {form} database, and none of its tables is named.", choices(there))


def choices(there: Sequence[str]) -> str:
    """A hint that lists tables, whose names are public as those of columns are."""
    if not there:
        return "it has no table; check the path."
    few = ", ".join(there[:FEW]) + (", …" if len(there) > FEW else "")
    return f"name one of {few}: --table {there[0]}, or sources.table(path, {there[0]!r}) in Python."


def _path(place: Any) -> Path:  # noqa: ANN401  a path in one form or another
    path = Path(place)
    try:
        return path.expanduser() if str(path).startswith("~") and not path.exists() else path
    except (OSError, RuntimeError):
        return path


def _whole(table: Table) -> str:
    return table.name if table.schema is None else f"{table.schema}.{table.name}"


# --- DuckDB ---------------------------------------------------------------------------------------------------------


@contextmanager
def _attached(path: Path) -> Iterator[Any]:
    """An embedded DuckDB in which the file can be read, and no other: a view might guess at what other files hold."""
    with engines.embedded() as backend:
        where = str(path.absolute()).replace("'", "''")
        try:
            backend.con.execute(f"attach '{where}' as {INSIDE} (read_only, type duckdb)").fetchall()
            backend.con.execute("set enable_external_access = false").fetchall()
        except Exception as error:  # noqa: BLE001  DuckDB's own
            raise _unopened(path, error) from None
        yield backend


def _unopened(path: Path, error: Exception) -> SourceError:
    """Why DuckDB does not open a file; its own message says it in words that may change."""
    said = str(error).lower()
    if "lock" in said or "different configuration" in said or "already attached" in said:
        return SourceError(
            f"{path} is open for writing elsewhere, and DuckDB then lets nobody else read it.",
            "close it there first; in the same program, pass the Ibis table of the connection that has it open.",
        )
    if "version" in said:
        return SourceError(
            f"{path} was written by a version of DuckDB that the installed one cannot read.",
            "pip install --upgrade duckdb, or export the table to Parquet there.",
        )
    return SourceError(
        f"{path} could not be opened as a DuckDB database ({type(error).__name__}).",
        "check that the file is complete and that you may read it; an encrypted one cannot be read.",
    )


def _tables(backend: Any) -> list[str]:  # noqa: ANN401  Ibis'
    """Tables and views, those of other schemas with the schema's name."""
    rows = backend.con.execute(
        "select table_schema, table_name from information_schema.tables where table_catalog = ? order by all", [INSIDE]
    ).fetchall()
    return [name if schema == "main" else f"{schema}.{name}" for schema, name in rows]


def _found(backend: Any, path: Path, table: Table) -> Any:  # noqa: ANN401  Ibis'
    there = _tables(backend)
    name = _whole(table)
    if name not in there:
        raise SourceError(f"{path} has no table {name!r}.", choices(there))
    main = backend.con.execute(
        "select count(*) from information_schema.tables"
        " where table_catalog = ? and table_schema = 'main' and table_name = ?",
        [INSIDE, name],
    ).fetchall()[0][0]
    schema, _, inside = ("main", "", name) if main else name.partition(".")
    try:
        with engines.quietly():
            return backend.table(inside, database=(INSIDE, schema))
    except Exception as error:  # noqa: BLE001  DuckDB's own, about a view
        raise SourceError(
            f"The table {name!r} of {path} could not be opened ({type(error).__name__}).",
            "if it is a view, it must read this file alone.",
        ) from None
