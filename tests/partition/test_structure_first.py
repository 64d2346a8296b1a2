"""StructureFirst: costs and programme against brute force, privacy by enumeration of all bounds and verdicts."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dawa import kernels, mechanisms
from dawa.counts import Counts
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.limits import MOST_CELLS_STRUCTURED
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from dawa.partition import structure_first
from dawa.partition.structure_first import (
    LARGEST_BOUND,
    StructureFirst,
    bound_scores,
    costs,
    drawn_bounds,
    parameters_for,
    uneven,
    verdict_numbers,
    worthwhile,
)
from helpers.examples import examples


def brute_absolute(cells):
    return min(sum(abs(x - m) for x in cells) for m in cells)


def brute_squared(cells):
    return math.floor(sum(x * x for x in cells) - Fraction(sum(cells) ** 2, len(cells)))


BRUTE = {"absolute": brute_absolute, "squared": brute_squared}


@examples(60)
@given(
    st.sampled_from(["absolute", "squared"]),
    st.lists(st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**16)), min_size=1, max_size=16),
    st.data(),
)
def test_costs_equal_brute_force_exactly(kind, cells, data):
    inner = data.draw(st.sets(st.integers(1, max(1, len(cells) - 1)), max_size=8)) if len(cells) > 1 else set()
    marks = [0, *sorted(inner), len(cells)]
    found = getattr(kernels.bisect, kind)(np.array(cells), np.array(marks))
    for i, j in itertools.combinations(range(len(marks)), 2):
        assert found[i, j] == BRUTE[kind](cells[marks[i] : marks[j]])


@examples(60)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32))
def test_prefixes_equal_the_least_of_all_divisions(parts, buckets, seed):
    cost = np.random.default_rng(seed).integers(0, 2**40, (parts + 1, parts + 1))
    best = kernels.bisect.prefixes(cost, buckets)
    for number, end in itertools.product(range(1, buckets + 1), range(1, parts + 1)):
        divisions = [(0, *inner, end) for inner in itertools.combinations(range(1, end), number - 1)]
        exact = [sum(int(cost[i, j]) for i, j in itertools.pairwise(marks)) for marks in divisions]
        assert best[number - 1, end] == min(exact, default=kernels.bisect.UNREACHED)


@examples(200)
@given(st.integers(1, 20), st.lists(st.integers(0, 25), min_size=2, max_size=6), st.data())
def test_one_record_moves_the_cost_of_a_division_by_at_most_the_sensitivity(bound, cells, data):
    more = list(cells)
    more[data.draw(st.integers(0, len(cells) - 1))] += 1
    options = StructureFirst(cost="squared", bound=bound, buckets=2)
    for chosen in (options, StructureFirst(buckets=2)):
        plan = parameters_for(len(cells), Fraction(1), chosen)
        one, two = (bound_scores(*costs(np.array(x), plan), 1, len(cells)) for x in (cells, more))
        assert np.abs(one - two).max() <= plan.sensitivity


def test_the_sensitivity_of_squares_is_reached():
    cells = np.array([9, *[0] * 99])
    moved = brute_squared([10, *[0] * 99]) - brute_squared(cells.tolist())
    assert moved == parameters_for(100, Fraction(1), StructureFirst(cost="squared", bound=10)).sensitivity


# --- exact privacy on six cells -------------------------------------------------------------------------------------

CELLS = 6


def logs_of(scores, scale):
    powers = scores / float(scale)
    return powers - np.logaddexp.reduce(powers)


def log_chances(cells, plan, verdict_room=1):
    """Log-chance of every outcome: bounds, and whether they are kept; from the shipped scores."""
    cells = np.array(cells)
    cost, best = costs(cells, plan)
    logs = {}
    for inner in itertools.combinations(range(1, CELLS), plan.buckets - 1):
        bounds = np.array([0, *inner, CELLS])
        total = 0.0
        for left in range(plan.buckets - 1, 0, -1):
            total += logs_of(bound_scores(cost, best, left, bounds[left + 1]), plan.scale)[bounds[left] - left]
        widest, threshold = verdict_numbers(bounds, plan)
        verdict = logs_of(np.array([-uneven(cells, bounds), -threshold]), widest / plan.verdict / verdict_room)
        logs[inner, True], logs[inner, False] = total + verdict
    return logs


def worst_loss(plan, number, verdict_room=1):
    rng = np.random.default_rng(4)
    worst = 0.0
    for _ in range(number):
        cells = rng.integers(0, rng.integers(2, 40), CELLS) * rng.integers(0, 2, CELLS)
        more = cells + (np.arange(CELLS) == rng.integers(CELLS))
        one, two = (log_chances(x, plan, verdict_room) for x in (cells, more))
        worst = max(worst, *(abs(one[key] - two[key]) for key in one))
    return worst


HALF = {"share": Fraction(1, 4), "verdict_share": Fraction(1, 4)}


@pytest.mark.long_but(3)
@pytest.mark.parametrize("epsilon", ["1", "8"])
@pytest.mark.parametrize("buckets", [2, 3, 4])
@pytest.mark.parametrize("cost", [{}, {"cost": "squared", "bound": 3}], ids=["absolute", "squared"])
def test_every_outcome_loses_at_most_the_shares(epsilon, buckets, cost):
    plan = parameters_for(CELLS, Fraction(epsilon), StructureFirst(buckets=buckets, **HALF, **cost))
    assert plan.loss == plan.spent == Fraction(epsilon) / 2
    worst = worst_loss(plan, 250)
    assert worst <= float(plan.spent) + 1e-9
    assert worst > 0.35 * float(plan.spent)


def test_the_same_check_catches_a_scale_that_forgets_the_number_of_bounds():
    plan = parameters_for(CELLS, Fraction(8), StructureFirst(buckets=4, **HALF))
    assert worst_loss(replace(plan, scale=plan.scale / 3), 250) > float(plan.spent)


def test_the_same_check_catches_a_bound_that_is_not_applied():
    """The original's weak spot: squares of counts that are larger than the bound says."""
    plan = parameters_for(CELLS, Fraction(8), StructureFirst(buckets=3, cost="squared", bound=3, **HALF))
    assert worst_loss(replace(plan, bound=10**4), 250) > float(plan.spent)


