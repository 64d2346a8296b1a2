"""A release in bins: the numbers are those of the release, and so is their noise."""

import pickle
from functools import cache

import matplotlib as mpl
import matplotlib.pyplot as plt
import mplhep
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uhi.typing.plottable import PlottableHistogram

import dawa
from dawa.errors import OptionError
from dawa.limits import MOST_BINS, MOST_BOXES_BINNED
from dawa.results.histogram import Histogram

mpl.use("Agg")
AGE = dawa.Axis("age", 20, 60, outside="own")
RECORDS = [5, 15, 22, 31, 31, 45, 45, 45, 58, 61, 70, None] * 40


@pytest.fixture(scope="module")
def rel():
    return dawa.release({"age": RECORDS}, AGE, epsilon=1, seed=3)


@pytest.fixture(scope="module")
def grid():
    table = {"x": np.arange(4000) % 30, "y": np.arange(4000) % 20}
    return dawa.release(table, [dawa.Axis("x", 0, 30), dawa.Axis("y", 0, 20)], epsilon=1, seed=1)


@pytest.fixture(scope="module")
def groups():
    table = {"age": np.arange(3000) % 70, "city": ["Rome", "Oslo", "Lima"] * 1000}
    return dawa.release(table, AGE, epsilon=1, seed=1, by="city", groups=["Rome", "Oslo"], other=False)


def everything(release):
    """All records that a release knows of."""
    apart = release.apart() if isinstance(release, dawa.Release) else []
    for one in release.values() if isinstance(release, dawa.GroupedRelease) else []:
        apart += one.apart()
    apart += release.apart() if isinstance(release, dawa.GroupedRelease) else []
    return release.total.value + sum(way.answer.value for way in apart)


def held(histogram):
    """All records that a histogram knows of."""
    apart = [word for name, word in histogram.metadata.items() if name.startswith("apart") and "variance" not in name]
    return histogram.values(flow=True).sum() + sum(apart)


# --- a release is a histogram ---------------------------------------------------------------------------------------


def test_a_release_is_a_histogram_of_its_buckets(rel):
    assert isinstance(rel, PlottableHistogram)
    assert rel.kind == "COUNT"
    assert len(rel.axes) == 1
    assert len(rel.axes[0]) == len(rel.values()) == len(rel.buckets)
    assert list(rel.axes[0]) == [(bucket.lo, bucket.hi) for bucket in rel.buckets]
    np.testing.assert_array_equal(rel.counts(), rel.values() ** 2 / rel.variances())
    assert rel.axes == (AGE,), "and its axes are what they were"


def test_a_map_is_a_histogram_of_its_cells(grid):
    assert isinstance(grid, PlottableHistogram)
    assert (
        grid.values().shape == grid.variances().shape == grid.counts().shape == tuple(map(len, grid.axes)) == (30, 20)
    )
    np.testing.assert_array_equal(grid.values(), grid.estimate.cells)
    x, y = (side.ravel() for side in np.indices((30, 20)))
    lo, hi = np.stack((x, y), 1), np.stack((x + 1, y + 1), 1)
    np.testing.assert_allclose(grid.variances().ravel(), grid.variances(lo, hi), rtol=1e-9)


@pytest.mark.parametrize("mechanism", ["ugrid", "privelet", "hybrid-tree", "identity", "dawa"])
def test_cells_of_any_buckets_have_the_variance_of_their_range(mechanism):
    table = {"x": np.arange(500) % 7, "y": np.arange(500) % 5}
    made = dawa.release(table, [dawa.Axis("x", 0, 7), dawa.Axis("y", 0, 5)], epsilon=1, seed=1, mechanism=mechanism)
    lo = np.stack([side.ravel() for side in np.indices((7, 5))], 1)
    np.testing.assert_allclose(made.variances().ravel(), made.variances(lo, lo + 1), rtol=1e-6)


def test_mplhep_plots_releases(rel, grid, groups):
    for shown in (rel, rel.histogram(), groups["Oslo"], [rel, rel.histogram()]):
        artists = mplhep.histplot(shown)
        np.testing.assert_array_equal(
            artists[0].stairs.get_data().edges, rel.bounds if shown is not groups["Oslo"] else groups["Oslo"].bounds
        )
        plt.close("all")
    drawn = mplhep.hist2dplot(grid)
    assert drawn.pcolormesh.get_array().sum() == pytest.approx(grid.total.value)
    plt.close("all")


def test_a_plot_of_mplhep_has_the_noise_of_the_release(rel):
    bars = mplhep.histplot(rel, histtype="errorbar", yerr=np.sqrt(rel.variances()))[0].errorbar
    spans = np.array([np.ptp(line[:, 1]) for line in bars.lines[2][-1].get_segments()])
    np.testing.assert_allclose(spans, 2 * np.sqrt(rel.variances()))
    plt.close("all")


