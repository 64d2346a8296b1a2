"""What a ledger says when it refuses, and what a failure after paying has cost: public state alone, in words."""

import shlex
from collections.abc import Sequence
from fractions import Fraction

from dawa.budget import shown
from dawa.errors import BudgetError, ExhaustedError, LedgerError, PublicNote, TakenBackError, printable
from dawa.ledger import scopes
from dawa.ledger.accounts import Account
from dawa.ledger.entries import TAKE_BACK, Entry
from dawa.ledger.scopes import Scope


def too_fine(name: str) -> BudgetError:
    """A number with too many digits."""
    return BudgetError(f"{name} has too many digits to be booked.", f"write it with fewer, such as {name}=0.1.")


def exhausted(account: Account, epsilon: Fraction, times: int) -> ExhaustedError:
    """More than the cap leaves."""
    wanted = shown(epsilon) if times == 1 else f"{shown(epsilon)}, which counts {times} times here"
    if account.left <= 0:
        return ExhaustedError(
            f"Dataset '{account.dataset}' has nothing left of its cap of {shown(account.cap)}, so epsilon={wanted}"
            f"{' ' if times == 1 else ', '}cannot be spent.",
            "answer from the existing releases (dawa ledger history): they answer any question at no cost.",
        )
    left = shown(account.left)
    return ExhaustedError(
        f"Dataset '{account.dataset}' has {left} left of its cap of {shown(account.cap)}, less than epsilon={wanted}.",
        f"spend at most {shown(account.left / times)}, or answer from the existing releases (dawa ledger history).",
    )


def exhausted_together(account: Account, epsilon: Fraction, releases: int) -> ExhaustedError:
    """More than the cap leaves, by several releases that are paid together; ``epsilon`` is as they all count."""
    return ExhaustedError(
        f"Dataset '{account.dataset}' has {shown(max(account.left, Fraction(0)))} left of its cap of"
        f" {shown(account.cap)}, less than the {releases} releases together spend: {shown(epsilon)}.",
        "give them less, or leave one out; nothing was booked.",
    )


def unlike(account: Account, asked: Scope, flag: str) -> LedgerError:
    """A release for another unit, or of another table, which nobody has related to the account."""
    own = account.scope
    command = f"dawa ledger relate {shlex.quote(account.dataset)}"
    if account.unlike:
        return unsettled(account, flag)
    if asked.table is not None and own.table not in {None, asked.table}:
        return LedgerError(
            f"Dataset '{account.dataset}' counts what {scopes.told(own)} loses, and this is spent on another table,"
            f" {asked.table}.",
            "open another account for it; or, if somebody knows how the two tables relate, let them say so:"
            f" {command} {scopes.typed(asked)} --times … --why '…' {flag}; it counts {scopes.advice(own, asked)}.",
        )
    return LedgerError(
        f"Dataset '{account.dataset}' counts what {scopes.told(own)} loses, and this is spent for"
        f" {scopes.each(asked.unit)}.",
        f"protect the same ({'no --unit' if own.unit == () else scopes.typed(Scope(own.unit))}); or open another"
        f" account; or let somebody say how the two relate: {command} {scopes.typed(Scope(asked.unit))} --times …"
        f" --why '…' {flag}; it counts {scopes.advice(own, Scope(asked.unit))}.",
    )


def undecided(account: Account, flag: str) -> LedgerError:
    """A relation to an account that counts for nobody yet."""
    return LedgerError(
        f"It is not decided yet for whom dataset '{account.dataset}' counts, so nothing relates to it.",
        f"say that first: dawa ledger bind {shlex.quote(account.dataset)} --unit … --why '…' {flag}.",
    )


def unsettled(account: Account, flag: str) -> LedgerError:
    """An account of an old ledger that added up what is not alike."""
    return LedgerError(f"Dataset '{account.dataset}' cannot pay. {account.whom}", f"{settling(account, flag)}.")


def settling(account: Account, flag: str) -> str:
    """The commands with which a person settles what an account mixes."""
    name = shlex.quote(account.dataset)
    if account.unit is None:
        unit = next((part.scope.unit for part in account.parts if part.scope.unit is not None), ())
        return f"say for whom it counts: dawa ledger bind {name} {scopes.typed(Scope(unit))} --why '…' {flag}"
    commands = "; ".join(
        f"dawa ledger relate {name} {scopes.typed(part.scope)} --times … --why '…' {flag}"
        f" ({scopes.advice(account.scope, part.scope)})"
        for part in account.unlike
    )
    return f"say how often the others count: {commands}"


