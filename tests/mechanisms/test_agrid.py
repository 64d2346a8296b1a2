"""AGrid: grids against slow twins, least squares against dense ones, and the exact loss of forced transcripts."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.counts import Counts, Occupied
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.mechanisms import agrid
from dawa.mechanisms.agrid import Agrid, Grid, agreed, coarse_grid, estimated, fine_parts, loss, parameters_for, run
from dawa.noise import discrete, gates
from dawa.noise.randomness import Seeded
from dawa.partition.uniform_grid import cuts
from helpers import forced
from helpers.examples import examples

# --- grids ----------------------------------------------------------------------------------------------------------


@st.composite
def grids(draw):
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    return Grid(shape, tuple(draw(st.integers(1, length)) for length in shape))


def slice_of(length, count, cell):
    """The slice that a cell lies in, among ``count`` slices of an axis."""
    return int(np.searchsorted(cuts(length, count), cell, side="right")) - 1


@examples(60)
@given(grids(), st.data())
def test_labels_are_those_of_the_cuts(grid, data):
    """Cell by cell: first the coarse box, then the fine one inside it."""
    lengths, coarse = grid.lengths(), grid.labels()
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    finer = rng.integers(1, lengths + 1)
    fine, first = grid.fine_labels(coarse, finer), np.concatenate(([0], np.cumsum(finer.prod(axis=1))))
    for cell in np.ndindex(*grid.shape):
        slices = [slice_of(n, m, i) for n, m, i in zip(grid.shape, grid.along, cell, strict=True)]
        box = int(np.ravel_multi_index(slices, grid.along))
        assert coarse[cell] == box
        begins = [int(cuts(n, m)[s]) for n, m, s in zip(grid.shape, grid.along, slices, strict=True)]
        inner = [
            slice_of(int(n), int(m), i - begin)
            for n, m, i, begin in zip(lengths[box], finer[box], cell, begins, strict=True)
        ]
        assert fine[cell] == first[box] + np.ravel_multi_index(inner, finer[box])
    assert np.unique(fine).tolist() == list(range(first[-1])), "no fine box is empty"


def test_the_coarse_grid_is_the_one_of_the_paper():
    """m1 = max(10, ¼·sqrt(N·ε/c)) along each of two axes, in whole widths of cells."""
    epsilon = 1 / (1 - Agrid().share)  # so that 1 is left
    assert coarse_grid((640, 640), np.array([100]), epsilon, Agrid()).along == (10, 10)
    assert coarse_grid((640, 640), np.array([64_000]), epsilon, Agrid()).along == (20, 20)
    assert coarse_grid((4096,), np.array([0]), epsilon, Agrid()).along == (103,)
    assert coarse_grid((1, 4096, 1), np.array([0]), epsilon, Agrid()).along == (1, 103, 1)
    assert coarse_grid((3, 4), np.array([0]), epsilon, Agrid()).along == (3, 4)


def test_fine_grids_are_those_of_the_paper():
    """m2 = sqrt(N'·(1-α)·ε/c2), with c2 = c/2."""
    epsilon = 2 / (1 - Agrid().share)  # so that 1 is left for the fine counts
    counts = np.array([-30, 5, 20, 80, 500, 10**9])
    finer = fine_parts(Grid((8, 48), (1, 6)), counts, epsilon, Agrid())
    assert finer.tolist() == [[1, 1], [1, 1], [2, 2], [4, 4], [8, 8], [8, 8]]


# --- least squares --------------------------------------------------------------------------------------------------


@examples(60)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 2**32), st.floats(0.05, 0.95))
def test_both_levels_agree_as_dense_least_squares_has_it(boxes, seed, share):
    rng = np.random.default_rng(seed)
    boxes = np.array(boxes)
    upper, lower = rng.integers(-20, 100, len(boxes)), rng.integers(-20, 100, boxes.sum())
    plan = parameters_for(Fraction(1), Agrid(coarse_share=share))
    rows = np.vstack(
        (
            np.repeat(np.eye(len(boxes)), boxes, axis=1) / float(plan.coarse_scale),
            np.eye(boxes.sum()) / float(plan.fine_scale),
        )
    )
    answers = np.concatenate((upper / float(plan.coarse_scale), lower / float(plan.fine_scale)))
    np.testing.assert_allclose(agreed(upper, lower, boxes, plan), np.linalg.lstsq(rows, answers)[0], atol=1e-8)


def test_the_weights_are_those_of_the_paper():
    plan = parameters_for(Fraction(1), Agrid(coarse_share=Fraction(1, 4)))
    alpha, boxes = 0.25, 6
    own = alpha**2 * boxes / ((1 - alpha) ** 2 + alpha**2 * boxes)
    found = agreed(np.array([90]), np.arange(10, 16), np.array([boxes]), plan)
    assert found.sum() == pytest.approx(own * 90 + (1 - own) * 75)
    assert np.diff(found) == pytest.approx(1)


