"""The tables of a release of groups: those of each group under one another, and answers for each and for all together.

Each table begins with a column for every grouping column. Where a line is about all groups together, or about records
in no group, these entries are empty.
"""

import math
from collections.abc import Callable, Sequence

from dawa import limits
from dawa.axis.groups import Grouping, combinations
from dawa.axis.ordered import Label
from dawa.publish import tables
from dawa.publish.isolated import isolated
from dawa.publish.tables import BARS, STATE, Rows
from dawa.results.answers import Answer
from dawa.results.grouped import GroupedRelease
from dawa.results.release import Apart, Release
from dawa.results.tabled import beside
from dawa.spec import ranges
from dawa.spec.ranges import Asked

ALL: tuple[Label, ...] = ()
"""The name of all groups together, beside the names of groups."""

FEW = 12
"""How many groups a sentence lists."""

Answers = dict[tuple[Label, ...], list[Answer]]
"""For each group the answers to the same ranges, and under ``ALL`` those of all groups together, which come last."""


def names(by: Sequence[Grouping]) -> list[str]:
    """What the groups are called in sentences, in order.

    >>> from dawa.axis.groups import groupings
    >>> names(groupings({"carrier": ["AA", "UA"], "origin": ["JFK"]}))
    ['AA, JFK', 'UA, JFK']
    """
    return [", ".join(map(str, group)) for group in combinations(by)]


def few(by: Sequence[Grouping]) -> str:
    """The first groups in a list, and how many more there are."""
    listed = [isolated(name) for name in names(by)]
    more = f" and {len(listed) - FEW:,} more" if len(listed) > FEW else ""
    return ("; " if len(by) > 1 else ", ").join(listed[:FEW]) + more


def buckets(release: GroupedRelease) -> Rows:
    """The buckets of every group along one axis."""
    return _under_one_another(release, tables.buckets)


def cells(release: GroupedRelease) -> Rows:
    """Every cell of every group along several axes."""
    return _under_one_another(release, tables.cells)


def few_cells(release: GroupedRelease) -> bool:
    """Whether all cells of all groups fit one table."""
    return len(release) * math.prod(axis.size for axis in release.axes) <= limits.MOST_ROWS_WRITTEN


def apart(release: GroupedRelease, confidence: float = 0.95) -> Rows:
    """Each group's records in no range, and then the records in no group.

    Columns say for each grouping column whether its value is that of a group (``inside``), not listed or missing. Where
    the records in no group lie on the axes is not known.
    """
    axes = [STATE] if len(release.axes) == 1 else [f"{axis.column}_{STATE}" for axis in release.axes]
    rest = ("label", *axes, "value", "standard_deviation", "unbiased", *BARS)
    states = beside([f"{one.column}_{STATE}" for one in release.by], rest)
    header = (*_columns(release, (*states, *rest)), *states, *rest)
    inside, nowhere = ["inside"] * len(release.by), [""] * len(axes)
    rows = [
        (*group, *inside, *line)
        for group, rel in zip(combinations(release.by), release.values(), strict=True)
        for line in tables.apart(rel, confidence).rows
    ]
    ways, one = release.apart(confidence), math.sqrt(release.none.unit_variance)
    rows += [
        (*("" for _ in way.states), *way.states, way.label, *nowhere, way.answer.value, one, plain, *_bars(way))
        for way, plain in zip(ways, release.none.unbiased.tolist(), strict=True)
    ]
    return Rows(header, rows)


def answered(release: GroupedRelease, asked: Sequence[Asked], confidence: float = 0.95) -> Answers:
    """The answer of each group, and of all groups together, to each of these ranges.

    >>> import dawa
    >>> table = {"sex": ["f", "m", "m"] * 2000, "age": [31, 45, 62] * 2000}
    >>> rel = dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="sex", groups=["f", "m"], seed=0)
    >>> list(answered(rel, [ranges.typed("40:", rel.axes)]))
    [('f',), ('m',), ()]
    """
    every = zip(combinations(release.by), release.values(), strict=True)
    found = {group: ranges.answered(rel, asked, confidence) for group, rel in every}
    return {**found, ALL: ranges.answered(release, asked, confidence)}


def answers(release: GroupedRelease, asked: Sequence[Asked], found: Answers) -> Rows:
    """Ranges with the answers of each group and of all of them together."""
    lines = {group: tables.answers(release, asked, each) for group, each in found.items()}
    rows = zip(*(list(table.rows) for table in lines.values()), strict=True)
    blank = [""] * len(release.by)
    header = next(iter(lines.values())).header
    return Rows(
        (*_columns(release, header), *header),
        [(*(group or blank), *line) for one in rows for group, line in zip(lines, one, strict=True)],
    )


def _columns(release: GroupedRelease, header: Sequence[str]) -> list[str]:
    """The grouping columns, beside others."""
    return beside([grouping.column for grouping in release.by], header)


def _bars(way: Apart) -> list[object]:
    return [getattr(way.answer, name) for name in BARS]


def _under_one_another(release: GroupedRelease, table: Callable[[Release], Rows]) -> Rows:
    """A table of every group, with the group before each line."""
    found = [table(rel) for rel in release.values()]
    every = zip(combinations(release.by), found, strict=True)
    return Rows(
        (*_columns(release, found[0].header), *found[0].header),
        ((*group, *row) for group, each in every for row in each.rows),
    )
