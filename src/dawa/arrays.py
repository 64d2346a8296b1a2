"""Names for the array types that flow through the pipeline, and a way to keep them from changing."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
WordArray = NDArray[np.uint64]

Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A read-only view: the values that pass between steps do not change on the way."""
    view = array.view()
    view.flags.writeable = False
    return view


def distinct(numbers: IntArray) -> IntArray:
    """The numbers in increasing order, each once. Several times faster here than numpy.unique, which hashes."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered
