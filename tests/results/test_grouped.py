"""Releases of groups: a mapping of releases, sums over groups that hold the truth as often as they say, and files."""

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dawa
from dawa.axis.apart import patterns
from dawa.errors import OptionError, ReleaseError
from dawa.queries.bucket_queries import BucketQueries
from dawa.results.answers import Ranged, answers
from dawa.results.margins import margin_factor
from dawa.results.statement import spent_by_all
from helpers.groups import histogram, put_together
from helpers.schemas import validator

X = dawa.Axis("x", 0, 64, outside="drop", missing="drop")
BY = {"carrier": ["AA", "UA"], "origin": ["JFK", "LGA"]}
RNG = np.random.default_rng(3)
TRUTH = [RNG.poisson(5 * (i + 1) ** 2, 64) * RNG.integers(0, 3, 64) for i in range(4)]


@pytest.fixture(scope="module")
def schema():
    return validator(3)


@pytest.fixture(scope="module")
def rel():
    return put_together(X, BY, TRUTH, seed=1)


@pytest.fixture(scope="module")
def data(rel):
    return json.loads(rel.as_text())


def load(tmp_path, content):
    path = tmp_path / "release.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return dawa.load(path)


# --- a mapping ------------------------------------------------------------------------------------------------------


def test_groups_are_all_combinations_in_order(rel):
    assert rel.groups == (("AA", "JFK"), ("AA", "LGA"), ("UA", "JFK"), ("UA", "LGA"))
    assert (list(rel), len(rel)) == (list(rel.groups), 4)
    assert ("UA", "JFK") in rel
    assert "UA" not in rel
    assert ("UA", "SFO") not in rel
    assert [label for label, _ in rel.items()] == list(rel.groups)
    assert rel.get(("AA", "SFO")) is None
    assert rel["UA", "JFK"].estimate is rel.estimates[2]


def test_a_group_is_a_release(rel):
    one = rel["UA", "JFK"]
    assert one.group == ("UA", "JFK")
    assert (one.axes, one.privacy, one.about, one.id) == (rel.axes, rel.privacy, rel.about, rel.id)
    assert one.answer(3, 20).value == pytest.approx(rel.estimates[2].answer(3, 20))
    assert "carrier='UA', origin='JFK'" in repr(one)
    assert one.quantile(0.5).low <= one.quantile(0.5).value


def test_one_column_has_plain_labels():
    rel = put_together(X, {"year": [2013, 2014]}, TRUTH[:2], seed=1)
    assert rel.groups == (2013, 2014)
    assert rel[2013] is rel["2013"] is rel[np.int64(2013)] is rel[2013,]


def test_an_unknown_group_is_refused_with_a_few_that_exist(rel):
    with pytest.raises(OptionError, match=r"'ZZ' is not a group of 'carrier' and 'origin'(?s:.)*\(AA, JFK\)"):
        rel["ZZ"]
    with pytest.raises(OptionError, match="is not a group"):
        rel["AA", "JFK", "x"]
    with pytest.raises(OptionError, match="is not a group"):
        rel[()]


@pytest.mark.parametrize("name", ["quantile", "quantiles", "mean", "sum", "band", "buckets", "estimate", "variances"])
def test_what_is_about_one_group_says_so(rel, name):
    with pytest.raises(OptionError, match=rf"{name} is asked of one group(?s:.)*rel\[\('AA', 'JFK'\)\]\.{name}"):
        getattr(rel, name)
    assert not hasattr(rel, name)


def test_what_no_release_has_is_an_ordinary_error(rel):
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        _ = rel.colour
    assert copy.copy(rel).groups == rel.groups


# --- all groups together --------------------------------------------------------------------------------------------


def test_sums_over_groups_are_the_sums_of_the_groups(rel):
    for lo, hi in ((0, 64), (3, 41), (7, 8)):
        every, each = rel.answer(lo, hi), [one.answer(lo, hi) for one in rel.values()]
        assert every.value == pytest.approx(sum(one.value for one in each))
        assert every.measured == pytest.approx(sum(one.measured for one in each))
        assert (every.lo, every.hi) == (lo, hi)
        assert every.noise_margin < sum(one.noise_margin for one in each)
    assert rel.total == rel.answer(0, 64)
    assert rel.answers([3, 7], [41, 8]) == [rel.answer(3, 41), rel.answer(7, 8)]
    assert [one for _, one in rel.answers_by_group(3, 41)] == [one.answer(3, 41) for one in rel.values()]


