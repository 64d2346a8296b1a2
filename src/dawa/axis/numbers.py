"""Numbers in cells of equal width."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import FloatArray
from dawa.axis.base import NO_BOUNDS, Axis, Outside
from dawa.axis.readings import Number, exact
from dawa.budget import fraction, shown
from dawa.errors import AxisError


@dataclass(frozen=True)
class NumberAxis(Axis):
    """Numbers from ``start`` up to but not including ``stop``, in cells of width ``step``.

    Attributes:
        column: Where a table holds the attribute.
        start: The lowest value that can occur.
        stop: One step above the highest.
        step: The finest difference that matters.
        outside: What happens to values outside the bounds.
    """

    kind: ClassVar[str] = "numbers"

    column: str
    start: Fraction = None  # type: ignore[assignment]  # refused below, with a reason
    stop: Fraction = None  # type: ignore[assignment]
    step: Fraction = Fraction(1)
    outside: Outside = "clip"

    if TYPE_CHECKING:  # any number will do, and is kept as the fraction that was written

        def __init__(
            self, column: str, start: Number, stop: Number, step: Number = 1, outside: Outside = "clip"
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.start is None or self.stop is None:
            raise AxisError(
                f"The axis {self.column!r} lacks a bound; {NO_BOUNDS}.",
                'name what is known before looking, such as dawa.Axis("age", 0, 120); values outside are counted in'
                " the first and the last cell.",
            )
        for name in ("start", "stop", "step"):
            object.__setattr__(self, name, exact(getattr(self, name), name))
        self._check()
        if self.step <= 0 or self.stop <= self.start:
            raise AxisError(
                f"The axis {self.column!r} goes from {self.start} to {self.stop} in steps of {self.step}.",
                "stop must lie above start, and step must be positive.",
            )
        cells = (self.stop - self.start) / self.step
        if cells.denominator != 1:
            raise AxisError(
                f"The step {self.step} does not divide the axis {self.column!r} evenly.",
                f"move stop to {shown(self.start + self.step * (cells // 1 + 1))}, for example.",
            )
        self._check(cells)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int((self.stop - self.start) / self.step)

    @property
    def whole(self) -> bool:
        """Whether every cell is exactly one integer."""
        return self.step == 1 and self.start.denominator == 1

    def value(self, border: ArrayLike) -> FloatArray:
        """The attribute's value at a cell border, the nearest float to it; half a cell is half a step."""
        first, width, unit = self.whole_numbers
        borders = np.asarray(border)
        if abs(first) + self.size * width < 2**53 and unit < 2**53:
            return np.asarray((first + borders.astype(np.float64) * width) / unit)  # one rounding: the division's
        exactly = [(first + Fraction(place) * width) / unit for place in borders.reshape(-1).tolist()]
        return np.array([float(value) for value in exactly]).reshape(borders.shape)

    def value_in(self, cell: int, part: Fraction) -> int | float:
        """A value this part of the way through a cell, rounded down to the unit of which start and step are multiples.

        With a step of 1 or 100 that is a whole number, an int; with a step of 0.01 the float nearest to a hundredth.
        """
        first, width, unit = self.whole_numbers
        found = first + cell * width + min(int(part * width), width - 1)
        return found if unit == 1 else float(Fraction(found, unit))

    def border(self, value: object) -> Fraction:
        """Where a value lies among the cell borders, exactly: 0 is the start, ``size`` the stop."""
        found = exact(value, self.column)
        if not self.start <= found <= self.stop:
            raise AxisError(
                f"{value} lies outside the axis {self.column!r}.",
                f"ask between {shown(self.start)} and {shown(self.stop)}.",
            )
        return (found - self.start) / self.step

    @property
    def whole_numbers(self) -> tuple[int, int, int]:
        """Start and step in units of which both are whole numbers, and how many of these make 1."""
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
        }

    @classmethod
    def read(cls, data: dict[str, Any]) -> "NumberAxis":
        """The axis that ``to_json`` wrote."""
        return cls(
            data["column"],
            fraction(data["start"]),
            fraction(data["stop"]),
            fraction(data["step"]),
            data["outside"],
        )
