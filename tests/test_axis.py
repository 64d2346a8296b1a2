"""Axes put every value where its digits say, in exact arithmetic, and answer at the same borders."""

import math
from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.axis import MOST_CELLS, Axis
from dawa.errors import AxisError

fractions = st.fractions(-50, 50, max_denominator=60)
steps = st.fractions(Fraction(1, 40), 9, max_denominator=40)


@st.composite
def axes(draw):
    start, step = draw(fractions), draw(steps)
    size = draw(st.integers(1, 40))
    return Axis("x", start, start + size * step, step, draw(st.sampled_from(["clip", "drop"])))


def expected(axis, values, borders):
    """Cells by search among the borders: the obvious twin."""
    found = [bisect_right(borders, value) - 1 for value in values]
    if axis.outside == "drop":
        return [cell for cell in found if 0 <= cell < axis.size]
    return [min(max(cell, 0), axis.size - 1) for cell in found]


# --- whole numbers --------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(axes(), st.lists(st.integers(-500, 500), max_size=30))
def test_integers_are_binned_exactly(axis, values):
    borders = [axis.start + i * axis.step for i in range(axis.size + 1)]
    assert axis.cells(np.array(values, np.int64)).tolist() == expected(axis, values, borders)


@pytest.mark.parametrize("outside", ["clip", "drop"])
@pytest.mark.parametrize(
    ("start", "step", "dtype"),
    [
        (2**60, 1, np.int64),
        (1_700_000_000_000_000_000, 1000, np.int64),
        (-(2**63), 3, np.int64),
        (2**63 - 31, 1, np.uint64),
        (2**64 - 31, 1, np.uint64),
        (100, 1, np.int8),
        (-5, 1, np.uint8),
    ],
)
def test_integers_beyond_the_precision_of_floats_are_binned_exactly(start, step, dtype, outside):
    """Nanoseconds since 1970 have 19 digits; floats have 16."""
    axis = Axis("x", start, start + 30 * step, step, outside)
    limits = np.iinfo(dtype)
    near = [start + 30 * step * i // 60 + j for i in range(-5, 70) for j in (-1, 0, 1)]
    values = [v for v in near if limits.min <= v <= limits.max]
    borders = [start + i * step for i in range(31)]
    assert axis.cells(np.array(values, dtype)).tolist() == expected(axis, values, borders)


# --- floats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("start", "step", "size"),
    [(0, "0.1", 1000), ("-1.7", "0.1", 500), (0, "0.01", 5000), ("0.05", "1/3", 300), (-3, "0.25", 99), (0, 1, 50)],
)
def test_a_float_on_a_border_belongs_to_the_cell_that_begins_there(start, step, size, dtype):
    axis = Axis("x", start, Fraction(start) + size * Fraction(step), step)
    borders = np.array([float(axis.start + i * axis.step) for i in range(size + 1)])
    np.testing.assert_array_equal(axis.value(np.arange(size + 1)), borders)
    on = borders[:-1].astype(dtype)
    assert axis.cells(on).tolist() == list(range(size))
    assert axis.cells(np.nextafter(on[1:], dtype(-np.inf))).tolist() == list(range(size - 1))


@settings(max_examples=100, deadline=None)
@given(axes(), st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30))
def test_floats_are_binned_as_a_search_among_the_borders_would(axis, values):
    borders = [float(axis.start + i * axis.step) for i in range(axis.size + 1)]
    present = [value for value in values if not math.isnan(value)]
    assert axis.cells(np.array(values)).tolist() == expected(axis, present, borders)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 99_999), st.sampled_from(["0.1", "0.01", "0.025", "0.3", "7"]))
def test_a_number_is_counted_where_it_would_be_asked_for(digits, step):
    """``border`` reads 0.3 as three tenths; so do ``cells``."""
    axis = Axis("x", 0, 100 * Fraction(step) * 9000, step)
    value = digits / 100
    assert axis.cells([value]).tolist() == [math.floor(axis.border(value))]


