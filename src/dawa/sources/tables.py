"""What users pass as a table, and what it becomes: a source, which is a table that is open in its engine."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from dawa.errors import SourceError
from dawa.sources import dialect as dialects
from dawa.sources.dialect import Dialect

HINT = (
    "pass a path to a CSV, Parquet or Arrow file, a pandas, Polars or Arrow table, a dict of arrays, a Spark data"
    " frame, an Ibis table, or 'postgresql://user@server/database#table'."
)

MEMORY, SPARK, IBIS = "memory", "spark", "ibis"
"""How labels of tables without a path or an address begin."""


@dataclass(frozen=True)
class Column:
    """A column, by what is declared about it.

    Attributes:
        value: The column, as an Ibis expression.
        kind: Its declared type.
        aware: Whether it holds times with a time zone.
        width: For times that are stored as whole numbers, how many nanoseconds 1 stands for.
        read: For text of no declared type, the values that its axis reads from it: one expression or several.
        text: For text of no declared type, how values are written in it.
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
        table: The rows, as an Ibis table.
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
    """A text file whose dialect is declared; ``csv`` makes one.

    Attributes:
        path: The file, or a pattern such as ``data/*.csv``.
        dialect: How it is written.
    """

    path: str | PathLike[str]
    dialect: Dialect


