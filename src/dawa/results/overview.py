"""All records of a release at once: how many lie in its ranges, how many in none, and whether that looks wrong.

A wrong delimiter, a misspelt list of categories or bounds in another unit make a release that is sound and useless:
nearly every record is missing, not listed or outside. Everything here follows from published numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dawa.arrays import running
from dawa.axis import State
from dawa.axis.apart import patterns
from dawa.queries.bucket_queries import BucketQueries
from dawa.results.about import RECORDS, called
from dawa.results.answers import Answer, Steps, check_confidence, finished
from dawa.results.estimate import Estimate
from dawa.results.grouped import AnyRelease, GroupedRelease
from dawa.results.margins import margin_factor
from dawa.results.release import Apart, Release, apart_in_steps
from dawa.strategy.base import RESOLUTION

MUCH, MOST, NEARLY_ALL = 0.2, 0.5, 0.9
"""Parts of all records from which on a reader is warned, and how loudly."""

CHECKS: dict[State, str] = {
    "missing": "the column's format, and the delimiter of a text file",
    "unlisted": "how the listed values are spelt",
    "below": "the bounds and their unit",
    "above": "the bounds and their unit",
}
"""What to look at if many records have no cell, by where their values lie."""


@dataclass(frozen=True)
class Overview:
    """How many records there are, in ranges and in none.

    Attributes:
        inside: Records that have a cell on every axis.
        apart: All others together; None if they were left out or counted at the edges. It is not the sum of ``ways``:
            noise below 0 is cut off in each of these, and what is cut off would add up.
        records: What they are called.
        ways: The others for each way of having no cell, the most frequent first.
        what: What the others are not in: a range, or a group.
    """

    inside: Answer
    apart: Answer | None
    ways: tuple[Apart, ...]
    records: str = RECORDS
    what: str = "range"

    @property
    def share(self) -> float:
        """The part of all records that is in no range."""
        if self.apart is None or self.apart.value <= 0:
            return 0.0
        return self.apart.value / (self.apart.value + max(self.inside.value, 0))

    @cached_property
    def warning(self) -> str:
        """What to check if a large part of all records is in no range, and not by noise alone; otherwise empty."""
        if self.apart is None or self.apart.low <= 0:
            return ""
        chosen = self.what != "range" and "unlisted" in self.ways[0].states  # few groups of many may be meant
        if self.apart.low < (NEARLY_ALL if chosen else MUCH) * (self.apart.low + self.inside.high):
            return ""
        many = "Nearly all" if self.share >= NEARLY_ALL else "Most" if self.share >= MOST else "Many"
        largest = self.ways[0]
        checks = dict.fromkeys(CHECKS[state] for state in largest.states if state != "inside")
        return (
            f"{many} {self.records} are in no {self.what}, about {self.share:.0%} of all, above all those with"
            f" {largest.label}. Check {', and '.join(checks)}."
        )

    def said(self, most: int = 3) -> str:
        """The records that are in no range, in a line that names the most frequent ways; empty if there are none."""
        if self.apart is None:
            return ""
        if len(self.ways) == 1:
            return f"In no {self.what}: {short(self.apart)} {self.records}, with {self.ways[0].label}."
        listed = [f"{way.label}: {short(way.answer)}" for way in self.ways[:most]]
        rest = len(self.ways) - most
        listed += [f"{rest} other way{'s' * (rest != 1)}: fewer each"] if rest > 0 else []
        return f"In no {self.what}: {short(self.apart)} {self.records}. Of these, {'; '.join(listed)}."


def overview(release: Release, confidence: float = 0.95) -> Overview:
    """Look at all records of a release.

    >>> import dawa
    >>> table = {"grade": ["A", "B", "B"] * 200 + ["c"] * 900}
    >>> rel = dawa.release(table, dawa.Axis.ordered("grade", ["A", "B", "C"]), epsilon=1, seed=0)
    >>> overview(rel).warning.split(".")[0]
    'Most records are in no range, about 60% of all, above all those with grade not listed'
    """
    lows, highs = ([getattr(axis, end) for axis in release.axes] for end in ("start", "stop"))
    inside = release.answers([lows], [highs], confidence)[0]
    if release.others is None:
        return Overview(inside, None, (), called(release.about))
    ways = sorted(release.apart(confidence), key=lambda way: -way.answer.value)
    together = _together([release.others], confidence, release.privacy.kept)
    return Overview(inside, together, tuple(ways), called(release.about))


def all_in_steps(release: GroupedRelease, confidence: float = 0.95) -> Steps[Overview]:
    """Look at all records of a release of groups, group by group: those in no group, and those in no range, too.

    The latter are added up over the groups, and each group has an overview of its own.
    """
    lows, highs = ([getattr(axis, end) for axis in release.axes] for end in ("start", "stop"))
    inside = (yield from release.answers_in_steps([lows], [highs], confidence))[0]
    kept, others = release.privacy.kept, [one for one in release.others if one is not None]
    steps = apart_in_steps(release.axes, patterns(release.axes), others, confidence, kept) if others else None
    in_groups = [] if steps is None else (yield from steps)
    ways = sorted([*release.apart(confidence), *in_groups], key=lambda way: -way.answer.value)
    what = "range or no group" if in_groups else "group"
    together = _together([release.none, *others], confidence, kept)
    return Overview(inside, together, tuple(ways), called(release.about), what)


def overview_of(release: AnyRelease, confidence: float = 0.95) -> Overview:
    """Look at all records of a release, with groups or without."""
    return (
        finished(all_in_steps(release, confidence))
        if isinstance(release, GroupedRelease)
        else overview(release, confidence)
    )


def of_groups(release: GroupedRelease, confidence: float = 0.95) -> Overview:
    """Look at all records of a release of groups: how many are in a group and have a cell, and how many in no group.

    Records of a group that have no cell are in neither: each group has an overview of its own.
    """
    lows, highs = ([getattr(axis, end) for axis in release.axes] for end in ("start", "stop"))
    inside = release.answers([lows], [highs], confidence)[0]
    ways = sorted(release.apart(confidence), key=lambda way: -way.answer.value)
    together = _together([release.none], confidence, release.privacy.kept)
    return Overview(inside, together, tuple(ways), called(release.about), "group")


def short(answer: Answer) -> str:
    """A number of records with its margin."""
    return f"{answer.value:,.0f} ± {answer.noise_margin:,.0f}"


def _together(others: Sequence[Estimate], confidence: float, note: str) -> Answer:
    """The records of all ways, from the numbers before any was evened out; their noise is independent."""
    variance = 0.0
    for one in others:
        every = BucketQueries.of_runs(len(one.buckets), np.zeros(1), np.full(1, float(len(one.buckets))))
        variance += float(one.variances_of(every)[0])
    factor = margin_factor(check_confidence(confidence), RESOLUTION / float(others[0].epsilon))
    noise = factor * math.sqrt(variance) + sum(one.rounding for one in others)
    centre = float(sum(running(one.unbiased)[-1] for one in others))
    value, low, high = (max(number, 0.0) for number in (centre, centre - noise, centre + noise))
    return Answer(value, noise, 0.0, centre, low, high, float(confidence), note)
