"""Queries: how many records, between here and there.

A query is a list of weighted runs ``[lo, hi)`` of cells; a range is one run. Three workloads over all cells have
closed forms and are never enumerated by the pipeline: every cell, every prefix, every range.

Over several axes the cells lie on a line (``layout.curve``), and a rectangle becomes the runs of the line that it
covers. Once buckets are known, a workload becomes ``BucketQueries``, counted in buckets.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dawa import check
from dawa.arrays import FloatArray, IntArray, distinct, frozen
from dawa.errors import WorkloadError
from dawa.layout.curve import Order, Runs
from dawa.limits import MOST_AXES, MOST_CELLS, MOST_QUERIES_ENUMERATED
from dawa.queries.bucket_queries import BucketQueries, Closed, closed_on_buckets, coordinates, on_line

LEAST_VOLUME = 1e-200
"""The smallest volume of a rectangle, in cells; the weights of smaller rectangles would vanish."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries over ``shape`` cells; made by ``ranges``, ``rectangles`` or one of ``dawa.workloads``.

    Attributes:
        shape: The domain.
        listed: The queries' runs, if the queries were given as runs.
        closed: The name of a workload that stands for all its queries.
        boxes: The lower and the upper corner of each query, one row each, if the queries are rectangles.
    """

    shape: tuple[int, ...]
    listed: Runs | None = None
    closed: Closed | None = None
    boxes: tuple[FloatArray, FloatArray] | None = None

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
    def rectangles(cls, lo: ArrayLike, hi: ArrayLike, shape: tuple[int, ...]) -> "Workload":
        """One query per pair of corners: the records in cells from ``lo`` up to but not including ``hi`` on all axes.

        A corner inside a cell cuts the cell, which then counts in proportion to its covered part.

        >>> Workload.rectangles([[0, 0], [2, 1.5]], [[4, 2], [3, 6]], shape=(4, 6))
        Workload(2 queries over 4 × 6 cells)

        Args:
            lo: Lower corners, one row of coordinates each, in cells.
            hi: Upper corners.
            shape: Cells along each axis.

        Raises:
            WorkloadError: If a corner is outside the domain, or a rectangle is empty.
        """
        domain = as_shape(shape)
        lows, highs = (_corners(ends, name, len(domain)) for ends, name in ((lo, "lo"), (hi, "hi")))
        if len(lows) != len(highs):
            raise WorkloadError(f"There are {len(lows)} lower and {len(highs)} upper corners.", "pass one hi per lo.")
        if (lows < 0).any() or (highs > np.array(domain)).any():
            raise WorkloadError(
                f"Some queries leave the domain of {' × '.join(map(str, domain))} cells.",
                "corners are cell numbers with 0 <= lo < hi <= shape on every axis.",
            )
        if (lows >= highs).any():
            raise WorkloadError("Some rectangles are empty or reversed.", "rectangles have lo < hi on every axis.")
        if (np.prod(highs - lows, axis=1) < LEAST_VOLUME).any():
            raise WorkloadError("Some rectangles are too thin to compute with.", "ask for larger ones.")
        return cls(domain, boxes=(frozen(lows), frozen(highs)))

    @classmethod
    def runs(
        cls, first: ArrayLike, lo: ArrayLike, hi: ArrayLike, weight: ArrayLike, shape: int | tuple[int, ...]
    ) -> "Workload":
        """Queries of several weighted runs each: query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.

        The runs of one query must be sorted and must not overlap.

        >>> Workload.runs([0, 2], [0, 5], [2, 7], [1, 1], shape=7)
        Workload(1 query over 7 cells)
        """
        size = _one_axis(shape)
        begin, starts, stops = _whole(first, "first"), _whole(lo, "lo"), _whole(hi, "hi")
        weights = _numbers(weight)
        if not len(starts) == len(stops) == len(weights) or begin[0] != 0 or begin[-1] != len(starts):
            raise WorkloadError(
                "The arrays of runs do not fit together.",
                "lo, hi and weight have one entry per run, and first goes from 0 to their length.",
            )
        if len(begin) < 2 or (np.diff(begin) < 1).any():
            raise WorkloadError("Some queries have no runs.", "give every query at least one run.")
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
                "Some queries have runs that overlap or are not sorted.",
                "sort each query's runs and merge them.",
            )
        return cls(as_shape(shape), Runs(frozen(begin), frozen(starts), frozen(stops), frozen(weights)))

    @classmethod
    def named(cls, name: Closed, shape: int | tuple[int, ...]) -> "Workload":
        """One of the workloads that are never enumerated."""
        if name is not Closed.CELLS:
            _one_axis(shape)
        return cls(as_shape(shape), closed=name)

    @cached_property
    def line(self) -> Runs:
        """Every query's runs of cells; no runs if the workload is known by name."""
        if self.listed is not None:
            return self.listed
        if self.boxes is not None:
            return Order(self.shape).runs(*self.boxes)
        none = frozen(np.zeros(0, np.int64))
        return Runs(frozen(np.zeros(1, np.int64)), none, none, frozen(np.zeros(0)))

    @property
    def first(self) -> IntArray:
        """Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``."""
        return self.line.first

    @property
    def lo(self) -> IntArray:
        """Where each run begins on the line."""
        return self.line.lo

    @property
    def hi(self) -> IntArray:
        """One past the end of each run."""
        return self.line.hi

    @property
    def weight(self) -> FloatArray:
        """The weight of each run."""
        return self.line.weight

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        """Number of queries."""
        return self._queries

    @property
    def _queries(self) -> int:
        """Number of queries, even if it is more than ``len`` can return."""
        if self.closed is Closed.RANGES:
            return self.size * (self.size + 1) // 2
        if self.closed is not None:
            return self.size
        return len(self.first) - 1 if self.boxes is None else len(self.boxes[0])

    def __repr__(self) -> str:
        queries = f"{self._queries} quer{'y' if self._queries == 1 else 'ies'}"
        return f"Workload({queries} over {' × '.join(map(str, self.shape))} cells)"

    def enumerated(self) -> "Workload":
        """The same queries, one by one.

        Ranges come in order of their lower, then their upper end; cells over several axes in the order of an array.
        """
        n = self.size
        if self.closed is None:
            return self
        if self._queries > MOST_QUERIES_ENUMERATED:
            raise WorkloadError(
                f"This workload has {self._queries} queries, too many to list one by one.",
                "ask for the ranges that you need with Workload.ranges.",
            )
        if len(self.shape) > 1:
            cells = np.stack(np.unravel_index(np.arange(n), self.shape), axis=1)
            return Workload.rectangles(cells, cells + 1, self.shape)
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
        line = cells if len(self.shape) == 1 else cells.ravel()[Order(self.shape).flat()]
        before = np.concatenate(([0], np.cumsum(line)))
        listed = self.enumerated()
        answers: FloatArray = np.add.reduceat(
            listed.weight * (before[listed.hi] - before[listed.lo]), listed.first[:-1]
        )
        return answers

    def cuts(self) -> IntArray:
        """The inner borders on the line at which some listed query begins or ends."""
        borders = distinct(np.concatenate((self.lo, self.hi)))
        return borders[(borders > 0) & (borders < self.size)]

    def on_buckets(self, bounds: IntArray) -> "BucketQueries":
        """The queries in bucket coordinates, each cut bucket taken in proportion to its covered part."""
        if self.closed is not None:
            return closed_on_buckets(self.closed, bounds)
        if self.boxes is None:
            return on_line(self.line, bounds)
        if len(self.shape) > 1:
            return replace(on_line(Order(self.shape).runs(*self.boxes, bounds), bounds), corners=self.boxes)
        lo, hi = (coordinates(ends[:, 0], bounds) for ends in self.boxes)
        return BucketQueries.of_runs(len(bounds) - 1, lo, hi, self.boxes)


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


