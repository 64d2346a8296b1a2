"""What the partition step hands on: bucket bounds, and what each bucket's records have paid for them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from dawa.arrays import BoolArray, FloatArray, IntArray, frozen
from dawa.counts import Occupied
from dawa.noise.source import Source
from dawa.partition.split import SplitTable


@dataclass(frozen=True, eq=False)
class StopRule:
    """How each bucket came to be left whole: what its unevenness can be inferred from.

    Attributes:
        table: Split probabilities of the walk that stopped.
        depth: How far below its root each bucket lies; -1 where no walk stopped at the bucket.
    """

    table: SplitTable
    depth: IntArray

    def uneven(self, chance: float) -> FloatArray:
        """A bound on each bucket's score that fails with at most this chance, for a bucket fixed by a cell.

        The walk would have stopped at a bucket with a score this high or higher, on the path to a given cell, with
        at most the given chance.
        """
        highest = self.table.surprising_point(chance) - 1
        bound = np.maximum(highest + self.table.step * self.depth - self.table.offset, 0)
        return np.where(self.depth < 0, np.inf, bound)


@dataclass(frozen=True, eq=False)
class Partition:
    """Buckets ``[bounds[b], bounds[b + 1])`` and the privacy loss of choosing them.

    Attributes:
        bounds: k + 1 increasing cell numbers from 0 to the size of the domain.
        spent: What the records of ordinary buckets have lost.
        spent_least: What the records of spared buckets have lost.
        spared: Which buckets are spared.
        stops: How the buckets came about, where that says something about their unevenness.
    """

    bounds: IntArray
    spent: Fraction = Fraction(0)
    spent_least: Fraction = Fraction(0)
    spared: BoolArray | None = None
    stops: StopRule | None = None

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def allowance(self, epsilon: Fraction, resolution: int) -> IntArray:
        """How much weight each bucket's column may have, if the noise has scale resolution/(epsilon-spent_least).

        A spared bucket may have all of ``resolution``; the others what keeps their records within epsilon.
        """
        ordinary = resolution * (epsilon - self.spent) // (epsilon - self.spent_least)
        allowed = np.full(len(self), int(ordinary), np.int64)
        if self.spared is not None:
            allowed[self.spared] = resolution
        return frozen(allowed)

    def merged(self, cuts: IntArray | None) -> "Partition":
        """Without the bounds that no query needs: those with no cut in either of the two adjacent buckets.

        Where a bound disappears, the two buckets are measured as one. Buckets that paid differently stay apart.
        """
        if cuts is None or len(self) == 1:
            return self
        bounds = self.bounds
        inner = np.searchsorted(cuts, bounds[2:], side="left") > np.searchsorted(cuts, bounds[:-2], side="right")
        if self.spared is not None:
            inner |= self.spared[1:] != self.spared[:-1]
        kept = np.concatenate(([True], inner, [True]))
        if kept.all():
            return self
        first = np.flatnonzero(kept[:-1])
        alone = np.diff(np.append(first, len(self))) == 1
        stops = self.stops and StopRule(self.stops.table, np.where(alone, self.stops.depth[first], -1))
        spared = None if self.spared is None else frozen(self.spared[first])
        return Partition(frozen(bounds[kept]), self.spent, self.spent_least, spared, stops)


@runtime_checkable
class Method(Protocol):
    """A private way to choose buckets: its options, and how it is run."""

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, source: Source) -> Partition:
        """Choose buckets; the records of each lose what the partition says they have spent of epsilon."""
        ...
