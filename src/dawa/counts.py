"""The private value: how many records fall into each cell.

``Counts`` is made once, checked once, and passed on opaque. It neither prints nor compares its cells. Code that
needs them must say ``counts.exposed``; only the private steps do, and a test enforces this. In
``exposed`` the cells lie on a line, for any number of axes (``dawa.layout.curve``).

Cells without records are not stored. The cost of a step that uses ``Occupied`` therefore grows with the records, not
with the size of the domain.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.arrays import IntArray, frozen
from dawa.errors import CountsError
from dawa.layout.curve import Order
from dawa.limits import MOST_AXES, MOST_CELLS, MOST_RECORDS

HINT = "pass one non-negative whole number per cell, for example numpy.bincount(cells, minlength=n)."

SPARSE_HINT = "pass distinct row-major cell numbers, and how many records each of them holds, at least one."

PART = 2**17
"""So many counts of at most 2^45 are summed in 64 bits."""


class Occupied(NamedTuple):
    """The occupied cells, unprotected: code that reads them must add noise before it passes anything on."""

    cells: IntArray
    """Increasing positions on the line."""
    counts: IntArray
    """How many records each of them holds, at least one."""

    def __repr__(self) -> str:
        """No contents: error reports print the values that they find."""
        return "Occupied(private)"

    def totals(self, bounds: IntArray) -> IntArray:
        """The number of records in each bucket ``[bounds[b], bounds[b + 1])``."""
        before = np.concatenate(([0], np.cumsum(self.counts)))
        return np.diff(before[np.searchsorted(self.cells, bounds)])

    def dense(self, size: int) -> IntArray:
        """One count per cell, empty cells included."""
        array = np.zeros(size, np.int64)
        array[self.cells] = self.counts
        return array

    def grid(self, shape: tuple[int, ...]) -> IntArray:
        """One count per cell, in the shape of the domain."""
        array = np.zeros(math.prod(shape), np.int64)
        array[Order(shape).flat()[self.cells]] = self.counts
        return array.reshape(shape)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Counts:
    """Records per cell, validated.

    >>> Counts.of([3, 0, 2])
    Counts(3 cells)
    """

    shape: tuple[int, ...]
    exposed: Occupied

    @classmethod
    def of(cls, counts: "ArrayLike | Counts") -> "Counts":
        """Check and copy counts.

        Args:
            counts: Non-negative whole numbers, one per cell. Floats are accepted when all are whole.

        Raises:
            CountsError: If they are negative, fractional, masked, not finite, empty, or too large to sum exactly.
        """
        if isinstance(counts, Counts):
            return counts
        if np.ma.is_masked(counts):
            raise CountsError("Some counts are masked.", "say what they are: counts.filled(0), for example.")
        try:
            array = np.asarray(counts)
        except (ValueError, TypeError, OverflowError):
            raise CountsError("The counts cannot be read as an array of numbers.", HINT) from None
        if not 1 <= array.ndim <= MOST_AXES or array.size == 0:
            raise CountsError(
                f"The counts have shape {array.shape}; cells along one to {MOST_AXES} axes were expected.", HINT
            )
        line = _whole_numbers(array).ravel()
        if array.ndim > 1:
            line = line[Order(array.shape).flat()]
        cells = np.flatnonzero(line)
        return cls(array.shape, Occupied(frozen(cells), frozen(line[cells])))

    @classmethod
    def sparse(cls, shape: tuple[int, ...], cells: IntArray, counts: IntArray) -> "Counts":
        """The counts of occupied cells only: what a table engine returns.

        Args:
            shape: Cells along each axis.
            cells: Distinct row-major cell numbers, in any order.
            counts: How many records each of them holds, at least one.

        Raises:
            CountsError: If the domain is too large, a cell lies outside or is listed twice, or the counts are too
                large to sum exactly.
        """
        if not 1 <= len(shape) <= MOST_AXES or math.prod(shape) > MOST_CELLS:
            raise CountsError(
                f"The domain has {' × '.join(map(str, shape))} cells, which is too many.",
                f"choose coarser steps, or fewer axes: at most {MOST_AXES}.",
            )
        whole = _whole_numbers(counts)
        if len(cells) != len(whole) or (cells < 0).any() or (cells >= math.prod(shape)).any():
            raise CountsError("Some cells lie outside the domain, or have no count.", SPARSE_HINT)
        places = Order(shape).positions(np.stack(np.unravel_index(cells, shape), axis=1)) if len(shape) > 1 else cells
        order = np.argsort(places)
        placed, held = places[order].astype(np.int64), whole[order]
        if (np.diff(placed) == 0).any() or (held == 0).any():
            raise CountsError("Some cells are listed twice, or have no record.", SPARSE_HINT)
        return cls(shape, Occupied(frozen(placed), frozen(held)))

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> "Counts":
        """No records at all: a mechanism's estimate of such counts is public."""
        empty = np.zeros(0, np.int64)
        return cls.sparse(shape, empty, empty)

    @property
    def size(self) -> int:
        """Number of cells in the domain; public."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"Counts({' × '.join(map(str, self.shape))} cells)"


def _whole_numbers(array: NDArray[np.generic]) -> IntArray:
    """An int64 copy, or an error that names no cell and no value."""
    if array.dtype.kind not in "iufb":
        raise CountsError("The counts are not numbers.", HINT)
    numbers: IntArray = _from_floats(array) if array.dtype.kind == "f" else array  # type: ignore[assignment]  # or uint64
    if (numbers < 0).any():
        raise CountsError("Some counts are negative.", HINT)
    if (numbers > MOST_RECORDS).any() or _total(numbers.astype(np.int64)) > MOST_RECORDS:
        raise CountsError(
            f"The counts add up to more than 2^45 = {MOST_RECORDS} records, the most that is summed exactly.",
            "count in larger units, or split the data.",
        )
    return numbers.astype(np.int64)


def _from_floats(array: NDArray[np.generic]) -> IntArray:
    """The whole numbers that a caller's floats hold; those that are too small or too large stay so."""
    floats: NDArray[np.float64] = array  # type: ignore[assignment]  # of any width
    if not np.isfinite(floats).all():
        raise CountsError("Some counts are NaN or infinite.", HINT)
    if (floats != np.floor(floats)).any():
        raise CountsError("Some counts are fractional.", HINT)
    with np.errstate(over="ignore"):  # what is wider than 64 bits may be infinite then, and is too large
        return np.clip(floats.astype(np.float64), -1, MOST_RECORDS + 1).astype(np.int64)


def _total(numbers: IntArray) -> int:
    """The sum of numbers up to 2^45, exactly: no part overflows, and the parts are added without limit."""
    line = numbers.ravel()
    return sum(np.add.reduceat(line, np.arange(0, len(line), PART)).tolist())
