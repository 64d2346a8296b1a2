"""The tree of boxes: medians by enumeration of every sequence of cuts, boxes and queries against brute force."""

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa.counts import Counts
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.limits import MOST_CELLS_LISTED
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from dawa.partition import kd_tree
from dawa.partition.kd_tree import KdTree, cut_scores, medians, parameters_for
from dawa.queries.bucket_queries import BucketQueries
from helpers.examples import examples


def grown(counts, options, epsilon=1, seed=0):
    counts = np.asarray(counts)
    exposed = Counts.of(counts).exposed
    return options.choose_boxes(exposed, counts.shape, Fraction(epsilon), Seeded(seed))


# --- scores ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=20), st.data())
def test_scores_say_how_even_a_cut_is_and_one_record_moves_them_by_one(along, data):
    scores = cut_scores(np.array(along))
    assert scores.tolist() == [-abs(sum(along[:i]) - sum(along[i:])) for i in range(1, len(along))]
    more = list(along)
    more[data.draw(st.integers(0, len(along) - 1))] += 1
    assert np.abs(cut_scores(np.array(more)) - scores).max() == 1


# --- exact privacy on small grids -----------------------------------------------------------------------------------


def log_softmax(scores, scale):
    powers = scores / float(scale)
    return powers - np.logaddexp.reduce(powers)


def outcomes(cells, levels, scale):
    """Every sequence of cuts with its log-chance, box by box: a slow twin of ``medians``."""

    def divided(boxes, axis):
        """All ways to cut every one of these boxes along an axis."""
        ways = []
        for lo, hi in boxes:
            if hi[axis] - lo[axis] == 1:
                ways.append([(0.0, [(lo, hi)])])
                continue
            inside = cells[tuple(map(slice, lo, hi))]
            along = np.moveaxis(inside, axis, 0).reshape(inside.shape[axis], -1).sum(axis=1)
            logs = log_softmax(np.array([-abs(along[:i].sum() - along[i:].sum()) for i in range(1, len(along))]), scale)
            places = range(lo[axis] + 1, hi[axis])
            middle = [[(*corner[:axis], at, *corner[axis + 1 :]) for corner in (lo, hi)] for at in places]
            ways.append([(log, [(lo, to), (at, hi)]) for log, (at, to) in zip(logs, middle, strict=True)])
        for chosen in itertools.product(*ways):
            yield sum(log for log, _ in chosen), [box for _, parts in chosen for box in parts]

    found = [(0.0, [((0,) * cells.ndim, cells.shape)])]
    for axis in list(range(cells.ndim)) * levels:
        found = [(log + more, parts) for log, boxes in found for more, parts in divided(boxes, axis)]
    return {tuple(boxes): log for log, boxes in found}


def worst_loss(shape, levels, scale, number):
    rng = np.random.default_rng(7)
    worst = 0.0
    for _ in range(number):
        cells = rng.integers(0, rng.integers(2, 12), shape) * rng.integers(0, 2, shape)
        more = cells.copy()
        more[tuple(rng.integers(0, side) for side in shape)] += 1
        one, two = outcomes(cells, levels, scale), outcomes(more, levels, scale)
        assert one.keys() == two.keys()
        worst = max(worst, *(abs(one[boxes] - two[boxes]) for boxes in one))
    return worst


@pytest.mark.parametrize(("shape", "levels"), [((3, 3), 1), ((4, 3), 2), ((6,), 2), ((2, 3, 2), 1), ((5, 1), 2)])
@pytest.mark.parametrize("epsilon", ["1", "8"])
def test_every_sequence_of_cuts_loses_at_most_the_share(shape, levels, epsilon):
    options = KdTree(share="1/2", levels=levels)
    plan = parameters_for(shape, Fraction(epsilon), options)
    assert plan.loss <= Fraction(epsilon) / 2
    worst = worst_loss(shape, levels, plan.scale, 40)
    assert worst <= float(plan.loss) + 1e-9
    assert worst > 0.2 * float(plan.loss)


def test_the_same_check_catches_a_scale_that_is_too_small():
    plan = parameters_for((4, 3), Fraction(8), KdTree(share="1/2", levels=2))
    assert worst_loss((4, 3), 2, plan.scale / 3, 40) > float(plan.loss)


def test_cuts_are_drawn_with_the_exact_chances():
    """Chi-square over all sequences of cuts; the bound fails by chance once in a million runs of a true sampler."""
    cells, draws = np.array([[3, 0, 1], [0, 5, 0], [2, 2, 0]]), 6000
    plan = parameters_for((3, 3), Fraction(2), KdTree(share="1/2", levels=1))
    exact = {boxes: math.exp(log) for boxes, log in outcomes(cells, 1, plan.scale).items()}
    assert sum(exact.values()) == pytest.approx(1)
    assert len(exact) == 2 * 2 * 2
    exposed, source, seen = Counts.of(cells).exposed, Seeded(3), defaultdict(int)
    for _ in range(draws):
        last = medians(exposed, (3, 3), 1, plan, source)[-1]
        seen[tuple((tuple(lo), tuple(hi)) for lo, hi in zip(last.lo.tolist(), last.hi.tolist(), strict=True))] += 1
    expected = draws * np.array(list(exact.values()))
    assert expected.min() > 5
    statistic = ((np.array([seen[boxes] for boxes in exact]) - expected) ** 2 / expected).sum()
    assert statistic < stats.chi2.isf(1e-6, len(exact) - 1)


