"""Numbers between explicit edges, for attributes whose cells are not equally wide."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import FloatArray
from dawa.axis.base import NO_BOUNDS, Axis, Outside
from dawa.axis.readings import Number, exact
from dawa.budget import fraction, shown
from dawa.errors import AxisError

MOST_EDGES = 4097
"""Engines search among the edges by comparisons that are written out."""


@dataclass(frozen=True)
class EdgeAxis(Axis):
    """Numbers in cells between edges.

    Attributes:
        column: Where a table holds the attribute.
        cuts: The edges, increasing; the first and the last are the bounds.
        outside: What happens to values outside the bounds.
    """

    kind: ClassVar[str] = "edges"

    column: str
    cuts: tuple[Fraction, ...]
    outside: Outside = "clip"

    if TYPE_CHECKING:

        def __init__(
            self, column: str, cuts: "list[Number] | tuple[Number, ...]", outside: Outside = "clip"
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.cuts is None:
            raise AxisError(
                f"The axis {self.column!r} has no edges; {NO_BOUNDS}.",
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
                f"The axis {self.column!r} has {len(cuts)} edges.",
                f"pass a list of 2 to {MOST_EDGES} numbers, or use dawa.Axis(column, start, stop, step).",
            )
        if any(a >= b for a, b in pairwise(cuts)):
            raise AxisError(f"The edges of the axis {self.column!r} do not increase.", "sort them, and name each once.")

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
        """The float nearest to a value this part of the way between two edges, below the second."""
        lo, hi = self.cuts[cell], self.cuts[cell + 1]
        last = math.nextafter(float(hi), -math.inf)
        return max(min(float(lo + part * (hi - lo)), last), float(lo))

    def border(self, value: object) -> Fraction:
        """Where a value lies among the edges, exactly."""
        found = exact(value, self.column)
        if not self.start <= found <= self.stop:
            raise AxisError(
                f"{value} lies outside the axis {self.column!r}.",
                f"ask between {shown(self.start)} and {shown(self.stop)}.",
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
        }

    @classmethod
    def read(cls, data: dict[str, Any]) -> "EdgeAxis":
        """The axis that ``to_json`` wrote."""
        return cls(data["column"], [fraction(cut) for cut in data["edges"]], data["outside"])
