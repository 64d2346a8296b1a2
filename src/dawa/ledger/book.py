"""The ledger for its users: open an account, reserve before data is read, name the release afterwards.

Every operation that writes is a decision over all entries before it, taken and booked in one transaction. ``ledger.md``
has the proof.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from dawa import budget, check
from dawa.budget import Epsilon, shown
from dawa.errors import BudgetError, DawaError, ExhaustedError, LedgerError, PublicNote, TakenBackError
from dawa.ledger import accounts as failures
from dawa.ledger import entries, store
from dawa.ledger.accounts import Account, Summary, accounts, closed_by, pending
from dawa.ledger.entries import CREATE, FILE, FINALISE, RAISE, RESERVE, START, TAKE_BACK, Entry, canonical
from dawa.ledger.postgres import PostgresDatabase
from dawa.ledger.sqlite import SqliteFile

FINEST = 10**100
"""The largest denominator that a number may have."""

FINEST_SUM = FINEST**10
"""The largest denominator that a sum may have: Python refuses to print numbers that are much longer."""


def opened(ledger: "LedgerLike") -> "Ledger":
    """The ledger at a path or an address. Nothing is read or created yet.

    Args:
        ledger: The path of a SQLite file, a ``postgresql://`` address, or a ledger that is already open.

    Raises:
        LedgerError: If this is neither a path nor an address of a ledger.
    """
    if isinstance(ledger, Ledger):
        return ledger
    if isinstance(ledger, PathLike):
        return Ledger(SqliteFile.at(Path(ledger)))
    if not isinstance(ledger, str):
        raise LedgerError(
            f"A ledger is named by a path or an address, not by a value of type {type(ledger).__name__}.",
            'pass ledger="ledger.db", or ledger="postgresql://user@host/database".',
        )
    return Ledger(PostgresDatabase.at(ledger) if "://" in ledger else SqliteFile.at(ledger))


@dataclass(frozen=True)
class Ledger:
    """A book of caps and of what was spent from them; ``opened`` gives one.

    Attributes:
        place: The file or the database that holds it.
    """

    place: store.Place

    def create(self, dataset: str, cap: Epsilon, who: str | None = None) -> Account:
        """Open an account; the first account creates the ledger.

        Args:
            dataset: A name for the dataset, the same in every release of it.
            cap: All that may ever be spent on it, read exactly as it is written.
            who: Who opens it; by default the operating system's user name.

        Raises:
            LedgerError: If the dataset already has an account, or the ledger cannot be written.
        """
        entry = _entry(CREATE, entries.checked(dataset, "dataset"), who, cap=_exact(cap, "cap"))

        def decide(pages: store.Pages) -> Entry:
            known = self._trusted(pages)
            if entry.dataset in known:
                raise LedgerError(
                    f"Dataset '{dataset}' already has an account, with a cap of {shown(known[entry.dataset].cap)}.",
                    f"see what is left of it: dawa ledger show '{dataset}'.",
                )
            return entry

        self._append(decide, making=True)
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
        reason = {"why": entries.checked(why, "why")}
        entry = _entry(RAISE, entries.checked(dataset, "dataset"), who, cap=_exact(cap, "cap"), what=reason)

        def decide(pages: store.Pages) -> Entry:
            present = self._known(self._trusted(pages), dataset).cap
            if entry.cap is None or entry.cap <= present:
                raise LedgerError(
                    f"The cap of dataset '{dataset}' is already {shown(present)}.",
                    "pass a higher one: the ledger never lowers a cap.",
                )
            return entry

        self._append(decide)
        return self.account(dataset)

    def reserve(
        self, dataset: str, epsilon: Epsilon, *, what: Mapping[str, Any], mechanism: str, who: str | None = None
    ) -> "Reservation":
        """Spend on a dataset, before its data is read.

        Args:
            dataset: The dataset.
            epsilon: What to spend, read exactly as it is written.
            what: What it is spent on, in plain JSON values. They are stored unchanged: public inputs only.
            mechanism: The mechanism's name.
            who: Who spends it; by default the operating system's user name.

        Returns:
            The reservation, to be finalised once the release is made. Without that, it stays spent.

        Raises:
            ExhaustedError: If the cap leaves less than this. Nothing is spent then.
            LedgerError: If there is no such account, or the ledger cannot be written or trusted.
        """
        spending = _exact(epsilon, "epsilon")
        described = _described(what)
        name = entries.checked(mechanism, "mechanism")
        entry = _entry(
            RESERVE, entries.checked(dataset, "dataset"), who, epsilon=spending, what=described, mechanism=name
        )

        def decide(pages: store.Pages) -> Entry:
            account = self._known(self._trusted(pages), dataset)
            if spending > account.left:
                raise _exhausted(account, spending)
            if (account.spent + spending).denominator > FINEST_SUM:
                raise _too_fine("epsilon")
            return entry

        return Reservation(self, self._append(decide))

    def take_back(self, entry_number: int, *, why: str, who: str | None = None) -> Entry:
        """Undo a reservation whose run has ended without anybody seeing any of its result.

        That a run failed may itself depend on the data. So no program decides to take back: a person does, and their
        reason stays in the ledger.

        Args:
            entry_number: The number of the entry that reserved.
            why: How it is known that nothing was seen.
            who: Who takes it back; by default the operating system's user name.

        Raises:
            LedgerError: If the entry is not a reservation, has a release, or was already taken back.
        """
        reason = {"why": entries.checked(why, "why")}

        def decide(pages: store.Pages) -> Entry:
            known = self._trusted(pages)
            spending = self._reserved(pages, entry_number)
            _check_pending(pages, entry_number)
            rest = known[spending.dataset].spent - (spending.epsilon or 0)
            if rest.denominator > FINEST_SUM:
                raise LedgerError(
                    f"Without entry {entry_number} the sum that is spent has too many digits to be booked.",
                    "leave it spent, or take another entry back first.",
                )
            return _entry(TAKE_BACK, spending.dataset, who, reservation=entry_number, what=reason)

        return self._append(decide)

    def filed(self, release_id: str, file: str | PathLike[str]) -> Entry:
        """Book where a release was written, if that was not known when it was finalised.

        Raises:
            LedgerError: If the ledger does not know the release.
        """
        entries.checked(release_id, "release_id")

        def decide(pages: store.Pages) -> Entry:
            self._trusted(pages)
            for found in pages.entries:
                if found.kind == FINALISE and found.release_id == release_id:
                    return _entry(
                        FILE,
                        found.dataset,
                        None,
                        reservation=found.reservation,
                        release_id=release_id,
                        file=entries.escaped(os.fspath(file)),
                    )
            raise LedgerError(
                f"The ledger {self.place.name} does not know a release '{release_id}'.",
                "finalise its reservation first; dawa ledger history lists the releases.",
            )

        return self._append(decide)

    def account(self, dataset: str) -> Account:
        """What is spent, and what is left.

        Raises:
            LedgerError: If there is no such account or no ledger.
        """
        return self._known(self._accounts(self._pages()), dataset)

    def accounts(self) -> list[Account]:
        """All accounts, in the order in which they were opened."""
        return list(self._accounts(self._pages()).values())

    def history(self, dataset: str | None = None) -> list[Entry]:
        """All entries, or those of one dataset, in their order."""
        pages = self._pages()
        if dataset is None:
            return list(pages.entries)
        self._known(self._accounts(pages), dataset)
        return [entry for entry in pages.entries if entry.dataset == dataset]

    def summary(self, dataset: str | None = None) -> Summary:
        """The state of all accounts or of one, and whether somebody edited the ledger, all read at the same moment."""
        pages = self._pages()
        found = self._accounts(pages)
        chosen = found.values() if dataset is None else [self._known(found, dataset)]
        waiting = [entry for entry in pending(pages.entries) if dataset in {None, entry.dataset}]
        back = [entry for entry in pages.entries if entry.kind == TAKE_BACK and dataset in {None, entry.dataset}]
        return Summary(tuple(chosen), tuple(waiting), len(pages.entries), pages.head, pages.broken, tuple(back))

    def _pages(self) -> store.Pages:
        return store.read(self.place)

    def _append(self, decide: Callable[[store.Pages], Entry], *, making: bool = False) -> Entry:
        return store.append(self.place, decide, making=making)

    def _trusted(self, pages: store.Pages) -> dict[str, Account]:
        """The accounts, if nobody edited the entries."""
        if pages.broken is not None:
            raise LedgerError(
                f"The ledger {self.place.name} was edited: its entries do not follow from each other from number"
                f" {pages.broken} on, so nothing is booked in it.",
                "find out what was changed, and restore the ledger from a backup.",
            )
        return self._accounts(pages)

    def _accounts(self, pages: store.Pages) -> dict[str, Account]:
        try:
            return accounts(pages.entries)
        except (LookupError, ValueError):
            raise LedgerError(
                f"The ledger {self.place.name} was edited: its entries make no sense.",
                "find out what was changed, and restore the ledger from a backup.",
            ) from None

    def _reserved(self, pages: store.Pages, number: object) -> Entry:
        """The reservation with this number."""
        hint = "take back an entry that dawa ledger show lists as pending."
        if not check.is_whole(number):
            raise LedgerError(f"An entry is named by its number, not by a {type(number).__name__}.", hint)
        if not 1 <= number <= len(pages.entries):
            raise LedgerError(f"The ledger {self.place.name} has no entry {number}.", hint)
        entry = pages.entries[number - 1]
        if entry.kind != RESERVE:
            raise LedgerError(f"Entry {number} is not a reservation but a {entry.kind!r}: it spent nothing.", hint)
        return entry

    def _known(self, known: dict[str, Account], dataset: str) -> Account:
        if isinstance(dataset, str) and dataset in known:
            return known[dataset]
        names = ", ".join(f"'{name}'" for name in list(known)[:10]) + (", ..." if len(known) > 10 else "")
        raise LedgerError(
            f"The ledger {self.place.name} has no account for {entries.escaped(str(dataset))!r}.",
            f"it has accounts for {names or 'no dataset'}; open one with dawa ledger create DATASET --cap 2.",
        )


@dataclass(frozen=True)
class Reservation:
    """Epsilon that is spent and waits for the name of its release.

    Attributes:
        ledger: The ledger that holds it.
        entry: The entry that spent it.
    """

    ledger: Ledger = field(repr=False)
    entry: Entry

    @property
    def dataset(self) -> str:
        """The dataset on which it was spent."""
        return self.entry.dataset

    @property
    def epsilon(self) -> Fraction:
        """How much was spent."""
        return self.entry.epsilon or Fraction(0)

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """Let every failure in the block say what was spent, what is left, and how to take it back.

        Our errors say so in their text, all others in a note. Both use only the ledger's public state.
        """
        try:
            yield
        except TakenBackError:
            raise  # its text already says everything
        except DawaError as error:
            told = type(error)(*self._cost().after(error.problem, error.hint))
            raise told.with_traceback(error.__traceback__) from None
        except BaseException as error:
            error.add_note(self._cost())
            raise

    def finalise(self, release_id: str, file: str | PathLike[str] | None = None) -> Entry:
        """Book the release that was made, and where it was written if that is known.

        Raises:
            TakenBackError: If the reservation was taken back. The release is not paid for, and nobody may have it.
            LedgerError: If a release was already named, or the ledger cannot be written. The epsilon stays spent.
        """
        number = self.entry.number
        entry = _entry(
            FINALISE,
            self.dataset,
            self.entry.who,
            reservation=number,
            release_id=entries.checked(release_id, "release_id"),
            file=None if file is None else entries.escaped(os.fspath(file)),
        )

        def decide(pages: store.Pages) -> Entry:
            self._account(pages)
            closing = closed_by(pages.entries, number)
            if closing is not None:
                raise _not_finalised(closing)
            return entry

        return self.ledger._append(decide)  # noqa: SLF001  a reservation is a page of its ledger

    def _account(self, pages: store.Pages) -> Account:
        """The account that pays for it, if the ledger can be trusted and still holds the reservation."""
        number = self.entry.number
        known = self.ledger._trusted(pages)  # noqa: SLF001  a reservation is a page of its ledger
        if self.entry not in pages.entries[number - 1 : number]:
            raise LedgerError(
                f"The ledger {self.ledger.place.name} no longer has entry {number}.",
                "the ledger was replaced by another or an older one; restore it from a backup.",
            )
        return known[self.dataset]

    def _cost(self) -> PublicNote:
        """What to say about the reservation after a failure."""
        flag = self.ledger.place.flag
        try:
            pages = store.read(self.ledger.place)
            return failures.cost(self.entry, self._account(pages), closed_by(pages.entries, self.entry.number), flag)
        except BaseException:  # noqa: BLE001  even a second Ctrl-C: the first failure is the one to report
            return failures.cost(self.entry, None, None, flag)


def _entry(kind: str, dataset: str, who: str | None, **more: Any) -> Entry:  # noqa: ANN401  fields of an entry
    """An entry of this moment, without its place in the chain."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    name = entries.user() if who is None else entries.checked(who, "who")
    return Entry(number=0, kind=kind, dataset=dataset, at=at, who=name, previous=START, **more)


