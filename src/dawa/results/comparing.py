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
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dawa.arrays import BoolArray, FloatArray
from dawa.queries.bucket_queries import BucketQueries
from dawa.results import statistics
from dawa.results.answers import Cuts, bias_of, check_confidence, cut_buckets, factor_of, uncut
from dawa.results.estimate import Estimate
from dawa.results.statistics import Pair, Shared, Sum, Told
from dawa.strategy.product import ProductStrategy

Span = tuple[Fraction, Fraction]


class Ranged(NamedTuple):
    """The records in one range of a release.

    Attributes:
        estimate: What was measured.
        queries: The range, in bucket coordinates.
        border: At most how many cells lie along its border.
        on_cells: Whether it covers whole cells only.
        spans: Its two borders on every axis, in cells.
    """

    estimate: Estimate
    queries: BucketQueries
    border: FloatArray
    on_cells: BoolArray
    spans: tuple[Span, ...]

    @property
    def inner(self) -> bool:
        """Whether it ends inside the domain, so that it may cut buckets."""
        return any(lo > 0 or hi < side for (lo, hi), side in zip(self.spans, self.estimate.shape, strict=True))

    def holds(self, other: "Ranged") -> bool:
        """Whether every record of another range of the same release lies in it."""
        return self.estimate is other.estimate and all(
            lo <= low and high <= hi for (lo, hi), (low, high) in zip(self.spans, other.spans, strict=True)
        )


def pair(first: Ranged, second: Ranged, confidence: float, *, apart: bool) -> Pair:
    """The records in two ranges.

    Args:
        first: A range.
        second: Another, of the same release or of another one.
        confidence: The confidence of what is made of them.
        apart: Whether the noise of the two releases was drawn apart.
    """
    chance, both = check_confidence(confidence), (first, second)
    cuts = [cut_buckets(one.queries) for one in both]
    may_cut = sum(one.inner for one in both)  # known before any data, so no chance is spent twice
    each = chance / 2 / max(may_cut, 1)
    sums = [_records(one, cut, each) for one, cut in zip(both, cuts, strict=True)]
    cut = any(len(one.query) for one in cuts)
    parts = [chance / 2 if cut else uncut(one.estimate, chance) for one in both]
    factor = max(factor_of(one.estimate, min(parts)) for one in both)
    on_line = first.estimate is second.estimate and len(first.estimate.shape) == 1
    shared = _shared(both, cuts, each) if on_line else None
    least = 1.0 if first.holds(second) else 0.0
    most = 1.0 if second.holds(first) else math.inf
    return Pair(sums[0], sums[1], _covariance(first, second, apart=apart), factor, shared, least, most)


def difference(found: Pair) -> Told:
    """The first sum minus the second."""
    if found.least == found.most:
        return (0.0,) * 5
    least, most = (0.0 if found.least else -math.inf), (0.0 if math.isfinite(found.most) else math.inf)
    return statistics.clipped(statistics.difference(found), least, most)


def _records(one: Ranged, cuts: Cuts, chance: float) -> Sum:
    """The records in a range; the bound on its bias has at most this chance of being wrong."""
    bias = bias_of(one.estimate, cuts, np.bincount(cuts.query, minlength=1), one.border, one.on_cells, chance)
    value, centre = (float(one.estimate.totals_of(one.queries, unbiased=plain)[0]) for plain in (False, True))
    deviation = math.sqrt(max(float(one.estimate.variances_of(one.queries)[0]), 0))
    return Sum(value, centre, deviation, float(bias[0]))


def _shared(both: tuple[Ranged, Ranged], cuts: list[Cuts], chance: float) -> tuple[Shared, ...]:
    """The buckets that two ranges of a line cut; each range has this chance of being wrong about its own."""
    reach: dict[int, float] = {}
    for one, cut in zip(both, cuts, strict=True):
        n = len(cut.bucket)
        alone = Cuts(np.arange(n), cut.bucket, np.ones(n))  # as if all of the bucket were at stake
        border, whole = np.repeat(one.border, n), np.repeat(one.on_cells, n)
        found = bias_of(one.estimate, alone, np.ones(n, np.int64), border, whole, chance)
        for bucket, most in zip(cut.bucket.tolist(), found.tolist(), strict=True):
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


def _covariance(first: Ranged, second: Ranged, *, apart: bool) -> float | None:
    if first.estimate is not second.estimate:
        return 0.0 if apart else None
    if isinstance(first.estimate.strategy, ProductStrategy):
        return None  # it has as many rows as cells, or more
    return statistics.covariance(first.estimate, weights(first.queries), weights(second.queries))


def weights(query: BucketQueries) -> FloatArray:
    """How much of each bucket one query takes: from where each run begins and ends, in one pass."""
    k = query.buckets
    at, sign = np.concatenate((query.lo, query.hi)), np.concatenate((query.weight, -query.weight))
    bucket = np.floor(at).astype(np.int64)
    here, step = (np.bincount(bucket, each, minlength=k + 1)[:k] for each in (sign * (bucket + 1 - at), sign))
    after = np.concatenate((np.zeros(1), np.cumsum(step)[:-1]))
    found: FloatArray = np.asarray(here + after, np.float64)
    return found
