"""What is left of each dataset's cap: sums over the entries, in exact fractions, and nothing else.

An account counts for a unit of a table. What was spent for the same unit of the same table counts once. What was spent
for another counts as many times as a person has said that it does; ``ledger.md`` says what the sum then bounds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dawa import check
from dawa.budget import shown
from dawa.ledger import entries as books
from dawa.ledger import scopes
from dawa.ledger.entries import BIND, CREATE, FINALISE, RAISE, RELATE, RESERVE, TAKE_BACK, UPGRADE, Entry
from dawa.ledger.scopes import Key, Scope, Unit

CLOSING = (FINALISE, TAKE_BACK)
"""The kinds of entry that end a reservation: one of them, once."""


@dataclass(frozen=True)
class Part:
    """What was spent for one unit of one table.

    Attributes:
        scope: The unit and the table.
        epsilon: What was spent, as the releases spent it.
        times: How many times it counts; None if nobody has said so.
    """

    scope: Scope
    epsilon: Fraction
    times: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {**self.scope.to_json(), "epsilon": str(self.epsilon), "times": self.times}


@dataclass(frozen=True)
class Relation:
    """How many times what is spent for another unit, or on another table, counts.

    Attributes:
        scope: The other unit and its table; without a table, it is the account's own.
        times: The factor.
    """

    scope: Scope
    times: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.scope.to_json(), "times": self.times}


@dataclass(frozen=True)
class Account:
    """The state of one dataset's budget.

    Attributes:
        dataset: Its name, as it was first written.
        cap: All that may ever be spent on it.
        spent: All that was reserved so far and not taken back, whether or not it led to a release, each as many times
            as it counts.
        reserved: The part of ``spent`` without a known release: its runs are still at work, or crashed.
        unit: The columns that name the unit whose loss it bounds: none for single records; None if that is not said.
        table: The table's public name; None if it is not said.
        relations: How often others count.
        parts: What ``spent`` is made of.
    """

    dataset: str
    cap: Fraction
    spent: Fraction = Fraction(0)
    reserved: Fraction = Fraction(0)
    unit: Unit = None
    table: str | None = None
    relations: tuple[Relation, ...] = ()
    parts: tuple[Part, ...] = ()

    def __str__(self) -> str:
        if self.left < 0:
            return f"'{self.dataset}' is overspent by {shown(-self.left)}, beyond its cap of {shown(self.cap)}"
        return f"'{self.dataset}' has {shown(self.left)} left of its cap of {shown(self.cap)}"

    @property
    def left(self) -> Fraction:
        """What may still be spent; below zero if a relation that came later showed that too much was."""
        return self.cap - self.spent

    @property
    def scope(self) -> Scope:
        """For whom it counts."""
        return Scope(self.unit, self.table)

    @property
    def unlike(self) -> tuple[Part, ...]:
        """What was spent for others before anybody said how it counts; it counts once for now."""
        return tuple(part for part in self.parts if part.times is None)

    @property
    def whom(self) -> str:
        """For whom it counts, in a sentence."""
        if self.unlike:
            mixed = ", ".join(f"{shown(part.epsilon)} for {scopes.told(part.scope)}" for part in self.parts)
            return f"It mixes {mixed}: nothing more is spent on it until somebody says how these count."
        if self.unit is None and self.table is not None:
            return f"Its first release decides for which unit in {self.table} it counts."
        if self.unit is None:
            return "Its first release decides for whom it counts: for which unit, in which table."
        if self.table is None:
            return f"It counts what {scopes.each(self.unit)} loses; the first release that names a table decides which."
        return f"It counts what {scopes.told(self.scope)} loses."

    def times(self, unit: Unit, table: str | None = None) -> int | None:
        """How many times what is spent for a unit of a table counts; None if it would be refused.

        Args:
            unit: The columns that name the unit; none for single records.
            table: The table's public name; None stands for the account's own table.
        """
        if self.unlike:
            return None
        if self.unit is None:
            return 1 if table is None or self.table in {None, table} else None
        return counted(self.scope, {relation.scope.key: relation.times for relation in self.relations}, unit, table)

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "dataset": self.dataset,
            "cap": str(self.cap),
            "spent": str(self.spent),
            "reserved": str(self.reserved),
            "left": str(self.left),
            **self.scope.to_json(),
            "relations": [relation.to_json() for relation in self.relations],
            "parts": [part.to_json() for part in self.parts],
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
        version: The version of the ledger. Before version 3, accounts add up whatever is spent, and nothing more can
            be spent before an upgrade.
    """

    accounts: tuple[Account, ...]
    pending: tuple[Entry, ...]
    entries: int
    head: str
    broken: int | None
    taken_back: tuple[Entry, ...] = ()
    version: int = books.NEWEST

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "version": self.version,
            "accounts": [account.to_json() for account in self.accounts],
            "pending": [entry.to_json() for entry in self.pending],
            "entries": self.entries,
            "head": self.head,
            "broken": self.broken,
            "taken_back": [entry.to_json() for entry in self.taken_back],
        }


