"""What a mechanism learned, and how to ask it anything: public from here on."""

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from dawa import infer
from dawa.arrays import FloatArray, IntArray, frozen, running
from dawa.errors import InvariantError, OptionError, WorkloadError
from dawa.limits import MOST_CELLS_LISTED
from dawa.partition.buckets import Buckets
from dawa.queries.bucket_queries import BucketQueries
from dawa.queries.workload import Workload
from dawa.results.insides import Grid, Inside, Line, tolerated
from dawa.strategy.base import Strategy

ROUNDING = 2.0**-48
"""Rounding of a sum of numbers moves it by less than this part of their magnitudes (``rounding.md``)."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a mechanism learned: bucket totals, and how far noise may have moved them. Public.

    Attributes:
        shape: The domain.
        epsilon: The budget spent, exactly.
        buckets: The bucket bounds and how they were chosen.
        unbiased: Least-squares bucket totals; each is right on average.
        totals: Bucket totals as they are published, after post-processing.
        strategy: What was measured; None if the noise of an answer is not known in closed form.
        unit_variance: The variance of one measurement's noise.
        options: The mechanism's options, as plain values.
        split: What each step spent.
        randomness: Where the noise came from.
        mechanism: The mechanism's name; the pipeline fills it in.
        inside: Where the records of a bucket lie in it: evenly, or smoothly; ``results.insides``.
    """

    shape: tuple[int, ...]
    epsilon: Fraction
    buckets: Buckets
    unbiased: FloatArray
    totals: FloatArray
    strategy: Strategy | None
    unit_variance: float
    options: dict[str, Any]
    split: dict[str, Fraction]
    randomness: str
    mechanism: str = ""
    inside: Inside = "even"

    @classmethod
    def of_cells(
        cls,
        shape: tuple[int, ...],
        cells: FloatArray,
        epsilon: Fraction,
        options: dict[str, Any],
        split: dict[str, Fraction],
        randomness: str,
    ) -> "Estimate":
        """An estimate of every cell, on the line, by a mechanism that does not know the noise of its answers."""
        kept = frozen(cells)
        buckets = Buckets(frozen(np.arange(len(cells) + 1)))
        return cls(shape, epsilon, buckets, kept, kept, None, math.nan, options, split, randomness)

    @property
    def partition(self) -> IntArray | None:
        """The bounds of ``buckets`` on the line, k + 1 positions; None if every cell is its own bucket."""
        return None if len(self.buckets) == self.size else self.buckets.bounds

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @property
    def measured(self) -> Strategy:
        """What was measured, if it determines the noise of every answer.

        Raises:
            OptionError: If the mechanism has no such strategy.
        """
        if self.strategy is None:
            raise OptionError(
                f"The mechanism {self.mechanism!r} does not know how much noise its answers have.",
                "use a mechanism with error bars, such as 'dawa'.",
            )
        return self.strategy

    @cached_property
    def cells(self) -> FloatArray:
        """The estimated number of records in every cell, in the shape of the counts.

        Raises:
            OptionError: If there are too many cells to list.
        """
        if self.size > MOST_CELLS_LISTED:
            raise OptionError(f"There are {self.size} cells, too many to list.", "ask for ranges instead.")
        if self.placed is not None:
            return self.placed.cells
        cells = np.empty(self.size)
        cells[self.buckets.order(self.shape)] = infer.expanded(self.totals, self.buckets.bounds)
        return cells.reshape(self.shape)

    @cached_property
    def cell_variances(self) -> FloatArray:
        """The variance of the noise in every cell, in the shape of the counts: that of its part of its bucket."""
        widths, variances = np.diff(self.buckets.bounds), np.empty(self.size)
        variances[self.buckets.order(self.shape)] = np.repeat(self.variances_alone / widths.astype(float) ** 2, widths)
        return frozen(variances.reshape(self.shape))

    @cached_property
    def placed(self) -> Line | Grid | None:
        """Where records lie inside buckets; None if they lie evenly."""
        if self.inside == "even":
            return None
        if len(self.shape) == 1:
            return Line.of(self.buckets.bounds, self.totals, tolerated(self.buckets))
        return Grid.of(self.shape, self.buckets, self.totals)

    @overload
    def answer(self, lo: Workload) -> FloatArray: ...

    @overload
    def answer(self, *, workload: Workload) -> FloatArray: ...

    @overload
    def answer(self, lo: ArrayLike, hi: ArrayLike) -> float: ...

    def answer(
        self, lo: ArrayLike | Workload | None = None, hi: ArrayLike | None = None, *, workload: Workload | None = None
    ) -> float | FloatArray:
        """The estimated number of records from cell ``lo`` up to but not including ``hi``.

        >>> import dawa
        >>> est = dawa.estimate([[4, 0], [0, 4]], epsilon=10**6, seed=0)
        >>> round(est.answer((0, 0), (2, 1)))
        4

        Args:
            lo: The lower end, in cells; over several axes one for each.
            hi: The upper end.
            workload: Deprecated: ``answers`` takes it.
        """
        several = lo if isinstance(lo, Workload) else workload
        if several is not None and hi is None:
            warnings.warn(
                "est.answer(workload) is est.answers(workload) now; est.answer(lo, hi) answers one range of cells.",
                DeprecationWarning,
                stacklevel=2,
            )
            return self.answers(several)
        if lo is None or hi is None or isinstance(lo, Workload) or workload is not None:
            raise WorkloadError(
                "One range has two ends.", "pass lo and hi, in cells; est.answers(workload) answers many queries."
            )
        ends: tuple[Any, Any] = ([lo], [hi])
        one = Workload.ranges(*ends, self.shape) if len(self.shape) == 1 else Workload.rectangles(*ends, self.shape)
        return float(self.answers(one)[0])

    def answers(self, workload: Workload) -> FloatArray:
        """One estimate per query of a workload."""
        self._fits(workload)
        listed = workload.enumerated()
        if isinstance(self.placed, Line) and listed.listed is not None:
            before = self.placed.before
            parts = listed.weight * (before(listed.hi) - before(listed.lo))
            return np.asarray(np.add.reduceat(parts, listed.first[:-1]))
        if isinstance(self.placed, Grid) and listed.boxes is not None:
            return self.placed.between(*listed.boxes)
        return self.totals_of(self.buckets.queries(listed))

    def totals_of(self, queries: BucketQueries, *, unbiased: bool = False) -> FloatArray:
        """The estimated number of records in each query, in bucket coordinates.

        Args:
            queries: The queries. Where records do not lie evenly inside buckets, these must know their corners.
            unbiased: Whether to use unbiased totals, spread evenly inside buckets, around which intervals lie.
        """
        if isinstance(self.placed, Grid) and not unbiased:
            if queries.corners is None:
                raise InvariantError("These queries have no corners.")
            return self.placed.between(*queries.corners)
        bucket, before = self._before[2], self._before[unbiased]
        if isinstance(self.placed, Line) and not unbiased:
            if (queries.weight != 1).any():
                raise InvariantError("These queries have no corners.")
            parts = queries.weight * (self.placed.upto(queries.hi) - self.placed.upto(queries.lo))
        else:
            parts = queries.weight * (np.interp(queries.hi, bucket, before) - np.interp(queries.lo, bucket, before))
        totals: FloatArray = np.add.reduceat(parts, queries.first[:-1])
        return totals

    def variances_of(self, queries: BucketQueries) -> FloatArray:
        """The variance of the noise in each query's unbiased answer, in bucket coordinates."""
        return self.unit_variance * self.measured.variances(queries)

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """The variance of the noise in each run ``[lo, hi)`` of buckets, before post-processing."""
        return self.unit_variance * self.measured.range_variances(lo, hi)

    def variances(self, workload: Workload) -> FloatArray:
        """The variance of the noise in each query's unbiased answer."""
        self._fits(workload)
        return self.variances_of(self.buckets.queries(workload.enumerated()))

    def rmse(self, workload: Workload) -> float:
        """Deprecated: ``noise_rmse`` says what it is."""
        warnings.warn(
            "est.rmse is est.noise_rmse now: it is about noise alone, not about buckets.",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.noise_rmse(workload)

    def noise_rmse(self, workload: Workload) -> float:
        """The root of the mean squared error that noise alone makes over a workload, exactly; buckets add to it."""
        self._fits(workload)
        queries = self.buckets.queries(workload)
        return float(np.sqrt(self.unit_variance * self.measured.expected_error(queries) / queries.total))

    @property
    def variances_before(self) -> FloatArray:
        """The variance of the noise in the buckets before every bound, along one axis."""
        return self._variances_around[0]

    @property
    def variances_after(self) -> FloatArray:
        """The variance of the noise in the buckets after every bound, along one axis."""
        return self._variances_around[1]

    @cached_property
    def _variances_around(self) -> tuple[FloatArray, FloatArray]:
        before, after = (np.maximum(self.unit_variance * each, 0) for each in self.measured.border_variances())
        return frozen(before), frozen(after)

    @cached_property
    def variances_alone(self) -> FloatArray:
        """The variance of the noise in each bucket on its own."""
        return frozen(np.maximum(self.unit_variance * self.measured.bucket_variances(), 0))

    @cached_property
    def rounding(self) -> float:
        """How far floats may have moved the records in a run of buckets, besides noise; ``rounding.md`` has the proof.

        It is one part in 2^48 of all records: less than noise unless there are a great many, and a large budget.
        """
        return ROUNDING * float(running(np.abs(self.unbiased) + 1)[-1])

    @cached_property
    def _before(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The sums of ``totals`` and of ``unbiased`` before every bucket and at the end, and the buckets' numbers."""
        totals, unbiased = running(self.totals), running(self.unbiased)
        return totals, unbiased, np.arange(len(totals), dtype=np.float64)

    def _fits(self, workload: Workload) -> None:
        if not isinstance(workload, Workload):
            raise WorkloadError(
                f"The workload is a {type(workload).__name__}, not a Workload.",
                "make one with Workload.ranges or dawa.workloads.",
            )
        if workload.shape != self.shape:
            raise WorkloadError(
                f"The workload is for {workload.shape} cells, but the estimate is for {self.shape}.",
                "make the workload with the same shape as the counts.",
            )

    def __repr__(self) -> str:
        return f"Estimate({self.mechanism}, epsilon={self.epsilon}, {len(self.buckets)} buckets of {self.size} cells)"

    def _repr_html_(self) -> str:
        """What a notebook shows: a line, and what the budget was spent on."""
        parts = ", ".join(f"{part} on {step}" for step, part in self.split.items())
        return f"<div><p><code>{escape(repr(self))}</code></p><p><small>Spent: {escape(parts)}.</small></p></div>"
