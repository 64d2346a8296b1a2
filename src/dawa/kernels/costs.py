"""How far the cells of an interval lie from their mean, in exact integers.

The deviation of an interval is a multiple of one over its length:

    dev = Σ|x_j - mean| = 2·Σ_{x_j > mean} (x_j - mean),   mean = sum / length.

Only the number of cells above the mean and their sum are needed. A Fenwick tree over the ranks of the values
holds both, so adding a cell, removing one, or asking takes logarithmic time.

Kernels return ``floor(lattice · dev)``. ``length · dev`` is an even integer, so nothing is rounded if
twice the lattice is a multiple of the length. No product is larger than ``lattice · dev``,
``lattice · length`` or ``2 · length²``: they must fit in 63 bits.

The module also finds the partition of least total cost, by dynamic programming over integer bucket costs.

Ties are decided by a fixed rule: of two partitions with equal totals, the one with the longer last bucket wins. If
these buckets are equal too, the one with the longer bucket before them wins, and so on. The rule alone is an order of
all partitions, the same for all data: the privacy proof of ``noisy_cost`` needs that.

Every partial total must fit in 63 bits; the code that scales the costs must ensure this.
"""

import numpy as np

from dawa.arrays import IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_windows = Kernel("costs_windows")
_starting_at = Kernel("costs_starting_at")
_powers = Kernel("costs_powers")
_extend = Kernel("costs_extend")
_traced = Kernel("costs_traced")

UNREACHED = np.iinfo(np.int64).max
"""The total of an end that no bucket has reached yet."""


def ranked(counts: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct values in increasing order, and for each cell the place of its value among them."""
    values, ranks = np.unique(counts, return_inverse=True)
    return values.astype(np.int64, copy=False), ranks.astype(np.int64, copy=False)


def windows(values: IntArray, ranks: IntArray, length: int, lattice: int) -> IntArray:
    """``floor(lattice · dev)`` of every interval of one length, by its first cell.

    Args:
        values: From ``ranked``.
        ranks: From ``ranked``.
        length: The length of the intervals, at most the number of cells.
        lattice: How many steps make one record.
    """
    cells = len(ranks)
    if not 1 <= length <= cells:
        raise InvariantError(f"No interval of {length} cells is among {cells} cells.")
    scores = np.zeros(cells - length + 1, np.int64)
    if length > 1:
        _windows(len(values), values, cells, ranks, length, lattice, _tree(values), scores)
    return scores


def starting_at(values: IntArray, ranks: IntArray, start: int, lattice: int) -> IntArray:
    """``floor(lattice · dev)`` of every interval that starts at one cell, by its length less one."""
    cells = len(ranks)
    if not 0 <= start <= cells:
        raise InvariantError(f"No interval starts at cell {start} of {cells}.")
    scores = np.empty(cells - start, np.int64)
    _starting_at(len(values), values, cells, ranks, start, lattice, _tree(values), scores)
    return scores


def powers(costs: IntArray) -> IntArray:
    """Bounds of the best partition into buckets whose lengths are powers of two.

    Args:
        costs: ``costs[h, i]`` is the cost of ``[i, i + 2^h)``; entries past the last cell are not read.
    """
    levels, size = costs.shape
    best, last = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    _powers(levels, size, costs, best, last)
    return traced(last)


def extend(best: IntArray, last: IntArray, start: int, costs: IntArray) -> None:
    """Offer the buckets ``[start, start + 1)``, ``[start, start + 2)``, … to the partitions that end there.

    Called for every start in increasing order, it leaves in ``last`` what ``traced`` needs. At the first call
    ``best`` holds 0 and then ``UNREACHED``. A later start means a shorter last bucket, which loses a tie.
    """
    if start < 0 or start + len(costs) >= len(best) or len(best) != len(last):
        raise InvariantError(f"There are not so many ends that {len(costs)} buckets can start at {start}.")
    _extend(start, len(costs), costs, best, last)


def traced(last: IntArray) -> IntArray:
    """The bounds, from where the last bucket of the best partition of each prefix starts."""
    bounds = np.empty(len(last), np.int64)
    return bounds[_traced(len(last), last, bounds) :].copy()


def _tree(values: IntArray) -> IntArray:
    """An empty Fenwick tree over the values."""
    return np.zeros((len(values) + 1, 2), np.int64)
