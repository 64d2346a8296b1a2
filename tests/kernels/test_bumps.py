"""Sums over scattered entries equal dense products, in every type of number that callers use."""

import numpy as np
import pytest

from dawa.errors import InvariantError
from dawa.kernels import bumps
from dawa.strategy.bumps import Pattern

SIZES = [(0, 1, 0), (1, 1, 1), (2, 3, 2), (3, 7, 15), (5, 20, 16), (4, 33, 17), (6, 12, 67)]
"""Rows, buckets and queries."""


def pattern_of(rng, rows, k):
    columns = [np.flatnonzero(rng.integers(0, 2, k)) for _ in range(rows)]
    ptr = np.concatenate(([0], np.cumsum([len(column) for column in columns]))).astype(np.int64)
    return Pattern(k, ptr, np.concatenate([np.zeros(0, np.int64), *columns]))


def dense(pattern, entries):
    rows = np.zeros((len(pattern), pattern.buckets), np.asarray(entries).dtype)
    rows[pattern.row, pattern.column] = entries
    return rows


def whole(rng, *shape):
    """Small whole numbers: their sums are exact in every type, and in every order."""
    return rng.integers(-9, 10, shape)


@pytest.mark.parametrize(("rows", "k", "number"), SIZES)
@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f4", "f8"), ("f8", "f8")])
def test_rows_times_queries(rows, k, number, kinds):
    rng = np.random.default_rng(k)
    pattern = pattern_of(rng, rows, k)
    entries, queries = whole(rng, len(pattern.column)), whole(rng, k, number)
    found = bumps.times(pattern.ptr, pattern.column, entries.astype(kinds[0]), queries.astype(kinds[1]))
    assert found.dtype == kinds[1]
    assert found.tolist() == (dense(pattern, entries) @ queries).tolist()


