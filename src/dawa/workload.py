"""Queries: how many records, between here and there.

A query is a list of weighted runs ``[lo, hi)`` of cells; a range is one run. Three workloads over all cells have
closed forms and are never enumerated by the pipeline: every cell, every prefix, every range.

Once buckets are known, a workload becomes ``BucketQueries``: the same queries with real-valued ends, counted in
buckets, because a run that cuts a bucket takes the covered fraction of it.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import FloatArray, IntArray, frozen
from dawa.errors import WorkloadError

MOST_ENUMERATED = 2**24


class Closed(Enum):
    """Workloads that are known by name alone."""

    CELLS = "cells"
    PREFIXES = "prefixes"
    RANGES = "ranges"


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries over ``shape`` cells; made by ``Workload.ranges`` or by one of ``dawa.workloads``.

    Attributes:
        shape: The domain.
        first: Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.
        lo: First cell of each run.
        hi: One past the last cell of each run.
        weight: What each run counts for.
        closed: The name of a workload that stands for all its queries; the arrays are then empty.
    """

    shape: tuple[int, ...]
    first: IntArray
    lo: IntArray
    hi: IntArray
    weight: FloatArray
    closed: Closed | None = None

    @classmethod
    def ranges(cls, lo: ArrayLike, hi: ArrayLike, shape: int | tuple[int, ...]) -> "Workload":
        """One query per pair of ends: the records in cells ``lo`` up to but not including ``hi``.

        >>> Workload.ranges([0, 5], [10, 6], shape=10)
        Workload(2 queries over 10 cells)

        Raises:
            WorkloadError: If an end is fractional or outside the domain, or a range is empty.
        """
        starts, stops = _whole(lo, "lo"), _whole(hi, "hi")
        if len(starts) != len(stops):
            raise WorkloadError(
                f"There are {len(starts)} lower and {len(stops)} upper ends.", "pass one hi for every lo."
            )
        return cls.runs(np.arange(len(starts) + 1), starts, stops, np.ones(len(starts)), shape)

    @classmethod
    def runs(
        cls, first: ArrayLike, lo: ArrayLike, hi: ArrayLike, weight: ArrayLike, shape: int | tuple[int, ...]
    ) -> "Workload":
        """Queries of several weighted runs each: query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.

        The runs of one query must be sorted and must not overlap.

        >>> Workload.runs([0, 2], [0, 5], [2, 7], [1, 1], shape=7)
        Workload(1 query over 7 cells)
        """
        size = _size(shape)
        begin, starts, stops = _whole(first, "first"), _whole(lo, "lo"), _whole(hi, "hi")
        weights = _numbers(weight)
        if not len(starts) == len(stops) == len(weights) or begin[0] != 0 or begin[-1] != len(starts):
            raise WorkloadError(
                "The arrays of runs do not fit together.",
                "lo, hi and weight have one entry per run, and first goes from 0 to their length.",
            )
        if len(begin) < 2 or (np.diff(begin) < 1).any():
            raise WorkloadError("Some queries are without runs.", "give every query at least one run.")
        if not np.isfinite(weights).all():
            raise WorkloadError("Some weights are NaN or infinite.", "pass finite weights.")
        if (starts < 0).any() or (stops > size).any():
            raise WorkloadError(
                f"Some queries leave the domain of {size} cells.",
                f"ends are cell numbers with 0 <= lo < hi <= {size}.",
            )
        if (starts >= stops).any():
            raise WorkloadError("Some queries are empty or reversed.", "ranges are half-open with lo < hi.")
        same_query = np.ones(len(starts), bool)
        same_query[begin[:-1]] = False
        if (starts[1:] < stops[:-1])[same_query[1:]].any():
            raise WorkloadError(
                "Some query has runs that overlap or are not sorted.",
                "sort each query's runs and merge them.",
            )
        return cls(_shape(shape), frozen(begin), frozen(starts), frozen(stops), frozen(weights))

    @classmethod
    def named(cls, name: Closed, shape: int | tuple[int, ...]) -> "Workload":
        """One of the workloads that are never enumerated."""
        _size(shape)
        empty = frozen(np.zeros(0, np.int64))
        return cls(_shape(shape), frozen(np.zeros(1, np.int64)), empty, empty, frozen(np.zeros(0)), name)

    @property
    def size(self) -> int:
        """Number of cells."""
        return _size(self.shape)

    def __len__(self) -> int:
        """Number of queries."""
        return self._queries

    @property
    def _queries(self) -> int:
        """Number of queries, also where it is more than ``len`` can return."""
        if self.closed is Closed.RANGES:
            return self.size * (self.size + 1) // 2
        return len(self.first) - 1 if self.closed is None else self.size

    def __repr__(self) -> str:
        queries = f"{self._queries} quer{'y' if self._queries == 1 else 'ies'}"
        return f"Workload({queries} over {' × '.join(map(str, self.shape))} cells)"

    def enumerated(self) -> "Workload":
        """The same queries, one by one. Ranges come in order of their lower, then their upper end."""
        n = self.size
        if self.closed is None:
            return self
        if self._queries > MOST_ENUMERATED:
            raise WorkloadError(
                f"All {self._queries} queries of this workload would be listed one by one.",
                "ask for the ranges that you need with Workload.ranges.",
            )
        if self.closed is Closed.CELLS:
            return Workload.ranges(np.arange(n), np.arange(1, n + 1), self.shape)
        if self.closed is Closed.PREFIXES:
            return Workload.ranges(np.zeros(n), np.arange(1, n + 1), self.shape)
        lo, last = np.triu_indices(n)
        return Workload.ranges(lo, last + 1, self.shape)

    def answers(self, cells: FloatArray | IntArray) -> FloatArray:
        """Each query's answer on a dense array of cells."""
        if cells.shape != self.shape:
            raise WorkloadError(
                f"The workload is for {self.shape} cells, but there are {cells.shape}.",
                "pass one number per cell.",
            )
        return self.answers_before(np.concatenate(([0], np.cumsum(cells))))

    def answers_before(self, before: FloatArray | IntArray) -> FloatArray:
        """Each query's answer, given the number of records before each of the ``size + 1`` cell borders."""
        one_by_one = self.enumerated()
        parts = one_by_one.weight * (before[one_by_one.hi] - before[one_by_one.lo])
        answers: FloatArray = np.add.reduceat(parts, one_by_one.first[:-1])
        return answers

    def cuts(self) -> IntArray | None:
        """The inner cell borders at which some query begins or ends; None means all of them."""
        if self.closed is not None:
            return None
        borders = np.unique(np.concatenate((self.lo, self.hi)))
        return borders[(borders > 0) & (borders < self.size)]

    def on_buckets(self, bounds: IntArray) -> "BucketQueries":
        """The queries in bucket coordinates, each cut bucket taken in proportion to its covered part."""
        if self.closed is not None:
            return _closed_on_buckets(self.closed, bounds)
        lo, hi = coordinates(self.lo, bounds), coordinates(self.hi, bounds)
        m = len(self)
        return BucketQueries(len(bounds) - 1, self.first, lo, hi, self.weight, np.ones(m), float(m))


