"""DPCube: the kd-tree against a slow twin, and the exact loss of forced transcripts."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import kernels
from dawa.counts import Counts, Occupied
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.layout.boxes import Boxes
from dawa.mechanisms import dpcube
from dawa.mechanisms.dpcube import Dpcube, combined, estimated, even_boxes, loss, parameters_for, run
from dawa.noise import discrete, gates
from dawa.noise.randomness import Seeded
from helpers import forced
from helpers.examples import examples

# --- the kd-tree ----------------------------------------------------------------------------------------------------


def slow_boxes(cells, variance, tolerance, lo=None):
    """The same tree by slicing: the corners of its leaves, depth first."""
    lo = (0,) * cells.ndim if lo is None else lo
    squares = ((cells - cells.mean()) ** 2).sum()
    best, axis, at = 0.0, 0, 0
    for i in range(cells.ndim):
        for j in range(1, cells.shape[i]):
            parts = np.split(cells, [j], axis=i)
            gain = squares - sum(((part - part.mean()) ** 2).sum() for part in parts)
            if gain > best * (1 + 1e-9) + 1e-9:
                best, axis, at = gain, i, j
    usual = variance * (cells.size - 1 + tolerance * math.sqrt(5 * (cells.size - 1)))
    if not at or (squares <= usual and best <= variance * tolerance**2):
        return [(lo, tuple(a + n for a, n in zip(lo, cells.shape, strict=True)))]
    left, right = np.split(cells, [at], axis=axis)
    beyond = tuple(a + at * (i == axis) for i, a in enumerate(lo))
    return slow_boxes(left, variance, tolerance, lo) + slow_boxes(right, variance, tolerance, beyond)


@examples(80)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 1.0, 30.0, 1e4]),
    st.sampled_from([0.5, 2.0, 4.0]),
)
def test_the_tree_is_the_slow_one(shape, seed, variance, tolerance):
    """Random reals, among which no two cuts are equally good, so that both find the same."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(0, rng.choice([1.0, 5.0, 100.0]), shape) + 50 * (rng.random(shape) < 0.2)
    lo, hi = kernels.boxes.cut(cells.ravel(), np.array(shape), variance, tolerance)
    found = [(tuple(a), tuple(b)) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
    assert found == slow_boxes(cells, variance, tolerance)
    Boxes(lo, hi).labels(tuple(shape))  # which tile the grid


def test_plateaus_are_found_where_they_are():
    rng = np.random.default_rng(1)
    cells = np.zeros((40, 50))
    cells[5:17, 20:33], cells[30:, :] = 300, 90
    lo, hi = kernels.boxes.cut((cells + rng.laplace(0, 10, cells.shape)).ravel(), np.array([40, 50]), 200.0, 2.0)
    assert len(lo) < 30
    for a, b in zip(lo, hi, strict=True):
        assert np.ptp(cells[a[0] : b[0], a[1] : b[1]]) == 0


def test_noise_alone_is_left_in_few_boxes():
    for seed in range(5):
        cells = np.random.default_rng(seed).laplace(0, 20, 256 * 256)
        shape = np.array([256, 256])
        assert len(kernels.boxes.cut(cells, shape, 800.0, 2.0)[0]) < 100
        assert len(kernels.boxes.cut(cells, shape, 800.0, 1.5)[0]) > 300, "which is why the default is not lower"


def test_even_cells_are_one_box_even_without_noise():
    plan = parameters_for(Fraction(10**6), Dpcube())
    assert discrete.variance(plan.cell_scale) == 0
    for shape in ((7,), (9, 11), (3, 5, 7)):
        assert len(even_boxes(np.full(math.prod(shape), 3), shape, plan, 2.0)) == 1


@examples(40)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32))
def test_both_measurements_are_averaged_by_the_inverse_of_their_variances(rows, columns, seed):
    rng = np.random.default_rng(seed)
    shape, plan = (rows, columns), parameters_for(Fraction(1), Dpcube(share=Fraction(1, 3)))
    cells = rng.integers(-5, 40, rows * columns)
    boxes = even_boxes(cells, shape, plan, 0.1)
    totals = rng.integers(-20, 200, len(boxes))
    found = combined(cells, totals, boxes, shape, plan)
    for lo, hi, total, mixed in zip(boxes.lo, boxes.hi, totals, found, strict=True):
        inside = cells.reshape(shape)[lo[0] : hi[0], lo[1] : hi[1]]
        precision = 1 / (inside.size * float(plan.cell_scale) ** 2), 1 / float(plan.box_scale) ** 2
        assert mixed == pytest.approx((precision[0] * inside.sum() + precision[1] * total) / sum(precision))


