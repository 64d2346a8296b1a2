"""Hats: overlapping triangular bumps at a few scales, the best rows known for ranges.

Level h has a row every ``w r^(h-1)`` buckets, which rises linearly from its left neighbour's centre and falls to
its right neighbour's. With entries B, scales ``s_j = (1 + Σ_l B_lj) / b_j`` and b the buckets' allowances, the
strategy is ``A = [B; I] diag(1/s)``. Rows have interval supports, so ``K = I + BBᵀ`` is factored without
fill and a query w has the squared error ``Σ s_j² w_j² - fᵀ K⁻¹ f`` with ``f = B diag(s) w``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.limits import MOST_COVERING
from dawa.queries.bucket_queries import BucketQueries, runs_of
from dawa.strategy.base import RESOLUTION, LeafRows, broken, variances_by_runs
from dawa.strategy.descent import LARGEST_ENTRY

FEWEST_BUCKETS = 24
"""Below this, trees do as well and are simpler."""

TABLE_SCALE = 0.92
"""The scale of every level if nothing is searched."""

ROWS_FOR_VARIANCES = 400
"""From this many rows on, one query is cheaper by its segment tree than in a block solve."""

FEW_ROWS = 64
"""Rows that may lie in any way."""

STRETCH = 16
"""Rows that share a leaf of the segment tree, at least."""


@dataclass(frozen=True, eq=False)
class IntervalRows:
    """Where rows have their entries: supports that are intervals, sorted by right end.

    Attributes:
        buckets: Number of buckets, k.
        start: Each row's first bucket.
        stop: One past its last bucket.
    """

    buckets: int
    start: IntArray
    stop: IntArray

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def ptr(self) -> IntArray:
        """Row l owns entries ``ptr[l]`` to ``ptr[l + 1]``."""
        return _offsets(self.stop - self.start)

    @cached_property
    def near(self) -> IntArray:
        """The first row that overlaps each row; all rows in between do too."""
        return np.minimum(np.searchsorted(self.stop, self.start, side="right"), np.arange(len(self)))

    @cached_property
    def at(self) -> IntArray:
        """Where each row's part of the factor's envelope begins."""
        return _offsets(np.arange(len(self)) - self.near)

    @cached_property
    def row(self) -> IntArray:
        """Each entry's row."""
        return np.repeat(np.arange(len(self)), self.stop - self.start)

    @cached_property
    def column(self) -> IntArray:
        """Each entry's bucket."""
        return np.arange(self.ptr[-1]) + np.repeat(self.start - self.ptr[:-1], self.stop - self.start)

    @cached_property
    def _covering(self) -> tuple[IntArray, IntArray]:
        return kernels.hats.cover(self.start, self.stop, self.buckets)

    @property
    def cover(self) -> IntArray:
        """The rows on each bucket, one bucket after the other."""
        return self._covering[1]

    @property
    def cover_ptr(self) -> IntArray:
        """Bucket j owns ``cover[cover_ptr[j]:cover_ptr[j + 1]]``."""
        return self._covering[0]


