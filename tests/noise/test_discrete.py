"""The noise that leaves the sampler: its distribution, its source, and what it refuses."""

import itertools
import math
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, WordArray
from dawa.errors import BudgetError, OptionError
from dawa.noise import discrete, discrete_laplace
from dawa.noise.randomness import Seeded
from helpers.examples import examples

RARE = 1e-6
SCALES = [
    Fraction(1),
    Fraction(1, 3),
    Fraction(7, 2),
    Fraction(10),
    Fraction(65536 * 500, 39),
    Fraction(2**55, 3),
]


def laplace_above(scale: Fraction, x: int) -> float:
    """``P(X >= x)`` of the discrete Laplace."""
    q = math.exp(-1 / scale)
    return math.exp(-x / scale) / (1 + q) if x > 0 else 1 - math.exp(-(1 - x) / scale) / (1 + q)


def exponential_above(scale: Fraction, x: int) -> float:
    return math.exp(-x / scale) if x > 0 else 1.0


def edges(scale: Fraction) -> list[int]:
    """Cell borders about evenly spaced in probability, on both sides of 0."""
    positive = sorted({math.ceil(scale * Fraction(-math.log1p(-i / 16))) for i in range(16)} | {1, 2})
    return [1 - edge for edge in reversed(positive) if edge > 1] + [
        0,
        *(edge for edge in positive if edge > 0),
    ]


def chances(scale: Fraction, above=laplace_above) -> FloatArray:
    """What falls below the first border, between each two, and above the last."""
    tails = [1.0, *(above(scale, edge) for edge in edges(scale)), 0.0]
    return -np.diff(tails)


def frequencies(draws: IntArray, scale: Fraction) -> IntArray:
    return np.bincount(np.searchsorted(edges(scale), draws, side="right"), minlength=len(edges(scale)) + 1)


def assert_fits(seen: IntArray, expected: FloatArray, rare: float = RARE) -> None:
    """Pearson's test; cells that expect few are joined, and impossible ones must be empty."""
    assert not seen[expected == 0].any()
    few = expected < 20
    seen = np.append(seen[~few], seen[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    possible = expected >= 5
    statistic = ((seen - expected)[possible] ** 2 / expected[possible]).sum()
    assert statistic < chi2.isf(rare, possible.sum() - 1)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_has_its_exact_chances(scale: Fraction):
    draws = discrete_laplace(scale, 400_000, seed=11)
    assert_fits(frequencies(draws, scale), chances(scale) * draws.size)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_exponential_has_its_exact_chances(scale: Fraction):
    draws = discrete.exponential(scale, 400_000, Seeded(12))
    assert draws.min() >= 0
    assert_fits(frequencies(draws, scale), chances(scale, exponential_above) * draws.size)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 2), Fraction(10)], ids=str)
def test_every_small_value_has_its_chance(scale: Fraction):
    draws = discrete_laplace(scale, 400_000, seed=13)
    values = np.arange(-40, 41)
    seen = np.array([(draws == value).sum() for value in values])
    q = math.exp(-1 / scale)
    expected = (1 - q) / (1 + q) * q ** np.abs(values) * draws.size
    assert_fits(np.append(seen, draws.size - seen.sum()), np.append(expected, draws.size - expected.sum()))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_moments(scale: Fraction):
    """Mean and mean square lie within five standard errors; the fourth moment follows from the second."""
    draws = discrete_laplace(scale, 400_000, seed=14).astype(float)
    second = discrete.variance(scale)
    fourth = 6 * second**2 + second
    assert abs(draws.mean()) < 5 * math.sqrt(second / draws.size)
    assert abs((draws**2).mean() - second) < 5 * math.sqrt((fourth - second**2) / draws.size)


def test_successive_draws_are_independent():
    scale = Fraction(10)
    cells = np.searchsorted(edges(scale), discrete_laplace(scale, 400_000, seed=15), side="right")
    chance = chances(scale)
    pairs = np.bincount(cells[:-1:2] * chance.size + cells[1::2], minlength=chance.size**2)
    assert_fits(pairs, np.outer(chance, chance).ravel() * pairs.sum())


