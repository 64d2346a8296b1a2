"""MWEM: the update against a dense twin, sensitivities in whole numbers, and the exact loss of whole transcripts."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa import infer, limits
from dawa.counts import Counts
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.kernels import mwem as kernel
from dawa.limits import MOST_CELLS_LISTED
from dawa.mechanisms import mwem
from dawa.mechanisms.mwem import (
    LATTICE,
    Mwem,
    candidates,
    loss,
    parameters_for,
    rounds_for,
    rounds_of,
    run,
    scores,
    updated,
)
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from dawa.queries.workload import Workload
from helpers.examples import examples


def whole(cells):
    return Counts.of(np.array(cells)).exposed


def dense(queries, size):
    """One row per query, in whole numbers."""
    rows = np.zeros((len(queries), size), object)
    for query in range(len(queries)):
        for each in range(queries.first[query], queries.first[query + 1]):
            rows[query, queries.lo[each] : queries.hi[each]] = int(queries.weight[each])
    return rows


@st.composite
def weighted(draw, size):
    """Queries of one or two runs each, with any weights."""
    first, lo, hi, weight = [0], [], [], []
    for _ in range(draw(st.integers(1, 5))):
        cuts = sorted(draw(st.sets(st.integers(0, size), min_size=2, max_size=4)))
        for start, stop in list(zip(cuts[::2], cuts[1::2], strict=False)):
            lo.append(start)
            hi.append(stop)
            weight.append(draw(st.one_of(st.just(1.0), st.floats(-3, 3))))
        first.append(len(lo))
    return Workload.runs(first, lo, hi, weight, size)


# --- the update


def replayed(mass, rows, answers, passes):
    """The update on dense rows, as in the paper."""
    total = mass.sum()
    for _ in range(passes):
        for row, answer in zip(rows, answers, strict=True):
            exponent = np.clip((answer - row @ mass) / (2 * total), -kernel.LONGEST, kernel.LONGEST)
            mass = mass * np.exp(row * exponent)
            mass *= total / mass.sum()
    return mass


@settings(deadline=None)
@given(st.data(), st.integers(1, 12), st.integers(1, 4))
def test_segments_do_what_cells_would(data, size, passes):
    """The kernel runs on the few segments between ends; a twin runs on every cell."""
    queries = candidates(data.draw(weighted(size)))
    answers = np.array([data.draw(st.floats(-50, 150)) for _ in range(len(queries))])
    bounds, mass = updated(queries, answers, np.array([0, size]), np.array([60.0]), passes)
    slow = replayed(np.full(size, 60.0 / size), dense(queries, size).astype(float) / LATTICE, answers, passes)
    np.testing.assert_allclose(infer.expanded(mass, bounds), slow, rtol=1e-9, atol=1e-12)


def test_replays_approach_answers_that_can_be_met():
    queries = candidates(Workload.ranges([0, 2, 5], [4, 8, 10], 10))
    truth = np.array([1.0, 2, 8, 3, 1, 1, 9, 9, 2, 4])
    answers = np.array([14.0, 31.0, 25.0])
    bounds, mass = updated(queries, answers, np.array([0, 10]), np.array([40.0]), 2000)
    cells = infer.expanded(mass, bounds)
    assert cells.sum() == pytest.approx(truth.sum())
    np.testing.assert_allclose([cells[:4].sum(), cells[2:8].sum(), cells[5:].sum()], answers, rtol=1e-3)


def test_answers_far_outside_of_reason_stay_finite():
    queries = candidates(Workload.ranges([0, 1, 0], [1, 3, 2], 4))
    for answers in ([1e12, -1e12, 1e12], [-1e300, 1e300, 0.0]):
        _, mass = updated(queries, np.array(answers), np.array([0, 4]), np.array([1.0]), 500)
        assert np.isfinite(mass).all()
        assert mass.sum() == pytest.approx(1)


# --- queries in whole numbers


@given(st.data(), st.integers(1, 9))
def test_answers_are_exact_and_no_record_moves_them_or_the_scores_further_than_claimed(data, size):
    """In Python's integers: every place of the record."""
    queries = candidates(data.draw(weighted(size)))
    rows, sensitivity = dense(queries, size), queries.sensitivity
    cells = data.draw(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**41)), min_size=size, max_size=size))
    bounds = np.unique([0, size // 2, size])
    mass = np.array([data.draw(st.floats(0, 2.0**40)) for _ in bounds[1:]])
    exact = queries.exact(whole(cells))
    assert exact.tolist() == (rows @ np.array(cells, object)).tolist()
    before, farthest = scores(exact, queries, bounds, mass), 0
    for place in range(size):
        more = np.array(cells) + (np.arange(size) == place)
        moved = np.abs(queries.exact(whole(more)) - exact)
        farthest = max(farthest, moved.max())
        after = scores(queries.exact(whole(more)), queries, bounds, mass)
        assert (np.abs(after - before) <= moved).all()
    assert farthest == sensitivity or not queries.weight.any()
    assert sensitivity <= LATTICE


def test_ranges_count_in_whole_records():
    queries = candidates(dawa.workloads.prefixes(5))
    assert queries.sensitivity == LATTICE
    assert queries.exact(whole([3, 0, 2, 0, 1])).tolist() == [LATTICE * sum_ for sum_ in (3, 3, 5, 5, 6)]


def test_estimated_answers_are_those_of_the_expanded_cells():
    queries = candidates(Workload.runs([0, 2, 3], [0, 5, 3], [2, 9, 7], [1.5, -2, 0.25], 9))
    bounds, mass = np.array([0, 4, 9]), np.array([8.0, 30.0])
    slow = dense(queries, 9).astype(float) @ infer.expanded(mass, bounds)
    np.testing.assert_allclose(queries.estimated(bounds, mass), slow, atol=0.5)


@pytest.mark.parametrize("size", [300, 400, 60_000])
def test_candidates_are_the_workload_or_a_fixed_part_of_it(size):
    for workload in (dawa.workloads.all_ranges(size), dawa.workloads.prefixes(size), dawa.workloads.identity(size)):
        one, two = candidates(workload), candidates(workload)
        number = size * (size + 1) // 2 if workload.closed.value == "ranges" else size
        assert len(one) == min(number, limits.MOST_CANDIDATES)
        np.testing.assert_array_equal(one.lo, two.lo)
        assert one.hi.max() == size or workload.closed.value == "ranges"
        assert (one.weight == LATTICE).all()
    many = Workload.ranges(np.arange(70_000) % size, np.arange(70_000) % size + 1, size)
    assert len(candidates(many)) == limits.MOST_CANDIDATES


# --- the whole mechanism, exactly


def log_chances(points, scale):
    logs = points.astype(float) / float(scale)
    logs -= logs.max()
    return logs - math.log(np.exp(logs).sum())


def largest_loss(queries, size, plan, inputs, records=6):
    """The largest log-ratio over transcripts of two rounds and over neighbours.

    A transcript is a query, its noisy answer, another query, its noisy answer. The first answer decides the estimate
    that the second query is chosen on, so that a grid of values is tried, on the far side of both inputs' answers
    too; the last one only adds the ratio of its own chances, which is largest far out.
    """
    everything = np.arange(len(queries))
    estimates = {}
    flat = np.array([0, size]), np.array([float(records)])
    for first, answer in product(range(len(queries)), range(-3, 12, 3)):
        seen = queries.only(np.array([first])), np.array([float(answer)])
        estimates[first, answer] = updated(*seen, *flat, 5)
    worst = 0.0
    for cells in inputs:
        for place in range(size):
            both = [queries.exact(whole(x)) for x in (cells, cells + (np.arange(size) == place))]
            begin = [log_chances(scores(exact, queries, *flat), plan.choice_scale) for exact in both]
            far = np.abs(both[0] - both[1]) / float(plan.measure_scale)
            for (first, answer), estimate in estimates.items():
                rest = np.delete(everything, first)
                ends = [log_chances(scores(exact, queries, *estimate)[rest], plan.choice_scale) for exact in both]
                near = [-abs(answer * LATTICE - int(exact[first])) / float(plan.measure_scale) for exact in both]
                start = begin[0][first] - begin[1][first] + near[0] - near[1]
                more, less = (start + sign * far[rest] + ends[0] - ends[1] for sign in (1, -1))
                worst = max(worst, more.max(), -less.min())
    return worst


RANGES = candidates(dawa.workloads.all_ranges(3))
WEIGHTED = candidates(Workload.runs([0, 1, 3, 4], [0, 0, 2, 1], [2, 1, 3, 3], [1, 0.3, -0.7, 0.51], 3))
INPUTS = [np.array(cells) for cells in product((0, 1, 2, 4, 7), repeat=3)]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("queries", [RANGES, WEIGHTED], ids=["ranges", "weighted"])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5)])
@pytest.mark.parametrize("choice_share", [Fraction(1, 2), Fraction(9, 10)])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(queries, epsilon, choice_share):
    plan = parameters_for(queries, epsilon, 2, Mwem(choice_share=choice_share))
    assert plan.loss == epsilon
    worst = largest_loss(queries, 3, plan, INPUTS)
    assert worst <= float(epsilon) + 1e-9
    assert worst >= 0.4 * float(epsilon), "the inputs are not easy ones"


