"""Algorithm 1 keeps its promise exactly on three cells, and the same check catches a variant that does not.

With three cells there are six buckets and four partitions. Given the noise on the two outer unit buckets, the
four totals are independent, so the chance of every partition is a finite sum: no sampling, no bound.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats

from dawa.counts import Counts
from dawa.errors import BudgetError, DawaError, InvariantError, OptionError
from dawa.kernels import costs as deviation
from dawa.limits import MOST_RECORDS
from dawa.noise import discrete
from dawa.noise.randomness import Seeded, randomness_for
from dawa.partition import noisy_cost as costs_of
from dawa.partition.noisy_cost import (
    FINEST,
    NoisyCost,
    chosen,
    loss,
    noisy_cost,
    parameters_for,
    sensitivity,
)
from helpers.examples import examples

KINDS = list(product(("powers", "all"), ("laplace", "exponential")))

PARTITIONS = (0, 3), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3)
"""Of three cells, in the order in which they win ties."""

BUCKETS = tuple((start, end) for start in range(3) for end in range(start + 1, 4))

TAIL = 36
"""Scales after which a distribution is cut off: e^-36 is the rounding error of a float."""


@dataclass(frozen=True)
class Law:
    """The distribution of a whole number: ``mass[i]`` at ``first + i``."""

    first: int
    mass: np.ndarray

    @property
    def support(self):
        return self.first + np.arange(len(self.mass))

    @cached_property
    def tail(self):
        return np.append(np.cumsum(self.mass[::-1])[::-1], 0.0)

    def at(self, numbers):
        """P(X = number)."""
        place = numbers - self.first
        inside = (place >= 0) & (place < len(self.mass))
        return np.where(inside, self.mass[np.clip(place, 0, len(self.mass) - 1)], 0.0)

    def from_(self, numbers):
        """P(X ≥ number)."""
        return self.tail[np.clip(numbers - self.first, 0, len(self.mass))]

    def plus(self, number):
        return Law(self.first + number, self.mass)

    def at_least(self, least):
        """With everything below moved up."""
        kept = self.support > least
        return Law(least, np.concatenate(([1 - self.mass[kept].sum()], self.mass[kept])))


def law_of_noise(kind, scale, centre):
    reach = math.ceil(TAIL * scale)
    if kind == "laplace":
        mass = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(scale))
        return Law(-reach, mass / mass.sum())
    mass = np.exp(-np.arange(reach, -1, -1) / float(scale))
    return Law(centre - reach, mass / mass.sum())


NEVER = Law(10**6, np.ones(1))


def chances(costs):
    """The chance of each partition, from the laws of the six noisy costs."""
    left, middle, right = costs[0, 1], costs[1, 2], costs[2, 3]
    first, second, whole = costs[0, 2], costs[1, 3], costs[0, 3]
    u, v = left.support, right.support
    sums = np.arange(u[0] + v[0], u[-1] + v[-1] + 1)
    low = min(second.first + u[0], first.first + v[0], middle.first + sums[0], whole.first)
    high = min(law.support[-1] + more for law, more in ((second, u[-1]), (first, v[-1]), (middle, sums[-1])))
    high = min(high, whole.support[-1])
    won = np.zeros(4)
    for total in range(low, high + 1):
        singles_at = sliding_window_view(middle.at(total - sums), len(v))
        singles_from = sliding_window_view(middle.from_(total - sums), len(v))
        beaten = whole.from_(total + 1)
        u_second, u_from, u_above = (
            left.mass * chance
            for chance in (second.at(total - u), second.from_(total - u), second.from_(total + 1 - u))
        )
        v_first, v_from, v_above = (
            right.mass * chance for chance in (first.at(total - v), first.from_(total - v), first.from_(total + 1 - v))
        )
        won += (
            whole.at(total) * (u_from @ singles_from @ v_from),
            beaten * (u_second @ singles_from @ v_from),
            beaten * (u_above @ singles_from @ v_first),
            beaten * (u_above @ singles_at @ v_above),
        )
    return won


def exact_costs(cells, plan):
    """The costs before noise, from the shipped kernel."""
    values, ranks = deviation.ranked(np.array(cells, np.int64))
    rows = [deviation.starting_at(values, ranks, start, plan.lattice) + plan.bucket for start in range(3)]
    return {(start, end): int(rows[start][end - start - 1]) for start, end in BUCKETS}


def shipped(exact, plan, options):
    """The laws of the noisy costs, with the shipped scales."""
    costs = {}
    for bucket, cost in exact.items():
        length = bucket[1] - bucket[0]
        if length in plan.lengths:
            place = plan.lengths.index(length)
            costs[bucket] = law_of_noise(options.noise, plan.scales[place], plan.centres[place]).plus(cost)
        else:
            costs[bucket] = NEVER
    return costs


def published(exact, plan, epsilon1):
    """The same with half the noise, none on unit buckets, and clamped at what a bucket costs: NOT private."""
    costs = {}
    for bucket, cost in exact.items():
        length = bucket[1] - bucket[0]
        if length == 1:
            costs[bucket] = Law(cost, np.ones(1))
        else:
            scale = (sensitivity(3, plan.lattice) + sensitivity(length, plan.lattice)) / (2 * epsilon1)
            costs[bucket] = law_of_noise("laplace", scale, 0).plus(cost).at_least(plan.bucket)
    return costs


def largest_loss(laws, plan):
    """The largest |log-ratio| between neighbours: 125 inputs, and one record more in each of three places."""
    known = {}

    def logs(cells):
        costs = exact_costs(cells, plan)
        key = tuple(costs.values())
        if key not in known:
            won = chances(laws(costs))
            assert won.sum() == pytest.approx(1, abs=1e-12)
            known[key] = np.log(won[3 - len(plan.lengths) :])  # without buckets of length 3, the first cannot win
        return known[key]

    worst = []
    for cells in product((0, 1, 2, 3, 6), repeat=3):
        for place in range(3):
            more = [count + (cell == place) for cell, count in enumerate(cells)]
            worst.append(np.abs(logs(more) - logs(cells)).max())
    assert np.isfinite(worst).all()
    return max(worst)


CASES = [
    ("all", "laplace", Fraction(2), 1),
    ("all", "laplace", Fraction(4), 3),
    ("all", "exponential", Fraction(1), 1),
    ("all", "exponential", Fraction(4), 3),
    ("powers", "laplace", Fraction(2), 1),
    ("powers", "exponential", Fraction(2), 2),
]


@pytest.mark.long_but(1)
@pytest.mark.parametrize(("lengths", "noise", "epsilon1", "lattice"), CASES)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(lengths, noise, epsilon1, lattice):
    options = NoisyCost(lengths=lengths, noise=noise)
    plan = parameters_for(3, epsilon1, Fraction(1), options, lattice=lattice)
    assert plan.loss == epsilon1
    worst = largest_loss(lambda exact: shipped(exact, plan, options), plan)
    assert worst <= float(epsilon1) + 1e-9
    assert worst >= float(epsilon1) / 3  # the inputs are not easy ones


def test_a_bucket_costs_the_noise_that_measuring_it_will_have():
    plan = parameters_for(8, Fraction(1, 4), Fraction(1, 2), NoisyCost(), lattice=10)
    assert (plan.lattice, plan.bucket) == (10, 20)


def test_the_same_check_catches_the_published_variant():
    epsilon1 = Fraction(1, 4)
    plan = parameters_for(3, epsilon1, Fraction(3, 4), NoisyCost(lengths="all"), lattice=12)
    assert largest_loss(lambda exact: published(exact, plan, epsilon1), plan) > 2.5 * float(epsilon1)


def test_the_published_variant_loses_more_with_every_cell():
    """All unit buckets win iff every longer bucket's noisy cost exceeds theirs: a product, in closed form."""

    def log_chance(cells, epsilon1, epsilon2):
        logs = 0.0
        for length in (2, 4, 8, 16):
            scale = (2 * (1 - 1 / len(cells)) + 2 * (1 - 1 / length)) / (2 * epsilon1)
            for start in range(len(cells) - length + 1):
                bucket = cells[start : start + length]
                gap = (length - 1) / epsilon2 - np.abs(bucket - bucket.mean()).sum()
                logs += stats.laplace.logsf(gap, scale=scale)
        return logs

    cells = np.array([2, 0] * 8)
    losses = [
        abs(log_chance(cells + (np.arange(16) == place), 0.25, 0.75) - log_chance(cells, 0.25, 0.75))
        for place in range(16)
    ]
    losses += [
        abs(log_chance(cells - (np.arange(16) == place), 0.25, 0.75) - log_chance(cells, 0.25, 0.75))
        for place in range(0, 16, 2)
    ]
    assert max(losses) == pytest.approx(2.15, abs=0.01)


