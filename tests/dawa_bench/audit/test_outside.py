"""Losses shown by counting: the bounds are right, the confidence is honest, and what leaks is found."""

import math

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa_bench.audit import outside
from dawa_bench.audit.events import Reading, exponents, lowest_bits, patterns, trailing_zeros
from dawa_bench.audit.outside import Estimating, audited, estimates, least_loss, lower, shown, upper

RARE = 1e-6


def sampling(make, seed):
    """Outputs of a function of a generator and a number of runs."""
    generator = np.random.default_rng(seed)
    return lambda count: np.asarray(make(generator, count), np.float64).reshape(count, -1)


def told_apart(one, two, runs=8000, claimed=0.0, **options):
    return shown(sampling(one, 1), sampling(two, 2), runs, claimed, **options)


@pytest.mark.parametrize(
    ("seen", "runs", "low", "high"),
    [(0, 10, 0, 0.30850), (3, 10, 0.06674, 0.65245), (10, 10, 0.69150, 1), (1, 100, 0.000253, 0.05446)],
)
def test_bounds_are_those_of_the_tables(seen, runs, low, high):
    """Clopper and Pearson's intervals of 95%."""
    assert lower(seen, runs, 0.025) == pytest.approx(low, abs=6e-6)
    assert upper(seen, runs, 0.025) == pytest.approx(high, abs=6e-6)


@pytest.mark.parametrize("seen", [1, 7, 500, 999])
@pytest.mark.parametrize("error", [0.1, 1e-9])
def test_at_a_bound_what_was_seen_has_the_chance_of_an_error(seen, error):
    assert stats.binom.sf(seen - 1, 1000, lower(seen, 1000, error)) == pytest.approx(error, rel=1e-6)
    assert stats.binom.cdf(seen, 1000, upper(seen, 1000, error)) == pytest.approx(error, rel=1e-6)


def test_what_was_never_seen_shows_nothing():
    assert least_loss(0, 10, 100, 0.01) == -math.inf
    assert least_loss(100, 0, 100, 0.01) > 2


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_confidence_is_honest(epsilon):
    """A coin that loses exactly ε, audited often: bounds exceed ε as often as stated, or less."""
    likely, confidence, times = math.exp(epsilon) / (1 + math.exp(epsilon)), 0.9, 150
    exceeded = 0
    for seed in range(times):
        one = sampling(lambda generator, count: generator.random(count) < likely, 2 * seed)
        two = sampling(lambda generator, count: generator.random(count) < 1 - likely, 2 * seed + 1)
        exceeded += shown(one, two, 400, epsilon, confidence=confidence, least=5).wrong
    assert stats.binom.sf(exceeded - 1, times, 1 - confidence) > RARE


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_a_coin_shows_nearly_all_that_it_loses(epsilon):
    likely = math.exp(epsilon) / (1 + math.exp(epsilon))
    found = told_apart(
        lambda generator, count: generator.random(count) < likely,
        lambda generator, count: generator.random(count) < 1 - likely,
        200_000,
        epsilon,
    )
    assert epsilon - 0.04 < found.loss <= epsilon  # four standard errors of either chance, and two more
    assert not found.wrong
    assert found.runs == 100_000


def test_equal_neighbours_show_nothing():
    found = told_apart(
        lambda generator, count: generator.normal(size=(count, 3)),
        lambda generator, count: generator.normal(size=(count, 3)),
    )
    assert not found.wrong
    assert found.loss == 0


def test_constants_show_nothing():
    found = told_apart(lambda _, count: np.ones(count), lambda _, count: np.ones(count))
    assert (found.loss, found.event, found.seen) == (0, "anything", (4000, 4000))


def flipped(generator, count, chance):
    """Two coins, each fair, that differ with a chance."""
    first = generator.random(count) < 0.5
    return np.stack((first, first ^ (generator.random(count) < chance)), axis=1)


