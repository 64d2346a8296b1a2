"""Cells row by row: the same queries and totals as on the curve, in another order."""

import numpy as np
import pytest

import dawa
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.partition.buckets import by_rows

SHAPES = [(1, 1), (3, 5), (8, 4), (2, 3, 4), (3, 2, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("whole", [True, False])
def test_rectangles_have_the_cells_that_they_cover(shape, whole):
    rng = np.random.default_rng(0)
    ends = np.sort(rng.uniform(0, 1, (40, 2, len(shape))), axis=1) * np.array(shape)
    if whole:
        ends = np.floor(ends) + np.array([0, 1])[None, :, None]
    workload = dawa.Workload.rectangles(ends[:, 0], ends[:, 1], shape)
    queries = by_rows(shape).queries(workload)
    cells = rng.integers(0, 100, shape).astype(float)
    np.testing.assert_allclose(queries.dense() @ cells.ravel(), workload.answers(cells), rtol=1e-9)
    inside = np.ones(len(queries.lo), bool)
    inside[queries.first[:-1]] = False
    assert (queries.hi[:-1] <= queries.lo[1:])[inside[1:]].all(), "runs are sorted and disjoint"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_totals_and_places_are_those_of_the_array(shape):
    counts = np.random.default_rng(1).integers(0, 9, shape)
    buckets = by_rows(shape)
    assert buckets.totals(Counts.of(counts).exposed, shape).tolist() == counts.ravel().tolist()
    assert buckets.order(shape).tolist() == list(range(counts.size))
    places = buckets.cells(np.arange(counts.size), shape)
    assert counts[tuple(places.T)].tolist() == counts.ravel().tolist()


def test_too_many_cells_are_refused():
    with pytest.raises(OptionError, match="Hint:"):
        by_rows((2**20, 2**20))
