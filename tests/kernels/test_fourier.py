"""Sums and powers over one period equal those of whole matrices; ``tests/mechanisms/test_efpa.py`` has more."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import fourier

SIZES = [1, 2, 3, 8, 13, 64]


def rows(size, table, frequencies):
    return np.array([[int(table[j * cell % size]) for cell in range(size)] for j in range(frequencies)], object)


@settings(deadline=None)
@given(st.sampled_from(SIZES), st.integers(0, 20), st.integers(0, 99))
def test_sums_and_columns(size, frequencies, seed):
    rng = np.random.default_rng(seed)
    cosines, sines = rng.integers(-(2**28), 2**28, (2, size))
    cells = np.flatnonzero(rng.random(size) < 0.6)
    counts = rng.integers(0, 2**45 // size, len(cells))
    high, rest = fourier.sums(cells, counts, cosines, frequencies, 14)
    exact = rows(size, cosines, frequencies).reshape(frequencies, size)[:, cells] @ counts.astype(object)
    assert [(h << 14) + r for h, r in zip(high.tolist(), rest.tolist(), strict=True)] == list(exact)
    weights = rng.integers(0, 1024, frequencies)
    absolute = sum(np.abs(rows(size, table, frequencies).reshape(frequencies, size)) for table in (cosines, sines))
    columns = np.cumsum(weights[:, None] * absolute, axis=0)
    assert fourier.largest_columns(cosines, sines, weights).tolist() == columns.max(axis=1, initial=0).tolist()


@settings(deadline=None)
@given(st.sampled_from(SIZES), st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(0, 99))
def test_powers(size, runs, seed):
    """Some queries have no runs, and some runs no cells."""
    rng = np.random.default_rng(seed)
    first = np.concatenate(([0], np.cumsum(runs)))
    lo, hi = np.sort(rng.integers(0, size + 1, (2, first[-1])), axis=0)
    weight, circle, frequencies = rng.normal(size=len(lo)), np.exp(-2j * np.pi * np.arange(size) / size), size // 2 + 1
    each = [
        weight[run]
        * (circle[np.arange(frequencies) * lo[run] % size] - circle[np.arange(frequencies) * hi[run] % size])
        for run in range(len(lo))
    ]
    seen = [sum(each[start:stop], np.zeros(frequencies)) for start, stop in pairwise(first)]
    expected = np.mean(np.abs(seen) ** 2, axis=0)
    np.testing.assert_allclose(fourier.powers(first, lo, hi, weight, circle, frequencies), expected, atol=1e-12)


@pytest.mark.parametrize(("lo", "hi"), [([0, -1], [1, 1]), ([0, 1], [1, 5]), ([0], [1]), ([0, 1], [1])])
def test_runs_beyond_the_circle_are_refused(lo, hi):
    with pytest.raises(InvariantError):
        fourier.powers(np.array([0, 2]), np.array(lo), np.array(hi), np.ones(2), np.ones(4, np.complex128), 3)


def test_cells_without_counts_are_refused():
    with pytest.raises(InvariantError):
        fourier.sums(np.arange(3), np.arange(2), np.arange(4), 2, 14)