def _corners(ends: ArrayLike, name: str, axes: int) -> FloatArray:
    """Corners as rows of coordinates; on one axis a plain list will do."""
    hint = f"pass one row of {axes} numbers per rectangle."
    try:
        array = np.asarray(ends)
    except (ValueError, TypeError, OverflowError):
        raise WorkloadError(f"{name} cannot be read as corners of rectangles.", hint) from None
    if array.ndim == 1 and axes == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != axes or len(array) == 0 or array.dtype.kind not in "iuf":
        raise WorkloadError(f"{name} does not consist of rows of {axes} numbers.", hint)
    corners = array.astype(np.float64)
    if not np.isfinite(corners).all():
        raise WorkloadError(f"{name} holds numbers that are NaN or infinite.", hint)
    return corners


def as_shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    """A number of cells, or one for each axis, as a domain.

    Raises:
        WorkloadError: If it is not a valid shape.
    """
    dims = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    whole = all(check.is_whole(n, 1) for n in dims)
    if not 1 <= len(dims) <= MOST_AXES or not whole or math.prod(map(int, dims)) > MOST_CELLS:
        raise WorkloadError(
            f"shape={shape!r} is not a domain.", "pass the number of cells, for example shape=4096 or shape=(256, 256)."
        )
    return tuple(int(n) for n in dims)


def _one_axis(shape: int | tuple[int, ...]) -> int:
    dims = as_shape(shape)
    if len(dims) > 1:
        raise WorkloadError(f"shape={shape!r} has several axes.", "use Workload.rectangles instead.")
    return dims[0]
