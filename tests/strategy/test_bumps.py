"""Bumps: every fast path equals the dense matrix that it avoids."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dawa import kernels
from dawa.arrays import listed
from dawa.errors import ReleaseError
from dawa.limits import MOST_BUCKETS_IN_BUMPS, MOST_BUMPS
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import bump_search, bumps
from dawa.strategy.base import RESOLUTION
from dawa.strategy.bumps import BumpStrategy, Pattern
from dawa.strategy.descent import LARGEST_ENTRY
from helpers.dense import covariance, gram_of, random_allowance, range_matrix
from helpers.grids import dense_rows, random_pattern, random_stretches

SEEDS = range(20)


def random_strategy(rng, k):
    pattern, allowance = random_pattern(rng, k), random_allowance(rng, k)
    entries = rng.uniform(0, 1.5, len(pattern.column)) * (rng.random(len(pattern.column)) < 0.9)
    return BumpStrategy.rounded(pattern, entries, allowance), allowance


def dense(strategy):
    """The integer rows, the leaves last."""
    return np.vstack((dense_rows(strategy.pattern, strategy.weights), np.diag(strategy.leaf)))


@pytest.fixture(params=SEEDS)
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def k(rng):
    return int(rng.integers(1, 31))


# --- the pattern ----------------------------------------------------------------------------------------------------


def test_entries_are_found_by_row_and_by_bucket(rng, k):
    pattern = random_pattern(rng, k)
    entries = rng.uniform(0, 2, len(pattern.column))
    matrix = dense_rows(pattern, entries)
    np.testing.assert_allclose(pattern.summed(entries), matrix.sum(axis=0), atol=1e-12)
    assert pattern.row.tolist() == [row for row in range(len(pattern)) for _ in range(*pattern.ptr[row : row + 2])]
    for j in range(k):
        mine = pattern.order[pattern.column_ptr[j] : pattern.column_ptr[j + 1]]
        assert (pattern.column[mine] == j).all()
        assert pattern.row[mine].tolist() == [
            row for row in range(len(pattern)) if j in pattern.column[slice(*pattern.ptr[row : row + 2])]
        ]
    assert sorted(pattern.order.tolist()) == list(range(len(entries)))


def test_the_factor_is_that_of_cholesky(rng, k):
    pattern = random_pattern(rng, k)
    entries = rng.uniform(0, 2, len(pattern.column))
    b = dense_rows(pattern, entries)
    lower = pattern.factor(entries)
    np.testing.assert_allclose(lower, np.tril(lower))
    np.testing.assert_allclose(lower @ lower.T, np.eye(len(b)) + b @ b.T, rtol=1e-9, atol=1e-9)


def test_sums_for_the_gradient_equal_dense_products(rng, k):
    pattern = random_pattern(rng, k)
    b = dense_rows(pattern, np.ones(len(pattern.column)))
    entries, queries = rng.normal(size=len(pattern.column)), rng.normal(size=(k, 7))
    matrix, answers = rng.normal(size=(len(b), len(b))), rng.normal(size=(len(b), 7))
    full = dense_rows(pattern, entries)
    at = (pattern.row, pattern.column)
    np.testing.assert_allclose(
        kernels.bumps.times(pattern.ptr, pattern.column, entries, queries), full @ queries, atol=1e-9
    )
    np.testing.assert_allclose(
        kernels.bumps.products(pattern.ptr, pattern.column, answers, queries), (answers @ queries.T)[at], atol=1e-9
    )
    found = kernels.bumps.neighbours(
        pattern.ptr, pattern.column, entries, pattern.column_ptr, pattern.order, pattern.row, matrix
    )
    np.testing.assert_allclose(found, (matrix @ full)[at], atol=1e-9)


def test_queries_are_spread_over_buckets_as_they_are(rng, k):
    queries = random_stretches(rng, k)
    found = kernels.bumps.dense(queries.first, queries.lo, queries.hi, queries.weight, k)
    np.testing.assert_allclose(found, queries.dense().T, atol=1e-6)


# --- the strategy ---------------------------------------------------------------------------------------------------


def test_columns_sum_to_the_allowance_exactly(rng, k):
    strategy, allowance = random_strategy(rng, k)
    columns = [sum(int(w) for w in column) for column in dense(strategy).T]
    assert columns == [int(a) for a in allowance]
    assert strategy.column_sums().tolist() == columns
    assert strategy.leaf.min() >= 1
    assert strategy.weights.min(initial=1) >= 1, "entries without any weight are dropped"
    assert all(row.any() for row in dense(strategy))


@pytest.mark.parametrize("allowance", [1, 2, 7, RESOLUTION])
def test_leaves_survive_the_largest_entries(allowance):
    k = 30
    pattern = Pattern(k, np.arange(0, 50 * k + 1, k), np.tile(np.arange(k), 50))
    strategy = BumpStrategy.rounded(pattern, np.full(50 * k, LARGEST_ENTRY), np.full(k, allowance))
    assert strategy.leaf.min() >= 1
    assert (strategy.column_sums() == allowance).all()


def test_rounding_keeps_what_was_wished_for(rng, k):
    pattern = random_pattern(rng, k)
    entries = rng.uniform(0.1, 1.5, len(pattern.column))
    strategy = BumpStrategy.rounded(pattern, entries, np.full(k, RESOLUTION))
    wished = np.vstack((dense_rows(pattern, entries), np.eye(k))) / (1 + pattern.summed(entries))
    np.testing.assert_allclose(dense(strategy) / RESOLUTION, wished, atol=(len(pattern) + 1) / RESOLUTION)


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
    np.testing.assert_allclose(strategy.solve(answers), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_without_noise_the_totals_come_back(rng, k):
    strategy, _ = random_strategy(rng, k)
    totals = rng.integers(0, 1000, k)
    np.testing.assert_allclose(strategy.solve(strategy.apply(totals).astype(float)), totals, atol=1e-6)


def test_variances_equal_the_dense_ones(rng, k, monkeypatch):
    strategy, _ = random_strategy(rng, k)
    inverse, queries = covariance(dense(strategy)), random_stretches(rng, k)
    rows = queries.dense()
    expected = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    np.testing.assert_allclose(strategy.variances(queries), expected, rtol=1e-8, atol=1e-12)
    monkeypatch.setattr(bumps, "CHUNK", 4)
    np.testing.assert_allclose(strategy.variances(queries), expected, rtol=1e-8, atol=1e-12)
    ends = np.sort(rng.uniform(0, k, (9, 2)), axis=1)
    rows = range_matrix(ends[:, 0], ends[:, 1], k)
    expected = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    np.testing.assert_allclose(strategy.range_variances(ends[:, 0], ends[:, 1]), expected, rtol=1e-8, atol=1e-12)


def test_expected_error_is_exact(rng, k):
    strategy, _ = random_strategy(rng, k)
    inverse, queries = covariance(dense(strategy)), random_stretches(rng, k)
    assert strategy.expected_error(queries) == pytest.approx(np.trace(gram_of(queries) @ inverse), rel=1e-8)
    m = len(queries)
    prefixes = BucketQueries(
        k,
        np.arange(m + 1),
        np.zeros(m),
        np.sort(rng.uniform(0, k, m)),
        np.ones(m),
        rng.uniform(0.2, 3, m),
        float(m),
        differences=True,
    )
    expected = np.trace(gram_of(prefixes) @ inverse)
    scale = prefixes.omega.sum() * np.trace(inverse) * k
    assert strategy.expected_error(prefixes) == pytest.approx(expected, rel=1e-8, abs=1e-12 * scale)


def test_doubling_every_weight_quarters_the_variance():
    rng = np.random.default_rng(3)
    pattern = random_pattern(rng, 20)
    entries = rng.uniform(0, 1, len(pattern.column))
    strategy = BumpStrategy.rounded(pattern, entries, np.full(20, 2**15))
    doubled = replace(strategy, leaf=2 * strategy.leaf, weights=2 * strategy.weights)
    queries = random_stretches(rng, 20)
    assert strategy.expected_error(queries) == pytest.approx(4 * doubled.expected_error(queries), rel=1e-9)


# --- files ----------------------------------------------------------------------------------------------------------


def test_json_round_trip_is_exact(rng, k):
    strategy, _ = random_strategy(rng, k)
    again = BumpStrategy.from_json(json.loads(json.dumps(listed(strategy.described()))))
    for name in ("leaf", "ptr", "column", "weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(strategy, name))
    assert listed(again.described()) == listed(strategy.described())
    assert (again.name, again.buckets) == ("bumps", k)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leaf", None),
        ("leaf", []),
        ("leaf", [0, 1, 1, 1]),
        ("leaf", [1.0, 1, 1, 1]),
        ("leaf", [RESOLUTION] * 4),
        ("leaf", [RESOLUTION + 1, 1, 1, 1]),
        ("ptr", []),
        ("ptr", [0, 2]),
        ("ptr", [1, 2, 5]),
        ("ptr", [0, 0, 5]),
        ("ptr", [0, 6, 5]),
        ("ptr", [0, 2, 4]),
        ("ptr", ["0", "2", "5"]),
        ("column", [0, 1, 1, 2]),
        ("column", [0, 4, 1, 2, 3]),
        ("column", [-1, 1, 1, 2, 3]),
        ("column", [1, 0, 1, 2, 3]),
        ("column", [0, 0, 1, 2, 3]),
        ("column", [0, 1, 1, 3, 2]),
        ("column", {"0": 1}),
        ("weights", [1, 2]),
        ("weights", [0, 1, 1, 1, 1]),
        ("weights", [-1, 1, 1, 1, 1]),
        ("weights", [2**70, 1, 1, 1, 1]),
        ("weights", [2**40, 1, 1, 1, 1]),
        ("weights", [RESOLUTION, 1, 1, 1, 1]),
        ("weights", [True, 1, 1, 1, 1]),
        ("weights", "11111"),
    ],
    ids=str,
)
def test_broken_files_are_refused(name, value):
    good = {"leaf": [5, 6, 7, 8], "ptr": [0, 2, 5], "column": [0, 1, 1, 2, 3], "weights": [1, 2, 3, 4, 5]}
    assert BumpStrategy.from_json(good).buckets == 4
    with pytest.raises(ReleaseError, match="Hint"):
        BumpStrategy.from_json({**good, name: value})


def test_a_strategy_of_leaves_alone_is_one():
    strategy = BumpStrategy.from_json({"leaf": [5, 6], "ptr": [0], "column": [], "weights": []})
    assert strategy.solve(np.array([10.0, 12.0])).tolist() == [2, 2]
    variances = strategy.variances(BucketQueries.of_runs(2, np.array([0.0]), np.array([2.0])))
    assert variances[0] == pytest.approx(RESOLUTION**2 * (1 / 25 + 1 / 36))


@pytest.mark.parametrize("k", [64, 1000, 1001, 2**15 - 1, 2**15, 50_000, MOST_BUCKETS_IN_BUMPS])
def test_a_file_has_no_more_rows_than_a_search_may_make(k):
    """Solving for rows takes time with the third power of their number, and a few bytes of a file make one."""
    made = max(sum(max(1, round(k / size)) for size in sizes) for sizes in bump_search._choices(k))
    most = min(MOST_BUMPS, k // bumps.ROW_EVERY + bumps.FEW_ROWS)
    assert made <= most

    def read(rows):
        row = list(range(rows))
        column = [number % k for number in row]
        BumpStrategy.from_json({"leaf": [8] * k, "ptr": [*row, rows], "column": column, "weights": [1] * rows})

    read(most)
    with pytest.raises(ReleaseError, match="more rows than any search makes"):
        read(most + 1)
