"""Groups on the command line: made with ``--by``, asked with ``--by`` and ``--group``, and the same as in Python."""

import csv
import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import dawa as library
from helpers.commands import dawa, refused

ROWS = 3000
BY = ("--by", "carrier=AA,UA", "--column", "delay", "--range", "0:100", "--epsilon", "1")


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    """Flights of three carriers, one of which is not listed below."""
    rng = np.random.default_rng(5)
    carrier, month = rng.choice(["AA", "UA", "ZZ"], ROWS, p=[0.5, 0.4, 0.1]), rng.integers(1, 3, ROWS)
    frame = pd.DataFrame({"carrier": carrier, "month": month, "delay": rng.integers(0, 100, ROWS)})
    path = tmp_path_factory.mktemp("flights") / "flights.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def out(flights):
    folder = flights.parent / "out"
    made = dawa("release", flights, *BY, "--out", folder)
    assert made.code == 0, made.err
    assert "2 groups by 'carrier'" in made.out
    return folder


@pytest.fixture(scope="module")
def two(flights):
    folder = flights.parent / "two"
    assert dawa("release", flights, *BY, "--by", "month=1,2", "--other", "--out", folder).code == 0
    return folder


def test_every_group_and_all_together(out):
    release = library.load(out / "release.json")
    found = dawa("query", out, "20:60", "--by", "--json").json
    each = [{"carrier": "AA"}, {"carrier": "UA"}, {"carrier": None}]
    assert [one["group"] for one in found["answers"]] == each
    expected = [*(answer for _, answer in release.answers_by_group(20, 60)), release.answer(20, 60)]
    for one, answer in zip(found["answers"], expected, strict=True):
        assert {name: one[name] for name in answer.row()} == answer.row()
    rows = list(csv.DictReader(io.StringIO(dawa("query", out, "20:60", "--by", "--csv").out)))
    assert [row["carrier"] for row in rows] == ["AA", "UA", ""]
    shown = dawa("query", out, "20:60", "--by").out
    assert "all groups" in shown
    assert "carrier not listed" in shown
    assert "Check" not in shown


def test_nearly_all_records_in_no_group_are_warned_about(flights, tmp_path):
    asked = (
        "--column",
        "delay",
        "--range",
        "0:100",
        "--epsilon",
        "1",
        "--by",
        "carrier=aa,ua",
        "--out",
        tmp_path / "x",
    )
    assert "Check how the listed values are spelt" in " ".join(dawa("release", flights, *asked).out.split())


def test_without_a_choice_all_groups_are_told_with_a_hint(out):
    release = library.load(out / "release.json")
    shown = dawa("query", out, "20:60").out
    assert f"{release.answer(20, 60).value:,.0f}" in shown
    assert f"{shlex.join(['dawa', 'query', str(out), '20:60'])} --group AA" in shown


def test_figures_of_a_group(out):
    rel = library.load(out / "release.json")["UA"]
    asked = ("--group", "UA", "--quantile", "0.5", "--mean", "--share", "--json")
    figures = dawa("query", out, "20:60", *asked).json["figures"]
    assert all(figure["group"] == {"carrier": "UA"} for figure in figures)
    assert [figure["value"] for figure in figures] == [
        rel.quantile(0.5).value,
        rel.mean().value,
        rel.share(20, 60).value,
    ]
    assert rel.mean().texts[0] in dawa("query", out, "--group", "UA", "--mean").out


def test_two_groups_are_compared(out):
    release = library.load(out / "release.json")
    asked = ("--group", "AA", "--group", "UA", "--difference", "--ratio", "--json")
    less, times = dawa("query", out, "20:60", *asked).json["figures"]
    assert less["value"] == release["AA"].difference((20, 60), (20, 60), release["UA"]).value
    assert times["high"] == release["AA"].ratio((20, 60), (20, 60), release["UA"]).high
    assert less["name"] == "difference of AA and UA in 20 to 60"
    each = dawa("query", out, ":20", "20:60", "--by", "--difference", "--json").json["figures"]
    assert [figure["group"] for figure in each] == [{"carrier": "AA"}, {"carrier": "UA"}]


def test_a_group_as_a_part_of_all(out):
    release = library.load(out / "release.json")
    first, second = dawa("query", out, "20:60", "--group-share", "--json").json["figures"]
    assert first["value"] == release.share("AA", 20, 60).value
    assert second["low"] == release.share("UA", 20, 60).low


def test_with_an_earlier_release_of_the_same_groups(out):
    release = library.load(out / "release.json")["AA"]
    (figure,) = dawa("query", out, "20:60", "--group", "AA", "--ratio", "--with", out, "--json").json["figures"]
    assert figure["value"] == release.ratio((20, 60), (20, 60), release).value


