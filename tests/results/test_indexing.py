"""Histograms are indexed as UHI says: by its own published tests, and with the noise of what is merged."""

import numpy as np
import pytest
from uhi import tag
from uhi.testing import indexing

import dawa
from dawa.errors import OptionError
from dawa.results.indexing import Bin

AXIS = dawa.Axis("x", 0, 1, step="0.1", outside="own")
COUNTS = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]


@pytest.fixture(scope="module")
def rel():
    return dawa.release({"age": np.arange(4000) % 140}, dawa.Axis("age", 0, 120, outside="own"), epsilon=1, seed=1)


class TestByUhi(indexing.Indexing1D):
    """UHI's tests of one axis; of those that set a bin, each finds that it cannot."""

    @classmethod
    def make_histogram(cls):
        records = [f"0.{cell}5" for cell, count in enumerate(COUNTS) for _ in range(count)] + ["-1"] * 3 + ["2"]
        made = dawa.release({"x": records}, AXIS, epsilon=1000, seed=0, partition="none", mechanism="identity")
        return made.histogram()

    def bin_to_value(self, bin):  # noqa: A002  UHI calls it so
        return round(bin.value)

    sum_to_value = bin_to_value


def cannot_be_set(self):
    with pytest.raises(TypeError):
        self.h[0] = 1


for name in vars(indexing.Indexing1D):
    if name.startswith("test_setting"):
        setattr(TestByUhi, name, cannot_be_set)


def test_merged_bins_have_the_noise_of_their_range(rel):
    found = rel.histogram(120)
    two = found[20 : 100 : tag.rebin(40)]
    np.testing.assert_allclose(two.variances(), rel.variances([20, 60], [60, 100]), rtol=1e-9)
    np.testing.assert_allclose(two.values(), rel.values([20, 60], [60, 100]))
    assert found[20:60:sum] == pytest.approx(Bin(rel.values([20], [60])[0], rel.variances([20], [60])[0]))
    everything = found[::sum]
    apart = [way.answer.value for way in rel.apart()[:2]]
    assert everything.value == pytest.approx(rel.total.value + sum(apart))
    noise = rel.others.variances_alone[:2].sum()
    assert everything.variance == pytest.approx(rel.variances([0], [120])[0] + noise)


def test_bins_are_found_by_their_values(rel):
    found = rel.histogram([0, 18, 65, 120])
    assert [found.axes[0].index(age) for age in (-1, 0, 17.5, 18, 119, 120, 500)] == [-1, 0, 0, 1, 2, 3, 3]
    assert found[tag.loc(30)] == Bin(found.values()[1], found.variances()[1])
    assert list(found[tag.loc(18) :].axes[0]) == [(18, 65), (65, 120)]
    assert found[...] is found
    grades = dawa.Axis.ordered("g", ["A", "B", "C"]).binned(np.array([0, 2, 3]))
    assert [grades.index(name) for name in "ABC?"] == [0, 0, 1, 2]
    with pytest.raises(dawa.AxisError):
        found.axes[0].index("young")
    with pytest.raises(dawa.AxisError):
        found.axes[0].index(float("nan"))


@pytest.mark.parametrize("at", [slice(2, 2), slice(9, 4), slice(None, None, 3), slice(None, None, "x"), "a", 1.5, None])
def test_what_is_no_index_is_refused(rel, at):
    with pytest.raises(OptionError):
        rel.histogram(12)[at]


def test_bins_that_are_not_there(rel):
    clipped = dawa.release({"x": [1] * 99}, dawa.Axis("x", 0, 9), epsilon=1, seed=0).histogram(3)
    for at in (3, -4, tag.underflow, tag.overflow):
        with pytest.raises(IndexError):
            clipped[at]
    assert clipped[-1] == clipped[2]
    assert clipped != rel.histogram(3)
    assert clipped != 3


def test_bins_of_several_axes_are_asked_for():
    axes = [dawa.Axis("x", 0, 3), dawa.Axis("y", 0, 2)]
    made = dawa.release({"x": [1] * 9, "y": [1] * 9}, axes, epsilon=1, seed=0)
    with pytest.raises(OptionError, match="several axes"):
        made.histogram()[0, 0]
