"""Axes put every value where its digits say, in exact arithmetic, and answer at the same borders."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.axis import Axis, NumberAxis
from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_CELLS_ON_AXIS
from helpers.axes import edged, numbered
from helpers.binning import cell, found
from helpers.examples import examples

labels = st.lists(st.text(), min_size=1, max_size=20, unique=True) | st.lists(
    st.integers(-(2**40), 2**40), min_size=1, max_size=20, unique=True
)
ordered = labels.map(lambda values: Axis.ordered("x", values))


# --- what all kinds share -------------------------------------------------------------------------------------------


@given(numbered() | edged() | ordered)
def test_axes_survive_json_pickling_and_copying(axis):
    assert isinstance(axis, Axis)
    for twin in (Axis.from_json(axis.to_json()), pickle.loads(pickle.dumps(axis)), copy.deepcopy(axis)):  # noqa: S301  ours
        assert twin == axis
        assert hash(twin) == hash(axis)
        assert type(twin) is type(axis)


def test_kinds_from_the_future_are_refused():
    with pytest.raises(AxisError, match="Hint: update dawa"):
        Axis.from_json({**Axis("x", 0, 1).to_json(), "kind": "polygons"})


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Axis("income"), "two people"),
        (lambda: Axis("income", 0), "two people"),
        (lambda: Axis.edges("income"), "two people"),
        (lambda: Axis.dates("when"), "two people"),
        (lambda: Axis.dates("when", "2013-01-01"), "two people"),
        (lambda: Axis.ordered("grade"), "belongs to few people"),
    ],
)
def test_bounds_are_required_and_the_error_says_why_and_how(make, why):
    with pytest.raises(AxisError, match=why) as caught:
        make()
    assert "such as dawa.Axis" in caught.value.hint


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        (Axis("x", 0, 1, "0.25"), ["'x'", "numbers from 0 up to 1 in steps of 0.25", "first or the last cell"]),
        (Axis("x", 0, 1, outside="drop"), ["outside are left out; missing values, and", "are counted apart"]),
        (Axis.edges("x", [0, "1/3", 1]), ["between given edges (0, 1/3, 1)"]),
        (Axis.ordered("x", ["A", "B"]), ["2 categories in order (A, B)", "not listed are counted apart; missing"]),
        (Axis.ordered("x", list(range(50))), ["50 categories in order (0, …, 49)"]),
    ],
)  # fmt: skip
def test_an_axis_describes_itself(axis, words):
    assert all(word in axis.describe() for word in words)


# --- numbers --------------------------------------------------------------------------------------------------------


@examples(100)
@given(numbered(), st.fractions(0, 1))
def test_borders_are_exact(axis, part):
    value = axis.start + part * (axis.stop - axis.start)
    assert axis.border(value) == part * axis.size
    assert axis.border(str(axis.start)) == 0
    assert axis.border(axis.stop) == axis.size


@given(numbered(), st.fractions(-200, 200, max_denominator=50))
def test_the_twin_agrees_with_the_borders(axis, value):
    """What the engines are compared with is itself what ``border`` says."""
    inside = axis.start <= value < axis.stop
    assert cell(axis, value) == (math.floor(axis.border(value)) if inside else cell(axis, value))
    assert (cell(axis, value) is None) == (axis.outside == "drop" and not inside)


@examples(25)
@given(st.lists(st.integers(0, 99_999), min_size=1, max_size=20), st.sampled_from(["0.1", "0.01", "0.025", "0.3", "7"]))
def test_a_number_is_counted_where_it_would_be_asked_for(digits, step):
    """``border`` reads 0.3 as three tenths; so do the engines."""
    axis = Axis("x", 0, 100 * Fraction(step) * 9000, step)
    values = [number / 100 for number in digits]
    assert sorted(found({"x": values}, axis)) == sorted({math.floor(axis.border(value)) for value in values})


def test_half_a_cell_is_half_a_step():
    axis = Axis("x", 10, 20, "0.5")
    assert axis.value(2.5) == 11.25
    assert axis.value([0, 20]).tolist() == [10, 20]
    assert Axis("x", 2**60, 2**60 + 2**50, 2**40).value([0, 0.5]).tolist() == [2.0**60, 2.0**60 + 2.0**39]
    assert Axis("x", Fraction(1, 3), Fraction(1, 3) + 2**60, 2**50).value(1) == float(Fraction(1, 3) + 2**50)


def test_a_large_domain_costs_nothing():
    axis = Axis("x", 0, MOST_CELLS_ON_AXIS)
    assert axis.size == 2**62
    assert axis.value([2**62 - 1, 2**62]).tolist() == [2**62 - 1, 2**62]
    assert axis.value([0, 0.5]).tolist() == [0.0, 0.5]
    assert found({"x": [2**62 - 1, 5, 5]}, axis) == {2**62 - 1: 1, 5: 2}


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
        {"stop": MOST_CELLS_ON_AXIS + 1},
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
    for axis in (Axis("x", 0, 10), Axis.edges("x", [0, 3, 10])):
        with pytest.raises(AxisError, match="Hint:"):
            axis.border(value)


def test_whole_means_one_integer_per_cell():
    assert Axis("x", 0, 10).whole
    assert not Axis("x", 0, 10, 2).whole
    assert not Axis("x", "0.5", "10.5").whole
    assert not Axis.edges("x", [0, 1, 2]).whole
    assert isinstance(Axis("x", 0, 10), NumberAxis)


def test_a_span_is_half_open_and_not_empty():
    assert Axis("x", 0, 10).span(2, "4.5") == (2, Fraction(9, 2))
    for ends in ((3, 3), (4, 3)):
        with pytest.raises(OptionError, match="is empty"):
            Axis("x", 0, 10).span(*ends)


# --- edges ----------------------------------------------------------------------------------------------------------


@given(edged(), st.data())
def test_edges_are_borders(axis, data):
    i = data.draw(st.integers(0, axis.size))
    assert axis.border(axis.cuts[i]) == i
    assert axis.value(i) == float(axis.cuts[i])
    if i < axis.size:
        middle = (axis.cuts[i] + axis.cuts[i + 1]) / 2
        assert axis.border(middle) == i + Fraction(1, 2)
        assert axis.value(i + 0.5) == pytest.approx(float(middle), abs=1e-12)


@pytest.mark.parametrize("wrong", [[], [1], [1, 1], [2, 1], ["a", "b"], 5, "12", [0, float("nan")], range(5000)])
def test_edges_that_are_none_are_refused(wrong):
    with pytest.raises(AxisError, match="Hint:"):
        Axis.edges("x", wrong)


# --- ordered categories ---------------------------------------------------------------------------------------------


@given(ordered)
def test_categories_are_cells(axis):
    assert axis.whole
    for i, label in enumerate(axis.labels):
        assert axis.border(label) == i
        assert axis.value(i)[()] == label
        assert axis.value(i + 0.7)[()] == label
        assert axis.span(label, label) == (i, i + 1)
    assert axis.span(axis.start, axis.stop) == (0, axis.size)
    assert axis.value(axis.size)[()] == axis.stop
    assert axis.value([0, axis.size]).tolist() == [axis.start, axis.stop]


def test_both_ends_of_a_range_of_categories_are_included():
    grade = Axis.ordered("grade", ["A", "B", "C"])
    assert grade.span("A", "B") == (0, 2)
    with pytest.raises(OptionError, match="is empty"):
        grade.span("B", "A")
    for value in ("D", "a", 0, None, 1.5):
        with pytest.raises(AxisError, match="ask for one of A, B, C"):
            grade.border(value)


def test_numbers_and_truths_can_be_written_as_text():
    """As they come from a command line."""
    assert Axis.ordered("x", [10, 20]).border("20") == 1
    assert Axis.ordered("x", [False, True]).border("True") == 1
    assert Axis.ordered("x", [10, 20]).border(np.int32(20)) == 1
    with pytest.raises(AxisError, match="is not a value"):
        Axis.ordered("x", [0, 1]).border(True)  # noqa: FBT003  the value


@pytest.mark.parametrize(
    "wrong",
    [[], "ABC", ["A", "A"], ["A", 1], [1, True], [1.5], [None], 5, [["A"]], list(range(1001))],
)
def test_categories_that_are_none_are_refused(wrong):
    with pytest.raises(AxisError, match="Hint:"):
        Axis.ordered("x", wrong)


def test_there_is_nothing_to_clip_categories_to():
    with pytest.raises(AxisError, match="no ends to clip to"):
        Axis.ordered("x", ["A"], outside="clip")


def test_the_float_nearest_to_a_third_stands_for_the_third():
    axis = Axis("x", -1, 2, step="1/3")
    for border, value in enumerate(axis.value(np.arange(axis.size + 1)).tolist()):
        assert axis.border(value) == axis.border(str(value)) == border
    assert axis.border(0.333) == Fraction("0.333") * 3 + 3
    assert Axis("x", 0, 1, step="0.1").border(0.30000000000000004) != 3, "there, borders are written as they are"