@pytest.mark.long_but(1)
@pytest.mark.parametrize("part", ["choice_scale", "measure_scale"])
def test_the_same_check_catches_half_the_noise(part):
    share = Fraction(9, 10) if part == "choice_scale" else Fraction(1, 2)
    plan = parameters_for(RANGES, Fraction(2), 2, Mwem(choice_share=share))
    halved = replace(plan, **{part: getattr(plan, part) / 2})
    assert largest_loss(RANGES, 3, halved, INPUTS) > 2.2


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10**9), Fraction(1, 40), Fraction(2**61 - 1, 2**61 + 1), Fraction(10**6)]
)
@pytest.mark.parametrize("rounds", [1, 7, 200])
def test_the_loss_is_within_budget_and_close_to_it(epsilon, rounds):
    options = Mwem()
    spent = options.total_share * epsilon
    lost = loss(discrete.coarsened(1 / spent), parameters_for(RANGES, epsilon - spent, rounds, options))
    assert lost <= epsilon
    assert lost >= epsilon * Fraction(999, 1000)
    assert loss(None, parameters_for(RANGES, epsilon, rounds, options)) <= epsilon


def test_the_sampler_has_the_exact_chances():
    """After one round the bounds tell which range was asked; the counts prefer some of them."""
    cells, runs, source = np.array([7, 1, 0]), 3000, Seeded(4)
    plan = parameters_for(RANGES, Fraction(2), 1, Mwem())
    flat = np.array([0, 3]), np.array([8.0])
    expected = runs * np.exp(log_chances(scores(RANGES.exact(whole(cells)), RANGES, *flat), plan.choice_scale))
    seen, groups = {}, {}
    for query in range(len(RANGES)):
        bounds = tuple(sorted({0, 3, int(RANGES.lo[query]), int(RANGES.hi[query])}))
        groups[bounds] = groups.get(bounds, 0) + expected[query]
    for _ in range(runs):
        bounds, _ = rounds_of(whole(cells), 3, RANGES, 8, plan, 1, source)
        seen[tuple(bounds.tolist())] = seen.get(tuple(bounds.tolist()), 0) + 1
    statistic = sum((seen.get(key, 0) - mean) ** 2 / mean for key, mean in groups.items())
    assert sum(seen[key] for key in groups) == runs
    assert statistic < stats.chi2.isf(1e-6, len(groups) - 1)


# --- behaviour


@pytest.mark.long_but(6)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 1000])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(1, 10), Fraction(10**6)])
def test_any_domain_and_any_budget(size, epsilon):
    cells = np.arange(size) % 7
    for counts in (cells, np.zeros(size, np.int64)):
        for workload in (dawa.workloads.all_ranges(size), dawa.workloads.identity(size), dawa.workloads.prefixes(size)):
            found = run(Counts.of(counts), workload, epsilon, Mwem(replays=3), Seeded(0))
            assert found.cells.shape == (size,)
            assert np.isfinite(found.cells).all()
            assert (found.cells >= 0).all()
            assert sum(found.split.values()) == found.epsilon == epsilon


def test_the_most_records_are_no_problem():
    cells = np.zeros(512, np.int64)
    cells[[100, 300]] = 2**44
    found = run(Counts.of(cells), dawa.workloads.all_ranges(512), Fraction(1), Mwem(rounds=30), Seeded(1))
    assert found.cells.sum() == pytest.approx(2**45, rel=1e-9)
    assert found.cells[90:310].sum() > 0.9 * 2**45


def test_a_few_queries_are_answered_better_than_by_noise_on_cells():
    rng = np.random.default_rng(0)
    cells = rng.poisson(np.repeat([5, 40, 0, 15], 256))
    workload = Workload.ranges([0, 256, 300, 700, 0], [256, 512, 900, 1000, 640], 1024)
    truth, ours, theirs = workload.answers(cells), [], []
    for seed in range(10):
        found = run(Counts.of(cells), workload, Fraction(1, 10), Mwem(), Seeded(seed))
        assert found.options["rounds"] == 5
        ours.append(np.abs(found.answers(workload) - truth).mean())
        other = dawa.estimate(cells, workload, epsilon="0.1", mechanism="identity", seed=seed)
        theirs.append(np.abs(other.answers(workload) - truth).mean())
    assert np.mean(ours) < 0.6 * np.mean(theirs)


