"""Boxes that tile a grid: as buckets, and as what rectangles cover of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.layout import boxes as boxes_module
from dawa.layout.boxes import Boxes
from dawa.layout.curve import Order
from dawa.partition.buckets import Buckets
from dawa.queries.bucket_queries import BucketQueries, Closed
from dawa.queries.workload import Workload
from helpers.dense import gram_of
from helpers.examples import examples
from helpers.grids import covered, random_corners, random_map, random_shape, random_tiling

seeds = st.integers(0, 2**32)


def labelled(boxes, shape):
    """The box of every cell, box by box."""
    found = np.full(shape, -1)
    for b, (lo, hi) in enumerate(zip(boxes.lo, boxes.hi, strict=True)):
        found[tuple(slice(*pair) for pair in zip(lo, hi, strict=True))] = b
    return found


def random_case(seed, **options):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    return rng, shape, random_tiling(rng, shape, **options)


@examples(100)
@given(seeds)
def test_every_cell_has_the_label_of_its_box(seed):
    _, shape, boxes = random_case(seed)
    assert boxes.labels(shape).tolist() == labelled(boxes, shape).ravel().tolist()
    sizes = np.bincount(boxes.labels(shape), minlength=len(boxes))
    assert boxes.bounds.tolist() == [0, *np.cumsum(sizes)]


@examples(100)
@given(seeds)
def test_rectangles_take_each_box_in_proportion(seed):
    rng, shape, boxes = random_case(seed)
    lo, hi = random_corners(rng, shape, 8)
    found = BucketQueries.of_boxes(boxes, lo, hi)
    owner = labelled(boxes, shape).ravel()
    for i in range(8):
        inside = np.bincount(owner, covered(lo[i], hi[i], shape).ravel(), minlength=len(boxes))
        np.testing.assert_allclose(found.dense()[i], inside / np.diff(boxes.bounds), rtol=1e-9, atol=1e-12)
    assert (len(found), found.buckets, found.total) == (8, len(boxes), 8)
    assert (np.diff(found.first) > 0).all()


def test_neighbouring_boxes_that_are_covered_alike_make_one_stretch():
    lo = np.array([[0, i] for i in range(6)])
    boxes = Boxes(lo, lo + np.array([4, 1]))
    found = BucketQueries.of_boxes(boxes, np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[4.0, 6.0], [3.0, 5.0]]))
    assert found.first.tolist() == [0, 1, 2]
    assert (found.lo.tolist(), found.hi.tolist(), found.weight.tolist()) == ([0, 1], [6, 5], [1, 0.5])


def test_more_stretches_than_are_held_at_first():
    n = 80
    cells = np.stack(np.unravel_index(np.random.default_rng(0).permutation(n * n), (n, n)), axis=1)
    found = BucketQueries.of_boxes(Boxes(cells, cells + 1), np.array([[0.0, 0.0]]), np.array([[n, n / 2]]))
    assert len(found.lo) > 1024
    expected = covered([0, 0], [n, n / 2], (n, n))[tuple(cells.T)]
    np.testing.assert_array_equal(found.dense()[0], expected)


# --- as a partition -------------------------------------------------------------------------------------------------


@examples(60)
@given(seeds)
def test_as_buckets_they_hold_the_records_of_their_cells(seed):
    rng, shape, boxes = random_case(seed)
    cells = random_map(rng, shape)
    partition = Buckets(boxes.bounds, boxes=boxes)
    totals = partition.totals(Counts.of(cells).exposed, shape)
    sums = [cells[tuple(map(slice, lo, hi))].sum() for lo, hi in zip(boxes.lo, boxes.hi, strict=True)]
    assert totals.dtype == np.int64
    assert totals.tolist() == sums


@examples(60)
@given(seeds)
def test_their_cells_are_lined_up_one_box_after_the_other(seed):
    rng, shape, boxes = random_case(seed)
    partition = Buckets(boxes.bounds, boxes=boxes)
    order = partition.order(shape)
    assert sorted(order.tolist()) == list(range(int(np.prod(shape))))
    owner = labelled(boxes, shape).ravel()[order]
    assert owner.tolist() == np.repeat(np.arange(len(boxes)), np.diff(boxes.bounds)).tolist()
    places = rng.integers(0, len(order), 20)
    assert (np.ravel_multi_index(partition.cells(places, shape).T, shape) == order[places]).all()


@examples(60)
@given(seeds)
def test_without_boxes_buckets_are_stretches_of_the_curve(seed):
    rng, shape, _ = random_case(seed)
    cells, n = random_map(rng, shape), int(np.prod(shape))
    bounds = np.unique(np.concatenate(([0, n], rng.integers(0, n + 1, 5))))
    partition = Buckets(bounds)
    line = cells.ravel()[Order(shape).flat()]
    assert partition.totals(Counts.of(cells).exposed, shape).tolist() == np.add.reduceat(line, bounds[:-1]).tolist()
    assert partition.order(shape).tolist() == Order(shape).flat().tolist()
    places = rng.integers(0, n, 20)
    assert (np.ravel_multi_index(partition.cells(places, shape).T, shape) == Order(shape).flat()[places]).all()


@examples(40)
@given(seeds)
def test_a_workload_of_every_cell_needs_no_list_on_boxes(seed):
    _, shape, boxes = random_case(seed)
    partition, workload = Buckets(boxes.bounds, boxes=boxes), Workload.named(Closed.CELLS, shape)
    listed = workload.enumerated()
    closed = partition.queries(workload)
    if len(shape) > 1:
        np.testing.assert_allclose(gram_of(closed), gram_of(partition.queries(listed)), rtol=1e-9, atol=1e-12)
    assert closed.total == len(listed)


def test_boxes_are_not_merged():
    boxes = Boxes(np.array([[0, 0], [0, 2]]), np.array([[4, 2], [4, 4]]))
    partition = Buckets(boxes.bounds, boxes=boxes)
    assert partition.merged(Workload.rectangles([[0, 0]], [[4, 4]], (4, 4))) is partition


def test_an_estimate_on_boxes_answers_what_its_cells_add_up_to():
    rng = np.random.default_rng(4)
    for _ in range(20):
        shape = random_shape(rng)
        boxes = random_tiling(rng, shape, cuts=12)
        partition = Buckets(boxes.bounds, boxes=boxes)
        lo, hi = random_corners(rng, shape, 10)
        workload = Workload.rectangles(lo, hi, shape)
        est = dawa.estimate(random_map(rng, shape), workload, epsilon=1, seed=1, partition=partition)
        sums = np.stack([covered(a, b, shape) for a, b in zip(lo, hi, strict=True)])
        expected = (sums * est.cells).reshape(10, -1).sum(axis=1)
        np.testing.assert_allclose(est.answers(workload), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(workload.answers(est.cells), expected, rtol=1e-9, atol=1e-9)


# --- wrong ones -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lo", "hi"),
    [
        ([[0, 0]], [[3, 4]]),
        ([[0, 0], [2, 0]], [[3, 5], [4, 5]]),
        ([[0, 0], [0, 0]], [[4, 5], [1, 1]]),
        ([[0, 0]], [[4, 6]]),
        ([[-1, 0]], [[4, 5]]),
        ([[0, 0], [4, 0]], [[4, 5], [4, 5]]),
        ([[0, 0], [3, 0]], [[4, 5], [2, 5]]),
    ],
    ids=["too few", "overlap", "twice", "beyond", "before", "empty", "reversed"],
)
def test_what_does_not_tile_the_grid_is_refused(lo, hi):
    with pytest.raises(OptionError, match="Hint:"):
        Boxes(np.array(lo), np.array(hi)).labels((4, 5))


def test_grids_too_large_to_list_are_refused(monkeypatch):
    monkeypatch.setattr(boxes_module, "MOST_CELLS_LISTED", 19)
    with pytest.raises(OptionError, match="Hint:"):
        Boxes(np.array([[0, 0]]), np.array([[4, 5]])).labels((4, 5))
