"""Sums over integer cosines and sines, and the power of queries at each frequency.

Tables hold one period: row j of the transform has ``table[(j · l) mod n]`` at cell l. Indices are added, never
multiplied, so they stay below twice the size.
"""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True)
def sums(cells, counts, table, frequencies, low):
    """The exact answer to each row, in two words: ``high · 2^low + rest``.

    With entries of up to 2^28, ``low = 14`` and 2^45 records, either word stays below 2^60.

    Args:
        cells: Occupied cells.
        counts: Records in each of them.
        table: One period of integer cosines or sines.
        frequencies: Number of rows: frequencies 0, 1, 2, …
        low: Bits in the lower word of an entry.
    """
    size = len(table)
    high = np.zeros(frequencies, np.int64)
    rest = np.zeros(frequencies, np.int64)
    mask = (1 << low) - 1
    for i in range(len(cells)):
        cell = cells[i]
        count = counts[i]
        at = 0
        for frequency in range(frequencies):
            entry = table[at]
            high[frequency] += count * (entry >> low)
            rest[frequency] += count * (entry & mask)
            at += cell
            if at >= size:
                at -= size
    return high, rest


@njit(cache=True)
def largest_columns(cosines, sines, weights):
    """For every k, the largest column sum of absolute weighted entries over the frequencies 0 to k."""
    size = len(cosines)
    largest = np.zeros(len(weights), np.int64)
    for cell in range(size):
        at = 0
        total = 0
        for frequency in range(len(weights)):
            total += weights[frequency] * (abs(cosines[at]) + abs(sines[at]))
            if total > largest[frequency]:
                largest[frequency] = total
            at += cell
            if at >= size:
                at -= size
    return largest


@njit(cache=True)
def powers(first, lo, hi, weight, circle, frequencies):
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
    size = len(circle)
    queries = len(first) - 1
    mean = np.zeros(frequencies)
    seen = np.empty(frequencies, np.complex128)
    for query in range(queries):
        seen[:] = 0
        for run in range(first[query], first[query + 1]):
            start = 0
            stop = 0
            for frequency in range(frequencies):
                seen[frequency] += weight[run] * (circle[start] - circle[stop])
                start += lo[run]
                if start >= size:
                    start -= size
                stop += hi[run]
                if stop >= size:
                    stop -= size
        for frequency in range(frequencies):
            mean[frequency] += (seen[frequency].real ** 2 + seen[frequency].imag ** 2) / queries
    return mean
