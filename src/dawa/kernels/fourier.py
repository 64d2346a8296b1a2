"""Sums over integer cosines and sines, and the power of queries at each frequency.

Tables hold one period: row j of the transform has ``table[(j · l) mod n]`` at cell l. Indices are added, never
multiplied, so they stay below twice the size.
"""

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

_sums = Kernel("fourier_sums")
_largest_columns = Kernel("fourier_largest_columns")
_powers = Kernel("fourier_powers")


def sums(cells: IntArray, counts: IntArray, table: IntArray, frequencies: int, low: int) -> tuple[IntArray, IntArray]:
    """The exact answer to each row, in two words: ``high · 2^low + rest``.

    With entries of up to 2^28, ``low = 14`` and 2^45 records, either word stays below 2^60.

    Args:
        cells: Occupied cells.
        counts: Records in each of them.
        table: One period of integer cosines or sines.
        frequencies: Number of rows: frequencies 0, 1, 2, …
        low: Bits in the lower word of an entry.
    """
    _check(len(cells) == len(counts))
    high, rest = np.empty(frequencies, np.int64), np.empty(frequencies, np.int64)
    _sums(len(cells), cells, counts, len(table), table, frequencies, low, high, rest)
    return high, rest


def largest_columns(cosines: IntArray, sines: IntArray, weights: IntArray) -> IntArray:
    """For every k, the largest column sum of absolute weighted entries over the frequencies 0 to k."""
    entries, largest = np.abs(cosines) + np.abs(sines), np.empty(len(weights), np.int64)
    _largest_columns(len(entries), entries, len(weights), weights, largest)
    return largest


def powers(
    first: IntArray,
    lo: IntArray,
    hi: IntArray,
    weight: FloatArray,
    circle: NDArray[np.complex128],
    frequencies: int,
) -> FloatArray:
    """The mean over queries of ``|Σ_runs weight · (u^(j·lo) - u^(j·hi))|²`` for each frequency j, u = exp(-2πi/n).

    A query's transform is this sum divided by ``1 - u^j``: the caller divides by ``|1 - u^j|²``.

    Args:
        first: Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.
        lo: First cell of each run.
        hi: One past the last cell of each run.
        weight: The weight of each run.
        circle: Powers of u, one period.
        frequencies: The number of frequencies.
    """
    size, runs = len(circle), len(lo)
    _check(runs == len(hi) == len(weight) and first[0] >= 0 and first[-1] <= runs)
    _check(not runs or (min(lo.min(), hi.min()) >= 0 and max(lo.max(), hi.max()) <= size))
    seen, mean = np.empty(2 * frequencies), np.empty(frequencies)
    _powers(len(first) - 1, first, lo, hi, weight, size, circle.view(np.float64), frequencies, seen, mean)
    return mean


def _check(fits: bool) -> None:  # noqa: FBT001  a condition
    if not fits:
        raise InvariantError("Cells or runs do not fit the table that they are looked up in.")
