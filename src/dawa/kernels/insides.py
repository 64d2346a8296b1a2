"""Records placed smoothly inside buckets that lie on a grid: a bucket's cells change, its total does not."""

import numpy as np

from dawa.kernels.compiled import njit


@njit(nogil=True, cache=True)
def smoothed(label, totals, shape, rounds, most):
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
    n, k, dims = len(label), len(totals), len(shape)
    stride = np.ones(dims, np.int64)
    for axis in range(dims - 2, -1, -1):
        stride[axis] = stride[axis + 1] * shape[axis + 1]
    width, scale = np.zeros(k), np.zeros(k)
    for cell in range(n):
        width[label[cell]] += 1
    level, after = np.empty(n), np.empty(n)
    for cell in range(n):
        level[cell] = totals[label[cell]] / width[label[cell]]
    at = np.zeros(dims, np.int64)
    parts = 2.0 * dims + 1.0
    for _ in range(rounds):
        sums = np.zeros(k)
        at[:] = 0
        for cell in range(n):
            around = level[cell]
            for axis in range(dims):
                around += level[cell - stride[axis]] if at[axis] > 0 else level[cell]
                around += level[cell + stride[axis]] if at[axis] < shape[axis] - 1 else level[cell]
            after[cell] = around / parts
            sums[label[cell]] += after[cell]
            axis = dims - 1
            while axis >= 0:
                at[axis] += 1
                if at[axis] < shape[axis]:
                    break
                at[axis] = 0
                axis -= 1
        for bucket in range(k):
            scale[bucket] = totals[bucket] / sums[bucket] if sums[bucket] > 0 else 0.0
        for cell in range(n):
            level[cell] = after[cell] * scale[label[cell]]
    uneven = np.zeros(k)
    for cell in range(n):
        bucket = label[cell]
        uneven[bucket] += abs(level[cell] - totals[bucket] / width[bucket])
    for cell in range(n):
        bucket = label[cell]
        if uneven[bucket] > most[bucket]:
            even = totals[bucket] / width[bucket]
            level[cell] = even + most[bucket] / uneven[bucket] * (level[cell] - even)
    return level
