"""Records placed smoothly inside buckets that lie on a grid: a bucket's cells change, its total does not."""

import math

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_smoothed = Kernel("insides_smoothed")


def smoothed(label: IntArray, totals: FloatArray, shape: IntArray, rounds: int, most: FloatArray) -> FloatArray:
    """Cells in row-major order whose sums are the buckets' totals, and which differ little from their neighbours.

    Every bucket's total is spread evenly. Then, round by round, every cell becomes the mean of itself and its two
    neighbours along every axis, where the outside of the grid mirrors its border, and every bucket's cells are scaled
    back to its total. The page does the same operations in the same order.

    Args:
        label: The bucket of every cell, in row-major order.
        totals: Every bucket's total, none of them negative.
        shape: Cells along each axis.
        rounds: How often cells are averaged.
        most: How far the cells of each bucket may be from even, together: the rest is taken back.
    """
    n, k = len(label), len(totals)
    width = np.bincount(label, minlength=k).astype(np.float64)
    if math.prod(shape.tolist()) != n or len(width) != k or len(most) != k:
        raise InvariantError("The cells of a grid are not those of its buckets.")
    level, after, sums = np.empty(n), np.empty(n), np.empty(k)
    label, shape = np.ascontiguousarray(label, np.int64), np.ascontiguousarray(shape, np.int64)
    totals, most = np.ascontiguousarray(totals, np.float64), np.ascontiguousarray(most, np.float64)
    _smoothed(n, label, k, totals, width, len(shape), shape, rounds, most, after, sums, level)
    return level
