"""Nested intervals against slow twins, on trees of every shape; ``tests/strategy`` has least squares and variances."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import nested as kernel
from dawa.layout.nesting import Nesting
from dawa.queries.bucket_queries import BucketQueries

seeds = st.integers(0, 2**32)


def divided(rng, shape, most):
    """A box cut at random, again and again, into at most so many: inner nodes, and every node's corners."""
    found, leaves = [], 1

    def add(lo, hi):
        nonlocal leaves
        axis = int(rng.integers(len(lo)))
        place = len(found)
        found.append([lo, hi, 1])
        if hi[axis] - lo[axis] < 2 or leaves >= most:
            return 1
        leaves += 1
        cut = int(rng.integers(lo[axis] + 1, hi[axis]))
        found[place][2] = add(lo, tuple(cut if a == axis else x for a, x in enumerate(hi))) + add(
            tuple(cut if a == axis else x for a, x in enumerate(lo)), hi
        )
        return found[place][2]

    add((0,) * len(shape), shape)
    single = np.array([below == 1 for *_, below in found])
    start = np.cumsum(single) - single
    stop = start + [below for *_, below in found]
    corners = (np.array([node[side] for node in found]) for side in (0, 1))
    return Nesting.of(int(single.sum()), start[~single], stop[~single]), *corners


def random_case(seed, most=40):
    rng = np.random.default_rng(seed)
    shape = tuple(int(side) for side in rng.integers(1, 30, rng.integers(1, 5)))
    return rng, shape, *divided(rng, shape, most)


def covered(lo, hi, box_lo, box_hi):
    """The part of each box that each query covers."""
    inside = np.minimum(hi[:, None], box_hi) - np.maximum(lo[:, None], box_lo)
    return (np.maximum(inside, 0) / (box_hi - box_lo)).prod(axis=2)


@settings(deadline=None)
@given(seeds)
def test_overlaps_equal_the_covered_part_of_every_single_box(seed):
    rng, shape, nodes, box_lo, box_hi = random_case(seed)
    lo, hi = np.sort(rng.uniform(0, shape, (2, 9, len(shape))), axis=0)
    lo[:3], hi[:3] = np.floor(lo[:3]), np.ceil(hi[:3])
    found = kernel.overlaps(np.asfortranarray(lo), hi, np.asfortranarray(box_lo), box_hi, *nodes[:3])
    single = nodes.single
    dense = BucketQueries(int(single.sum()), *found, np.ones(9), 9.0).dense()
    np.testing.assert_allclose(dense, covered(lo, hi, box_lo[single], box_hi[single]), rtol=1e-12, atol=1e-15)
    begin, start, stop, share = found
    for a, b in pairwise(begin):
        assert (start[a:b] < stop[a:b]).all()
        assert (stop[a : b - 1] <= start[a + 1 : b]).all()
        assert not ((stop[a : b - 1] == start[a + 1 : b]) & (share[a : b - 1] == share[a + 1 : b])).any()


@pytest.mark.parametrize("queries", [1, 50])
def test_stretches_that_need_more_room_than_there_was_at_first(queries):
    """Cells in a row, each covered to another part: each is a stretch of its own."""
    k = 3000
    nodes = Nesting.of(k, np.array([0]), np.array([k]))
    box_lo = np.stack((nodes.start, np.zeros(k + 1, np.int64)), axis=1)
    box_hi = np.stack((nodes.stop, 1 + nodes.start), axis=1)
    box_hi[0, 1] = k
    lo, hi = np.zeros((queries, 2)), np.tile([k, 0.5], (queries, 1))
    begin, start, stop, share = kernel.overlaps(lo, hi, box_lo, box_hi, *nodes[:3])
    assert begin.tolist() == [k * q for q in range(queries + 1)]
    assert start.tolist() == list(range(k)) * queries
    assert (stop == start + 1).all()
    assert share == pytest.approx(np.tile(0.5 / np.arange(1, k + 1), queries))


