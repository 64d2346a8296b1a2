"""The search for bumps: its error is exact, its gradient the slope, and what it finds beats trees on maps."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dawa import workloads
from dawa.arrays import listed
from dawa.errors import OptionError
from dawa.layout.curve import Order
from dawa.partition.buckets import Buckets
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import bump_search, choose, tree
from dawa.strategy.base import RESOLUTION
from dawa.strategy.bump_search import Objective
from dawa.strategy.bumps import BumpStrategy, Patches
from dawa.strategy.descent import LARGEST_ENTRY, descend
from helpers.dense import gram_of, random_bounds
from helpers.grids import dense_rows, random_corners, random_pattern, random_stretches, random_tiling


def on_cells(shape, workload):
    """Every cell of a map as a bucket: where it lies, and the queries on it."""
    patches = Patches(shape, Order(shape).flat(), np.arange(np.prod(shape) + 1))
    return patches, workload.on_buckets(patches.bounds)


def full(k):
    return np.full(k, RESOLUTION)


def random_case(seed):
    """A pattern, queries and allowances on a few buckets."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 30))
    pattern = random_pattern(rng, k)
    return rng, pattern, random_stretches(rng, k), RESOLUTION / rng.integers(RESOLUTION // 3, RESOLUTION, k)


def objective(pattern, queries, inverse, kind=np.float64):
    weights = queries.dense().T.astype(kind)
    return Objective(pattern, weights, queries.omega, queries.omega @ queries.dense() ** 2, inverse)


def log_error(pattern, queries, inverse, entries):
    """The logarithm of T with dense matrices."""
    b = dense_rows(pattern, entries)
    matrix = np.vstack((b, np.eye(pattern.buckets))) / (inverse * (1 + b.sum(axis=0)))
    return float(np.log(np.trace(gram_of(queries) @ np.linalg.inv(matrix.T @ matrix))))


# --- the objective --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(12))
def test_the_objective_is_the_exact_error_and_its_gradient_the_slope(seed, kind):
    rng, pattern, queries, inverse = random_case(seed)
    entries = rng.uniform(0.1, 1.5, len(pattern.column))
    value, gradient = objective(pattern, queries, inverse, kind)(entries)
    assert value == pytest.approx(log_error(pattern, queries, inverse, entries), abs=1e-5)
    assert gradient.dtype == np.float64
    for e in rng.permutation(len(entries))[:10]:
        step = np.zeros(len(entries))
        step[e] = 1e-5
        above, below = (log_error(pattern, queries, inverse, entries + move) for move in (step, -step))
        assert gradient[e] == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=2e-5)


@pytest.mark.parametrize("seed", range(12))
def test_a_descent_never_ends_worse_than_it_began_and_keeps_to_the_bounds(seed):
    rng, pattern, queries, inverse = random_case(seed)
    entries = rng.uniform(0, 2, len(pattern.column))
    evaluate = objective(pattern, queries, inverse, np.float32)
    before = evaluate(entries)[0]
    value, found = descend(evaluate, entries, 20, 0.0)
    assert value <= before
    assert value == evaluate(found)[0]
    assert ((found >= 0) & (found <= LARGEST_ENTRY)).all()
    assert log_error(pattern, queries, inverse, found) <= log_error(pattern, queries, inverse, entries) + 1e-5


def test_where_rounding_leaves_no_error_there_is_none_to_descend():
    """As single precision may; here the squares are missing altogether."""
    _, pattern, queries, inverse = random_case(1)
    lost = replace(objective(pattern, queries, inverse), squares=np.zeros(pattern.buckets))
    value, gradient = lost(np.ones(len(pattern.column)))
    assert value == np.inf
    assert not gradient.any()


# --- the bumps to begin with ----------------------------------------------------------------------------------------


def bump(centres, block, touching):
    """One row by its definition: linear along every axis, from the block's middle to its reach."""
    own = centres[block]
    reach = np.maximum(np.sqrt(12) * own.std(axis=0), 1)
    found = {}
    for j in touching:
        fall = np.prod(np.maximum(1 - np.abs(centres[j] - own.mean(axis=0)) / reach, 0))
        found[j] = fall + 0.05 * (j in block) + 0.005
    return found


