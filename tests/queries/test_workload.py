"""Workloads: closed forms against their enumeration, runs against brute force, and every way to get one wrong."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import WorkloadError
from dawa.queries.bucket_queries import Closed, coordinates
from dawa.queries.workload import Workload
from dawa.workloads import all_ranges, identity, prefixes
from helpers.dense import gram_of
from helpers.examples import examples
from helpers.grids import covered, random_corners, random_shape

CLOSED = [identity, prefixes, all_ranges]
bounds = st.lists(st.integers(1, 7), min_size=1, max_size=10).map(lambda w: np.concatenate(([0], np.cumsum(w))))


@st.composite
def run_workloads(draw, most_cells=24):
    """A workload of up to five queries, each of up to four sorted runs that may touch but do not overlap."""
    n = draw(st.integers(1, most_cells))
    first, lo, hi, weight = [0], [], [], []
    for _ in range(draw(st.integers(1, 5))):
        ends = sorted(draw(st.sets(st.integers(0, n), min_size=2, max_size=8)))
        runs = [pair for pair in pairwise(ends) if draw(st.booleans())] or [(ends[0], ends[-1])]
        lo += [a for a, _ in runs]
        hi += [b for _, b in runs]
        weight += [draw(st.integers(-3, 3)) / 2 for _ in runs]
        first.append(len(lo))
    return Workload.runs(first, lo, hi, weight, n)


def matrix(workload):
    """One row per query, one column per cell: the obvious twin."""
    rows = np.zeros((len(workload), workload.size))
    for i in range(len(workload)):
        for r in range(workload.first[i], workload.first[i + 1]):
            rows[i, workload.lo[r] : workload.hi[r]] += workload.weight[r]
    return rows


def spread(bounds):
    """Cells from buckets, each bucket spread evenly."""
    widths = np.diff(bounds)
    return np.repeat(np.eye(len(widths)) / widths, widths, axis=0)


# --- closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", CLOSED)
@examples(40)
@given(bounds=bounds)
def test_closed_forms_have_the_gram_matrix_of_their_enumeration(make, bounds):
    workload = make(int(bounds[-1]))
    closed, one_by_one = workload.on_buckets(bounds), workload.enumerated().on_buckets(bounds)
    exact = (matrix(workload.enumerated()) @ spread(bounds)).T @ (matrix(workload.enumerated()) @ spread(bounds))
    np.testing.assert_allclose(gram_of(closed), exact, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gram_of(one_by_one), exact, rtol=1e-9, atol=1e-9)
    assert closed.total == one_by_one.total == len(workload)
    assert len(closed) <= 2 * closed.buckets + 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_enumeration_lists_every_query_once(n):
    everything = {(a, b) for a in range(n) for b in range(a + 1, n + 1)}
    expected = {
        identity: [(i, i + 1) for i in range(n)],
        prefixes: [(0, i + 1) for i in range(n)],
        all_ranges: sorted(everything),
    }
    for make, ranges in expected.items():
        listed = make(n).enumerated()
        assert list(zip(listed.lo.tolist(), listed.hi.tolist(), strict=True)) == ranges
        assert len(make(n)) == len(listed) == len(ranges)
        assert listed.enumerated() is listed


def test_large_closed_workloads_are_named_but_not_listed():
    assert len(all_ranges(2**20)) == 2**19 * (2**20 + 1)
    assert "over 1099511627776 cells" in repr(all_ranges(2**40)), "more queries than len() can return"
    with pytest.raises(WorkloadError, match="Hint:"):
        all_ranges(2**20).enumerated()
    with pytest.raises(WorkloadError, match="Hint:"):
        all_ranges(2**40).enumerated()


# --- runs -----------------------------------------------------------------------------------------------------------


@examples(60)
@given(run_workloads(), st.integers(0, 2**32))
def test_answers_equal_brute_force(workload, seed):
    cells = np.random.default_rng(seed).integers(0, 100, workload.size)
    expected = matrix(workload) @ cells
    np.testing.assert_allclose(workload.answers(cells), expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(workload.answers(cells.astype(np.float64)), expected, rtol=1e-12, atol=1e-9)


@examples(60)
@given(run_workloads(), st.data())
def test_on_buckets_a_query_takes_the_covered_part_of_each_bucket(workload, data):
    inner = data.draw(st.sets(st.integers(1, workload.size)))
    bounds = np.array(sorted({0, workload.size} | inner))
    queries = workload.on_buckets(bounds)
    np.testing.assert_allclose(queries.dense(), matrix(workload) @ spread(bounds), atol=1e-12)
    assert (len(queries), queries.total, queries.buckets) == (len(workload), len(workload), len(bounds) - 1)


@given(run_workloads())
def test_cuts_are_the_inner_ends_of_runs(workload):
    ends = set(workload.lo.tolist()) | set(workload.hi.tolist())
    assert workload.cuts().tolist() == sorted(ends - {0, workload.size})
    # Between two neighbouring cuts no query tells cells apart.
    changes = np.flatnonzero((np.diff(matrix(workload), axis=1) != 0).any(axis=0)) + 1
    assert set(changes.tolist()) <= set(workload.cuts().tolist())


@examples(40)
@given(run_workloads(), st.integers(1, 6))
def test_thinned_keeps_some_queries_and_the_weight_of_all(workload, most):
    queries = workload.on_buckets(np.arange(workload.size + 1))
    fewer = queries.thinned(most)
    assert len(fewer) == min(most, len(queries))
    assert fewer.omega.sum() == pytest.approx(queries.omega.sum())
    assert (fewer.total, fewer.differences) == (queries.total, queries.differences)
    every = [row.tolist() for row in queries.dense()]
    kept = [row.tolist() for row in fewer.dense()]
    assert all(row in every for row in kept)
    if len(queries) <= most:
        assert fewer is queries


def test_thinned_prefixes_still_stand_for_all_ranges():
    queries = all_ranges(1000).on_buckets(np.arange(1001))
    fewer = queries.thinned(100)
    assert fewer.differences
    assert len(fewer) == 100
    assert np.trace(gram_of(fewer)) == pytest.approx(np.trace(gram_of(queries)), rel=0.05)


@examples(60)
@given(bounds)
def test_coordinates_are_whole_at_bounds_and_linear_between(bounds):
    assert coordinates(bounds, bounds).tolist() == list(range(len(bounds)))
    borders = np.arange(bounds[-1] + 1)
    found = coordinates(borders, bounds)
    assert (np.diff(found) > 0).all()
    np.testing.assert_allclose(np.interp(found, np.arange(len(bounds)), bounds), borders, atol=1e-9)


def test_a_workload_does_not_change():
    workload = Workload.ranges([0], [5], 9)
    with pytest.raises(ValueError, match="read-only"):
        workload.lo[0] = 3


# --- wrong ones -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lo", "hi", "shape"),
    [
        ([0], [11], 10),
        ([-1], [5], 10),
        ([5], [5], 10),
        ([6], [5], 10),
        ([0, 1], [5], 10),
        ([0.5], [5], 10),
        ([float("nan")], [5], 10),
        ([0], [float("inf")], 10),
        ([0], [1e300], 10),
        ([0], np.array([2**64 - 1], np.uint64), 10),
        ([0], [2**80], 10),
        (["a"], [5], 10),
        ([None], [5], 10),
        ([True], [5], 10),
        ([], [], 10),
        ([[0]], [[5]], 10),
        ([[0], [1, 2]], [5, 6], 10),
        ([0], [5], 0),
        ([0], [5], -3),
        ([0], [5], 10.5),
        ([0], [5], 10.0),
        ([0], [5], "10"),
        ([0], [1], True),
        ([0], [5], None),
        ([0], [5], (10, 10)),
        ([0], [5], ()),
    ],
)
def test_ranges_that_do_not_fit_are_refused(lo, hi, shape):
    with pytest.raises(WorkloadError, match="Hint:"):
        Workload.ranges(lo, hi, shape)


@pytest.mark.parametrize(
    ("first", "lo", "hi", "weight"),
    [
        ([0, 2], [0, 1], [2, 3], [1, 1]),
        ([0, 2], [5, 0], [6, 1], [1, 1]),
        ([0, 1], [0, 5], [1, 6], [1, 1]),
        ([1, 2], [0, 5], [1, 6], [1, 1]),
        ([0, 0, 2], [0, 5], [1, 6], [1, 1]),
        ([0, 5, 2], [0, 5], [1, 6], [1, 1]),
        ([0], [0], [1], [1]),
        ([0, 1], [0], [1], [1, 1]),
        ([0, 1], [0], [1], [float("nan")]),
        ([0, 1], [0], [1], [float("inf")]),
        ([0, 1], [0], [1], ["a"]),
        ([0, 1], [0], [1], [None]),
        ([0, 1], [0], [1], [[1, 2]]),
        ([0, 1], [0], [1], [1j]),
    ],
)
def test_runs_that_make_no_queries_are_refused(first, lo, hi, weight):
    with pytest.raises(WorkloadError, match="Hint:"):
        Workload.runs(first, lo, hi, weight, 10)


def test_cells_of_another_shape_are_refused():
    with pytest.raises(WorkloadError, match="Hint:"):
        Workload.ranges([0], [5], 10).answers(np.zeros(9))


@pytest.mark.parametrize("shape", [0, 2.5, "8", None, (2, 3)])
def test_closed_workloads_need_a_domain(shape):
    for name in set(Closed) - ({Closed.CELLS} if shape == (2, 3) else set()):
        with pytest.raises(WorkloadError, match="Hint:"):
            Workload.named(name, shape)


# --- rectangles -----------------------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32)


@examples(80)
@given(seeds)
def test_rectangles_of_whole_cells_add_up_exactly(seed):
    """In integers as large as counts may be, where a float would lose the last digit."""
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    cells = rng.integers(0, 2**45 // int(np.prod(shape)), shape)
    lo, hi = random_corners(rng, shape, 10, whole=True)
    found = Workload.rectangles(lo, hi, shape).answers(cells)
    expected = [
        int(cells[tuple(slice(int(a), int(b)) for a, b in zip(*corners, strict=True))].sum())
        for corners in zip(lo, hi, strict=True)
    ]
    assert found.tolist() == expected


@examples(80)
@given(seeds)
def test_rectangles_that_cut_cells_count_the_covered_part(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    cells = rng.integers(0, 100, shape)
    lo, hi = random_corners(rng, shape, 10)
    workload = Workload.rectangles(lo, hi, shape)
    expected = [(covered(a, b, shape) * cells).sum() for a, b in zip(lo, hi, strict=True)]
    np.testing.assert_allclose(workload.answers(cells), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(workload.answers(cells.astype(np.float64)), expected, rtol=1e-9, atol=1e-9)
    assert (len(workload), workload.shape, workload.size) == (10, shape, cells.size)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 2), (1, 1), (2, 1, 3, 2)])
def test_every_cell_of_a_map_comes_as_in_an_array(shape):
    cells = np.arange(np.prod(shape)).reshape(shape)
    workload = identity(shape)
    assert workload.answers(cells).tolist() == list(range(cells.size))
    assert len(workload) == len(workload.enumerated()) == cells.size


def test_on_one_axis_rectangles_are_ranges():
    one, two = Workload.rectangles([0, 5], [10, 6], (10,)), Workload.ranges([0, 5], [10, 6], 10)
    bounds = np.array([0, 3, 7, 10])
    np.testing.assert_allclose(one.on_buckets(bounds).dense(), two.on_buckets(bounds).dense())
    assert one.cuts().tolist() == two.cuts().tolist()
    assert one.answers(np.arange(10)).tolist() == two.answers(np.arange(10)).tolist()


def test_rectangles_on_a_huge_map_need_no_list_of_cells():
    workload = Workload.rectangles([[5, 7]], [[2**30 - 1, 2**29]], (2**30, 2**31))
    assert repr(workload) == "Workload(1 query over 1073741824 × 2147483648 cells)"
    bounds = np.array([0, 2**40, 2**61])
    covered_part = workload.on_buckets(bounds).dense() @ np.diff(bounds).astype(np.float64)
    assert covered_part[0] == pytest.approx((2**30 - 6) * (2**29 - 7), rel=1e-9)


@pytest.mark.parametrize(
    ("lo", "hi", "shape"),
    [
        ([[0, 0]], [[5, 4]], (4, 4)),
        ([[-1, 0]], [[4, 4]], (4, 4)),
        ([[-0.25, 0]], [[4, 4]], (4, 4)),
        ([[2, 0]], [[2, 4]], (4, 4)),
        ([[3, 0]], [[2, 4]], (4, 4)),
        ([[0, 0], [1, 1]], [[2, 4]], (4, 4)),
        ([[0, 0, 0]], [[2, 2, 2]], (4, 4)),
        ([0, 0], [2, 2], (4, 4)),
        ([[0, float("nan")]], [[2, 2]], (4, 4)),
        ([[0, 0]], [[2, float("inf")]], (4, 4)),
        ([["a", 0]], [[2, 2]], (4, 4)),
        ([[None, 0]], [[2, 2]], (4, 4)),
        ([[0, 0], [1]], [[2, 2], [2, 2]], (4, 4)),
        ([[True, False]], [[2, 2]], (4, 4)),
        (np.zeros((0, 2)), np.zeros((0, 2)), (4, 4)),
        ([], [], (4, 4)),
        ([[0, 0]], [[2, 2]], (4, 0)),
        ([[0, 0]], [[2, 2]], (4, 2.0)),
        ([[0, 0]], [[2, 2]], (2**31, 2**32)),
        ([[0] * 5], [[1] * 5], (2,) * 5),
        ([[0, 0]], [[1e-150, 1e-150]], (4, 4)),
    ],
    ids=str,
)
def test_rectangles_that_do_not_fit_are_refused(lo, hi, shape):
    with pytest.raises(WorkloadError, match="Hint:"):
        Workload.rectangles(lo, hi, shape)


def test_maps_have_no_prefixes_nor_ranges():
    for make in (prefixes, all_ranges):
        with pytest.raises(WorkloadError, match="Hint:"):
            make((4, 4))
    with pytest.raises(WorkloadError, match=r"Hint: .*rectangles"):
        Workload.ranges([0], [5], (4, 4))
    with pytest.raises(WorkloadError, match="Hint:"):
        Workload.rectangles([[0, 0]], [[2, 2]], (4, 4)).answers(np.zeros(16))
    with pytest.raises(WorkloadError, match="Hint:"):
        identity((2**13, 2**13)).enumerated()
