"""What releases are asked, and whether their intervals hold the truth: in exact numbers, with no tolerance."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from dawa import Release
from dawa.arrays import BoolArray, IntArray
from dawa.errors import ReleaseError
from dawa.results.answers import Ranged, figures_in_steps, finished
from dawa.results.ends import Corners, placed

FRACTIONS = (0.0, 0.01, 0.25, 0.5, 0.9, 1.0)
PAIRS = 4
"""Pairs of ranges that are compared, and ranges whose share is asked, before the search picks among them."""

Ask = Callable[[Release, float], bool]
"""Whether a release's interval of this confidence holds the truth."""


@dataclass(frozen=True, eq=False)
class Questions:
    """Counts of ranges or boxes, asked in bulk, and other questions, asked one by one.

    Attributes:
        lo: The lower corners of ranges, in cells, a row each.
        hi: The upper corners.
        truth: How many records lie in each.
        others: Other questions, by name.
    """

    lo: IntArray
    hi: IntArray
    truth: IntArray
    others: dict[str, Ask]

    @property
    def names(self) -> list[str]:
        """What is asked."""
        pairs = zip(self.lo.tolist(), self.hi.tolist(), strict=True)
        return [*(f"count {_told(lo, hi)}" for lo, hi in pairs), *self.others]

    def __len__(self) -> int:
        return len(self.truth) + len(self.others)

    def only(self, chosen: Sequence[int]) -> "Questions":
        """Some of them, by number, in order."""
        many = len(self.truth)
        ranges = [i for i in chosen if i < many]
        kept = {i - many for i in chosen if i >= many}
        others = {name: ask for i, (name, ask) in enumerate(self.others.items()) if i in kept}
        return Questions(self.lo[ranges], self.hi[ranges], self.truth[ranges], others)

    def held(self, release: Release, confidence: float) -> BoolArray:
        """Which intervals hold the truth."""
        found = [ask(release, confidence) for ask in self.others.values()]
        return np.append(self._counts_held(release, confidence), np.array(found, bool))

    def _counts_held(self, release: Release, confidence: float) -> BoolArray:
        if not len(self.truth):
            return np.zeros(0, bool)
        line = [(ends[:, 0], np.zeros(len(ends))) for ends in (self.lo, self.hi)] if self.lo.shape[1] == 1 else ()
        whole = np.ones(len(self.truth), bool)
        corners = Corners(self.lo.astype(np.float64), self.hi.astype(np.float64), whole, tuple(line))
        found = finished(figures_in_steps([Ranged(release.estimate, *placed(corners, release.estimate))], confidence))
        held: BoolArray = (found.low <= self.truth) & (self.truth <= found.high)
        return held


def questions(counts: IntArray, seed: int = 1, *, bands: bool = False) -> Questions:
    """All ranges or boxes; and shares, differences and ratios of some, with quantiles, mean, sum and band of a line."""
    sides = [list(combinations(range(side + 1), 2)) for side in counts.shape]
    every = np.array(list(product(*sides)))
    lo, hi = every[:, :, 0], every[:, :, 1]
    truth = _sums(counts, lo, hi)
    rng, total, others = np.random.default_rng(seed), int(counts.sum()), dict[str, Ask]()
    picked = rng.choice(len(every), (PAIRS, 2), replace=False)
    for i, j in picked.tolist():
        (first, a), (second, b) = ((_pair(lo[at], hi[at]), int(truth[at])) for at in (i, j))
        names = _told(lo[i].tolist(), hi[i].tolist()), _told(lo[j].tolist(), hi[j].tolist())
        others[f"share {names[0]}"] = partial(_holds, "share", first, Fraction(a, total))
        others[f"difference {names[0]} - {names[1]}"] = partial(_holds, "difference", (first, second), a - b)
        if b:
            others[f"ratio {names[0]} : {names[1]}"] = partial(_holds, "ratio", (first, second), Fraction(a, b))
    if counts.ndim == 1:
        places, below = np.arange(len(counts)), np.cumsum(counts)
        for part in FRACTIONS:
            least = max(math.ceil(Fraction(part) * total), 1)
            others[f"quantile {part}"] = partial(_holds, "quantile", (part,), int(np.searchsorted(below, least)))
        added = sum(int(place) * int(count) for place, count in zip(places, counts, strict=True))
        others["mean"], others["sum"] = (
            partial(_holds, name, (), truth) for name, truth in (("mean", Fraction(added, total)), ("sum", added))
        )
        if bands:
            others["band"] = partial(_band_holds, np.append(0, below))
    return Questions(lo, hi, truth, others)


def _sums(counts: IntArray, lo: IntArray, hi: IntArray) -> IntArray:
    """The records in each box."""
    sums = np.pad(counts, [(1, 0)] * counts.ndim)
    for axis in range(counts.ndim):
        sums = np.cumsum(sums, axis=axis)
    found = np.zeros(len(lo), np.int64)
    for upper in product((False, True), repeat=counts.ndim):
        corner = tuple(np.where(np.array(upper), hi, lo).T)
        found += (-1) ** (counts.ndim - sum(upper)) * sums[corner]
    return found


def _pair(lo: IntArray, hi: IntArray) -> tuple[Any, Any]:
    """Both ends as a release takes them."""
    return (int(lo[0]), int(hi[0])) if len(lo) == 1 else (tuple(lo.tolist()), tuple(hi.tolist()))


def _told(lo: Sequence[int], hi: Sequence[int]) -> str:
    return " × ".join(f"{low}:{high}" for low, high in zip(lo, hi, strict=True))


def _holds(name: str, arguments: tuple[Any, ...], truth: Fraction | int, release: Release, confidence: float) -> bool:
    """Whether the interval of an answer holds a number."""
    try:
        found = getattr(release, name)(*arguments, confidence=confidence)
    except ReleaseError:  # no records, as far as the release knows: nothing is claimed
        return True
    return bool(found.low <= truth <= found.high)


def _band_holds(below: IntArray, release: Release, confidence: float) -> bool:
    """Whether all limits of a band are right."""
    band, total = release.band(confidence), int(below[-1])
    truth = below[release.estimate.buckets.bounds].tolist()
    counts = zip(band.low.tolist(), truth, band.high.tolist(), strict=True)
    shares = zip(band.share_low.tolist(), truth, band.share_high.tolist(), strict=True)
    return all(low <= count <= high for low, count, high in counts) and all(
        low <= Fraction(count, total) <= high for low, count, high in shares
    )
