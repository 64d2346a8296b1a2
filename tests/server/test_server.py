"""The server says what the releases say, to everyone alike, and refuses the rest in a sentence."""

import asyncio
import builtins
import resource
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import dawa
from dawa import limits
from dawa.axis import written
from dawa.axis.apart import touching
from dawa.errors import OptionError, ReleaseError
from dawa.publish import page as report
from dawa.results.overview import overview
from dawa.server import app, running, shelf
from helpers.asgi import Client
from helpers.commands import dawa as command
from helpers.commands import refused
from helpers.serving import Served, asked
from helpers.words import FLIGHTS

RNG = np.random.default_rng(6)
PEOPLE = {
    "age": np.clip(RNG.normal(40, 20, 5000), 0, 99).astype(int),
    "lon": RNG.integers(0, 40, 5000),
    "lat": RNG.integers(0, 30, 5000),
    "when": (np.datetime64("2013-01-01") + RNG.integers(0, 31 * 24, 5000).astype("m8[h]")).astype("M8[us]"),
    "grade": RNG.choice(["A", "B", "C"], 5000),
    "moment": [datetime(2013, 1, 1, 12, tzinfo=UTC) + timedelta(hours=hour) for hour in range(700)] * 7 + [None] * 100,
    "x": RNG.integers(0, 5, 5000),
}
AXES = {
    "ages": dawa.Axis("age", 0, 100),
    "map": (dawa.Axis("lon", 0, 40), dawa.Axis("lat", 0, 30)),
    "when": dawa.Axis.dates("when", "2013-01-01", "2013-02-01", step="1 hour"),
    "zoned": dawa.Axis.dates("moment", "2013-01-01", "2013-02-01", step="1 day", zone="Europe/Berlin"),
    "grades": dawa.Axis.ordered("grade", ["A", "B", "C"]),
    "edges": dawa.Axis.edges("age", [0, 0.5, 20, 50, 100]),
    "hundreds": dawa.Axis("age", 0, 100, 50),
    "quarters": dawa.Axis("age", 0, 100, "0.25"),
    "hostile": dawa.Axis("x", 0, 5),
}


@pytest.fixture(scope="module")
def releases():
    made = {name: dawa.release(PEOPLE, axes, epsilon=1) for name, axes in AXES.items()}
    # No table has such a column, but a file can say anything.
    return made | {"hostile": replace(made["hostile"], axes=(dawa.Axis("</script>\u2028", 0, 5),))}


@pytest.fixture(scope="module")
def folder(releases, tmp_path_factory):
    """Some releases in folders, some as files, one damaged."""
    place = tmp_path_factory.mktemp("out")
    for name, release in releases.items():
        if name in {"ages", "map"}:
            (place / name).mkdir()
            release.save(place / name / "release.json")
        else:
            release.save(place / f"{name}.json")
    (place / "damaged.json").write_text('{"format": "dawa-release", "version": 1}', encoding="utf-8")
    (place / "notes.txt").write_text("nothing", encoding="utf-8")
    (place / "empty").mkdir()
    return place


@pytest.fixture(scope="module")
def client(folder):
    return Client(app(folder, rate=1e9))


def told(response, status=422):
    """The problem and the hint of a refusal."""
    assert response.status_code == status, response.text
    found = response.json()
    assert set(found) == {"problem", "hint"}
    return f"{found['problem']} {found['hint']}"


def test_everything_in_a_folder_is_served(client, releases):
    found = client.get("/releases").json()["releases"]
    assert [one["name"] for one in found] == sorted(releases)
    assert {one["name"]: one["columns"] for one in found} == {
        name: [axis.column for axis in release.axes] for name, release in releases.items()
    }
    assert client.get("/health").json() == {"status": "ok", "releases": len(releases)}


@pytest.mark.parametrize("name", AXES)
def test_a_release_is_described(client, releases, name):
    found, release = client.get(f"/releases/{name}").json(), releases[name]
    assert found["statement"] == str(release.privacy)
    assert (found["epsilon"], found["epsilon_exact"], found["id"]) == (1.0, "1", release.id)
    assert [axis["cells"] for axis in found["axes"]] == list(release.estimate.shape)
    assert [axis["description"] for axis in found["axes"]] == [axis.describe() for axis in release.axes]
    assert [axis["edges"] for axis in found["axes"]] == [touching([axis], [(True, True)]) for axis in release.axes]
    assert found["kept"] == ""
    assert found["about"] is None
    assert [way["label"] for way in found["records"]["ways"]] == [way.label for way in overview(release).ways]


