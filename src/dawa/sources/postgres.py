"""Tables of a PostgreSQL server, by address. No password ever appears in what this module says."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import ibis

from dawa.axis import Axis
from dawa.errors import SourceError
from dawa.sources import engines
from dawa.sources.tables import Source, Table

FEW = 10
"""Tables that an error lists."""


@contextmanager
def opened(table: Table, axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:  # noqa: ARG001  one signature for all
    """A table of a PostgreSQL server, over a connection of its own that cannot write."""
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
        yield engines.source(backend, found)


def _connected(psycopg: Any, address: str) -> Any:  # noqa: ANN401  untyped here, as it is optional
    plain = re.sub(r"^postgres(ql)?(\+psycopg)?://", "postgresql://", address)
    try:
        where = psycopg.conninfo.conninfo_to_dict(plain)
    except psycopg.Error:
        raise SourceError(
            "The address of the database cannot be read.",
            "write postgresql://user:password@server:port/database, with special characters percent-encoded.",
        ) from None
    options = f"{where.get('options', '')} -c default_transaction_read_only=on -c TimeZone=UTC".strip()
    try:
        return psycopg.connect(plain, autocommit=True, options=options)
    except psycopg.Error:
        server = where.get("host", "this machine")
        raise SourceError(
            f"The PostgreSQL server at {server} does not answer, or does not let this user into the database.",
            "check that it runs, and the user, the password and the database in the address.",
        ) from None
