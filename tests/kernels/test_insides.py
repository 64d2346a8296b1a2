"""Smoothed cells against a slow twin, on grids of any shape."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import insides
from helpers.examples import examples


def slowly(label, totals, rounds, most):
    """The same by whole arrays: the grid is padded with its border, and shifted."""
    label, totals = np.asarray(label), np.asarray(totals, np.float64)

    def sums(cells):
        return np.bincount(label.ravel(), cells.ravel(), minlength=len(totals))

    even = (totals / np.maximum(sums(np.ones(label.shape)), 1))[label]
    level = even.copy()
    for _ in range(rounds):
        around = level.copy()
        for axis in range(label.ndim):
            inside = [(int(i == axis),) * 2 for i in range(label.ndim)]
            padded, n = np.pad(level, inside, mode="edge"), label.shape[axis]
            around = around + padded.take(range(n), axis) + padded.take(range(2, n + 2), axis)
        after = around / (2 * label.ndim + 1)
        own = sums(after)
        level = after * np.where(own > 0, totals / np.where(own > 0, own, 1), 0)[label]
    uneven = sums(abs(level - even))
    back = np.where(uneven > most, most / np.where(uneven > 0, uneven, 1), 1)[label]
    return np.where(back < 1, even + back * (level - even), level)


@examples(150)
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=4),
    st.integers(1, 12),
    st.sampled_from([0, 1, 2, 30]),
    st.integers(0, 2**32),
)
def test_cells_are_those_of_the_slow_twin(shape, buckets, rounds, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, buckets, shape)
    if rng.random() < 0.5:
        label.ravel().sort()
    totals = rng.gamma(0.5, 100, buckets) * (rng.random(buckets) < 0.8)
    most = np.where(rng.random(buckets) < 0.5, rng.gamma(0.5, 50, buckets), np.inf)
    found = insides.smoothed(label.ravel(), totals, np.array(shape), rounds, most)
    assert found.tolist() == slowly(label, totals, rounds, most).ravel().tolist(), "the same sums in the same order"


def test_no_rounds_leave_cells_even_and_no_tolerance_puts_them_back():
    label, totals = np.array([0, 0, 1, 1, 1, 2]), np.array([4, 9, 1])
    even = [2, 2, 3, 3, 3, 1]
    for rounds, most in ((0, np.inf), (30, 0.0)):
        assert insides.smoothed(label, totals, np.array([2, 3]), rounds, np.full(3, most)).tolist() == even
    assert insides.smoothed(label, totals, np.array([2, 3]), 30, np.full(3, np.inf)).tolist() != even


def test_no_cells_stay_none():
    none = np.zeros(0, np.int64)
    assert insides.smoothed(none, np.zeros(0), np.array([0, 3]), 5, np.zeros(0)).tolist() == []


def test_arrays_of_any_type_and_order_are_taken():
    label = np.repeat(np.arange(4, dtype=np.int32), 6)
    totals, shape, most = np.array([8.0, 1, 5, 0]), np.array([6, 4]), np.full(4, 3.0)
    expected = insides.smoothed(label.astype(np.int64), totals, shape, 3, most)
    strided = np.repeat(label, 2)[::2]
    again = insides.smoothed(strided, totals.astype(np.int16), shape.astype(np.int8), 3, most.astype(np.float32))
    assert again.tolist() == expected.tolist()


def test_cells_that_are_not_those_of_the_buckets_are_refused():
    label, totals, shape = np.array([0, 0, 1, 1]), np.ones(2), np.array([2, 2])
    for wrong in (
        (label[:3], totals, shape, 1, totals),
        (label, totals[:1], shape, 1, totals[:1]),
        (label, totals, np.array([2, 3]), 1, totals),
        (label, totals, shape, 1, totals[:1]),
    ):
        with pytest.raises(InvariantError, match="not those"):
            insides.smoothed(*wrong)
    assert math.isclose(insides.smoothed(label, totals, shape, 1, totals).sum(), 2)
