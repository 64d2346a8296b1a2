"""Deviations from the median of growing intervals, exactly: what P-HP and StructureFirst compare.

Two heaps hold the lower and the upper half of the cells seen so far. The lower half has as many cells as the upper
one, or one more, and its largest is a median m, so ``Σ|x_j - m| = Σ upper - Σ lower + m·(|lower| - |upper|)``.
Sums of counts fit in 63 bits if the total of the counts does.

The module also computes the costs of all intervals between public marks, and the least cost of each prefix by number
of buckets.
"""

import numpy as np

from dawa.arrays import IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_bisections = Kernel("bisect_bisections")
_absolute = Kernel("bisect_absolute")
_squared = Kernel("bisect_squared")
_prefixes = Kernel("bisect_prefixes")

UNREACHED = np.int64(2**62)
"""The cost of a prefix that has fewer parts than buckets: no cost of real data is as high."""


def bisections(counts: IntArray) -> IntArray:
    """The deviation that is left after a cut: entry i is that of the first i cells plus that of the other cells.

    Entry 0 is the deviation of all cells, uncut.
    """
    size = len(counts)
    cost = np.empty(size, np.int64)
    _bisections(size, counts, np.empty(3 * size + 1, np.int64), cost)
    return cost


def absolute(counts: IntArray, marks: IntArray) -> IntArray:
    """Deviation from the median, ``cost[i, j]`` of the cells ``[marks[i], marks[j])``, i < j."""
    number, size = _check(counts, marks)
    cost = np.zeros((number, number), np.int64)
    _absolute(counts, number, marks, np.empty(2 * size + 1, np.int64), cost)
    return cost


def squared(counts: IntArray, marks: IntArray) -> IntArray:
    """Squared deviation from the mean, rounded down: ``cost[i, j]`` of the cells ``[marks[i], marks[j])``, i < j."""
    number, _ = _check(counts, marks)
    cost = np.zeros((number, number), np.int64)
    _squared(counts, number, marks, np.empty(number, np.int64), np.empty(number, np.int64), cost)
    return cost


def prefixes(cost: IntArray, buckets: int) -> IntArray:
    """``best[b, j]``: the least cost of the parts before mark j in exactly b + 1 buckets."""
    number = len(cost)
    if cost.shape != (number, number):
        raise InvariantError("The costs of intervals are not a square.")
    best = np.full((buckets, number), UNREACHED)
    best[:1, 1:] = cost[:1, 1:]
    _prefixes(number, cost, buckets, best)
    return best


def _check(counts: IntArray, marks: IntArray) -> tuple[int, int]:
    """The number of marks and the last one, if they increase within the cells."""
    if len(marks) == 0 or marks[0] < 0 or marks[-1] > len(counts) or (np.diff(marks) < 1).any():
        raise InvariantError("Marks do not increase from the first cell to the last.")
    return len(marks), int(marks[-1])
