"""Intervals of quantiles: those of a slow twin that looks at every cell, and right as often as they say."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa.partition.buckets import Buckets
from dawa.results import quantiles
from dawa.results.answers import factor_of
from dawa.results.statistics import weighted
from helpers.examples import examples

MECHANISMS = ("dawa", "identity", "hierarchical", "privelet", "greedy-h", "php")


def slow(estimate, fraction, confidence):
    """The first and the last plausible cell, from the definition: every cell, every border, dense weights."""
    chance, bounds, k = 1 - confidence, estimate.buckets.bounds, len(estimate.buckets)
    stops, found = estimate.buckets.stops, []
    for bucket in range(k):
        first, beyond = (int(bound) for bound in bounds[bucket : bucket + 2])
        wide = beyond - first > 1
        walked = 1 if estimate.buckets.stops is None else 0.75  # the walk's part of the chance is its own
        factor = factor_of(estimate, chance / 2 if wide else walked * chance)
        alone = np.eye(k)[bucket]
        most = alone @ estimate.unbiased + factor_of(estimate, chance / 4) * deviation(estimate, alone)
        uneven = max(most, 0)
        if stops is not None:
            uneven = min(uneven, float(stops.uneven(chance / 4, np.array([bucket]))[0]))

        def reach(border, first=first, beyond=beyond, bucket=bucket, factor=factor, uneven=uneven):
            """What D seems to be at a border in this bucket, and how far it may be off."""
            part = (border - first) / (beyond - first)
            weights = np.where(np.arange(k) < bucket, 1.0, np.where(np.arange(k) == bucket, part, 0.0)) - fraction
            bias = max(part, 1 - part) * uneven if 0 < part < 1 else 0
            return weights @ estimate.unbiased, factor * deviation(estimate, weights) + bias

        for cell in range(first, beyond):
            (below, low), (upto, high) = reach(cell), reach(cell + 1)
            may_begin = cell == 0 or below - low <= 1e-9
            may_end = cell == bounds[-1] - 1 or upto + high >= -1e-9
            found += [cell] if may_begin and may_end else []
    return found


def deviation(estimate, weights):
    return np.sqrt(max(float(estimate.variances_of(weighted(weights))[0]), 0))


@examples(40)
@given(
    st.sampled_from(MECHANISMS),
    st.lists(st.integers(0, 40), min_size=2, max_size=40),
    st.sampled_from(["0.1", "1", "10"]),
    st.floats(0, 1) | st.integers(0, 4).map(lambda i: i / 4),
    st.sampled_from([0.5, 0.9, 0.99]),
    st.integers(0, 5),
)
def test_the_interval_is_that_of_the_slow_twin(mechanism, counts, epsilon, fraction, confidence, seed):
    est = dawa.estimate(counts, epsilon=epsilon, mechanism=mechanism, seed=seed)
    if est.totals.sum() <= 0 or est.strategy is None:
        return
    (held,) = quantiles.held(est, [fraction], confidence)
    cells = slow(est, fraction, confidence)
    assert held.first == min([held.cell, *cells])
    assert held.last == max([held.cell, *cells])


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5, 0.8])
def test_inside_a_wide_bucket_the_place_is_found_by_bisection(fraction):
    """Flat counts make wide buckets, which the walk knows to be even: the interval begins and ends inside them."""
    est = dawa.estimate([40] * 1024, epsilon=1, seed=2)
    assert np.diff(est.buckets.bounds).max() > 100
    (held,) = quantiles.held(est, [fraction], 0.9)
    cells = slow(est, fraction, 0.9)
    assert (held.first, held.last) == (min(cells), max(cells))
    assert {held.first, held.last + 1}.isdisjoint(est.buckets.bounds.tolist())


def test_a_bucket_of_more_cells_than_can_be_looked_at():
    """The records of the second bucket may lie anywhere in it, as far as is known."""
    est = dawa.estimate([500, 500], epsilon=1, mechanism="identity", seed=0)
    wide = replace(est, shape=(2**40 + 1,), buckets=Buckets(np.array([0, 1, 2**40 + 1])))
    (held,) = quantiles.held(wide, [0.75], 0.95)
    assert (held.first, held.last) == (1, 2**40)
    assert (held.cell - 1) / 2**40 == pytest.approx(0.5, abs=0.02)


# --- what is asked of a release --------------------------------------------------------------------------------------


AGE = dawa.Axis("age", 0, 100)


@pytest.fixture(scope="module")
def rel():
    ages = np.random.default_rng(5).normal(40, 15, 5000).clip(0, 99)
    return dawa.release({"age": np.floor(ages)}, AGE, epsilon="0.2", seed=1)


def test_a_quantile_says_how_sure_it_is(rel):
    sure, unsure = rel.quantile(0.5, 0.99), rel.quantile(0.5, 0.5)
    assert sure.low <= unsure.low <= unsure.value <= unsure.high <= sure.high
    assert sure.low < sure.high
    assert (sure.confidence, sure.fraction) == (0.99, 0.5)
    assert all(type(value) is int for value in (sure.value, sure.low, sure.high))
    assert str(sure).startswith(
        f"{sure.value} (between {sure.low} and {sure.high} with 99% confidence); with everything"
    )


def test_many_at_once_are_the_same_as_one_by_one(rel):
    fractions = np.linspace(0, 1, 21)
    assert rel.quantiles(fractions) == [rel.quantile(fraction) for fraction in fractions]
    assert rel.quantiles([]) == []


@pytest.mark.parametrize("wrong", [0.49, 1, 1.5, "sure", None, float("nan")])
def test_a_confidence_that_cannot_be_promised_is_refused(rel, wrong):
    with pytest.raises(dawa.OptionError, match="cannot be promised"):
        rel.quantile(0.5, wrong)


def test_a_confidence_is_told_with_all_its_digits(rel):
    for found in (rel.quantile(0.5, 0.999), rel.answer(0, 50, 0.999), rel.mean(0.999), rel.share(0, 50, 0.999)):
        assert "with 99.9% confidence" in str(found)


@pytest.mark.parametrize("wrong", [0.5, None, "0.5"])
def test_several_fractions_are_a_list(rel, wrong):
    with pytest.raises(dawa.OptionError, match="no list of fractions"):
        rel.quantiles(wrong)


def test_ends_are_values_of_the_axis():
    when = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month")
    days = np.datetime64("2013-01-01") + np.random.default_rng(1).integers(0, 365, 3000)
    found = dawa.release({"when": days}, when, epsilon=1, seed=0).quantile(0.5)
    assert np.datetime64("2013-01-01") <= found.low <= found.value <= found.high < np.datetime64("2014-01-01")
    grades = dawa.Axis.ordered("grade", ["low", "middle", "high"])
    found = dawa.release({"grade": ["low", "middle", "high"] * 30}, grades, epsilon=1, seed=0).quantile(0.5)
    assert {found.low, found.value, found.high} <= {"low", "middle", "high"}


def test_the_interval_reaches_to_the_last_value_of_a_wide_cell():
    axis = dawa.Axis("income", 0, 1000, 100)
    found = dawa.release({"income": [450] * 1000}, axis, epsilon=1000, seed=0).quantile(0.5)
    assert (found.low, found.high) == (400, 499)


# --- how often it is right -------------------------------------------------------------------------------------------

RUNS = 400


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["dawa", "identity"])
@pytest.mark.parametrize("confidence", [0.6, 0.9])
def test_it_is_right_as_often_as_it_says_and_not_much_more(mechanism, confidence):
    """Records in few cells, where quantiles are hard; with cells alone the promise is nearly exact."""
    rng = np.random.default_rng(3)
    counts = np.where(np.arange(64) < 32, rng.integers(0, 4, 64), 0) + 1
    before, fractions = np.cumsum(counts), (0.2, 0.5, 0.8)
    truth = [int(np.searchsorted(before, Fraction(q) * int(before[-1]))) for q in fractions]
    right = np.zeros(len(fractions), int)
    for seed in range(RUNS):
        est = dawa.estimate(counts, epsilon=1, mechanism=mechanism, seed=seed)
        found = quantiles.held(est, fractions, confidence)
        right += [one.first <= cell <= one.last for one, cell in zip(found, truth, strict=True)]
    assert (stats.binom.cdf(right, RUNS, confidence) > 1e-5).all()


def test_the_measure_of_coverage_can_fail(monkeypatch):
    """The same intervals with a third of the margin are wrong too often: the test above would notice."""
    monkeypatch.setattr(quantiles, "factor_of", lambda estimate, chance: factor_of(estimate, chance) / 3)
    counts = np.arange(64) % 4 + 1
    truth = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    right = 0
    for seed in range(RUNS):
        (one,) = quantiles.held(dawa.estimate(counts, epsilon=1, mechanism="identity", seed=seed), [0.5], 0.9)
        right += one.first <= truth <= one.last
    assert stats.binom.cdf(right, RUNS, 0.9) < 1e-5
