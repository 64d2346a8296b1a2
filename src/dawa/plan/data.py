"""Data in the open: which cells have how many records, and the true answers.

Stand-ins are made up, and a table that somebody names as public is public. So both may be looked at, drawn and compared
with, which nothing else in the library may be: ``read`` is the one way by which a table's numbers come here, and it is
for tables that hold nothing to protect.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from dawa import sources
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.axis import Axis
from dawa.counts import Counts
from dawa.errors import DawaError, OptionError, SourceError
from dawa.queries.workload import Workload
from dawa.sources.tables import TableLike
from dawa.sources.where import Where

MOST_CELLS_SUMMED = 2**22
"""Cells up to which sums are kept at all borders."""
AT_ONCE = 2**24
"""Records times rectangles that are compared in one step."""


@dataclass(frozen=True, eq=False)
class Data:
    """Public counts.

    Attributes:
        name: What they are, in a word.
        shape: Cells along each axis.
        cells: The cells that hold records, numbered row by row, increasing.
        held: How many records each of them holds.
    """

    name: str
    shape: tuple[int, ...]
    cells: IntArray
    held: IntArray

    @classmethod
    def of(cls, name: str, shape: tuple[int, ...], cells: IntArray, held: IntArray | None = None) -> "Data":
        """From cell numbers in any order, each with one record or as many as ``held`` says.

        >>> Data.of("few", (9,), np.array([7, 2, 7])).held
        array([1, 2])
        """
        distinct, place = np.unique(cells, return_inverse=True)
        weights = None if held is None else held.astype(np.float64)  # exact up to 2^53 records
        totals = np.bincount(place, weights, minlength=len(distinct)).astype(np.int64)
        some = totals > 0
        return cls(name, shape, frozen(distinct[some].astype(np.int64)), frozen(totals[some]))

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.held.sum())

    @property
    def counts(self) -> Counts:
        """As mechanisms take them."""
        return Counts.sparse(self.shape, self.cells, self.held)

    @cached_property
    def _before(self) -> IntArray:
        return np.concatenate(([0], np.cumsum(self.held)))

    def answers(self, workload: Workload) -> FloatArray:
        """The true answer to each query.

        >>> Data.of("few", (9,), np.array([7, 2, 7])).answers(Workload.ranges([0, 3], [9, 8], 9))
        array([3., 2.])
        """
        listed = workload.enumerated()
        if len(self.shape) == 1 and listed.boxes is None:
            ends = (self._before[np.searchsorted(self.cells, borders)] for borders in (listed.hi, listed.lo))
            upper, lower = ends
            found: FloatArray = np.add.reduceat(listed.weight * (upper - lower), listed.first[:-1])
            return found
        if listed.boxes is None:
            raise OptionError("These queries are no rectangles.", "make them with Workload.rectangles.")
        return self._in_boxes(*listed.boxes)

    def _in_boxes(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """How many records lie in each box; a cell that is cut counts in part."""
        if math.prod(self.shape) <= MOST_CELLS_SUMMED and ((lo == np.floor(lo)) & (hi == np.floor(hi))).all():
            return self._summed_in(lo.astype(np.int64), hi.astype(np.int64))
        along = np.stack(np.unravel_index(self.cells, self.shape)).astype(np.float64)
        answers = np.empty(len(lo))
        step = max(1, AT_ONCE // max(len(self.cells), 1))
        for begin in range(0, len(lo), step):
            part = slice(begin, begin + step)
            share = np.ones((len(lo[part]), len(self.cells)))
            for axis, place in enumerate(along):
                ends = np.minimum(hi[part, axis, None], place + 1) - np.maximum(lo[part, axis, None], place)
                share *= np.clip(ends, 0, 1)
            answers[part] = share @ self.held
        return answers

    @cached_property
    def _sums(self) -> IntArray:
        """How many records lie before every border, on all axes at once."""
        sums = np.zeros(tuple(size + 1 for size in self.shape), np.int64)
        sums[tuple(place + 1 for place in np.unravel_index(self.cells, self.shape))] = self.held
        for axis in range(sums.ndim):
            np.cumsum(sums, axis=axis, out=sums)
        return sums

    def _summed_in(self, lo: IntArray, hi: IntArray) -> FloatArray:
        """How many records lie in boxes of whole cells: sums at their corners, added and subtracted in turn."""
        answers = np.zeros(len(lo), np.int64)
        for upper in product((False, True), repeat=len(self.shape)):
            corner = tuple(np.where(upper, hi, lo).T)
            answers += (-1) ** (len(self.shape) - sum(upper)) * self._sums[corner]
        return answers.astype(np.float64)

    def drawn(self, records: int, seed: int) -> "Data":
        """So many records, each drawn from these at random: the same shape, with another number of records."""
        shares = self.held / self.held.sum()
        again = np.random.default_rng(seed).multinomial(records, shares).astype(np.int64)
        return Data.of(self.name, self.shape, self.cells, again)


def read(
    table: TableLike, axes: Sequence[Axis], name: str = "the public table", where: Where | str | None = None
) -> Data:
    """Count a table that is public: WITHOUT any privacy, every number as it is.

    Raises:
        DawaError: If it does not fit the axes, or no record of it has a cell.
    """
    along = tuple(axes)
    with sources.query(table, along, where=where) as query:
        query.check()
        try:
            found = query.rows()
        except DawaError:
            raise
        except Exception as error:  # noqa: BLE001  engines raise errors of their own
            raise SourceError(
                f"The public table could not be counted by {query.source.engine} ({type(error).__name__}).",
                "check that all of its rows can be read.",
            ) from None
    cells, records = (np.asarray(found[column].to_numpy(), np.int64) for column in ("cell", "records"))
    inside = cells >= 0
    if not records[inside].sum():
        raise OptionError(
            "The public table has no record with a cell on these axes.", "check that its columns hold the same thing."
        )
    shape = tuple(axis.size for axis in along)
    return Data.of(name, shape, cells[inside], records[inside])
