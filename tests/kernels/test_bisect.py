"""Deviations and divisions equal their definitions, and what does not fit together is refused.

``tests/partition`` compares the kernels with brute force on data of all kinds.
"""

import itertools

import numpy as np
import pytest

from dawa.errors import InvariantError
from dawa.kernels import bisect


def deviation(cells):
    middle = sorted(cells)[len(cells) // 2] if len(cells) else 0
    return sum(abs(int(cell) - int(middle)) for cell in cells)


@pytest.mark.parametrize("size", [*range(18), 63, 64, 65])
def test_bisections_of_every_size(size):
    cells = np.random.default_rng(size).integers(0, 2 + 3 * size, size)
    exact = [deviation(cells[:i]) + deviation(cells[i:]) for i in range(size)]
    assert bisect.bisections(cells).tolist() == exact


@pytest.mark.parametrize("size", [0, 1, 2, 3, 40])
def test_costs_of_intervals_between_some_cells(size):
    """Marks need neither begin at the first cell nor end at the last one."""
    rng = np.random.default_rng(size)
    cells = rng.integers(0, 20, size + 5)
    marks = np.concatenate(([2], 2 + np.flatnonzero(rng.integers(0, 2, size)) + 1)).astype(np.int64)
    absolute, squared = bisect.absolute(cells, marks), bisect.squared(cells, marks)
    for i, j in itertools.product(range(len(marks)), repeat=2):
        inside = cells[marks[i] : marks[j]].tolist() if i < j else []
        assert absolute[i, j] == deviation(inside)
        assert squared[i, j] == (sum(x * x for x in inside) - -(-(sum(inside) ** 2) // len(inside)) if inside else 0)


@pytest.mark.parametrize("find", [bisect.absolute, bisect.squared])
@pytest.mark.parametrize("marks", [[], [-1, 2], [0, 2, 2], [2, 1], [0, 6]])
def test_marks_that_do_not_increase_within_the_cells_are_refused(find, marks):
    with pytest.raises(InvariantError, match="Marks"):
        find(np.arange(5), np.array(marks, np.int64))


@pytest.mark.parametrize("buckets", [0, 1, 3])
def test_prefixes_of_a_single_mark(buckets):
    assert bisect.prefixes(np.zeros((1, 1), np.int64), buckets).tolist() == [[bisect.UNREACHED]] * buckets


def test_costs_that_are_no_square_are_refused():
    with pytest.raises(InvariantError, match="square"):
        bisect.prefixes(np.zeros((2, 3), np.int64), 2)
