"""The result of the partition step: bucket bounds, and what each bucket's records have paid for them.

Buckets that are public cost nothing: every cell on its own (``every_cell``; ``by_rows`` in the order of an array
instead of the curve, for strategies that are products of the axes), or bounds that the user names (``given``).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import BoolArray, FloatArray, IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError, OptionError
from dawa.layout.boxes import Boxes, row_runs
from dawa.layout.curve import Order
from dawa.limits import MOST_CELLS_LISTED
from dawa.noise.randomness import Randomness
from dawa.partition.split import SplitLine, SplitTable
from dawa.queries.bucket_queries import BucketQueries
from dawa.queries.workload import Workload


@dataclass(frozen=True, eq=False)
class StopRule:
    """Where the walk stopped at each bucket, from which the bucket's unevenness can be inferred.

    Attributes:
        table: Split probabilities of the walk that stopped.
        depth: How far below its root each bucket lies; -1 if no walk stopped at the bucket.
        halves: If the walk compared halves (``partition.halves``): by how many records they may differ and still be
            even. None if it compared cells. A score says something else in either case.
    """

    table: SplitTable | SplitLine
    depth: IntArray
    halves: int | None = None

    def uneven(self, chance: FloatArray | float, buckets: IntArray | None = None) -> FloatArray:
        """A bound on each bucket's score that fails with at most this chance, for a bucket fixed by a cell.

        The walk would have stopped at a bucket with a score this high or higher, on the path to a given cell, with
        at most the given chance: one chance for all buckets, or one for each of the ``buckets``.
        """
        depth = self.depth if buckets is None else self.depth[buckets]
        highest = self.table.surprising_point(chance) - 1
        bound = np.maximum(highest + self.table.step * depth - self.table.offset, 0)
        return np.where(depth < 0, np.inf, bound)


@dataclass(frozen=True, eq=False)
class Buckets:
    """Buckets ``[bounds[b], bounds[b + 1])`` and the privacy loss of choosing them.

    Attributes:
        bounds: k + 1 increasing cell numbers from 0 to the size of the domain.
        spent: What the records of ordinary buckets have lost.
        spent_least: What the records of spared buckets have lost.
        spared: Which buckets are spared.
        stops: Where the walk stopped at the buckets, if that says something about their unevenness.
        boxes: The buckets as boxes of the grid, if they are boxes; the line then has their cells one box after the
            other. If None, buckets are stretches of the line that ``dawa.layout.curve`` draws.
    """

    bounds: IntArray
    spent: Fraction = Fraction(0)
    spent_least: Fraction = Fraction(0)
    spared: BoolArray | None = None
    stops: StopRule | None = None
    boxes: Boxes | None = None

    def __post_init__(self) -> None:
        if min(self.spent, self.spent_least) < 0:
            raise BudgetError(
                f"Choosing these buckets cannot have spent {min(self.spent, self.spent_least)}.",
                "pass what was spent on choosing them: 0 if they are public.",
            )

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def by_cells(self) -> StopRule | None:
        """Where the walk stopped, if its scores are deviations of cells from their median."""
        return self.stops if self.stops is not None and self.stops.halves is None else None

    def totals(self, exposed: Occupied, shape: tuple[int, ...]) -> IntArray:
        """The number of records in each bucket, exactly: private."""
        if self.boxes is None:
            return exposed.totals(self.bounds)
        totals = np.zeros(len(self), np.int64)
        np.add.at(totals, self.boxes.labels(shape)[Order(shape).flat()[exposed.cells]], exposed.counts)
        return totals

    def order(self, shape: tuple[int, ...]) -> IntArray:
        """The row-major number of every cell, bucket by bucket."""
        if self.boxes is None:
            return Order(shape).flat()
        return np.argsort(self.boxes.labels(shape), kind="stable")

    def cells(self, positions: IntArray, shape: tuple[int, ...]) -> IntArray:
        """The coordinates of the cells at these positions, one row each."""
        if self.boxes is None:
            return Order(shape).cells(positions)
        return self.boxes.cells(positions)

    def queries(self, workload: Workload) -> BucketQueries:
        """A workload in terms of the buckets."""
        if self.boxes is None or workload.boxes is None:
            return workload.on_buckets(self.bounds)
        return BucketQueries.of_boxes(self.boxes, *workload.boxes)

    def allowance(self, epsilon: Fraction, resolution: int) -> IntArray:
        """How much weight each bucket's column may have, if the noise has scale resolution/(epsilon-spent_least).

        A spared bucket may have all of ``resolution``; the others as much as keeps their records within epsilon.
        """
        ordinary = resolution * (epsilon - self.spent) // (epsilon - self.spent_least)
        allowed = np.full(len(self), int(ordinary), np.int64)
        if self.spared is not None:
            allowed[self.spared] = resolution
        return frozen(allowed)

    def merged(self, workload: Workload) -> "Buckets":
        """The buckets without the bounds that no query needs; two buckets without a bound are measured as one.

        On a line these are the bounds with no end of a query in either of the two adjacent buckets; on maps, the bounds
        between buckets that every query covers in the same way. Buckets that paid differently are not merged.
        """
        if workload.closed is not None or len(self) == 1 or self.boxes is not None:
            return self
        needed = np.zeros(len(self) + 1, bool)
        if len(workload.shape) == 1:
            cuts, bounds = workload.cuts(), self.bounds
            before, after = np.searchsorted(cuts, bounds[:-2], side="right"), np.searchsorted(cuts, bounds[2:])
            needed[1:-1] = after > before
        else:
            queries = self.queries(workload)
            ends = np.concatenate((queries.lo, queries.hi))
            needed[np.concatenate((np.floor(ends), np.ceil(ends))).astype(np.int64)] = True
        if self.spared is not None:
            needed[1:-1] |= self.spared[1:] != self.spared[:-1]
        needed[[0, -1]] = True
        return self if needed.all() else self._without(~needed)

    def _without(self, dropped: BoolArray) -> "Buckets":
        """The partition without these bounds."""
        first = np.flatnonzero(~dropped[:-1])
        alone = np.diff(np.append(first, len(self))) == 1
        stops = self.stops and replace(self.stops, depth=np.where(alone, self.stops.depth[first], -1))
        spared = None if self.spared is None else frozen(self.spared[first])
        return Buckets(frozen(self.bounds[~dropped]), self.spent, self.spent_least, spared, stops)


@runtime_checkable
class Method(Protocol):
    """A private way to choose buckets: its options, and how it is run."""

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets; the records of each lose what the partition says they have spent of epsilon."""
        ...


