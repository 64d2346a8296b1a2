"""Releases: what they answer, what they say about privacy, and what they are asked wrongly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa.cli.demo import people
from dawa.errors import AxisError, OptionError, ReleaseError, SourceError

AGE = dawa.Axis("age", 0, 120)


def ages(size=4000):
    return {"age": people(size)["age"]}


@pytest.fixture(scope="module")
def rel():
    return dawa.release(ages(), AGE, epsilon=1, seed=1)


# --- answers --------------------------------------------------------------------------------------------------------


def test_answers_are_near_the_truth_at_a_large_epsilon():
    table = ages()
    sharp = dawa.release(table, AGE, epsilon=1000, seed=1, partition="none")
    for lo, hi in [(0, 120), (20, 30), (44, 45)]:
        found = sharp.answer(lo, hi)
        truth = ((table["age"] >= lo) & (table["age"] < hi)).sum()
        assert found.value == pytest.approx(truth, abs=0.5)
        assert found.low <= truth <= found.high


def test_many_ranges_at_once_are_answered_as_one_by_one(rel):
    rng = np.random.default_rng(2)
    ends = np.sort(rng.choice(np.arange(0, 120.5, 0.5), (60, 2)), axis=1)
    lo, hi = ends[ends[:, 0] < ends[:, 1]].T
    one_by_one = [rel.answer(a, b) for a, b in zip(lo, hi, strict=True)]
    np.testing.assert_array_equal(rel.values(lo, hi), [found.value for found in one_by_one])
    factors = [found.noise_margin for found in one_by_one] / np.sqrt(rel.variances(lo, hi))
    assert len(np.unique(np.round(factors, 9))) == 2, "one factor with cut buckets and one without"


def test_answers_say_which_records_were_counted(tmp_path):
    table = {"age": [31, 45, 62] * 9, "who": list(range(27)), "sex": ["f", "m", "f"] * 9}
    one = dawa.release(table, AGE, epsilon=1, seed=1, where="sex = 'f'")
    assert str(one.answer(20, 30)).endswith("; of records where sex = 'f'")
    assert all(way.answer.remark == one.privacy.kept for way in one.apart())
    one.save(tmp_path / "r.json")
    assert dawa.load(tmp_path / "r.json").answer(20, 30) == one.answer(20, 30)
    both = dawa.release(table, AGE, epsilon=1, seed=1, where="sex = 'f'", unit="who", max_rows_per_unit=2)
    assert both.privacy.kept == "of at most 2 records of each value of 'who' where sex = 'f'"
    many = dawa.release(table, AGE, epsilon=1, seed=1, where=f"age in ({', '.join(map(str, range(99)))})")
    assert many.answer(20, 30).remark.endswith("…")


def test_without_ranges_the_buckets_are_answered(rel):
    np.testing.assert_allclose(rel.values(), rel.estimate.totals, atol=1e-9)
    np.testing.assert_allclose(rel.values(), rel.values(rel.bounds[:-1], rel.bounds[1:]), atol=1e-9)
    np.testing.assert_allclose(rel.variances(), rel.variances(rel.bounds[:-1], rel.bounds[1:]), rtol=1e-9)
    assert rel.bounds[0] == 0
    assert rel.bounds[-1] == 120


def test_answers_of_neighbouring_ranges_add_up(rel):
    parts = rel.values(np.arange(120), np.arange(1, 121))
    assert parts.sum() == pytest.approx(rel.answer(0, 120).value)


@pytest.mark.parametrize(("lo", "hi"), [(-1, 5), (0, 121), ("a", 5), (None, 5), (0, float("nan"))])
def test_ends_off_the_axis_are_refused(rel, lo, hi):
    for ask in (rel.answer, lambda a, b: rel.values([a], [b])):
        with pytest.raises(AxisError, match="Hint:"):
            ask(lo, hi)


def test_ranges_that_make_no_sense_are_refused(rel):
    for wrong in (lambda: rel.answer(5, 5), lambda: rel.answer(6, 5), lambda: rel.values([0, 1], [5])):
        with pytest.raises(OptionError, match="Hint:"):
            wrong()
    for ask in (rel.values, rel.variances):
        for ends in ({"lo": [1]}, {"hi": [1]}, {"lo": [[1, 2]], "hi": [[2, 3]]}):
            with pytest.raises(OptionError, match="Hint:"):
                ask(**ends)


# --- samples and quantiles ------------------------------------------------------------------------------------------


def test_samples_have_the_released_distribution(rel):
    """Kolmogorov-Smirnov on cells, a discrete distribution, where the bound is conservative."""
    size = 20_000
    drawn = rel.sample(size, seed=3)
    assert drawn.shape == (size,)
    share = np.cumsum(rel.values(np.arange(120), np.arange(1, 121))) / rel.values([0], [120])[0]
    seen = np.cumsum(np.bincount(drawn.astype(int), minlength=120)) / size
    assert np.abs(seen - share).max() <= math.sqrt(math.log(2 / 1e-6) / (2 * size))


def test_samples_are_whole_on_whole_axes_and_spread_on_others(rel):
    assert (rel.sample(1000, seed=1) == np.floor(rel.sample(1000, seed=1))).all()
    assert rel.sample(0).shape == (0,)
    fine = dawa.release({"x": np.full(500, 0.25)}, dawa.Axis("x", 0, 1, "0.1"), epsilon=10, partition="none", seed=1)
    drawn = fine.sample(2000, seed=2)
    # Nearly all records lie in one cell; within it the draw is even.
    inside = drawn[(drawn >= 0.2) & (drawn < 0.3)]
    assert len(inside) > 1900
    assert stats.kstest((inside - 0.2) / 0.1, "uniform").pvalue > 1e-6


def test_samples_repeat_with_a_seed_only(rel):
    np.testing.assert_array_equal(rel.sample(50, seed=4), rel.sample(50, seed=4))
    assert (rel.sample(50) != rel.sample(50)).any()


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), "half", None])
def test_what_is_no_fraction_is_refused(rel, wrong):
    with pytest.raises(OptionError, match="Hint:"):
        rel.quantile(wrong)


@pytest.mark.parametrize("wrong", [{"size": -1}, {"size": 1.5}, {"size": True}, {"size": "many"}, {"size": None}])
def test_what_is_no_number_of_values_is_refused(rel, wrong):
    with pytest.raises(OptionError, match="Hint:"):
        rel.sample(**wrong)


@pytest.mark.parametrize("wrong", [-1, "x", 1.5, True])
def test_what_is_no_seed_is_refused(rel, wrong):
    with pytest.raises(OptionError, match="Hint:"):
        rel.sample(10, seed=wrong)


def test_a_release_without_records_has_no_distribution():
    empty = dawa.release({"age": []}, AGE, epsilon=1000, partition="none", postprocess="rounded", seed=0)
    assert empty.answer(0, 120).value == 0
    for ask in (lambda: empty.quantile(0.5), lambda: empty.sample(3)):
        with pytest.raises(ReleaseError, match="Hint:"):
            ask()


# --- what counts ----------------------------------------------------------------------------------------------------


def test_values_outside_are_clipped_or_dropped_and_missing_ones_left_out():
    table = {"age": [-5.0, 3, 3, 200, float("nan")]}
    totals = {
        outside: dawa.release(table, dawa.Axis("age", 0, 10, outside=outside), epsilon=1000, seed=0).answer(0, 10)
        for outside in ("clip", "drop")
    }
    assert round(totals["clip"].value) == 4
    assert round(totals["drop"].value) == 2


@pytest.mark.parametrize(
    "table",
    [{}, {"years": [1]}, None, 5, [1, 2], np.zeros((3, 2)), np.zeros(3, [("years", int)]), {"age": np.array([b"a"])}],
)
def test_tables_without_the_column_are_refused(table):
    with pytest.raises((AxisError, SourceError), match="Hint:"):
        dawa.release(table, AGE, epsilon=1)


@pytest.mark.parametrize("axes", [None, "age", (), (AGE, AGE), {"age": (0, 120)}])
def test_a_release_needs_an_axis(axes):
    with pytest.raises(AxisError, match="Hint:"):
        dawa.release(ages(), axes, epsilon=1)


# --- the privacy statement ------------------------------------------------------------------------------------------


def test_the_statement_says_what_a_reader_needs():
    rel = dawa.release(ages(), AGE, epsilon="0.3", mechanism="partition-uniform")
    said, text = rel.privacy.to_json(), str(rel.privacy)
    assert said["epsilon"] == "3/10"
    assert {step: Fraction(part) for step, part in said["split"].items()} == rel.estimate.split
    assert sum(Fraction(part) for part in said["split"].values()) == Fraction(3, 10)
    assert said["neighbours"] == "one record added or removed"
    assert said["unit"] == "record"
    assert said["options"]["partition"]["method"] == "Walk"
    assert said["options"]["strategy"] == "uniform"
    assert said["private"] is True
    assert said["library"] == dawa.__version__
    assert said["statement"] == text
    for words in (
        "0.3-differentially private",
        "exp(0.3)",
        "each record",
        "one record added or removed",
        "0.051 on partition",
        "0.249 on measure",
        "partition-uniform",
        "operating system",
        f"dawa {dawa.__version__}",
    ):
        assert words in text
    assert "NOT" not in text


def test_a_seeded_release_says_loudly_that_it_is_not_private(rel):
    said = rel.privacy.to_json()
    assert said["private"] is False
    assert "NOT private" in said["randomness"]
    assert str(rel.privacy).startswith("NOT PRIVATE")
    assert "is 1-differentially private" not in str(rel.privacy), "nor does it claim the opposite afterwards"
    assert said["statement"].startswith("NOT PRIVATE")


@pytest.mark.parametrize("epsilon", ["1/3", "0.123456789", "2/7", "0.99999"])
def test_the_statement_does_not_round_epsilon_down(epsilon):
    text = str(dawa.release(ages(50), AGE, epsilon=epsilon).privacy)
    assert f"{epsilon}-differentially private" in text


def test_repr_is_short(rel):
    assert repr(rel).startswith("Release('age' from 0 to 120, epsilon=1, ")
