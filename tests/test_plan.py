"""A plan says before what the release will say after, from public inputs alone."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import pipeline, workloads
from dawa.errors import BudgetError, OptionError, WorkloadError
from dawa.plan import Plan, planned
from dawa.results.margins import margin_factor

AGE = dawa.Axis("age", 0, 512)
PEOPLE = {"age": np.arange(3000) % 400, "person": np.arange(3000) // 5, "x": np.arange(3000) % 8}


@pytest.mark.parametrize("mechanism", dawa.mechanisms.names(with_error_bars=True))
@pytest.mark.parametrize("axes", [(AGE,), (dawa.Axis("age", 0, 32), dawa.Axis("x", 0, 8))], ids=["line", "map"])
def test_the_split_is_that_of_the_release_and_noise_too_if_it_is_known(mechanism, axes):
    try:
        rel = dawa.release(PEOPLE, axes, epsilon=1, mechanism=mechanism, seed=0)
    except dawa.DawaError as error:
        with pytest.raises(type(error)):
            planned(axes, epsilon=1, mechanism=mechanism)
    else:
        plan = planned(axes, epsilon=1, mechanism=mechanism)
        assert plan.split == rel.privacy.split
        if not plan.looks:
            known = rel.estimate.noise_rmse(pipeline.asked(None, plan.shape))
            assert plan.expected[0].rmse == pytest.approx(known), "it did look"


@pytest.mark.parametrize("mechanism", ["identity", "greedy-h", "hierarchical", "hb", "privelet", "uniform"])
def test_the_noise_of_what_does_not_look_is_exact(mechanism):
    asked = workloads.uniform(512, 100)
    plan = planned([AGE], epsilon=Fraction(1, 2), workload=asked, mechanism=mechanism)
    assert not plan.looks
    (expected,) = plan.expected
    rel = dawa.release(PEOPLE, AGE, epsilon=Fraction(1, 2), workload=asked, mechanism=mechanism)
    assert expected.rmse == pytest.approx(rel.estimate.noise_rmse(asked))
    assert expected.buckets == len(rel.estimate.buckets)


def test_it_agrees_with_the_recommendation():
    from dawa.mechanisms.ranking import recommended  # noqa: PLC0415  beside its use

    asked = workloads.all_ranges(256)
    ranking = {ranked.name: ranked.rmse for ranked in recommended(asked, effort="fast")}
    for name in ("identity", "greedy-h", "hb"):
        (expected,) = planned([dawa.Axis("a", 0, 256)], epsilon=1, mechanism=name).expected
        assert expected.rmse == pytest.approx(ranking[name])


def test_the_default_says_how_noise_grows_with_buckets():
    plan = planned([AGE], epsilon=0.5)
    assert plan.looks
    assert [line.buckets for line in plan.expected] == [16, 64, 256, 512]
    noise = [line.rmse for line in plan.expected]
    assert noise == sorted(noise)
    assert plan.expected[0].margin == pytest.approx(margin_factor(0.0375) * noise[0]), "less the walk's part"
    assert "depends on the data" in plan.accuracy
    rel = dawa.release(PEOPLE, AGE, epsilon=0.5, effort="fast", seed=0)
    assert rel.estimate.noise_rmse(workloads.all_ranges(512)) <= 1.02 * noise[-1], "single cells are the most"


def test_noise_is_that_of_equal_buckets():
    """The same partition given for nothing, with what the walk leaves of the budget."""
    plan = planned([AGE], epsilon=0.5)
    left = plan.epsilon - plan.split["partition"]
    same = dawa.estimate(np.zeros(512, int), epsilon=left, partition=np.arange(0, 513, 32), effort="fast")
    assert plan.expected[0].rmse == pytest.approx(same.noise_rmse(workloads.all_ranges(512)))


def test_a_unit_makes_noise_as_many_times_larger():
    one = planned([AGE], epsilon=1, unit="person", max_rows_per_unit=1, mechanism="identity")
    three = planned([AGE], epsilon=1, unit="person", max_rows_per_unit=3, mechanism="identity")
    assert three.expected[0].rmse == pytest.approx(3 * one.expected[0].rmse, rel=1e-3)
    assert three.split == one.split, "the person loses as much"
    assert "at most 3 will be counted" in three.protected
    assert "Each row" in planned([AGE], epsilon=1, mechanism="identity").protected


def test_a_huge_domain_is_planned_without_listing_it():
    plan = planned([dawa.Axis("address", 0, 2**40)], epsilon=1)
    assert plan.expected[-1].buckets < 2**15
    assert "at most" not in plan.accuracy
    assert not planned([dawa.Axis("address", 0, 2**30)], epsilon=1, mechanism="identity").expected
    assert "depends on the data" in planned([dawa.Axis("a", 0, 2**30)], epsilon=1, mechanism="identity").accuracy


def test_public_buckets_cost_nothing_and_may_be_cut():
    plan = planned([AGE], epsilon=1, partition=[0, 18, 65, 512])
    assert not plan.looks
    assert plan.split["measure"] == 1
    assert "cut one of its buckets" in plan.accuracy


def test_a_map():
    axes = dawa.Axis("lon", 0, 20), dawa.Axis("lat", 0, 30)
    plan = planned(axes, epsilon=1, workload=workloads.random_rectangles((20, 30), 50))
    assert (plan.shape, plan.queries) == ((20, 30), 50)
    assert all(math.isfinite(line.rmse) and line.rmse > 0 for line in plan.expected)


def test_as_json():
    found = planned([AGE], epsilon="1/3").to_json()
    assert found["epsilon"] == "1/3"
    assert sum(Fraction(part) for part in found["split"].values()) == Fraction(1, 3)
    assert found["expected"][0].keys() == {"buckets", "rmse", "margin"}
    assert isinstance(found["accuracy"], str)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"epsilon": 0}, BudgetError),
        ({"mechanism": "dewa"}, OptionError),
        ({"mechanism": "mwem"}, OptionError),
        ({"effort": "great"}, OptionError),
        ({"max_rows_per_unit": 3}, OptionError),
        ({"unit": "person", "max_rows_per_unit": 0}, OptionError),
        ({"workload": workloads.all_ranges(5)}, WorkloadError),
        ({"partition": [0, 5]}, OptionError),
    ],
)
def test_what_a_release_refuses_a_plan_refuses(options, error):
    with pytest.raises(error):
        planned([AGE], **{"epsilon": 1, **options})
    with pytest.raises(error):
        dawa.release(PEOPLE, AGE, **{"epsilon": 1, **options})


def test_a_plan_is_a_value():
    assert isinstance(planned([AGE], epsilon=1), Plan)
    assert planned([AGE], epsilon=1) == planned([AGE], epsilon=1)


@pytest.mark.parametrize("cells", [128, 512, 2**16 + 1])
def test_a_plan_for_narrow_promises_is_made_for_all_cells(cells):
    """On few cells it measures each, and on more it looks at the data: a plan may not try the former for the latter."""
    axis = dawa.Axis("a", 0, cells)
    plan = planned([axis], epsilon=1, aim="guarantee", effort="fast")
    est = dawa.estimate(dawa.Counts.none((cells,)), epsilon=1, aim="guarantee", effort="fast", seed=0)
    assert plan.split == est.split
    assert plan.looks == (cells > 128)
