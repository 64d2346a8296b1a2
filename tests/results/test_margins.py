"""Margins: the bound against exact tails of single, equal, random and discrete mixtures of Laplace noise."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from dawa.results.margins import exceeded, margin_factor

FACTORS = [0.3, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0]


def given_variance(factor, v):
    """The chance that a normal variable of variance v exceeds so many standard deviations of the whole."""
    return special.erfc(factor / np.sqrt(2 * v))


@pytest.mark.parametrize("factor", FACTORS)
def test_a_single_laplace_variable_stays_below_the_bound(factor):
    assert math.exp(-math.sqrt(2) * factor) <= exceeded(factor)


def test_the_bound_wastes_little_at_customary_confidence():
    alone = math.log(1 / 0.05) / math.sqrt(2)
    assert alone < margin_factor(0.05) < 1.03 * alone


@pytest.mark.parametrize("count", [1, 2, 5, 50])
@pytest.mark.parametrize("factor", FACTORS)
def test_sums_of_equal_laplace_variables_stay_below_the_bound(count, factor):
    """Given the exponential mixing variables the sum is normal; their average is a gamma variable."""
    density = stats.gamma(count, scale=1 / count).pdf
    exact, error = integrate.quad(lambda v: given_variance(factor, v) * density(v), 0, np.inf, limit=200)
    assert exact - 10 * error <= exceeded(factor)
    if count == 1:
        assert exact == pytest.approx(math.exp(-math.sqrt(2) * factor), rel=1e-6)


def test_sums_with_random_weights_stay_below_the_bound():
    """Averages over the mixing variables only, so that far tails need few draws; five standard errors of room."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        squares = rng.gamma(rng.choice([0.1, 1, 10]), size=rng.integers(2, 30))
        mixing = rng.exponential(size=(4000, len(squares))) @ (squares / squares.sum())
        for factor in FACTORS:
            chances = given_variance(factor, mixing)
            assert chances.mean() - 5 * chances.std() / math.sqrt(len(chances)) <= exceeded(factor)


@pytest.mark.parametrize("factor", FACTORS)
def test_the_bound_is_the_integral_that_it_claims_to_be(factor):
    turn = factor**2 / 3
    slope = math.exp(-1.5) * factor / math.sqrt(2 * math.pi) * turn**-1.5
    head, _ = integrate.quad(lambda v: given_variance(factor, v) * math.exp(-v), 0, turn, epsabs=1e-13)
    tail, _ = integrate.quad(
        lambda v: (math.erfc(math.sqrt(1.5)) + slope * (v - turn)) * math.exp(-v), turn, np.inf, epsabs=1e-13
    )
    assert exceeded(factor) == pytest.approx(min(head + tail, 1), rel=1e-7)


def test_larger_margins_are_exceeded_less_often():
    grid = np.linspace(0, 12, 200)
    chances = [exceeded(factor) for factor in grid]
    assert chances[0] == 1
    assert (np.diff(chances) <= 0).all()
    assert chances[-1] > 0


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.05, 0.01, 1e-4, 1e-9])
def test_the_factor_is_the_least_that_keeps_its_promise(chance):
    factor = margin_factor(chance)
    assert exceeded(factor) <= chance
    assert exceeded(factor * (1 - 1e-9)) > chance
    assert factor >= math.log(1 / chance) / math.sqrt(2), "never below that of one Laplace variable"


@pytest.mark.parametrize("scale", [0.5, 1, 2, 10])
@pytest.mark.parametrize("count", [1, 2, 5, 50])
@pytest.mark.parametrize("chance", [0.3, 0.05, 0.001])
def test_discrete_noise_keeps_the_promise_too(scale, count, chance):
    """Exact tails of sums of discrete Laplace variables, by convolution, at scales far coarser than any in use."""
    q = math.exp(-1 / scale)
    reach = math.ceil(60 * scale)
    one = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    total = one
    for _ in range(count - 1):
        total = np.convolve(total, one)
    deviation = math.sqrt(count * 2 * q) / (1 - q)
    place = np.arange(len(total)) - len(total) // 2
    assert total[np.abs(place) > margin_factor(chance, scale) * deviation].sum() <= chance
