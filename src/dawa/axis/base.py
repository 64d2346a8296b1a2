"""What every axis has in common: one ordered attribute with public bounds, cut into cells.

Bounds are never read from the data: the smallest and the largest value belong to two people. Bounds are known before
anyone looks at the data, such as "ages from 0 to 120".
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_CELLS_ON_AXIS

if TYPE_CHECKING:
    from dawa.axis.dates import DateAxis
    from dawa.axis.numbers import EdgeAxis
    from dawa.axis.ordered import OrderedAxis
    from dawa.axis.readings import Number, Time


Outside = Literal["clip", "drop"]
NO_BOUNDS = "bounds are never read from the data, because the smallest and the largest value belong to two people"

KINDS: dict[str, Any] = {}
"""Every kind of axis by its name in release files; the package imports every kind."""


class Axis:
    """Numbers from ``start`` up to but not including ``stop``, in cells of width ``step``.

    ``Axis.edges``, ``Axis.dates`` and ``Axis.ordered`` make the other kinds.

    >>> age = Axis("age", 0, 120)
    >>> age.size
    120
    >>> Axis("height", 1.2, 2.2, step=0.01).size
    100

    Attributes:
        column: Where a table holds the attribute.
        start: The lowest value that can occur.
        stop: One step above the highest value; the last category on an ordered axis.
        outside: What happens to values outside the bounds: ``"clip"`` counts them in the first or last cell,
            ``"drop"`` leaves them out. Missing values are always left out.
    """

    kind: ClassVar[str]
    column: str
    outside: Outside
    start: Any
    stop: Any

    def __init_subclass__(cls) -> None:
        """Register the kind by its name."""
        KINDS[cls.kind] = cls

    def __new__(cls, *_args: Any, **_options: Any) -> Self:  # noqa: ANN401  each kind names its own
        """An axis of numbers, if no kind is named."""
        kind: type[Self] = KINDS["numbers"] if cls is Axis else cls
        return super().__new__(kind)

    if TYPE_CHECKING:

        def __init__(
            self, column: str, start: "Number", stop: "Number", step: "Number" = 1, outside: Outside = "clip"
        ) -> None: ...

    @staticmethod
    def edges(column: str, edges: "Iterable[Number] | None" = None, outside: Outside = "clip") -> "EdgeAxis":
        """Numbers between explicit edges: cell ``i`` goes from ``edges[i]`` up to but not including the next.

        >>> Axis.edges("income", [0, 10_000, 50_000, 1_000_000]).size
        3
        """
        made: EdgeAxis = KINDS["edges"](column, edges, outside)
        return made

    @staticmethod
    def dates(
        column: str,
        start: "Time | None" = None,
        stop: "Time | None" = None,
        step: str | timedelta = "1 day",
        zone: str | None = None,
        outside: Outside = "clip",
    ) -> "DateAxis":
        """Dates or times from ``start`` up to but not including ``stop``.

        Args:
            column: Where a table holds the attribute.
            start: The earliest time that can occur, such as ``"2013-01-01"`` or a ``datetime``.
            stop: The end, which is not included.
            step: The finest difference that matters: ``"15 minutes"``, ``"1h"``, ``"1 day"``, ``"1 month"``.
            zone: None takes times as they are written. A name such as ``"Europe/Berlin"`` reads the bounds in it,
                places the column's times on the line of real elapsed time, and lets days begin at the zone's midnights.
            outside: ``"clip"`` or ``"drop"``.

        >>> Axis.dates("when", "2013-01-01", "2014-01-01", step="1h").size
        8760
        """
        made: DateAxis = KINDS["dates"](column, start, stop, step, zone, outside)
        return made

    @staticmethod
    def ordered(
        column: str, values: "Iterable[str | int | bool] | None" = None, outside: Outside = "drop"
    ) -> "OrderedAxis":
        """Categories from the lowest to the highest; values that are not listed are left out.

        >>> Axis.ordered("grade", ["A", "B", "C"]).span("A", "B")
        (Fraction(0, 1), Fraction(2, 1))
        """
        made: OrderedAxis = KINDS["ordered"](column, values, outside)
        return made

    @property
    def size(self) -> int:
        """Number of cells."""
        raise NotImplementedError

    @property
    def whole(self) -> bool:
        """Whether every cell is exactly one value, so that nothing lies between two borders."""
        return False

    def value(self, border: ArrayLike) -> NDArray[Any]:
        """The attribute's value at a cell border; half a cell is half a step, if values lie in between."""
        raise NotImplementedError

    def value_in(self, cell: int, part: Fraction) -> Any:  # noqa: ANN401  the axis' own kind of value
        """A value that the attribute can have, this part of the way through a cell; quantiles are such values.

        The value is rounded down to one that the axis distinguishes. It lies inside the cell even if the part is 1,
        because the end of a cell is the beginning of the next.

        >>> Axis("age", 0, 120).value_in(27, Fraction(2, 3)), Axis("income", 0, 500, 100).value_in(1, Fraction(1, 3))
        (27, 133)
        """
        raise NotImplementedError

    def border(self, value: object) -> Fraction:
        """Where a value lies among the cell borders, exactly: 0 is the start, ``size`` the stop.

        Raises:
            AxisError: If the axis has no such value.
        """
        raise NotImplementedError

    def span(self, lo: object, hi: object) -> tuple[Fraction, Fraction]:
        """The borders of the range from ``lo`` up to but not including ``hi``.

        Raises:
            AxisError: If an end lies outside the axis.
            OptionError: If the range is empty.
        """
        start, stop = self.border(lo), self.border(hi)
        if start >= stop:
            raise OptionError(f"The range from {lo} to {hi} is empty.", "pass the lower end first.")
        return start, stop

    def describe(self) -> str:
        """What the axis counts and what it leaves out, in a sentence."""
        outside = {"clip": "counted in the first or the last cell", "drop": "left out"}[self.outside]
        return (
            f"The column {self.column!r} is read as {self._reading()}."
            f" Values outside are {outside}; missing values are left out."
        )

    def _reading(self) -> str:
        """What the values are and how they are cut, for ``describe``."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        raise NotImplementedError

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Axis":
        """The axis that ``to_json`` wrote.

        Raises:
            AxisError: If it is of a kind that this version does not know.
        """
        if data["kind"] not in KINDS:
            raise AxisError(f"The axis is of the unknown kind {data['kind']!r}.", "update dawa.")
        made: Axis = KINDS[data["kind"]].read(data)
        return made

    def _check(self, cells: int | Fraction | None = None) -> None:
        """Refuse what is wrong on every kind of axis; each kind calls this once it knows its cells."""
        if not isinstance(self.column, str):
            raise AxisError(f"column={self.column!r} is not a name.", "pass the column's name, in quotes.")
        if self.outside not in ("clip", "drop"):
            raise AxisError(f"outside={self.outside!r} is unknown.", "choose 'clip' or 'drop'.")
        if cells is not None and cells > MOST_CELLS_ON_AXIS:
            raise AxisError(
                f"The axis {self.column!r} has {cells} cells, more than 2^48.",
                "choose a coarser step: buckets narrower than the noise allows are merged anyway.",
            )


def labelled(values: Iterable[object], shape: tuple[int, ...]) -> NDArray[np.object_]:
    """An array of any values, each kept whole: numpy would take some of them apart."""
    array = np.empty(shape, object)
    array.reshape(-1)[:] = list(values)
    return array


AxisValue = float | str | Fraction | date | np.datetime64 | np.number[Any]
"""A value of an axis: a number, a category, a date or a time."""

AxisLike = Axis | Sequence[Axis]
"""The axis of a release, or its axes."""
