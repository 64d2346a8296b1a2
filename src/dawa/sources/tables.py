"""Whatever people hand over as a table, opened for as long as it takes to count it.

Tables without an engine of their own are read by an embedded DuckDB.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from dawa import dialect as dialects
from dawa.axis import Axis
from dawa.dialect import Dialect
from dawa.errors import SourceError

HINT = (
    "pass a path to a CSV, Parquet or Arrow file, a pandas, Polars or Arrow table, a dict of arrays, a Spark data"
    " frame, an Ibis table, or 'postgresql://user@server/database#table'."
)


@dataclass(frozen=True)
class Column:
    """A column, by what is declared of it.

    Attributes:
        value: The column, as Ibis knows it.
        kind: Its declared type.
        aware: Whether it holds times with a time zone.
        width: For times that are stored as whole numbers, how many nanoseconds each of these counts.
        read: For text of no declared type, what its axis reads it as, one expression or several.
        text: For such text, how values are written in it.
    """

    value: Any
    kind: Any
    aware: bool = False
    width: int | None = None
    read: tuple[Any, ...] = ()
    text: Dialect | None = None


@dataclass(frozen=True)
class Source:
    """A table in its engine, of which nothing but names and types was read.

    Attributes:
        table: The rows, as Ibis knows them.
        engine: The engine's name.
        column: Finds a column by name; None if there is no such column.
        names: The columns' names, for errors; None if they are not known to be public.
        fetch: Runs an expression and returns its few rows as an Arrow table.
        check: Raises what the engine would raise about an expression, without reading rows.
        handling: How the rows are read, in sentences.
        declared: The same in plain values, for a ledger.
    """

    table: Any
    engine: str
    column: Callable[[str], Column | None] = field(repr=False)
    names: tuple[str, ...] | None
    fetch: Callable[[Any], Any] = field(repr=False)
    check: Callable[[Any], None] = field(repr=False)
    handling: tuple[str, ...] = ()
    declared: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TextFile:
    """A text file whose dialect is declared; ``csv`` gives one.

    Attributes:
        path: The file, or a pattern such as ``data/*.csv``.
        dialect: How it is written.
    """

    path: str | PathLike[str]
    dialect: Dialect


@dataclass(frozen=True)
class Table:
    """A table that lives in a database or in Spark, by name.

    Attributes:
        place: The database's address, or a Spark session.
        name: The table's name.
        schema: The schema that it lives in; None stands for the usual one.
    """

    place: Any = field(repr=False)  # it may hold a password
    name: str
    schema: str | None = None


def table(place: Any, name: str | None = None, schema: str | None = None) -> Table:  # noqa: ANN401  an address or a session
    """A table of a PostgreSQL server or of a Spark session.

    Args:
        place: The server's address, ``postgresql://user:password@server/database``, or a Spark session.
        name: The table's name, as it is: no quotes needed. None takes it from the address, after ``#``.
        schema: The schema that it lives in; None stands for the usual one.

    >>> table("postgresql://reader@server/hr", "people")
    Table(name='people', schema=None)
    """
    if name is None and isinstance(place, str):
        return _addressed(place)
    if not isinstance(name, str) or not name or not (schema is None or (isinstance(schema, str) and schema)):
        raise SourceError(f"{name!r} is no name of a table.", "pass the table's name, and its schema apart.")
    return Table(place, name, schema)


def csv(path: str | PathLike[str], **dialect: Any) -> TextFile:  # noqa: ANN401  the dialect checks them
    """A text file that is written otherwise than with commas, in UTF-8, with a header line.

    Args:
        path: The file, whatever its name ends with; ``.gz`` is decompressed.
        dialect: How it is written: ``delimiter``, ``quote``, ``escape``, ``encoding``, ``header``, ``decimal``,
            ``date_format``, ``missing``; see ``dawa.dialect.Dialect``. Nothing of it is ever guessed.

    >>> csv("visits.txt", delimiter=";", decimal=",", date_format="%d.%m.%Y").dialect.delimiter
    ';'
    """
    if not isinstance(path, (str, PathLike)):
        raise SourceError(f"A {type(path).__name__} is not a path.", "pass the path of a text file.")
    return TextFile(path, dialects.of(path, **dialect))


@contextmanager
def opened(table: Any, axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:  # noqa: ANN401  whatever people hand over
    """Open a table, and close what was opened for it.

    Raises:
        SourceError: If this is not a table, or it cannot be opened.
    """
    if isinstance(table, str) and _is_address(table):
        table = _addressed(table)
    with _opener(table)(table, axes, unit) as source:
        yield source


def _opener(table: Any) -> Callable[..., Any]:  # noqa: ANN401
    """The module that knows this kind of table, loaded now."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, Table):
        library = "postgres" if isinstance(table.place, str) else type(table.place).__module__.partition(".")[0]
    if library == "postgres":
        from dawa.sources import postgres  # noqa: PLC0415  needs a driver that is optional

        return postgres.opened
    if library == "pyspark":
        from dawa.sources import spark  # noqa: PLC0415  likewise

        return spark.opened
    if library == "ibis":
        from dawa.sources import engines  # noqa: PLC0415

        return engines.opened
    if isinstance(table, (str, PathLike, TextFile)):
        from dawa.sources import files  # noqa: PLC0415

        return files.opened
    if library in {"pandas", "polars", "pyarrow"} or isinstance(table, Mapping):
        from dawa.sources import frames  # noqa: PLC0415

        return frames.opened
    raise SourceError(f"A {type(table).__name__} is not a table.", HINT)


def _is_address(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def _addressed(address: str) -> Table:
    """The table that an address names after ``#``, with its schema before a dot."""
    from urllib.parse import unquote  # noqa: PLC0415  only addresses need it

    place, _, fragment = address.partition("#")
    if not place.startswith(("postgres://", "postgresql://", "postgresql+psycopg://")):
        scheme = place.partition(":")[0]
        raise SourceError(f"dawa does not read from {scheme}:// addresses itself.", f"connect with Ibis, or {HINT}")
    first, dot, rest = fragment.partition(".")
    schema, name = (unquote(first), unquote(rest)) if dot else (None, unquote(first))
    if not name or schema == "":
        raise SourceError(
            "The address names no table.",
            "append it: postgresql://user@server/database#table, or …#schema.table.",
        )
    return Table(place, name, schema)
