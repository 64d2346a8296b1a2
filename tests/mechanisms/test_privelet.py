"""Privelet on one axis and on several: its budget, its error bars, and its options."""

import json
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import measure
from dawa.counts import Counts
from dawa.errors import OptionError, ReleaseError
from dawa.limits import MOST_CELLS_LISTED
from dawa.mechanisms import Privelet
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from dawa.queries.workload import Workload
from dawa.strategy.base import RESOLUTION
from dawa.strategy.product import ProductStrategy
from dawa.strategy.wavelet import WaveletStrategy


def estimated(counts, epsilon=1, seed=0, **options):
    return dawa.estimate(counts, epsilon=epsilon, mechanism="privelet", seed=seed, **options)


@pytest.mark.parametrize("shape", [(9, 14), (16, 16), (4, 5, 6), (3, 1, 2, 3)], ids=str)
def test_wavelets_run_along_every_axis_and_spend_no_more_than_epsilon(shape):
    counts = np.random.default_rng(0).poisson(9, shape)
    est = estimated(counts, epsilon=10**5)
    assert isinstance(est.strategy, ProductStrategy)
    np.testing.assert_allclose(est.cells, counts, atol=0.5)
    scale = discrete.coarsened(RESOLUTION / Fraction(10**5))
    spent = measure.loss(est.buckets, est.strategy, scale)
    assert 0.95 * 10**5 < spent <= 10**5
    assert measure.loss(est.buckets, est.strategy, scale * Fraction(9, 10)) > 10**5, "less noise is too little"
    assert est.partition is None
    assert est.split == {"partition": 0, "measure": 10**5}


def test_on_one_axis_it_is_what_it_was():
    est = estimated([3, 0, 5, 9, 1])
    assert est.strategy == WaveletStrategy(5, 16384, 16384)


@pytest.mark.long
def test_errors_are_as_large_as_the_error_bars_say():
    """Squared z-scores over 600 runs; the fourth moment of sums of Laplace noise is at most 6: within 7 sigma of 1."""
    counts = np.full((6, 9), 30)
    corners = [[0, 0], [1.5, 2], [3, 3]], [[6, 9], [5, 7.25], [4, 4]]
    workload = Workload.rectangles(*corners, (6, 9))
    truth = workload.answers(counts.astype(float))
    scores = []
    for seed in range(600):
        est = estimated(counts, seed=seed)
        scores.append((est.answers(workload) - truth) ** 2 / est.variances(workload))
    mean = np.mean(scores, axis=0)
    assert (np.abs(mean - 1) < 7 * np.sqrt(5 / 600)).all(), mean


def test_the_error_over_a_workload_is_that_of_its_queries():
    est = estimated(np.zeros((12, 10), int))
    workload = dawa.workloads.random_rectangles((12, 10), 50)
    assert est.noise_rmse(workload) == pytest.approx(np.sqrt(est.variances(workload).mean()))
    cells = dawa.workloads.identity((12, 10))
    assert est.noise_rmse(cells) == pytest.approx(np.sqrt(est.variances(cells).mean()))


def test_buckets_and_strategies_of_the_callers_own_run_along_the_line():
    counts = np.random.default_rng(0).poisson(3, (8, 8))
    assert isinstance(estimated(counts, partition="one").strategy, dawa.strategy.tree.TreeStrategy)
    assert isinstance(estimated(counts, partition=[0, 10, 64]).strategy, WaveletStrategy)
    assert estimated(counts, strategy="leaves").strategy.weighting == "leaves-only"
    assert (estimated(counts, postprocess="nonnegative").totals >= 0).all()


def test_merging_cells_is_refused():
    with pytest.raises(OptionError, match="Hint: pass merge=False"):
        estimated([[1, 2], [3, 4]], merge=True)


def test_too_many_cells_are_refused():
    shape = (2, MOST_CELLS_LISTED)
    counts = Counts.sparse(shape, np.array([5]), np.array([1]))
    workload = Workload.rectangles([[0, 0]], [[1, 9]], shape)
    with pytest.raises(OptionError, match="Hint:"):
        Privelet().run(counts, workload, Fraction(1), Seeded(0))


# --- releases -------------------------------------------------------------------------------------------------------


@pytest.fixture
def made():
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(0, 12, 500), "y": rng.uniform(0, 8, 500)}
    return dawa.release(
        table, (dawa.Axis("x", 0, 12), dawa.Axis("y", 0, 8, step=0.5)), epsilon=1, mechanism="privelet", seed=0
    )


def test_a_release_of_a_map_is_read_back(made, tmp_path):
    back = dawa.load(made.save(tmp_path / "release.json"))
    np.testing.assert_array_equal(back.estimate.cells, made.estimate.cells)
    workload = Workload.rectangles([[1.5, 0], [3, 3]], [[7.25, 16], [4, 4]], (12, 16))
    np.testing.assert_array_equal(back.estimate.answers(workload), made.estimate.answers(workload))
    np.testing.assert_array_equal(back.estimate.variances(workload), made.estimate.variances(workload))
    np.testing.assert_array_equal(back.variances(), made.variances())


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("buckets", "order"), "hilbert"),
        (("buckets", "order"), "boxes"),
        (("strategy", "shape"), [16, 12]),
        (("strategy", "shape"), [192]),
        (("strategy", "weight"), 2**16),
        (("strategy",), {"kind": "wavelet", "buckets": 12, "difference": 1, "total": 1}),
    ],
    ids=str,
)
def test_a_changed_release_of_a_map_is_refused(made, tmp_path, where, value):
    path = made.save(tmp_path / "release.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    inner = data
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ReleaseError, match="Hint:"):
        dawa.load(path)


def test_rows_of_cells_cannot_be_merged_into_buckets(made, tmp_path):
    path = made.save(tmp_path / "release.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    data["buckets"] = {"order": "rows", "bounds": [0, 192], "totals": [5.0], "unbiased": [5.0]}
    data["strategy"] = {"kind": "wavelet", "buckets": 1, "difference": 1, "total": 1}
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ReleaseError, match="not every cell is a bucket"):
        dawa.load(path)
