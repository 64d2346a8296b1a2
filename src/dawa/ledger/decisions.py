"""What may be booked: each decision looks at all entries before, and gives the next one or refuses it.

``store.append`` runs a decision inside the transaction that adds the entry. ``ledger.md`` has the proof.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dawa import check
from dawa.budget import shown
from dawa.errors import ExhaustedError, LedgerError
from dawa.ledger import drafts, entries, refusals, scopes, upgrade
from dawa.ledger.accounts import Account, accounts, closed_by
from dawa.ledger.entries import FINALISE, RESERVE, Entry
from dawa.ledger.scopes import FOR, Scope
from dawa.ledger.store import Pages, Place
from dawa.limits import MOST_BUDGET_DIGITS

FINEST_SUM = 10 ** (10 * MOST_BUDGET_DIGITS)
"""The largest denominator that a sum may have: Python refuses to print numbers that are much longer."""


class NothingToDoError(Exception):
    """The ledger already is what it should become."""


class AlreadyError(Exception):
    """A reservation already has the release that it should get: somebody recovered it meanwhile."""

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self.entry = entry


def create(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Open an account, if there is none with this name."""
    there = named(place, newest(place, pages), draft.dataset)
    if there is not None:
        raise refusals.exists(draft.dataset, there)
    return draft