def test_categories_are_plotted_by_name():
    made = dawa.release(
        {"g": ["A", "C", "C"] * 99}, dawa.Axis.ordered("g", ["A", "B", "C"]), epsilon=1, seed=0, partition="none"
    )
    mplhep.histplot(made)
    assert [label.get_text() for label in plt.gca().get_xticklabels()] == ["A", "B", "C"]
    plt.close("all")


# --- bins that are asked for ----------------------------------------------------------------------------------------


def test_bins_of_a_histogram_are_asked_from_the_release(rel):
    found = rel.histogram([20, 30, 45, 60])
    assert isinstance(found, PlottableHistogram)
    assert list(found.axes[0]) == [(20, 30), (30, 45), (45, 60)]
    lo, hi = [20, 30, 45], [30, 45, 60]
    np.testing.assert_allclose(found.values(), rel.values(lo, hi), atol=1e-9)
    np.testing.assert_allclose(found.variances(), rel.variances(lo, hi), rtol=1e-9)


def test_variances_of_narrow_bins_do_not_add_up():
    """Least squares correlates the noise of buckets, and bins inside one bucket have one noise between them."""
    made = dawa.release({"age": np.arange(4000) % 120}, dawa.Axis("age", 0, 120), epsilon=1, seed=1, partition="none")
    all_of_it = made.histogram([0, 120]).variances()[0]
    assert all_of_it == pytest.approx(made.variances([0], [120])[0])
    assert made.variances().sum() > 1.3 * all_of_it
    one = dawa.release({"age": np.arange(4000) % 120}, dawa.Axis("age", 0, 120), epsilon=1, seed=1, partition="one")
    assert one.histogram(120).variances().sum() == pytest.approx(one.variances()[0] / 120)


@cache
def made_of(outside, missing, seed=0):
    """A release of the same records, which is made once."""
    axis = dawa.Axis("age", 20, 60, outside=outside, missing=missing)
    return dawa.release({"age": RECORDS}, axis, epsilon=1, seed=seed)


@given(st.sets(st.integers(20, 60), min_size=2, max_size=9), st.integers(0, 2))
def test_any_bins_have_the_numbers_and_the_noise_of_their_ranges(borders, seed):
    made = made_of("own", "own", seed)
    chosen = sorted(borders)
    found = made.histogram(chosen)
    np.testing.assert_allclose(found.values(), made.values(chosen[:-1], chosen[1:]), atol=1e-9)
    np.testing.assert_allclose(found.variances(), made.variances(chosen[:-1], chosen[1:]), rtol=1e-9)
    assert held(found) == pytest.approx(everything(made))


@given(st.sampled_from(["clip", "drop", "own"]), st.sampled_from(["drop", "own"]), st.integers(1, 50))
def test_histograms_hold_all_records_that_are_known(outside, missing, bins):
    made = made_of(outside, missing)
    for found in (made.histogram(), made.histogram(bins)):
        assert held(found) == pytest.approx(everything(made))
        assert found.values().sum() == pytest.approx(made.total.value)
        assert found.values(flow=True).shape == found.variances(flow=True).shape
        assert len(found.values(flow=True)) - len(found.values()) == 2 * (outside == "own")
    assert len(made.histogram(bins).values()) == min(bins, 40)


def test_what_lies_beyond_the_bins_lies_below_and_above(rel):
    found = rel.histogram([30, 45])
    below, above = (way.answer.value for way in rel.apart()[:2])
    expected = [below + rel.values([20], [30])[0], rel.values([30], [45])[0], above + rel.values([45], [60])[0]]
    assert found.values(flow=True) == pytest.approx(expected)
    noise = rel.others.variances_alone
    assert found.variances(flow=True)[0] == pytest.approx(noise[0] + rel.variances([20], [30])[0])
    clipped = dawa.release({"age": RECORDS}, dawa.Axis("age", 20, 60), epsilon=1, seed=3)
    assert clipped.histogram([30, 60]).axes[0].traits.underflow
    assert not clipped.histogram([30, 60]).axes[0].traits.overflow


def test_values_that_are_not_listed_lie_above():
    made = dawa.release({"g": ["A", "C", "?", None] * 99}, dawa.Axis.ordered("g", ["A", "B", "C"]), epsilon=1, seed=0)
    found = made.histogram(["A", "C"])
    assert list(found.axes[0]) == ["A to B", "C"]
    unlisted, missing = (way.answer.value for way in made.apart())
    assert found.values(flow=True)[-1] == unlisted
    assert found.metadata["apart: g missing"] == missing
    assert found.to_numpy(flow=True)[1].tolist() == ["A to B", "C", None]


