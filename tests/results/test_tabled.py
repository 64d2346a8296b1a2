"""A release as tables in Python, and answers that know their ranges."""

import sys
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dawa
from dawa.errors import OptionError
from dawa.results import tabled

AGE = dawa.Axis("age", 0, 120)
AXES = {
    "whole": (AGE, "int64"),
    "halves": (dawa.Axis("age", 0, 120, step="0.5"), "float64"),
    "hundreds": (dawa.Axis("age", -100, 200, step=100), "int64"),
    "edges": (dawa.Axis.edges("age", [0, 18, 65, 120]), "int64"),
    "uneven edges": (dawa.Axis.edges("age", [0, 18.5, 120]), "float64"),
    "huge": (dawa.Axis("age", 0, 10**17, step=10**16), "int64"),
    "numbers in order": (dawa.Axis.ordered("age", [30, 10, 20]), "int64"),
    "flags": (dawa.Axis.ordered("age", [False, True]), "bool"),
    "categories": (dawa.Axis.ordered("age", ["10", "20", "30"]), "str"),
    "days": (dawa.Axis.dates("age", "2013-01-01", "2014-01-01"), "datetime64[us]"),
    "a zone": (
        dawa.Axis.dates("age", "2013-01-01", "2014-01-01", zone="Europe/Berlin"),
        "datetime64[us, Europe/Berlin]",
    ),
}


@pytest.fixture(scope="module")
def rel():
    return dawa.release({"age": np.arange(4000) % 100}, AGE, epsilon=1, seed=1)


@pytest.fixture(scope="module")
def grid():
    table = {"age": np.arange(4000) % 10, "sex": ["f", "m"] * 2000}
    return dawa.release(table, [dawa.Axis("age", 0, 10), dawa.Axis.ordered("sex", ["f", "m"])], epsilon=1, seed=1)


# --- answers that keep their ranges ----------------------------------------------------------------------------------


def test_an_answer_keeps_its_range_as_it_was_asked(rel, grid):
    assert (rel.answer(18, 65).lo, rel.answer(18, 65).hi) == (18, 65)
    assert (rel.answer("18", "65").lo, rel.answer([18], [65]).hi) == ("18", 65)
    assert [(found.lo, found.hi) for found in rel.answers(np.array([0.0, 1.5]), [2, "3"])] == [(0.0, 2), (1.5, "3")]
    assert all(type(found.lo) is float for found in rel.answers(np.array([0.0, 1.5]), [2, 3]))
    assert grid.answer((0, "f"), (5, "m")).lo == (0, "f")
    assert grid.answers(np.array([[0, "f"]], object), [[5, "m"]])[0].hi == (5, "m")
    assert hash(grid.answer([0, "f"], [5, "m"])) == hash(grid.answer((0, "f"), (5, "m")))
    assert all(way.answer.lo is None is way.answer.hi for way in rel.apart())


def test_the_range_comes_last_and_is_not_listed(rel):
    found = rel.answer(18, 65)
    assert [field.name for field in fields(found)][-2:] == ["lo", "hi"]
    assert list(found.row()) == [
        "value",
        "noise_margin",
        "bias_bound",
        "measured",
        "low",
        "high",
        "confidence",
        "remark",
    ]
    frame = pd.DataFrame(rel.answers([0, 10], [10, 20]))
    assert frame["lo"].tolist() == [0, 10]
    assert frame["value"].tolist() == rel.values([0, 10], [10, 20]).tolist()


def test_the_total_is_that_of_all_axes(rel, grid):
    assert rel.total == rel.answer(0, 120)
    assert rel.total.confidence == 0.95
    assert grid.total == grid.answer((0, "f"), (10, "m"))
    thirds = dawa.release({"x": [1]}, dawa.Axis("x", "1/3", 2, step="1/3"), epsilon=1, seed=0)
    assert (thirds.total.lo, thirds.total.hi) == (Fraction(1, 3), 2)
    assert dawa.release({"x": [1]}, dawa.Axis("x", "0.1", 2, step="0.1"), epsilon=1, seed=0).total.lo == 0.1


