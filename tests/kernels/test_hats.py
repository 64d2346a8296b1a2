"""The loops of hats against obvious ones, for rows and queries of all sizes."""

import numpy as np
import pytest

from dawa import kernels
from dawa.kernels.native import Kernel
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.hats import IntervalRows, QuerySums

SIZES = [(1, 0, 1), (1, 1, 2), (2, 1, 0), (5, 3, 1), (9, 8, 23), (17, 30, 24), (40, 25, 25), (64, 100, 130)]


@pytest.fixture(params=SIZES, ids=str)
def made(request):
    """Any rows, sorted by right end, with their entries, and queries of up to four runs, some without any."""
    k, p, m = request.param
    rng = np.random.default_rng(k)
    ends = np.sort(rng.integers(0, k + 1, (p, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    start, stop = ends[np.argsort(ends[:, 1], kind="stable")].T
    rows = IntervalRows(k, start.copy(), stop.copy())
    first = np.concatenate(([0], np.cumsum(rng.integers(0, 5, m))))
    borders = [np.sort(rng.uniform(0, k, 2 * n)) for n in np.diff(first)]
    borders = [np.round(b) if rng.random() < 0.5 else b for b in borders]
    lo, hi = (np.concatenate([np.zeros(0), *(b[side::2] for b in borders)]) for side in (0, 1))
    queries = BucketQueries(k, first, lo, hi, rng.normal(size=len(lo)), rng.uniform(0, 2, m), float(m))
    return rng, rows, rng.uniform(0, 2, len(rows.column)), queries


def dense(rows, entries):
    matrix = np.zeros((len(rows), rows.buckets), entries.dtype)
    matrix[rows.row, rows.column] = entries
    return matrix


def test_products_are_those_of_the_matrix(made):
    rng, rows, entries, _ = made
    x, y = rng.normal(size=rows.buckets), rng.normal(size=len(rows))
    times = kernels.hats.times(rows.start, rows.ptr, entries, x)
    np.testing.assert_allclose(times, dense(rows, entries) @ x, rtol=1e-12, atol=1e-12)
    back = kernels.hats.transposed_times(rows.start, rows.ptr, entries, y, rows.buckets)
    np.testing.assert_allclose(back, y @ dense(rows, entries), rtol=1e-12, atol=1e-12)


def test_products_of_whole_numbers_are_exact(made):
    rng, rows, entries, _ = made
    whole, x = rng.integers(0, 2**30, len(entries)), rng.integers(-(2**25), 2**25, rows.buckets)
    exact = kernels.hats.times_exactly(rows.start, rows.ptr, whole, x)
    assert exact.dtype == np.int64
    assert exact.tolist() == [sum(int(w) * int(n) for w, n in zip(row, x, strict=True)) for row in dense(rows, whole)]


def test_running_sums_begin_anew_in_each_row(made):
    rng, rows, entries, _ = made
    scale = rng.uniform(0.5, 2, rows.buckets)
    sums = kernels.hats.running_sums(rows.start, rows.ptr, entries, scale)
    for r, (begin, end) in enumerate(zip(rows.start, rows.stop, strict=True)):
        products = entries[rows.ptr[r] : rows.ptr[r + 1]] * scale[begin:end]
        found = sums[rows.ptr[r] + r : rows.ptr[r + 1] + r + 1]
        assert found.tolist() == [0.0, *np.cumsum(products).tolist()]


@pytest.mark.long_but(5)
@pytest.mark.parametrize("wide", [False, None])
def test_the_error_of_queries_with_any_runs(made, wide, monkeypatch):
    monkeypatch.setattr(kernels.hats, "_error", Kernel("hats_error", wide=wide))
    rng, rows, entries, queries = made
    scale = rng.uniform(0.5, 2, rows.buckets)
    b, w, omega = dense(rows, entries), queries.dense(), queries.omega
    inverse = np.linalg.inv(np.eye(len(rows)) + b @ b.T)
    f = b @ (scale * w).T
    a = inverse @ f
    total = omega @ ((scale * w) ** 2).sum(axis=1) - omega @ (f * a).sum(axis=0)
    cross = (a * omega) @ w
    slopes = 2 * ((a * omega) @ a.T @ b - scale * cross)
    by_scale = 2 * scale * (omega @ w**2) - 2 * (b * cross).sum(axis=0)

    found, by_entry, found_by_scale = QuerySums.of(queries).error(rows, entries, scale, gradient=True)
    assert found == pytest.approx(total, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(by_entry, slopes[rows.row, rows.column], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found_by_scale, by_scale, rtol=1e-7, atol=1e-9)
    alone, no_slopes, _ = QuerySums.of(queries).error(rows, entries, scale, gradient=False)
    assert alone == found
    assert not no_slopes.any()
