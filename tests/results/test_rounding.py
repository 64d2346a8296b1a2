"""Numbers at the edge: what floats lose after the noise is little, and intervals allow for it."""

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa import Axis, Release
from dawa.arrays import listed, running
from dawa.counts import Counts
from dawa.errors import ReleaseError
from dawa.limits import MOST_RECORDS
from dawa.queries.bucket_queries import BucketQueries
from dawa.results import file, statistics
from dawa.results.estimate import ROUNDING
from dawa.strategy.base import fitted
from helpers.examples import examples

UNIT = 2.0**-53
SURE = 1e-6
"""The chance that honest error bars fail a test here, had the seeds not been fixed."""
CERTAIN = 1 - 1e-8
"""The confidence of intervals that may not fail in any example."""
EPSILONS = ("0.0001", "1", "10000")
NAMES = dawa.mechanisms.names(with_error_bars=True)
SPARSE = ("dawa", "privtree", "uniform")
"""Mechanisms for domains of any size."""


def quick(mechanism):
    return {"mechanism": mechanism, **({"effort": "fast"} if mechanism == "dawa" else {})}


def release(shape, cells, counts, epsilon, seed, **options):
    """A release without a table to count."""
    axes = [Axis(f"x{i}", 0, side) for i, side in enumerate(shape)]
    none = dawa.release({axis.column: [] for axis in axes}, axes, epsilon=epsilon, seed=0, **options)
    held = Counts.sparse(shape, np.array(cells, np.int64), np.array(counts, np.int64))
    return replace(none, estimate=dawa.estimate(held, epsilon=epsilon, seed=seed, **options))


def many(cells, records=2**44, seed=0):
    """So many records, unevenly on all cells."""
    shares = np.random.default_rng(seed).dirichlet(np.full(cells, 0.5))
    return np.floor(shares * records).astype(np.int64)


@given(st.lists(st.floats(-(2.0**62), 2.0**62), max_size=60))
def test_running_sums_are_right_to_about_the_last_digit(numbers):
    found, largest = running(np.array(numbers)), 0.0
    for i, total in enumerate(accumulate(map(Fraction, numbers), initial=Fraction(0))):
        largest = max(largest, float(abs(total)))
        assert abs(Fraction(found[i]) - total) <= UNIT * abs(total) + len(numbers) ** 2 * UNIT**2 * 2 * largest


STRATEGIES = ["hats", "greedy", "leaves", "uniform", "geometric", "wavelet", "hb"]


def measured(strategy, side):
    """A strategy on single cells: of a line, or of a map if it is named as one."""
    if strategy == "map with bumps":
        options = {"partition": "none", "strategy": "bumps", "effort": "fast"}
    elif strategy in {"privelet", "hybrid-tree"}:
        options = {"mechanism": strategy}
    else:
        options = {"partition": "none", "strategy": strategy, **({"effort": "fast"} if strategy == "hats" else {})}
        return dawa.estimate(np.zeros(side * side, np.int64), epsilon=10**6, seed=0, **options).measured
    counts = 1000 * (np.arange(side * side).reshape(side, side) % 7)
    return dawa.estimate(counts, epsilon=10**6, seed=0, **options).measured


@pytest.mark.parametrize("side", [3, 24])
@pytest.mark.parametrize("strategy", [*STRATEGIES, "map with bumps", "privelet", "hybrid-tree"])
def test_totals_are_fitted_to_their_last_digit_however_many_records_there_are(strategy, side):
    """Exact answers, and answers of totals that noise moved: their best fit is known."""
    rows = measured(strategy, side)
    for totals in (
        many(rows.buckets),
        many(rows.buckets) + np.random.default_rng(1).integers(-(10**6), 10**6, rows.buckets),
        np.append(MOST_RECORDS, np.zeros(rows.buckets - 1, np.int64)),
        np.arange(rows.buckets),
    ):
        found = fitted(rows, rows.apply(totals))
        assert (np.abs(found - totals) <= 4 * UNIT * (np.abs(totals) + 1)).all()


