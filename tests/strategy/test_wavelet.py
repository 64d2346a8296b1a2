"""Wavelets: every fast path equals the dense matrix that it avoids, for any number of buckets."""

import itertools
import json

import numpy as np
import pytest

from dawa import kernels, workloads
from dawa.arrays import listed
from dawa.errors import OptionError, ReleaseError
from dawa.strategy.base import RESOLUTION
from dawa.strategy.tree import uniform
from dawa.strategy.wavelet import WaveletStrategy, wavelet
from helpers.dense import (
    covariance,
    gram_of,
    random_allowance,
    random_bounds,
    random_workload,
    range_matrix,
    wavelet_rows,
)

SIZES = [*range(1, 34), 47, 63, 64, 65, 96, 100]


def full(k):
    return wavelet(np.full(k, RESOLUTION))


def random_case(rng, n):
    queries = random_workload(rng, n).on_buckets(random_bounds(rng, n))
    return queries, wavelet(random_allowance(rng, queries.buckets))


# --- what is measured -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", SIZES)
def test_columns_sum_exactly_to_what_the_poorest_bucket_may_spend(k):
    allowance = random_allowance(np.random.default_rng(k), k)
    strategy = wavelet(allowance)
    columns = [sum(abs(int(w)) for w in column) for column in wavelet_rows(strategy).T]
    assert columns == strategy.column_sums().tolist() == [allowance.min()] * k
    assert strategy.difference <= strategy.total <= strategy.difference + strategy.levels, "equal but for rounding"


@pytest.mark.parametrize("k", SIZES)
def test_answers_are_exact_integers(k):
    rng = np.random.default_rng(k)
    strategy, totals = full(k), rng.integers(0, 2**45 // k, k)
    exact = wavelet_rows(strategy).astype(object) @ totals.astype(object)
    answers = strategy.apply(totals)
    assert answers.dtype == np.int64
    assert answers.tolist() == exact.tolist()


def test_applying_leaves_the_totals_alone():
    totals = np.arange(10)
    totals.flags.writeable = False
    full(10).apply(totals)
    assert totals.tolist() == list(range(10))


def test_a_power_of_two_has_as_many_rows_as_buckets_and_orthogonal_ones():
    rows = wavelet_rows(full(32))
    assert rows.shape == (32, 32)
    gram = rows @ rows.T
    assert (gram == np.diag(np.diag(gram))).all()


def test_too_little_budget_is_refused():
    assert wavelet(np.full(8, 4)) == WaveletStrategy(8, 1, 1)
    with pytest.raises(OptionError, match="Hint:"):
        wavelet(np.full(8, 3))


# --- what follows from it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", SIZES)
def test_solution_and_variances_equal_the_dense_ones(k):
    rng = np.random.default_rng(k)
    strategy = wavelet(random_allowance(rng, k))
    rows = wavelet_rows(strategy)
    inverse = covariance(rows)
    answers = rng.normal(size=len(rows))
    exact = np.linalg.lstsq(rows.astype(float), answers, rcond=None)[0]
    np.testing.assert_allclose(strategy.solve(answers), exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())
    ends = np.sort(rng.uniform(0, k, (40, 2)), axis=1)
    ends[:20] = np.floor(ends[:20]) + np.array([0, 1])
    matrix = range_matrix(ends[:, 0], ends[:, 1], k)
    variances = np.einsum("ij,jk,ik->i", matrix, inverse, matrix)
    np.testing.assert_allclose(strategy.range_variances(ends[:, 0], ends[:, 1]), variances, rtol=1e-9)


@pytest.mark.parametrize("seed", range(80))
def test_expected_error_equals_the_dense_one(seed):
    """Cells, prefixes, all ranges, single ranges and queries of several weighted runs, on buckets that they cut."""
    rng = np.random.default_rng(seed)
    queries, strategy = random_case(rng, int(rng.integers(1, 60)))
    dense = np.trace(gram_of(queries) @ covariance(wavelet_rows(strategy)))
    assert strategy.expected_error(queries) == pytest.approx(dense, rel=1e-9)


@pytest.mark.parametrize("k", SIZES)
def test_least_squares_inverts_the_transform(k):
    totals = np.random.default_rng(k).integers(0, 1000, k)
    strategy = full(k)
    np.testing.assert_allclose(strategy.solve(strategy.apply(totals).astype(float)), totals, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 4, 16, 64])