@pytest.mark.long
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(65536 * 500, 39)], ids=str)
def test_agrees_with_opendp(scale: Fraction):
    """Two samples, one distribution: Pearson's test of homogeneity. OpenDP's cannot be seeded."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=float(scale))([0] * 60_000))
    ours = discrete_laplace(scale, 300_000, seed=16)
    samples = np.array([frequencies(draws, scale) for draws in (theirs, ours)])
    expected = np.outer(samples.sum(1), samples.sum(0)) / samples.sum()
    usual = expected.min(0) >= 5
    statistic = ((samples - expected)[:, usual] ** 2 / expected[:, usual]).sum()
    assert statistic < chi2.isf(RARE, usual.sum() - 1)


def test_one_call_with_many_scales_draws_from_each():
    scales = [*SCALES, *(Fraction(3**i, 2) for i in range(1, 8))]
    which = np.random.default_rng(0).integers(0, len(scales), 1_000_000)
    numerators, denominators = np.array([scale.as_integer_ratio() for scale in scales])[which].T
    draws = discrete_laplace((numerators, denominators), which.size, seed=17)
    for i, scale in enumerate(scales):
        of_scale = draws[which == i]
        assert_fits(frequencies(of_scale, scale), chances(scale) * of_scale.size, RARE / len(scales))


def test_equal_scales_in_arrays_draw_the_same_as_one_scale():
    one = discrete_laplace(Fraction(7, 2), 500, seed=3)
    assert (discrete_laplace((np.full(500, 7), np.full(500, 2)), 500, seed=3) == one).all()
    assert (discrete_laplace((np.full(500, 7, np.uint16), 2), 500, seed=3) == one).all()
    assert (discrete_laplace((np.full(500, 7 << 57, np.uint64), 2 << 57), 500, seed=3) == one).all()


@dataclass
class Recorded:
    """A seeded source that hands out its words in one sequence and counts how often it is asked."""

    seed: int
    calls: int = 0
    position: int = 0
    description = "recorded"
    secure = False
    everything: WordArray = field(init=False)

    def __post_init__(self):
        self.everything = Seeded(self.seed).words(20_000)

    def words(self, count: int) -> WordArray:
        self.calls += 1
        self.position += count
        assert self.position <= self.everything.size
        return self.everything[self.position - count : self.position]


@examples(40)
@given(
    seed=st.integers(0, 2**32),
    buffer=st.integers(1, 9),
    scale=st.sampled_from(SCALES),
    signed=st.booleans(),
)
def test_small_buffers_give_the_same_draws_as_large_ones(seed: int, buffer: int, scale: Fraction, *, signed: bool):
    small, large = Recorded(seed), Recorded(seed)
    drawn = discrete._draws(scale, 200, small, signed=signed, buffer=buffer)
    assert (drawn == discrete._draws(scale, 200, large, signed=signed)).all()
    assert small.calls > 20


def test_long_draws_are_not_thrown_away():
    """Restarting draws that outlive a buffer would lose the large ones; two words hold about one draw."""
    scale = Fraction(10)
    draws = discrete._draws(scale, 20_000, Seeded(18), signed=True, buffer=2)
    assert_fits(frequencies(draws, scale), chances(scale) * draws.size)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_children_of_a_fork_draw_apart():
    discrete_laplace(2**50, 20)  # whatever could be left over is left over now
    seen = {tuple(child_draws()) for _ in range(3)} | {tuple(discrete_laplace(2**50, 20).tolist())}
    assert len(seen) == 4
    assert len(set(itertools.chain(*seen))) == 80


def child_draws() -> list[int]:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn where a test runner has threads
        child = os.fork()
    if child == 0:
        os.write(writing, discrete_laplace(2**50, 20).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    data = os.read(reading, 1000)
    os.close(reading)
    os.close(writing)
    return np.frombuffer(data, np.int64).tolist()


@pytest.mark.parametrize(
    "scale",
    [
        0,
        -1,
        Fraction(-1, 2),
        0.5,
        True,
        "1/2",
        None,
        [1, 2],
        Fraction(2**56),
        Fraction(1, 2**56),
        ([1, 2, 3],),
        ([1.0, 2.0, 3.0], [1, 1, 1]),
        ([1, 2, 0], [1, 1, 1]),
        ([1, 2, 3], [1, 1, -1]),
        ([1, 2], [1, 1, 1]),
        ([1, 2, 3, 4], [1, 1, 1, 1]),
        (1, 1),
        ([[1, 2, 3]], [1, 1, 1]),
        ([[1], [2, 3]], [1, 1, 1]),
        ([1, 2, 2**56], [1, 1, 1]),
        ([1, 2, 2**70], [1, 1, 1]),
        ([True, True, True], [1, 1, 1]),
    ],
    ids=str,
)
def test_bad_scales_are_refused(scale):
    with pytest.raises(BudgetError, match="Hint:"):
        discrete_laplace(scale, 3)


def test_bad_sizes_and_seeds_are_refused():
    for size in (-1, 1.5, True, None):
        with pytest.raises(OptionError, match="Hint:"):
            discrete_laplace(1, size)
    for seed in (-1, 1.5, True, "1"):
        with pytest.raises(OptionError, match="Hint:"):
            discrete_laplace(1, 1, seed=seed)


def test_nothing_is_drawn_when_nothing_is_asked():
    empty = np.empty(0, np.int64)
    assert discrete_laplace(1, 0).shape == discrete_laplace((empty, empty), 0).shape == (0,)
    assert discrete_laplace(np.int64(3), np.int64(2)).dtype == np.int64


def test_a_draw_beyond_64_bits_is_an_error():
    class Climbing:
        """Draws 0 from a large numerator, accepts it, and adds the numerator forever."""

        description, secure = "climbing", False

        def words(self, count: int) -> WordArray:
            climb = bytes(8) + bytes([120, 0]) + bytes([40]) * 150 + bytes([120])
            return np.frombuffer(climb.ljust(8 * count, b"\x00")[: 8 * count], np.uint64)

    with pytest.raises(BudgetError, match="64 bits"):
        discrete.laplace(2**56 - 1, 100, Climbing())


def law(scale: Fraction, values: range) -> dict[int, float]:
    """The sampler's chances as its steps make them: unit, wholes, division, sign, and the rejected -0."""
    numerator, denominator = scale.as_integer_ratio()
    one_sided = dict.fromkeys(range(len(values)), 0.0)
    for whole, unit in itertools.product(range(400 // numerator + 60), range(numerator)):
        value = (unit + whole * numerator) // denominator
        if value in one_sided:
            one_sided[value] += math.exp(-unit / numerator) * math.exp(-whole)
    total = sum(one_sided[abs(value)] for value in values)
    return {value: one_sided[abs(value)] / total for value in values}


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3, 7)], ids=str)
def test_largest_log_ratio_between_neighbours_is_the_loss(sensitivity: int, epsilon: Fraction):
    """Sums that a record moves by the sensitivity, in one sum or spread over two."""
    scale = sensitivity / epsilon
    chance = law(scale, range(-10, 11))
    single = [abs(math.log(chance[x] / chance[x + sensitivity])) for x in chance if x + sensitivity in chance]
    assert discrete.loss(sensitivity, scale) == epsilon
    assert max(single) == pytest.approx(float(epsilon), rel=1e-9)
    spread = [
        abs(math.log(chance[x] * chance[y] / (chance[x + 1] * chance[y - sensitivity + 1])))
        for x, y in itertools.product(chance, repeat=2)
        if x + 1 in chance and y - sensitivity + 1 in chance
    ]
    assert max(spread) == pytest.approx(float(epsilon), rel=1e-9)


