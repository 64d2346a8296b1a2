"""One ordered attribute with public bounds and a step: it maps a value to a cell.

Bounds are never read from the data: the smallest and the largest value belong to two people. They are what is known
before looking, such as "ages from 0 to 120".
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.arrays import BoolArray, FloatArray, IntArray
from dawa.errors import AxisError

MOST_CELLS = 2**24
"""Counts are dense for now; a larger domain would not fit in memory comfortably."""

Outside = Literal["clip", "drop"]
Number = Rational | float | str


@dataclass(frozen=True)
class Axis:
    """Numbers from ``start`` up to but not including ``stop``, in cells of width ``step``.

    >>> age = Axis("age", 0, 120)
    >>> age.size
    120
    >>> Axis("height", 1.2, 2.2, step=0.01).size
    100

    Attributes:
        column: Where a table holds the attribute.
        start: The lowest value that can occur.
        stop: One step above the highest.
        step: The finest difference that matters.
        outside: What happens to values outside the bounds: ``"clip"`` counts them in the first or last cell,
            ``"drop"`` leaves them out. Missing values are always left out.
    """

    column: str
    start: Fraction
    stop: Fraction
    step: Fraction = Fraction(1)
    outside: Outside = "clip"

    if TYPE_CHECKING:  # any number will do, and is kept as the fraction that was written

        def __init__(
            self, column: str, start: Number, stop: Number, step: Number = 1, outside: Outside = "clip"
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("start", "stop", "step"):
            object.__setattr__(self, name, _exact(getattr(self, name), name))
        if not isinstance(self.column, str):
            raise AxisError(f"column={self.column!r} is no name.", "pass the column's name, in quotes.")
        if self.outside not in ("clip", "drop"):
            raise AxisError(f"outside={self.outside!r} is unknown.", "choose 'clip' or 'drop'.")
        if self.step <= 0 or self.stop <= self.start:
            raise AxisError(
                f"The axis {self.column!r} goes from {self.start} to {self.stop} in steps of {self.step}.",
                "stop must lie above start, and step must be positive.",
            )
        cells = (self.stop - self.start) / self.step
        if cells.denominator != 1:
            raise AxisError(
                f"The step {self.step} does not divide the axis {self.column!r} evenly.",
                f"move stop to {_text(self.start + self.step * (cells // 1 + 1))}, for example.",
            )
        if cells > MOST_CELLS:
            raise AxisError(
                f"The axis {self.column!r} has {cells} cells, more than {MOST_CELLS}.",
                "choose a coarser step: buckets narrower than the noise allows are merged anyway.",
            )

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
        first, width, unit = self._whole_numbers
        borders = np.asarray(border)
        if abs(first) + self.size * width < 2**53 and unit < 2**53:
            return np.asarray((first + borders.astype(np.float64) * width) / unit)  # one rounding: the division's
        exact = (first + borders.astype(object) * width) / unit
        return np.asarray(exact, np.float64)

    def border(self, value: object) -> Fraction:
        """Where a value lies among the cell borders, exactly: 0 is the start, ``size`` the stop.

        Raises:
            AxisError: If the value is no number or outside the axis.
        """
        exact = _exact(value, self.column)
        if not self.start <= exact <= self.stop:
            raise AxisError(
                f"{value} lies outside the axis {self.column!r}.",
                f"ask between {_text(self.start)} and {_text(self.stop)}.",
            )
        return (exact - self.start) / self.step

    def cells(self, values: ArrayLike) -> IntArray:
        """The cell of every value that is counted.

        Raises:
            AxisError: If the values are no numbers.
        """
        try:
            array = np.asarray(values)
        except ValueError:
            raise AxisError(f"The column {self.column!r} cannot be read.", "pass one number per record.") from None
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise AxisError(
                f"The column {self.column!r} is no column of numbers.",
                "convert the column to numbers first.",
            )
        if array.dtype.kind == "f":
            array = array[~np.isnan(array)]
        find = self._of_floats if array.dtype.kind == "f" else self._of_integers
        below, above, inside = find(array)
        if self.outside == "drop":
            return inside
        cells = np.where(above, self.size - 1, 0)
        cells[~(below | above)] = inside
        return cells

    def _of_integers(self, array: NDArray[Any]) -> tuple[BoolArray, BoolArray, IntArray]:
        """Which values lie below and above the axis, and the cells of the others, in exact arithmetic."""
        below, above = array < math.ceil(self.start), array >= math.ceil(self.stop)
        first, width, unit = self._whole_numbers
        fits = unit * (abs(math.ceil(self.start)) + abs(math.ceil(self.stop)) + 1) + abs(first) < 2**63
        inside = array[~(below | above)].astype(np.int64 if fits else object)
        return below, above, ((inside * unit - first) // width).astype(np.int64)

    def _of_floats(self, array: NDArray[Any]) -> tuple[BoolArray, BoolArray, IntArray]:
        """Likewise. A float counts as the number that people would write for it: 0.3 is three tenths.

        That is, borders are compared as floats of the same type. The quotient finds the cell but for rounding.
        """

        def border(cells: IntArray) -> NDArray[Any]:
            with np.errstate(over="ignore"):
                return self.value(cells).astype(array.dtype)

        below, above = (array < border(np.array(0))), (array >= border(np.array(self.size)))
        inside = array[~(below | above)]
        quotient = np.floor((inside.astype(np.float64) - float(self.start)) / float(self.step))
        cells = np.clip(quotient, 0, self.size - 1).astype(np.int64)
        while (early := inside < border(cells)).any():
            cells -= early
        while (late := inside >= border(cells + 1)).any():
            cells += late
        return below, above, cells

    @property
    def _whole_numbers(self) -> tuple[int, int, int]:
        """Start and step in units of which both are whole numbers, and how many of these make 1."""
        unit = math.lcm(self.start.denominator, self.step.denominator)
        return int(self.start * unit), int(self.step * unit), unit

    def to_json(self) -> dict[str, str]:
        """Plain strings; fractions as written."""
        return {
            "kind": "numbers",
            "column": self.column,
            "start": str(self.start),
            "stop": str(self.stop),
            "step": str(self.step),
            "outside": self.outside,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Axis":
        """The axis that ``to_json`` wrote."""
        if data["kind"] != "numbers":
            raise AxisError(f"The axis is of the unknown kind {data['kind']!r}.", "update dawa.")
        return cls(
            data["column"],
            Fraction(data["start"]),
            Fraction(data["stop"]),
            Fraction(data["step"]),
            data["outside"],
        )


def _exact(value: object, name: str) -> Fraction:
    """A number as it was written."""
    hint = f"pass a number for {name}."
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (Rational, Real, str)):
        raise AxisError(f"{name}={value!r} is no number.", hint)
    try:
        return Fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise AxisError(f"{name}={value!r} is no finite number.", hint) from None


def _text(value: Fraction) -> str:
    """A fraction as people write it."""
    return str(value) if value.denominator == 1 else str(float(value))