@settings(deadline=None)
@given(seeds)
def test_what_lies_above_and_below_a_node(seed):
    _, _, nodes, _, _ = random_case(seed)
    assert kernel.parents(nodes.skip).tolist() == nodes.parent.tolist()
    levels = kernel.heights(nodes.skip, nodes.parent)
    for i, above in enumerate(nodes.parent):
        assert above == max((j for j in range(i) if nodes.skip[j] > i), default=-1)
        below = [levels[j] for j in range(len(levels)) if nodes.parent[j] == i]
        assert levels[i] == max(below, default=-1) + 1


@settings(deadline=None)
@given(seeds)
def test_moments_equal_the_dense_ones(seed):
    rng, _, nodes, _, _ = random_case(seed)
    weights = np.where(nodes.single, rng.uniform(0.1, 1, len(nodes.skip)), rng.choice([0, 0.3, 1], len(nodes.skip)))
    m, s = kernel.moments(weights, nodes.skip, nodes.parent)
    for i in range(len(m)):
        inside = slice(i, nodes.skip[i])
        cells = np.arange(nodes.start[i], nodes.stop[i])
        rows = (nodes.start[inside, None] <= cells) & (cells < nodes.stop[inside, None])
        matrix = rows * weights[inside, None]
        assert m[i] == pytest.approx(np.linalg.inv(matrix.T @ matrix).sum(), rel=1e-9)
        assert s[i] == pytest.approx(m[nodes.parent == i].sum(), rel=1e-12)


@settings(deadline=None)
@given(seeds)
def test_whole_weights_use_up_what_every_bucket_has(seed):
    rng, _, nodes, _, _ = random_case(seed)
    levels = kernel.heights(nodes.skip, nodes.parent)
    share, allowance = rng.uniform(0, 0.9, levels.max() + 1), rng.integers(1, 2**16, int(nodes.single.sum()))
    weights = kernel.integer_weights(share, levels, nodes.start, nodes.skip, nodes.parent, allowance)
    for i in range(len(weights)):
        used = sum(weights[j] for j in range(i) if nodes.skip[j] > i)
        if nodes.single[i]:
            assert weights[i] == allowance[nodes.start[i]] - used
        else:
            assert weights[i] == int(share[levels[i]] * int(allowance.min() - used))


def test_no_nodes_and_no_queries():
    none = np.zeros(0, np.int64)
    assert not kernel.parents(none).size
    nodes = Nesting.of(2, none, none)
    m, s = kernel.moments(np.ones(2), nodes.skip, nodes.parent)
    assert (m.tolist(), s.tolist()) == ([1, 1], [0, 0])
    runs = (np.zeros(1, np.int64), *[np.zeros(0)] * 3)
    assert not kernel.variances(*runs, nodes.start, nodes.stop, np.ones(2), m, s, nodes.skip, 0).size
    box = np.array([[0], [1]])
    begin, *stretches = kernel.overlaps(np.zeros((0, 1)), np.zeros((0, 1)), box, box + 1, *nodes[:3])
    assert begin.tolist() == [0]
    assert not np.concatenate(stretches).size


def test_arrays_of_another_size_are_refused():
    nodes = Nesting.of(3, np.array([0]), np.array([3]))
    start, stop, skip, parent = nodes
    m, s = kernel.moments(np.ones(4), skip, parent)
    runs, box, allowance = (np.array([0, 1]), *[np.ones(1)] * 3), np.zeros((4, 1), np.int64), np.full(3, 9)
    refused = [
        lambda: kernel.moments(np.ones(3), skip, parent),
        lambda: kernel.least_squares(np.ones(5), np.ones(4), m, s, skip, parent),
        lambda: kernel.heights(skip, parent[1:]),
        lambda: kernel.integer_weights(np.ones(2), start[1:], start, skip, parent, allowance),
        lambda: kernel.variances(*runs, start, stop, np.ones(4), m, s[1:], skip, 1),
        lambda: kernel.variances(runs[0], np.zeros(0), *runs[2:], start, stop, np.ones(4), m, s, skip, 1),
        lambda: kernel.overlaps(np.zeros((1, 2)), np.ones((1, 2)), box, box + 1, *nodes[:3]),
        lambda: kernel.overlaps(np.zeros((1, 1)), np.ones((2, 1)), box, box + 1, *nodes[:3]),
    ]
    for call in refused:
        with pytest.raises(InvariantError):
            call()
