"""Trees with equal weights on all levels and the branching that suits ranges best (Qardaji, Yang, Li 2013)."""

import numpy as np

from dawa import kernels
from dawa.arrays import IntArray, frozen
from dawa.bucket_queries import BucketQueries, Closed
from dawa.strategy.tree import TreeStrategy, level_offsets
from dawa.workload import Workload

CANDIDATES = 3
"""So many heights, the best by the authors' formula, are compared by their exact errors."""


def equal_levels(allowance: IntArray, branching: int) -> TreeStrategy:
    """The same weight on every level but the root, which is not measured: its children add up to it."""
    offset = level_offsets(len(allowance), branching)
    ratio = np.zeros(len(offset) - 1)
    ratio[1:-1] = 1 / np.arange(1, len(ratio) - 1)
    weights = kernels.tree.integer_weights(np.repeat(ratio, np.diff(offset)), allowance, branching, offset)
    return TreeStrategy("hb", branching, frozen(offset), frozen(weights))


def hb(allowance: IntArray, branching: int | None = None) -> TreeStrategy:
    """The tree of this branching; without one, that whose exact squared error over all ranges is the least.

    Among trees of one height, the one with the least branching is best: the tests compare with every branching.

    >>> hb(np.full(4096, 2**16)).branching
    16
    """
    if branching is not None:
        return equal_levels(allowance, branching)
    queries = every_range(len(allowance))
    shortlist = sorted(least_branchings(len(allowance)), key=lambda pair: average_variance(*pair))[:CANDIDATES]
    trees = [equal_levels(allowance, fan) for fan, _ in shortlist]
    return min(trees, key=lambda tree: tree.expected_error(queries))


def least_branchings(k: int) -> list[tuple[int, int]]:
    """For every height that a tree over k leaves can have: its least branching, and the height.

    >>> least_branchings(100)
    [(100, 1), (10, 2), (5, 3), (4, 4), (3, 5), (2, 7)]
    """
    found: dict[int, int] = {}
    for height in range(1, max(k - 1, 1).bit_length() + 1):
        branching = max(2, round(k ** (1 / height)))
        branching += branching**height < k
        branching -= branching > 2 and (branching - 1) ** height >= k
        found.setdefault(branching, height)
    return list(found.items())


def average_variance(branching: int, height: int) -> float:
    """The authors' formula for a range's variance after least squares, up to a factor: their Equation 3."""
    return (branching - 1) * height**3 - 2 * (branching + 1) * height**2 / 3


def every_range(k: int) -> BucketQueries:
    """All ranges over k buckets that count alike."""
    return Workload.named(Closed.RANGES, k).on_buckets(np.arange(k + 1))
