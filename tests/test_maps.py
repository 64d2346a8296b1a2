"""Counts over two to four axes, from counts to answers: every mechanism, any shape, and domains too large to list."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import measure, mechanisms, workloads
from dawa.counts import Counts
from dawa.errors import AxisError, CountsError, DawaError, OptionError, WorkloadError
from dawa.noise.randomness import Seeded
from dawa.partition.buckets import Buckets
from dawa.queries.workload import Workload
from dawa.strategy import choose
from dawa.strategy.base import RESOLUTION
from dawa.strategy.bumps import BumpStrategy, Patches
from helpers.dense import random_bounds
from helpers.examples import examples
from helpers.grids import covered, random_corners, random_map, random_shape

SHAPES = [(16, 16), (7, 11), (1, 9), (1, 1), (5, 6, 7), (3, 4, 5, 3)]
HUGE = (2**20, 2**20)
ON_HUGE = {"dawa", "partition-laplace", "partition-uniform", "partition-geometric", "privtree", "uniform"}
"""Mechanisms that never list the cells."""


def queries(rng, shape, m=12):
    return Workload.rectangles(*random_corners(rng, shape, m), shape)


# --- every mechanism ------------------------------------------------------------------------------------------------


@pytest.mark.long_but(44)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", mechanisms.names())
def test_answers_are_what_the_cells_add_up_to(name, shape):
    """Along the fast path and cell by cell, for whole and for cut cells, and for every cell on its own."""
    rng = np.random.default_rng(1)
    est = dawa.estimate(random_map(rng, shape), queries(rng, shape), epsilon=1, mechanism=name, seed=1)
    assert est.cells.shape == est.shape == shape
    assert est.epsilon == sum(est.split.values()) == 1
    lo, hi = random_corners(rng, shape, 20)
    workload = Workload.rectangles(lo, hi, shape)
    expected = [(covered(a, b, shape) * est.cells).sum() for a, b in zip(lo, hi, strict=True)]
    close = {"rtol": 1e-9, "atol": 1e-7}
    np.testing.assert_allclose(workload.answers(est.cells), expected, **close)
    np.testing.assert_allclose(est.answers(workload), expected, **close)
    np.testing.assert_allclose(est.answers(workloads.identity(shape)).reshape(shape), est.cells, **close)
    assert est.cells.sum() == pytest.approx(est.totals.sum(), abs=1e-6)


@pytest.mark.parametrize("name", mechanisms.names())
def test_with_next_to_no_noise_the_map_comes_back(name):
    """In all, and cell by cell where the mechanism looks at single cells."""
    cells = random_map(np.random.default_rng(2), (8, 8))
    workload = workloads.random_rectangles((8, 8), 50)
    est = dawa.estimate(cells, workload, epsilon=10**4, mechanism=name, seed=3)
    assert est.cells.sum() == pytest.approx(cells.sum(), rel=0.02)
    if name in {"greedy-h", "identity", "privelet", "hierarchical", "hb", "quadtree", "hybrid-tree", "efpa"}:
        np.testing.assert_allclose(est.cells, cells, atol=0.5)


@pytest.mark.parametrize("name", mechanisms.names(with_error_bars=True))
def test_variances_on_maps_are_those_of_their_queries(name):
    """Each query's variance, their sum, and those of single buckets: three ways to the same numbers."""
    rng = np.random.default_rng(3)
    shape = (9, 14)
    workload = queries(rng, shape, 30)
    est = dawa.estimate(random_map(rng, shape), workload, epsilon=1, mechanism=name, seed=4)
    found = est.variances(workload)
    assert (found > 0).all()
    assert est.noise_rmse(workload) == pytest.approx(np.sqrt(found.mean()), rel=1e-7)
    rows = est.buckets.queries(workload).dense()
    k = len(est.buckets)
    alone = est.range_variances(np.arange(k) * 1.0, np.arange(k) + 1.0)
    assert (found <= (rows @ np.sqrt(alone)) ** 2 * (1 + 1e-9)).all(), "no more than if all noise went together"


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", ["bumps", "greedy", "hats"])
def test_noise_on_a_map_has_the_variance_that_is_told(name):
    """2,000 draws; a sum of Laplace variables has a kurtosis of at most 6, which bounds the sample variance."""
    shape, draws, epsilon = (12, 12), 2000, Fraction(1)
    rng = np.random.default_rng(4)
    counts = Counts.of(random_map(rng, shape))
    buckets = Buckets(np.arange(145))
    asked = buckets.queries(queries(rng, shape, 40))
    patches = Patches(shape, buckets.order(shape), buckets.bounds)
    strategy = choose.choose(asked, buckets.allowance(epsilon, RESOLUTION), name, patches=patches)
    rows = asked.dense()
    exact = rows @ buckets.totals(counts.exposed, shape)
    wrong, source = np.empty((draws, len(asked))), Seeded(7)
    for i in range(draws):
        measured = measure.measure(counts, buckets, strategy, epsilon, source)
        wrong[i] = rows @ strategy.solve(measured.answers.astype(np.float64)) - exact
    told = measured.unit_variance * strategy.variances(asked)
    assert (np.abs(wrong.mean(axis=0)) < 5 * np.sqrt(told / draws)).all()
    assert (np.abs((wrong**2).mean(axis=0) / told - 1) < 5 * np.sqrt(5 / draws)).all()


