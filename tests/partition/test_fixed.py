"""Partitions that cost nothing."""

from fractions import Fraction

import numpy as np
import pytest

from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_LISTED
from dawa.partition import every_cell, given
from dawa.partition.choose import method
from dawa.partition.noisy_cost import NoisyCost
from dawa.partition.walk import Walk


@pytest.mark.parametrize("size", [1, 2, 7])
def test_every_cell_is_its_own_bucket(size):
    found = every_cell(size)
    assert found.bounds.tolist() == list(range(size + 1))
    assert (len(found), found.spent, found.spent_least, found.spared, found.stops) == (size, 0, 0, None, None)


@pytest.mark.parametrize("size", [MOST_CELLS_LISTED + 1, 2**62])
def test_more_cells_than_can_be_listed_are_refused(size):
    with pytest.raises(OptionError, match="Hint: use 'dawa'"):
        every_cell(size)


@pytest.mark.parametrize("bounds", [[0, 3, 10], (0, 10), np.array([0.0, 4.0, 10.0]), range(11)])
def test_given_bounds_are_taken_as_they_are(bounds):
    found = given(bounds, 10)
    assert found.bounds.dtype == np.int64
    assert found.bounds.tolist() == list(bounds)
    assert found.spent == 0
    with pytest.raises(ValueError, match="read-only"):
        found.bounds[0] = 1


@pytest.mark.parametrize(
    "wrong",
    [
        [0, 5],
        [1, 10],
        [0, 5, 5, 10],
        [0, 7, 3, 10],
        [0, 11],
        [0, 2.5, 10],
        [0, float("nan"), 10],
        [0, float("inf")],
        [0, 2**70],
        [],
        [10],
        10,
        None,
        ["0", "10"],
        [[0, 10]],
        [[0], [1, 10]],
        [False, True],
        {0: 10},
        object(),
    ],
)
def test_bounds_that_do_not_divide_the_domain_are_refused(wrong):
    with pytest.raises(OptionError, match="Hint:"):
        given(wrong, 10)


def test_the_option_takes_names_methods_bounds_and_partitions():
    assert method("walk", (10,)) == method(Walk(), (10,)) == Walk()
    assert method("noisy-cost", (10,)) == NoisyCost()
    assert method("none", (10,)).bounds.tolist() == method(None, (10,)).bounds.tolist() == list(range(11))
    assert method("one", (10,)).bounds.tolist() == [0, 10]
    assert method([0, 4, 10], (10,)).bounds.tolist() == [0, 4, 10]
    ready = given([0, 4, 10], 10)
    assert method(ready, (10,)) is ready


@pytest.mark.parametrize("wrong", ["walks", "", [0, 4], given([0, 4], 4), 3, {}])
def test_other_partitions_are_refused(wrong):
    with pytest.raises(OptionError, match="Hint:"):
        method(wrong, (10,))


def test_shares_are_read_as_they_were_written():
    """A float share would make the noise's scale a float, and that is refused: but only after the walk."""
    assert method(NoisyCost(share=0.1), (10,)).share == Fraction(1, 10)
    assert method(Walk(coarse_share=0.07), (10,)) == Walk()
