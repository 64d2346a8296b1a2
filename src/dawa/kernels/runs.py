"""Weighted runs of cells, gathered bucket by bucket."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_gathered = Kernel("runs_gathered")


def gathered(
    first: IntArray, lo: IntArray, hi: IntArray, weight: FloatArray, bounds: IntArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Each query's runs as stretches of buckets: the first stretch of every query, and the stretches' ends and weights.

    A bucket that is cut is a separate stretch, and its weight is the covered part; neighbouring buckets that are
    wholly covered with one weight make one stretch.
    """
    if not len(lo) == len(hi) == len(weight) >= first[-1]:
        raise InvariantError("Every run of a query has two ends and a weight.")
    starts, stops = np.ascontiguousarray(lo, np.int64), np.ascontiguousarray(hi, np.int64)
    runs = (len(first) - 1, np.ascontiguousarray(first, np.int64), starts, stops, np.ascontiguousarray(weight, float))
    buckets, edges = len(bounds) - 1, np.ascontiguousarray(bounds, np.int64)
    begin, found, done = np.zeros(len(first), np.int64), tuple(np.empty(len(lo) + 1) for _ in range(3)), 0
    while (done := _gathered(*runs, buckets, edges, done, len(found[0]), begin, *found)) < len(first) - 1:
        found = with_more_room(found)
    start, stop, share = (array[: begin[-1]].copy() for array in found)
    return begin, start, stop, share


def with_more_room(arrays: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """The same arrays with twice the room: a kernel that found no room goes on with these."""
    return tuple(np.concatenate((array, np.empty_like(array))) for array in arrays)
