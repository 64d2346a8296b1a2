"""Costs of all intervals between public marks, and the least cost of each prefix by number of buckets."""

import numpy as np
from numba import njit

from dawa.kernels.bisect import growing

UNREACHED = np.int64(2**62)
"""The cost of a prefix that has fewer parts than buckets: no cost of real data is as high."""


@njit(cache=True)
def absolute(counts, marks):
    """Deviation from the median, ``cost[i, j]`` of the cells ``[marks[i], marks[j])``, i < j."""
    number = len(marks)
    cost = np.zeros((number, number), np.int64)
    size = marks[number - 1]
    half = (size + 1) >> 1
    lower, upper = np.empty(half, np.int64), np.empty(half, np.int64)
    scores = np.empty(size, np.int64)
    for i in range(number - 1):
        begin = marks[i]
        growing(counts[begin:size], lower, upper, scores)
        for j in range(i + 1, number):
            cost[i, j] = scores[marks[j] - begin - 1]
    return cost


@njit(cache=True)
def squared(counts, marks):
    """Squared deviation from the mean, rounded down: ``cost[i, j]`` of the cells ``[marks[i], marks[j])``, i < j.

    With sum = q·length + r the squared sum over the length is ``q²·length + 2·q·r + r²/length``: no product is
    larger than the largest count times the sum, or the square of the length.
    """
    number = len(marks)
    cost = np.zeros((number, number), np.int64)
    sums, squares = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for i in range(number - 1):
        sums[i + 1], squares[i + 1] = sums[i], squares[i]
        for cell in range(marks[i], marks[i + 1]):
            sums[i + 1] += counts[cell]
            squares[i + 1] += counts[cell] * counts[cell]
    for i in range(number - 1):
        for j in range(i + 1, number):
            length = marks[j] - marks[i]
            total = sums[j] - sums[i]
            whole = total // length
            rest = total - whole * length
            mean_squares = whole * (total + rest) + (rest * rest + length - 1) // length
            cost[i, j] = squares[j] - squares[i] - mean_squares
    return cost


@njit(cache=True)
def prefixes(cost, buckets):
    """``best[b, j]``: the least cost of the parts before mark j in exactly b + 1 buckets."""
    number = cost.shape[0]
    best = np.full((buckets, number), UNREACHED)
    for j in range(1, number):
        best[0, j] = cost[0, j]
    for b in range(1, buckets):
        for i in range(b, number - 1):
            before = best[b - 1, i]
            for j in range(i + 1, number):
                total = before + cost[i, j]
                if total < best[b, j]:
                    best[b, j] = total
    return best
