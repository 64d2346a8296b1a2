"""Trees against dense matrices, and the paper's greedy choice against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from dawa import kernels, workloads
from dawa.arrays import listed
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import tree
from dawa.strategy.base import RESOLUTION
from helpers.dense import covariance, gram_of, random_allowance, random_bounds, random_workload, range_matrix, tree_rows
from helpers.examples import examples
from helpers.grids import random_corners, random_shape

seeds = st.integers(0, 2**32)


def every_tree(queries, allowance, branching):
    return [
        tree.greedy(queries, allowance, branching),
        tree.level_optimised(queries, allowance, branching),
        tree.uniform(allowance, branching),
        tree.geometric(allowance, branching),
        tree.leaves_only(allowance, branching),
    ]


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 50))
    queries = random_workload(rng, n).on_buckets(random_bounds(rng, n))
    return rng, queries, random_allowance(rng, queries.buckets), int(rng.integers(2, 6))


@examples(60)
@given(seeds)
def test_columns_sum_exactly_to_their_allowance_and_every_leaf_is_measured(seed):
    _, queries, allowance, branching = random_case(seed)
    for strategy in every_tree(queries, allowance, branching):
        columns = [sum(int(w) for w in column) for column in tree_rows(strategy).T]
        assert columns == allowance.tolist() == strategy.column_sums().tolist()
        assert strategy.weights.min() >= 0
        assert strategy.weights[: queries.buckets].min() >= 1


@examples(60)
@given(seeds)
def test_expected_error_solution_and_variances_equal_the_dense_ones(seed):
    rng, queries, allowance, branching = random_case(seed)
    k = queries.buckets
    ends = np.sort(rng.uniform(0, k, (20, 2)), axis=1)
    ends[:10] = np.floor(ends[:10]) + np.array([0, 1])
    for strategy in every_tree(queries, allowance, branching):
        rows = tree_rows(strategy)
        inverse = covariance(rows)
        dense_error = np.trace(gram_of(queries) @ inverse)
        assert strategy.expected_error(queries) == pytest.approx(dense_error, rel=1e-9)
        answers = rng.normal(size=len(rows))
        exact = np.linalg.lstsq(rows.astype(float), answers, rcond=None)[0]
        np.testing.assert_allclose(strategy.solve(answers), exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())
        matrix = range_matrix(ends[:, 0], ends[:, 1], k)
        dense_variances = np.einsum("ij,jk,ik->i", matrix, inverse, matrix)
        np.testing.assert_allclose(strategy.range_variances(ends[:, 0], ends[:, 1]), dense_variances, rtol=1e-9)


@examples(40)
@given(seeds)
def test_answers_are_exact_integers_and_least_squares_inverts_them(seed):
    rng, queries, allowance, branching = random_case(seed)
    totals = rng.integers(0, 2**45 // queries.buckets, queries.buckets)
    for strategy in every_tree(queries, allowance, branching):
        exact = tree_rows(strategy).astype(object) @ totals.astype(object)
        assert strategy.apply(totals).tolist() == exact.tolist()
        small = totals % 1000
        np.testing.assert_allclose(strategy.solve(strategy.apply(small).astype(float)), small, atol=1e-6)


def paper_objective(gram, apart, decay, inverse_of_children, share):
    """The trace that the paper minimises for one node, with plain matrices."""
    inside = np.linalg.inv(inverse_of_children) * (1 - share) ** 2 + share**2
    return np.trace((decay * gram + (1 - decay) * apart) @ np.linalg.inv(inside))


def greedy_by_definition(queries, branching):
    """The paper's Algorithm 2 with dense matrices: shares λ of every node, bottom up."""
    gram, k = gram_of(queries), queries.buckets
    offset = tree.level_offsets(k, branching)
    levels = len(offset) - 1
    chosen = np.zeros(offset[-1])
    inverse = [np.eye(1) for _ in range(k)]
    for level in range(1, levels):
        width, children, merged = branching**level, branching ** (level - 1), []
        decay = branching ** (-(levels - 1 - level) / 2)
        for i in range(offset[level + 1] - offset[level]):
            lo, hi = i * width, min((i + 1) * width, k)
            parts = inverse[i * branching : (i + 1) * branching]
            block = np.zeros((hi - lo, hi - lo))
            apart = np.zeros_like(block)
            at = 0
            for part in parts:
                stop = at + len(part)
                block[at:stop, at:stop] = part
                apart[at:stop, at:stop] = gram[lo + at : lo + stop, lo + at : lo + stop]
                at = stop
            assert children * len(parts) >= hi - lo
            whole = gram[lo:hi, lo:hi]
            found = minimize_scalar(
                lambda share, w=whole, a=apart, b=block, d=decay: paper_objective(w, a, d, b, share),
                bounds=(0.05, 0.999),
                method="bounded",
                options={"xatol": 1e-12},
            )
            start = paper_objective(whole, apart, decay, block, 0.0)
            share = found.x if found.fun < start * (1 - 1e-12) else 0.0
            chosen[offset[level] + i] = share
            merged.append(np.linalg.inv(np.linalg.inv(block) * (1 - share) ** 2 + share**2))
        inverse = merged
    return chosen, np.trace(gram @ inverse[0])


