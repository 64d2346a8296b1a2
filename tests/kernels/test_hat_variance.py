"""The variance of any range, against the dense covariance."""

import numpy as np
import pytest

from dawa import kernels, workloads
from dawa.strategy import hats
from dawa.strategy.base import RESOLUTION
from dawa.strategy.hats import HatStrategy, IntervalRows


def covariance(strategy):
    rows = np.zeros((len(strategy.rows), strategy.buckets))
    rows[strategy.rows.row, strategy.rows.column] = strategy.weights
    matrix = np.vstack((rows, np.diag(strategy.leaf))) / RESOLUTION
    return np.linalg.inv(matrix.T @ matrix)


def all_kinds_of_ranges(rng, k, count=150):
    """Whole and fractional ends, ranges inside one bucket, the whole line, and empty ones."""
    ends = np.sort(rng.uniform(0, k, (count, 2)), axis=1)
    ends[: count // 3] = np.round(ends[: count // 3])
    ends[count // 3 : count // 2, 0] = np.floor(ends[count // 3 : count // 2, 0])
    inside = np.sort(rng.uniform(0, 1, (10, 2)), axis=1) + rng.integers(0, k, (10, 1))
    return np.vstack((ends, inside, [[0, k], [0, 0], [k, k], [k / 3, k / 3]])).T.copy()


def expected(strategy, lo, hi):
    edges = np.arange(strategy.buckets + 1)
    queries = np.diff(np.clip(edges, lo[:, None], hi[:, None]), axis=1)
    return np.einsum("ij,jk,ik->i", queries, covariance(strategy), queries)


@pytest.mark.parametrize("seed", range(25))
def test_any_rows(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 41))
    ends = np.sort(rng.integers(0, k + 1, (int(rng.integers(0, 3 * k)), 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    start, stop = ends[np.argsort(ends[:, 1], kind="stable")].T
    rows = IntervalRows(k, start.copy(), stop.copy())
    allowance = rng.integers(RESOLUTION // 3, RESOLUTION + 1, k)
    strategy = HatStrategy.rounded(rows, rng.uniform(0, 1.5, len(rows.column)), allowance)
    lo, hi = all_kinds_of_ranges(rng, k)
    np.testing.assert_allclose(strategy.range_variances(lo, hi), expected(strategy, lo, hi), rtol=1e-9, atol=1e-12)


@pytest.mark.long_but(5)
@pytest.mark.parametrize("stretch", [1, 2, 3, 16, 64])
@pytest.mark.parametrize("widths", [(4,), (3, 20), (3, 11, 70)])
def test_hats(widths, stretch, monkeypatch):
    monkeypatch.setattr(hats, "STRETCH", stretch)
    rng = np.random.default_rng(1)
    rows, entries, _ = hats.hat_rows(211, widths)
    strategy = HatStrategy.rounded(rows, entries * rng.uniform(0.2, 1.5, len(entries)), np.full(211, RESOLUTION))
    lo, hi = all_kinds_of_ranges(rng, 211, 400)
    np.testing.assert_allclose(strategy.range_variances(lo, hi), expected(strategy, lo, hi), rtol=1e-9, atol=1e-12)


def test_large_sizes_agree_with_a_solve():
    k = 20_000
    queries = workloads.uniform(k, 20).on_buckets(np.arange(k + 1))
    strategy = hats.from_table(queries, np.full(k, RESOLUTION))
    one_by_one = [strategy._variance(query) for query in queries.dense()]
    np.testing.assert_allclose(strategy.range_variances(queries.lo, queries.hi), one_by_one, rtol=1e-9)


def test_a_register_is_shared_by_rows_that_are_never_open_together():
    rows, _, _ = hats.hat_rows(1000, (5, 60))
    later = [[r for r in range(q + 1, len(rows)) if rows.near[r] <= q] for q in range(len(rows))]
    ptr = np.concatenate(([0], np.cumsum([len(row) for row in later])))
    register, count = kernels.hats.registers(ptr, np.concatenate(later).astype(np.int64))
    assert count <= 6
    for q, open_rows in enumerate(later):
        held = register[[q, *open_rows]]
        assert len(set(held.tolist())) == len(held)
