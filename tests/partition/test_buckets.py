"""Partitions: what each kind of bucket may still spend, which bounds queries need, what a stop says."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import workloads
from dawa.partition.buckets import Buckets, StopRule
from dawa.partition.split import split_table
from dawa.queries.workload import Workload
from helpers.examples import examples

RESOLUTION = 2**16
shares = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


@st.composite
def partitions(draw, *, most=20):
    """Buckets of any widths, some spared, with what they paid, out of a budget."""
    widths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=most))
    bounds = np.concatenate(([0], np.cumsum(widths)))
    spared = np.array(draw(st.lists(st.booleans(), min_size=len(widths), max_size=len(widths))))
    epsilon = draw(st.fractions(Fraction(1, 1000), 20, max_denominator=1000))
    least, most_spent = sorted((draw(shares) * epsilon, draw(shares) * epsilon))
    stops = StopRule(split_table(Fraction(1), 0.15, 0.3), np.arange(len(widths)))
    return epsilon, Buckets(bounds, most_spent, least, spared, stops)


# --- allowance ------------------------------------------------------------------------------------------------------


@examples(200)
@given(partitions())
def test_records_of_each_kind_lose_at_most_epsilon(case):
    epsilon, partition = case
    allowed = partition.allowance(epsilon, RESOLUTION)
    scale = RESOLUTION / (epsilon - partition.spent_least)
    for spared, weight in zip(partition.spared.tolist(), allowed.tolist(), strict=True):
        paid = partition.spent_least if spared else partition.spent
        loss = paid + weight / scale
        assert loss <= epsilon
        assert loss == epsilon if spared else loss > epsilon - 1 / scale, "nothing but rounding is left over"


def test_buckets_that_all_paid_alike_may_have_everything():
    for spared in (None, np.zeros(3, bool)):
        partition = Buckets(np.arange(4), Fraction(1, 4), Fraction(1, 4), spared)
        assert partition.allowance(Fraction(1), RESOLUTION).tolist() == [RESOLUTION] * 3


# --- merged ---------------------------------------------------------------------------------------------------------


@st.composite
def asked(draw):
    epsilon, partition = draw(partitions())
    n = int(partition.bounds[-1])
    pairs = list(itertools.combinations(range(n + 1), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=4))
    return epsilon, partition, Workload.ranges([a for a, _ in chosen], [b for _, b in chosen], n)


@examples(200)
@given(asked(), st.integers(0, 2**32))
def test_merging_changes_no_answer_whatever_the_totals(case, seed):
    _, partition, workload = case
    merged = partition.merged(workload)
    assert set(merged.bounds.tolist()) <= set(partition.bounds.tolist())
    assert merged.bounds[[0, -1]].tolist() == partition.bounds[[0, -1]].tolist()
    totals = np.random.default_rng(seed).normal(0, 100, len(partition))
    groups = np.searchsorted(partition.bounds, merged.bounds[:-1])
    before = workload.on_buckets(partition.bounds).dense() @ totals
    after = workload.on_buckets(merged.bounds).dense() @ np.add.reduceat(totals, groups)
    np.testing.assert_allclose(after, before, atol=1e-9)


@pytest.mark.long
@examples(200)
@given(asked())
def test_merging_drops_every_bound_that_nothing_needs(case):
    """A bound goes if and only if no query tells its two buckets apart, and both have paid alike."""
    _, partition, workload = case
    merged = partition.merged(workload)
    matrix = workload.on_buckets(partition.bounds).dense()
    cuts, kept = set(workload.cuts().tolist()), set(merged.bounds.tolist())
    for b, bound in enumerate(partition.bounds[1:-1].tolist()):
        between = range(int(partition.bounds[b]) + 1, int(partition.bounds[b + 2]))
        needed = not cuts.isdisjoint(between) or partition.spared[b] != partition.spared[b + 1]
        assert (bound in kept) == needed
        if not needed:
            np.testing.assert_allclose(matrix[:, b], matrix[:, b + 1], atol=1e-12)


@pytest.mark.long
@examples(200)
@given(asked())
def test_merging_carries_payments_and_stops_along(case):
    epsilon, partition, workload = case
    merged = partition.merged(workload)
    assert (merged.spent, merged.spent_least) == (partition.spent, partition.spent_least)
    assert len(merged.spared) == len(merged.stops.depth) == len(merged)
    for b in range(len(merged)):
        own = np.flatnonzero(
            (partition.bounds[:-1] >= merged.bounds[b]) & (partition.bounds[1:] <= merged.bounds[b + 1])
        )
        assert (partition.spared[own] == merged.spared[b]).all()
        assert merged.stops.depth[b] == (partition.stops.depth[own[0]] if len(own) == 1 else -1)
    assert merged.allowance(epsilon, RESOLUTION).max() <= RESOLUTION


@given(partitions())
def test_nothing_is_merged_where_everything_is_asked(case):
    _, partition = case
    every_cell = workloads.identity(int(partition.bounds[-1]))
    assert partition.merged(every_cell) is partition
    assert partition.merged(every_cell.enumerated()) is partition


# --- stops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "theta"), [("0.02", 0.3), ("0.15", 0.3), ("1", -0.7), ("3", 0.3)])
@pytest.mark.parametrize("chance", [0.06, 0.006, 1e-4])
def test_a_walk_rarely_leaves_a_bucket_whole_whose_score_exceeds_the_bound(epsilon, theta, chance):
    """Exact probabilities along paths whose scores do not grow downwards, constant ones and random ones."""
    table = split_table(Fraction(epsilon), 0.15, theta)
    depth = np.arange(12)
    bound = StopRule(table, depth).uneven(chance)
    stop = table.stop_probability()
    rng = np.random.default_rng(1)
    largest = 2 * len(stop) + 20 * table.step
    paths = [np.full(12, score) for score in np.unique(np.geomspace(1, largest, 200).astype(int))]
    paths += [np.sort(rng.integers(0, rng.integers(2, largest), 12))[::-1] for _ in range(200)]
    worst = 0.0
    for scores in paths:
        stops = stop[table.points(scores, depth)]
        reached = np.concatenate(([1.0], np.cumprod(1 - stops)[:-1]))
        worst = max(worst, float((reached * stops)[scores > bound].sum()))
    assert worst <= chance
    assert np.isinf(bound).all() or worst > chance / 10, "the check has teeth"


def test_where_no_walk_stopped_nothing_is_known():
    table = split_table(Fraction(1), 0.15, 0.3)
    bound = StopRule(table, np.array([0, -1, 2])).uneven(0.01)
    assert np.isinf(bound).tolist() == [False, True, False]
    assert bound[2] == bound[0] + 2 * table.step, "each level of depth makes a stop less telling"
