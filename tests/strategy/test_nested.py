"""Nested sums: every fast path equals the dense matrix that it avoids, for trees of any shape."""

import json

import numpy as np
import pytest

from dawa import kernels
from dawa.arrays import listed
from dawa.errors import ReleaseError
from dawa.layout.nesting import Nesting, crossing, depth_first
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import tree
from dawa.strategy.base import RESOLUTION
from dawa.strategy.nested import NestedStrategy, geometric
from helpers.dense import covariance, gram_of, random_allowance, random_bounds, random_workload, range_matrix


def random_intervals(rng, k):
    """Intervals that lie in one another or apart: cut at random, again and again, some left out."""
    found, nodes = [], [(0, k)]
    while nodes:
        start, stop = nodes.pop()
        if rng.random() < 0.8:
            found.append((start, stop))
        if stop - start > 1 and rng.random() < 0.9:
            cuts = np.unique(rng.integers(start + 1, stop, rng.integers(1, 4)))
            nodes += zip([start, *cuts], [*cuts, stop], strict=True)
    starts, stops = (np.array([pair[side] for pair in found], np.int64) for side in (0, 1))
    order = depth_first(starts, stops)
    return starts[order], stops[order]


def random_strategy(rng, k):
    return geometric(*random_intervals(rng, k), random_allowance(rng, k), rng.uniform(1, 2))


def nested_rows(strategy):
    """The rows as a dense integer matrix, in depth-first order."""
    rows = [
        (int(start), -int(stop), place, int(weight))
        for place, (start, stop, weight) in enumerate(
            zip(
                [*strategy.start, *range(strategy.buckets)],
                [*strategy.stop, *range(1, strategy.buckets + 1)],
                [*strategy.weights, *strategy.leaf],
                strict=True,
            )
        )
    ]
    matrix = np.zeros((len(rows), strategy.buckets), np.int64)
    for at, (start, stop, _, weight) in enumerate(sorted(rows)):
        matrix[at, start:-stop] = weight
    return matrix


# --- the layout -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_nodes_know_what_lies_above_and_below_them(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 40))
    nodes = Nesting.of(k, *random_intervals(rng, k))
    spans = list(zip(nodes.start.tolist(), nodes.stop.tolist(), strict=True))
    assert [spans[i][0] for i in np.flatnonzero(nodes.single)] == list(range(k))
    for i, (start, stop) in enumerate(spans):
        below = range(i + 1, int(nodes.skip[i]))
        assert all(start <= a and b <= stop for a, b in (spans[j] for j in below))
        assert all(a >= stop for a, _ in spans[nodes.skip[i] :])
        around = [j for j in range(i) if spans[j][0] <= start and stop <= spans[j][1]]
        assert nodes.parent[i] == (around[-1] if around else -1)


def test_crossing_intervals_are_told_from_nested_ones():
    assert crossing(np.array([0, 2]), np.array([3, 5]))
    assert crossing(np.array([0, 1, 2]), np.array([9, 4, 5]))
    assert not crossing(np.array([0, 0, 3, 3]), np.array([9, 3, 9, 9]))
    assert not crossing(np.array([], np.int64), np.array([], np.int64))


