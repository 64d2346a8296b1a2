import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import BudgetError
from dawa.partition.split import SplitTable, log_knots, split_table
from dawa.partition.walk import Walk
from helpers.examples import examples


def chain_loss(table: SplitTable) -> float:
    """The loss by plain recursion over all chains of lattice points, in exact ratios of Python integers."""
    split = [int(word) for word in table.thresholds]
    stop = [2**64 - word for word in split]
    size, best, worst = len(split), [0.0] * (len(split) + table.step + 1), 0.0
    for a in range(size - 1, -1, -1):
        if a:
            g = math.log(Fraction(split[a], split[a - 1]))
            h = math.log(Fraction(stop[a - 1], stop[a]))
        else:
            g = h = 0.0
        worst = max(worst, h + best[a + table.step])
        best[a] = max(best[a + 1], g + best[a + table.step])
    return max(worst, best[0])


@pytest.mark.parametrize("epsilon", ["0.02", "0.1", "1/3", "1", "2", "3"])
def test_the_dynamic_program_equals_plain_recursion(epsilon):
    table = split_table(Fraction(epsilon), 0.15, 0.3)
    assert table.loss == pytest.approx(chain_loss(table), rel=1e-9)


@examples(30)
@given(
    st.lists(st.integers(1, 2**64 - 2), min_size=2, max_size=40),
    st.integers(1, 9),
)
def test_the_dynamic_program_is_right_for_any_table(words, step):
    thresholds = np.array(sorted(words), np.uint64)
    table = SplitTable(step, 0, thresholds, Fraction(1), 0.15, 0.0)
    assert table.loss == pytest.approx(chain_loss(table), rel=1e-6, abs=1e-12)


def test_a_stop_below_a_split_counts_both():
    """Above even odds, a chain that stops is worse than one that splits; random tables hardly ever have it as worst."""
    words = [2**63 + 2**60 * i for i in (0, 1, 1, 2)]
    table = SplitTable(2, 0, np.array(words, np.uint64), Fraction(1), 0.15, 0.0)
    both = math.log(8 / 7) + math.log(10 / 9)
    assert table.loss == pytest.approx(both, rel=1e-9)
    assert chain_loss(table) == pytest.approx(both, rel=1e-9)


@examples(30)
@given(st.lists(st.integers(2**63, 2**63 + 2**62), min_size=4, max_size=12), st.integers(2, 4))
def test_the_dynamic_program_is_right_where_stops_are_worse(words, step):
    table = SplitTable(step, 0, np.array(sorted(words), np.uint64), Fraction(1), 0.15, 0.0)
    assert table.loss == pytest.approx(chain_loss(table), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    "epsilon", ["1/10000", "1/1000", "0.01", "0.05", "0.1", "0.3", "0.5", "1", "2", "7", "50", "1000"]
)
def test_every_shipped_table_loses_at_most_its_share_and_wastes_little(epsilon):
    epsilon = Fraction(epsilon)
    for loss, table in zip(Walk().losses(epsilon), Walk().tables(epsilon), strict=True):
        assert Fraction(table.loss) <= loss
        assert table.loss > 0.999 * float(loss)


@given(st.fractions(min_value=Fraction(1, 50), max_value=3))
@examples(50)
def test_any_budget_is_certified(epsilon):
    assert Fraction(split_table(epsilon, 0.15, -0.7).loss) <= epsilon


def test_probabilities_rise_and_never_reach_one():
    table = split_table(Fraction(1, 10), 0.15, 0.3)
    assert (np.diff(table.thresholds.astype(object)) >= 0).all()
    assert int(table.stop_words.min()) >= 2**40 - 1
    assert float(table.thresholds[0]) / 2**64 == pytest.approx(0.15, rel=0.1)


def test_knots_are_those_of_the_design():
    assert np.exp(log_knots(0.15))[:6] == pytest.approx([0.15, 0.5, 0.786, 0.920, 0.972, 0.990], abs=5e-4)


def test_even_odds_where_theta_says():
    table = split_table(Fraction(1, 100), 0.15, 0.3)
    root = round(0.3 * table.step)
    word = table.thresholds[table.points(np.array([root]), 0)][0]
    assert float(word) / 2**64 == pytest.approx(0.5, abs=0.01)
    deeper = table.points(np.array([root + 3 * table.step]), 3)
    assert table.thresholds[deeper][0] == word


@pytest.mark.parametrize("chance", [0.2, 0.05, 0.01, 1e-4])
def test_a_surprising_point_is_as_rare_as_promised_on_the_worst_path(chance):
    table = split_table(Fraction(1, 10), 0.15, 0.3)
    point = table.surprising_point(chance)
    stop = table.stop_probability()

    def chance_of_stopping(lowest: int) -> float:
        """Exactly, on a path whose nodes lie one step apart and end at the lowest point."""
        path = [min(lowest + i * table.step, len(stop) - 1) for i in range(40)][::-1]
        reached, stopped = 1.0, 0.0
        for a in path:
            stopped += reached * stop[a]
            reached *= 1 - stop[a]
        return stopped

    assert chance_of_stopping(int(point)) <= chance
    assert chance_of_stopping(int(point) - 2) > 0.5 * chance


def test_nothing_is_surprising_enough_for_a_tiny_chance():
    assert split_table(Fraction(1), 0.15, 0.3).surprising_point(1e-9) == math.inf


def test_a_tiny_budget_is_refused_with_a_hint():
    with pytest.raises(BudgetError, match="Hint: raise epsilon"):
        split_table(Fraction(1, 10**8), 0.15, 0.3)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 3), Fraction(2)])
def test_chances_of_stopping_on_the_worst_path_are_added_up_to_the_end(epsilon):
    """At a point, every step above it, and 64 times above the table."""
    table = split_table(epsilon, 0.15, 0.3)
    stop = table.stop_probability()
    for point in {0, 1, table.step - 1, table.step, len(stop) // 2, len(stop) - 1}:
        every = range(point, -(-len(stop) // table.step) * table.step, table.step)  # whole steps, past the last entry
        expected = math.fsum(stop[min(at, len(stop) - 1)] for at in every) + 64 * stop[-1]
        assert math.isclose(table._stop_chances[point], expected, rel_tol=1e-12)