def _exact(number: object, name: str) -> Fraction:
    """A budget as it was written, if it has few enough digits to be booked."""
    value = budget.exact(number, name)
    if value.denominator > FINEST:
        raise _too_fine(name)
    return value


def _too_fine(name: str) -> BudgetError:
    return BudgetError(f"{name} has too many digits to be booked.", f"write it with fewer, such as {name}=0.1.")


def _described(what: object) -> dict[str, Any]:
    """A description as it will be read back."""
    hint = "pass a dict of plain values: text, numbers, lists, dicts; exact numbers as text."
    if not isinstance(what, Mapping):
        raise LedgerError(f"what must be a dict, not {type(what).__name__}.", hint)
    try:
        return dict(json.loads(canonical(dict(what))))
    except (TypeError, ValueError):
        raise LedgerError("what must hold plain JSON values only.", hint) from None


def _check_pending(pages: store.Pages, number: int) -> None:
    """Refuse to take back a reservation that is not pending."""
    closing = closed_by(pages.entries, number)
    if closing is None:
        return
    if closing.kind == TAKE_BACK:
        raise LedgerError(
            f"Entry {number} was already taken back, by {closing.who} in entry {closing.number}.",
            f"it is not spent any more: see dawa ledger show '{closing.dataset}'.",
        )
    raise LedgerError(
        f"Entry {number} has a release: '{closing.release_id}' (entry {closing.number}).",
        "it stays spent: what was released can be seen, so it cannot be taken back.",
    )


def _not_finalised(closing: Entry) -> LedgerError:
    number = closing.reservation
    if closing.kind == TAKE_BACK:
        return TakenBackError(
            f"Entry {number} was taken back by {closing.who} in entry {closing.number}, so its release is not paid for"
            " and is not handed out.",
            "make the release again: that reserves again. Take back only after the run has ended.",
        )
    return LedgerError(
        f"Entry {number} already has a release: '{closing.release_id}'.", "reserve again for another release."
    )


def _exhausted(account: Account, epsilon: Fraction) -> ExhaustedError:
    wanted, cap, dataset = shown(epsilon), shown(account.cap), account.dataset
    if account.left == 0:
        return ExhaustedError(
            f"Dataset '{dataset}' has nothing left of its cap of {cap}, so epsilon={wanted} cannot be spent.",
            "answer from the existing releases (dawa ledger history): they answer any question at no cost.",
        )
    left = shown(account.left)
    return ExhaustedError(
        f"Dataset '{dataset}' has {left} left of its cap of {cap}, less than epsilon={wanted}.",
        f"spend at most {left}, or answer from the existing releases (dawa ledger history).",
    )


LedgerLike = str | PathLike[str] | Ledger
"""A ledger by its path or address, or one that is open."""
