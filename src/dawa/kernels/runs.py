"""Weighted runs of cells, gathered bucket by bucket, in arrays that grow while a kernel fills them."""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True)
def twice(array):
    """The same array with twice the room."""
    return np.concatenate((array, np.empty_like(array)))


@njit(nogil=True, cache=True)
def gathered(first, lo, hi, weight, bounds):
    """Each query's runs as stretches of buckets: the first stretch of every query, and the stretches' ends and weights.

    A bucket that is cut is a separate stretch, and its weight is the covered part; neighbouring buckets that are
    wholly covered with one weight make one stretch.
    """
    begin = np.zeros(len(first), np.int64)
    start, stop, share = np.empty(1024), np.empty(1024), np.empty(1024)
    count = 0
    for q in range(len(first) - 1):
        begin[q] = count
        bucket, covered = -1, 0.0  # a bucket that is cut, and how many of its cells are covered so far
        for r in range(first[q], first[q + 1] + 1):
            ended = r == first[q + 1]
            at, end, w = (-1, -1, 0.0) if ended else (lo[r], hi[r], weight[r])
            while True:
                beyond, part = -1, 0.0
                if bucket >= 0 and (ended or at >= bounds[bucket + 1]):  # nothing more is added to this bucket
                    beyond, part = bucket + 1, covered / (bounds[bucket + 1] - bounds[bucket])
                elif at >= end:
                    break
                elif bucket < 0:
                    bucket, covered = np.searchsorted(bounds, at, side="right") - 1, 0.0
                    if bounds[bucket] == at and bounds[bucket + 1] <= end:  # whole buckets, all at once
                        beyond, part = np.searchsorted(bounds, end, side="right") - 1, w
                        at = bounds[beyond]
                if beyond < 0:
                    until = min(end, bounds[bucket + 1])
                    covered += w * (until - at)
                    at = until
                    continue
                if count > begin[q] and stop[count - 1] == bucket and share[count - 1] == part:
                    stop[count - 1] = beyond
                else:
                    if count == len(start):
                        start, stop, share = twice(start), twice(stop), twice(share)
                    start[count], stop[count], share[count] = bucket, beyond, part
                    count += 1
                bucket = -1
    begin[len(first) - 1] = count
    return begin, start[:count].copy(), stop[:count].copy(), share[:count].copy()