def test_no_record_loses_more_than_epsilon_on_a_map():
    """Partition and measuring together, in exact arithmetic, with blocks that were spared."""
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 300, (64, 64)) * (rng.random((64, 64)) < 0.5)
    cells[:32] = 5
    est = dawa.estimate(cells, epsilon=2, seed=1, effort="fast")
    assert est.buckets.spared.any()
    assert not est.buckets.spared.all()
    assert (est.buckets.spent, est.buckets.spent_least) == (Fraction(56, 100), Fraction(16, 100))
    scale = measure.discrete.coarsened(RESOLUTION / (2 - est.buckets.spent_least))
    assert Fraction(19, 10) < measure.loss(est.buckets, est.strategy, scale) <= 2


def test_seeds_repeat_and_without_one_nothing_does():
    cells = random_map(np.random.default_rng(6), (10, 10))
    one, two, other = (dawa.estimate(cells, epsilon=1, seed=seed, effort="fast").cells for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()
    unseeded = [dawa.estimate(cells, epsilon=1, effort="fast").cells for _ in range(2)]
    assert (unseeded[0] != unseeded[1]).any()


def test_the_default_on_a_map_is_an_adaptive_quadtree_with_bumps():
    rng = np.random.default_rng(7)
    cells = rng.poisson(rng.gamma(0.2, 60, (32, 32)))
    est = dawa.estimate(cells, epsilon=1, seed=1)
    assert isinstance(est.strategy, BumpStrategy)
    assert est.options["partition"]["fan"] == 4
    assert est.split == {"partition": Fraction(28, 100), "measure": Fraction(72, 100)}
    truth = cells.sum()
    assert abs(est.answers(Workload.rectangles([[0, 0]], [[32, 32]], (32, 32)))[0] - truth) < 0.1 * truth


def test_arrays_of_any_layout_are_the_same_counts():
    cells = random_map(np.random.default_rng(8), (6, 9))
    kinds = [cells, cells.tolist(), np.asfortranarray(cells), cells.astype(np.uint16), cells.astype(float)]
    found = [dawa.estimate(kind, epsilon=1, seed=1, effort="fast").cells for kind in kinds]
    assert all((one == found[0]).all() for one in found)


def test_transposing_counts_and_workload_asks_the_same():
    """Not the same noise: the curve runs otherwise. But the same truth, to within its error bars."""
    rng = np.random.default_rng(9)
    cells = random_map(rng, (8, 13))
    lo, hi = random_corners(rng, (8, 13), 10)
    one = Workload.rectangles(lo, hi, (8, 13)).answers(cells)
    two = Workload.rectangles(lo[:, ::-1], hi[:, ::-1], (13, 8)).answers(cells.T)
    np.testing.assert_allclose(one, two)


# --- merged buckets -------------------------------------------------------------------------------------------------


@examples(80)
@given(st.integers(0, 2**32))
def test_merging_on_a_map_joins_buckets_that_every_query_covers_alike(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    n = int(np.prod(shape))
    partition = Buckets(random_bounds(rng, n))
    lo, hi = random_corners(rng, shape, int(rng.integers(1, 4)))
    workload = Workload.rectangles(lo, hi, shape)
    merged = partition.merged(workload)
    assert set(merged.bounds.tolist()) <= set(partition.bounds.tolist())
    before, after = partition.queries(workload).dense(), merged.queries(workload).dense()
    owner = np.searchsorted(merged.bounds, partition.bounds[:-1], side="right") - 1
    np.testing.assert_allclose(before, after[:, owner], rtol=1e-9, atol=1e-9, err_msg="no query tells them apart")


def test_a_rectangle_inside_one_bucket_keeps_it_apart():
    """Its only run ends inside the bucket, on either side of which there is another."""
    partition = Buckets(np.array([0, 4, 8, 12, 16]))
    inside = Workload.rectangles([[1, 3]], [[1.5, 3.5]], (4, 4))
    (bucket,) = np.flatnonzero(partition.queries(inside).dense()[0])
    kept = partition.merged(inside).bounds.tolist()
    assert {4 * bucket, 4 * bucket + 4} <= set(kept)
    assert kept == sorted({0, 4 * bucket, 4 * bucket + 4, 16})


# --- releases -------------------------------------------------------------------------------------------------------

LON, LAT = dawa.Axis("lon", -10, 14, step=1), dawa.Axis("lat", 0, 9, step=0.5)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(10)
    return {
        "lon": rng.normal(3, 4, 3000),
        "lat": rng.gamma(2, 1, 3000),
        "grade": rng.choice(["A", "B", "C"], 3000),
        "when": np.datetime64("2013-01-01") + rng.integers(0, 365, 3000).astype("m8[D]"),
    }


@pytest.fixture(scope="module")
def rel(table):
    return dawa.release(table, (LON, LAT), epsilon=1, seed=1)


def test_a_release_on_a_map_counts_records_where_they_are(table):
    rel = dawa.release(table, (LON, LAT), epsilon=10**4, seed=1, mechanism="identity")
    inside = (table["lon"] >= -2) & (table["lon"] < 5) & (table["lat"] >= 1.5) & (table["lat"] < 4)
    found = rel.answer((-2, 1.5), (5, 4))
    assert found.value == pytest.approx(inside.sum(), abs=0.5)
    assert found.bias_bound == 0
    assert rel.values([(-10, 0)], [(14, 9)])[0] == pytest.approx(3000, abs=0.5), "values outside are clipped"


def test_answers_values_and_variances_tell_the_same_story(rel):
    lo, hi = [(-2, 1), (0, 0), (-9.5, 2.25)], [(5, 4), (1, 9), (3.25, 2.5)]
    found = rel.answers(lo, hi)
    one_by_one = [rel.answer(a, b) for a, b in zip(lo, hi, strict=True)]
    np.testing.assert_allclose([a.value for a in found], rel.values(lo, hi))
    np.testing.assert_allclose([a.high for a in found], [a.high for a in one_by_one])
    assert rel.variances(np.array(lo), np.array(hi)).shape == (3,)
    total = rel.answer((-10, 0), (14, 9))
    factor = total.noise_margin / np.sqrt(rel.variances([(-10, 0)], [(14, 9)])[0])
    assert 2.3 < factor < 2.4, "in standard deviations, at 95% confidence, less the walk's part, where no bucket is cut"
    assert rel.values().sum() == pytest.approx(total.value)
    assert rel.variances().shape == rel.values().shape == (24, 18), "cells: buckets have any shape"
    assert all(a.low <= a.value <= a.high for a in found)


def test_ranges_are_given_in_the_axes_own_units(rel):
    cells = Workload.rectangles([[8, 2]], [[15, 8]], (24, 18))
    assert rel.values([(-2, 1)], [(5, 4)])[0] == pytest.approx(rel.estimate.answers(cells)[0])
    cut = Workload.rectangles([[0.5, 4.5]], [[13.25, 5]], (24, 18))
    assert rel.values([(-9.5, 2.25)], [(3.25, 2.5)])[0] == pytest.approx(rel.estimate.answers(cut)[0])


def test_samples_follow_the_released_map(rel):
    drawn = rel.sample(20_000, seed=1)
    assert drawn.shape == (20_000, 2)
    assert (drawn[:, 0] == np.floor(drawn[:, 0])).all(), "whole degrees are whole"
    assert (drawn[:, 1] != np.floor(2 * drawn[:, 1]) / 2).any(), "half degrees lie anywhere"
    assert ((drawn >= [-10, 0]) & (drawn < [14, 9])).all()
    total = rel.values().sum()
    for lo, hi in (((-2, 1), (5, 4)), ((0, 0), (1, 9)), ((-10, 0), (14, 2))):
        share = rel.values([lo], [hi])[0] / total
        found = ((drawn >= lo) & (drawn < hi)).all(axis=1).mean()
        assert abs(found - share) < 5 * np.sqrt(share * (1 - share) / 20_000)
    assert (rel.sample(5, seed=2) == rel.sample(5, seed=2)).all()


def test_samples_of_boxes_and_rows_follow_the_map_too(table):
    for mechanism in ("ugrid", "privelet", "hybrid-tree"):
        made = dawa.release(table, (LON, LAT), epsilon=5, seed=1, mechanism=mechanism, postprocess="nonnegative")
        drawn = made.sample(20_000, seed=1)
        share = made.values([(-2, 1)], [(5, 4)])[0] / made.values().sum()
        found = ((drawn >= (-2, 1)) & (drawn < (5, 4))).all(axis=1).mean()
        assert abs(found - share) < 5 * np.sqrt(share * (1 - share) / 20_000)


def test_axes_of_every_kind_go_together(table):
    axes = (dawa.Axis.ordered("grade", ["A", "B", "C"]), dawa.Axis.dates("when", "2013-01-01", "2014-01-01", "1 month"))
    rel = dawa.release(table, axes, epsilon=10**4, seed=1, mechanism="identity")
    months = table["when"].astype("M8[M]").astype(int) - 43 * 12
    truth = (np.isin(table["grade"], ["A", "B"]) & (months >= 2) & (months < 5)).sum()
    assert rel.answer(("A", "2013-03-01"), ("B", "2013-06-01")).value == pytest.approx(truth, abs=0.5)
    drawn = rel.sample(100, seed=1)
    assert drawn.shape == (100, 2)
    assert set(drawn[:, 0]) <= {"A", "B", "C"}
    numbers = dawa.release(table, (axes[1], LAT), epsilon=1, seed=1).sample(50, seed=1)
    assert numbers.shape == (50, 2)
    assert all(0 <= lat < 9 for lat in numbers[:, 1])


@pytest.mark.parametrize(
    ("lo", "hi"),
    [
        (1, 2),
        ((1, 2), 3),
        ((1,), (2,)),
        ((1, 2, 3), (4, 5, 6)),
        ((1, 2), (1, 3)),
        ((2, 2), (1, 3)),
        ((1, 2), (15, 3)),
        ((-11, 2), (1, 3)),
        (("a", 2), (3, 3)),
        ((None, 2), (3, 3)),
        ((1, float("nan")), (3, 3)),
    ],
    ids=str,
)
def test_ranges_that_are_none_of_a_map_are_refused(rel, lo, hi):
    with pytest.raises(DawaError, match="Hint:"):
        rel.answer(lo, hi)
    with pytest.raises(DawaError, match="Hint:"):
        rel.answers([(0, 0), lo], [(1, 1), hi])


def test_what_is_for_one_axis_says_so(rel):
    for call in (lambda: rel.axis, lambda: rel.bounds, lambda: rel.quantile(0.5)):
        with pytest.raises(OptionError, match=r"2 axes.\nHint: use rel.axes"):
            call()
    with pytest.raises(OptionError, match="Hint:"):
        rel.values((0, 0), (1, 1))
    with pytest.raises(OptionError, match="Hint:"):
        rel.values([(0, 0)], None)
    with pytest.raises(OptionError, match="Hint:"):
        rel.values([(0, 0)], [(1, 1), (2, 2)])
    assert repr(rel).startswith("Release('lon' from -10 to 14 × 'lat' from 0 to 9, epsilon=1, ")


@pytest.mark.parametrize(
    "axes",
    [(), (LON, LON), (LON,) * 5, (LON, "lat"), tuple(dawa.Axis(name, 0, 2**21) for name in "abc")],
    ids=["none", "twice", "five", "no axis", "too many cells"],
)
def test_axes_that_make_no_map_are_refused(table, axes):
    with pytest.raises(AxisError, match="Hint:"):
        dawa.release(table, axes, epsilon=1)


@pytest.mark.parametrize(
    ("cells", "workload", "error"),
    [
        (np.ones((4, 4)), workloads.random_rectangles((4, 5), 5), WorkloadError),
        (np.ones((4, 4)), workloads.all_ranges(16), WorkloadError),
        (np.ones((4, 4)), "all", WorkloadError),
        (np.ones((2,) * 5), None, CountsError),
        (np.ones((4, 0)), None, CountsError),
        (-np.ones((4, 4)), None, CountsError),
        ([[1, 2], [3]], None, CountsError),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(cells, workload, error):
    with pytest.raises(error, match="Hint:"):
        dawa.estimate(cells, workload, epsilon=1)


# --- domains too large to list --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scattered():
    """A thousand places on a map of 2^40 cells, most of them in two towns."""
    rng = np.random.default_rng(11)
    towns = np.array([[200_000, 700_000], [900_000, 100_000]])[rng.integers(0, 2, 1000)]
    where = np.clip(np.rint(towns + rng.normal(0, 5000, (1000, 2))), 0, 2**20 - 1).astype(np.int64)
    cells, counts = np.unique(where @ np.array([2**20, 1]), return_counts=True)
    return Counts.sparse(HUGE, cells, counts), where


@pytest.mark.parametrize("name", mechanisms.names())
def test_on_a_huge_map_a_mechanism_works_or_says_what_to_do(scattered, name):
    workload = workloads.random_rectangles(HUGE, 20)
    if name not in ON_HUGE:
        with pytest.raises(OptionError, match=r"Hint: (use|choose)"):
            dawa.estimate(scattered[0], workload, epsilon=1, mechanism=name, seed=1)
        return
    est = dawa.estimate(scattered[0], workload, epsilon=1, mechanism=name, seed=1)
    assert (est.answers(workload) <= 1500).all()
    assert (est.variances(workload) > 0).all()


def test_on_a_huge_map_the_default_finds_the_towns(scattered):
    counts, where = scattered
    est = dawa.estimate(counts, epsilon=1, seed=1)
    lo = np.array([[180_000, 680_000], [880_000, 80_000], [400_000, 300_000]])
    hi = lo + 40_000
    truth = [((where >= a) & (where < b)).all(axis=1).sum() for a, b in zip(lo, hi, strict=True)]
    found = est.answers(Workload.rectangles(lo, hi, HUGE))
    np.testing.assert_allclose(found, truth, atol=120)
    with pytest.raises(OptionError, match="Hint: ask for ranges"):
        _ = est.cells
    with pytest.raises(OptionError, match="Hint:"):
        dawa.estimate(counts, epsilon=1, strategy="bumps")


def test_cells_that_lie_far_apart_stay_on_their_own_side():
    """Two records at opposite corners, with next to no noise: a rectangle around either counts one."""
    counts = Counts.sparse(HUGE, np.array([0, 2**40 - 1]), np.array([1000, 500]))
    est = dawa.estimate(counts, workloads.random_rectangles(HUGE, 20), epsilon=100, seed=1)
    halves = Workload.rectangles([[0, 0], [2**19, 2**19]], [[2**19, 2**19], [2**20, 2**20]], HUGE)
    np.testing.assert_allclose(est.answers(halves), [1000, 500], atol=5)


def test_four_axes_of_any_length_are_a_domain():
    rng = np.random.default_rng(12)
    shape = (2**15 - 1, 1000, 2**20, 77)
    cells = np.unique(rng.integers(0, np.prod(shape), 500))
    counts, workload = Counts.sparse(shape, cells, np.ones(len(cells), int)), workloads.random_rectangles(shape, 50)
    est = dawa.estimate(counts, workload, epsilon=5, seed=1, effort="fast")
    everything = Workload.rectangles([[0] * 4], [shape], shape)
    assert est.answers(everything)[0] == pytest.approx(len(cells), abs=60)
