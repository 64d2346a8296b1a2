"""The search: better than the table, the same every time, and never in the way."""

import numpy as np
import pytest
import scipy

from dawa import limits, workloads
from dawa.arrays import listed
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import hat_search, hats
from dawa.strategy.base import RESOLUTION
from helpers.dense import gram_of


def on_cells(workload):
    return workload.on_buckets(np.arange(workload.size + 1))


def full(k):
    return np.full(k, RESOLUTION)


def rmse(strategy, queries):
    """At ε = 1, where a row's noise has variance 2."""
    return np.sqrt(2 * strategy.expected_error(queries) / queries.total)


@pytest.mark.parametrize(
    ("workload", "most"),
    [
        (workloads.all_ranges(1024), 11.1),
        (workloads.prefixes(1024), 9.7),
        (workloads.uniform(1024), 11.1),
        (workloads.uniform(4096), 14.1),
        (workloads.clustered(4096), 11.6),
    ],
    ids=["all ranges", "prefixes", "uniform 1024", "uniform 4096", "clustered 4096"],
)
def test_it_reaches_the_designed_error(workload, most):
    queries = on_cells(workload)
    strategy = hat_search.search(queries, full(workload.size))
    assert rmse(strategy, queries) <= most
    assert (strategy.column_sums() == RESOLUTION).all()


