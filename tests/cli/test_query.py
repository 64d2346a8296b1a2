"""``dawa query``: the same answers as the library's, in three forms."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import dawa as library
from helpers.commands import dawa, refused

PEOPLE = {"age": np.arange(2000) % 100, "lon": np.arange(2000) % 10, "lat": np.arange(2000) % 9}


@pytest.fixture(scope="module")
def ages(tmp_path_factory):
    release = library.release(PEOPLE, library.Axis("age", -10, 110), epsilon=1)
    folder = tmp_path_factory.mktemp("ages")
    release.save(folder / "release.json")
    return folder, release


def test_a_table(ages):
    folder, release = ages
    shown = dawa("query", folder, "18:65", "-10..0")
    assert shown.code == 0
    assert not shown.err
    assert f"{release.answer(18, 65).value:,.0f}" in shown.out
    assert "-10 to 0" in shown.out
    assert "95% confidence" in shown.out


def test_json_and_csv_have_all_digits(ages):
    folder, release = ages
    expected = release.answer(18, 65, 0.99)
    (answer,) = dawa("query", folder / "release.json", "18:65", "--confidence", "0.99", "--json").json["answers"]
    assert answer == {"labels": {}, "range": {"age": ["18", "65"]}, **expected.row()}
    (row,) = csv.DictReader(io.StringIO(dawa("query", folder, "18:65", "--confidence", 0.99, "--csv").out))
    assert {name: float(row[name]) for name in expected.row() if name != "remark"} == {
        name: number for name, number in expected.row().items() if name != "remark"
    }
    assert row["remark"] == expected.remark


def test_without_ranges_all_records_are_told(ages):
    folder, release = ages
    shown = dawa("query", folder)
    everything = release.answer(-10, 110)
    assert "-10 to 110" in shown.out
    assert f"{everything.value:,.0f}" in shown.out
    assert "In no range: " in shown.out
    assert f"Ask for a range: dawa query {folder} 20:80" in shown.out
    told = dawa("query", folder, "--json").json
    assert told["answers"] == [{"labels": {}, "range": {"age": ["-10", "110"]}, **everything.row()}]
    assert told["inside"] == everything.row()
    (row,) = csv.DictReader(io.StringIO(dawa("query", folder, "--csv").out))
    assert (row["from"], row["to"], row["remark"]) == ("-10", "110", everything.remark)


ENDS = {
    "thirds": (library.Axis("x", "-1/3", 7, step="1/3"), ["-1/3", "7"]),
    "decimals": (library.Axis("x", "-0.5", 7, step="0.25"), ["-0.5", "7"]),
    "edges": (library.Axis.edges("x", ["-1e-7", 1, "10/3"]), ["-1e-07", "10/3"]),
    "flags": (library.Axis.ordered("x", [False, True]), ["False", "True"]),
    "numbers in order": (library.Axis.ordered("x", [3, 1, 2]), ["3", "2"]),
    "hours": (
        library.Axis.dates("x", "2013-01-01", "2013-01-02 06:00", step="1 hour", zone="Europe/Berlin"),
        ["2013-01-01", "2013-01-02 06:00:00+01:00"],
    ),
}


@pytest.mark.parametrize("kind", ENDS)
def test_the_whole_of_every_kind_of_axis_can_be_asked(tmp_path, kind):
    axis, ends = ENDS[kind]
    release = library.release({"x": ["1"] * 50}, axis, epsilon=1)
    release.save(tmp_path / "release.json")
    (answer,) = dawa("query", tmp_path, "--json").json["answers"]
    assert answer["range"] == {"x": ends}
    assert answer["value"] == pytest.approx(release.values().sum())


def test_notes_stand_beside_answers(ages):
    folder, release = ages
    shown = dawa("query", folder, "-10:18", "18:65", "65:110")
    rows = [line for line in shown.out.splitlines() if " to " in line and "│" in line]
    ranges = [(-10, 18), (18, 65), (65, 110)]
    assert all(release.answer(*ends).remark in row for ends, row in zip(ranges, rows, strict=True))
    assert "with everything below -10" in rows[0]
    assert "with everything" not in rows[1]
    assert "with everything from 110 on" in rows[2]
    assert "remark" not in dawa("query", folder, "18:65").out
    found = dawa("query", folder, "-10:18", "18:65", "--json").json["answers"]
    assert [answer["remark"] for answer in found] == ["with everything below -10", ""]


def test_a_person_with_several_rows_is_said_once(tmp_path):
    table = {"x": np.arange(300) % 9, "who": np.arange(300) // 5}
    axis = library.Axis("x", 0, 9, outside="own")
    library.release(table, axis, epsilon=1, unit="who", max_rows_per_unit=3).save(tmp_path / "release.json")
    shown = dawa("query", tmp_path, "0:5", "5:9")
    assert " ".join(shown.out.split()).count("of at most 3 records of each value of 'who'") == 1
    assert "remark" not in shown.out
    (answer,) = dawa("query", tmp_path, "0:5", "--json").json["answers"]
    assert answer["remark"] == "of at most 3 records of each value of 'who'"


def test_records_in_no_range_stand_below(tmp_path):
    rng = np.random.default_rng(0)
    names = ["a", "b\x1b[2J", "c", "d"]
    table = {name: rng.normal(5, 4, 3000) for name in names}
    release = library.release(table, [library.Axis(n, 0, 10, outside="own") for n in names], epsilon=1, effort="fast")
    release.save(tmp_path / "release.json")
    shown = dawa("query", tmp_path)
    assert "247 other reasons" in shown.out
    assert "all of them" in shown.out
    assert "Most records are in no range" in shown.out
    assert "Check the bounds and their unit." in shown.out
    assert "\x1b" not in shown.out
    told = dawa("query", tmp_path, "--json", "--confidence", 0.9).json
    assert len(told["apart"]["ways"]) == 255
    ways = {way.label: way for way in release.apart(0.9)}
    for way in told["apart"]["ways"]:
        expected = ways[way["label"]]
        assert way["states"] == dict(zip(names, expected.states, strict=True))
        assert {name: way[name] for name in expected.answer.row()} == expected.answer.row()
    assert told["warning"].startswith("Most records are in no range")


def test_nothing_is_told_where_all_others_were_left_out(tmp_path):
    axis = library.Axis("x", 0, 9, outside="drop", missing="drop")
    library.release({"x": np.arange(300) % 11}, axis, epsilon=1).save(tmp_path / "release.json")
    assert "no range" not in dawa("query", tmp_path).out
    told = dawa("query", tmp_path, "--json").json
    assert (told["apart"], told["warning"]) == (None, None)


def test_a_range_may_begin_with_a_minus(ages):
    folder, release = ages
    (answer,) = dawa("query", folder, "-10:-1", "--json").json["answers"]
    assert answer["value"] == release.answer(-10, -1).value


def test_a_file_of_ranges(ages, tmp_path):
    folder, release = ages
    (tmp_path / "ranges.csv").write_text("who,from,to\nchildren,0,18\n", encoding="utf-8")
    found = dawa("query", folder, "18:65", "--queries", tmp_path / "ranges.csv", "--json").json["answers"]
    assert [answer["value"] for answer in found] == [release.answer(18, 65).value, release.answer(0, 18).value]
    assert found[1]["labels"] == {"who": "children"}
    assert "children" in dawa("query", folder, "--queries", tmp_path / "ranges.csv").out


def test_labels_in_csv_when_some_ranges_have_none(ages, tmp_path):
    (tmp_path / "ranges.csv").write_text("who,from,to\nchildren,0,18\n", encoding="utf-8")
    out = dawa("query", ages[0], "18:65", "--queries", tmp_path / "ranges.csv", "--csv").out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["who"], row["from"]) for row in rows] == [("", "18"), ("children", "0")]


def test_a_map(tmp_path):
    axes = library.Axis("lon", 0, 10), library.Axis("lat", 0, 9)
    release = library.release(PEOPLE, axes, epsilon=1)
    release.save(tmp_path / "release.json")
    (answer,) = dawa("query", tmp_path, "2:5,1:4", "--json").json["answers"]
    assert answer["range"] == {"lon": ["2", "5"], "lat": ["1", "4"]}
    assert answer["value"] == release.answer((2, 1), (5, 4)).value
    assert "2 to 5" in dawa("query", tmp_path, "2:5,1:4").out
    refused(dawa("query", tmp_path, "2:5"), "1 range, but there are 2 axes", "lon, lat")


def test_dates_and_categories(tmp_path):
    when = library.Axis.dates("when", "2013-01-01", "2013-01-03", step="1 hour")
    library.release({"when": np.array(["2013-01-01T08:30"], "M8[us]")}, when, epsilon=1).save(tmp_path / "when.json")
    (answer,) = dawa(
        "query", tmp_path / "when.json", "2013-01-01 08:00..2013-01-01 09:00", "--json", "--confidence", 1 - 1e-8
    ).json["answers"]
    assert answer["low"] <= 1 <= answer["high"]
    grade = library.Axis.ordered("grade", ["A", "B", "C"])
    library.release({"grade": ["A", "C"]}, grade, epsilon=1).save(tmp_path / "grade.json")
    assert dawa("query", tmp_path / "grade.json", "A:B").code == 0
    refused(dawa("query", tmp_path / "grade.json", "A:D"), "'D' is not a value", "A, B, C")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["0:500"], ["The range '0:500' cannot be answered", "500 lies outside", "between -10 and 110"]),
        (["65:18"], ["empty", "lower end first"]),
        (["18.5"], ["'18.5' is one value, and not a whole number", "18..19"]),
        (["18:65,*"], ["'65,*' is not a finite number"]),
        (["--jsn"], ["'--jsn' is not a range"]),
        (["0:ten"], ["'ten' is not a finite number"]),
        (["0:10", "--confidence", "1"], ["cannot be promised", "0.95"]),
        (["--queries", "none.csv"], ["There is no file none.csv"]),
    ],
)
def test_wrong_steps_lead_on(ages, arguments, parts):
    refused(dawa("query", ages[0], *arguments), *parts)


def test_releases_that_are_none(tmp_path):
    refused(dawa("query", tmp_path, "1:2"), "no release.json", "dawa release wrote")
    refused(dawa("query", tmp_path / "none", "1:2"), "There is no file")
    (tmp_path / "release.json").write_text("[]", encoding="utf-8")
    refused(dawa("query", tmp_path, "1:2"), "not a dawa release")
    error = dawa("query", tmp_path, "1:2", "--json")
    assert error.code == 1
    assert error.json["error"]["kind"] == "ReleaseError"


def test_a_form_is_chosen_once(ages):
    assert dawa("query", ages[0], "1:2", "--json", "--csv").code == 2


# --- open ends, single values, files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ends"),
    [("60:", (60, 110)), ("..15", (-10, 15)), ("27", (27, 28)), ("*", (-10, 110)), (":-5", (-10, -5))],
)
def test_however_a_range_is_written(ages, text, ends):
    folder, release = ages
    (answer,) = dawa("query", folder, text, "--json").json["answers"]
    assert answer == {"labels": {}, "range": {"age": [str(end) for end in ends]}, **release.answer(*ends).row()}
    assert f"{ends[0]} to {ends[1]}" in dawa("query", folder, text).out


@pytest.mark.parametrize("name", ["answers.csv", "answers.json", "answers.parquet"])
def test_answers_in_a_file(ages, tmp_path, name):
    folder, release = ages
    said = dawa("query", folder, "18:65", "60:", "--confidence", 0.99, "--out", tmp_path / name)
    assert (said.code, said.out, said.err) == (0, f"{tmp_path / name}: 2 answers\n", "")
    expected = [release.answer(18, 65, 0.99).row(), release.answer(60, 110, 0.99).row()]
    if name == "answers.json":
        found = json.loads((tmp_path / name).read_text(encoding="utf-8"))
        assert found == dawa("query", folder, "18:65", "60:", "--confidence", 0.99, "--json").json
    elif name == "answers.csv":
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text == dawa("query", folder, "18:65", "60:", "--confidence", 0.99, "--csv").out
    else:
        rows = pd.read_parquet(tmp_path / name).to_dict("records")
        assert rows == [
            {"from": lo, "to": hi, **row} for lo, hi, row in zip((18, 60), (65, 110), expected, strict=True)
        ]


def test_a_file_is_new_and_says_what_it_is(ages, tmp_path):
    refused(dawa("query", ages[0], "18:65", "--out", tmp_path / "a.xlsx"), "does not say", ".csv, .json or .parquet")
    before = (ages[0] / "release.json").read_bytes()
    refused(dawa("query", ages[0], "18:65", "--out", ages[0] / "release.json"), "exists already", "another name")
    assert (ages[0] / "release.json").read_bytes() == before, "it was paid for"
    assert dawa("query", ages[0], "18:65", "--out", tmp_path / "a.csv", "--csv").code == 2
    assert not list(tmp_path.iterdir())


def test_months_and_years_are_ends_and_ranges(tmp_path, monkeypatch):
    """As an end a month means its first moment, alone it means all of it."""
    monkeypatch.chdir(tmp_path)
    when = np.datetime64("2013-01-01", "us") + (np.arange(3000) % 365).astype("m8[D]")
    release = library.release({"when": when}, library.Axis.dates("when", "2013-01-01", "2014-01-01"), epsilon=1)
    release.save("days.json")

    def value(*typed):
        return [one["value"] for one in dawa("query", "days.json", *typed, "--json").json["answers"]]

    assert value("2013-02", "2013-02:2013-03", "2013-02..2013-03") == [release.answer("2013-02", "2013-03").value] * 3
    assert value("2013-11:", ":2013-03") == value("2013-11-01:2014-01-01", "2013-01-01:2013-03-01")
    assert value("2013", "2013:", "2013:2014") == [release.answer("2013-01-01", "2014-01-01").value] * 3
    (tmp_path / "ranges.csv").write_text("from,to\n2013-02,2013-05\n", encoding="utf-8")
    assert value("--queries", "ranges.csv") == [release.answer("2013-02", "2013-05").value]
    dawa("query", "days.json", "2013-02:2013-05", "--out", "answers.parquet")
    (row,) = pd.read_parquet("answers.parquet").to_dict("records")
    assert (row["from"], row["to"]) == (pd.Timestamp("2013-02-01"), pd.Timestamp("2013-05-01"))
