"""The evaluation-only optimum has the least exact cost of all partitions."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa_bench.optimum import optimum


def cost(cells, bounds, epsilon2):
    """The paper's cost of a partition, as an exact fraction."""
    total = Fraction(0)
    for start, end in pairwise(bounds):
        bucket = cells[start:end]
        mean = Fraction(sum(bucket), len(bucket))
        total += sum(abs(cell - mean) for cell in bucket) + 1 / epsilon2
    return total


def least(cells, epsilon2, *, powers):
    """The least cost, by trying every partition."""
    costs = []
    for number in range(len(cells)):
        for inner in combinations(range(1, len(cells)), number):
            bounds = [0, *inner, len(cells)]
            if not powers or all(length & (length - 1) == 0 for length in np.diff(bounds).tolist()):
                costs.append(cost(cells, bounds, epsilon2))
    return min(costs)


counts_lists = st.one_of(
    st.lists(st.integers(0, 20), min_size=1, max_size=7),
    st.lists(st.integers(0, 2**40), min_size=1, max_size=7),
)
budgets = st.sampled_from([Fraction(1, 10), Fraction(1, 8), Fraction(1, 2), Fraction(3)])


@settings(deadline=None)
@given(counts_lists, budgets)
def test_powers_of_two(cells, epsilon2):
    bounds = optimum(np.array(cells), epsilon2, "powers").tolist()
    # only 1/epsilon2 is rounded, by half a step per bucket and partition
    assert cost(cells, bounds, epsilon2) - least(cells, epsilon2, powers=True) <= Fraction(len(cells), 2**15)
    assert all(length & (length - 1) == 0 for length in np.diff(bounds).tolist())


@settings(deadline=None)
@given(counts_lists, budgets)
def test_all_lengths(cells, epsilon2):
    bounds = optimum(np.array(cells), epsilon2, "all").tolist()
    assert cost(cells, bounds, epsilon2) - least(cells, epsilon2, powers=False) <= Fraction(2 * len(cells), 2**15)


@settings(deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=7))
def test_nothing_is_rounded_where_everything_is_a_multiple_of_a_step(cells):
    bounds = optimum(np.array(cells), Fraction(1, 8), "powers").tolist()
    assert cost(cells, bounds, Fraction(1, 8)) == least(cells, Fraction(1, 8), powers=True)


@pytest.mark.parametrize("lengths", ["powers", "all"])
def test_a_flat_run_is_one_bucket_and_a_spike_stands_alone(lengths):
    cells = np.zeros(16, np.int64)
    cells[8] = 1000
    bounds = optimum(cells, Fraction(1, 10), lengths).tolist()
    assert bounds[:3] == [0, 8, 9]
    assert len(bounds) == (4 if lengths == "all" else 6)


def test_it_says_that_it_is_not_private():
    assert "NOT PRIVATE" in (optimum.__doc__ or "")
