"""Numbers in cells of equal width, and numbers between explicit edges for cells of different widths."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.arrays import FloatArray, IntArray
from dawa.axis.base import NO_BOUNDS, Axis, Missing, Outside, Places
from dawa.axis.readings import Number, exact
from dawa.budget import shown
from dawa.errors import AxisError
from dawa.limits import MOST_CELLS_IN_FLOATS, MOST_EDGES
from dawa.numerals import brief, told

TENS = 7
"""Powers of ten of which a unit may be a part, so that arrays of numbers are read at once: a millionth is the last."""

MOST_APART = 10**15
"""Below this, whole numbers of a unit are apart as floats, too: floats tell decimal numbers of 15 digits apart."""

MOST_WHOLE = 2**62
"""The same limit for whole numbers."""


@dataclass(frozen=True, eq=False)
class NumberAxis(Axis):
    """Numbers from ``start`` up to but not including ``stop``, in cells of width ``step``.

    Attributes:
        column: Where a table holds the attribute.
        start: The lowest value that can occur.
        stop: One step above the highest.
        step: The finest difference that matters.
        outside: What happens to values outside the bounds.
        missing: What happens to missing values.
    """

    kind: ClassVar[str] = "numbers"

    column: str
    start: Fraction = None  # type: ignore[assignment]  # refused below, with a reason
    stop: Fraction = None  # type: ignore[assignment]
    step: Fraction = Fraction(1)
    outside: Outside = "clip"
    missing: Missing = "own"

    if TYPE_CHECKING:  # any number will do, and is kept as the fraction that was written

        def __init__(
            self,
            column: str,
            start: Number,
            stop: Number,
            step: Number = 1,
            outside: Outside = "clip",
            missing: Missing = "own",
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.start is None or self.stop is None:
            raise AxisError(
                f"The axis {told(self.column)} lacks a bound; {NO_BOUNDS}.",
                'name what is known before looking, such as dawa.Axis("age", 0, 120); values outside are counted in'
                " the first and the last cell.",
            )
        for name in ("start", "stop", "step"):
            object.__setattr__(self, name, exact(getattr(self, name), name))
        self._check()
        if self.step <= 0 or self.stop <= self.start:
            raise AxisError(
                f"The axis {told(self.column)} goes from {brief(self.start)} to {brief(self.stop)} in steps of"
                f" {brief(self.step)}.",
                "stop must lie above start, and step must be positive.",
            )
        cells = (self.stop - self.start) / self.step
        if cells.denominator != 1:
            raise AxisError(
                f"The step {brief(self.step)} does not divide the axis {told(self.column)} evenly.",
                f"move stop to {brief(shown(self.start + self.step * (cells // 1 + 1)))}, for example.",
            )
        self._check(cells)

    @cached_property
    def size(self) -> int:
        """Number of cells."""
        return int((self.stop - self.start) / self.step)

    @property
    def whole(self) -> bool:
        """Whether every cell is exactly one integer."""
        return self.step == 1 and self.start.denominator == 1

    def value(self, border: ArrayLike) -> NDArray[Any]:
        """The attribute's value at a cell border, or the float nearest to it; half a cell is half a step.

        Where floats do not hold every whole number, whole numbers of up to 64 bits stay what they are.
        """
        first, width, unit = self.whole_numbers
        borders = np.asarray(border)
        if abs(first) + self.size * width < MOST_CELLS_IN_FLOATS and unit < MOST_CELLS_IN_FLOATS:
            return np.asarray((first + borders.astype(np.float64) * width) / unit)  # only the division rounds
        exactly = [(first + Fraction(place) * width) / unit for place in borders.reshape(-1).tolist()]
        if self.large_integers and all(value.denominator == 1 for value in exactly):
            return np.array([int(value) for value in exactly], np.int64).reshape(borders.shape)
        return np.array([float(value) for value in exactly]).reshape(borders.shape)

    @property
    def large_integers(self) -> bool:
        """Whether its borders are whole numbers of 64 bits, some of which floats do not hold."""
        largest, inside = max(abs(self.start), abs(self.stop)), self.start >= -(2**63) and self.stop < 2**63
        return self.whole_numbers[2] == 1 and inside and largest >= MOST_CELLS_IN_FLOATS

    def value_in(self, cell: int, part: Fraction) -> int | float:
        """A value this part of the way through a cell, rounded down to the unit of which start and step are multiples.

        With a step of 1 or 100 the value is an int; with a step of 0.01 it is the float nearest to a hundredth.
        """
        first, width, unit = self.whole_numbers
        found = first + cell * width + min(int(part * width), width - 1)
        return found if unit == 1 else float(Fraction(found, unit))

    def border(self, value: object) -> Fraction:
        """Where a value lies among the cell borders, exactly: 0 is the start, ``size`` the stop.

        Thirds are no decimal numbers: where the borders are none, the float nearest to a border stands for the border.

        >>> Axis("x", 0, 1, step="1/3").border(2 / 3)
        Fraction(2, 1)
        """
        found = exact(value, self.column)
        place = (found - self.start) / self.step
        if place.denominator != 1 and not self.decimal:
            near = round(place)
            same = float(self.start + near * self.step) == float(found) and exact(float(found), self.column) == found
            place = Fraction(near) if same else place
        if not 0 <= place <= self.size:
            raise AxisError(
                f"{brief(value)} lies outside the axis {told(self.column)}.",
                f"ask between {brief(shown(self.start))} and {brief(shown(self.stop))}.",
            )
        return place

    @cached_property
    def decimal(self) -> bool:
        """Whether all borders are decimal numbers."""
        unit = self.whole_numbers[2]
        for prime in (2, 5):
            while unit % prime == 0:
                unit //= prime
        return unit == 1

    def places(self, values: NDArray[Any]) -> Places | None:
        """Where many numbers lie among the cell borders, exactly; None if they need a look one by one."""
        for tens in (10**digits for digits in range(TENS)):
            found = self._in_units(values, tens) if tens % self.whole_numbers[2] == 0 else None
            if found is not None:
                cell, rest = np.divmod(*found)
                return cell, np.minimum(rest / found[1], math.nextafter(1, 0))
        return None

    def _in_units(self, values: NDArray[Any], tens: int) -> tuple[IntArray, int] | None:
        """Numbers from the start on, and the step, in units of which so many make 1; None if one is no such number."""
        first, width, _ = (number * tens // self.whole_numbers[2] for number in self.whole_numbers)
        last = first + self.size * width
        found = _units(values, tens) if max(abs(first), abs(last)) < MOST_WHOLE else None
        if found is None or ((found < first) | (found > last)).any():
            return None
        return found - first, width

    @cached_property
    def whole_numbers(self) -> tuple[int, int, int]:
        """Start and step in a unit that makes both whole numbers, and how many of these units make 1."""
        unit = math.lcm(self.start.denominator, self.step.denominator)
        return int(self.start * unit), int(self.step * unit), unit

    def _reading(self) -> str:
        return f"numbers from {shown(self.start)} up to {shown(self.stop)} in steps of {shown(self.step)}"

    def to_json(self) -> dict[str, Any]:
        """Plain strings; fractions as written."""
        return {
            "kind": self.kind,
            "column": self.column,
            "start": str(self.start),
            "stop": str(self.stop),
            "step": str(self.step),
            "outside": self.outside,
            "missing": self.missing,
        }

    @classmethod
    def read(cls, data: dict[str, Any]) -> "NumberAxis":
        """The axis that ``to_json`` wrote."""
        start, stop, step = (cls._text(data, name) for name in ("start", "stop", "step"))
        return cls(data["column"], start, stop, step, data["outside"], data.get("missing", "drop"))


def _units(values: NDArray[Any], tens: int) -> IntArray | None:
    """Numbers in units of which so many make 1, a power of ten; None if one of them is no whole number of units."""
    if values.dtype.kind in "iu":
        within = not len(values) or max(abs(int(values.min())), abs(int(values.max()))) * tens < MOST_WHOLE
        return values.astype(np.int64) * tens if within else None
    if values.dtype != np.float64:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.rint(values * tens)
        # The float nearest to a decimal number of 15 digits is written as this number, and so it is read.
        exactly = (near / tens == values) & (np.abs(near) < MOST_APART)
    return near.astype(np.int64) if exactly.all() else None


@dataclass(frozen=True, eq=False)
class EdgeAxis(Axis):
    """Numbers in cells between edges.

    Attributes:
        column: Where a table holds the attribute.
        cuts: The edges, increasing; the first and the last are the bounds.
        outside: What happens to values outside the bounds.
        missing: What happens to missing values.
    """

    kind: ClassVar[str] = "edges"

    column: str
    cuts: tuple[Fraction, ...]
    outside: Outside = "clip"
    missing: Missing = "own"

    if TYPE_CHECKING:

        def __init__(
            self,
            column: str,
            cuts: Sequence[Number],
            outside: Outside = "clip",
            missing: Missing = "own",
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.cuts is None:
            raise AxisError(
                f"The axis {told(self.column)} has no edges; {NO_BOUNDS}.",
                'name them, such as dawa.Axis.edges("income", [0, 10_000, 50_000, 1_000_000]).',
            )
        try:
            cuts = tuple(exact(cut, "edge") for cut in ([] if isinstance(self.cuts, str) else self.cuts))
        except TypeError:
            cuts = ()
        object.__setattr__(self, "cuts", cuts)
        self._check()
        if not 2 <= len(cuts) <= MOST_EDGES:
            raise AxisError(
                f"The axis {told(self.column)} has {len(cuts)} edges.",
                f"pass a list of 2 to {MOST_EDGES} numbers, or use dawa.Axis(column, start, stop, step).",
            )
        if any(a >= b for a, b in pairwise(cuts)):
            raise AxisError(
                f"The edges of the axis {told(self.column)} do not increase.", "sort them, and name each once."
            )

    @property
    def start(self) -> Fraction:
        """The first edge."""
        return self.cuts[0]

    @property
    def stop(self) -> Fraction:
        """The last edge."""
        return self.cuts[-1]

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.cuts) - 1

    def value(self, border: ArrayLike) -> FloatArray:
        """The attribute's value at a cell border; half a cell lies halfway between its edges."""
        borders = np.asarray(border, np.float64)
        return np.asarray(np.interp(borders, np.arange(len(self.cuts)), [float(cut) for cut in self.cuts]))

    def value_in(self, cell: int, part: Fraction) -> float:
        """The float nearest to a value this part of the way between two edges, as it is written not beyond either.

        At the end of the way it is the second edge. No record there is in the cell, but some are as near as one likes.
        """
        lo, hi = self.cuts[cell], self.cuts[cell + 1]
        found = float(lo + part * (hi - lo))
        if exact(found, self.column) < lo:
            return math.nextafter(found, math.inf)
        return math.nextafter(found, -math.inf) if exact(found, self.column) > hi else found

    def border(self, value: object) -> Fraction:
        """Where a value lies among the edges, exactly."""
        found = exact(value, self.column)
        if not self.start <= found <= self.stop:
            raise AxisError(
                f"{brief(value)} lies outside the axis {told(self.column)}.",
                f"ask between {brief(shown(self.start))} and {brief(shown(self.stop))}.",
            )
        cell = min(bisect_right(self.cuts, found) - 1, self.size - 1)
        return cell + (found - self.cuts[cell]) / (self.cuts[cell + 1] - self.cuts[cell])

    def _reading(self) -> str:
        edges = ", ".join(map(shown, self.cuts)) if self.size <= 12 else f"{self.size + 1} of them"
        return f"numbers from {shown(self.start)} up to {shown(self.stop)} between given edges ({edges})"

    def to_json(self) -> dict[str, Any]:
        """Plain strings; fractions as written."""
        return {
            "kind": self.kind,
            "column": self.column,
            "edges": [str(cut) for cut in self.cuts],
            "outside": self.outside,
            "missing": self.missing,
        }

    @classmethod
    def read(cls, data: dict[str, Any]) -> "EdgeAxis":
        """The axis that ``to_json`` wrote."""
        return cls(data["column"], data["edges"], data["outside"], data.get("missing", "drop"))