def test_loss_refuses_what_is_no_sensitivity():
    assert discrete.loss(0, Fraction(1)) == 0
    for sensitivity in (-1, 0.5, True):
        with pytest.raises(BudgetError, match="Hint:"):
            discrete.loss(sensitivity, Fraction(1))
    with pytest.raises(BudgetError, match="Hint:"):
        discrete.loss(1, Fraction(0))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(100)], ids=str)
def test_variance_is_the_sum(scale: Fraction):
    q = math.exp(-1 / scale)
    expected = math.fsum(2 * x * x * q**x for x in range(1, 6000)) * (1 - q) / (1 + q)
    assert discrete.variance(scale) == pytest.approx(expected, rel=1e-12)


def test_variance_of_extreme_scales():
    """For large scales it is ``2 scale² - 1/6`` and a term of order scale^-2."""
    assert discrete.variance(Fraction(2**55)) == pytest.approx(2.0**111, rel=1e-14)
    assert discrete.variance(Fraction(10**4)) == pytest.approx(2e8 - 1 / 6, rel=1e-14)
    assert discrete.variance(Fraction(1, 2**55)) == 0


@given(st.integers(1, 60), st.fractions(Fraction(1, 10), 10, max_denominator=10**6))
def test_coarsening_finds_the_least_scale_above(most: int, exact: Fraction):
    candidates = (Fraction(p, q) for p in range(1, most + 1) for q in range(1, most + 1))
    least = min((candidate for candidate in candidates if candidate >= exact), default=None)
    assert discrete._least_above(exact, most) == least


