"""The search for epsilon finds what trying all of them would, with few tries."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import BudgetError, OptionError
from dawa.plan import search
from dawa.plan.prediction import Prediction
from dawa.plan.search import EPSILONS, Point, least, target
from dawa.plan.trial import Trial

TRIAL = Trial(1000, {})


def point(epsilon, error):
    return Point(epsilon, (Prediction("x", 1, error, error, error, None, 1.0, error, error, 0.0),))


@given(
    st.floats(0.3, 2),
    st.floats(1e-3, 1e6),
    st.floats(0, 3),
    st.sampled_from([Fraction(0), Fraction(1, 1000), EPSILONS[9]]),
)
def test_it_finds_the_least(slope, scale, floor, smallest):
    """Errors that fall as epsilon grows, at any speed, and budgets that are too small to be spent."""
    tried = []

    def error(epsilon):
        return scale * float(epsilon) ** -slope + floor

    def made(_trial, _settings, epsilon):
        tried.append(epsilon)
        if epsilon < smallest:
            raise BudgetError("Too small.", "raise it.")
        return point(epsilon, error(epsilon))

    wanted = 2 * floor + 5.0
    enough = [epsilon for epsilon in EPSILONS if epsilon >= smallest and error(epsilon) <= wanted]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_point", made)
        if not enough:
            with pytest.raises(OptionError, match="Not even"):
                least(TRIAL, None, wanted)
        else:
            found, points = least(TRIAL, None, wanted)
            assert found.epsilon == enough[0]
            assert {one.epsilon for one in points} <= set(tried)
    assert len(tried) == len(set(tried))
    assert len(tried) <= 20


def test_numbers_are_such_as_people_write():
    assert EPSILONS[0] == Fraction(1, 10**5)
    assert EPSILONS[-1] == 10
    assert sorted(EPSILONS) == list(EPSILONS)
    assert all(
        len(str(float(epsilon)).replace("0", "").replace(".", "").partition("e")[0]) <= 2 for epsilon in EPSILONS
    )


@pytest.mark.parametrize(
    ("within", "records"), [("500", 500), (500, 500), ("0.5 %", 5), ("1/2", 0.5), (Fraction(1, 4), 0.25), (" 2% ", 20)]
)
def test_an_accuracy_in_records(within, records):
    assert target(within, 1000)[0] == records


@pytest.mark.parametrize("within", ["", "%", "5 records", None, True, [5], float("nan"), 0, "0%", "1e400%"])
def test_no_accuracy(within):
    with pytest.raises(OptionError):
        target(within, 1000)