def test_on_a_power_of_two_least_squares_is_the_plain_inverse(k):
    rng = np.random.default_rng(k)
    strategy = full(k)
    answers = rng.normal(size=k)
    exact = np.linalg.inv(wavelet_rows(strategy).astype(float)) @ answers
    np.testing.assert_allclose(strategy.solve(answers), exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [3, 5, 9, 17, 33, 48, 63])
def test_knowing_that_padding_is_empty_beats_estimating_it(k):
    strategy = full(k)
    padded = full(2**strategy.levels)
    lo, hi = (np.array(ends, float) for ends in zip(*itertools.combinations(range(k + 1), 2), strict=True))
    ours, theirs = strategy.range_variances(lo, hi), padded.range_variances(lo, hi)
    assert (ours <= theirs * (1 + 1e-9)).all()
    assert ours.sum() < theirs.sum()


def test_a_closed_workload_costs_what_its_queries_cost_one_by_one():
    strategy = full(300)
    for workload in (workloads.prefixes(300), workloads.all_ranges(300), workloads.identity(300)):
        closed = workload.on_buckets(np.arange(301))
        listed = workload.enumerated().on_buckets(np.arange(301))
        error = strategy.expected_error(closed)
        assert error == pytest.approx(strategy.expected_error(listed), rel=1e-9)
        assert error == pytest.approx(strategy.range_variances(listed.lo, listed.hi).sum(), rel=1e-9)


def test_the_published_variance_bound_holds():
    """Xiao et al. 2010: a range's variance is at most (2 + H) (2 + 2H)² / ε², H = log2 k, where one record is replaced.

    A record that is only added or removed moves the coefficients half as far, which divides the bound by four.
    """
    for k in (16, 256, 1024):
        strategy = full(k)
        lo, last = np.triu_indices(k)
        variance = 2 * strategy.range_variances(lo.astype(float), last + 1.0)
        height = strategy.levels
        assert variance.max() <= (2 + height) * (2 + 2 * height) ** 2 / 4


def test_wavelets_are_about_as_good_as_binary_trees():
    """Li et al. 2010: Haar wavelets and binary trees differ by a constant."""
    queries = workloads.all_ranges(1024).on_buckets(np.arange(1025))
    ratio = full(1024).expected_error(queries) / uniform(np.full(1024, RESOLUTION)).expected_error(queries)
    assert 0.5 < ratio < 1.5


# --- kernels against their twins ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", SIZES)
def test_the_transform_by_hand(k):
    totals = np.random.default_rng(k).integers(0, 100, k)
    by_hand, level = [], totals.tolist()
    while len(level) > 1:
        level += [0] * (len(level) % 2)
        by_hand += [left - right for left, right in zip(level[::2], level[1::2], strict=True)]
        level = [left + right for left, right in zip(level[::2], level[1::2], strict=True)]
    assert kernels.wavelet.transform(totals).tolist() == [*by_hand, *level]


def test_the_inverse_by_hand():
    """Five buckets are a block of four and one of one; the clipped nodes' differences play no part here."""
    differences = np.array([1.0, 3.0, 99.0, 2.0, 99.0, 99.0])
    start = np.array([0, 0, 3, 5, 6])
    blocks = np.array([7.0, 0.0, 10.0, 0.0])
    assert kernels.wavelet.inverse(differences, start, blocks, 5).tolist() == [3.5, 2.5, 3.5, 0.5, 7.0]


# --- release files --------------------------------------------------------------------------------------------------


def test_json_round_trip():
    strategy = full(50)
    data = json.loads(json.dumps(listed(strategy.described())))
    assert data["kind"] == "wavelet"
    assert WaveletStrategy.from_json(data) == strategy


@pytest.mark.parametrize(
    "change",
    [
        {"buckets": 0},
        {"buckets": 4.0},
        {"buckets": True},
        {"buckets": None},
        {"difference": 0},
        {"difference": -5},
        {"difference": "9362"},
        {"total": 0},
        {"total": RESOLUTION},
        {"buckets": 65},
        {"difference": 2**70},
    ],
)
def test_a_changed_file_is_refused(change):
    with pytest.raises(ReleaseError, match="Hint:"):
        WaveletStrategy.from_json({**full(50).described(), **change})