def test_the_same_check_catches_a_verdict_that_forgets_the_widths():
    plan = parameters_for(CELLS, Fraction(8), StructureFirst(buckets=2, **HALF))
    assert worst_loss(plan, 250, verdict_room=4) > float(plan.spent)


def test_bounds_and_verdict_are_drawn_with_the_exact_chances():
    """Chi-square over all outcomes; the bound fails by chance once in a million runs of a true sampler."""
    cells, draws = np.array([5, 4, 9, 9, 0, 2]), 5000
    plan = parameters_for(CELLS, Fraction(1, 2), StructureFirst(buckets=3, **HALF))
    plan = replace(plan, noise=Fraction(1))  # a close verdict
    exact = {key: math.exp(log) for key, log in log_chances(cells, plan).items()}
    assert sum(exact.values()) == pytest.approx(1)
    source, seen = Seeded(6), dict.fromkeys(exact, 0)
    for _ in range(draws):
        bounds = drawn_bounds(cells, plan, source)
        seen[tuple(bounds[1:-1].tolist()), worthwhile(cells, bounds, plan, source)] += 1
    expected = draws * np.array(list(exact.values()))
    assert expected.min() > 5
    statistic = ((np.array(list(seen.values())) - expected) ** 2 / expected).sum()
    assert statistic < stats.chi2.isf(1e-6, len(exact) - 1)


# --- structure ------------------------------------------------------------------------------------------------------


