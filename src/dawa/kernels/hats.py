"""Rows with interval supports: factorisation, least squares and expected error in quasi-linear time.

Rows are sorted by right end. Row r owns ``values[ptr[r]:ptr[r + 1]]``, on buckets ``start[r]`` to
``stop[r]``. Two rows meet where their supports overlap. Of the rows before r, those that meet it are the
consecutive rows from ``near[r]`` to ``r - 1``, because their right ends lie beyond ``start[r]``. So
``K = I + BBᵀ`` fills its envelope exactly, and its factor ``K = L D Lᵀ`` has the same envelope: row r of L is
``lower[at[r]:at[r + 1]]``, without the unit diagonal.

The module also computes the variance of any range under such rows, in time logarithmic in their number.

A range w has variance ``Σ s_j² w_j² - gᵀ D⁻¹ g``, where ``L g = B diag(s) w`` and ``K = I + BBᵀ = L D Lᵀ``.
Forward substitution by columns keeps, for every later row that overlaps an earlier one, what that row has
received so far. Few rows are open at a time, so these numbers fit in a few *registers*. Where the range covers
rows wholly, one more register that holds 1 stands for the range. A step of the substitution is then a fixed
linear map of the registers, and what it adds to ``gᵀ D⁻¹ g`` is a fixed quadratic form. A segment tree stores
both for stretches of rows; only the few rows that the ends of the range cut are done one by one.
"""

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

TOGETHER = 24
"""Queries that are solved side by side, as in C."""

_times, _times_exactly = Kernel("hats_times"), Kernel("hats_times_exactly")
_transposed_times = Kernel("hats_transposed_times")
_factor = Kernel("hats_factor")
_solve = Kernel("hats_solve")
_running_sums = Kernel("hats_running_sums")
_moments = Kernel("hats_moments")
_error = Kernel("hats_error")
_registers = Kernel("hats_registers")
_stretches = Kernel("hats_stretches")
_variances = Kernel("hats_variances")
_cover = Kernel("hats_cover")
_entries = Kernel("hats_entries")
_column_sums = Kernel("hats_column_sums")
_inverse = Kernel("hats_inverse")
_along = Kernel("hats_along")


