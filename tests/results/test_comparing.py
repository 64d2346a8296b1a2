"""Two ranges: what they have in common cancels, and what cannot be is not said."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa.results import comparing
from helpers.examples import examples
from helpers.pages import KINDS

AGE = dawa.Axis("age", 0, 100)


@pytest.fixture(scope="module")
def ages():
    return np.floor(np.random.default_rng(5).normal(40, 15, 3000).clip(0, 99)).astype(int)


@pytest.fixture(scope="module")
def rel(ages):
    """Buckets of five to twenty years, so that ranges cut them."""
    return dawa.release({"age": ages}, AGE, epsilon="0.2", seed=1, partition=[0, 5, 20, 30, 50, 60, 80, 100])


@pytest.fixture(scope="module")
def plane():
    return KINDS["map with a tree"]()


# --- a range and itself ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [(20, 40), (13, 27), (0, 100), (7, 8), ("12.5", "13.25")])
def test_a_range_compared_with_itself_is_the_same(rel, ends):
    less, times = rel.difference(ends, ends), rel.ratio(ends, ends)
    assert (less.value, less.noise_margin, less.bias_bound, less.low, less.high) == (0, 0, 0, 0, 0)
    assert (times.value, times.noise_margin, times.bias_bound, times.low, times.high) == (1, 0, 0, 1, 1)
    assert less.texts == ("0", "0", "0")


def test_so_it_is_on_maps(plane):
    ends = ((3, 4), (22, 31))
    assert (plane.difference(ends, ends).low, plane.difference(ends, ends).high) == (0, 0)
    assert (plane.ratio(ends, ends).low, plane.ratio(ends, ends).high) == (1, 1)
    assert plane.share((0, 0), (60, 45)).texts == ("100%", "100%", "100%")


def test_two_releases_are_never_the_same(rel, ages):
    other = dawa.release({"age": ages}, AGE, epsilon="0.2", seed=2)
    found = rel.difference((20, 40), (20, 40), other)
    assert found.low < 0 < found.high


# --- one range inside another ----------------------------------------------------------------------------------------


def test_a_range_holds_what_lies_in_it(rel):
    """In an empty part of the axis noise would allow anything."""
    wide, narrow = (84, 100), (93, 97)
    assert rel.difference(wide, narrow).low >= 0
    assert rel.difference(narrow, wide).high <= 0
    assert rel.ratio(wide, narrow).low >= 1
    assert rel.ratio(narrow, wide).high <= 1
    assert rel.difference(wide, (79, 97)).low < 0


def test_so_do_rectangles(plane):
    wide, narrow = ((50, 0), (60, 9)), ((52, 1), (59, 8))
    assert plane.difference(wide, narrow).low >= 0
    assert plane.ratio(narrow, wide).high <= 1


def test_what_overlaps_is_known_better_than_what_does_not(rel, plane):
    over, beside = rel.difference((10, 47), (12, 47)), rel.difference((10, 47), (53, 96))
    assert over.noise_margin + over.bias_bound < 0.7 * (beside.noise_margin + beside.bias_bound)
    parts = [plane.answer(*ends) for ends in (((0, 0), (30, 30)), ((0, 0), (32, 30)))]
    both = plane.difference(((0, 0), (30, 30)), ((0, 0), (32, 30)))
    assert both.noise_margin < 0.6 * sum(part.noise_margin for part in parts)


# --- the bounds ------------------------------------------------------------------------------------------------------


@examples(200)
@given(st.data())
def test_evenness_is_off_by_no_more_than_the_bound(data):
    """From the definition: any records in one bucket, any two ranges that cut it, and any ratio."""
    cells = data.draw(st.integers(2, 9))
    records = np.array(data.draw(st.lists(st.integers(0, 20), min_size=cells, max_size=cells)))
    ends = [sorted(data.draw(st.lists(st.integers(0, cells), min_size=2, max_size=2))) for _ in range(2)]
    x = data.draw(st.floats(0, 3))
    inside = [(np.arange(cells) >= lo) & (np.arange(cells) < hi) for lo, hi in ends]
    weight = inside[0] - x * inside[1]
    off = abs(weight @ records - weight.mean() * records.sum())
    uneven = np.abs(records - np.median(records)).sum()
    for reach in (uneven, records.sum()):
        bucket = comparing._cut(0, float(reach), [(lo / cells, hi / cells) for lo, hi in ends])
        assert off <= bucket.bias(x) + 1e-9
        assert bucket.bias(x) == pytest.approx(reach * np.abs(weight - weight.mean()).max())


@examples(60)
@given(st.data())
def test_together_the_bias_is_never_more_than_of_each(rel, data):
    ends = [tuple(sorted(data.draw(st.lists(st.integers(0, 100), min_size=2, max_size=2, unique=True)))) for _ in "ab"]
    found, _ = rel._pair(*ends, None, 0.95)
    for x in (0.0, 0.5, 1.0, 2.0):
        assert found.bias(x) <= found.first.bias + x * found.second.bias + 1e-9
    assert found.bias_of_second <= found.second.bias + 1e-9
    assert found.bias(1e9) / 1e9 == pytest.approx(found.bias_of_second, abs=1e-5)


@pytest.mark.parametrize("kind", ["walk with hats", "map with a tree", "map of boxes", "map of nested boxes"])
def test_weights_are_those_of_the_dense_matrix(kind):
    rel = KINDS[kind]()
    lo, hi = (tuple(side * part for side in rel.estimate.shape) for part in (0.2, 0.71))
    query = (rel._ranged(lo, hi) if len(lo) > 1 else rel._ranged(lo[0], hi[0])).ranged.queries
    np.testing.assert_allclose(comparing.weights(query), query.dense()[0], atol=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "map" in kind and kind != "map of rows"])
def test_covariances_on_maps_are_those_of_the_noise(kind):
    """The variance of the difference is that of the weights' difference."""
    est = KINDS[kind]().estimate
    rng = np.random.default_rng(0)
    one, other = (rng.integers(0, 2, len(est.buckets)).astype(float) for _ in range(2))
    variances = est.variances_of(comparing.statistics.weighted(one, other, one - other))
    assert variances[2] == pytest.approx(
        variances[0] + variances[1] - 2 * comparing.statistics.covariance(est, one, other)
    )