@pytest.mark.parametrize("strategy", ["hats", "greedy", "uniform", "wavelet"])
def test_totals_are_those_of_exact_least_squares(strategy):
    """Noise that no totals explain, against the normal equations in fractions."""
    rows, rng = measured(strategy, 3), np.random.default_rng(2)
    k = rows.buckets
    matrix = np.stack([rows.apply(column) for column in np.eye(k, dtype=np.int64)], axis=1)
    answers = rows.apply(many(k)) + rng.integers(-30, 30, len(matrix))
    exact = solved(matrix.tolist(), answers.tolist())
    for found, total in zip(fitted(rows, answers).tolist(), exact, strict=True):
        assert abs(Fraction(found) - total) <= 4 * UNIT * (abs(total) + 1)


def solved(matrix, answers):
    """Least squares by elimination, in fractions."""
    k = len(matrix[0])
    square = [[Fraction(sum(row[i] * row[j] for row in matrix)) for j in range(k)] for i in range(k)]
    side = [Fraction(sum(row[i] * y for row, y in zip(matrix, answers, strict=True))) for i in range(k)]
    for i in range(k):
        for j in range(i + 1, k):
            part = square[j][i] / square[i][i]
            square[j] = [a - part * b for a, b in zip(square[j], square[i], strict=True)]
            side[j] -= part * side[i]
    found = [Fraction(0)] * k
    for i in reversed(range(k)):
        found[i] = (side[i] - sum(square[i][j] * found[j] for j in range(i + 1, k))) / square[i][i]
    return found


@examples(60)
@given(st.integers(1, 300), st.sampled_from([1, 2**20, 2**45]), st.integers(0, 2**32), st.data())
def test_what_was_measured_is_as_near_to_the_exact_sum_as_rounding_says(k, records, seed, data):
    """Ranges that begin and end anywhere in buckets, from totals that are known exactly."""
    totals = np.random.default_rng(seed).dirichlet(np.full(k, 0.3)) * records - records / k
    made = dawa.estimate(np.zeros(k, np.int64), epsilon=1, seed=0, mechanism="identity")
    estimate = replace(made, unbiased=totals, totals=totals)
    ends = sorted(data.draw(st.lists(st.floats(0, k), min_size=2, max_size=2)))
    asked = BucketQueries.of_runs(k, np.array(ends[:1]), np.array(ends[1:]))
    exact = [sum(map(Fraction, totals[: int(at)]), Fraction(0)) for at in ends]
    inside = [Fraction(totals[int(at)]) * (Fraction(at) % 1) if at < k else Fraction(0) for at in ends]
    wanted = (exact[1] + inside[1]) - (exact[0] + inside[0])
    assert estimate.rounding >= ROUNDING * math.fsum(abs(totals))
    assert abs(Fraction(float(estimate.totals_of(asked, unbiased=True)[0])) - wanted) <= estimate.rounding / 2


@pytest.mark.long_but(4)
@pytest.mark.parametrize("mechanism", NAMES)
def test_intervals_hold_with_2_to_the_44_records_and_an_epsilon_of_10_to_the_4(mechanism):
    """With least squares and sums in plain floats, some of these intervals of the default never hold."""
    counts, rng, draws, confidence = many(512), np.random.default_rng(3), 60, 0.95
    ends = np.sort(np.array([rng.choice(513, 2, replace=False) for _ in range(60)]), axis=1)
    ends[0] = 0, 512
    below = np.append(0, np.cumsum(counts))
    truth, failed = below[ends[:, 1]] - below[ends[:, 0]], np.zeros(len(ends))
    first = release((512,), np.arange(512), counts, "10000", 0, **quick(mechanism))
    for seed in range(draws):
        made = replace(first, estimate=dawa.estimate(counts, epsilon="10000", seed=seed, **quick(mechanism)))
        found = made.answers(ends[:, 0], ends[:, 1], confidence)
        failed += [not one.low <= exact <= one.high for one, exact in zip(found, truth.tolist(), strict=True)]
        if len(made.estimate.buckets) == 512:
            assert max(one.high - one.low for one in found) < 0.5, "and they are narrow"
    assert (failed <= stats.binom.isf(SURE / len(ends), draws, 1 - confidence)).all()


