"""Compact release files: the values of JSON to the last bit, and hostile archives refused in bounded work."""

import io
import json
import os
import struct
import tracemalloc
import warnings
import zipfile
import zlib

import numpy as np
import pytest

import dawa
from dawa.arrays import listed
from dawa.errors import OptionError, ReleaseError
from dawa.limits import MOST_GROWTH
from dawa.results import archive, conform, json_text, loading, members
from dawa.results.loading import loaded
from dawa.server import shelf
from helpers.commands import dawa as command

AXIS = dawa.Axis("x", 0, 400)
PLACES = (dawa.Axis("east", 0, 16), dawa.Axis("north", 0, 12, outside="own"))
LINES = {
    "hats": {"strategy": "hats", "partition": "none", "effort": "fast"},
    "tree": {"mechanism": "hierarchical"},
    "walk": {"strategy": "greedy"},
    "wavelet": {"mechanism": "privelet"},
    "identity": {"mechanism": "identity"},
    "rounded": {"partition": "none", "postprocess": "rounded"},
    "one": {"partition": "one"},
}
MAPS = {
    "bumps": {"strategy": "bumps", "partition": "none"},
    "nested": {"mechanism": "hybrid-tree"},
    "boxes": {"mechanism": "ugrid"},
    "product": {"mechanism": "privelet"},
    "smooth": {},
}


def table():
    rng = np.random.default_rng(4)
    return {
        "x": rng.gamma(2, 40, 4000),
        "east": rng.normal(8, 3, 4000),
        "north": rng.normal(6, 2, 4000),
        "sex": rng.choice(["f", "m", "?"], 4000),
    }


def made(name):
    axes, options = (AXIS, LINES[name]) if name in LINES else (PLACES, MAPS[name])
    return dawa.release(table(), axes, epsilon=2, seed=7, **options)


def grouped(axes=AXIS, **options):
    return dawa.release(table(), axes, epsilon=2, seed=7, by="sex", groups=["f", "m"], **options)


@pytest.fixture(scope="module")
def hats():
    return made("hats")


@pytest.fixture(scope="module")
def content(hats):
    return hats.saved("release.npz")


def refused(content):
    """What the loader says."""
    with pytest.raises(ReleaseError, match="Hint:") as caught:
        loaded(content)
    assert len(str(caught.value)) < 1000
    return caught.value.problem