# --- privacy, exactly -----------------------------------------------------------------------------------------------


def worst_loss(shape, plan, tolerance, monkeypatch, broken=None):
    """The largest loss over neighbours and over forced noisy cells, and all answers of the boxes."""
    rng, worst, paths = np.random.default_rng(6), Fraction(0), set()
    for cells, more in forced.neighbours(shape, 60, seed=7):
        for spread in (0, 1, 3, 10, 30):
            noisy_cells = rng.integers(-3, 12, cells.size) + spread * rng.integers(0, 3, cells.size)

            def answer(step, totals, noisy_cells=noisy_cells):
                return noisy_cells if step == 0 else np.zeros(len(totals))

            runs = []
            for grid in (cells, more):
                if broken:
                    broken(grid)
                runs.append(forced.Forced(answer))
                monkeypatch.setattr(gates, "noisy", runs[-1])
                estimated(Counts.of(grid).exposed, shape, plan, Dpcube(tolerance=tolerance), None)
            assert [scale for _, scale in runs[0].asked] == [plan.cell_scale, plan.box_scale]
            paths.add(len(runs[0].asked[1][0]))
            worst = max(worst, forced.loss(*runs))
    assert len(paths) > 3, "the boxes depend on the noisy cells"
    return worst


@pytest.mark.long_but(3)
@pytest.mark.parametrize("shape", [(10,), (3, 4), (2, 2, 3)])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5)])
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 10)])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(shape, epsilon, share, monkeypatch):
    plan = parameters_for(epsilon, Dpcube(share=share))
    assert plan.loss == epsilon
    assert worst_loss(shape, plan, 0.5, monkeypatch) == epsilon, "reached, and not exceeded"


@pytest.mark.parametrize("step", ["cell_scale", "box_scale"])
def test_the_same_check_catches_half_the_noise(step, monkeypatch):
    plan = parameters_for(Fraction(2), Dpcube())
    less = replace(plan, **{step: getattr(plan, step) / 2})
    assert worst_loss((3, 4), less, 0.5, monkeypatch) == 3


def test_the_same_check_catches_boxes_by_true_counts(monkeypatch):
    honest = even_boxes

    def broken(grid):
        monkeypatch.setattr(dpcube, "even_boxes", lambda _, *rest: honest(grid.ravel(), *rest))

    with pytest.raises(AssertionError, match="depend on the noisy cells"):  # they no longer do
        worst_loss((1, 2), parameters_for(Fraction(2), Dpcube()), 0.5, monkeypatch, broken)
    assert worst_loss((3, 4), parameters_for(Fraction(2), Dpcube()), 0.5, monkeypatch, broken) == forced.NEVER


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10**9), Fraction(1, 40), Fraction(2**61 - 1, 2**61 + 1), Fraction(10**6)]
)
def test_the_loss_is_within_budget_and_close_to_it(epsilon):
    for options in (Dpcube(), Dpcube(share="2/7")):
        assert epsilon * Fraction(999, 1000) <= loss(epsilon, options) <= epsilon


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    with pytest.raises(InvariantError, match="more than the"):
        run(Counts.of([[1, 2]]), dawa.workloads.random_rectangles((1, 2)), Fraction(1), Dpcube(), Seeded(0))


def test_the_noise_of_both_steps_is_independent(monkeypatch):
    """The published code seeds both alike. Here, on single cells, the two noises are uncorrelated, to 5 deviations."""
    seen, honest = [], gates.noisy

    def watched(totals, scale, source):
        found = honest(totals, scale, source)
        seen.append((found - totals) / math.sqrt(discrete.variance(scale)))
        return found

    monkeypatch.setattr(gates, "noisy", watched)
    cells = np.random.default_rng(2).integers(0, 10**6, (64, 64))
    est = dawa.estimate(cells, epsilon=1, mechanism="dpcube", seed=1, share=Fraction(1, 2))
    noise, again = seen
    assert len(again) == len(noise) == 4096, "every box is a cell"
    for each in seen:
        assert abs(each.mean()) <= 5 / 64
        assert abs((each**2).mean() - 1) <= 5 * math.sqrt(5) / 64
    # The boxes come in another order than the cells: the estimate has the mean of both noises, cell by cell.
    error = (est.cells - cells).ravel() / math.sqrt(discrete.variance(Fraction(2)))
    other = 2 * error - noise
    assert sorted(np.round(other, 6)) == sorted(np.round(again, 6))
    assert abs((noise * other).mean()) <= 5 / 64