def test_words_about_the_data_are_told(tmp_path):
    rel = dawa.release({"x": [1]}, dawa.Axis("x", 0, 9), epsilon=1, about=FLIGHTS)
    rel.save(tmp_path / "flights.json")
    replace(rel, about=dawa.About(record="a <b>")).save(tmp_path / "bare.json")
    reader = Client(app(tmp_path, rate=1e9))
    titles = {one["name"]: one["title"] for one in reader.get("/releases").json()["releases"]}
    assert titles == {"flights": FLIGHTS.title, "bare": None}
    assert reader.get("/releases/flights").json()["about"] == {**FLIGHTS.to_json(), "plural": None}
    words = {name: text for name, text in reader.get("/releases/bare").json()["about"].items() if text is not None}
    assert words == {"record": "a <b>"}
    assert ">Departures from New York</h1>" in reader.get("/releases/flights/page").text


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_records_in_no_range(client, releases, name, confidence):
    found = client.get(f"/releases/{name}/apart", params={"confidence": confidence}).json()
    everything = overview(releases[name], confidence)
    assert found["inside"] == everything.inside.row()
    assert found["apart"] == everything.apart.row()
    assert found["share"] == everything.share
    for way, expected in zip(found["ways"], everything.ways, strict=True):
        about = {"states": list(expected.states), "columns": list(expected.columns)}
        assert way == {"label": expected.label, **about, **expected.answer.row()}
    if confidence == 0.95:
        assert client.get(f"/releases/{name}").json()["records"] == found


def test_misspelt_categories_persons_and_rows_that_were_left_out(tmp_path):
    table = {"grade": ["a", "b", "C"] * 300, "who": list(range(450)) * 2}
    grades = dawa.Axis.ordered("grade", ["A", "B", "C"])
    dawa.release(table, grades, epsilon=1, unit="who", max_rows_per_unit=2).save(tmp_path / "apart.json")
    silent = dawa.Axis.ordered("grade", ["A", "B", "C"], outside="drop", missing="drop")
    dawa.release(table, silent, epsilon=1).save(tmp_path / "silent.json")
    client = Client(app(tmp_path, rate=1e9))
    found = client.get("/releases/apart").json()
    assert found["kept"] == "of at most 2 records of each value of 'who'"
    assert found["records"]["warning"].startswith("Most records are in no range")
    assert found["records"]["ways"][0]["label"] == "grade not listed"
    assert client.get("/releases/apart/answer?lo=A&hi=C").json()["remark"] == found["kept"]
    found = client.get("/releases/silent").json()
    assert (found["records"]["apart"], found["records"]["ways"], found["records"]["warning"]) == (None, [], "")


def test_the_bounds_can_be_asked(client, releases):
    for name in releases:
        axes = client.get(f"/releases/{name}").json()["axes"]
        ends = {"lo": [axis["start"] for axis in axes], "hi": [axis["stop"] for axis in axes]}
        assert client.get(f"/releases/{name}/answer", params=ends).status_code == 200


def test_answers_are_those_of_the_release(client, releases):
    rng = np.random.default_rng(1)
    for _ in range(40):
        lo, hi = sorted(rng.choice(101, 2, replace=False).tolist())
        found = client.get("/releases/ages/answer", params={"lo": lo, "hi": hi, "confidence": 0.9}).json()
        assert found == {"lo": [str(lo)], "hi": [str(hi)], **releases["ages"].answer(lo, hi, 0.9).row()}


def test_answers_of_a_map(client, releases):
    rng = np.random.default_rng(2)
    for _ in range(20):
        lo, hi = np.sort(np.stack([rng.choice(31, 2, replace=False) for _ in range(2)]), axis=1).T.tolist()
        found = client.get("/releases/map/answer", params={"lo": lo, "hi": hi}).json()
        expected = releases["map"].answer(tuple(lo), tuple(hi)).row()
        assert {name: found[name] for name in expected} == expected


