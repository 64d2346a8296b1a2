"""A plan says what would do better, and only if it does."""

import numpy as np

import dawa
from dawa.plan import planned
from dawa.plan.advice import _compared
from dawa.plan.prediction import Run

AGE = dawa.Axis("age", 0, 2048)


def test_something_better_is_named():
    """Measuring every cell alone is far worse for ranges than the default."""
    plan = planned([AGE], epsilon=0.1, records=20_000, kind="smooth", mechanism="identity")
    first = plan.advice[0]
    assert (first.mechanism, first.options, first.kinds) == ("dawa", {}, ("smooth",))
    assert first.errors[0] < 0.6
    assert "--mechanism dawa would have a smaller error" in str(first)


def test_rough_data_need_no_buckets_and_intervals_say_so():
    alternating = {"age": np.repeat(np.arange(256), np.tile([5000, 10], 128))}
    plan = planned([dawa.Axis("age", 0, 256)], epsilon=0.1, like=alternating)
    names = [(one.mechanism, one.options) for one in plan.advice if one.kinds]
    assert all(name == ("dawa", {"partition": "none"}) for name in names)
    smooth = planned([AGE], epsilon=0.1, records=20_000, kind="smooth")
    (narrow,) = [one for one in smooth.advice if one.options == {"partition": "none"}]
    assert not narrow.kinds, "its error is larger"
    assert narrow.intervals < 0.8
    assert "narrower intervals" in str(narrow)


def test_what_was_chosen_is_not_advised():
    for chosen in ({"partition": "none"}, {"aim": "guarantee"}, {"partition": "none", "effort": "best"}):
        plan = planned([dawa.Axis("age", 0, 64)], epsilon=1, records=5000, kind="smooth", **chosen)
        assert all(one.options != {"partition": "none"} for one in plan.advice)


def runs(errors, intervals=(1.0, 1.0, 1.0, 1.0)):
    return {"smooth": [Run(error, error, error, length, 1.0) for error, length in zip(errors, intervals, strict=True)]}


def test_chance_is_no_gain():
    better = _compared("x", {}, runs([10, 12, 14, 16]), runs([8, 9.5, 11.4, 13]))
    assert better.kinds == ("smooth",)
    noisy = _compared("x", {}, runs([10, 12, 14, 16]), runs([2, 30, 5, 40]))
    assert (noisy.kinds, noisy.intervals) == ((), None)
    little = _compared("x", {}, runs([10, 12, 14, 16]), runs([9.9, 11.8, 13.9, 15.8]))
    assert not little.kinds


def test_no_intervals_are_not_narrower():
    none = _compared("x", {}, runs([1, 1, 1, 1]), runs([1, 1, 1, 1], [float("nan")] * 4))
    assert none.intervals is None


def test_buckets_that_are_given_are_compared_too():
    plan = planned([AGE], epsilon=1, records=5000, kind="smooth", partition=np.array([0, 700, 2048]))
    assert ("dawa", {}) in [(one.mechanism, one.options) for one in plan.advice]