def test_several_groups_are_like_one_domain_that_is_longer():
    """Without a partition, one histogram over all groups' cells, one after the other, answers the same."""
    options = {"mechanism": "identity", "epsilon": Fraction(1, 2), "seed": 3}
    every, alone = histogram(np.concatenate(TRUTH), **options), histogram(TRUTH[0], **options)
    k, lo = 64, np.array([1.5, 3, 10])
    part = np.array([0.5, 1, 0.25])
    hi = lo + part
    first = np.add.outer(np.floor(lo), 64.0 * np.arange(4)).ravel()
    runs = BucketQueries(256, np.arange(0, 13, 4), first, first + 1, np.repeat(part, 4), np.ones(3), 3.0)
    expected = answers([Ranged(every, runs, np.full(3, 8.0), np.ones(3, bool))], 0.9)
    parts = [slice(g * k, (g + 1) * k) for g in range(4)]
    pieces = [replace(alone, unbiased=every.unbiased[part], totals=every.totals[part]) for part in parts]
    local = BucketQueries.of_runs(k, lo, hi)
    found = answers([Ranged(one, local, np.full(3, 2.0), np.ones(3, bool)) for one in pieces], 0.9)
    for a, b in zip(found, expected, strict=True):
        for name in ("value", "noise_margin", "measured"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9), name
        assert b.bias_bound <= a.bias_bound <= 1.3 * b.bias_bound, "half of the chance is for each group's own bound"


def test_groups_of_which_each_knows_more_are_bounded_by_what_each_knows():
    """Many smooth groups: their walks say that buckets are even, and their totals say little."""
    smooth = [np.full(64, 300)] * 8
    rel = put_together(X, {"g": list(range(8))}, smooth, 1, seed=5, effort="fast")
    both = rel.answer(5, 42)
    assert both.bias_bound < 1.5 * sum(one.answer(5, 42).bias_bound for one in rel.values())


def test_one_group_answers_as_without_groups():
    rel = put_together(X, {"sex": ["f"]}, TRUTH[3:], seed=2)
    for lo, hi in ((0, 64), (3, 41), (7, 8)):
        assert rel.answer(lo, hi) == rel["f"].answer(lo, hi)
    whole = rel.share("f", 3, 41)
    assert (whole.value, whole.low, whole.high) == (1.0, 1.0, 1.0)


def test_groups_of_one_release_have_independent_noise(rel):
    both = rel["AA", "JFK"].difference((3, 41), (3, 41), rel["UA", "LGA"])
    variances = [one.variances([3], [41])[0] for one in (rel["AA", "JFK"], rel["UA", "LGA"])]
    assert both.noise_margin < 1.001 * margin_factor(0.025) * math.sqrt(sum(variances))
    itself = rel["AA", "JFK"].difference((3, 41), (3, 41))
    assert itself.noise_margin == pytest.approx(0, abs=1e-6)


def test_records_in_no_group(rel):
    found = rel.apart()
    assert [kind.label for kind in found] == [
        "origin not listed",
        "origin missing",
        "carrier not listed",
        "carrier not listed and origin not listed",
        "carrier not listed and origin missing",
        "carrier missing",
        "carrier missing and origin not listed",
        "carrier missing and origin missing",
    ]
    assert all(kind.answer.low <= 7 <= kind.answer.high for kind in rel.apart(0.9999))


def test_tables(rel):
    table = rel.to_pandas()
    assert list(table.columns[:4]) == ["carrier", "origin", "lo", "hi"]
    one = table[(table.carrier == "UA") & (table.origin == "LGA")].drop(columns=["carrier", "origin"])
    pd.testing.assert_frame_equal(one.reset_index(drop=True), rel["UA", "LGA"].to_pandas())


def test_samples_follow_the_groups(rel):
    rows = rel.sample(4000, seed=1)
    assert rows.shape == (4000, 3)
    expected = np.array([one.total.value for one in rel.values()])
    found = np.array([((rows[:, 0] == a) & (rows[:, 1] == b)).sum() for a, b in rel.groups])
    assert stats.chisquare(found, expected / expected.sum() * 4000).pvalue > 1e-6
    assert rel.sample(0).shape == (0, 3)
    assert sum(len(piece[0]) for piece in rel.sampled(100_000, 2)) == 100_000
    np.testing.assert_array_equal(rel.sample(10, seed=4), rel.sample(10, seed=4))


# --- coverage -------------------------------------------------------------------------------------------------------

SPIKY = [np.where(np.arange(64) % 9 == g, 400, 3) for g in range(3)]
SMOOTH = [np.full(64, 10 * (g + 1)) for g in range(3)]


