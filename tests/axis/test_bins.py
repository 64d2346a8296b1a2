"""Axes as histogram libraries see them: sequences of bins."""

from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uhi.typing.plottable import PlottableAxisGeneric, PlottableTraits

import dawa
from helpers.axes import dated, edged, numbered

AGE = dawa.Axis("age", 0, 120)
GRADE = dawa.Axis.ordered("grade", ["A", "B", "C"])


def test_an_axis_on_its_own_has_its_cells():
    assert len(AGE) == 120
    assert (AGE[0], AGE[-1]) == ((0.0, 1.0), (119.0, 120.0))
    assert list(dawa.Axis.edges("x", [0, 0.1, 7])) == [(0.0, 0.1), (0.1, 7.0)]
    assert list(GRADE) == ["A", "B", "C"]
    assert list(dawa.Axis.ordered("n", [3, 1])) == [3, 1]
    with pytest.raises(IndexError):
        AGE[120]


def test_an_axis_of_a_histogram_has_runs_of_cells():
    found = AGE.binned(np.array([0, 18, 65, 120]))
    assert list(found) == [(0.0, 18.0), (18.0, 65.0), (65.0, 120.0)]
    assert list(GRADE.binned(np.array([0, 2, 3]))) == ["A to B", "C"]
    assert found.size == 120, "its cells are what they were"
    assert repr(found) == repr(AGE)


def test_axes_are_what_uhi_asks_for():
    for axis in (AGE, GRADE, AGE.binned(np.array([0, 120]), (True, False))):
        assert isinstance(axis, PlottableAxisGeneric)
        assert isinstance(axis.traits, PlottableTraits)
        assert axis.traits.circular is False
    assert (AGE.traits.discrete, GRADE.traits.discrete) == (False, True)
    assert not hasattr(AGE.traits, "underflow"), "who finds it asks for such bins"
    flow = AGE.binned(np.array([0, 120]), (True, False)).traits
    assert (flow.underflow, flow.overflow) == (True, False)


def test_axes_with_other_bins_are_not_equal():
    """So that nobody adds bin to bin; an axis on its own says nothing about bins."""
    one, two = AGE.binned(np.array([0, 60, 120])), AGE.binned(np.array([0, 50, 120]))
    assert one == AGE == two
    assert one == AGE.binned(np.array([0, 60, 120]))
    assert one != two
    assert one != AGE.binned(np.array([0, 60, 120]), (True, True))
    assert replace(AGE, outside="drop") != AGE != GRADE
    assert AGE != "age"
    assert len({hash(one), hash(two), hash(AGE)}) == 1
    assert list(copy(one)) == list(one)
    assert len(one.unbinned) == len(replace(one, column="years")) == 120


def test_numbers_of_times_are_days():
    days = dawa.Axis.dates("when", "1970-01-01", "1971-01-01", step="6 hours")
    assert days.number([0, 1, 6]).tolist() == [0, 0.25, 1.5]
    berlin = dawa.Axis.dates("when", "2013-03-30", "2013-04-02", zone="Europe/Berlin")
    assert np.diff(berlin.number(np.arange(4))) * 24 == pytest.approx([24, 23, 24]), "the day on which clocks change"
    assert berlin.number(0) == 15794 - 1 / 24
    assert isinstance(days[0], tuple)


def test_numbers_of_addresses_are_theirs():
    assert dawa.Axis.ipv4("ip", "10.0.0.0/8", prefix=16)[1] == (167837696.0, 167903232.0)
    assert dawa.Axis.ipv6("ip").number(0) == float(0x2000 << 112)


def test_huge_axes_have_as_many_bins():
    huge = dawa.Axis("x", 0, 2**62)
    assert len(huge) == 2**62
    assert huge[2**61] == (float(2**61), float(2**61))
    assert [huge.index(value) for value in (-1, 0, 2**61 + 1, 2**62 - 1, 2**62)] == [-1, 0, 2**61 + 1, 2**62 - 1, 2**62]


@given(st.one_of(numbered(), edged(), dated()))
def test_bins_follow_one_another(axis):
    every = list(axis)
    assert len(every) == axis.size
    assert all(one[1] == two[0] for one, two in pairwise(every))
    assert all(lo < hi for lo, hi in every)


@given(dated(), st.data())
def test_many_times_have_the_places_of_each(axis, data):
    ticks = [int(axis.value(border).astype("M8[us]").astype(int)) for border in (0, axis.size)] if not axis.zone else []
    if axis.zone is not None:
        assert axis.places(np.array(["2013-01-01"], "M8[us]")) is None
        return
    asked = np.array(data.draw(st.lists(st.integers(*ticks), min_size=1, max_size=9)), "M8[us]")
    cell, part = axis.places(asked)
    for at, time in enumerate(asked):
        exact = axis.border(time.item())
        assert (cell[at], part[at]) == (exact // 1, float(exact % 1))
        assert (part[at] == 0) == (exact.denominator == 1)
    assert axis.places(np.append(asked, np.datetime64(ticks[1] + 1, "us"))) is None
    assert axis.places(np.array(["NaT"], "M8[us]")) is None


def test_finer_times_need_a_look_one_by_one():
    hours = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 hour")
    whole, finer = np.array(["2013-01-01T00:30"], "M8[ns]"), np.array(["2013-01-01T00:30:00.000000001"], "M8[ns]")
    assert [place.tolist() for place in hours.places(whole)] == [[0], [float(Fraction(1, 2))]]
    assert hours.places(finer) is None
