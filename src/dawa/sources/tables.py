"""What users pass as a table, and what it becomes: a source, which is a table that is open in its engine."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, BinaryIO, Protocol
from urllib.parse import unquote

from dawa.errors import SourceError
from dawa.sources import dialect as dialects
from dawa.sources.dialect import MISSING, Dialect

HINT = (
    "pass a path to a CSV, JSON lines, Excel, Parquet or Arrow file, a pandas, Polars or Arrow table, a dict of arrays,"
    " a Spark data frame, an Ibis table, 'people.sqlite#table', or 'postgresql://user@server/database#table'."
)
DATABASES = (".sqlite", ".sqlite3", ".db", ".db3", ".duckdb", ".ddb")
"""Usual endings of the names of files that hold databases; what such a file is, its first bytes say."""

STANDARD_INPUT = "-"
"""What stands for standard input, where a path could stand."""
FILES_AT = ("http://", "https://", "s3://")
"""How the addresses of files begin; other addresses are those of databases."""
POSTGRES = ("postgres://", "postgresql://", "postgresql+psycopg://")
"""How the addresses of databases begin that are read."""
DOWNLOAD = "download the file first, and pass that file."


@dataclass(frozen=True)
class Column:
    """A column, by what is declared about it.

    Attributes:
        value: The column, as an Ibis expression.
        kind: Its declared type.
        aware: Whether it holds times with a time zone.
        width: For times that are stored as whole numbers, how many nanoseconds 1 stands for.
        read: For text of no declared type, the values that its axis reads from it: one expression or several.
        text: For text of no declared type, and for text about which somebody has declared it, how values are written.
        assumed: Whether ``text`` is declared by nobody: an axis reads a column of declared text.
        dated: For text that holds numbers of days, what is a date: the text that is no such number, and the moments of
            the numbers, in microseconds since 1970 as clocks show them.
    """

    value: Any
    kind: Any
    aware: bool = False
    width: int | None = None
    read: tuple[Any, ...] = ()
    text: Dialect | None = None
    assumed: bool = False
    dated: tuple[Any, Any] | None = None

    @property
    def gone(self) -> tuple[str, ...]:
        """Text that means a missing value, whoever looks at the column; an axis alone may know more."""
        return () if self.text is None or self.assumed else ("", *self.text.missing)


@dataclass(frozen=True)
class Source:
    """A table in its engine, of which nothing but names and types was read.

    Attributes:
        table: The rows, as an Ibis table.
        engine: The engine's name.
        column: Finds a column by name; None if there is no such column.
        names: The columns' names, for errors; None if they are not known to be public.
        fetch: Runs an expression and returns its few rows as an Arrow table.
        check: Raises what the engine would raise about an expression, without reading rows.
        handling: How the rows are read, in sentences.
        declared: The same in plain values, for a ledger.
        casts: Whether the engine can read numbers and times from text without failing at any of it.
        knows_zone: Whether the engine knows a time zone by its name, where it reads local times from text.
        sized: Whether the engine knows the number of rows without reading them.
        header: The columns' names as a header gives them, to be compared and never shown: it may be a record.
    """

    table: Any
    engine: str
    column: Callable[[str], Column | None] = field(repr=False)
    names: tuple[str, ...] | None
    fetch: Callable[[Any], Any] = field(repr=False)
    check: Callable[[Any], None] = field(repr=False)
    handling: tuple[str, ...] = ()
    declared: dict[str, Any] = field(default_factory=dict)
    casts: bool = False
    knows_zone: Callable[[str], bool] = field(default=lambda _: True, repr=False)
    sized: bool = False
    header: tuple[str, ...] = field(default=(), repr=False)


PathOrFile = str | PathLike[str] | BinaryIO
"""A path, an address, ``"-"`` for standard input, or a file that is open in binary mode."""


@dataclass(frozen=True)
class TextFile:
    """A text file whose dialect is declared; ``csv`` makes one.

    Attributes:
        path: The file, or a pattern such as ``data/*.csv``.
        dialect: How it is written.
        gzip: Whether it is compressed; None if its name says so.
    """

    path: PathOrFile
    dialect: Dialect
    gzip: bool | None = None


@dataclass(frozen=True)
class JsonLines:
    """A file of JSON lines; ``jsonl`` makes one.

    Attributes:
        path: The file, or a pattern such as ``data/*.jsonl``.
        dialect: How numbers, dates and missing values are written in its strings.
        gzip: Whether it is compressed; None if its name says so.
    """

    path: PathOrFile
    dialect: Dialect
    gzip: bool | None = None


@dataclass(frozen=True)
class Workbook:
    """A sheet of an Excel workbook; ``excel`` makes one.

    Attributes:
        path: The workbook.
        sheet: The sheet's name; None takes the first one that is not hidden.
        dialect: Its columns, if no row names them, and how numbers, dates and missing values are written in its text.
    """

    path: str | PathLike[str]
    sheet: str | None
    dialect: Dialect


@dataclass(frozen=True)
class Written:
    """A table and what is declared about text in its columns; ``written`` makes one.

    Attributes:
        table: The table.
        dialect: How numbers, dates and missing values are written.
    """

    table: Any = field(repr=False)  # it may hold records
    dialect: Dialect


@dataclass(frozen=True)
class Table:
    """A table in a database or in Spark, by name.

    Attributes:
        place: The database's address, its file, or a Spark session.
        name: The table's name.
        schema: The schema that holds the table; None means the default one.
    """

    place: Any = field(repr=False)  # it may hold a password
    name: str
    schema: str | None = None


class Frame(Protocol):
    """A table in memory or in an engine: pandas', Polars', Arrow's, Spark's or Ibis'."""

    @property
    def columns(self) -> Any:  # noqa: ANN401  each library's own
        """Its columns."""
        ...


TableLike = PathOrFile | TextFile | JsonLines | Workbook | Table | Written | Mapping[str, Any] | Frame
"""Whatever records come from: a path, an address, an open file, a dict of arrays, a frame."""


UnitLike = str | Sequence[str]
"""Who is protected: the column that says whose record it is, or several columns that say it together."""


def table(place: Any, name: str | None = None, schema: str | None = None) -> Table:  # noqa: ANN401  an address or a session
    """A table of a PostgreSQL server, of a file of SQLite or DuckDB, or of a Spark session.

    Args:
        place: The server's address, ``postgresql://user:password@server/database``, a path, or a Spark session.
        name: The table's name, without quotes. None takes it from the address, after ``#``.
        schema: The schema that holds the table; None means the default one.

    >>> table("postgresql://reader@server/hr", "people")
    Table(name='people', schema=None)
    """
    if name is None and isinstance(place, str):
        found = addressed(place)
        if isinstance(found, Table):
            return found
    if not isinstance(name, str) or not name or not (schema is None or (isinstance(schema, str) and schema)):
        raise SourceError(f"{name!r} is not a name of a table.", "pass the table's name, and its schema separately.")
    return Table(place, name, schema)


def written(table: Any, **values: Any) -> Written | TextFile:  # noqa: ANN401  any table; the dialect checks the values
    """A table whose columns of text hold numbers, dates or missing values, written in a way that you declare.

    Args:
        table: A path, a frame, a table of a database: whatever ``dawa.release`` takes.
        values: ``decimal``, the decimal mark; ``date_format``, such as ``"%d.%m.%Y"``; ``missing``, words that mean a
            missing value. What is not declared is as in ``csv``.

    >>> written("visits.parquet", date_format="%d.%m.%Y").dialect.date_format
    '%d.%m.%Y'
    """
    for name in values:
        if name not in dialects.VALUES:
            raise SourceError(
                f"{name}= cannot be declared about columns of text.",
                f"pass some of {', '.join(dialects.VALUES)}; sources.csv takes more, for text files.",
            )
    if isinstance(table, TextFile):
        return TextFile(table.path, replace(table.dialect, **values))
    if isinstance(table, (str, PathLike)) and str(table).lower().endswith(dialects.ENDINGS):
        return csv(table, **values)
    return Written(table, dialects.of("", **values))


def csv(path: PathOrFile, *, gzip: bool | None = None, **dialect: Any) -> TextFile:  # noqa: ANN401  the dialect checks them
    """A text file in another dialect than commas, UTF-8 and a header line.

    Args:
        path: The file, whatever its name ends with; ``"-"`` is standard input. Or a file that is open in binary mode:
            it is read once, from where it stands.
        gzip: Whether it is compressed; None if its name ends with ``.gz``.
        dialect: How it is written: ``delimiter``, ``quote``, ``escape``, ``encoding``, ``header``, ``decimal``,
            ``date_format``, ``missing``; see ``dawa.sources.dialect.Dialect``. No part of it is ever guessed.

    >>> csv("visits.txt", delimiter=";", decimal=",", date_format="%d.%m.%Y").dialect.delimiter
    ';'
    """
    name = path if isinstance(path, (str, PathLike)) else ""
    return TextFile(_source(path), dialects.of(name, **dialect), _packed(gzip))


def jsonl(
    path: PathOrFile,
    *,
    gzip: bool | None = None,
    decimal: str = ".",
    date_format: str | None = None,
    missing: Sequence[str] = MISSING,
) -> JsonLines:
    """A file of JSON lines, whatever its name ends with.

    Args:
        path: The file, ``"-"`` for standard input, or a file that is open in binary mode.
        gzip: Whether it is compressed; None if its name ends with ``.gz``.
        decimal: The decimal mark of numbers that are written as strings.
        date_format: How dates and times are written in strings, such as ``"%d.%m.%Y"``; None means ISO 8601.
        missing: Words that mean a missing value, as empty text and null always do.

    >>> jsonl("visits.log").path
    'visits.log'
    """
    declared = dialects.of("", decimal=decimal, date_format=date_format, missing=missing)
    return JsonLines(_source(path), declared, _packed(gzip))


def excel(
    path: str | PathLike[str],
    sheet: str | None = None,
    *,
    header: Sequence[str] | None = None,
    decimal: str = ".",
    date_format: str | None = None,
    missing: Sequence[str] = MISSING,
) -> Workbook:
    """A sheet of an Excel workbook (``.xlsx``, ``.xlsm``).

    Args:
        path: The workbook.
        sheet: The sheet's name; None takes the first one that is not hidden.
        header: The columns' names, for a sheet whose first row is a record already.
        decimal: The decimal mark of numbers that are written as text.
        date_format: How dates and times are written in text, such as ``"%d.%m.%Y"``; None means ISO 8601. Cells that
            hold a date need no format.
        missing: Words that mean a missing value, as empty cells always do.

    >>> excel("people.xlsx", "2013").sheet
    '2013'
    """
    if not isinstance(path, (str, PathLike)):
        raise SourceError(
            f"A {type(path).__name__} is not the path of a workbook.", "write it to a file, and pass its path."
        )
    if sheet is not None and not isinstance(sheet, str):
        raise SourceError(f"sheet={sheet!r} is not a name.", "pass the name of a sheet, such as sheet='Sheet1'.")
    declared = dialects.of("", header=header, decimal=decimal, date_format=date_format, missing=missing)
    return Workbook(path, sheet, declared)


def _source(path: Any) -> Any:  # noqa: ANN401  checked here
    if isinstance(path, (str, PathLike)) or callable(getattr(path, "read", None)):
        return path
    raise SourceError(f"A {type(path).__name__} is not a path.", "pass the path of a text file.")


def _packed(gzip: object) -> bool | None:
    if gzip is None or isinstance(gzip, bool):
        return gzip
    raise SourceError(f"gzip={gzip!r} is neither yes nor no.", "pass True or False.")


def addressed(table: Any) -> Any:  # noqa: ANN401  whatever users pass
    """The table that an address or ``file#table`` names; anything else is returned unchanged."""
    if not isinstance(table, str):
        return table
    if is_database(table):
        return _addressed(table)
    return table if is_address(table) else _in_file(table)


def _in_file(name: str) -> str | Table:
    """A table in a file; a file may have a ``#`` in its own name."""
    place, _, inside = name.rpartition("#")
    if not place or not inside or os.path.exists(name):  # noqa: PTH110  pathlib raises for names that are too long
        return name
    there = place.lower().endswith(DATABASES) or os.path.isfile(place)  # noqa: PTH113
    return Table(place, inside) if there else name


def is_address(text: str) -> bool:
    """Whether a text names a server, or something on one, and not a file here.

    >>> is_address("postgresql://server/hr"), is_address("people.parquet")
    (True, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def is_database(text: str) -> bool:
    """Whether a text is the address of a database, and not that of a file.

    >>> is_database("postgresql://server/hr"), is_database("https://server/people.csv")
    (True, False)
    """
    return is_address(text) and not text.lower().startswith(FILES_AT)


def check_address(text: str) -> None:
    """Refuse an address of a kind that is not read.

    Raises:
        SourceError: If neither a file nor a database is read from there.
    """
    if not is_database(text) or text.startswith(POSTGRES):
        return
    scheme = text.partition(":")[0]
    known = {"file": "pass the path alone: /data/people.csv.", "ftp": DOWNLOAD, "ftps": DOWNLOAD, "sftp": DOWNLOAD}
    raise SourceError(
        f"dawa does not read from {scheme}:// addresses itself.",
        known.get(scheme.lower(), f"connect with Ibis, or {HINT}"),
    )


def _addressed(address: str) -> Table:
    """The table that an address names after ``#``, with its schema before a dot."""
    place, _, fragment = address.partition("#")
    check_address(place)
    first, dot, rest = fragment.partition(".")
    schema, name = (unquote(first), unquote(rest)) if dot else (None, unquote(first))
    if not name or schema == "":
        raise SourceError(
            "The address names no table.",
            "append one: postgresql://user@server/database#table, or …#schema.table.",
        )
    return Table(place, name, schema)
