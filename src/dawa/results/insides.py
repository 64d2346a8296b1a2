"""Where records lie inside buckets: a public guess, made from the noisy totals and the buckets alone.

A release knows how many records a bucket holds, not where they lie in it. Spread evenly, they jump at every bound,
which real records seldom do. ``"smooth"`` lets neighbours say where in a bucket its records gather. It is
post-processing, so it is free of budget. It keeps every bucket's total, so it moves only answers of ranges that cut
buckets; and where neighbours have equal heights, nothing moves at all.

*Along one axis* (``Line``) the running sum of records through a bucket of total T, a part t of the way, is

    T·t + t(1-t)·(rise·(1-t) - fall·t),

the cubic with T and with the densities T + rise and T + fall at its two ends, in records per bucket. The density at a
bound is the geometric mean of the heights of its two buckets: the one guess that does not depend on the scale, and 0
beside an empty bucket. At the two ends of the domain the line between a bucket's middle and its inner bound goes on;
or, where that rises to the end, the geometric sequence does. Four things hold back:

- both densities are kept between 0 and three times the height, so that the running sum never falls (Fritsch and
  Carlson, *Monotone piecewise cubic interpolation*, SIAM J. Numer. Anal. 1980);
- a bucket that is higher than both neighbours, or lower than both, is left even. Noise alone makes such a bucket of two
  in three, and a real peak or dip inside it says nothing about which half is higher;
- neither density is further from the height than three times the other one. A bucket beside a real jump differs from
  one neighbour only, and stays nearly even;
- buckets of one cell stay as they are.

This costs no cells, so it serves domains of any size. It is the same from either end.

*On several axes* (``Grid``) cells are averaged with their neighbours and scaled back to their buckets' totals, in turn
(Tobler, *Smooth pycnophylactic interpolation for geographical regions*, JASA 1979), a fixed number of times. Maps with
more cells than ``limits.MOST_CELLS_SMOOTHED`` stay even.

On either, the walk has the last word. It left the bucket whole, and would have divided it, as likely as not, had it
been more uneven than ``StopRule.uneven(1/2)``: then the bend is scaled down to that. So real jumps at the bounds of
buckets that are flat inside bend little, however high they are.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_SMOOTHED
from dawa.numerals import told
from dawa.partition.buckets import Buckets

Inside = Literal["even", "smooth"]
INSIDES = ("even", "smooth")

SAID = {"even": "evenly over its cells", "smooth": "made from the totals of its neighbours"}
"""The guess, in words."""

STEEPER = 3.0
"""How many times further from its height a bucket's density may be at one end than at the other."""

UNLIKELY = 0.5
"""No bucket is bent so far that the walk would have left it whole with a smaller chance."""

ROUNDS = 30
"""How often cells of a map are averaged; twice as often gains half a percent (``python -m dawa_bench.insides``)."""

EQUAL = 1e-9
"""A density that differs from the bucket's height by a smaller part is equal to it: no rounding bends a bucket."""

HALVINGS = 52
"""After so many halvings of a bucket, a place in it is known to all digits."""


def smoothable(shape: tuple[int, ...], buckets: Buckets) -> bool:
    """Whether there is a smooth form for these buckets: all lines, and maps with few enough cells to list often."""
    if len(shape) == 1:
        return buckets.boxes is None
    return math.prod(shape) <= MOST_CELLS_SMOOTHED


def check(inside: str) -> None:
    """Raise an OptionError for a way to place records that does not exist."""
    if inside not in INSIDES:
        raise OptionError(f"There is no inside {told(inside)}.", f"choose one of {', '.join(INSIDES)}.")


def tolerated(buckets: Buckets) -> FloatArray:
    """How uneven the walk would have left each bucket, in records; without limit where none compared its cells."""
    if buckets.by_cells is None:
        return np.full(len(buckets), np.inf)
    return buckets.by_cells.uneven(UNLIKELY)


