"""The fast deviations equal the definition, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import costs
from helpers.examples import examples

counts_lists = st.one_of(
    st.lists(st.integers(0, 3), min_size=1, max_size=24),
    st.lists(st.integers(0, 2**40), min_size=1, max_size=24),
    st.lists(st.sampled_from([0, 0, 0, 1, 2**40 - 1, 2**40]), min_size=1, max_size=24),
)


def definition(cells):
    """Σ|x_j - mean|, from the definition."""
    mean = Fraction(sum(cells), len(cells))
    return sum(abs(cell - mean) for cell in cells)


@settings(deadline=None)  # the first call compiles
@given(counts_lists)
def test_every_window_of_every_length_is_exact(cells):
    values, ranks = costs.ranked(np.array(cells, np.int64))
    for length in range(1, len(cells) + 1):
        expected = [length * definition(cells[i : i + length]) for i in range(len(cells) - length + 1)]
        assert costs.windows(values, ranks, length, length).tolist() == expected


@settings(deadline=None)  # the first call compiles
@given(counts_lists, st.sampled_from([1, 3, 2**10, 2**15]))
def test_windows_are_rounded_down_to_the_lattice(cells, lattice):
    values, ranks = costs.ranked(np.array(cells, np.int64))
    for length in range(1, len(cells) + 1):
        expected = [lattice * definition(cells[i : i + length]) // 1 for i in range(len(cells) - length + 1)]
        assert costs.windows(values, ranks, length, lattice).tolist() == expected


@settings(deadline=None)  # the first call compiles
@given(counts_lists, st.sampled_from([1, 3, 2**10, 2**15]))
def test_intervals_by_start_are_rounded_down_to_the_lattice(cells, lattice):
    values, ranks = costs.ranked(np.array(cells, np.int64))
    for start in range(len(cells)):
        expected = [lattice * definition(cells[start:end]) // 1 for end in range(start + 1, len(cells) + 1)]
        assert costs.starting_at(values, ranks, start, lattice).tolist() == expected


@settings(deadline=None)  # the first call compiles
@given(counts_lists)
def test_half_a_power_of_two_is_lattice_enough_for_it(cells):
    values, ranks = costs.ranked(np.array(cells, np.int64))
    for length in (2, 4, 8, 16):
        if length <= len(cells):
            exact = costs.windows(values, ranks, length, length)
            assert (2 * costs.windows(values, ranks, length, length // 2) == exact).all()


@examples(5)
@given(st.integers(0, 2**32 - 1))
def test_by_start_and_by_length_agree_on_long_heavy_tails(seed):
    cells = (np.random.default_rng(seed).pareto(0.5, 300) * 10).astype(np.int64) % 2**36
    values, ranks = costs.ranked(cells)
    by_length = [costs.windows(values, ranks, length, 2**12) for length in range(1, 301)]
    for start in (0, 1, 150, 299):
        by_start = costs.starting_at(values, ranks, start, 2**12)
        assert by_start.tolist() == [by_length[length - 1][start] for length in range(1, 301 - start)]


@pytest.mark.parametrize("size", [2**16, 2**17 - 1])
def test_the_most_records_do_not_overflow(size):
    cells = np.zeros(size, np.int64)
    cells[7] = 2**45
    values, ranks = costs.ranked(cells)
    expected = 2**15 * Fraction(2 * 2**45 * (size - 1), size) // 1
    assert costs.windows(values, ranks, size, 2**15).tolist() == [expected]
    assert costs.starting_at(values, ranks, 0, 2**15)[-1] == expected


@settings(deadline=None)  # the first call compiles
@given(counts_lists.filter(lambda cells: len(cells) > 1), st.data())
def test_one_record_moves_a_deviation_by_no_more_than_its_sensitivity(cells, data):
    place = data.draw(st.integers(0, len(cells) - 1))
    more = list(cells)
    more[place] += 1
    assert abs(definition(more) - definition(cells)) <= 2 * (1 - Fraction(1, len(cells)))


def test_intervals_that_are_not_among_the_cells_are_refused():
    values, ranks = costs.ranked(np.arange(5))
    for length in (-1, 0, 6):
        with pytest.raises(InvariantError, match="among 5 cells"):
            costs.windows(values, ranks, length, 8)
    for start in (-1, 6):
        with pytest.raises(InvariantError, match="of 5"):
            costs.starting_at(values, ranks, start, 8)
    assert costs.starting_at(values, ranks, 5, 8).tolist() == []


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_counts_of_other_whole_types(kind):
    values, ranks = costs.ranked(np.array([7, 0, 200, 7]).astype(kind))
    assert costs.windows(values, ranks, 2, 2).tolist() == [14, 400, 386]