def test_on_several_axes_records_without_a_cell_have_no_bin():
    axes = [dawa.Axis("x", 0, 5, outside="own"), dawa.Axis("y", 0, 4)]
    made = dawa.release({"x": [-1, 2, 7, 4] * 50, "y": [1, 2, 3, None] * 50}, axes, epsilon=1, seed=0)
    found = made.histogram([2, [0, 2, 4]])
    assert found.values().shape == found.values(flow=True).shape == (2, 2)
    assert held(found) == pytest.approx(everything(made))
    lo, hi = [(0, 0), (0, 2), (2, 0), (2, 2)], [(2, 2), (2, 4), (5, 2), (5, 4)]
    np.testing.assert_allclose(found.values().ravel(), made.values(lo, hi), atol=1e-9)
    np.testing.assert_allclose(found.variances().ravel(), made.variances(lo, hi), rtol=1e-9)


def test_edges_are_those_of_numpy(rel):
    values, edges = rel.histogram([20, 40, 60]).to_numpy()
    assert edges.tolist() == [20, 40, 60]
    values, edges = rel.histogram([20, 40, 60]).to_numpy(flow=True)
    assert edges.tolist() == [-np.inf, 20, 40, 60, np.inf]
    assert len(values) == 4


@pytest.mark.parametrize(
    ("bins", "wrong"),
    [
        (0, "are no bins"),
        ("abc", "are no bins"),
        (2.5, "are no bins"),
        ([20], "do not increase"),
        ([40, 30], "do not increase"),
        ([20, 20, 60], "do not increase"),
        ([20, 30.5], "inside a cell"),
        ([20, 61], "border that is none"),
        (["a", "b"], "border that is none"),
        ([20, None], "border that is none"),
        ([20, [30], 60], "border that is none"),
    ],
)
def test_what_are_no_bins_is_refused(rel, bins, wrong):
    with pytest.raises(OptionError, match=wrong) as caught:
        rel.histogram(bins)
    assert caught.value.hint


def test_bins_of_several_axes_are_named_for_each(grid):
    with pytest.raises(OptionError, match="on each of x, y"):
        grid.histogram([[0, 30]])
    with pytest.raises(OptionError, match="on each of x, y"):
        grid.histogram(0)
    assert grid.histogram(3).values().shape == (3, 3)
    assert grid.histogram([None, 4]).values().shape == (30, 4)


def test_bins_of_categories_begin_with_the_first():
    made = dawa.release({"g": ["A"] * 99}, dawa.Axis.ordered("g", ["A", "B", "C"]), epsilon=1, seed=0)
    for wrong in (["B", "C"], ["A", "A"], []):
        with pytest.raises(OptionError, match="do not increase") as caught:
            made.histogram(wrong)
        assert "all categories" in caught.value.hint
    assert list(made.histogram(["A"]).axes[0]) == ["A to C"]
    assert list(made.histogram(3).axes[0]) == ["A", "B", "C"]


# --- groups ---------------------------------------------------------------------------------------------------------


def test_groups_are_an_axis_of_categories(groups):
    found = groups.histogram([20, 40, 60])
    assert list(found.axes[0]) == ["Rome", "Oslo"]
    assert found.values().shape == (2, 2)
    for at, city in enumerate(groups):
        np.testing.assert_array_equal(found.values()[at], groups[city].histogram([20, 40, 60]).values())
        np.testing.assert_array_equal(found.with_flow[at], groups[city].histogram([20, 40, 60]).values(flow=True))
    assert held(found) == pytest.approx(everything(groups))
    assert found.metadata["apart: city not listed"] == groups.apart()[0].answer.value


def test_bins_of_groups_are_the_buckets_of_all(groups):
    found = groups.histogram()
    assert found.axes[1].bins.tolist() == sorted({b for one in groups.values() for b in one.estimate.buckets.bounds})
    for values, one in zip(found.values(), groups.values(), strict=True):
        within = np.searchsorted(one.estimate.buckets.bounds, found.axes[1].bins[:-1], side="right") - 1
        np.testing.assert_allclose(np.bincount(within, values), one.values(), atol=1e-9)


def test_groups_of_numbers_and_others_are_text():
    made = dawa.release(
        {"age": [30, 40] * 99, "n": [1, 3] * 99}, AGE, epsilon=1, seed=0, by="n", groups=[1, 2], other=True
    )
    assert list(made.histogram().axes[0]) == ["1", "2", "other"]


def test_a_release_of_groups_is_a_mapping_and_no_histogram(groups):
    assert not isinstance(groups, PlottableHistogram)
    assert isinstance(groups.histogram(), PlottableHistogram)


# --- sizes ----------------------------------------------------------------------------------------------------------


