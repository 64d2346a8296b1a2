"""An axis as histogram libraries see it: a sequence of bins, by the protocol of UHI (``uhi.typing.plottable``).

The bins of an axis on its own are its cells. An axis of a release or of a histogram has that histogram's bins, each of
which is a run of cells. Axes that are the same but for their bins are one attribute and still different axes of
histograms, so they are not equal. An axis on its own is equal to either: it says nothing about bins.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from math import isnan
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import FloatArray, IntArray, frozen
from dawa.errors import AxisError

if TYPE_CHECKING:
    from dawa.axis.base import Axis


@dataclass(frozen=True)
class Traits:
    """What UHI asks of an axis.

    Attributes:
        discrete: Whether bins have names instead of ends.
        circular: Whether the last bin is followed by the first; none of ours is.
    """

    discrete: bool
    circular: bool = False


@dataclass(frozen=True)
class FlowTraits(Traits):
    """The same of an axis whose histogram knows what lies beyond its bins.

    Attributes:
        underflow: Whether there is a bin for what lies below.
        overflow: Whether there is one for what lies above, or is not listed.
    """

    underflow: bool = False
    overflow: bool = False


@dataclass(frozen=True, eq=False)
class Bins:
    """Runs of cells.

    Attributes:
        borders: Where they begin, and where the last one ends, in cells.
        flow: Whether there is a bin below them, and one above; None where nobody asked for such bins.
    """

    borders: IntArray
    flow: tuple[bool, bool] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bins):
            return NotImplemented
        return self is other or (self.flow == other.flow and np.array_equal(self.borders, other.borders))

    __hash__ = None  # type: ignore[assignment]


class Binned:
    """What UHI asks of an axis, from its bins."""

    _bins: Bins | None = None

    def binned(self, borders: IntArray, flow: tuple[bool, bool] | None = None) -> Self:
        """The same axis with these bins, given by their borders in cells."""
        made = self.unbinned
        made.__dict__["_bins"] = Bins(frozen(borders), flow)
        return made

    @property
    def unbinned(self) -> Self:
        """The axis on its own."""
        made = copy(self)
        for name in ("_bins", "_numbers"):
            made.__dict__.pop(name, None)
        return made

    @property
    def bins(self: "Axis") -> IntArray:  # type: ignore[misc]  # every axis is binned
        """Where bins begin, and where the last one ends, in cells."""
        return np.arange(self.size + 1) if self._bins is None else self._bins.borders

    @property
    def traits(self: "Axis") -> Traits:  # type: ignore[misc]
        """Whether bins are discrete; and whether there are bins beyond them, if the histogram has such bins."""
        discrete = self.kind == "ordered"
        flow = None if self._bins is None else self._bins.flow
        return Traits(discrete) if flow is None else FlowTraits(discrete, underflow=flow[0], overflow=flow[1])

    def number(self: "Axis", border: ArrayLike) -> FloatArray:  # type: ignore[misc]
        """The value at a cell border as a float: of times the days since 1970, of addresses their number.

        Times without a zone count days as they are written, others days of UTC, as Matplotlib does.
        """
        return np.asarray(self.value(border), np.float64)

    def bin_at(self: "Axis", lo: int, hi: int) -> Any:  # type: ignore[misc]  # noqa: ANN401  a pair, or a name
        """A run of cells as UHI says it: its two ends as numbers, or its name."""
        if self.kind != "ordered":
            low, high = self.number([lo, hi]).tolist()
            return low, high
        first, last = self.value([lo, hi - 1]).tolist()
        return first if hi - lo == 1 else f"{first} to {last}"

    def __len__(self: "Axis") -> int:  # type: ignore[misc]
        return self.size if self._bins is None else len(self._bins.borders) - 1

    def __getitem__(self: "Axis", at: int) -> Any:  # type: ignore[misc]  # noqa: ANN401  a pair, or a name
        place = range(len(self))[at]
        if self._bins is None:
            return self.bin_at(place, place + 1)
        if self.kind != "ordered":
            return self._numbers[place], self._numbers[place + 1]
        lo, hi = self._bins.borders[place : place + 2].tolist()
        return self.bin_at(lo, hi)

    @cached_property
    def _numbers(self: "Axis") -> list[float]:  # type: ignore[misc]
        """The borders of bins as numbers: who plots asks for them one by one."""
        found: list[float] = self.number(self.bins).tolist()
        return found

    def index(self: "Axis", value: object) -> int:  # type: ignore[misc]
        """The number of the bin that a value lies in, as UHI counts: -1 is below all bins, and their number above.

        Raises:
            AxisError: If it is no value of the axis; numbers may lie outside.
        """
        try:
            cell = self.border(value) // 1
        except AxisError:
            if self.kind == "ordered":
                return len(self)
            if self.kind not in {"numbers", "edges"} or not isinstance(value, Real) or isnan(value):
                raise
            return -1 if value < self.start else len(self)
        if self._bins is None:
            return int(cell)
        return min(int(np.searchsorted(self.bins, int(cell), side="right")) - 1, len(self))

    def __iter__(self: "Axis") -> Iterator[Any]:  # type: ignore[misc]
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Binned) or other.__class__ is not self.__class__:
            return NotImplemented
        apart = self._bins is not None and other._bins is not None and self._bins != other._bins
        return not apart and self._told() == other._told()

    def __hash__(self) -> int:
        return hash(self._told())

    def _told(self) -> tuple[Any, ...]:
        """What was said of the axis, whatever its bins are."""
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