# --- buckets --------------------------------------------------------------------------------------------------------


def test_buckets_are_those_of_the_release(rel):
    table = rel.buckets
    assert len(table) == len(rel.values())
    assert [bucket.value for bucket in table] == rel.values().tolist()
    assert [bucket.standard_deviation**2 for bucket in table] == pytest.approx(rel.variances().tolist())
    assert [bucket.lo for bucket in table] == rel.bounds[:-1].tolist()
    assert [bucket.hi for bucket in table] == rel.bounds[1:].tolist()
    assert sum(bucket.cells for bucket in table) == 120
    assert table[-1] == list(table)[-1]
    assert list(table[1:3]) == list(table)[1:3]
    assert type(table[0].cells) is int


def test_buckets_cannot_be_changed(rel):
    with pytest.raises(FrozenInstanceError):
        rel.buckets.value = None
    with pytest.raises(ValueError, match="read-only"):
        rel.buckets.value[0] = 0
    with pytest.raises(FrozenInstanceError):
        rel.buckets[0].value = 0


def test_buckets_show_themselves():
    few = dawa.release({"age": [3] * 900}, AGE, epsilon=1, seed=0, partition=[0, 60, 120])
    lines = repr(few.buckets).splitlines()
    assert lines[0] == "2 buckets"
    assert lines[1].split() == ["lo", "hi", "cells", "value", "standard_deviation"]
    assert lines[3].split()[:3] == ["60", "120", "60"]
    many = dawa.release({"age": [3] * 900}, AGE, epsilon=1, seed=0, partition="none").buckets
    assert len(repr(many).splitlines()) == 2 + tabled.SHOWN + 1
    assert repr(many).splitlines()[-1].split()[0] == "119"
    assert "1 bucket\n" in repr(dawa.release({"age": [3]}, AGE, epsilon=1, seed=0, partition="one").buckets)


def test_buckets_are_along_one_axis(grid):
    with pytest.raises(OptionError, match="has 2 axes") as caught:
        grid.buckets  # noqa: B018  looking is enough
    assert "to_pandas" in caught.value.hint


# --- frames ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", AXES)
def test_a_frame_has_a_row_for_each_bucket(kind):
    axis, dtype = AXES[kind]
    release = dawa.release({"age": ["10"] * 50}, axis, epsilon=1, seed=0, partition="none")
    frame = release.to_pandas()
    assert list(frame) == ["lo", "hi", "cells", "value", "standard_deviation"]
    assert frame["value"].tolist() == release.values().tolist()
    assert {str(frame["lo"].dtype), str(frame["hi"].dtype)} == {dtype}
    pd.testing.assert_frame_equal(frame, pd.DataFrame(release.buckets), check_dtype=False)
    found = release.answers(frame["lo"].tolist(), frame["hi"].tolist())
    assert [answer.value for answer in found] == pytest.approx(frame["value"].tolist()), "the ends are those of ranges"


def test_a_frame_has_a_row_for_each_cell(grid):
    frame = grid.to_pandas()
    assert list(frame) == ["age_lo", "age_hi", "sex_lo", "sex_hi", "value"]
    assert frame["value"].tolist() == grid.estimate.cells.ravel().tolist()
    assert frame.iloc[3].tolist()[:4] == [1, 2, "m", "m"]
    for _, row in frame.iterrows():
        assert grid.answer((row.age_lo, row.sex_lo), (row.age_hi, row.sex_hi)).value == pytest.approx(row["value"])


def test_too_many_cells_are_refused(grid, monkeypatch):
    monkeypatch.setattr(tabled, "MOST_ROWS_WRITTEN", 20)
    assert len(grid.to_pandas()) == 20
    monkeypatch.setattr(tabled, "MOST_ROWS_WRITTEN", 19)
    with pytest.raises(OptionError, match="20 cells, more than the 19") as caught:
        grid.to_pandas()
    assert "rel.answers" in caught.value.hint


def test_without_pandas_it_says_so(rel, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(OptionError, match="pandas is not installed") as caught:
        rel.to_pandas()
    assert "pip install pandas" in caught.value.hint
