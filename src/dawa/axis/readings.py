"""Numbers, times and steps as people write them, read exactly."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from fractions import Fraction
from numbers import Rational

import numpy as np

from dawa import numerals
from dawa.errors import AxisError
from dawa.numerals import NotANumberError, brief, told

Number = Rational | float | str
"""A number as people write it; 0.1 is one tenth."""

Time = date | np.datetime64 | str
"""A date or a time as people write it."""

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  times without a zone are taken as they are
MICROSECOND = timedelta(microseconds=1)

UNITS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
}
"""Steps of a fixed length, in microseconds."""
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""Steps of the calendar, in months."""
SHORT = {
    "us": "microsecond", "ms": "millisecond", "s": "second", "sec": "second", "min": "minute",
    "h": "hour", "hr": "hour", "d": "day", "w": "week", "mo": "month", "q": "quarter", "y": "year", "yr": "year",
}  # fmt: skip
MONTH = re.compile("([0-9]{4})(?:-([0-9]{2}))?")
"""A year or a month, as people write it."""
STEP_HINT = "write a number and a unit, such as '15 minutes', '1h', '1 day', '1 week' or '1 month'."
TIME_HINT = "write a date such as 2013-06-01, or a time such as '2013-06-01 08:30'."


def exact(value: object, name: str) -> Fraction:
    """A number as it was written: 0.1 is one tenth.

    Raises:
        AxisError: If it is not a finite number.
    """
    try:
        return numerals.exact(value)
    except NotANumberError as error:
        raise AxisError(f"{brief(name)}={told(value)} {error}.", f"pass a number for {brief(name)}.") from None


def time(value: object, name: str, zone: tzinfo | None) -> datetime:
    """A moment: as it is written if there is no zone, else in that zone.

    Raises:
        AxisError: If it is not a time, or if it has an offset and there is no zone to compare it with.
    """
    found = _time(value, name)
    if found.tzinfo is None and zone is None:
        return found
    if zone is None:
        raise AxisError(
            f"{brief(name)}={told(value)} has a time zone, but the axis has none.",
            "leave the offset out, or name the axis' zone: zone='Europe/Berlin'.",
        )
    try:  # through UTC: a time that clocks skip becomes a time that they show
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC).astimezone(zone)
    except OverflowError:
        raise AxisError(f"{brief(name)}={told(value)} is too near to the end of the calendar.", TIME_HINT) from None


def _time(value: object, name: str) -> datetime:
    if isinstance(value, np.datetime64) and not np.isnat(value):
        value = value.astype("M8[us]").item()
    if isinstance(value, datetime) and value == value:  # noqa: PLR0124  no moment at all differs from itself
        return datetime.combine(value.date(), value.timetz())  # a plain datetime, even from a subclass
    if isinstance(value, date) and value == value:  # noqa: PLR0124  same here
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  the zone comes later
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            pass
    raise AxisError(f"{brief(name)}={told(value)} is not a time.", TIME_HINT)


def end(value: object, name: str, zone: tzinfo | None) -> datetime:
    """An end of a range: a moment, or a year or a month, which stands for its first moment.

    >>> end("2013-02", "when", None), end("2013", "when", None)
    (datetime.datetime(2013, 2, 1, 0, 0), datetime.datetime(2013, 1, 1, 0, 0))

    Raises:
        AxisError: If it is none of these.
    """
    month = MONTH.fullmatch(value.strip()) if isinstance(value, str) else None
    return time(f"{month[1]}-{month[2] or '01'}-01" if month else value, name, zone)


def ticks(moment: datetime) -> int:
    """Microseconds since 1970, on the line of real elapsed time where the moment has a zone."""
    plain = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (plain - EPOCH) // MICROSECOND


def at(tick: int, zone: tzinfo | None) -> datetime:
    """The moment this many microseconds after the beginning of 1970."""
    plain = EPOCH + timedelta(microseconds=tick)
    return plain if zone is None else plain.replace(tzinfo=UTC).astimezone(zone)


def step(value: object) -> tuple[int, str]:
    """A step as a number and a unit.

    >>> step("15min"), step("1 month"), step(timedelta(hours=36))
    ((15, 'minute'), (1, 'month'), (36, 'hour'))

    Raises:
        AxisError: If it is not a positive number of a known unit.
    """
    if isinstance(value, timedelta) and value > timedelta(0):
        length = value // MICROSECOND
        unit = next(unit for unit in reversed(UNITS) if length % UNITS[unit] == 0 and unit not in {"day", "week"})
        return length // UNITS[unit], unit
    match = re.fullmatch(r"([0-9]{0,18})\s*([A-Za-z]{1,20})", value.strip()) if isinstance(value, str) else None
    if match:
        number, name = int(match[1] or 1), match[2].lower()
        if name in {"ns", "nanosecond", "nanoseconds"}:
            raise AxisError(
                f"step={told(value)} is shorter than a microsecond, the finest step of times.",
                "write '1us', or count a column of nanoseconds as whole numbers, with dawa.Axis.",
            )
        unit = SHORT.get(name, name.removesuffix("s"))
        if number > 0 and unit in UNITS | MONTHS:
            return number, unit
    raise AxisError(f"step={told(value)} is not a step in time.", STEP_HINT)
