"""Stretches of boxes, labels of cells and leaves of a kd-tree against slow twins, however often they need more room."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import boxes
from helpers.examples import examples
from helpers.grids import random_corners, random_shape, random_tiling

seeds = st.integers(0, 2**32)


def random_case(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    tiling = random_tiling(rng, shape, cuts=int(rng.choice([0, 3, 100])))
    return rng, shape, np.array(tiling.lo), np.array(tiling.hi)


def stretches(lo, hi, box_lo, box_hi):
    """The stretches of one query, box by box."""
    found = []
    for b in range(len(box_lo)):
        parts = np.maximum(np.minimum(hi, box_hi[b]) - np.maximum(lo, box_lo[b]), 0) / (box_hi[b] - box_lo[b])
        part = math.prod(parts.tolist())
        if part > 0 and found and found[-1][1:] == [b, part]:
            found[-1][1] = b + 1
        elif part > 0:
            found.append([b, b + 1, part])
    return found


@examples(100)
@given(seeds)
def test_stretches_are_those_of_boxes_one_by_one(seed):
    rng, shape, box_lo, box_hi = random_case(seed)
    lo, hi = random_corners(rng, shape, int(rng.integers(0, 6)))
    begin, *found = boxes.overlaps(lo, hi, box_lo, box_hi)
    expected = [stretches(*corners, box_lo, box_hi) for corners in zip(lo, hi, strict=True)]
    assert begin.tolist() == [0, *np.cumsum([len(each) for each in expected])]
    assert np.stack(found, axis=1).tolist() == [row for each in expected for row in each]


def test_no_boxes_have_no_stretches_and_no_labels():
    none = np.zeros((0, 2), np.int64)
    found = boxes.overlaps(np.zeros((2, 2)), np.ones((2, 2)), none, none)
    assert [each.tolist() for each in found] == [[0, 0, 0], [], [], []]
    assert boxes.labels(none, none, np.array([2, 3])).tolist() == [-1] * 6


@examples(100)
@given(seeds)
def test_cells_without_a_box_and_with_two_are_known(seed):
    rng, shape, lo, hi = random_case(seed)
    kept = rng.integers(0, len(lo), int(rng.integers(0, len(lo) + 2)))
    lo, hi = lo[kept], hi[kept]
    expected = np.full(shape, -1)
    for b in range(len(lo)):
        inside = tuple(map(slice, lo[b], hi[b]))
        expected[inside] = np.where(expected[inside] == -1, b, -2)
    assert boxes.labels(lo, hi, np.array(shape)).tolist() == expected.ravel().tolist()


def test_what_is_found_does_not_depend_on_the_room_there_is(monkeypatch):
    rng = np.random.default_rng(0)
    tiling = random_tiling(rng, (40, 30), cuts=400)
    asked = (*random_corners(rng, (40, 30), 20), np.array(tiling.lo), np.array(tiling.hi))
    grid = (rng.normal(0, 10, 1200), np.array([40, 30]), 1.0, 0.5)
    monkeypatch.setattr(boxes, "ROOM", 2**14)
    overlaps, leaves = boxes.overlaps(*asked), boxes.cut(*grid)
    assert 400 < len(overlaps[1]) < 2**14
    assert 400 < len(leaves[0]) < 2**14
    for room in (1, 32, 33, 100):
        monkeypatch.setattr(boxes, "ROOM", room)
        for one, other in zip(overlaps + leaves, boxes.overlaps(*asked) + boxes.cut(*grid), strict=True):
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1, 1), (1, 5), (5, 1), (37,), (3, 1, 4), (2, 3, 2, 3)])
def test_cells_that_all_differ_are_leaves_each(shape):
    size = math.prod(shape)
    lo, hi = boxes.cut(2.0 ** np.arange(size), np.array(shape), 0.0, 1.0)
    assert (hi - lo == 1).all()
    assert sorted(np.ravel_multi_index(lo.T, shape).tolist()) == list(range(size))


def test_arrays_of_any_type_and_order_are_taken():
    lo, hi = np.array([[0, 0], [0, 2]], np.int16), np.asfortranarray([[4, 2], [4, 4]]).astype(np.int32)
    shape = np.array([4, 4], np.uint8)
    assert boxes.labels(lo, hi, shape).tolist() == [0, 0, 1, 1] * 4
    found = boxes.overlaps(np.array([[0, 1]]), np.array([[4, 4]], order="F"), lo, hi)
    assert [each.tolist() for each in found] == [[0, 2], [0, 1], [1, 2], [0.5, 1]]
    cells = np.repeat([7, 1, 0], [32, 16, 16])[::4]
    assert boxes.cut(cells, shape, 0.0, 1.0)[1].tolist() == [[2, 4], [3, 4], [4, 4]]


def test_what_is_not_of_one_grid_is_refused():
    lo, hi = np.zeros((2, 2), np.int64), np.ones((2, 2), np.int64)
    with pytest.raises(InvariantError, match="not of one grid"):
        boxes.overlaps(lo[:, :1], hi[:, :1], lo, hi)
    with pytest.raises(InvariantError, match="not of one grid"):
        boxes.overlaps(lo, hi, lo, hi[:1])
    with pytest.raises(InvariantError, match="not of a grid"):
        boxes.labels(lo, hi, np.array([4]))
    with pytest.raises(InvariantError, match="not a grid"):
        boxes.cut(np.zeros(5), np.array([2, 3]), 1.0, 1.0)
