"""Dates and times: borders where clocks and calendars have them."""

# ruff: noqa: DTZ001  times without a zone are what some of this is about

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.axis import Axis
from dawa.axis.readings import ticks
from dawa.errors import AxisError, OptionError
from helpers.axes import dated
from helpers.binning import date_borders
from helpers.examples import examples

BERLIN = ZoneInfo("Europe/Berlin")


@examples(200)
@given(dated())
def test_borders_are_those_of_the_calendar(axis):
    borders = date_borders(axis)
    assert len(borders) == axis.size + 1
    assert all(a <= b for a, b in pairwise(borders))
    values = axis.value(np.arange(axis.size + 1))
    moments = [ticks(value.item() if isinstance(value, np.datetime64) else value) for value in values]
    assert moments == borders
    assert Axis.from_json(axis.to_json()) == axis


@examples(200)
@given(dated())
def test_runs_are_the_cells(axis):
    borders, runs = date_borders(axis), list(axis.runs())
    ends = [run.cell for run in runs[1:]] + [axis.size]
    found = [run.tick + i * run.width for run, end in zip(runs, ends, strict=True) for i in range(end - run.cell)]
    assert [*found, ticks(axis.stop)] == borders


@examples(200)
@given(dated(), st.data())
def test_a_time_lies_where_it_is_asked_for(axis, data):
    borders = date_borders(axis)
    i = data.draw(st.integers(0, axis.size - 1))
    part = data.draw(st.fractions(0, 1, max_denominator=1000).filter(lambda part: part < 1))
    moment = borders[i] + part * (borders[i + 1] - borders[i]) // 1
    value = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(moment))
    if borders[i] == borders[i + 1]:
        return  # a day that a zone left out
    place = axis.border(value if axis.zone else value.replace(tzinfo=None))
    assert place == i + Fraction(int(moment - borders[i]), int(borders[i + 1] - borders[i]))


def test_days_have_the_hours_that_clocks_give_them():
    hours = Axis.dates("x", "2013-03-31", "2013-04-01", "1h", "Europe/Berlin")
    assert hours.size == 23
    assert Axis.dates("x", "2013-10-27", "2013-10-28", "1h", "Europe/Berlin").size == 25
    assert Axis.dates("x", "2013-03-31", "2013-04-01", "1h").size == 24
    assert hours.border("2013-03-31 01:00") == 1
    assert hours.border("2013-03-31 03:00") == 2
    autumn = Axis.dates("x", "2013-10-27", "2013-10-28", "1h", "Europe/Berlin")
    assert autumn.border("2013-10-27 02:00+02:00") == 2
    assert autumn.border("2013-10-27 02:00+01:00") == 3
    assert autumn.border(datetime(2013, 10, 27, 2, tzinfo=BERLIN, fold=1)) == 3


def test_a_day_that_a_zone_left_out_is_an_empty_cell():
    axis = Axis.dates("x", "2011-12-29", "2012-01-01", "1 day", "Pacific/Apia")
    assert axis.size == 3
    assert [run.width // 3_600_000_000 for run in axis.runs()] == [24, 0, 24]
    assert axis.border("2011-12-31") == 2


def test_days_begin_later_where_clocks_skip_midnight():
    axis = Axis.dates("x", "2013-10-20", "2013-10-22", "1 day", "America/Sao_Paulo")
    assert axis.start.hour == 1
    assert [run.width // 3_600_000_000 for run in axis.runs()] == [23, 24]
    assert axis.border("2013-10-20 00:00") == axis.border("2013-10-20 01:00") == 0
    with pytest.raises(AxisError, match="begin at midnight"):
        Axis.dates("x", "2013-10-20 02:00", "2013-10-22", "1 day", "America/Sao_Paulo")


@pytest.mark.parametrize(
    "written",
    [
        "2013-06-01 08:30",
        "2013-06-01T08:30:00",
        " 2013-06-01 08:30 ",
        datetime(2013, 6, 1, 8, 30),
        np.datetime64("2013-06-01T08:30"),
        np.datetime64("2013-06-01T08:30:00.000000000"),
    ],
)
def test_times_are_read_as_people_write_them(written):
    axis = Axis.dates("x", "2013-01-01", date(2014, 1, 1), "1h")
    assert axis.border(written) == 151 * 24 + Fraction(17, 2)
    assert axis.border("2013-06-01") == axis.border(date(2013, 6, 1)) == 151 * 24


@pytest.mark.parametrize(
    ("step", "size"),
    [
        ("1h", 8760), ("1 hour", 8760), ("hour", 8760), ("2 hours", 4380), ("15 minutes", 35_040), ("15min", 35_040),
        ("1 day", 365), ("1d", 365), ("5 d", 73), ("1 month", 12), ("3 months", 4), ("1 quarter", 4), ("1y", 1),
        (timedelta(hours=6), 1460), (timedelta(days=1), 365), ("1s", 31_536_000), ("500 ms", 63_072_000),
    ],
)  # fmt: skip
def test_steps_are_read_as_people_write_them(step, size):
    axis = Axis.dates("x", "2013-01-01", "2014-01-01", step)
    assert axis.size == size
    assert Axis.dates("x", "2013-01-01", "2014-01-01", axis.step) == axis


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": "1m"}, {"step": "0h"}, {"step": "-1h"}, {"step": 5}, {"step": "1 fortnight"}, {"step": ""},
        {"step": timedelta(0)}, {"step": None}, {"step": "7 hours 2"}, {"step": "1 week"},
        {"start": "1970-01-01", "step": "1ns"},
        {"step": "7 hours"}, {"start": "2013"}, {"start": "yesterday"}, {"start": 2013}, {"start": float("nan")},
        {"start": "2014-01-01"}, {"start": "2015-01-01"}, {"start": "2013-01-01T00:00+01:00"},
        {"start": np.datetime64("NaT")}, {"zone": "Berlin"}, {"zone": 3}, {"zone": "../etc/passwd"}, {"zone": ""},
        {"start": "2013-01-01 05:00", "zone": "UTC"}, {"start": "2013-01-02", "step": "1 month"},
        {"start": "2013-02-01", "step": "1 year"}, {"start": "2013-02-01", "step": "1 quarter"},
        {"stop": "9999-12-31 23:59"}, {"start": "0001-01-01", "zone": "Asia/Tokyo"}, {"column": None},
        {"outside": "keep"},
    ],
)  # fmt: skip
def test_what_is_no_axis_of_times_is_refused(wrong):
    with pytest.raises(AxisError, match="Hint:"):
        Axis.dates(**{"column": "x", "start": "2013-01-01", "stop": "2014-01-01", "step": "1 day", **wrong})


