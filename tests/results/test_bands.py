"""Bands: right at all bounds together as often as they say, and the same every time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa.noise import discrete
from dawa.noise.randomness import randomness_for
from dawa.results import bands

AGE = dawa.Axis("age", 0, 100)


@pytest.fixture(scope="module")
def ages():
    return np.floor(np.random.default_rng(5).normal(40, 15, 2000).clip(0, 99)).astype(int)


@pytest.fixture(scope="module")
def rel(ages):
    return dawa.release({"age": ages}, AGE, epsilon="0.5", seed=1)


def test_a_band_goes_from_nothing_to_everything(rel):
    band = rel.band()
    assert len(band) == len(rel.estimate.buckets) + 1
    assert (band.bounds[0], band.bounds[-1]) == (0, 100)
    assert (band.low[0], band.value[0], band.high[0]) == (0, 0, 0)
    assert band.value[-1] == pytest.approx(rel.estimate.totals.sum())
    assert (band.share_low[[0, -1]] == [0, 1]).all()
    assert (band.share_high[[0, -1]] == [0, 1]).all()
    for low, value, high in ((band.low, band.value, band.high), (band.share_low, band.share, band.share_high)):
        assert (low <= value).all()
        assert (value <= high).all()
        assert (np.diff(value) >= 0).all()


def test_it_is_the_same_every_time_and_wider_for_more_confidence(rel):
    one, again, sure = rel.band(0.9), rel.band(0.9), rel.band(0.99)
    for name, column in one.columns().items():
        np.testing.assert_array_equal(column, again.columns()[name])
    assert (sure.low <= one.low).all()
    assert (sure.high >= one.high).all()
    assert (sure.high - sure.low).sum() > (one.high - one.low).sum()


def test_every_release_has_draws_of_its_own():
    """With the same draws for all, bands of one shape would be wrong together, more often than they say."""
    counts, factors = np.full(7, 50), set()
    for seed in range(5):
        est = dawa.estimate(counts, epsilon=1, mechanism="identity", seed=seed)
        factors.add(bands.largest(est, np.sqrt((est.variances_before, est.variances_after)), 0.05))
    assert len(factors) == 5


def test_it_is_wider_than_the_interval_of_one_prefix_and_narrower_than_dividing_the_chance(rel):
    deviations = np.sqrt((rel.estimate.variances_before, rel.estimate.variances_after))
    factor = bands.largest(rel.estimate, deviations, 0.05)
    assert bands.factor_of(rel.estimate, 0.05) < factor
    assert factor < bands.factor_of(rel.estimate, 0.05 / (2 * len(rel.estimate.buckets)))


def test_without_draws_the_chance_is_divided(rel, monkeypatch):
    deviations, k = np.sqrt((rel.estimate.variances_before, rel.estimate.variances_after)), len(rel.estimate.buckets)
    divided = bands.factor_of(rel.estimate, 0.05 / (2 * k))
    monkeypatch.setattr(bands, "MOST_NOISE_DRAWN", bands.FEW_DRAWS * (k - 1))
    assert bands.largest(rel.estimate, deviations, 0.05) == divided
    monkeypatch.undo()
    rare = 1e-4  # rarer than one draw of a thousand can tell
    assert bands.largest(rel.estimate, deviations, rare) == bands.factor_of(rel.estimate, rare / (2 * k))


@pytest.mark.parametrize("epsilon", ["0.01", "1", "100000"])
def test_draws_have_the_distribution_of_the_noise(epsilon):
    """Against the sampler that releases use: a test of two samples on what a band looks at."""
    est = dawa.estimate([3] * 16, epsilon=epsilon, mechanism="hierarchical", seed=0)
    deviations = np.sqrt((est.variances_before, est.variances_after))
    scale = discrete.coarsened(bands.RESOLUTION / est.epsilon)
    rows, source = len(est.strategy.apply(np.zeros(16, np.int64))), randomness_for(7)
    real = []
    for _ in range(999):
        noise = est.strategy.solve(discrete.laplace(scale, rows, source).astype(float))
        before = np.concatenate(([0.0], np.cumsum(noise)))
        with np.errstate(invalid="ignore", divide="ignore"):
            real.append(np.nanmax(np.abs((before, before[-1] - before)) / np.where(deviations > 0, deviations, np.nan)))
    assert stats.ks_2samp(list(bands.drawn(est, deviations, 999)), real).pvalue > 1e-5


def covered(counts, confidence, runs, mechanism):
    """How many bands are right at all bounds, in numbers and in shares."""
    ages = np.repeat(np.arange(len(counts)), counts)
    rel = dawa.release({"age": ages}, dawa.Axis("age", 0, len(counts)), epsilon=1, mechanism=mechanism, seed=0)
    right = 0
    for seed in range(runs):
        band = replace(rel, estimate=dawa.estimate(counts, epsilon=1, mechanism=mechanism, seed=seed)).band(confidence)
        below = np.searchsorted(ages, band.bounds)
        part = below / len(ages)
        numbers = (band.low - 1e-9 <= below) & (below <= band.high + 1e-9)
        right += bool((numbers & (band.share_low - 1e-9 <= part) & (part <= band.share_high + 1e-9)).all())
    return right


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["dawa", "identity"])
def test_all_limits_are_right_together_as_often_as_they_say(mechanism, monkeypatch):
    monkeypatch.setattr(bands, "DRAWS", 99)
    counts = np.random.default_rng(0).integers(0, 200, 48)
    assert stats.binom.cdf(covered(counts, 0.8, 200, mechanism), 200, 0.8) > 1e-5


def test_the_measure_of_coverage_can_fail(monkeypatch):
    monkeypatch.setattr(bands, "largest", lambda estimate, _deviations, chance: bands.factor_of(estimate, chance))
    counts = np.random.default_rng(0).integers(0, 200, 48)
    assert stats.binom.cdf(covered(counts, 0.8, 200, "identity"), 200, 0.8) < 1e-5