def test_a_public_number_of_records_costs_nothing_and_is_kept():
    workload = dawa.workloads.prefixes(64)
    found = run(Counts.of(np.full(64, 3)), workload, Fraction(1), Mwem(records=192), Seeded(0))
    assert found.split == {"total": 0, "choose": Fraction(1, 2), "measure": Fraction(1, 2)}
    assert found.cells.sum() == pytest.approx(192)
    counted = run(Counts.of(np.full(64, 3)), workload, Fraction(1), Mwem(), Seeded(0))
    assert counted.split == {"total": Fraction(1, 20), "choose": Fraction(19, 40), "measure": Fraction(19, 40)}


def test_no_more_rounds_than_candidates():
    workload = Workload.ranges([0, 2], [2, 4], 4)
    found = run(Counts.of([9, 9, 1, 1]), workload, Fraction(10**5), Mwem(rounds=50, replays=1000), Seeded(0))
    assert found.options["rounds"] == 2
    np.testing.assert_allclose(found.cells, [9, 9, 1, 1], atol=0.05)


def test_rounds_grow_with_budget_and_records():
    numbers = [rounds_for(Fraction(1, 10), 10**power) for power in range(12)]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (2, limits.MOST_ROUNDS)
    assert rounds_for(Fraction(1), 10**4) == rounds_for(Fraction(1, 100), 10**6)


