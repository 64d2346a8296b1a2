"""From an old ledger to one whose accounts add like with like: what an upgrade finds, and what it books.

Before version 3, an account added up whatever was spent under its name. Most reservations say whose loss they bound
(``unit`` in their descriptions), and none says which table was read. An upgrade looks at the reservations that still
count. Where they agree on the unit, the account counts for it from then on. Where they do not, nothing more is spent on
the account until a person has decided. The upgrade is one more entry: nothing is rewritten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dawa.ledger import entries as books
from dawa.ledger.accounts import accounts, pending, scope_of
from dawa.ledger.entries import RESERVE, TAKE_BACK, Entry
from dawa.ledger.scopes import Key, Scope, folded


@dataclass(frozen=True)
class Spent:
    """What an old account spent for one unit.

    Attributes:
        scope: The unit; its table is not known.
        epsilon: The sum.
        entries: The numbers of the reservations.
        columns: The columns that were released, as far as the descriptions say so.
    """

    scope: Scope
    epsilon: Fraction
    entries: tuple[int, ...]
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            **self.scope.to_json(),
            "epsilon": str(self.epsilon),
            "entries": list(self.entries),
            "columns": list(self.columns),
        }


@dataclass(frozen=True)
class Old:
    """An account before the upgrade.

    Attributes:
        dataset: Its name.
        spent: What it spent, unit by unit.
    """

    dataset: str
    spent: tuple[Spent, ...]

    @property
    def mixed(self) -> bool:
        """Whether a person has to decide."""
        return len(self.spent) > 1 or any(one.scope.unit is None for one in self.spent)

    @property
    def scope(self) -> Scope:
        """For whom it will count; nothing is said if it is mixed, or if nothing was spent."""
        return self.spent[0].scope if self.spent and not self.mixed else Scope()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "dataset": self.dataset,
            **self.scope.to_json(),
            "mixed": self.mixed,
            "spent": [one.to_json() for one in self.spent],
        }


@dataclass(frozen=True)
class Upgrade:
    """What an upgrade does, or would do.

    Attributes:
        version: The version of the ledger before.
        accounts: Its accounts; none if there is nothing to do.
        pending: The numbers of reservations whose runs may be at work. A run of an earlier dawa cannot finalise after
            the upgrade.
        same_names: Names that differ in case alone: they have to be written exactly.
        entry: What was booked; None if nothing was.
    """

    version: int
    accounts: tuple[Old, ...]
    pending: tuple[int, ...]
    same_names: tuple[tuple[str, ...], ...]
    entry: Entry | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "version": self.version,
            "newest": books.NEWEST,
            "accounts": [account.to_json() for account in self.accounts],
            "pending": list(self.pending),
            "same_names": [list(names) for names in self.same_names],
            "entry": None if self.entry is None else self.entry.to_json(),
        }

    @property
    def what(self) -> dict[str, Any]:
        """What is booked: how accounts count from now on, and which are mixed."""
        return {"from": self.version, "accounts": [account.to_json() for account in self.accounts]}


def planned(entries: Sequence[Entry]) -> Upgrade:
    """What an upgrade of a ledger with these entries does."""
    version = books.version(entries)
    if version == books.NEWEST:
        return Upgrade(version, (), (), ())
    back = {entry.reservation for entry in entries if entry.kind == TAKE_BACK}
    live = [entry for entry in entries if entry.kind == RESERVE and entry.number not in back]
    known = list(accounts(entries))
    found = tuple(Old(name, _spent([entry for entry in live if entry.dataset == name])) for name in known)
    waiting = tuple(entry.number for entry in pending(entries))
    return Upgrade(version, found, waiting, _same(known))


def _spent(live: Sequence[Entry]) -> tuple[Spent, ...]:
    """What reservations spent, unit by unit."""
    groups: dict[Key, list[Entry]] = {}
    for entry in live:
        groups.setdefault(scope_of(entry, newest=False).key, []).append(entry)
    return tuple(
        Spent(
            scope_of(group[0], newest=False),
            sum((entry.epsilon or Fraction(0) for entry in group), Fraction(0)),
            tuple(entry.number for entry in group),
            tuple(dict.fromkeys(column for entry in group for column in _columns(entry))),
        )
        for group in groups.values()
    )


def _columns(entry: Entry) -> list[str]:
    """The columns of the axes, if the description has axes."""
    axes = (entry.what or {}).get("axes")
    listed = axes if isinstance(axes, list) else []
    return [axis["column"] for axis in listed if isinstance(axis, dict) and isinstance(axis.get("column"), str)]


def _same(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Names that are compared as equal."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(folded(name), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