# --- what is measured -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_columns_sum_exactly_to_their_allowance_and_answers_are_exact(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 60))
    allowance = random_allowance(rng, k)
    strategy = geometric(*random_intervals(rng, k), allowance, rng.uniform(1, 2))
    rows = nested_rows(strategy)
    assert rows.sum(axis=0).tolist() == strategy.column_sums().tolist() == allowance.tolist()
    assert (strategy.leaf >= 1).all()
    totals = rng.integers(0, 2**45 // k, k)
    assert strategy.apply(totals).tolist() == (rows.astype(object) @ totals.astype(object)).tolist()


def test_a_regular_tree_gets_the_weights_of_the_regular_strategy():
    regular = tree.geometric(np.full(64, RESOLUTION), 4)
    starts = np.array([at for width in (64, 16, 4) for at in range(0, 64, width)])
    stops = np.array([at + width for width in (64, 16, 4) for at in range(0, 64, width)])
    order = depth_first(starts, stops)
    nested = geometric(starts[order], stops[order], np.full(64, RESOLUTION), 4 ** (1 / 3))
    lo, hi = (ends.astype(float) for ends in np.triu_indices(65, 1))
    np.testing.assert_allclose(nested.range_variances(lo, hi), regular.range_variances(lo, hi), rtol=1e-3)
    np.testing.assert_allclose(np.unique(nested.weights), np.unique(regular.weights[64:]), atol=3)


def test_buckets_alone_are_a_strategy_too():
    none = np.zeros(0, np.int64)
    strategy = geometric(none, none, np.array([5, 7]), 2.0)
    assert strategy.leaf.tolist() == [5, 7]
    assert strategy.solve(np.array([10.0, 21.0])).tolist() == [2, 3]


# --- what follows from it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_solution_and_variances_equal_the_dense_ones(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 50))
    strategy = random_strategy(rng, k)
    rows = nested_rows(strategy)
    answers = rng.normal(size=len(rows))
    exact = np.linalg.lstsq(rows.astype(float), answers, rcond=None)[0]
    np.testing.assert_allclose(strategy.solve(answers), exact, rtol=1e-8, atol=1e-8 * np.abs(exact).max())
    ends = np.sort(rng.uniform(0, k, (40, 2)), axis=1)
    ends[:20] = np.floor(ends[:20]) + np.array([0, 1])
    matrix = range_matrix(ends[:, 0], ends[:, 1], k)
    variances = np.einsum("ij,jk,ik->i", matrix, covariance(rows), matrix)
    np.testing.assert_allclose(strategy.range_variances(ends[:, 0], ends[:, 1]), variances, rtol=1e-9)


@pytest.mark.parametrize("seed", range(80))
def test_expected_error_and_variances_of_any_workload_equal_the_dense_ones(seed):
    """Cells, prefixes, all ranges, single ranges and queries of several weighted runs, on buckets that they cut."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    queries = random_workload(rng, n).on_buckets(random_bounds(rng, n))
    strategy = random_strategy(rng, queries.buckets)
    inverse = covariance(nested_rows(strategy))
    assert strategy.expected_error(queries) == pytest.approx(np.trace(gram_of(queries) @ inverse), rel=1e-8)
    dense = queries.dense()
    slow = np.einsum("ij,jk,ik->i", dense, inverse, dense)
    np.testing.assert_allclose(strategy.variances(queries), slow, rtol=1e-8, atol=1e-12)


def test_runs_that_share_a_bucket_add_up():
    strategy = random_strategy(np.random.default_rng(1), 6)
    runs = (np.array([0, 3]), np.array([0.25, 0.5, 2.75]), np.array([0.5, 2.25, 5.0]), np.array([1.0, -2.0, 0.5]))
    queries = BucketQueries(6, *runs, np.ones(1), 1.0)
    dense = queries.dense()
    slow = dense @ covariance(nested_rows(strategy)) @ dense.T
    assert strategy.variances(queries) == pytest.approx(slow.ravel(), rel=1e-9)


def test_noise_moves_an_answer_as_far_as_its_variance_says():
    """Chi-square with 4,000 degrees of freedom: outside of ±12% once in ten million runs."""
    rng = np.random.default_rng(5)
    strategy = random_strategy(rng, 30)
    lo, hi = np.array([3.0]), np.array([21.0])
    noise = rng.normal(size=(4000, len(nested_rows(strategy)))) * RESOLUTION
    moved = np.array([strategy.solve(row)[3:21].sum() for row in noise])
    assert (moved**2).mean() == pytest.approx(strategy.range_variances(lo, hi)[0], rel=0.12)


# --- release files --------------------------------------------------------------------------------------------------


def test_json_round_trip():
    strategy = random_strategy(np.random.default_rng(2), 25)
    data = json.loads(json.dumps(listed(strategy.described())))
    assert data["kind"] == "nested"
    back = NestedStrategy.from_json(data)
    for name in ("leaf", "start", "stop", "weights"):
        np.testing.assert_array_equal(getattr(back, name), getattr(strategy, name))


@pytest.mark.parametrize(
    "change",
    [
        {"leaf": []},
        {"leaf": None},
        {"leaf": [1.0, 1, 1, 1]},
        {"leaf": [0, 1, 1, 1]},
        {"leaf": [RESOLUTION, 1, 1, 1]},
        {"start": [0]},
        {"start": [-1, 1]},
        {"start": [1, 0]},
        {"stop": [4, 5]},
        {"stop": [4, 1]},
        {"stop": [2, 3]},
        {"weights": [-1, 1]},
        {"weights": [2**70, 1]},
        {"weights": [RESOLUTION + 1, 1]},
        {"weights": [1]},
    ],
    ids=str,
)
def test_a_changed_file_is_refused(change):
    data = {"kind": "nested", "leaf": [1, 1, 1, 1], "start": [0, 1], "stop": [4, 3], "weights": [2, 2]}
    NestedStrategy.from_json(data)
    with pytest.raises(ReleaseError, match="Hint:"):
        NestedStrategy.from_json({**data, **change})


def test_heights_by_hand():
    nodes = Nesting.of(4, np.array([0, 0]), np.array([4, 2]))
    assert kernels.nested.heights(nodes.skip, nodes.parent).tolist() == [2, 1, 0, 0, 0, 0]
