"""Tables that an engine already holds: in PostgreSQL, by address; in Spark, beyond one machine; in any engine of Ibis.

The engine counts, and only the counts travel. No password appears in the messages of this module.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import ibis
import ibis.expr.operations as ops

from dawa.axis import Axis
from dawa.errors import AbsentError, SourceError
from dawa.sources import engines, streams
from dawa.sources.dialect import Dialect
from dawa.sources.tables import Source, Table

FEW = 10
"""Tables that an error lists."""


ALIVE = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds to wait for a server that does not answer, unless the address says otherwise: a minute while it works."""

STATEMENT, LOCK = 3600, 60
"""Seconds that counting may take, and that somebody may keep a table locked, unless the address's options say."""


@contextmanager
def postgres(
    table: Table,
    axes: tuple[Axis, ...],  # noqa: ARG001  one signature for all
    unit: tuple[str, ...],  # noqa: ARG001
    also: Sequence[str] = (),  # noqa: ARG001
    text: Dialect | None = None,
) -> Iterator[Source]:
    """A table of a PostgreSQL server, over a separate connection that cannot write."""
    try:
        import psycopg  # noqa: PLC0415  optional
    except ImportError:
        raise SourceError("Reading from PostgreSQL needs psycopg.", "pip install 'dawa[postgres]'.") from None
    with closing(_connected(psycopg, table.place)) as connection:
        backend = ibis.postgres.from_connection(connection)
        try:
            found = backend.table(table.name, database=table.schema)
        except ibis.common.exceptions.TableNotFound:
            there = sorted(backend.list_tables(database=table.schema))
            few = ", ".join(there[:FEW]) + (", …" if len(there) > FEW else "")
            where = f" in the schema {table.schema!r}" if table.schema else ""
            hint = f"name one of {few}." if there else "name its schema too: …#schema.table."
            raise SourceError(f"There is no table {table.name!r}{where}.", hint) from None
        except psycopg.Error as error:
            raise SourceError(
                f"The table {table.name!r} could not be opened ({type(error).__name__}).",
                "check that the user may read it.",
            ) from None
        yield engines.source(backend, found, text=text)


def _connected(psycopg: Any, address: str) -> Any:  # noqa: ANN401  untyped here, because it is optional
    plain = re.sub(r"^postgres(ql)?(\+psycopg)?://", "postgresql://", address)
    try:
        where = psycopg.conninfo.conninfo_to_dict(plain)
    except psycopg.Error:
        raise SourceError(
            "The address of the database cannot be read.",
            "write postgresql://user:password@server:port/database, with special characters percent-encoded.",
        ) from None
    limits = f"-c statement_timeout={STATEMENT}s -c lock_timeout={LOCK}s"  # before what the address says, which counts
    options = f"{limits} {where.get('options', '')} -c default_transaction_read_only=on -c TimeZone=UTC"
    waiting = {name: value for name, value in ALIVE.items() if name not in where}
    try:
        return psycopg.connect(plain, autocommit=True, options=options, **waiting)
    except psycopg.Error:
        server = where.get("host", "this machine")
        raise AbsentError(
            f"The PostgreSQL server at {server} does not answer, or does not let this user into the database.",
            "check that it is running, and check the user, the password and the database in the address.",
        ) from None


SETTINGS = {
    "spark.sql.session.timeZone": "UTC",  # times without a zone are compared with literals as if they had one
    "spark.sql.variable.substitute": "false",  # names and labels are not templates
}
"""What Spark must be told while it counts."""


@contextmanager
def spark(
    table: Any,  # noqa: ANN401  Spark's own
    axes: tuple[Axis, ...],  # noqa: ARG001  one signature for all
    unit: tuple[str, ...],  # noqa: ARG001
    also: Sequence[str] = (),  # noqa: ARG001
    text: Dialect | None = None,
) -> Iterator[Source]:
    """A Spark data frame, or a table of a Spark session."""
    frame = _of_session(table) if isinstance(table, Table) else table
    session = getattr(frame, "sparkSession", None)
    if session is None or not hasattr(frame, "createOrReplaceTempView"):
        raise SourceError(
            f"A {type(frame).__name__} of Spark is not a table.", "pass a data frame, or sources.table(session, name)."
        )
    view = f"dawa_{uuid4().hex}"
    with settled(session):
        frame.createOrReplaceTempView(view)
        try:
            backend = ibis.pyspark.connect(session)
            yield engines.source(backend, backend.table(view), text=text)
        finally:
            session.catalog.dropTempView(view)


@contextmanager
def settled(session: Any) -> Iterator[None]:  # noqa: ANN401
    """A session with the settings that counting needs; they are set back afterwards."""
    before = {name: session.conf.get(name) for name in SETTINGS}
    try:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def _of_session(table: Table) -> Any:  # noqa: ANN401
    parts = [part for part in (table.schema, table.name) if part is not None]
    try:
        return table.place.table(".".join(f"`{part.replace('`', '``')}`" for part in parts))
    except Exception as error:  # noqa: BLE001  Spark's own, of many kinds
        raise SourceError(
            f"Spark has no table {table.name!r} ({type(error).__name__}).",
            "pass the name that session.catalog.listTables() shows, and its schema separately.",
        ) from None


@contextmanager
def held(
    table: Any,  # noqa: ANN401  Ibis is untyped
    axes: tuple[Axis, ...],
    unit: tuple[str, ...],
    also: Sequence[str] = (),
    text: Dialect | None = None,
) -> Iterator[Source]:
    """An Ibis table, unchanged, in the engine that holds it."""
    if not isinstance(table, ibis.Table):
        raise SourceError(f"A {type(table).__name__} of Ibis is not a table.", "pass a table expression.")
    if isinstance(table.op(), ops.InMemoryTable):
        stream = streams.in_memory(table, [*(axis.column for axis in axes), *unit, *also])
        with streams.source(stream, axes, text) as found:
            yield found
        return
    if not table.op().find((ops.DatabaseTable, ops.SQLQueryResult, ops.UnboundTable)):
        with engines.embedded() as backend:  # the expression itself holds all rows, and checking would convert them
            yield replace(engines.source(backend, table, text=text), check=backend.compile)
        return
    try:
        backend = table.get_backend()
    except ibis.common.exceptions.IbisError:
        raise SourceError(
            "The Ibis table has no engine.", "connect first: ibis.duckdb.connect().table(name)."
        ) from None
    if backend.name == "pyspark":
        with settled(backend._session):  # noqa: SLF001  Ibis has no other name for it
            yield engines.source(backend, table, text=text)
    else:
        yield engines.source(backend, table, text=text)
