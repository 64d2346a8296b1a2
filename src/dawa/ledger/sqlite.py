"""A ledger in a SQLite file: one writer at a time, and nothing is reported as written before it is on the disk.

The file uses SQLite's rollback journal. A write-ahead log would hold the latest entries in a second file, so a copy of
the first file alone would show less spent. With the rollback journal ``synchronous=FULL`` is not enough: a power cut
right after a commit may bring the deleted journal back, and undo the commit. ``EXTRA`` waits until its deletion is on
the disk too.
"""

import functools
import itertools
import os
import shlex
import sqlite3
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.pool import NullPool

from dawa.errors import LedgerError, printable
from dawa.host import atomic, mounts
from dawa.host.atomic import COMPANIONS, identity
from dawa.ledger.anchor import Anchor

PATIENCE = 60
"""Seconds to wait for another writer, which needs a few milliseconds."""

LONGEST = 255 - max(map(len, COMPANIONS))
"""Bytes of a ledger's name: file systems allow 255 to what SQLite makes of it."""

STEPS, MOST_STEPS = 10**6, 100
"""Steps of SQLite's machine between two looks at a statement, and how many looks there are before it is stopped: a
ledger of a million entries needs fewer, and a table that somebody has made of an endless query more than any."""

PLAIN = "SELECT name FROM sqlite_master WHERE lower(name) IN (?, ?) AND NOT (type = 'table' AND rootpage > 0)"
"""What is called like a table of ours and is none: a view, or a table that a module computes."""

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
        name: Its name in an error: the path as it was given.
        path: The absolute path, so that the working folder may change.
        anchor: Where its receipts are kept, if anywhere.
    """

    name: str
    path: Path = field(repr=False)
    anchor: Anchor | None = None

    @classmethod
    def at(cls, path: str | Path, anchor: Anchor | None = None) -> "SqliteFile":
        """The ledger at a path."""
        if "\0" in str(path) or not str(path).strip():
            raise LedgerError("This path cannot name a ledger.", "pass the path of a file, such as ledger.db.")
        if str(path).endswith(COMPANIONS) and not os.path.isfile(path):  # noqa: PTH113  no error for what cannot be
            raise LedgerError(
                f"'{printable(str(path))}' cannot be a ledger: SQLite removes files with such names.",
                "choose a name such as ledger.db.",
            )
        if len(os.fsencode(Path(path).name)) > LONGEST:
            raise LedgerError(
                f"The name of the ledger has more than {LONGEST} bytes, and SQLite puts files with longer names beside"
                " it.",
                "choose a shorter one.",
            )
        if anchor is not None and _owned(Path(path), anchor.path):
            raise LedgerError(
                "The anchor is the ledger itself, or a file of SQLite beside it.",
                "name another, better on another disk.",
            )
        return cls(f"'{printable(str(path))}'", Path(path).absolute(), anchor)

    @property
    def flag(self) -> str:
        """The command-line flag that names it."""
        return f"--ledger {shlex.quote(self.name[1:-1])}"

    def engine(self, *, making: bool) -> Engine:
        """Connections to the file, which only ``making`` creates: a misspelt path creates nothing."""
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
        if there:
            self._check_alone()
        return _engine(self.path, making)

    def spare(self, where: Mapping[str, str]) -> None:
        """Refuse to write where the ledger is, or where SQLite puts its own files and removes those of others."""
        for path in map(Path, where.values()):
            if _owned(self.path, path):
                raise LedgerError(f"{path} is the ledger, or belongs to it.", "choose another name.")
            if atomic.holds(path, self.path):
                raise LedgerError(f"The ledger {printable(str(self.path))} lies in {path}.", "choose another folder.")
        if self.anchor is not None:
            self.anchor.spare(where)

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writing one locks out all other writers before it reads anything."""
        # A program that asks for a write-ahead log asks for all programs, until somebody takes it back.
        if writing and connection.exec_driver_sql("PRAGMA journal_mode = DELETE").scalar() != "delete":
            raise LedgerError(
                f"The ledger {self.name} is open in another program, in SQLite's mode WAL.",
                "close that program, and try again; nothing was booked.",
            )
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
        self.still(connection)
        if connection.exec_driver_sql(PLAIN, ("dawa_ledger", "dawa_ledger_entries")).first() is not None:
            raise LedgerError(f"{self.name} is not a ledger: its tables are computed.", "check the path of the ledger.")

    def still(self, connection: Connection) -> None:
        """Make sure that the path still names the file that is open, and that nothing else does."""
        if identity(self.path) != getattr(connection.connection.dbapi_connection, "identity", None):
            raise self._moved()
        self._check_alone()

    def _moved(self) -> LedgerError:
        problem, hint = EXPLANATIONS["SQLITE_READONLY_DBMOVED"]
        return LedgerError(problem.format(self.name), hint)

    def _check_alone(self) -> None:
        """Refuse a file that has several names: SQLite finds what a killed writer left behind by the name alone."""
        file = Path(os.path.realpath(self.path))
        try:
            several = file.stat().st_nlink > 1
        except OSError:  # it is gone; a name in /proc may lead to it all the same, until nobody has it open
            raise self._moved() from None
        if several:
            raise LedgerError(
                f"The ledger {self.name} is one file under several names (hard links): what is spent under one can be"
                " undone under another.",
                "remove the other names, or copy the file and use the copy alone; link or mount its folder instead.",
            )
        if mounts.mounted(file):
            raise LedgerError(
                f"The ledger {self.name} is a single file that is mounted here: under its other name it has another"
                " journal, and what is spent under one can be undone under the other.",
                "mount the folder that holds it instead, such as -v /data/ledger:/ledger.",
            )

    def sign(self) -> Hashable | None:
        """The file, its size and its times. It is not opened: closing it would drop the locks of this process."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def protect(self, connection: Connection) -> None:
        """Make the database itself refuse changes."""
        for trigger in TRIGGERS:
            connection.exec_driver_sql(trigger)

    def refuse_strangers(self, connection: Connection) -> None:
        """Raise an error if the file holds other tables."""
        if inspect(connection).get_table_names():
            raise LedgerError(f"{self.name} is a database, but not a ledger.", "choose another path for the ledger.")

    def absent(self) -> LedgerError:
        """The error that says there is no ledger."""
        return LedgerError(
            f"There is no ledger at {self.name}.",
            "check the path, or open an account there: dawa ledger create DATASET --cap 2 --ledger FILE.",
        )

    def explained(self, error: BaseException | None, *, begun: bool) -> LedgerError:  # noqa: ARG002  the code is enough
        """The database's error as one of ours, with a hint."""
        code = str(getattr(error, "sqlite_errorname", ""))
        for start, (problem, hint) in EXPLANATIONS.items():
            if code.startswith(start):
                return LedgerError(problem.format(self.name), hint)
        return LedgerError(
            f"{self.name} is damaged, or not a ledger ({code or type(error).__name__}).", "restore it from a backup."
        )