@pytest.mark.long
@pytest.mark.parametrize("truth", [SPIKY, SMOOTH], ids=["spiky", "smooth"])
@pytest.mark.parametrize("options", [{"effort": "fast"}, {"mechanism": "identity"}], ids=str)
def test_intervals_hold_the_truth_as_often_as_they_say(truth, options):
    runs, confidence, held = 150, 0.7, {"sum": 0, "share": 0}
    asked = (5, 42)
    counts = [float(one[slice(*asked)].sum()) for one in truth]
    for seed in range(runs):
        rel = put_together(X, {"g": ["a", "b", "c"]}, truth, "1/5", seed=seed + 1, **options)
        every, part = rel.answer(*asked, confidence), rel.share("b", *asked, confidence)
        held["sum"] += every.low <= sum(counts) <= every.high
        held["share"] += part.low <= counts[1] / sum(counts) <= part.high
    least = stats.binom.ppf(1e-6, runs, confidence)
    assert min(held.values()) >= least, held


def test_groups_that_spent_differently(tmp_path):
    """Steps may spend according to what earlier ones found; each group's noise is held against its own steps."""
    rel = put_together(X, {"g": ["a", "b"]}, TRUTH[2:], seed=1)
    plain = histogram(TRUTH[3], Fraction(1, 2), 9, partition="none")
    splits = [rel.estimates[0].split, plain.split]
    assert splits[0] != splits[1]
    privacy = replace(rel.privacy, split=spent_by_all(splits))
    assert privacy.split == {"partition and measure": Fraction(1, 2)}
    mixed = replace(rel, estimates=(rel.estimates[0], plain), privacy=privacy)
    again = dawa.load(mixed.save(tmp_path / "release.json"))
    assert [one.estimate.split for one in again.values()] == [one.privacy.split for one in again.values()] == splits
    assert again.answer(3, 41) == mixed.answer(3, 41)
    alone = dawa.load(again["b"].save(tmp_path / "b.json"))
    assert alone.answer(3, 41) == mixed["b"].answer(3, 41)


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_release_of_groups_is_read_back_to_the_last_bit(tmp_path, rel, schema, data):
    path = rel.save(tmp_path / "release.json")
    schema.validate(data)
    again = dawa.load(path)
    assert isinstance(again, dawa.GroupedRelease)
    assert (again.by, again.axes, again.privacy, again.groups) == (rel.by, rel.axes, rel.privacy, rel.groups)
    assert again.answer(3, 41) == rel.answer(3, 41)
    assert again.share(("AA", "LGA"), 3, 41) == rel.share(("AA", "LGA"), 3, 41)
    assert again.apart() == rel.apart()
    assert again["UA", "JFK"].answers([3, 5], [8, 9]) == rel["UA", "JFK"].answers([3, 5], [8, 9])
    assert again["UA", "JFK"].privacy == rel["UA", "JFK"].privacy
    assert again.save(tmp_path / "twice.json").read_bytes() == path.read_bytes()


def test_every_field_of_the_schema_is_described_and_written(schema, data):
    known = schema.schema["properties"]
    assert set(data) == set(known)
    assert set(data["by"][0]) == set(known["by"]["items"]["properties"])
    by_halves = {"halves"}  # on axes that are too long to list
    assert set(data["groups"][0]) == set(known["groups"]["items"]["properties"]) - by_halves
    for fields in (known, known["by"]["items"]["properties"], known["groups"]["items"]["properties"]):
        assert all("description" in field for field in fields.values())


def test_one_group_can_be_a_file_of_its_own(tmp_path, rel):
    one = rel["AA", "LGA"]
    path = one.save(tmp_path / "one.json")
    validator(2).validate(json.loads(path.read_text(encoding="utf-8")))
    again = dawa.load(path)
    assert (again.group, again.privacy, again.answer(3, 41)) == (one.group, one.privacy, one.answer(3, 41))
    assert again.difference((3, 41), (3, 41), rel["UA", "LGA"]) == one.difference((3, 41), (3, 41), rel["UA", "LGA"])


def changed(data, where, value):
    found = copy.deepcopy(data)
    *path, last = where
    part = found
    for step in path:
        part = part[step]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return found


