"""A plan says before what the release will say after, from public inputs alone."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import pipeline, workloads
from dawa.errors import AxisError, BudgetError, OptionError, WorkloadError
from dawa.partition import Walk
from dawa.plan import KINDS, Plan, planned
from dawa.plan.search import EPSILONS
from dawa.plan.standins import standin
from dawa.results.margins import margin_factor

AGE = dawa.Axis("age", 0, 512)
PEOPLE = {"age": np.arange(3000) % 400, "person": np.arange(3000) // 5, "x": np.arange(3000) % 8}


@pytest.mark.long_but(4)
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


def test_a_plan_counts_what_a_method_with_options_of_its_own_spends():
    est = dawa.estimate([1, 2, 3], epsilon=1, partition=Walk(fine_share="0.2"), seed=0)
    assert planned([dawa.Axis("a", 0, 500)], epsilon=1, partition=Walk(fine_share="0.2")).split == est.split


@pytest.mark.parametrize("cells", [128, 512, 2**16 + 1, 2**30])
def test_a_plan_for_narrow_promises_is_made_for_all_cells(cells):
    """On few cells it measures each, and on more it looks at the data: a plan may not try the former for the latter."""
    axis = dawa.Axis("a", 0, cells)
    plan = planned([axis], epsilon=1, aim="guarantee", effort="fast")
    est = dawa.estimate(dawa.Counts.none((cells,)), epsilon=1, aim="guarantee", effort="fast", seed=0)
    assert plan.split == est.split
    assert plan.looks == (cells > 128)


def test_without_a_number_of_records_nothing_is_tried():
    plan = planned([AGE], epsilon=1)
    assert (plan.predictions, plan.advice, plan.curve, plan.within, plan.predicted) == ((), (), (), None, "")


def test_the_whole_error_is_predicted_for_every_kind():
    plan = planned([AGE], epsilon=0.5, records=20_000)
    assert [one.kind for one in plan.predictions] == list(KINDS)
    for one in plan.predictions:
        assert 0 < one.least <= one.mean <= one.largest
        assert one.mean <= one.rms
        assert one.mean < one.most < one.interval, "what is promised is wider than what is usual"
        assert one.typical > one.mean
    assert "With 20,000 records" in plan.predicted
    assert "depending on how rough" in plan.predicted
    assert planned([AGE], epsilon=0.5, records=20_000) == plan, "the same question has the same answer"


def test_a_prediction_holds_for_data_of_its_own_kind():
    """Other data of the kind, other noise, other ranges: the measured error is near the predicted one."""
    plan = planned([AGE], epsilon=0.5, records=20_000, kind="smooth")
    (predicted,) = plan.predictions
    fresh = workloads.uniform(512, 500, seed=5)
    errors = []
    for number in range(100, 112):
        data = standin("smooth", (512,), 20_000, number)
        est = dawa.estimate(data.counts, epsilon=0.5, effort="fast", seed=number)
        errors.append(np.abs(est.answers(fresh) - data.answers(fresh)).mean())
    assert predicted.mean / 1.5 < np.mean(errors) < 1.5 * predicted.mean


def test_a_kind_may_be_named():
    plan = planned([AGE], epsilon=0.5, records=20_000, kind=["spiky", "smooth", "spiky"])
    assert [one.kind for one in plan.predictions] == ["spiky", "smooth"]
    one = planned([AGE], epsilon=0.5, records=20_000, kind="spiky")
    assert "if they are like spiky stand-ins" in one.predicted


def test_errors_follow_the_budget_of_a_record():
    """A person with three rows has a third of epsilon for each."""
    one = planned([AGE], epsilon=0.3, records=20_000, kind="smooth", unit="person", max_rows_per_unit=1)
    three = planned([AGE], epsilon=0.9, records=20_000, kind="smooth", unit="person", max_rows_per_unit=3)
    assert one.predictions == three.predictions


def test_a_public_table_stands_in_for_the_data():
    plan = planned([AGE], epsilon=0.5, like=PEOPLE)
    assert (plan.records, plan.like, len(plan.predictions)) == (3000, True, 1)
    assert "public table" in plan.predicted
    more = planned([AGE], epsilon=0.5, like=PEOPLE, records=30_000)
    assert more.records == 30_000
    assert more.predictions[0].typical == pytest.approx(10 * plan.predictions[0].typical, rel=0.1)


def test_the_ranges_that_matter_are_those_that_are_asked():
    few = dawa.Workload.ranges([0, 100], [10, 101], 512)
    plan = planned([AGE], epsilon=0.5, records=20_000, kind="smooth", workload=few)
    every = planned([AGE], epsilon=0.5, records=20_000, kind="smooth")
    assert plan.predictions[0].typical < every.predictions[0].typical / 5


@pytest.mark.long
def test_several_axes():
    axes = dawa.Axis("lon", 0, 16), dawa.Axis("lat", 0, 16)
    plan = planned(axes, epsilon=1, records=5000)
    assert [one.kind for one in plan.predictions] == list(KINDS)
    assert all(one.mean > 0 for one in plan.predictions)


def test_a_huge_domain_is_tried_too():
    (one,) = planned([dawa.Axis("address", 0, 2**40)], epsilon=1, records=5000, kind="spiky").predictions
    assert one.mean < 5000


def test_the_least_epsilon_for_an_accuracy():
    plan = planned([AGE], within="2%", records=20_000, kind="smooth")
    assert plan.within.records == 400
    assert plan.epsilon == plan.within.epsilon
    assert plan.predictions[0].most <= 400
    assert "19 of 20 ranges within 2% of all records (400)" in plan.chosen
    epsilons = [point.epsilon for point in plan.curve]
    assert plan.epsilon in epsilons
    assert epsilons == sorted(epsilons)
    smaller = max(epsilon for epsilon in EPSILONS if epsilon < plan.epsilon)
    below = planned([AGE], epsilon=smaller, records=20_000, kind="smooth")
    assert below.predictions[0].most > 400, "the next smaller one is not enough"


def test_a_curve_without_a_target():
    plan = planned([AGE], epsilon="0.3", records=20_000, kind="smooth", curve=True)
    assert Fraction(3, 10) in [point.epsilon for point in plan.curve]
    assert plan.curve[0].most > plan.curve[-1].most
    assert plan.within is None


def test_what_cannot_be_had_is_said():
    with pytest.raises(OptionError, match="Not even epsilon = 10"):
        planned([AGE], within="0.001", records=20_000, kind="smooth")


def test_a_table_is_opened_and_a_missing_one_is_not(tmp_path):
    path = tmp_path / "people.csv"
    absent = planned([AGE], epsilon=1, table=path)
    assert not absent.opened.fits
    assert "NOT opened" in absent.opened.said
    path.write_text("age,person\n31,1\n", encoding="utf-8")
    there = planned([AGE], epsilon=1, table=path, unit="person", max_rows_per_unit=1)
    assert there.opened.fits
    with pytest.raises(AxisError, match="aeg"):
        planned([dawa.Axis("aeg", 0, 512)], epsilon=1, table=path)
    with pytest.raises(AxisError, match="persn"):
        planned([AGE], epsilon=1, table=path, unit="persn", max_rows_per_unit=1)


def test_bounds_that_are_still_to_be_found_have_no_errors_yet(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n31\n", encoding="utf-8")
    axis = dawa.Axis.auto("age", 1)
    assert planned([axis], epsilon=1, table=path).opened.fits
    with pytest.raises(OptionError, match="still to be found"):
        planned([axis], epsilon=1, records=1000)


def test_all_of_it_as_json():
    plan = planned([AGE], within=300, records=20_000, kind="smooth", table={"age": [1]})
    found = json.loads(json.dumps(plan.to_json()))
    assert found["within"]["epsilon"] == str(plan.epsilon)
    assert found["predictions"][0]["mean"] == plan.predictions[0].mean
    assert found["source"]["fits"] is True
    assert [Fraction(point["epsilon"]) for point in found["curve"]] == [point.epsilon for point in plan.curve]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "no epsilon"),
        ({"epsilon": 1, "within": 5, "records": 10}, "both given and to be found"),
        ({"within": 5}, "needs the number of records"),
        ({"epsilon": 1, "kind": "smooth"}, "needs the number of records"),
        ({"epsilon": 1, "curve": True}, "needs the number of records"),
        ({"epsilon": 1, "records": 0}, "not large enough"),
        ({"epsilon": 1, "records": 2.5}, "not a whole number"),
        ({"epsilon": 1, "records": 10, "kind": "wild"}, "no kind of data 'wild'"),
        ({"epsilon": 1, "like": PEOPLE, "kind": "smooth"}, "kind of the data is given"),
        ({"epsilon": 1, "like": {"age": [None]}}, "no record"),
        ({"epsilon": 1, "like": {"x": [1]}}, "age"),
        ({"within": "soon", "records": 10}, "not an accuracy"),
        ({"within": "-1%", "records": 10}, "not positive"),
    ],
)
def test_wrong_questions_are_refused(options, match):
    with pytest.raises(dawa.DawaError, match=match):
        planned([AGE], **options)
