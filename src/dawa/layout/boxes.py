"""Boxes of a grid: the buckets of the spatial mechanisms, and how a rectangle lies on rows of cells."""

import math
from dataclasses import dataclass

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_LISTED


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes ``[lo, hi)`` that tile a grid, in the order of the buckets.

    Attributes:
        lo: The lower corner of each box, one row of cell numbers.
        hi: The upper corner of each box.
    """

    lo: IntArray
    hi: IntArray

    def __len__(self) -> int:
        return len(self.lo)

    @property
    def bounds(self) -> IntArray:
        """Where each box begins and ends if the cells of all boxes are lined up one box after the other."""
        return frozen(np.concatenate(([0], np.cumsum(np.prod(self.hi - self.lo, axis=1)))))

    def labels(self, shape: tuple[int, ...]) -> IntArray:
        """The box of every cell, in row-major order.

        Raises:
            OptionError: If the boxes do not tile the grid, or the grid is too large.
        """
        self._check_places(shape)
        found: IntArray = kernels.boxes.labels(np.array(self.lo), np.array(self.hi), np.array(shape))
        if (found < 0).any():
            raise OptionError("The boxes overlap or leave cells out.", "pass boxes that tile the grid.")
        return found

    def check_tiling(self, shape: tuple[int, ...]) -> None:
        """Refuse boxes that do not tile the grid, without a look at its cells.

        How many boxes a cell lies in is a sum over the corners that are not beyond it: a corner counts once for the
        box, plus or minus by how many of its coordinates are upper ends. So the boxes cover every cell once if and
        only if their corners add up to those of the whole grid.

        Raises:
            OptionError: If the boxes do not tile the grid, or the grid is too large.
        """
        self._check_places(shape)
        whole = Boxes(np.zeros((1, len(shape)), np.int64), np.array([shape]))
        places, signs = zip(*(boxes.corners(shape) for boxes in (self, whole)), strict=True)
        order = np.argsort(np.concatenate(places), kind="stable")
        place, sign = np.concatenate(places)[order], np.concatenate((signs[0], -signs[1]))[order]
        sums = np.add.reduceat(sign, np.flatnonzero(np.diff(place, prepend=-1)))
        if sums.any():
            raise OptionError("The boxes overlap or leave cells out.", "pass boxes that tile the grid.")

    def cells(self, positions: IntArray) -> IntArray:
        """The coordinates of the cells at these positions, if cells are lined up box by box, row by row in each."""
        bounds = self.bounds
        box = np.searchsorted(bounds, positions, side="right") - 1
        rest, sides = positions - bounds[box], (self.hi - self.lo)[box]
        found = np.empty((len(positions), self.lo.shape[1]), np.int64)
        for axis in range(found.shape[1] - 1, -1, -1):
            found[:, axis] = self.lo[box, axis] + rest % sides[:, axis]
            rest = rest // sides[:, axis]
        return found

    def _check_places(self, shape: tuple[int, ...]) -> None:
        if math.prod(shape) > MOST_CELLS_LISTED:
            raise OptionError(f"Boxes tile at most {MOST_CELLS_LISTED} cells.", "choose coarser steps.")
        if (self.lo < 0).any() or (self.lo >= self.hi).any() or (self.hi > np.array(shape)).any():
            raise OptionError("Some boxes are empty or leave the grid.", "a tiling has 0 <= lo < hi <= shape.")

    def corners(self, shape: tuple[int, ...]) -> tuple[IntArray, IntArray]:
        """The number of each corner on the grid of all corners, and its sign."""
        place, sign = np.zeros((len(self), 1), np.int64), np.ones((1, 1), np.int64)
        for axis, side in enumerate(shape):
            ends = np.stack((self.lo[:, axis], self.hi[:, axis]), axis=1)
            place = (place[:, :, None] * (side + 1) + ends[:, None, :]).reshape(len(self), -1)
            sign = (sign[:, :, None] * np.array([1, -1])).reshape(1, -1)
        return place.ravel(), np.repeat(sign, len(self), axis=0).ravel()


def row_runs(
    lo: FloatArray, hi: FloatArray, shape: tuple[int, ...]
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Boxes as runs of row-major cells, one along the last axis for every line of cells that a box meets.

    Returns:
        Where each box's runs begin, and every run's two ends and weight. The weight is the part of the line in the box.
    """
    first_line, beyond = np.floor(lo[:, :-1]).astype(np.int64), np.ceil(hi[:, :-1]).astype(np.int64)
    sides = beyond - first_line
    lines = np.prod(sides, axis=1, dtype=np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(lines)))
    box = np.repeat(np.arange(len(lo)), lines)
    rest = np.arange(first[-1]) - first[:-1][box]
    weight, flat = np.ones(len(box)), np.zeros(len(box), np.int64)
    stride = shape[-1]
    for axis in range(len(shape) - 2, -1, -1):
        line = first_line[box, axis] + rest % sides[box, axis]
        rest //= sides[box, axis]
        weight *= np.minimum(hi[box, axis], line + 1) - np.maximum(lo[box, axis], line)
        flat += stride * line
        stride *= shape[axis]
    return first, flat + lo[box, -1], flat + hi[box, -1], weight
