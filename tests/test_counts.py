"""Counts are checked once, keep every record, and show none."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.counts import Counts
from dawa.errors import CountsError
from dawa.layout.curve import Order
from dawa.limits import MOST_RECORDS
from helpers.examples import examples
from helpers.grids import random_map, random_shape

cells = st.lists(st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**40)), min_size=1, max_size=30)


@given(cells)
def test_dense_gives_back_what_came_in(numbers):
    counts = Counts.of(numbers)
    assert counts.shape == (len(numbers),)
    assert counts.size == len(numbers)
    assert counts.exposed.dense(counts.size).tolist() == numbers
    assert counts.exposed.counts.dtype == np.int64
    assert (counts.exposed.counts > 0).all()


@given(cells, st.data())
def test_bucket_totals_equal_brute_force(numbers, data):
    inner = data.draw(st.sets(st.integers(1, len(numbers))))
    bounds = np.array(sorted({0, len(numbers)} | inner))
    totals = Counts.of(numbers).exposed.totals(bounds)
    assert totals.tolist() == [sum(numbers[a:b]) for a, b in pairwise(bounds)]


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float32, np.float64, bool])
def test_whole_numbers_of_any_type_are_welcome(kind):
    assert Counts.of(np.array([1, 0, 1], kind)).exposed.dense(3).tolist() == [1, 0, 1]


def test_the_largest_sum_is_exact_and_one_more_is_refused():
    assert Counts.of([MOST_RECORDS - 1, 1]).exposed.dense(2).tolist() == [MOST_RECORDS - 1, 1]
    with pytest.raises(CountsError, match="Hint:"):
        Counts.of([MOST_RECORDS, 1])


def test_the_limit_is_kept_to_the_record_for_many_cells_and_types():
    """A sum in floats would lose the last records, and one in 64 bits would overflow."""
    most = np.full(2**12 + 1, MOST_RECORDS // 2**12)
    most[-1] = 0
    for kind in (np.int64, np.uint64, np.float64, np.longdouble):
        assert int(Counts.of(most.astype(kind)).exposed.counts.sum()) == MOST_RECORDS
        one_more = most.astype(kind)
        one_more[-1] = 1
        with pytest.raises(CountsError, match="add up"):
            Counts.of(one_more)
    for many in (np.full(2**19, 2**45), np.full(2**18, 2**45 - 1), np.full(2, 2**63, np.uint64), np.full(2, 1e300)):
        with pytest.raises(CountsError, match="add up"):
            Counts.of(many)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.longdouble])
def test_a_count_above_the_limit_is_too_large_however_wide_it_is(kind):
    for wrong in (np.finfo(kind).max, kind(2**50), kind(2**46)):
        with pytest.raises(CountsError, match="add up"):
            Counts.of(np.array([wrong, 0], kind))
    assert Counts.of(np.array([65504], np.float16)).exposed.counts.tolist() == [65504]


@pytest.mark.parametrize("wrong", [-1, -(2**62), -1e300])
def test_negative_counts_are_called_so(wrong):
    with pytest.raises(CountsError, match="negative"):
        Counts.of([wrong, 1])


def test_counts_do_not_change_with_their_origin_nor_by_hand():
    origin = np.array([1, 2, 3])
    counts = Counts.of(origin)
    origin[:] = 99
    assert counts.exposed.dense(3).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        counts.exposed.counts[0] = 5
    assert Counts.of(counts) is counts


def test_neither_repr_nor_str_nor_a_comparison_shows_a_count():
    one, two = Counts.of([777_777, 0]), Counts.of([777_777, 0])
    assert repr(one) == str(one) == f"{one}" == "Counts(2 cells)"
    assert one != two, "equality would tell"
    assert repr(one.exposed) == str(one.exposed) == "Occupied(private)", "reports of errors print local variables"


@pytest.mark.parametrize(
    "wrong",
    [
        [-777_777, 1],
        [777_777.5, 1],
        [777_777, float("nan")],
        [777_777, float("inf")],
        [2**50, 777_777],
        [1e308, 1e308],
        np.array([2**63, 2**63], np.uint64),
        [2**70, 777_777],
        [],
        [[[[[777_777, 1]]]]],
        5,
        "777777",
        ["777777", "1"],
        [None, 777_777],
        [1j, 777_777],
        [[1], [2, 777_777]],
        {777_777: 1},
        np.array(["2020-01-01"], "M8[D]"),
    ],
)
def test_what_is_no_count_is_refused_without_naming_it(wrong):
    with pytest.raises(CountsError, match="Hint:") as caught:
        Counts.of(wrong)
    assert "777" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_called_so(wrong):
    with pytest.raises(CountsError, match="NaN or infinite"):
        Counts.of([1.0, wrong])


def test_masked_counts_are_refused_and_not_counted():
    with pytest.raises(CountsError, match=r"masked\.\nHint: .*filled"):
        Counts.of(np.ma.array([1, 777, 3], mask=[False, True, False]))
    assert Counts.of(np.ma.array([1, 0, 3])).exposed.counts.tolist() == [1, 3]


# --- several axes ---------------------------------------------------------------------------------------------------


@examples(80)
@given(st.integers(0, 2**32))
def test_on_maps_every_record_keeps_its_cell(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    numbers = random_map(rng, shape)
    counts = Counts.of(numbers)
    assert (counts.shape, counts.size) == (shape, numbers.size)
    assert counts.exposed.grid(shape).tolist() == numbers.tolist()
    line = numbers.ravel()[Order(shape).flat()]
    assert counts.exposed.dense(counts.size).tolist() == line.tolist()
    assert (np.diff(counts.exposed.cells) > 0).all()


@examples(80)
@given(st.integers(0, 2**32))
def test_occupied_cells_alone_make_the_same_counts(seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(rng, axes=(1, 2, 3, 4))
    numbers = random_map(rng, shape)
    occupied = rng.permutation(np.flatnonzero(numbers))
    sparse, dense = Counts.sparse(shape, occupied, numbers.ravel()[occupied]), Counts.of(numbers)
    assert sparse.shape == dense.shape
    assert sparse.exposed.cells.tolist() == dense.exposed.cells.tolist()
    assert sparse.exposed.counts.tolist() == dense.exposed.counts.tolist()
    assert sparse.exposed.cells.dtype == sparse.exposed.counts.dtype == np.int64


@pytest.mark.parametrize("shape", [(2**62,), (2**31, 2**31), (2**20, 2**21 - 1, 999_999), (2**15 - 1,) * 4])
def test_occupied_cells_of_huge_domains_are_welcome(shape):
    rng, size = np.random.default_rng(0), math.prod(shape)
    cells = np.unique(np.concatenate(([0, size - 1], rng.integers(0, size, 1000))))
    held = rng.integers(1, 9, len(cells))
    counts = Counts.sparse(shape, cells, held)
    assert counts.size == size
    assert int(counts.exposed.counts.sum()) == held.sum()
    found = np.ravel_multi_index(Order(shape).cells(counts.exposed.cells).T, shape)
    assert dict(zip(found.tolist(), counts.exposed.counts.tolist(), strict=True)) == dict(
        zip(cells.tolist(), held.tolist(), strict=True)
    )


def test_an_empty_table_has_counts_too():
    none = np.zeros(0, np.int64)
    assert Counts.sparse((4, 5), none, none).exposed.grid((4, 5)).tolist() == [[0] * 5] * 4
    assert repr(Counts.sparse((4, 5), none, none)) == "Counts(4 × 5 cells)"


@pytest.mark.parametrize(
    ("shape", "cells", "counts"),
    [
        ((), [0], [777_777]),
        ((2**31, 2**32), [0], [777_777]),
        ((2,) * 5, [0], [777_777]),
        ((4, 5), [20], [777_777]),
        ((4, 5), [-1], [777_777]),
        ((4,), [4], [777_777]),
        ((4, 5), [7, 7], [777_777, 1]),
        ((4,), [1, 1], [777_777, 1]),
        ((4, 5), [7, 8], [777_777, 0]),
        ((4, 5), [7, 8], [777_777]),
        ((4, 5), [7], [-777_777]),
        ((4, 5), [7], [777_777.5]),
        ((4, 5), [7, 8], [2**45, 777_777]),
    ],
    ids=str,
)
def test_occupied_cells_that_make_no_counts_are_refused_without_naming_them(shape, cells, counts):
    with pytest.raises(CountsError, match="Hint:") as caught:
        Counts.sparse(shape, np.array(cells), np.array(counts))
    assert "777" not in str(caught.value)
