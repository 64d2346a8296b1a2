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
        if math.prod(shape) > MOST_CELLS_LISTED:
            raise OptionError(f"Boxes tile at most {MOST_CELLS_LISTED} cells.", "choose coarser steps.")
        limits = np.array(shape)
        if (self.lo < 0).any() or (self.lo >= self.hi).any() or (self.hi > limits).any():
            raise OptionError("Some boxes are empty or leave the grid.", "a tiling has 0 <= lo < hi <= shape.")
        found: IntArray = kernels.boxes.labels(np.array(self.lo), np.array(self.hi), limits)
        if (found < 0).any():
            raise OptionError("The boxes overlap or leave cells out.", "pass boxes that tile the grid.")
        return found


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
