"""The two-phase walk by uneven halves: for domains with far more cells than records. Its proof is in ``halves.md``.

Where every cell holds one record or none, a walk that compares cells sees nothing but how many records there are, and
divides an interval for that alone, however evenly they lie. Here an interval is as uneven as its halves are, and the
halves of its halves, down to single cells: what halves differ by is added up over intervals that have no cell in
common, beyond what is not worth a bucket, and whichever of these intervals make the largest sum are taken. Records
that lie evenly differ by little more than chance does, so few buckets hold them; records in one place differ by all.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dawa import check
from dawa.arrays import BoolArray, IntArray
from dawa.counts import Occupied
from dawa.limits import MOST_RECORDS
from dawa.noise.randomness import Randomness
from dawa.partition import walk
from dawa.partition.buckets import Buckets
from dawa.partition.walk import Walk, two_phase


@dataclass(frozen=True)
class Halves(Walk):
    """Options of the walk by uneven halves: those of the walk with other defaults, and one more.

    Attributes:
        tolerance: By how much two halves may differ and still be even, in units of 1/epsilon.
    """

    fine_theta: float = -0.7
    tolerance: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tolerance", check.positive(self.tolerance, "tolerance", 3))

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets by both walks."""
        check.within(loss(epsilon, self), sum(self.losses(epsilon), Fraction(0)), "The walk by halves")
        tolerated = self.tolerated(epsilon)
        found = two_phase(exposed, size, epsilon, self, randomness, Unevenness.of(exposed, tolerated))
        return replace(found, stops=found.stops and replace(found.stops, halves=tolerated))

    def tolerated(self, epsilon: Fraction) -> int:
        """By how many records two halves may differ and still be even; at least one."""
        return max(1, min(round(Fraction(self.tolerance) / epsilon), MOST_RECORDS))


def loss(epsilon: Fraction, options: Halves) -> Fraction:
    """The most that any record loses to both walks: the score has no part in it."""
    return walk.loss(epsilon, options)


@dataclass(frozen=True, eq=False)
class Unevenness:
    """The score of dyadic intervals, clipped to the domain.

    An interval whose records all lie in one half, or that is clipped and so has no equal halves, scores its records
    beyond ``tolerated``: as much as any of its intervals could. All others divide the records between two neighbours
    among the occupied cells, each in another place, so their scores fit into an array beside the cells.

    Attributes:
        tolerated: By how many records two halves may differ and still be even: public.
        inside: For each occupied cell but the first: the score of the interval whose upper half begins with it, if
            the lower half holds records too.
    """

    tolerated: int
    inside: IntArray

    @classmethod
    def of(cls, exposed: Occupied, tolerated: int) -> "Unevenness":
        """All scores, in time that grows with the records and not with the cells."""
        inside, before = np.zeros(len(exposed.cells), np.int64), _before(exposed)
        levels = [_Divided.top(exposed, tolerated)]
        while len(levels[-1].split):
            levels.append(levels[-1].below(exposed.cells, before, tolerated))
        for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
            lower, upper = (before[last] - before[first] for first, last in level.halves())
            own = np.maximum(np.abs(lower - upper) - tolerated, 0)
            parts = np.where(level.height > 1, np.maximum(np.stack((lower, upper)) - tolerated, 0), 0).ravel()
            whole = below.height == np.tile(level.height, 2)[below.part] - 1
            parts[below.part[whole]] = inside[below.split[whole]]
            inside[level.split] = np.maximum(own, parts.reshape(2, -1).sum(axis=0))
        return cls(tolerated, inside)

    def __call__(self, exposed: Occupied, before: IntArray, start: IntArray, stop: IntArray) -> IntArray:
        """The score of each interval ``[start, stop)``."""
        width = stop - start
        first, split, last = (np.searchsorted(exposed.cells, end) for end in (start, start + (width >> 1), stop))
        divided = (width & (width - 1) == 0) & (first < split) & (split < last)
        scores = np.maximum(before[last] - before[first] - self.tolerated, 0)
        scores[divided] = self.inside[split[divided]]
        return np.where(width > 1, scores, 0)


@dataclass(frozen=True, eq=False)
class _Divided:
    """Dyadic intervals with records in both halves, none inside another.

    Attributes:
        first: The first occupied cell of each, by its number among them.
        split: The first one in its upper half.
        last: One past its last one.
        height: It is two to this power cells wide.
        part: In which half of those above it lies: all lower halves are numbered first, then all upper ones.
    """

    first: IntArray
    split: IntArray
    last: IntArray
    height: IntArray
    part: IntArray

    @classmethod
    def least(cls, cells: IntArray, first: IntArray, last: IntArray, part: IntArray) -> "_Divided":
        """The smallest dyadic intervals that hold these occupied cells, at least two each."""
        highest = cells[last - 1]
        height = _bits(cells[first] ^ highest)
        half = height - 1
        return cls(first, np.searchsorted(cells, highest >> half << half), last, height, part)

    @classmethod
    def top(cls, exposed: Occupied, tolerated: int) -> "_Divided":
        """The largest one; none if there are too few records for any score."""
        several = len(exposed.cells) > 1 and int(exposed.counts.sum()) > tolerated
        zeros = np.zeros(int(several), np.int64)
        return cls.least(exposed.cells, zeros, zeros + len(exposed.cells), zeros)

    def halves(self) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
        """The occupied cells of the lower and of the upper halves."""
        return (self.first, self.split), (self.split, self.last)

    def below(self, cells: IntArray, before: IntArray, tolerated: int) -> "_Divided":
        """The largest ones in their halves, without those that have too few records for any score."""
        first, last = (np.concatenate(ends) for ends in zip(*self.halves(), strict=True))
        part = np.flatnonzero((last - first > 1) & (before[last] - before[first] > tolerated))
        return _Divided.least(cells, first[part], last[part], part)


def _bits(numbers: IntArray) -> IntArray:
    """How many binary digits each number has."""
    found, left = np.zeros(len(numbers), np.int64), numbers.copy()
    for step in (32, 16, 8, 4, 2, 1):
        more: BoolArray = left >> step > 0
        found, left = found + step * more, np.where(more, left >> step, left)
    return found + (left > 0)


def _before(exposed: Occupied) -> IntArray:
    """The records before each occupied cell."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(exposed.counts)))
