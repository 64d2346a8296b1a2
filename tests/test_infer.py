"""Post-processing: no negatives, the total kept, whole numbers that do not drift."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import infer
from dawa.errors import OptionError
from helpers.examples import examples

numbers = st.floats(-1e6, 1e6, allow_nan=False)
totals = st.lists(numbers, min_size=1, max_size=40).map(np.array)


def pooled(values):
    """The same with exact fractions: every running sum is the largest from the left of the smallest means to the right.

    This formula of isotonic regression compares the means of all stretches: the obvious twin.
    """
    below = list(itertools.accumulate(map(Fraction, values)))
    total, inner = max(below[-1], Fraction(0)), below[:-1]
    n = len(inner)

    def mean(i, j):
        return sum(inner[i : j + 1]) / (j - i + 1)

    kept = [max(min(mean(i, j) for j in range(at, n)) for i in range(at + 1)) for at in range(n)]
    sums = [Fraction(0), *(min(max(one, Fraction(0)), total) for one in kept), total]
    return [after - before for before, after in itertools.pairwise(sums)]


@examples(200)
@given(totals)
def test_nonnegative_has_no_negatives_and_keeps_the_total(values):
    found = infer.nonnegative(values)
    assert found.shape == values.shape
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(max(values.sum(), 0), rel=1e-9, abs=1e-6)


@examples(200)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=12))
def test_nonnegative_is_the_nearest_that_never_falls(values):
    expected = [float(one) for one in pooled(values)]
    np.testing.assert_allclose(infer.nonnegative(np.array(values, np.float64)), expected, rtol=0, atol=1e-9)


@examples(200)
@given(totals)
def test_nonnegative_is_the_same_from_either_end(values):
    found = infer.nonnegative(values)
    np.testing.assert_allclose(infer.nonnegative(values[::-1])[::-1], found, rtol=1e-9, atol=1e-6)


@examples(200)
@given(totals, st.data())
def test_no_other_totals_are_nearer_in_their_running_sums(values, data):
    found = np.cumsum(infer.nonnegative(values))
    other = np.sort(np.array(data.draw(st.lists(numbers, min_size=len(values), max_size=len(values)))))
    other = np.append(np.clip(other[:-1], 0, found[-1]), found[-1])
    gap = [float(((sums - np.cumsum(values)) ** 2).sum()) for sums in (found, other)]
    assert gap[0] <= gap[1] * (1 + 1e-9) + 1e-3


@examples(200)
@given(totals)
def test_nonnegative_changes_nothing_the_second_time(values):
    once = infer.nonnegative(values)
    np.testing.assert_allclose(infer.nonnegative(once), once, rtol=1e-9, atol=1e-6)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40))
def test_nonnegative_leaves_what_is_right_already(values):
    assert infer.nonnegative(np.array(values, np.float64)).tolist() == values


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([5.0], [5]),
        ([-5.0], [0]),
        ([-1.0, 4], [0, 3]),
        ([4.0, -1, 2], [3.5, 0, 1.5]),
        ([-1.0, -1, 5], [0, 0, 3]),
        ([-4.0, 0, 3, 3], [0, 0, 0, 2]),
        ([-4.0, 0, 6, 0], [0, 0, 2, 0]),
    ],
)
def test_nonnegative_by_example(before, after):
    values = np.array(before)
    assert infer.nonnegative(values).tolist() == after
    assert values.tolist() == before, "the input stays as it was"


@examples(200)
@given(totals)
def test_rounded_is_whole_and_its_running_sums_are_within_a_half(values):
    found = infer.rounded(values)
    assert (found == np.rint(found)).all()
    assert np.abs(np.cumsum(found) - np.cumsum(values)).max() <= 0.5 + 1e-6


@examples(100)
@given(totals)
def test_published_totals_are_what_was_asked_for(values):
    assert infer.postprocessed(values, "none") is values
    np.testing.assert_array_equal(infer.postprocessed(values, "nonnegative"), infer.nonnegative(values))
    whole = infer.postprocessed(values, "rounded")
    assert (whole >= 0).all()
    assert (whole == np.rint(whole)).all()
    with pytest.raises(OptionError, match="Hint:"):
        infer.postprocessed(values, "positive")


@examples(100)
@given(st.lists(st.tuples(st.integers(1, 9), numbers), min_size=1, max_size=20))
def test_cells_and_running_sums_tell_the_same_story(buckets):
    widths, values = (np.array(side) for side in zip(*buckets, strict=True))
    bounds = np.concatenate(([0], np.cumsum(widths)))
    cells = infer.expanded(values, bounds)
    assert len(cells) == bounds[-1]
    np.testing.assert_allclose(np.add.reduceat(cells, bounds[:-1]), values, rtol=1e-9, atol=1e-6)
    before = infer.records_before(np.arange(bounds[-1] + 1), values, bounds)
    np.testing.assert_allclose(before, np.concatenate(([0], np.cumsum(cells))), rtol=1e-9, atol=1e-5)