@dataclass(frozen=True, eq=False)
class BucketQueries:
    """A workload seen from the buckets: what a strategy's expected error is summed over.

    Attributes:
        buckets: Number of buckets, k.
        first: Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.
        lo: Where each run begins, in buckets; 2.5 is the middle of the third.
        hi: Where it ends.
        weight: What each run counts for.
        omega: What each query's squared error counts for.
        total: The number of queries that these stand for.
        differences: If true, each query is a prefix and the workload is the difference of every two of them:
            with q the squared error, ``sum(omega) * sum(omega * q(prefix)) - q(sum(omega * prefix))``.
    """

    buckets: int
    first: IntArray
    lo: FloatArray
    hi: FloatArray
    weight: FloatArray
    omega: FloatArray
    total: float
    differences: bool = False

    def __len__(self) -> int:
        return len(self.first) - 1

    def thinned(self, most: int) -> "BucketQueries":
        """Every j-th query, at most ``most`` of them, standing for all: enough to steer a search."""
        if len(self) <= most:
            return self
        keep = np.linspace(0, len(self) - 1, most).astype(np.int64)
        first, runs = runs_of(self.first, keep)
        omega = self.omega[keep]
        return BucketQueries(
            self.buckets,
            first,
            self.lo[runs],
            self.hi[runs],
            self.weight[runs],
            omega * (self.omega.sum() / omega.sum()),
            self.total,
            self.differences,
        )

    def dense(self) -> FloatArray:
        """The m × k matrix: for tests and small cases."""
        matrix = np.zeros((len(self), self.buckets))
        edges = np.arange(self.buckets + 1)
        for i in range(len(self)):
            for r in range(self.first[i], self.first[i + 1]):
                matrix[i] += self.weight[r] * np.diff(np.clip(edges, self.lo[r], self.hi[r]))
        return matrix

    def gram(self) -> FloatArray:
        """The k × k matrix whose inner product with a covariance is the total squared error: for tests."""
        rows = self.dense()
        gram = (rows * self.omega[:, None]).T @ rows
        if not self.differences:
            return gram
        mean = self.omega @ rows
        result: FloatArray = self.omega.sum() * gram - np.outer(mean, mean)
        return result


