"""Passes over a t-ary tree of intervals: energies of queries, weights, least squares, variances.

Node i of level l covers leaves ``[i·tˡ, (i+1)·tˡ)``, clipped to the k leaves; level 0 holds the leaves and the top
level one node. Arrays over nodes hold level after level; ``offset[l]`` is where level l begins. With c a node's
weight and M the sum of ``c²·11ᵀ`` over a subtree, v = M⁻¹1 and m = 1ᵀM⁻¹1, a parent's inverse is that of its
children minus ``κ·vvᵀ``, κ = c²/(1 + c²·s), s the sum of the children's m; so everything is sums along levels.

The variance of a query of many runs is found level by level, through the nodes that the query cuts. For the part of
the query below a node, ``var`` is its variance by the node's subtree and ``dot`` its covariance with the node's total.
If the query covers the node evenly with weight w, they are w²m and wm, where m is the variance of the node's total. So
on every level a query is a list of *cut* nodes and a list of *stretches* of nodes that it covers evenly. Both are
sorted.
"""

from typing import Any

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_ratios = Kernel("tree_ratios")
_total_error = Kernel("tree_total_error")
_integer_weights = Kernel("tree_integer_weights")
_column_sums = Kernel("tree_column_sums")
_node_totals = Kernel("tree_node_totals")
_moments = Kernel("tree_moments")
_least_squares = Kernel("tree_least_squares")
_range_variances = Kernel("tree_range_variances")
_variances = Kernel("tree_variances")


def ratios(
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    omega: FloatArray,
    differences: bool,  # noqa: FBT001  as the queries have it
    budget: FloatArray,
    t: int,
    offset: IntArray,
) -> FloatArray:
    """ρ of every node, bottom up: the paper's greedy choice.

    ``budget`` is what each leaf may spend; a node can only take what the poorest leaf below it has. The decay
    ``t^(-depth/2)`` discounts queries that ancestors will answer.
    """
    queries = _runs(first, lo, hi, weight)
    tree, k = _tree(t, offset, leaves=(budget,))
    room, chosen = np.empty(10 * (k + 1)), np.empty(offset[-1])
    _ratios(*queries, _per_query(omega, first), bool(differences), _floats(budget), *tree, room, chosen)
    return chosen


def integer_weights(chosen: FloatArray, allowance: IntArray, t: int, offset: IntArray) -> IntArray:
    """Whole weights from ρ, top down: floors for the inner nodes, what is left for the leaves.

    A leaf keeps at least a thousandth of its allowance. With nearly nothing, every difference of large variances would
    lose digits, and a bucket would be unknown to queries that are not in the workload.
    """
    tree, _ = _tree(t, offset, nodes=(chosen,), leaves=(allowance,))
    poorest, used, weights = (np.empty(offset[-1], np.int64) for _ in range(3))
    scale = np.empty(offset[-1])
    _integer_weights(_floats(chosen), _whole(allowance), *tree, poorest, used, scale, weights)
    return weights


def column_sums(weights: IntArray, t: int, offset: IntArray) -> IntArray:
    """Each leaf's sum of weights along its path."""
    tree, k = _tree(t, offset, nodes=(weights,))
    sums = np.array(weights, np.int64)
    _column_sums(*tree, sums)
    return sums[:k]


def node_totals(totals: IntArray, t: int, offset: IntArray) -> IntArray:
    """The number of records below every node, in exact integers."""
    tree, k = _tree(t, offset, leaves=(totals,))
    sums = np.empty(offset[-1], np.int64)
    sums[:k] = totals
    _node_totals(*tree, sums)
    return sums


def moments(weights: FloatArray, t: int, offset: IntArray) -> tuple[FloatArray, FloatArray]:
    """Every node's m, the variance of its total by its own subtree, and s, the sum of its children's m."""
    tree, _ = _tree(t, offset, nodes=(weights,))
    m, s = np.empty(len(weights)), np.empty(len(weights))
    _moments(_floats(weights), *tree, m, s)
    return m, s


