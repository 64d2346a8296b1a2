"""Release files: read back to the last bit, true to their schema, and refused when damaged."""

import copy
import json
import re
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import dawa
from dawa.cli.demo import people
from dawa.errors import ReleaseError
from dawa.results import parts as release_parts
from dawa.results.answers import factor_of, uncut
from dawa.strategy import choose
from dawa.strategy.hats import HatStrategy
from dawa.strategy.tree import TreeStrategy
from dawa.strategy.wavelet import WaveletStrategy
from helpers.groups import put_together

INCOME = dawa.Axis("income", 0, 200_000, step=1000)
CASES = {name: {"mechanism": name} for name in dawa.mechanisms.names(with_error_bars=True)} | {
    "hats": {"strategy": "hats", "partition": "none", "effort": "fast"},
    "searched hats": {"strategy": "hats", "partition": "none"},
    "wavelet": {"strategy": "wavelet"},
    "merged": {"workload": dawa.Workload.ranges([0, 50], [50, 120], 200), "merge": True},
    "given": {"partition": [0, 17, 200], "postprocess": "rounded"},
    "private": {"seed": None},
}


def made(**options):
    return dawa.release({"income": people(3000)["income"]}, INCOME, **{"epsilon": "1/3", "seed": 5, **options})


@pytest.fixture(scope="module")
def schema():
    text = resources.files("dawa").joinpath("results/schema/release-2.json").read_text(encoding="utf-8")
    found = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.fixture(scope="module")
def data():
    """A release as JSON values, with a walk and a tree."""
    rel = made(strategy="greedy")
    return json.loads(json.dumps(rel.to_json()))


def load(tmp_path, content):
    path = tmp_path / "release.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return dawa.load(path)


# --- there and back -------------------------------------------------------------------------------------------------


@pytest.mark.long_but(6)
@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_a_release_is_read_back_to_the_last_bit(tmp_path, schema, options):
    rel = made(**options)
    path = rel.save(tmp_path / "release.json")
    again = dawa.load(path)
    rng = np.random.default_rng(1)
    lo, hi = np.sort(rng.integers(0, 200_000, (40, 2)), axis=1).T
    rounded = lo // 1000 * 1000, (hi // 1000 + 1) * 1000
    for a, b in zip(np.concatenate((lo, rounded[0])), np.concatenate((hi + 1, rounded[1])), strict=True):
        assert again.answer(a, b) == rel.answer(a, b)
    np.testing.assert_array_equal(again.values(), rel.values())
    np.testing.assert_array_equal(again.variances(), rel.variances())
    assert again.quantile(0.3) == rel.quantile(0.3)
    assert again.axes == rel.axes
    assert again.privacy == rel.privacy
    assert (again.estimate.epsilon, again.estimate.split) == (rel.estimate.epsilon, rel.estimate.split)
    assert repr(again) == repr(rel)
    assert again.save(tmp_path / "twice.json").read_bytes() == path.read_bytes()
    schema.validate(json.loads(path.read_text(encoding="utf-8")))


def test_every_kind_of_strategy_is_among_the_cases():
    assert isinstance(made(**CASES["hats"]).estimate.strategy, HatStrategy)
    assert isinstance(made(**CASES["searched hats"]).estimate.strategy, HatStrategy)
    assert isinstance(made(**CASES["greedy-h"]).estimate.strategy, TreeStrategy)
    assert isinstance(made(**CASES["wavelet"]).estimate.strategy, WaveletStrategy)


def test_every_field_of_the_schema_is_described(schema):
    def undescribed(node, path):
        if isinstance(node, dict):
            for name, value in node.get("properties", {}).items():
                if "description" not in value:
                    yield f"{path}/{name}"
            for name, value in node.items():
                yield from undescribed(value, f"{path}/{name}")
        elif isinstance(node, list):
            for i, value in enumerate(node):
                yield from undescribed(value, f"{path}/{i}")

    assert list(undescribed(schema.schema, "")) == []


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("format",), "other"),
        (("version",), 3),
        (("privacy", "epsilon"), 0.5),
        (("privacy", "private"), "yes"),
        (("axes",), []),
        (("axes", 0, "start"), 0),
        (("buckets", "bounds", 0), 0.5),
        (("strategy", "kind"), "dense"),
        (("noise", "resolution"), 10),
        (("stops", "depth", 0), "deep"),
        (("apart", "states", 0), ["gone"]),
        (("axes", 0, "missing"), "keep"),
        (("privacy", "unit_columns"), "person"),
    ],
)
def test_the_schema_has_teeth(schema, data, where, value):
    schema.validate(data)
    assert not schema.is_valid(changed(data, where, value))