@given(st.integers(1, 2**200), st.integers(1, 2**200))
def test_coarsening_never_shrinks_and_hardly_grows(numerator: int, denominator: int):
    exact = Fraction(numerator, denominator)
    if not Fraction(1, 2**56 - 1) <= exact <= 2**56 - 1:
        return
    coarse = discrete.coarsened(exact)
    assert exact <= coarse <= exact * (1 + Fraction(1, 2**20))
    assert max(coarse.as_integer_ratio()) < 2**56
    assert discrete.coarsened(coarse) == coarse


@pytest.mark.parametrize("scale", [Fraction(2**56), Fraction(1, 2**60), Fraction(0), 0.5], ids=str)
def test_coarsening_refuses_what_no_scale_is_near(scale):
    with pytest.raises(BudgetError, match="Hint:"):
        discrete.coarsened(scale)


def test_coarsening_grows_by_a_millionth_at_most():
    """Below the least scale that can be drawn, up to a relative 2^-20."""
    least = Fraction(1, 2**56 - 1)
    assert discrete.coarsened(least / (1 + Fraction(1, 2**20))) == least
    with pytest.raises(BudgetError, match="outside of 2\\^-56"):
        discrete.coarsened(least / (1 + Fraction(1, 2**20) + Fraction(1, 2**50)))


@pytest.mark.parametrize(
    ("numerators", "denominators"), [([1, 1], [1, 2**56]), ([1, 1], [1, 2**60]), ([2**56, 1], [1, 1])]
)
def test_parts_of_many_scales_lie_below_the_limit(numerators, denominators):
    with pytest.raises(BudgetError, match="2\\^56 or more after reduction"):
        discrete.laplace((numerators, denominators), 2, Seeded(0))


def test_one_numerator_goes_with_many_denominators_and_the_other_way_round():
    three = [40, 50, 60]
    assert (
        discrete.laplace(([7], three), 3, Seeded(1)).tolist()
        == discrete.laplace(([7] * 3, three), 3, Seeded(1)).tolist()
    )
    assert (
        discrete.laplace((three, [7]), 3, Seeded(1)).tolist()
        == discrete.laplace((three, [7] * 3), 3, Seeded(1)).tolist()
    )


@pytest.mark.parametrize("seed", range(5))
def test_two_scales_keep_their_places_when_bytes_run_out(seed: int):
    scales = [2, 2**50], [1, 1]
    small = discrete._draws(scales, 2, Seeded(seed), signed=True, buffer=1)
    assert small.tolist() == discrete._draws(scales, 2, Seeded(seed), signed=True).tolist()
    assert abs(small[0]) < 2**10 < abs(small[1])


def test_draws_are_made_of_the_words_alone():
    words = Seeded(9).words(2000)
    draws, one, signed = np.empty(100, np.int64), np.ones(1, np.int64), True
    complete, *_ = kernels.draw.draw(discrete.as_bytes(words), 10 * one, one, signed, draws)
    assert complete == 100
    assert draws.tolist() == discrete.laplace(10, 100, Seeded(9)).tolist()


def test_importing_noise_loads_no_loop():
    code = "import sys, dawa.noise; sys.exit('dawa.kernels.native' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  # our own code