@runtime_checkable
class GridMethod(Protocol):
    """A private way to choose boxes of a grid as buckets."""

    def choose_boxes(
        self, exposed: Occupied, shape: tuple[int, ...], epsilon: Fraction, randomness: Randomness
    ) -> Buckets:
        """Choose boxes that tile the grid; a record loses ``Buckets.spent`` out of epsilon."""
        ...


def every_cell(size: int) -> Buckets:
    """One bucket per cell: no partition.

    Raises:
        OptionError: If there are too many cells to list.
    """
    if size > MOST_CELLS_LISTED:
        raise OptionError(f"{size} cells are too many to measure one by one.", "use 'dawa', or coarser steps.")
    return Buckets(frozen(np.arange(size + 1)))


def given(bounds: ArrayLike, size: int) -> Buckets:
    """Buckets fixed beforehand, without looking at the data.

    Raises:
        OptionError: If the bounds do not increase from 0 to the size of the domain.
    """
    hint = f"pass increasing whole numbers that begin with 0 and end with {size}."
    try:
        array = np.asarray(bounds)
    except (ValueError, TypeError, OverflowError):
        raise OptionError("The partition cannot be read as a list of cell numbers.", hint) from None
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "iuf":
        raise OptionError("The partition is not a list of cell numbers.", hint)
    if not ((array >= 0) & (array <= size) & (array == np.floor(array))).all():
        raise OptionError("The partition has bounds that are not cell numbers.", hint)
    whole = array.astype(np.int64)
    if whole[0] != 0 or whole[-1] != size or (np.diff(whole) <= 0).any():
        raise OptionError(f"The partition does not divide the domain of {size} cells.", hint)
    return Buckets(frozen(whole))


@dataclass(frozen=True, eq=False)
class RowMajor(Buckets):
    """Buckets that are the cells of a grid in row-major order."""

    def totals(self, exposed: Occupied, shape: tuple[int, ...]) -> IntArray:
        """The number of records in each cell, exactly: private."""
        return exposed.grid(shape).ravel()

    def order(self, shape: tuple[int, ...]) -> IntArray:
        """The row-major number of every cell, bucket by bucket: each bucket's own number."""
        return np.arange(np.prod(shape, dtype=np.int64))

    def cells(self, positions: IntArray, shape: tuple[int, ...]) -> IntArray:
        """The coordinates of the cells at these positions, one row each."""
        return np.stack(np.unravel_index(positions, shape), axis=1)

    def merged(self, workload: Workload) -> Buckets:
        """The same buckets: cells that are neighbours in this order need not be neighbours on the grid."""
        del workload
        return self

    def queries(self, workload: Workload) -> BucketQueries:
        """A workload in terms of the cells; rectangles are also kept as boxes."""
        if workload.boxes is None:
            return workload.on_buckets(self.bounds)
        lo, hi = workload.boxes
        m = len(lo)
        return BucketQueries(
            len(self),
            *row_runs(lo, hi, workload.shape),
            np.ones(m),
            float(m),
            boxes=(np.array(lo), np.array(hi)),
            corners=workload.boxes,
        )


def by_rows(shape: tuple[int, ...]) -> RowMajor:
    """The cells of a grid of this shape.

    Raises:
        OptionError: If there are too many cells to list.
    """
    size = int(np.prod(shape, dtype=object))
    if size > MOST_CELLS_LISTED:
        raise OptionError(
            f"{size} cells are too many to measure one by one.", "use 'dawa' or 'privtree', or coarser steps."
        )
    return RowMajor(frozen(np.arange(size + 1)))