@examples(40)
@given(
    st.integers(1, 200),
    st.integers(0, 2**32),
    st.sampled_from(["1/1000000", "0.1", "30", "100000"]),
    st.sampled_from(
        [
            StructureFirst(),
            StructureFirst(buckets=1),
            StructureFirst(buckets=7, marks=5, verdict=False),
            StructureFirst(cost="squared", bound=20, marks=50),
        ]
    ),
)
def test_buckets_divide_any_domain_and_cost_at_most_their_share(size, seed, epsilon, options):
    epsilon = Fraction(epsilon)
    rng = np.random.default_rng(seed)
    counts = Counts.of(rng.poisson(rng.gamma(0.2, 50, size)))
    found = options.choose_buckets(counts.exposed, size, epsilon, Seeded(seed))
    assert found.bounds[0] == 0
    assert found.bounds[-1] == size
    assert (np.diff(found.bounds) > 0).all()
    assert found.spent == found.spent_least < epsilon
    assert found.spent * Fraction(99_999, 100_000) <= structure_first.loss(size, epsilon, options) <= found.spent
    assert options.verdict or len(found) == min(options.buckets, options.marks, size)


def test_nothing_is_spent_where_nothing_is_asked():
    assert parameters_for(1, Fraction(1), StructureFirst()).spent == 0
    assert parameters_for(100, Fraction(1), StructureFirst(buckets=1, verdict=False)).spent == 0
    assert parameters_for(100, Fraction(1), StructureFirst(buckets=100)).spent == Fraction(5, 100)


@pytest.mark.parametrize("cells", [[0] * 100, [7], [0], [2**44, 0, 0, 2**44], [0] * 4095 + [2**45]])
@pytest.mark.parametrize("options", [StructureFirst(), StructureFirst(cost="squared", bound=2**22, buckets=3)])
def test_extreme_counts(cells, options):
    found = options.choose_buckets(Counts.of(cells).exposed, len(cells), Fraction(1), Seeded(0))
    assert found.bounds[-1] == len(cells)


def test_the_most_squares_fit():
    """Every count at the largest bound, or none: as uneven as the most cells can be."""
    cells = np.full(MOST_CELLS_STRUCTURED, LARGEST_BOUND)
    cells[::2] = 0
    cells[-1] -= 1
    cost = kernels.bisect.squared(cells, np.array([0, 777, MOST_CELLS_STRUCTURED]))
    assert cost[0, 2] == brute_squared(cells.tolist())
    assert cost[1, 2] == brute_squared(cells[777:].tolist())


def test_plateaus_are_kept_and_rough_data_goes_to_cells():
    plateaus = np.repeat([0, 500, 90, 4000], [100, 40, 200, 160])
    options = StructureFirst(buckets=4)
    found = options.choose_buckets(Counts.of(plateaus).exposed, 500, Fraction(10), Seeded(0))
    assert found.bounds.tolist() == [0, 100, 140, 340, 500]
    rough = Counts.of([0, 4000] * 250)
    assert len(options.choose_buckets(rough.exposed, 500, Fraction(10), Seeded(0))) == 500
    assert len(replace(options, verdict=False).choose_buckets(rough.exposed, 500, Fraction(10), Seeded(0))) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": Fraction(0)},
        {"share": Fraction(99, 100)},
        {"cost": "cubed"},
        {"cost": "squared"},
        {"bound": 5},
        {"cost": "squared", "bound": 2**23},
        {"buckets": 0},
        {"marks": 0},
        {"marks": 2**14},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises((BudgetError, OptionError), match="Hint:"):
        StructureFirst(**wrong)


def test_too_many_cells_are_refused():
    with pytest.raises(OptionError, match="the walk"):
        StructureFirst().choose_buckets(Counts.of([1, 2]).exposed, MOST_CELLS_STRUCTURED + 1, Fraction(1), Seeded(0))


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    counts = Counts.of([1, 2, 3, 4] * 8)
    with pytest.raises(InvariantError, match="more than the"):
        StructureFirst(buckets=3).choose_buckets(counts.exposed, 32, Fraction(1), Seeded(0))
    with pytest.raises(InvariantError, match="verdict"):
        StructureFirst(buckets=1).choose_buckets(counts.exposed, 32, Fraction(1), Seeded(0))


def test_the_mechanism_measures_a_tree():
    assert mechanisms.StructureFirst().partition == StructureFirst()
    assert (mechanisms.StructureFirst().strategy, mechanisms.StructureFirst().branching) == ("uniform", 16)
    assert mechanisms.StructureFirst.summary.endswith(".")
