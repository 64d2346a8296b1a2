"""Error bars: they hold as often as they promise, and where buckets are cut they hold against the worst."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa import workloads
from dawa.errors import OptionError
from dawa.layout.boxes import Boxes
from dawa.partition.buckets import Buckets, by_rows
from dawa.queries.bucket_queries import BucketQueries
from dawa.queries.workload import Workload
from dawa.results.answers import Answer, cut_buckets
from dawa.results.margins import margin_factor
from dawa.results.release import Release
from dawa.results.statement import PrivacyStatement
from dawa.strategy.base import RESOLUTION
from helpers.dense import random_bounds
from helpers.examples import examples
from helpers.grids import covered, random_corners, random_map, random_shape, random_tiling

PRIVACY = PrivacyStatement(Fraction(1), {}, "dawa", {}, "a seed", private=False, library="")
SURE = 1e-6
"""The chance that honest error bars fail a test here, had the seeds not been fixed."""


def release(cells, seed, epsilon=0.5, **options):
    """A release without a table to count."""
    if options.get("strategy", "best") == "best" and options.get("mechanism", "dawa") == "dawa":
        options = {"effort": "fast", **options}
    axes = tuple(dawa.Axis(f"x{i}", 0, n) for i, n in enumerate(np.shape(cells)))
    return Release(axes, dawa.estimate(cells, epsilon=epsilon, seed=seed, **options), PRIVACY)


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


@pytest.mark.long
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_noise_stays_within_its_margin_as_often_as_promised(confidence):
    """Ranges on bucket bounds, no bias: an exact binomial bound for each range."""
    cells, draws = np.array([5, 0, 80, 3, 9, 9, 0, 1, 2, 30, 7, 0]), 500
    ranges = [(0, 12), (2, 3), (3, 9), (5, 12)]
    failed = np.zeros(len(ranges))
    for seed in range(draws):
        rel = release(cells, seed, partition="none", postprocess="none", strategy="greedy")
        for i, (lo, hi) in enumerate(ranges):
            found = rel.answer(lo, hi, confidence)
            assert found.bias_bound == 0
            failed[i] += abs(found.value - cells[lo:hi].sum()) > found.noise_margin
    assert (failed <= failures_allowed(draws, confidence)).all()
    assert failed.sum() > 0, "margins are not absurdly wide"


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_records_inside_one_cell_are_covered_too():
    """Ends between cell borders: evenness inside a cell is assumed, and its bound counts all of the cell."""
    confidence, draws = 0.9, 200
    values = np.concatenate((np.full(300, 4.9), np.linspace(0, 10, 50, endpoint=False)))
    cells, failed = np.bincount(values.astype(int), minlength=10), 0
    for seed in range(draws):
        found = release(cells, seed, epsilon=1).answer(4.5, 7, confidence)
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
    rel = release(np.zeros(64, int), 6, epsilon=0.1, partition="none")
    lo, hi = np.array([3.0]), np.array([60.0])
    centre = rel.estimate.totals_of(BucketQueries.of_runs(64, lo, hi), unbiased=True)[0]
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
    assert str(Answer(1234.4, 50, 0, 1234.5, 1184, 1285, 0.95)) == (
        "1,234 ± 50 noise (between 1,184 and 1,285 with 95% confidence)"
    )
    assert "at most 7 more from cut buckets" in str(Answer(1234.4, 50, 7, 1234.4, 1177, 1292, 0.95))
    assert "1,234 (1,240 as measured) ± 50 noise" in str(Answer(1234.4, 50, 0, 1240, 1190, 1290, 0.95))


@pytest.mark.parametrize("partition", ["walk", "none"])
def test_the_interval_is_made_of_the_parts_that_are_told(partition):
    """Counts so small that many buckets are evened out: nothing but 0 and the value itself ends an interval early."""
    counts = np.random.default_rng(2).poisson(1.5, 128)
    moved = 0
    for seed in range(20):
        rel = release(counts, seed, epsilon="0.2", partition=partition)
        found = [rel.answer(lo, lo + width) for lo in range(0, 100, 9) for width in (3, 17)]
        moved += sum(one.evened_out for one in found)
        for one in found:
            errors = one.noise_margin + one.bias_bound
            assert one.low == pytest.approx(min(max(one.measured - errors, 0), one.value))
            assert one.high == pytest.approx(max(one.measured + errors, 0, one.value))
    assert moved > 20, "the example has something to even out"


# --- many cut buckets, as on maps -----------------------------------------------------------------------------------


@pytest.mark.long
@examples(300)
@given(st.lists(st.tuples(st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 10**6)), st.booleans()), min_size=1))
def test_any_part_of_a_bucket_differs_from_its_share_by_at_most_the_unevenness(cells):
    """The fact behind the bound by the walk, for any subset: ``|inside - f·total| <= max(f, 1 - f)·unevenness``."""
    counts = [count for count, _ in cells]
    inside = sum(count for count, chosen in cells if chosen)
    f = Fraction(sum(chosen for _, chosen in cells), len(cells))
    unevenness = min(sum(abs(count - m) for count in counts) for m in counts)
    assert abs(inside - f * sum(counts)) <= max(f, 1 - f) * unevenness


def queries_of(rows):
    """Dense rows of parts of buckets, as queries of stretches."""
    first, lo, weight = [0], [], []
    for row in rows:
        lo += np.flatnonzero(row).tolist()
        weight += row[row != 0].tolist()
        first.append(len(lo))
    start, m = np.array(lo, np.float64), len(rows)
    return BucketQueries(rows.shape[1], np.array(first), start, start + 1, np.array(weight), np.ones(m), float(m))


@examples(100)
@given(st.integers(0, 2**32))
def test_cut_buckets_are_those_with_a_part_inside_and_a_part_outside(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    boxes = random_tiling(rng, shape)
    partition = random_partition(rng, shape, boxes)
    for whole in (True, False, None):
        lo, hi = random_corners(rng, shape, 1 if whole is None else 5, whole=whole)
        queries = partition.queries(Workload.rectangles(lo, hi, shape))
        found = cut_buckets(queries)
        rows = queries.dense()
        # A bucket that is covered but for rounding may count as cut; it then weighs nothing.
        where = np.argwhere((rows > 1e-9) & (rows < 1 - 1e-9))
        listed = {(q, b): part for q, b, part in zip(*found[:3], strict=True) if 1e-9 < part < 1 - 1e-9}
        assert set(listed) == {tuple(pair) for pair in where.tolist()}
        assert len(found.query) == len(set(zip(found.query.tolist(), found.bucket.tolist(), strict=True)))
        assert (np.diff(found.query) >= 0).all()
        for (q, b), part in listed.items():
            assert part == pytest.approx(rows[q, b], rel=1e-9)


def random_partition(rng, shape, boxes):
    """Boxes, or stretches of the curve, or every cell by rows."""
    kind = rng.integers(3) if len(shape) > 1 else rng.integers(2)
    if kind == 0:
        return Buckets(random_bounds(rng, int(np.prod(shape))))
    return Buckets(boxes.bounds, boxes=boxes) if kind == 1 and len(shape) > 1 else by_rows(shape)


def slow_answer(rel, row, border, confidence, *, on_cells):
    """One answer from its definition, with dense rows: value, noise margin, bias bound."""
    est, chance = rel.estimate, 1 - confidence
    resolution = RESOLUTION / float(est.epsilon)

    def upper(part, odds):
        """The most that parts of buckets can hold."""
        noise = est.variances_of(queries_of(part[None]))[0] if part.any() else 0.0
        return max(part @ est.unbiased + margin_factor(odds, resolution) * math.sqrt(noise), 0)

    cut = np.flatnonzero((row > 0) & (row < 1))
    deviation = math.sqrt(est.variances_of(queries_of(row[None]))[0])
    alone = chance if est.buckets.stops is None else 0.75 * chance
    noise = margin_factor(chance / 2 if len(cut) else alone, resolution) * deviation
    larger = np.maximum(row, 1 - row)
    by_walk = np.full(len(row), np.inf)
    if on_cells and est.buckets.stops is not None:
        by_walk = larger * est.buckets.stops.uneven(chance / 4 / border)
    if len(cut) <= 2:
        whole = np.eye(len(row))
        bias = sum(min(larger[b] * upper(whole[b], chance / 4), by_walk[b]) for b in cut)
    else:
        inside, outside = (np.where((row > 0) & (row < 1), part, 0) for part in (row, 1 - row))
        together = max(upper(inside, chance / 4), upper(outside, chance / 4))
        bias = min(together, by_walk[cut].sum())
    return row @ est.totals, noise, bias


def border_cells(lo, hi, shape):
    """The cells inside with a neighbour outside, one by one, each as often as it has such neighbours."""
    inside = covered(lo, hi, shape) > 0
    padded = np.pad(inside, 1, constant_values=True)  # beyond the domain there is nothing to cut
    count = 0
    for axis in range(len(shape)):
        for step in (-1, 1):
            beside = np.roll(padded, step, axis)[(slice(1, -1),) * len(shape)]
            count += int((inside & ~beside).sum())
    return max(count, 1)


@pytest.mark.long_but(5)
@pytest.mark.parametrize("mechanism", ["dawa", "partition-uniform", "ugrid", "privelet", "identity"])
@pytest.mark.parametrize("shape", [(16, 16), (9, 14), (5, 6, 4)], ids=str)
def test_answers_on_maps_equal_a_slow_twin(mechanism, shape):
    rng = np.random.default_rng(8)
    even = {"inside": "even"} if mechanism == "dawa" else {}  # smooth ones have a twin of their own
    rel = release(random_map(rng, shape), 2, 0.3, mechanism=mechanism, **even)
    lo, hi = random_corners(rng, shape, 24)
    rows = rel.estimate.buckets.queries(Workload.rectangles(lo, hi, shape)).dense()
    rows[np.abs(rows - 1) < 1e-12] = 1
    for i, found in enumerate(rel.answers(lo, hi, 0.9)):
        on_cells = bool((lo[i] == np.floor(lo[i])).all() and (hi[i] == np.floor(hi[i])).all())
        value, noise, bias = slow_answer(rel, rows[i], border_cells(lo[i], hi[i], shape), 0.9, on_cells=on_cells)
        assert found.value == pytest.approx(value, rel=1e-7, abs=1e-7)
        assert found.noise_margin == pytest.approx(noise, rel=1e-6)
        assert found.bias_bound == pytest.approx(bias, rel=1e-6, abs=1e-6)
        assert rel.answer(lo[i], hi[i], 0.9).high == pytest.approx(found.high, rel=1e-9)
        centre = rows[i] @ rel.estimate.unbiased
        assert found.low == pytest.approx(min(max(centre - noise - bias, 0), value), rel=1e-6, abs=1e-6)
        assert found.high == pytest.approx(max(centre + noise + bias, 0, value), rel=1e-6, abs=1e-6)


def test_part_of_one_cell_of_a_wide_bucket_is_a_cut():
    """A rectangle that is a single piece of the curve, and lighter than a cell."""
    axes = (dawa.Axis("x", 0, 16), dawa.Axis("y", 0, 16))
    rel = dawa.release({"x": [3.3] * 40, "y": [3.3] * 40}, axes, epsilon=1, seed=1, partition="one")
    for lo, hi in (((3.2, 3.2), (3.5, 3.5)), ((3, 3), (4, 4)), ((0, 3.2), (16, 3.4))):
        found = rel.answer(lo, hi)
        assert found.bias_bound > 20
        assert found.low <= 40 <= found.high


def rough_map():
    """Flat ground, an empty corner, single high cells that a bucket may hide, and a slope."""
    cells = np.full((16, 16), 2)
    cells[:6, 9:] = 0
    cells[3, 3], cells[12, 4], cells[2, 13] = 90, 45, 30
    cells[10:, 10:] = np.arange(6)[:, None] * 4
    return cells


@pytest.mark.long
@pytest.mark.parametrize(
    ("mechanism", "draws"), [("dawa", 120), ("partition-laplace", 200), ("ugrid", 150), ("privtree", 150)]
)
def test_on_maps_the_truth_lies_between_low_and_high_as_often_as_promised(mechanism, draws):
    cells, confidence = rough_map(), 0.8
    lo = np.array([[0, 0], [3, 3], [2, 2], [0, 8], [5, 1], [11, 3], [9, 9], [1, 12], [7, 0], [0, 0]])
    hi = np.array([[16, 16], [4, 4], [9, 12], [7, 16], [6, 15], [13, 5], [15, 16], [3, 14], [8, 16], [5, 5]])
    workload = Workload.rectangles(lo, hi, (16, 16))
    truth, asked = workload.answers(cells), workloads.random_rectangles((16, 16), 60)
    failed, wide = np.zeros(len(lo)), 0
    for seed in range(draws):
        rel = release(cells, seed, 0.4, mechanism=mechanism, workload=asked)
        found = rel.answers(lo, hi, confidence)
        failed += [not one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
        cuts = cut_buckets(rel.estimate.buckets.queries(workload))
        wide += np.bincount(cuts.query, minlength=1).max() > 2
    assert (failed <= failures_allowed(draws, confidence)).all()
    assert wide > draws / 2, "the joint bound is tried"


@pytest.mark.long
def test_many_cut_buckets_with_all_their_records_at_the_border_are_covered():
    """The worst for evenness where more than two buckets are cut: every record just inside, or just outside."""
    strips = np.arange(0, 17, 2)
    lo = np.array([[0, a] for a in strips[:-1]])
    boxes = Boxes(lo, lo + np.array([16, 2]))
    partition = Buckets(boxes.bounds, boxes=boxes)
    draws, confidence = 200, 0.9
    for row in (7, 8):
        cells = np.zeros((16, 16), int)
        cells[row] = 30
        failed = 0
        for seed in range(draws):
            rel = release(cells, seed, partition=partition, strategy="leaves")
            found = rel.answer((0, 0), (8, 16), confidence)
            truth = cells[:8].sum()
            assert abs(found.value - truth) > found.noise_margin, "noise alone does not explain the difference"
            failed += not found.low <= truth <= found.high
        assert failed <= failures_allowed(draws, confidence)


def test_where_nothing_is_cut_the_walk_keeps_its_part_of_the_chance():
    """Whether a bucket is cut is the walk's doing, so noise may not have all of the chance when none is."""
    walked = release([900, 0] * 32, 0, epsilon=5)
    assert walked.estimate.buckets.stops is not None
    plain = release([900, 0] * 32, 0, epsilon=5, partition="none")
    for rel, part in ((walked, 0.75), (plain, 1)):
        found = rel.answer(0, 64, 0.9)
        assert found.bias_bound == 0
        scale = RESOLUTION / float(rel.estimate.epsilon)
        assert found.noise_margin == pytest.approx(
            margin_factor(part * 0.1, scale) * math.sqrt(rel.variances([0], [64])[0])
        )