def test_many_answers_at_once(client, releases):
    lows, highs = list(range(100)), list(range(1, 101))
    body = {"ranges": [{"lo": lo, "hi": str(hi)} for lo, hi in zip(lows, highs, strict=True)], "confidence": 0.99}
    found = client.post("/releases/ages/answers", json=body).json()["answers"]
    for one, expected in zip(found, releases["ages"].answers(lows, highs, 0.99), strict=True):
        assert {**one, "lo": None, "hi": None} == {"lo": None, "hi": None, **expected.row()}
    body = {"ranges": [{"lo": [1, 2.5], "hi": ["30", 4]}, {"lo": [0, 0], "hi": [40, 30]}]}
    found = client.post("/releases/map/answers", json=body).json()["answers"]
    expected = releases["map"].answers([(1, 2.5), (0, 0)], [(30, 4), (40, 30)])
    assert [one["value"] for one in found] == [one.value for one in expected]


def test_times_categories_and_edges(client, releases):
    lo, hi = "2013-01-02 08:00", "2013-01-20T17:30"
    for name in ("when", "zoned"):
        found = client.get(f"/releases/{name}/answer", params={"lo": lo, "hi": hi}).json()
        assert found["value"] == releases[name].answer(lo, hi).value
    assert client.get("/releases/grades/answer?lo=A&hi=B").json()["value"] == releases["grades"].answer("A", "B").value
    found = client.post("/releases/edges/answers", json={"ranges": [{"lo": 0.25, "hi": "1/2"}]}).json()["answers"][0]
    assert found["value"] == releases["edges"].answer(0.25, "1/2").value


@pytest.mark.parametrize("fraction", [0, 0.25, 0.5, 1])
def test_quantiles(client, releases, fraction):
    kinds = {"ages": int, "hundreds": int, "quarters": float, "edges": float, "grades": str, "when": str, "zoned": str}
    for name, kind in kinds.items():
        found = client.get(f"/releases/{name}/quantile", params={"fraction": fraction}).json()
        expected, axis = releases[name].quantile(fraction), releases[name].axis
        ends = {end: written.plain(axis, getattr(expected, end)) for end in ("value", "low", "high")}
        assert found == {"fraction": fraction, **ends, "confidence": 0.95, "remark": expected.remark}
        assert {type(found[end]) for end in ends} == {kind}
        assert axis.kind == "dates" or found["value"] == expected.value
        assert axis.border(found["value"]) == axis.border(expected.value), "it can be asked again"
        several = client.get(f"/releases/{name}/quantiles", params={"fraction": [0.1, fraction], "confidence": 0.95})
        assert several.json()["quantiles"][1] == found


def test_shares_means_and_sums(client, releases):
    for name in ("ages", "hundreds", "quarters", "edges"):
        found = client.get(f"/releases/{name}/values", params={"confidence": "9/10"}).json()
        expected = {what: getattr(releases[name], what)(0.9) for what in ("mean", "sum")}
        assert found == {what: {**asdict(one), "said": str(one)} for what, one in expected.items()}
    part = client.get("/releases/ages/share?lo=20&hi=40").json()
    assert part == asdict(releases["ages"].share(20, 40)) | {"said": str(releases["ages"].share(20, 40))}
    lo, hi = ([float(axis.value([cell])[0]) for axis in releases["map"].axes] for cell in (0, 2))
    part = client.get("/releases/map/share", params={"lo": lo, "hi": hi}).json()
    assert part.pop("said").startswith("share ")
    assert part == asdict(releases["map"].share(tuple(lo), tuple(hi)))
    for name in ("grades", "when"):
        assert "do not add up" in told(client.get(f"/releases/{name}/values"), 422)
    assert "along one axis" in told(client.get("/releases/map/values"), 422)


