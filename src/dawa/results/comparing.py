"""Two ranges: the records in each, and what is known about both together (``statistics`` makes differences and ratios).

*Noise.* Two ranges of one release share measurements, so their noise is correlated: the covariance follows from the
variances of both and of their sum. Two releases drew their noise apart, if both are private and have names of their
own.

*Bias.* In A - xB a cell has the weight w: 1 in the first range alone, -x in the second alone, 1 - x in both, 0 in
neither. A release takes the mean w' of these weights for every record of a cut bucket, so it is off by the sum of
(w - w')·x_j over the bucket's cells j. That is at most max|w - w'| times the bucket's records; and because the w - w'
add up to 0, the x_j may be taken less their median, so it is at most max|w - w'| times the bucket's unevenness, too.
Where both ranges cut a bucket, what they have in common cancels. Where a bucket is cut by one of them, this is the
bound of a count (``answers``); where x is 1 and the ranges are the same, it is 0. It is convex in x, as ``statistics``
needs it. Along one axis the kinds of cells in each bucket are known; on maps the biases of both ranges add up.

*Order.* If one range holds the other, so do its records: the ratio is at most 1 or at least 1, and a range compared
with itself has the difference 0 and the ratio 1, whatever the noise.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dawa.arrays import FloatArray
from dawa.queries.bucket_queries import BucketQueries
from dawa.results import statistics
from dawa.results.answers import (
    Cuts,
    Ranged,
    bias_of,
    check_confidence,
    cut_buckets,
    deviations,
    factor_of,
    rounding,
    uncut,
)
from dawa.results.ends import Span
from dawa.results.estimate import Estimate
from dawa.results.statistics import Pair, Shared, Sum, Told
from dawa.strategy.product import ProductStrategy


class Compared(NamedTuple):
    """A range that is compared with another one.

    Attributes:
        ranged: The records in it.
        spans: Its two borders on every axis, in cells.
    """

    ranged: Ranged
    spans: tuple[Span, ...]

    @property
    def estimate(self) -> Estimate:
        """What was measured."""
        return self.ranged.estimate

    @property
    def inner(self) -> bool:
        """Whether it ends inside the domain, so that it may cut buckets."""
        return any(lo > 0 or hi < side for (lo, hi), side in zip(self.spans, self.estimate.shape, strict=True))

    def holds(self, other: "Compared") -> bool:
        """Whether every record of another range of the same release lies in it."""
        return self.estimate is other.estimate and all(
            lo <= low and high <= hi for (lo, hi), (low, high) in zip(self.spans, other.spans, strict=True)
        )


def pair(first: Compared, second: Compared, confidence: float, *, apart: bool) -> Pair:
    """The records in two ranges.

    Args:
        first: A range.
        second: Another, of the same release or of another one.
        confidence: The confidence of what is made of them.
        apart: Whether the noise of the two releases was drawn apart.
    """
    each = _chance_of_each(first.inner + second.inner, confidence)
    found = _of_sums([first.ranged], [second.ranged], confidence, each)
    on_line = first.estimate is second.estimate and len(first.estimate.shape) == 1
    return found._replace(
        covariance=_covariance(first, second, apart=apart),
        shared=_shared((first.ranged, second.ranged), each) if on_line else None,
        least=1.0 if first.holds(second) else 0.0,
        most=1.0 if second.holds(first) else math.inf,
    )


def part(first: Compared, rest: Sequence[Compared], confidence: float) -> Told:
    """The records in a range of one estimate, as a part of those in ranges of several estimates of different records.

    Args:
        first: The range whose records are the part.
        rest: The same range of the other estimates.
        confidence: The confidence of the part.

    With A records in the one and R in the others, the part is A/(A + R) = r/(1 + r), r = A/R, which grows with r: the
    interval holds what the plausible r give. The noise of A and R is independent.

    Raises:
        ReleaseError: If there seem to be no records at all.
    """
    if not rest:
        return 1.0, 0.0, 0.0, 1.0, 1.0
    each = _chance_of_each(2 * first.inner, confidence)
    found = _of_sums([first.ranged], [one.ranged for one in rest], confidence, each)._replace(covariance=0.0)
    every = found.first.value + found.second.value
    if every <= 0:
        raise statistics.nothing()
    value = min(max(found.first.value / every, 0.0), 1.0)
    low, high = (
        odds / (1 + odds) if odds < math.inf else 1.0 for odds in (statistics.lower(found), statistics.upper(found))
    )
    noise = found.factor * math.hypot((1 - value) * found.first.deviation, value * found.second.deviation)
    noise += (1 - value) * found.first.rounding + value * found.second.rounding
    bias = (1 - value) * found.first.bias + value * found.second.bias
    return value, noise / every, bias / every, min(low, value), max(high, value)


def _of_sums(first: Sequence[Ranged], second: Sequence[Ranged], confidence: float, each: float) -> Pair:
    """The records in two ranges, each in one estimate or in several of different records.

    The bias of each range has the chance ``each`` of being wrong.
    """
    chance, both = check_confidence(confidence), (first, second)
    cuts = [[cut_buckets(one.queries) for one in ranged] for ranged in both]
    sums = [_records(*one, each) for one in zip(both, cuts, strict=True)]
    cut = any(len(one.query) for listed in cuts for one in listed)
    every = [one.estimate for ranged in both for one in ranged]
    parts = [chance / 2 if cut else uncut(estimate, chance) for estimate in every]
    factor = max(factor_of(estimate, min(parts)) for estimate in every)
    return Pair(sums[0], sums[1], None, factor)


def _chance_of_each(may_cut: int, confidence: float) -> float:
    """What the bias of each of two ranges may fail with, if so many of them may cut a bucket: known before any data."""
    return check_confidence(confidence) / 2 / max(may_cut, 1)


def difference(found: Pair) -> Told:
    """The first sum minus the second."""
    if found.least == found.most:
        return (0.0,) * 5
    least, most = (0.0 if found.least else -math.inf), (0.0 if math.isfinite(found.most) else math.inf)
    return statistics.clipped(statistics.difference(found), least, most)


def _records(ranged: Sequence[Ranged], cuts: Sequence[Cuts], chance: float) -> Sum:
    """The records in a range; the bound on its bias has at most this chance of being wrong."""
    bias = float(bias_of(ranged, cuts, chance)[0])
    value, centre = (
        float(sum(one.estimate.totals_of(one.queries, unbiased=plain)[0] for one in ranged)) for plain in (False, True)
    )
    return Sum(value, centre, float(deviations(ranged)[0]), bias, float(rounding(ranged, cuts)[0]))


def _shared(both: tuple[Ranged, Ranged], chance: float) -> tuple[Shared, ...]:
    """The buckets that two ranges of a line cut; each range has its part of the chance of being wrong about its own."""
    reach: dict[int, float] = {}
    for one in both:
        cut = cut_buckets(one.queries).bucket
        if not len(cut):
            continue
        n, low = len(cut), cut.astype(np.float64)
        alone = Cuts(np.arange(n), cut, np.ones(n))  # as if all of the bucket were at stake
        queries = BucketQueries.of_runs(one.queries.buckets, low, low + 1)
        asked = Ranged(one.estimate, queries, np.repeat(one.border, n), np.repeat(one.on_cells, n))
        for bucket, most in zip(cut.tolist(), bias_of([asked], [alone], chance).tolist(), strict=True):
            reach[bucket] = min(most, reach.get(bucket, math.inf))
    ends = [(float(one.queries.lo[0]), float(one.queries.hi[0])) for one in both]
    return tuple(_cut(bucket, most, ends) for bucket, most in sorted(reach.items()))


def _cut(bucket: int, reach: float, ends: list[tuple[float, float]]) -> Shared:
    """How two ranges cut a bucket."""
    held = [[min(max(end - bucket, 0.0), 1.0) for end in pair] for pair in ends]
    places = sorted({0.0, 1.0, *held[0], *held[1]})
    middles = [(low + high) / 2 for low, high in pairwise(places)]
    kinds = {(held[0][0] < at < held[0][1], held[1][0] < at < held[1][1]) for at in middles}
    inside = (held[0][1] - held[0][0], held[1][1] - held[1][0])
    return Shared(reach, inside, tuple(sorted(kinds)))


def _covariance(first: Compared, second: Compared, *, apart: bool) -> float | None:
    if first.estimate is not second.estimate:
        return 0.0 if apart else None
    if isinstance(first.estimate.strategy, ProductStrategy):
        return None  # it has as many rows as cells, or more
    return statistics.covariance(first.estimate, weights(first.ranged.queries), weights(second.ranged.queries))


def weights(query: BucketQueries) -> FloatArray:
    """How much of each bucket one query takes: from where each run begins and ends, in one pass."""
    k = query.buckets
    at, sign = np.concatenate((query.lo, query.hi)), np.concatenate((query.weight, -query.weight))
    bucket = np.floor(at).astype(np.int64)
    here, step = (np.bincount(bucket, each, minlength=k + 1)[:k] for each in (sign * (bucket + 1 - at), sign))
    after = np.concatenate((np.zeros(1), np.cumsum(step)[:-1]))
    found: FloatArray = np.asarray(here + after, np.float64)
    return found