@pytest.mark.long_but(2)
@pytest.mark.parametrize(("lengths", "noise"), KINDS)
@pytest.mark.parametrize("cells", [(3, 0, 1), (0, 0, 4)])
def test_the_sampler_has_the_exact_chances(lengths, noise, cells):
    options = NoisyCost(lengths=lengths, noise=noise)
    plan = parameters_for(3, Fraction(2), Fraction(1), options, lattice=2)
    source = Seeded(8)
    runs = 4000
    drawn = [tuple(chosen(np.array(cells), plan, options, source).tolist()) for _ in range(runs)]
    expected = runs * chances(shipped(exact_costs(cells, plan), plan, options))
    seen = np.array([drawn.count(bounds) for bounds in PARTITIONS])
    possible = expected > 0
    assert seen.sum() == seen[possible].sum() == runs
    distance = ((seen - expected)[possible] ** 2 / expected[possible]).sum()
    assert distance < stats.chi2.isf(1e-9, possible.sum() - 1)


@pytest.mark.parametrize("lengths", ["powers", "all"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 1000])
@pytest.mark.parametrize(
    "epsilon1", [Fraction(1, 10**9), Fraction(1, 40), Fraction(2**61 - 1, 2**61 + 1), Fraction(10**6)]
)
def test_the_loss_is_within_budget_and_close_to_it(lengths, size, epsilon1):
    options = NoisyCost(lengths=lengths)
    lost = loss(size, epsilon1, Fraction(1, 3), options)
    assert lost <= epsilon1
    assert lost >= epsilon1 * Fraction(99_999, 100_000) or size == 1