def least_squares(answers: FloatArray, weights: FloatArray, t: int, offset: IntArray) -> FloatArray:
    """Leaf totals that fit all answers best: combine upwards, then hand the residuals down."""
    tree, k = _tree(t, offset, nodes=(answers, weights))
    m, s, below, best = (np.empty(len(weights)) for _ in range(4))
    _least_squares(_floats(answers), _floats(weights), *tree, m, s, below, best)
    return best[:k]


def total_error(
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    omega: FloatArray,
    differences: bool,  # noqa: FBT001  as the queries have it
    weights: FloatArray,
    t: int,
    offset: IntArray,
) -> float:
    """The weighted sum of ``wᵀM⁻¹w`` over all queries."""
    queries = _runs(first, lo, hi, weight)
    tree, k = _tree(t, offset, nodes=(weights,))
    per_query = (_per_query(omega, first), bool(differences))
    total: float = _total_error(*queries, *per_query, _floats(weights), *tree, np.empty(7 * (k + 1)))
    return total


def range_variances(
    lo: FloatArray, hi: FloatArray, weights: FloatArray, m: FloatArray, s: FloatArray, t: int, offset: IntArray
) -> FloatArray:
    """``wᵀM⁻¹w`` of each range: climb from both ends, adding what is wholly covered in between.

    ``m`` and ``s`` come from ``moments``. For the part of a query below a node, ``var`` is its variance by the
    subtree and ``dot`` its covariance with the node's total; both are m where the node is wholly covered.
    """
    tree, _ = _tree(t, offset, nodes=(weights, m, s))
    if len(lo) != len(hi):
        raise InvariantError("Ranges have as many lower as upper ends.")
    prefix, out = np.empty(len(m) + len(offset) - 1), np.empty(len(lo))
    _range_variances(len(lo), _floats(lo), _floats(hi), _floats(weights), _floats(m), _floats(s), *tree, prefix, out)
    return out


def variances(
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    weights: FloatArray,
    m: FloatArray,
    s: FloatArray,
    t: int,
    offset: IntArray,
) -> FloatArray:
    """``wᵀM⁻¹w`` of each query; runs begin and end at whole buckets, ``m`` and ``s`` come from ``moments``."""
    queries = _runs(first, lo, hi, weight)
    tree, _ = _tree(t, offset, nodes=(weights, m, s))
    most = int(np.diff(first).max(initial=1))
    prefix, out = np.empty(len(m) + len(offset) - 1), np.empty(len(first) - 1)
    places, numbers = np.empty(6 * most, np.int64), np.empty(9 * most)
    _variances(*queries, _floats(weights), _floats(m), _floats(s), *tree, most, prefix, places, numbers, out)
    return out


def _runs(first: IntArray, lo: FloatArray, hi: FloatArray, weight: FloatArray) -> tuple[Any, ...]:
    """Queries of weighted runs, as the kernels take them."""
    if not len(lo) == len(hi) == len(weight) >= first[-1]:
        raise InvariantError("Every run of a query has two ends and a weight.")
    return len(first) - 1, _whole(first), _floats(lo), _floats(hi), _floats(weight)


def _per_query(omega: FloatArray, first: IntArray) -> FloatArray:
    if len(omega) != len(first) - 1:
        raise InvariantError("Every query has a weight.")
    return _floats(omega)


def _tree(
    t: int, offset: IntArray, nodes: tuple[Any, ...] = (), leaves: tuple[Any, ...] = ()
) -> tuple[tuple[Any, ...], int]:
    """A tree as the kernels take it, and its number of leaves; and a look at arrays over its nodes and its leaves."""
    k = int(offset[1])
    if any(len(array) != offset[-1] for array in nodes) or any(len(array) != k for array in leaves):
        raise InvariantError("A tree was given arrays of another size.")
    return (t, len(offset) - 1, _whole(offset)), k


def _whole(array: IntArray) -> IntArray:
    return np.ascontiguousarray(array, np.int64)


def _floats(array: FloatArray) -> FloatArray:
    return np.ascontiguousarray(array, np.float64)