def runs_of(first: IntArray, picks: IntArray) -> tuple[IntArray, IntArray]:
    """The runs of some queries, in the given order: where each query's begin, and which runs they are.

    >>> runs_of(np.array([0, 2, 3]), np.array([1, 0]))
    (array([0, 1, 3]), array([2, 0, 1]))
    """
    number = np.diff(first)[picks]
    begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(number)))
    return begin, np.repeat(first[:-1][picks] - begin[:-1], number) + np.arange(begin[-1])


def coordinates(borders: IntArray | FloatArray, bounds: IntArray) -> FloatArray:
    """Cell borders in bucket coordinates: whole at bucket bounds, linear in between."""
    bucket = np.minimum(np.searchsorted(bounds, borders, side="right") - 1, len(bounds) - 2)
    inside: FloatArray = bucket + (borders - bounds[bucket]) / (bounds[bucket + 1] - bounds[bucket])
    return inside


def _closed_on_buckets(name: Closed, bounds: IntArray) -> BucketQueries:
    """A closed workload as at most two queries per bucket, with exactly the same total squared error.

    The squared error of the prefix that ends inside a bucket is a quadratic function of the covered fraction.
    Its sum over the fractions 0, 1/b, …, (b-1)/b equals b/2 times its sum at the two points of Gauss's rule for
    these fractions, their mean minus and plus their standard deviation. Linear terms are kept exactly too, so
    that the rule also serves the differences of prefixes.
    """
    k, widths = len(bounds) - 1, np.diff(bounds).astype(np.float64)
    bucket = np.arange(k, dtype=np.float64)
    if name is Closed.CELLS:
        ones = np.ones(k)
        return BucketQueries(k, np.arange(k + 1), bucket, bucket + 1, ones, 1 / widths, float(bounds[-1]))
    mean, spread = (widths - 1) / (2 * widths), np.sqrt((widths**2 - 1) / 12) / widths
    several = widths > 1
    ends = np.concatenate((bucket + mean - spread, (bucket + mean + spread)[several], [k]))
    omega = np.concatenate((np.where(several, widths / 2, 1), widths[several] / 2, [1]))
    order = np.argsort(ends, kind="stable")
    ends, omega = ends[order], omega[order]
    n, zeros = int(bounds[-1]), np.zeros(len(ends))
    total = n * (n + 1) / 2 if name is Closed.RANGES else float(n)
    return BucketQueries(k, np.arange(len(ends) + 1), zeros, ends, zeros + 1, omega, total, name is Closed.RANGES)


def _whole(ends: ArrayLike, name: str) -> IntArray:
    """Cell numbers as int64."""
    hint = "ends are whole cell numbers."
    try:
        array = np.atleast_1d(np.asarray(ends))
        if array.ndim != 1 or array.dtype.kind not in "iuf" or array.size == 0:
            raise WorkloadError(f"{name} must be a non-empty list of whole numbers.", hint)
        if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.floor(array))).all():
            raise WorkloadError(f"{name} holds numbers that are not whole.", hint)
        if (array >= 2**63).any() or (array < -(2**63)).any():
            raise WorkloadError(f"{name} holds numbers beyond 64 bits.", hint)
        return array.astype(np.int64)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, WorkloadError):
            raise
        raise WorkloadError(f"{name} cannot be read as a list of whole numbers.", hint) from None


def _numbers(weight: ArrayLike) -> FloatArray:
    """Weights as float64."""
    hint = "pass one number per run."
    try:
        array = np.atleast_1d(np.asarray(weight, np.float64))
    except (ValueError, TypeError, OverflowError):
        raise WorkloadError("weight cannot be read as a list of numbers.", hint) from None
    if array.ndim != 1:
        raise WorkloadError(f"weight has shape {array.shape}.", hint)
    return array


def _shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    dims = shape if isinstance(shape, tuple) else (shape,)
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in dims)
    if len(dims) != 1 or not whole or dims[0] < 1:
        raise WorkloadError(f"shape={shape!r} is no domain.", "pass the number of cells, for example shape=4096.")
    return (int(dims[0]),)


def _size(shape: int | tuple[int, ...]) -> int:
    return _shape(shape)[0]