@examples(60)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(0, 4),
    st.sampled_from(["1/1000", "0.1", "30", "100000"]),
    st.sampled_from(["1/20", "1/3", "0.9"]),
)
def test_the_loss_is_nearly_all_of_the_share_and_never_more(shape, levels, epsilon, share):
    options, epsilon = KdTree(share=share if levels else None, levels=levels), Fraction(epsilon)
    found = kd_tree.loss(tuple(shape), epsilon, options)
    most = options.share * epsilon if levels and max(shape) > 1 else 0
    assert most * Fraction(99_999, 100_000) <= found <= most
    assert grown(np.ones(shape, int), options, epsilon).spent == most


def test_scales_that_lose_too_much_are_never_drawn_from(monkeypatch):
    monkeypatch.setattr(discrete, "coarsened", lambda scale: scale * Fraction(999, 1000))
    with pytest.raises(InvariantError, match="more than the"):
        grown([[1, 2], [3, 4]], KdTree())


# --- boxes ----------------------------------------------------------------------------------------------------------

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)


@examples(100)
@given(shapes, st.integers(0, 3), st.one_of(st.none(), st.integers(3, 5)), st.integers(0, 2**32))
def test_boxes_tile_the_grid_and_inner_nodes_hold_the_boxes_below_them(shape, levels, height, seed):
    counts = np.random.default_rng(seed).poisson(3, shape)
    found = grown(counts, KdTree(levels=levels, height=height), seed=seed)
    labels = found.order(shape) if len(shape) > 1 else np.arange(counts.size)
    boxes = np.split(labels, found.bounds[1:-1])
    assert sorted(np.concatenate(boxes)) == list(range(counts.size))
    if height is None:
        assert len(found) == counts.size
    for start, stop, lo, hi in zip(found.start, found.stop, found.inner.lo, found.inner.hi, strict=True):
        assert stop - start > 1
        cells = np.arange(counts.size).reshape(shape)[tuple(map(slice, lo, hi))]
        assert sorted(np.concatenate(boxes[start:stop])) == sorted(cells.ravel())
    assert not dawa.layout.nesting.crossing(found.start, found.stop)
    exposed = Counts.of(counts).exposed
    assert found.totals(exposed, shape).tolist() == [counts.ravel()[box].sum() for box in boxes]


@examples(60)
@given(shapes.filter(lambda shape: len(shape) > 1), st.integers(0, 3), st.booleans(), st.integers(0, 2**32))
def test_queries_found_from_the_root_are_those_found_box_by_box(shape, levels, whole, seed):
    rng = np.random.default_rng(seed)
    found = grown(rng.poisson(3, shape), KdTree(levels=levels, height=max(levels, 3)), seed=seed)
    ends = np.sort(rng.uniform(0, 1, (10, 2, len(shape))), axis=1) * np.array(shape)
    if whole:
        ends = np.floor(ends) + np.array([0, 1])[None, :, None]
    workload = dawa.Workload.rectangles(ends[:, 0], ends[:, 1], shape)
    fast, slow = found.queries(workload), BucketQueries.of_boxes(found.boxes, *workload.boxes)
    np.testing.assert_allclose(fast.dense(), slow.dense(), rtol=1e-12)
    inside = np.ones(len(fast.lo), bool)
    inside[fast.first[:-1]] = False
    assert (fast.hi[:-1] <= fast.lo[1:])[inside[1:]].all(), "runs are sorted and disjoint"


def test_cuts_divide_the_records_evenly_where_the_budget_allows():
    counts = np.zeros((64, 64), int)
    counts[40:60, 5:25] = 50
    found = grown(counts, KdTree(levels=2, height=2), epsilon=10)
    totals = found.totals(Counts.of(counts).exposed, (64, 64))
    assert len(found) == 16
    assert totals.min() > 0.8 * counts.sum() / 16
    assert totals.max() < 1.2 * counts.sum() / 16


def test_without_medians_nothing_is_spent_and_boxes_are_halves():
    one, two = (grown(np.random.default_rng(seed).poisson(5, (8, 8)), KdTree(levels=0)) for seed in (1, 2))
    assert one.spent == one.spent_least == 0
    np.testing.assert_array_equal(one.boxes.lo, two.boxes.lo)
    assert one.boxes.lo[:4].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    widths = np.unique(one.inner.hi - one.inner.lo, axis=0)
    assert widths.tolist() == [[2, 2], [4, 4], [8, 8]]


@pytest.mark.parametrize(
    "cells", [np.zeros((9, 9), int), [[7]], [[0]], [[2**44, 0], [0, 2**44]], np.ones((1, 40), int)]
)
def test_extreme_counts(cells):
    found = grown(cells, KdTree(levels=3))
    assert found.bounds[-1] == np.size(cells)


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 0},
        {"share": 1},
        {"share": "1/4", "levels": 0},
        {"levels": -1},
        {"levels": 1.5},
        {"levels": True},
        {"levels": None},
        {"levels": 99},
        {"height": 1},
        {"height": "6"},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises((BudgetError, OptionError), match="Hint:"):
        KdTree(**wrong)


def test_options_are_read_as_they_were_written():
    assert KdTree(share=0.3, levels=np.int64(3), height=np.int64(5)) == replace(
        KdTree(), share=Fraction(3, 10), levels=3, height=5
    )


def test_too_many_cells_are_refused():
    exposed = Counts.of([[1, 2]]).exposed
    with pytest.raises(OptionError, match="Hint: use 'privtree'"):
        KdTree().choose_boxes(exposed, (2, MOST_CELLS_LISTED), Fraction(1), Seeded(0))
