"""The hybrid tree from counts to estimate: its budget, its error bars, and its options."""

import json
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import measure
from dawa.errors import BudgetError, OptionError
from dawa.mechanisms import hybrid_tree
from dawa.mechanisms.hybrid_tree import HybridTree
from dawa.noise import discrete
from dawa.strategy.base import RESOLUTION

SHAPES = [(40,), (9, 14), (16, 16), (4, 5, 6), (3, 4, 2, 3)]


def estimated(counts, epsilon=1, seed=0, **options):
    return dawa.estimate(counts, epsilon=epsilon, mechanism="hybrid-tree", seed=seed, **options)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_medians_and_sums_together_lose_epsilon_exactly(shape):
    """In whole numbers: one record in any box moves the sums by what the medians have left, and no more."""
    counts = np.random.default_rng(0).poisson(9, shape)
    est = estimated(counts, epsilon="7/10")
    allowed = est.buckets.allowance(Fraction(7, 10), RESOLUTION)
    assert (est.strategy.column_sums() == allowed).all()
    records = np.eye(len(est.buckets), dtype=np.int64)
    moved = [int(np.abs(est.strategy.apply(record)).sum()) for record in records]
    assert moved == allowed.tolist()
    scale = discrete.coarsened(RESOLUTION / (Fraction(7, 10) - est.buckets.spent))
    assert Fraction(699, 1000) < measure.loss(est.buckets, est.strategy, scale) <= Fraction(7, 10)
    assert measure.loss(est.buckets, est.strategy, scale * Fraction(99, 100)) > Fraction(7, 10), (
        "less noise is too little"
    )
    assert est.split == {"partition": Fraction(7, 200), "measure": Fraction(7, 10) * Fraction(19, 20)}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("options", [{}, {"height": 3}, {"levels": 0}, {"levels": 3, "share": "1/4"}], ids=str)
def test_next_to_no_noise_leaves_next_to_no_error(shape, options):
    counts = np.random.default_rng(1).poisson(20, shape)
    est = estimated(counts, epsilon=10**5, **options)
    assert est.cells.shape == shape
    assert est.cells.sum() == pytest.approx(counts.sum(), abs=0.1)
    if "height" not in options:
        np.testing.assert_allclose(est.cells, counts, atol=0.1)


@pytest.mark.long
def test_errors_are_as_large_as_the_error_bars_say():
    """Every run draws noise anew but keeps its cuts apart: z-scores of sums over 400 runs, within 7 sigma of 1."""
    counts = np.full((8, 8), 30)
    workload = dawa.Workload.rectangles([[0, 0], [1.5, 2], [3, 3]], [[8, 8], [6, 7.25], [4, 4]], (8, 8))
    truth = workload.answers(counts.astype(float))
    scores = []
    for seed in range(400):
        est = estimated(counts, seed=seed)
        scores.append((est.answers(workload) - truth) ** 2 / est.variances(workload))
    mean = np.mean(scores, axis=0)
    assert (np.abs(mean - 1) < 7 * np.sqrt(5 / 400)).all(), mean  # the fourth moment of such sums is at most 6


def test_it_beats_noise_on_every_cell_on_large_boxes():
    counts = np.zeros((256, 256), int)
    workload = dawa.workloads.random_rectangles((256, 256), 100)
    alone = dawa.estimate(counts, workload, epsilon=1, mechanism="identity", seed=0)
    assert estimated(counts).noise_rmse(workload) < alone.noise_rmse(workload)


def test_the_weights_grow_towards_the_leaves_by_the_cube_root_of_two():
    est = estimated(np.zeros((64, 64), int), levels=0)
    weights = np.unique(est.strategy.weights)[::-1]
    assert len(weights) == 6
    np.testing.assert_allclose(weights[:-1] / weights[1:], 2 ** (1 / 3), rtol=1e-3)
    np.testing.assert_allclose(est.strategy.leaf / weights[0], 2 ** (1 / 3), rtol=1e-3)
    assert [round(hybrid_tree.ratio(axes) ** 3) for axes in (1, 2, 3, 4)] == [2, 2, 4, 8]


def test_options_arrive_and_are_recorded_in_plain_values():
    est = estimated(np.ones((6, 6), int), share=0.25, levels=1, height=np.int64(2), postprocess="nonnegative")
    assert est.options == {"share": "1/4", "levels": 1, "height": 2, "postprocess": "nonnegative"}
    assert json.loads(json.dumps(est.options)) == est.options
    assert (est.totals >= 0).all()
    assert 4 < len(est.buckets) <= 16
    assert HybridTree().postprocess == "none"


@pytest.mark.parametrize("wrong", [{"levels": -1}, {"height": 1}, {"share": 1}, {"postprocess": "often"}, {"fan": 4}])
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises((OptionError, BudgetError), match="Hint:"):
        estimated([[1, 2], [3, 4]], **wrong)


def test_a_release_on_one_axis_and_on_two(tmp_path):
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(0, 20, 500), "y": rng.uniform(0, 8, 500)}
    for axes in (dawa.Axis("x", 0, 20), (dawa.Axis("x", 0, 20), dawa.Axis("y", 0, 8))):
        made = dawa.release(table, axes, epsilon=1, mechanism="hybrid-tree", seed=0)
        back = dawa.load(made.save(tmp_path / "release.json"))
        np.testing.assert_array_equal(back.estimate.cells, made.estimate.cells)
        workload = dawa.Workload.rectangles([[1.5] * len(made.axes)], [[7.25] * len(made.axes)], made.estimate.shape)
        np.testing.assert_allclose(back.estimate.variances(workload), made.estimate.variances(workload), rtol=1e-9)