def test_one_cell_and_no_records():
    made = dawa.release({"x": []}, dawa.Axis("x", 0, 1), epsilon=1, seed=0)
    assert made.values().shape == made.histogram().values().shape == (1,)
    assert repr(made.histogram()).startswith("Histogram(1 bin of 'x', ")
    assert dawa.release({"x": []}, dawa.Axis("x", 0, 9), epsilon=1, seed=2).counts().min() >= 0


def test_huge_axes_have_bins_that_floats_tell_apart():
    records = [2**61 + at for at in range(3)] * 3000 + [5, 2**60] * 2000
    made = dawa.release({"x": records}, dawa.Axis("x", 0, 2**62), epsilon=10, seed=0)
    found = made.histogram()
    edges = found.to_numpy()[1]
    assert (np.diff(edges) > 0).all()
    assert (edges[0], edges[-1]) == (0, 2.0**62)
    assert found.values().sum() == pytest.approx(made.total.value)
    assert len(made.axes[0]) == len(made.values()) == len(made.buckets) > len(found.values())
    alike = dawa.release({"x": [2**60]}, dawa.Axis("x", 2**60, 2**60 + 10), epsilon=1, seed=0)
    with pytest.raises(OptionError, match="Floats do not tell"):
        alike.histogram()
    assert alike.to_arrow()["lo"].to_pylist()[0] == 2**60


@pytest.mark.long
def test_maps_with_many_cells_have_wider_bins():
    axes = [dawa.Axis("x", 0, 2**20), dawa.Axis("y", 0, 3), dawa.Axis("z", 0, 2**12)]
    made = dawa.release({"x": [5] * 99, "y": [1] * 99, "z": [7] * 99}, axes, epsilon=1, seed=0)
    shape = made.values().shape
    assert shape == tuple(map(len, made.axes)) == (74, 3, 73)
    assert np.prod(shape) <= MOST_BOXES_BINNED
    assert made.values().sum() == pytest.approx(made.total.value)
    assert (made.variances() > 0).all()
    with pytest.raises(ValueError, match="read-only"):  # they are kept, and asked for again
        made.values()[0] = 0
    with pytest.raises(OptionError, match=r"2,097,152 bins, more than 1,048,576"):
        made.histogram([512, 2, 2048])
    assert made.histogram([2, None, 1]).values().shape == (2, 3, 1)


def test_four_axes():
    axes = [dawa.Axis(name, 0, 4) for name in "abcd"]
    made = dawa.release({name: [1, 2, 3] * 50 for name in "abcd"}, axes, epsilon=1, seed=0)
    assert made.values().shape == (4, 4, 4, 4)
    merged = made.histogram([2, 1, 4, [0, 3, 4]])
    assert merged.values().shape == (2, 1, 4, 2)
    assert merged.values().sum() == pytest.approx(made.total.value)


def test_a_thousand_categories():
    names = [f"category {at}" for at in range(1000)]
    made = dawa.release({"g": names[:50] * 20}, dawa.Axis.ordered("g", names), epsilon=1, seed=0, partition="none")
    assert list(made.axes[0]) == names
    assert made.histogram().values().sum() == pytest.approx(made.total.value)


def test_groups_with_many_buckets_have_bins_of_equal_width(monkeypatch):
    monkeypatch.setattr("dawa.results.histogram.MOST_BINS", 20)
    table = {"x": np.arange(3000) % 50, "s": ["a", "b"] * 1500}
    made = dawa.release(table, dawa.Axis("x", 0, 50), epsilon=9, seed=0, by="s", groups=["a", "b"], partition="none")
    assert made.histogram().values().shape == (2, 10)


@pytest.mark.long
def test_a_million_buckets_and_cells():
    line = dawa.release(
        {"x": np.arange(10**6)}, dawa.Axis("x", 0, 2**20), epsilon=1, seed=0, partition="none", effort="fast"
    )
    assert len(line.axes[0]) == len(line.histogram().values()) == 2**20 == MOST_BINS
    table = {"x": np.arange(10**5) % 1024, "y": np.arange(10**5) % 1000}
    grid = dawa.release(table, [dawa.Axis("x", 0, 1024), dawa.Axis("y", 0, 1024)], epsilon=1, seed=0)
    assert grid.values().shape == grid.variances().shape == (1024, 1024)
    wide = grid.histogram([[0, 512, 1024], 1])
    assert wide.values().sum() == pytest.approx(grid.total.value)
    assert wide.variances()[0, 0] == pytest.approx(grid.variances([(0, 0)], [(512, 1024)])[0])


def test_histograms_go_to_other_processes(rel, groups):
    for one in (rel.histogram([20, 40, 60]), groups.histogram()):
        again = pickle.loads(pickle.dumps(one))  # noqa: S301  our own
        assert again == one
    assert pickle.loads(pickle.dumps(rel.histogram()))[0:1] == rel.histogram()[0:1]  # noqa: S301


def test_histograms_are_exported():
    assert dawa.results.histogram.Histogram is Histogram
