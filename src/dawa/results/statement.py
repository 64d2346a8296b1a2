"""The privacy statement of a release: what is protected, against whom, and at what cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dawa import budget
from dawa.budget import shown
from dawa.results.conform import damaged

NEIGHBOURS = "one record added or removed"
UNIT = "record"
LONG = 120
"""How many characters of a condition stand beside an answer; the statement has all of them."""


@dataclass(frozen=True)
class PrivacyStatement:
    """Everything that a reader needs to judge the guarantee.

    Attributes:
        epsilon: The whole budget, exactly: what the unit loses at most.
        split: What each step spent of it.
        mechanism: The mechanism's name.
        options: The mechanism's options.
        randomness: Where the noise came from.
        private: False if anyone who knows a seed can repeat the noise.
        library: The version of this library.
        neighbours: What the guarantee compares.
        unit: Who or what is protected.
        unit_columns: The columns that name the unit together; none if a record is protected.
        max_rows_per_unit: How many records of a unit were counted at most.
        handling: What was counted and what was left out, in sentences.
        id: The release's name, by which a ledger knows it.
        searched: What was spent on finding bounds or a cap in the data, for each of them; ``split`` holds it too.
        where: The condition that the counted records meet; empty if all of them were counted.
        by: The columns that put records into groups; none if there are no groups.
    """

    epsilon: Fraction
    split: dict[str, Fraction]
    mechanism: str
    options: dict[str, Any] = field(repr=False)
    randomness: str
    private: bool
    library: str
    neighbours: str = NEIGHBOURS
    unit: str = UNIT
    unit_columns: tuple[str, ...] = ()
    max_rows_per_unit: int = 1
    handling: tuple[str, ...] = ()
    id: str | None = None
    searched: dict[str, Fraction] = field(default_factory=dict)
    where: str = ""
    by: tuple[str, ...] = ()

    @property
    def mechanism_epsilon(self) -> Fraction:
        """What one record loses at most to the mechanism: the budget that it ran with."""
        return (self.epsilon - sum(self.searched.values())) / self.max_rows_per_unit

    @property
    def mechanism_split(self) -> dict[str, Fraction]:
        """What each step spent of ``mechanism_epsilon``."""
        steps = self.split.items()
        return {step: part / self.max_rows_per_unit for step, part in steps if step not in self.searched}

    @property
    def kept(self) -> str:
        """Which records were counted, in a few words; empty if all were."""
        where = self.where if len(self.where) <= LONG else f"{self.where[:LONG]}…"
        if not self.unit_columns:
            return where and f"of records where {where}"
        kept = f"of at most {counted_rows(self.max_rows_per_unit)} of each {each(self.unit_columns)}"
        return f"{kept} where {where}" if where else kept

    @property
    def claim(self) -> str:
        """What the statement begins with, in every version: whether the release is private, how much, for whom."""
        claim = "This release is"
        if not self.private:
            claim = (
                "NOT PRIVATE: the noise was made from a seed, for an experiment."
                " With noise that nobody can repeat, this release would be"
            )
        return f"{claim} {shown(self.epsilon)}-differentially private for each {self.unit}:"

    @property
    def caution(self) -> str:
        """What everybody has to be told if epsilon is so large that it promises little; otherwise empty."""
        return budget.caution(self.epsilon, self.unit)

    @property
    def exposes_nobody(self) -> bool:
        """Whether it may be said that nobody is exposed: nobody can repeat the noise, and there is enough of it."""
        return self.private and not self.caution

    @property
    def odds(self) -> str:
        """Epsilon in the words of a bet, or what is promised instead."""
        if not self.private:
            return "The noise was made from a seed, so nobody is protected. Do not publish this as if it were private."
        if self.caution:
            return self.caution
        factor = math.exp(self.epsilon)
        said = f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"
        return (
            f"In the words of a bet: whatever odds somebody gave on whether one {self.unit} is in the data, this"
            f" release moves them by a factor of {said} at most."
        )

    def __str__(self) -> str:
        parts = " and ".join(f"{shown(part)} on {step}" for step, part in self.split.items())
        caution = f"{self.caution} " if self.caution else ""
        handling = "".join(f" {sentence}" for sentence in self.handling)
        return (
            f"{self.claim} whatever is published here would have"
            f" been published with {self._likeness()}, with {self.neighbours}."
            f" {caution}{self._who()}{self._once()}{handling} Spent: {parts}."
            f" Mechanism: {self.mechanism} ({_named(self.options)}). Noise: {self.randomness}."
            f" Made with dawa {self.library}."
        )

    def _likeness(self) -> str:
        """How much the probability of a release depends on one unit."""
        factor = f"a factor of exp({shown(self.epsilon)})"
        return f"a probability within {factor}" if self.caution else f"nearly the same probability, up to {factor}"

    def _who(self) -> str:
        """Who is protected and who is not, in words that do not need mathematics."""
        if not self.unit_columns:
            return (
                "What is protected is a single record, that is, one row of the table. Somebody with several records in"
                " the table is protected less: with k records, at k times that epsilon."
            )
        most = self.max_rows_per_unit
        counted = "one record of each was" if most == 1 else f"{most} records of each were"
        left_out = f" At most {counted} counted, chosen at random."
        shared = (
            ""
            if most == 1
            else f" The mechanism ran with an epsilon of {shown(self.mechanism_epsilon)} for each record, so that"
            f" {most} records together lose no more than {shown(self.mechanism_epsilon * most)}."
        )
        names = listed(self.unit_columns)
        if len(self.unit_columns) > 1:
            return (
                f"What is protected is each combination of values in the columns {names}, with all records that have"
                f" it.{left_out}{shared} Records without a value in one of {names} were left out. Somebody who appears"
                f" in several combinations is protected less: with k of them, at k times that epsilon."
            )
        return (
            f"What is protected is a person with all of their records, that is, all records with the same value in the"
            f" column {names}.{left_out}{shared} Records without a value in {names} were left out. Somebody who"
            f" appears under several values is protected less: with k values, at k times that epsilon."
        )

    def _once(self) -> str:
        """Why all groups together cost no more than one, if there are groups."""
        if not self.by:
            return ""
        if not self.unit_columns:
            return (
                f" A record is in one group by {listed(self.by)} at most, or counted apart, so all groups together cost"
                " that epsilon once."
            )
        return (
            f" The groups by {listed(self.by)} share this limit: the records of one {self.unit} in all groups, and"
            " those in none, were counted together. So all groups together cost that epsilon once."
        )

    def spending(self, split: dict[str, Fraction]) -> "PrivacyStatement":
        """The same statement about one of several groups, which spent the budget in this way."""
        return replace(self, split=split)

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "epsilon": str(self.epsilon),
            "split": {step: str(part) for step, part in self.split.items()},
            "neighbours": self.neighbours,
            "unit": self.unit,
            "unit_columns": list(self.unit_columns),
            "max_rows_per_unit": self.max_rows_per_unit,
            "mechanism_epsilon": str(self.mechanism_epsilon),
            "mechanism": self.mechanism,
            "options": self.options,
            "randomness": self.randomness,
            "private": self.private,
            "library": self.library,
            "handling": list(self.handling),
            "id": self.id,
            "searched": {step: str(part) for step, part in self.searched.items()},
            "where": self.where,
            **({"by": list(self.by)} if self.by else {}),
            "statement": str(self),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PrivacyStatement":
        """The statement that ``to_json`` wrote; fields that came later may be absent.

        Raises:
            ReleaseError: If the numbers do not fit together; the error names the field.
        """
        statement = cls(
            budget.exact(data["epsilon"]),
            {step: budget.fraction(part) for step, part in data["split"].items()},
            data["mechanism"],
            data["options"],
            data["randomness"],
            data["private"],
            data["library"],
            data["neighbours"],
            data["unit"],
            _columns(data),
            data.get("max_rows_per_unit", 1),
            tuple(data.get("handling", ())),
            data.get("id"),
            {step: budget.exact(part) for step, part in data.get("searched", {}).items()},
            data.get("where", ""),
            tuple(data.get("by", ())),
        )
        statement._check(data)
        return statement

    def _check(self, data: dict[str, Any]) -> None:
        """Refuse numbers and words that do not fit together."""
        if sum(self.split.values()) != self.epsilon:
            raise damaged("privacy.split", "does not add up to epsilon")
        for step, part in self.searched.items():
            if self.split.get(step) != part:
                raise damaged("privacy.searched", "names a part that split does not have")
        if self.max_rows_per_unit > 1 and not self.unit_columns:
            raise damaged("privacy.max_rows_per_unit", "is above 1, and there is no unit")
        if self.mechanism_epsilon < budget.SMALLEST:
            raise damaged("privacy.searched", "leaves nothing for the mechanism")
        if "mechanism_epsilon" in data and budget.fraction(data["mechanism_epsilon"]) != self.mechanism_epsilon:
            raise damaged("privacy.mechanism_epsilon", "is not what epsilon leaves for a record")
        self._check_words(data)

    def _check_words(self, data: dict[str, Any]) -> None:
        """Refuse words that are not what the numbers and names say."""
        old, columns = data.get("unit_column"), data.get("unit_columns")
        if old is not None and columns is not None and columns != [old]:
            raise damaged("privacy.unit_column", "is not what unit_columns says")
        words = protected(self.unit_columns, self.max_rows_per_unit)
        for name, said in (("unit", self.unit), ("neighbours", self.neighbours)):
            if _escaped(said) != _escaped(words[name]):
                raise damaged(f"privacy.{name}", "is not what the columns of the unit say")
        if not _escaped(data["statement"]).startswith(_escaped(self.claim)):
            raise damaged("privacy.statement", "does not begin with what the other fields say")


def spent_by_all(splits: Sequence[dict[str, Fraction]]) -> dict[str, Fraction]:
    """What each step spent on every group; steps that did not spend the same on all groups are told together.

    >>> half, third = {"partition": Fraction(1, 2), "measure": Fraction(1, 2)}, Fraction(1, 3)
    >>> spent_by_all([half, half]) == half
    True
    >>> spent_by_all([half, {"partition": third, "measure": 2 * third}])
    {'partition and measure': Fraction(1, 1)}
    """
    if all(split == splits[0] for split in splits):
        return dict(splits[0])
    steps = dict.fromkeys(step for split in splits for step in split)
    return {" and ".join(steps): sum(splits[0].values(), Fraction(0))}


def protected(unit: tuple[str, ...], max_rows_per_unit: int) -> dict[str, Any]:
    """What the statement says about the unit: a record, or whoever the unit's columns name."""
    if not unit:
        return {"neighbours": NEIGHBOURS, "unit": UNIT}
    names, who = listed(unit), "person" if len(unit) == 1 else "combination"
    return {
        "neighbours": f"one {who} added or removed, together with all records that carry the same {names}",
        "unit": f"person (a value of {names})" if len(unit) == 1 else f"combination of {names}",
        "unit_columns": unit,
        "max_rows_per_unit": max_rows_per_unit,
    }


