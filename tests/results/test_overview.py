"""All records at once: how many are in no range, and when that is worth a warning."""

import numpy as np
import pytest

import dawa
from dawa.results.overview import overview

GRADES = dawa.Axis.ordered("grade", ["A", "B", "C"])


def grades(right, wrong, missing=0, **options):
    table = {"grade": ["A", "B"] * (right // 2) + ["a"] * wrong + [None] * missing}
    return dawa.release(table, GRADES, **{"epsilon": 1, "seed": 0, **options})


@pytest.mark.parametrize(
    ("right", "wrong", "begins"),
    [(1000, 100, ""), (1000, 600, "Many records"), (1000, 2000, "Most records"), (20, 2000, "Nearly all records")],
)
def test_a_warning_says_how_many_and_what_to_check(right, wrong, begins):
    found = overview(grades(right, wrong))
    assert found.warning.startswith(begins)
    if begins:
        assert f"about {wrong / (right + wrong):.0%} of all" in found.warning
        assert "above all those with grade not listed. Check how the listed values are spelt." in found.warning
    else:
        assert found.warning == ""


@pytest.mark.long_but(3)
@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_warns_of_nothing(seed):
    """Few records, or many ways of having no cell: the sum of all that was cut off at 0 is not taken for records."""
    assert overview(grades(2, 0, seed=seed, epsilon=0.1)).warning == ""
    axes = [dawa.Axis(name, 0, 4, outside="own") for name in "abcd"]
    table = {name: np.arange(400) % 4 for name in "abcd"}
    found = overview(dawa.release(table, axes, epsilon=1, seed=seed, effort="fast"))
    assert len(found.ways) == 255
    assert sum(way.answer.value for way in found.ways) > 80, "noise that was cut off adds up"
    assert found.apart.value < 60
    assert found.warning == ""


@pytest.mark.parametrize(
    ("axis", "values", "label", "check"),
    [
        (
            dawa.Axis("x", 0, 9),
            [None] * 500,
            "x missing",
            "Check the column's format, and the delimiter of a text file.",
        ),
        (dawa.Axis("x", 0, 9), ["1,5"] * 500, "x missing", "Check the column's format"),
        (dawa.Axis("x", 0, 9, outside="own"), [9000] * 500, "x from 9 on", "Check the bounds and their unit."),
        (dawa.Axis("x", 0, 9, outside="own"), [-1] * 500, "x below 0", "Check the bounds and their unit."),
        (
            dawa.Axis.dates("x", "2013-01-01", "2014-01-01", outside="own"),
            ["2012-05-01"] * 500,
            "x before 2013-01-01",
            "Check the bounds",
        ),
    ],
)
def test_the_advice_follows_the_reason(axis, values, label, check):
    found = overview(dawa.release({"x": values}, axis, epsilon=1, seed=0))
    assert found.warning.startswith("Nearly all records")
    assert found.ways[0].label == label
    assert f"those with {label}. {check}" in found.warning


def test_several_reasons_are_all_to_be_checked():
    axes = dawa.Axis("x", 0, 9), GRADES
    found = overview(dawa.release({"x": [None] * 500, "grade": ["a"] * 500}, axes, epsilon=1, seed=0))
    assert found.ways[0].label == "x missing and grade not listed"
    assert found.warning.endswith(
        "Check the column's format, and the delimiter of a text file, and how the listed values are spelt."
    )


def test_the_most_frequent_come_first():
    found = overview(grades(1000, 50, 300))
    assert [way.label for way in found.ways] == ["grade missing", "grade not listed"]
    assert found.said().startswith("In no range: 3")
    assert "grade missing: 30" in found.said()
    assert found.share == pytest.approx(350 / 1350, abs=0.02)


@pytest.mark.long
def test_the_total_holds_the_truth_as_often_as_it_says():
    """Two hundred releases of the same table; 95% is a lower bound, so misses are rarer than one in twenty."""
    table = {"a": [1] * 200 + [None] * 37 + [50] * 13, "b": [1] * 240 + [None] * 10}
    axes = [dawa.Axis("a", 0, 4, outside="own"), dawa.Axis("b", 0, 4, outside="own")]
    missed = 0
    for seed in range(200):
        total = overview(dawa.release(table, axes, epsilon=1, seed=seed, mechanism="identity")).apart
        assert total.low <= total.value <= total.high
        missed += not total.low <= 50 <= total.high
    assert missed <= 18, "more than five standard deviations above ten would be needed"


def test_nothing_apart():
    axis = dawa.Axis("x", 0, 9, outside="drop", missing="drop")
    found = overview(dawa.release({"x": [1, 2, None, 12]}, axis, epsilon=1, seed=0))
    assert (found.apart, found.ways, found.share, found.warning, found.said()) == (None, (), 0.0, "", "")


def test_all_inside_is_the_answer_to_the_whole_range():
    for axis in (dawa.Axis("x", 0, "10/3", step="1/3"), dawa.Axis.edges("x", [0, 1, 9])):
        release = dawa.release({"x": [1, 2, 3]}, axis, epsilon=1, seed=0)
        assert overview(release, 0.9).inside == release.answer(axis.start, axis.stop, 0.9)
    release = grades(10, 3)
    assert overview(release).inside == release.answer("A", "C")


def test_a_release_says_how_many_counts_it_has():
    assert repr(grades(10, 3)).endswith("and 2 counts apart)")
    axis = dawa.Axis("x", 0, 9)
    assert repr(dawa.release({"x": [1]}, axis, epsilon=1, seed=0)).endswith("and 1 count apart)")
    silent = dawa.Axis("x", 0, 9, missing="drop")
    assert "apart" not in repr(dawa.release({"x": [1]}, silent, epsilon=1, seed=0))
