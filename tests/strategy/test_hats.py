"""Hats: every fast path equals the dense matrix that it avoids."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dawa import kernels, workloads
from dawa.arrays import listed
from dawa.errors import ReleaseError
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import hats
from dawa.strategy.base import RESOLUTION
from dawa.strategy.hats import HatStrategy, IntervalRows, QuerySums
from helpers.dense import gram_of

SEEDS = range(25)


def random_rows(rng, k):
    """Any intervals, sorted by right end."""
    p = int(rng.integers(0, 2 * k))
    ends = np.sort(rng.integers(0, k + 1, (p, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    start, stop = ends[np.argsort(ends[:, 1], kind="stable")].T
    return IntervalRows(k, start.copy(), stop.copy())


def random_queries(rng, k, *, differences=False):
    """Queries of one to three runs with fractional ends; or prefixes, whose differences are asked for."""
    m = int(rng.integers(1, 40))
    if differences:
        ends = np.sort(rng.uniform(0, k, m))
        ends[-1] = k
        omega = rng.uniform(0.2, 3, m)
        return BucketQueries(k, np.arange(m + 1), np.zeros(m), ends, np.ones(m), omega, float(m), differences=True)
    counts = rng.integers(1, 4, m)
    ends = [np.sort(rng.uniform(0, k, 2 * count)) for count in counts]
    ends = [np.round(e) if rng.random() < 0.3 else e for e in ends]
    lo, hi = np.concatenate([e[::2] for e in ends]), np.concatenate([e[1::2] for e in ends])
    first = np.concatenate(([0], np.cumsum(counts)))
    return BucketQueries(k, first, lo, hi, rng.normal(size=len(lo)), rng.uniform(0, 2, m), float(m))


def random_allowance(rng, k):
    return np.where(rng.random(k) < 0.5, RESOLUTION, rng.integers(RESOLUTION // 3, RESOLUTION, k))


def random_strategy(rng, k):
    rows = random_rows(rng, k)
    allowance = random_allowance(rng, k)
    entries = rng.uniform(0, 1.5, len(rows.column)) * (rng.random(len(rows)) < 0.9)[rows.row]
    return HatStrategy.rounded(rows, entries, allowance), allowance


def dense_rows(rows, entries):
    matrix = np.zeros((len(rows), rows.buckets), np.asarray(entries).dtype)
    matrix[rows.row, rows.column] = entries
    return matrix


def dense(strategy):
    """The integer rows, the leaves last."""
    return np.vstack((dense_rows(strategy.rows, strategy.weights), np.diag(strategy.leaf)))


def covariance(strategy):
    matrix = dense(strategy) / RESOLUTION
    return np.linalg.inv(matrix.T @ matrix)


@pytest.fixture(params=SEEDS)
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def k(rng):
    return int(rng.integers(1, 41))


def test_moments_are_those_of_the_dense_queries(rng, k):
    queries = random_queries(rng, k)
    linear, square = kernels.hats.moments(
        queries.first, queries.lo, queries.hi, queries.weight, queries.omega, queries.buckets
    )
    matrix = queries.dense()
    np.testing.assert_allclose(linear, queries.omega @ matrix, atol=1e-12)
    np.testing.assert_allclose(square, queries.omega @ matrix**2, atol=1e-12)


def test_the_factor_has_no_fill_and_is_that_of_cholesky(rng, k):
    rows = random_rows(rng, k)
    entries = rng.uniform(0, 2, len(rows.column))
    pivot, lower = kernels.hats.factor(rows.start, rows.stop, rows.ptr, entries, rows.near, rows.at)
    factor = np.eye(len(rows))
    for r in range(len(rows)):
        factor[r, rows.near[r] : r] = lower[rows.at[r] : rows.at[r + 1]]
    b = dense_rows(rows, entries)
    expected = np.linalg.cholesky(np.eye(len(rows)) + b @ b.T)
    np.testing.assert_allclose(factor * np.sqrt(pivot), expected, rtol=1e-9, atol=1e-12)
    overlaps = np.tril((b > 0).astype(int) @ (b > 0).astype(int).T, -1) > 0
    assert overlaps.sum() == len(lower)


def test_block_solves_invert_the_matrix(rng, k):
    rows = random_rows(rng, k)
    entries = rng.uniform(0, 2, len(rows.column))
    block = rng.normal(size=(len(rows), 5))
    solved = block.copy()
    factor = kernels.hats.factor(rows.start, rows.stop, rows.ptr, entries, rows.near, rows.at)
    kernels.hats.solve(*factor, rows.near, rows.at, solved)
    b = dense_rows(rows, entries)
    np.testing.assert_allclose(solved + b @ (b.T @ solved), block, atol=1e-9)


@pytest.mark.parametrize("differences", [False, True])
def test_the_error_is_a_trace_and_its_gradient_the_slope(rng, k, differences):
    queries = random_queries(rng, k, differences=differences)
    rows = random_rows(rng, k)
    inverse_allowance = RESOLUTION / random_allowance(rng, k)
    sums = QuerySums.of(queries)

    def twin(entries):
        b = dense_rows(rows, entries)
        scale = inverse_allowance * (1 + b.sum(axis=0))
        matrix = np.vstack((b, np.eye(k))) / scale
        return np.trace(gram_of(queries) @ np.linalg.inv(matrix.T @ matrix)), scale

    entries = rng.uniform(0.1, 1.5, len(rows.column))
    expected, scale = twin(entries)
    total, by_entry, by_scale = sums.error(rows, entries, scale, gradient=True)
    assert total == pytest.approx(expected, rel=1e-9)
    assert sums.error(rows, entries, scale, gradient=False)[0] == pytest.approx(expected, rel=1e-9)
    gradient = by_entry + (inverse_allowance * by_scale)[rows.column]
    for e in rng.permutation(len(entries))[:8]:
        step = np.zeros(len(entries))
        step[e] = 1e-5
        slope = (twin(entries + step)[0] - twin(entries - step)[0]) / 2e-5
        assert gradient[e] == pytest.approx(slope, rel=1e-5, abs=1e-6 * expected)


@pytest.mark.parametrize("differences", [False, True])
def test_expected_error_is_exact(rng, k, differences, monkeypatch):
    queries = random_queries(rng, k, differences=differences)
    strategy, _ = random_strategy(rng, k)
    expected = np.trace(gram_of(queries) @ covariance(strategy))
    assert strategy.expected_error(queries) == pytest.approx(expected, rel=1e-9)
    monkeypatch.setattr(hats, "ROWS_FOR_VARIANCES", 0)
    assert strategy.expected_error(queries) == pytest.approx(expected, rel=1e-9)


def test_closed_workloads_need_no_list(monkeypatch):
    bounds = np.array([0, 1, 4, 5, 9, 10, 11, 30])
    strategy, _ = random_strategy(np.random.default_rng(5), len(bounds) - 1)
    for workload in (workloads.all_ranges(30), workloads.prefixes(30), workloads.identity(30)):
        one_by_one = workload.enumerated().on_buckets(bounds)
        expected = np.trace(gram_of(one_by_one) @ covariance(strategy))
        for rows in (0, 10**9):
            monkeypatch.setattr(hats, "ROWS_FOR_VARIANCES", rows)
            assert strategy.expected_error(workload.on_buckets(bounds)) == pytest.approx(expected, rel=1e-9)


def test_columns_sum_to_the_allowance_exactly(rng, k):
    strategy, allowance = random_strategy(rng, k)
    columns = [sum(int(w) for w in column) for column in dense(strategy).T]
    assert columns == [int(a) for a in allowance]
    assert strategy.column_sums().tolist() == columns
    assert strategy.leaf.min() >= 1
    assert strategy.weights.min(initial=0) >= 0
    assert all(row.any() for row in dense(strategy))


@pytest.mark.parametrize("allowance", [1, 2, 7, RESOLUTION])
def test_leaves_survive_huge_entries(allowance):
    rows = IntervalRows(30, np.zeros(50, np.int64), np.full(50, 30))
    strategy = HatStrategy.rounded(rows, np.full(1500, 1e300), np.full(30, allowance))
    assert strategy.leaf.min() >= 1
    assert (strategy.column_sums() == allowance).all()


def test_answers_are_exact_integers(rng, k):
    strategy, _ = random_strategy(rng, k)
    shares = rng.multinomial(2**45, rng.dirichlet(np.ones(k)))
    expected = [sum(int(w) * int(x) for w, x in zip(row, shares, strict=True)) for row in dense(strategy)]
    answers = strategy.apply(shares)
    assert answers.dtype == np.int64
    assert answers.tolist() == expected


def test_solve_is_least_squares(rng, k):
    strategy, _ = random_strategy(rng, k)
    matrix = dense(strategy)
    answers = rng.normal(size=len(matrix)) * RESOLUTION
    expected = np.linalg.lstsq(matrix.astype(float), answers)[0]
    np.testing.assert_allclose(strategy.solve(answers), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_without_noise_the_totals_come_back(rng, k):
    strategy, _ = random_strategy(rng, k)
    totals = rng.integers(0, 1000, k)
    np.testing.assert_allclose(strategy.solve(strategy.apply(totals).astype(float)), totals, atol=1e-6)


def test_json_round_trip_is_exact(rng, k):
    strategy, _ = random_strategy(rng, k)
    again = HatStrategy.from_json(json.loads(json.dumps(listed(strategy.described()))))
    for name in ("leaf", "start", "stop", "weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(strategy, name))
    assert listed(again.described()) == listed(strategy.described())
    assert again.name == "hats"
    assert again.buckets == k


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leaf", None),
        ("leaf", []),
        ("leaf", [0, 1, 1, 1]),
        ("leaf", [1.0, 1, 1, 1]),
        ("leaf", [RESOLUTION] * 4),
        ("start", [0]),
        ("start", [-1, 1]),
        ("start", [0, 4]),
        ("stop", [5, 4]),
        ("stop", [4, 3]),
        ("weights", [1, 2]),
        ("weights", [-1, 1, 1, 1, 1]),
        ("weights", [2**70, 1, 1, 1, 1]),
        ("weights", [2**40, 1, 1, 1, 1]),
        ("weights", [True, 1, 1, 1, 1]),
        ("weights", "11111"),
    ],
)
def test_broken_files_are_refused(name, value):
    good = {"leaf": [5, 6, 7, 8], "start": [0, 1], "stop": [2, 4], "weights": [1, 2, 3, 4, 5]}
    assert HatStrategy.from_json(good).buckets == 4
    with pytest.raises(ReleaseError, match="Hint"):
        HatStrategy.from_json({**good, name: value})


def test_hats_are_triangles_of_each_width():
    rows, entries, level = hats.hat_rows(24, [4, 8])
    matrix = dense_rows(rows, entries)
    assert np.bincount(level).tolist() == [5, 2]
    assert (np.diff(rows.stop) >= 0).all()
    np.testing.assert_allclose(matrix[level == 0][2], np.maximum(0, 1 - np.abs(np.arange(24) + 0.5 - 12) / 4))
    # Away from the ends, the hats of a level add up to 1.
    np.testing.assert_allclose(matrix[level == 0].sum(axis=0)[4:-4], 1)
    np.testing.assert_allclose(matrix[level == 1].sum(axis=0)[8:-8], 1)


def test_a_coordinate_moves_the_hats():
    borders = np.linspace(0, 1, 41) ** 2 * 40
    rows, entries, _ = hats.hat_rows(40, [5], borders)
    assert (entries > 0).all()
    assert (entries <= 1).all()
    lengths = rows.stop - rows.start
    assert lengths[0] > lengths[-1]


@pytest.mark.parametrize("k", [1, 2, 5, 23])
def test_there_are_no_hats_for_few_buckets(k):
    assert hats.from_table(workloads.uniform(k, 10).on_buckets(np.arange(k + 1)), np.full(k, RESOLUTION)) is None


@pytest.mark.parametrize("k", [24, 25, 40, 100, 733, 1000])
def test_the_table_serves_every_size(k):
    allowance = random_allowance(np.random.default_rng(k), k)
    strategy = hats.from_table(workloads.uniform(k, 10).on_buckets(np.arange(k + 1)), allowance)
    assert strategy is not None
    assert (strategy.column_sums() == allowance).all()
    assert listed(strategy.described()) == listed(
        hats.from_table(workloads.prefixes(k).on_buckets(np.arange(k + 1)), allowance).described()
    )


@pytest.mark.parametrize(
    ("k", "rmse"), [(256, 8.25), (1024, 11.3), (4096, 14.5), (16384, 18.1), (65536, 21.8), (262144, 26.1)]
)
def test_the_table_is_as_good_as_designed(k, rmse):
    """Root mean squared error of 2,000 uniform ranges at ε = 1."""
    queries = workloads.uniform(k, 2000).on_buckets(np.arange(k + 1))
    strategy = hats.from_table(queries, np.full(k, RESOLUTION))
    assert np.sqrt(2 * strategy.expected_error(queries) / queries.total) <= rmse


def test_the_table_is_good_for_all_ranges():
    queries = workloads.all_ranges(1024).on_buckets(np.arange(1025))
    strategy = hats.from_table(queries, np.full(1024, RESOLUTION))
    assert np.sqrt(2 * strategy.expected_error(queries) / queries.total) <= 11.25


def test_doubling_every_weight_quarters_the_variance():
    strategy = hats.from_table(workloads.uniform(60, 9).on_buckets(np.arange(61)), np.full(60, 2**15))
    doubled = replace(strategy, leaf=2 * strategy.leaf, weights=2 * strategy.weights)
    queries = workloads.all_ranges(60).on_buckets(np.arange(61))
    assert strategy.expected_error(queries) == pytest.approx(4 * doubled.expected_error(queries), rel=1e-12)


def test_variances_along_all_borders_are_those_of_ranges(rng, k):
    strategy, _ = random_strategy(rng, k)
    dense_covariance = covariance(strategy)
    np.testing.assert_allclose(strategy.bucket_variances(), np.diag(dense_covariance), rtol=1e-9)
    before, after = strategy.border_variances()
    expected = [(dense_covariance[:b, :b].sum(), dense_covariance[b:, b:].sum()) for b in range(k + 1)]
    np.testing.assert_allclose(before, [one for one, _ in expected], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after, [one for _, one in expected], rtol=1e-9, atol=1e-9)


def test_variances_along_many_buckets_are_those_of_ranges():
    k = 2**17
    strategy = hats.from_table(BucketQueries.of_runs(k, np.zeros(1), np.full(1, float(k))), np.full(k, RESOLUTION))
    at = np.unique(np.random.default_rng(1).integers(1, k, 300))
    before, after = strategy.border_variances()
    np.testing.assert_allclose(before[at], strategy.range_variances(np.zeros(len(at)), at.astype(float)), rtol=1e-9)
    np.testing.assert_allclose(
        after[at], strategy.range_variances(at.astype(float), np.full(len(at), float(k))), rtol=1e-9
    )
    alone = strategy.range_variances(at.astype(float), at + 1.0)
    np.testing.assert_allclose(strategy.bucket_variances()[at], alone, rtol=1e-9)


def test_rows_on_buckets_are_listed_in_order(rng, k):
    rows = random_rows(rng, k)
    found = [rows.cover[rows.cover_ptr[j] : rows.cover_ptr[j + 1]].tolist() for j in range(k)]
    assert found == [[r for r in range(len(rows)) if rows.start[r] <= j < rows.stop[r]] for j in range(k)]
