"""Products of wavelets: every fast path equals the dense Kronecker product that it avoids, for any shape."""

import json
import math
from functools import reduce

import numpy as np
import pytest

import dawa
from dawa.arrays import listed
from dawa.errors import OptionError, ReleaseError
from dawa.partition.buckets import by_rows
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION
from dawa.strategy.product import ProductStrategy, product, run_boxes
from dawa.strategy.wavelet import WaveletStrategy
from helpers.dense import covariance, wavelet_rows

SHAPES = [(1, 1), (1, 5), (3, 4), (4, 4), (7, 6), (8, 3), (2, 3, 5), (3, 1, 4), (2, 2, 3, 3)]


def full(shape):
    return product(shape, np.full(math.prod(shape), RESOLUTION))


def product_rows(strategy):
    """The rows as a dense integer matrix."""
    axes = [wavelet_rows(WaveletStrategy(side, 1, 1)) for side in strategy.shape]
    return strategy.weight * reduce(np.kron, axes)


def random_boxes(rng, shape, m, *, whole):
    ends = np.sort(rng.uniform(0, 1, (m, 2, len(shape))), axis=1) * np.array(shape)
    if whole:
        ends = np.floor(ends) + np.array([0, 1])[None, :, None]
    return ends[:, 0], ends[:, 1]


# --- what is measured -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_record_moves_the_answers_by_exactly_the_column_sum(shape):
    strategy = full(shape)
    columns = np.abs(product_rows(strategy)).sum(axis=0)
    assert columns.tolist() == strategy.column_sums().tolist()
    for cell in range(strategy.buckets):
        record = (np.arange(strategy.buckets) == cell).astype(np.int64)
        assert np.abs(strategy.apply(record)).sum() == columns[cell] <= RESOLUTION
    assert (strategy.weight + 1) * (columns[0] // strategy.weight) > RESOLUTION, "no room for more"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_answers_are_exact_integers(shape):
    rng = np.random.default_rng(1)
    strategy = full(shape)
    totals = rng.integers(0, 2**45 // strategy.buckets, strategy.buckets)
    exact = product_rows(strategy).astype(object) @ totals.astype(object)
    assert strategy.apply(totals).tolist() == exact.tolist()


def test_the_most_records_there_can_be_fit():
    strategy = full((8, 8))
    totals = np.zeros(64, np.int64)
    totals[17] = 2**45
    assert np.abs(strategy.apply(totals)).astype(object).sum() == 2**45 * strategy.column_sum


def test_little_of_the_budget_is_wasted():
    for shape in ((256, 256), (1024, 1024), (100, 37), (64, 64, 64), (40, 40, 40, 40)):
        assert full(shape).column_sum > 0.95 * RESOLUTION


def test_too_little_budget_is_refused():
    assert product((2, 2), np.full(4, 4)).weight == 1
    with pytest.raises(OptionError, match="Hint:"):
        product((2, 2), np.full(4, 3))


# --- what follows from it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_solution_equals_the_dense_one(shape):
    strategy = full(shape)
    rows = product_rows(strategy)
    answers = np.random.default_rng(2).normal(size=len(rows))
    exact = np.linalg.lstsq(rows.astype(float), answers, rcond=None)[0]
    np.testing.assert_allclose(strategy.solve(answers), exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("whole", [True, False])
def test_variances_of_boxes_equal_the_dense_ones(shape, whole):
    """Whole boxes, and boxes that cut cells."""
    rng = np.random.default_rng(3)
    strategy = full(shape)
    workload = dawa.Workload.rectangles(*random_boxes(rng, shape, 30, whole=whole), shape)
    queries = by_rows(shape).queries(workload)
    dense = queries.dense()
    exact = np.einsum("ij,jk,ik->i", dense, covariance(product_rows(strategy)), dense)
    np.testing.assert_allclose(strategy.variances(queries), exact, rtol=1e-8)
    assert strategy.expected_error(queries) == pytest.approx(exact.sum(), rel=1e-8)
    few = queries.thinned(7)
    assert strategy.expected_error(few) == pytest.approx(few.omega @ strategy.variances(few))
    without = BucketQueries(queries.buckets, queries.first, queries.lo, queries.hi, queries.weight, queries.omega, 30.0)
    np.testing.assert_allclose(strategy.variances(without), exact, rtol=1e-7, atol=1e-9 * exact.max())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_variances_of_runs_of_cells_equal_the_dense_ones(shape):
    rng = np.random.default_rng(4)
    strategy = full(shape)
    ends = np.sort(rng.uniform(0, strategy.buckets, (30, 2)), axis=1)
    ends[:10] = np.floor(ends[:10]) + np.array([0, 1])
    ends[10:15, 0] = np.floor(ends[10:15, 0])
    ends[10:15, 1] = ends[10:15, 0] + 1
    queries = BucketQueries.of_runs(strategy.buckets, ends[:, 0], ends[:, 1])
    dense = queries.dense()
    exact = np.einsum("ij,jk,ik->i", dense, covariance(product_rows(strategy)), dense)
    np.testing.assert_allclose(strategy.variances(queries), exact, rtol=1e-7, atol=1e-9 * exact.max())


def test_every_cell_has_its_variance():
    shape = (5, 6)
    strategy = full(shape)
    queries = by_rows(shape).queries(dawa.workloads.identity(shape))
    exact = np.diag(covariance(product_rows(strategy)))
    np.testing.assert_allclose(strategy.variances(queries), exact, rtol=1e-9)


def test_queries_of_a_line_are_refused():
    queries = dawa.workloads.all_ranges(16).on_buckets(np.arange(17))
    with pytest.raises(OptionError, match="Hint:"):
        full((4, 4)).expected_error(queries)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_run_of_cells_is_its_boxes(shape):
    size = math.prod(shape)
    rng = np.random.default_rng(5)
    for _ in range(50):
        lo, hi = np.sort(rng.uniform(0, size, 2))
        if rng.random() < 0.5:
            lo, hi = np.floor(lo), np.floor(hi) + 1
        covered = np.zeros(shape)
        for low, high in run_boxes(lo, hi, shape):
            sides = [
                np.clip(np.minimum(b, np.arange(1, n + 1)) - np.maximum(a, np.arange(n)), 0, 1)
                for a, b, n in zip(low, high, shape, strict=True)
            ]
            covered += reduce(np.multiply.outer, sides)
        line = np.diff(np.clip(np.arange(size + 1), lo, hi))
        np.testing.assert_allclose(covered.ravel(), line, atol=1e-9)


# --- release files --------------------------------------------------------------------------------------------------


def test_json_round_trip():
    strategy = full((9, 4, 2))
    data = json.loads(json.dumps(listed(strategy.described())))
    assert data["kind"] == "product"
    assert ProductStrategy.from_json(data) == strategy


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [9]},
        {"shape": [2, 2, 2, 2, 2]},
        {"shape": [9, 0]},
        {"shape": [2**20, 2**20]},
        {"shape": [9, 4.0]},
        {"shape": None},
        {"weight": 0},
        {"weight": 1.5},
        {"weight": True},
        {"weight": RESOLUTION},
    ],
    ids=str,
)
def test_a_changed_file_is_refused(change):
    with pytest.raises(ReleaseError, match="Hint:"):
        ProductStrategy.from_json({**full((9, 4)).described(), **change})
