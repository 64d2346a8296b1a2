"""The line through all cells: every cell once, neighbours adjacent, and boxes as runs of it against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import WorkloadError
from dawa.layout import curve
from dawa.layout.curve import Order
from helpers.examples import examples
from helpers.grids import covered

shapes = st.one_of(
    st.tuples(st.integers(1, 40)),
    st.tuples(st.integers(1, 20), st.integers(1, 20)),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
    st.tuples(*[st.integers(1, 6)] * 4),
)


@st.composite
def boxes(draw, *, most=4):
    """A shape, and up to four boxes in it whose corners may cut cells."""
    shape = draw(shapes)
    corner = [st.integers(0, 4 * n).map(lambda quarter: quarter / 4) for n in shape]
    pairs = [st.tuples(side, side).filter(lambda pair: pair[0] != pair[1]).map(sorted) for side in corner]
    listed = np.array(draw(st.lists(st.tuples(*pairs), min_size=1, max_size=most)))
    return shape, listed[:, :, 0], listed[:, :, 1]


def check_curve(shape):
    """Every cell once, the next always beside it, and both directions inverse."""
    size = math.prod(shape)
    line = Order(shape)
    cells = line.cells(np.arange(size))
    assert (line.positions(cells) == np.arange(size)).all()
    assert (line.flat() == np.ravel_multi_index(cells.T, shape)).all()
    assert (np.sort(line.flat()) == np.arange(size)).all()
    assert (np.abs(np.diff(cells, axis=0)).sum(axis=1) == 1).all()


# --- the curve ------------------------------------------------------------------------------------------------------


def test_every_map_of_up_to_24_by_24_cells_has_a_curve_of_adjacent_cells():
    for shape in itertools.product(range(1, 25), repeat=2):
        check_curve(shape)


def test_every_box_of_up_to_9_by_9_by_9_cells_has_one():
    for shape in itertools.product(range(1, 10), repeat=3):
        check_curve(shape)


def test_every_box_of_four_axes_of_up_to_5_cells_has_one():
    for shape in itertools.product(range(1, 6), repeat=4):
        check_curve(shape)


@pytest.mark.parametrize(
    "shape", [(997, 613), (1, 5000), (3, 4096), (4096, 3), (100, 21, 33), (2, 301, 40), (31, 7, 19, 12)]
)
def test_larger_and_lopsided_ones_have_one(shape):
    check_curve(shape)


@pytest.mark.parametrize(
    "shape",
    [(2**31, 2**31), (2**31 - 1, 2**31 - 3), (2**58, 16), (3, 2**59), (2**20, 2**21 - 1, 999_999), (40_000,) * 4],
)
def test_on_huge_domains_both_directions_are_inverse_and_neighbours_adjacent(shape):
    size, rng = math.prod(shape), np.random.default_rng(0)
    places = np.concatenate((rng.integers(0, size - 1, 2000), [0, 1, size - 2]))
    line = Order(shape)
    here, there = line.cells(places), line.cells(places + 1)
    assert ((here >= 0) & (here < np.array(shape))).all()
    assert (line.positions(here) == places).all()
    assert (np.abs(there - here).sum(axis=1) == 1).all()
    cells = np.stack([rng.integers(0, n, 2000) for n in shape], axis=1)
    assert (line.cells(line.positions(cells)) == cells).all()


@pytest.mark.parametrize("side", [2, 4, 8, 32, 128])
def test_dyadic_stretches_are_the_squares_of_a_quadtree(side):
    cells = Order((side, side)).cells(np.arange(side**2))
    width = side
    while width > 1:
        width //= 2
        stretches = cells.reshape(-1, width**2, 2)
        assert (np.ptp(stretches, axis=1) == width - 1).all()
        assert (stretches.min(axis=1) % width == 0).all()


def test_one_axis_is_its_own_line():
    line = Order((7,))
    assert line.straight
    assert not Order((7, 1)).straight
    assert line.positions(np.array([[3], [0]])).tolist() == [3, 0]
    assert line.cells(np.array([3, 0])).tolist() == [[3], [0]]
    assert line.flat().tolist() == list(range(7))


def test_the_list_of_all_cells_does_not_change():
    with pytest.raises(ValueError, match="read-only"):
        Order((3, 5)).flat()[0] = 1


# --- runs -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
@examples(300)
@given(boxes())
def test_runs_equal_brute_force(case):
    shape, lo, hi = case
    first, start, stop, weight = Order(shape).runs(lo, hi)
    assert (first[0], first[-1]) == (0, len(start))
    for q in range(len(lo)):
        found = np.zeros(math.prod(shape))
        for r in range(first[q], first[q + 1]):
            found[start[r] : stop[r]] += weight[r]
        expected = covered(lo[q], hi[q], shape).ravel()[Order(shape).flat()]
        assert found.tolist() == expected.tolist(), "quarters of cells multiply exactly"


@examples(150)
@given(boxes())
def test_runs_are_sorted_disjoint_and_as_few_as_can_be(case):
    shape, lo, hi = case
    first, start, stop, weight = Order(shape).runs(lo, hi)
    assert (start < stop).all()
    assert ((weight > 0) & (weight <= 1)).all()
    for q in range(len(lo)):
        mine = slice(first[q], first[q + 1])
        line = covered(lo[q], hi[q], shape).ravel()[Order(shape).flat()]
        changes = np.flatnonzero(np.diff(np.concatenate(([0.0], line, [0.0]))))
        ends = np.unique(np.concatenate((start[mine], stop[mine])))
        assert (stop[mine][:-1] <= start[mine][1:]).all()
        assert ends.tolist() == changes.tolist(), "a run ends only where the weight changes"


@pytest.mark.parametrize("seed", range(8))
def test_runs_of_larger_boxes_equal_brute_force(seed):
    """With more runs than are held at first, and corners anywhere."""
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(2, 5))
    shape = tuple(rng.integers(*{2: (60, 200), 3: (12, 30), 4: (6, 13)}[axes], axes).tolist())
    ends = np.sort(rng.uniform(0, 1, (40, axes, 2)), axis=2) * np.array(shape)[:, None]
    ends[:20] = np.rint(ends[:20])
    ends[:20, :, 1] = np.minimum(ends[:20, :, 1] + 1, np.array(shape))
    ends[:20, :, 0] = np.minimum(ends[:20, :, 0], ends[:20, :, 1] - 1)
    lo, hi = ends[:, :, 0], ends[:, :, 1]
    first, start, stop, weight = Order(shape).runs(lo, hi)
    assert len(start) > 1024
    for q in range(len(lo)):
        found = np.zeros(math.prod(shape))
        for r in range(first[q], first[q + 1]):
            found[start[r] : stop[r]] += weight[r]
        expected = covered(lo[q], hi[q], shape).ravel()[Order(shape).flat()]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_squares_of_the_quadtree_are_one_run_each_even_on_huge_domains():
    side, rng = 2**30, np.random.default_rng(1)
    height = rng.integers(0, 30, 50)
    width = 2.0**height
    corner = np.stack([rng.integers(0, 2 ** (30 - height)) * width for _ in range(2)], axis=1)
    first, start, stop, weight = Order((side, side)).runs(corner, corner + width[:, None])
    assert (np.diff(first) == 1).all()
    assert ((stop - start) == width**2).all()
    assert (weight == 1).all()


def test_a_box_costs_its_edge_and_not_its_area():
    first, start, stop, _ = Order((2**20, 2**20)).runs(np.array([[3, 5]]), np.array([[1003, 2**20 - 5]]))
    assert (stop - start).sum() == 1000 * (2**20 - 10)
    assert len(start) < 2**20
    assert first.tolist() == [0, len(start)]


def test_boxes_with_too_many_runs_are_refused_before_they_fill_the_memory(monkeypatch):
    lo, hi = np.array([[1, 1], [2, 2]]), np.array([[60, 60], [50, 61]])
    runs = len(Order((64, 64)).runs(lo, hi)[1])
    monkeypatch.setattr(curve, "MOST_RUNS", runs)
    assert len(Order((64, 64)).runs(lo, hi)[1]) == runs
    monkeypatch.setattr(curve, "MOST_RUNS", runs - 1)
    with pytest.raises(WorkloadError, match="Hint:"):
        Order((64, 64)).runs(lo, hi)


# --- runs where only buckets matter ---------------------------------------------------------------------------------


@pytest.mark.long
@examples(150)
@given(boxes(), st.data())
def test_inside_buckets_only_the_sum_of_weights_is_kept(case, data):
    shape, lo, hi = case
    size = math.prod(shape)
    bounds = np.array(sorted({0, size} | data.draw(st.sets(st.integers(1, size), max_size=6))))
    first, start, stop, weight = Order(shape).runs(lo, hi, bounds)
    for q in range(len(lo)):
        mine = slice(first[q], first[q + 1])
        assert (stop[mine][:-1] <= start[mine][1:]).all()
        found = np.zeros(size)
        for r in range(first[q], first[q + 1]):
            found[start[r] : stop[r]] += weight[r]
        line = covered(lo[q], hi[q], shape).ravel()[Order(shape).flat()]
        sums = np.add.reduceat(line, bounds[:-1])
        np.testing.assert_allclose(np.add.reduceat(found, bounds[:-1]), sums, rtol=1e-9, atol=1e-9)
        assert ((np.add.reduceat(found, bounds[:-1]) == np.diff(bounds)) == (sums == np.diff(bounds))).all()


def test_few_buckets_on_a_huge_domain_cost_few_runs():
    rng, side = np.random.default_rng(2), 2**30
    bounds = np.unique(np.concatenate(([0, side**2], rng.integers(0, side**2, 100))))
    ends = np.sort(rng.integers(0, side, (20, 2, 2)), axis=2)
    lo, hi = ends[:, :, 0], ends[:, :, 1] + 1
    first, start, stop, weight = Order((side, side)).runs(lo, hi, bounds)
    assert len(start) < 20 * 100 * 200
    areas = np.add.reduceat(weight * (stop - start), first[:-1])
    np.testing.assert_allclose(areas, np.prod((hi - lo).astype(float), axis=1), rtol=1e-9)
