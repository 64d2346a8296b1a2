"""The cost of a partition, as the paper defines it, from public counts: for evaluation only."""

import numpy as np

from dawa.arrays import FloatArray, IntArray


def partition_cost(counts: IntArray, bounds: IntArray, epsilon2: float) -> float:
    """How far cells lie from the means of their buckets, in all, and 1/ε2 for each bucket.

    >>> partition_cost(np.array([1, 3, 5, 5]), np.array([0, 2, 4]), 0.5)
    6.0
    """
    widths = np.diff(bounds)
    means: FloatArray = np.repeat(np.add.reduceat(counts, bounds[:-1]) / widths, widths)
    return float(np.abs(counts - means).sum() + len(widths) / epsilon2)
