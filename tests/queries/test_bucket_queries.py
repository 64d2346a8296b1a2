"""Queries seen from the buckets: whatever the runs, every bucket is taken in proportion to its covered part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import kernels
from dawa.layout.curve import Order, Runs
from dawa.queries.bucket_queries import BucketQueries, coordinates, on_line, runs_of
from dawa.queries.workload import Workload
from helpers.dense import random_bounds
from helpers.examples import examples
from helpers.grids import covered, random_corners, random_shape

seeds = st.integers(0, 2**32)


def random_runs(rng, n, m):
    """Queries of sorted runs, some of which touch, with a few different weights."""
    first, lo, hi, weight = [0], [], [], []
    for _ in range(m):
        ends = np.unique(rng.integers(0, n + 1, rng.integers(2, 20)))
        ends = ends if len(ends) > 1 else np.array([0, n])
        kept = rng.random(len(ends) - 1) < 0.6
        kept[int(rng.integers(len(kept)))] = True
        lo += ends[:-1][kept].tolist()
        hi += ends[1:][kept].tolist()
        weight += rng.choice([1.0, 1.0, 0.25, -2.0, 0.0], kept.sum()).tolist()
        first.append(len(lo))
    return tuple(np.array(array) for array in (first, lo, hi, weight))


def twin(first, lo, hi, weight, bounds):
    """One row per query and one column per bucket, cell by cell."""
    rows = np.zeros((len(first) - 1, bounds[-1]))
    for q in range(len(first) - 1):
        for r in range(first[q], first[q + 1]):
            rows[q, lo[r] : hi[r]] += weight[r]
    return np.add.reduceat(rows, bounds[:-1], axis=1) / np.diff(bounds)


@examples(200)
@given(seeds)
def test_gathered_runs_equal_the_dense_twin(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    bounds, runs = random_bounds(rng, n), random_runs(rng, n, 6)
    begin, start, stop, share = kernels.runs.gathered(*runs, bounds)
    found = BucketQueries(len(bounds) - 1, begin, start, stop, share, np.ones(6), 6.0)
    np.testing.assert_allclose(found.dense(), twin(*runs, bounds), rtol=1e-12, atol=1e-12)


@examples(100)
@given(seeds)
def test_gathered_runs_are_whole_buckets_sorted_disjoint_and_merged(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    bounds, runs = random_bounds(rng, n), random_runs(rng, n, 6)
    begin, start, stop, share = kernels.runs.gathered(*runs, bounds)
    assert (np.diff(begin) > 0).all()
    assert (start == np.floor(start)).all()
    assert (stop == np.floor(stop)).all()
    assert (start < stop).all()
    for q in range(6):
        mine = slice(begin[q], begin[q + 1])
        a, b, w = start[mine], stop[mine], share[mine]
        assert (b[:-1] <= a[1:]).all()
        assert not ((b[:-1] == a[1:]) & (w[:-1] == w[1:])).any(), "neighbours that weigh the same are one stretch"


def test_as_many_stretches_as_runs():
    """Every other cell of many, each a bucket of its own."""
    n = 9000
    lo = np.arange(0, n, 2)
    runs = (np.array([0, len(lo)]), lo, lo + 1, np.ones(len(lo)))
    begin, start, stop, share = kernels.runs.gathered(*runs, np.arange(n + 1))
    assert begin.tolist() == [0, n // 2]
    assert (start == lo).all()
    assert (stop == lo + 1).all()
    assert (share == 1).all()


@examples(100)
@given(seeds)
def test_rectangles_on_stretches_of_the_curve_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    bounds = random_bounds(rng, int(np.prod(shape)))
    lo, hi = random_corners(rng, shape, 8)
    queries = Workload.rectangles(lo, hi, shape).on_buckets(bounds)
    line = np.stack([covered(a, b, shape).ravel()[Order(shape).flat()] for a, b in zip(lo, hi, strict=True)])
    expected = np.add.reduceat(line, bounds[:-1], axis=1) / np.diff(bounds)
    np.testing.assert_allclose(queries.dense(), expected, rtol=1e-9, atol=1e-12)
    assert (queries.buckets, queries.total, queries.differences) == (len(bounds) - 1, 8, False)


def test_queries_of_one_run_each_keep_their_ends():
    """Nothing is gathered where nothing can meet: ends inside buckets stay where they are, and so do weights."""
    runs = Runs(np.arange(3), np.array([1, 4]), np.array([3, 9]), np.array([1.0, 0.5]))
    queries = on_line(runs, np.array([0, 4, 6, 10]))
    assert queries.lo.tolist() == [0.25, 1]
    assert queries.hi.tolist() == [0.75, 2.75]
    assert queries.weight.tolist() == [1, 0.5]


@examples(50)
@given(seeds)
def test_one_query_on_its_own_and_some_in_any_order_are_the_same_queries(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    queries = Workload.rectangles(*random_corners(rng, shape, 5), shape).on_buckets(
        random_bounds(rng, int(np.prod(shape)))
    )
    dense = queries.dense()
    for i in range(5):
        np.testing.assert_array_equal(queries.only(i).dense(), dense[i : i + 1])
    picks = rng.integers(0, 5, 7)
    begin, runs = runs_of(queries.first, picks)
    some = BucketQueries(
        queries.buckets, begin, queries.lo[runs], queries.hi[runs], queries.weight[runs], np.ones(7), 7.0
    )
    np.testing.assert_array_equal(some.dense(), dense[picks])


def test_thinned_queries_of_many_runs_stay_whole():
    rng = np.random.default_rng(3)
    shape = (12, 15)
    queries = Workload.rectangles(*random_corners(rng, shape, 40), shape).on_buckets(random_bounds(rng, 180))
    fewer = queries.thinned(7)
    assert len(fewer) == 7
    assert fewer.omega.sum() == pytest.approx(queries.omega.sum())
    np.testing.assert_array_equal(fewer.dense(), queries.dense()[np.linspace(0, 39, 7).astype(int)])


@pytest.mark.parametrize("number", [0, 1, 3, 4095])
@pytest.mark.parametrize("near", [1, 2, 2**30])
def test_a_place_inside_a_wide_bucket_stays_inside(number, near):
    """A float would round it onto the bound, and a range that ends there would seem to cut nothing."""
    bounds = np.append(np.arange(number + 1) * 2**49, 2**62)
    first, last = int(bounds[number]), 2**62
    places = coordinates(np.array([first, first + near, last - near, last]), bounds)
    assert places[0] == number
    assert places[3] == number + 1
    assert number < places[1] < places[2] < number + 1


def test_a_part_of_a_cell_is_inside_of_its_bucket():
    bounds = np.array([0, 5, 6])
    places = coordinates(np.array([0, 4, 5, 5, 6]), bounds, np.array([5e-324, 1 - 2**-53, 0, 1 - 2**-53, 0]))
    assert 0 < places[0] < places[1] < 1
    assert (places[2], places[4]) == (1, 2)
    assert 1 < places[3] < 2


@pytest.mark.long
@examples(30)
@given(seeds)
def test_ranges_that_also_end_in_buckets_end_there_as_often_as_they_say(seed):
    rng = np.random.default_rng(seed)
    bounds = random_bounds(rng, 200)
    k, widths, part = len(bounds) - 1, np.diff(bounds), rng.random()
    plain = dawa.workloads.all_ranges(200).on_buckets(bounds)
    found = plain.also_in_buckets(bounds, part)
    inside = np.bincount(np.minimum(plain.hi[:-1].astype(int), k - 1), found.omega[:-1], minlength=k)
    np.testing.assert_allclose(inside, (1 - part) * widths + part * 200 / k)
    assert found.omega.sum() == pytest.approx(plain.omega.sum())
    np.testing.assert_array_equal(plain.also_in_buckets(bounds, 0.0).omega, plain.omega)
