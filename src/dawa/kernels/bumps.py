"""Sums over rows with scattered entries: what bumps need for queries, and for their own derivatives.

Rows are stored one after the other: row l owns entries ``ptr[l]`` to ``ptr[l + 1]``, each with its bucket in
``column``. Sorted by bucket instead, bucket j owns the entries ``order[column_ptr[j]:column_ptr[j + 1]]``.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

Number = TypeVar("Number", np.float32, np.float64)

_times_exactly = Kernel("bumps_times_i64")
_times = {
    np.dtype(np.float32): Kernel("bumps_times_f32"),
    np.dtype(np.float64): Kernel("bumps_times_f64"),
}
_products = {
    np.dtype(np.float32): Kernel("bumps_products_f32"),
    np.dtype(np.float64): Kernel("bumps_products_f64"),
}
_neighbours = Kernel("bumps_neighbours")
_of_queries = Kernel("bumps_of_queries")
_dense = Kernel("bumps_dense")


def times(ptr: IntArray, column: IntArray, entries: NDArray[np.generic], queries: NDArray[Number]) -> NDArray[Number]:
    """Each row's sum of its entries times the queries' weights on their buckets; one row of weights per bucket.

    All is computed in the type of the weights, which must be able to hold the entries.
    """
    buckets, number = queries.shape
    rows = _rows(ptr, column, entries, buckets)
    found = np.zeros((rows, number), queries.dtype)
    _times[queries.dtype](rows, ptr, column, _fitting(entries, queries), number, np.ascontiguousarray(queries), found)
    return found


def times_exactly(ptr: IntArray, column: IntArray, entries: IntArray, numbers: IntArray) -> IntArray:
    """Each row's sum of its entries times one number per bucket, in whole numbers: for what is private."""
    rows = _rows(ptr, column, entries, len(numbers))
    found = np.zeros(rows, np.int64)
    _times_exactly(rows, ptr, column, entries, 1, numbers, found)
    return found


def products(ptr: IntArray, column: IntArray, answers: NDArray[np.generic], queries: NDArray[Number]) -> FloatArray:
    """For every entry, the sum over all queries of the row's answer times the query's weight at the bucket."""
    buckets, number = queries.shape
    found = np.empty(len(column))
    rows = _rows(ptr, column, found, buckets)
    if answers.shape != (rows, number):
        raise InvariantError("The rows' answers do not belong to these rows and queries.")
    _products[queries.dtype](
        rows, ptr, column, number, _fitting(answers, queries), np.ascontiguousarray(queries), found
    )
    return found


def neighbours(
    ptr: IntArray,
    column: IntArray,
    entries: FloatArray,
    column_ptr: IntArray,
    order: IntArray,
    row_of: IntArray,
    matrix: FloatArray,
) -> FloatArray:
    """For every entry (l, j), the sum over all rows l' on bucket j of ``entries[l', j] · matrix[l, l']``."""
    rows, found = _rows(ptr, column, entries, len(column_ptr) - 1), np.empty(len(column))
    if matrix.shape != (rows, rows) or column_ptr[-1] != len(order) or len(order) != len(row_of):
        raise InvariantError("The matrix or the order of the entries does not belong to these rows.")
    _neighbours(rows, ptr, column, entries, column_ptr, order, row_of, np.ascontiguousarray(matrix), found)
    return found


def of_queries(
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    scale: FloatArray,
    column_ptr: IntArray,
    order: IntArray,
    row_of: IntArray,
    entries: FloatArray,
    rows: int,
) -> tuple[FloatArray, FloatArray]:
    """For each query w: ``B·diag(s)·w``, and the sum of ``s²w²``. No query has two runs on one bucket."""
    count = _count(first, lo, hi, weight, len(scale))
    if len(column_ptr) != len(scale) + 1 or not column_ptr[-1] == len(order) == len(row_of) == len(entries):
        raise InvariantError("The entries are not those of the buckets.")
    sums, squares = np.zeros((count, rows)), np.empty(count)
    _of_queries(count, first, lo, hi, weight, scale, column_ptr, order, row_of, entries, rows, sums, squares)
    return sums, squares


def dense(first: IntArray, lo: FloatArray, hi: FloatArray, weight: FloatArray, buckets: int) -> NDArray[np.float32]:
    """The queries' weights, one row per bucket, in single precision: enough to steer a search."""
    count = _count(first, lo, hi, weight, buckets)
    lo, hi, weight = (np.ascontiguousarray(runs) for runs in (lo, hi, weight))
    found = np.zeros((buckets, count), np.float32)
    _dense(count, first, lo, hi, weight, found)
    return found


def _rows(ptr: IntArray, column: IntArray, entries: NDArray[np.generic], buckets: int) -> int:
    """The number of rows, if their entries are as many as they should be, and on buckets."""
    if not ptr[-1] == len(column) == len(entries):
        raise InvariantError("Rows do not have as many entries as they should.")
    if len(column) and not 0 <= column.min() <= column.max() < buckets:
        raise InvariantError(f"Rows have entries outside {buckets} buckets.")
    return len(ptr) - 1


def _fitting(array: NDArray[np.generic], like: NDArray[Number]) -> NDArray[Number]:
    """An array with the type of another one, if that loses nothing."""
    return array.astype(like.dtype, "C", "safe", copy=False)


def _count(first: IntArray, lo: FloatArray, hi: FloatArray, weight: FloatArray, buckets: int) -> int:
    """The number of queries, if their runs lie within the buckets."""
    if first[0] < 0 or first[-1] > len(lo) or not len(lo) == len(hi) == len(weight):
        raise InvariantError("Queries and their runs do not agree.")
    runs = slice(first[0], first[-1])
    if not ((lo[runs] >= 0).all() and (hi[runs] <= buckets).all()):
        raise InvariantError(f"Queries reach beyond {buckets} buckets.")
    return len(first) - 1
