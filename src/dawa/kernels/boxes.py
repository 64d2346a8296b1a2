"""Queries on boxes that tile a grid, and a grid of noisy numbers cut into boxes that are even up to the noise."""

import math

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel
from dawa.kernels.runs import with_more_room

BLOCK = 32
"""Boxes that are skipped, or taken, together."""

ROOM = 1024
"""Stretches, or leaves, for which there is room at first."""

_around = Kernel("boxes_around")
_overlaps = Kernel("boxes_overlaps")
_labels = Kernel("boxes_labels")
_cut = Kernel("boxes_cut")


def overlaps(
    lo: FloatArray, hi: FloatArray, box_lo: IntArray, box_hi: IntArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Which part of every box each query covers: the first stretch of every query, and the stretches' ends and parts.

    Neighbouring boxes with the same covered part make one stretch. Blocks of consecutive boxes that lie outside a
    query are skipped, and blocks inside it are taken whole.
    """
    m, dims, k = len(lo), lo.shape[1], len(box_lo)
    if hi.shape != (m, dims) or box_lo.shape != (k, dims) or box_hi.shape != (k, dims):
        raise InvariantError(f"Boxes {box_lo.shape} and queries {lo.shape} are not of one grid.")
    queries = (m, np.ascontiguousarray(lo, np.float64), np.ascontiguousarray(hi, np.float64))
    boxes = (k, np.ascontiguousarray(box_lo, np.int64), np.ascontiguousarray(box_hi, np.int64))
    around = np.empty((2, -(-k // BLOCK), dims))
    _around(k, dims, *boxes[1:], *around)
    begin, progress = np.zeros(m + 1, np.int64), np.zeros(2, np.int64)
    found, count = tuple(np.empty(ROOM) for _ in range(3)), 0
    while True:
        room = len(found[0])
        count = _overlaps(*queries, dims, *boxes, *around, room, count, begin, *found, progress)
        if progress[0] == m:
            return begin, found[0][:count].copy(), found[1][:count].copy(), found[2][:count].copy()
        found = with_more_room(found)


def labels(box_lo: IntArray, box_hi: IntArray, shape: IntArray) -> IntArray:
    """The box that each cell lies in, in row-major order; -1 if there is no box, -2 if there are two.

    No box may be empty or leave the grid.
    """
    boxes, dims = len(box_lo), len(shape)
    if dims < 1 or box_lo.shape != (boxes, dims) or box_hi.shape != (boxes, dims):
        raise InvariantError(f"Boxes {box_lo.shape} to {box_hi.shape} are not of a grid with {dims} axes.")
    found, at = np.full(math.prod(shape.tolist()), -1, np.int64), np.empty(dims, np.int64)
    corners = (np.ascontiguousarray(box_lo, np.int64), np.ascontiguousarray(box_hi, np.int64))
    _labels(boxes, dims, *corners, np.ascontiguousarray(shape, np.int64), at, found)
    return found


def cut(cells: FloatArray, shape: IntArray, variance: float, tolerance: float) -> tuple[IntArray, IntArray]:
    """The leaves of a kd-tree, in depth-first order: their lower and their upper corners.

    Args:
        cells: The numbers, in row-major order.
        shape: Cells along each axis.
        variance: The variance of the noise in each number.
        tolerance: How many standard deviations beyond noise alone make a box uneven.
    """
    sides, dims = shape.tolist(), len(shape)
    if dims < 1 or min(sides) < 1 or math.prod(sides) != cells.size:
        raise InvariantError(f"{cells.size} cells are not a grid of {sides}.")
    shape = np.ascontiguousarray(shape, np.int64)
    waiting = np.empty((2, sum(sides) + 2, dims), np.int64)
    waiting[0, 0], waiting[1, 0] = 0, shape
    grid = (np.ascontiguousarray(cells, np.float64), dims, shape, variance, tolerance)
    scratch = (max(sides), np.empty(3 * dims, np.int64), np.empty(dims * max(sides)))
    found, count = tuple(np.empty((ROOM, dims), np.int64) for _ in range(2)), 0
    progress = np.ones(1, np.int64)
    while True:
        count = _cut(*grid, *scratch, *waiting, len(found[0]), count, *found, progress)
        if not progress[0]:
            return found[0][:count].copy(), found[1][:count].copy()
        found = with_more_room(found)
