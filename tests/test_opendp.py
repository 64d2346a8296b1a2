"""DAWA as a measurement of OpenDP: what its map says, what it really loses, and where it chains."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import check, measure
from dawa import opendp as ours
from dawa.budget import rounded_up
from dawa.noise import discrete
from dawa.opendp import make_dawa, register, then_dawa
from dawa_bench.audit.chances import ENDLESS, lost
from dawa_bench.audit.watch import drawn, replaying, watched

AGE = dawa.Axis("age", 0, 8)
INTS, FLOATS, TEXTS = (dp.vector_domain(dp.atom_domain(T=kind)) for kind in (int, float, str))
ROWS, COUNTED = dp.symmetric_distance(), dp.l1_distance(T=int)
FRAME = {"age": [3, 4, 4, None, 90], "sex": ["f", "m", "f", "m", "m"], "who": [1, 2, 3, 4, 4]}
PAGE = Path(__file__).parents[1] / "docs/opendp.md"
EPSILONS = st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6)


@pytest.fixture(autouse=True)
def _features():
    """Each test enables what it needs, as a script would."""
    before = set(dp.GLOBAL_FEATURES)
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.GLOBAL_FEATURES.clear()
    dp.GLOBAL_FEATURES.update(before)


def context(data, budget=1.0, **unit):
    register()
    return dp.Context.compositor(
        data=data, privacy_unit=dp.unit_of(**unit), privacy_loss=dp.loss_of(epsilon=budget), split_evenly_over=2
    )


def framed(frame=FRAME, **unit):
    return context(pl.LazyFrame(frame), **unit).accountant.input_space


# The map


@given(distance=st.integers(0, 2**31), epsilon=EPSILONS, steps=st.sampled_from([1, 2]))
def test_losses_are_exact_and_rounded_up_by_less_than_one_float(distance, epsilon, steps):
    exact = ours.loss(distance, steps, epsilon)
    assert exact == distance * steps * epsilon
    said = rounded_up(exact)
    assert Fraction(said) >= exact
    assert not exact or Fraction(math.nextafter(said, 0)) < exact
    assert rounded_up(ours.loss(distance + 1, steps, epsilon)) >= said


@given(st.floats(1e-8, 1e5))
def test_a_float_is_never_exceeded_and_hardly_missed(epsilon):
    measurement = make_dawa(INTS, COUNTED, 8, epsilon)
    said = measurement.map(1)
    assert math.nextafter(math.nextafter(epsilon, 0), 0) <= said <= epsilon
    assert measurement.check(1, epsilon)


@given(one=st.floats(1e-8, 1e5), two=st.floats(1e-8, 1e5))
def test_more_is_never_read_as_less(one, two):
    low, high = sorted((one, two))
    assert ours._spent(low) <= ours._spent(high)


@pytest.mark.parametrize(
    ("space", "options", "said"),
    [
        ((INTS, ROWS), {}, 3),
        ((INTS, dp.insert_delete_distance()), {}, 3),
        ((dp.vector_domain(dp.atom_domain(T=int), 5), dp.change_one_distance()), {}, 6),
        ((dp.vector_domain(dp.atom_domain(T=int), 5), dp.hamming_distance()), {}, 6),
    ],
    ids=["rows", "in-order", "changed", "changed-in-order"],
)
def test_the_map_is_epsilon_times_the_steps(space, options, said):
    measurement = make_dawa(*space, AGE, "1/3", **options)
    assert [measurement.map(distance) for distance in (0, 3, 9)] == [0, said / 3, said]
    assert str(measurement.output_measure) == "MaxDivergence"


@pytest.mark.parametrize(("unit", "steps"), [("contributions", 1), ("changes", 2)])
def test_identifiers_are_units(unit, steps):
    space = framed(**{unit: 1}, identifier=pl.col("who"))
    measurement = make_dawa(*space, AGE, "1/4", max_rows_per_unit=2)
    assert measurement.map(6) == 1.5 * steps
    privacy = measurement(pl.LazyFrame(FRAME)).privacy
    assert (privacy.epsilon, privacy.unit_columns, privacy.max_rows_per_unit) == (Fraction(1, 4), ("who",), 2)


def test_distances_of_counts_may_be_floats_and_are_whole():
    measurement = make_dawa(INTS, dp.l1_distance(T=float), None, "1/10")
    assert measurement.map(2.9) == measurement.map(2.0) == 0.2
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(dp.OpenDPException, match="no distance"):
            measurement.map(wrong)


@pytest.mark.parametrize("epsilon", ["1/3", 0.3, 0.1, Fraction(2, 7), 2])
def test_the_map_says_what_is_spent(epsilon):
    measurement = make_dawa(INTS, ROWS, AGE, epsilon)
    spent = measurement([1, 2, 99]).privacy
    assert measurement.map(1) == rounded_up(spent.epsilon)
    assert sum(spent.split.values()) == spent.epsilon
    assert spent.private
    assert make_dawa(INTS, COUNTED, 3, epsilon)([1, 2, 3]).epsilon == spent.epsilon


# What is really lost: two runs are made to say the same at every gate, through OpenDP


def losses(measurement, one, two):
    """What transcripts tell of which of two inputs it was, some of them where each of them tells most."""
    likeliest = lambda asking, draw: asking.exact if asking.scales else draw()  # noqa: E731  coins are drawn
    for first, second, answering in ((one, two, likeliest), (two, one, likeliest), (one, two, drawn)):
        with watched(answering) as seen:
            said = measurement(first)
        with watched(replaying(seen.given)) as replayed:
            same = measurement(second)
        assert len(seen.asked) == len(replayed.asked)
        told = sum(map(lost, seen.asked, replayed.asked, seen.given), Decimal(0))
        yield abs(told) if plain(said) == plain(same) else ENDLESS


def plain(said):
    text = said.as_text() if hasattr(said, "as_text") else repr((said.cells.tolist(), said.split))
    return re.sub(r'"id": ?"[^"]*"', "", text)


def most(measurement, pairs):
    return max(loss for one, two in pairs for loss in losses(measurement, one, two))


IN_ROWS = [([3] * 9, [3] * 10), ([7], [7, 10**9]), ([0, 1, 2, 3, 3], [0, 1, 1, 2, 3, 3])]
MECHANISMS = ["identity", "dawa", *(pytest.param(name, marks=pytest.mark.long) for name in ("hb", "privelet"))]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_row_loses_what_the_map_says(mechanism):
    measurement = make_dawa(INTS, ROWS, AGE, 1, mechanism=mechanism)
    worst = most(measurement, IN_ROWS)
    assert worst <= measurement.map(1)
    assert worst > 0.45, "as tight as what one part of the mechanism spends"
    assert mechanism != "identity" or worst > 0.99


@pytest.mark.parametrize(
    ("space", "pairs"),
    [
        (FLOATS, [([math.nan, 1.5], [math.nan, 1.5, math.nan]), ([2.5], [2.5, -math.inf])]),
        (TEXTS, [(["3"], ["3", ""]), (["3", "?"], ["3", "?", "1e400"])]),
    ],
    ids=["floats", "texts"],
)
def test_missing_and_unreadable_values_lose_no_more(space, pairs):
    assert 0.99 < most(make_dawa(space, ROWS, AGE, 1, mechanism="identity"), pairs) <= 1


def test_several_rows_lose_as_many_times_that():
    measurement = make_dawa(INTS, ROWS, AGE, "1/2", mechanism="identity")
    assert 1.48 < most(measurement, [([1], [1, 1, 1, 1]), ([1, 2], [3, 99, 99, 1, 2])]) <= 1.5
    assert measurement.map(3) == 1.5


def test_a_changed_row_loses_twice_epsilon():
    space = dp.vector_domain(dp.atom_domain(T=int), 3), dp.change_one_distance()
    measurement = make_dawa(*space, AGE, "1/2", mechanism="identity")
    assert 0.99 < most(measurement, [([1, 1, 1], [1, 1, 6]), ([2, 3, 4], [2, 3, -9])]) <= measurement.map(1) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_counts_lose_what_the_map_says(mechanism):
    measurement = make_dawa(INTS, COUNTED, 4, "1/2", mechanism=mechanism)
    pairs = [([0, 0, 0, 0], [0, 0, 1, 0]), ([9, 0, 9, 0], [9, 0, 10, 0]), ([-7, 3, 3, 3], [-8, 3, 3, 3])]
    assert most(measurement, pairs) <= measurement.map(1) == 0.5
    far = [([5, 5, 5, 5], [4, 6, 5, 6]), ([-4, 0, 3, 0], [-2, 0, 3, 1])]
    assert most(measurement, far) <= measurement.map(3) == 1.5
    assert most(make_dawa(INTS, COUNTED, 4, "1/2", mechanism="identity"), far) > 1.48


def test_an_identifier_loses_epsilon_with_all_of_its_rows():
    space = framed({"age": [1], "who": [1]}, contributions=1, identifier=pl.col("who"))
    measurement = make_dawa(*space, AGE, 1, max_rows_per_unit=2, mechanism="identity")
    rows = [(3, 1), (3, 2), (5, 2)]
    more = [*rows, (3, 7), (3, 7)]
    one, two = (pl.LazyFrame(table, schema=["age", "who"], orient="row") for table in (rows, more))
    assert 0.99 < most(measurement, [(one, two)]) <= 1


def test_half_the_noise_is_found(monkeypatch):
    """The same look at a mechanism that is broken on purpose."""
    own = discrete.coarsened
    monkeypatch.setattr(check, "within", lambda *_: None)
    monkeypatch.setattr(measure.discrete, "coarsened", lambda scale: own(scale / 2))
    assert most(make_dawa(INTS, ROWS, AGE, 1, mechanism="identity"), IN_ROWS) > 1.9


# In chains and contexts


def test_the_page_runs_as_it_is_written():
    """What a new user of OpenDP would write: DAWA in a context, beside ``dp.len``; and totals are right."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    said = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), said)  # noqa: S102  our own page
    ages = said["patients"].collect()["age"]
    # Laplace noise of scale 2 is beyond 42 once in 10^9 runs.
    assert abs(said["patient_count"] - len(ages)) <= 42
    sure = said["release"].answer(0, 120, confidence=1 - 1e-8)
    assert sure.low <= len(ages) - ages.null_count() <= sure.high
    assert sure.value == said["release"].total.value


