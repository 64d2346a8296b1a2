"""A ledger in a PostgreSQL database, for teams: one writer at a time, by an advisory lock.

The lock needs no right to change anything, so a role that may only SELECT and INSERT can keep the ledger. The lock
saves writers from failing. Two writers are kept apart by the primary key, because only one entry can have a number. A
transaction waits for the disk, whatever the server's default for ``synchronous_commit`` is.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from dawa.errors import LedgerError
from dawa.ledger.anchor import Anchor

PATIENCE = 60
"""Seconds to wait for another writer, which needs a few milliseconds."""

CONNECT = 10
"""Seconds to wait for the server, unless the address says otherwise."""

ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""How long a server may be silent before the connection counts as lost, unless the address says otherwise."""

LOCK = 0x64617761
"""The advisory lock's key: the letters of our name."""

TRIGGERS = (
    (
        "CREATE FUNCTION dawa_ledger_append_only() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    ),
    *(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION dawa_ledger_append_only()"
        for table in ("dawa_ledger", "dawa_ledger_entries")
    ),
)

SETTINGS = {
    "synchronous_commit": "on",
    "lock_timeout": f"{PATIENCE}s",
    "statement_timeout": f"{2 * PATIENCE}s",
    # A writer that vanished from the network must not hold the lock for hours.
    "idle_in_transaction_session_timeout": f"{PATIENCE}s",
}

HINT_URL = "write it as postgresql://user:password@host:5432/database."


@dataclass(frozen=True)
class PostgresDatabase:
    """A ledger's database.

    Attributes:
        name: Its name in an error: never with a user or a password.
        url: Its address, password included.
        anchor: Where its receipts are kept, if anywhere.
    """

    name: str
    url: URL = field(repr=False)
    anchor: Anchor | None = None

    @classmethod
    def at(cls, address: str, anchor: Anchor | None = None) -> "PostgresDatabase":
        """The ledger at a URL. An error repeats no part of a URL that cannot be read: it may be a password."""
        scheme, rest = address.split("://", 1)
        if scheme not in {"postgres", "postgresql", "postgresql+psycopg"}:
            raise LedgerError(
                f"A ledger cannot live at a {scheme}:// address."
                if re.fullmatch(r"[a-z][a-z0-9+]{0,20}", scheme)
                else "The address of the ledger cannot be read.",
                "pass the path of a SQLite file, or a postgresql:// address.",
            )
        if rest.count("@") > 1:
            raise LedgerError(
                "The address of the ledger has more than one @.", "write an @ in a user name or password as %40."
            )
        try:
            url = make_url(f"postgresql+psycopg://{rest}")
        except (ArgumentError, ValueError):
            raise LedgerError("The address of the ledger cannot be read.", HINT_URL) from None
        host = url.host or _words(url.query.get("host")) or "this machine"
        return cls(f"in database '{url.database or url.username or 'default'}' on '{host}'", url, anchor)

    @property
    def flag(self) -> str:
        """The command-line flag that names it; the address is left out, because it may hold a password."""
        return "--ledger URL"

    def spare(self, where: Mapping[str, str]) -> None:
        """No file but its anchor is in the way."""
        if self.anchor is not None:
            self.anchor.spare(where)

    def engine(self, *, making: bool) -> Engine:  # noqa: ARG002  a database is never created here
        """Connections to the server."""
        try:
            return _engine(self.url)
        except ImportError:
            raise LedgerError(
                "A ledger in PostgreSQL needs a driver that is not installed.", "pip install 'dawa[postgres]'."
            ) from None

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Prepare a transaction; a writing one locks out all other writers before it reads anything."""
        for setting, value in SETTINGS.items():
            connection.exec_driver_sql("SELECT set_config(%s, %s, true)", (setting, value))
        if writing:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (LOCK,))

    def still(self, connection: Connection) -> None:
        """Trust the server: a connection is to one database until it ends."""

    def sign(self) -> None:
        """Nothing: whether somebody changed a row takes as long to ask as to read it."""

    def protect(self, connection: Connection) -> None:
        """Make the database itself refuse changes."""
        for trigger in TRIGGERS:
            connection.exec_driver_sql(trigger)

    def refuse_strangers(self, connection: Connection) -> None:
        """Accept other tables: a server is shared, and the ledger's tables have distinct names."""

    def absent(self) -> LedgerError:
        """The error that says there is no ledger."""
        return LedgerError(
            f"There is no ledger {self.name}.",
            "check the address, or open an account there: dawa ledger create DATASET --cap 2 --ledger URL.",
        )

    def explained(self, error: BaseException | None, *, begun: bool) -> LedgerError:
        """The server's error as one of ours, with a hint; its own words may repeat what must not be shown."""
        state = getattr(error, "sqlstate", None)
        if state is None or state[:2] in {"08", "28", "3D", "57"}:
            if begun:
                return LedgerError(
                    f"The connection to the ledger {self.name} was lost.",
                    "see what was booked before you try again: dawa ledger history.",
                )
            return LedgerError(
                f"The ledger {self.name} cannot be reached.",
                "check that the server is running, and check the user, password, host and database in the address.",
            )
        problem, hint = EXPLANATIONS.get(
            state,
            (f"The ledger {{}} failed (SQLSTATE {state}).", "see the server's log, then dawa ledger history."),
        )
        return LedgerError(problem.format(self.name), hint)


EXPLANATIONS = {
    "55P03": (
        f"The ledger {{}} is busy: somebody has kept it locked for {PATIENCE} seconds.",
        "find the session that keeps it locked, and try again; nothing was booked.",
    ),
    "25006": ("The ledger {} cannot be written.", "use the address of the primary server, not of a copy."),
    "42501": (
        "The ledger {} refuses this user.",
        "grant SELECT and INSERT on dawa_ledger and dawa_ledger_entries to this user; the first account needs CREATE.",
    ),
    "42P01": ("The ledger {} is damaged: a table is missing.", "restore it from a backup."),
    "23505": (
        "The ledger {} was written by a program that does not follow the order of its entries.",
        "find out who else writes to it, and try again; nothing was booked.",
    ),
    "53100": ("The disk of the ledger {} is full.", "make room, and try again; nothing was booked."),
}


def _words(value: str | tuple[str, ...] | None) -> str:
    return ", ".join(value) if isinstance(value, tuple) else value or ""


@functools.cache
def _engine(url: URL) -> Engine:
    waiting: dict[str, Any] = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT}
    waiting |= {name: value for name, value in ALIVE.items() if name not in url.query}
    # READ COMMITTED: a read after the lock was granted sees what is there then, not what was there before.
    # No pool: a connection must not survive a fork.
    return create_engine(url, poolclass=NullPool, isolation_level="READ COMMITTED", connect_args=waiting)