@dataclass(frozen=True)
class Table:
    """A table in a database or in Spark, by name.

    Attributes:
        place: The database's address, or a Spark session.
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


TableLike = str | PathLike[str] | TextFile | Table | Mapping[str, Any] | Frame
"""Whatever records come from: a path, an address, a dict of arrays, a frame."""


UnitLike = str | Sequence[str]
"""Who is protected: the column that says whose record it is, or several columns that say it together."""


def table(place: Any, name: str | None = None, schema: str | None = None) -> Table:  # noqa: ANN401  an address or a session
    """A table of a PostgreSQL server or of a Spark session.

    Args:
        place: The server's address, ``postgresql://user:password@server/database``, or a Spark session.
        name: The table's name, without quotes. None takes it from the address, after ``#``.
        schema: The schema that holds the table; None means the default one.

    >>> table("postgresql://reader@server/hr", "people")
    Table(name='people', schema=None)
    """
    if name is None and isinstance(place, str):
        return _addressed(place)
    if not isinstance(name, str) or not name or not (schema is None or (isinstance(schema, str) and schema)):
        raise SourceError(f"{name!r} is not a name of a table.", "pass the table's name, and its schema separately.")
    return Table(place, name, schema)


def csv(path: str | PathLike[str], **dialect: Any) -> TextFile:  # noqa: ANN401  the dialect checks them
    """A text file in another dialect than commas, UTF-8 and a header line.

    Args:
        path: The file, whatever its name ends with; ``.gz`` is decompressed.
        dialect: How it is written: ``delimiter``, ``quote``, ``escape``, ``encoding``, ``header``, ``decimal``,
            ``date_format``, ``missing``; see ``dawa.sources.dialect.Dialect``. No part of it is ever guessed.

    >>> csv("visits.txt", delimiter=";", decimal=",", date_format="%d.%m.%Y").dialect.delimiter
    ';'
    """
    if not isinstance(path, (str, PathLike)):
        raise SourceError(f"A {type(path).__name__} is not a path.", "pass the path of a text file.")
    return TextFile(path, dialects.of(path, **dialect))


def addressed(table: Any) -> Any:  # noqa: ANN401  whatever users pass
    """The table that an address names; anything else is returned unchanged."""
    return _addressed(table) if isinstance(table, str) and is_address(table) else table


def is_address(text: str) -> bool:
    """Whether a text names a server and not a file.

    >>> is_address("postgresql://server/hr"), is_address("people.parquet")
    (True, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def _addressed(address: str) -> Table:
    """The table that an address names after ``#``, with its schema before a dot."""
    place, _, fragment = address.partition("#")
    if not place.startswith(("postgres://", "postgresql://", "postgresql+psycopg://")):
        scheme = place.partition(":")[0]
        raise SourceError(f"dawa does not read from {scheme}:// addresses itself.", f"connect with Ibis, or {HINT}")
    first, dot, rest = fragment.partition(".")
    schema, name = (unquote(first), unquote(rest)) if dot else (None, unquote(first))
    if not name or schema == "":
        raise SourceError(
            "The address names no table.",
            "append one: postgresql://user@server/database#table, or …#schema.table.",
        )
    return Table(place, name, schema)


def label(table: Any) -> str:  # noqa: ANN401  whatever users pass
    """The public name of a table, by which a ledger tells tables apart. It holds no user, no password and no record.

    A file, a folder or a pattern has its absolute path, links resolved. A table of a server has the server, the
    database and the name, with its schema if one is given. A table of Spark or Ibis has the name that the engine knows
    it by. Everything else is ``"memory"``.

    A label is a name and knows nothing of what the table holds. Files with other contents under the same path, and all
    frames and dicts in memory, have the same label: whoever names a dataset says that they are the same table. The same
    table has several labels if it is copied, if a server has two names, or if its schema is named only some times; a
    person then says so in the ledger.

    >>> label("postgresql://reader:secret@server:5432/hr#people"), label({"age": [31]})
    ('postgresql://server/hr#people', 'memory')
    """
    wanted = addressed(table) if isinstance(table, str) and _is_postgres(table) else table
    if isinstance(wanted, TextFile):
        return label(wanted.path)
    if isinstance(wanted, (str, PathLike)):
        return _of_path(os.fspath(wanted))
    if isinstance(wanted, Table):
        return _of_server(wanted) if isinstance(wanted.place, str) else f"{SPARK}:{_of_schema(wanted)}"
    library = type(wanted).__module__.partition(".")[0]
    if library == "ibis":
        return _of_ibis(wanted)
    return SPARK if library == "pyspark" else MEMORY


def labelled(text: str) -> str:
    """The label of a table as it is typed: a path, an address, or a label such as ``memory`` or ``spark:hr.people``.

    >>> labelled("memory"), labelled("spark:hr.people"), labelled("./memory") == label("memory")
    ('memory', 'spark:hr.people', True)
    """
    if is_address(text) and "@" in text.partition("#")[2]:
        raise SourceError("The address of the table cannot be read.", "write # and @ in a password as %23 and %40.")
    return text if re.match(rf"({MEMORY}$|{SPARK}(:|$)|{IBIS}:)", text) else label(text)


def _is_postgres(text: str) -> bool:
    return text.startswith(("postgres://", "postgresql://", "postgresql+psycopg://"))


def _of_path(text: str) -> str:
    """The absolute path, or an address without users and keys; a ``~`` means home, unless a file has that name."""
    if is_address(text):
        address = urlsplit(text)
        return f"{address.scheme}://{address.hostname or ''}{address.path}"
    path = Path(text)
    try:
        home = path.expanduser() if text.startswith("~") and not path.exists() else path
        return str(home.resolve())
    except (OSError, RuntimeError):
        return os.path.abspath(path)  # noqa: PTH100  a loop of links cannot be resolved


SERVER = re.compile(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?")
"""A server in an address, and its port."""


def _of_server(table: Table) -> str:
    """Server, database and name; what the address leaves out comes from the environment, as for the driver.

    An address that cannot be read for certain is left out: a part that looks like a server may be of a password.
    """
    users, _, place = urlsplit(table.place).netloc.rpartition("@")
    address, found = urlsplit(table.place), SERVER.fullmatch(place)
    if found is None or "@" in address.path + address.query:
        return f"postgresql:#{_of_schema(table)}"
    said = dict(parse_qsl(address.query))
    host = said.get("host") or unquote(found[1]) or os.environ.get("PGHOST", "")
    port = said.get("port") or found[2] or os.environ.get("PGPORT", "5432")
    user = said.get("user") or unquote(users.partition(":")[0]) or os.environ.get("PGUSER", "")
    database = said.get("dbname") or unquote(address.path[1:]) or os.environ.get("PGDATABASE") or user
    server = quote(host, safe="") if host.startswith("/") else host.lower()  # a socket is a file
    service = f"service={said['service']}," if "service" in said else ""
    path = re.search(r"search_path\s*=\s*(\S+)", said.get("options", ""))
    named = table if table.schema or not path else replace(table, schema=path[1])
    at = server if port == "5432" else f"{server}:{port}"
    return f"postgresql://{service}{at}/{_part(database)}#{_of_schema(named)}"


def _of_ibis(table: Any) -> str:  # noqa: ANN401  Ibis is untyped
    """The name that an engine knows an Ibis table by; of an expression, the names of all tables in it."""
    import ibis.expr.operations as ops  # noqa: PLC0415  loaded with the table

    if not hasattr(table, "op"):
        return MEMORY
    held = table.op().find(ops.DatabaseTable)
    if not held:
        return MEMORY if table.op().find(ops.InMemoryTable) else f"{IBIS}:expression"
    names = sorted({f"{one.source.name}#{_of_namespace(one)}" for one in held})
    return f"{IBIS}:{'' if isinstance(table.op(), ops.DatabaseTable) else 'expression on '}{', '.join(names)}"


def _of_namespace(held: Any) -> str:  # noqa: ANN401  Ibis is untyped
    space = held.namespace
    return ".".join(_part(part) for part in (space.catalog, space.database, held.name) if part)


def _of_schema(table: Table) -> str:
    return ".".join(_part(part) for part in (table.schema, table.name) if part is not None)


def _part(name: str) -> str:
    """A part of a label, in which what separates parts is written as in an address."""
    return re.sub(r"[%#./?\s]", lambda match: f"%{ord(match[0]):02X}", name)
