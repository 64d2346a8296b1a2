"""Counts are checked once, keep every record, and show none."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.counts import MOST_RECORDS, Counts
from dawa.errors import CountsError

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
        [[777_777, 1]],
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
