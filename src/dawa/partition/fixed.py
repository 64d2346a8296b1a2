"""Partitions that cost nothing because they are public: none at all, or one that the user names."""

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import frozen
from dawa.errors import OptionError
from dawa.order import MOST_LISTED
from dawa.partition.buckets import Partition


def every_cell(size: int) -> Partition:
    """One bucket per cell: no partition.

    Raises:
        OptionError: If they are too many to list.
    """
    if size > MOST_LISTED:
        raise OptionError(f"{size} cells are too many to measure one by one.", "use 'dawa', or coarser steps.")
    return Partition(frozen(np.arange(size + 1)))


def given(bounds: ArrayLike, size: int) -> Partition:
    """Buckets fixed beforehand, without a look at the data.

    Raises:
        OptionError: If the bounds do not increase from 0 to the size of the domain.
    """
    hint = f"pass increasing whole numbers that begin with 0 and end with {size}."
    try:
        array = np.asarray(bounds)
    except (ValueError, TypeError, OverflowError):
        raise OptionError("The partition cannot be read as a list of cell numbers.", hint) from None
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "iuf":
        raise OptionError("The partition is no list of cell numbers.", hint)
    if not ((array >= 0) & (array <= size) & (array == np.floor(array))).all():
        raise OptionError("The partition has bounds that are no cell numbers.", hint)
    whole = array.astype(np.int64)
    if whole[0] != 0 or whole[-1] != size or (np.diff(whole) <= 0).any():
        raise OptionError(f"The partition does not divide the domain of {size} cells.", hint)
    return Partition(frozen(whole))