@dataclass(frozen=True, eq=False)
class Line:
    """Records along one axis, smoothly inside buckets.

    Attributes:
        bounds: Where buckets begin and end, in cells.
        totals: Their totals, none of them negative.
        rise: What the density at each bucket's lower bound exceeds its total by, in records per bucket.
        fall: The same at its upper bound.
    """

    bounds: IntArray
    totals: FloatArray
    rise: FloatArray
    fall: FloatArray

    @classmethod
    def of(cls, bounds: IntArray, totals: FloatArray, most: FloatArray | float = math.inf) -> "Line":
        """Densities at the bounds from the heights on both sides, for buckets that are at most so uneven."""
        widths = np.diff(bounds).astype(np.float64)
        height = totals / widths
        between = np.sqrt(height[:-1]) * np.sqrt(height[1:])
        if len(height) == 1:
            left, right = height, height
        else:
            left = np.append(_beyond(height[:1], between[:1]), between)
            right = np.append(between, _beyond(height[-1:], between[-1:]))
        low, high = (np.minimum(side, 3 * height) - height for side in (left, right))
        least = np.minimum(np.abs(low), np.abs(high))
        bent = (low * high < 0) & (least > EQUAL * height) & (widths > 1)
        least *= STEEPER
        rise, fall = (np.where(bent, np.clip(side, -least, least) * widths, 0.0) for side in (low, high))
        uneven = (np.abs(rise) + np.abs(fall)) / 4  # records in the fuller half that even halves would exchange
        kept = np.divide(most, uneven, out=np.ones(len(widths)), where=uneven > most)
        return cls(bounds, totals, frozen(rise * kept), frozen(fall * kept))

    @cached_property
    def below(self) -> FloatArray:
        """Records before each bound."""
        return frozen(np.concatenate(([0.0], np.cumsum(self.totals))))

    def upto(self, at: FloatArray) -> FloatArray:
        """Records before each place, given in bucket coordinates: 2.5 is the middle of the third bucket."""
        bucket = np.minimum(at.astype(np.int64), len(self.totals) - 1)
        found: FloatArray = self.below[bucket] + self.part(bucket, at - bucket)
        return found

    def before(self, borders: IntArray | FloatArray) -> FloatArray:
        """Records before each place, given in cells."""
        bucket = np.clip(np.searchsorted(self.bounds, borders, side="right") - 1, 0, len(self.totals) - 1)
        start = self.bounds[bucket]
        return self.below[bucket] + self.part(bucket, (borders - start) / (self.bounds[bucket + 1] - start))

    def part(self, bucket: IntArray, t: FloatArray) -> FloatArray:
        """Records in the first part t of each bucket."""
        found: FloatArray = self.totals[bucket] * t + t * (1 - t) * (
            self.rise[bucket] * (1 - t) - self.fall[bucket] * t
        )
        return found

    def density(self, bucket: IntArray, t: FloatArray) -> FloatArray:
        """Records per bucket at the place a part t of the way through it."""
        bend = self.rise[bucket] * (1 - t) * (1 - 3 * t) + self.fall[bucket] * t * (3 * t - 2)
        return np.maximum(self.totals[bucket] + bend, 0)

    @property
    def cells(self) -> FloatArray:
        """Every cell's records."""
        widths = np.diff(self.bounds)
        bucket = np.repeat(np.arange(len(widths)), widths)
        at, width = np.arange(int(self.bounds[-1])) - self.bounds[bucket], widths[bucket]
        return np.maximum(self.part(bucket, (at + 1) / width) - self.part(bucket, at / width), 0)

    def moved(self) -> FloatArray:
        """How far the records of each bucket lie together from its middle, in cells times records.

        It is the sum over its cells of their places, weighted with their records: the bend moves it by
        -(rise - fall)·(w² - 1)/12w in a bucket of w cells.
        """
        widths = np.diff(self.bounds).astype(np.float64)
        found: FloatArray = (self.fall - self.rise) * (widths - 1 / widths) / 12
        return found

    def holding(self, bucket: int, wanted: float) -> tuple[int, Fraction]:
        """The cell of a bucket in which the records before reach this number, and which part of it is needed."""
        first, beyond = (int(bound) for bound in self.bounds[bucket : bucket + 2])

        def upto(border: int) -> float:
            t = np.array([(border - first) / (beyond - first)])
            return float(self.below[bucket] + self.part(np.array([bucket]), t)[0])

        low, high = first, beyond  # the records before reach it at the end of the bucket
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if upto(middle) >= wanted else (middle, high)
        below, inside = upto(low), upto(high) - upto(low)
        part = Fraction((wanted - below) / inside) if inside > 0 else Fraction(1)
        return low, min(max(part, Fraction(0)), Fraction(1))

    def moved_parts(self, bucket: IntArray, even: FloatArray) -> FloatArray:
        """Parts of buckets as they would be drawn if buckets were even, moved to where the records lie."""
        bent = np.flatnonzero((self.rise[bucket] != 0) | (self.fall[bucket] != 0))
        chosen, found = bucket[bent], even.copy()
        wanted = self.totals[chosen] * even[bent]
        low, high = np.zeros(len(bent)), np.ones(len(bent))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = self.part(chosen, middle) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found[bent] = low
        return found


def _beyond(height: FloatArray, inner: FloatArray) -> FloatArray:
    """The density at the end of the domain, from that at the inner bound of the last bucket."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = np.where(inner > 0, height * (height / inner), 3 * height)
    return np.where(inner < height, rising, np.maximum(2 * height - inner, 0))


@dataclass(frozen=True, eq=False)
class Grid:
    """Records on several axes, cell by cell.

    Attributes:
        cells: The records in every cell.
    """

    cells: FloatArray

    @classmethod
    def of(cls, shape: tuple[int, ...], buckets: Buckets, totals: FloatArray) -> "Grid":
        """Cells that are smoothed inside their buckets."""
        label = np.empty(math.prod(shape), np.int64)
        label[buckets.order(shape)] = np.repeat(np.arange(len(buckets)), np.diff(buckets.bounds))
        cells = kernels.insides.smoothed(label, np.array(totals), np.array(shape), ROUNDS, tolerated(buckets))
        return cls(frozen(cells.reshape(shape)))

    @cached_property
    def below(self) -> FloatArray:
        """The records in all cells before each corner of the grid."""
        sums = np.pad(self.cells, [(1, 0)] * self.cells.ndim)
        for axis in range(self.cells.ndim):
            np.cumsum(sums, axis=axis, out=sums)
        return frozen(sums)

    def at(self, numbers: IntArray) -> IntArray:
        """The coordinates of cells, given by their numbers in row-major order."""
        return np.stack(np.unravel_index(numbers, self.cells.shape), axis=1)

    def between(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """The records in boxes, given by rows of corners in cells; a cell that is cut counts in part."""
        found = np.zeros(len(lo))
        for sides in product((0, 1), repeat=self.cells.ndim):
            corner = np.where(np.array(sides) == 1, hi, lo)
            found += (-1) ** (len(sides) - sum(sides)) * self._before(corner)
        return found

    def _before(self, corner: FloatArray) -> FloatArray:
        """The records before each corner, linear along every axis inside cells."""
        whole = np.floor(corner).astype(np.int64)
        part, last = corner - whole, np.array(self.cells.shape)
        found = np.zeros(len(corner))
        for step in product((0, 1), repeat=self.cells.ndim):
            weight = np.where(np.array(step) == 1, part, 1 - part).prod(axis=1)
            if weight.any():
                found += weight * self.below[tuple(np.minimum(whole + np.array(step), last).T)]
        return found
