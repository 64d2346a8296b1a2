"""P-HP: its scores against brute force, its privacy by enumeration of every tree of cuts over five cells."""

import itertools
import math
from collections import defaultdict, deque
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dawa import kernels, mechanisms
from dawa.counts import Counts
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.limits import MOST_CELLS_BISECTED
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from dawa.partition import php
from dawa.partition.php import Php, chosen, cut_scores, keep_scores, parameters_for
from helpers.examples import examples


def brute_deviation(cells):
    return min((sum(abs(x - m) for x in cells) for m in cells), default=0)


counts_of_any_size = st.lists(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 2**40)), min_size=1, max_size=24)


@examples(100)
@given(counts_of_any_size)
def test_bisections_equal_brute_force_exactly(cells):
    exact = [brute_deviation(cells[:i]) + brute_deviation(cells[i:]) for i in range(len(cells))]
    assert kernels.bisect.bisections(np.array(cells)).tolist() == exact


@examples(100)
@given(counts_of_any_size, st.data())
def test_one_record_moves_every_score_by_at_most_one(cells, data):
    more = list(cells)
    more[data.draw(st.integers(0, len(cells) - 1))] += 1
    plan = parameters_for(max(len(cells), 2), Fraction(1), Php())
    one, two = (cut_scores(kernels.bisect.bisections(np.array(x)), plan) for x in (cells, more))
    assert np.abs(one - two).max() <= 1


def test_no_cut_costs_no_bucket():
    plan = parameters_for(3, Fraction(1), Php())
    assert cut_scores(np.array([9, 4, 6]), plan).tolist() == [-9, -4 - plan.bucket, -6 - plan.bucket]
    assert keep_scores(np.array([0, 5, 2]), plan).tolist() == [0, 5 - plan.bucket, 7 - 2 * plan.bucket]


def test_levels_and_the_cost_of_a_bucket_follow_from_public_numbers():
    levels = [parameters_for(size, Fraction(1), Php()).levels for size in (2, 3, 4, 5, 1024, 1025)]
    assert levels == [1, 2, 2, 3, 10, 11]
    assert parameters_for(8, Fraction(1, 10), Php(share=Fraction(1, 2))).bucket == 20


# --- exact privacy on five cells ------------------------------------------------------------------------------------

CELLS = 5


def outcomes(size, levels):
    """Every sequence of cuts, as the list of (start, stop, cut) decisions in the order of the algorithm."""

    def extended(nodes, decisions):
        nodes = deque(nodes)
        while nodes and (nodes[0][1] - nodes[0][0] == 1 or nodes[0][2] == levels):
            nodes.popleft()
        if not nodes:
            yield tuple(decisions)
            return
        start, stop, depth = nodes.popleft()
        for cut in range(stop - start):
            parts = [(start, start + cut, depth + 1), (start + cut, stop, depth + 1)] if cut else []
            yield from extended([*nodes, *parts], [*decisions, (start, stop, cut)])

    return list(extended([(0, size, 0)], []))


def log_softmax(scores, scale):
    powers = scores / float(scale)
    return powers - np.logaddexp.reduce(powers)


def log_chances(cells, plan, every):
    """Log-chance of every outcome (decisions, number kept), from the shipped scores."""
    left_over = {
        (i, j): kernels.bisect.bisections(np.array(cells[i:j]))
        for i, j in itertools.combinations(range(len(cells) + 1), 2)
    }
    cuts = {node: log_softmax(cut_scores(left, plan), plan.cut_scale) for node, left in left_over.items()}
    logs = []
    for decisions in every:
        gains = [0]
        gains += [left_over[i, j][0] - left_over[i, j][cut] for i, j, cut in decisions if cut]
        path = sum(cuts[i, j][cut] for i, j, cut in decisions)
        logs.append(path + log_softmax(keep_scores(np.array(gains), plan), plan.keep_scale))
    return logs


