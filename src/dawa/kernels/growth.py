"""Arrays that grow while a kernel fills them."""

import numpy as np
from numba import njit


@njit(cache=True)
def twice(array):
    """The same array with as much room again."""
    return np.concatenate((array, np.empty_like(array)))