def moved(cells, place, lattice):
    """By how many steps one more record moves the rounded deviation."""
    more = cells + (np.arange(len(cells)) == place)
    before, after = (deviation.windows(*deviation.ranked(x), len(x), lattice)[0] for x in (cells, more))
    return abs(after - before)


@pytest.mark.parametrize("lattice", [1, 2, 8, 15])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 11])
def test_sensitivities_hold_after_rounding_and_are_reached(lattice, length):
    rng = np.random.default_rng(3)
    most = sensitivity(length, lattice)
    assert max(moved(rng.integers(0, 5, length), rng.integers(length), lattice) for _ in range(100)) <= most
    rounded = 2 * lattice % length > 0
    assert moved(np.zeros(length, np.int64), 0, lattice) == most - rounded


def test_unit_buckets_have_noise_too():
    plan = parameters_for(64, Fraction(1), Fraction(1), NoisyCost())
    assert plan.lengths[0] == 1
    assert plan.scales[0] == sensitivity(64, plan.lattice)


@pytest.mark.parametrize("size", [1, 2, 7, 100])
@pytest.mark.parametrize(("lengths", "noise"), KINDS)
def test_bounds_divide_the_domain(size, lengths, noise):
    counts = Counts.of(np.arange(size) % 5)
    options = NoisyCost(lengths=lengths, noise=noise)
    bounds = noisy_cost(counts.exposed, size, Fraction(1, 4), Fraction(3, 4), options, randomness_for(None))
    widths = np.diff(bounds)
    assert bounds[0] == 0
    assert bounds[-1] == size
    assert (widths > 0).all()
    assert lengths == "all" or ((widths & (widths - 1)) == 0).all()


@pytest.mark.parametrize("lengths", ["powers", "all"])
@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_with_a_huge_budget_the_optimum_comes_out(lengths, noise):
    cells = np.repeat([7, 100, 0, 3], [16, 4, 8, 4])
    options = NoisyCost(lengths=lengths, noise=noise)
    bounds = noisy_cost(Counts.of(cells).exposed, 32, Fraction(10**5), Fraction(1), options, Seeded(0))
    assert bounds.tolist() == [0, 16, 20, 28, 32]


def test_the_most_records_are_no_problem():
    cells = np.zeros(4096, np.int64)
    cells[[100, 3000]] = 2**44
    for noise in ("laplace", "exponential"):
        bounds = noisy_cost(Counts.of(cells).exposed, 4096, Fraction(1), Fraction(1), NoisyCost(noise=noise), Seeded(1))
        assert {100, 101, 3000, 3001} <= set(bounds.tolist())


def test_the_lattice_is_coarser_where_sums_would_not_fit():
    lattices = [
        parameters_for(2**22, epsilon, epsilon, NoisyCost()).lattice
        for epsilon in (Fraction(1), Fraction(1, 10**6), Fraction(1, 10**9))
    ]
    assert lattices[0] == FINEST
    assert all(fine > coarse >= 1 for fine, coarse in pairwise(lattices))


@examples(200)
@given(st.integers(1, 2**22), st.fractions(Fraction(1, 10**10), 1), st.fractions(Fraction(1, 10**10), 1))
def test_no_sum_of_noisy_costs_wraps(size, epsilon1, epsilon2):
    """All records in buckets of the worst shape, and noise as large as it gets in each cell; no finer lattice fits."""

    def largest(lattice):
        noise = 4 * lattice / epsilon1 * costs_of.REACH
        return 2 * MOST_RECORDS * lattice + size * (1 + lattice / epsilon2 + noise)

    try:
        lattice = costs_of._lattice(size, epsilon1, epsilon2)
    except BudgetError:
        assert largest(1) >= 2**62
    else:
        assert largest(lattice) < 2**62
        assert lattice == FINEST or largest(2 * lattice) >= 2**62


@pytest.mark.parametrize(
    "wrong", [{"share": Fraction(0)}, {"share": Fraction(1)}, {"lengths": "some"}, {"noise": "gaussian"}]
)
def test_options_that_do_not_exist_are_refused(wrong):
    with pytest.raises(DawaError, match="Hint:"):
        NoisyCost(**wrong)


def test_too_many_cells_are_refused_with_a_way_out():
    with pytest.raises(OptionError, match='lengths="powers"'):
        parameters_for(2**14 + 1, Fraction(1), Fraction(1), NoisyCost(lengths="all"))
    with pytest.raises(OptionError, match="the walk"):
        parameters_for(2**22 + 1, Fraction(1), Fraction(1), NoisyCost())


def test_a_budget_that_no_lattice_can_hold_is_refused():
    with pytest.raises(BudgetError, match="overflows"):
        parameters_for(2**22, Fraction(1, 10**12), Fraction(1), NoisyCost())


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    with pytest.raises(InvariantError, match="more than the"):
        noisy_cost(Counts.of([1, 2]).exposed, 2, Fraction(1), Fraction(1), NoisyCost(), Seeded(0))