def test_a_sum_of_what_is_never_negative_is_not(ages):
    for axis, sign in ((AGE, 1), (dawa.Axis("age", -100, 0), -1)):
        few = dawa.release({"age": sign * ages[:3] - (sign < 0)}, axis, epsilon="0.05", seed=3)
        found = few.sum()
        assert sign * min(found.low, found.high, key=abs) >= 0
        assert found.low <= found.value <= found.high
        assert 0 in {found.low, found.high}
    mixed = dawa.release({"age": ages[:3]}, dawa.Axis("age", -50, 50), epsilon="0.05", seed=3).sum()
    assert mixed.low < 0 < mixed.high


# --- how often they are right ----------------------------------------------------------------------------------------

RUNS = 300


def covered(ages, factor=1.0, confidence=0.9):
    """How many intervals of overlapping ranges hold the truth; ``factor`` shortens margins."""
    counts = np.bincount(ages, minlength=100)
    made = dawa.release({"age": ages}, AGE, epsilon="0.05", seed=0, partition="none")
    first, second = (12, 55), (18, 62)
    one, other = (int(counts[lo:hi].sum()) for lo, hi in (first, second))
    right = dict.fromkeys(("difference", "ratio"), 0)
    for seed in range(RUNS):
        drawn = dawa.estimate(counts, epsilon="0.05", seed=seed, partition="none")
        rel = replace(made, estimate=drawn)
        for name, truth in (("difference", one - other), ("ratio", one / other)):
            found = getattr(rel, name)(first, second, confidence=confidence)
            low, high = (found.value + factor * (end - found.value) for end in (found.low, found.high))
            right[name] += low <= truth <= high
    return right


@pytest.mark.long
def test_intervals_of_overlapping_ranges_are_right_as_often_as_they_say(ages):
    assert all(stats.binom.cdf(right, RUNS, 0.9) > 1e-5 for right in covered(ages).values())


@pytest.mark.long
def test_this_measure_can_fail(ages):
    assert all(stats.binom.cdf(right, RUNS, 0.9) < 1e-5 for right in covered(ages, factor=0.3).values())


def test_no_interval_is_upside_down(rel):
    for first in ((0, 3), (17, 44), (95, 100)):
        for second in ((2, 9), (17, 60), (96, 98)):
            for found in (rel.difference(first, second), rel.ratio(first, second)):
                assert found.low <= found.value <= found.high
                assert not math.isnan(found.low)