@pytest.mark.long_but(6)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("shape", "cells", "counts"),
    [
        ((1,), [], []),
        ((1,), [0], [1]),
        ((1,), [0], [MOST_RECORDS]),
        ((2,), [0, 1], [2**44, 1]),
        ((512,), [], []),
        ((512,), [77], [1]),
        ((512,), [77], [MOST_RECORDS]),
        ((2**62,), [], []),
        ((2**62,), [0, 2**62 - 1], [2**44, 2**44]),
        ((2**62,), [2**61 - 1, 2**61], [5000, 70_000]),
        ((1, 1), [0], [MOST_RECORDS]),
        ((16, 16), [], []),
        ((16, 16), [0, 255, 17], [2**44, 2**43, 3]),
        ((2**31, 2**31), [0, 2**62 - 1], [2**44, 5]),
    ],
)
def test_everything_that_is_asked_holds_the_truth(shape, cells, counts, epsilon):
    """One cell, no rows, one row, all records in one cell, 2^62 cells with records at both ends."""
    made = release(shape, cells, counts, epsilon, 1, **quick("dawa"))
    corners = np.unravel_index(np.array(cells, np.int64), shape)
    held = list(zip(zip(*(corner.tolist() for corner in corners), strict=True), counts, strict=True))
    boxes = [(tuple(0 for _ in shape), shape)]
    for place, _ in held:
        boxes += [(place, tuple(at + 1 for at in place)), (tuple(0 for _ in shape), tuple(at + 1 for at in place))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checked(made, [(box, truth_in(held, *box)) for box in boxes])
        if len(shape) == 1:
            checked_values(made, [(place[0], count) for place, count in held])
    again = file.read(listed(made.to_json()))
    assert Release(again.axes, again.estimate, again.privacy).answers(*ends_of(boxes)) == made.answers(*ends_of(boxes))


def truth_in(held, lo, hi):
    return sum(count for place, count in held if all(a <= x < b for a, x, b in zip(lo, place, hi, strict=True)))


def ends_of(boxes):
    """Lower and upper ends as a release takes them."""
    return tuple([corner if len(corner) > 1 else corner[0] for corner in side] for side in zip(*boxes, strict=True))


def checked(made, asked):
    """Counts, shares, differences and ratios."""
    (every, total), lows_highs = asked[0], ends_of([box for box, _ in asked])
    whole = tuple(ends[0] for ends in lows_highs)
    for one, (_, truth) in zip(made.answers(*lows_highs, CERTAIN), asked, strict=True):
        assert one.low <= truth <= one.high
        assert one.low <= one.value <= one.high < math.inf
    assert every is not None
    for pair, (_, truth) in zip(zip(*lows_highs, strict=True), asked, strict=True):
        less = made.difference(pair, whole, confidence=CERTAIN)
        assert less.low <= truth - total <= less.high
        try:
            share = made.share(*pair, confidence=CERTAIN)
            times = made.ratio(pair, whole, confidence=CERTAIN)
        except ReleaseError:
            continue
        if total:
            assert share.low <= Fraction(truth, total) <= share.high
            assert times.low <= Fraction(truth, total) <= times.high


def checked_values(made, held):
    """Quantiles, mean, sum and band of a line."""
    total, added = sum(count for _, count in held), sum(place * count for place, count in held)
    mean, found = made.mean_and_sum(CERTAIN)
    assert found.low <= added <= found.high
    assert str(mean)
    if total and not math.isnan(mean.value):
        assert mean.low <= Fraction(added, total) <= mean.high
        for fraction in (0, 0.001, 0.5, 1):
            one = made.quantile(fraction, CERTAIN)
            reached = accumulate(count for _, count in held)
            truth = next(
                place for (place, _), upto in zip(held, reached, strict=True) if upto >= Fraction(fraction) * total
            )
            assert one.low <= truth <= one.high
    band = made.band(0.9999)
    for bound, low, high in zip(made.estimate.buckets.bounds.tolist(), band.low, band.high, strict=True):
        assert low <= sum(count for place, count in held if place < bound) <= high


@pytest.mark.long
@examples(40)
@given(
    st.sampled_from([(1,), (7,), (100,), (2**62,), (3, 5), (2**20, 2**30)]),
    st.lists(st.tuples(st.integers(0), st.sampled_from([1, 1000, 2**30, 2**42])), max_size=6),
    st.sampled_from(EPSILONS),
    st.data(),
)
def test_any_mechanism_at_the_edge_answers_in_finite_numbers_that_hold(shape, drawn, epsilon, data):
    size = math.prod(shape)
    mechanism = data.draw(st.sampled_from(NAMES if size < 2**20 else SPARSE))
    held = {place % size: count for place, count in drawn}
    made = release(
        shape, list(held), list(held.values()), epsilon, data.draw(st.integers(0, 2**32)), **quick(mechanism)
    )
    pairs = [sorted(data.draw(st.tuples(st.integers(0, side - 1), st.integers(0, side - 1)))) for side in shape]
    lo, hi = tuple(low for low, _ in pairs), tuple(high + 1 for _, high in pairs)
    places = {tuple(int(x) for x in np.unravel_index(place, shape)): count for place, count in held.items()}
    boxes = [(tuple(0 for _ in shape), shape), (lo, hi)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checked(made, [(box, truth_in(places.items(), *box)) for box in boxes])


def test_all_groups_together_hold_with_2_to_the_44_records():
    none = {"x": np.zeros(0, np.int64), "g": np.zeros(0, str)}
    first = dawa.release(none, Axis("x", 0, 64), epsilon="10000", by="g", groups=["a", "b", "c"], seed=0, effort="fast")
    counts = [many(64, 2**42, seed) for seed in range(3)]
    for seed in range(5):
        estimates = tuple(
            dawa.estimate(each, epsilon="10000", seed=10 * seed + i, effort="fast") for i, each in enumerate(counts)
        )
        made = replace(first, estimates=estimates)
        for lo, hi in ((0, 64), (3, 4), (10, 50)):
            found, truth = made.answer(lo, hi, CERTAIN), sum(int(each[lo:hi].sum()) for each in counts)
            assert found.low <= truth <= found.high
            part = made["b"].share(lo, hi, CERTAIN)
            assert part.low <= Fraction(int(counts[1][lo:hi].sum()), int(counts[1].sum())) <= part.high


@pytest.mark.parametrize("bits", [10, 40, 50, 62])
def test_the_noise_of_a_mean_is_that_of_its_weights_however_wide_the_axis(bits):
    """From the sum of values less x for every record: no digits of the covariance are lost."""
    made = release((2**bits,), [2 ** (bits - 1)], [10**6], "1", 0, mechanism="privtree")
    values = statistics.Values.of(made.axis, made.estimate.buckets.bounds)
    pair, mean = statistics._of_values(made.estimate, values, 0.95), made.mean()
    less = made.estimate.variances_of(statistics.weighted(values.middle - mean.value))[0]
    noise = pair.noise(mean.value) - pair.first.rounding - mean.value * pair.second.rounding
    assert noise == pytest.approx(pair.factor * math.sqrt(less), rel=1e-3)
    assert mean.low <= 2 ** (bits - 1) <= mean.high


def test_ordinary_margins_are_those_of_noise_alone():
    made = release((64,), [5, 20], [10**6, 300], "1", 0, mechanism="identity")
    assert made.estimate.rounding < 1e-8
    noise = made.answer(0, 64).noise_margin
    assert noise == pytest.approx(2.1629 * math.sqrt(made.variances([0], [64])[0]), rel=1e-3)