def old(name: str, flag: str) -> LedgerError:
    """A ledger of an earlier version, in which nothing more is spent."""
    return LedgerError(
        f"The ledger {name} was made by an earlier dawa, which added up what was spent for records and for persons:"
        " it can be read, but nothing more is spent in it.",
        f"see what an upgrade would do: dawa ledger upgrade --dry-run {flag}.",
    )


def edited(name: str, broken: int | None) -> LedgerError:
    """A ledger that somebody changed."""
    problem = (
        "its entries make no sense."
        if broken is None
        else f"its entries do not follow from each other from number {broken} on, so nothing is booked in it."
    )
    return LedgerError(
        f"The ledger {name} was edited: {problem}", "find out what was changed, and restore the ledger from a backup."
    )


def no_account(name: str, dataset: object, known: Sequence[str]) -> LedgerError:
    """A dataset that the ledger does not know."""
    names = ", ".join(f"'{one}'" for one in known[:10]) + (", ..." if len(known) > 10 else "")
    return LedgerError(
        f"The ledger {name} has no account for {printable(str(dataset))!r}.",
        f"it has accounts for {names or 'no dataset'}; open one with dawa ledger create DATASET --cap 2.",
    )


def ambiguous(name: str, dataset: str, alike: Sequence[str]) -> LedgerError:
    """A name that two accounts share but for case, and neither has exactly."""
    names = " and ".join(f"'{one}'" for one in alike)
    return LedgerError(
        f"'{dataset}' may mean {names}: the ledger {name} has accounts whose names differ in case alone.",
        "write the name exactly as one of them.",
    )


def exists(dataset: str, account: Account) -> LedgerError:
    """A second account for a dataset."""
    same = account.dataset == dataset
    return LedgerError(
        f"Dataset '{dataset}' already has an account, with a cap of {shown(account.cap)}."
        if same
        else f"Dataset '{dataset}' already has an account, as '{account.dataset}': names are compared without case.",
        f"see what is left of it: dawa ledger show {shlex.quote(account.dataset)}.",
    )


def not_pending(closing: Entry) -> LedgerError:
    """A reservation that cannot be taken back any more."""
    number = closing.reservation
    if closing.kind == TAKE_BACK:
        return LedgerError(
            f"Entry {number} was already taken back, by {closing.who} in entry {closing.number}.",
            f"it is not spent any more: see dawa ledger show {shlex.quote(closing.dataset)}.",
        )
    return LedgerError(
        f"Entry {number} has a release: '{closing.release_id}' (entry {closing.number}).",
        "it stays spent: what was released can be seen, so it cannot be taken back.",
    )


def not_finalised(closing: Entry) -> LedgerError:
    """A reservation that is closed already."""
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


def cost(reserved: Entry, asked: Scope, account: Account | None, closing: Entry | None, flag: str) -> PublicNote:
    """What was spent, what is left, and how to take it back if that can be done.

    Args:
        reserved: The entry that spent.
        asked: For whom it spent.
        account: The account now; None if the ledger could not be read.
        closing: The entry that named a release or took the reservation back, if there is one.
        flag: The command-line flag that names the ledger.
    """
    number, amount = reserved.number, shown(reserved.epsilon or Fraction(0))
    times = 1 if account is None else account.times(asked.unit, asked.table) or 1
    often = "" if times == 1 else f", which counts {times} times,"
    entry = f"was spent on dataset '{reserved.dataset}' all the same (entry {number} of the ledger)"
    if account is None:
        rest = "the ledger could not be read to see what is left."
    else:
        rest = f"{shown(account.left)} of {shown(account.cap)} is left."
    if closing is not None and closing.kind == TAKE_BACK:
        return PublicNote(f"epsilon={amount}{often} {entry}, and taken back in entry {closing.number}; {rest}")
    if closing is not None:
        return PublicNote(f"epsilon={amount}{often} {entry}, and its release is booked; {rest}")
    return PublicNote(
        f"epsilon={amount}{often} {entry}; {rest}\n"
        f"Hint: if nothing was observed, take it back: dawa ledger take-back {number} --nothing-was-made --why '…'"
        f" {flag}"
    )