@dataclass(frozen=True, eq=False)
class QuerySums:
    """Queries made ready for the error kernel: plain arrays, and each bucket's sums over all queries."""

    first: IntArray
    lo: FloatArray
    hi: FloatArray
    weight: FloatArray
    omega: FloatArray
    linear: FloatArray
    square: FloatArray
    differences: bool

    @classmethod
    def of(cls, queries: BucketQueries) -> "QuerySums":
        """Differences of prefixes become a larger weight per prefix, and one query to subtract: their sum.

        The queries are sorted by where they begin: the kernel takes some together, and rows before all of these cost
        nothing.
        """
        first = np.array(queries.first, np.int64)
        lo, hi = np.array(queries.lo, np.float64), np.array(queries.hi, np.float64)
        weight, omega = np.array(queries.weight, np.float64), np.array(queries.omega, np.float64)
        linear, square = kernels.hats.moments(first, lo, hi, weight, omega, queries.buckets)
        if queries.differences:
            square = omega.sum() * square - linear**2
            omega *= omega.sum()
        begin = np.append(lo, 0.0)[first[:-1]]
        if (np.diff(begin) < 0).any():
            order = np.argsort(begin, kind="stable")
            first, runs = runs_of(first, order)
            lo, hi, weight, omega = lo[runs], hi[runs], weight[runs], omega[order]
        return cls(first, lo, hi, weight, omega, linear, square, queries.differences)

    def error(
        self, rows: IntervalRows, entries: FloatArray, scale: FloatArray, *, gradient: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        """The total squared error, with its derivatives in the entries and in the scales."""
        result: tuple[float, FloatArray, FloatArray] = kernels.hats.error(
            rows.start,
            rows.stop,
            rows.ptr,
            entries,
            rows.near,
            rows.at,
            rows.cover_ptr,
            rows.cover,
            scale,
            self.first,
            self.lo,
            self.hi,
            self.weight,
            self.omega,
            self.linear,
            self.square,
            self.differences,
            gradient,
        )
        return result


@dataclass(frozen=True, eq=False)
class HatStrategy(LeafRows):
    """Integer rows with interval supports, and one leaf row per bucket.

    Attributes:
        start: Each other row's first bucket; rows are sorted by right end.
        stop: One past its last bucket.
        weights: The rows' weights, one row after the other.
    """

    kind = "hats"
    name = "hats"

    start: IntArray
    stop: IntArray
    weights: IntArray

    @classmethod
    def rounded(cls, rows: IntervalRows, entries: FloatArray, allowance: IntArray) -> Self:
        """The integer strategy nearest below ``B diag(1/s)``: leaves get what rounding leaves over.

        Every column then sums to exactly its allowance. Rows without any weight are dropped.
        """
        capped = np.clip(entries, 0, LARGEST_ENTRY)
        share = capped / (1 + sums_by(rows.column, capped, rows.buckets))[rows.column]
        weights = np.floor(share * allowance[rows.column]).astype(np.int64)
        measured = np.zeros(len(rows), np.int64)
        np.add.at(measured, rows.row, weights)
        kept = measured > 0
        weights, column = weights[kept[rows.row]], rows.column[kept[rows.row]]
        leaf = np.array(allowance, np.int64)
        np.subtract.at(leaf, column, weights)
        return cls(frozen(leaf), frozen(rows.start[kept]), frozen(rows.stop[kept]), frozen(weights))

    def check(self) -> None:
        """Refuse rows that leave the buckets or are not sorted, and weights that do not fit them."""
        start, stop, weights = self.start, self.stop, self.weights
        if len(start) != len(stop):
            raise broken("is not as long as start", "stop")
        if (start < 0).any() or (start >= stop).any() or (stop > self.buckets).any() or (np.diff(stop) < 0).any():
            raise broken("has rows that are empty, leave the buckets or are not sorted", "stop")
        if (stop - start).sum() != len(weights) or (weights < 0).any():
            raise broken("does not have one weight of 0 or more for each bucket of each row", "weights")
        if (weights > RESOLUTION).any():
            raise broken(f"has weights above {RESOLUTION}", "weights")
        around = np.zeros(self.buckets + 1, np.int64)
        np.add.at(around, start, 1)
        np.subtract.at(around, stop, 1)
        # Later rows that overlap a row all hold its last bucket, so this bounds how many there are.
        if len(start) > FEW_ROWS and np.cumsum(around).max() > MOST_COVERING:
            raise broken(f"has more than {MOST_COVERING} rows over one bucket", "start")

    @cached_property
    def rows(self) -> IntervalRows:
        """Where the rows have their entries."""
        return IntervalRows(self.buckets, self.start.copy(), self.stop.copy())

    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of weights."""
        return kernels.hats.column_sums(self.rows.start, self.rows.ptr, self.weights, self.leaf)

    def apply(self, totals: IntArray) -> IntArray:
        """The exact answers of the rows, then those of the leaves."""
        exact = np.array(totals, np.int64)
        answers = kernels.hats.times_exactly(self.rows.start, self.rows.ptr, self.weights.copy(), exact)
        return np.concatenate((answers, self.leaf * exact))

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares: ``(z - Bᵀ K⁻¹ B z) / leaf`` with ``z = y_leaf + Bᵀ y_rows``."""
        start, ptr, p = self.rows.start, self.rows.ptr, len(self.rows)
        times, back = kernels.hats.times, kernels.hats.transposed_times
        y = np.array(answers, np.float64)
        z = y[p:] + back(start, ptr, self._entries, y[:p], self.buckets)
        fitted = back(start, ptr, self._entries, self._solved(times(start, ptr, self._entries, z)), self.buckets)
        estimate: FloatArray = (z - fitted) / self.leaf
        return estimate

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """The variance of each run ``[lo, hi)`` in bucket coordinates, in time logarithmic in the rows."""
        variances: FloatArray = kernels.hats.variances(
            np.array(lo, np.float64), np.array(hi, np.float64), *self._variance_tree
        )
        return variances

    def bucket_variances(self) -> FloatArray:
        """The variance of every bucket alone, in linear time."""
        return self._along[0].copy()

    def border_variances(self) -> tuple[FloatArray, FloatArray]:
        """The variances of the buckets before every border, and of those after, in linear time.

        A bucket adds its own variance and twice its covariance with those before it. What lies after a border is all
        without what lies before; the covariance of that with all is a sum of entries of ``(AᵀA)⁻¹ 1``.
        """
        alone, before = self._along
        upto = _summed(alone + 2 * before)
        rows, (start, ptr) = self._entries, (self.rows.start, self.rows.ptr)
        solved = self._solved(kernels.hats.times(start, ptr, rows, self._scale))
        explained = kernels.hats.transposed_times(start, ptr, rows, solved, self.buckets)
        with_all = _summed(self._scale * (self._scale - explained))
        return upto, upto - 2 * with_all + with_all[-1]

    def variances(self, queries: BucketQueries) -> FloatArray:
        """The variance of each query, however many runs it has."""
        return variances_by_runs(self, queries)

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of all queries' variances, exactly."""
        single = len(queries.lo) == len(queries)
        if not single or len(self.rows) < ROWS_FOR_VARIANCES:
            sums = QuerySums.of(queries)
            return float(sums.error(self.rows, self._entries, self._scale, gradient=False)[0])
        variances = queries.weight**2 * self.range_variances(queries.lo, queries.hi)
        if not queries.differences:
            return float(queries.omega @ variances)
        return float(queries.omega.sum() * (queries.omega @ variances) - self._variance(QuerySums.of(queries).linear))

    def _variance(self, query: FloatArray) -> float:
        """The variance of one dense query."""
        scaled = self._scale * query
        answers = kernels.hats.times(self.rows.start, self.rows.ptr, self._entries, scaled)
        return float(scaled @ scaled - answers @ self._solved(answers))

    def _solved(self, answers: FloatArray) -> FloatArray:
        """K⁻¹ · answers."""
        block = np.array(answers)[:, None]
        kernels.hats.solve(*self._factor, self.rows.near, self.rows.at, block)
        return block[:, 0].copy()

    @cached_property
    def _scale(self) -> FloatArray:
        """s: the factor of a leaf's answer after division by Q."""
        return RESOLUTION / self.leaf

    @cached_property
    def _entries(self) -> FloatArray:
        """B of the integer rows, which are measured, not of the rows before rounding."""
        return kernels.hats.entries(self.rows.start, self.rows.ptr, self.weights, self.leaf)

    @cached_property
    def _factor(self) -> tuple[FloatArray, FloatArray]:
        rows = self.rows
        factor: tuple[FloatArray, FloatArray] = kernels.hats.factor(
            rows.start, rows.stop, rows.ptr, self._entries, rows.near, rows.at
        )
        return factor

    @cached_property
    def _sums(self) -> FloatArray:
        """The running sums of ``B diag(s)`` along the rows."""
        return kernels.hats.running_sums(self.rows.start, self.rows.ptr, self._entries, self._scale)

    @cached_property
    def _by_columns(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The factor by columns: where each row's part begins, the later rows that it overlaps, and their entries."""
        rows, lower = self.rows, self._factor[1]
        later = np.repeat(np.arange(len(rows)), np.diff(rows.at))
        earlier = np.arange(rows.at[-1]) + np.repeat(rows.near - rows.at[:-1], np.diff(rows.at))
        order = np.argsort(earlier, kind="stable")
        return _offsets(np.bincount(earlier, minlength=len(rows))), later[order], lower[order]

    @cached_property
    def _along(self) -> tuple[FloatArray, FloatArray]:
        """Each bucket's variance, and its covariance with all buckets before it."""
        rows, (pivot, _) = self.rows, self._factor
        pattern = (rows.start, rows.stop, rows.ptr, self._entries, self._scale, self._sums, rows.near, rows.at)
        return kernels.hats.along(*pattern, pivot, *self._by_columns)

    @cached_property
    def _variance_tree(self) -> tuple[Any, ...]:
        """All that ``kernels.hats.variances`` needs besides the ranges."""
        rows, (pivot, _), (column_ptr, later, by_column) = self.rows, self._factor, self._by_columns
        register, count = kernels.hats.registers(column_ptr, later)
        sums = self._sums
        whole = sums[rows.ptr[1:] + np.arange(len(rows))]
        stretch = max(
            STRETCH, (count + 1) ** 2 // 3
        )  # so that memory follows the rows, however many lie on one another
        maps, forms = kernels.hats.stretches(register, count, pivot, column_ptr, later, by_column, whole, stretch)
        squares_before = np.zeros(self.buckets + 1)  # in extended precision: variances are small differences
        squares_before[1:] = np.cumsum(self._scale**2, dtype=np.longdouble)
        pattern = (rows.start, rows.stop, rows.ptr, sums, squares_before, rows.cover_ptr, rows.cover)
        return (*pattern, register, maps, forms, stretch, pivot, column_ptr, later, by_column)


def hat_rows(
    k: int, widths: Sequence[float], coordinate: FloatArray | None = None
) -> tuple[IntervalRows, FloatArray, IntArray]:
    """One level of hats per width: where the rows are, their entries, and each row's level.

    Args:
        k: Number of buckets.
        widths: The distance between the centres of neighbouring hats, for each level.
        coordinate: The position of each of the k + 1 bucket borders, if buckets do not count equally.
    """
    borders = np.arange(k + 1.0) if coordinate is None else coordinate
    centres = (borders[:-1] + borders[1:]) / 2
    levels = [_level(centres, width, float(borders[-1])) for width in widths]
    level = np.repeat(np.arange(len(widths)), [len(level[0]) for level in levels])
    start, stop, peak, slope = (np.concatenate(arrays) for arrays in zip(*levels, strict=True))
    order = np.lexsort((stop - start, stop))
    rows = IntervalRows(k, start[order], stop[order])
    entries = 1 - slope[order][rows.row] * np.abs(centres[rows.column] - peak[order][rows.row])
    return rows, np.maximum(entries, 0.0), level[order]


def from_table(queries: BucketQueries, allowance: IntArray) -> HatStrategy | None:
    """The strategy that does well for ranges without any search; None if hats make no sense."""
    k = queries.buckets
    if k < FEWEST_BUCKETS:
        return None
    rows, entries, _ = hat_rows(k, table_widths(k))
    strategy = HatStrategy.rounded(rows, TABLE_SCALE * entries, allowance)
    return strategy if len(strategy.start) else None


def table_widths(k: int) -> list[float]:
    """The widths of the levels that suit ranges over k buckets, the narrowest first.

    With H levels, the narrowest width and the ratio of the levels do best near ``k^(1/(H+1))``, and the best H
    makes that about 14. Widths that a search had found for 256 to 262,144 buckets come to within 0.5% of these.

    >>> [round(width, 1) for width in table_widths(4096)]
    [19.2, 337.9]
    """
    return level_widths(k, max(1, round(np.log(k) / np.log(14)) - 1), 1.2, 1.1)


def level_widths(k: int, levels: int, width: float, ratio: float) -> list[float]:
    """The narrowest width and the ratio of so many levels, each over ``k^(1/(levels+1))``, as widths."""
    unit = k ** (1 / (levels + 1))
    return [width * unit * (ratio * unit) ** level for level in range(levels)]


def _level(centres: FloatArray, width: float, length: float) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """The hats of one level, spread evenly: starts, stops, peaks, slopes.

    The half-hats at both ends are left out, because they do more harm than good.
    """
    count = max(2, round(length / width))
    spacing = length / count
    peaks: FloatArray = np.arange(1.0, count) * spacing
    start: IntArray = np.searchsorted(centres, peaks - spacing, side="right").astype(np.int64)
    stop: IntArray = np.searchsorted(centres, peaks + spacing, side="left").astype(np.int64)
    several = stop - start > 1
    return start[several], stop[several], peaks[several], np.full_like(peaks[several], 1 / spacing)


def sums_by(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """The sum of the values in each group."""
    return np.bincount(group, values, minlength=groups).astype(np.float64)


def _summed(numbers: FloatArray) -> FloatArray:
    """The sums before every border, in extended precision: many numbers cancel."""
    return np.concatenate((np.zeros(1), np.cumsum(numbers, dtype=np.longdouble).astype(np.float64)))


def _offsets(lengths: IntArray) -> IntArray:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