def repacked(content, change):
    """The same archive with members changed: a dictionary of name to bytes or arrays, or a list of pairs."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        found = {name: opened.read(name) for name in opened.namelist()}
    found = change(found) or found
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written, warnings.catch_warnings(action="ignore"):
        for name, data in found.items() if isinstance(found, dict) else found:
            written.writestr(members._info(name), saved(data) if isinstance(data, np.ndarray) else data)
    return target.getvalue()


def saved(array):
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


def with_text(content, change):
    """The same archive with a changed document."""

    def changed(found):
        document = json.loads(found["release.json"])
        change(document)
        found["release.json"] = json.dumps(document).encode()

    return repacked(content, changed)


# --- there and back -------------------------------------------------------------------------------------------------


@pytest.mark.long_but(4)
@pytest.mark.parametrize("name", [*LINES, *MAPS])
def test_values_are_those_of_json(tmp_path, name):
    rel = made(name)
    compact, text = (rel.save(tmp_path / f"release.{suffix}") for suffix in ("npz", "json"))
    one, two = dawa.load(compact), dawa.load(text)
    assert json.dumps(one.to_json()) == json.dumps(two.to_json()) == json.dumps(rel.to_json())  # signs of zeros, too
    np.testing.assert_array_equal(one.variances(), two.variances())
    assert one.total == two.total
    assert one.as_text() == text.read_text(encoding="utf-8")
    assert one.save(tmp_path / "again.npz").read_bytes() == compact.read_bytes()


@pytest.mark.parametrize(("axes", "options"), [(AXIS, {}), (AXIS, LINES["hats"]), (PLACES, MAPS["boxes"])])
def test_groups_share_members(tmp_path, axes, options):
    rel = grouped(axes, **options)
    again = dawa.load(rel.save(tmp_path / "release.npz"))
    assert json.dumps(again.to_json()) == json.dumps(rel.to_json())
    with np.load(tmp_path / "release.npz") as opened:
        numbers = opened["groups.buckets.unbiased"]
    np.testing.assert_array_equal(numbers, np.concatenate([one.estimate.unbiased for one in rel.values()]))


def test_arrays_open_with_numpy(tmp_path, hats):
    with np.load(hats.save(tmp_path / "release.npz")) as opened:
        np.testing.assert_array_equal(opened["buckets.totals"], hats.estimate.totals)
        np.testing.assert_array_equal(np.cumsum(opened["buckets.bounds"]), hats.estimate.buckets.bounds)
        document = json.loads(opened["release.json"])
    assert document["buckets"]["bounds"] == {"array": "buckets.bounds", "count": 401, "differences": True}
    assert document["buckets"]["unbiased"] == {"array": "buckets.unbiased", "count": 400}
    assert listed(document["privacy"]) == hats.to_json()["privacy"]


def test_it_is_smaller_than_json(tmp_path):
    rel = dawa.release({"x": np.arange(20_000)}, dawa.Axis("x", 0, 2**14), epsilon=1, seed=1, **LINES["hats"])
    compact, text = (rel.save(tmp_path / f"release.{suffix}").stat().st_size for suffix in ("npz", "json"))
    assert 5 * compact < text
    assert compact < 15 * 2**14


@pytest.mark.parametrize(
    "numbers",
    [
        [0.0, -0.0] * 20,
        [1.0, 2.0] * 20,
        [2.0**31] * 40,
        [0.1] * 40,
        [4e18, -4e18] * 20,
        [2.0**53 + 2, 5e-324] * 20,
        list(range(40)),
        [2**62 - 1, 0] * 20,
        [-(2**31), 2**31 - 1] * 20,
        [127, -128] * 20,
        [255, 0] * 20,
        [256, 0] * 20,
        [65_535, 0] * 20,
        [65_536, 0] * 20,
        [-1, 65_535] * 20,
    ],
    ids=str,
)
def test_numbers_come_back_in_whatever_type_they_are_kept(numbers):
    document = {"format": "x", "buckets": {"numbers": np.array(numbers)}}
    found = archive.values(archive.packed(document), "it")["buckets"]["numbers"]
    kind = np.float64 if isinstance(numbers[0], float) else np.int64
    assert found.astype(kind).tobytes() == np.array(numbers).astype(kind).tobytes()


def test_what_compresses_well_is_not_compressed_too_much():
    """Honest files stay below the limit of readers."""
    document = {"buckets": {name: np.zeros(2**20) for name in "abcdefg"}}
    content = archive.packed(document)
    assert MOST_GROWTH * len(content) >= 7 * 8 * 2**20
    assert not archive.values(content, "it")["buckets"]["a"].any()


def test_bytes_do_not_depend_on_the_clock(monkeypatch, hats, content):
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert hats.saved("x.NPZ") == content


def test_a_release_is_kept_in_the_form_that_its_file_is_named_for(tmp_path):
    rel = dawa.release(table(), AXIS, epsilon=1, seed=2, out=tmp_path / "kept.npz")
    assert (tmp_path / "kept.npz").read_bytes().startswith(b"PK")
    assert dawa.load(tmp_path / "kept.npz").to_json() == rel.to_json()


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch, hats):
    path = tmp_path / "release.npz"
    path.write_text("earlier", encoding="utf-8")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OSError, match="No space"):
        hats.save(path)
    assert path.read_text(encoding="utf-8") == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_too_large_is_refused_before_it_is_written(monkeypatch, hats):
    monkeypatch.setattr(members, "MOST_ARCHIVE_BYTES", 1000)
    with pytest.raises(OptionError, match="as JSON"):
        hats.saved("release.npz")


def test_lists_of_numbers_take_a_line_each(hats):
    text = hats.as_text()
    assert json.loads(text) == hats.to_json()
    assert text.count("\n") < 120
    assert '\n  "bounds": [0,1,2,3,' in text
    assert text.startswith('{\n "format": "dawa-release",\n "version": 2,\n "about": null,\n "privacy": {\n')


def test_other_values_are_written_as_before():
    document = {"a": [{"b": [], "c": {}}, "d", None, True], "e": ["f", 1], "g": [True, 2], "é": 0.1}
    assert json_text.text(document) == json.dumps(document, indent=1) + "\n"


# --- hostile archives -----------------------------------------------------------------------------------------------


def test_every_byte_counts(content):
    """Cut anywhere, or with any byte of its directory or its heads changed, it is refused or says the same."""
    rng = np.random.default_rng(2)
    for at in np.unique(np.concatenate((rng.integers(0, len(content), 150), len(content) - np.arange(1, 120)))):
        refused(content[:at]) if at >= 4 else None
        changed = bytearray(content)
        changed[at] ^= int(rng.integers(1, 256))
        try:
            assert loaded(bytes(changed)).to_json() == loaded(content).to_json()
        except ReleaseError:
            continue


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("<f4", "no array of numbers"),
        ("<u8", "no array of numbers"),
        (">f8", "no array of numbers"),
        ("<c16", "no array of numbers"),
        ("<M8[D]", "no array of numbers"),
        ("|b1", "no array of numbers"),
        ("<U4", "no array of numbers"),
        ("|S8", "no array of numbers"),
    ],
)
def test_other_types_are_refused(content, kind, said):
    assert said in refused(repacked(content, lambda found: found.update({"buckets.totals.npy": np.zeros(400, kind)})))


def test_objects_are_never_unpickled(tmp_path, content):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    trap = np.empty(400, object)
    trap[0] = Trap()
    assert "no array of numbers" in refused(repacked(content, lambda found: found.update({"buckets.totals.npy": trap})))
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((20, 20)), "buckets.totals"),
        (np.zeros((2, 2, 100)), "no array of numbers"),
        (np.zeros((20, 20), order="F"), "no array of numbers"),
        (np.float64(1), "no array of numbers"),
        (np.zeros(399), "buckets.totals has a count"),
        (np.zeros(401), "buckets.totals.npy has numbers that belong to no field"),
        (np.full(400, np.nan), "buckets.totals"),
        (np.full(400, np.inf), "buckets.totals[0] is not at most"),
        (np.full(400, -np.inf), "buckets.totals[0] is not at least"),
        (np.where(np.arange(400) == 7, 5e18, 0), "buckets.totals[7] is not at most"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(content, array, said):
    array = np.asarray(array)
    found = refused(repacked(content, lambda found: found.update({"buckets.totals.npy": array})))
    assert said in found


def test_fractions_are_no_whole_numbers(content):
    array = np.arange(1, 401) / 2
    assert "strategy.leaf[0] is not a whole number" in refused(
        repacked(content, lambda found: found.update({"strategy.leaf.npy": array}))
    )


def test_whole_numbers_may_stand_for_any_as_in_json(content):
    changed = repacked(content, lambda found: found.update({"buckets.totals.npy": np.arange(400, dtype="<u2")}))
    np.testing.assert_array_equal(loaded(changed).values(), np.arange(400.0))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"array": "buckets.unbiased", "count": 400}, "buckets.totals does not name its member"),
        ({"array": "../../etc/passwd", "count": 400}, "buckets.totals does not name its member"),
        ({"array": ["buckets.totals"], "count": 400}, "buckets.totals does not name its member"),
        ({"array": "buckets.totals", "count": 401}, "buckets.totals has a count"),
        ({"array": "buckets.totals", "count": -1}, "buckets.totals has a count"),
        ({"array": "buckets.totals", "count": True}, "buckets.totals has a count"),
        ({"array": "buckets.totals", "count": 10**20}, "buckets.totals has a count"),
        ({"array": "buckets.totals"}, "buckets.totals has a count"),
        ({"array": "buckets.totals", "count": 400, "differences": 1}, "buckets.totals is written in an unknown form"),
        ({"array": "buckets.totals", "count": 400, "power": 2}, "buckets.totals is written in an unknown form"),
        ({"array": "buckets.totals", "count": 400, "differences": True}, "buckets.totals has differences"),
        ([0.0] * 400, "buckets.totals.npy has numbers that belong to no field"),
        ({"count": 400}, "buckets.totals.npy has numbers that belong to no field"),
    ],
    ids=str,
)
def test_fields_that_do_not_fit_their_members_are_refused(content, change, said):
    assert said in refused(with_text(content, lambda document: document["buckets"].update(totals=change)))


def test_a_member_is_used_once():
    content = grouped(**LINES["hats"]).saved("x.npz")

    def twice(document):
        document["groups"].append(document["groups"][0])

    assert "groups[2].buckets.bounds has a count" in refused(with_text(content, twice))


def test_differences_that_would_wrap_around_are_refused(content):
    array = np.full(401, 2**62)
    assert "buckets.bounds has differences" in refused(
        repacked(content, lambda found: found.update({"buckets.bounds.npy": array}))
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: [*found.items(), ("buckets.totals.npy", found["buckets.totals.npy"])], "totals.npy' twice"),
        (lambda found: [*found.items(), ("release.json", found["release.json"])], "'release.json' twice"),
        (lambda found: [*found.items(), ("notes.txt", b"hello")], "'notes.txt', which is no array"),
        (lambda found: [*found.items(), ("../x.npy", np.zeros(40))], "x.npy has numbers that belong to no field"),
        (lambda found: list(found.items())[::-1], "does not begin with release.json"),
        (lambda found: list(found.items())[1:], "does not begin with release.json"),
        (lambda found: list(found.items())[:-1], "does not name its member"),
        (lambda found: [*found.items(), *((f"{i}.npy", np.zeros(1)) for i in range(70))], "more than 64 members"),
        (lambda found: [("release.json", b"[]"), *list(found.items())[1:]], "belong to no field"),
        (lambda found: [("release.json", b"{"), *list(found.items())[1:]], "cannot be read from line 1"),
        (lambda found: [("release.json", b"[" * 5000), *list(found.items())[1:]], "more than 32"),
    ],
)
def test_members_that_do_not_fit_are_refused(content, change, said):
    assert said in refused(repacked(content, change))


def raw(members_of, *, count=None):
    """An archive written by hand: for each member, its name, its bytes and what its head says otherwise."""
    body, directory = b"", b""
    for name, data, said in members_of:
        values = {"flags": 0, "method": 0, "crc": zlib.crc32(data), "stored": len(data), "size": len(data), **said}
        entry = (20, values["flags"], values["method"], 0, 33, values["crc"], values["stored"], values["size"])
        offset = values.get("offset", len(body))
        body += struct.pack("<4s5H3L2H", b"PK\3\4", *entry, len(name), 0) + name + data
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, *entry, len(name), 0, 0, 0, 0, 0, offset) + name
    number = len(members_of) if count is None else count
    return body + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, number, number, len(directory), len(body), 0)


def deflate(data):
    made = zlib.compressobj(9, zlib.DEFLATED, -15)
    return made.compress(data) + made.flush()


TEXT = (b"release.json", b"{}", {})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (raw([TEXT]), "not a dawa release"),
        (raw([]), "not a JSON file"),
        (raw([TEXT]) + b"x", "directory"),
        (raw([TEXT], count=2), "directory that does not fit"),
        (raw([TEXT], count=0), "does not begin|belong to no member"),
        (raw([TEXT], count=65_535), "more than 64 members"),
        (raw([(b"release.json", b"{}", {"flags": 1})]), "encrypted"),
        (raw([(b"release.json", b"{}", {"flags": 8})]), "directory that does not fit"),
        (raw([(b"release.json", b"{}", {"method": 12})]), "packed in an unknown way"),
        (raw([(b"release.json", b"{}", {"crc": 5})]), "changed or cut off"),
        (raw([(b"release.json", b"{}", {"size": 2**31})]), "directory that does not fit"),
        (raw([(b"release.json", b"{}", {"offset": 1})]), "directory that does not fit"),
        (raw([(b"release.json", deflate(b"{}"), {"method": 8, "size": 2})]), "does not begin with release.json"),
        (raw([TEXT, (b"a.npy", saved(np.zeros(9)), {"offset": 0})]), "directory that does not fit"),
        (raw([TEXT, (b"a.npy", b"\x93NUMPY", {})]), "no array of numbers"),
        (raw([TEXT, (b"a.npy", b"no deflated bytes", {"method": 8, "size": 200})]), "no array of numbers"),
        (raw([TEXT, (b"\xff.npy", saved(np.zeros(9)), {})]), "directory that does not fit"),
        (b"PK\3\4", "ends before its directory"),
        (b"PK\3\4" * 50, "ends before its directory"),
    ],
)
def test_directories_that_lie_are_refused(content, said):
    with pytest.raises(ReleaseError, match=f"(?s)({said}).*Hint:"):
        loaded(content)


def bomb(count, kind="|i1"):
    array = saved(np.zeros(count, kind))
    return raw(
        [TEXT, (b"buckets.totals.npy", deflate(array), {"method": 8, "crc": zlib.crc32(array), "size": len(array)})]
    )


def test_a_small_file_does_not_grow():
    content = bomb(2**21)
    assert len(content) < 5000
    tracemalloc.start()
    try:
        assert f"more than {MOST_GROWTH} times" in refused(content)
        assert tracemalloc.get_traced_memory()[1] < 2**18
    finally:
        tracemalloc.stop()


def test_what_inflates_to_more_than_it_declares_is_refused():
    array = saved(np.zeros(2**16))
    lie = saved(np.zeros(9))
    data = deflate(lie + array)
    said = {"method": 8, "crc": zlib.crc32(lie), "size": len(lie)}
    assert "changed or cut off" in refused(raw([TEXT, (b"a.npy", data, said)]))
    cut = deflate(lie)[:-3]
    assert "changed or cut off" in refused(raw([TEXT, (b"a.npy", cut, said)]))
    more = deflate(lie) + b"more"
    assert "changed or cut off" in refused(raw([TEXT, (b"a.npy", more, said)]))


def test_a_sparse_file_is_not_read_on(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "MOST_ZEROS", 2**20)
    path = tmp_path / "release.npz"
    path.write_bytes(b"PK\3\4")
    os.truncate(path, 2**31)
    assert len(loading.contents(path)) < 2**21
    with pytest.raises(ReleaseError):
        dawa.load(path)


def test_an_archive_is_known_by_its_first_bytes(tmp_path, hats, content):
    path = tmp_path / "release.json"
    path.write_bytes(content)
    assert dawa.load(path).to_json() == hats.to_json()
    path.write_text(hats.as_text(), encoding="utf-8")
    assert dawa.load(path.rename(tmp_path / "release.npz")).to_json() == hats.to_json()


def test_unknown_fields_may_have_arrays_too(hats):
    """A later version may add some."""
    document = hats._document()
    document["buckets"]["depths"] = np.arange(400)
    document["later"] = {"numbers": np.linspace(0, 1, 99)}
    assert loaded(archive.packed(document)).to_json() == hats.to_json()


@pytest.mark.parametrize("array", [np.array([[0, 1], [1, 2]]), np.array([1.5]), np.array([]), np.array([-1, 7])])
def test_the_schema_says_the_same_of_arrays_and_of_lists(array):
    checks = [
        conform.Compiler(one).compiled()
        for one in (
            {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
            {"type": "array", "items": {"type": "number", "maximum": 5}},
            {"type": "array", "minItems": 1, "items": {"type": "array", "maxItems": 2, "items": {"type": "integer"}}},
        )
    ]
    for check in checks:
        said = []
        for value in (array, array.tolist()):
            try:
                said.append(np.asarray(check(value, ("x",))).tolist())
            except ReleaseError:
                said.append("refused")
        assert said[0] == said[1]


# --- wherever a release is taken ------------------------------------------------------------------------------------


def test_the_server_and_the_command_line_take_compact_files(tmp_path, hats):
    hats.save(tmp_path / "ages.npz")
    (shelved,) = shelf.filled([tmp_path]).releases.values()
    assert shelved.name == "ages"
    assert json.loads(shelved.file) == hats.to_json()
    asked = command("query", tmp_path / "ages.npz", "10:90", "--json")
    assert repr(hats.answer(10, 90).value) in str(asked)