EXPLANATIONS = {
    "SQLITE_BUSY": (
        f"The ledger {{}} is busy: another process has kept it locked for {PATIENCE} seconds.",
        "find the process that keeps it locked, and try again; nothing was booked.",
    ),
    "SQLITE_INTERRUPT": ("{} takes too long to read, so it is no ledger.", "restore it from a backup."),
    "SQLITE_NOTADB": ("{} is not a SQLite file, so it is not a ledger.", "check the path of the ledger."),
    "SQLITE_READONLY_DBMOVED": (
        "The ledger {} was removed, or replaced by another file, while it was open.",
        "find out who moves or restores it, and try again; nothing was booked.",
    ),
    "SQLITE_READONLY": (
        "The ledger {} cannot be written.",
        "get write permission for the file and its folder; nothing was booked.",
    ),
    "SQLITE_CANTOPEN": (
        "The ledger {} cannot be opened.",
        "get permission to read the file, and to write to the file and its folder.",
    ),
    "SQLITE_FULL": ("The disk of the ledger {} is full.", "make room, and try again; nothing was booked."),
    "SQLITE_IOERR": (
        "The disk of the ledger {} failed.",
        "check the disk and its permissions, then see what was booked: dawa ledger history.",
    ),
    "SQLITE_CONSTRAINT": (
        "The ledger {} was written by a program that does not follow the order of its entries.",
        "find out who else writes to it, and try again; nothing was booked.",
    ),
}


def _owned(ledger: Path, path: Path) -> bool:
    """Whether a path names a ledger's file, or one that SQLite makes and removes beside it."""
    own, asked = (os.path.realpath(name) for name in (ledger, path))
    return asked in {own, *(own + ending for ending in COMPANIONS)}


class _Connection(sqlite3.Connection):
    """A connection that knows which file was at its path when it was opened."""

    identity: tuple[int, int] | None = None


@functools.cache
def _engine(path: Path, making: bool) -> Engine:  # noqa: FBT001  a key of the cache
    mode = "rwc" if making else "rw"

    def connected() -> sqlite3.Connection:
        # isolation_level=None: transactions begin where we say, not where the driver guesses.
        before = identity(path)
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}", timeout=PATIENCE, isolation_level=None, uri=True, factory=_Connection
        )
        try:
            connection.identity = before or identity(path)
            connection.execute("PRAGMA synchronous = EXTRA")
        except BaseException:  # no ledger, or none that may be read
            connection.close()
            raise
        looks = itertools.count()
        connection.set_progress_handler(lambda: next(looks) >= MOST_STEPS, STEPS)
        return connection

    # No pool: a connection must not survive a fork, nor keep the file open between two entries.
    return create_engine("sqlite://", creator=connected, poolclass=NullPool)