def test_the_hint_for_a_step_that_does_not_end_there_works():
    with pytest.raises(AxisError, match="do not end") as caught:
        Axis.dates("x", "2013-01-01", "2013-02-03", "1 week")
    assert "2013-02-05" in caught.value.hint
    assert Axis.dates("x", "2013-01-01", "2013-02-05", "1 week").size == 5


@pytest.mark.parametrize("value", ["2012-12-31", "2014-01-02", "noon", None, 5, "2013-06-01T00:00+00:00"])
def test_values_off_the_axis_are_refused(value):
    with pytest.raises(AxisError, match="Hint:"):
        Axis.dates("x", "2013-01-01", "2014-01-01").border(value)


def test_a_span_is_half_open_and_not_empty():
    axis = Axis.dates("x", "2013-01-01", "2014-01-01")
    assert axis.span("2013-01-02", "2013-01-03 12:00") == (1, Fraction(5, 2))
    with pytest.raises(OptionError, match="is empty"):
        axis.span("2013-01-02", "2013-01-02")


def test_an_axis_describes_itself():
    said = Axis.dates("when", "2013-01-01", "2014-01-01", "1h").describe()
    assert "times from 2013-01-01 up to 2014-01-01 in steps of 1 hour" in said
    assert "without a time zone" in said
    assert (
        "in the time zone Europe/Berlin" in Axis.dates("x", "2013-01-01", "2014-01-01", zone="Europe/Berlin").describe()
    )


def test_values_have_the_zone_of_the_axis():
    plain = Axis.dates("x", "2013-01-01", "2014-01-01", "1h").value([0, 0.5])
    assert plain.tolist() == [datetime(2013, 1, 1), datetime(2013, 1, 1, 0, 30)]
    aware = Axis.dates("x", "2013-01-01", "2014-01-01", "1h", "Europe/Berlin").value(0.5)[()]
    assert aware == datetime(2013, 1, 1, 0, 30, tzinfo=BERLIN)
    assert str(aware.tzinfo) == "Europe/Berlin"


def test_a_month_or_a_year_as_an_end_is_its_first_moment():
    days = Axis.dates("when", "2013-01-01", "2014-01-01")
    assert days.span("2013-02", "2013-05") == days.span("2013-02-01", "2013-05-01")
    assert days.span("2013", " 2014 ") == days.span("2013-01-01", "2014-01-01")
    local = Axis.dates("when", "2013-01-01", "2014-01-01", step="1h", zone="Europe/Berlin")
    assert local.border("2013-06") == local.border("2013-06-01 00:00")
    months = Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month")
    assert months.span("2013-02", "2013-04") == (1, 3)
    for wrong in ("2013-13", "2013-00", "13", "2013-", "2013-2", "0000", "2013-02+01:00", 2013):
        with pytest.raises(AxisError, match="not a time"):
            days.border(wrong)
    with pytest.raises(AxisError, match="lies outside"):
        days.border("2015")
