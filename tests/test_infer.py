"""Post-processing: no negatives, the total kept, whole numbers that do not drift."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa import infer
from dawa.errors import OptionError

numbers = st.floats(-1e6, 1e6, allow_nan=False)
totals = st.lists(numbers, min_size=1, max_size=40).map(np.array)


def clipped(values, kept):
    """The same by recursion on the tree whose left halves are as large as they can be: the obvious twin.

    Both halves take half of what their sum has changed by, as far as they can.
    """
    if len(values) == 1:
        return [kept]
    half = 1
    while 2 * half < len(values):
        half *= 2
    left = min(max(sum(values[:half]) + (kept - sum(values)) / 2, 0), kept)
    return clipped(values[:half], left) + clipped(values[half:], kept - left)


@settings(max_examples=200, deadline=None)
@given(totals)
def test_nonnegative_has_no_negatives_and_keeps_the_total(values):
    found = infer.nonnegative(values)
    assert found.shape == values.shape
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(max(values.sum(), 0), rel=1e-9, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40))
def test_nonnegative_equals_the_recursion(values):
    assert infer.nonnegative(np.array(values, np.float64)).tolist() == clipped(values, max(sum(values), 0))


@settings(max_examples=200, deadline=None)
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
        ([4.0, -1, 2], [3, 0, 2]),
        ([-1.0, -1, 5], [0, 0, 3]),
        ([-4.0, 0, 3, 3], [0, 0, 1, 1]),
        ([-4.0, 0, 6, 0], [0, 0, 2, 0]),
    ],
)
def test_nonnegative_by_example(before, after):
    values = np.array(before)
    assert infer.nonnegative(values).tolist() == after
    assert values.tolist() == before, "the input stays as it was"


@settings(max_examples=200, deadline=None)
@given(totals)
def test_rounded_is_whole_and_its_running_sums_are_within_a_half(values):
    found = infer.rounded(values)
    assert (found == np.rint(found)).all()
    assert np.abs(np.cumsum(found) - np.cumsum(values)).max() <= 0.5 + 1e-6


@settings(max_examples=100, deadline=None)
@given(totals)
def test_published_totals_are_what_was_asked_for(values):
    assert infer.postprocessed(values, "none") is values
    np.testing.assert_array_equal(infer.postprocessed(values, "nonnegative"), infer.nonnegative(values))
    whole = infer.postprocessed(values, "rounded")
    assert (whole >= 0).all()
    assert (whole == np.rint(whole)).all()
    with pytest.raises(OptionError, match="Hint:"):
        infer.postprocessed(values, "positive")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), numbers), min_size=1, max_size=20))
def test_cells_and_running_sums_tell_the_same_story(buckets):
    widths, values = (np.array(side) for side in zip(*buckets, strict=True))
    bounds = np.concatenate(([0], np.cumsum(widths)))
    cells = infer.expanded(values, bounds)
    assert len(cells) == bounds[-1]
    np.testing.assert_allclose(np.add.reduceat(cells, bounds[:-1]), values, rtol=1e-9, atol=1e-6)
    before = infer.records_before(np.arange(bounds[-1] + 1), values, bounds)
    np.testing.assert_allclose(before, np.concatenate(([0], np.cumsum(cells))), rtol=1e-9, atol=1e-5)
