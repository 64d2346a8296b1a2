"""Entries in a database: read all, decide, add one or several, in one transaction.

Nothing here knows what an entry means. A decision sees every entry that was ever committed. The resulting entry is
committed before anybody is told, or not at all.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, Text, func, inspect, select
from sqlalchemy.exc import DBAPIError

from dawa.errors import LedgerError
from dawa.ledger import entries
from dawa.ledger.anchor import Anchor, Receipt, UnanchoredError
from dawa.ledger.entries import Entry

VERSION = entries.NEWEST
"""The newest version that can be read. A ledger starts with version 1, and an entry that needs more raises it."""

PATIENCE, PAUSE = 20, 0.05
"""How often, and how many seconds apart, the first receipt of a new ledger is looked for."""

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


_COLUMNS = ", ".join(entries.COLUMNS)


class Place(Protocol):
    """A database that can hold a ledger."""

    @property
    def anchor(self) -> Anchor | None:
        """Where its receipts are kept."""
        ...

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        ...

    @property
    def flag(self) -> str:
        """The command-line flag that names it."""
        ...

    def spare(self, where: Mapping[str, str]) -> None:
        """Raise an error if a release that is written to these paths would harm the ledger, or be harmed by it."""
        ...

    def engine(self, *, making: bool) -> Engine:
        """Connections to it."""
        ...

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writing one waits until no other is writing."""
        ...

    def still(self, connection: Connection) -> None:
        """Raise an error if the ledger is no longer where the transaction began."""
        ...

    def sign(self) -> Hashable | None:
        """What is different after anybody has written to the ledger; None if nothing is known to be."""
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


@dataclass(frozen=True, eq=False)
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


_READ: dict[Place, tuple[Hashable, Pages]] = {}
"""What this process has read of a ledger and found whole, with a sign by which it can tell that nothing was written."""


def read(place: Place) -> Pages:
    """All pages."""
    kept = _kept(place, making=False)  # first, so that what it says was booked before we look
    with _transaction(place, writing=False) as connection:
        return _read(place, connection, kept)


def made(place: Place, decide: Callable[[Pages], Entry]) -> Entry:
    """Add an entry to a ledger that is created if there is none.

    Somebody else may create it in the same moment, and its first receipt follows its first entry: that is waited for.
    """
    for _ in range(PATIENCE):
        try:
            return append(place, decide, making=True)
        except UnanchoredError:
            time.sleep(PAUSE)
    return append(place, decide, making=True)


def append(place: Place, decide: Callable[[Pages], Entry], *, making: bool = False) -> Entry:
    """Add the entry that ``decide`` makes of all entries before it; ``append_all`` has the arguments."""
    return append_all(place, [decide], making=making)[0]


def append_all(place: Place, decisions: Sequence[Callable[[Pages], Entry]], *, making: bool = False) -> list[Entry]:
    """Add an entry for each decision, in one transaction: all of them or none.

    Args:
        place: Where the ledger is.
        decisions: Each gives an entry or raises, and sees those that were decided before it; the number, predecessor
            and hash of an entry are filled in here.
        making: Create the ledger if there is none.

    Returns:
        The entries, once all are on the disk.
    """
    kept = _kept(place, making=making)
    with _transaction(place, writing=True, making=making) as connection:
        if making and not _exists(connection):
            place.refuse_strangers(connection)
            _TABLES.create_all(connection)
            connection.execute(_LEDGER.insert().values(version=1))
            place.protect(connection)
        before = pages = _read(place, connection, kept)
        for decide in decisions:
            pages = Pages((*pages.entries, _added(place, connection, decide(pages), pages)), pages.broken)
    _remember(place, pages)
    if place.anchor is not None:
        place.anchor.add(Receipt.of(pages.entries))
    return list(pages.entries[len(before.entries) :])


