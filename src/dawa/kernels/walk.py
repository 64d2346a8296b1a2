"""Scores of the walk's nodes: deviation from the median, exactly, from the occupied cells alone."""

import numpy as np

from dawa.arrays import IntArray
from dawa.kernels.native import Kernel

_median_deviations = Kernel("walk_median_deviations")


def median_deviations(cells: IntArray, counts: IntArray, before: IntArray, lo: IntArray, hi: IntArray) -> IntArray:
    """``min_m sum |x_j - m|`` over each interval ``[lo, hi)`` of cells.

    If at least half of the cells are empty, the median is 0 and the sum is the number of records.
    ``before[i]`` is the number of records in the first i occupied cells.
    """
    scratch, scores = np.empty(len(cells), np.int64), np.empty(len(lo), np.int64)
    _median_deviations(len(cells), cells, counts, before, len(lo), lo, hi, scratch, scores)
    return scores
