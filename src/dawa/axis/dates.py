"""Dates and times.

Without a zone, times are taken as they are written, on a line where every day has 24 hours. With a zone, they lie on
the line of real elapsed time: an hour is an hour, and the days on which clocks change have 23 or 25 of them.

Cells have a fixed length, or follow the calendar: months and years, and days and weeks in a zone.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.arrays import FloatArray, IntArray
from dawa.axis import readings
from dawa.axis.base import NO_BOUNDS, Axis, Missing, Outside, Places, labelled
from dawa.axis.readings import MONTHS, UNITS
from dawa.errors import AxisError
from dawa.limits import MOST_CALENDAR_CELLS, MOST_CELLS_IN_FLOATS
from dawa.numerals import brief, told

LAST = readings.ticks(datetime(9999, 12, 31))  # noqa: DTZ001  in no zone
"""Where the calendar ends for a date axis."""


class Run(NamedTuple):
    """Cells of equal length, one after the other."""

    cell: int
    """The number of the first cell."""
    tick: int
    """Where the first cell begins, in microseconds since 1970."""
    width: int
    """The length of each cell, in microseconds."""


@dataclass(frozen=True, eq=False)
class DateAxis(Axis):
    """Times from ``start`` up to but not including ``stop``, in steps of the clock or of the calendar.

    Attributes:
        column: Where a table holds the attribute.
        start: The earliest time, in the zone if there is one.
        stop: The end, which is not included.
        step: The finest difference that matters, such as ``"1 hour"``.
        zone: The name of the time zone, or None.
        outside: What happens to values outside the bounds.
        missing: What happens to missing values.
    """

    kind: ClassVar[str] = "dates"

    column: str
    start: datetime
    stop: datetime
    step: str = "1 day"
    zone: str | None = None
    outside: Outside = "clip"
    missing: Missing = "own"

    if TYPE_CHECKING:

        def __init__(
            self,
            column: str,
            start: object,
            stop: object,
            step: str | timedelta = "1 day",
            zone: str | None = None,
            outside: Outside = "clip",
            missing: Missing = "own",
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.start is None or self.stop is None:
            raise AxisError(
                f"The axis {told(self.column)} lacks a bound; {NO_BOUNDS}.",
                'name what is known before looking, such as dawa.Axis.dates("when", "2013-01-01", "2014-01-01",'
                ' step="1 hour").',
            )
        self._check()
        zone = zone_named(self.zone)
        for name in ("start", "stop"):
            object.__setattr__(self, name, readings.time(getattr(self, name), name, zone))
        number, unit = readings.step(self.step)
        object.__setattr__(self, "step", f"{number} {unit}{'s' * (number > 1)}")
        if not -LAST < readings.ticks(self.start) < readings.ticks(self.stop) < LAST:
            raise AxisError(
                f"The axis {told(self.column)} goes from {self.start} to {self.stop}.",
                "stop must lie after start, and before the year 9999.",
            )
        self._check_calendar()
        size = self.size
        self._check(size)
        if self._length is None and size > MOST_CALENDAR_CELLS:
            raise AxisError(
                f"The axis {told(self.column)} has {size:,} cells that follow the calendar.",
                f"choose fewer years or a longer step: at most {MOST_CALENDAR_CELLS:,} such cells.",
            )
        if self._edge(size) != readings.ticks(self.stop):
            better = self._edge(size) if self._edge(size) < LAST else self._edge(size - 1)
            raise AxisError(
                f"Steps of {self.step} from {self.start} do not end at {self.stop}.",
                f"move stop to {readings.at(better, zone)}, for example.",
            )

    def _check_calendar(self) -> None:
        """Check that cells of the calendar begin where its days and months begin."""
        _, unit = readings.step(self.step)
        if self._length is not None:
            return
        start = self._midnight
        if readings.ticks(start) != readings.ticks(self.start):
            raise AxisError(
                f"Steps of {self.step} begin at midnight, but the axis begins at {self.start}.",
                f"begin at {start:%Y-%m-%d}, or use a step in hours.",
            )
        first = {"quarter": start.month % 3 == 1, "year": start.month == 1}.get(unit, True)
        if unit in MONTHS and (start.day != 1 or not first):
            raise AxisError(
                f"Steps of {self.step} begin on the first of a {unit}, but the axis begins at {start:%Y-%m-%d}.",
                f"begin at {start.year}-01-01, for example.",
            )

    @cached_property
    def _midnight(self) -> datetime:
        """When the first day begins by the calendar, even if clocks skip midnight on it."""
        return self.start.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)

    @cached_property
    def _steps(self) -> tuple[int, str]:
        """The step as a number and a unit."""
        return readings.step(self.step)

    @cached_property
    def _length(self) -> int | None:
        """The fixed length of a cell in microseconds, unless cells follow the calendar."""
        number, unit = self._steps
        if unit in MONTHS or (unit in {"day", "week"} and self.zone is not None):
            return None
        return number * UNITS[unit]

    @cached_property
    def size(self) -> int:
        """Number of cells: as many as it takes to reach the end."""
        length, stop = self._length, readings.ticks(self.stop)
        if length is not None:
            return -((readings.ticks(self.start) - stop) // length)
        number, unit = self._steps
        days = (self.stop.date() - self.start.date()).days
        at_most = (days + 1) // ({"day": 1, "week": 7}.get(unit, 28) * number * MONTHS.get(unit, 1)) + 2
        return bisect_right(range(at_most), stop - 1, key=self._edge)

    def _edge(self, border: int) -> int:
        """Where a border lies, in microseconds since 1970."""
        length = self._length
        if length is not None:
            return readings.ticks(self.start) + border * length
        first = self._midnight
        number, unit = self._steps
        try:
            if unit in MONTHS:
                months = first.month - 1 + border * number * MONTHS[unit]
                return readings.ticks(first.replace(year=first.year + months // 12, month=months % 12 + 1))
            return readings.ticks(first + timedelta(days=border * number * (7 if unit == "week" else 1)))
        except (OverflowError, ValueError):
            return LAST

    def runs(self) -> Iterator[Run]:
        """The cells, as runs of equal length."""
        length = self._length
        if length is not None:
            yield Run(0, readings.ticks(self.start), length)
            return
        last = None
        edges = (self._edge(border) for border in range(self.size + 1))
        here = next(edges)
        for cell, following in enumerate(edges):
            if following - here != last:
                last = following - here
                yield Run(cell, here, last)
            here = following

    @property
    def daily(self) -> bool:
        """Whether cells are days or consist of days: each begins with a day, and times inside are given to the day."""
        _, unit = self._steps
        midnight = self._length is None or readings.ticks(self.start) % UNITS["day"] == 0
        return midnight and (unit in MONTHS or unit in {"day", "week"})

    @property
    def resolution(self) -> int | None:
        """What times inside a cell are rounded to, in microseconds: the unit of the step, or a day for longer units.

        None stands for the days of a zone, which are not equally long.
        """
        _, unit = self._steps
        if unit in MONTHS or unit in {"day", "week"}:
            return None if self.zone is not None else UNITS["day"]
        return UNITS[unit]

    def value_in(self, cell: int, part: Fraction) -> datetime | np.datetime64:
        """The time this part of the way through a cell, rounded down to the unit of the step, or to a day if longer."""
        here, end, unit = self._edge(cell), self._edge(cell + 1), self.resolution
        tick = min(here + int(part * (end - here)), end - 1)
        if unit is not None:
            tick -= (tick - here) % unit
        else:
            day = readings.at(tick, zone_named(self.zone)).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
            tick = max(readings.ticks(day), here)
        found: datetime | np.datetime64 = self._times([tick], (1,))[0]
        return found

    def value(self, border: ArrayLike) -> NDArray[Any]:
        """The time at a cell border, to the microsecond: datetime64, or datetimes in the axis' zone."""
        borders = np.asarray(border)
        places = [Fraction(place) for place in borders.reshape(-1).tolist()]
        found = [self._edge(place // 1) for place in places]
        for i, place in enumerate(places):
            if place % 1:
                found[i] += int(place % 1 * (self._edge(place // 1 + 1) - found[i]))
        return self._times(found, borders.shape)

    def number(self, border: ArrayLike) -> FloatArray:
        """The time at a cell border in days since 1970: as it is written, or of UTC if there is a zone."""
        borders = np.asarray(border, np.int64)
        ticks = np.array([self._edge(place) for place in borders.reshape(-1).tolist()], np.int64)
        return (ticks / UNITS["day"]).reshape(borders.shape)

    def _times(self, ticks: list[int], shape: tuple[int, ...]) -> NDArray[Any]:
        """Microseconds since 1970 as times: datetime64, or datetimes in the axis' zone."""
        zone = zone_named(self.zone)
        if zone is None:
            return np.array(ticks, "M8[us]").reshape(shape)
        return labelled([readings.at(tick, zone) for tick in ticks], shape)

    def border(self, value: object) -> Fraction:
        """Where a time lies among the cell borders, exactly."""
        tick = readings.ticks(readings.end(value, self.column, zone_named(self.zone)))
        if not readings.ticks(self.start) <= tick <= readings.ticks(self.stop):
            raise AxisError(
                f"{brief(value)} lies outside the axis {told(self.column)}.",
                f"ask between {self.start} and {self.stop}.",
            )
        size = self.size
        if self._length is not None:
            return Fraction(tick - readings.ticks(self.start), self._length)
        cell = bisect_right(range(size + 1), tick, key=self._edge) - 1
        if cell == size:
            return Fraction(size)
        here = self._edge(cell)
        return cell + Fraction(tick - here, self._edge(cell + 1) - here)

    def places(self, values: NDArray[Any]) -> Places | None:
        """Where many times lie among the cell borders; None if they need a look one by one."""
        if values.dtype.kind != "M" or self.zone is not None:
            return None
        times = values.astype("M8[us]")
        ticks, first, last = times.astype(np.int64), readings.ticks(self.start), readings.ticks(self.stop)
        if not (times.astype(values.dtype) == values).all() or ((ticks < first) | (ticks > last)).any():
            return None
        if self._length is None:
            cell = np.minimum(np.searchsorted(self._edges, ticks, side="right") - 1, self.size)
            width = np.append(np.diff(self._edges), 1)[cell]
            rest = ticks - self._edges[cell]
        else:
            width = np.array(self._length)
            cell, rest = np.divmod(ticks - first, self._length)
        if width.max() >= MOST_CELLS_IN_FLOATS:
            return None
        return cell, np.minimum(rest / width, math.nextafter(1, 0))

    @cached_property
    def _edges(self) -> IntArray:
        """All borders, where cells follow the calendar."""
        return np.array([self._edge(border) for border in range(self.size + 1)], np.int64)

    def _reading(self) -> str:
        where = f"in the time zone {self.zone}" if self.zone else "as they are written, without a time zone"
        ends = [
            f"{end:%Y-%m-%d %H:%M:%S}".removesuffix(":00").removesuffix(" 00:00") for end in (self.start, self.stop)
        ]
        return f"times from {ends[0]} up to {ends[1]} in steps of {self.step}, {where}"

    def to_json(self) -> dict[str, Any]:
        """Plain strings; times as in ISO 8601, with their offset where the axis has a zone."""
        return {
            "kind": self.kind,
            "column": self.column,
            "start": self.start.isoformat(),
            "stop": self.stop.isoformat(),
            "step": self.step,
            "zone": self.zone,
            "outside": self.outside,
            "missing": self.missing,
        }

    @classmethod
    def read(cls, data: dict[str, Any]) -> "DateAxis":
        """The axis that ``to_json`` wrote."""
        bounds = data["start"], data["stop"], data["step"], data["zone"]
        return cls(data["column"], *bounds, data["outside"], data.get("missing", "drop"))


def zone_named(name: str | None) -> ZoneInfo | None:
    """A time zone by its name.

    Raises:
        AxisError: If there is none of that name.
    """
    if name is None:
        return None
    try:
        if isinstance(name, str):
            return ZoneInfo(name)
    except (KeyError, ValueError, TypeError, OSError):
        pass
    raise AxisError(f"There is no time zone {told(name)}.", "use a name such as 'Europe/Berlin' or 'UTC'.")
