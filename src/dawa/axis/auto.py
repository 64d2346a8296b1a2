"""An axis whose bounds nobody knows beforehand: what to look for, and on which grid.

The bounds are found by a private look at the data (``dawa.bounds``). This module says where it looks: on a public grid
whose cells double with their distance from 0, so that a hundred of them reach from a step to trillions of steps. For
dates the cells are years.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dawa import budget
from dawa.axis import readings
from dawa.axis.base import KINDS, Axis, Missing, Outside
from dawa.axis.dates import DateAxis, zone_named
from dawa.axis.numbers import EdgeAxis, NumberAxis
from dawa.axis.readings import MONTHS, UNITS, Number, exact
from dawa.errors import AxisError
from dawa.limits import MOST_CELLS_BESIDE, MOST_DATE_RUNS
from dawa.numerals import is_number, told

SHARE = Fraction(1, 20)
"""The part of epsilon that is spent on finding the bounds of one axis, if nobody says otherwise."""
REACH = range(46, 3, -2)
"""Numbers are looked for up to 2^46 steps from 0, or less: enough for every unit that people use."""
OCTAVES_OF_ROOM, YEARS_OF_ROOM = 2, 1
"""How many cells of the grid are added on each side of those that stand out of the noise."""
FINEST = 10**18
"""The largest step, and one over the smallest."""
YEAR = "8766 hours"
YEARS = (1000, 3000), (1800, 2200), (1900, 2100), (1970, 2070)
"""Where dates are looked for: in the first of these that can have such steps."""


@dataclass(frozen=True)
class AutoAxis:
    """Numbers or dates whose bounds are to be found in the data, for a share of epsilon.

    Attributes:
        column: Where a table holds the attribute.
        step: The finest difference that matters. A length of time, such as ``"1 day"``, means dates.
        zone: The time zone, for dates; None takes times as they are written.
        share: The part of epsilon that may be spent on it.
        outside: What happens to values outside the bounds that are found.
        missing: What happens to missing values.
    """

    column: str
    step: Fraction | str = Fraction(1)
    zone: str | None = None
    share: Fraction = SHARE
    outside: Outside = "clip"
    missing: Missing = "own"

    if TYPE_CHECKING:

        def __init__(
            self,
            column: str,
            step: Number | timedelta = 1,
            zone: str | None = None,
            share: budget.Epsilon = SHARE,
            outside: Outside = "clip",
            missing: Missing = "own",
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.exact(self.share, "share"))
        if self.share >= 1:
            raise AxisError(
                f"share={budget.shown(self.share)} leaves nothing for the release.",
                "pass the part of epsilon that may be spent on finding the bounds, such as 0.05.",
            )
        if self.zone is None and is_number(self.step):
            object.__setattr__(self, "step", exact(self.step, "step"))
            if not Fraction(1, FINEST) <= Fraction(self.step) <= FINEST:
                raise AxisError(
                    f"The step of the axis {told(self.column)} is not positive, or is extreme.",
                    "pass step=1, for example.",
                )
        else:
            number, unit = readings.step(self.step)
            object.__setattr__(self, "step", f"{number} {unit}{'s' * (number > 1)}")
        grids = self.grids()
        if not grids:
            raise AxisError(
                f"Steps of {self.step} are too short or too long for bounds that are found in the data.",
                "choose another step, or name the bounds.",
            )
        self.over(grids[-1], 0, 1)  # an axis that may be found checks the rest

    @property
    def dated(self) -> bool:
        """Whether it is an axis of dates or times."""
        return isinstance(self.step, str)

    def grids(self) -> list[Axis]:
        """The public cells on which the bounds may be looked for: from the farthest reach to the nearest.

        >>> [int(cut) for cut in AutoAxis("x").grids()[-1].cuts]
        [-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16]
        """
        if not self.dated:
            return [self._numbers(bits) for bits in REACH]
        grids = [self._years(first, last) for first, last in YEARS if self._fits(last - first + 3)]
        return [grid for grid in grids if self._ends(grid)]

    def _ends(self, grid: Axis) -> bool:
        """Whether even the last cell of a grid ends with a whole step that the calendar still has."""
        try:
            self.over(grid, grid.size - 1, grid.size)
        except (AxisError, ValueError, OverflowError):
            return False
        return True

    def _fits(self, years: int) -> bool:
        """Whether an axis over so many years has few enough cells, and changes their length few enough times."""
        number, unit = readings.step(self.step)
        changes = 4 if self.zone is not None and unit in {"day", "week"} else 12 / number / MONTHS.get(unit, 12)
        length = number * UNITS.get(unit, UNITS["day"])
        return years * changes < MOST_DATE_RUNS and years * 366 * UNITS["day"] // length < MOST_CELLS_BESIDE

    def _years(self, first: int, last: int) -> DateAxis:
        """Cells of about a year: all of one length, because engines are slow at cells that follow the calendar."""
        start, stop = (self._new_year(year) for year in (first, last))
        return DateAxis(self.column, start, _reached(start, stop, YEAR), YEAR, self.zone, "clip", "drop")

    def _numbers(self, bits: int) -> EdgeAxis:
        """Cells between the powers of two times the step, on both sides of 0."""
        sizes = [1 << power for power in range(bits + 1)]
        cuts = [*(-size for size in reversed(sizes)), 0, *sizes]
        return EdgeAxis(self.column, [cut * Fraction(self.step) for cut in cuts], "clip", "drop")

    def around(self, grid: Axis, first: int, beyond: int) -> Axis:
        """The axis over these cells of a grid and some more on each side, where a tail too thin to be seen may lie.

        Room that stays empty costs next to nothing; a tail that is cut off costs all of its records.
        """
        room = YEARS_OF_ROOM if self.dated else OCTAVES_OF_ROOM
        return self.over(grid, max(first - room, 0), min(beyond + room, grid.size))

    def over(self, grid: Axis, first: int, beyond: int) -> Axis:
        """The axis over these cells of a grid, the last one not included."""
        if isinstance(grid, EdgeAxis):
            ends = grid.cuts[first], grid.cuts[beyond]
            return NumberAxis(self.column, *ends, Fraction(self.step), self.outside, self.missing)
        years = [grid.value(cell).item().year for cell in (first, beyond)]
        start, stop = self._new_year(years[0]), self._new_year(years[1] + 1)
        stop = _reached(start, stop, str(self.step))
        return DateAxis(self.column, start, stop, str(self.step), self.zone, self.outside, self.missing)

    def _new_year(self, year: int) -> datetime:
        """When a year begins, in the zone."""
        return readings.time(f"{year}-01-01", "year", zone_named(self.zone))

    def describe(self) -> str:
        """What was looked for, in a sentence."""
        share = budget.shown(100 * self.share)
        return f"The bounds of {self.column!r} are found in the data, privately, for {share}% of epsilon."

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "kind": "auto",
            "column": self.column,
            "step": str(self.step),
            "zone": self.zone,
            "share": str(self.share),
            "outside": self.outside,
            "missing": self.missing,
        }


KINDS["auto"] = AutoAxis

AxisLike = Axis | AutoAxis | Sequence[Axis | AutoAxis]
"""The axis of a release, or its axes."""


def _reached(start: datetime, stop: datetime, step: str) -> datetime:
    """The first end of a step that is not before ``stop``."""
    number, unit = readings.step(step)
    plain, zone = start.replace(tzinfo=None), start.tzinfo
    if unit in MONTHS:
        each = number * MONTHS[unit]
        months = -(-12 * (stop.year - start.year) // each) * each
        return plain.replace(year=start.year + months // 12, month=months % 12 + 1)
    if unit in {"day", "week"} and zone is not None:
        days = timedelta(days=number * (7 if unit == "week" else 1))
        return plain - ((plain - stop.replace(tzinfo=None)) // days) * days
    first, length = readings.ticks(start), number * UNITS[unit]
    return readings.at(first - ((first - readings.ticks(stop)) // length) * length, zone)
