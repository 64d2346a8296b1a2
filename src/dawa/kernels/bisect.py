"""Deviations from the median of growing intervals, exactly: what P-HP and StructureFirst compare.

Two heaps hold the lower and the upper half of the cells seen so far. The lower half has as many cells as the upper
one, or one more, and its largest is a median m, so ``Σ|x_j - m| = Σ upper - Σ lower + m·(|lower| - |upper|)``.
Sums of counts fit in 63 bits if the total of the counts does.

The module also computes the costs of all intervals between public marks, and the least cost of each prefix by number
of buckets.
"""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True, inline="always")
def _push(heap, size, value):
    """Put a value into a heap with the least on top; the heap then has ``size + 1`` entries."""
    place = size
    while place > 0 and heap[(place - 1) >> 1] > value:
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    heap[place] = value


@njit(cache=True, inline="always")
def _replace_top(heap, size, value):
    """Replace the least value in a heap of ``size`` entries by another value."""
    place = 0
    child = 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = value


@njit(cache=True)
def growing(values, lower, upper, scores):
    """``scores[i]`` becomes ``min_m Σ|x_j - m|`` over the first i + 1 values.

    Args:
        values: Non-negative counts.
        lower: Scratch for half of the values, rounded up; it holds them negated.
        upper: Scratch of the same size, not negated.
        scores: The result, one per value.
    """
    lower_sum, upper_sum = np.int64(0), np.int64(0)
    for i in range(len(values)):
        value = values[i]
        half = i >> 1
        if i & 1 == 0:  # both halves have `half` cells; the lower one grows
            if half > 0 and value > upper[0]:
                least = upper[0]
                _replace_top(upper, half, value)
                upper_sum += value - least
                value = least
            _push(lower, half, -value)
            lower_sum += value
            scores[i] = upper_sum - lower_sum - lower[0]
        else:  # the lower half has one more; the upper one grows
            if value < -lower[0]:
                largest = -lower[0]
                _replace_top(lower, half + 1, -value)
                lower_sum += value - largest
                value = largest
            _push(upper, half, value)
            upper_sum += value
            scores[i] = upper_sum - lower_sum


@njit(cache=True)
def bisections(counts):
    """The deviation that is left after a cut: entry i is that of the first i cells plus that of the other cells.

    Entry 0 is the deviation of all cells, uncut.
    """
    size = len(counts)
    half = (size + 1) >> 1
    lower, upper = np.empty(half, np.int64), np.empty(half, np.int64)
    left, right = np.empty(size, np.int64), np.empty(size, np.int64)
    growing(counts, lower, upper, left)
    growing(counts[::-1].copy(), lower, upper, right)
    cost = np.empty(size, np.int64)
    cost[0] = left[size - 1]
    for i in range(1, size):
        cost[i] = left[i - 1] + right[size - 1 - i]
    return cost


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