def neighbours(number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        cells = rng.integers(0, rng.integers(2, 30), CELLS) * rng.integers(0, 2, CELLS)
        more = cells.copy()
        more[rng.integers(CELLS)] += 1
        yield cells.tolist(), more.tolist()


def worst_loss(plan, number):
    every = outcomes(CELLS, plan.levels)
    assert len(every) == 51  # all ways to bisect five cells again and again
    return max(
        np.abs(np.concatenate(log_chances(one, plan, every)) - np.concatenate(log_chances(two, plan, every))).max()
        for one, two in neighbours(number, seed=1)
    )


@pytest.mark.long_but(1)
@pytest.mark.parametrize("epsilon", ["1", "4", "16"])
def test_every_outcome_loses_at_most_the_share(epsilon):
    epsilon = Fraction(epsilon)
    plan = parameters_for(CELLS, epsilon, Php(levels=4))
    assert plan.loss == epsilon / 2
    worst = worst_loss(plan, 400)
    assert worst <= float(epsilon / 2) + 1e-9
    assert worst > 0.25 * float(epsilon / 2)


def test_the_same_check_catches_half_the_scale():
    plan = parameters_for(CELLS, Fraction(16), Php(levels=4))
    assert worst_loss(replace(plan, cut_scale=plan.cut_scale / 2), 400) > 8


def test_cuts_are_drawn_with_the_exact_chances():
    """Chi-square over all partitions; the bound fails by chance once in a million runs of a true sampler."""
    cells, draws = [9, 0, 1, 6, 3], 6000
    plan = parameters_for(CELLS, Fraction(2), Php(levels=3))
    exact = defaultdict(float)
    every = outcomes(CELLS, 3)
    for decisions, logs in zip(every, log_chances(cells, plan, every), strict=True):
        cuts = [start + cut for start, _, cut in decisions if cut]
        for kept, log in enumerate(logs):
            exact[0, *sorted(cuts[:kept]), CELLS] += math.exp(log)
    assert sum(exact.values()) == pytest.approx(1)
    source, seen = Seeded(2), defaultdict(int)
    for _ in range(draws):
        seen[tuple(chosen(np.array(cells), plan, source).tolist())] += 1
    assert len(exact) == 16  # every partition of five cells
    expected = np.array([draws * chance for chance in exact.values()])
    statistic = ((np.array([seen[key] for key in exact]) - expected) ** 2 / expected).sum()
    assert expected.min() > 5
    assert statistic < stats.chi2.isf(1e-6, len(exact) - 1)


# --- structure ------------------------------------------------------------------------------------------------------


@examples(40)
@given(st.integers(1, 200), st.integers(0, 2**32), st.sampled_from(["1/1000", "0.1", "30", "100000"]))
def test_buckets_divide_any_domain_and_cost_at_most_their_share(size, seed, epsilon):
    epsilon = Fraction(epsilon)
    rng = np.random.default_rng(seed)
    found = Php().choose_buckets(Counts.of(rng.poisson(rng.gamma(0.2, 50, size))).exposed, size, epsilon, Seeded(seed))
    assert found.bounds[0] == 0
    assert found.bounds[-1] == size
    assert (np.diff(found.bounds) > 0).all()
    assert found.spent == found.spent_least == (epsilon / 2 if size > 1 else 0)
    assert epsilon / 2 * Fraction(99_999, 100_000) * (size > 1) <= php.loss(size, epsilon, Php()) <= found.spent


@pytest.mark.parametrize("cells", [[0] * 100, [7], [0], [2**44, 0, 0, 2**44], [0] * 4095 + [2**45]])
def test_extreme_counts(cells):
    found = Php().choose_buckets(Counts.of(cells).exposed, len(cells), Fraction(1), Seeded(0))
    assert found.bounds[-1] == len(cells)


def test_plateaus_are_found_where_they_are():
    cells = np.repeat([0, 500, 90, 4000], [100, 37, 200, 163])
    found = Php().choose_buckets(Counts.of(cells).exposed, 500, Fraction(10), Seeded(0))
    assert {100, 137, 337} <= set(found.bounds.tolist())
    assert len(found) < 20


@pytest.mark.parametrize(
    "wrong", [{"share": Fraction(0)}, {"final_share": Fraction(1)}, {"levels": 0}, {"levels": 1.5}]
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises((BudgetError, OptionError), match="Hint:"):
        Php(**wrong)


def test_too_many_cells_are_refused():
    with pytest.raises(OptionError, match="the walk"):
        Php().choose_buckets(Counts.of([1, 2]).exposed, MOST_CELLS_BISECTED + 1, Fraction(1), Seeded(0))


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    with pytest.raises(InvariantError, match="more than the"):
        Php().choose_buckets(Counts.of([1, 2]).exposed, 2, Fraction(1), Seeded(0))


def test_shares_are_read_as_they_were_written():
    assert Php(share=0.3, final_share="1/3") == Php(Fraction(3, 10), Fraction(1, 3))


def test_the_mechanism_measures_buckets_alone():
    assert mechanisms.Php().partition == Php()
    assert mechanisms.Php().strategy == "leaves"
    assert mechanisms.Php.summary.endswith(".")