@pytest.mark.parametrize("seed", range(6))
def test_bumps_begin_on_a_block_and_on_those_that_touch_it(seed):
    rng = np.random.default_rng(seed)
    shape = (9, 14) if seed % 2 else (6, 5, 5)
    boxes = random_tiling(rng, shape, cuts=60)
    partition = Buckets(boxes.bounds, boxes=boxes) if seed % 3 else Buckets(random_bounds(rng, int(np.prod(shape))))
    patches = Patches(shape, partition.order(shape), partition.bounds)
    k = len(patches)
    for sizes in ((4,), (5, 9)):
        pattern, entries = bump_search.bumps(patches, sizes)
        rows = []
        for size in sizes:
            first = np.linspace(0, k, max(1, round(k / size)) + 1).astype(int)
            blocks = [range(a, b) for a, b in pairwise(first)]
            for block, near in zip(blocks, patches.touching(first[:-1]), strict=True):
                rows.append(bump(patches.centres, block, [j for other in near for j in blocks[other]]))
        assert len(pattern) == len(rows)
        expected = np.zeros((len(rows), k))
        for row, found in enumerate(rows):
            expected[row, list(found)] = list(found.values())
            assert pattern.column[pattern.ptr[row] : pattern.ptr[row + 1]].tolist() == sorted(found)
        expected *= 0.65 / expected.sum(axis=0)
        np.testing.assert_allclose(dense_rows(pattern, entries), expected, atol=1e-12)


# --- the search -----------------------------------------------------------------------------------------------------


@pytest.mark.long_but(1)
@pytest.mark.parametrize(
    ("shape", "most"), [((16, 16), 0.93), ((21, 13), 0.93), ((32, 48), 0.77), ((64, 64), 0.76)], ids=str
)
def test_fitted_bumps_beat_the_greedy_tree_on_a_map(shape, most):
    """As a ratio of mean squared errors over the same rectangles, with a margin over what was measured."""
    patches, queries = on_cells(shape, workloads.random_rectangles(shape, 400))
    allowance = full(len(patches))
    found = bump_search.search(queries, allowance, patches, choose.BUMP_STEPS["best"])
    best = min(strategy.expected_error(queries) for strategy in found)
    assert best <= most * tree.greedy(queries, allowance).expected_error(queries)
    assert all((strategy.column_sums() == allowance).all() for strategy in found)


@pytest.mark.long
def test_more_steps_do_better_and_both_better_than_none():
    shape = (24, 24)
    patches, queries = on_cells(shape, workloads.random_rectangles(shape, 300))
    errors = [
        min(found.expected_error(queries) for found in bump_search.search(queries, full(576), patches, steps))
        for steps in (1, 4, 15)
    ]
    assert errors[2] < 0.99 * errors[1]
    assert errors[1] < 0.99 * errors[0]


def test_the_same_input_gives_the_same_strategy():
    patches, queries = on_cells((12, 12), workloads.random_rectangles((12, 12), 100))
    one, two = (bump_search.search(queries, full(144), patches, 4) for _ in range(2))
    assert [listed(strategy.described()) for strategy in one] == [listed(strategy.described()) for strategy in two]


@pytest.mark.parametrize("k", [1, 47])
def test_few_buckets_have_no_bumps(k):
    patches, queries = on_cells((1, k), workloads.random_rectangles((1, k), 20))
    assert bump_search.search(queries, full(k), patches, 4) == []


def test_too_many_buckets_have_none(monkeypatch):
    patches, queries = on_cells((10, 10), workloads.random_rectangles((10, 10), 20))
    monkeypatch.setattr(bump_search, "MOST_BUCKETS_IN_BUMPS", 99)
    assert bump_search.search(queries, full(100), patches, 4) == []


@pytest.mark.parametrize(
    ("k", "choices"),
    [
        (48, [(12,)]),
        (100, [(12,), (24,)]),
        (1000, [(12,), (24,), (40,)]),
        (2500, [(50,)]),
        (2**15, [(48, 1024)]),
    ],
)
def test_blocks_have_the_sizes_that_suit(k, choices):
    assert bump_search._choices(k) == choices


