"""The audit of the noise: its own chances are right, sound noise passes, and noise that is slightly wrong does not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dawa.noise import gates
from dawa_bench.audit import sampler
from dawa_bench.audit.sampler import Case, audited, choices, coins, fit, laplace, one_sided, sums, surprise
from dawa_bench.audit.tampered import half_the_noise

SMALL = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(10)]
RARE = 1e-6


def two_sides(scale):
    """Chances of noise, number by number, from its definition."""
    numbers = np.arange(-1500, 1501)
    weights = np.exp(-np.abs(numbers) / float(scale))
    return numbers, weights / weights.sum()


def one_side(scale):
    numbers = np.arange(-3000, 1)
    weights = np.exp(numbers / float(scale))
    return numbers, weights / weights.sum()


@pytest.mark.parametrize("scale", SMALL, ids=str)
@pytest.mark.parametrize(("law", "twin"), [(laplace, two_sides), (one_sided, one_side)])
def test_laws_are_those_of_the_definition(law, twin, scale):
    """Cell by cell, and remainder by remainder."""
    numbers, chances = twin(scale)
    found = law(scale, 5)
    expected = np.bincount(found.cells(numbers + 5), chances, len(found.chances))
    assert np.allclose(found.chances, expected, rtol=1e-9, atol=1e-15)
    left = np.bincount((found.sign * numbers) % sampler.MODULUS, chances, sampler.MODULUS)
    assert np.allclose(found.remainders, left, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("scale", sampler.SCALES, ids=str)
@pytest.mark.parametrize("law", [laplace, one_sided])
def test_chances_add_up(law, scale):
    found = law(scale, 0)
    assert found.chances.min() >= 0
    assert found.chances.sum() == pytest.approx(1, abs=1e-12)
    assert found.remainders.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(found.edges) > 0).all()
    assert len(found.edges) + 1 == len(found.chances)


def test_choices_and_coins_have_their_chances():
    assert np.allclose(choices([0, 2, 4], Fraction(2)).chances, np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())
    assert np.allclose(coins(2**62).chances, [0.75, 0.25])


def test_surprises_are_as_frequent_as_they_say():
    """Of counts that follow their chances, about one in twenty is as surprising as one in twenty, and not more."""
    chances = np.array([0.4, 0.3, 0.2, 0.0994, 0.0005, 0.0001])
    seen = np.random.default_rng(1).multinomial(10_000, chances, 4000)
    often = sum(surprise(each, chances) <= 0.05 for each in seen)
    assert stats.binom.sf(often - 1, 4000, 0.06) > RARE
    assert often > 0.01 * 4000


def test_what_cannot_happen_surprises():
    assert surprise(np.array([10_000, 1]), np.array([1.0, 0.0])) == 0
    assert surprise(np.array([10_000, 1]), np.array([1 - 1e-12, 1e-12])) < 1e-7
    assert surprise(np.array([10_000, 1]), np.array([1 - 1e-4, 1e-4])) > 0.1


def noise(seed, scale, count=200_000):
    """Discrete Laplace noise by another way: the difference of two geometric draws."""
    generator, stop = np.random.default_rng(seed), -math.expm1(float(-1 / scale))
    return generator.geometric(stop, count) - generator.geometric(stop, count)


@pytest.mark.parametrize("scale", [*SMALL, Fraction(65536 * 10)], ids=str)
def test_noise_from_elsewhere_fits(scale):
    assert fit(noise(1, scale), laplace(scale, 0)) > RARE


SPOILED = {
    "a scale that is 2% too small": lambda draws: noise(3, Fraction(980), len(draws)),
    "moved by 2% of the scale": lambda draws: draws + 20,
    "no last bit": lambda draws: draws & ~1,
    "cut off far out": lambda draws: np.clip(draws, -7000, 7000),
    "long draws are thrown away": lambda draws: draws[np.abs(draws) < 5000],
    "each drawn twice": lambda draws: np.repeat(draws[: len(draws) // 2], 2),
    "never zero": lambda draws: np.where(np.abs(draws) < 12, 12, draws),
    "only to one side": np.abs,
}


@pytest.mark.parametrize("name", SPOILED)
def test_spoiled_noise_does_not_fit(name):
    scale = Fraction(1000)
    draws = noise(2, scale, 400_000)
    assert fit(draws, laplace(scale, 0)) > RARE
    assert fit(SPOILED[name](draws), laplace(scale, 0)) < RARE


CASES = list(sampler.cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_noise_of_the_gates_is_sound(case):
    found = audited(case, 20_000, seed=7)
    assert not found.wrong
    assert found.runs == 20_000 // case.slowness


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_so_it_is_by_the_million_from_the_operating_system(case):
    found = audited(case, 1_000_000)
    assert not found.wrong
    if 0.5 < case.claimed < 2 and case.slowness == 1:
        assert found.loss > 0.75 * case.claimed


def test_every_gate_that_publishes_is_called():
    said = {case.what.split(",")[0] for case in CASES}
    assert said == {"noisy", "noisy_large", "discrete_laplace", "one-sided", "chosen", "tossed"}


@pytest.mark.parametrize("case", [*sums(Fraction(10), 10), *sums(Fraction(2**40), 2**40)], ids=lambda case: case.what)
def test_half_the_noise_is_noticed(case):
    """Twice the claim is lost, and the draws do not fit; but for noise to one side, which is drawn elsewhere."""
    with half_the_noise():
        found = audited(case, 200_000, seed=1)
    assert found.wrong == (not case.one_way)
    if found.wrong:
        assert found.loss > 1.7 * case.claimed
        assert found.fit < 1e-100


def test_half_the_noise_is_noticed_among_other_scales():
    case = next(case for case in CASES if "among others" in case.what)
    with half_the_noise():
        assert audited(case, 200_000, seed=1).loss > 1.5 * case.claimed


def test_the_noise_is_whole_again_after_the_block():
    case = next(sums(Fraction(10), 10))
    with pytest.raises(KeyError), half_the_noise():
        raise KeyError
    assert not audited(case, 200_000, seed=1).wrong


def test_a_loss_above_the_claim_is_wrong_though_the_draws_fit():
    """The claim is half of what this noise loses."""
    case = next(sums(Fraction(10), 10))
    found = audited(Case(case.what, case.claimed / 2, case.one, case.two, case.laws), 200_000, seed=1)
    assert found.fit > RARE
    assert found.wrong


def test_noise_to_one_side_hides_in_one_direction_only():
    """Above the lower number lies what only the higher one can give: that is not claimed to be hidden."""
    (case,) = [each for each in sums(Fraction(10), 10) if each.one_way]
    assert not audited(case, 200_000, seed=1).wrong
    both = Case(case.what, case.claimed, case.one, case.two, case.laws)
    found = audited(both, 200_000, seed=1)
    assert found.loss > 5
    assert found.estimate == math.inf


def test_seeds_repeat_draws():
    case = next(sums(Fraction(10), 10))
    assert audited(case, 1000, seed=1) == audited(case, 1000, seed=1) != audited(case, 1000, seed=2)


def test_all_cases_are_found_in_turn(monkeypatch):
    monkeypatch.setattr(sampler, "cases", lambda: iter(CASES[:3]))
    told = []
    found = list(sampler.findings(500, seed=1, told=lambda done, total: told.append((done, total))))
    assert [each.what for each in found] == [case.what for case in CASES[:3]]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_events_are_named():
    """Below each edge, from each edge on, and between edges, in the order in which they are counted."""
    cells, edges = np.array([3, 2, 5]), np.array([0, 4])
    seen = sampler._events(cells)
    assert seen.tolist() == [3, 5, 7, 5, 3, 2, 5]
    assert [sampler._words(at, edges) for at in range(7)] == [
        "below 0",
        "below 4",
        "at least 0",
        "at least 4",
        "below 0",
        "from 0 to 3",
        "at least 4",
    ]


def test_the_gates_are_those_of_dawa():
    """A case calls the gate itself: what replaces it is seen."""
    case = next(sums(Fraction(10), 10))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gates, "noisy", lambda exact, _scale, _randomness: exact)
        assert audited(case, 1000, seed=1).wrong
