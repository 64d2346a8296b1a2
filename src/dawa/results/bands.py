"""Bands: how many records lie below every bound of a release at once, with one confidence for all of them.

The noise of a release is not known, but its distribution is: independent discrete Laplace variables of a known scale,
through known rows. So is the distribution of T, the largest number of deviations by which noise moves any sum of
records before or after a bound. T is drawn anew N times, from public numbers alone. The true T is then one of N + 1
draws of one distribution, each equally likely to be the largest, the second largest and so on. So the true T exceeds
the r-th smallest of the N draws with chance at most 1 - r/(N + 1), exactly, however large N is. Buckets were chosen
before this noise was drawn, so that holds for whatever buckets there are. It is a chance over the draws too, so every
release has draws of its own: their seed is a hash of its numbers, which says as much about them as a fresh coin, and a
band is the same whenever it is asked for. With too many buckets for that, the chance is divided by twice their number.

Between two bounds the number of records can only grow, so a band needs no assumption about the inside of buckets.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray, IntArray, frozen, running
from dawa.limits import MOST_NOISE_DRAWN
from dawa.results.answers import check_confidence, factor_of, sure
from dawa.results.estimate import Estimate
from dawa.strategy.base import RESOLUTION

DRAWS, FEW_DRAWS = 999, 199
"""How often T is drawn, and how often if there are many buckets."""

AT_A_STEP = 50_000
"""About how many noisy numbers are drawn before others have a turn."""

_known: "WeakKeyDictionary[Estimate, FloatArray]" = WeakKeyDictionary()
"""What was drawn for an estimate, in order: the same for every confidence."""


@dataclass(frozen=True, eq=False)
class Band:
    """How many records lie below each bound, for all bounds at once.

    Attributes:
        bounds: The bounds of the buckets, in the attribute's own units.
        value: The best guess of the number of records below each.
        low: At least so many are below.
        high: At most so many are.
        share: ``value`` as a part of all records.
        share_low: At least this part is below.
        share_high: At most this part is.
        confidence: The probability, at least, that all these limits are right together.
        remark: What is counted at all, in words; empty if there is nothing to add.
    """

    bounds: NDArray[Any]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    share_low: FloatArray
    share_high: FloatArray
    confidence: float
    remark: str = ""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The numbers by name, for ``pandas.DataFrame`` and the like."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in {"confidence", "remark"}}

    @property
    def said(self) -> str:
        """What its limits promise, in a sentence.

        >>> import dawa
        >>> rel = dawa.release({"age": [31, 45, 45, 62]}, dawa.Axis("age", 0, 100), epsilon=1, seed=0)
        >>> rel.band().said
        'All these limits hold together with 95% confidence or more.'
        """
        return f"All these limits hold together with {sure(self.confidence)} confidence or more."

    def thinned(self, most: int) -> IntArray:
        """Which bounds to show if there is room for so many: evenly by number, the first and the last among them.

        What holds for all bounds together holds for some of them.
        """
        last = len(self) - 1
        return np.unique(np.linspace(0, last, min(most, last + 1)).round().astype(np.int64))

    def __len__(self) -> int:
        return len(self.bounds)

    def __repr__(self) -> str:
        return f"Band({len(self)} bounds, confidence={self.confidence})"


def band(estimate: Estimate, bounds: NDArray[Any], confidence: float, remark: str = "") -> Band:
    """The band of an estimate along one axis.

    Args:
        estimate: What was measured.
        bounds: The bounds of its buckets, in the attribute's own units.
        confidence: For all bounds at once.
        remark: What is counted at all, in words.
    """
    chance = check_confidence(confidence)
    k = len(estimate.buckets)
    deviations: FloatArray = np.sqrt((estimate.variances_before, estimate.variances_after))
    factor = largest(estimate, deviations, chance)
    value, before = running(estimate.totals), running(estimate.unbiased)
    after, moved = before[-1] - before, factor * deviations + estimate.rounding
    low, high = (np.maximum(before + sign * moved[0], 0) for sign in (-1, 1))
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    low[0], high[0] = 0.0, 0.0  # there is nothing below the axis
    rest_low, rest_high = (np.maximum(after + sign * moved[1], 0) for sign in (-1, 1))
    share_low, share_high = _part(low, rest_high, 0.0), _part(high, rest_low, 1.0)
    share = value / value[-1] if value[-1] > 0 else np.linspace(0, 1, k + 1)
    share_low, share_high = np.maximum.accumulate(share_low), np.minimum.accumulate(share_high[::-1])[::-1]
    share_low[[0, -1]] = share_high[[0, -1]] = (0.0, 1.0)
    return Band(
        bounds,
        frozen(value),
        frozen(np.minimum(low, value)),
        frozen(np.maximum(high, value)),
        frozen(share),
        frozen(np.minimum(share_low, share)),
        frozen(np.maximum(share_high, share)),
        float(confidence),
        remark,
    )


def largest(estimate: Estimate, deviations: FloatArray, chance: float) -> float:
    """Deviations that noise exceeds, before or after any bound, with at most this chance."""
    k, draws = len(estimate.buckets), draws_of(estimate)
    rank = math.ceil((draws + 1) * (1 - chance) - 1e-9)
    if rank > draws:
        return factor_of(estimate, chance / (2 * k))
    for _ in prepared(estimate, deviations):
        pass
    return float(_known[estimate][rank - 1])


def draws_of(estimate: Estimate) -> int:
    """How often T is drawn: not at all if there are too many buckets."""
    k = len(estimate.buckets)
    if k > MOST_NOISE_DRAWN // FEW_DRAWS:
        return 0
    return DRAWS if k <= MOST_NOISE_DRAWN // DRAWS else FEW_DRAWS


def prepared(estimate: Estimate, deviations: FloatArray | None = None) -> Iterator[None]:
    """Draw what bands of every confidence need, some at a step; nothing if it is known already."""
    draws = draws_of(estimate)
    if estimate in _known or not draws:
        return
    if deviations is None:
        deviations = np.sqrt((estimate.variances_before, estimate.variances_after))
    found, most = [], max(1, AT_A_STEP // len(estimate.buckets))
    for one in drawn(estimate, deviations, draws):
        found.append(one)
        if len(found) % most == 0:
            yield
    _known[estimate] = frozen(np.sort(found))


def drawn(estimate: Estimate, deviations: FloatArray, draws: int) -> Iterator[float]:
    """T, drawn anew: the largest of the deviations by which noise moves sums before and after bounds."""
    seed = hashlib.sha256(np.ascontiguousarray(estimate.unbiased).tobytes()).digest()
    strategy, rng = estimate.measured, np.random.default_rng(list(seed))
    rows = len(strategy.apply(np.zeros(strategy.buckets, np.int64)))
    ends = _success(estimate)
    scale = np.where(deviations > 0, deviations, np.inf)
    for _ in range(draws):
        noise = rng.geometric(ends, rows) - rng.geometric(ends, rows)
        before = np.concatenate(([0.0], np.cumsum(strategy.solve(noise.astype(np.float64)))))
        yield float((np.abs((before, before[-1] - before)) / scale).max())


def _success(estimate: Estimate) -> float:
    """The parameter r of the geometric variables whose difference is a measurement's noise.

    The difference has the variance v = 2(1-r)/r², so r² v + 2r - 2 = 0.
    """
    variance = estimate.unit_variance * RESOLUTION**2
    return 2 / (1 + math.sqrt(1 + 2 * variance))


def _part(one: FloatArray, other: FloatArray, unknown: float) -> FloatArray:
    """One number as a part of both together; a default where both are 0."""
    both = one + other
    parts: FloatArray = np.divide(one, both, out=np.full(len(one), unknown), where=both > 0)
    return parts