def test_a_query_finds_the_largest_epsilon_that_its_share_allows():
    asked = context([1, 2, 3], contributions=3)
    first, share = asked.query().dawa(AGE).release().privacy.epsilon, asked.current_privacy_loss()[0]
    assert rounded_up(3 * first) <= share == 0.5
    assert rounded_up(3 * (first + Fraction(1, 10**15))) > share
    asked.query().dawa(AGE, mechanism="identity").release()
    with pytest.raises(ValueError, match="exhausted"):
        asked.query()


def test_a_compositor_refuses_what_is_too_much_and_keeps_its_budget():
    asked = context([1, 2, 3], contributions=2)
    with pytest.raises(dp.OpenDPException):
        asked(make_dawa(INTS, ROWS, AGE, 0.3))
    assert asked.remaining_privacy_loss() == [0.5, 0.5]
    asked(make_dawa(INTS, ROWS, AGE, 0.25))


@pytest.mark.parametrize("loss", [{"rho": 0.5}, {"epsilon": 1.0, "delta": 1e-9}], ids=["zCDP", "approximate"])
def test_other_measures_take_pure_privacy(loss):
    register()
    asked = dp.Context.compositor(
        data=[1, 2], privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(**loss), split_evenly_over=1
    )
    assert asked.query().dawa(AGE).release().privacy.epsilon == 1


