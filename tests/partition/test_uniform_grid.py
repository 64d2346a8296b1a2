"""The uniform grid: its rule as a law, its privacy by exact chances of every grid, its error bars over seeds."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa import measure, mechanisms
from dawa.counts import Counts, Occupied
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.limits import MOST_BOXES_ALONG
from dawa.noise import discrete, gates
from dawa.noise.randomness import Seeded
from dawa.partition import UniformGrid
from dawa.partition.uniform_grid import crowding, cuts, loss, parts, sides
from dawa.strategy import tree
from dawa.strategy.base import RESOLUTION
from helpers import forced
from helpers.examples import examples

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)


# --- the rule -------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=4), st.floats(0, 1e9))
def test_noise_and_unevenness_are_balanced_over_any_shape(lengths, worth):
    """Boxes per axis m, boxes in all M: ``sqrt(M)·m = N·ε/c`` on every axis that is not cut into cells already."""
    along = sides(np.array([lengths]), np.array([worth]))[0]
    assert (along <= np.array(lengths)).all() or worth <= 1
    whole = along >= np.array(lengths)
    if not whole.all():
        assert math.sqrt(along.prod()) * along.max() == pytest.approx(worth)
        assert (along[~whole] == along.max()).all()


def test_on_two_axes_it_is_the_rule_of_the_paper():
    worth = crowding(np.array([32_561]), Fraction(1, 10), 10.0)
    assert sides(np.array([[256, 256]]), worth)[0] == pytest.approx([math.sqrt(32_561 * 0.1 / 10)] * 2)
    assert crowding(np.array([-40]), Fraction(1), 10.0) == 0


@given(st.lists(st.integers(2, 500), min_size=1, max_size=3), st.floats(0, 1e6))
def test_axes_of_a_single_cell_change_nothing(lengths, worth):
    with_one = sides(np.array([[*lengths, 1]]), np.array([worth]))[0]
    if worth >= 1:
        assert with_one[:-1] == pytest.approx(sides(np.array([lengths]), np.array([worth]))[0])


@given(st.integers(1, 2**40), st.floats(0, 2.0**22))
def test_boxes_are_whole_cells_wide_and_nearly_equal(length, along):
    count = int(parts(np.array([[length]]), np.array([[along]]))[0, 0])
    assert 1 <= count <= length
    if count > 2**16:
        return
    ends = cuts(length, count)
    widths = np.diff(ends)
    assert (ends[0], ends[-1]) == (0, length)
    assert 1 <= widths.min() <= widths.max() <= widths.min() + 1
    assert ends.tolist() == [place * length // count for place in range(count + 1)]
    assert widths.min() <= max(1, length // max(along, 1))


def test_cuts_do_not_overflow():
    ends = cuts(2**62, 2**22)
    assert (ends[0], ends[-1]) == (0, 2**62)
    assert (np.diff(ends) == 2**40).all()


# --- privacy, exactly -----------------------------------------------------------------------------------------------


def grid_at(shape, records, options, epsilon, monkeypatch):
    """The buckets that follow from a noisy number of records."""
    with monkeypatch.context() as patch:
        patch.setattr(gates, "noisy", forced.Forced(lambda *_: [records]))
        found = options.choose_boxes(Counts.of(np.zeros(shape)).exposed, shape, epsilon, None)
    return key_of(found)


def key_of(found):
    return found.bounds.tobytes(), None if found.boxes is None else (found.boxes.lo.tobytes(), found.boxes.hi.tobytes())


def chances(total, scale, grids, reach):
    """The exact chance of every grid: those of all noisy numbers of records that lead to it."""
    q = math.exp(-1 / float(scale))
    exact = dict.fromkeys(grids.values(), 0.0)
    for records, grid in grids.items():
        near = (1 - q) / (1 + q) * q ** abs(records - total)
        # Beyond the reach, the grid stays what it is at its end.
        exact[grid] += near / (1 - q) if abs(records) == reach else near
    return exact


SHAPE, REACH = (6, 7), 60
CLOSE = UniformGrid(share=Fraction(1, 2), per_box=0.5)


def worst_loss(scale, monkeypatch):
    epsilon = Fraction(2)
    grids = {n: grid_at(SHAPE, n, CLOSE, epsilon, monkeypatch) for n in range(-REACH, REACH + 1)}
    assert len(set(grids.values())) > 4
    worst = 0.0
    for total in range(20):
        one, two = chances(total, scale, grids, REACH), chances(total + 1, scale, grids, REACH)
        assert sum(one.values()) == pytest.approx(1)
        worst = max(worst, *(abs(math.log(one[grid] / two[grid])) for grid in one))
    return worst


def test_every_grid_loses_at_most_its_share(monkeypatch):
    scale = discrete.coarsened(1 / Fraction(1))
    worst = worst_loss(scale, monkeypatch)
    assert 0.99 < worst <= 1 + 1e-9


def test_the_same_check_catches_half_the_noise(monkeypatch):
    assert worst_loss(Fraction(1, 2), monkeypatch) > 1.9


def test_grids_are_drawn_with_the_exact_chances(monkeypatch):
    """Chi-square over all grids; the bound fails by chance once in a million runs of a true sampler."""
    epsilon, draws = Fraction(2), 4000
    grids = {n: grid_at(SHAPE, n, CLOSE, epsilon, monkeypatch) for n in range(-REACH, REACH + 1)}
    cells = np.zeros(SHAPE, np.int64)
    cells[1, 2], cells[0, 0] = 1, 1
    exact = chances(2, discrete.coarsened(Fraction(1)), grids, REACH)
    source, seen = Seeded(3), dict.fromkeys(exact, 0)
    for _ in range(draws):
        seen[key_of(CLOSE.choose_boxes(Counts.of(cells).exposed, SHAPE, epsilon, source))] += 1
    common = [grid for grid in exact if draws * exact[grid] > 5]
    expected = draws * np.array([*(exact[grid] for grid in common), 1 - sum(exact[grid] for grid in common)])
    got = np.array([*(seen[grid] for grid in common), draws - sum(seen[grid] for grid in common)])
    kept = expected > 0.5
    statistic = ((got - expected)[kept] ** 2 / expected[kept]).sum()
    assert len(common) > 3
    assert statistic < stats.chi2.isf(1e-6, kept.sum() - 1)


def test_the_same_check_catches_the_true_total_of_the_published_code(monkeypatch):
    """With less and less noise, one record more changes the grid for certain: the loss grows without bound."""
    assert worst_loss(Fraction(1, 5), monkeypatch) > 4.9


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10**9), Fraction(1, 3), Fraction(2**61 - 1, 2**61 + 1), Fraction(10**6)]
)
@pytest.mark.parametrize("shape", [(1,), (7,), (1, 1), (5, 6), (2, 3, 4)])
def test_both_stages_together_lose_epsilon_at_most(shape, epsilon):
    found = UniformGrid().choose_boxes(Counts.of(np.full(shape, 3)).exposed, shape, epsilon, Seeded(0))
    assert loss(epsilon, UniformGrid()) <= epsilon / 50
    assert loss(epsilon, UniformGrid()) >= epsilon / 50 * Fraction(999, 1000)
    assert found.spent == found.spent_least == (epsilon / 50 if math.prod(shape) > 1 else 0)
    strategy = tree.leaves_only(found.allowance(epsilon, RESOLUTION), 2)
    scale = discrete.coarsened(RESOLUTION / (epsilon - found.spent))
    assert measure.loss(found, strategy, scale) <= epsilon


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    with pytest.raises(InvariantError, match="more than the"):
        UniformGrid().choose_boxes(Counts.of([1, 2]).exposed, (2,), Fraction(1), Seeded(0))


# --- boxes ----------------------------------------------------------------------------------------------------------


@examples(60)
@given(shapes, st.integers(0, 2**32), st.sampled_from(["1/1000", "0.1", "1", "30", "100000"]))
def test_boxes_tile_any_grid_and_totals_are_those_of_the_boxes(shape, seed, epsilon):
    rng = np.random.default_rng(seed)
    cells = rng.poisson(rng.gamma(0.2, 50, shape))
    found = UniformGrid().choose_boxes(Counts.of(cells).exposed, shape, Fraction(epsilon), Seeded(seed))
    assert (found.bounds[0], found.bounds[-1]) == (0, cells.size)
    totals = found.totals(Counts.of(cells).exposed, shape)
    slow = [cells.ravel()[found.order(shape)[a:b]].sum() for a, b in zip(found.bounds, found.bounds[1:], strict=False)]
    assert totals.tolist() == slow
    if found.boxes is not None:
        slices = [
            tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))
            for lo, hi in zip(found.boxes.lo, found.boxes.hi, strict=True)
        ]
        assert totals.tolist() == [cells[box].sum() for box in slices]


def test_more_records_and_more_budget_make_finer_grids(monkeypatch):
    def boxes(records, epsilon):
        monkeypatch.setattr(gates, "noisy", forced.Forced(lambda *_: [records]))
        return len(UniformGrid().choose_boxes(Counts.of(np.zeros((50, 40))).exposed, (50, 40), Fraction(epsilon), None))

    by_records = [boxes(10**power, 1) for power in range(8)]
    assert by_records == sorted(by_records)
    assert (by_records[0], by_records[-1]) == (1, 2000)
    assert boxes(10**4, Fraction(1, 10)) == boxes(10**3, 1)


def test_a_line_may_be_as_long_as_a_domain_can_be():
    exposed = Occupied(np.array([5, 2**61]), np.array([10**6, 10**6]))
    found = UniformGrid().choose_boxes(exposed, (2**62,), Fraction(1), Seeded(0))
    assert found.boxes is None
    assert 3000 < len(found) < 4000  # (2·10^6·0.98/10)^(2/3) = 3,374
    assert len(UniformGrid().choose_boxes(exposed, (2**62,), Fraction(10**6), Seeded(0))) == MOST_BOXES_ALONG


def test_a_map_that_cannot_be_listed_is_refused():
    exposed = Occupied(np.array([5]), np.array([10]))
    with pytest.raises(OptionError, match="Hint: choose coarser steps"):
        UniformGrid().choose_boxes(exposed, (2**20, 2**20), Fraction(1), None)


@pytest.mark.parametrize(
    "wrong",
    [{"share": 0}, {"share": 1}, {"per_box": 0}, {"per_box": "ten"}, {"per_box": 10**400}, {"per_box": math.nan}],
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises((BudgetError, OptionError), match="Hint:"):
        UniformGrid(**wrong)


def test_options_are_plain():
    assert UniformGrid(share=0.1, per_box=np.int64(5)) == UniformGrid(Fraction(1, 10), "5")
    assert type(UniformGrid(per_box=np.float32(5)).per_box) is float


# --- the mechanism --------------------------------------------------------------------------------------------------


def test_the_mechanism_measures_boxes_alone():
    assert mechanisms.Ugrid().partition == UniformGrid()
    assert mechanisms.Ugrid().strategy == "leaves"
    assert mechanisms.Ugrid.error_bars


@pytest.mark.parametrize("shape", [(1,), (37,), (1, 9), (16, 16), (13, 7), (5, 1, 6), (3, 4, 2, 5)])
def test_any_shape_and_any_budget(shape):
    cells = np.arange(math.prod(shape)).reshape(shape) % 7
    for epsilon in ("1/1000000000", "0.1", "1000000"):
        for counts in (cells, np.zeros(shape, np.int64)):
            found = dawa.estimate(counts, epsilon=epsilon, mechanism="ugrid", seed=0)
            assert found.cells.shape == shape
            assert np.isfinite(found.cells).all()
            assert sum(found.split.values()) == found.epsilon
            assert json.loads(json.dumps(found.options)) == found.options
    np.testing.assert_array_equal(dawa.estimate(cells, epsilon=10**6, mechanism="ugrid", seed=0).cells, cells)


def test_error_bars_are_those_of_the_noise():
    """Over seeds, on whole boxes: errors in units of their deviations have mean 0 and variance 1, to 5 deviations.

    A Laplace variable has kurtosis 6, so a mean of N squares has a standard error of at most sqrt(5/N).
    """
    cells, draws, standard = np.random.default_rng(5).poisson(1, (12, 10)), 300, []
    everything = dawa.Workload.rectangles([[0, 0]], [[12, 10]], (12, 10))
    options = {"partition": UniformGrid(share=Fraction(1, 20), per_box=2.0)}
    grids = set()
    for seed in range(draws):
        est = dawa.estimate(cells, epsilon="0.3", mechanism="ugrid", seed=seed, **options)
        grids.add(len(est.buckets))
        first_box = [[1, 1]] if est.buckets.boxes is None else est.buckets.boxes.hi[:1]
        first = dawa.Workload.rectangles([[0, 0]], first_box, (12, 10))
        for asked in (everything, first):
            error = est.answers(asked)[0] - asked.answers(cells)[0]
            standard.append(error / math.sqrt(est.variances(asked)[0]))
    standard = np.array(standard).reshape(draws, 2)
    assert len(grids) > 3, "the grid depends on noise"
    assert (np.abs(standard.mean(axis=0)) <= 5 / math.sqrt(draws)).all()
    assert (np.abs((standard**2).mean(axis=0) - 1) <= 5 * math.sqrt(5 / draws)).all()
