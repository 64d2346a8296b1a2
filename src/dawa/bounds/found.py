"""From noisy histograms to bounds and caps: public functions of what was measured.

``bounds.md`` says why the look is private. A histogram over a coarse public grid is measured with noise on every cell
alone. What stands out of the noise is kept; a range that holds it, or a cap that keeps it, is read off.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import BoolArray, FloatArray
from dawa.results.estimate import Estimate

CHANCE = 0.05
"""The chance, at most, that noise alone makes a range or a cap larger than the records do."""
RATES = np.linspace(0.01, 0.99, 99)
"""Where Chernoff's bound is tried."""

SIZES = (*range(1, 8), *(k << e for e in range(1, 10) for k in (4, 5, 6, 7)), 1 << 12)
"""Where the classes of units begin, by how many records a unit has; the last class has no end."""


@dataclass(frozen=True)
class Hull:
    """A range of cells.

    Attributes:
        first: The first cell.
        beyond: One past the last.
        seen: Whether anything stood out of the noise; otherwise the range is that of the largest number.
    """

    first: int
    beyond: int
    seen: bool


def hull(histogram: Estimate) -> Hull:
    """The range of cells outside of which nothing stands out of the noise.

    The cells are halved again and again. Towards the left end, the left half is looked at if it stands out, else the
    right half if that does, else the search ends; towards the right end, the other way round. A stretch stands out if
    its sum, or that of a part of it, exceeds what noise alone would reach, with a chance of ``CHANCE`` for all of them
    together. So many small numbers are seen together, and where the two ways part, the left one stays on the left.

    >>> import dawa
    >>> hull(dawa.estimate([0, 0, 900, 0, 800, 0], epsilon=1, mechanism="identity", seed=0))
    Hull(first=2, beyond=5, seen=True)
    """
    numbers, scale = histogram.unbiased, 1 / float(histogram.epsilon)
    size = 1 << (len(numbers) - 1).bit_length()
    sums = np.concatenate((numbers, np.zeros(size - len(numbers))))
    standing: dict[int, BoolArray] = {}
    for length in (1 << np.arange(size.bit_length())).tolist():
        parts = standing.get(length // 2, np.zeros(2 * len(sums), dtype=bool))
        out = sums > reached([length], CHANCE / (2 * size))[0] * scale
        standing[length] = out | parts[::2] | parts[1::2]
        sums = sums[::2] + sums[1::2] if length < size else sums

    def end(*, left: bool) -> int:
        first, length = 0, size
        while length > 1:
            length //= 2
            halves = (first, first + length) if left else (first + length, first)
            chosen = next((half for half in halves if standing[length][half // length]), None)
            if chosen is None:
                return first if left else first + 2 * length
            first = chosen
        return first if left else first + 1

    if not standing[size][0]:
        largest = int(np.argmax(numbers))
        return Hull(largest, largest + 1, seen=False)
    return Hull(end(left=True), min(end(left=False), len(numbers)), seen=True)


def cap(histogram: Estimate, part: Fraction, most: int) -> int:
    """The least number of rows per unit that keeps a part of all rows, as far as they stand out of the noise.

    Args:
        histogram: How many units have how many rows, in classes that begin at ``SIZES``.
        part: The part of all rows to keep.
        most: The largest number that is allowed.

    >>> import dawa
    >>> units = [0] * len(SIZES)
    >>> units[0], units[2] = 5000, 3000  # one row, three rows
    >>> cap(dawa.estimate(units, epsilon=1, mechanism="identity", seed=0), Fraction(9, 10), 100)
    3
    """
    least = float(reached(np.ones(1), CHANCE / len(SIZES))[0]) / float(histogram.epsilon)
    units = np.where(histogram.unbiased > least, histogram.unbiased, 0.0)
    if not units.any():
        return 1
    ends = np.array([*(size - 1 for size in SIZES[1:]), SIZES[-1]])
    typical = (np.array(SIZES) + ends) / 2
    wanted = float(part) * float(units @ typical)
    kept = [float(units @ np.minimum(typical, end)) for end in ends]
    return min(int(ends[next(i for i, rows in enumerate(kept) if rows >= wanted * (1 - 1e-12))]), most)


def reached(terms: ArrayLike, chance: float) -> FloatArray:
    """What the sum of so many independent Laplace draws of scale 1 exceeds with at most this chance.

    Chernoff's bound: E exp(s·x) = 1/(1 - s²) for one draw, so the sum of k exceeds t with a chance of at most
    exp(-s·t - k·ln(1 - s²)), for every s between 0 and 1. For noise on a lattice of width d, the s² in it becomes
    (sinh(s·d/2)/sinh(d/2))², which is smaller because sinh(x)/x increases; so the bound holds for discrete noise too.
    """
    bounds = (-math.log(chance) - np.multiply.outer(np.asarray(terms, np.float64), np.log1p(-(RATES**2)))) / RATES
    best: FloatArray = bounds.min(axis=-1)
    return best
