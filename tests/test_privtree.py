"""PrivTree: its table is certified, and every tree over eight cells is enumerated."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dawa.counts import Counts, Occupied
from dawa.errors import BudgetError
from dawa.mechanisms import privtree as mechanism
from dawa.noise.source import Seeded
from dawa.partition import privtree
from dawa.partition.privtree import PrivTree, grown, laplace_table
from trees import CELLS, HEIGHT, leaves, trees


def bounds_of(tree):
    return [start for start, _ in leaves(tree)]


def log_chance(tree, cells, table, depth=0):
    """Log-chance of a tree, from the shipped whole numbers."""
    if len(cells) == 1:
        return 0.0
    word = int(table.thresholds[table.points(np.array([sum(cells)]), depth)[0]])
    if tree is None:
        return math.log((2**64 - word) / 2**64)
    half = len(cells) // 2
    sides = zip(tree, (cells[:half], cells[half:]), strict=True)
    return math.log(word / 2**64) + sum(log_chance(side, part, table, depth + 1) for side, part in sides)


def worst_loss(table, number):
    rng = np.random.default_rng(3)
    every, worst = list(trees(HEIGHT)), 0.0
    assert len(every) == 26
    for _ in range(number):
        cells = rng.integers(0, rng.integers(2, 12), CELLS) * rng.integers(0, 2, CELLS)
        more = (cells + (np.arange(CELLS) == rng.integers(CELLS))).tolist()
        worst = max(
            worst, *(abs(log_chance(tree, cells.tolist(), table) - log_chance(tree, more, table)) for tree in every)
        )
    return worst


@pytest.mark.parametrize("epsilon", ["1/2", "1", "2", "3"])
def test_every_tree_loses_at_most_its_share(epsilon):
    epsilon = Fraction(epsilon)
    worst = worst_loss(laplace_table(epsilon), 600)
    assert worst <= float(epsilon) + 1e-12
    assert worst > 0.5 * float(epsilon)


def test_the_same_check_catches_half_the_noise():
    table = laplace_table(Fraction(1))
    assert worst_loss(replace(table, thresholds=privtree._tail(2, 1.3, Fraction(1)).thresholds), 600) > 1


@pytest.mark.parametrize("epsilon", ["1/10000", "1/1000", "0.005", "0.05", "1/3", "1", "2.2", "3"])
def test_every_table_is_certified_and_wastes_little(epsilon):
    epsilon = Fraction(epsilon)
    table = laplace_table(epsilon)
    assert epsilon * Fraction(999, 1000) < Fraction(table.loss) <= epsilon


@settings(max_examples=50, deadline=None)
@given(st.fractions(min_value=Fraction(1, 200), max_value=3))
def test_any_budget_is_certified(epsilon):
    assert epsilon * Fraction(9, 10) <= Fraction(laplace_table(epsilon).loss) <= epsilon


def test_the_table_is_the_laplace_tail_with_less_noise_than_the_paper_asks_for():
    table = laplace_table(Fraction(1, 100))
    scale = privtree.WORST_CHAIN * 100
    assert scale < 3 * 100  # (2β - 1)/(β - 1) = 3 at β = 2
    assert table.step == table.offset == round(scale * math.log(2))
    points = np.arange(len(table.thresholds)) - table.offset
    exact = stats.laplace.sf(-points, scale=scale)
    usual = exact < 1 - 1e-6
    np.testing.assert_allclose(table.thresholds[usual] / 2.0**64, exact[usual], rtol=3e-3)
    assert (np.diff(table.thresholds.astype(object)) >= 0).all()
    assert int(table.stop_words.min()) >= 2**40 - 1


def test_trees_are_drawn_with_the_exact_chances():
    """Chi-square over all trees; the bound fails by chance once in a million runs of a true sampler."""
    cells, draws = [3, 0, 0, 1, 4, 4, 0, 1], 8000
    table = laplace_table(Fraction(1))
    exact = {tuple(bounds_of(tree)): math.exp(log_chance(tree, cells, table)) for tree in trees(HEIGHT)}
    assert sum(exact.values()) == pytest.approx(1)
    exposed, source, seen = Counts.of(cells).exposed, Seeded(5), dict.fromkeys(exact, 0)
    for _ in range(draws):
        seen[tuple(grown(exposed, CELLS, table, source).start.tolist())] += 1
    expected = draws * np.array(list(exact.values()))
    assert expected.min() > 3
    statistic = ((np.array(list(seen.values())) - expected) ** 2 / expected).sum()
    assert statistic < stats.chi2.isf(1e-6, len(exact) - 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**32), st.sampled_from(["0.01", "1", "30", "100000"]))
def test_buckets_divide_any_domain_and_cost_at_most_their_share(size, seed, epsilon):
    epsilon = Fraction(epsilon)
    rng = np.random.default_rng(seed)
    found = PrivTree().choose_buckets(
        Counts.of(rng.poisson(rng.gamma(0.2, 50, size))).exposed, size, epsilon, Seeded(seed)
    )
    assert found.bounds[0] == 0
    assert found.bounds[-1] == size
    assert (np.diff(found.bounds) > 0).all()
    assert found.spent == found.spent_least == (min(epsilon / 2, 3) if size > 1 else 0)
    assert privtree.loss(epsilon, PrivTree()) <= epsilon / 2


@pytest.mark.parametrize("cells", [[0] * 100, [7], [0], [2**44, 0, 0, 2**44], [0] * 4095 + [2**45]])
def test_extreme_counts(cells):
    found = PrivTree().choose_buckets(Counts.of(cells).exposed, len(cells), Fraction(1), Seeded(0))
    assert found.bounds[-1] == len(cells)


def test_crowds_are_cut_down_and_deserts_are_left_whole_on_a_huge_domain():
    exposed = Occupied(np.array([5, 2**61]), np.array([10**6, 10**6]))
    found = PrivTree().choose_buckets(exposed, 2**62, Fraction(1), Seeded(0))
    assert {5, 6, 2**61, 2**61 + 1} <= set(found.bounds.tolist())
    assert len(found) < 500


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1)])
def test_shares_that_make_no_sense_are_refused(share):
    with pytest.raises(BudgetError, match="Hint:"):
        PrivTree(share=share)


def test_a_tiny_budget_is_refused_with_a_hint():
    with pytest.raises(BudgetError, match="Hint: raise epsilon"):
        laplace_table(Fraction(1, 10**8))


def test_a_table_that_loses_too_much_is_never_used(monkeypatch):
    monkeypatch.setattr(privtree, "laplace_table", lambda _: laplace_table(Fraction(1)))
    with pytest.raises(BudgetError, match="its share"):
        PrivTree().choose_buckets(Counts.of([1, 2]).exposed, 2, Fraction(1), Seeded(0))


def test_the_mechanism_measures_buckets_alone():
    assert mechanism.MECHANISM.defaults.partition == PrivTree()
    assert mechanism.MECHANISM.defaults.strategy == "leaves"
    assert mechanism.MECHANISM.summary.endswith(".")
