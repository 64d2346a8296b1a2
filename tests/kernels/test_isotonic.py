"""Pooled numbers equal the definition, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.kernels import isotonic


def nearest(values):
    """For every number the largest, from the left, of the smallest means to the right."""
    n = len(values)

    def mean(i, j):
        return Fraction(sum(values[i : j + 1]), j - i + 1)

    return [float(max(min(mean(i, j) for j in range(at, n)) for i in range(at + 1))) for at in range(n)]


@settings(deadline=None)
@given(st.lists(st.integers(-20, 20), max_size=15))
def test_numbers_are_the_nearest_that_never_fall(values):
    found = isotonic.nondecreasing(np.array(values, np.float64))
    np.testing.assert_allclose(found, nearest(values), rtol=1e-14)


@pytest.mark.parametrize("values", [[], [3], [1, 2, 2, 5]])
def test_what_does_not_fall_stays(values):
    assert isotonic.nondecreasing(np.array(values)).tolist() == values


def test_every_second_number_of_an_array():
    assert isotonic.nondecreasing(np.array([3.0, 99.0, 1.0, -99.0, 2.0])[::2]).tolist() == [2.0, 2.0, 2.0]