# --- privacy, exactly -----------------------------------------------------------------------------------------------


def close(epsilon, coarse_share=Fraction(1, 2)):
    """Options whose grids change from record to record; with ``FEWEST`` and ``COARSER`` at 1, on a dozen cells."""
    return Agrid(Fraction(1, 4), coarse_share, per_box=float(epsilon) / 2)


def worst_loss(shape, plan, epsilon, options, monkeypatch, broken=None):
    """The largest loss over neighbours and over forced answers of the first two steps, and all of the third."""
    rng, worst, paths = np.random.default_rng(4), Fraction(0), set()
    monkeypatch.setattr(agrid, "FEWEST", 1)
    monkeypatch.setattr(agrid, "COARSER", 1)
    for cells, more in forced.neighbours(shape, 40, seed=5):
        for records in (-5, 1, 3, 8, 20, 100):
            coarse = rng.integers(-4, 30, cells.size)

            def answer(step, totals, records=records, coarse=coarse):
                return [records] if step == 0 else coarse[: len(totals)]

            runs = []
            for grid in (cells, more):
                if broken:
                    broken(grid)
                runs.append(forced.Forced(answer))
                monkeypatch.setattr(gates, "noisy", runs[-1])
                estimated(Counts.of(grid).exposed, shape, epsilon, options, plan, None)
            assert [scale for _, scale in runs[0].asked] == [plan.total_scale, plan.coarse_scale, plan.fine_scale]
            paths.add(tuple(len(totals) for totals, _ in runs[0].asked))
            worst = max(worst, forced.loss(*runs))
    assert len(paths) > 5, "the grids depend on the answers"
    return worst


@pytest.mark.long_but(3)
@pytest.mark.parametrize("shape", [(12,), (4, 5), (2, 4, 4)])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5)])
@pytest.mark.parametrize("coarse_share", [Fraction(1, 2), Fraction(9, 10)])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(shape, epsilon, coarse_share, monkeypatch):
    options = close(epsilon, coarse_share)
    plan = parameters_for(epsilon, options)
    assert plan.loss == epsilon
    assert worst_loss(shape, plan, epsilon, options, monkeypatch) == epsilon, "reached, and not exceeded"


@pytest.mark.parametrize("step", ["total_scale", "coarse_scale", "fine_scale"])
def test_the_same_check_catches_half_the_noise(step, monkeypatch):
    plan = parameters_for(Fraction(2), close(2))
    less = replace(plan, **{step: getattr(plan, step) / 2})
    assert worst_loss((4, 5), less, Fraction(2), close(2), monkeypatch) > Fraction(9, 4)


@pytest.mark.parametrize("leak", ["total", "coarse"])
def test_the_same_check_catches_a_grid_by_true_counts(leak, monkeypatch):
    """As the published code does it for the total: one record more can then change the grid for certain."""
    plan, true_grid, true_parts = parameters_for(Fraction(2), close(2)), coarse_grid, fine_parts

    def broken(grid):
        def leaky_grid(shape, records, *rest):
            return true_grid(shape, np.array([grid.sum()]) if leak == "total" else records, *rest)

        def leaky_parts(coarse, upper, *rest):
            exact = np.bincount(coarse.labels().ravel(), grid.ravel(), minlength=len(upper))
            return true_parts(coarse, exact if leak == "coarse" else upper, *rest)

        monkeypatch.setattr(agrid, "coarse_grid", leaky_grid)
        monkeypatch.setattr(agrid, "fine_parts", leaky_parts)

    assert worst_loss((4, 5), plan, Fraction(2), close(2), monkeypatch, broken) == forced.NEVER


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10**9), Fraction(1, 40), Fraction(2**61 - 1, 2**61 + 1), Fraction(10**6)]
)
def test_the_loss_is_within_budget_and_close_to_it(epsilon):
    for options in (Agrid(), Agrid(share="1/3", coarse_share="2/7")):
        assert epsilon * Fraction(999, 1000) <= loss(epsilon, options) <= epsilon


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    with pytest.raises(InvariantError, match="more than the"):
        run(Counts.of([[1, 2]]), dawa.workloads.random_rectangles((1, 2)), Fraction(1), Agrid(), Seeded(0))


