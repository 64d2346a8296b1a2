"""Queries on boxes that tile a grid, and a grid of noisy numbers cut into boxes that are even up to the noise."""

import math

import numpy as np

from dawa.kernels.compiled import njit
from dawa.kernels.runs import twice

BLOCK = 32
"""Boxes that are skipped, or taken, together."""


@njit(nogil=True, cache=True)
def overlaps(lo, hi, box_lo, box_hi):
    """Which part of every box each query covers: the first stretch of every query, and the stretches' ends and parts.

    Neighbouring boxes with the same covered part make one stretch. Blocks of consecutive boxes that lie outside a
    query are skipped, and blocks inside it are taken whole.
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
    """The box that each cell lies in, in row-major order; -1 if there is no box, -2 if there are two."""
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


@njit(cache=True)
def cut(cells, shape, variance, tolerance):
    """The leaves of a kd-tree, in depth-first order: their lower and their upper corners.

    Args:
        cells: The numbers, in row-major order.
        shape: Cells along each axis.
        variance: The variance of the noise in each number.
        tolerance: How many standard deviations beyond noise alone make a box uneven.
    """
    dims = len(shape)
    stack_lo, stack_hi = np.empty((shape.sum() + 2, dims), np.int64), np.empty((shape.sum() + 2, dims), np.int64)
    stack_lo[0], stack_hi[0] = 0, shape
    waiting, count = 1, 0
    out_lo, out_hi = np.empty((64, dims), np.int64), np.empty((64, dims), np.int64)
    slabs = np.empty((dims, shape.max()))
    lo, hi = np.empty(dims, np.int64), np.empty(dims, np.int64)
    while waiting > 0:
        waiting -= 1
        lo[:], hi[:] = stack_lo[waiting], stack_hi[waiting]
        size = 1
        for i in range(dims):
            size *= hi[i] - lo[i]
        axis, at = 0, 0
        if size > 1:
            squares = _sums(cells, shape, lo, hi, size, slabs)
            axis, at, gain = _best(lo, hi, size, slabs)
            # The variance of squared Laplace noise is 5 times the square of the noise's variance.
            usual = size - 1 + tolerance * math.sqrt(5.0 * (size - 1))
            if squares <= variance * usual and gain <= variance * tolerance**2:
                at = 0
        if at == 0:
            if count == len(out_lo):
                out_lo, out_hi = twice(out_lo), twice(out_hi)
            out_lo[count], out_hi[count] = lo, hi
            count += 1
        else:
            for half in range(2):
                stack_lo[waiting], stack_hi[waiting] = lo, hi
                if half == 0:
                    stack_lo[waiting, axis] = lo[axis] + at
                else:
                    stack_hi[waiting, axis] = lo[axis] + at
                waiting += 1
    return out_lo[:count].copy(), out_hi[:count].copy()


@njit(cache=True)
def _sums(cells, shape, lo, hi, size, slabs):
    """The sum of a box's squared deviations from its mean; ``slabs`` gets each slice's sum of deviations."""
    dims = len(shape)
    last = hi[dims - 1] - lo[dims - 1]
    at = np.empty(dims, np.int64)
    mean, squares = 0.0, 0.0
    for i in range(dims):
        slabs[i, : hi[i] - lo[i]] = 0.0
    for second in range(2):
        at[:] = lo
        while True:
            flat = 0
            for i in range(dims):
                flat = flat * shape[i] + at[i]
            if second == 0:
                for step in range(last):
                    mean += cells[flat + step]
            else:
                row = 0.0
                for step in range(last):
                    off = cells[flat + step] - mean
                    squares += off * off
                    row += off
                    slabs[dims - 1, step] += off
                for i in range(dims - 1):
                    slabs[i, at[i] - lo[i]] += row
            i = dims - 2
            while i >= 0:
                at[i] += 1
                if at[i] < hi[i]:
                    break
                at[i] = lo[i]
                i -= 1
            if i < 0:
                break
        mean /= size if second == 0 else 1
    return squares


@njit(cache=True)
def _best(lo, hi, size, slabs):
    """The cut that removes most of the squared deviations: its axis, the slices before it, and what it removes."""
    axis, at, gain = 0, 0, 0.0
    for i in range(len(lo)):
        length = hi[i] - lo[i]
        before, slab = 0.0, size // length
        for j in range(1, length):
            before += slabs[i, j - 1]
            cells = j * slab
            found = before * before * size / (float(cells) * (size - cells))
            if found > gain:
                axis, at, gain = i, j, found
    return axis, at, gain