def test_steps_finer_than_floats_still_end_in_some_right_cell():
    axis = Axis("x", 2**52, 2**52 + 3, "0.25")
    values = np.array([2.0**52, 2.0**52 + 1, 2.0**52 + 2])
    borders = [float(axis.start + i * axis.step) for i in range(axis.size + 1)]
    assert axis.cells(values).tolist() == expected(axis, values, borders)


@pytest.mark.parametrize(("outside", "cells"), [("clip", [0, 0, 4, 9, 9]), ("drop", [4])])
def test_missing_values_are_left_out_and_infinite_ones_lie_outside(outside, cells):
    axis = Axis("x", 0, 10, outside=outside)
    assert axis.cells([-np.inf, -1.0, np.nan, 4.5, 10.0, np.inf]).tolist() == cells
    assert axis.cells(np.array([np.nan])).tolist() == []
    assert axis.cells(np.array([], np.int64)).tolist() == []


# --- the axis itself ------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(axes(), st.fractions(0, 1))
def test_borders_are_exact(axis, part):
    value = axis.start + part * (axis.stop - axis.start)
    assert axis.border(value) == part * axis.size
    assert axis.border(str(axis.start)) == 0
    assert axis.border(axis.stop) == axis.size


def test_half_a_cell_is_half_a_step():
    axis = Axis("x", 10, 20, "0.5")
    assert axis.value(2.5) == 11.25
    assert axis.value([0, 20]).tolist() == [10, 20]
    assert Axis("x", 2**60, 2**60 + 2**50, 2**40).value([0, 0.5]).tolist() == [2.0**60, 2.0**60 + 2.0**39]


def test_the_hint_for_a_step_that_does_not_divide_works():
    with pytest.raises(AxisError, match="Hint:") as caught:
        Axis("x", 0, "0.95", "0.1")
    (stop,) = [word.rstrip(",") for word in caught.value.hint.split() if word[0].isdigit()]
    assert Axis("x", 0, stop, "0.1").size == 10


@pytest.mark.parametrize(
    "wrong",
    [
        {"stop": 0},
        {"stop": -5},
        {"step": 0},
        {"step": -1},
        {"step": 3},
        {"stop": float("nan")},
        {"stop": float("inf")},
        {"start": "a"},
        {"start": None},
        {"start": True},
        {"step": "1/0"},
        {"stop": MOST_CELLS + 1},
        {"outside": "keep"},
        {"outside": ["clip"]},
        {"column": 7},
    ],
)
def test_axes_without_public_bounds_are_refused(wrong):
    with pytest.raises(AxisError, match="Hint:"):
        Axis(**{"column": "x", "start": 0, "stop": 10, **wrong})


@pytest.mark.parametrize("value", [-1, 10.1, "a", None, float("nan"), float("inf"), True, [3]])
def test_values_off_the_axis_are_refused(value):
    with pytest.raises(AxisError, match="Hint:"):
        Axis("x", 0, 10).border(value)


@pytest.mark.parametrize(
    "column", [["a"], [None, 1], [[1, 2]], [[1], [1, 2]], 5, [True], np.array(["2020"], "M8[Y]"), [2**70]]
)
def test_columns_that_hold_no_numbers_are_refused(column):
    with pytest.raises(AxisError, match="Hint:"):
        Axis("x", 0, 10).cells(column)


@given(axes())
def test_json_keeps_an_axis_exactly(axis):
    assert Axis.from_json(axis.to_json()) == axis
    with pytest.raises(AxisError, match="Hint:"):
        Axis.from_json({**axis.to_json(), "kind": "dates"})


def test_whole_means_one_integer_per_cell():
    assert Axis("x", 0, 10).whole
    assert not Axis("x", 0, 10, 2).whole
    assert not Axis("x", "0.5", "10.5").whole
