"""The gates let whole numbers through, and nothing else; what they add is the sampler's."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dawa.errors import InvariantError
from dawa.noise import choice, discrete, gates
from dawa.noise.randomness import Seeded

SCALE = Fraction(7, 2)
ASKED = {
    "noisy": lambda exact: gates.noisy(exact, SCALE, Seeded(0)),
    "costs": lambda exact: gates.costs(exact, SCALE, None, Seeded(0)),
    "costs below": lambda exact: gates.costs(exact, SCALE, np.array([3]), Seeded(0)),
    "chosen": lambda exact: gates.chosen(exact, SCALE, Seeded(0)),
}


@pytest.mark.parametrize("gate", ASKED)
@pytest.mark.parametrize(
    "exact",
    [
        np.array([1.0, 2.0]),
        np.array([1, 2], np.uint64),
        np.array([1, 2], np.int32),
        np.array([[1, 2]]),
        np.array([True]),
    ],
    ids=lambda exact: f"{exact.dtype}-{exact.ndim}",
)
def test_what_is_not_a_line_of_whole_numbers_is_refused(gate, exact):
    with pytest.raises(InvariantError, match="not int64 and one"):
        ASKED[gate](exact)


@pytest.mark.parametrize("exact", [[1.0], [np.int64(1)], [True], [1, 2, 3.0]], ids=repr)
def test_large_sums_are_whole_numbers_of_python(exact):
    with pytest.raises(InvariantError, match="not all whole"):
        gates.noisy_large(exact, SCALE, Seeded(0))


def test_chances_are_words():
    with pytest.raises(InvariantError, match="not uint64"):
        gates.tossed(np.array([2**62]), Seeded(0))


def test_sums_get_the_noise_of_the_sampler():
    exact = np.array([5, -5, 2**40])
    noise = discrete.laplace(SCALE, 3, Seeded(4))
    assert gates.noisy(exact, SCALE, Seeded(4)).tolist() == (exact + noise).tolist()
    large = [2**80, -(2**90), 0]
    assert gates.noisy_large(large, SCALE, Seeded(4)) == [a + b for a, b in zip(large, noise.tolist(), strict=True)]
    below = discrete.exponential(SCALE, 3, Seeded(4))
    assert gates.costs(exact, SCALE, None, Seeded(4)).tolist() == (exact + noise).tolist()
    centre = np.array([9, 0, 9])
    assert gates.costs(exact, SCALE, centre, Seeded(4)).tolist() == (exact + centre - below).tolist()
    assert gates.chosen(exact, SCALE, Seeded(4)) == choice.exponential_choice(exact, SCALE, Seeded(4))


def test_coins_fall_as_often_as_they_should():
    """No chance never, all but 2^-64 always; a quarter within five deviations of 40,000 tosses."""
    never, always = np.zeros(1000, np.uint64), np.full(1000, 2**64 - 1, np.uint64)
    assert not gates.tossed(never, Seeded(1)).any()
    assert gates.tossed(always, Seeded(1)).all()
    heads = int(gates.tossed(np.full(40_000, 2**62, np.uint64), Seeded(2)).sum())
    assert abs(heads - 10_000) <= 5 * (40_000 * 3 / 16) ** 0.5


def test_a_coin_is_true_below_its_threshold_alone():
    """So a chance is its threshold over 2^64, and no chance is none."""
    word = np.array([0, 4, 5, 6, 2**64 - 1], np.uint64)
    threshold = np.array([0, 5, 5, 5, 2**64 - 1], np.uint64)
    assert gates.tossed(threshold, SimpleNamespace(words=lambda count: word[:count])).tolist() == [0, 1, 0, 0, 0]
