"""Haar wavelets along every axis of a grid (Xiao, Wang, Gehrke 2010): the product of one-dimensional strategies.

Buckets are the cells of the grid, row by row. A row of the product is a row of wavelets on each axis, multiplied; so
transforming, least squares and variances go axis by axis, and the variance of a box is the product of the variances of
its sides. All rows have one weight. With plus and minus ones on axes of H levels each, the columns of the products sum
to the product of all H + 1; the one weight is as large as the allowance permits.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError
from dawa.limits import MOST_AXES, MOST_CELLS_LISTED
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION, ByRanges, broken, whole_numbers
from dawa.strategy.wavelet import WaveletStrategy


@dataclass(frozen=True)
class ProductStrategy(ByRanges):
    """Products of wavelets, all with one weight.

    Attributes:
        shape: Cells along each of several axes.
        weight: The factor of every row.
    """

    shape: tuple[int, ...]
    weight: int

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild a strategy from what ``to_json`` returned.

        Raises:
            ReleaseError: If the numbers do not make a strategy.
        """
        shape, weight = whole_numbers(data, "shape").tolist(), data.get("weight")
        if not 2 <= len(shape) <= MOST_AXES or min(shape) < 1 or math.prod(shape) > MOST_CELLS_LISTED:
            raise broken("is not the shape of a grid", "shape")
        if type(weight) is not int or weight < 1:
            raise broken("is not a positive whole number", "weight")
        strategy = cls(tuple(shape), weight)
        if strategy.column_sum > RESOLUTION:
            raise broken(f"has columns that sum to more than {RESOLUTION}")
        return strategy

    def described(self) -> dict[str, Any]:
        """The shape and one number are enough."""
        return {"kind": "product", "shape": list(self.shape), "weight": self.weight}

    @property
    def buckets(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @property
    def name(self) -> str:
        """What to call it in a release."""
        return f"Haar wavelets along {len(self.shape)} axes"

    @property
    def column_sum(self) -> int:
        """Every cell's sum of weights, in absolute value."""
        return self.weight * math.prod(axis.column_sum for axis in self._axes)

    def column_sums(self) -> IntArray:
        """Each cell's exact sum of weights, in absolute value; all are the same."""
        return np.full(self.buckets, self.column_sum, np.int64)

    def apply(self, totals: IntArray) -> IntArray:
        """The totals transformed along every axis, in exact integers: no sum exceeds the number of records."""
        grid = np.array(totals, np.int64).reshape(self.shape)
        for at, axis in enumerate(self._axes):
            lines = np.moveaxis(grid, at, -1)
            done = axis.apply_rows(lines.reshape(-1, axis.buckets))
            grid = np.moveaxis(done.reshape(*lines.shape[:-1], done.shape[1]), -1, at)
        answers: IntArray = self.weight * grid.ravel()
        return answers

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares along every axis: the pseudoinverse of a product is the product of the pseudoinverses."""
        grid = np.array(answers, np.float64).reshape([_rows(axis) for axis in self._axes]) / self.weight
        for at, axis in enumerate(self._axes):
            lines = np.moveaxis(grid, at, -1)
            done = axis.solve_rows(lines.reshape(-1, lines.shape[-1]))
            grid = np.moveaxis(done.reshape(*lines.shape[:-1], axis.buckets), -1, at)
        return grid.ravel()

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each run ``[lo, hi)`` of cells row by row: fast if runs stay inside a cell."""
        cell = np.minimum(np.floor(lo), self.buckets - 1)
        inside = hi <= cell + 1
        found = np.empty(len(lo))
        corners = np.stack(np.unravel_index(cell[inside].astype(np.int64), self.shape), axis=1).astype(np.float64)
        found[inside] = self.box_variances(corners, corners + 1) * (hi - lo)[inside] ** 2
        for i in np.flatnonzero(~inside):
            found[i] = self._runs_variance(lo[i : i + 1], hi[i : i + 1], np.ones(1))
        return found

    def box_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """The variance of each box, by its corners; a fraction cuts a cell."""
        variance = np.full(len(lo), (RESOLUTION / self.weight) ** 2)
        for at, axis in enumerate(self._axes):
            variance *= axis.range_variances(lo[:, at], hi[:, at]) / RESOLUTION**2
        return variance

    def variances(self, queries: BucketQueries) -> FloatArray:
        """The variance of each query: boxes at once, runs of cells row by row one query after the other."""
        if queries.boxes is not None:
            return self.box_variances(*queries.boxes)
        if len(queries.lo) == len(queries):
            return self.range_variances(queries.lo, queries.hi) * queries.weight**2
        runs = [slice(*ends) for ends in zip(queries.first[:-1], queries.first[1:], strict=True)]
        one_by_one = (self._runs_variance(queries.lo[run], queries.hi[run], queries.weight[run]) for run in runs)
        return np.fromiter(one_by_one, np.float64, len(queries))

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        if queries.differences:
            raise OptionError("Differences of prefixes are queries on a line.", "ask for rectangles on a grid.")
        return float(queries.omega @ self.variances(queries))

    def _runs_variance(self, lo: FloatArray, hi: FloatArray, weight: FloatArray) -> float:
        """The variance of one weighted sum of runs: the sum of the covariances of all boxes that make up the runs.

        Boxes share sides, so covariances are computed once for each two sides of an axis, and summed axis by axis.
        """
        boxes = [(w, *box) for a, b, w in zip(lo, hi, weight, strict=True) for box in run_boxes(a, b, self.shape)]
        weights, lows, highs = (np.array(part, np.float64) for part in zip(*boxes, strict=True))
        sides = [np.stack((lows[:, at], highs[:, at]), axis=1) for at in range(len(self.shape))]
        kinds, places = zip(*(np.unique(side, axis=0, return_inverse=True) for side in sides), strict=True)
        between = [
            _covariances(axis, kind[:, 0], kind[:, 1]) / RESOLUTION**2
            for axis, kind in zip(self._axes, kinds, strict=True)
        ]
        places = tuple(place.ravel() for place in places)
        if math.prod(map(len, kinds)) > len(weights) ** 2:  # few boxes, far apart
            products = np.outer(weights, weights)
            for covariances, place in zip(between, places, strict=True):
                products *= covariances[np.ix_(place, place)]
            return float(products.sum()) * (RESOLUTION / self.weight) ** 2
        grid = np.zeros([len(kind) for kind in kinds])
        np.add.at(grid, places, weights)
        moved = grid
        for covariances in between:  # along the first axis, which becomes the last: after all of them, all are in place
            moved = np.moveaxis(np.tensordot(covariances, moved, axes=1), 0, -1)
        return float((moved * grid).sum()) * (RESOLUTION / self.weight) ** 2

    @cached_property
    def _axes(self) -> list[WaveletStrategy]:
        """Wavelets of plus and minus ones along each axis."""
        return [WaveletStrategy(side, 1, 1) for side in self.shape]


def product(shape: tuple[int, ...], allowance: IntArray) -> ProductStrategy:
    """Equal weights on all rows, as large as the poorest cell allows.

    >>> product((256, 256), np.full(65536, 2**16))
    ProductStrategy(shape=(256, 256), weight=809)
    """
    weight = int(allowance.min()) // ProductStrategy(shape, 1).column_sum
    if weight < 1:
        raise OptionError(
            f"A budget of {int(allowance.min())} units is too small for wavelets on all axes.",
            "use fewer or coarser axes.",
        )
    return ProductStrategy(tuple(shape), weight)


def run_boxes(lo: float, hi: float, shape: tuple[int, ...]) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """A run of cells row by row as boxes: at most two on every axis but the last.

    >>> run_boxes(3, 9, (3, 4))
    [((0.0, 3.0), (1.0, 4.0)), ((1.0, 0.0), (2.0, 4.0)), ((2.0, 0.0), (3.0, 1.0))]
    """
    if len(shape) == 1:
        return [((float(lo),), (float(hi),))]
    slab = math.prod(shape[1:])
    first, whole, beyond = math.floor(lo / slab), math.ceil(lo / slab), math.floor(hi / slab)
    cut = [(first, lo, min(hi, (first + 1) * slab))] if whole > first else []
    middle = []
    if beyond > whole:
        middle = [((float(whole), *(0.0 for _ in shape[1:])), (float(beyond), *(float(side) for side in shape[1:])))]
    end = [(beyond, beyond * slab, hi)] if hi > beyond * slab and beyond >= whole else []
    sides = [
        [
            ((float(at), *low), (float(at + 1), *high))
            for at, a, b in parts
            for low, high in run_boxes(a - at * slab, b - at * slab, shape[1:])
        ]
        for parts in (cut, end)
    ]
    return [*sides[0], *middle, *sides[1]]


def _rows(axis: WaveletStrategy) -> int:
    """How many rows the wavelets of an axis have."""
    return len(axis.apply(np.zeros(axis.buckets, np.int64)))


def _covariances(axis: WaveletStrategy, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """The covariance of every two ranges: with V the variance between two ends, half of V(a,d)+V(b,c)-V(a,c)-V(b,d)."""

    def between(one: FloatArray, other: FloatArray) -> FloatArray:
        low, high = np.minimum.outer(one, other), np.maximum.outer(one, other)
        return axis.range_variances(low.ravel(), high.ravel()).reshape(low.shape)

    mixed = between(lo, hi)
    result: FloatArray = (mixed + mixed.T - between(lo, lo) - between(hi, hi)) / 2
    return result