def times(start: IntArray, ptr: IntArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """Rows · x."""
    y = np.empty(len(start))
    _times(len(start), start, ptr, values, x, y)
    return y


def times_exactly(start: IntArray, ptr: IntArray, values: IntArray, x: IntArray) -> IntArray:
    """Rows · x in whole numbers: for what is private."""
    y = np.empty(len(start), np.int64)
    _times_exactly(len(start), start, ptr, values, x, y)
    return y


def transposed_times(start: IntArray, ptr: IntArray, values: FloatArray, y: FloatArray, k: int) -> FloatArray:
    """Rowsᵀ · y."""
    x = np.zeros(k)
    _transposed_times(len(start), start, ptr, values, y, x)
    return x


def factor(
    start: IntArray, stop: IntArray, ptr: IntArray, values: FloatArray, near: IntArray, at: IntArray
) -> tuple[FloatArray, FloatArray]:
    """The envelope factor of ``K = I + BBᵀ``: the diagonal of D, and L."""
    p = len(start)
    pivot, lower = np.empty(p), np.empty(at[p])
    _factor(p, start, stop, ptr, values, near, at, pivot, lower)
    return pivot, lower


def solve(pivot: FloatArray, lower: FloatArray, near: IntArray, at: IntArray, block: FloatArray) -> None:
    """Replace each column of the block by K⁻¹ times it."""
    _solve(*block.shape, pivot, lower, near, at, block)


def running_sums(start: IntArray, ptr: IntArray, values: FloatArray, scale: FloatArray) -> FloatArray:
    """Each row's sums of ``values · scale`` up to every bucket border, row r's from ``ptr[r] + r`` on."""
    p = len(start)
    sums = np.empty(ptr[p] + p)
    _running_sums(p, start, ptr, values, scale, sums)
    return sums


def moments(
    first: IntArray, lo: FloatArray, hi: FloatArray, weight: FloatArray, omega: FloatArray, k: int
) -> tuple[FloatArray, FloatArray]:
    """For each bucket, the sums over queries of ω times its weight w in the query, and of ω w².

    The runs of a query are sorted and do not overlap, but several may lie in one bucket.
    """
    linear, square, steps, square_steps = np.zeros(k + 1), np.zeros(k + 1), np.zeros(k + 1), np.zeros(k + 1)
    _moments(len(first) - 1, k, first, lo, hi, weight, omega, linear, square, steps, square_steps)
    return linear[:k], square[:k]


def error(
    start: IntArray,
    stop: IntArray,
    ptr: IntArray,
    values: FloatArray,
    near: IntArray,
    at: IntArray,
    cover_ptr: IntArray,
    cover: IntArray,
    scale: FloatArray,
    first: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    weight: FloatArray,
    omega: FloatArray,
    linear: FloatArray,
    square: FloatArray,
    differences: bool,  # noqa: FBT001  all in order, as in C
    gradient: bool,  # noqa: FBT001
) -> tuple[float, FloatArray, FloatArray]:
    """Total squared error T of the queries, and its derivatives in the entries of B and in the scales s.

    ``T = Σ_j s_j² square_j - Σ_i ω_i f_iᵀ K⁻¹ f_i`` with ``f_i = B diag(s) w_i``. Where differences are asked
    for, the caller has put them into ω and square, and the term of ``linear = Σ ω w`` is subtracted here.
    ``cover`` lists the rows on each bucket.
    """
    p, k, overlaps = len(start), len(scale), int(at[-1])
    if len(values) != ptr[-1]:
        raise InvariantError("There are not as many entries as the rows have.")
    room = np.empty(TOGETHER * (2 * p + 1) + 8 + 11 * p + 6 * overlaps + 2 * (len(values) + p))
    places = np.empty(k + p + overlaps + 2, np.int64)
    by_value, by_scale = np.zeros(len(values)), np.zeros(k)
    rows = (start, stop, ptr, values, near, at, cover_ptr, cover, scale)
    queries = (first, lo, hi, weight, omega, linear, square, differences, gradient)
    total = _error(p, k, len(first) - 1, *rows, *queries, room, places, by_value, by_scale)
    return total, by_value, by_scale


def registers(column_ptr: IntArray, later: IntArray) -> tuple[IntArray, int]:
    """A register for each row, free again once the row is eliminated; and how many registers are needed.

    ``later[column_ptr[l]:column_ptr[l + 1]]`` are the rows after l that overlap it.
    """
    p = len(column_ptr) - 1
    register, free = np.empty(p, np.int64), np.empty(p, np.int64)
    count: int = _registers(p, column_ptr, later, register, free)
    return register, count


def stretches(
    register: IntArray,
    count: int,
    pivot: FloatArray,
    column_ptr: IntArray,
    later: IntArray,
    lower: FloatArray,
    whole: FloatArray,
    size: int,
) -> tuple[FloatArray, FloatArray]:
    """The segment tree over stretches of ``size`` rows: linear maps and quadratic forms of the registers.

    ``whole`` is a row's answer to a range that covers it; the last register says whether the range does.
    """
    p, n = len(register), count + 1
    leaves = 1
    while leaves * size < p:
        leaves *= 2
    maps, forms = np.zeros((2 * leaves, n, n)), np.zeros((2 * leaves, n, n))
    scratch = np.empty(n), np.empty((n, n))
    _stretches(p, n, leaves, size, register, pivot, column_ptr, later, lower, whole, maps, forms, *scratch)
    return maps, forms


def variances(
    lo: FloatArray,
    hi: FloatArray,
    start: IntArray,
    stop: IntArray,
    ptr: IntArray,
    sums: FloatArray,
    squares_before: FloatArray,
    cover_ptr: IntArray,
    cover: IntArray,
    register: IntArray,
    maps: FloatArray,
    forms: FloatArray,
    size: int,
    pivot: FloatArray,
    column_ptr: IntArray,
    later: IntArray,
    lower: FloatArray,
) -> FloatArray:
    """The variance of each range ``[lo, hi)``.

    ``sums`` are the running sums of ``B diag(s)`` along the rows, ``squares_before`` the running sums of s² over
    all buckets, and ``cover`` lists the rows on each bucket.
    """
    p, k, n, leaves = len(start), len(squares_before) - 1, maps.shape[1], maps.shape[0] // 2
    out = np.empty(len(lo))
    rows = (start, stop, ptr, sums, squares_before, cover_ptr, cover)
    tree = (register, maps, forms, size, pivot, column_ptr, later, lower)
    scratch = np.empty(p + 1, np.int64), np.empty(n), np.empty(n)
    _variances(p, k, n, leaves, len(lo), lo, hi, *rows, *tree, *scratch, out)
    return out


def cover(start: IntArray, stop: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """The rows on each bucket: bucket j owns ``cover[begin[j]:begin[j + 1]]``; first ``begin``, then ``cover``."""
    begin, rows = np.zeros(k + 1, np.int64), np.empty(int((stop - start).sum()), np.int64)
    _cover(len(start), k, start, stop, begin, rows)
    return begin, rows


def entries(start: IntArray, ptr: IntArray, weights: IntArray, leaf: IntArray) -> FloatArray:
    """B: each weight by that of the leaf on its bucket."""
    found = np.empty(len(weights))
    _entries(len(start), start, ptr, weights, leaf, found)
    return found


def column_sums(start: IntArray, ptr: IntArray, weights: IntArray, leaf: IntArray) -> IntArray:
    """Each bucket's exact sum of weights, that of its leaf among them."""
    sums = leaf.copy()
    _column_sums(len(start), start, ptr, weights, sums)
    return sums


def along(
    start: IntArray,
    stop: IntArray,
    ptr: IntArray,
    values: FloatArray,
    scale: FloatArray,
    sums: FloatArray,
    near: IntArray,
    at: IntArray,
    pivot: FloatArray,
    column_ptr: IntArray,
    later: IntArray,
    lower: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Of every bucket, the variance of its total and its covariance with all buckets before it, in linear time.

    ``sums`` are the running sums of ``B diag(s)`` along the rows; ``later`` and ``lower`` the factor by columns. All
    that is needed of ``K⁻¹`` is where rows overlap, and it has the same envelope as the factor.
    """
    p, k = len(start), len(scale)
    own, cross = np.empty(p), np.empty(len(lower))
    _inverse(p, pivot, near, at, column_ptr, later, lower, own, cross)
    alone, before = np.empty(k), np.empty(k)
    order = np.argsort(start, kind="stable")
    tree = (near, at, column_ptr, later, lower, own, cross, order)
    _along(p, k, start, stop, ptr, values, scale, sums, *tree, np.zeros(p), np.empty(p + 1, np.int64), alone, before)
    return alone, before
