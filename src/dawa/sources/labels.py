"""Public names of tables, by which a ledger tells them apart."""

import os
import re
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from dawa.errors import SourceError
from dawa.sources.tables import (
    POSTGRES,
    STANDARD_INPUT,
    JsonLines,
    Table,
    TextFile,
    Workbook,
    Written,
    addressed,
    is_address,
    is_database,
)

USUAL_PORTS = {"http": 80, "https": 443}
HASH, DIGITS = "sha256:", 8
"""How labels write a query: so many digits of its hash."""
MEMORY, SPARK, IBIS = "memory", "spark", "ibis"
"""How labels of tables without a path or an address begin."""


def label(table: Any) -> str:  # noqa: ANN401  whatever users pass
    """The public name of a table, by which a ledger tells tables apart. It holds no user, no password and no record.

    A file, a folder or a pattern has its absolute path, links resolved, and a table in a file its name after a ``#``. A
    file on a server has its address without user, and a short hash in place of a query, which may hold a signature. A
    table of a server has the server, the database and the name, with its schema if one is given. A table of Spark or
    Ibis has the name that the engine knows it by. Everything else, standard input too, is ``"memory"``.

    A label is a name and knows nothing of what the table holds. Files with other contents under the same path, and all
    frames and dicts in memory, have the same label: whoever names a dataset says that they are the same table. The same
    table has several labels if it is copied, if a server has two names, or if its schema is named only some times; a
    person then says so in the ledger.

    >>> label("postgresql://reader:secret@server:5432/hr#people"), label({"age": [31]})
    ('postgresql://server/hr#people', 'memory')
    """
    wanted = addressed(table) if isinstance(table, str) and (_is_postgres(table) or not is_address(table)) else table
    if isinstance(wanted, (Written, TextFile, JsonLines, Workbook)):
        return label(wanted.table if isinstance(wanted, Written) else wanted.path)
    if isinstance(wanted, (str, PathLike)) and os.fspath(wanted) != STANDARD_INPUT:
        return _of_path(os.fspath(wanted))
    if isinstance(wanted, Table):
        return _of_table(wanted)
    library = type(wanted).__module__.partition(".")[0]
    if library == "ibis":
        return _of_ibis(wanted)
    return SPARK if library == "pyspark" else MEMORY


def public(source: str) -> str:
    """A path as it is, and an address without what may be secret: for errors.

    >>> public("people.csv"), public("https://ann:secret@server/people.csv?sig=secret")
    ('people.csv', 'https://server/people.csv')
    """
    from dawa.sources import remote  # noqa: PLC0415  slow to load, and seldom needed

    return remote.shown(source) if is_address(source) else source


def labelled(text: str) -> str:
    """The label of a table as it is typed: a path, an address, or a label such as ``memory`` or ``spark:hr.people``.

    >>> labelled("memory"), labelled("spark:hr.people"), labelled("./memory") == label("memory")
    ('memory', 'spark:hr.people', True)
    """
    if is_address(text) and "@" in text.partition("#")[2]:
        raise SourceError("The address of the table cannot be read.", "write # and @ in a password as %23 and %40.")
    place, _, query = text.partition("?")
    if is_address(text) and not is_database(text) and re.fullmatch(rf"{HASH}[0-9a-f]{{{DIGITS}}}", query):
        return f"{label(place)}?{query}"
    return text if re.match(rf"({MEMORY}$|{SPARK}(:|$)|{IBIS}:)", text) else label(text)


def _of_table(table: Table) -> str:
    """A table by its name, in a server, a file or a session."""
    if isinstance(table.place, str) and is_address(table.place):
        return _of_server(table)
    in_file = isinstance(table.place, (str, PathLike))
    place = f"{_of_path(os.fspath(table.place))}#" if in_file else f"{SPARK}:"
    return place + _of_schema(table)


def _is_postgres(text: str) -> bool:
    return text.startswith(POSTGRES)


def _of_path(text: str) -> str:
    """The absolute path, or an address without users and keys; a ``~`` means home, unless a file has that name."""
    if is_address(text):
        return _of_address(text)
    path = Path(text)
    try:
        home = path.expanduser() if text.startswith("~") and not path.exists() else path
        return str(home.resolve())
    except (OSError, RuntimeError):
        return os.path.abspath(path)  # noqa: PTH100  a loop of links cannot be resolved


def _of_address(text: str) -> str:
    """Scheme, server, port and path; a query, which may hold a signature, as the beginning of its hash.

    An address that cannot be read for certain has no port: what looks like one may be of a password.
    """
    try:
        address = urlsplit(text)
        port = None if address.port == USUAL_PORTS.get(address.scheme) else address.port
    except ValueError:
        from dawa.sources import remote  # noqa: PLC0415  slow to load, and seldom needed

        return remote.shown(text)
    host = address.hostname or ""
    at = f"[{host}]" if ":" in host else host
    named = f"{address.scheme}://{at}{'' if port is None else f':{port}'}{address.path}"
    if not address.query:
        return named
    return f"{named}?{HASH}{sha256(address.query.encode(errors='surrogatepass')).hexdigest()[:DIGITS]}"


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
