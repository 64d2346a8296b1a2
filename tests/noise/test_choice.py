"""The exponential mechanism: exact chances, and its loss by enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dawa.errors import BudgetError
from dawa.noise.choice import exponential_choice, loss
from dawa.noise.randomness import Seeded


@pytest.mark.long_but(2)
@pytest.mark.parametrize(
    ("scores", "scale"),
    [([0, 1, 2, 3], "1"), ([5, 5, 5], "1/3"), ([-7, 0, 3, 4, 4], "7/2"), ([10, 0], "10"), ([0], "2")],
)
def test_chances_are_those_of_the_exponential_mechanism(scores, scale):
    """Chi-square against exact probabilities; the bound fails by chance once in a million runs of a true sampler."""
    source, draws = Seeded(3), 20_000
    seen = np.bincount(
        [exponential_choice(np.array(scores), Fraction(scale), source) for _ in range(draws)], minlength=len(scores)
    )
    weights = np.exp((np.array(scores) - max(scores)) / float(Fraction(scale)))
    expected = draws * weights / weights.sum()
    likely = expected > 5
    statistic = ((seen - expected)[likely] ** 2 / expected[likely]).sum()
    assert statistic <= stats.chi2.isf(1e-6, max(likely.sum() - 1, 1))
    assert seen[~likely].sum() < 100


def test_huge_gaps_are_exact_too():
    scores = np.array([0, 2**50, 2**50 - 1])
    source = Seeded(1)
    picks = [exponential_choice(scores, Fraction(2**40 + 1, 2**40), source) for _ in range(2000)]
    assert 0 not in picks
    share = np.mean(np.array(picks) == 1)
    exact = 1 / (1 + math.exp(-(2**40) / (2**40 + 1)))
    assert abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / 2000)


def test_the_choice_does_not_depend_on_how_bytes_arrive():
    """A long choice, that needs more bytes than the first helping, reads the same sequence again."""
    scores = np.zeros(3000, np.int64)
    scores[17] = 40

    class Dripping(Seeded):
        def words(self, count):
            self.helpings.append(count)
            return super().words(count)

    source = Dripping(1)
    object.__setattr__(source, "helpings", [])
    assert exponential_choice(scores, Fraction(1), source) == 17
    assert len(source.helpings) > 1


@pytest.mark.parametrize("same_direction", [False, True])
def test_the_loss_is_tight_on_every_neighbour(same_direction):
    """Every score vector over three candidates and every way in which one record can move it."""
    scale, worst = Fraction(3), 0.0
    moves = [(0, 1)] if same_direction else [(-1, 0, 1)]
    for scores in np.ndindex(4, 4, 4):
        for move in np.stack(np.meshgrid(*(moves * 3)), -1).reshape(-1, 3):
            one, two = (np.exp(np.array(u) / 3) / np.exp(np.array(u) / 3).sum() for u in (scores, scores + move))
            worst = max(worst, np.abs(np.log(one / two)).max())
    assert worst <= float(loss(1, scale, same_direction=same_direction)) + 1e-12
    assert worst > 0.5 * float(loss(1, scale, same_direction=same_direction))


def test_a_scale_that_cannot_be_drawn_is_refused():
    for scale in (Fraction(0), Fraction(-1), Fraction(2**60 + 1, 3), Fraction(2**56), Fraction(1, 2**56)):
        with pytest.raises(BudgetError, match="Hint:"):
            exponential_choice(np.array([1, 2]), scale, Seeded(0))


@pytest.mark.parametrize("parts", [1, 2, 3], ids=["below 2^63", "2^63", "above 2^63"])
def test_a_gap_of_64_bits_is_as_hopeless_as_any(parts):
    """In 64 bits, such a gap times the denominator of the scale would be negative."""
    source = Seeded(4)
    picks = {exponential_choice(np.array([0, 2**62, 2**62]), Fraction(1, parts), source) for _ in range(40)}
    assert picks == {1, 2}
