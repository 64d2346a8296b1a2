"""How cells lie on a line: in their own order along one axis, on a Hilbert curve over two or more.

Neighbours on the line are neighbours on the map, so a stretch of the line is a connected patch of the map. In squares
whose side is a power of two, the dyadic stretches are the squares of a quadtree. After this step there are only
intervals on a line. The order depends on the shape of the domain alone, so it is public.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.errors import WorkloadError
from dawa.limits import MOST_RUNS


class Runs(NamedTuple):
    """Queries as weighted runs on the line; the runs of a query are sorted and disjoint."""

    first: IntArray
    """Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``."""
    lo: IntArray
    """Where each run begins."""
    hi: IntArray
    """One past the end of each run."""
    weight: FloatArray
    """The weight of each run's cells."""


@dataclass(frozen=True)
class Order:
    """The line through all cells of a domain.

    >>> Order((2, 2)).cells(np.arange(4)).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0]]

    Attributes:
        shape: Cells along each axis.
    """

    shape: tuple[int, ...]

    @property
    def straight(self) -> bool:
        """Whether there is only one axis: positions are then the cells' own numbers."""
        return len(self.shape) == 1

    def positions(self, cells: IntArray) -> IntArray:
        """The positions on the line of cells that are given as rows of coordinates."""
        if self.straight:
            return cells[:, 0].astype(np.int64)
        found: IntArray = kernels.hilbert.positions(np.array(cells, np.int64), np.array(self.shape))
        return found

    def cells(self, positions: IntArray) -> IntArray:
        """The coordinates of the cells at these positions, one row each."""
        if self.straight:
            return positions[:, None].astype(np.int64)
        found: IntArray = kernels.hilbert.cells_at(np.array(positions, np.int64), np.array(self.shape))
        return found

    def flat(self) -> IntArray:
        """The row-major number of every cell, in the order of the line."""
        return _flat(self.shape)

    def runs(self, lo: FloatArray, hi: FloatArray, bounds: IntArray | None = None) -> Runs:
        """Boxes as weighted runs on the line.

        Args:
            lo: The lower corner of each box, in cells; a fraction cuts a cell.
            hi: The upper corner of each box.
            bounds: Buckets inside which only the sum of all weights matters: far fewer runs if cells are small.

        Raises:
            WorkloadError: If there are too many runs, or a box is too thin to hold any part of a cell.
        """
        ends = np.zeros(0, np.int64) if bounds is None else np.array(bounds)
        corners = (np.array(lo, np.float64), np.array(hi, np.float64))
        found = Runs(*kernels.hilbert.runs(*corners, np.array(self.shape), ends, MOST_RUNS))
        if len(found.lo) > MOST_RUNS:
            raise WorkloadError(
                f"The rectangles have more than {MOST_RUNS} runs of cells.", "ask fewer at once, or use coarser steps."
            )
        if (np.diff(found.first) < 1).any():
            raise WorkloadError("Some rectangles are too thin to hold any part of a cell.", "ask for larger ones.")
        return Runs(frozen(found.first), frozen(found.lo), frozen(found.hi), frozen(found.weight))


@lru_cache(maxsize=2)
def _flat(shape: tuple[int, ...]) -> IntArray:
    if len(shape) == 1:
        return frozen(np.arange(shape[0]))
    strides = np.cumprod((1, *shape[:0:-1]), dtype=np.int64)[::-1].copy()
    return frozen(kernels.hilbert.whole_curve(np.array(shape), strides))
