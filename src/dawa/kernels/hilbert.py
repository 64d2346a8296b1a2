"""A Hilbert curve through a box of any shape: cell to position and back, and boxes as runs of positions.

A box is crossed from one corner to the corner at the other end of one axis, its *way*. Three rules build the path:

- a box that is long along its way is cut in two across it, and both parts are crossed one after the other;
- any other box is cut across its longest other axis, the *side*: out along the side through half of the way, along
  the whole way at the far side, and back through the other half;
- a box with at most two cells along every axis is crossed by a Gray code.

A path between such corners exists only if the box is even along its way, or odd along every axis: neighbours
alternate in colour like the squares of a chessboard. The first part of every cut is even, so the rules turn a
possible box into possible boxes, and every step of the path goes to an adjacent cell.

Every box has its own coordinates, counted from the corner where the path enters.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel
from dawa.limits import MOST_AXES, MOST_CELLS

ROOM = 1024
"""Runs for which there is room at first."""

MOST_OF_A_BOX = 2**MOST_AXES
"""Runs of a box that is not cut any more."""

_positions = Kernel("hilbert_positions")
_cells_at = Kernel("hilbert_cells_at")
_whole_curve = Kernel("hilbert_whole_curve")
_progress = Kernel("hilbert_progress")
_runs = Kernel("hilbert_runs")


def _domain(shape: IntArray) -> tuple[IntArray, int]:
    """The cells along each axis, in order and of a number that the loops can follow; and all cells."""
    sides = shape.tolist()
    cells = math.prod(sides)
    if not 1 <= len(sides) <= MOST_AXES or min(sides) < 1 or cells > MOST_CELLS:
        raise InvariantError(f"There is no curve through a domain of {sides} cells.")
    return np.ascontiguousarray(shape, np.int64), cells


def positions(cells: IntArray, shape: IntArray) -> IntArray:
    """The position on the curve of each cell, which is given by a row of coordinates."""
    shape, _ = _domain(shape)
    if cells.shape[1] != len(shape):
        raise InvariantError(f"Cells with {cells.shape[1]} coordinates are not of a domain with {len(shape)} axes.")
    found = np.empty(len(cells), np.int64)
    _positions(len(cells), np.ascontiguousarray(cells, np.int64), len(shape), shape, found)
    return found


def cells_at(places: IntArray, shape: IntArray) -> IntArray:
    """The coordinates of the cell at each position: the inverse of ``positions``."""
    shape, _ = _domain(shape)
    found = np.empty((len(places), len(shape)), np.int64)
    _cells_at(len(places), np.ascontiguousarray(places, np.int64), len(shape), shape, found)
    return found


def whole_curve(shape: IntArray, strides: IntArray) -> IntArray:
    """The flat number of every cell, in the order of the curve."""
    shape, cells = _domain(shape)
    if len(strides) != len(shape):
        raise InvariantError(f"{len(shape)} axes were given {len(strides)} strides.")
    found = np.empty(cells, np.int64)
    _whole_curve(len(shape), shape, np.ascontiguousarray(strides, np.int64), found)
    return found


def runs(
    lo: FloatArray, hi: FloatArray, shape: IntArray, bounds: IntArray, most: int
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Boxes as runs of positions: each box's first run, and the ends and weight of every run.

    A box may cut cells; the weight of a cell is then the part of it that is inside. Parts of the domain that lie
    entirely inside or outside are not entered, so a box costs as much as its surface. If ``bounds`` are given, parts
    that lie in one bucket ``[bounds[b], bounds[b + 1])`` are not entered either: such a part is one run with the
    average weight of its cells. So a box costs no more than the buckets that it cuts, however small the cells. Ends
    early with the box that has the first run above ``most``.
    """
    shape, _ = _domain(shape)
    if lo.shape != hi.shape or lo.shape[1] != len(shape):
        raise InvariantError(f"Corners {lo.shape} and {hi.shape} are not of boxes with {len(shape)} axes.")
    lo, hi = np.ascontiguousarray(lo, np.float64), np.ascontiguousarray(hi, np.float64)
    boxes, given = (len(lo), lo, hi, len(shape), shape), (len(bounds) - 1, np.ascontiguousarray(bounds, np.int64), most)
    first, progress = np.zeros(len(lo) + 1, np.int64), np.zeros(_progress(), np.int64)
    found: tuple[NDArray[Any], ...] = (np.empty(ROOM, np.int64), np.empty(ROOM, np.int64), np.empty(ROOM))
    room, count = ROOM, 0
    while True:
        count = _runs(*boxes, *given, room, count, first, *found, progress)
        if progress[0] == len(lo):
            starts, stops, weights = (each[:count].copy() for each in found)
            return first, starts, stops, weights
        room = min(2 * room, most + 2 * MOST_OF_A_BOX)
        found = tuple(np.concatenate((each[:count], np.empty(room - count, each.dtype))) for each in found)
