"""Isotonic regression: the nearest numbers that never fall."""

import numpy as np

from dawa.arrays import FloatArray
from dawa.kernels.native import Kernel

_nondecreasing = Kernel("isotonic_nondecreasing")


def nondecreasing(values: FloatArray) -> FloatArray:
    """The non-decreasing numbers with the least sum of squared differences from the given ones.

    Neighbours that fall are pooled, and take their mean, until no pool has a larger mean than the next one.
    """
    n = len(values)
    sums, counts, found = np.empty(n), np.empty(n, np.int64), np.empty(n)
    _nondecreasing(n, np.ascontiguousarray(values, np.float64), sums, counts, found)
    return found