def test_fields_from_the_future_are_ignored(tmp_path, schema, data):
    more = {**data, "colour": "blue"}
    more["privacy"] = {**data["privacy"], "delta": "0"}
    schema.validate(more)
    np.testing.assert_array_equal(load(tmp_path, more).values(), load(tmp_path, data).values())


def test_stops_are_optional(tmp_path, data):
    fewer = {key: value for key, value in data.items() if key != "stops"}
    assert load(tmp_path, fewer).estimate.buckets.stops is None


# --- damage ---------------------------------------------------------------------------------------------------------

GONE = ...  # its name is the same in every process, as those of tests must be


def changed(data, where, value):
    """A copy with one value replaced, or removed."""
    result = copy.deepcopy(data)
    *path, last = where
    node = result
    for step in path:
        node = node[step]
    if value is GONE:
        del node[last]
    else:
        node[last] = value
    return result


REQUIRED = (
    [("format",), ("version",), ("privacy",), ("axes",), ("buckets",), ("noise",), ("strategy",)]
    + [("privacy", key) for key in ("epsilon", "split", "mechanism", "options", "randomness", "private", "library")]
    + [("axes", 0, key) for key in ("kind", "column", "start", "stop", "step", "outside")]
    + [("buckets", key) for key in ("bounds", "totals", "unbiased")]
    + [("buckets", key, -1) for key in ("bounds", "totals", "unbiased")]
    + [("noise", key) for key in ("unit_variance", "resolution")]
    + [("strategy", key) for key in ("kind", "weighting", "branching", "buckets", "weights")]
    + [("strategy", "weights", -1), ("strategy", "weights", 0)]
    + [("stops", key) for key in ("loss", "least", "theta", "step", "offset", "depth")]
    + [("stops", "depth", 0)]
)


@pytest.mark.parametrize("where", REQUIRED, ids=str)
def test_a_file_with_a_part_missing_is_refused(tmp_path, data, where):
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(data, where, GONE))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("format",), "something-else"),
        (("version",), 0),
        (("version",), "1"),
        (("version",), True),
        (("version",), None),
        (("privacy",), []),
        (("privacy", "epsilon"), "1/0"),
        (("privacy", "epsilon"), "-1"),
        (("privacy", "epsilon"), "a"),
        (("privacy", "split"), {"measure": "1/0"}),
        (("axes",), []),
        (("axes",), "income"),
        (("axes", 0, "kind"), "dates"),
        (("axes", 0, "step"), "0"),
        (("axes", 0, "stop"), "100000"),
        (("axes", 0, "stop"), "1/0"),
        (("buckets", "bounds", 0), 1),
        (("buckets", "bounds", 1), 0),
        (("buckets", "bounds", 1), 0.5),
        (("buckets", "bounds", 1), "x"),
        (("buckets", "bounds", -1), 10**30),
        (("buckets", "totals", 0), None),
        (("buckets", "totals", 0), float("nan")),
        (("buckets", "unbiased", 0), float("inf")),
        (("buckets", "unbiased", 0), [1]),
        (("noise", "resolution"), 1),
        (("noise", "unit_variance"), -1),
        (("noise", "unit_variance"), "wide"),
        (("noise", "unit_variance"), float("nan")),
        (("strategy", "kind"), "dense"),
        (("strategy", "kind"), "hats"),
        (("strategy", "kind"), ["tree"]),
        (("strategy", "branching"), 1),
        (("strategy", "branching"), 0),
        (("strategy", "branching"), -2),
        (("strategy", "branching"), 2.5),
        (("strategy", "branching"), 3),
        (("strategy", "buckets"), 0),
        (("strategy", "buckets"), 10**9),
        (("strategy", "weights", 0), 0),
        (("strategy", "weights", 0), -5),
        (("strategy", "weights", 0), 2**17),
        (("strategy", "weights", -1), -1),
        (("strategy", "weights", -1), 10**30),
        (("strategy", "weights"), [[1]]),
        (("stops", "loss"), "0"),
        (("stops", "loss"), "2/7"),
        (("stops", "least"), "a"),
        (("stops", "least"), -1),
        (("stops", "theta"), float("nan")),
        (("stops", "theta"), 5),
        (("stops", "step"), 10**6),
        (("stops", "depth"), [0]),
        (("stops",), "walk"),
    ],
    ids=str,
)
def test_a_file_with_a_part_changed_is_refused(tmp_path, data, where, value):
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(data, where, value))


