"""Buckets that are boxes of a grid: what the spatial mechanisms choose instead of stretches of a curve."""

import math
from dataclasses import dataclass

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.bucket_queries import BucketQueries
from dawa.errors import OptionError
from dawa.order import MOST_LISTED


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes ``[lo, hi)`` that tile a grid, in the order in which they count as buckets.

    Attributes:
        lo: The lower corner of each, one row of cell numbers.
        hi: The upper corner of each.
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
            OptionError: If the boxes do not tile the grid, or it is too large.
        """
        if math.prod(shape) > MOST_LISTED:
            raise OptionError(f"Boxes tile at most {MOST_LISTED} cells.", "choose coarser steps.")
        limits = np.array(shape)
        if (self.lo < 0).any() or (self.lo >= self.hi).any() or (self.hi > limits).any():
            raise OptionError("Some boxes are empty or leave the grid.", "a tiling has 0 <= lo < hi <= shape.")
        found: IntArray = kernels.boxes.labels(np.array(self.lo), np.array(self.hi), limits)
        if (found < 0).any():
            raise OptionError("The boxes overlap or leave cells out.", "pass boxes that tile the grid.")
        return found

    def queries(self, lo: FloatArray, hi: FloatArray) -> BucketQueries:
        """Rectangles in terms of the boxes, each box taken in proportion to its covered part."""
        m = len(lo)
        corners = (np.array(lo), np.array(hi), np.array(self.lo), np.array(self.hi))
        first, start, stop, share = kernels.boxes.overlaps(*corners)
        return BucketQueries(len(self), first, start, stop, share, np.ones(m), float(m))