def test_a_seed_repeats_a_run_and_the_result_says_what_it_is():
    cells, workload = np.arange(50), dawa.workloads.uniform(50, 200)
    one, two, three = (run(Counts.of(cells), workload, Fraction(1), Mwem(), Seeded(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.cells, two.cells)
    assert not np.array_equal(one.cells, three.cells)
    assert (one.epsilon, one.strategy, one.partition) == (1, None, None)
    assert json.loads(json.dumps(one.options)) == one.options
    assert set(one.options) == {"rounds", "replays", "records", "total_share", "choice_share"}
    assert "NOT private" in one.randomness


def test_options_are_checked_and_plain():
    assert Mwem(rounds=np.int64(3), total_share=0.1) == Mwem(rounds=3, total_share=Fraction(1, 10))
    wrongs = ({"rounds": 0}, {"rounds": 2.5}, {"rounds": True}, {"replays": 0}, {"replays": None}, {"records": -1})
    shares = ({"records": 2**46}, {"total_share": 0}, {"total_share": 1}, {"choice_share": "most"})
    for wrong in wrongs + shares:
        with pytest.raises((BudgetError, OptionError), match="Hint:"):
            Mwem(**wrong)


# --- on maps


@st.composite
def rectangles(draw, shape):
    """A few rectangles, some of which cut cells."""
    number = draw(st.integers(1, 4))
    ends = [
        [sorted(draw(st.sets(st.floats(0, side, width=16), min_size=2, max_size=2))) for side in shape]
        for _ in range(number)
    ]
    return Workload.rectangles(np.array(ends)[:, :, 0], np.array(ends)[:, :, 1], shape)


@pytest.mark.long
@examples(60)
@given(st.data(), st.lists(st.integers(1, 6), min_size=2, max_size=3).map(tuple))
def test_rectangles_are_answered_exactly_in_steps_of_the_lattice(data, shape):
    """Against the dense weights of every cell, rounded: what is claimed about runs holds for rectangles."""
    workload = data.draw(rectangles(shape))
    queries, counts = candidates(workload), np.random.default_rng(data.draw(st.integers(0, 99))).poisson(4, shape)
    exposed = Counts.of(counts).exposed
    rows, line = dense(queries, counts.size), exposed.dense(counts.size)
    assert queries.exact(exposed).tolist() == (rows @ line.astype(object)).tolist()
    assert np.abs(rows).max() == queries.sensitivity <= LATTICE
    unit = np.abs(workload.weight).max() / LATTICE
    np.testing.assert_allclose(
        queries.exact(exposed) * unit, workload.answers(counts), atol=unit / 2 * counts.sum() + 1e-9
    )
    bounds, mass = np.array([0, counts.size]), np.array([float(counts.sum())])
    slow = rows.astype(float) @ infer.expanded(mass, bounds)
    np.testing.assert_allclose(queries.estimated(bounds, mass), slow, atol=0.5 + 1e-6)


@examples(40)
@given(st.data(), st.lists(st.integers(1, 6), min_size=2, max_size=3).map(tuple), st.integers(1, 4))
def test_segments_do_what_cells_of_a_map_would(data, shape, passes):
    queries = candidates(data.draw(rectangles(shape)))
    size = math.prod(shape)
    answers = np.array([data.draw(st.floats(-50, 150)) for _ in range(len(queries))])
    bounds, mass = updated(queries, answers, np.array([0, size]), np.array([60.0]), passes)
    slow = replayed(np.full(size, 60.0 / size), dense(queries, size).astype(float) / LATTICE, answers, passes)
    np.testing.assert_allclose(infer.expanded(mass, bounds), slow, rtol=1e-9, atol=1e-12)


def test_a_map_is_learned_in_its_own_shape():
    counts = np.full((12, 10), 5)
    counts[2:6, 3:9] = 90
    corners = [[0, 0], [2, 3], [6, 0], [0, 9]], [[12, 10], [6, 9], [12, 10], [12, 10]]
    workload = Workload.rectangles(*corners, (12, 10))
    found = run(Counts.of(counts), workload, Fraction(10**4), Mwem(rounds=4, replays=2000), Seeded(0))
    np.testing.assert_allclose(found.answers(workload), workload.answers(counts), rtol=0.01)
    assert found.cells.shape == (12, 10)
    assert found.cells[3, 4] > 5 * found.cells[8, 4]


def test_more_cells_than_can_be_listed_are_refused():
    shape = (2, MOST_CELLS_LISTED)
    counts = Counts.sparse(shape, np.array([5]), np.array([1]))
    with pytest.raises(OptionError, match="Hint:"):
        run(counts, Workload.rectangles([[0, 0]], [[1, 9]], shape), Fraction(1), Mwem(), Seeded(0))


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    honest = parameters_for(RANGES, Fraction(1), 2, Mwem())
    monkeypatch.setattr(mwem, "parameters_for", lambda *_: replace(honest, measure_scale=honest.measure_scale / 2))
    with pytest.raises(InvariantError, match="more than the"):
        run(Counts.of([1, 2, 3]), dawa.workloads.all_ranges(3), Fraction(1), Mwem(), Seeded(0))
