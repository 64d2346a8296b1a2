"""Entries in a database: read all, decide, add one, in one transaction.

Nothing here knows what an entry means. A decision sees every entry that was ever committed. The resulting entry is
committed before anybody is told, or not at all.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, Text, func, inspect, select
from sqlalchemy.exc import DBAPIError

from dawa.errors import LedgerError
from dawa.ledger import entries
from dawa.ledger.entries import Entry

VERSION = entries.NEWEST
"""The newest version that can be read. A ledger starts with version 1, and an entry that needs more raises it."""

_TABLES = MetaData()
_LEDGER = Table("dawa_ledger", _TABLES, Column("version", Integer, nullable=False))
_ENTRIES = Table(
    "dawa_ledger_entries",
    _TABLES,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("epsilon", Text),
    Column("cap", Text),
    Column("mechanism", Text),
    Column("what", Text),
    Column("reservation", Integer),
    Column("release_id", Text),
    Column("file", Text),
    Column("previous", Text, nullable=False, unique=True),
    Column("hash", Text, nullable=False),
)


class Place(Protocol):
    """A database that can hold a ledger."""

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        ...

    @property
    def flag(self) -> str:
        """The command-line flag that names it."""
        ...

    def engine(self, *, making: bool) -> Engine:
        """Connections to it."""
        ...

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writing one waits until no other is writing."""
        ...

    def protect(self, connection: Connection) -> None:
        """Install the triggers that refuse changes."""
        ...

    def refuse_strangers(self, connection: Connection) -> None:
        """Raise an error if a new ledger would share its place with other tables."""
        ...

    def absent(self) -> LedgerError:
        """The error that says there is no ledger."""
        ...

    def explained(self, error: BaseException | None, *, begun: bool) -> LedgerError:
        """A database's error as one of ours; a transaction that has begun may have been committed."""
        ...


@dataclass(frozen=True)
class Pages:
    """Everything that a ledger holds.

    Attributes:
        entries: All entries, in their order.
        broken: The number of the first entry that does not follow from those before, because somebody edited the
            ledger; None in a ledger that is whole.
    """

    entries: tuple[Entry, ...]
    broken: int | None

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return self.entries[-1].hash if self.entries else entries.START


def read(place: Place) -> Pages:
    """All pages."""
    with _transaction(place, writing=False) as connection:
        return _read(place, connection)


def append(place: Place, decide: Callable[[Pages], Entry], *, making: bool = False) -> Entry:
    """Add the entry that ``decide`` makes of all entries before it.

    Args:
        place: Where the ledger is.
        decide: Gives the entry or raises; its number, predecessor and hash are filled in here.
        making: Create the ledger if there is none.

    Returns:
        The entry, once it is on the disk.
    """
    with _transaction(place, writing=True, making=making) as connection:
        if making and not _exists(connection):
            place.refuse_strangers(connection)
            _TABLES.create_all(connection)
            connection.execute(_LEDGER.insert().values(version=1))
            place.protect(connection)
        pages = _read(place, connection)
        entry = replace(decide(pages), number=len(pages.entries) + 1, previous=pages.head)
        entry = replace(entry, hash=entries.digest(entries.row(entry)))
        connection.execute(_ENTRIES.insert().values(entries.row(entry)))
        needed = entries.needed(entry)
        if needed > _version(place, connection):
            connection.execute(_LEDGER.insert().values(version=needed))  # this table's rows, too, are never changed
    return entry


@contextmanager
def _transaction(place: Place, *, writing: bool, making: bool = False) -> Iterator[Connection]:
    """A transaction that commits at the end of the block or leaves no trace; database errors become ours."""
    begun = False
    try:
        with place.engine(making=making).begin() as connection:
            place.begin(connection, writing=writing)
            begun = True
            yield connection
    except DBAPIError as error:
        raise place.explained(error.orig, begun=begun) from None


def _read(place: Place, connection: Connection) -> Pages:
    if not _exists(connection):
        raise place.absent()
    version = _version(place, connection)
    if version > VERSION:
        raise LedgerError(
            f"The ledger {place.name} has version {version}, newer than {VERSION}.", "update dawa: pip install -U dawa."
        )
    rows: list[dict[str, Any]] = [
        dict(found) for found in connection.execute(select(_ENTRIES).order_by(_ENTRIES.c.number)).mappings()
    ]
    return Pages(tuple(_entry(place, row) for row in rows), entries.first_broken(rows))


def _version(place: Place, connection: Connection) -> int:
    version = connection.scalar(select(func.max(_LEDGER.c.version)))
    if not isinstance(version, int) or version < 1:
        raise LedgerError(f"The ledger {place.name} is damaged: it has no version.", "restore it from a backup.")
    return version


def _exists(connection: Connection) -> bool:
    return inspect(connection).has_table(_LEDGER.name)


def _entry(place: Place, row: dict[str, Any]) -> Entry:
    try:
        return entries.read(row)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise LedgerError(
            f"Entry {row['number']} of the ledger {place.name} cannot be read: somebody changed it.",
            "restore the ledger from a backup.",
        ) from None
