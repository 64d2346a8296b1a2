"""Ranges over HTTP as on the command line, and two ranges at once."""

import numpy as np
import pytest

import dawa
from dawa.server import app
from helpers.asgi import Client
from helpers.commands import dawa as command

RNG = np.random.default_rng(6)
PEOPLE = {
    "age": np.clip(RNG.normal(40, 20, 5000), 0, 99).astype(int),
    "lon": RNG.integers(0, 40, 5000),
    "when": (np.datetime64("2013-01-01") + RNG.integers(0, 365, 5000).astype("m8[D]")).astype("M8[us]"),
    "grade": RNG.choice(["A", "B", "C, or none"], 5000),
}
GRADE = dawa.Axis.ordered("grade", ["A", "B", "C, or none"])
AXES = {
    "ages": dawa.Axis("age", 0, 100),
    "map": (dawa.Axis("lon", 0, 40), dawa.Axis("age", 0, 100)),
    "days": dawa.Axis.dates("when", "2013-01-01", "2014-01-01"),
    "grades": GRADE,
    "both": (dawa.Axis("age", 0, 100), GRADE),
}


@pytest.fixture(scope="module")
def releases():
    return {name: dawa.release(PEOPLE, axes, epsilon=1) for name, axes in AXES.items()}


@pytest.fixture(scope="module")
def folder(releases, tmp_path_factory):
    place = tmp_path_factory.mktemp("out")
    for name, release in releases.items():
        release.save(place / f"{name}.json")
    dawa.release({"age": PEOPLE["age"][:2500]}, AXES["ages"], epsilon=1).save(place / "lastyear.json")
    return place


@pytest.fixture(scope="module")
def client(folder):
    return Client(app(folder, rate=1e9))


WRITTEN = [
    *(("ages", text) for text in ("18:65", "60:", ":15", "*", "27", "18..65", " 12.5 : 13 ")),
    *(("map", text) for text in ("15:20,*", "*,60:", "3,27", ":5,:50")),
    *(("days", text) for text in ("2013-02", "2013", "2013-01-05", "2013-02..2013-05", "2013-02-03:", "..2013-03")),
    *(("grades", text) for text in ("A", "C, or none", "B:", "A..B")),
    ("both", "18:65,A..B"),
]


@pytest.mark.long_but(1)
@pytest.mark.parametrize(("name", "text"), WRITTEN)
def test_ranges_are_read_as_on_the_command_line(client, folder, name, text):
    (typed,) = command("query", folder / f"{name}.json", text, "--json").json["answers"]
    found = client.get(f"/releases/{name}/answer", params={"range": text}).json()
    (listed,) = client.post(f"/releases/{name}/answers", json={"ranges": [text]}).json()["answers"]
    ends = list(typed["range"].values())
    assert (found["lo"], found["hi"]) == ([lo for lo, _ in ends], [hi for _, hi in ends])
    assert listed == found
    assert {part: found[part] for part in ("value", "low", "high", "noise_margin", "bias_bound")} == pytest.approx(
        {part: typed[part] for part in ("value", "low", "high", "noise_margin", "bias_bound")}, rel=1e-9
    )
    share = client.get(f"/releases/{name}/share", params={"range": text}).json()
    again = client.get(f"/releases/{name}/share", params={"lo": found["lo"], "hi": found["hi"]}).json()
    assert share == again


def test_both_forms_mix_in_one_body(client):
    ranges = ["60:", {"lo": 60, "hi": 100}, "*"]
    first, second, every = client.post("/releases/ages/answers", json={"ranges": ranges}).json()["answers"]
    assert first["value"] == second["value"] < every["value"]


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("ages/answer?range=60:&lo=60&hi=100", "in two forms"),
        ("ages/answer?range=60:&range=70:", "given twice"),
        ("ages/answer?range=", "not a range"),
        ("ages/answer?range=1:2:3", "several colons"),
        ("ages/answer?range=500:", "500 lies outside"),
        ("ages/answer?hi=3", "lacks 'lo'"),
        ("ages/answer", "lacks 'lo'"),
        ("map/answer?range=3:4", "one part for each of lon, age"),
        ("both/answer?range=18:65,C, or none", "one part for each of age, grade"),
        ("ages/compare", "lacks 'range'"),
        ("ages/compare?range=3:4", "takes two ranges"),
        ("ages/compare?range=3:4&range=4:5&range=5:6", "range"),
        ("ages/compare?range=3:4&range=40:30", "is empty"),
        ("ages/compare?range=3:4&with=days", "cannot be answered"),
    ],
)
def test_what_cannot_be_read_is_refused(client, question, problem):
    response = client.get(f"/releases/{question}")
    assert response.status_code == 422
    assert problem in response.json()["problem"]
    assert set(response.json()) == {"problem", "hint"}


def test_the_other_release_must_be_served(client):
    assert client.get("/releases/ages/compare?range=3:4&with=nobody").status_code == 404


@pytest.mark.parametrize(
    ("name", "first", "second"), [("ages", ":18", "65:"), ("ages", "20:40", "30:60"), ("map", "0:20,*", "*,30:60")]
)
def test_two_ranges_are_compared_as_in_python(client, folder, releases, name, first, second):
    found = client.get(f"/releases/{name}/compare", params={"range": [first, second], "confidence": "0.9"}).json()
    rel = releases[name]
    lows, highs = found["lo"], found["hi"]
    one = len(rel.axes) == 1
    pair = [(lo[0], hi[0]) if one else (tuple(lo), tuple(hi)) for lo, hi in zip(lows, highs, strict=True)]
    for what in ("difference", "ratio"):
        expected = getattr(rel, what)(*pair, confidence=0.9)
        assert found[what]["said"] == str(expected)
        assert (found[what]["value"], found[what]["low"]) == (expected.value, expected.low)
        typed = command("query", folder / f"{name}.json", first, second, f"--{what}", "--confidence", "0.9", "--json")
        (figure,) = typed.json["figures"]
        assert (figure["value"], figure["low"]) == (found[what]["value"], found[what]["low"])
        assert figure["high"] == found[what]["high"]


def test_a_range_compared_with_itself(client):
    found = client.get("/releases/ages/compare?range=18:65&range=18:65").json()
    assert [found["difference"][part] for part in ("value", "low", "high")] == [0, 0, 0]
    assert [found["ratio"][part] for part in ("value", "low", "high")] == [1, 1, 1]


def test_two_releases_are_compared(client, releases, folder):
    other = dawa.load(folder / "lastyear.json")
    found = client.get("/releases/ages/compare?range=18:65&with=lastyear").json()
    assert found["ratio"]["said"] == str(releases["ages"].ratio((18, 65), (18, 65), other))
    both = client.get("/releases/ages/compare?range=18:65&range=:40&with=lastyear").json()
    assert both["difference"]["said"] == str(releases["ages"].difference((18, 65), (0, 40), other))


def test_no_upper_end_is_null(tmp_path):
    sparse = dawa.release({"age": [1] * 300}, AXES["ages"], epsilon="0.5", partition="none")
    sparse.save(tmp_path / "sparse.json")
    found = Client(app(tmp_path, rate=1e9)).get("/releases/sparse/compare?range=0:5&range=50:51").json()
    assert found["ratio"] is None or found["ratio"]["high"] is None
