"""What is left of each dataset's cap: sums over the entries, in exact fractions, and nothing else.

Also: what a failure after paying has cost, in words that use only the ledger's public state.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dawa.budget import shown
from dawa.errors import PublicNote
from dawa.ledger.entries import CREATE, FINALISE, RAISE, RESERVE, TAKE_BACK, Entry

CLOSING = (FINALISE, TAKE_BACK)
"""The kinds of entry that end a reservation: one of them, once."""


@dataclass(frozen=True)
class Account:
    """The state of one dataset's budget.

    Attributes:
        dataset: Its name.
        cap: All that may ever be spent on it.
        spent: All that was reserved so far and not taken back, whether or not it led to a release.
        reserved: The part of ``spent`` without a known release: its runs are still at work, or crashed.
    """

    dataset: str
    cap: Fraction
    spent: Fraction = Fraction(0)
    reserved: Fraction = Fraction(0)

    def __str__(self) -> str:
        return f"'{self.dataset}' has {shown(self.left)} left of its cap of {shown(self.cap)}"

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.cap - self.spent

    def to_json(self) -> dict[str, str]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "dataset": self.dataset,
            "cap": str(self.cap),
            "spent": str(self.spent),
            "reserved": str(self.reserved),
            "left": str(self.left),
        }


@dataclass(frozen=True)
class Summary:
    """The state of a ledger.

    Attributes:
        accounts: One for each dataset, in the order in which they were opened.
        pending: Reservations without a known release.
        entries: How many entries the ledger has.
        head: The hash of the last entry. Whoever notes it can tell later whether anything before it was changed.
        broken: The number of the first entry that does not follow from those before, because somebody edited the
            ledger; None in a ledger that is whole.
        taken_back: The entries that took a reservation back.
    """

    accounts: tuple[Account, ...]
    pending: tuple[Entry, ...]
    entries: int
    head: str
    broken: int | None
    taken_back: tuple[Entry, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "accounts": [account.to_json() for account in self.accounts],
            "pending": [entry.to_json() for entry in self.pending],
            "entries": self.entries,
            "head": self.head,
            "broken": self.broken,
            "taken_back": [entry.to_json() for entry in self.taken_back],
        }


def accounts(entries: Iterable[Entry]) -> dict[str, Account]:
    """The accounts that result from these entries, in their order."""
    found: dict[str, Account] = {}
    reserved: dict[tuple[str, int | None], Fraction] = {}
    for entry in entries:
        if entry.kind == CREATE:
            found[entry.dataset] = Account(entry.dataset, _given(entry.cap))
            continue
        account = found[entry.dataset]
        if entry.kind == RAISE:
            account = replace(account, cap=_given(entry.cap))
        elif entry.kind == RESERVE:
            epsilon = reserved[entry.dataset, entry.number] = _given(entry.epsilon)
            account = replace(account, spent=account.spent + epsilon, reserved=account.reserved + epsilon)
        elif entry.kind == FINALISE:
            epsilon = reserved.pop((entry.dataset, entry.reservation))
            account = replace(account, reserved=account.reserved - epsilon)
        elif entry.kind == TAKE_BACK:
            epsilon = reserved.pop((entry.dataset, entry.reservation))
            account = replace(account, spent=account.spent - epsilon, reserved=account.reserved - epsilon)
        found[entry.dataset] = account
    return found


def pending(entries: Iterable[Entry]) -> list[Entry]:
    """Reservations without a known release that were not taken back."""
    found: dict[int | None, Entry] = {}
    for entry in entries:
        if entry.kind == RESERVE:
            found[entry.number] = entry
        elif entry.kind in CLOSING:
            found.pop(entry.reservation, None)
    return list(found.values())


def closed_by(entries: Iterable[Entry], number: int) -> Entry | None:
    """The entry that named the release of a reservation, or took it back; None while it is pending."""
    return next((entry for entry in entries if entry.kind in CLOSING and entry.reservation == number), None)


def _given(number: Fraction | None) -> Fraction:
    if number is None:
        raise ValueError("an entry without its number")
    return number


def cost(reserved: Entry, account: Account | None, closing: Entry | None, flag: str) -> PublicNote:
    """What was spent, what is left, and how to take it back if that can be done.

    Args:
        reserved: The entry that spent.
        account: The account now; None if the ledger could not be read.
        closing: The entry that named a release or took the reservation back, if there is one.
        flag: The command-line flag that names the ledger.
    """
    number, amount = reserved.number, shown(reserved.epsilon or Fraction(0))
    entry = f"on dataset '{reserved.dataset}' all the same (entry {number} of the ledger)"
    if account is None:
        rest = "the ledger could not be read to see what is left."
    else:
        rest = f"{shown(account.left)} of {shown(account.cap)} is left."
    if closing is not None and closing.kind == TAKE_BACK:
        return PublicNote(f"epsilon={amount} was spent {entry}, and taken back in entry {closing.number}; {rest}")
    if closing is not None:
        return PublicNote(f"epsilon={amount} was spent {entry}, and its release is booked; {rest}")
    return PublicNote(
        f"epsilon={amount} was spent {entry}; {rest}\n"
        f"Hint: if nothing was observed, take it back: dawa ledger take-back {number} --why '…' {flag}"
    )
