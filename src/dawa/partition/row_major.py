"""Every cell of a grid as a bucket of its own, row by row: for strategies that are products of the axes.

It is public, like ``fixed.every_cell``; only the order of the buckets differs, which is that of the cells in an array
and not that of the curve.
"""

from dataclasses import dataclass

import numpy as np

from dawa.arrays import FloatArray, IntArray, frozen
from dawa.bucket_queries import BucketQueries
from dawa.counts import Occupied
from dawa.errors import OptionError
from dawa.order import MOST_LISTED
from dawa.partition.buckets import Partition
from dawa.workload import Workload


@dataclass(frozen=True, eq=False)
class RowMajor(Partition):
    """Buckets that are the cells of a grid in row-major order."""

    def totals(self, exposed: Occupied, shape: tuple[int, ...]) -> IntArray:
        """The number of records in each cell, exactly: private."""
        return exposed.grid(shape).ravel()

    def order(self, shape: tuple[int, ...]) -> IntArray:
        """The row-major number of every cell, bucket by bucket: the bucket's own."""
        return np.arange(np.prod(shape, dtype=np.int64))

    def cells(self, positions: IntArray, shape: tuple[int, ...]) -> IntArray:
        """The coordinates of the cells at these positions, one row each."""
        return np.stack(np.unravel_index(positions, shape), axis=1)

    def merged(self, workload: Workload) -> Partition:
        """The same: cells that are next to each other in this order need not be on the grid."""
        del workload
        return self

    def queries(self, workload: Workload) -> BucketQueries:
        """A workload in terms of the cells; rectangles are kept as they are, too."""
        if workload.boxes is None:
            return workload.on_buckets(self.bounds)
        lo, hi = workload.boxes
        m = len(lo)
        return BucketQueries(
            len(self), *row_runs(lo, hi, workload.shape), np.ones(m), float(m), boxes=(np.array(lo), np.array(hi))
        )


def by_rows(shape: tuple[int, ...]) -> RowMajor:
    """The cells of a grid of this shape.

    Raises:
        OptionError: If they are too many to list.
    """
    size = int(np.prod(shape, dtype=object))
    if size > MOST_LISTED:
        raise OptionError(
            f"{size} cells are too many to measure one by one.", "use 'dawa' or 'privtree', or coarser steps."
        )
    return RowMajor(frozen(np.arange(size + 1)))


def row_runs(
    lo: FloatArray, hi: FloatArray, shape: tuple[int, ...]
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Boxes as runs of row-major cells, one along the last axis for every line of cells that a box meets.

    Returns:
        Where each box's runs begin, and every run's two ends and weight: the part of the line that lies in the box.
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
