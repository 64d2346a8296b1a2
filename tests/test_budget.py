"""Budgets are exact fractions of what was typed."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import budget
from dawa.errors import BudgetError, DawaError


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/10", Fraction(1, 10)),
        (" 1e-1 ", Fraction(1, 10)),
        (1, Fraction(1)),
        (Fraction(2, 3), Fraction(2, 3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int8(1), Fraction(1)),
        (np.uint64(7), Fraction(7)),
    ],
)
def test_a_budget_is_what_was_typed(typed, meant):
    found = budget.exact(typed)
    assert found == meant
    assert type(found) is Fraction
    # Numpy's integers inside a fraction would overflow, silently, in arithmetic that claims to be exact.
    assert type(found.numerator) is int
    assert type(found.denominator) is int


@given(st.decimals(min_value="1e-9", max_value=1_000_000, places=9))
def test_floats_and_strings_are_read_alike(number):
    assert budget.exact(str(number)) == Fraction(number)
    assert budget.exact(float(number)) == Fraction(repr(float(number)))


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
def test_shares_add_up_exactly(parts):
    whole = budget.exact(0.1)
    assert sum(whole * Fraction(part, sum(parts)) for part in parts) == whole


@pytest.mark.parametrize(
    "wrong",
    [
        *(0, -1, -0.0, 1e-12, 1e7, Fraction(-1, 2)),
        *(float("nan"), float("inf"), np.inf, 1j),
        *("abc", "", "nan", "1/0", b"1"),
        *(None, True, np.True_, [1]),
    ],
)
def test_what_cannot_be_spent_is_refused(wrong):
    with pytest.raises(BudgetError, match="Hint:"):
        budget.exact(wrong)


@pytest.mark.parametrize("wrong", [0, 1, 1.5, "all", None])
def test_a_share_lies_strictly_between_nothing_and_all(wrong):
    with pytest.raises(BudgetError, match=r"part(?s:.)*Hint:"):
        budget.share(wrong, "part")
    assert budget.share("1/4", "part") == Fraction(1, 4)


def test_errors_cross_process_borders_whole():
    with pytest.raises(DawaError) as caught:
        budget.exact(-1)
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  our own bytes
    assert (type(copy), str(copy), copy.hint) == (type(caught.value), str(caught.value), caught.value.hint)


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "1E+999_999_999"])
def test_numbers_that_would_take_for_ever_to_write_out_are_refused(text):
    with pytest.raises(BudgetError, match="Hint:"):
        budget.exact(text)
    with pytest.raises(ValueError, match="more than 300 digits"):
        budget.fraction(text)
