"""The ledger for its users: open an account, reserve before data is read, name the release afterwards.

Every operation that writes is a decision over all entries before it, taken and booked in one transaction. ``ledger.md``
has the proof.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from dawa.budget import Epsilon
from dawa.errors import LedgerError
from dawa.host import atomic
from dawa.ledger import anchor as anchors
from dawa.ledger import decisions, drafts, entries, store, upgrade
from dawa.ledger.accounts import Account, Summary, pending
from dawa.ledger.anchor import Anchor, Receipt
from dawa.ledger.entries import TAKE_BACK, Entry
from dawa.ledger.postgres import PostgresDatabase
from dawa.ledger.reservation import Reservation
from dawa.ledger.scopes import UnitLike
from dawa.ledger.sqlite import SqliteFile
from dawa.ledger.verifying import Verified, verified
from dawa.results import keys
from dawa.results.grouped import AnyRelease
from dawa.results.keys import PrivateKey
from dawa.results.paid import Paid


def opened(
    ledger: "LedgerLike", *, anchor: str | PathLike[str] | None = None, key: str | PathLike[str] | None = None
) -> "Ledger":
    """The ledger at a path or an address. Nothing is read or created yet.

    Args:
        ledger: The path of a SQLite file, a ``postgresql://`` address, or a ledger that is already open.
        anchor: A file outside the ledger in which every booking leaves a receipt, so that an older copy that is put
            back is noticed. None stands for the file that DAWA_LEDGER_ANCHOR names, if it names one.
        key: The file of a private key that ``dawa ledger key`` made, which signs the receipts of what is paid. None
            stands for the file that DAWA_LEDGER_KEY names, if it names one.

    Raises:
        LedgerError: If this is neither a path nor an address of a ledger, or an open one with another anchor or key.
    """
    if isinstance(ledger, Ledger):
        if anchor is not None or key is not None:
            raise LedgerError(
                "This ledger is open already, and gets no other anchor or key.",
                "open it by its path or address, with both: ledger.opened(path, anchor=..., key=...).",
            )
        return ledger
    receipts, signing = Anchor.named(anchor), keys.named(key)
    if isinstance(ledger, PathLike):
        return Ledger(SqliteFile.at(Path(ledger), receipts), signing)
    if not isinstance(ledger, str):
        raise LedgerError(
            f"A ledger is named by a path or an address, not by a value of type {type(ledger).__name__}.",
            'pass ledger="ledger.db", or ledger="postgresql://user@host/database".',
        )
    place = PostgresDatabase.at(ledger, receipts) if "://" in ledger else SqliteFile.at(ledger, receipts)
    return Ledger(place, signing)


@dataclass(frozen=True)
class Order:
    """What a release asks a ledger for.

    Attributes:
        dataset: The dataset.
        epsilon: What to spend, read exactly as it is written.
        what: What it is spent on, in plain JSON values. They are stored unchanged: public inputs only.
        mechanism: The mechanism's name.
        unit: Who loses at most epsilon: the columns that name the unit; none for single records.
        table: The table that will be read, as ``dawa.sources.label`` names it; None stands for the account's own.
    """

    dataset: str
    epsilon: Epsilon
    what: Mapping[str, Any]
    mechanism: str
    unit: UnitLike = ()
    table: str | None = None


@dataclass(frozen=True)
class Ledger:
    """A book of caps and of what was spent from them; ``opened`` gives one.

    Attributes:
        place: The file or the database that holds it.
        key: The file of the private key that signs receipts, if any.
    """

    place: store.Place
    key: Path | None = field(default=None, repr=False)

    def signer(self) -> PrivateKey | None:
        """The key that signs receipts, if one is named. It is read now.

        Raises:
            LedgerError: If it cannot be used, or others may read it.
            InstallationError: If the library that signs is missing.
        """
        return None if self.key is None else PrivateKey.read(self.key)

    def spare(self, where: Mapping[str, str]) -> None:
        """Refuse to write a release to these paths if that harms the ledger, or takes its key along.

        Raises:
            LedgerError: If one of them is the ledger, its anchor or its key, or a folder in which one of these lies.
        """
        self.place.spare(where)
        for path in where.values():
            if self.key is not None and atomic.holds(Path(path), self.key):
                raise LedgerError(f"The key that signs receipts lies in {path}.", "choose another folder.")

    def create(
        self,
        dataset: str,
        cap: Epsilon,
        who: str | None = None,
        *,
        unit: UnitLike | None = None,
        table: str | None = None,
    ) -> Account:
        """Open an account; the first account creates the ledger.

        Args:
            dataset: A name for the dataset, the same in every release of it; case does not matter.
            cap: All that may ever be spent on it, read exactly as it is written.
            who: Who opens it; by default the operating system's user name.
            unit: Whose loss the cap bounds: ``"record"``, or the column or columns that name the unit. None lets the
                first release decide.
            table: The table, as ``dawa.sources.label`` names it. None lets the first release that names one decide.

        Raises:
            LedgerError: If the dataset already has an account, or the ledger cannot be written.
        """
        draft = drafts.create(dataset, cap, who, unit, table)
        store.made(self.place, partial(decisions.create, self.place, draft))
        return self.account(dataset)

    def raise_cap(self, dataset: str, cap: Epsilon, *, why: str, who: str | None = None) -> Account:
        """Allow more to be spent on a dataset. What was spent stays spent.

        Args:
            dataset: The dataset.
            cap: Its new cap, above the present one.
            why: The decision that allows it.
            who: Who raises it; by default the operating system's user name.

        Raises:
            LedgerError: If there is no such account, or the cap would not grow.
        """
        self._append(decisions.raised, drafts.raised(dataset, cap, who, why))
        return self.account(dataset)

    def bind(
        self,
        dataset: str,
        *,
        why: str,
        unit: UnitLike | None = None,
        table: str | None = None,
        who: str | None = None,
    ) -> Account:
        """Say for whom an account counts, if that is not decided, or if nothing is spent on it.

        Args:
            dataset: The dataset.
            why: How it is known.
            unit: ``"record"``, or the column or columns that name the unit; None leaves it as it is.
            table: The table, as ``dawa.sources.label`` names it; None leaves it as it is.
            who: Who says so; by default the operating system's user name.

        Raises:
            LedgerError: If something is spent on the account for a unit or on a table that was decided before.
        """
        self._append(decisions.bind, drafts.bind(dataset, who, why, unit, table))
        return self.account(dataset)

    def relate(
        self,
        dataset: str,
        *,
        unit: UnitLike | None,
        times: int,
        why: str,
        table: str | None = None,
        who: str | None = None,
    ) -> Account:
        """Say how many times what is spent for another unit, or on another table, counts in an account.

        The factor counts for all that was and will be spent there. It can be raised and never lowered. ``ledger.md``
        says what it must be.

        Args:
            dataset: The dataset.
            unit: The other unit: ``"record"``, or the column or columns that name it. None stands for entries of old
                ledgers that do not say their unit, if the account has any.
            times: How many of the other units, at most, are added or removed with one unit of the account.
            why: How that is known.
            table: The table of the other unit, as ``dawa.sources.label`` names it; None means the account's own.
            who: Who says so; by default the operating system's user name.

        Raises:
            LedgerError: If it is the account's own unit and table, or no entry is meant, or the factor would not grow.
        """
        self._append(decisions.relate, drafts.relate(dataset, who, why, unit, table, times))
        return self.account(dataset)

    def reserve(
        self,
        dataset: str,
        epsilon: Epsilon,
        *,
        what: Mapping[str, Any],
        mechanism: str,
        who: str | None = None,
        unit: UnitLike = (),
        table: str | None = None,
    ) -> Reservation:
        """Spend on a dataset, before its data is read.

        Args:
            dataset: The dataset.
            epsilon: What to spend, read exactly as it is written.
            what: What it is spent on, in plain JSON values. They are stored unchanged: public inputs only.
            mechanism: The mechanism's name.
            who: Who spends it; by default the operating system's user name.
            unit: Who loses at most epsilon: the columns that name the unit; none for single records.
            table: The table that will be read, as ``dawa.sources.label`` names it; None stands for the account's own.

        Returns:
            The reservation, to be finalised once the release is made. Without that, it stays spent.

        Raises:
            ExhaustedError: If the cap leaves less than this. Nothing is spent then.
            LedgerError: If there is no such account, or it counts for another unit or table, or the ledger cannot be
                written or trusted, or its key cannot be used.
        """
        order = Order(dataset, epsilon, what, mechanism, unit, table)
        return self.reserve_all([order], who=who)[0]

    def reserve_all(self, orders: Sequence["Order"], *, who: str | None = None) -> list[Reservation]:
        """Spend on several releases, before any data is read: in one transaction, so all are booked or none.

        Args:
            orders: What to spend, on what.
            who: Who spends it; by default the operating system's user name.

        Raises:
            ExhaustedError: If the cap leaves less than all of them together. Nothing is spent then.
            LedgerError: As from ``reserve``.
        """
        wanted = [
            drafts.reserve(one.dataset, one.epsilon, who, one.what, one.mechanism, one.unit, one.table)
            for one in orders
        ]
        begun, signer = "", self.signer()

        def decided(number: int, pages: store.Pages) -> Entry:
            nonlocal begun
            entry = decisions.reserve_together(self.place, wanted, number, pages)
            begun = pages.entries[0].hash
            return entry

        booked = store.append_all(self.place, [partial(decided, number) for number in range(len(wanted))])
        return [Reservation(self, entry, begun, signer) for entry in booked]

    def take_back(
        self, entry_number: int, *, why: str, nothing_was_made: bool = False, who: str | None = None
    ) -> Entry:
        """Undo a reservation whose run has ended without anybody seeing any of its result.

        That a run failed may itself depend on the data, and a release may lie where nobody looked. So no program
        decides to take back: a person does, and their reason stays in the ledger.

        Args:
            entry_number: The number of the entry that reserved.
            why: How it is known that nothing was seen.
            nothing_was_made: The caller's word that the run has ended and that nothing was made, or that nobody has any
                of it. Nothing is taken back without it.
            who: Who takes it back; by default the operating system's user name.

        Raises:
            LedgerError: If the entry is not a reservation, has a release, or was already taken back; if a release is
                found, or its run is at work; if nobody gives their word.
        """
        from dawa.ledger import gone  # noqa: PLC0415  it reads releases, which bookings do not need

        draft, pages = drafts.take_back(entry_number, who, why), store.read(self.place)
        decisions.take_back(self.place, draft, pages)
        gone.check(pages.entries[entry_number - 1], declared=nothing_was_made is True)
        return self._append(decisions.take_back, draft)

    def upgrade(self, *, dry_run: bool = False, who: str | None = None) -> upgrade.Upgrade:
        """Let the accounts of an old ledger count for the units that their reservations name, with one more entry.

        Args:
            dry_run: Only say what would be done.
            who: Who upgrades; by default the operating system's user name.

        Returns:
            What was found and booked. If the ledger has the newest version already, nothing is booked.

        Raises:
            LedgerError: If somebody edited the ledger, or it cannot be written.
        """
        pages = store.read(self.place)
        decisions.trusted(self.place, pages)
        found = upgrade.planned(pages.entries)
        if dry_run or found.version == entries.NEWEST:
            return found
        try:
            booked = store.append(self.place, partial(decisions.upgraded, self.place, who))
        except decisions.NothingToDoError:  # somebody else was faster
            return upgrade.planned(store.read(self.place).entries)
        return replace(upgrade.planned(store.read(self.place).entries[: booked.number - 1]), entry=booked)

    def receipt(self) -> Receipt:
        """What the ledger is now, on one line to be kept elsewhere.

        Raises:
            LedgerError: If there is no ledger, or somebody edited it.
        """
        pages = store.read(self.place)
        decisions.trusted(self.place, pages)
        return Receipt.of(pages.entries)

    def check(self, text: str) -> int:
        """Compare the ledger with the receipts in a text; the result is how many of them are its own.

        Raises:
            LedgerError: If somebody edited the ledger, or put an older or another one in its place.
        """
        pages = store.read(self.place)
        decisions.trusted(self.place, pages)
        return anchors.check(self.place.name, pages.entries, anchors.receipts(text))

    def verify(self, release: AnyRelease, digest: str, paid: Paid | None = None) -> Verified:
        """Whether this ledger has paid for a release: exactly this entry, finalised with exactly this file.

        Args:
            release: The release.
            digest: The SHA-256 of its file.
            paid: The receipt beside it, if there is one.

        Raises:
            LedgerError: If it has not, or somebody edited the ledger, the receipt or the release.
        """
        pages = store.read(self.place)
        decisions.trusted(self.place, pages)
        return verified(self.place.name, pages.entries, release, digest, paid)

    def filed(self, release_id: str, file: str | PathLike[str]) -> Entry:
        """Book where a release was written, if that was not known when it was finalised.

        Raises:
            LedgerError: If the ledger does not know the release.
        """
        return self._append(decisions.filed, drafts.filed(release_id, file))

    def account(self, dataset: str) -> Account:
        """What is spent, and what is left.

        Raises:
            LedgerError: If there is no such account or no ledger.
        """
        return decisions.known(self.place, self._accounts(), dataset)

    def accounts(self) -> list[Account]:
        """All accounts, in the order in which they were opened."""
        return list(self._accounts().values())

    def history(self, dataset: str | None = None) -> list[Entry]:
        """All entries, or those of one dataset, in their order."""
        pages = store.read(self.place)
        if dataset is None:
            return list(pages.entries)
        name = decisions.known(self.place, decisions.added(self.place, pages), dataset).dataset
        return [entry for entry in pages.entries if entry.dataset == name]

    def summary(self, dataset: str | None = None) -> Summary:
        """The state of all accounts or of one, and whether somebody edited the ledger, all read at the same moment."""
        pages = store.read(self.place)
        found = decisions.added(self.place, pages)
        chosen = list(found.values()) if dataset is None else [decisions.known(self.place, found, dataset)]
        names = {account.dataset for account in chosen}
        return Summary(
            tuple(chosen),
            tuple(entry for entry in pending(pages.entries) if entry.dataset in names),
            len(pages.entries),
            pages.head,
            pages.broken,
            tuple(entry for entry in pages.entries if entry.kind == TAKE_BACK and entry.dataset in names),
            entries.version(pages.entries),
        )

    def _accounts(self) -> dict[str, Account]:
        return decisions.added(self.place, store.read(self.place))

    def _append(self, decide: Callable[[store.Place, Entry, store.Pages], Entry], draft: Entry) -> Entry:
        """Book what is decided about a draft."""
        return store.append(self.place, partial(decide, self.place, draft))


LedgerLike = str | PathLike[str] | Ledger
"""A ledger by its path or address, or one that is open."""