def test_a_second_axis_is_refused(tmp_path, data):
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, {**data, "axes": data["axes"] * 2})


@pytest.mark.parametrize(
    ("key", "value"),
    [("leaf", [1]), ("leaf", []), ("start", []), ("stop", None), ("weights", [1]), ("weights", "many")],
)
def test_damaged_hats_are_refused(tmp_path, key, value):
    rel = made(**CASES["hats"])
    data = rel.to_json()
    load(tmp_path, data)
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(data, ("strategy", key), value))


def test_hats_that_outweigh_their_budget_are_refused(tmp_path):
    rel = made(**CASES["hats"])
    data = rel.to_json()
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(data, ("strategy", "leaf", 7), 65_536))


@pytest.mark.parametrize(
    ("key", "value"), [("buckets", 10**12), ("difference", 0), ("difference", 2**16), ("total", "x")]
)
def test_damaged_wavelets_are_refused(tmp_path, key, value):
    rel = made(**CASES["wavelet"])
    data = rel.to_json()
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(data, ("strategy", key), value))


def test_a_newer_file_asks_for_a_newer_library(tmp_path, data):
    with pytest.raises(ReleaseError, match=r"newer(?s:.)*Hint: update dawa"):
        load(tmp_path, {**data, "version": 4})


@pytest.mark.parametrize("content", ["", "{", "no JSON", "[]", "5", "null", '{"format": "dawa-release"}', "{}"])
def test_what_is_no_release_is_refused(tmp_path, content):
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, content)


def test_files_that_are_not_there_or_not_text_are_refused(tmp_path):
    (tmp_path / "noise.json").write_bytes(bytes(range(256)))
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "noise.json"):
        with pytest.raises(ReleaseError, match="Hint:"):
            dawa.load(path)


def test_a_truncated_file_is_refused(tmp_path):
    path = made().save(tmp_path / "release.json")
    text = path.read_text(encoding="utf-8")
    for part in (0.1, 0.5, 0.99):
        with pytest.raises(ReleaseError, match="Hint:"):
            load(tmp_path, text[: int(part * len(text))])


# --- maps -----------------------------------------------------------------------------------------------------------

LON, LAT = dawa.Axis("lon", -10, 14, step=1), dawa.Axis("lat", 0, 9, step=0.5)
MAPS = {
    **{name: {"mechanism": name} for name in dawa.mechanisms.names(with_error_bars=True)},
    "bumps": {"strategy": "bumps", "partition": "none"},
    "hats": {"strategy": "hats", "partition": "none", "effort": "fast"},
    "rounded": {"postprocess": "rounded"},
    "private": {"seed": None},
}


def mapped(axes=(LON, LAT), **options):
    rng = np.random.default_rng(1)
    table = {"lon": rng.normal(3, 4, 2000), "lat": rng.gamma(2, 1, 2000), "hour": rng.integers(0, 7, 2000)}
    return dawa.release(table, axes, **{"epsilon": "1/3", "seed": 5, **options})


def written(rel):
    return json.loads(json.dumps(rel.to_json()))


@pytest.fixture(scope="module")
def bumped():
    """A release on a map with bumps, as JSON values."""
    return written(mapped(**MAPS["bumps"]))


@pytest.fixture(scope="module")
def boxed():
    """A release on boxes as JSON values."""
    return written(mapped(mechanism="ugrid"))