def test_noise_is_drawn_for_every_count(monkeypatch):
    """The three steps draw from the source, independently: no two steps see the same noise."""
    seen, honest = [], gates.noisy

    def watched(totals, scale, source):
        found = honest(totals, scale, source)
        seen.append((found - totals, scale))
        return found

    monkeypatch.setattr(gates, "noisy", watched)
    dawa.estimate(np.full((64, 64), 50), epsilon="0.1", mechanism="agrid", seed=1)
    (total, _), (coarse, coarse_scale), (fine, fine_scale) = seen
    assert (len(total), len(coarse)) == (1, 169)
    assert len(fine) > 500
    for noise, scale in ((coarse, coarse_scale), (fine, fine_scale)):
        variance = discrete.variance(scale)
        assert abs(noise.mean()) <= 5 * math.sqrt(variance / len(noise))
        assert abs(noise.var() / variance - 1) <= 5 * math.sqrt(5 / len(noise))
    assert not np.array_equal(coarse, fine[:169])


# --- behaviour ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (2,), (300,), (1, 9), (16, 16), (13, 47), (5, 1, 6), (3, 4, 2, 5)])
def test_any_shape_and_any_budget(shape):
    cells = np.arange(math.prod(shape)).reshape(shape) % 7
    for epsilon in ("1/1000000000", "0.1", "1000000"):
        for counts in (cells, np.zeros(shape, np.int64)):
            found = dawa.estimate(counts, epsilon=epsilon, mechanism="agrid", seed=0)
            assert found.cells.shape == shape
            assert np.isfinite(found.cells).all()
            assert sum(found.split.values()) == found.epsilon
    found = dawa.estimate(cells, epsilon=10**6, mechanism="agrid", seed=0)
    np.testing.assert_allclose(found.cells, cells, atol=1e-9)


def test_the_most_records_are_no_problem():
    cells = np.zeros((64, 64), np.int64)
    cells[[3, 60], [9, 2]] = 2**44
    found = dawa.estimate(cells, epsilon=1, mechanism="agrid", seed=1).cells
    assert found[3, 9] == pytest.approx(2**44, rel=1e-9)
    assert found.sum() == pytest.approx(2**45, rel=1e-9)


def test_towns_are_told_from_deserts_better_than_by_an_even_grid():
    rng = np.random.default_rng(0)
    cells = np.zeros((128, 128), np.int64)
    cells[20:40, 90:110] = rng.poisson(40, (20, 20))
    asked = dawa.workloads.random_rectangles((128, 128), m=300)
    truth, errors = asked.answers(cells), {"agrid": [], "ugrid": []}
    for seed in range(5):
        for name, found in errors.items():
            est = dawa.estimate(cells, asked, epsilon="0.1", mechanism=name, seed=seed)
            found.append(np.abs(est.answers(asked) - truth).mean())
    assert np.mean(errors["agrid"]) < 0.6 * np.mean(errors["ugrid"])


def test_it_has_no_error_bars_and_says_so():
    est = dawa.estimate(np.ones((5, 5)), epsilon=1, mechanism="agrid", seed=0)
    assert est.strategy is None
    with pytest.raises(OptionError, match="Hint: use a mechanism with error bars"):
        est.variances(dawa.workloads.random_rectangles((5, 5)))


def test_a_seed_repeats_a_run_and_the_result_says_what_it_is():
    cells = np.arange(200).reshape(20, 10)
    one, two, three = (dawa.estimate(cells, epsilon=1, mechanism="agrid", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.cells, two.cells)
    assert not np.array_equal(one.cells, three.cells)
    assert json.loads(json.dumps(one.options)) == {"share": "1/50", "coarse_share": "1/2", "per_box": 10.0}
    assert one.split == {"total": Fraction(1, 50), "coarse": Fraction(49, 100), "fine": Fraction(49, 100)}
    assert "NOT private" in one.randomness


def test_options_are_checked_and_plain():
    assert Agrid(share=0.1, per_box=np.int64(4)) == Agrid(share=Fraction(1, 10), per_box=4.0)
    wrongs = ({"share": 0}, {"share": 1}, {"coarse_share": "most"}, {"per_box": -1}, {"per_box": math.inf})
    for wrong in (*wrongs, {"per_box": True}):
        with pytest.raises((BudgetError, OptionError), match="Hint:"):
            Agrid(**wrong)
    with pytest.raises(OptionError, match="Hint: its options are share, coarse_share, per_box"):
        dawa.estimate([[1]], epsilon=1, mechanism="agrid", rounds=3)


def test_a_domain_that_cannot_be_listed_is_refused():
    for shape in ((2**20, 2**20), (2**40,)):
        counts = Counts(shape, Occupied(np.array([5]), np.array([10])))
        with pytest.raises(OptionError, match="Hint: choose coarser steps"):
            run(counts, None, Fraction(1), Agrid(), Seeded(0))
