"""The audit's own formulas, beside sums over all that can come out."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa_bench.audit.chances import ENDLESS, HEADS, lost, most
from dawa_bench.audit.watch import Asking

SCALES = st.fractions(Fraction(1, 5), Fraction(40), max_denominator=50)
WHOLE = st.integers(-6, 6)


def noisy(exact, scale, gate="noisy"):
    return Asking(gate, tuple(exact), (Fraction(scale),))


def chance(y, exact, scale):
    """Of a discrete Laplace draw, by its definition, normalised by a sum."""
    reach = np.arange(-3000, 3001)
    return math.exp(-abs(y - exact) / scale) / np.exp(-np.abs(reach) / scale).sum()


@settings(deadline=None)
@given(WHOLE, WHOLE, WHOLE, SCALES)
def test_noise(one, two, y, scale):
    expected = math.log(chance(y, one, float(scale)) / chance(y, two, float(scale)))
    assert float(lost(noisy([one], scale), noisy([two], scale), (y,))) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=3), SCALES)
def test_no_noisy_answer_tells_more_than_the_most(both, scale):
    one, two = (noisy([each[side] for each in both], scale) for side in (0, 1))
    bound = most(one, two)
    grids = np.stack(np.meshgrid(*[np.arange(-7, 8)] * len(both)), -1).reshape(-1, len(both))
    found = max(abs(lost(one, two, tuple(map(int, y)))) for y in grids[:: max(len(grids) // 400, 1)])
    assert found <= bound + Decimal("1e-40")
    ends = tuple(max(pair) if pair[0] <= pair[1] else min(pair) for pair in both)
    assert lost(one, two, ends).copy_abs() == bound


@settings(deadline=None)
@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=2, max_size=5), SCALES, st.data())
def test_choices(both, scale, data):
    scores = [[each[side] for each in both] for side in (0, 1)]
    pick = data.draw(st.integers(0, len(both) - 1))
    weights = [np.exp(np.array(each) / float(scale)) for each in scores]
    expected = math.log((weights[0] / weights[0].sum())[pick] / (weights[1] / weights[1].sum())[pick])
    one, two = (noisy(each, scale, "chosen") for each in scores)
    assert float(lost(one, two, (pick,))) == pytest.approx(expected, abs=1e-9)


def coins(*heads):
    return Asking("tossed", heads, ())


def test_coins():
    half, third = HEADS // 2, HEADS // 3
    assert float(lost(coins(half), coins(third), (1,))) == pytest.approx(math.log(1.5))
    assert float(lost(coins(half), coins(third), (0,))) == pytest.approx(math.log(0.75))
    both = lost(coins(half, 7), coins(third, 7), (1, 1))
    assert both == lost(coins(half), coins(third), (1,))


def test_what_only_one_can_say_is_endless():
    assert lost(coins(0), coins(1), (1,)) == -ENDLESS
    assert lost(coins(1), coins(0), (1,)) == ENDLESS
    assert lost(coins(HEADS - 1), coins(HEADS), (0,)) == ENDLESS
    assert lost(noisy([1], 2), noisy([1], 3), (1,)) == ENDLESS
    assert most(noisy([1], 2), noisy([1, 1], 2)) == ENDLESS


def test_scales_of_their_own():
    one = Asking("noisy", (3, 3), (Fraction(1), Fraction(4)))
    two = Asking("noisy", (4, 5), (Fraction(1), Fraction(4)))
    assert most(one, two) == Decimal("1.5")
    assert lost(one, two, (3, 3)) == Decimal("1.5")