@pytest.mark.parametrize("seed", range(12))
def test_greedy_objective_equals_the_papers_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 24))
    queries = random_workload(rng, n).on_buckets(random_bounds(rng, n))
    branching = int(rng.integers(2, 5))
    arrays = (queries.first, queries.lo, queries.hi, queries.weight, queries.omega, queries.differences)
    offset = tree.level_offsets(queries.buckets, branching)
    ratios = kernels.tree.ratios(*arrays, np.ones(queries.buckets), branching, offset)
    shares, objective = greedy_by_definition(queries, branching)
    scale = np.ones(offset[-1])
    ours = ratios / (1 + ratios)
    for level in range(len(offset) - 3, -1, -1):
        for i in range(offset[level + 1] - offset[level]):
            parent = offset[level + 1] + i // branching
            scale[offset[level] + i] = scale[parent] * (1 - ours[parent])
    weights = np.where(np.arange(offset[-1]) < offset[1], scale, scale * ours)
    total = kernels.tree.total_error(*arrays, weights, branching, offset)
    assert total == pytest.approx(objective, rel=1e-9)
    inner = shares < 0.99  # beyond, the optimum is flat
    np.testing.assert_allclose(ours[inner], shares[inner], atol=1e-4)


def test_greedy_puts_everything_on_the_leaves_for_the_identity_workload():
    for n in (1, 2, 7, 64, 1000):
        queries = workloads.identity(n).on_buckets(np.arange(n + 1))
        strategy = tree.greedy(queries, np.full(n, RESOLUTION))
        assert (strategy.weights[:n] == RESOLUTION).all()
        assert not strategy.weights[n:].any()


def test_figures_of_the_design_for_trees():
    """RMSE at ε = 1 of the paper's greedy weights, as the design measured them with dense matrices."""
    for workload, expected in ((workloads.all_ranges(1024), 14.0), (workloads.uniform(4096), 18.9)):
        queries = workload.on_buckets(np.arange(workload.size + 1))
        strategy = tree.greedy(queries, np.full(workload.size, RESOLUTION))
        assert np.sqrt(2 * strategy.expected_error(queries) / queries.total) == pytest.approx(expected, abs=0.1)


def test_optimised_levels_beat_fixed_and_greedy_ones():
    queries = workloads.all_ranges(300).on_buckets(np.arange(301))
    allowance = np.full(300, RESOLUTION)
    best = tree.level_optimised(queries, allowance, 16).expected_error(queries)
    for other in (
        tree.greedy(queries, allowance),
        tree.uniform(allowance, 16),
        tree.geometric(allowance, 16),
    ):
        assert best < other.expected_error(queries)


def test_a_single_query_for_the_total_is_measured_at_the_root():
    queries = workloads.Workload.ranges([0], [64], 64).on_buckets(np.arange(65))
    strategy = tree.greedy(queries, np.full(64, RESOLUTION))
    assert strategy.weights[-1] > 0.9 * RESOLUTION


def test_json_round_trip():
    queries = workloads.uniform(50, 30).on_buckets(np.arange(51))
    strategy = tree.greedy(queries, np.full(50, RESOLUTION), 3)
    again = tree.TreeStrategy.from_json(listed(strategy.described()))
    assert again.name == strategy.name
    assert (again.weights == strategy.weights).all()
    assert again.expected_error(queries) == strategy.expected_error(queries)


# --- queries of many runs -------------------------------------------------------------------------------------------


def stretches(rng, k, m):
    """Queries of stretches of whole buckets, sorted and disjoint, which may touch and weigh anything."""
    first, lo, hi, weight = [0], [], [], []
    for _ in range(m):
        ends = np.unique(np.concatenate((rng.integers(0, k + 1, rng.integers(1, 14)), rng.choice([0, k], 1))))
        ends = ends if len(ends) > 1 else np.array([0, k])
        kept = rng.random(len(ends) - 1) < 0.7
        kept[int(rng.integers(len(kept)))] = True
        lo, hi = [*lo, *ends[:-1][kept]], [*hi, *ends[1:][kept]]
        weight += rng.choice([1.0, 1.0, 0.3, -1.5], kept.sum()).tolist()
        first.append(len(lo))
    arrays = (np.array(first), np.array(lo, np.float64), np.array(hi, np.float64), np.array(weight))
    return BucketQueries(k, *arrays, np.ones(m), float(m))


@examples(100)
@given(seeds)
def test_variances_of_queries_of_many_runs_equal_the_dense_ones(seed):
    rng = np.random.default_rng(seed)
    k, branching = int(rng.integers(1, 80)), int(rng.integers(2, 7))
    weights = rng.integers(0, RESOLUTION, tree.level_offsets(k, branching)[-1]) * rng.integers(0, 2)
    weights[:k] = rng.integers(1, RESOLUTION, k)
    strategy = tree.TreeStrategy("any", branching, tree.level_offsets(k, branching), weights)
    queries = stretches(rng, k, 12)
    rows, inverse = queries.dense(), covariance(tree_rows(strategy))
    expected = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    found = kernels.tree.variances(
        queries.first, queries.lo, queries.hi, queries.weight, *moments(strategy), branching, strategy.offset
    )
    scale = np.abs(rows).sum(axis=1) ** 2 * np.diag(inverse).max()
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12 * scale.max())
    np.testing.assert_allclose(strategy.variances(queries), found, rtol=1e-9, atol=1e-12 * scale.max())


def moments(strategy):
    scaled = strategy.weights / RESOLUTION
    return scaled, *kernels.tree.moments(scaled, strategy.branching, strategy.offset)


@pytest.mark.long
@examples(40)
@given(seeds)
def test_rectangles_on_a_map_have_the_dense_variances(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    bounds = random_bounds(rng, int(np.prod(shape)))
    queries = workloads.Workload.rectangles(*random_corners(rng, shape, 10), shape).on_buckets(bounds)
    strategy = tree.greedy(queries, random_allowance(rng, queries.buckets), int(rng.integers(2, 6)))
    rows = queries.dense()
    expected = np.einsum("ij,jk,ik->i", rows, covariance(tree_rows(strategy)), rows)
    np.testing.assert_allclose(strategy.variances(queries), expected, rtol=1e-8)
    assert strategy.expected_error(queries) == pytest.approx(expected.sum(), rel=1e-8)
