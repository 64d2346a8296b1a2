"""Measuring: exact column sums, an exact loss, an exact privacy check on a tiny case, and no float before the noise."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.arrays import frozen
from dawa.counts import Counts
from dawa.errors import InvariantError
from dawa.limits import MOST_RECORDS
from dawa.measure import Measurements, loss, measure
from dawa.noise import discrete, gates
from dawa.noise.randomness import Seeded
from dawa.partition.buckets import Buckets
from dawa.strategy import choose
from dawa.strategy.base import RESOLUTION
from dawa.strategy.hats import HatStrategy
from dawa.strategy.tree import TreeStrategy, level_offsets
from dawa.workloads import all_ranges, identity, prefixes
from helpers.examples import examples

STRATEGIES = [name for name in choose.NAMES if name not in {"best", "bumps"}]  # bumps are for maps: test_bumps.py


class Unread:
    """Stands for counts that must not be looked at."""

    shape = (3,)
    size = 3

    @property
    def exposed(self):
        raise AssertionError("the counts were read")


def rows(strategy):
    """Every row as Python integers: the obvious twin of ``column_sums`` and ``apply``."""
    k = strategy.buckets
    if isinstance(strategy, HatStrategy):
        at = np.concatenate(([0], np.cumsum(strategy.stop - strategy.start))).tolist()
        for i, (start, stop) in enumerate(zip(strategy.start.tolist(), strategy.stop.tolist(), strict=True)):
            yield [0] * start + strategy.weights[at[i] : at[i + 1]].tolist() + [0] * (k - stop)
        for j, weight in enumerate(strategy.leaf.tolist()):
            yield [weight if i == j else 0 for i in range(k)]
        return
    if not isinstance(strategy, TreeStrategy):  # read off, column by column
        columns = [strategy.apply(column).tolist() for column in np.eye(k, dtype=np.int64)]
        yield from zip(*columns, strict=True)
        return
    for level in range(len(strategy.offset) - 1):
        width = strategy.branching**level
        for i, weight in enumerate(strategy.weights[strategy.offset[level] : strategy.offset[level + 1]].tolist()):
            yield [weight if j // width == i else 0 for j in range(k)]


@st.composite
def cases(draw):
    """A budget, a partition with and without spared buckets, and a strategy for it."""
    k = draw(st.integers(1, 60))
    epsilon = Fraction(draw(st.sampled_from(["1/1000", "0.07", "1/3", "1", "7.3", "1000"])))
    spent, least = (epsilon * Fraction(draw(st.sampled_from(["0", "0.07", "1/7", "0.22", "0.9"]))) for _ in range(2))
    kinds = None
    if draw(st.booleans()):
        kinds = np.random.default_rng(draw(st.integers(0, 99))).random(k) < draw(st.sampled_from([0, 0.3, 1]))
        least = min(spent, least)
    partition = Buckets(np.arange(k + 1), spent, spent if kinds is None else least, kinds)
    make = draw(st.sampled_from([identity, prefixes, all_ranges]))
    strategy = choose.choose(
        make(k).on_buckets(partition.bounds),
        partition.allowance(epsilon, RESOLUTION),
        draw(st.sampled_from(STRATEGIES)),
        "fast",
        draw(st.sampled_from([2, 3, 16])),
    )
    return epsilon, partition, strategy


# --- exact sums -----------------------------------------------------------------------------------------------------


@examples(100)
@given(cases())
def test_column_sums_are_exact_and_within_the_allowance(case):
    epsilon, partition, strategy = case
    exact = [sum(map(abs, column)) for column in zip(*rows(strategy), strict=True)]
    allowed = partition.allowance(epsilon, RESOLUTION).tolist()
    assert strategy.column_sums().tolist() == exact
    assert all(have <= may for have, may in zip(exact, allowed, strict=True))
    assert min(exact) == min(allowed), "no budget is left over"
    if isinstance(strategy, (TreeStrategy, HatStrategy)):
        assert exact == allowed, "nor in any bucket"


@examples(100)
@given(cases())
def test_no_record_loses_more_than_epsilon_in_exact_arithmetic(case):
    epsilon, partition, strategy = case
    wanted = RESOLUTION / (epsilon - partition.spent_least)
    scale = discrete.coarsened(wanted)
    lost = loss(partition, strategy, scale)
    assert isinstance(lost, Fraction)
    assert lost <= epsilon
    room = (epsilon - partition.spent_least) * Fraction(1, 2**20)  # what coarsening the scale may cost
    if not isinstance(strategy, (TreeStrategy, HatStrategy)):
        return  # all columns are as light as the lightest
    if partition.spared is None or partition.spared.any():
        assert lost == epsilon if scale == wanted else lost >= epsilon - room
    else:
        assert lost >= epsilon - room - 1 / scale


@examples(60)
@given(cases(), st.integers(0, 2**32))
def test_no_float_touches_the_counts(case, seed):
    """With the noise taken away, answers are exact far beyond the 53 bits of a float."""
    epsilon, partition, strategy = case
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, MOST_RECORDS // len(partition), len(partition)).tolist()
    cells[-1] += MOST_RECORDS - sum(cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gates.discrete, "laplace", lambda _scale, size, _source: np.zeros(size, np.int64))
        found = measure(Counts.of(cells), partition, strategy, epsilon, Seeded(0))
    exact = [sum(w * x for w, x in zip(row, cells, strict=True)) for row in rows(strategy)]
    assert found.answers.dtype == np.int64
    assert found.answers.tolist() == exact
    assert max(map(abs, exact)) > 2**53 or max(partition.allowance(epsilon, RESOLUTION)) < 2**9


def test_the_noise_has_the_variance_that_is_reported():
    """Second moments of 20,000 draws: the discrete Laplace has kurtosis below 7 here, and five errors are allowed."""
    k, draws = 50, 400
    partition, counts = Buckets(np.arange(k + 1)), Counts.of([100] * k)
    strategy = choose.choose(identity(k).on_buckets(partition.bounds), np.full(k, RESOLUTION), "leaves")
    source, seen = Seeded(3), []
    for _ in range(draws):
        found = measure(counts, partition, strategy, Fraction(1, 2), source)
        seen.append((found.answers[:k] - 100 * RESOLUTION) / RESOLUTION)
    assert found.scale == 2 * RESOLUTION
    assert found.unit_variance == pytest.approx(8, rel=1e-6)
    ratio = (np.array(seen) ** 2).mean() / found.unit_variance
    assert abs(ratio - 1) < 5 * math.sqrt(6 / (k * draws))


# --- privacy, exactly -----------------------------------------------------------------------------------------------


@pytest.mark.long_but(3)
@pytest.mark.parametrize("spared", [None, [True, False], [False, False]])
@pytest.mark.parametrize("weights", [[2, 2, 0], [1, 2, 1], [3, 1, 2]])
def test_every_outcome_of_a_tiny_case_is_within_its_loss(weights, spared):
    """All outcomes in a box, neighbours in both buckets: log-ratios from the formula of the discrete Laplace."""
    strategy = TreeStrategy("by hand", 2, frozen(level_offsets(2, 2)), frozen(np.array(weights)))
    kinds = None if spared is None else np.array(spared)
    spent, least = Fraction(1, 5), Fraction(1, 5) if spared is None else Fraction(1, 10)
    partition, scale = Buckets(np.arange(3), spent, least, kinds), Fraction(7, 2)
    matrix = np.array(list(rows(strategy)))
    normal = math.tanh(1 / (2 * scale))

    def log_chance(outcome, totals):
        return sum(math.log(normal) - abs(y - a) / scale for y, a in zip(outcome, matrix @ totals, strict=True))

    here = np.array([2, 1])
    paid = [spent if kinds is None or not kinds[b] else least for b in range(2)]
    worst = 0.0
    for bucket in range(2):
        there = here + np.eye(2, dtype=int)[bucket]
        for outcome in itertools.product(range(-3, 14), repeat=3):
            ratio = abs(log_chance(outcome, here) - log_chance(outcome, there))
            worst = max(worst, float(paid[bucket]) + ratio)
    assert worst <= float(loss(partition, strategy, scale)) + 1e-12
    assert worst == pytest.approx(float(loss(partition, strategy, scale))), "and the bound is attained"


def test_the_formula_above_is_that_of_a_distribution():
    for scale in (Fraction(7, 2), Fraction(1, 3)):
        chances = [math.tanh(1 / (2 * scale)) * math.exp(-abs(z) / scale) for z in range(-200, 201)]
        assert math.fsum(chances) == pytest.approx(1)
        assert math.fsum(z * z * p for z, p in zip(range(-200, 201), chances, strict=True)) == pytest.approx(
            discrete.variance(scale)
        )


# --- refusals -------------------------------------------------------------------------------------------------------


def tree(weights):
    return TreeStrategy("cheating", 2, frozen(level_offsets(3, 2)), frozen(np.array(weights)))


@pytest.mark.parametrize(
    "weights",
    [
        [RESOLUTION, RESOLUTION, RESOLUTION + 1, 0, 0, 0],
        [RESOLUTION, RESOLUTION, RESOLUTION, 0, 0, 1],
        [RESOLUTION - 1, RESOLUTION - 1, RESOLUTION - 1, 1, 0, 1],
    ],
)
def test_a_strategy_that_outweighs_its_budget_is_refused_before_a_count_is_read(weights):
    with pytest.raises(InvariantError, match="more than the"):
        measure(Unread(), Buckets(np.arange(4)), tree(weights), Fraction(1), Seeded(0))


def test_ordinary_buckets_may_not_have_the_columns_of_spared_ones():
    partition = Buckets(np.arange(4), Fraction(1, 2), Fraction(1, 4), np.array([True, False, False]))
    honest = tree([RESOLUTION, RESOLUTION * 2 // 3, RESOLUTION * 2 // 3, 0, 0, 0])
    greedy = tree([RESOLUTION, RESOLUTION * 2 // 3, RESOLUTION * 2 // 3 + 1, 0, 0, 0])
    assert isinstance(measure(Counts.of([1, 2, 3]), partition, honest, Fraction(1), Seeded(0)), Measurements)
    with pytest.raises(InvariantError, match="more than the"):
        measure(Unread(), partition, greedy, Fraction(1), Seeded(0))
