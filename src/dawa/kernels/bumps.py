"""Sums over rows with scattered entries: what bumps need for queries, and for their own derivatives.

Rows are stored one after the other: row l owns entries ``ptr[l]`` to ``ptr[l + 1]``, each with its bucket in
``column``. Sorted by bucket instead, bucket j owns the entries ``order[column_ptr[j]:column_ptr[j + 1]]``.
"""

import numpy as np

from dawa.kernels.compiled import njit


@njit(cache=True)
def times(ptr, column, entries, queries):
    """Each row's sum of its entries times the queries' weights on their buckets; one row of weights per bucket."""
    found = np.zeros((len(ptr) - 1, queries.shape[1]), queries.dtype)
    for row in range(len(ptr) - 1):
        for e in range(ptr[row], ptr[row + 1]):
            found[row] += entries[e] * queries[column[e]]
    return found


@njit(cache=True, fastmath=True)
def products(ptr, column, answers, queries):
    """For every entry, the sum over all queries of the row's answer times the query's weight at the bucket."""
    found = np.empty(ptr[-1])
    for row in range(len(ptr) - 1):
        for e in range(ptr[row], ptr[row + 1]):
            total = queries.dtype.type(0)
            for q in range(queries.shape[1]):
                total += answers[row, q] * queries[column[e], q]
            found[e] = total
    return found


@njit(cache=True)
def neighbours(ptr, column, entries, column_ptr, order, row_of, matrix):
    """For every entry (l, j), the sum over all rows l' on bucket j of ``entries[l', j] · matrix[l, l']``."""
    found = np.zeros(ptr[-1])
    for row in range(len(ptr) - 1):
        for e in range(ptr[row], ptr[row + 1]):
            j = column[e]
            for i in range(column_ptr[j], column_ptr[j + 1]):
                found[e] += entries[order[i]] * matrix[row, row_of[order[i]]]
    return found


@njit(nogil=True, cache=True)
def of_queries(first, lo, hi, weight, scale, column_ptr, order, row_of, entries, rows):
    """For each query w: ``B·diag(s)·w``, and the sum of ``s²w²``. No query has two runs on one bucket."""
    count = len(first) - 1
    sums, squares = np.zeros((count, rows)), np.zeros(count)
    for q in range(count):
        for r in range(first[q], first[q + 1]):
            for j in range(int(lo[r]), int(np.ceil(hi[r]))):
                covered = min(hi[r], j + 1.0) - max(lo[r], float(j))
                part = scale[j] * weight[r] * covered
                squares[q] += part * part
                for i in range(column_ptr[j], column_ptr[j + 1]):
                    sums[q, row_of[order[i]]] += entries[order[i]] * part
    return sums, squares


@njit(cache=True)
def dense(first, lo, hi, weight, buckets):
    """The queries' weights, one row per bucket, in single precision: enough to steer a search."""
    found = np.zeros((buckets, len(first) - 1), np.float32)
    for q in range(len(first) - 1):
        for r in range(first[q], first[q + 1]):
            for j in range(int(lo[r]), int(np.ceil(hi[r]))):
                found[j, q] += weight[r] * (min(hi[r], j + 1.0) - max(lo[r], float(j)))
    return found