def test_buckets_page_by_page(client, releases):
    release, rows = releases["ages"], []
    while page := client.get("/releases/ages/buckets", params={"first": len(rows), "count": 7}).json()["buckets"]:
        rows += page
    assert [row["value"] for row in rows] == release.values().tolist()
    assert [row["standard_deviation"] ** 2 for row in rows] == pytest.approx(release.variances())
    assert [row["start"] for row in rows] + [100] == release.bounds.tolist()
    assert client.get("/releases/ages/buckets").json()["total"] == len(rows)
    assert rows[0]["remark"] == "with everything below 0"
    assert rows[-1]["remark"] == "with everything from 100 on"
    assert {row["remark"] for row in rows[1:-1]} == {""}


def test_the_file_itself(client, folder, releases, tmp_path):
    response = client.get("/releases/map/file")
    assert response.content == (folder / "map" / "release.json").read_bytes()
    assert response.headers["content-disposition"] == 'attachment; filename="map.json"'
    (tmp_path / "copy.json").write_bytes(response.content)
    assert dawa.load(tmp_path / "copy.json").answer((1, 1), (9, 9)) == releases["map"].answer((1, 1), (9, 9))


def test_the_page_for_people(client, releases):
    for name in releases:
        response = client.get(f"/releases/{name}/page")
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.text.startswith("<!doctype html>")
        assert "</script>\u2028" not in response.text
    assert client.get("/releases/ages/page").text == report.html(releases["ages"])


def test_nothing_is_read_again(releases, tmp_path):
    releases["ages"].save(tmp_path / "release.json")
    client = Client(app(tmp_path, rate=1e9))
    (name,) = (one["name"] for one in client.get("/releases").json()["releases"])
    before = client.get(f"/releases/{name}/file").content
    releases["grades"].save(tmp_path / "release.json")
    assert client.get(f"/releases/{name}/file").content == before
    assert client.get(f"/releases/{name}/answer?lo=1&hi=9").json()["value"] == releases["ages"].answer(1, 9).value


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("ages/answer?lo=0&hi=500", ["500 lies outside the axis 'age'", "ask between 0 and 100"]),
        ("ages/answer?lo=65&hi=18", ["empty", "lower end first"]),
        ("ages/answer?lo=ten&hi=18", ["'ten' is not a finite number"]),
        ("ages/answer?lo=1e999999999&hi=18", ["more than 300 digits"]),
        ("ages/answer?lo=1", ["lacks 'hi'"]),
        ("ages/answer?lo=1&lo=2&hi=3&hi=4", ["two ends on each of age", "once for every axis"]),
        ("map/answer?lo=1&hi=2", ["two ends on each of lon, lat"]),
        ("ages/answer?lo=1&hi=2&confidence=1", ["confidence=1.0 cannot be promised", "such as confidence=0.95"]),
        ("ages/answer?lo=1&hi=2&confidence=high", ["confidence='high' is not a finite number"]),
        ("ages/answer?lo=1&hi=2&confidence=1e400", ["confidence='1e400' has more than 300 digits"]),
        ("ages/apart?confidence=nan", ["confidence='nan' is not a finite number"]),
        ("ages/answer?lo=1&hi=2&confidence=0.9999999999", ["cannot be promised"]),
        (
            "ages/answer?lo=1&hi=2&confidnce=0.9",
            ["no parameter 'confidnce'", "this path takes range, lo, hi, confidence"],
        ),
        ("ages/answer?lo=1&hi=2&confidence=0.9&confidence=0.8", ["'confidence' is given twice"]),
        ("ages?verbose=1", ["no parameter 'verbose'"]),
        ("../openapi.json?x=1", ["no parameter 'x'"]),
        ("../health?x=1", ["no parameter 'x'"]),
        ("grades/answer?lo=A&hi=D", ["'D' is not a value", "A, B, C"]),
        ("ages/quantile?fraction=2", ["2.0 is not a fraction", "from 0 to 1"]),
        ("ages/quantile?fraction=half", ["fraction='half' is not a finite number"]),
        ("ages/quantile?fraction=1/0", ["fraction='1/0' is not a finite number"]),
        ("ages/quantile", ["lacks 'fraction'"]),
        ("map/quantile?fraction=0.5", ["along one axis", "has 2"]),
        ("map/buckets", ["along one axis", "has 2"]),
        ("ages/buckets?count=0", ["count=0 is not large enough", "from 1 to 10000"]),
        ("ages/buckets?count=10001", ["count=10001 is not small enough"]),
        ("ages/buckets?first=1.0", ["first='1.0' is not a whole number"]),
        ("ages/buckets?first=-1", ["first=-1 is not large enough"]),
        ("ages/buckets?first=%D9%A1", ["is not a whole number"]),
    ],
)
def test_wrong_requests_lead_on(client, path, parts):
    sentence = told(client.get(f"/releases/{path}"))
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"ranges": []}, "'ranges' in the body"),
        ({"ranges": [{"lo": True, "hi": 2}]}, "'ranges.0.lo' in the body is not valid: it is not a number, text"),
        ({"ranges": [{"lo": 1, "hi": 2}, {"lo": 1}]}, "lacks 'ranges.1.hi'"),
        ({"ranges": [{"lo": 1, "hi": 2, "hj": 3}]}, "'ranges.0.hj' in the body"),
        ({"ranges": [{"lo": 1, "hi": 2}, {"lo": 3, "hi": 3}]}, "Range 2 cannot be answered"),
        ({"ranges": [{"lo": 1, "hi": 2}], "confidence": "high"}, "confidence='high' is not a finite number"),
        ({"ranges": [{"lo": 1, "hi": 2}], "confidence": 0.4}, "confidence=0.4 cannot be promised"),
        ({"ranges": [{"lo": 1, "hi": 2}], "confidence": True}, "'confidence' in the body"),
        ({"ranges": [{"lo": 1, "hi": 2}], "confidence": None}, "'confidence' in the body"),
        ({"ranges": [{"lo": 1, "hi": 2}] * (limits.MOST_RANGES_ASKED + 1)}, "at most 1000"),
        ({"ranges": [{"lo": "1" * 2000, "hi": 2}]}, "not valid"),
        ([], "not the expected JSON"),
    ],
)
def test_wrong_bodies_lead_on(client, body, part):
    assert part in told(client.post("/releases/ages/answers", json=body))


