"""Several mechanisms on a public table."""

import numpy as np
import pytest

import dawa
from dawa.plan import compared

AGE = dawa.Axis("age", 0, 512)
PEOPLE = {"age": np.random.default_rng(0).normal(200, 60, 20_000).clip(0, 511)}


def test_the_best_comes_first():
    found = compared(PEOPLE, AGE, ["identity", "dawa", "uniform"], epsilons=["0.1", 1], runs=4)
    assert (found.records, found.shape, found.runs) == (20_000, (512,), 4)
    for epsilon in (dawa.budget.exact("0.1"), 1):
        rows = [row for row in found.rows if row.epsilon == epsilon]
        assert [row.mechanism for row in rows] == ["dawa", "identity", "uniform"]
        assert rows[0].ratio == 1
        assert rows[0].tied
        assert not rows[2].tied
        assert rows[2].ratio == pytest.approx(rows[2].errors.mean / rows[0].errors.mean)
    assert found.errors()["dawa"].keys() == {"ε = 0.1", "ε = 1"}


def test_errors_are_those_of_the_truth():
    """What dawa.estimate says, with the seeds and the ranges of a comparison, beside the counts."""
    from dawa.plan.prediction import asked_of  # noqa: PLC0415  beside their use
    from dawa.plan.standins import SEED  # noqa: PLC0415

    found = compared(PEOPLE, AGE, ["identity"], epsilons=[1], runs=2)
    counts = np.bincount(PEOPLE["age"].astype(int), minlength=512)
    asked = asked_of(None, (512,))
    errors = [
        np.abs(
            dawa.estimate(counts, epsilon=1, mechanism="identity", seed=SEED + run).answers(asked)
            - asked.answers(counts)
        ).mean()
        for run in range(2)
    ]
    assert found.rows[0].errors.mean == pytest.approx(np.mean(errors))


def test_what_does_not_take_the_domain_is_left_out_and_said():
    axis = dawa.Axis("age", 0, 512, step="1/64")
    found = compared(PEOPLE, axis, ["dawa", "dawa-2014-all"], epsilons=[1], runs=2)
    assert list(found.refused) == ["dawa-2014-all"]
    assert "cells" in found.refused["dawa-2014-all"]
    assert {row.mechanism for row in found.rows} == {"dawa"}


def test_as_json():
    found = compared(PEOPLE, AGE, ["dawa"], epsilons=["1/3"], runs=2).to_json()
    assert found["rows"][0]["epsilon"] == "1/3"
    assert found["private"] is False


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"names": ["dewa"]}, "no mechanism"),
        ({"names": ["dawa", "dawa"]}, "named twice"),
        ({"runs": 1}, "large enough"),
        ({"epsilons": [0]}, "positive"),
        ({"effort": "great"}, "effort"),
        ({"where": "x >"}, "condition|where|value"),
    ],
)
def test_wrong_questions_are_refused(options, match):
    with pytest.raises(dawa.DawaError, match=match):
        compared(PEOPLE, AGE, **options)


def test_bounds_have_to_be_known():
    with pytest.raises(dawa.AxisError, match="bounds"):
        compared(PEOPLE, dawa.Axis.auto("age", 1))


def test_if_none_takes_it_that_is_an_error():
    with pytest.raises(dawa.OptionError, match="None of these"):
        compared(PEOPLE, dawa.Axis("age", 0, 512, step="1/64"), ["dawa-2014-all"], epsilons=[1], runs=2)