def test_two_scales_of_blocks_go_together(monkeypatch):
    monkeypatch.setattr(bump_search, "FEW_BUCKETS", 50)
    monkeypatch.setattr(bump_search, "MANY_BUCKETS", 300)
    monkeypatch.setattr(bump_search, "TWO_SCALES", (8, 60))
    patches, queries = on_cells((20, 20), workloads.random_rectangles((20, 20), 100))
    (found,) = bump_search.search(queries, full(400), patches, 6)
    assert np.diff(found.ptr).max() > 100, "a row on large blocks"
    assert np.diff(found.ptr)[:40].max() < 60, "and rows on small ones"
    assert found.expected_error(queries) < tree.greedy(queries, full(400)).expected_error(queries)


def test_unequal_allowances_are_kept_and_used():
    rng = np.random.default_rng(5)
    patches, queries = on_cells((12, 12), workloads.random_rectangles((12, 12), 200))
    allowance = rng.integers(RESOLUTION // 4, RESOLUTION + 1, 144)
    found = bump_search.search(queries, allowance, patches, 10)
    assert found
    for strategy in found:
        assert (strategy.column_sums() == allowance).all()
    best = min(strategy.expected_error(queries) for strategy in found)
    assert best < tree.greedy(queries, allowance).expected_error(queries)


@pytest.mark.parametrize(
    "odd",
    [
        lambda k: BucketQueries.of_runs(k, np.zeros(1), np.full(1, float(k))),
        lambda k: BucketQueries.of_runs(k, np.full(300, 2.5), np.full(300, 3.25)),
        lambda k: BucketQueries(k, np.arange(2), np.zeros(1), np.ones(1) * k, np.full(1, 1e-30), np.ones(1), 1.0),
        lambda k: workloads.identity((8, 8)).on_buckets(np.arange(k + 1)),
    ],
    ids=["the total", "part of one cell", "next to nothing", "every cell"],
)
def test_odd_queries_end_in_strategies_that_work(odd):
    patches, _ = on_cells((8, 8), workloads.identity((8, 8)))
    queries = odd(64)
    for strategy in bump_search.search(queries, full(64), patches, 10):
        assert (strategy.column_sums() == RESOLUTION).all()
        assert np.isfinite(strategy.expected_error(queries))
        assert np.isfinite(strategy.solve(np.ones(len(strategy.apply(full(64)))))).all()
    assert choose.choose(queries, full(64), patches=patches).expected_error(queries) > 0


# --- the choice -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_on_maps_the_best_of_bumps_and_trees_is_chosen():
    shape = (16, 16)
    patches, queries = on_cells(shape, workloads.random_rectangles(shape, 200))
    best = choose.choose(queries, full(256), patches=patches)
    assert isinstance(best, BumpStrategy)
    for name in ("bumps", "greedy", "leaves"):
        other = choose.choose(queries, full(256), name, patches=patches)
        assert best.expected_error(queries) <= other.expected_error(queries)
    fast = choose.choose(queries, full(256), effort="fast", patches=patches)
    assert best.expected_error(queries) < fast.expected_error(queries)


def test_single_cells_are_best_measured_alone():
    patches, queries = on_cells((10, 10), workloads.identity((10, 10)))
    assert choose.choose(queries, full(100), patches=patches).expected_error(queries) == pytest.approx(100)


def test_few_buckets_take_a_tree_even_where_bumps_are_asked_for():
    rng = np.random.default_rng(0)
    patches = Patches((4, 4), Order((4, 4)).flat(), np.arange(17))
    queries = workloads.Workload.rectangles(*random_corners(rng, (4, 4), 30), (4, 4)).on_buckets(patches.bounds)
    assert isinstance(choose.choose(queries, full(16), "bumps", patches=patches), tree.TreeStrategy)


def test_there_are_no_bumps_on_a_line():
    queries = workloads.uniform(100, 20).on_buckets(np.arange(101))
    with pytest.raises(OptionError, match="Hint:"):
        choose.choose(queries, full(100), "bumps")
