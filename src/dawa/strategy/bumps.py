"""Bumps: overlapping patches of a map, weighted entry by entry; the best rows known for rectangles.

Buckets are grouped, in their order, into blocks of consecutive buckets. A row has its entries on a block and on the
blocks that touch it: at first a bump that falls off linearly along every axis, then the entries that make the expected
error of the workload least. With entries B, scales ``s_j = (1 + Σ_l B_lj) / b_j`` and b the buckets' allowances, the
strategy is ``A = [B; I] diag(1/s)``, as for hats; a query w has the squared error ``Σ s_j² w_j² - fᵀ K⁻¹ f`` with
``f = B diag(s) w`` and ``K = I + BBᵀ``. K has as many rows as there are blocks, about √k: nothing else is dense.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, distinct, frozen
from dawa.limits import MOST_BUMPS
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION, LeafRows, broken


@dataclass(frozen=True, eq=False)
class Patches:
    """Buckets as patches of a grid.

    Attributes:
        shape: Cells along each axis.
        order: The row-major number of every cell, bucket by bucket.
        bounds: Where each bucket begins and ends in ``order``.
    """

    shape: tuple[int, ...]
    order: IntArray
    bounds: IntArray

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @cached_property
    def centres(self) -> FloatArray:
        """The mean cell of each bucket, one row of coordinates."""
        sums = [np.add.reduceat(axis.astype(np.float64), self.bounds[:-1]) for axis in self._coordinates()]
        return np.stack(sums, axis=1) / np.diff(self.bounds)[:, None]

    def touching(self, first: IntArray) -> list[IntArray]:
        """For each stretch of buckets, by its first bucket, the stretches that touch it, itself included."""
        count = len(first)
        cells = np.diff(np.append(self.bounds[first], self.bounds[-1]))
        label = np.empty(len(self.order), np.int64)
        label[self.order] = np.repeat(np.arange(count), cells)
        grid = label.reshape(self.shape)
        pairs = [np.arange(count) * (count + 1)]
        for axis in range(grid.ndim):
            one = np.moveaxis(grid, axis, 0)
            here, there = one[:-1].ravel(), one[1:].ravel()
            differ = here != there
            codes = distinct(here[differ] * count + there[differ])
            pairs += [codes, codes % count * count + codes // count]
        codes = distinct(np.concatenate(pairs))
        return np.split(codes % count, np.searchsorted(codes // count, np.arange(1, count)))

    def _coordinates(self) -> list[IntArray]:
        return list(np.unravel_index(self.order, self.shape))


FEW_ROWS, ROW_EVERY = 256, 40
"""Rows that any number of buckets may have, and the buckets for which there may be one more: a search makes fewer."""

CHUNK = 512
"""Queries whose sums over all rows are held at once."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where rows have their entries.

    Attributes:
        buckets: Number of buckets, k.
        ptr: Row l owns entries ``ptr[l]`` to ``ptr[l + 1]``.
        column: Each entry's bucket, increasing along a row.
    """

    buckets: int
    ptr: IntArray
    column: IntArray

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @cached_property
    def row(self) -> IntArray:
        """Each entry's row."""
        return np.repeat(np.arange(len(self)), np.diff(self.ptr))

    @cached_property
    def order(self) -> IntArray:
        """The entries, bucket by bucket."""
        return np.argsort(self.column, kind="stable")

    @cached_property
    def column_ptr(self) -> IntArray:
        """Bucket j owns ``order[column_ptr[j]:column_ptr[j + 1]]``."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.column, minlength=self.buckets))))

    def summed(self, entries: FloatArray) -> FloatArray:
        """The sum of the entries on each bucket."""
        return np.bincount(self.column, entries, minlength=self.buckets).astype(np.float64)

    def factor(self, entries: FloatArray) -> FloatArray:
        """The lower triangle L of ``I + BBᵀ = LLᵀ``."""
        from scipy import linalg, sparse  # noqa: PLC0415  only maps need it

        matrix = sparse.csr_array((entries, self.column, self.ptr), shape=(len(self), self.buckets))
        gram = (matrix @ matrix.T).toarray()
        gram[np.diag_indices(len(self))] += 1
        lower: FloatArray = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        return lower


@dataclass(frozen=True, eq=False)
class BumpStrategy(LeafRows):
    """Integer rows with scattered entries, and one leaf row per bucket.

    Attributes:
        ptr: Row l owns entries ``ptr[l]`` to ``ptr[l + 1]``.
        column: Each entry's bucket, increasing along a row.
        weights: Each entry's weight.
    """

    kind = "bumps"
    name = "bumps"

    ptr: IntArray
    column: IntArray
    weights: IntArray

    @classmethod
    def rounded(cls, pattern: Pattern, entries: FloatArray, allowance: IntArray) -> Self:
        """The integer strategy nearest below ``B diag(1/s)``: leaves get what rounding leaves over.

        Every column then sums to exactly its allowance. Entries and rows without any weight are dropped.
        """
        share = entries / (1 + pattern.summed(entries))[pattern.column]
        weights = np.floor(share * allowance[pattern.column]).astype(np.int64)
        leaf = np.array(allowance, np.int64)
        np.subtract.at(leaf, pattern.column, weights)
        kept = weights > 0
        lengths = np.bincount(pattern.row[kept], minlength=len(pattern))
        ptr = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
        return cls(frozen(leaf), frozen(ptr), frozen(pattern.column[kept]), frozen(weights[kept]))

    def check(self) -> None:
        """Refuse rows that are empty, leave the buckets, or weigh nothing or too much."""
        ptr, column, weights = self.ptr, self.column, self.weights
        if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != len(column) or len(column) != len(weights):
            raise broken("does not begin with 0 and end with the number of entries", "ptr")
        if (np.diff(ptr) < 1).any() or (column < 0).any() or (column >= self.buckets).any():
            raise broken("has rows without entries, or entries outside the buckets", "column")
        inner = np.ones(len(column), bool)
        inner[ptr[:-1]] = False
        if (np.diff(column)[inner[1:]] <= 0).any():
            raise broken("has rows whose entries are not sorted", "column")
        if (weights < 1).any() or (weights > RESOLUTION).any():
            raise broken(f"has weights below 1 or above {RESOLUTION}", "weights")
        if len(ptr) - 1 > min(MOST_BUMPS, self.buckets // ROW_EVERY + FEW_ROWS):
            raise broken("has more rows than any search makes", "ptr")

    @cached_property
    def pattern(self) -> Pattern:
        """Where the rows have their entries."""
        return Pattern(self.buckets, self.ptr.copy(), self.column.copy())

    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of weights."""
        sums = self.leaf.copy()
        np.add.at(sums, self.column, self.weights)
        return sums

    def apply(self, totals: IntArray) -> IntArray:
        """The exact answers of the rows, then those of the leaves."""
        exact = np.array(totals, np.int64)
        rows = kernels.bumps.times_exactly(self.pattern.ptr, self.pattern.column, self.weights.copy(), exact)
        return np.concatenate((rows, self.leaf * exact))

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares: ``(z - Bᵀ K⁻¹ B z) / leaf`` with ``z = y_leaf + Bᵀ y_rows``."""
        from scipy import linalg  # noqa: PLC0415  only maps need it

        pattern, entries, rows = self.pattern, self._entries, len(self.pattern)
        z = answers[rows:] + pattern.summed(entries * answers[pattern.row])
        onto = np.bincount(pattern.row, entries * z[pattern.column], minlength=rows)
        back = linalg.cho_solve((self._factor, True), onto, check_finite=False)
        best: FloatArray = (z - pattern.summed(entries * back[pattern.row])) / self.leaf
        return best

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """The variance of each run ``[lo, hi)`` in bucket coordinates."""
        return self.variances(BucketQueries.of_runs(self.buckets, lo, hi))

    def variances(self, queries: BucketQueries) -> FloatArray:
        """The variance of each query, however many runs it has."""
        from scipy import linalg  # noqa: PLC0415  only maps need it

        pattern, found = self.pattern, np.empty(len(queries))
        for begin in range(0, len(queries), CHUNK):
            part = slice(begin, min(begin + CHUNK, len(queries)))
            sums, squares = kernels.bumps.of_queries(
                np.array(queries.first[begin : part.stop + 1]),
                np.array(queries.lo, np.float64),
                np.array(queries.hi, np.float64),
                np.array(queries.weight, np.float64),
                self._scale,
                pattern.column_ptr,
                pattern.order,
                pattern.row,
                self._entries,
                len(pattern),
            )
            if len(sums) == 1:  # one alone is solved by another routine, which rounds differently
                sums = np.repeat(sums, 2, axis=0)
            known = linalg.solve_triangular(self._factor, sums.T, lower=True, check_finite=False)
            found[part] = (squares - (known**2).sum(axis=0))[: len(squares)]
        return found

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of all queries' variances, exactly."""
        error = float(queries.omega @ self.variances(queries))
        if not queries.differences:
            return error
        linear = queries.omega @ queries.dense()
        whole = BucketQueries(
            self.buckets,
            np.array([0, self.buckets]),
            np.arange(self.buckets, dtype=np.float64),
            np.arange(1.0, self.buckets + 1),
            linear,
            np.ones(1),
            1.0,
        )
        return float(queries.omega.sum()) * error - float(self.variances(whole)[0])

    @cached_property
    def _scale(self) -> FloatArray:
        """s: the factor of a leaf's answer after division by Q."""
        return RESOLUTION / self.leaf

    @cached_property
    def _entries(self) -> FloatArray:
        """B of the integer rows, which are measured, not of the rows before rounding."""
        entries: FloatArray = self.weights / self.leaf[self.column]
        return entries

    @cached_property
    def _factor(self) -> FloatArray:
        return self.pattern.factor(self._entries)