@books.kept()
def accounts(entries: Iterable[Entry]) -> dict[str, Account]:
    """The accounts that result from these entries, in their order."""
    tallies: dict[str, _Tally] = {}
    newest = False
    for entry in entries:
        newest = newest or books.needed(entry) == books.NEWEST
        if entry.kind == CREATE:
            scope = Scope() if entry.what is None else Scope.from_json(entry.what)
            tallies[entry.dataset] = _Tally(entry.dataset, _given(entry.cap), scope)
        elif entry.kind == UPGRADE:
            for line in (entry.what or {})["accounts"]:
                tallies[line["dataset"]].own = Scope.from_json(line)
        else:
            tallies[entry.dataset].book(entry, newest=newest)
    return {name: tally.account(newest=newest) for name, tally in tallies.items()}


def counted(own: Scope, relations: Mapping[Key, int], unit: Unit, table: str | None) -> int | None:
    """How many times what is spent for a unit of a table counts for ``own``; None if nobody said so.

    If several factors fit, the largest counts.
    """
    asked, names = Scope(unit, table), {table}
    here = table is None or own.table is None or table == own.table
    if here:
        names |= {None, own.table}
    fitting = [relations[key] for key in (Scope(unit, name).key for name in names) if key in relations]
    return max([*fitting, 1] if here and own.alike(asked) else fitting, default=None)


def scope_of(entry: Entry, *, newest: bool) -> Scope:
    """For whom a reservation spent; before version 3, its description may say the unit, and never the table."""
    what = entry.what or {}
    if newest:
        return Scope.from_json(what["for"])
    unit = what.get("unit", False)
    if unit is None:
        return Scope(())
    columns = [unit] if isinstance(unit, str) else unit
    named = isinstance(columns, list) and columns and all(isinstance(column, str) and column for column in columns)
    return Scope(tuple(columns) if named else None)


@dataclass
class _Tally:
    """An account while its entries are read."""

    dataset: str
    cap: Fraction
    own: Scope
    relations: dict[Key, Relation] = field(default_factory=dict)
    live: dict[int | None, tuple[Scope, Fraction]] = field(default_factory=dict)
    pending: dict[int | None, tuple[Scope, Fraction]] = field(default_factory=dict)

    def book(self, entry: Entry, *, newest: bool) -> None:
        """Take one more entry into account; LookupError if it follows up what is not there."""
        if entry.kind == RAISE:
            self.cap = _given(entry.cap)
        elif entry.kind == RESERVE:
            asked = scope_of(entry, newest=newest)
            if newest:
                self._settle(asked)
            self.live[entry.number] = self.pending[entry.number] = asked, _given(entry.epsilon)
        elif entry.kind in CLOSING:
            del self.pending[entry.reservation]
            if entry.kind == TAKE_BACK:
                del self.live[entry.reservation]
        elif entry.kind == BIND:
            self._bind(Scope.from_json((entry.what or {})["for"]))
        elif entry.kind == RELATE:
            what = entry.what or {}
            other = Scope.from_json(what["for"])
            if other.table == self.own.table:
                other = replace(other, table=None)
            self.relations[other.key] = Relation(other, _whole(what["times"]))

    def _settle(self, asked: Scope) -> None:
        """Let a release decide what nobody has said yet: for whom the account counts, or in which table."""
        if self.own.unit is None and not self.live:
            self.own = Scope(asked.unit, self.own.table or asked.table)
        elif self.own.table is None and asked.key not in self.relations:
            self.own = replace(self.own, table=asked.table)

    def _bind(self, said: Scope) -> None:
        """Let a person decide it."""
        bound = Scope(self.own.unit if said.unit is None else said.unit, said.table or self.own.table)
        if not self.live and bound.key != self.own.key:
            self.relations.clear()
        self.own = bound

    def account(self, *, newest: bool) -> Account:
        """The account as it is now."""
        parts = self._parts(self.live, newest=newest)
        spent, reserved = (
            sum(((part.times or 1) * part.epsilon for part in some), Fraction(0))
            for some in (parts, self._parts(self.pending, newest=newest))
        )
        related = tuple(self.relations.values())
        return Account(self.dataset, self.cap, spent, reserved, self.own.unit, self.own.table, related, parts)

    def _parts(self, some: Mapping[int | None, tuple[Scope, Fraction]], *, newest: bool) -> tuple[Part, ...]:
        """These reservations, added up for each unit of each table."""
        factors = {key: relation.times for key, relation in self.relations.items()}
        sums: dict[Key, tuple[Scope, Fraction]] = {}
        for (asked, epsilon), often in Counter(some.values()).items():  # thousands of entries are few different ones
            here = replace(asked, table=None) if asked.table == self.own.table else asked
            sums[here.key] = here, sums.get(here.key, (here, Fraction(0)))[1] + often * epsilon
        return tuple(
            Part(one, total, counted(self.own, factors, one.unit, one.table) if newest else 1)
            for one, total in sums.values()
        )


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


def _whole(times: object) -> int:
    if not check.is_whole(times, 1):
        raise ValueError("a relation without its factor")
    return times


def _given(number: Fraction | None) -> Fraction:
    if number is None:
        raise ValueError("an entry without its number")
    return number