def listed(unit: tuple[str, ...]) -> str:
    """The columns of a unit.

    >>> listed(("person", "day"))
    "'person' and 'day'"
    """
    return " and ".join(map(repr, unit))


def each(unit: tuple[str, ...]) -> str:
    """One unit, in words: a value of its column, or a combination of values."""
    return f"value of {listed(unit)}" if len(unit) == 1 else f"combination of {listed(unit)}"


def counted_rows(most: int) -> str:
    """A number of records, in words."""
    return "one record" if most == 1 else f"{most} records"


def _columns(data: dict[str, Any]) -> tuple[str, ...]:
    """The columns of the unit; before version 2 of the format there was one at most."""
    columns = data.get("unit_columns")
    if columns is None:
        columns = [] if data.get("unit_column") is None else [data["unit_column"]]
    return tuple(columns)


def _escaped(text: str) -> bytes:
    """Words that quote names, without what differs between versions of Python: which characters can be shown."""
    return text.encode("ascii", "backslashreplace")


def _named(options: dict[str, Any]) -> str:
    """Options in a line: names of methods, without the numbers inside; the file holds these."""
    shown = {name: value.get("method", value) if isinstance(value, dict) else value for name, value in options.items()}
    return ", ".join(f"{name}: {value}" for name, value in shown.items() if value is not None)