@pytest.mark.parametrize("content", [b"", b"{", b'{"ranges": [{"lo": NaN, "hi": 1e999}]}', b"\xff", b"[" * 100_000])
def test_broken_bodies(client, content):
    headers = {"Content-Type": "application/json"}
    assert client.post("/releases/ages/answers", content=content, headers=headers).status_code in {400, 422}


def test_numbers_are_read_as_everywhere(client):
    def answered(**parameters):
        return client.get("/releases/ages/answer", params={"lo": "1", "hi": "9", **parameters}).json()

    assert answered(confidence="1/2") == answered(confidence="0.5") == answered(confidence=" 5e-1 ")
    assert answered(confidence="19/20") == answered()
    assert client.get("/releases/ages/buckets?first=1_0&count=+2").json()["first"] == 10
    median = client.get("/releases/ages/quantile?fraction=1/2").json()
    assert median == client.get("/releases/ages/quantile?fraction=.5").json()


def posted(client, text):
    return client.post("/releases/ages/answers", content=text, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("end", ["1e400", "-1e400", "1e-400", "9" * 400, "1e99999999", "0." + "0" * 400 + "1"])
def test_numbers_in_bodies_are_read_as_text_is(client, end):
    """What a float cannot hold is refused as it was written, in the same words."""
    number = told(posted(client, f'{{"ranges": [{{"lo": {end}, "hi": 2}}]}}'))
    assert number == told(posted(client, f'{{"ranges": [{{"lo": "{end}", "hi": 2}}]}}'))
    assert "more than 300 digits" in number
    assert "inf" not in number


def test_numbers_in_bodies_keep_their_value(client):
    fine = "17.50000000000000000000000000000001"
    (found,) = posted(client, f'{{"ranges": [{{"lo": {fine}, "hi": 20.5}}], "confidence": "19/20"}}').json()["answers"]
    asked = client.get("/releases/ages/answer", params={"lo": fine, "hi": "20.5"}).json()
    assert found == {**asked, "hi": [20.5]}
    assert found["lo"] == [fine]
    assert "confidence='1e400' has more" in told(
        posted(client, '{"ranges": [{"lo": 1, "hi": 2}], "confidence": 1e400}')
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('{"ranges": [{"lo": 1, "hi": 2}], "confidence": 0.9, "confidence": 0.5}', "'confidence' is given twice"),
        ('{"ranges": [{"lo": 1, "lo": 2, "hi": 3}]}', "'lo' is given twice"),
        ('{"ranges": [{"lo": "\\ud800", "hi": 3}]}', "not valid"),
        ('{"ranges": [{"lo": 1, "hi": 3, "\\ud800": 1}]}', "not valid"),
        ('{"ranges": [{"lo": 1, "hi": Infinity}]}', "not the expected JSON"),
        ("\ufeff{}", "not the expected JSON"),
    ],
)
def test_ambiguous_bodies_are_refused(client, text, part):
    assert part in told(posted(client, text.encode()))


