"""Axes of every kind, drawn by Hypothesis."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from dawa.axis import Axis

ZONES = [None, "UTC", "Europe/Berlin", "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu"]
rules = st.tuples(st.sampled_from(["clip", "drop", "own"]), st.sampled_from(["drop", "own"]))
"""What happens to values outside, and to missing ones."""
fractions = st.fractions(-50, 50, max_denominator=60)
steps = st.fractions(Fraction(1, 40), 9, max_denominator=40)


@st.composite
def numbered(draw):
    start, step = draw(fractions), draw(steps)
    size = draw(st.integers(1, 40))
    return Axis("x", start, start + size * step, step, *draw(rules))


@st.composite
def edged(draw):
    cuts = sorted(draw(st.sets(fractions, min_size=2, max_size=20)))
    return Axis.edges("x", cuts, *draw(rules))


@st.composite
def dated(draw):
    start = date(draw(st.integers(1880, 2030)), draw(st.integers(1, 12)), 1)
    number, unit = draw(st.integers(1, 4)), draw(st.sampled_from(["minute", "hour", "day", "week", "month", "year"]))
    zone, size = draw(st.sampled_from(ZONES)), draw(st.integers(1, 60))
    start = start.replace(month=1) if unit == "year" else start
    stop = datetime(start.year, start.month, 1)  # noqa: DTZ001  in the zone of the axis
    if unit in {"month", "year"}:
        months = start.month - 1 + size * number * (12 if unit == "year" else 1)
        stop = stop.replace(year=start.year + months // 12, month=months % 12 + 1)
    elif unit in {"day", "week"} or zone is None:
        stop += size * timedelta(**{f"{unit}s": number})
    else:
        stop = stop.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) + size * timedelta(**{f"{unit}s": number})
    return Axis.dates("x", start, stop, f"{number} {unit}", zone, *draw(rules))
