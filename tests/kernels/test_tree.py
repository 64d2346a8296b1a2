"""Passes over a t-ary tree against one row per node, on trees of every size; ``tests/strategy`` has the queries."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import tree as kernel
from dawa.strategy.tree import level_offsets

shapes = st.tuples(st.integers(1, 70), st.integers(2, 9))
seeds = st.integers(0, 2**32)


def covers(k, t):
    """Which leaves lie below each node."""
    offset = level_offsets(k, t)
    rows = np.zeros((offset[-1], k), np.int64)
    for level, (begin, end) in enumerate(pairwise(offset)):
        for i in range(end - begin):
            rows[begin + i, i * t**level : (i + 1) * t**level] = 1
    return rows


@settings(deadline=None)
@given(shapes, seeds)
def test_sums_are_exact(shape, seed):
    rng, rows, offset = np.random.default_rng(seed), covers(*shape), level_offsets(*shape)
    totals, weights = rng.integers(0, 2**56, shape[0]), rng.integers(0, 2**16, len(rows))
    assert kernel.node_totals(totals, shape[1], offset).tolist() == (rows @ totals).tolist()
    given_weights = weights.copy()
    assert kernel.column_sums(weights, shape[1], offset).tolist() == (weights @ rows).tolist()
    assert (weights == given_weights).all(), "what is given does not change"


@settings(deadline=None)
@given(shapes, seeds)
def test_moments_equal_the_dense_ones(shape, seed):
    rng, rows, offset = np.random.default_rng(seed), covers(*shape), level_offsets(*shape)
    weights = rng.uniform(0, 1, len(rows)) * rng.integers(0, 2, len(rows))
    weights[: shape[0]] = rng.uniform(0.1, 1, shape[0])
    m, s = kernel.moments(weights, shape[1], offset)
    for level, (begin, end) in enumerate(pairwise(offset)):
        for node in range(begin, end):
            leaves = rows[node] > 0
            inside = [i for i in range(node + 1) if rows[i, leaves].any()]
            matrix = rows[inside][:, leaves] * weights[inside, None]
            assert m[node] == pytest.approx(np.linalg.inv(matrix.T @ matrix).sum(), rel=1e-9)
            children = [i for i in inside if level and offset[level - 1] <= i < begin]
            assert s[node] == pytest.approx(m[children].sum(), rel=1e-12)


def weights_by_hand(chosen, allowance, t, offset):
    """Whole weights, node by node from the root, in exact fractions."""
    rows, levels = covers(len(allowance), t), len(offset) - 1
    weights, kept = [0] * len(rows), [Fraction(1)] * len(rows)
    for level in range(levels - 1, -1, -1):
        for i in range(offset[level + 1] - offset[level]):
            node, used = offset[level] + i, 0
            for above in range(level + 1, levels):
                used += weights[offset[above] + i // t ** (above - level)]
            if level < levels - 1:
                parent = offset[level + 1] + i // t
                kept[node] = kept[parent] / (1 + Fraction(chosen[parent]))
            if level == 0:
                weights[node] = int(allowance[i]) - used
                continue
            poorest, rho = int(allowance[rows[node] > 0].min()), Fraction(chosen[node])
            wanted = int(kept[node] * rho / (1 + rho) * poorest)
            weights[node] = max(min(wanted, poorest - used - max(poorest // 1024, 1)), 0)
    return weights


@settings(deadline=None)
@given(shapes, seeds)
def test_whole_weights_equal_those_in_exact_fractions(shape, seed):
    rng, offset = np.random.default_rng(seed), level_offsets(*shape)
    chosen = rng.choice([0.0, 1 / 2, 1.7, 900.3], offset[-1]) * rng.uniform(0.9, 1, offset[-1])
    allowance = rng.integers(2, 2**16, shape[0])
    found = kernel.integer_weights(chosen, allowance, shape[1], offset)
    assert found.tolist() == weights_by_hand(chosen, allowance, shape[1], offset)


def small():
    """A tree over five leaves, and all that belongs to it."""
    offset, weights = level_offsets(5, 2), np.linspace(0.5, 1, 11)
    return offset, weights, *kernel.moments(weights, 2, offset)


def test_an_empty_range_and_a_query_without_runs_have_no_variance():
    """A range may be so short that both of its ends are the same number, even the very last one."""
    offset, weights, m, s = small()
    ends = np.array([0.0, 2.5, 4, 5])
    assert not kernel.range_variances(ends, ends, weights, m, s, 2, offset).any()
    runs = (np.array([0, 1, 1]), np.array([0.0]), np.array([5.0]), np.array([2.0]))
    assert kernel.variances(*runs, weights, m, s, 2, offset).tolist() == [4 * m[-1], 0]
    assert not kernel.range_variances(ends[:0], ends[:0], weights, m, s, 2, offset).size


def test_no_queries_have_no_error_and_leave_everything_to_the_leaves():
    offset, weights, m, s = small()
    none, differences = (np.zeros(1, np.int64), *[np.zeros(0)] * 3), False
    assert kernel.total_error(*none, np.zeros(0), differences, weights, 2, offset) == 0
    assert not kernel.ratios(*none, np.zeros(0), differences, np.ones(5), 2, offset).any()
    assert not kernel.variances(*none, weights, m, s, 2, offset).size


def test_columns_of_a_matrix_are_ends_like_others():
    offset, weights, m, s = small()
    ends = np.array([[0, 3.5], [1.25, 1.5], [2, 5]])
    apart = kernel.range_variances(ends[:, 0], ends[:, 1], weights, m, s, 2, offset)
    assert (apart == kernel.range_variances(*ends.T.copy(), weights, m, s, 2, offset)).all()


def test_arrays_of_another_size_are_refused():
    offset, weights, m, s = small()
    runs, short = (np.array([0, 2]), np.zeros(2), np.ones(2), np.ones(2)), np.ones(1)
    differences = False
    refused = [
        lambda: kernel.ratios(*runs, short, differences, np.ones(4), 2, offset),
        lambda: kernel.ratios(*runs, np.ones(2), differences, np.ones(5), 2, offset),
        lambda: kernel.integer_weights(weights[1:], np.ones(5, np.int64), 2, offset),
        lambda: kernel.integer_weights(weights, np.ones(6, np.int64), 2, offset),
        lambda: kernel.column_sums(np.ones(12, np.int64), 2, offset),
        lambda: kernel.node_totals(np.ones(11, np.int64), 2, offset),
        lambda: kernel.moments(weights[1:], 2, offset),
        lambda: kernel.least_squares(weights[1:], weights, 2, offset),
        lambda: kernel.total_error(runs[0], short, *runs[2:], short, differences, weights, 2, offset),
        lambda: kernel.range_variances(np.zeros(2), short, weights, m, s, 2, offset),
        lambda: kernel.variances(runs[0], short, short, short, weights, m, s, 2, offset),
        lambda: kernel.variances(*runs, weights, m, s[1:], 2, offset),
    ]
    for call in refused:
        with pytest.raises(InvariantError):
            call()
