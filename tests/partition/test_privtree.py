"""PrivTree: its table is certified, and every tree over eight cells is enumerated."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dawa import mechanisms
from dawa.counts import Counts, Occupied
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.noise.randomness import Seeded
from dawa.partition import privtree
from dawa.partition.privtree import PrivTree, grown, laplace_table
from helpers.examples import examples
from helpers.trees import CELLS, HEIGHT, leaves, trees


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


@pytest.mark.long_but(1)
@pytest.mark.parametrize("epsilon", ["1/2", "1", "2", "3"])
def test_every_tree_loses_at_most_its_share(epsilon):
    epsilon = Fraction(epsilon)
    worst = worst_loss(laplace_table(epsilon), 600)
    assert worst <= float(epsilon) + 1e-12
    assert worst > 0.5 * float(epsilon)


@pytest.mark.long
def test_the_same_check_catches_half_the_noise():
    table = laplace_table(Fraction(1))
    assert worst_loss(replace(table, thresholds=privtree._tail(2, 1.3, Fraction(1), 2).thresholds), 600) > 1


@pytest.mark.parametrize("fan", [2, 4, 8, 16])
@pytest.mark.parametrize("epsilon", ["1/10000", "1/1000", "0.005", "0.05", "1/3", "1", "2.2", "3"])
def test_every_table_is_certified_and_wastes_little(epsilon, fan):
    epsilon = Fraction(epsilon)
    table = laplace_table(epsilon, fan)
    assert epsilon * Fraction(999, 1000) < Fraction(table.loss) <= epsilon


@examples(50)
@given(st.fractions(min_value=Fraction(1, 200), max_value=3), st.sampled_from([2, 4, 8, 16]))
def test_any_budget_is_certified(epsilon, fan):
    assert epsilon * Fraction(9, 10) <= Fraction(laplace_table(epsilon, fan).loss) <= epsilon


@pytest.mark.parametrize("fan", [2, 4, 8])
def test_the_table_is_the_laplace_tail_with_less_noise_than_the_paper_asks_for(fan):
    table = laplace_table(Fraction(1, 100), fan)
    scale = privtree.worst_chain(fan) * 100
    assert scale < (2 * fan - 1) / (fan - 1) * 100
    assert table.step == table.offset == round(scale * math.log(fan))
    assert table.thresholds[0] / 2.0**64 == pytest.approx(1 / (2 * fan), rel=1e-2), "how often an empty node splits"
    points = np.arange(len(table.thresholds)) - table.offset
    exact = stats.laplace.sf(-points, scale=scale)
    usual = exact < 1 - 1e-6
    np.testing.assert_allclose(table.thresholds[usual] / 2.0**64, exact[usual], rtol=1e-2)
    assert (np.diff(table.thresholds.astype(object)) >= 0).all()
    assert int(table.stop_words.min()) >= 2**40 - 1


@pytest.mark.long
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


# --- four parts per node, as on a map -------------------------------------------------------------------------------

SQUARES = [None, *itertools.product((False, True), repeat=4)]
"""Every tree over 16 cells: the root stops, or its four parts each stop or split into cells."""


def log_chance_of_squares(tree, cells, table):
    """Log-chance of a tree of squares, from the shipped whole numbers."""

    def log(records, depth, split):
        word = int(table.thresholds[table.points(np.array([records]), depth)[0]])
        return math.log((word if split else 2**64 - word) / 2**64)

    if tree is None:
        return log(sum(cells), 0, split=False)
    parts = [sum(cells[at : at + 4]) for at in range(0, 16, 4)]
    below = sum(log(records, 1, split) for records, split in zip(parts, tree, strict=True))
    return log(sum(cells), 0, split=True) + below


def worst_loss_of_squares(table, number):
    rng = np.random.default_rng(4)
    worst = 0.0
    for _ in range(number):
        cells = rng.integers(0, rng.integers(2, 8), 16) * rng.integers(0, 2, 16) * (rng.random() < 0.8)
        more = (cells + (np.arange(16) == rng.integers(16))).tolist()
        logs = [[log_chance_of_squares(tree, x, table) for tree in SQUARES] for x in (cells.tolist(), more)]
        worst = max(worst, *np.abs(np.subtract(*logs)))
    return worst


@pytest.mark.long_but(1)
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_every_tree_of_squares_loses_at_most_its_share(epsilon):
    worst = worst_loss_of_squares(laplace_table(Fraction(epsilon), 4), 400)
    assert 0.4 * float(Fraction(epsilon)) < worst <= float(Fraction(epsilon)) + 1e-12


def test_the_same_check_catches_squares_with_half_the_noise():
    assert worst_loss_of_squares(privtree._tail(3, 1.1, Fraction(1), 4), 400) > 1


@pytest.mark.long
def test_trees_of_squares_are_drawn_with_the_exact_chances():
    """Chi-square over all 17 trees; the bound fails by chance once in a million runs of a true sampler."""
    counts, draws = np.array([[3, 0, 9, 1], [0, 0, 0, 0], [1, 1, 0, 0], [6, 0, 0, 2]]), 8000
    exposed = Counts.of(counts).exposed
    table = laplace_table(Fraction(1), 4)
    exact = {}
    for tree in SQUARES:
        starts = (
            [0] if tree is None else [s for i in range(4) for s in (range(4 * i, 4 * i + 4) if tree[i] else [4 * i])]
        )
        exact[tuple(starts)] = math.exp(log_chance_of_squares(tree, exposed.dense(16).tolist(), table))
    assert sum(exact.values()) == pytest.approx(1)
    source, seen = Seeded(6), dict.fromkeys(exact, 0)
    for _ in range(draws):
        seen[tuple(PrivTree().choose_boxes(exposed, (4, 4), Fraction(2), source).bounds[:-1].tolist())] += 1
    expected = draws * np.array(list(exact.values()))
    likely = expected > 5
    statistic = ((np.array(list(seen.values())) - expected) ** 2 / expected)[likely].sum()
    assert likely.sum() > 10
    assert statistic < stats.chi2.isf(1e-6, likely.sum() - 1)


def test_the_number_of_axes_decides_on_the_number_of_parts_unless_the_user_does():
    counts = np.zeros((8, 8), int)
    counts[0, 0] = 10**6
    exposed = Counts.of(counts).exposed
    for shape, options, fan in (((8, 8), PrivTree(), 4), ((64,), PrivTree(), 2), ((8, 8), PrivTree(fan=2), 2)):
        found = options.choose_boxes(exposed, shape, Fraction(4), Seeded(1))
        alike = replace(options, fan=fan).choose_buckets(exposed, 64, Fraction(4), Seeded(1))
        np.testing.assert_array_equal(found.bounds, alike.bounds)
        assert privtree.loss(Fraction(4), replace(options, fan=fan)) <= 2
    assert PrivTree().choose_boxes(exposed, (8, 8), Fraction(4), Seeded(1)).bounds[:5].tolist() == [0, 1, 2, 3, 4]


@examples(40)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 2**32))
def test_buckets_divide_grids_of_any_shape(shape, seed):
    counts = np.random.default_rng(seed).poisson(4, shape)
    found = PrivTree().choose_boxes(Counts.of(counts).exposed, tuple(shape), Fraction(1), Seeded(seed))
    assert found.bounds[0] == 0
    assert found.bounds[-1] == counts.size
    assert (np.diff(found.bounds) > 0).all()


@pytest.mark.parametrize("fan", [0, 1, 3, 512, 2.0, "4", True])
def test_parts_that_make_no_sense_are_refused(fan):
    with pytest.raises(OptionError, match="Hint:"):
        PrivTree(fan=fan)
    assert PrivTree(fan=np.int64(4)) == PrivTree(fan=4)


# --- structure ------------------------------------------------------------------------------------------------------


@examples(60)
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
    monkeypatch.setattr(privtree, "laplace_table", lambda *_: laplace_table(Fraction(1)))
    with pytest.raises(InvariantError, match="more than the"):
        PrivTree().choose_buckets(Counts.of([1, 2]).exposed, 2, Fraction(1), Seeded(0))


def test_the_mechanism_measures_buckets_alone():
    assert mechanisms.PrivTree().partition == PrivTree()
    assert mechanisms.PrivTree().strategy == "leaves"
    assert mechanisms.PrivTree.summary.endswith(".")
