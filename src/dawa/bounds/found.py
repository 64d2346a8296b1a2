"""From noisy histograms to bounds and caps: public functions of what was measured.

``bounds.md`` says why the look is private. A histogram over a coarse public grid is measured with noise on every cell
alone. What stands out of the noise is kept; a range that holds it, or a cap that keeps it, is read off.
"""

import math
from fractions import Fraction

import numpy as np

from dawa.arrays import FloatArray
from dawa.results.estimate import Estimate

CHANCE = 0.05
"""The chance, at most, that noise alone makes a range or a cap larger than the records do."""
RATES = np.linspace(0.01, 0.99, 99)
"""Where Chernoff's bound is tried."""

SIZES = (*range(1, 8), *(k << e for e in range(1, 10) for k in (4, 5, 6, 7)), 1 << 12)
"""Where the classes of units begin, by how many records a unit has; the last class has no end."""


def hull(histogram: Estimate) -> tuple[int, int]:
    """The shortest range of cells beyond which nothing stands out of the noise, on either side.

    From each end inwards, a cell is passed as long as neither its own number nor the sum of all cells passed so far
    exceeds what noise alone would reach, with a chance of ``CHANCE`` for all of these looks together. If nothing stands
    out anywhere, the range is the cell with the largest number.

    >>> import dawa
    >>> hull(dawa.estimate([0, 0, 900, 0, 800, 0], epsilon=1, mechanism="identity", seed=0))
    (2, 5)
    """
    numbers, scale = histogram.unbiased, 1 / float(histogram.epsilon)
    first, last = (_passed(side, scale) for side in (numbers, numbers[::-1]))
    if first == len(numbers):
        largest = int(np.argmax(numbers))
        return largest, largest + 1
    return first, len(numbers) - last


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


def _passed(numbers: FloatArray, scale: float) -> int:
    """How many cells from the beginning hold nothing that stands out."""
    chance = CHANCE / (4 * len(numbers))  # two ends, and two looks at every cell
    terms = np.arange(1.0, len(numbers) + 1)
    out = np.flatnonzero(
        (numbers > reached(np.ones(1), chance) * scale) | (np.cumsum(numbers) > reached(terms, chance) * scale)
    )
    return int(out[0]) if len(out) else len(numbers)


def reached(terms: FloatArray, chance: float) -> FloatArray:
    """What the sum of so many independent Laplace draws of scale 1 exceeds with at most this chance.

    Chernoff's bound: E exp(s·x) = 1/(1 - s²) for one draw, so the sum of k exceeds t with a chance of at most
    exp(-s·t - k·ln(1 - s²)), for every s between 0 and 1. For noise on a lattice of width d, the s² in it becomes
    (sinh(s·d/2)/sinh(d/2))², which is smaller because sinh(x)/x increases; so the bound holds for discrete noise too.
    """
    bounds = (-math.log(chance) - np.multiply.outer(np.asarray(terms, np.float64), np.log1p(-(RATES**2)))) / RATES
    best: FloatArray = bounds.min(axis=-1)
    return best
