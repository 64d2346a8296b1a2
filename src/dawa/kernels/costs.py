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
from dawa.kernels.compiled import njit


def ranked(counts: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct values in increasing order, and for each cell the place of its value among them."""
    values, ranks = np.unique(counts, return_inverse=True)
    return values, ranks.astype(np.int64)


@njit(cache=True, inline="always")
def _add(tree, rank, number, total):
    """Put ``number`` cells (-1 removes one) with the sum ``total`` into the tree."""
    node = rank + 1
    while node < tree.shape[0]:
        tree[node, 0] += number
        tree[node, 1] += total
        node += node & -node


@njit(cache=True, inline="always")
def _deviation(tree, values, total, length, top, lattice):
    """``floor(lattice · dev)`` of the cells in the tree; ``top`` is the largest power of two up to its size."""
    mean = total // length
    rest = total - mean * length
    node = 0
    below = 0
    below_total = 0
    step = top
    while step > 0:
        following = node + step
        if following < tree.shape[0] and values[following - 1] <= mean:  # whole numbers: the floor decides
            node = following
            below += tree[node, 0]
            below_total += tree[node, 1]
        step >>= 1
    above = length - below
    # dev = 2·(sum above - above · mean) - 2 · above · rest / length = whole - part / length
    surplus = 2 * above * rest
    carried = surplus // length
    part = surplus - carried * length
    whole = 2 * (total - below_total - above * mean) - carried
    return lattice * whole - (lattice * part + length - 1) // length


@njit(cache=True)
def _top(size):
    """The largest power of two that is at most ``size``."""
    step = 1
    while 2 * step <= size:
        step *= 2
    return step


@njit(cache=True)
def windows(values, ranks, length, lattice):
    """``floor(lattice · dev)`` of every interval of one length, by its first cell.

    Args:
        values: From ``ranked``.
        ranks: From ``ranked``.
        length: The length of the intervals, at most the number of cells.
        lattice: How many steps make one record.
    """
    starts = len(ranks) - length + 1
    scores = np.zeros(starts, np.int64)
    if length == 1:
        return scores
    tree = np.zeros((len(values) + 1, 2), np.int64)
    top = _top(len(values))
    total = 0
    for cell in range(len(ranks)):
        value = values[ranks[cell]]
        _add(tree, ranks[cell], 1, value)
        total += value
        start = cell - length + 1
        if start >= 0:
            scores[start] = _deviation(tree, values, total, length, top, lattice)
            value = values[ranks[start]]
            _add(tree, ranks[start], -1, -value)
            total -= value
    return scores


@njit(cache=True)
def starting_at(values, ranks, start, lattice):
    """``floor(lattice · dev)`` of every interval that starts at one cell, by its length less one."""
    scores = np.zeros(len(ranks) - start, np.int64)
    tree = np.zeros((len(values) + 1, 2), np.int64)
    top = _top(len(values))
    total = 0
    for cell in range(start, len(ranks)):
        value = values[ranks[cell]]
        _add(tree, ranks[cell], 1, value)
        total += value
        scores[cell - start] = _deviation(tree, values, total, cell - start + 1, top, lattice)
    return scores


UNREACHED = np.iinfo(np.int64).max
"""The total of an end that no bucket has reached yet."""


@njit(cache=True)
def powers(costs):
    """Bounds of the best partition into buckets whose lengths are powers of two.

    Args:
        costs: ``costs[h, i]`` is the cost of ``[i, i + 2^h)``; entries past the last cell are not read.
    """
    levels, size = costs.shape
    best = np.empty(size + 1, np.int64)
    last = np.empty(size + 1, np.int64)
    best[0] = 0
    last[0] = 0
    for end in range(1, size + 1):
        least = UNREACHED
        for level in range(levels - 1, -1, -1):  # the longest first, so it wins a tie
            start = end - (1 << level)
            if start >= 0 and best[start] + costs[level, start] < least:
                least = best[start] + costs[level, start]
                last[end] = start
        best[end] = least
    return traced(last)


@njit(cache=True)
def extend(best, last, start, costs):
    """Offer the buckets ``[start, start + 1)``, ``[start, start + 2)``, … to the partitions that end there.

    Called for every start in increasing order, it leaves in ``last`` what ``traced`` needs. At the first call
    ``best`` holds 0 and then ``UNREACHED``. A later start means a shorter last bucket, which loses a tie.
    """
    before = best[start]
    for offset in range(len(costs)):
        end = start + offset + 1
        if before + costs[offset] < best[end]:
            best[end] = before + costs[offset]
            last[end] = start


@njit(cache=True)
def traced(last):
    """The bounds, from where the last bucket of the best partition of each prefix starts."""
    size = len(last) - 1
    number = 0
    end = size
    while end > 0:
        number += 1
        end = last[end]
    bounds = np.empty(number + 1, np.int64)
    end = size
    for place in range(number, -1, -1):
        bounds[place] = end
        end = last[end]
    return bounds
