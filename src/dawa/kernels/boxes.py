"""Queries on a grid, seen from boxes that tile it."""

import numpy as np
from numba import njit

from dawa.kernels.growth import twice

BLOCK = 32
"""Boxes that are passed over, or taken, together."""


@njit(cache=True)
def overlaps(lo, hi, box_lo, box_hi):
    """Which part of every box each query covers: first stretch of every query, and stretches' ends and parts.

    Neighbouring boxes that are covered alike make one stretch together. Blocks of consecutive boxes that lie outside
    of a query are passed over, and blocks inside of it are taken whole.
    """
    dims, k = lo.shape[1], len(box_lo)
    blocks = (k + BLOCK - 1) // BLOCK
    around_lo, around_hi = np.empty((blocks, dims)), np.empty((blocks, dims))
    for block in range(blocks):
        for i in range(dims):
            around_lo[block, i] = box_lo[block * BLOCK : (block + 1) * BLOCK, i].min()
            around_hi[block, i] = box_hi[block * BLOCK : (block + 1) * BLOCK, i].max()
    begin = np.zeros(len(lo) + 1, np.int64)
    start, stop, share = np.empty(1024), np.empty(1024), np.empty(1024)
    count = 0
    for q in range(len(lo)):
        begin[q] = count
        for block in range(blocks):
            outside, inside = False, True
            for i in range(dims):
                if hi[q, i] <= around_lo[block, i] or around_hi[block, i] <= lo[q, i]:
                    outside = True
                    break
                inside &= lo[q, i] <= around_lo[block, i] and around_hi[block, i] <= hi[q, i]
            if outside:
                continue
            b, last = block * BLOCK, min((block + 1) * BLOCK, k)
            while b < last:
                part, after = 1.0, last
                if not inside:
                    after = b + 1
                    for i in range(dims):
                        covered = min(hi[q, i], float(box_hi[b, i])) - max(lo[q, i], float(box_lo[b, i]))
                        if covered <= 0:
                            part = 0.0
                            break
                        part *= covered / (box_hi[b, i] - box_lo[b, i])
                if part > 0:
                    if count > begin[q] and stop[count - 1] == b and share[count - 1] == part:
                        stop[count - 1] = after
                    else:
                        if count == len(start):
                            start, stop, share = twice(start), twice(stop), twice(share)
                        start[count], stop[count], share[count] = b, after, part
                        count += 1
                b = after
    begin[len(lo)] = count
    return begin, start[:count].copy(), stop[:count].copy(), share[:count].copy()


@njit(cache=True)
def labels(box_lo, box_hi, shape):
    """The box that each cell lies in, row by row of the grid; -1 where there is none, -2 where there are two."""
    dims = len(shape)
    cells = 1
    for i in range(dims):
        cells *= shape[i]
    found = np.full(cells, -1, np.int64)
    at = np.empty(dims, np.int64)
    for b in range(len(box_lo)):
        at[:] = box_lo[b]
        while at[0] < box_hi[b, 0]:
            flat = 0
            for i in range(dims):
                flat = flat * shape[i] + at[i]
            for step in range(box_hi[b, dims - 1] - box_lo[b, dims - 1]):
                found[flat + step] = b if found[flat + step] == -1 else -2
            i = dims - 2
            while i >= 0:
                at[i] += 1
                if at[i] < box_hi[b, i] or i == 0:
                    break
                at[i] = box_lo[b, i]
                i -= 1
            if i < 0:
                break
    return found