def test_paths_and_methods_that_are_none(client):
    assert "names in /releases" in told(client.get("/releases/none"), 404)
    told(client.get("/releases/..%2fages"), 404)
    assert "nothing at this path" in told(client.get("/release"), 404)
    response = client.request("DELETE", "/releases/ages")
    assert "does not take that method" in told(response, 405)
    assert response.headers["allow"] == "GET"


def test_hostile_names_are_text(client):
    found = client.get("/releases/hostile")
    assert found.json()["axes"][0]["column"] == "</script>\u2028"
    assert found.headers["content-type"] == "application/json"
    assert "two ends on each of" in told(client.get("/releases/hostile/answer?lo=1&lo=1&hi=1"))


def test_a_defect_is_a_sentence(folder, monkeypatch):
    def broken(*_arguments):
        raise RuntimeError("a secret")

    monkeypatch.setattr("dawa.server.asking.quantiles", broken)
    sentence = told(Client(app(folder)).get("/releases/ages/quantile?fraction=0.5"), 500)
    assert "RuntimeError" in sentence
    assert "secret" not in sentence


def test_a_large_body_is_refused_before_it_is_read(client):
    content = b"x" * (limits.MOST_BODY_BYTES + 1)
    assert "larger than" in told(client.post("/releases/ages/answers", content=content), 413)

    async def endless():
        while True:
            yield b"x" * 2**16

    assert "larger than" in told(client.post("/releases/ages/answers", content=endless()), 413)


def test_maps_too_large_for_a_request(tmp_path):
    """A rectangle costs as much as it has cells along its sides, so one over millions is refused."""
    axes = dawa.Axis("lon", 0, 2**22), dawa.Axis("lat", 0, 2**22)
    release = dawa.release({"lon": [1, 2, 3], "lat": [4, 5, 6]}, axes, epsilon=1, effort="fast")
    release.save(tmp_path / "wide.json")
    client = Client(app(tmp_path))
    assert "too many cells" in told(client.get("/releases/wide/answer?lo=0&lo=0&hi=4194304&hi=4194304"))
    assert client.get("/releases/wide/answer?lo=0&lo=0&hi=64&hi=64").status_code == 200


def test_a_client_that_asks_too_often_waits(folder):
    application = app(folder, rate=0.001)
    eager, other = Client(application), Client(application, host="127.0.0.2")
    assert eager.get("/releases").status_code == 200
    response = eager.get("/releases")
    assert "too much in a short time" in told(response, 429)
    assert 900 <= int(response.headers["retry-after"]) <= 1000
    assert other.get("/releases").status_code == 200, "others do not wait"
    assert eager.get("/health").status_code == 200, "a health check costs nothing"


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), "5", True])
def test_rates_that_are_none(folder, rate):
    with pytest.raises(OptionError, match="is not a rate"):
        app(folder, rate=rate)


def test_other_sites_cannot_borrow_a_readers_browser(folder):
    """A page elsewhere may point its own name at this machine; the name gives it away."""
    client = Client(app(folder, hosts=("127.0.0.1", "::1")))
    assert client.get("/health", headers={"Host": "127.0.0.1:8000"}).status_code == 200
    assert client.get("/health", headers={"Host": "[::1]:8000"}).status_code == 200
    assert "not known by that name" in told(client.get("/health", headers={"Host": "elsewhere.example"}), 400)


