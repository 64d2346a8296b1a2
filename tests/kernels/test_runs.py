"""Room for gathered runs; ``tests/queries`` holds what is gathered against its slow twin."""

import numpy as np
import pytest

from dawa.errors import InvariantError
from dawa.kernels import runs as kernel


@pytest.mark.parametrize("queries", [1, 7, 300])
def test_stretches_that_need_more_room_than_there_was_at_first(queries):
    """Every run covers half a bucket, a whole one and half a bucket: three stretches, thrice as many as runs."""
    lo = np.arange(1, 1800, 6)
    weight = np.arange(1.0, len(lo) + 1)
    first = np.linspace(0, len(lo), queries + 1).astype(np.int64)
    begin, start, stop, share = kernel.gathered(first, lo, lo + 4, weight, np.arange(0, 1802, 2))
    assert begin.tolist() == (3 * first).tolist()
    assert start.tolist() == list(range(3 * len(lo)))
    assert (stop == start + 1).all()
    assert share.tolist() == np.stack((weight / 2, weight, weight / 2), axis=1).ravel().tolist()


def test_no_queries_and_queries_without_runs():
    none = np.zeros(0, np.int64)
    for first in ([0], [0, 0, 0]):
        begin, *stretches = kernel.gathered(np.array(first), none, none, none, np.array([0, 4]))
        assert begin.tolist() == first
        assert [len(array) for array in stretches] == [0, 0, 0]


def test_every_other_entry_of_longer_arrays():
    lo, hi, weight = np.array([[0, 9], [3, 9], [6, 9]]).T[0], np.array([2, 0, 5, 0, 9, 0])[::2], np.ones(6)[::2]
    found = kernel.gathered(np.array([0, 1, 3]), lo, hi, weight, np.array([0, 3, 9]))
    plain = kernel.gathered(np.array([0, 1, 3]), lo.copy(), hi.copy(), weight.copy(), np.array([0, 3, 9]))
    assert [array.tolist() for array in found] == [array.tolist() for array in plain]
    assert found[3].tolist() == [2 / 3, 5 / 6]


def test_arrays_of_another_size_are_refused():
    two, one = np.array([0, 2]), np.array([1])
    for first, lo, hi, weight in ((two, two, two, one), (two, one, two, two), (np.array([0, 3]), two, two, two)):
        with pytest.raises(InvariantError):
            kernel.gathered(first, lo, hi, weight, np.array([0, 4]))
