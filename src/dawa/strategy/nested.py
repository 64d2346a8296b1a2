"""Sums over nested intervals of buckets: a tree of any shape, such as the boxes of a kd-tree in depth-first order.

``TreeStrategy`` has a fixed number of children per node; here, every node may have a different number. The algebra and
the cost are the same.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.layout.nesting import Nesting, crossing, depth_first
from dawa.limits import MOST_NESTED
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION, LeafRows, broken


@dataclass(frozen=True, eq=False)
class NestedStrategy(LeafRows):
    """Integer weights on nested intervals, and on every bucket alone.

    Attributes:
        start: Each interval's first bucket, in depth-first order.
        stop: One past its last bucket.
        weights: Each interval's weight.
    """

    kind = "nested"
    name = "nested sums"

    start: IntArray
    stop: IntArray
    weights: IntArray

    def check(self) -> None:
        """Refuse intervals that leave the buckets or cross, and weights outside their bounds."""
        start, stop, weights = self.start, self.stop, self.weights
        if not len(start) == len(stop) == len(weights):
            raise broken("has lists of different lengths: start, stop and weights")
        if (start < 0).any() or (start >= stop).any() or (stop > self.buckets).any():
            raise broken("has intervals that are empty or leave the buckets", "stop")
        if (depth_first(start, stop) != np.arange(len(start))).any() or crossing(start, stop):
            raise broken("has intervals that cross or are out of order", "start")
        if (weights < 0).any() or (weights > RESOLUTION).any():
            raise broken(f"has weights outside of 0 to {RESOLUTION}", "weights")
        around = np.zeros(self.buckets + 1, np.int64)
        np.add.at(around, start, 1)
        np.subtract.at(around, stop, 1)
        if np.cumsum(around).max() > MOST_NESTED:
            raise broken(f"has more than {MOST_NESTED} intervals inside one another", "start")

    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of weights."""
        steps = np.zeros(self.buckets + 1, np.int64)
        np.add.at(steps, self.start, self.weights)
        np.subtract.at(steps, self.stop, self.weights)
        return self.leaf + np.cumsum(steps[:-1])

    def apply(self, totals: IntArray) -> IntArray:
        """Every node's weighted total, in depth-first order, in exact integers."""
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(totals)))
        answers: IntArray = self._node_weights * (before[self.nodes.stop] - before[self.nodes.start])
        return answers

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares in two passes."""
        weights = self._node_weights.astype(np.float64)
        tree = (self.nodes.skip, self.nodes.parent)
        m, s = kernels.nested.moments(weights, *tree)
        best: FloatArray = kernels.nested.least_squares(np.array(answers, np.float64), weights, m, s, *tree)
        return best[self.nodes.single]

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each run ``[lo, hi)`` in bucket coordinates, in the time that the cut nodes take."""
        return self._variances(np.arange(len(lo) + 1), lo, hi, np.ones(len(lo)))

    def variances(self, queries: BucketQueries) -> FloatArray:
        """The variance of each query, however many runs it has."""
        return self._variances(queries.first, queries.lo, queries.hi, queries.weight)

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        error = float(queries.omega @ self.variances(queries))
        if not queries.differences:
            return error
        first, omega = np.array(queries.first, np.int64), np.array(queries.omega, np.float64)
        lo, hi, weight = (np.array(array, np.float64) for array in (queries.lo, queries.hi, queries.weight))
        linear, _ = kernels.hats.moments(first, lo, hi, weight, omega, self.buckets)
        bucket = np.arange(self.buckets, dtype=np.float64)
        mean = self._variances(np.array([0, self.buckets]), bucket, bucket + 1, linear)
        return float(queries.omega.sum()) * error - float(mean[0])

    @cached_property
    def nodes(self) -> Nesting:
        """The intervals and the single buckets."""
        return Nesting.of(self.buckets, self.start, self.stop)

    def _variances(self, first: IntArray, lo: FloatArray, hi: FloatArray, weight: FloatArray) -> FloatArray:
        starts, stops, weights = (np.array(array, np.float64) for array in (lo, hi, weight))
        nodes, scaled = self.nodes, self._node_weights / RESOLUTION
        tree = (nodes.start, nodes.stop, scaled, *self._moments, nodes.skip, self._deepest)
        found: FloatArray = kernels.nested.variances(np.array(first, np.int64), starts, stops, weights, *tree)
        return found

    @cached_property
    def _node_weights(self) -> IntArray:
        """The weight of every node, depth first."""
        single = self.nodes.single
        weights = np.empty(len(single), np.int64)
        weights[single], weights[~single] = self.leaf, self.weights
        return weights

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        m, s = kernels.nested.moments(self._node_weights / RESOLUTION, self.nodes.skip, self.nodes.parent)
        return m, s

    @cached_property
    def _deepest(self) -> int:
        return int(kernels.nested.heights(self.nodes.skip, self.nodes.parent).max())


def geometric(start: IntArray, stop: IntArray, allowance: IntArray, ratio: float) -> NestedStrategy:
    """Weights that fall by this ratio from level to level, leaves to root, in the same way below every node.

    Args:
        start: Each interval's first bucket.
        stop: One past its last bucket.
        allowance: The column sum that each bucket gets.
        ratio: By what factor a node's weight is less than the weights of the level below.
    """
    nodes = Nesting.of(len(allowance), start, stop)
    levels = kernels.nested.heights(nodes.skip, nodes.parent)
    falling = float(ratio) ** -np.arange(int(levels.max()) + 1)
    share = falling / np.cumsum(falling)
    weights = kernels.nested.integer_weights(share, levels, nodes.start, nodes.skip, nodes.parent, np.array(allowance))
    single = nodes.single
    parts = (weights[single], nodes.start[~single], nodes.stop[~single], weights[~single])
    return NestedStrategy(*(frozen(part) for part in parts))
