"""Noise on every cell alone: on maps too, an answer is as uncertain as the cells that it sums."""

import numpy as np
import pytest

import dawa

SHAPES = [(30,), (9, 14), (4, 5, 6), (3, 4, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_error_bars_are_the_sums_of_squared_parts(shape):
    est = dawa.estimate(np.zeros(shape, int), epsilon=1, mechanism="identity", seed=0)
    rng = np.random.default_rng(0)
    ends = np.sort(rng.uniform(0, 1, (20, 2, len(shape))), axis=1) * np.array(shape)
    ends[:10] = np.floor(ends[:10]) + np.array([0, 1])[None, :, None]
    workload = dawa.Workload.rectangles(ends[:, 0], ends[:, 1], shape)
    exact = np.ones(20)
    for axis, side in enumerate(shape):
        cell = np.arange(side)
        lo, hi = ends[:, 0, axis, None], ends[:, 1, axis, None]
        exact *= (np.clip(np.minimum(hi, cell + 1) - np.maximum(lo, cell), 0, 1) ** 2).sum(axis=1)
    np.testing.assert_allclose(est.variances(workload), est.unit_variance * exact, rtol=1e-9)
    assert est.noise_rmse(workload) == pytest.approx(np.sqrt(est.unit_variance * exact.mean()))
