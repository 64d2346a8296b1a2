"""The partition of least cost, from counts without noise: NOT PRIVATE, for evaluation only; and a partition's cost.

It says how good a partition could be, and how many buckets it would have, if nobody had to be protected.
Nothing outside ``dawa_bench`` imports this module.
"""

from fractions import Fraction
from typing import Literal

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen

FINEST = 2**40
"""Steps per record, if totals fit: a step is then far below any difference that matters."""


def optimum(counts: IntArray, epsilon2: Fraction, lengths: Literal["powers", "all"] = "powers") -> IntArray:
    """Bounds of the partition that minimises ``sum of dev(b) + k/epsilon2``. NOT PRIVATE.

    Deviations of buckets whose length is not a power of two are rounded to a lattice, which here depends on the
    data. Of several best partitions, the one with the longer last bucket is returned.

    Args:
        counts: One public non-negative count per cell.
        epsilon2: Budget of the measurements that would follow.
        lengths: Which buckets compete.

    >>> optimum(np.array([5, 5, 5, 5, 0, 0]), Fraction(1))
    array([0, 4, 6])
    """
    counts = np.asarray(counts, np.int64)
    lattice = FINEST
    while lattice > 1 and lattice * (2 * int(counts.sum()) + len(counts) * (1 + 1 / epsilon2)) >= 2**62:
        lattice //= 2
    bucket = round(lattice / epsilon2)
    choose = _among_all if lengths == "all" else _among_powers
    return frozen(choose(counts, lattice, bucket))


def _among_powers(counts: IntArray, lattice: int, bucket: int) -> IntArray:
    values, ranks = kernels.costs.ranked(counts)
    costs = np.empty((len(counts).bit_length(), len(counts)), np.int64)
    for level in range(len(costs)):
        number = len(counts) - 2**level + 1
        costs[level, :number] = kernels.costs.windows(values, ranks, 2**level, lattice) + bucket
    bounds: IntArray = kernels.costs.powers(costs)
    return bounds


def _among_all(counts: IntArray, lattice: int, bucket: int) -> IntArray:
    values, ranks = kernels.costs.ranked(counts)
    best = np.full(len(counts) + 1, kernels.costs.UNREACHED, np.int64)
    best[0] = 0
    last = np.zeros(len(counts) + 1, np.int64)
    for start in range(len(counts)):
        costs = kernels.costs.starting_at(values, ranks, start, lattice) + bucket
        kernels.costs.extend(best, last, start, costs)
    bounds: IntArray = kernels.costs.traced(last)
    return bounds


def partition_cost(counts: IntArray, bounds: IntArray, epsilon2: float) -> float:
    """The paper's cost: how far all cells together lie from the means of their buckets, plus 1/ε2 for each bucket.

    From public counts, for evaluation only.

    >>> partition_cost(np.array([1, 3, 5, 5]), np.array([0, 2, 4]), 0.5)
    6.0
    """
    widths = np.diff(bounds)
    means: FloatArray = np.repeat(np.add.reduceat(counts, bounds[:-1]) / widths, widths)
    return float(np.abs(counts - means).sum() + len(widths) / epsilon2)
