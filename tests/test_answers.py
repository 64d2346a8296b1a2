"""Error bars: they hold as often as they promise, and where buckets are cut they hold against the worst."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa.answers import Answer
from dawa.errors import OptionError

SURE = 1e-6
"""The chance that honest error bars fail a test here, had the seeds not been fixed."""


def release(cells, seed, epsilon=0.5, **options):
    table = {"x": np.repeat(np.arange(len(cells)), cells)}
    if options.get("strategy", "best") == "best" and options.get("mechanism", "dawa") == "dawa":
        options = {"effort": "fast", **options}
    return dawa.release(table, dawa.Axis("x", 0, len(cells)), epsilon=epsilon, seed=seed, **options)


def failures_allowed(trials, confidence):
    return stats.binom.isf(SURE, trials, 1 - confidence)


def spiky(n=256):
    """Flat but for single cells that a bucket may hide, an empty half, and a slope."""
    cells = np.full(n, 3)
    cells[[37, 90, 91]] = [150, 80, 2]
    cells[n // 2 :] = 0
    cells[3 * n // 4] = 40
    cells[7 * n // 8 :] = np.arange(n - 7 * n // 8)
    return cells


RANGES = [(37, 38), (30, 37), (0, 256), (35, 60), (90, 200), (130, 150), (188, 200), (1, 255), (191, 194), (230, 241)]


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_noise_stays_within_its_margin_as_often_as_promised(confidence):
    """Ranges on bucket bounds, no bias: an exact binomial bound for each range."""
    cells, draws = np.array([5, 0, 80, 3, 9, 9, 0, 1, 2, 30, 7, 0]), 500
    ranges = [(0, 12), (2, 3), (3, 9), (5, 12)]
    failed = np.zeros(len(ranges))
    for seed in range(draws):
        rel = release(cells, seed, partition="none", merge=False, postprocess="none", strategy="greedy")
        for i, (lo, hi) in enumerate(ranges):
            found = rel.answer(lo, hi, confidence)
            assert found.bias_bound == 0
            failed[i] += abs(found.value - cells[lo:hi].sum()) > found.noise_margin
    assert (failed <= failures_allowed(draws, confidence)).all()
    assert failed.sum() > 0, "margins are not absurdly wide"


@pytest.mark.parametrize("mechanism", ["dawa", "dawa-2014", "partition-uniform"])
def test_the_truth_lies_between_low_and_high_as_often_as_promised(mechanism):
    cells, draws, confidence = spiky(), 150, 0.8
    failed = np.zeros(len(RANGES))
    for seed in range(draws):
        rel = release(cells, seed, mechanism=mechanism)
        for i, (lo, hi) in enumerate(RANGES):
            found = rel.answer(lo, hi, confidence)
            failed[i] += not found.low <= cells[lo:hi].sum() <= found.high
    assert (failed <= failures_allowed(draws, confidence)).all()


def test_a_spike_hidden_in_a_given_bucket_is_covered():
    """The worst case for evenness: all records of a wide bucket in one cell, asked for with and without it."""
    cells, draws, confidence = np.zeros(64, int), 300, 0.9
    cells[10] = 1000
    failed = np.zeros(3)
    for seed in range(draws):
        rel = release(cells, seed, partition=[0, 32, 64])
        for i, (lo, hi) in enumerate([(10, 11), (11, 40), (0, 10)]):
            found = rel.answer(lo, hi, confidence)
            truth = cells[lo:hi].sum()
            assert abs(found.value - truth) > found.noise_margin, "noise alone does not explain the difference"
            failed[i] += not found.low <= truth <= found.high
    assert (failed <= failures_allowed(draws, confidence)).all()


def test_a_spike_that_the_walk_may_hide_is_covered():
    """At this epsilon the walk leaves the spike inside a wide bucket in some runs and finds it in others."""
    cells, draws, confidence = np.full(128, 2), 300, 0.9
    cells[77] = 60
    failed, hidden = np.zeros(3), 0
    for seed in range(draws):
        rel = release(cells, seed, epsilon=0.5)
        bounds = rel.estimate.buckets.bounds
        bucket = np.searchsorted(bounds, 77, side="right") - 1
        hidden += bounds[bucket + 1] - bounds[bucket] > 1
        for i, (lo, hi) in enumerate([(77, 78), (70, 77), (78, 101)]):
            found = rel.answer(lo, hi, confidence)
            failed[i] += not found.low <= cells[lo:hi].sum() <= found.high
    assert 0.1 * draws < hidden
    assert (failed <= failures_allowed(draws, confidence)).all()


def test_records_inside_one_cell_are_covered_too():
    """Ends between cell borders: evenness inside a cell is assumed, and its bound counts all of the cell."""
    confidence, draws = 0.9, 200
    values = np.concatenate((np.full(300, 4.9), np.linspace(0, 10, 50, endpoint=False)))
    axis = dawa.Axis("x", 0, 10, 1)
    failed = 0
    for seed in range(draws):
        found = dawa.release({"x": values}, axis, epsilon=1, seed=seed).answer(4.5, 7, confidence)
        assert found.bias_bound > 0
        failed += not found.low <= ((values >= 4.5) & (values < 7)).sum() <= found.high
    assert failed <= failures_allowed(draws, confidence)


@pytest.mark.parametrize("mechanism", ["dawa", "dawa-2014", "partition-laplace"])
def test_there_is_a_bias_bound_exactly_where_a_bucket_is_cut(mechanism):
    rel = release(spiky(), 3, mechanism=mechanism)
    bounds = set(rel.estimate.buckets.bounds.tolist())
    cuts = 0
    for lo in range(0, 256, 5):
        for hi in range(lo + 1, 257, 17):
            cut = not {lo, hi} <= bounds
            cuts += cut
            assert (rel.answer(lo, hi).bias_bound > 0) == cut
    assert cuts


@pytest.mark.parametrize("postprocess", ["none", "nonnegative", "rounded"])
def test_the_value_lies_within_and_higher_confidence_reaches_further(postprocess):
    rel = release(spiky(), 4, epsilon=0.05, postprocess=postprocess)
    for lo, hi in RANGES:
        found = [rel.answer(lo, hi, confidence) for confidence in (0.5, 0.8, 0.95, 0.999)]
        for one in found:
            assert one.low <= one.value <= one.high
            assert one.low >= min(0, one.value)
            assert one.noise_margin > 0
        for narrow, wide in pairwise(found):
            assert wide.low <= narrow.low
            assert narrow.high <= wide.high
            assert narrow.noise_margin < wide.noise_margin
            assert narrow.bias_bound <= wide.bias_bound


def test_the_interval_is_centred_on_the_unbiased_answer():
    """Noise margins hold for least squares; what clipping adds to sums of small buckets they do not know."""
    rel = release(np.zeros(64, int), 6, epsilon=0.1, partition="none", merge=False)
    lo, hi = np.array([3.0]), np.array([60.0])
    centre = rel.estimate.range_totals(lo, hi, unbiased=True)[0]
    found = rel.answer(3, 60)
    assert abs(centre - found.value) > 1, "the example is noisy enough to tell"
    assert found.high == pytest.approx(max(centre + found.noise_margin, found.value))


def test_the_noise_margin_counts_standard_deviations():
    rel = release(spiky(), 5, partition="none")
    deviation = math.sqrt(rel.variances([10], [20])[0])
    assert 2.12 * deviation < rel.answer(10, 20, 0.95).noise_margin < 2.17 * deviation


@pytest.mark.parametrize("confidence", [0.3, 1, 1.5, 0, -1, float("nan"), "95%", None, True, 1 - 1e-12])
def test_what_cannot_be_promised_is_refused(confidence):
    with pytest.raises(OptionError, match="Hint:"):
        release([3] * 8, 0).answer(0, 4, confidence)


def test_an_answer_reads_as_a_sentence():
    assert str(Answer(1234.4, 50, 0, 1184, 1285, 0.95)) == (
        "1,234 ± 50 noise (between 1,184 and 1,285 with 95% confidence)"
    )
    assert "at most 7 more from cut buckets" in str(Answer(1234.4, 50, 7, 1184, 1285, 0.95))
