"""Haar wavelets over any number of buckets: transform, inverse, and errors of queries.

Node i of level l covers buckets ``[i·2ˡ, (i+1)·2ˡ)``; its row is its left half minus its right half. A node is *whole*
if all its buckets exist: level l has ``k >> l`` whole nodes, and one clipped node more unless 2ˡ divides k. The
rows of whole nodes are orthogonal to one another and to every sum over nodes around them. So a query is, row by
row, a sum over its ends: an end that lies t buckets into a node of width W counts ``min(t, W - t) / W``, upper ends
with a plus and lower ends with a minus. The clipped nodes and the grand total concern only the totals of *blocks*,
the largest whole nodes, whose widths are the binary digits of k; ``top`` holds their part.
"""

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_transforms = Kernel("wavelet_transforms")
_inverses = Kernel("wavelet_inverses")
_range_variances = Kernel("wavelet_range_variances")
_total_error = Kernel("wavelet_total_error")


def transform(totals: IntArray) -> IntArray:
    """Left minus right of every node, from the narrowest level up, then the grand total: exact integers."""
    answers: IntArray = transforms(totals[None])[0]
    return answers


def transforms(totals: IntArray) -> IntArray:
    """The transform of every row of a matrix."""
    rows, k = totals.shape
    if k < 1:
        raise InvariantError("There is no bucket to transform.")
    answers = np.empty((rows, _nodes(k) + 1), np.int64)
    _transforms(rows, k, totals, answers.shape[1], np.empty((k + 1) // 2, np.int64), answers)
    return answers


def inverse(differences: FloatArray, start: IntArray, blocks: FloatArray, k: int) -> FloatArray:
    """Buckets from the differences of whole nodes and the totals of blocks, from the widest level down.

    ``start[l]`` is where level l begins among the differences; ``blocks[l]`` is the total of the block of width 2ˡ.
    """
    buckets: FloatArray = inverses(differences[None], start, blocks[None], k)[0]
    return buckets


def inverses(differences: FloatArray, start: IntArray, blocks: FloatArray, k: int) -> FloatArray:
    """The inverse of every row of a matrix, with a row of blocks each."""
    rows, width = differences.shape
    levels = blocks.shape[1]
    whole = k >> np.arange(k.bit_length())
    if (
        len(blocks) != rows
        or min(levels, len(start)) < len(whole)
        or not _within(start[1 : len(whole)], whole[1:], width)
    ):
        raise InvariantError(f"Differences, blocks and levels do not belong to {k} buckets.")
    sums = np.empty((rows, k))
    _inverses(rows, width, differences, start, levels, blocks, k, sums)
    return sums


def range_variances(
    lo: FloatArray, hi: FloatArray, k: int, unit: float, edges: FloatArray, top: FloatArray
) -> FloatArray:
    """The variance of each range; ``unit`` is the variance of one difference."""
    blocks, rows = _above(edges, top)
    top = np.ascontiguousarray(top)
    if len(lo) != len(hi):
        raise InvariantError("Some ranges have only one end.")
    out = np.empty(len(lo))
    _range_variances(len(lo), lo, hi, k, unit, blocks, edges, rows, top, np.empty(rows), out)
    return out


def total_error(
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    omega: FloatArray,
    differences: int,
    k: int,
    unit: float,
    edges: FloatArray,
    top: FloatArray,
) -> float:
    """The weighted sum of all queries' variances, row by row.

    If ``differences`` is true, queries are prefixes and the workload is the difference of every two of them.
    """
    blocks, rows = _above(edges, top)
    top = np.ascontiguousarray(top)
    runs, queries = len(lo), len(first) - 1
    if first[0] < 0 or first[-1] > runs or len(hi) != runs or len(weight) != runs or len(omega) != queries:
        raise InvariantError("Queries and their runs do not agree.")
    above, (square, linear) = np.empty(rows), np.empty((2, max(rows, k // 2)))
    given = queries, first, lo, hi, weight, omega, differences
    total: float = _total_error(*given, k, unit, blocks, edges, rows, top, above, square, linear)
    return total


def _nodes(k: int) -> int:
    """The number of nodes on all levels."""
    nodes = 0
    while k > 1:
        k = (k + 1) // 2
        nodes += k
    return nodes


def _within(start: IntArray, number: IntArray, width: int) -> bool:
    """Whether all parts of a row, by where they begin and how long they are, lie within it."""
    return bool((start >= 0).all() and (start + number <= width).all())


def _above(edges: FloatArray, top: FloatArray) -> tuple[int, int]:
    """The number of blocks, and of the rows above them."""
    if len(edges) < 2 or len(top) != len(edges):
        raise InvariantError("The rows above the blocks do not belong to these blocks.")
    return len(edges) - 1, top.shape[1]