@pytest.mark.long_but(1)
@pytest.mark.parametrize("options", MAPS.values(), ids=MAPS)
def test_a_map_is_read_back_to_the_last_bit(tmp_path, schema, options):
    rel = mapped(**options)
    path = rel.save(tmp_path / "release.json")
    schema.validate(json.loads(path.read_text(encoding="utf-8")))
    again = dawa.load(path)
    rng = np.random.default_rng(1)
    ends = np.sort(rng.uniform(0, 1, (30, 2, 2)), axis=2) * np.array([24, 9])[:, None] + np.array([-10, 0])[:, None]
    ends[:15] = np.rint(ends[:15]) + np.array([0, 1])
    lo, hi = ends[:, :, 0], np.minimum(ends[:, :, 1], [14, 9])
    lo = np.minimum(lo, hi - 0.5)
    assert again.answers(lo, hi) == rel.answers(lo, hi)
    np.testing.assert_array_equal(again.values(lo, hi), rel.values(lo, hi))
    np.testing.assert_array_equal(again.variances(lo, hi), rel.variances(lo, hi))
    np.testing.assert_array_equal(again.values(), rel.values())
    np.testing.assert_array_equal(again.estimate.cells, rel.estimate.cells)
    np.testing.assert_array_equal(again.sample(50, seed=1), rel.sample(50, seed=1))
    assert (again.axes, again.privacy, repr(again)) == (rel.axes, rel.privacy, repr(rel))
    assert again.save(tmp_path / "twice.json").read_bytes() == path.read_bytes()


def test_three_axes_of_several_kinds_are_read_back(tmp_path, schema):
    rel = mapped((LON, dawa.Axis.edges("lat", [0, 1, 2, 4, 9]), dawa.Axis.ordered("hour", range(7))))
    path = rel.save(tmp_path / "release.json")
    schema.validate(json.loads(path.read_text(encoding="utf-8")))
    again = dawa.load(path)
    assert again.answer((-3, 1, 2), (5, 4, 5)) == rel.answer((-3, 1, 2), (5, 4, 5))
    np.testing.assert_array_equal(again.sample(20, seed=2), rel.sample(20, seed=2))


def every_kind_of_axis():
    """A release of persons, on one axis of each kind."""
    axes = (
        dawa.Axis("x", 0, 3),
        dawa.Axis.edges("y", [0, 1, 5]),
        dawa.Axis.ordered("z", ["a", "b"]),
        dawa.Axis.dates("when", "2013-01-01", "2013-01-03"),
    )
    table = {"x": [1, 2], "y": [0, 4], "z": ["a", "b"], "when": ["2013-01-01", "2013-01-02"], "who": [1, 1]}
    table["when"] = np.array(table["when"], "M8[D]")
    return dawa.release(table, axes, epsilon=1, seed=0, unit="who", max_rows_per_unit=2)


@pytest.mark.long
def test_all_files_together_name_exactly_the_fields_of_the_schema(schema, data, boxed):
    """Unknown fields are allowed, so a misspelt one would go unnoticed."""
    known = schema.schema["properties"]
    files = [data, boxed, written(every_kind_of_axis())]
    files += [written(made(**CASES[name])) for name in ("hats", "wavelet")]
    files += [written(mapped(**MAPS[name])) for name in ("bumps", "privelet", "hybrid-tree")]
    files.append(written(put_together(INCOME, {"sex": ["f"]}, [np.arange(200)], seed=1)["f"]))
    networks = dawa.release({"ip": ["10.0.0.1"]}, dawa.Axis.ipv4("ip"), epsilon=1, seed=0)
    files.append(written(networks))
    assert {key for file in files for key in file} == set(known)
    axes = {branch["title"]: set(branch["properties"]) for branch in known["axes"]["items"]["oneOf"]}
    assert {axis["kind"]: set(axis) for file in files for axis in file["axes"]} == axes
    assert set(data["stops"]) == set(known["stops"]["oneOf"][1]["properties"])
    assert set(files[-1]["halves"]) == set(known["halves"]["properties"])
    for part in ("privacy", "buckets", "noise"):
        earlier = {"unit_column"} if part == "privacy" else set()
        assert {key for file in files for key in file[part]} == set(known[part]["properties"]) - earlier
    assert set(data["apart"]) == set(known["apart"]["oneOf"][1]["properties"])
    strategies = {branch["title"]: set(branch["properties"]) for branch in known["strategy"]["oneOf"]}
    assert {file["strategy"]["kind"]: set(file["strategy"]) for file in files} == strategies
    assert set(strategies) == set(release_parts.KINDS)
    orders = {file["buckets"].get("order", "line") for file in files}
    assert orders == set(known["buckets"]["properties"]["order"]["enum"]) == set(release_parts.ORDERS)