LEAKS = {
    "numbers that tell together only": (
        lambda generator, count: flipped(generator, count, 0.2),
        lambda generator, count: flipped(generator, count, 0.8),
        math.log(4),
    ),
    "parity": (
        lambda generator, count: 2 * generator.integers(0, 50, count) + (generator.random(count) < 0.2),
        lambda generator, count: 2 * generator.integers(0, 50, count) + (generator.random(count) < 0.8),
        math.log(4),
    ),
    "something in the middle": (
        lambda generator, count: generator.random(count),
        lambda generator, count: (
            np.where(generator.random(count) < 0.5, generator.random(count), 0.0) + np.linspace(0, 0.001, count)
        ),
        math.log(2),
    ),
    "the last bit of a float": (
        lambda generator, count: 1 + 2.0**-52 * (2 * generator.integers(0, 2**50, count)),
        lambda generator, count: 1 + 2.0**-52 * generator.integers(0, 2**51, count),
        3.0,
    ),
    "no number": (
        lambda generator, count: generator.random(count),
        lambda generator, count: np.where(generator.random(count) < 0.1, np.nan, generator.random(count)),
        3.0,
    ),
    "minus zero": (
        lambda generator, count: np.where(generator.random(count) < 0.5, 0.0, 1.0),
        lambda generator, count: np.where(generator.random(count) < 0.5, -0.0, 1.0),
        3.0,
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_leaks_are_found(name):
    one, two, least = LEAKS[name]
    found = told_apart(one, two, 16_000)
    assert found.loss > 0.7 * least
    assert found.event != "anything"


def test_what_tells_little_by_itself_tells_more_together():
    """Twenty coins lose 0.2 each; the sum of them tells far more, and nothing more than 4."""
    found = told_apart(
        lambda generator, count: generator.random((count, 20)) < 0.55,
        lambda generator, count: generator.random((count, 20)) < 0.45,
        20_000,
        4.02,
    )
    assert found.loss > 1
    assert not found.wrong
    assert "together" in found.event


def test_the_event_is_fixed_before_it_is_counted(monkeypatch):
    """The search sees the first half, and not a run of the second has been made."""
    made, seen = [], []
    own = outside.found

    def noted(one, two, *rest):
        seen.append((sum(made), len(one), len(two)))
        return own(one, two, *rest)

    def counted(count):
        made.append(count)
        return np.random.default_rng(len(made)).random((count, 1))

    monkeypatch.setattr(outside, "found", noted)
    shown(counted, counted, 5000, 1.0)
    assert seen == [(5000, 2500, 2500)] * 2
    assert sum(made) == 10_000


def test_no_seed_is_used_twice():
    seeds = []
    told = []

    def run(seed):
        seeds.append(seed)
        return np.array([seed % 7])

    audited(run, run, 2500, 1.0, seed=3, told=lambda done, total: told.append((done, total)))
    assert len(set(seeds)) == len(seeds) == 5000
    assert told == sorted(told)
    assert told[-1] == (5000, 5000)


def test_without_a_seed_none_is_passed():
    seeds = set()

    def run(seed):
        seeds.add(seed)
        return np.array([0.0])

    audited(run, run, 100, 1.0)
    assert seeds == {None}


@pytest.mark.long
def test_several_processes_find_the_same():
    alone, several = (
        estimates([0, 0], [1, 0], 3000, "1", seed=5, mechanism="identity", processes=processes) for processes in (1, 2)
    )
    assert alone == several


def test_a_confidence_lies_between_0_and_1():
    with pytest.raises(dawa.OptionError, match="not between"):
        told_apart(lambda _, count: np.ones(count), lambda _, count: np.ones(count), confidence=1.0)


@pytest.mark.parametrize(
    ("counts", "options"),
    [
        ([3, 0, 2], {"mechanism": "identity"}),
        ([3, 0, 2, 5], {"mechanism": "dawa", "effort": "fast"}),
        ([[3, 0], [2, 5]], {"mechanism": "dpcube"}),
        ([7], {"mechanism": "uniform"}),
    ],
)
def test_estimates_are_read_whole(counts, options):
    """Cells, answers, ends of buckets and totals: each with its name."""
    run = Estimating(counts, "1", options)
    numbers, size = run(1), np.size(counts)
    assert len(numbers) == len(run.reading.names) == 4 * size - 1
    made = dawa.estimate(counts, epsilon=1, seed=1, **options)
    assert np.array_equal(numbers[:size], made.cells.ravel())
    assert np.array_equal(numbers[size : 2 * size], made.answers(run.asked))
    assert numbers[2 * size : 3 * size - 1].sum() == len(made.buckets) - 1
    assert set(numbers[3 * size - 1 :]) == set(made.unbiased)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", dawa.mechanisms.names())
def test_no_mechanism_shows_more_than_it_claims(mechanism):
    """Few runs: what they can show is far below what is claimed, if nothing is grossly wrong."""
    one, two = ([[2, 0], [0, 1]], [[3, 0], [0, 1]]) if mechanism in {"quadtree", "hybrid-tree"} else ([2, 0], [3, 0])
    found = estimates(one, two, 1000, "1", seed=1, mechanism=mechanism)
    assert not found.wrong
    assert found.runs == 500


@pytest.mark.long
def test_estimates_show_most_of_what_they_lose():
    found = estimates([0, 0], [1, 0], 1500, "2", seed=1, mechanism="identity")
    assert 1 < found.loss <= 2
    assert not found.wrong


NUMBERS = np.array([0.0, 1.0, -1.0, 0.1, 6.0, 2.0**-1074, 1 + 2.0**-52, -3 * 2.0**40, 2.0**1000])


def test_bits_of_floats_are_what_python_says():
    """Floats are fractions whose denominators are powers of two."""
    for number, low, zeros, exponent in zip(
        NUMBERS, lowest_bits(NUMBERS), trailing_zeros(NUMBERS), exponents(NUMBERS), strict=True
    ):
        above, below = float(number).as_integer_ratio()
        assert exponent == math.frexp(number)[1]
        if number:
            assert low == (above & -above).bit_length() - 1 - (below.bit_length() - 1)
            assert zeros == low - exponent + 53


def test_patterns_differ_where_rows_do():
    rows = np.random.default_rng(0).integers(0, 4, (5000, 6)).astype(float)
    rows[0] = -0.0
    assert len(np.unique(patterns(rows))) == len({row.tobytes() for row in rows})
    assert np.array_equal(patterns(rows), patterns(np.asfortranarray(rows)))


def test_numbers_have_names():
    found = told_apart(
        lambda generator, count: generator.random((count, 2)),
        lambda generator, count: generator.random((count, 2)) * [1, 0.5],
        reading=Reading(("here", "there")),
    )
    assert "there" in found.event
