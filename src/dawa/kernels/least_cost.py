"""The partition of least total cost, by dynamic programming over integer bucket costs.

Ties are decided by a fixed rule: of two equal totals the one with the longer last bucket wins and, if those
are equal too, the one with the longer bucket before it, and so on. The rule alone is an order of all
partitions, the same for all data: the privacy proof of ``noisy_cost`` needs that.

Every partial total must fit in 63 bits; whoever scales the costs sees to it.
"""

import numpy as np
from numba import njit

UNREACHED = np.iinfo(np.int64).max
"""The total of an end that no bucket has reached yet."""


@njit(cache=True)
def powers(costs):
    """Bounds of the best partition into buckets whose lengths are powers of two.

    Args:
        costs: ``costs[h, i]`` is the cost of ``[i, i + 2^h)``; entries past the last cell are not read.
    """
    levels, size = costs.shape
    best = np.empty(size + 1, np.int64)
    last = np.empty(size + 1, np.int64)
    best[0] = 0
    last[0] = 0
    for end in range(1, size + 1):
        least = UNREACHED
        for level in range(levels - 1, -1, -1):  # the longest first, so that it keeps its place in a tie
            start = end - (1 << level)
            if start >= 0 and best[start] + costs[level, start] < least:
                least = best[start] + costs[level, start]
                last[end] = start
        best[end] = least
    return traced(last)


@njit(cache=True)
def extend(best, last, start, costs):
    """Offer the buckets ``[start, start + 1)``, ``[start, start + 2)``, … to the partitions that end there.

    Called for every start in increasing order, it leaves in ``last`` what ``traced`` wants. At the first call
    ``best`` holds 0 and then ``UNREACHED``. A later start is a shorter last bucket, and loses a tie.
    """
    before = best[start]
    for offset in range(len(costs)):
        end = start + offset + 1
        if before + costs[offset] < best[end]:
            best[end] = before + costs[offset]
            last[end] = start


@njit(cache=True)
def traced(last):
    """The bounds, from where the last bucket of the best partition of each prefix starts."""
    size = len(last) - 1
    number = 0
    end = size
    while end > 0:
        number += 1
        end = last[end]
    bounds = np.empty(number + 1, np.int64)
    end = size
    for place in range(number, -1, -1):
        bounds[place] = end
        end = last[end]
    return bounds
