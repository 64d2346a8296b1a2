"""The dynamic programme equals a look at every partition, ties included."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import costs as least_cost

costs_of = st.sampled_from([st.integers(-2, 2), st.integers(-(2**50), 2**50), st.just(0)])


def every_partition(size):
    """The bounds of all 2^(size - 1) partitions."""
    for number in range(size):
        for inner in combinations(range(1, size), number):
            yield (0, *inner, size)


def first_in_order(size, costs):
    """The least total; then the longest last bucket, the longest before it, and so on."""
    usable = [
        bounds for bounds in every_partition(size) if all((start, end) in costs for start, end in pairwise(bounds))
    ]

    def key(bounds):
        buckets = list(pairwise(bounds))
        return sum(costs[bucket] for bucket in buckets), [start - end for start, end in reversed(buckets)]

    return list(min(usable, key=key))


@settings(deadline=None)  # the first call compiles
@given(st.data(), st.integers(1, 8))
def test_powers_of_two(data, size):
    numbers = data.draw(costs_of)
    levels = size.bit_length()
    table = np.full((levels, size), -(2**40), np.int64)  # entries past the end must not be read
    costs = {}
    for level in range(levels):
        for start in range(size - 2**level + 1):
            costs[start, start + 2**level] = table[level, start] = data.draw(numbers)
    assert least_cost.powers(table).tolist() == first_in_order(size, costs)


@settings(deadline=None)  # the first call compiles
@given(st.data(), st.integers(1, 8))
def test_all_lengths(data, size):
    numbers = data.draw(costs_of)
    best = np.full(size + 1, least_cost.UNREACHED, np.int64)
    best[0] = 0
    last = np.zeros(size + 1, np.int64)
    costs = {}
    for start in range(size):
        row = data.draw(st.lists(numbers, min_size=size - start, max_size=size - start))
        costs |= {(start, start + offset + 1): cost for offset, cost in enumerate(row)}
        least_cost.extend(best, last, start, np.array(row, np.int64))
    assert least_cost.traced(last).tolist() == first_in_order(size, costs)


def test_where_all_is_equal_the_longest_last_bucket_wins():
    assert least_cost.powers(np.zeros((3, 7), np.int64)).tolist() == [0, 1, 3, 7]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_cells(size):
    bounds = least_cost.powers(np.zeros((size.bit_length(), size), np.int64))
    assert bounds.tolist() == sorted({0, size})


@pytest.mark.parametrize(("start", "number"), [(-1, 1), (0, 5), (4, 1), (5, 0)])
def test_buckets_past_the_last_end_are_refused(start, number):
    best, last = np.zeros(5, np.int64), np.zeros(5, np.int64)
    with pytest.raises(InvariantError, match="ends"):
        least_cost.extend(best, last, start, np.zeros(number, np.int64))
    with pytest.raises(InvariantError, match="ends"):
        least_cost.extend(best, last[1:], 0, np.zeros(1, np.int64))
