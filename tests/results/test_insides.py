"""Smooth insides: totals are kept, running sums never fall, and slow, obvious twins say the same."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.errors import InvariantError, OptionError, ReleaseError
from dawa.layout.boxes import Boxes
from dawa.limits import MOST_CELLS_SMOOTHED
from dawa.partition.buckets import Buckets
from dawa.queries.bucket_queries import BucketQueries
from dawa.results import insides
from dawa.results.insides import Grid, Line
from helpers.examples import examples

heights = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))
some_buckets = st.lists(st.tuples(st.integers(1, 12), heights), min_size=1, max_size=12)


def line(buckets):
    """A line of buckets with these widths and totals."""
    widths, totals = (np.array(side) for side in zip(*buckets, strict=True))
    return Line.of(np.concatenate(([0], np.cumsum(widths))), totals.astype(np.float64))


def twin(bounds, totals):
    """Cells of a line from the definition: integrate the parabola that has both densities and the total."""
    k, cells = len(totals), []
    height = [total / (hi - lo) for total, (lo, hi) in zip(totals, itertools.pairwise(bounds), strict=True)]
    for b, (lo, hi) in enumerate(itertools.pairwise(bounds)):
        h, width = height[b], hi - lo
        inner = [math.sqrt(height[b - 1] * h) if b > 0 else None, math.sqrt(h * height[b + 1]) if b < k - 1 else None]
        for end in (0, 1):
            if inner[end] is None and inner[1 - end] is not None:
                other = inner[1 - end]
                grows = (h * h / other if other > 0 else math.inf) if other < h else 2 * h - other
                inner[end] = max(grows, 0)
        left, right = (h if end is None else min(end, 3 * h) for end in inner)
        if width == 1 or (left - h) * (right - h) >= 0 or min(abs(left - h), abs(right - h)) <= 1e-9 * h:
            left = right = h
        least = 3 * min(abs(left - h), abs(right - h))
        left, right = (h + max(-least, min(end - h, least)) for end in (left, right))
        for cell in range(width):
            a, z = cell / width, (cell + 1) / width
            # density(t) = left + slope·t + bend·t², with mean h
            bend = 3 * (left + right - 2 * h)
            slope = right - left - bend
            cells.append(width * (left * (z - a) + slope * (z**2 - a**2) / 2 + bend * (z**3 - a**3) / 3))
    return np.array(cells)


# --- along one axis -------------------------------------------------------------------------------------------------


@examples(200)
@given(some_buckets)
def test_cells_of_a_line_are_those_of_the_slow_twin(buckets):
    found = line(buckets)
    tolerance = 1e-6 * (1 + found.totals.max())
    expected = twin(found.bounds.tolist(), found.totals.tolist())
    np.testing.assert_allclose(found.cells, expected, rtol=1e-9, atol=tolerance)


@examples(200)
@given(some_buckets)
def test_totals_are_kept_and_running_sums_never_fall(buckets):
    found = line(buckets)
    borders = np.linspace(0, found.bounds[-1], 211)
    sums, scale = found.before(borders), 1 + found.totals.sum()
    assert (found.cells >= 0).all()
    assert (np.diff(sums) >= -1e-12 * scale).all()
    np.testing.assert_allclose(np.add.reduceat(found.cells, found.bounds[:-1]), found.totals, atol=1e-12 * scale)
    np.testing.assert_allclose(found.before(found.bounds), np.append(0, np.cumsum(found.totals)), atol=1e-12 * scale)


@examples(200)
@given(some_buckets)
def test_a_line_is_the_same_from_its_other_end(buckets):
    found, turned = line(buckets), line(buckets[::-1])
    np.testing.assert_allclose(turned.cells[::-1], found.cells, rtol=1e-9, atol=1e-9 * (1 + found.totals.max()))


@given(some_buckets, st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(buckets, factor):
    found, scaled = line(buckets), line([(width, total * factor) for width, total in buckets])
    np.testing.assert_allclose(scaled.cells, found.cells * factor, rtol=1e-6, atol=1e-9 * factor * found.totals.max())


@given(st.lists(st.integers(1, 12), min_size=1, max_size=12), st.floats(0, 100))
def test_equal_heights_stay_even(widths, height):
    found = line([(width, width * height) for width in widths])
    np.testing.assert_allclose(found.cells, height, rtol=1e-9)


def test_peaks_dips_and_single_cells_stay_even():
    found = line([(4, 4), (4, 80), (4, 8), (1, 3), (4, 40)])
    for b in (1, 3):
        assert (found.rise[b], found.fall[b]) == (0, 0)
    rising = line([(4, 4), (4, 16), (4, 64)])
    assert (np.diff(rising.cells) > 0).all()
    assert rising.density(np.array([1]), np.array([0.0, 1.0])).tolist() == [8, 32]


@examples(100)
@given(some_buckets, st.floats(0, 100))
def test_no_bucket_is_more_uneven_than_the_walk_would_leave_it(buckets, most):
    free = line(buckets)
    found = Line.of(free.bounds, free.totals, np.full(len(buckets), most))
    uneven = (np.abs(found.rise) + np.abs(found.fall)) / 4
    near = np.finfo(float).smallest_normal  # below, products are rounded to nothing
    assert (uneven <= most * (1 + 1e-9) + near).all()
    loose = (np.abs(free.rise) + np.abs(free.fall)) / 4 <= most
    np.testing.assert_array_equal(found.rise[loose], free.rise[loose])
    near = np.finfo(float).smallest_normal  # below, products are rounded to nothing
    np.testing.assert_allclose(found.rise * free.fall, found.fall * free.rise, rtol=1e-9, atol=near)


def test_cells_of_a_map_are_no_more_uneven_than_the_walk_would_leave_them():
    est = dawa.estimate(np.add.outer(hill(32), hill(24)), epsilon=0.2, seed=1, effort="fast")
    label = np.empty(est.size, int)
    label[est.buckets.order(est.shape)] = np.repeat(np.arange(len(est.buckets)), np.diff(est.buckets.bounds))
    even = (est.totals / np.diff(est.buckets.bounds))[label]
    uneven = np.bincount(label, np.abs(est.cells.ravel() - even))
    assert (uneven <= insides.tolerated(est.buckets) * (1 + 1e-9) + 1e-9).all()


@given(some_buckets, st.floats(0, 1), st.floats(0, 1))
def test_the_density_is_the_slope_of_the_running_sum(buckets, where, t):
    found = line(buckets)
    bucket, step = np.array([int(where * (len(buckets) - 1))]), 1e-4
    t = np.clip(t, step, 1 - step)
    slope = (found.part(bucket, t + step) - found.part(bucket, t - step)) / (2 * step)
    np.testing.assert_allclose(found.density(bucket, t), slope, rtol=1e-4, atol=1e-6 * (1 + found.totals.max()))


@given(some_buckets)
def test_the_moved_records_add_up(buckets):
    found = line(buckets)
    even = np.repeat(found.totals / np.diff(found.bounds), np.diff(found.bounds))
    places = np.arange(found.bounds[-1]) + 0.5
    moved = np.add.reduceat(places * (found.cells - even), found.bounds[:-1])
    np.testing.assert_allclose(found.moved(), moved, atol=1e-8 * (1 + found.totals.max()) * found.bounds[-1])


@given(some_buckets, st.integers(0, 2**32))
def test_drawn_places_are_those_of_the_running_sum(buckets, seed):
    found = line(buckets)
    even = np.random.default_rng(seed).uniform(0, found.bounds[-1], 50)
    bucket = np.clip(np.searchsorted(found.bounds, even, side="right") - 1, 0, len(found.totals) - 1)
    start, width = found.bounds[bucket], np.diff(found.bounds)[bucket]
    moved = start + width * found.moved_parts(bucket, (even - start) / width)
    wanted = np.interp(even, found.bounds, found.below)
    np.testing.assert_allclose(found.before(moved), wanted, atol=1e-9 * (1 + found.below[-1]))
    order = np.argsort(even)
    assert (np.diff(moved[order]) >= 0).all()


@given(some_buckets.filter(lambda buckets: sum(total for _, total in buckets) > 0), st.floats(0, 1))
def test_the_cell_of_a_quantile_is_found_by_counting(buckets, fraction):
    found = line(buckets)
    occupied = np.flatnonzero(found.totals > 0)
    bucket = int(occupied[np.searchsorted(found.below[occupied + 1], fraction * found.below[-1])])
    wanted = fraction * float(found.below[-1])
    cell, part = found.holding(bucket, wanted)
    borders = np.arange(found.bounds[bucket], found.bounds[bucket + 1] + 1)
    first = borders[1:][found.before(borders)[1:] >= wanted * (1 - 1e-12) - 1e-12]
    assert cell + 1 == first[0] or found.before(np.array([cell + 1]))[0] == pytest.approx(wanted)
    assert 0 <= part <= 1


def test_a_line_costs_no_cells():
    bounds = np.array([0, 2**40, 2**61, 2**62])
    found = Line.of(bounds, np.array([5.0, 7, 1]))
    assert found.before(np.array([0, 2**61, 2**62])).tolist() == [0, 12, 13]
    assert 0 < found.before(np.array([2**39]))[0] < 5


# --- on several axes ------------------------------------------------------------------------------------------------

SHAPES = [(5, 4), (1, 6), (8, 8), (3, 4, 2), (2, 3, 2, 2)]


def mapped(shape, seed):
    """Buckets along the curve, and totals, some of which are 0."""
    rng = np.random.default_rng(seed)
    size = math.prod(shape)
    bounds = np.concatenate(([0], np.sort(rng.choice(np.arange(1, size), min(4, size - 1), replace=False)), [size]))
    totals = rng.gamma(1, 50, len(bounds) - 1) * (rng.random(len(bounds) - 1) > 0.2)
    return Buckets(bounds), totals


def slowly(shape, buckets, totals):
    """The same with whole arrays, each axis by itself."""
    label = np.empty(math.prod(shape), int)
    label[buckets.order(shape)] = np.repeat(np.arange(len(buckets)), np.diff(buckets.bounds))
    label = label.reshape(shape)
    cells = (totals / np.diff(buckets.bounds))[label]
    for _ in range(insides.ROUNDS):
        around = cells.copy()
        for axis in range(len(shape)):
            padded = np.pad(cells, [(1, 1) if axis == i else (0, 0) for i in range(len(shape))], mode="edge")
            around += np.take(padded, range(shape[axis]), axis) + np.take(padded, range(2, shape[axis] + 2), axis)
        around /= 2 * len(shape) + 1
        sums = np.bincount(label.ravel(), around.ravel(), len(buckets))
        cells = around * np.divide(totals, sums, out=np.zeros(len(buckets)), where=sums > 0)[label]
    return cells, label


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_a_grid_is_that_of_the_slow_twin_and_keeps_totals(shape, seed):
    buckets, totals = mapped(shape, seed)
    found = Grid.of(shape, buckets, totals).cells
    expected, label = slowly(shape, buckets, totals)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert (found >= 0).all()
    np.testing.assert_allclose(np.bincount(label.ravel(), found.ravel(), len(buckets)), totals, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_grid_of_equal_heights_stays_even(shape):
    buckets, _ = mapped(shape, 0)
    found = Grid.of(shape, buckets, 3.0 * np.diff(buckets.bounds)).cells
    np.testing.assert_allclose(found, 3, rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_boxes_of_a_grid_are_sums_of_cells(shape):
    buckets, totals = mapped(shape, 1)
    grid = Grid.of(shape, buckets, totals)
    rng = np.random.default_rng(3)
    corners = np.sort(np.stack([rng.integers(0, n + 1, (30, 2)) for n in shape], axis=1), axis=2)
    cut = np.sort(np.stack([rng.uniform(0, n, (30, 2)) for n in shape], axis=1), axis=2)
    for lo, hi in ((corners[..., 0], corners[..., 1]), (cut[..., 0], cut[..., 1])):
        covered = [
            np.clip(np.minimum(hi[:, i, None], np.arange(n) + 1) - np.maximum(lo[:, i, None], np.arange(n)), 0, 1)
            for i, n in enumerate(shape)
        ]
        for q, found in enumerate(grid.between(lo.astype(float), hi.astype(float))):
            weight = np.ones(())
            for part in covered:
                weight = np.multiply.outer(weight, part[q])
            assert found == pytest.approx((grid.cells * weight).sum(), rel=1e-9, abs=1e-9 * (1 + totals.sum()))


# --- as part of an estimate -----------------------------------------------------------------------------------------


def hill(n=256):
    rng = np.random.default_rng(4)
    return rng.poisson(40 * np.exp(-(((np.arange(n) - n / 3) / (n / 8)) ** 2)))


def estimates(counts, **options):
    """The same estimate with both insides."""
    return [dawa.estimate(counts, epsilon=0.2, seed=1, effort="fast", inside=how, **options) for how in insides.INSIDES]


@pytest.mark.parametrize("counts", [hill(), np.add.outer(hill(32), hill(24))], ids=["line", "map"])
def test_totals_and_what_cuts_no_bucket_stay(counts):
    even, smooth = estimates(counts)
    assert (even.inside, smooth.inside) == insides.INSIDES
    np.testing.assert_array_equal(even.totals, smooth.totals)
    assert smooth.cells.sum() == pytest.approx(even.cells.sum())
    assert not np.allclose(smooth.cells, even.cells), "it makes a difference"
    label = np.empty(counts.size, int)
    label[even.buckets.order(counts.shape)] = np.repeat(np.arange(len(even.buckets)), np.diff(even.buckets.bounds))
    for cells in (even.cells, smooth.cells):
        np.testing.assert_allclose(np.bincount(label, cells.ravel()), even.totals, atol=1e-9 * even.totals.sum())


@pytest.mark.parametrize("counts", [hill(), np.add.outer(hill(32), hill(24))], ids=["line", "map"])
def test_answers_are_sums_of_cells(counts):
    smooth = estimates(counts)[1]
    asked = dawa.workloads.uniform(256, 50) if counts.ndim == 1 else dawa.workloads.random_rectangles(counts.shape, 50)
    expected = asked.answers(smooth.cells)
    np.testing.assert_allclose(smooth.answers(asked), expected, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(smooth.totals_of(smooth.buckets.queries(asked)), expected, rtol=1e-9, atol=1e-6)
    every = dawa.workloads.identity(256 if counts.ndim == 1 else counts.shape)
    np.testing.assert_allclose(smooth.answers(every), smooth.cells.ravel(), atol=1e-6)


def test_queries_of_several_runs_know_where_they_cut():
    smooth = estimates(hill())[1]
    runs = dawa.Workload.runs([0, 2, 3], [3, 90, 7], [11, 101, 250], [1, 2, 0.5], 256)
    np.testing.assert_allclose(smooth.answers(runs), runs.answers(smooth.cells), rtol=1e-9)
    with pytest.raises(InvariantError, match="corners"):
        smooth.totals_of(smooth.buckets.queries(runs))
    lo, hi = np.array([0.25, 1.5]), np.array([2.0, 3.75])
    borders = (np.interp(end, np.arange(len(smooth.buckets) + 1), smooth.buckets.bounds) for end in (hi, lo))
    expected = smooth.placed.before(next(borders)) - smooth.placed.before(next(borders))
    np.testing.assert_allclose(smooth.totals_of(BucketQueries.of_runs(len(smooth.buckets), lo, hi)), expected)


def test_the_default_is_smooth_where_no_total_is_negative():
    assert dawa.estimate(hill(), epsilon=0.2, seed=1, effort="fast").inside == "smooth"
    assert dawa.estimate(hill(), epsilon=0.2, seed=1, effort="fast", postprocess="none").inside == "even"
    single = dawa.estimate(hill(), epsilon=0.2, seed=1, effort="fast", partition="none")
    assert (single.inside, single.options["inside"]) == ("even", "even")
    assert dawa.estimate(hill(), epsilon=0.2, seed=1, mechanism="php").inside == "even"


def test_what_cannot_be_smooth_is_refused():
    with pytest.raises(OptionError, match="not negative"):
        dawa.estimate(hill(), epsilon=1, inside="smooth", postprocess="none")
    with pytest.raises(OptionError, match="no inside"):
        dawa.estimate(hill(), epsilon=1, inside="rough")
    wide = (2 * MOST_CELLS_SMOOTHED, 1)
    with pytest.raises(OptionError, match="too many"):
        dawa.release(
            {"x": [1], "y": [0]}, [dawa.Axis("x", 0, wide[0]), dawa.Axis("y", 0, 1)], epsilon=1, inside="smooth"
        )
    assert not insides.smoothable(wide, Buckets(np.array([0, 3, math.prod(wide)])))
    assert not insides.smoothable((6,), Buckets(np.array([0, 6]), boxes=Boxes(np.array([[0]]), np.array([[6]]))))


def released(**options):
    values = np.repeat(np.arange(256), hill())
    return dawa.release({"x": values}, dawa.Axis("x", 0, 256), epsilon="0.2", seed=1, effort="fast", **options)


def test_quantiles_means_and_samples_have_the_same_insides():
    rel = released()
    cells = rel.estimate.cells
    assert rel.estimate.inside == "smooth"
    sums = np.cumsum(cells)
    for fraction in (0.1, 0.25, 0.5, 0.9):
        assert rel.quantile(fraction).value == np.searchsorted(sums, fraction * sums[-1] * (1 - 1e-12))
    mean = (np.arange(256) * cells).sum() / cells.sum()
    assert rel.mean().value == pytest.approx(mean)
    drawn = rel.sample(200_000, seed=1)
    assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / math.sqrt(len(drawn)))
    seen = np.bincount(drawn.astype(int), minlength=256) / len(drawn)
    chance = cells / cells.sum()
    assert (np.abs(seen - chance) <= 6 * np.sqrt(chance / len(drawn)) + 1e-9).all()
    assert rel.share(100, 130).value == pytest.approx(cells[100:130].sum() / cells.sum())


def test_the_mean_over_uneven_edges_is_that_of_the_cells():
    cuts = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    values = np.repeat([0.5, 1.5, 3, 6, 12, 24, 48, 96, 192, 384], [1, 3, 9, 30, 90, 300, 90, 30, 9, 3])
    rel = dawa.release({"x": values}, dawa.Axis.edges("x", cuts), epsilon=1, seed=2, partition=[0, 3, 7, 10])
    assert rel.estimate.inside == "smooth"
    middles = (np.array(cuts[1:]) + np.array(cuts[:-1])) / 2
    assert rel.mean().value == pytest.approx((middles * rel.estimate.cells).sum() / rel.estimate.cells.sum())


def test_samples_of_a_map_are_drawn_from_its_cells():
    rng = np.random.default_rng(5)
    table = {name: rng.normal(8, 3, 4000).clip(0, 15.9) for name in ("x", "y")}
    rel = dawa.release(table, [dawa.Axis(name, 0, 16) for name in table], epsilon="0.3", seed=1, effort="fast")
    assert rel.estimate.inside == "smooth"
    drawn = rel.sample(100_000, seed=2).astype(int)
    seen = np.bincount(np.ravel_multi_index(tuple(drawn.T), (16, 16)), minlength=256) / len(drawn)
    chance = rel.estimate.cells.ravel() / rel.estimate.cells.sum()
    assert (np.abs(seen - chance) <= 6 * np.sqrt(chance / len(drawn)) + 1e-9).all()


def test_the_interval_is_that_of_the_even_form_widened_to_the_value():
    rel = released()
    even = replace(rel, estimate=replace(rel.estimate, inside="even"))
    for lo in range(0, 240, 7):
        one, other = rel.answer(lo, lo + 13), even.answer(lo, lo + 13)
        assert (one.measured, one.noise_margin, one.bias_bound) == (
            other.measured,
            other.noise_margin,
            other.bias_bound,
        )
        low, high = (
            max(one.measured - one.noise_margin - one.bias_bound, 0),
            max(one.measured + one.noise_margin + one.bias_bound, 0),
        )
        assert (one.low, one.high) == (min(low, one.value), max(high, one.value))


@pytest.mark.parametrize("axes", [1, 2])
def test_a_file_says_which_form_it_has(tmp_path, axes):
    rng = np.random.default_rng(6)
    table = {name: rng.normal(20, 6, 3000).clip(0, 39) for name in ("x", "y")[:axes]}
    along = [dawa.Axis(name, 0, 40) for name in table]
    rel = dawa.release(table, along, epsilon="0.2", seed=1, effort="fast")
    again = dawa.load(rel.save(tmp_path / "release.json"))
    assert again.estimate.inside == rel.estimate.inside == rel.to_json()["buckets"]["inside"] == "smooth"
    np.testing.assert_array_equal(again.estimate.cells, rel.estimate.cells)
    ends = ((3, 17),) * axes
    lo, hi = zip(*ends, strict=True)
    assert again.answer(list(lo), list(hi)) == rel.answer(list(lo), list(hi))
    plain = rel.to_json()
    del plain["buckets"]["inside"]
    (tmp_path / "even.json").write_text(json.dumps(plain))
    assert dawa.load(tmp_path / "even.json").estimate.inside == "even"
    for broken in ({"inside": "rough"}, {"totals": [-1.0, *plain["buckets"]["totals"][1:]], "inside": "smooth"}):
        data = {**plain, "buckets": {**plain["buckets"], **broken}}
        (tmp_path / "broken.json").write_text(json.dumps(data))
        with pytest.raises(ReleaseError, match="inside"):
            dawa.load(tmp_path / "broken.json")
