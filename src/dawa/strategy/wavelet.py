"""Haar wavelets over the buckets (Xiao, Wang, Gehrke 2010): the grand total, and at every node left minus right.

Privelet publishes weighted Haar coefficients with noise in inverse proportion to their weights. Multiplied by its
weight, the coefficient of a node is the left half's total minus the right half's, and the coefficient of the whole line
is the grand total. So the same release is made by measuring these sums with one noise scale. A bucket counts, plus or
minus, in one difference per level and in the total.

The line is treated as if it were padded to a power of two. Padding is public and empty: rows over padding alone are
left out, and least squares knows that the rest of a clipped node is empty. If k is a power of two, least squares is
the inverse transform.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION, ByRanges, broken, variances_by_runs
from dawa.strategy.tree import level_offsets


@dataclass(frozen=True)
class WaveletStrategy(ByRanges):
    """One weight for all differences, and nearly the same for the total, which takes what rounding leaves.

    Attributes:
        buckets: Number of buckets, k.
        difference: The weight of every difference, in absolute value.
        total: The weight of the grand total.
    """

    buckets: int
    difference: int
    total: int

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild a strategy from what ``to_json`` returned.

        Raises:
            ReleaseError: If the numbers do not make a strategy.
        """
        strategy = cls(*(_positive(data, name) for name in ("buckets", "difference", "total")))
        if strategy.column_sum > RESOLUTION:
            raise broken(f"has columns that sum to more than {RESOLUTION}")
        return strategy

    def described(self) -> dict[str, Any]:
        """Three numbers are enough."""
        return {
            "kind": "wavelet",
            "buckets": self.buckets,
            "difference": self.difference,
            "total": self.total,
        }

    @property
    def name(self) -> str:
        """What to call it in a release."""
        return "Haar wavelets"

    @property
    def levels(self) -> int:
        """Levels of differences, H: the least with ``2^H >= k``."""
        return (self.buckets - 1).bit_length()

    @property
    def column_sum(self) -> int:
        """Every bucket's sum of weights, in absolute value."""
        return self.levels * self.difference + self.total

    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of weights, in absolute value; all are the same."""
        return np.full(self.buckets, self.column_sum, np.int64)

    def apply(self, totals: IntArray) -> IntArray:
        """The differences, from the narrowest level up, then the total, in exact integers."""
        answers: IntArray = self.apply_rows(totals[None])[0]
        return answers

    def apply_rows(self, totals: IntArray) -> IntArray:
        """The same for every row of a matrix."""
        answers: IntArray = kernels.wavelet.transforms(np.array(totals, np.int64, order="C"))
        answers[:, :-1] *= self.difference
        answers[:, -1] *= self.total
        return answers

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares: blocks from the few rows above them, then the inverse transform inside each."""
        best: FloatArray = self.solve_rows(answers[None])[0]
        return best

    def solve_rows(self, answers: FloatArray) -> FloatArray:
        """The same for every row of a matrix."""
        y, k = np.array(answers, np.float64, order="C"), self.buckets
        clipped = [self._start[level] + (k >> level) for level in self._clipped_levels]
        orthogonal, triangle = self._above
        blocks = np.zeros((len(y), self.levels + 1))
        blocks[:, self._digits] = np.linalg.solve(triangle, orthogonal.T @ y[:, [-1, *clipped]].T).T
        best: FloatArray = kernels.wavelet.inverses(y / self.difference, self._start, blocks, k)
        return best

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each run ``[lo, hi)`` in bucket coordinates, in logarithmic time each."""
        variances: FloatArray = kernels.wavelet.range_variances(
            np.array(lo, np.float64), np.array(hi, np.float64), *self._errors
        )
        return variances

    def variances(self, queries: BucketQueries) -> FloatArray:
        """The variance of each query, however many runs it has."""
        return variances_by_runs(self, queries)

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        error = kernels.wavelet.total_error(
            np.array(queries.first, np.int64),
            np.array(queries.lo, np.float64),
            np.array(queries.hi, np.float64),
            np.array(queries.weight, np.float64),
            np.array(queries.omega, np.float64),
            queries.differences,
            *self._errors,
        )
        return float(error)

    @cached_property
    def _start(self) -> IntArray:
        """Where each level's differences begin among the answers; level 0 has none."""
        return np.concatenate(([0], level_offsets(self.buckets, 2)[1:] - self.buckets))

    @cached_property
    def _digits(self) -> list[int]:
        """The levels of the blocks, from left to right: the binary digits of k."""
        return [level for level in range(self.levels, -1, -1) if self.buckets >> level & 1]

    @cached_property
    def _clipped_levels(self) -> list[int]:
        """The levels on which the last node is partly padding."""
        return [level for level in range(1, self.levels + 1) if self.buckets % 2**level]

    @cached_property
    def _above(self) -> tuple[FloatArray, FloatArray]:
        """The rows of the total and of all clipped nodes, in terms of the blocks' totals: their QR factors."""
        rows = [[self.total] * len(self._digits)]
        for level in self._clipped_levels:
            # A clipped node's left half is a block with the narrower blocks to its right, or holds everything.
            halved = self.buckets >> (level - 1) & 1
            rest = -self.difference if halved else self.difference
            rows.append(
                [0 if at >= level else self.difference if at == level - 1 else rest for at in self._digits],
            )
        orthogonal, triangle = np.linalg.qr(np.array(rows, np.float64))
        return orthogonal, triangle

    @cached_property
    def _errors(self) -> tuple[int, float, FloatArray, FloatArray]:
        """All that the error kernels need besides the queries.

        A query that takes the parts g of the blocks has the variance ``‖gᵀ T⁻¹‖²`` above them, with T the triangle of
        ``_above``; ``top`` is this vector for the prefixes that end at the blocks' edges.
        """
        inverse = np.linalg.inv(self._above[1] / RESOLUTION)
        top = np.concatenate((np.zeros((1, len(inverse))), np.cumsum(inverse, axis=0)))
        edges = np.concatenate(([0.0], np.cumsum([2.0**level for level in self._digits])))
        return self.buckets, (RESOLUTION / self.difference) ** 2, edges, top


def wavelet(allowance: IntArray) -> WaveletStrategy:
    """Equal weights on all rows, as large as the poorest bucket allows; the total takes what rounding leaves.

    >>> wavelet(np.full(5, 2**16))
    WaveletStrategy(buckets=5, difference=16384, total=16384)
    """
    poorest, levels = int(allowance.min()), (len(allowance) - 1).bit_length()
    difference = poorest // (levels + 1)
    if difference < 1:
        raise OptionError(
            f"A budget of {poorest} units is too small for {levels + 1} levels of wavelets.",
            "spend less on the partition.",
        )
    return WaveletStrategy(len(allowance), difference, poorest - levels * difference)


def _positive(data: dict[str, Any], name: str) -> int:
    number = data.get(name)
    if type(number) is not int or number < 1:
        raise broken("is not a positive whole number", name)
    return number