def test_damaged_files_are_named_and_skipped(folder):
    read = shelf.filled([folder])
    (sentence,) = read.skipped
    assert "damaged.json is not served. This release is damaged" in sentence


def test_names(tmp_path, releases):
    for name in ("a b", "a-b", "ümlaut"):
        (tmp_path / name).mkdir()
        releases["grades"].save(tmp_path / name / "release.json")
    releases["grades"].save(tmp_path / "a b.json")
    assert list(shelf.filled([tmp_path]).releases) == ["a-b", "a-b-2", "a-b-3", "mlaut"]
    assert list(shelf.filled([tmp_path / "a-b", tmp_path / "a b.json", tmp_path / "a-b"]).releases) == ["a-b", "a-b-2"]


def test_nothing_to_serve(tmp_path):
    for places in ([tmp_path], [tmp_path / "none"], [], [tmp_path / "\0"]):
        with pytest.raises(ReleaseError):
            shelf.filled(places)
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(ReleaseError, match="is not a JSON file"):
        shelf.filled([tmp_path])


def test_the_extra_is_asked_for(folder, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "uvicorn":
            raise ModuleNotFoundError(name=name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(command("serve", folder), "not installed", "pip install 'dawa[serve]'")
    with pytest.raises(OptionError, match="not installed"):
        app(folder)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--port", "70000"], ["no port 70000"]),
        (["--host", "192.0.2.1"], ["cannot listen on 192.0.2.1"]),
        (["--host", "no such name"], ["no address"]),
        (["--workers", "0"], ["0 workers"]),
        (["--rate", "0"], ["not a rate"]),
    ],
)
def test_commands_that_cannot_serve(releases, tmp_path, arguments, parts):
    releases["ages"].save(tmp_path / "release.json")
    refused(command("serve", tmp_path, *arguments), *parts)


def test_a_port_that_is_taken(releases, tmp_path):
    releases["ages"].save(tmp_path / "release.json")
    with running.bound("127.0.0.1", 0) as listening:
        refused(command("serve", tmp_path, "--port", listening.getsockname()[1]), "Address already in use", "--port")


def test_an_open_address_says_what_that_means(releases, tmp_path, monkeypatch):
    releases["ages"].save(tmp_path / "release.json")
    monkeypatch.setattr(running, "serve", lambda *_arguments, **_options: None)
    ran = command("serve", tmp_path, "--host", "0.0.0.0", "--port", 0)  # noqa: S104  that is the point
    assert "nobody is asked who they are" in ran.err
    assert not command("serve", tmp_path, "--port", 0).err


@pytest.mark.long
def test_a_thousand_clients_at_once(folder, releases):
    clients, release = 1000, releases["ages"]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 < soft < 4096:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if 0 < hard < 4096 else 4096, hard))
    rng = np.random.default_rng(3)
    pairs = [sorted(rng.choice(101, 2, replace=False).tolist()) for _ in range(clients)]

    async def all_at_once(port):
        ready = asyncio.Barrier(clients)
        paths = [f"/releases/ages/answer?lo={lo}&hi={hi}" for lo, hi in pairs]
        hosts = [f"127.0.{1 + number // 200}.{1 + number % 200}" for number in range(clients)]
        return await asyncio.gather(
            *(asked(port, *one, host=host) for *one, host in zip(paths, [ready] * clients, hosts, strict=True))
        )

    with Served(folder, "--rate", "1e6") as server:
        found = asyncio.run(all_at_once(server.port))
    expected = release.answers(*zip(*pairs, strict=True))
    assert {status for status, _ in found} == {200}
    for (_, answer), one in zip(found, expected, strict=True):
        assert {name: answer[name] for name in one.row()} == one.row()
    assert "damaged.json is not served" in server.err
    assert "Traceback" not in server.err


@pytest.mark.long
def test_several_workers(folder, releases):
    with Served(folder, "--workers", "2") as server:
        status, found = asyncio.run(asked(server.port, "/releases/ages/answer?lo=18&hi=65"))
    assert status == 200
    assert found["value"] == releases["ages"].answer(18, 65).value
    assert server.process.returncode == 0
    assert "Traceback" not in server.err