def test_a_part_of_a_budget_that_is_too_small_says_so():
    register()
    asked = dp.Context.compositor(
        data=[1, 2],
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_by_weights=[1, 1e30],
    )
    with pytest.raises(dawa.BudgetError, match="positive") as caught:
        asked.query().dawa(AGE).release()
    assert "more weight" in caught.value.hint


def test_counts_chain_after_categories_and_bins():
    rows = (TEXTS, ROWS)
    counted = rows >> dp.t.then_count_by_categories(categories=["a", "b"], MO="L1Distance<i32>")
    found = (counted >> then_dawa(3, 50, mechanism="identity"))(["a"] * 40 + ["b"] * 9 + ["?"])
    assert np.abs(found.cells - [40, 9, 1]).max() <= 2, "beyond 2 at scale 1/50 once in 10^43 runs"
    binned = (INTS, ROWS) >> dp.t.then_find_bin([2, 4]) >> then_dawa(dawa.Axis("bin", 0, 3), 5)
    assert binned([1, 3, 3, 9]).axes[0].size == 3
    read = rows >> dp.t.then_cast_default(TOA=int) >> then_dawa(AGE, 0.5) >> (lambda made: made.axes[0].column)
    assert read(["3", "x"]) == "age"
    assert read.map(2) == 1


def test_a_length_that_was_named_is_checked():
    counted = (TEXTS, ROWS) >> dp.t.then_count_by_categories(categories=["a", "b"], MO="L1Distance<i32>")
    with pytest.raises(dp.OpenDPException, match="not 2 counts"):
        (counted >> then_dawa(2, 1))(["a"])
    assert (counted >> then_dawa(None, 1))(["a"]).cells.shape == (3,)


def test_counts_out_of_range_have_an_outcome():
    found = make_dawa(INTS, COUNTED, None, 50, mechanism="identity")([-(2**31), 2**31 - 1])
    assert abs(found.cells[0]) <= 2
    assert abs(found.cells[1] - (2**31 - 1)) <= 2
    wide = make_dawa(dp.vector_domain(dp.atom_domain(T="u64")), COUNTED, None, 50, mechanism="identity")
    assert wide([2**64 - 1, 0]).cells[0] <= 2**44 + 2


def test_frames_have_groups_and_conditions():
    space = framed(contributions=1)
    found = make_dawa(*space, AGE, 1, by="sex", groups=iter(["f", "m"]), where="age < 50")(pl.LazyFrame(FRAME))
    assert isinstance(found, dawa.GroupedRelease)
    two = make_dawa(*space, [AGE, dawa.Axis("who", 0, 4)], 1)(pl.LazyFrame(FRAME))
    assert [axis.column for axis in two.axes] == ["age", "who"]