def test_tables_of_several_columns(two, tmp_path):
    target = tmp_path / "answers.parquet"
    assert dawa("query", two, "20:60", "--by", "--out", target).code == 0
    table = parquet.read_table(target).to_pydict()
    assert list(table)[:4] == ["carrier", "month", "from", "to"]
    assert table["carrier"] == ["AA"] * 3 + ["UA"] * 3 + ["other"] * 3 + [None]
    assert table["month"] == ["1", "2", "other"] * 3 + [None]
    shown = dawa("query", two, "--by", "--mean", "--out", tmp_path / "means.parquet")
    assert shown.code == 0
    means = pd.read_parquet(tmp_path / "means.parquet")
    assert list(means.columns[:3]) == ["carrier", "month", "name"]
    assert 6 <= len(means) <= 9  # nobody flew in another month: such a group may have no mean, which is told
    assert (len(means) == 9) == ("no records" not in shown.err)
    answer = library.load(two / "release.json")["other", 2].answer(20, 60)
    (one,) = dawa("query", two, "20:60", "--group", "other,2", "--json").json["answers"]
    assert one["group"] == {"carrier": "other", "month": 2}
    assert one["value"] == answer.value


def test_a_sample_has_the_groups_first(two, tmp_path):
    table = pd.read_csv(io.StringIO(dawa("sample", two, "--rows", 50, "--seed", 1).out))
    assert list(table.columns) == ["carrier", "month", "delay"]
    assert set(table["carrier"]) <= {"AA", "UA", "other"}
    assert dawa("sample", two, "--rows", 50, "--out", tmp_path / "rows.parquet").code == 0
    assert len(pd.read_parquet(tmp_path / "rows.parquet")) == 50


def test_a_page(out, tmp_path):
    assert dawa("explore", out, "--out", tmp_path / "page.html", "--no-open").code == 0
    assert "carrier" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--group", "XX"), "ask for one of AA, UA"),
        (("--group", "AA,1"), "is not a group"),
        (("--by", "--group", "AA"), "leave out one of the two"),
        (("--mean",), "--group AA for one"),
        (("0:9", "9:20", "--ratio"), "--by for every group"),
    ],
)
def test_what_cannot_be_asked(out, wrong, told):
    refused(dawa("query", out, *wrong), told)


def test_a_release_without_groups(tmp_path):
    library.release({"age": [1, 2]}, library.Axis("age", 0, 10), epsilon=1).save(tmp_path / "release.json")
    for wrong in (("--by",), ("--group", "AA"), ("--group-share", "1:5")):
        refused(dawa("query", tmp_path, *wrong), "leave out")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--by", "carrier"), "--by carrier=AA,UA,DL"),
        (("--by", "carrier="), "--by carrier=AA,UA,DL"),
        (("--by", "carrier=AA,AA"), "without repetitions"),
        (("--by", "delay=1,2"), "choose one of the two"),
        (("--other",), "--by carrier=AA,UA,DL"),
    ],
)
def test_wrong_groups_are_refused_before_anything_is_read(wrong, told):
    asked = ("--column", "delay", "--range", "0:100", "--epsilon", "1", "--out", "x")
    refused(dawa("release", "nothing.csv", *wrong, *asked), told)


def test_a_plan_says_what_groups_cost(flights, tmp_path):
    shown = " ".join(dawa("plan", flights, *BY).out.split())
    assert "It has 2 groups by 'carrier'" in shown
    assert "They cost epsilon once" in shown
    found = dawa("plan", flights, *BY, "--by", "month=1,2", "--json").json
    assert found["groups"] == 4
    assert found["by"][1] == {"column": "month", "values": [1, 2], "other": False}
    text = dawa("plan", flights, *BY, "--other", "--toml").out
    (tmp_path / "spec.toml").write_text(text)
    made = dawa("release", tmp_path / "spec.toml", "--out", tmp_path / "out", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["by"] == [{"column": "carrier", "values": ["AA", "UA"], "other": True}]


def test_a_plan_finds_a_grouping_column_that_is_not_there(flights):
    axis = BY[2:]
    refused(dawa("plan", flights, "--by", "nope=1", *axis), "nope")
    assert dawa("plan", flights, "--by", "nope=1", *axis, "--no-open").code == 0


def test_tables_of_a_folder_have_each_name_once(flights, tmp_path):
    frame = pd.read_csv(flights).rename(columns={"carrier": "value"})
    frame.to_csv(tmp_path / "x.csv", index=False)
    typed = ("--by", "value=AA,UA", *BY[2:], "--out", tmp_path / "x")
    assert dawa("release", tmp_path / "x.csv", *typed).code == 0
    for name in ("buckets", "apart"):
        header = (tmp_path / "x" / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
        assert header[0] == "group_value"
        assert len(set(header)) == len(header)
