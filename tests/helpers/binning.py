"""Where a value falls, by search among the borders one by one: the slow, obvious twin of the engines' expressions."""

import math
from bisect import bisect_right
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cache
from zoneinfo import ZoneInfo

import numpy as np

from dawa import sources
from dawa.axis import DateAxis, EdgeAxis, OrderedAxis
from dawa.axis.apart import patterns

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONTHS = {"month": 1, "quarter": 3, "year": 12}
CALENDAR = {"day", "week", *MONTHS}


def cell(axis, value):
    """The cell of one value; in its place the reason why it has none, if such values are counted apart, or None."""
    if value is None or value != value:  # noqa: PLR0124  NaN
        return "missing" if axis.missing == "own" else None
    if isinstance(axis, OrderedAxis):
        return axis.labels.index(value) if value in axis.labels else {"own": "unlisted", "drop": None}[axis.outside]
    if isinstance(axis, DateAxis):
        borders, place = date_borders(axis), moment(value)
    elif isinstance(value, (float, np.floating)):
        kind = np.float32 if isinstance(value, np.float32) else np.float64
        borders, place = float_borders(axis, kind), value
    else:
        borders, place = number_borders(axis), Fraction(value) if math.isfinite(value) else float(value)
    found = bisect_right(borders, place) - 1
    if 0 <= found < axis.size:
        return found
    above = found > 0
    return {"drop": None, "own": "above" if above else "below", "clip": axis.size - 1 if above else 0}[axis.outside]


def inside(axis, value):
    """The cell of one value; None if it has none, counted apart or not."""
    found = cell(axis, value)
    return None if isinstance(found, str) else found


@cache
def number_borders(axis):
    if isinstance(axis, EdgeAxis):
        return list(axis.cuts)
    return [axis.start + i * axis.step for i in range(axis.size + 1)]


@cache
def float_borders(axis, kind):
    return [kind(float(border)) for border in number_borders(axis)]


@cache
def date_borders(axis):
    """Every border, by walking the calendar."""
    number, unit = axis.step.split()
    number, unit, zone = int(number), unit.removesuffix("s"), ZoneInfo(axis.zone) if axis.zone else UTC
    here, borders = axis.start.replace(tzinfo=None), []
    here = here.replace(hour=0, minute=0, second=0, microsecond=0) if unit in CALENDAR and axis.zone else here
    while True:
        borders.append(here.replace(tzinfo=zone).astimezone(UTC) if unit in CALENDAR else here)
        if len(borders) > axis.size:
            break
        if unit in MONTHS:
            for _ in range(number * MONTHS[unit]):
                here = (here + timedelta(days=32)).replace(day=1)
        elif unit in {"day", "week"}:
            here += timedelta(**{f"{unit}s": number})
        else:  # elapsed time, so it is added in UTC
            here = here if here.tzinfo else here.replace(tzinfo=zone).astimezone(UTC)
            borders[-1] = here
            here += timedelta(**{f"{unit}s": number})
    return [moment(border) for border in borders]


def moment(value):
    """Microseconds since 1970 as a fraction; dates are midnights, and times without a zone are taken as they are."""
    if isinstance(value, np.datetime64):
        return Fraction(int(value.astype("M8[ns]").astype(np.int64)), 1000)
    if not isinstance(value, datetime):
        assert isinstance(value, date)
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    value = value if value.tzinfo else value.replace(tzinfo=UTC)
    return Fraction((value - EPOCH) // timedelta(microseconds=1))


def expected(axes, *columns):
    """Counts by flat cell number, and by the states of records that are counted apart."""
    counts = Counter()
    for row in zip(*columns, strict=True):
        cells = [cell(axis, value) for axis, value in zip(axes, row, strict=True)]
        if None in cells:
            continue
        if any(isinstance(place, str) for place in cells):
            counts[tuple(place if isinstance(place, str) else "inside" for place in cells)] += 1
        else:
            counts[int(np.ravel_multi_index(cells, [axis.size for axis in axes]))] += 1
    return dict(counts)


def everything(table, *axes, unit=None, max_rows_per_unit=1, where=None):
    """The same, by the engine."""
    with sources.query(table, axes, sources.unit_columns(unit), max_rows_per_unit, where) as query:
        query.check()
        rows = query.rows()
    pairs = zip(rows["cell"].to_pylist(), rows["records"].to_pylist(), strict=True)
    return {named(place, axes): records for place, records in pairs}


def named(place, axes):
    """A cell's number, or the states of records that are counted apart."""
    return place if place >= 0 else patterns(axes)[-place - 1]


def found(table, *axes, **options):
    """The counts inside the axes alone."""
    return {place: records for place, records in everything(table, *axes, **options).items() if isinstance(place, int)}
