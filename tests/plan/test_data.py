"""Public data: true answers, drawn again, and counted from a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import workloads
from dawa.errors import AxisError, OptionError
from dawa.plan.data import Data, read


@given(st.integers(0, 2**32), st.sampled_from([(40,), (7, 9), (3, 4, 5)]))
def test_answers_are_those_of_the_dense_counts(seed, shape):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, shape)
    counts.ravel()[0] += 1
    data = Data.of("x", shape, *[part[counts.ravel() > 0] for part in (np.arange(counts.size), counts.ravel())])
    asked = (
        workloads.uniform(shape[0], 30, seed=1) if len(shape) == 1 else workloads.random_rectangles(shape, 30, seed=1)
    )
    np.testing.assert_allclose(data.answers(asked), asked.answers(counts))
    assert data.records == counts.sum()


def test_cells_that_are_cut_count_in_part():
    counts = np.arange(12).reshape(3, 4)
    data = Data.of("x", (3, 4), np.arange(1, 12), np.arange(1, 12))
    asked = dawa.Workload.rectangles([[0.5, 0], [1, 1.25]], [[2, 3], [3, 3.5]], (3, 4))
    np.testing.assert_allclose(data.answers(asked), asked.answers(counts))


def test_weighted_runs():
    data = Data.of("x", (10,), np.arange(10), np.arange(1, 11))
    asked = dawa.Workload.runs([0, 2, 3], [0, 5, 2], [2, 7, 9], [1, 2, -1], 10)
    np.testing.assert_allclose(data.answers(asked), asked.answers(np.arange(1, 11)))


def test_a_table_is_counted_along_its_axes():
    table = {"a": [0, 0, 3, None, 99], "b": [1, 1, 0, 1, 1]}
    data = read(table, (dawa.Axis("a", 0, 4), dawa.Axis("b", 0, 2)))
    assert dict(zip(data.cells.tolist(), data.held.tolist(), strict=True)) == {1: 2, 6: 1, 7: 1}
    only = read(table, (dawa.Axis("a", 0, 4, outside="drop"), dawa.Axis("b", 0, 2)), where="b = 1")
    assert dict(zip(only.cells.tolist(), only.held.tolist(), strict=True)) == {1: 2}
    with pytest.raises(OptionError, match="no record"):
        read({"a": [None]}, (dawa.Axis("a", 0, 4),))
    with pytest.raises(AxisError, match="'b'"):
        read({"a": [1]}, (dawa.Axis("b", 0, 4),))


def test_drawn_again_it_has_the_number_that_was_asked_for_and_the_same_shares():
    data = Data.of("x", (100,), np.arange(100), np.arange(1, 101))
    again = data.drawn(10**6, 0)
    assert again.records == 10**6
    shares = again.held / 10**6
    spread = np.sqrt(shares.max() / 10**6)
    assert np.abs(shares - data.held / data.records).max() < 6 * spread
    assert (data.drawn(10**6, 0).held == again.held).all()