@pytest.mark.long_but(2)
@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("buckets", "order"), GONE),
        (("buckets", "order"), "line"),
        (("buckets", "order"), "hilbert "),
        (("buckets", "order"), 5),
        (("buckets", "order"), ["hilbert"]),
        (("buckets", "order"), "boxes"),
        (("axes", 1), GONE),
        (("axes", 0, "stop"), "15"),
        (("buckets", "bounds", -1), 431),
        (("strategy", "kind"), "tree"),
        (("strategy", "ptr", -1), GONE),
        (("strategy", "column", 0), -1),
        (("strategy", "weights", 0), 65_536),
        (("strategy", "leaf", 0), GONE),
    ],
    ids=str,
)
def test_a_map_with_a_part_changed_is_refused(tmp_path, bumped, where, value):
    load(tmp_path, bumped)
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(bumped, where, value))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("buckets", "order"), "hilberts"),
        (("buckets", "lo"), GONE),
        (("buckets", "hi"), GONE),
        (("buckets", "lo"), []),
        (("buckets", "lo", 0), GONE),
        (("buckets", "lo", 0), [0]),
        (("buckets", "lo", 0, 0), 1),
        (("buckets", "lo", 0, 0), -1),
        (("buckets", "lo", 0, 0), 0.5),
        (("buckets", "lo", 0, 0), "0"),
        (("buckets", "lo", 0, 0), None),
        (("buckets", "hi", -1, 1), 19),
        (("buckets", "hi", -1, 1), 10**30),
        (("buckets", "bounds", 1), 1),
        (("axes", 0, "stop"), "13"),
        (("axes", 0, "step"), "1/1000000000000"),
    ],
    ids=str,
)
def test_damaged_boxes_are_refused(tmp_path, boxed, where, value):
    load(tmp_path, boxed)
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(boxed, where, value))


def test_a_range_is_no_map(tmp_path, data):
    with pytest.raises(ReleaseError, match="Hint:"):
        load(tmp_path, changed(data, ("buckets", "order"), "hilbert"))


@pytest.mark.long_but(2)
@pytest.mark.parametrize("strategy", choose.NAMES)
def test_whatever_strategy_can_be_chosen_can_be_read_back(tmp_path, schema, strategy):
    """What is offered gets into releases, and those are paid for."""
    axes = (dawa.Axis("income", 0, 200_000, step=10_000), dawa.Axis("age", 0, 120, step=10))
    table = people(3000)
    for chosen in (INCOME, axes):
        if strategy == "bumps" and chosen is INCOME:
            continue  # for maps
        rel = dawa.release(table, chosen, epsilon=1, strategy=strategy, partition="none", effort=None)
        path = rel.save(tmp_path / "release.json")
        data = json.loads(path.read_text(encoding="utf-8"))
        schema.validate(data)
        assert data["strategy"]["kind"] in release_parts.KINDS
        np.testing.assert_array_equal(dawa.load(path).variances(), rel.variances())


def test_the_page_knows_every_kind_of_strategy():
    script = resources.files("dawa").joinpath("publish/page/answer.js").read_text(encoding="utf-8")
    known = re.findall(r"^    (\w+): ", script.partition("const KINDS = {")[2].partition("}")[0], re.MULTILINE)
    assert {*known, "bumps"} == set(release_parts.KINDS)
    assert '"bumps"' in script, "which it answers in another way"


# --- files of earlier versions --------------------------------------------------------------------------------------

EARLIER = Path(__file__).with_name("files")
"""Releases of generated people as version 0.2.0.dev0 wrote them, and what it answered."""


@pytest.mark.parametrize("name", json.loads((EARLIER / "answers.json").read_text(encoding="utf-8")))
def test_earlier_files_answer_as_they_did(name, schema):
    path = EARLIER / f"{name}.json"
    schema.validate(json.loads(path.read_text(encoding="utf-8")))
    rel = dawa.load(path)
    for asked in json.loads((EARLIER / "answers.json").read_text(encoding="utf-8"))[name]:
        found = rel.answer(asked["lo"], asked["hi"])
        value, noise, bias, low, high = asked["answer"]
        # Where nothing was cut, that version gave noise the walk's part of the chance too.
        wider = 1 if bias else factor_of(rel.estimate, uncut(rel.estimate, 0.05)) / factor_of(rel.estimate, 0.05)
        expected = (value, wider * noise, bias, low - (wider - 1) * noise, high + (wider - 1) * noise)
        numbers = (found.value, found.noise_margin, found.bias_bound, found.low, found.high)
        np.testing.assert_allclose(numbers, expected, rtol=1e-9, atol=1e-9)
