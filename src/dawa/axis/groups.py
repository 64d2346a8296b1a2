"""Columns whose values put records into groups: public lists of values, like ordered axes.

A record is in one group at most: its value in a grouping column is one of those that are listed, or is not listed, or
is missing, and over several columns a group is one value of each. Where values that are not listed are a group too, it
is called "other". All other records are in no group, and are counted apart.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from dawa import check
from dawa.axis.base import State
from dawa.axis.ordered import Label, OrderedAxis
from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_GROUPINGS, MOST_GROUPS, MOST_LABELS
from dawa.numerals import brief, told

OTHER = "other"
"""What the group of values that are not listed is called."""
FEW = 10
"""How many groups an error lists."""

Group = Label | tuple[Label, ...]
"""What a group is called: a value; with several grouping columns, one value of each."""
By = str | Sequence[str] | Mapping[str, Iterable[Label]]
"""One or several columns, or their values by column."""


@dataclass(frozen=True)
class Grouping:
    """One column whose values tell groups apart.

    Attributes:
        axis: The column and its values, as an ordered axis reads them.
        other: Whether values that are not listed are a group too; if not, they are counted apart.

    >>> Grouping.of("carrier", ["AA", "UA"], other=True).labels
    ('AA', 'UA', 'other')
    """

    axis: OrderedAxis
    other: bool = False

    @classmethod
    def of(cls, column: str, values: Iterable[Label] | None, *, other: bool = False) -> "Grouping":
        """A column and the values that are groups.

        Raises:
            OptionError: If it lists none, lists one twice, or lists what no column can hold.
        """
        if values is None:
            raise OptionError(
                f"The groups of {told(column)} are not listed; they are never read from the data, because a rare value"
                " belongs to few people.",
                'list the values that can occur: groups=["AA", "UA", "DL"], for example.',
            )
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise OptionError(f"groups={told(values)} is no list.", 'pass one: groups=["AA", "UA"], for example.')
        check.flag(other, "other")
        listed = tuple(values)
        if not listed:
            raise OptionError(f"The groups of {told(column)} are an empty list.", "list at least one value.")
        if len(listed) > MOST_LABELS:
            raise OptionError(
                f"{told(column)} has {len(listed)} groups.",
                f"list at most {MOST_LABELS} values, or make the column an axis.",
            )
        try:
            axis = OrderedAxis(column, listed)
        except AxisError as error:
            problem = error.problem.replace("he axis ", "he grouping column ")
            raise OptionError(problem, "list values without repetitions, all text or all integers.") from None
        if other and OTHER in axis.labels:
            raise OptionError(
                f"A value of {told(column)} is called {OTHER!r}, and so is the group of values that are not listed.",
                "leave out that value, or other=True.",
            )
        return cls(axis, bool(other))

    @property
    def column(self) -> str:
        """Where a table holds the values."""
        return self.axis.column

    @property
    def labels(self) -> tuple[Label, ...]:
        """What its groups are called, in order."""
        return (*self.axis.labels, OTHER) if self.other else self.axis.labels

    @property
    def size(self) -> int:
        """How many groups it tells apart."""
        return len(self.axis.labels) + self.other

    @property
    def apart(self) -> tuple[State, ...]:
        """The ways of being in no group."""
        return ("missing",) if self.other else ("unlisted", "missing")

    def place(self, label: object) -> int | None:
        """The number of a group; None if there is none of this name."""
        if self.other and isinstance(label, str) and label == OTHER:
            return len(self.axis.labels)
        try:
            return int(self.axis.border(label))
        except AxisError:
            return None

    def describe(self) -> str:
        """Which records are in which group and which are in none, in a sentence."""
        labels = self.axis.labels
        few = ", ".join(map(str, labels)) if len(labels) <= 12 else f"{labels[0]}, …, {labels[-1]}"
        rest = (
            f"Records with another value are in the group {OTHER!r}; those without a value are in no group, and counted"
            " apart."
            if self.other
            else "Records with another value, or without one, are in no group, and counted apart."
        )
        return f"Records are grouped by the column {self.column!r} ({len(labels)} values: {few}). {rest}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"column": self.column, "values": list(self.axis.labels), "other": self.other}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Grouping":
        """The column that ``to_json`` wrote."""
        return cls.of(data["column"], data["values"], other=data.get("other", False))


def groupings(by: By | None, groups: Any = None, *, other: bool = False) -> tuple[Grouping, ...]:  # noqa: ANN401  checked here
    """The grouping columns as users name them; none if there are no groups.

    Args:
        by: A column, or several; or their values by column.
        groups: The values of the column; of several columns, one list for each.
        other: Whether values that are not listed are one more group of each column.

    Raises:
        OptionError: If they are not listed as they should be, or are too many.

    >>> [grouping.labels for grouping in groupings({"carrier": ["AA", "UA"], "origin": ["JFK"]}, other=True)]
    [('AA', 'UA', 'other'), ('JFK', 'other')]
    >>> groupings("carrier", ["AA", "UA"]) == groupings(["carrier"], [["AA", "UA"]])
    True
    """
    if by is None:
        if groups is not None or other is not False:
            raise OptionError(
                f"{'groups' if groups is not None else 'other'}= says nothing without by=.",
                'name the column: by="carrier", for example.',
            )
        return ()
    made = [Grouping.of(column, values, other=other) for column, values in _listed(by, groups)]
    if len({grouping.column for grouping in made}) < len(made):
        raise OptionError("Two grouping columns are the same.", "name each column once.")
    if math.prod(grouping.size for grouping in made) > MOST_GROUPS:
        raise OptionError(
            f"There are {math.prod(grouping.size for grouping in made):,} groups, more than {MOST_GROUPS:,}.",
            "list fewer values, or make one of the columns an axis.",
        )
    return tuple(made)


def _listed(by: By, groups: Any) -> list[tuple[str, Any]]:  # noqa: ANN401  checked by ``Grouping.of``
    """Each column with its list."""
    if isinstance(by, Mapping):
        if groups is not None:
            raise OptionError("The groups are listed twice, in by= and in groups=.", "list them in one of the two.")
        pairs = list(by.items())
    elif isinstance(by, str):
        pairs = [(by, groups)]
        if isinstance(groups, Mapping):
            raise OptionError(f"groups={told(groups)} is no list.", 'pass by={"carrier": ["AA", "UA"]}.')
    else:
        pairs = _paired(by, groups)
    if not 1 <= len(pairs) <= MOST_GROUPINGS:
        raise OptionError(
            f"There are {len(pairs)} grouping columns.", f"name at least one and at most {MOST_GROUPINGS}."
        )
    for column, _ in pairs:
        if not isinstance(column, str) or not column:
            raise OptionError(f"by={told(column)} is not the name of a column.", 'pass by="carrier", for example.')
    return pairs


def _paired(by: object, groups: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401  checked by ``Grouping.of``
    """Several columns, each with a list of its own."""
    if not isinstance(by, (tuple, list)):
        raise OptionError(f"by={told(by)} is not the name of a column.", 'pass by="carrier", or a list of names.')
    if groups is None:
        return [(column, None) for column in by]
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise OptionError(f"groups={told(groups)} is no list.", "pass one list for each grouping column.")
    lists = list(groups)
    if len(lists) != len(by) or any(isinstance(one, str) or not isinstance(one, Iterable) for one in lists):
        raise OptionError(
            f"There are {len(by)} grouping columns, and groups= does not hold as many lists.",
            'pass one list for each: by=["carrier", "origin"], groups=[["AA", "UA"], ["JFK"]].',
        )
    return list(zip(by, lists, strict=True))


def combinations(by: Sequence[Grouping]) -> tuple[tuple[Label, ...], ...]:
    """Every group, as one value of each column; the last column changes fastest."""
    return tuple(product(*(grouping.labels for grouping in by)))


def number(by: Sequence[Grouping], label: object) -> int:
    """The number of a group among ``combinations``.

    Raises:
        OptionError: If there is no such group.

    >>> number(groupings({"carrier": ["AA", "UA"], "origin": ["JFK", "LGA"]}), ("UA", "JFK"))
    2
    """
    parts = label if isinstance(label, (tuple, list)) else (label,)
    found = 0
    for grouping, part in zip(by, parts, strict=False):
        place = grouping.place(part)
        if place is None or len(parts) != len(by):
            raise unknown(by, label)
        found = found * grouping.size + place
    if not parts:
        raise unknown(by, label)
    return found


def unknown(by: Sequence[Grouping], label: object) -> OptionError:
    """The error about a group that does not exist; it names a few that do."""
    every = combinations(by)
    few = ", ".join(f"({', '.join(map(brief, one))})" if len(by) > 1 else brief(one[0]) for one in every[:FEW])
    columns = " and ".join(told(grouping.column) for grouping in by)
    return OptionError(
        f"{told(label)} is not a group of {columns}.", f"ask for one of {few}{', …' if len(every) > FEW else ''}."
    )
