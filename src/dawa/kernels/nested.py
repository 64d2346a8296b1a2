"""Nested intervals over the buckets, a tree of any shape: moments, least squares, variances, and queries on boxes.

Nodes come in depth-first order, parents first: the intervals and, below each, the single buckets. ``skip[i]`` is the
first node after i that does not lie below it, ``parent[i]`` the node above it or -1. Let c be a node's weight over the
resolution, and s the sum of its children's m. Then ``m = s / (1 + c² s)`` is the variance of the node's total by what
was measured at it and below; for a single bucket ``m = 1 / c²``.
"""

from typing import Any

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel
from dawa.kernels.runs import with_more_room

_parents = Kernel("nested_parents")
_heights = Kernel("nested_heights")
_moments = Kernel("nested_moments")
_least_squares = Kernel("nested_least_squares")
_integer_weights = Kernel("nested_integer_weights")
_variances = Kernel("nested_variances")
_overlaps = Kernel("nested_overlaps")


def parents(skip: IntArray) -> IntArray:
    """The node right above each node, or -1."""
    above = np.empty(len(skip), np.int64)
    _parents(len(skip), _whole(skip), above)
    return above


def moments(weights: FloatArray, skip: IntArray, parent: IntArray) -> tuple[FloatArray, FloatArray]:
    """Every node's m and s; s is 0 for single buckets."""
    nodes = _agreed(weights, skip, parent)
    m, s = np.empty(nodes), np.empty(nodes)
    _moments(nodes, _floats(weights), _whole(skip), _whole(parent), m, s)
    return m, s


def least_squares(
    answers: FloatArray, weights: FloatArray, m: FloatArray, s: FloatArray, skip: IntArray, parent: IntArray
) -> FloatArray:
    """The totals of all nodes that fit the answers best: combine upwards, then hand the residual down."""
    nodes = _agreed(answers, weights, m, s, skip, parent)
    below, best = np.empty(nodes), np.empty(nodes)
    numbers = map(_floats, (answers, weights, m, s))
    _least_squares(nodes, *numbers, _whole(skip), _whole(parent), below, best)
    return best


def variances(
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    start: IntArray,
    stop: IntArray,
    weights: FloatArray,
    m: FloatArray,
    s: FloatArray,
    skip: IntArray,
    deepest: int,
) -> FloatArray:
    """``wᵀ (AᵀA)⁻¹ w`` of each query; runs are sorted, disjoint and in bucket coordinates.

    ``deepest`` is the largest of the tree's heights.
    """
    if not len(lo) == len(hi) == len(weight) >= first[-1]:
        raise InvariantError("Every run of a query has two ends and a weight.")
    nodes = _agreed(start, stop, weights, m, s, skip)
    queries = (len(first) - 1, _whole(first), *map(_floats, (lo, hi, weight)))
    tree = (nodes, _whole(start), _whole(stop), *map(_floats, (weights, m, s)), _whole(skip))
    out = np.empty(len(first) - 1)
    _variances(*queries, *tree, np.empty(deepest + 2, np.int64), np.empty(deepest + 2), np.empty(deepest + 2), out)
    return out


def overlaps(
    lo: FloatArray,
    hi: FloatArray,
    box_lo: IntArray,
    box_hi: IntArray,
    start: IntArray,
    stop: IntArray,
    skip: IntArray,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Boxes as queries on a tree of boxes: the first stretch of every query, and the stretches' ends and covered parts.

    A node that lies wholly in the query is one stretch; neighbours with the same covered part make one stretch.
    """
    nodes, (queries, axes) = _agreed(start, stop, skip), lo.shape
    if hi.shape != lo.shape or not box_lo.shape == box_hi.shape == (nodes, axes):
        raise InvariantError("Queries and nodes are boxes on the same axes.")
    tree = (nodes, _whole(box_lo), _whole(box_hi), _whole(start), _whole(stop), _whole(skip))
    given = (queries, axes, _floats(lo), _floats(hi), *tree)
    begin, found, done = np.zeros(queries + 1, np.int64), tuple(np.empty(1024) for _ in range(3)), 0
    while (done := _overlaps(*given, done, len(found[0]), begin, *found)) < queries:
        found = with_more_room(found)
    at, to, share = (array[: begin[-1]].copy() for array in found)
    return begin, at, to, share


def heights(skip: IntArray, parent: IntArray) -> IntArray:
    """How many levels lie below each node, at most."""
    nodes = _agreed(skip, parent)
    levels = np.empty(nodes, np.int64)
    _heights(nodes, _whole(parent), levels)
    return levels


def integer_weights(
    share: FloatArray, levels: IntArray, start: IntArray, skip: IntArray, parent: IntArray, allowance: IntArray
) -> IntArray:
    """Weights from the top down, so that every bucket's column sums to exactly its allowance.

    A node takes ``share[levels]`` of what the poorest bucket has left, rounded down; a bucket takes all that it has.
    """
    nodes = _agreed(levels, start, skip, parent)
    tree = map(_whole, (levels, start, skip, parent, allowance))
    used, weights = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    _integer_weights(nodes, _floats(share), *tree, int(allowance.min()), used, weights)
    return weights


def _agreed(*arrays: Any) -> int:
    """The number of nodes, which all these arrays have."""
    nodes = len(arrays[0])
    if any(len(array) != nodes for array in arrays):
        raise InvariantError("Arrays over the nodes of one tree have different lengths.")
    return nodes


def _whole(array: IntArray) -> IntArray:
    return np.ascontiguousarray(array, np.int64)


def _floats(array: FloatArray) -> FloatArray:
    return np.ascontiguousarray(array, np.float64)