def test_groups_stay_what_they_were_when_the_measurement_was_made():
    lists = {"sex": ["f", "m"]}
    spaces = framed(contributions=1)
    measurements = [make_dawa(*spaces, AGE, 1, by=by) for by in (lists, {"sex": iter(["f", "m"])})]
    measurements.append(make_dawa(*spaces, AGE, 1, by=["sex"], groups=iter([iter(["f", "m"])])))
    lists["sex"].append("x")
    for measurement in measurements:
        assert measurement(pl.LazyFrame(FRAME)).groups == ("f", "m")


# What is refused, before there is data


@pytest.mark.parametrize(
    ("space", "axes", "options", "told"),
    [
        ((INTS, dp.l2_distance(T=int)), None, {}, "nothing is proven"),
        ((FLOATS, dp.l1_distance(T=float)), None, {}, "nothing is proven"),
        ((dp.atom_domain(T=int), dp.absolute_distance(T=int)), AGE, {}, "nothing is proven"),
        ((dp.atom_domain(T=int), dp.discrete_distance()), AGE, {}, "nothing is proven"),
        ((INTS, ROWS), None, {}, "need an axis"),
        ((INTS, ROWS), 8, {}, "need an axis"),
        ((INTS, ROWS), [AGE, dawa.Axis("b", 0, 2)], {}, "one column"),
        ((INTS, ROWS), dawa.Axis.dates("day", "2020-01-01", "2021-01-01"), {}, "dates"),
        ((INTS, ROWS), AGE, {"mechanism": "efpa"}, "noise of its answers"),
        ((INTS, ROWS), AGE, {"workload": dawa.workloads.prefixes(9)}, "workload"),
        ((INTS, ROWS), AGE, {"by": "sex", "groups": ["f"]}, "sex"),
        ((INTS, ROWS), AGE, {"max_rows_per_unit": 2}, "without a unit"),
        ((INTS, ROWS), AGE, {"about": "words"}, "About"),
        ((INTS, ROWS), AGE, {"seed": 1}, "no option 'seed'"),
        ((INTS, ROWS), AGE, {"unit": "age"}, "no option 'unit'"),
        ((INTS, ROWS), AGE, {"ledger": "x.db"}, "no option 'ledger'"),
        ((INTS, COUNTED), AGE, {}, "no axis"),
        ((INTS, COUNTED), 0, {}, "no axis"),
        ((INTS, COUNTED), 4, {"where": "x > 1"}, "about rows"),
        ((INTS, COUNTED), 4, {"other": True}, "about rows"),
        ((INTS, COUNTED), 4, {"workload": dawa.workloads.prefixes(9)}, "workload"),
        ((INTS, COUNTED), None, {"strategy": "nope"}, "strategy"),
        ((dp.vector_domain(dp.atom_domain(T=int), 5), COUNTED), 4, {}, "5 counts"),
    ],
)
def test_what_does_not_fit_is_refused_before_there_is_data(space, axes, options, told):
    with pytest.raises(dawa.DawaError, match=told):
        make_dawa(*space, axes, 1, **options)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, 1e7, None, AGE])
def test_epsilon_is_checked(epsilon):
    with pytest.raises(dawa.BudgetError):
        make_dawa(INTS, ROWS, AGE, epsilon)


def test_spaces_of_frames_are_checked():
    with pytest.raises(dawa.OptionError, match="computed"):
        make_dawa(*framed(contributions=1, identifier=pl.col("who") % 2), AGE, 1, max_rows_per_unit=1)
    with pytest.raises(dawa.OptionError, match="nothing is proven"):
        make_dawa(*framed(contributions=[dp.polars.Bound(per_group=1)]), AGE, 1)
    with pytest.raises(dawa.OptionError, match="max_rows_per_unit"):
        make_dawa(*framed(contributions=1, identifier=pl.col("who")), AGE, 1)
    with pytest.raises(dawa.AxisError, match="height"):
        make_dawa(*framed(contributions=1), dawa.Axis("height", 0, 5), 1)


@pytest.mark.parametrize("feature", ours.FEATURES)
def test_features_that_are_off_are_named(feature):
    dp.disable_features(feature)
    with pytest.raises(dawa.OptionError, match=f"{feature} is not enabled") as caught:
        then_dawa(AGE, 1)
    assert "dp.enable_features('contrib', 'honest-but-curious')" in caught.value.hint


def test_without_opendp_it_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    with pytest.raises(dawa.InstallationError, match=r"pip install 'dawa\[opendp\]'"):
        register()


def test_a_failure_quotes_no_value():
    counted = make_dawa(INTS, COUNTED, 3, 1)
    with pytest.raises(dp.OpenDPException) as caught:
        counted([777_777, 777_777])
    assert "777" not in str(caught.value)