@pytest.mark.parametrize("k", [24, 60, 300])
def test_it_is_no_worse_than_the_table(k):
    rng = np.random.default_rng(k)
    allowance = rng.integers(RESOLUTION // 2, RESOLUTION + 1, k)
    for workload in (workloads.uniform(k, 50), workloads.prefixes(k), workloads.all_ranges(k)):
        queries = on_cells(workload)
        strategy = hat_search.search(queries, allowance)
        assert strategy.expected_error(queries) <= hats.from_table(queries, allowance).expected_error(queries)
        assert (strategy.column_sums() == allowance).all()


def test_the_same_input_gives_the_same_strategy():
    queries = on_cells(workloads.uniform(200, 100))
    first, second = (hat_search.search(queries, full(200)) for _ in range(2))
    assert listed(first.described()) == listed(second.described())


def test_buckets_that_queries_cut_are_no_obstacle():
    bounds = np.unique(np.random.default_rng(2).integers(0, 5000, 300))
    bounds = np.concatenate(([0], bounds[bounds > 0], [5000]))
    k = len(bounds) - 1
    for workload in (workloads.uniform(5000, 500), workloads.all_ranges(5000)):
        queries = workload.on_buckets(bounds)
        strategy = hat_search.search(queries, full(k))
        leaves = np.trace(gram_of(queries))
        assert strategy.expected_error(queries) < leaves / 3


def test_single_cells_need_no_hats():
    assert hat_search.search(on_cells(workloads.identity(200)), full(200)) is None


@pytest.mark.parametrize("k", [1, 2, 3, 23])
def test_few_buckets_need_no_hats(k):
    assert hat_search.search(on_cells(workloads.all_ranges(k)), full(k)) is None


def odd_queries(k):
    """Queries that a search might stumble over."""
    one, ones = np.array([0, 1]), np.ones(1)
    many = np.arange(301)
    lo, hi = np.linspace(0, k - 1, 300), np.linspace(0.5, k, 300)
    alternating = np.arange(300) % 2 == 0
    return {
        "one": BucketQueries(k, one, ones * 0, ones * k, ones, ones, 1.0),
        "one cell": BucketQueries(k, one, ones * 3, ones * 4, ones, ones, 1.0),
        "same": BucketQueries(k, many, np.full(300, 2.5), np.full(300, 17.2), np.ones(300), np.ones(300), 300.0),
        "no omega": BucketQueries(k, many, lo, hi, np.ones(300), np.zeros(300), 300.0),
        "no weight": BucketQueries(k, many, lo, hi, np.zeros(300), np.ones(300), 300.0),
        "some omega": BucketQueries(k, many, lo, hi, np.ones(300), alternating * 1.0, 300.0),
        "one of many": BucketQueries(k, many, lo, hi, np.ones(300), (many[1:] == 2) * 1.0, 300.0),
        "empty": BucketQueries(k, many, lo, lo, np.ones(300), np.ones(300), 300.0),
        "tiny": BucketQueries(k, many, lo, hi, np.full(300, 1e-150), np.ones(300), 300.0),
        "huge": BucketQueries(k, many, lo, hi, np.full(300, 1e150), np.ones(300), 300.0),
        "too huge": BucketQueries(k, many, lo, hi, np.full(300, 1e200), np.ones(300), 300.0),
        "one difference": BucketQueries(k, one, ones * 0, ones * k, ones, ones, 1.0, differences=True),
    }


@pytest.mark.parametrize("name", odd_queries(40))
def test_odd_queries_end_in_a_strategy_or_in_none(name):
    for k in (24, 40):
        queries = odd_queries(k)[name]
        strategy = hat_search.search(queries, full(k))
        assert strategy is None or np.isfinite(strategy.expected_error(queries))


@pytest.mark.parametrize("allowance", [1, 2, 9])
def test_tiny_allowances_are_kept(allowance):
    strategy = hat_search.search(on_cells(workloads.uniform(64, 50)), np.full(64, allowance))
    assert strategy is None or (strategy.column_sums() == allowance).all()


def test_large_sizes_take_the_table():
    k = limits.MOST_BUCKETS_SEARCHED + 1
    queries = on_cells(workloads.uniform(k, 50))
    assert listed(hat_search.search(queries, full(k)).described()) == listed(
        hats.from_table(queries, full(k)).described()
    )


def test_a_long_list_of_queries_is_thinned(monkeypatch):
    monkeypatch.setattr(hat_search, "FITTING_WORK", 100_000)
    monkeypatch.setattr(hat_search, "STEERING_WORK", 100_000)
    queries = on_cells(workloads.prefixes(600))
    strategy = hat_search.search(queries, full(600))
    assert strategy.expected_error(queries) <= hats.from_table(queries, full(600)).expected_error(queries)


def test_the_coordinate_runs_faster_where_queries_end():
    lo = np.concatenate((np.full(50, 10.0), np.linspace(0, 90, 10)))
    queries = BucketQueries(100, np.arange(61), lo, lo + 8, np.ones(60), np.ones(60), 60.0)
    borders = hat_search._warped(queries, 0.5)
    assert borders[0] == 0
    assert borders[-1] == pytest.approx(100)
    speed = np.diff(borders)
    assert (speed > 0).all()
    assert speed[15:20].mean() > speed[60:70].mean() / 8
    np.testing.assert_allclose(hat_search._warped(queries, 0.0), np.arange(101.0))


@pytest.mark.parametrize("seed", range(5))
def test_descent_finds_the_minimum_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 12))
    hessian, centre = root @ root.T + np.eye(12), rng.uniform(-5, 25, 12)

    def evaluate(x):
        slope = hessian @ (x - centre)
        return float(slope @ (x - centre)) / 2, slope

    value, x = hat_search.descend(evaluate, np.full(12, 0.8), 500, 1e-14)
    bounds = scipy.optimize.Bounds(0, hats.LARGEST_ENTRY)
    expected = scipy.optimize.minimize(evaluate, np.ones(12), jac=True, method="L-BFGS-B", bounds=bounds)
    assert value == pytest.approx(expected.fun, rel=1e-6)
    assert ((x >= 0) & (x <= hats.LARGEST_ENTRY)).all()


def test_descent_evaluates_no_more_often_than_allowed():
    calls = []

    def evaluate(x):
        calls.append(x)
        return (np.inf, x * 0) if len(calls) % 3 == 2 else (float(np.sum((x - 3) ** 4)), 4 * (x - 3) ** 3)

    value, x = hat_search.descend(evaluate, np.ones(4), 7, 0.0)
    assert len(calls) <= 7
    assert value == float(np.sum((x - 3) ** 4)) < 64
