"""A t-ary tree of intervals over the buckets, weighted for a workload: the paper's template.

Leaves are single buckets. Each node above sums t nodes of the level below, the last one perhaps fewer. The module also
has trees with equal weights on all levels and the branching that suits ranges best (Qardaji, Yang, Li 2013).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dawa import check, kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.limits import MOST_BRANCHES
from dawa.queries.bucket_queries import BucketQueries, Closed
from dawa.queries.workload import Workload
from dawa.strategy.base import RESOLUTION, ByRanges, broken, whole_numbers


def level_offsets(buckets: int, branching: int) -> IntArray:
    """Where each level's nodes begin, leaves first, and where the last level ends.

    >>> level_offsets(5, 2)
    array([ 0,  5,  8, 10, 11])
    """
    sizes = [buckets]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // branching))
    return np.concatenate(([0], np.cumsum(sizes)))


@dataclass(frozen=True, eq=False)
class TreeStrategy(ByRanges):
    """Integer weights on the nodes of a t-ary tree.

    Attributes:
        weighting: How the weights were found.
        branching: Children per node, t.
        offset: Where each level begins among the nodes, leaves first.
        weights: One per node; every leaf's weight is at least 1.
    """

    weighting: str
    branching: int
    offset: IntArray
    weights: IntArray

    @property
    def buckets(self) -> int:
        """Number of buckets, k."""
        return int(self.offset[1])

    @property
    def name(self) -> str:
        """What to call it in a release."""
        return f"{self.weighting} tree of branching {self.branching}"

    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of weights."""
        sums: IntArray = kernels.tree.column_sums(self.weights, self.branching, self.offset)
        return sums

    def apply(self, totals: IntArray) -> IntArray:
        """Every node's weighted total, leaves first, in exact integers."""
        answers: IntArray = self.weights * kernels.tree.node_totals(totals, self.branching, self.offset)
        return answers

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares in two passes."""
        best: FloatArray = kernels.tree.least_squares(
            answers, self.weights.astype(np.float64), self.branching, self.offset
        )
        return best

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each run ``[lo, hi)`` in bucket coordinates."""
        scaled, (m, s) = self._scaled, self._moments
        variances: FloatArray = kernels.tree.range_variances(lo, hi, scaled, m, s, self.branching, self.offset)
        return variances

    def variances(self, queries: BucketQueries) -> FloatArray:
        """The variance of each query, however many runs it has."""
        if len(queries.lo) == len(queries):
            return self.range_variances(queries.lo, queries.hi) * queries.weight**2
        runs = (queries.first, queries.lo, queries.hi, queries.weight)
        variances: FloatArray = kernels.tree.variances(*runs, self._scaled, *self._moments, self.branching, self.offset)
        return variances

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        return float(kernels.tree.total_error(*_arrays(queries), self._scaled, self.branching, self.offset))

    def described(self) -> dict[str, Any]:
        """Plain numbers, and the weights."""
        return {
            "kind": "tree",
            "weighting": self.weighting,
            "branching": self.branching,
            "buckets": self.buckets,
            "weights": self.weights,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "TreeStrategy":
        """The strategy that ``to_json`` wrote.

        Raises:
            ReleaseError: If the numbers do not make a tree. Compiled loops would not notice.
        """
        branching, buckets, weights = data["branching"], data["buckets"], whole_numbers(data, "weights")
        if not check.is_whole(branching, 2, MOST_BRANCHES):
            raise broken(f"is not a whole number from 2 to {MOST_BRANCHES}", "branching")
        if not check.is_whole(buckets, 1, len(weights)):
            raise broken("is not a whole number from 1 to the number of weights", "buckets")
        offset = level_offsets(buckets, branching)
        if weights.shape != (offset[-1],):
            raise broken(f"has {len(weights):,} entries, not {offset[-1]:,}", "weights")
        if (weights < 0).any() or (weights > RESOLUTION).any() or (weights[:buckets] < 1).any():
            raise broken(f"has weights outside of 0 to {RESOLUTION}, or buckets without one", "weights")
        return cls(str(data["weighting"]), branching, frozen(offset), frozen(weights))

    @cached_property
    def _scaled(self) -> FloatArray:
        return self.weights / RESOLUTION

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        m, s = kernels.tree.moments(self._scaled, self.branching, self.offset)
        return m, s


def greedy(queries: BucketQueries, allowance: IntArray, branching: int = 2) -> TreeStrategy:
    """The paper's weights: bottom up, each node takes the share that serves the workload best."""
    return _by_queries("greedy", queries, allowance, branching)


def leaves_only(allowance: IntArray, branching: int = 2) -> TreeStrategy:
    """All weight on the buckets themselves: the Laplace mechanism."""
    return _by_level("leaves-only", allowance, branching, lambda _: 0.0)


def uniform(allowance: IntArray, branching: int = 2) -> TreeStrategy:
    """The same weight on every level (Hay et al. 2010)."""
    return _by_level("uniform", allowance, branching, lambda _: 1.0)


def geometric(allowance: IntArray, branching: int = 2) -> TreeStrategy:
    """Weights that fall by the cube root of t from level to level, leaves to root (Cormode et al. 2012)."""
    return _by_level("geometric", allowance, branching, lambda level: branching ** (-level / 3))


def level_optimised(queries: BucketQueries, allowance: IntArray, branching: int, sweeps: int = 3) -> TreeStrategy:
    """One share per level, found by descent on the exact expected error from equal weights on all levels.

    A level with no weight at all is a local minimum that descent does not leave, hence the start with equal weights.
    """
    offset = level_offsets(len(allowance), branching)
    ratio = np.append(0, 1 / np.arange(1, len(offset) - 1))

    def built() -> TreeStrategy:
        return _tree("level-optimised", np.repeat(ratio, np.diff(offset)), allowance, branching, offset)

    best = built()
    least, factor = best.expected_error(queries), 2.0
    for _ in range(sweeps):
        for level in range(1, len(ratio)):
            for move in (factor, 1 / factor):
                while True:
                    ratio[level] *= move
                    tried = built()
                    error = tried.expected_error(queries)
                    if not error < least or not 1e-3 < ratio[level] < 1e3:
                        ratio[level] /= move
                        break
                    best, least = tried, error
        factor = math.sqrt(factor)
    return best


def _arrays(queries: BucketQueries) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray, bool]:
    """The arrays of a workload that the kernels take."""
    return queries.first, queries.lo, queries.hi, queries.weight, queries.omega, queries.differences