@pytest.mark.parametrize(("rows", "k"), [(rows, k) for rows, k, _ in SIZES])
def test_rows_times_whole_numbers_are_exact(rows, k):
    rng = np.random.default_rng(k)
    pattern = pattern_of(rng, rows, k)
    entries, numbers = rng.integers(0, 2**16, len(pattern.column)), rng.integers(0, 2**45 // max(k, 1), k)
    found = bumps.times_exactly(pattern.ptr, pattern.column, entries, numbers)
    assert found.dtype == np.int64
    each = [sum(int(w) * int(n) for w, n in zip(row, numbers, strict=True)) for row in dense(pattern, entries)]
    assert found.tolist() == each


@pytest.mark.parametrize(("rows", "k", "number"), SIZES)
@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f4", "f8"), ("f8", "f8")])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_answers_and_queries(rows, k, number, kinds, order):
    rng = np.random.default_rng(k)
    pattern = pattern_of(rng, rows, k)
    answers, queries = whole(rng, rows, number), whole(rng, k, number)
    found = bumps.products(
        pattern.ptr, pattern.column, answers.astype(kinds[0], order), queries.astype(kinds[1], order)
    )
    assert found.dtype == np.float64
    assert found.tolist() == (answers @ queries.T)[pattern.row, pattern.column].tolist()


@pytest.mark.parametrize(("kind", "tolerance"), [("f4", 1e-5), ("f8", 1e-13)])
def test_products_of_numbers_of_all_sizes(kind, tolerance):
    rng = np.random.default_rng(0)
    pattern = pattern_of(rng, 5, 40)
    answers, queries = (rng.lognormal(0, 3, (n, 600)).astype(kind) for n in (5, 40))
    exact = (answers.astype(np.float64) @ queries.T.astype(np.float64))[pattern.row, pattern.column]
    np.testing.assert_allclose(bumps.products(pattern.ptr, pattern.column, answers, queries), exact, rtol=tolerance)


@pytest.mark.parametrize(("rows", "k"), [size[:2] for size in SIZES])
def test_entries_of_neighbours(rows, k):
    rng = np.random.default_rng(k)
    pattern = pattern_of(rng, rows, k)
    entries, matrix = whole(rng, len(pattern.column)) / 8, whole(rng, rows, rows) / 2
    found = bumps.neighbours(
        pattern.ptr, pattern.column, entries, pattern.column_ptr, pattern.order, pattern.row, np.asfortranarray(matrix)
    )
    assert found.tolist() == (matrix @ dense(pattern, entries))[pattern.row, pattern.column].tolist()


def queries_of(rng, k, number):
    """Queries of several runs with gaps between them, which begin and end at quarters of buckets; some are empty."""
    first, lo, hi = [0], [], []
    for _ in range(number):
        at = 0
        while rng.random() < 0.8 and at < k:
            begin, end = np.sort(rng.integers(4 * at, 4 * k + 1, 2)) / 4
            lo.append(begin)
            hi.append(end)
            at = int(np.ceil(end)) + 1
        first.append(len(lo))
    return np.array(first), np.array(lo, np.float64), np.array(hi, np.float64), whole(rng, len(lo)) / 2


def weights_of(k, first, lo, hi, weight):
    edges = np.arange(k + 1)
    found = np.zeros((len(first) - 1, k))
    for q in range(len(found)):
        for r in range(first[q], first[q + 1]):
            found[q] += weight[r] * np.diff(np.clip(edges, lo[r], hi[r]))
    return found


@pytest.mark.parametrize(("rows", "k", "number"), SIZES)
def test_sums_of_queries(rows, k, number):
    rng = np.random.default_rng(k)
    pattern = pattern_of(rng, rows, k)
    queries = queries_of(rng, k, number)
    entries, scale = whole(rng, len(pattern.column)) / 8, rng.integers(1, 9, k) / 4
    scaled = weights_of(k, *queries) * scale
    for begin in (0, number // 2):  # some of the queries, with the runs of all of them
        sums, squares = bumps.of_queries(
            queries[0][begin:].copy(),
            *queries[1:],
            scale,
            pattern.column_ptr,
            pattern.order,
            pattern.row,
            entries,
            rows,
        )
        assert sums.tolist() == (scaled @ dense(pattern, entries).T)[begin:].tolist()
        assert squares.tolist() == (scaled**2).sum(axis=1)[begin:].tolist()


@pytest.mark.parametrize(("rows", "k", "number"), SIZES)
def test_weights_of_queries(rows, k, number):
    queries = queries_of(np.random.default_rng(rows), k, number)
    found = bumps.dense(*queries, k)
    assert found.dtype == np.float32
    assert found.tolist() == weights_of(k, *queries).T.tolist()


def test_what_does_not_belong_together_is_refused():
    ptr, column, entries = np.array([0, 2, 3]), np.array([0, 1, 4]), np.ones(3)
    pattern = Pattern(5, ptr, column)
    weights = np.ones((5, 6))
    with pytest.raises(InvariantError, match="4 buckets"):
        bumps.times(ptr, column, entries, weights[:4])
    with pytest.raises(InvariantError, match="5 buckets"):
        bumps.times(ptr, column - 1, entries, weights)
    with pytest.raises(InvariantError, match="as many entries"):
        bumps.times(ptr, column, entries[1:], weights)
    with pytest.raises(TypeError, match="safe"):
        bumps.times(ptr, column, entries, weights.astype(np.float32))
    with pytest.raises(KeyError):
        bumps.times(ptr, column, entries, weights.astype(np.int64))
    with pytest.raises(InvariantError, match="4 buckets"):
        bumps.times_exactly(ptr, column, np.ones(3, np.int64), np.ones(4, np.int64))
    with pytest.raises(InvariantError, match="float64"):
        bumps.times_exactly(ptr, column, np.ones(3, np.int64), np.ones(5))
    with pytest.raises(InvariantError, match="answers"):
        bumps.products(ptr, column, np.ones((2, 5)), weights)
    with pytest.raises(InvariantError, match="matrix"):
        bumps.neighbours(ptr, column, entries, pattern.column_ptr, pattern.order, pattern.row, np.ones((1, 2)))


@pytest.mark.parametrize(
    ("first", "lo", "hi", "complaint"),
    [
        ([0, 2], [0.0], [1.0], "agree"),
        ([-1, 1], [0.0], [1.0], "agree"),
        ([0, 1], [0.0, 2.0], [1.0], "agree"),
        ([0, 1], [-0.5], [1.0], "beyond 3"),
        ([0, 1], [0.0], [3.5], "beyond 3"),
        ([0, 1], [np.nan], [1.0], "beyond 3"),
    ],
)
def test_queries_that_are_not_on_the_buckets_are_refused(first, lo, hi, complaint):
    with pytest.raises(InvariantError, match=complaint):
        bumps.dense(np.array(first), np.array(lo), np.array(hi), np.ones(len(lo)), 3)


def test_entries_of_other_buckets_are_refused():
    runs = np.array([0, 1]), np.zeros(1), np.ones(1), np.ones(1)
    none = np.zeros(0, np.int64)
    with pytest.raises(InvariantError, match="not those of the buckets"):
        bumps.of_queries(*runs, np.ones(3), np.zeros(3, np.int64), none, none, np.zeros(0), 0)
