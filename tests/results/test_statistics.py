"""Means, sums, shares, differences and ratios: exact without noise, right as often as they say with it."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa.partition.buckets import Buckets
from dawa.results import statistics
from dawa.results.statistics import Pair, Sum
from helpers.examples import examples

AGE = dawa.Axis("age", 0, 100)
ALMOST_EXACT = {"epsilon": 10**6, "mechanism": "identity", "seed": 0}


@pytest.fixture(scope="module")
def ages():
    return np.floor(np.random.default_rng(5).normal(40, 15, 5000).clip(0, 99)).astype(int)


@pytest.fixture(scope="module")
def sharp(ages):
    return dawa.release({"age": ages}, AGE, **ALMOST_EXACT)


@pytest.fixture(scope="module")
def rel(ages):
    return dawa.release({"age": ages}, AGE, epsilon="0.2", seed=1)


# --- without noise ---------------------------------------------------------------------------------------------------


def test_without_noise_they_are_those_of_the_records(sharp, ages):
    part = ((ages >= 20) & (ages < 40)).sum()
    rest = (ages >= 60).sum()
    assert sharp.mean().value == pytest.approx(ages.mean())
    assert sharp.sum().value == pytest.approx(ages.sum())
    assert sharp.share(20, 40).value == pytest.approx(part / len(ages))
    assert sharp.difference((20, 40), (60, 100)).value == pytest.approx(part - rest)
    assert sharp.ratio((20, 40), (60, 100)).value == pytest.approx(part / rest)
    for found in (sharp.mean(), sharp.share(20, 40), sharp.ratio((20, 40), (60, 100))):
        assert found.low == pytest.approx(found.high, abs=1e-2)
        assert found.bias_bound == 0


@pytest.mark.parametrize(
    ("axis", "values"),
    [
        (dawa.Axis("x", -50, 50), [-50, -7, 0, 3, 49]),
        (dawa.Axis("x", 0, 1000, 100), [0, 99, 100, 555, 999]),
        (dawa.Axis("x", 0, 1, "0.01"), [0.0, 0.25, 0.99]),
        (dawa.Axis("x", "0.5", "70.5", "0.07"), [0.57, 0.64, 69.94]),
        (dawa.Axis("x", 0, 100, "1/3"), [0.0, 33.0, 99.0]),
        (dawa.Axis.edges("x", [-5, 0, 1, 10, 1000]), [-4.5, 0.5, 9.75, 600.0]),
        (dawa.Axis("x", 5, 6), [5]),
    ],
)
def test_the_interval_of_a_mean_holds_whatever_lies_inside_wide_cells(axis, values):
    rel = dawa.release({"x": values * 50}, axis, epsilon=10**6, mechanism="identity", seed=0)
    assert rel.mean().low - 1e-3 <= np.mean(values) <= rel.mean().high + 1e-3
    assert rel.sum().low - 1 <= 50 * np.sum(values) <= rel.sum().high + 1


@examples(60)
@given(st.data())
def test_values_of_buckets_reach_as_far_as_they_say(data):
    """Every value that a bucket can have lies within reach of its middle, and within its cell's of the cell's."""
    width, unit = data.draw(st.integers(1, 7)), data.draw(st.sampled_from([1, 2, 100]))
    widths = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    bounds, first = [0, *np.cumsum(widths).tolist()], data.draw(st.integers(-9, 9))
    start, step = Fraction(first, unit), Fraction(width, unit)
    axis = dawa.Axis("x", start, start + bounds[-1] * step, step)
    found = statistics.Values.of(axis, np.array(bounds))
    offset, size, pieces = axis.whole_numbers
    for bucket, (lo, hi) in enumerate(pairwise(bounds)):
        values = [Fraction(offset + i, pieces) for i in range(lo * size, hi * size)]
        away = [abs(float(value - found.lowest) - found.middle[bucket]) for value in values]
        assert max(away) == pytest.approx(found.reach[bucket])
        assert np.mean([float(value - found.lowest) for value in values]) == pytest.approx(found.middle[bucket])
    assert (float(found.lowest), float(found.highest)) == (float(axis.start), float(values[-1]))


# --- ratios ----------------------------------------------------------------------------------------------------------

numbers = st.floats(0, 1000)


@examples(200)
@given(numbers, numbers, st.floats(0.1, 50), st.floats(0.1, 50), numbers, st.floats(-1, 1), st.booleans())
def test_the_interval_of_a_ratio_is_where_it_is_plausible(a, b, da, db, bias, together, known):
    """From the definition: just inside the ends, noise and bias can explain the sums; just outside they cannot."""
    pair = Pair(Sum(a, a, da, bias), Sum(b, b, db, 0.0), together * da * db if known else None, 2.0)
    if b <= 0:
        with pytest.raises(dawa.ReleaseError, match="no ratio"):
            statistics.ratio(pair)
        return
    value, _, _, low, high = statistics.ratio(pair)

    def beyond(x):
        """By how much the sums are further apart than noise and bias explain."""
        return abs(a - x * b) - pair.noise(x) - pair.bias(x)

    rounding = 1e-6 * (1 + a + b)
    assert 0 <= low <= value <= high
    assert beyond(low) <= rounding * (1 + low)
    assert low == 0 or all(beyond(low * part) >= -rounding for part in (0, 0.5, 0.99))
    if math.isinf(high):
        assert b <= 2 * db
    else:
        assert beyond(high) <= rounding * (1 + high)
        assert all(beyond(high * part) >= -rounding * (1 + high * part) for part in (1.01, 2, 100))


def test_a_ratio_to_what_may_be_nothing_has_no_upper_end(rel):
    found = rel.ratio((20, 40), (98, 99))
    assert found.high == math.inf
    assert found.low < found.value < found.high
    assert "no limit" in str(found)


# --- two releases ----------------------------------------------------------------------------------------------------


def test_two_releases_are_compared(ages):
    """Noise of two seeds is not taken for independent, so they have none, and the truth is asked for almost surely."""
    first = dawa.release({"age": ages}, AGE, epsilon=1)
    second = dawa.release({"age": ages[:2500]}, AGE, epsilon=2)
    sure = first.difference((20, 60), (20, 60), second, confidence=1 - 1e-6)
    assert sure.low <= ((ages[2500:] >= 20) & (ages[2500:] < 60)).sum() <= sure.high
    less, times = first.difference((20, 60), (20, 60), second), first.ratio((20, 60), (20, 60), other=second)
    assert times.low <= 2.2
    assert times.high >= 1.8
    alone = [one.answer(20, 60, 0.95) for one in (first, second)]
    # Noise that was drawn apart adds up by squares.
    assert less.noise_margin <= math.hypot(*(one.noise_margin for one in alone)) * 1.05
    assert less.noise_margin >= max(one.noise_margin for one in alone) * 0.95


def test_noise_of_one_seed_is_not_taken_for_independent(rel, ages):
    again = dawa.release({"age": ages}, AGE, epsilon="0.2", seed=1)
    pair, _ = rel._pair((20, 40), (20, 40), again, 0.95)
    assert pair.covariance is None
    assert rel.difference((20, 40), (20, 40)).noise_margin == pytest.approx(0, abs=1e-6)


def test_covariances_are_those_of_dense_matrices(rel):
    est = rel.estimate
    rows = np.stack([est.strategy.apply(row) for row in np.eye(len(est.buckets), dtype=np.int64)], axis=1) / 2**16
    inverse = np.linalg.inv(rows.T @ rows) * est.unit_variance
    one, other = np.random.default_rng(0).normal(size=(2, len(est.buckets)))
    assert statistics.covariance(est, one, other) == pytest.approx(one @ inverse @ other)


def test_shares_and_ratios_on_maps():
    rng = np.random.default_rng(2)
    table = {"lon": rng.integers(0, 16, 4000), "lat": rng.integers(0, 16, 4000)}
    rel = dawa.release(table, (dawa.Axis("lon", 0, 16), dawa.Axis("lat", 0, 16)), epsilon=1, seed=0)
    truth = ((table["lon"] < 8) & (table["lat"] < 8)).mean()
    found = rel.share((0, 0), (8, 8))
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.2
    assert rel.ratio(((0, 0), (8, 8)), ((8, 8), (16, 16))).value == pytest.approx(1, abs=0.3)
    for ask in (rel.mean, rel.sum, rel.band, lambda: rel.quantile(0.5)):
        with pytest.raises(dawa.OptionError, match="2 axes"):
            ask()


# --- what is refused, and what is said -------------------------------------------------------------------------------


def test_times_and_categories_do_not_add_up():
    when = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 day")
    grade = dawa.Axis.ordered("grade", ["low", "high"])
    for axis, value in ((when, np.datetime64("2013-05-05")), (grade, "low")):
        rel = dawa.release({axis.column: np.array([value] * 9)}, axis, epsilon=1, seed=0)
        for ask in (rel.mean, rel.sum):
            with pytest.raises(dawa.OptionError, match=r"(?s)do not add up.*Hint: ask for a quantile"):
                ask()


@pytest.mark.parametrize("wrong", [5, (1, 2, 3), "20:40", None, ()])
def test_what_is_no_range_is_refused(rel, wrong):
    with pytest.raises(dawa.OptionError, match=r"(?s)not a range.*\(lo, hi\)"):
        rel.difference((20, 40), wrong)


@pytest.mark.parametrize("wrong", [3, "last.json", {}])
def test_what_is_no_release_is_refused(rel, wrong):
    with pytest.raises(dawa.OptionError, match="not a release"):
        rel.ratio((20, 40), (20, 40), wrong)


def test_they_say_what_they_are(rel):
    mean, share = rel.mean(), rel.share(20, 40)
    assert str(mean).startswith("mean ")
    assert "with 95% confidence); values rounded down to a whole number; with everything below 0" in str(mean)
    assert share.texts[0].endswith("%")
    assert statistics.Statistic("mean", 40.2536, 0.5, 2, 37.281, 43.19, 0.95).texts == ("40.3", "37.3", "43.2")
    assert statistics.Statistic("share", 0.25, 0.01, 0, 0.2399, 0.2601, 0.95).texts == ("25.0%", "24.0%", "26.0%")
    whole = statistics.Statistic("share", 1.0, 0, 0, 1 - 1e-10, 1.0, 0.95)
    assert whole.texts == ("100%", "100%", "100%")
    assert statistics.Statistic("sum", 1234567.0, 0, 0, 1234567.0, 1234567.0, 0.95).texts[0] == "1,234,567"
    assert statistics.Statistic("sum", 12345678.9, 1, 0, 12345000, 12346999, 0.9).texts[0] == "12,345,679"


def test_no_records_have_no_mean():
    empty = dawa.release({"age": []}, AGE, epsilon=1000, partition="none", postprocess="rounded", seed=0)
    for ask in (empty.mean, lambda: empty.share(0, 50), lambda: empty.ratio((0, 1), (1, 2))):
        with pytest.raises(dawa.ReleaseError, match="no records"):
            ask()
    assert empty.sum().value == 0


def test_records_of_a_bucket_that_leave_its_middle_are_within_the_bound():
    """All records of wide buckets lie at their upper ends; the bound knows only how many they are."""
    counts = np.zeros(64)
    counts[7::8] = 300
    est = dawa.estimate(counts, epsilon=10, mechanism="identity", seed=0)
    totals = np.add.reduceat(est.unbiased, np.arange(0, 64, 8))
    wide = dawa.estimate(totals.clip(0).round().astype(int), epsilon=10, mechanism="identity", seed=1)
    wide = replace(wide, shape=(64,), buckets=Buckets(np.arange(0, 65, 8)))
    values = statistics.Values.of(dawa.Axis("x", 0, 64), np.arange(0, 65, 8))
    (value, _, bias, low, high), _ = statistics.mean_and_sum(wide, values, 0.95)
    truth = float((counts * np.arange(64)).sum() / counts.sum())
    assert value == pytest.approx(truth - 3.5, abs=0.2)
    assert bias == pytest.approx(3.5, rel=0.1)
    assert low <= truth <= high


# --- how often they are right ----------------------------------------------------------------------------------------

RUNS = 300


def covered(factor=1.0, confidence=0.9):
    """How many intervals of each kind hold the truth; ``factor`` shortens margins."""
    ages = np.floor(np.random.default_rng(1).gamma(4, 10, 400).clip(0, 99))
    counts = np.bincount(ages.astype(int), minlength=100)
    rel = dawa.release({"age": ages}, AGE, epsilon=1, mechanism="identity", seed=0)
    part, rest = ((ages >= lo) & (ages < hi) for lo, hi in ((20, 40), (50, 90)))
    right = dict.fromkeys(("mean", "sum", "share", "difference", "ratio"), 0)
    for seed in range(RUNS):
        one = replace(rel, estimate=dawa.estimate(counts, epsilon=1, mechanism="identity", seed=seed))
        found = {
            "mean": (one.mean(confidence), ages.mean()),
            "sum": (one.sum(confidence), ages.sum()),
            "share": (one.share(20, 40, confidence), part.mean()),
            "difference": (one.difference((20, 40), (50, 90), confidence=confidence), part.sum() - rest.sum()),
            "ratio": (one.ratio((20, 40), (50, 90), confidence=confidence), part.sum() / rest.sum()),
        }
        for name, (interval, truth) in found.items():
            low, high = (interval.value + factor * (end - interval.value) for end in (interval.low, interval.high))
            right[name] += low <= truth <= high
    return right


@pytest.mark.long
def test_they_are_right_as_often_as_they_say():
    assert all(stats.binom.cdf(right, RUNS, 0.9) > 1e-5 for right in covered().values())


@pytest.mark.long
def test_the_measure_of_coverage_can_fail():
    assert all(stats.binom.cdf(right, RUNS, 0.9) < 1e-5 for right in covered(factor=0.4).values())
