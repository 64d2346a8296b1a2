"""How far the cells of an interval lie from their mean, in exact integers.

The deviation of an interval is a multiple of one over its length:

    dev = Σ|x_j - mean| = 2·Σ_{x_j > mean} (x_j - mean),   mean = sum / length.

Only the number of cells above the mean and their sum are needed. A Fenwick tree over the ranks of the values
holds both, so that one more cell, one less, or a question costs a logarithm.

Kernels return ``floor(lattice · dev)``. ``length · dev`` is an even integer, so nothing is rounded where
twice the lattice is a multiple of the length. No product is larger than ``lattice · dev``,
``lattice · length`` or ``2 · length²``: they must fit in 63 bits.
"""

import numpy as np
from numba import njit

from dawa.arrays import IntArray


def ranked(counts: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct values in increasing order, and for each cell the place of its value among them."""
    values, ranks = np.unique(counts, return_inverse=True)
    return values, ranks.astype(np.int64)


@njit(cache=True, inline="always")
def _add(tree, rank, number, total):
    """Put ``number`` cells (-1 takes one away) with the sum ``total`` into the tree."""
    node = rank + 1
    while node < tree.shape[0]:
        tree[node, 0] += number
        tree[node, 1] += total
        node += node & -node


@njit(cache=True, inline="always")
def _deviation(tree, values, total, length, top, lattice):
    """``floor(lattice · dev)`` of the cells in the tree; ``top`` is the largest power of two within it."""
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
        length: Of the intervals, at most the number of cells.
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