def _added(place: Place, connection: Connection, draft: Entry, pages: Pages) -> Entry:
    """The entry after these pages, written into the transaction."""
    entry = replace(draft, number=len(pages.entries) + 1, previous=pages.head)
    entry = replace(entry, hash=entries.digest(entries.row(entry)))
    connection.execute(_ENTRIES.insert().values(dict(zip(entries.COLUMNS, entries.row(entry), strict=True))))
    needed = entries.needed(entry)
    if needed > _version(place, connection):
        connection.execute(_LEDGER.insert().values(version=needed))  # this table's rows, too, are never changed
    return entry


def _kept(place: Place, *, making: bool) -> list[Receipt] | None:
    """The receipts for a ledger; None where a ledger that is made now begins its anchor."""
    if place.anchor is None:
        return []
    if not making or place.anchor.path.exists():
        return place.anchor.read()
    if not place.anchor.path.parent.is_dir():
        raise LedgerError("The folder of the ledger's anchor does not exist.", "make it first, or name another anchor.")
    return None


@contextmanager
def _transaction(place: Place, *, writing: bool, making: bool = False) -> Iterator[Connection]:
    """A transaction that commits at the end of the block or leaves no trace; database errors become ours."""
    begun = False
    try:
        with place.engine(making=making).begin() as connection:
            place.begin(connection, writing=writing)
            begun = True
            yield connection
            place.still(connection)
    except DBAPIError as error:
        raise place.explained(error.orig, begun=begun) from None


def _read(place: Place, connection: Connection, kept: Sequence[Receipt] | None) -> Pages:
    """All pages, if the ledger goes on from what its receipts say; with entries, it has begun its anchor before."""
    pages = _pages(place, connection)
    if place.anchor is not None:
        if kept is None:
            kept = place.anchor.read() if pages.entries else []
        place.anchor.check(place.name, pages.entries, kept)
    return pages


def _pages(place: Place, connection: Connection) -> Pages:
    if not _exists(connection):
        raise place.absent()
    version = _version(place, connection)
    if version > VERSION:
        raise LedgerError(
            f"The ledger {place.name} has version {version}, newer than {VERSION}.", "update dawa: pip install -U dawa."
        )
    sign, before = _READ.get(place, (None, None))
    if before is not None and sign == place.sign() and _head(connection) == before.head:
        return before
    rows = _rows(connection)
    with entries.kept():
        pages = Pages(tuple(_entry(place, row) for row in rows), entries.first_broken(rows))
    _remember(place, pages)
    return pages


def _remember(place: Place, pages: Pages) -> None:
    """Keep pages that are whole, if the place has a sign that changes with every change."""
    sign = place.sign()
    if sign is not None and pages.broken is None:
        _READ[place] = sign, pages
    else:
        _READ.pop(place, None)


def _head(connection: Connection) -> str | None:
    """The hash of the last entry: clocks are too coarse to tell two writers apart by the time alone."""
    last = select(_ENTRIES.c.hash).order_by(_ENTRIES.c.number.desc()).limit(1)
    return connection.scalar(last)


def _rows(connection: Connection) -> list[tuple[Any, ...]]:
    """All rows, as the database's driver gives them."""
    query = f"SELECT {_COLUMNS} FROM {_ENTRIES.name} ORDER BY number"  # noqa: S608  our own names
    found = connection.exec_driver_sql(query).cursor
    return [] if found is None else list(map(tuple, found.fetchall()))


def _version(place: Place, connection: Connection) -> int:
    version = connection.scalar(select(func.max(_LEDGER.c.version)))
    if not isinstance(version, int) or version < 1:
        raise LedgerError(f"The ledger {place.name} is damaged: it has no version.", "restore it from a backup.")
    return version


def _exists(connection: Connection) -> bool:
    return inspect(connection).has_table(_LEDGER.name)


def _entry(place: Place, row: tuple[Any, ...]) -> Entry:
    try:
        return entries.read(row)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise LedgerError(
            f"Entry {row[0]} of the ledger {place.name} cannot be read: somebody changed it.",
            "restore the ledger from a backup.",
        ) from None
