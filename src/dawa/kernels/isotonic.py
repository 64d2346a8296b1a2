"""Isotonic regression: the nearest numbers that never fall."""

import numpy as np

from dawa.kernels.compiled import njit


@njit(nogil=True, cache=True)
def nondecreasing(values):
    """The non-decreasing numbers with the least sum of squared differences from the given ones.

    Neighbours that fall are pooled, and take their mean, until no pool has a larger mean than the next one.
    """
    n = len(values)
    sums, counts = np.empty(n), np.empty(n, np.int64)
    pools = 0
    for i in range(n):
        total, count = values[i], 1
        while pools > 0 and sums[pools - 1] / counts[pools - 1] >= total / count:
            pools -= 1
            total, count = sums[pools] + total, counts[pools] + count
        sums[pools], counts[pools] = total, count
        pools += 1
    found = np.empty(n)
    at = 0
    for pool in range(pools):
        mean = sums[pool] / counts[pool]
        for _ in range(counts[pool]):
            found[at] = mean
            at += 1
    return found
