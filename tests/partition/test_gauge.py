"""The walk with a gauge: its privacy on every tree over a few cells, its rule as a law, its error bars over seeds."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.counts import Counts
from dawa.errors import DawaError, InvariantError
from dawa.layout.curve import Order
from dawa.limits import MOST_CELLS
from dawa.noise import gates
from dawa.noise.randomness import Seeded
from dawa.partition import Gauge, gauge
from dawa.partition.gauge import MOST_CUTS, crowding, cut_once, cuts, loss, parameters_for, pieces
from dawa.partition.walk import Nodes
from helpers.examples import examples
from helpers.trees import Fours, brute_score, fours, pairs_of_neighbours, spans

EPSILON = Fraction(4)
CLOSE = Gauge(walk_share=Fraction(1, 4), second_share=Fraction(1, 3), many=5, block=4, dense=4, crowded=9)
"""Shares that are worth a look on a few cells, and blocks that can be dense there; never a second walk."""


def nodes_of(tree):
    heights = [2 * math.ceil(math.log(b - a, 4) - 1e-9) for a, b, _ in tree]
    return Nodes(*(np.array(part) for part in ([a for a, _, _ in tree], heights, [depth for _, _, depth in tree])))


# --- privacy, exactly -----------------------------------------------------------------------------------------------


class Gauged:
    """Runs the step with its tree and its noisy numbers forced; notes what it measured, and with which scale."""

    def __init__(self, monkeypatch):
        self.patch = monkeypatch

    def __call__(self, cells, tree, numbers):
        def noisy(totals, scale, _):
            self.exact, self.scale = totals, scale
            return np.resize(np.array(numbers), len(totals))

        with self.patch.context() as patch:
            patch.setattr(gauge, "walk", lambda *_, **__: nodes_of(tree))
            patch.setattr(gates, "noisy", noisy)
            return CLOSE.choose_buckets(Counts.of(cells).exposed, len(cells), EPSILON, None)


def losses(size, count, monkeypatch, halved=1):
    """The largest loss over all trees and pairs of neighbours: of records in dense blocks, and of all others."""
    run, table = Gauged(monkeypatch), parameters_for(EPSILON, CLOSE).table
    worst, every = {True: 0.0, False: 0.0}, list(fours(0, size))
    for cells, other, cell in pairs_of_neighbours(size, count, seed=4):
        one, two = Fours(cells, table), Fours(other, table)
        for tree in every:
            lost = abs(one.tree(spans(tree), 0, size) - two.tree(spans(tree), 0, size))
            first = run(cells, tree, [0, 40, 5])
            mine = run.exact
            second = run(other, tree, [0, 40, 5])
            assert first.bounds.tolist() == second.bounds.tolist(), "given both rounds, buckets are fixed"
            assert first.spared.tolist() == second.spared.tolist()
            spared = bool(first.spared[np.searchsorted(first.bounds, cell, side="right") - 1])
            lost += halved * int(np.abs(mine - run.exact).sum()) / float(run.scale)
            worst[spared] = max(worst[spared], lost)
    return worst


@pytest.mark.parametrize("size", [13, 16])
def test_no_record_loses_more_than_its_shares_on_any_tree(size, monkeypatch):
    walked, gauged = map(float, CLOSE.losses(EPSILON))
    worst = losses(size, 30, monkeypatch)
    assert 0.4 * walked < worst[True] <= walked + 1e-12
    assert 0.6 * (walked + gauged) < worst[False] <= walked + gauged + 1e-12


def test_the_same_check_catches_half_the_noise(monkeypatch):
    walked, gauged = map(float, CLOSE.losses(EPSILON))
    assert losses(16, 30, monkeypatch, halved=2)[False] > 1.05 * (walked + gauged)


def test_nor_on_any_pair_of_trees_if_a_second_walk_follows():
    """A pair loses the sum along both trees; each is drawn given the first as ``walk.md`` says."""
    size, plan = 16, parameters_for(EPSILON, CLOSE)
    walked, second = map(float, CLOSE.losses(EPSILON))
    firsts = [(tree, gauge.dense_leaves(nodes_of(tree), CLOSE)) for tree in fours(0, size)]
    worst = 0.0
    for cells, other, cell in pairs_of_neighbours(size, 60, seed=3):
        one, two, a, b = (Fours(x, table) for table in (plan.table, plan.second) for x in (cells, other))
        for tree, dense in firsts:
            lost = one.tree(spans(tree), 0, size) - two.tree(spans(tree), 0, size)
            (mine,) = [i for i, (start, stop, _) in enumerate(tree) if start <= cell < stop]
            if not dense[mine]:
                for below in fours(*tree[mine][:2]):
                    more = a.tree(spans(below), *tree[mine][:2]) - b.tree(spans(below), *tree[mine][:2])
                    worst = max(worst, abs(lost + more))
    assert 0.4 * (walked + second) < worst <= walked + second + 1e-12


@pytest.mark.parametrize("crowded", [-1.0, 9.0])
def test_the_first_tree_alone_says_what_follows(crowded, monkeypatch):
    """A second walk starts from the leaves that are not dense and has the second table; else the gauge is asked."""
    cells, options, asked = np.random.default_rng(0).poisson(3, 16), replace(CLOSE, crowded=crowded), []
    plan, exposed = parameters_for(EPSILON, options), Counts.of(cells).exposed

    def noisy(totals, *_):
        asked.append("gauge")
        return totals

    for tree in fours(0, 16):
        first = nodes_of(tree)

        def walk(_exposed, _size, roots, table, *_, first=first, **__):
            if table is plan.table:
                return first
            kept = first.where(~gauge.dense_leaves(first, options))
            assert (table, roots.start.tolist(), roots.depth.any()) == (plan.second, kept.start.tolist(), False)
            asked.append("walk")
            return roots

        monkeypatch.setattr(gauge, "walk", walk)
        monkeypatch.setattr(gates, "noisy", noisy)
        found = options.choose_buckets(exposed, 16, EPSILON, None)
        assert asked == (["walk"] if crowded < 0 else ["gauge"])
        assert (found.stops is None) == (asked.pop() == "gauge")
        assert found.spent == sum(options.losses(EPSILON)), "both cost the same"


def test_crowding_is_how_much_deeper_leaves_lie_than_in_a_balanced_tree():
    for levels in range(4):
        assert crowding(Nodes(np.zeros(4**levels), np.zeros(4**levels), np.full(4**levels, levels)), 4) == 0
    chain = np.append(np.repeat(np.arange(1, 9), 3), 8)
    assert crowding(Nodes(chain, chain, chain), 4) == pytest.approx(chain.mean() - math.log(25, 4))


def test_parts_hold_the_scores_that_the_proof_speaks_of(monkeypatch):
    cells = np.random.default_rng(1).poisson(3, 21)
    run = Gauged(monkeypatch)
    for tree in fours(0, 21):
        run(cells, tree, [0])
        found = cut_once(nodes_of(tree).where(~gauge.dense_leaves(nodes_of(tree), CLOSE)), 21, 4)
        assert run.exact.tolist() == [
            brute_score(cells[a:b].tolist()) for a, b in zip(found.start, found.stop(21), strict=True)
        ]


def test_the_certified_loss_is_within_the_shares():
    for epsilon in (Fraction(1, 100), Fraction(1, 2), Fraction(100)):
        assert loss(epsilon, Gauge()) <= sum(Gauge().losses(epsilon))
        assert loss(epsilon, Gauge()) > sum(Gauge().losses(epsilon)) * Fraction(999, 1000)


def test_it_refuses_to_start_with_too_little_noise(monkeypatch):
    exposed = Counts.of([1] * 16).exposed
    plan, twice = (parameters_for(epsilon, CLOSE) for epsilon in (EPSILON, EPSILON * Fraction(3, 2)))
    for broken in (
        replace(plan, scale=plan.scale / 2),
        replace(plan, table=twice.table),
        replace(plan, second=twice.second),
    ):
        monkeypatch.setattr(gauge, "parameters_for", lambda *_, broken=broken: broken)
        with pytest.raises(InvariantError):
            CLOSE.choose_buckets(exposed, 16, EPSILON, None)


# --- the rule -------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20), st.integers(0, 31), st.sampled_from([2, 4, 16]))
def test_a_part_has_the_number_of_buckets_nearest_to_what_its_unevenness_is_worth(uneven, levels, fan):
    options, bits = Gauge(fan=fan), fan.bit_length() - 1
    height = np.full(len(uneven), levels // bits * bits)
    found = cuts(np.array(uneven), height, Fraction(1, 10), options)
    for number, cut in zip(uneven, found.tolist(), strict=True):
        worth = max(number * 0.1 / options.per_bucket, 1)
        away = [abs(math.log(worth) - j * math.log(fan)) for j in range(MOST_CUTS + 1)]
        best = {min(j, levels // bits) for j in range(MOST_CUTS + 1) if away[j] < min(away) + 1e-9}  # two are as near
        assert cut in best


@examples(60)
@given(st.integers(1, 300), st.integers(0, 2**32), st.sampled_from(["0.1", "1", "30"]))
def test_buckets_divide_any_domain(size, seed, epsilon):
    rng = np.random.default_rng(seed)
    counts = Counts.of(rng.poisson(rng.gamma(0.2, 50, size)))
    options = Gauge(many=4, block=16, dense=4, crowded=rng.uniform(0, 1))
    found = options.choose_buckets(counts.exposed, size, Fraction(epsilon), Seeded(seed))
    assert (found.bounds[0], found.bounds[-1]) == (0, size)
    assert (np.diff(found.bounds) > 0).all()
    assert len(found.spared) == len(found)
    assert (np.diff(found.bounds)[found.spared] == 1).all()
    assert found.spent_least <= found.spent < Fraction(epsilon)


@examples(60)
@given(st.integers(1, 300), st.lists(st.integers(0, MOST_CUTS), min_size=1, max_size=8))
def test_pieces_are_equal_stretches_of_their_part(size, wanted):
    parts = cut_once(cut_once(gauge.whole(size, 4), size, 4), size, 4)
    cut = np.minimum(np.resize(wanted, len(parts.start)), parts.height // 2)
    start = pieces(parts, size, cut, 4).tolist()
    expected = [
        at
        for begin, height, times in zip(parts.start.tolist(), parts.height.tolist(), cut.tolist(), strict=True)
        for at in range(begin, begin + 2**height, 2**height // 4**times)
        if at < size
    ]
    assert start == expected
    assert start[0] == 0


def test_even_counts_stay_whole_and_uneven_counts_are_cut():
    rough = np.zeros((64, 64), np.int64)
    rough[::2, ::2] = 900
    many, few = (
        dawa.estimate(x, epsilon=1, effort="fast", partition=Gauge(), seed=0) for x in (rough, np.full((64, 64), 225))
    )
    assert len(few.buckets) < 200
    assert len(many.buckets) > 2000


def test_few_records_on_a_huge_map_make_few_buckets():
    """However large the domain: a part has 64 buckets at most, and noise asks for few of them."""
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, MOST_CELLS, 500))
    exposed = Counts.sparse((MOST_CELLS,), cells, np.ones(len(cells), np.int64)).exposed
    assert 20 < len(Gauge().choose_buckets(exposed, MOST_CELLS, Fraction(1), Seeded(1))) < 2000


def test_on_a_square_map_buckets_are_squares():
    side = 32
    counts = Counts.of(np.random.default_rng(2).poisson(np.random.default_rng(3).gamma(0.1, 100, (side, side))))
    found = Gauge().choose_buckets(counts.exposed, side**2, Fraction(1, 20), Seeded(1))
    widths = np.diff(found.bounds)
    assert len(set(widths.tolist())) > 2
    for start, width in zip(found.bounds[:-1].tolist(), widths.tolist(), strict=True):
        cells = Order((side, side)).cells(np.arange(start, start + width))
        assert (np.ptp(cells, axis=0) + 1).tolist() == [math.isqrt(width)] * 2


# --- as a part of dawa ----------------------------------------------------------------------------------------------


def test_options_are_plain_values_in_a_release():
    found = dawa.estimate(np.ones((8, 8), int), epsilon=1, partition=Gauge(walk_share="0.05"), seed=0)
    assert json.loads(json.dumps(found.options))["partition"]["second_share"] == "4/25"
    assert sum(found.split.values()) == 1
    assert Gauge(walk_share=0.05, per_bucket="6") == Gauge()


def test_totals_are_unbiased_and_spread_as_they_say():
    """Over seeds, buckets differ; whole-domain totals divided by their stated deviation are standard."""
    counts = np.random.default_rng(5).poisson(np.random.default_rng(6).gamma(0.2, 20, (32, 32)))
    asked = dawa.Workload.rectangles([[0, 0]], [[32, 32]], (32, 32))
    found = []
    for seed in range(200):
        est = dawa.estimate(
            counts, asked, epsilon=1, seed=seed, partition=Gauge(), strategy="greedy", postprocess="none"
        )
        found.append(float(est.answers(asked)[0] - counts.sum()) / math.sqrt(est.variances(asked)[0]))
    assert abs(np.mean(found)) < 5 / math.sqrt(200)
    assert abs(np.mean(np.square(found)) - 1) < 5 * math.sqrt(5 / 200)  # kurtosis of Laplace sums: at most 6


@pytest.mark.long
def test_intervals_hold_the_truth_as_often_as_promised():
    """40 runs of 20 rectangles; those of a run depend on one another, so the bound counts runs."""
    rng = np.random.default_rng(7)
    i, j = np.minimum(rng.gamma(2, 3, 4000), 31).astype(int), np.minimum(rng.gamma(1, 6, 4000), 31).astype(int)
    table = {"a": i, "b": j}
    counts = np.zeros((32, 32), int)
    np.add.at(counts, (i, j), 1)
    asked = dawa.workloads.random_rectangles((32, 32), 20, seed=8)
    truth, axes = asked.answers(counts), [dawa.Axis("a", 0, 32), dawa.Axis("b", 0, 32)]
    inside = 0
    for seed in range(40):
        rel = dawa.release(table, axes, epsilon=1, effort="fast", partition=Gauge(), seed=seed)
        answers = rel.answers(*asked.boxes, confidence=0.9)
        inside += sum(answer.low <= true <= answer.high for answer, true in zip(answers, truth, strict=True))
    assert inside / 800 >= 0.9 - 5 * math.sqrt(0.09 / 40)


@pytest.mark.parametrize(
    "wrong",
    [
        {"walk_share": 0},
        {"second_share": "0.95"},
        {"second_theta": "a"},
        {"crowded": None},
        {"per_bucket": -1},
        {"per_bucket": "few"},
        {"least": 0.7},
        {"theta": math.nan},
        {"fan": 3},
        {"fan": 1},
        {"block": 48},
        {"dense": 0},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(DawaError, match="Hint:"):
        Gauge(**wrong)
