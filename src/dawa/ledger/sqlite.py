"""A ledger in a SQLite file: one writer at a time, and nothing is reported as written before it is on the disk.

The file keeps SQLite's rollback journal. A write-ahead log would hold the latest entries in a second file, and a copy
of the first alone would have spent less. With that journal ``synchronous=FULL`` is not enough: a power cut right after
a commit may bring the deleted journal back, and undo the commit. ``EXTRA`` waits until its deletion is on the disk too.
"""

import functools
import shlex
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.pool import NullPool

from dawa.errors import LedgerError
from dawa.ledger import entries

PATIENCE = 60
"""Seconds to wait for another writer, who needs some milliseconds."""

TRIGGERS = (
    *(
        f"CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table}"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
        for table in ("dawa_ledger", "dawa_ledger_entries")
        for verb in ("UPDATE", "DELETE")
    ),
    # INSERT OR REPLACE deletes rows without asking the triggers on DELETE.
    (
        "CREATE TRIGGER dawa_ledger_entries_replace BEFORE INSERT ON dawa_ledger_entries"
        " WHEN EXISTS (SELECT 1 FROM dawa_ledger_entries WHERE number = NEW.number OR previous = NEW.previous)"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
    ),
)


@dataclass(frozen=True)
class SqliteFile:
    """A ledger's file, which need not exist yet.

    Attributes:
        name: What to call it in an error: the path as it was given.
        path: Where it is, whatever the working folder will be.
    """

    name: str
    path: Path = field(repr=False)

    @classmethod
    def at(cls, path: str | Path) -> "SqliteFile":
        """The ledger at a path."""
        if "\0" in str(path) or not str(path).strip():
            raise LedgerError("This path cannot name a ledger.", "pass the path of a file, such as ledger.db.")
        return cls(f"'{entries.escaped(str(path))}'", Path(path).absolute())

    @property
    def flag(self) -> str:
        """How the command line is told of it."""
        return f"--ledger {shlex.quote(self.name[1:-1])}"

    def engine(self, *, making: bool) -> Engine:
        """Connections to the file; only ``making`` brings it into being, so that a misspelt path does not."""
        try:
            folder, there, inside = self.path.is_dir(), self.path.exists(), self.path.parent.is_dir()
        except OSError as error:
            raise LedgerError(
                f"The ledger {self.name} cannot be opened ({error.strerror}).", "check its path and your rights there."
            ) from None
        if folder:
            raise LedgerError(f"{self.name} is a folder, not a ledger.", "name a file in it, such as ledger.db.")
        if making and not inside:
            raise LedgerError(f"The folder of {self.name} does not exist.", "make it first, or choose another path.")
        if not making and not there:
            raise self.absent()
        return _engine(self.path, making)

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writing one locks all other writers out before it reads anything."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    def protect(self, connection: Connection) -> None:
        """Let the database itself refuse changes."""
        for trigger in TRIGGERS:
            connection.exec_driver_sql(trigger)

    def refuse_strangers(self, connection: Connection) -> None:
        """Keep out of a file that holds something else."""
        if inspect(connection).get_table_names():
            raise LedgerError(f"{self.name} is a database, but no ledger.", "choose another path for the ledger.")

    def absent(self) -> LedgerError:
        """The answer where there is no ledger."""
        return LedgerError(
            f"There is no ledger at {self.name}.",
            "check the path, or open an account there: dawa ledger create DATASET --cap 2 --ledger FILE.",
        )

    def explained(self, error: BaseException | None, *, begun: bool) -> LedgerError:  # noqa: ARG002  codes tell
        """The database's error in a sentence that leads on."""
        code = str(getattr(error, "sqlite_errorname", ""))
        for start, (problem, hint) in EXPLANATIONS.items():
            if code.startswith(start):
                return LedgerError(problem.format(self.name), hint)
        return LedgerError(
            f"{self.name} is damaged, or no ledger ({code or type(error).__name__}).", "restore it from a backup."
        )


EXPLANATIONS = {
    "SQLITE_BUSY": (
        f"The ledger {{}} is busy: another process has held it for {PATIENCE} seconds.",
        "find the process that keeps it open, and try again; nothing was booked.",
    ),
    "SQLITE_NOTADB": ("{} is not a SQLite file, so it is not a ledger.", "check the path of the ledger."),
    "SQLITE_READONLY": (
        "The ledger {} cannot be written.",
        "make the file and its folder writable for you; nothing was booked.",
    ),
    "SQLITE_CANTOPEN": (
        "The ledger {} cannot be opened.",
        "make the file readable for you, and the file and its folder writable.",
    ),
    "SQLITE_FULL": ("The disk of the ledger {} is full.", "make room, and try again; nothing was booked."),
    "SQLITE_IOERR": (
        "The disk of the ledger {} failed.",
        "check the disk and its permissions, then see what was booked: dawa ledger history.",
    ),
    "SQLITE_CONSTRAINT": (
        "The ledger {} was written by a program that does not keep to its order.",
        "see who else writes to it, and try again; nothing was booked.",
    ),
}


@functools.cache
def _engine(path: Path, making: bool) -> Engine:  # noqa: FBT001  a key of the cache
    mode = "rwc" if making else "rw"

    def connected() -> sqlite3.Connection:
        # isolation_level=None: transactions begin where we say, not where the driver guesses.
        connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", timeout=PATIENCE, isolation_level=None, uri=True)
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    # No pool: a connection must not survive a fork, nor keep the file open between two entries.
    return create_engine("sqlite://", creator=connected, poolclass=NullPool)