# --- behaviour ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (2,), (300,), (1, 9), (16, 16), (13, 47), (5, 1, 6), (3, 4, 2, 5)])
def test_any_shape_and_any_budget(shape):
    cells = np.arange(math.prod(shape)).reshape(shape) % 7
    for epsilon in ("1/1000000000", "0.1", "1000000"):
        for counts in (cells, np.zeros(shape, np.int64)):
            found = dawa.estimate(counts, epsilon=epsilon, mechanism="dpcube", seed=0)
            assert found.cells.shape == shape
            assert np.isfinite(found.cells).all()
            assert sum(found.split.values()) == found.epsilon
    found = dawa.estimate(cells, epsilon=10**6, mechanism="dpcube", seed=0)
    np.testing.assert_allclose(found.cells, cells, atol=1e-9)


def test_the_most_records_are_no_problem():
    cells = np.zeros((64, 64), np.int64)
    cells[[3, 60], [9, 2]] = 2**44
    found = dawa.estimate(cells, epsilon=1, mechanism="dpcube", seed=1).cells
    assert found[3, 9] == pytest.approx(2**44, rel=1e-9)
    assert found.sum() == pytest.approx(2**45, rel=1e-9)


def test_plateaus_beat_noise_on_cells():
    rng = np.random.default_rng(0)
    cells = rng.poisson(np.kron(rng.gamma(0.3, 300, (4, 4)), np.ones((16, 16))))
    asked = dawa.workloads.random_rectangles((64, 64), m=300)
    truth, errors = asked.answers(cells), {"dpcube": [], "identity": []}
    for seed in range(5):
        for name, found in errors.items():
            est = dawa.estimate(cells, asked, epsilon="0.1", mechanism=name, seed=seed)
            found.append(np.abs(est.answers(asked) - truth).mean())
    assert np.mean(errors["dpcube"]) < 0.8 * np.mean(errors["identity"])


def test_the_second_round_alone_is_right_on_average_and_both_together_are_not():
    """Cells that stand out get boxes of their own, and stand out for their noise too: on a rough map this adds up."""
    rng = np.random.default_rng(0)
    cells = rng.poisson(rng.gamma(0.05, 20, (256, 256)))
    off = {}
    for combine in (False, True):
        found = [dawa.estimate(cells, epsilon=1, mechanism="dpcube", seed=s, combine=combine) for s in range(20)]
        off[combine] = np.mean([est.cells.sum() for est in found]) - cells.sum()
    # At most 65,536 boxes, whose noise has the standard deviation sqrt(8) each; 20 runs.
    assert abs(off[False]) <= 5 * math.sqrt(65_536 * 8 / 20)
    assert off[True] > 5 * math.sqrt(65_536 * 8 / 20)


def test_it_has_no_error_bars_and_says_so():
    est = dawa.estimate(np.ones((5, 5)), epsilon=1, mechanism="dpcube", seed=0)
    assert est.strategy is None
    with pytest.raises(OptionError, match="Hint: use a mechanism with error bars"):
        est.variances(dawa.workloads.random_rectangles((5, 5)))


def test_a_seed_repeats_a_run_and_the_result_says_what_it_is():
    cells = np.arange(200).reshape(20, 10)
    one, two, three = (dawa.estimate(cells, epsilon=1, mechanism="dpcube", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.cells, two.cells)
    assert not np.array_equal(one.cells, three.cells)
    assert json.loads(json.dumps(one.options)) == {"share": "1/2", "tolerance": 2.0, "combine": True}
    assert one.split == {"cells": Fraction(1, 2), "boxes": Fraction(1, 2)}
    assert "NOT private" in one.randomness


def test_options_are_checked_and_plain():
    assert Dpcube(share=0.1, tolerance=np.int64(4)) == Dpcube(share=Fraction(1, 10), tolerance=4.0)
    for wrong in (
        {"share": 0},
        {"share": 1},
        {"share": "most"},
        {"tolerance": 0},
        {"tolerance": math.nan},
        {"combine": 1},
    ):
        with pytest.raises((BudgetError, OptionError), match="Hint:"):
            Dpcube(**wrong)
    with pytest.raises(OptionError, match="Hint: its options are share, tolerance, combine"):
        dawa.estimate([[1]], epsilon=1, mechanism="dpcube", rounds=3)


def test_a_domain_that_cannot_be_listed_is_refused():
    for shape in ((2**20, 2**20), (2**40,)):
        counts = Counts(shape, Occupied(np.array([5]), np.array([10])))
        with pytest.raises(OptionError, match="Hint: choose coarser steps"):
            run(counts, None, Fraction(1), Dpcube(), Seeded(0))
