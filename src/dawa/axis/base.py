"""What every axis has in common: one ordered attribute with public bounds, cut into cells.

Bounds are never read from the data: the smallest and the largest value belong to two people. Bounds are known before
anyone looks at the data, such as "ages from 0 to 120".
"""

from collections.abc import Iterable
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.axis.bins import Binned
from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_CELLS_ON_AXIS, MOST_NAME
from dawa.numerals import brief, told

if TYPE_CHECKING:
    from dawa.axis.addresses import AddressAxis
    from dawa.axis.auto import AutoAxis
    from dawa.axis.dates import DateAxis
    from dawa.axis.numbers import EdgeAxis
    from dawa.axis.ordered import OrderedAxis
    from dawa.axis.readings import Number, Time
    from dawa.budget import Epsilon


Outside = Literal["clip", "drop", "own"]
Missing = Literal["drop", "own"]
State = Literal["inside", "below", "above", "unlisted", "missing"]
"""Where a value lies: in a cell of the axis, or in one of the ways of not having one."""
NO_BOUNDS = "bounds are never read from the data, because the smallest and the largest value belong to two people"

Places = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Places on an axis: the cell that begins at each or before it, and which part of this cell lies between."""

KINDS: dict[str, Any] = {}
"""Every kind of axis by its name; the package imports every kind. All but "auto" occur in release files."""


class Axis(Binned):
    """Numbers from ``start`` up to but not including ``stop``, in cells of width ``step``.

    ``Axis.edges``, ``Axis.dates``, ``Axis.ipv4``, ``Axis.ipv6`` and ``Axis.ordered`` make the other kinds.

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
            ``"drop"`` leaves them out, ``"own"`` counts them apart, in cells of their own, at no further cost.
        missing: What happens to records without a value: ``"own"`` counts them apart, ``"drop"`` leaves them out.
    """

    kind: ClassVar[str]
    column: str
    outside: Outside
    missing: Missing
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
            self,
            column: str,
            start: "Number",
            stop: "Number",
            step: "Number" = 1,
            outside: Outside = "clip",
            missing: Missing = "own",
        ) -> None: ...

    @staticmethod
    def edges(
        column: str,
        edges: "Iterable[Number] | None" = None,
        outside: Outside = "clip",
        missing: Missing = "own",
    ) -> "EdgeAxis":
        """Numbers between explicit edges: cell ``i`` goes from ``edges[i]`` up to but not including the next.

        >>> Axis.edges("income", [0, 10_000, 50_000, 1_000_000]).size
        3
        """
        made: EdgeAxis = KINDS["edges"](column, edges, outside, missing)
        return made

    @staticmethod
    def dates(
        column: str,
        start: "Time | None" = None,
        stop: "Time | None" = None,
        step: str | timedelta = "1 day",
        zone: str | None = None,
        outside: Outside = "clip",
        missing: Missing = "own",
    ) -> "DateAxis":
        """Dates or times from ``start`` up to but not including ``stop``.

        Args:
            column: Where a table holds the attribute.
            start: The earliest time that can occur, such as ``"2013-01-01"`` or a ``datetime``.
            stop: The end, which is not included.
            step: The finest difference that matters: ``"15 minutes"``, ``"1h"``, ``"1 day"``, ``"1 month"``.
            zone: None takes times as they are written. A name such as ``"Europe/Berlin"`` reads the bounds in it,
                places the column's times on the line of real elapsed time, and lets days begin at the zone's midnights.
            outside: ``"clip"``, ``"drop"`` or ``"own"``.
            missing: ``"own"`` or ``"drop"``.

        >>> Axis.dates("when", "2013-01-01", "2014-01-01", step="1h").size
        8760
        """
        made: DateAxis = KINDS["dates"](column, start, stop, step, zone, outside, missing)
        return made

    @staticmethod
    def ipv4(
        column: str,
        within: str = "0.0.0.0/0",
        prefix: int = 32,
        outside: Outside = "clip",
        missing: Missing = "own",
    ) -> "AddressAxis":
        """IPv4 addresses, from text such as ``10.0.0.1`` or from whole numbers.

        Args:
            column: Where a table holds the addresses.
            within: The network in which they are counted.
            prefix: How many leading bits the addresses of a cell share: 32 tells single addresses apart, 24 networks
                of 256 of them.
            outside: ``"clip"``, ``"drop"`` or ``"own"``.
            missing: ``"own"`` or ``"drop"``; what is not an address is missing.

        >>> Axis.ipv4("client", "10.0.0.0/8", prefix=24).size
        65536
        """
        return _of_version(4, column, within, prefix, outside, missing)

    @staticmethod
    def ipv6(
        column: str,
        within: str = "2000::/3",
        prefix: int = 64,
        outside: Outside = "clip",
        missing: Missing = "own",
    ) -> "AddressAxis":
        """IPv6 addresses, from text such as ``2001:db8::1``; at most 62 bits lie between ``within`` and ``prefix``.

        >>> Axis.ipv6("client", "2001:db8::/32").size == 2**32
        True
        """
        return _of_version(6, column, within, prefix, outside, missing)

    @staticmethod
    def ordered(
        column: str,
        values: "Iterable[str | int | bool] | None" = None,
        outside: Outside = "own",
        missing: Missing = "own",
    ) -> "OrderedAxis":
        """Categories from the lowest to the highest; values that are not listed are counted apart, or left out.

        >>> Axis.ordered("grade", ["A", "B", "C"]).span("A", "B")
        (Fraction(0, 1), Fraction(2, 1))
        """
        made: OrderedAxis = KINDS["ordered"](column, values, outside, missing)
        return made

    @staticmethod
    def auto(
        column: str,
        step: "Number | timedelta" = 1,
        zone: str | None = None,
        share: "Epsilon" = Fraction(1, 20),
        outside: Outside = "clip",
        missing: Missing = "own",
    ) -> "AutoAxis":
        """Numbers or dates whose bounds nobody knows: they are found in the data, privately, for a share of epsilon.

        Args:
            column: Where a table holds the attribute.
            step: The finest difference that matters: a number, or a length of time such as ``"1 day"`` for dates.
            zone: The time zone, for dates.
            share: The part of epsilon that may be spent on finding the bounds.
            outside: What happens to values outside the bounds that are found.
            missing: ``"own"`` or ``"drop"``.

        >>> Axis.auto("income", step=100).share
        Fraction(1, 20)
        """
        made: AutoAxis = KINDS["auto"](column, step, zone, share, outside, missing)
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

    def places(self, values: NDArray[Any]) -> "Places | None":  # noqa: ARG002  some kinds read arrays
        """Where many numbers lie among the cell borders: what ``border`` says of each, exactly.

        None means that they need a look one by one: they are of another type, or one of them has no place.
        """
        return None

    def span(self, lo: object, hi: object) -> tuple[Fraction, Fraction]:
        """The borders of the range from ``lo`` up to but not including ``hi``.

        Raises:
            AxisError: If an end lies outside the axis.
            OptionError: If the range is empty.
        """
        start, stop = self.border(lo), self.border(hi)
        if start >= stop:
            raise OptionError(f"The range from {brief(lo)} to {brief(hi)} is empty.", "pass the lower end first.")
        return start, stop

    @property
    def beyond(self) -> tuple[State, ...]:
        """The ways in which a value can lie outside the axis."""
        return ("below", "above")

    @property
    def apart(self) -> tuple[State, ...]:
        """The ways of having no cell here that are counted apart, in cells of their own."""
        outside = self.beyond if self.outside == "own" else ()
        return (*outside, "missing") if self.missing == "own" else outside

    def describe(self) -> str:
        """What the axis counts, what it counts apart and what it leaves out, in a sentence."""
        outside = {"clip": "counted in the first or the last cell", "drop": "left out", "own": "counted apart"}
        missing = {"drop": "left out", "own": "counted apart"}[self.missing]
        return (
            f"The column {self.column!r} is read as {self._reading()}. Values {self._outside()} are"
            f" {outside[self.outside]}; missing values, and values that cannot be read so, are {missing}."
        )

    def _outside(self) -> str:
        """Which values are outside, for ``describe``."""
        return "outside"

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
        kind = data.get("kind") if isinstance(data, dict) else None
        if not isinstance(kind, str) or kind not in KINDS or not issubclass(KINDS[kind], Axis):
            raise AxisError(f"The axis is of the unknown kind {told(kind)}.", "update dawa.")
        try:
            made: Axis = KINDS[kind].read(data)
        except KeyError as error:
            raise AxisError(f"The axis has no field {error}.", "write all fields of its kind.") from None
        return made

    @staticmethod
    def _text(data: dict[str, Any], name: str) -> str:
        """A field that is text."""
        if not isinstance(data[name], str):
            raise AxisError(f"{name}={told(data[name])} is not text.", "write exact numbers as text.")
        return str(data[name])

    def _check(self, cells: int | Fraction | None = None) -> None:
        """Refuse what is wrong on every kind of axis; each kind calls this once it knows its cells."""
        if not isinstance(self.column, str):
            raise AxisError(f"column={told(self.column)} is not a name.", "pass the column's name, in quotes.")
        if not is_text(self.column):
            raise AxisError(f"column={told(self.column)} cannot be written into a file.", "rename the column.")
        for name, known in (("outside", get_args(Outside)), ("missing", get_args(Missing))):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in known:
                listed = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
                raise AxisError(f"{name}={told(getattr(self, name))} is unknown.", f"choose {listed}.")
        if cells is not None and cells > MOST_CELLS_ON_AXIS:
            raise AxisError(
                f"The axis {told(self.column)} has {brief(cells)} cells, more than 2^62.",
                "choose a coarser step: buckets narrower than the noise allows are merged anyway.",
            )


def _of_version(
    version: int, column: str, within: str, prefix: int, outside: Outside, missing: Missing
) -> "AddressAxis":
    """An axis of addresses of one version."""
    made: AddressAxis = KINDS["addresses"](column, within, prefix, outside, missing)
    if made.version != version:
        raise AxisError(
            f"within={told(within)} is a network of IPv{made.version}.", f"use dawa.Axis.ipv{made.version}."
        )
    return made


def is_text(name: str) -> bool:
    """Whether a name can be written into a file and read again: not too long, and no half of a character.

    >>> is_text("âge"), is_text(chr(0xD800))
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return len(name) <= MOST_NAME


def labelled(values: Iterable[object], shape: tuple[int, ...]) -> NDArray[np.object_]:
    """An array of any values, each kept whole: numpy would take some of them apart."""
    array = np.empty(shape, object)
    array.reshape(-1)[:] = list(values)
    return array


AxisValue = float | str | Fraction | date | np.datetime64 | np.number[Any]
"""A value of an axis: a number, a category, a date or a time."""
