"""Quantiles: values that the attribute can have, with intervals that hold the true ones.

Let N be the number of records with a cell and C(b) the number of those before border b. The quantile of a fraction q is
the cell x with C(x) < qN ≤ C(x + 1); of the fraction 0, the first cell with a record. So with D(b) = C(b) - qN, which
grows with b, D(x) ≤ 0 ≤ D(x + 1). D is a weighted sum of records like any answer: the release knows it with noise of
known variance and, where b cuts a bucket, with a bound on the bias. A cell is *plausible* if D may be at most 0 at its
lower border and at least 0 at its upper one, each as far as noise and bias allow. The true cell is plausible unless the
margins fail at its own two borders. These are fixed before any noise is drawn, so no chance is spent on other cells,
however many there are. The interval reaches from the first plausible cell to the last.

The chance of being wrong is divided as for a count (``answers``). In a bucket of one cell nothing is cut, and noise has
all of it but the walk's part: half of it below and half above, since the noise is symmetric. In a wider bucket noise
has half of it, and each of the two bounds on the bias a quarter; both borders cut the same bucket, so these are asked
once.

The interval is about the truth, wherever the release places records inside buckets: it is widened to hold the value.

Inside a bucket D is measured along a straight line, its deviation is the length of a vector that moves along one, and
the bias bound is the larger of two lines. So "as far as noise and bias allow" is convex along a bucket: largest at one
of the ends, and crossing 0 at most once if it is negative where it starts. A bisection finds the place; in buckets of
more than 2^50 cells, which floats do not tell apart, the interval is wider by one part in 2^50 of the bucket.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dawa import check, infer
from dawa.arrays import FloatArray, IntArray, running
from dawa.errors import OptionError, ReleaseError
from dawa.numerals import told
from dawa.results.answers import bias_of_buckets, check_confidence, factor_of, uncut
from dawa.results.answers import sure as percent
from dawa.results.estimate import Estimate
from dawa.results.insides import Grid, Line


@dataclass(frozen=True)
class Quantile:
    """The value up to which a fraction of the records lies.

    Attributes:
        fraction: The fraction.
        value: The best guess, a value that the attribute can have.
        low: The lowest value of an interval that holds the true quantile.
        high: The highest value of this interval; it is inside.
        confidence: The probability, at least, that the interval holds it.
        remark: What was counted at all, in words; empty if there is nothing to add.
    """

    fraction: float
    value: Any
    low: Any
    high: Any
    confidence: float
    remark: str = ""

    def __str__(self) -> str:
        sure = f"between {self.low} and {self.high} with {percent(self.confidence)} confidence"
        return f"{self.value} ({sure}){self.remark and '; '}{self.remark}"


LAST = 1 - 2.0**-53
"""The largest part of a bucket that is not all of it: of a bucket with more than 2^53 cells, the last ones are here."""


class Held(NamedTuple):
    """Where a quantile lies: its cell and the part of it that is needed, and the plausible cells around it."""

    cell: int
    part: Fraction
    first: int
    last: int


def check_fraction(fraction: object) -> float:
    """A number from 0 to 1, or an error."""
    if not check.is_number(fraction) or not 0 <= float(fraction) <= 1:
        raise OptionError(f"{told(fraction)} is not a fraction.", "pass a number from 0 to 1, such as 0.5.")
    return float(fraction)


def records_before(estimate: Estimate) -> FloatArray:
    """Non-decreasing sums of records at the bucket bounds.

    Raises:
        ReleaseError: If there are no records.
    """
    before = running(infer.nonnegative(estimate.totals))
    if before[-1] <= 0:
        raise no_records()
    return before


def no_records() -> ReleaseError:
    """The error for a release in which noise exceeds the counts."""
    return ReleaseError(
        "The release holds no records, so it has no distribution.",
        "ask for counts instead; noise exceeds the counts here.",
    )


def held(estimate: Estimate, fractions: Sequence[float], confidence: float) -> list[Held]:
    """Where quantiles lie along one axis.

    Args:
        estimate: What was measured, on one axis.
        fractions: Numbers from 0 to 1.
        confidence: Of each interval on its own.

    Raises:
        ReleaseError: If there are no records.
    """
    chance = check_confidence(confidence)
    before = records_before(estimate)
    line = _Line.of(estimate, chance)
    found = []
    for fraction in fractions:
        cell, part = holding(fraction, before, estimate.buckets.bounds, estimate.placed)
        first, last = line.plausible(fraction)
        found.append(Held(cell, part, min(first, cell), max(last, cell)))
    return found


def holding(
    fraction: float, before: FloatArray, bounds: IntArray, placed: Line | Grid | None = None
) -> tuple[int, Fraction]:
    """The first cell up to whose end at least this fraction of all records lies, and which part of it is needed.

    The result is exact from the running sums on, so a page that computes with the same sums finds the same cell.
    """
    occupied = np.flatnonzero(np.diff(before) > 0)
    wanted = fraction * float(before[-1])
    bucket = int(occupied[np.searchsorted(before[occupied + 1], wanted)])
    if isinstance(placed, Line):
        return placed.holding(bucket, wanted)
    below, upto = (Fraction(float(records)) for records in before[bucket : bucket + 2])
    first, beyond = (int(bound) for bound in bounds[bucket : bucket + 2])
    cells = (Fraction(wanted) - below) / (upto - below) * (beyond - first)
    whole = max(math.ceil(cells) - 1, 0)  # a quantile at the end of a cell belongs to this cell
    return first + whole, cells - whole


def drawn(before: FloatArray, records: FloatArray) -> tuple[IntArray, FloatArray]:
    """Where so many records lie before: the buckets that hold records, and the parts of them that are needed."""
    occupied = np.flatnonzero(np.diff(before) > 0)
    bucket = occupied[np.minimum(np.searchsorted(before[occupied + 1], records), len(occupied) - 1)]
    below, upto = before[bucket], before[bucket + 1]
    return bucket, np.clip((records - below) / (upto - below), 0, 1)


@dataclass(frozen=True, eq=False)
class _Line:
    """What is known about the records before and after every bound, whatever the fraction.

    Attributes:
        bounds: Where buckets begin and end, in cells.
        below: Unbiased records before each bound.
        prefix: The variance of their noise.
        suffix: The variance of the noise of those after.
        alone: The variance of the noise of each bucket's total.
        factor: Deviations that noise exceeds with its share of the chance, by bucket.
        uneven: At most how far a bucket's records are from lying evenly; 0 for a bucket of one cell.
        rounding: How far floats may have moved the records before or after a bound.
    """

    bounds: IntArray
    below: FloatArray
    prefix: FloatArray
    suffix: FloatArray
    alone: FloatArray
    factor: FloatArray
    uneven: FloatArray
    rounding: float

    @classmethod
    def of(cls, estimate: Estimate, chance: float) -> "_Line":
        """All of it, for intervals with this chance of being wrong."""
        bounds, alone = estimate.buckets.bounds, estimate.variances_alone
        wide, uneven = np.diff(bounds) > 1, np.zeros(len(alone))
        uneven[wide] = bias_of_buckets(estimate, np.flatnonzero(wide), alone[wide], chance / 2)
        factor = np.where(wide, factor_of(estimate, chance / 2), factor_of(estimate, uncut(estimate, chance)))
        around = estimate.variances_before, estimate.variances_after
        return cls(bounds, running(estimate.unbiased), *around, alone, factor, uneven, estimate.rounding)

    @cached_property
    def mirrored(self) -> "_Line":
        """The same line from its other end: D from there is minus D from here."""
        around = (self.suffix[::-1], self.prefix[::-1], self.alone[::-1])
        bounds, below = self.bounds[-1] - self.bounds[::-1], self.below[-1] - self.below[::-1]
        return _Line(bounds, below, *around, self.factor[::-1], self.uneven[::-1], self.rounding)

    def plausible(self, fraction: float) -> tuple[int, int]:
        """The first and the last cell that may be the quantile's."""
        last = self.mirrored.first(1 - fraction)
        return self.first(fraction), int(self.bounds[-1]) - 1 - last

    def first(self, fraction: float) -> int:
        """The first cell at whose upper border D may be at least 0."""
        window = self._window(fraction)
        bounds, (centre, variance) = self.bounds[window.start : window.stop + 1], self._at_bounds(fraction, window)
        width = np.diff(bounds)
        inner = (
            1 / width,
            np.minimum(1 - 1 / width, LAST),
        )  # the first and the last border inside a bucket that has one
        ends = centre, variance, window
        most = np.stack([self._most(*ends, part) for part in (*inner, np.ones(len(width)))])
        most[:2, width == 1] = -np.inf
        if window.stop == len(self.alone):
            most[2, -1] = np.inf  # all records are at least a part of them
        bucket = int(np.argmax((most >= 0).any(axis=0)))
        start, cells = int(bounds[bucket]), int(width[bucket])
        if most[0, bucket] >= 0:
            return start
        if most[1, bucket] < 0:
            return start + cells - 1
        here = centre[bucket : bucket + 2], variance[bucket : bucket + 2]
        one = slice(window.start + bucket, window.start + bucket + 1)
        near = _crossing(cells, lambda cell: float(self._most(*here, one, np.array([min(cell / cells, LAST)]))[0]))
        return start - 1 + max(near - (cells >> 50), 1)

    def _window(self, fraction: float) -> slice:
        """Buckets among which the first is: none before may reach 0 at all, and the last surely does."""
        wanted, last = fraction * self.below[-1], len(self.alone) - 1
        least = wanted - self._furthest
        begin = 0 if least <= 0 else min(int(np.searchsorted(self._highest, least)), last)
        return slice(begin, min(int(np.searchsorted(self._highest, wanted)), last) + 1)

    @cached_property
    def _highest(self) -> FloatArray:
        """The most records before the end of any bucket up to each."""
        highest: FloatArray = np.maximum.accumulate(self.below[1:])
        return highest

    @cached_property
    def _furthest(self) -> float:
        """More than noise and bias allow anywhere, whatever the fraction."""
        variance = max(self.prefix.max(), self.suffix.max())
        return float(self.factor.max() * math.sqrt(variance) + self.uneven.max() + self.rounding) * (1 + 1e-9)

    def _at_bounds(self, fraction: float, window: slice) -> tuple[FloatArray, FloatArray]:
        """D at the bounds of some buckets, as it is estimated, and the variance of its noise.

        It is 1-q of the records before, minus q of those after; their covariance follows from the variance of all.
        """
        q, here = fraction, slice(window.start, window.stop + 1)
        variance = (1 - q) * self.prefix[here] + q * self.suffix[here] - q * (1 - q) * self.prefix[-1]
        return self.below[here] - q * self.below[-1], np.maximum(variance, 0)

    def _most(self, centre: FloatArray, variance: FloatArray, buckets: slice, part: FloatArray) -> FloatArray:
        """The most that D may be this part of the way through some buckets, as far as noise and bias allow."""
        along = (1 - part) * variance[:-1] + part * variance[1:] - part * (1 - part) * self.alone[buckets]
        value = (1 - part) * centre[:-1] + part * centre[1:]
        bias = np.where(part < 1, np.maximum(part, 1 - part), 0) * self.uneven[buckets]
        most: FloatArray = value + self.factor[buckets] * np.sqrt(np.maximum(along, 0)) + bias + self.rounding
        return most


def _crossing(cells: int, most: Callable[[int], float]) -> int:
    """The first border inside a bucket where ``most`` is at least 0: it is negative at 1, and not at the last."""
    low, high = 1, cells - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if most(middle) >= 0 else (middle, high)
    return high