def raised(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Raise a cap."""
    account = known(place, trusted(place, pages), draft.dataset)
    if draft.cap is None or draft.cap <= account.cap:
        raise LedgerError(
            f"The cap of dataset '{account.dataset}' is already {shown(account.cap)}.",
            "pass a higher one: the ledger never lowers a cap.",
        )
    return replace(draft, dataset=account.dataset)


def bind(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Say for whom an account counts, unless something was spent for others."""
    account, said = known(place, newest(place, pages), draft.dataset), _scope(draft)
    other_unit = said.unit is not None and account.unit is not None and not account.scope.alike(said)
    other_table = said.table is not None and account.table not in {None, said.table}
    if account.parts and (other_unit or other_table):
        raise LedgerError(
            f"Dataset '{account.dataset}' counts what {scopes.told(account.scope)} loses, and {shown(account.spent)} of"
            " it is spent.",
            "open another account; or say how others count in this one: dawa ledger relate.",
        )
    return replace(draft, dataset=account.dataset)


def relate(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Say how often others count; factors only grow."""
    account, other = known(place, newest(place, pages), draft.dataset), _scope(draft)
    if account.unit is None:
        raise refusals.undecided(account, place.flag)
    if account.scope.alike(other) and other.table in {None, account.table}:
        raise LedgerError(
            f"Dataset '{account.dataset}' counts what {scopes.told(account.scope)} loses: that itself, once.",
            "relate another unit to it, or another table.",
        )
    if other.unit is None and not any(part.scope.unit is None for part in account.parts):
        raise scopes.unnamed()
    own = replace(other, table=None) if other.table == account.table else other
    before = next((found.times for found in account.relations if found.scope.key == own.key), 0)
    if (draft.what or {})["times"] <= before:
        raise LedgerError(
            f"What {scopes.told(other)} loses already counts {before} times in dataset '{account.dataset}'.",
            "pass a larger number: the ledger never lowers a factor.",
        )
    return _printable(pages, replace(draft, dataset=account.dataset), "With this factor the sum")


def reserve(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Spend, if the account counts for this unit and table and has enough left."""
    account, asked = known(place, newest(place, pages), draft.dataset), _scope(draft)
    epsilon = draft.epsilon or Fraction(0)
    times = account.times(asked.unit, asked.table)
    if times is None:
        raise refusals.unlike(account, asked, place.flag)
    if times * epsilon > account.left:
        raise refusals.exhausted(account, epsilon, times)
    if (account.spent + times * epsilon).denominator > FINEST_SUM:
        raise refusals.too_fine("epsilon")
    return replace(draft, dataset=account.dataset)


def reserve_together(place: Place, drafts: Sequence[Entry], place_in: int, pages: Pages) -> Entry:
    """Spend one of several that are booked in one transaction; a refusal is about all of them.

    Args:
        place: The ledger's place.
        drafts: All of them.
        place_in: Which one this is. Those before it are in the pages already.
        pages: The ledger.
    """
    draft = drafts[place_in]
    try:
        return reserve(place, draft, pages)
    except ExhaustedError:
        before = Pages(pages.entries[: len(pages.entries) - place_in], pages.broken)
        account = known(place, newest(place, before), draft.dataset)
        same = [one for one in drafts if known(place, newest(place, pages), one.dataset).dataset == account.dataset]
        if len(same) == 1:
            raise
        counts = [(account.times(_scope(one).unit, _scope(one).table) or 1) * (one.epsilon or 0) for one in same]
        raise refusals.exhausted_together(account, Fraction(sum(counts)), len(same)) from None


def take_back(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Undo a reservation that is pending."""
    trusted(place, pages)
    number = draft.reservation
    reserved = _reserved(place, pages, number)
    closing = closed_by(pages.entries, reserved.number)
    if closing is not None:
        raise refusals.not_pending(closing)
    return _printable(pages, replace(draft, dataset=reserved.dataset), f"Without entry {number} the sum")


def finalise(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Name a release, if its reservation is pending."""
    trusted(place, pages)
    closing = closed_by(pages.entries, draft.reservation or 0)
    if closing is not None and closing.kind == FINALISE and closing.release_id == draft.release_id:
        raise AlreadyError(closing)
    if closing is not None:
        raise refusals.not_finalised(closing)
    for found in pages.entries:
        if found.kind == FINALISE and found.release_id == draft.release_id:
            raise LedgerError(
                f"The release {draft.release_id} is booked already, by entry {found.number}.",
                "every release has a name of its own, and pays for itself.",
            )
    return draft


def filed(place: Place, draft: Entry, pages: Pages) -> Entry:
    """Say where a release is, if the ledger knows it."""
    trusted(place, pages)
    for found in pages.entries:
        if found.kind == FINALISE and found.release_id == draft.release_id:
            return replace(draft, dataset=found.dataset, reservation=found.reservation)
    raise LedgerError(
        f"The ledger {place.name} does not know a release '{draft.release_id}'.",
        "finalise its reservation first; dawa ledger history lists the releases.",
    )


def upgraded(place: Place, who: str | None, pages: Pages) -> Entry:
    """Upgrade an old ledger, once.

    Raises:
        NothingToDoError: If the ledger has the newest version.
    """
    trusted(place, pages)
    found = upgrade.planned(pages.entries)
    if found.version == entries.NEWEST:
        raise NothingToDoError
    return drafts.upgrade(who, found.what)


def trusted(place: Place, pages: Pages) -> dict[str, Account]:
    """The accounts, if nobody edited the entries."""
    if pages.broken is not None:
        raise refusals.edited(place.name, pages.broken)
    return added(place, pages)


def newest(place: Place, pages: Pages) -> dict[str, Account]:
    """The accounts, if nobody edited the entries and each account counts for a unit of a table."""
    found = trusted(place, pages)
    if entries.version(pages.entries) < entries.NEWEST:
        raise refusals.old(place.name, place.flag)
    return found


def added(place: Place, pages: Pages) -> dict[str, Account]:
    """The accounts that the entries make, edited or not."""
    try:
        return _accounts(pages)
    except (LookupError, ValueError, TypeError, AttributeError):
        raise refusals.edited(place.name, None) from None


@functools.lru_cache(maxsize=2)
def _accounts(pages: Pages) -> dict[str, Account]:
    """The accounts of pages that are looked at several times for one decision."""
    return accounts(pages.entries)


def known(place: Place, found: dict[str, Account], dataset: str) -> Account:
    """The account with this name."""
    account = named(place, found, dataset) if isinstance(dataset, str) else None
    if account is None:
        raise refusals.no_account(place.name, dataset, list(found))
    return account


def named(place: Place, found: dict[str, Account], dataset: str) -> Account | None:
    """The account with exactly this name, or else with this name but for case, if there is one."""
    if dataset in found:
        return found[dataset]
    alike = [name for name in found if scopes.same_account(name) == scopes.same_account(dataset)]
    if len(alike) > 1:
        raise refusals.ambiguous(place.name, dataset, alike)
    return found[alike[0]] if alike else None


def _reserved(place: Place, pages: Pages, number: object) -> Entry:
    """The reservation with this number."""
    hint = "take back an entry that dawa ledger show lists as pending."
    if not check.is_whole(number):
        raise LedgerError(f"An entry is named by its number, not by a {type(number).__name__}.", hint)
    if not 1 <= number <= len(pages.entries):
        raise LedgerError(f"The ledger {place.name} has no entry {number}.", hint)
    entry = pages.entries[number - 1]
    if entry.kind != RESERVE:
        raise LedgerError(f"Entry {number} is not a reservation but a {entry.kind!r}: it spent nothing.", hint)
    return entry


def _printable(pages: Pages, draft: Entry, what: str) -> Entry:
    """The entry, if the sum after it can be printed."""
    after = accounts([*pages.entries, replace(draft, number=len(pages.entries) + 1)])[draft.dataset]
    if after.spent.denominator > FINEST_SUM:
        raise LedgerError(
            f"{what} that is spent has too many digits to be booked.",
            "leave it spent, or take another entry back first.",
        )
    return draft


def _scope(draft: Entry) -> Scope:
    return Scope.from_json((draft.what or {})[FOR])
