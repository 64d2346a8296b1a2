"""More than counts: means, sums, shares, differences and ratios, from the same noisy numbers at no further cost.

Each is about one or two *sums* over records: how many lie in a range, or what their values add up to. A sum is known as
a centre, with noise of known variance and a bound on the bias that cut buckets bring (``answers``). A difference of two
sums is such a sum again. For a ratio x = A/B, A - xB is one, and 0 at the true x. So x is *plausible* if noise and bias
can explain what A - xB seems to be, and the interval holds all plausible x (Fieller's method). The margins need only
hold at the true x, which is fixed before any noise is drawn. The interval is right however few records B has; if B may
be none at all, it has no upper end.

The noise of two sums of one release is correlated; ``comparing`` says how, and what two ranges have in common. Where
the covariance is not computed, the deviation of A - xB is at most the sum of both.

A *mean* is the ratio of two sums: what values exceed the lowest value by, and how many they are. The value places
records inside buckets as all answers do (``insides``). For the interval values inside a bucket count as their middle.
That is off by at most half the bucket's width for each record, and by at most this half times the bucket's unevenness,
which the walk bounds for all cells at once. The smaller of the two sums over all buckets counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dawa.arrays import FloatArray, IntArray, running
from dawa.axis import Axis
from dawa.axis.numbers import EdgeAxis, NumberAxis
from dawa.budget import shown
from dawa.errors import OptionError, ReleaseError
from dawa.limits import MOST_CELLS_IN_FLOATS
from dawa.queries.bucket_queries import BucketQueries
from dawa.results.answers import check_confidence, factor_of, uncut
from dawa.results.answers import sure as percent
from dawa.results.estimate import ROUNDING, Estimate
from dawa.results.insides import Line


@dataclass(frozen=True)
class Statistic:
    """A number that follows from a release, with honest error bars.

    Attributes:
        name: What it is: ``"mean"``, ``"sum"``, ``"share"``, ``"difference"`` or ``"ratio"``.
        value: The best guess.
        noise_margin: How far noise may have moved it, about.
        bias_bound: How much more the truth may differ because buckets are cut, about.
        low: The lower end of an interval that holds the truth.
        high: The upper end; infinite if the second of two ranges may be empty.
        confidence: The probability, at least, that it holds the truth.
        remark: What was counted and how, in words; empty if there is nothing to add.
    """

    name: str
    value: float
    noise_margin: float
    bias_bound: float
    low: float
    high: float
    confidence: float
    remark: str = ""

    @property
    def texts(self) -> tuple[str, str, str]:
        """The value and both ends as people write them, with two digits of what is not known."""
        part = self.name == "share"
        numbers = [100 * number if part else number for number in (self.value, self.low, self.high)]
        spread = max((end for end in (numbers[2] - numbers[0], numbers[0] - numbers[1]) if end < math.inf), default=0)
        known = not spread > 1e-6 * max(abs(numbers[0]), 1e-300)  # as good as exactly: rounding is all that is left
        places = 0 if known else min(max(1 - math.floor(math.log10(spread)), 0), 12)
        form = ",.7g" if known and abs(numbers[0]) < 1e6 else f",.{places}f"
        endless = "no number" if math.isnan(self.value) else "no limit"
        written = [f"{number:{form}}" if math.isfinite(number) else endless for number in numbers]
        value, low, high = (text + "%" if part else text for text in written)
        return value, low, high

    def __str__(self) -> str:
        value, low, high = self.texts
        sure = f"between {low} and {high} with {percent(self.confidence)} confidence"
        return f"{self.name} {value} ({sure}){self.remark and '; '}{self.remark}"


Told = tuple[float, float, float, float, float]
"""Value, margin of the noise, bound on the bias, low and high."""


class Sum(NamedTuple):
    """A sum over records: what it seems to be, the deviation of its noise, and bounds on its bias and its rounding."""

    value: float
    centre: float
    deviation: float
    bias: float
    rounding: float = 0.0


class Shared(NamedTuple):
    """A bucket that one or both of two ranges cut.

    Attributes:
        reach: At most how far its records are from lying evenly.
        inside: The part of it that lies in the first range, and in the second.
        kinds: Whether a cell of it lies in the first range and in the second, for every kind of cell that it has.
    """

    reach: float
    inside: tuple[float, float]
    kinds: tuple[tuple[bool, bool], ...]

    def bias(self, x: float) -> float:
        """At most how far evenness is off in the first sum minus x times the second."""
        even = self.inside[0] - x * self.inside[1]
        return self.reach * max(abs(one - x * other - even) for one, other in self.kinds)


class Pair(NamedTuple):
    """Two sums, the covariance of their noise if it is known, and the deviations that noise exceeds too rarely.

    Attributes:
        first: The records in a range, or what values add up to.
        second: The same of another range.
        covariance: That of their noise; None if nobody knows.
        factor: Standard deviations that noise exceeds too rarely.
        shared: The buckets that are cut, if it is known how the two ranges cut each; else their biases add up.
        least: What the first sum is at least, as a part of the second: 1 if it holds all of the second.
        most: What it is at most.
    """

    first: Sum
    second: Sum
    covariance: float | None
    factor: float
    shared: tuple[Shared, ...] | None = None
    least: float = 0.0
    most: float = math.inf

    def noise(self, x: float) -> float:
        """The margin of the noise, and of rounding, in the first sum minus x times the second."""
        a, b = self.first.deviation, self.second.deviation
        rounding = self.first.rounding + abs(x) * self.second.rounding
        if self.covariance is None:
            return self.factor * (a + abs(x) * b) + rounding
        return self.factor * math.sqrt(max(a * a - 2 * x * self.covariance + x * x * b * b, 0)) + rounding

    def bias(self, x: float) -> float:
        """The bound on the bias of the first sum minus x times the second."""
        if self.shared is not None:
            return sum(bucket.bias(x) for bucket in self.shared)
        return self.first.bias + abs(x) * self.second.bias

    @property
    def bias_of_second(self) -> float:
        """By how much the bound on the bias grows with x, where x is large."""
        if self.shared is not None:
            return sum(one.reach * max(abs(other - one.inside[1]) for _, other in one.kinds) for one in self.shared)
        return self.second.bias


def ratio(pair: Pair, most: float = math.inf) -> Told:
    """The first sum as a part of the second.

    Both sums are at least 0, and the second is not 0.

    Raises:
        ReleaseError: If the second sum seems to be 0.
    """
    if pair.second.value <= 0:
        raise nothing()
    least, most = pair.least, min(most, pair.most)
    value = min(max(pair.first.value / pair.second.value, least), most)
    if least == most:
        return value, 0.0, 0.0, value, value
    low, high = max(lower(pair), least), upper(pair)
    noise, bias = pair.noise(value) / pair.second.value, pair.bias(value) / pair.second.value
    return value, noise, bias, min(low, value), max(min(high, most), value)


def nothing() -> ReleaseError:
    """The error about records that are compared with none."""
    return ReleaseError(
        "There seem to be no records to compare with, so there is no ratio.",
        "ask for counts instead; noise exceeds the counts here.",
    )


def upper(pair: Pair) -> float:
    """The largest plausible ratio. What must not exceed 0 is concave in x, and grows without end if it ever does."""
    a, b = pair.first.centre, pair.second.centre
    if b - pair.factor * pair.second.deviation - pair.second.rounding - pair.bias_of_second <= 0:
        return math.inf

    def excess(x: float) -> float:
        return x * b - a - pair.noise(x) - pair.bias(x)

    return 0.0 if excess(0) > 0 else _root(excess, rising=True)


def lower(pair: Pair) -> float:
    """The smallest plausible ratio. What must not exceed 0 is concave in x: if positive at 0, it falls through once."""
    a, b = pair.first.centre, pair.second.centre

    def excess(x: float) -> float:
        return a - x * b - pair.noise(x) - pair.bias(x)

    falls = b + pair.factor * pair.second.deviation + pair.second.rounding + pair.bias_of_second > 0
    return _root(excess, rising=False) if excess(0) > 0 and falls else 0.0


def _root(excess: Callable[[float], float], *, rising: bool) -> float:
    """Where a function changes its sign for good, rounded away from what is plausible."""
    low, high = 0.0, 1.0
    while (excess(high) <= 0) == rising and high < 1e300:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (excess(middle) <= 0) == rising else (low, middle)
    return high if rising else low


def difference(pair: Pair, x: float = 1.0) -> Told:
    """The first sum minus x times the second."""
    value, centre = pair.first.value - x * pair.second.value, pair.first.centre - x * pair.second.centre
    noise, bias = pair.noise(x), pair.bias(x)
    return value, noise, bias, min(centre - noise - bias, value), max(centre + noise + bias, value)


def clipped(told: Told, least: float, most: float) -> Told:
    """The same about a number that is known to lie between these two."""
    value, noise, bias, low, high = told
    value, low, high = (min(max(number, least), most) for number in (value, low, high))
    return value, noise, bias, low, high


def covariance(estimate: Estimate, first: FloatArray, second: FloatArray) -> float:
    """The covariance of the noise of two weighted sums of buckets, from the variances of these and of their sum."""
    one, other, both = estimate.variances_of(weighted(first, second, first + second))
    return float(both - one - other) / 2


def weighted(*weights: FloatArray) -> BucketQueries:
    """Queries with a weight for every bucket; neighbours of one weight are one run."""
    m, k = len(weights), len(weights[0])
    runs = [np.flatnonzero(np.diff(each, prepend=np.nan) != 0) for each in weights]
    lo = np.concatenate(runs).astype(np.float64)
    hi = np.concatenate([np.append(each[1:], k) for each in runs]).astype(np.float64)
    first = np.concatenate(([0], np.cumsum([len(each) for each in runs])))
    weight = np.concatenate([each[run] for each, run in zip(weights, runs, strict=True)])
    return BucketQueries(k, first, lo, hi, weight, np.ones(m), float(m))


class Values(NamedTuple):
    """The values of a bucket's records, bucket by bucket.

    Attributes:
        middle: The mean of the values of its cells.
        cell: The middle of every cell, or how much it grows from each cell to the next.
        reach: At most how far a value is from that.
        inside: At most how far a value is from the middle of its cell.
        lowest: The lowest value of the axis.
        highest: The highest.
        remark: How values were read, in words.
    """

    middle: FloatArray
    cell: FloatArray | float
    reach: FloatArray
    inside: FloatArray
    lowest: Fraction
    highest: Fraction
    remark: str

    @classmethod
    def of(cls, axis: Axis, bounds: IntArray) -> "Values":
        """The values along an axis of numbers.

        Raises:
            OptionError: If its values are no numbers.
        """
        if isinstance(axis, NumberAxis):
            return cls._steps(axis, bounds)
        if isinstance(axis, EdgeAxis):
            return cls._edges(axis, bounds)
        what = {"dates": "times", "addresses": "addresses"}.get(axis.kind, "categories")
        raise OptionError(
            f"{axis.column!r} has {what}, which do not add up.", "ask for a quantile, such as the median."
        )

    @classmethod
    def _steps(cls, axis: NumberAxis, bounds: IntArray) -> "Values":
        first, width, unit = axis.whole_numbers
        ends, widths = bounds.astype(np.float64) * width, np.diff(bounds).astype(np.float64) * width
        middle, reach = (ends[:-1] + ends[1:] - 1) / 2, (widths - 1) / 2
        reach += np.where(
            ends[1:] >= MOST_CELLS_IN_FLOATS, np.spacing(ends[1:]), 0
        )  # what rounding moved the middle by
        inside = np.full(len(middle), (width - 1) / 2)
        kind = "a whole number" if unit == 1 else f"a multiple of {shown(Fraction(1, unit))}"
        lowest, highest = Fraction(first, unit), Fraction(first + width * axis.size - 1, unit)
        remark = f"values rounded down to {kind}"
        return cls(middle / unit, width / unit, reach / unit, inside / unit, lowest, highest, remark)

    @classmethod
    def _edges(cls, axis: EdgeAxis, at: IntArray) -> "Values":
        cuts = np.array([float(cut - axis.start) for cut in axis.cuts])
        middles, halves = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts) / 2
        middle = np.array([math.fsum(middles[lo:hi]) / (hi - lo) for lo, hi in pairwise(at.tolist())])
        reach = np.maximum(cuts[at[1:]] - middle, middle - cuts[at[:-1]])
        return cls(middle, middles, reach, np.maximum.reduceat(halves, at[:-1]), axis.start, axis.stop, "")

    def added_up(self, estimate: Estimate) -> float:
        """The values of all records together, each as the middle of the cell where the release places it."""
        if not isinstance(estimate.placed, Line):
            return _added(self.middle, estimate.totals)
        if isinstance(self.cell, np.ndarray):
            return float(self.cell @ estimate.placed.cells)
        return _added(self.middle, estimate.totals) + float(self.cell * estimate.placed.moved().sum())


def mean_and_sum(estimate: Estimate, values: Values, confidence: float) -> tuple[Told, Told]:
    """The mean and the sum of all values."""
    start, reach = float(values.lowest), float(values.highest - values.lowest)
    pair = _of_values(estimate, values, confidence)
    total = clipped(difference(pair, -start), 0.0 if start >= 0 else -math.inf, math.inf if start + reach > 0 else 0.0)
    if pair.second.value <= 0:
        return (math.nan,) * 5, total
    value, noise, bias, low, high = ratio(pair, reach)
    return (value + start, noise, bias, low + start, high + start), total


def _of_values(estimate: Estimate, values: Values, confidence: float) -> Pair:
    """What all values exceed the lowest one by, together, and how many they are."""
    chance = check_confidence(confidence)
    biased = bool((values.reach > 0).any())
    weights, k = values.middle, len(estimate.buckets)
    alike = max(float(weights.max()), 1.0)  # with weights of one size, no digits of the covariance are lost
    above, both = (max(float(one), 0) for one in estimate.variances_of(weighted(weights, weights + alike)))
    every = max(float(estimate.range_variances(np.zeros(1), np.full(1, float(k)))[0]), 0)
    factor = factor_of(estimate, chance / 2 if biased else uncut(estimate, chance))
    bias = _bias(estimate, values, chance / 2) if biased else 0.0
    rounding = _rounding(estimate, weights) + float(abs(values.lowest)) * estimate.rounding
    first = Sum(values.added_up(estimate), _added(weights, estimate.unbiased), math.sqrt(above), bias, rounding)
    value, centre = (float(running(each)[-1]) for each in (estimate.totals, estimate.unbiased))
    second = Sum(value, centre, math.sqrt(every), 0.0, estimate.rounding)
    return Pair(first, second, (both - above - alike**2 * every) / (2 * alike), factor)


def _added(weights: FloatArray, numbers: FloatArray) -> float:
    """A weighted sum, with the rounding of its products alone."""
    return float(running(weights * numbers)[-1])


def _rounding(estimate: Estimate, weights: FloatArray) -> float:
    """How far floats may have moved a weighted sum of unbiased numbers (``rounding.md``)."""
    return ROUNDING * _added(weights, np.abs(estimate.unbiased) + 1)


def _bias(estimate: Estimate, values: Values, chance: float) -> float:
    """How far values can be from the middles of their buckets, together, with at most this chance of being wrong."""
    stops = estimate.buckets.by_cells
    walked = np.full(len(values.reach), np.inf)
    if stops is not None:
        walked = stops.uneven(chance / 2 / estimate.size)  # at every cell at once
    wide = values.reach > values.inside
    even = float((values.reach[wide] * walked[wide]).sum())
    if not math.isfinite(even):
        return _most(estimate, values.reach, chance)
    return min(_most(estimate, part, chance / 4) + more for part, more in ((values.reach, 0.0), (values.inside, even)))


def _most(estimate: Estimate, weights: FloatArray, chance: float) -> float:
    """The most that a weighted sum of records can be, with at most this chance of being wrong."""
    if not weights.any():
        return 0.0
    deviation = math.sqrt(max(float(estimate.variances_of(weighted(weights))[0]), 0))
    most = _added(weights, estimate.unbiased) + _rounding(estimate, weights)
    return max(most + factor_of(estimate, chance) * deviation, 0)
