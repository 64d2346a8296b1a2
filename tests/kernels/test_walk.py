"""Scores of intervals: their deviation from the median, whatever the counts are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa import kernels

UNSET = 10**9


def scores(counts, lo, hi):
    """The kernel's, from the occupied cells of dense counts."""
    cells = np.flatnonzero(counts)
    held = counts[cells]
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(held)))
    return kernels.walk.median_deviations(cells, held, before, np.array(lo, np.int64), np.array(hi, np.int64)).tolist()


def deviation(values):
    """The least sum of absolute differences from one number, by sorting."""
    return int(np.abs(values - np.sort(values)[len(values) // 2]).sum())


@settings(deadline=None)
@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**45)), min_size=1, max_size=60), st.data())
def test_a_score_is_the_deviation_from_the_median(counts, data):
    dense = np.array(counts, np.int64)
    lo = data.draw(st.integers(0, len(counts) - 1))
    hi = data.draw(st.integers(lo + 1, len(counts)))
    assert scores(dense, [0, lo], [len(counts), hi]) == [deviation(dense), deviation(dense[lo:hi])]


def slow_to_select(size):  # noqa: C901  the loop of the kernel, step by step
    """Counts that are found only while the middle one is selected, each as late as it can be: the worst there are."""
    values, told, candidate = [UNSET] * size, 0, -1

    def less(x, y):
        nonlocal told, candidate
        if values[x] == values[y] == UNSET:
            values[x if x == candidate else y] = told
            told += 1
        if values[x] == UNSET:
            candidate = x
        elif values[y] == UNSET:
            candidate = y
        return values[x] < values[y]

    places, low, high = list(range(size)), 0, size - 1
    while high > low:
        a, b, c = places[low], places[(low + high) // 2], places[high]
        small, large = (b, a) if less(b, a) else (a, b)
        large = c if less(c, large) else large
        pivot = large if less(small, large) else small
        i, j = low, high
        while i <= j:
            while less(places[i], pivot):
                i += 1
            while less(pivot, places[j]):
                j -= 1
            if i <= j:
                places[i], places[j] = places[j], places[i]
                i, j = i + 1, j - 1
        if size // 2 <= j:
            high = j
        elif size // 2 >= i:
            low = i
        else:
            break
    return np.array([told if value == UNSET else value for value in values]) + 1


@pytest.mark.parametrize("size", [500, 1001, 4096])
def test_counts_that_make_selecting_slow(size):
    """After some rounds it is done in another way, which is never slow; both find the same."""
    counts = slow_to_select(size)
    assert scores(counts, [0], [size]) == [deviation(counts)]
    assert scores(counts[::-1].copy(), [0], [size]) == [deviation(counts)]
    assert scores(counts * 2**30, [0], [size]) == [deviation(counts * 2**30)]


def test_no_interval_and_empty_ones():
    assert scores(np.zeros(5, np.int64), [0, 2], [5, 3]) == [0, 0]
    assert scores(np.array([0, 4, 0]), [], []) == []
