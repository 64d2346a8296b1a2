"""Names for the array types that flow through the pipeline, and a way to keep them from changing."""

from typing import Any, TypeVar

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


def listed(value: Any) -> Any:  # noqa: ANN401  JSON
    """JSON values with lists in the place of arrays.

    >>> listed({"bounds": np.arange(3), "inside": ["even"]})
    {'bounds': [0, 1, 2], 'inside': ['even']}
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: listed(part) for name, part in value.items()}
    return [listed(part) for part in value] if isinstance(value, list) else value


def running(numbers: FloatArray) -> FloatArray:
    """0, and the sums of the first number, the first two, and so on, each right to about its last digit.

    A plain running sum loses a digit now and then, and all sums after it inherit that. What each addition lost is known
    exactly (Knuth, *The Art of Computer Programming* 2, section 4.2.2), so it is added up beside. A page of a release
    does the same operations in the same order, and finds the same sums.

    >>> running(np.array([2.0**53, 1.0, 1.0, -(2.0**53)])).tolist()
    [0.0, 9007199254740992.0, 9007199254740992.0, 9007199254740994.0, 2.0]
    """
    sums = np.concatenate(([0.0], np.cumsum(numbers)))
    before, after = sums[:-1], sums[1:]
    grown = after - before
    lost = (before - (after - grown)) + (numbers - grown)
    sums[1:] += np.cumsum(lost)
    return sums


def distinct(numbers: IntArray) -> IntArray:
    """The numbers in increasing order, each once. Several times faster here than numpy.unique, which hashes."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered
