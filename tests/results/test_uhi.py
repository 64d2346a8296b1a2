"""Histograms as UHI writes them: what it can hold comes back, by its own files and by the libraries that read it."""

import json
import sys
from importlib.resources import files

import boost_histogram as bh
import h5py
import hist
import jsonschema
import numpy as np
import pytest
import uhi.io.hdf5
import uhi.io.json
import uhi.io.zip
from uhi.typing.serialization import ToUHIHistogram

import dawa
from dawa.errors import InstallationError

SCHEMA = json.loads((files("uhi") / "resources" / "histogram.schema.json").read_text(encoding="utf-8"))
AXES = {
    "numbers": dawa.Axis("x", 0, 12, step="0.1", outside="own"),
    "clipped": dawa.Axis("x", 0, 120),
    "edges": dawa.Axis.edges("x", [0, 0.5, 3, 100], outside="own"),
    "days": dawa.Axis.dates("x", "2013-01-01", "2013-03-01", outside="own"),
    "a zone": dawa.Axis.dates("x", "2013-01-01", "2013-03-01", zone="Europe/Berlin"),
    "categories": dawa.Axis.ordered("x", ["A", "B", "C"]),
    "numbers in order": dawa.Axis.ordered("x", [3, 1, 2], outside="drop"),
    "large numbers in order": dawa.Axis.ordered("x", [3, 2**40]),
    "flags": dawa.Axis.ordered("x", [False, True]),
    "addresses": dawa.Axis.ipv4("x", "10.0.0.0/8", prefix=16),
    "huge": dawa.Axis("x", 0, 2**62),
}


def made_of(axis, **options):
    values = {"dates": "2013-02-03", "ordered": str(getattr(axis, "labels", "1")[0]), "addresses": "10.4.4.4"}
    return dawa.release({"x": [values.get(axis.kind, "7")] * 50}, axis, epsilon=1, seed=4, **options)


@pytest.fixture(scope="module", params=AXES)
def rel(request):
    return made_of(AXES[request.param])


@pytest.fixture(scope="module")
def groups():
    table = {"age": np.arange(900) % 70, "city": ["Rome", "Oslo", "Lima"] * 300}
    axis = dawa.Axis("age", 20, 60, outside="own")
    return dawa.release(table, axis, epsilon=1, seed=1, by="city", groups=["Rome", "Oslo"])


def as_json(release):
    return json.loads(json.dumps(release, default=uhi.io.json.default), object_hook=uhi.io.json.object_hook)


def same(one, two):
    """Whether two dictionaries are the same, with lists or arrays in them."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    if isinstance(one, list) and one and isinstance(one[0], dict):
        return len(one) == len(two) and all(map(same, one, two))
    return np.array_equal(np.asarray(one), np.asarray(two))


def test_what_is_written_is_by_the_schema(rel, groups):
    for release in (rel, groups, rel.histogram(2)):
        assert isinstance(release, ToUHIHistogram)
        jsonschema.validate(json.loads(json.dumps(release, default=uhi.io.json.default)), SCHEMA)


def test_a_file_of_uhi_keeps_everything(rel, groups, tmp_path):
    for release in (rel, groups):
        wanted = release._to_uhi_()
        assert same(as_json(release), wanted)
        with uhi.io.zip.zipfile.ZipFile(tmp_path / "h.zip", "w") as archive:
            uhi.io.zip.write(archive, "one", release)
        with uhi.io.zip.zipfile.ZipFile(tmp_path / "h.zip") as archive:
            assert same(uhi.io.zip.read(archive, "one"), wanted)
        with h5py.File(tmp_path / "h.h5", "w") as store:
            uhi.io.hdf5.write(store.create_group("one"), release)
        with h5py.File(tmp_path / "h.h5") as store:
            assert same(uhi.io.hdf5.read(store["one"]), wanted)


def test_hist_and_boost_histogram_have_the_same_numbers(rel, groups):
    for release in (rel, groups):
        shown = release.histogram()
        for made in (hist.Hist(release), bh.Histogram(release), hist.Hist(shown), bh.Histogram(shown)):
            assert made.storage_type is bh.storage.Weight
            for flow in (False, True):
                np.testing.assert_array_equal(made.values(flow=flow), shown.values(flow=flow))
                np.testing.assert_array_equal(made.variances(flow=flow), shown.variances(flow=flow))
            for axis, ours in zip(made.axes, shown.axes, strict=True):
                assert len(axis) == len(ours)
                if not ours.traits.discrete:
                    np.testing.assert_array_equal(axis.edges, ours.number(ours.bins))
                assert (axis.traits.underflow, axis.traits.overflow)[ours.traits.discrete :] == (
                    ours.traits.underflow,
                    ours.traits.overflow,
                )[ours.traits.discrete :]


def test_hist_knows_axes_by_name(groups):
    found = hist.Hist(groups)
    assert [axis.name for axis in found.axes] == ["city", "age"]
    assert found[{"city": "Oslo"}].values().tolist() == groups.histogram().values()[1].tolist()
    assert found[hist.loc("Rome"), 0 : len : hist.sum].value == pytest.approx(groups["Rome"].total.value)
    assert found.privacy == str(groups.privacy)


def test_every_border_is_found_in_its_bin():
    """Edges that are computed again put 0.3 below the border at 0.3."""
    made = hist.Hist(made_of(AXES["numbers"], partition="none"))
    edges = made_of(AXES["numbers"]).axis.unbinned.number(np.arange(120))
    assert made.axes[0].index(edges).tolist() == list(range(120))


def test_names_of_categories_are_numbers_if_they_are_small():
    kinds = {
        name: made_of(axis, partition="none")._to_uhi_()["axes"][0]
        for name, axis in AXES.items()
        if axis.kind == "ordered"
    }
    assert kinds["numbers in order"]["categories"] == [3, 1, 2]
    assert kinds["large numbers in order"]["categories"] == ["3", str(2**40)]
    assert kinds["flags"]["categories"] == ["False", "True"]
    assert kinds["categories"] | {"metadata": None} == {
        "type": "category_str",
        "categories": ["A", "B", "C"],
        "flow": True,
        "metadata": None,
    }


def test_numbers_that_stand_for_something_else_are_told():
    units = {name: made_of(AXES[name])._to_uhi_()["axes"][0]["metadata"].get("unit") for name in AXES}
    assert units["days"] == "days since 1970-01-01"
    assert units["a zone"] == "days since 1970-01-01 UTC"
    assert units["addresses"] == "IPv4 address as a number"
    assert units["numbers"] is None


def test_names_that_hist_has_other_uses_for_are_labels():
    axes = [dawa.Axis("weight", 0, 3), dawa.Axis("x", 0, 2)]
    made = hist.Hist(dawa.release({"weight": [1] * 9, "x": [1] * 9}, axes, epsilon=1, seed=0))
    assert [axis.name for axis in made.axes] == ["", "x"]
    assert [axis.label for axis in made.axes] == ["weight", "x"]


def test_buckets_of_categories_have_names_of_their_own():
    labels = ["A", "B", "A to B"]
    made = dawa.release({"x": ["A"] * 50}, dawa.Axis.ordered("x", labels), epsilon=1, seed=0, partition=[0, 2, 3])
    assert made._to_uhi_()["axes"][0]["categories"] == ["A to B", "A to B'"]
    assert hist.Hist(made).axes[0].size == 2


def test_metadata_say_what_is_protected_and_what_has_no_bin():
    axis = dawa.Axis("x", 0, 12)
    made = dawa.release({"x": [1, None] * 50}, axis, epsilon="1/3", seed=4, about=dawa.About(title="Ones"))
    found = made._to_uhi_()["metadata"]
    assert (found["epsilon"], found["private"], found["title"]) == ("1/3", False, "Ones")
    assert found["apart: x missing"] == made.apart()[0].answer.value
    assert found["apart: x missing: variance"] == made.others.variances_alone[0]


def test_without_boost_histogram_the_error_says_what_to_install(monkeypatch):
    made = made_of(AXES["clipped"])
    monkeypatch.setitem(sys.modules, "boost_histogram", None)
    with pytest.raises(InstallationError, match=r"dawa\[histograms\]"):
        made._to_boost_histogram_()
    assert made._to_uhi_()["uhi_schema"] == 1