def _by_queries(weighting: str, queries: BucketQueries, allowance: IntArray, branching: int) -> TreeStrategy:
    offset = level_offsets(len(allowance), branching)
    chosen = kernels.tree.ratios(*_arrays(queries), allowance / RESOLUTION, branching, offset)
    return _tree(weighting, chosen, allowance, branching, offset)


def _by_level(weighting: str, allowance: IntArray, branching: int, relative: Callable[[int], float]) -> TreeStrategy:
    """Weights from a formula per level; the leaves have relative weight 1."""
    offset = level_offsets(len(allowance), branching)
    sums, ratio = 1.0, np.zeros(len(offset) - 1)
    for level in range(1, len(ratio)):
        ratio[level] = relative(level) / sums
        sums += relative(level)
    return _tree(weighting, np.repeat(ratio, np.diff(offset)), allowance, branching, offset)


def _tree(weighting: str, chosen: FloatArray, allowance: IntArray, branching: int, offset: IntArray) -> TreeStrategy:
    weights = kernels.tree.integer_weights(chosen, allowance, branching, offset)
    return TreeStrategy(weighting, branching, frozen(offset), frozen(weights))


CANDIDATES = 3
"""How many heights, the best by the authors' formula, are compared by their exact errors."""


def equal_levels(allowance: IntArray, branching: int) -> TreeStrategy:
    """The same weight on every level but the root, which is not measured: its children add up to it."""
    offset = level_offsets(len(allowance), branching)
    ratio = np.zeros(len(offset) - 1)
    ratio[1:-1] = 1 / np.arange(1, len(ratio) - 1)
    weights = kernels.tree.integer_weights(np.repeat(ratio, np.diff(offset)), allowance, branching, offset)
    return TreeStrategy("hb", branching, frozen(offset), frozen(weights))


def hb(allowance: IntArray, branching: int | None = None) -> TreeStrategy:
    """The tree of this branching; if None, the tree with the least exact squared error over all ranges.

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
    """All ranges over k buckets that count equally."""
    return Workload.named(Closed.RANGES, k).on_buckets(np.arange(k + 1))