@pytest.mark.parametrize(
    ("where", "value", "named"),
    [
        (("version",), 2, "strategy is missing|buckets is missing"),
        (("by",), [], "by has 0 entries"),
        (("by",), ..., "by is missing"),
        (("by", 0, "column"), "x", "by does not name the columns"),
        (("by", 0, "column"), "origin", "by does not name the columns"),
        (("by", 0, "values"), ["AA", "AA"], r"by\[0\]\.values lists something twice"),
        (("by", 0, "values"), ["AA", 1], r"by\[0\] is not possible"),
        (("by", 0, "values"), ["AA"], "groups has 4 entries, not 2"),
        (("by", 0, "values"), ["AA", "DL"], r"groups\[2\]\.group is not what"),
        (("by", 0, "values"), [str(i) for i in range(999)], "by has too many groups"),
        (("by", 0, "other"), True, "groups has 4 entries, not 9|groups has 4"),
        (("by", 0, "other"), "no", r"by\[0\]\.other is not true or false"),
        (("privacy", "by"), ["carrier"], "by does not name the columns"),
        (("privacy", "by"), ..., "by does not name the columns"),
        (("groups",), [], "groups has 0 entries"),
        (("groups", 3), ..., "groups has 3 entries, not 4"),
        (("groups", 1, "group"), ["AA", "JFK"], r"groups\[1\]\.group"),
        (("groups", 1, "group", 1), True, r"groups\[1\]\.group"),
        (("groups", 3, "strategy", "kind"), "dense", r"groups\[3\]\.strategy\.kind"),
        (("groups", 3, "strategy"), ..., r"groups\[3\]\.strategy is missing"),
        (("groups", 2, "buckets", "bounds", 0), 1, r"groups\[2\]\.buckets\.bounds\[1\]"),
        (("groups", 2, "buckets", "totals", 0), "x", r"groups\[2\]\.buckets\.totals\[0\]"),
        (("groups", 2, "buckets", "totals", -1), ..., r"groups\[2\]\.buckets\.totals"),
        (("groups", 0, "noise", "unit_variance"), 0.01, r"groups\[0\]\.noise\.unit_variance is not what the budget"),
        (("groups", 0, "noise", "unit_variance"), 1e9, r"groups\[0\]\.noise\.unit_variance is not what the budget"),
        (("groups", 1, "split"), {"measure": "1"}, r"groups\[1\]\.split does not add up"),
        (("groups", 1, "split"), {"measure": "1/0"}, r"groups\[1\]\.split"),
        (("groups", 1, "apart"), {"states": [["missing"]], "totals": [1], "unbiased": [1], "unit_variance": 1},
         r"groups\[1\]\.apart is there"),
        (("groups", 1, "stops", "loss"), "1/7", r"groups\[1\]\.stops"),
        (("apart",), None, "apart is not an object"),
        (("apart",), ..., "apart is missing"),
        (("apart", "states", 0), ["inside", "below"], "apart.states do not fit the columns in by"),
        (("apart", "unit_variance"), 0.01, "apart.unit_variance"),
        (("apart", "totals", 0), 1e6, "apart.totals"),
        (("axes", 0, "column"), "carrier", "by names a column twice, or one that is an axis"),
    ],
    ids=str,
)  # fmt: skip
def test_damage_is_refused_and_named(tmp_path, data, where, value, named):
    load(tmp_path, data)
    with pytest.raises(ReleaseError, match=named):
        load(tmp_path, changed(data, where, value))


def test_a_file_cannot_make_every_group_cost_a_table(tmp_path, data):
    many = copy.deepcopy(data)
    many["by"] = [{"column": "carrier", "values": [str(i) for i in range(20)], "other": False}]
    many["privacy"]["by"] = ["carrier"]
    many["apart"]["states"] = [list(way) for way in patterns(put_together(X, {"g": ["a"]}, TRUTH[:1], seed=1).by)]
    for name in ("totals", "unbiased"):
        many["apart"][name] = [1.0, 1.0]
    many["groups"] = []
    for i in range(20):
        group = copy.deepcopy(next(one for one in data["groups"] if one["stops"] is not None))
        group["group"], group["stops"]["least"] = [str(i)], 0.15 + i / 10_000
        many["groups"].append(group)
    with pytest.raises(ReleaseError, match=r"groups\[8\]\.stops is one of more than 8 kinds"):
        load(tmp_path, many)


def test_statements_say_that_epsilon_is_spent_once(rel):
    said = str(rel.privacy)
    assert "A record is in one group by 'carrier' and 'origin' at most" in said
    assert "cost that epsilon once" in said
    assert rel.privacy.to_json()["by"] == ["carrier", "origin"]


def test_names_of_columns_do_not_clash():
    table = {"value": ["a", "b"] * 50, "lo": ["x", "y"] * 50, "v": list(range(100))}
    rel = dawa.release(
        table, dawa.Axis("v", 0, 100), epsilon=1, by={"value": ["a", "b"], "lo": ["x", "y"]}, partition="one", seed=0
    )
    frame = rel.to_pandas()
    assert list(frame.columns[:2]) == ["group_value", "group_lo"]
    assert len(set(frame.columns)) == len(frame.columns)
    assert list(frame["group_value"]) == ["a", "a", "b", "b"]


def test_values_are_the_releases_and_ranges_are_asked_of_one():
    table = {"g": ["a", "b"] * 50, "v": list(range(100))}
    rel = dawa.release(table, dawa.Axis("v", 0, 100), epsilon=1, by="g", groups=["a", "b"], seed=0)
    assert len(list(rel.values())) == 2
    with pytest.raises(OptionError, match="values is asked of one group"):
        rel.values([0], [10])
