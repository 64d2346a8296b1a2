"""Where the buckets of a map lie: their centres, and which stretches of them touch. Public, like the buckets."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dawa.arrays import FloatArray, IntArray, distinct


@dataclass(frozen=True, eq=False)
class Patches:
    """Buckets as patches of a grid.

    Attributes:
        shape: Cells along each axis.
        order: The row-major number of every cell, bucket by bucket.
        bounds: Where each bucket begins and ends among these.
    """

    shape: tuple[int, ...]
    order: IntArray
    bounds: IntArray

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @cached_property
    def centres(self) -> FloatArray:
        """The mean cell of each bucket, one row of coordinates."""
        sums = [np.add.reduceat(axis.astype(np.float64), self.bounds[:-1]) for axis in self._coordinates()]
        return np.stack(sums, axis=1) / np.diff(self.bounds)[:, None]

    def touching(self, first: IntArray) -> list[IntArray]:
        """For each stretch of buckets, by its first bucket, the stretches that touch it; itself among them."""
        count = len(first)
        cells = np.diff(np.append(self.bounds[first], self.bounds[-1]))
        label = np.empty(len(self.order), np.int64)
        label[self.order] = np.repeat(np.arange(count), cells)
        grid = label.reshape(self.shape)
        pairs = [np.arange(count) * (count + 1)]
        for axis in range(grid.ndim):
            one = np.moveaxis(grid, axis, 0)
            here, there = one[:-1].ravel(), one[1:].ravel()
            differ = here != there
            codes = distinct(here[differ] * count + there[differ])
            pairs += [codes, codes % count * count + codes // count]
        codes = distinct(np.concatenate(pairs))
        return np.split(codes % count, np.searchsorted(codes // count, np.arange(1, count)))

    def _coordinates(self) -> list[IntArray]:
        return list(np.unravel_index(self.order, self.shape))
