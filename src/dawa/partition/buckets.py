"""What the partition step hands on: bucket bounds, and what each bucket's records have paid for them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from dawa.arrays import BoolArray, FloatArray, IntArray, frozen
from dawa.bucket_queries import BucketQueries
from dawa.counts import Occupied
from dawa.noise.source import Source
from dawa.order import Order
from dawa.partition.boxes import Boxes
from dawa.partition.split import SplitTable
from dawa.workload import Workload


@dataclass(frozen=True, eq=False)
class StopRule:
    """How each bucket came to be left whole: what its unevenness can be inferred from.

    Attributes:
        table: Split probabilities of the walk that stopped.
        depth: How far below its root each bucket lies; -1 where no walk stopped at the bucket.
    """

    table: SplitTable
    depth: IntArray

    def uneven(self, chance: FloatArray | float, buckets: IntArray | None = None) -> FloatArray:
        """A bound on each bucket's score that fails with at most this chance, for a bucket fixed by a cell.

        The walk would have stopped at a bucket with a score this high or higher, on the path to a given cell, with
        at most the given chance: one for all buckets, or one for each of those asked for.
        """
        depth = self.depth if buckets is None else self.depth[buckets]
        highest = self.table.surprising_point(chance) - 1
        bound = np.maximum(highest + self.table.step * depth - self.table.offset, 0)
        return np.where(depth < 0, np.inf, bound)


@dataclass(frozen=True, eq=False)
class Partition:
    """Buckets ``[bounds[b], bounds[b + 1])`` and the privacy loss of choosing them.

    Attributes:
        bounds: k + 1 increasing cell numbers from 0 to the size of the domain.
        spent: What the records of ordinary buckets have lost.
        spent_least: What the records of spared buckets have lost.
        spared: Which buckets are spared.
        stops: How the buckets came about, where that says something about their unevenness.
        boxes: The buckets as boxes of the grid, where they are that; the line then has their cells one box after
            the other. Without it buckets are stretches of the line that ``dawa.order`` draws.
    """

    bounds: IntArray
    spent: Fraction = Fraction(0)
    spent_least: Fraction = Fraction(0)
    spared: BoolArray | None = None
    stops: StopRule | None = None
    boxes: Boxes | None = None

    def __len__(self) -> int:
        return len(self.bounds) - 1

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
        return np.stack(np.unravel_index(self.order(shape)[positions], shape), axis=1)

    def queries(self, workload: Workload) -> BucketQueries:
        """A workload in terms of the buckets."""
        if self.boxes is None or workload.boxes is None:
            return workload.on_buckets(self.bounds)
        return self.boxes.queries(*workload.boxes)

    def allowance(self, epsilon: Fraction, resolution: int) -> IntArray:
        """How much weight each bucket's column may have, if the noise has scale resolution/(epsilon-spent_least).

        A spared bucket may have all of ``resolution``; the others what keeps their records within epsilon.
        """
        ordinary = resolution * (epsilon - self.spent) // (epsilon - self.spent_least)
        allowed = np.full(len(self), int(ordinary), np.int64)
        if self.spared is not None:
            allowed[self.spared] = resolution
        return frozen(allowed)

    def merged(self, workload: Workload) -> "Partition":
        """Without the bounds that no query needs: where one disappears, the two buckets are measured as one.

        On a line these are the bounds with no end of a query in either of the two adjacent buckets; on maps, those
        between buckets that every query covers alike. Buckets that paid differently stay apart.
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

    def _without(self, dropped: BoolArray) -> "Partition":
        """The partition without these bounds."""
        first = np.flatnonzero(~dropped[:-1])
        alone = np.diff(np.append(first, len(self))) == 1
        stops = self.stops and StopRule(self.stops.table, np.where(alone, self.stops.depth[first], -1))
        spared = None if self.spared is None else frozen(self.spared[first])
        return Partition(frozen(self.bounds[~dropped]), self.spent, self.spent_least, spared, stops)


@runtime_checkable
class Method(Protocol):
    """A private way to choose buckets: its options, and how it is run."""

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, source: Source) -> Partition:
        """Choose buckets; the records of each lose what the partition says they have spent of epsilon."""
        ...


@runtime_checkable
class GridMethod(Protocol):
    """A private way to choose boxes of a grid as buckets."""

    def choose_boxes(self, exposed: Occupied, shape: tuple[int, ...], epsilon: Fraction, source: Source) -> Partition:
        """Choose boxes that tile the grid; a record loses ``Partition.spent`` out of epsilon."""
        ...
