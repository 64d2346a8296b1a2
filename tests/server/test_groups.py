"""Groups over HTTP: each is asked as a release of its own, all together in steps, with the numbers of the library."""

import itertools

import numpy as np
import pytest

import dawa
from dawa.cli.demo import people
from dawa.server import app, asking, costs, groups
from helpers.asgi import Client

TABLE = {**people(3000), "city": ["Rome", "Oslo", "A, B"] * 1000, "month": [1, 2] * 1500}
CITIES = ["Rome", "Oslo", "A, B"]


@pytest.fixture(scope="module")
def releases():
    age = dawa.Axis("age", 0, 100)
    return {
        "cities": dawa.release(TABLE, age, epsilon=1, by="city", groups=CITIES),
        "both": dawa.release(TABLE, age, epsilon=1, by={"city": ["Rome", "Oslo"], "month": [1, 2]}, other=True),
        "plain": dawa.release(TABLE, age, epsilon=1),
    }


@pytest.fixture(scope="module")
def client(releases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    for name, release in releases.items():
        release.save(folder / f"{name}.json")
    return Client(app(folder, rate=1e9))


def told(client, path):
    response = client.get(f"/releases/{path}")
    assert response.status_code == 200, response.text
    return response.json()


def refused(client, path):
    response = client.get(f"/releases/{path}")
    assert response.status_code == 422, response.text
    return " ".join(response.json().values())


def row(answer, found):
    return {name: found[name] for name in answer.row()}


def test_groups_are_described(client, releases):
    found = told(client, "both")
    assert found["by"][1] == {"column": "month", "values": [1, 2], "other": True}
    assert (found["groups"], found["group"]) == (9, [])
    assert found["buckets"] == sum(len(rel.estimate.buckets) for rel in releases["both"].values())
    assert found["statement"] == str(releases["both"].privacy)
    one = told(client, "both?group=Oslo&group=2")
    assert one["group"] == ["Oslo", 2]
    assert one["buckets"] == len(releases["both"]["Oslo", 2].estimate.buckets)
    plain = told(client, "plain")
    assert (plain["by"], plain["groups"], plain["group"]) == ([], 0, [])
    listed = {one["name"]: (one["by"], one["groups"]) for one in client.get("/releases").json()["releases"]}
    assert listed == {"cities": (["city"], 3), "both": (["city", "month"], 9), "plain": ([], 0)}
    assert "3 groups by city" in client.get("/").text


def test_answers_are_those_of_the_library(client, releases):
    every, one = releases["cities"], releases["cities"]["A, B"]
    for group, rel in (("", every), ("&group=A,%20B", one), ("&group=%22A,%20B%22", one)):
        answer = rel.answer(20, 60, 0.9)
        assert row(answer, told(client, f"cities/answer?lo=20&hi=60&confidence=0.9{group}")) == answer.row()
    asked = {"ranges": [{"lo": 0, "hi": 20}, {"lo": 20, "hi": 60}]}
    for group, rel in (("", every), ("?group=Rome", every["Rome"])):
        found = client.post(f"/releases/cities/answers{group}", json=asked).json()["answers"]
        expected = rel.answers([0, 20], [20, 60])
        assert [row(answer, one) for answer, one in zip(expected, found, strict=True)] == [a.row() for a in expected]


def test_two_ways_to_name_a_group_of_several_columns(client):
    found = [told(client, f"both/quantile?fraction=0.5&{way}") for way in ("group=other&group=1", "group=other,1")]
    assert found[0] == found[1]


def test_figures_of_one_group(client, releases):
    rel = releases["cities"]["Oslo"]
    assert told(client, "cities/quantile?fraction=0.5&group=Oslo")["high"] == rel.quantile(0.5).high
    assert told(client, "cities/values?group=Oslo")["mean"]["value"] == rel.mean().value
    assert told(client, "cities/share?lo=0&hi=30&group=Oslo")["low"] == rel.share(0, 30).low
    assert told(client, "cities/buckets?group=Oslo")["total"] == len(rel.estimate.buckets)
    assert client.get("/releases/cities/page?group=Oslo").status_code == 200
    assert client.get("/releases/cities/page").status_code == 200


def test_all_groups_of_one_range(client, releases):
    found = told(client, "both/by-group?lo=20&hi=60")
    expected = releases["both"].answers_by_group(20, 60)
    assert [tuple(one["group"]) for one in found["groups"]] == [group for group, _ in expected]
    for one, (_, answer) in zip(found["groups"], expected, strict=True):
        assert row(answer, one) == answer.row()
    together = releases["both"].answer(20, 60)
    assert row(together, found["together"]) == together.row()


def test_records_in_no_group(client, releases):
    ways = {way["label"]: way for way in told(client, "cities/apart")["ways"]}
    assert ways["city missing"]["columns"] == ["city"]
    assert ways["age missing"]["columns"] == ["age"]
    expected = {way.label: way.answer.value for way in releases["cities"].apart()}
    assert expected == {label: ways[label]["value"] for label in expected}


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("cities/answer?lo=1&hi=2&group=Paris", "ask for one of Rome, Oslo, A, B"),
        ("both/answer?lo=1&hi=2&group=Rome", "Rome,1"),
        ("both/answer?lo=1&hi=2&group=Rome&group=3", "ask for one of"),
        ("cities/quantile?fraction=0.5", "add group="),
        ("cities/buckets", "add group="),
        ("plain/answer?lo=1&hi=2&group=Rome", "no groups"),
        ("plain/by-group?lo=1&hi=2", "no groups"),
        ("cities/by-group?lo=1&hi=2&group=Rome", "no parameter 'group'"),
        ("cities/file?group=Rome", "no parameter 'group'"),
    ],
)
def test_what_cannot_be_asked(client, path, hint):
    assert hint in refused(client, path)


@pytest.mark.long
def test_many_groups_are_asked_in_many_short_steps():
    """So nobody waits for a thousand groups at once: other clients get their turns between the steps."""
    table = {"age": np.arange(4000) % 100, "shop": np.arange(4000) % 400}
    rel = dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="shop", groups=list(range(400)), effort="fast")
    cost = costs.of_call(rel)
    assert cost >= 10 * costs.STEP
    for steps in (asking.answers(rel, [([20], [60])], [0.0], 0.95), asking.apart(rel, 0.95)):
        assert sum(1 for _ in steps) >= cost / costs.STEP / 2
    parts = list(groups.by_group(rel, 20, 60, cost / len(rel), 0.95))
    assert len(parts) >= cost / costs.STEP / 2
    assert max(map(len, parts)) <= 2 * len(rel) * costs.STEP / cost
    (found,) = itertools.chain(*asking.answers(rel, [([20], [60])], [0.0], 0.95))
    assert found.value == rel.answer(20, 60).value
