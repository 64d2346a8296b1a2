"""Scores of the walk's nodes: deviation from the median, exactly, from the occupied cells alone."""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True)
def select(values, rank):
    """The value at place ``rank`` in sorted order; reorders ``values``."""
    low, high = 0, len(values) - 1
    while high > low:
        middle = (low + high) >> 1
        a, b, c = values[low], values[middle], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@njit(cache=True)
def median_deviations(cells, counts, before, lo, hi):
    """``min_m sum |x_j - m|`` over each interval ``[lo, hi)`` of cells.

    If at least half of the cells are empty, the median is 0 and the sum is the number of records.
    ``before[i]`` is the number of records in the first i occupied cells.
    """
    scores = np.empty(len(lo), np.int64)
    scratch = np.empty(0, np.int64)
    for v in range(len(lo)):
        first = np.searchsorted(cells, lo[v])
        last = first + np.searchsorted(cells[first:], hi[v])
        width, occupied = hi[v] - lo[v], last - first
        if 2 * occupied <= width:
            scores[v] = before[last] - before[first]
            continue
        if len(scratch) < occupied:
            scratch = np.empty(occupied, np.int64)
        part = scratch[:occupied]
        part[:] = counts[first:last]
        empty = width - occupied
        median = select(part, width // 2 - empty)
        total = empty * median
        for i in range(first, last):
            total += abs(counts[i] - median)
        scores[v] = total
    return scores
