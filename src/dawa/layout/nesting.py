"""Nested intervals of buckets, which never cross: a tree of any shape, laid out for compiled loops."""

from typing import NamedTuple

import numpy as np

from dawa import kernels
from dawa.arrays import BoolArray, IntArray


class Nesting(NamedTuple):
    """Intervals and single buckets in depth-first order, parents first."""

    start: IntArray
    """The first bucket of each node."""
    stop: IntArray
    """One past the last bucket of each node."""
    skip: IntArray
    """The first later node that does not lie below each node."""
    parent: IntArray
    """The node right above each node, or -1."""

    @classmethod
    def of(cls, buckets: int, start: IntArray, stop: IntArray) -> "Nesting":
        """The tree of these intervals, in depth-first order, with every bucket below the narrowest interval around it.

        >>> Nesting.of(3, np.array([0, 1]), np.array([3, 3])).parent
        array([-1,  0,  0,  2,  2])
        """
        bucket = np.arange(buckets)
        starts, stops = np.concatenate((start, bucket)), np.concatenate((stop, bucket + 1))
        order = np.lexsort((-stops, starts))  # stable: a bucket comes after an interval of the same cells
        starts, stops = starts[order], stops[order]
        skip = np.searchsorted(starts, stops, side="left")
        return cls(starts, stops, skip, kernels.nested.parents(skip))

    @property
    def single(self) -> BoolArray:
        """Which nodes are single buckets, and not intervals."""
        alone: BoolArray = self.skip == np.arange(1, len(self.skip) + 1)
        return alone


def depth_first(start: IntArray, stop: IntArray) -> IntArray:
    """An order in which every interval comes before the intervals inside it."""
    order: IntArray = np.lexsort((-stop, start))
    return order


def crossing(start: IntArray, stop: IntArray) -> bool:
    """Whether some of these intervals, in depth-first order, overlap without one lying inside the other.

    >>> crossing(np.array([0, 1]), np.array([2, 3]))
    True
    """
    around: list[int] = []
    for first, beyond in zip(start.tolist(), stop.tolist(), strict=True):
        while around and around[-1] <= first:
            around.pop()
        if around and beyond > around[-1]:
            return True
        around.append(beyond)
    return False
