"""The private value: how many records fall into each cell.

``Counts`` is made once, checked once, and passed on opaque. It neither prints nor compares its cells. Code that
needs them must say ``counts.exposed``; only the partition and measure steps do, and a test keeps it so.

Cells without records are not stored, so that a step written against ``Occupied`` costs what the records cost,
whatever the size of the domain.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.arrays import IntArray, frozen
from dawa.errors import CountsError

MOST_RECORDS = 2**45
"""With row weights up to 2^16, every weighted sum then fits in 62 bits."""

HINT = "pass one non-negative whole number per cell, for example numpy.bincount(cells, minlength=n)."


class Occupied(NamedTuple):
    """The occupied cells in the clear: whoever reads this must add noise before passing anything on."""

    cells: IntArray
    """Increasing cell numbers."""
    counts: IntArray
    """How many records each of them holds, at least one."""

    def __repr__(self) -> str:
        """Nothing: errors and their reports print what is at hand."""
        return "Occupied(private)"

    def totals(self, bounds: IntArray) -> IntArray:
        """The number of records in each bucket ``[bounds[b], bounds[b + 1])``."""
        before = np.concatenate(([0], np.cumsum(self.counts)))
        return np.diff(before[np.searchsorted(self.cells, bounds)])

    def dense(self, size: int) -> IntArray:
        """One count per cell, the empty ones included."""
        array = np.zeros(size, np.int64)
        array[self.cells] = self.counts
        return array


@dataclass(frozen=True, repr=False, eq=False)
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
            CountsError: If they are negative, fractional, not finite, empty, or too large to sum exactly.
        """
        if isinstance(counts, Counts):
            return counts
        try:
            array = np.asarray(counts)
        except (ValueError, TypeError, OverflowError):
            raise CountsError("The counts cannot be read as an array of numbers.", HINT) from None
        if array.ndim != 1 or array.size == 0:
            raise CountsError(f"The counts have shape {array.shape}; one non-empty row of cells was expected.", HINT)
        whole = _whole_numbers(array)
        cells = np.flatnonzero(whole)
        return cls(whole.shape, Occupied(frozen(cells), frozen(whole[cells])))

    @property
    def size(self) -> int:
        """Number of cells in the domain; public."""
        return int(np.prod(self.shape))

    def __repr__(self) -> str:
        return f"Counts({' × '.join(map(str, self.shape))} cells)"


def _whole_numbers(array: NDArray[np.generic]) -> IntArray:
    """An int64 copy, or an error that names no cell and no value."""
    if array.dtype.kind not in "iufb":
        raise CountsError("The counts are not numbers.", HINT)
    numbers: NDArray[np.float64] = array  # type: ignore[assignment]  # any of the four kinds compares alike
    if array.dtype.kind == "f":
        if not np.isfinite(numbers).all():
            raise CountsError("Some counts are NaN or infinite.", HINT)
        if (numbers != np.floor(numbers)).any():
            raise CountsError("Some counts are fractional.", HINT)
    if (numbers < 0).any():
        raise CountsError("Some counts are negative.", HINT)
    with np.errstate(over="ignore"):
        total = float(numbers.sum(dtype=np.float64))  # exact up to 2^53, and too much beyond
    if total > MOST_RECORDS:
        raise CountsError(
            f"The counts add up to more than 2^45 = {MOST_RECORDS} records, the most that is summed exactly.",
            "count in larger units, or split the data.",
        )
    return array.astype(np.int64)
