"""Quantiles, means, shares and comparisons on the command line: the same as the library's, in every form."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import dawa as library
from dawa.publish.figures import Figure
from helpers.commands import dawa, refused

AGES = np.random.default_rng(4).normal(40, 15, 3000).clip(0, 99).astype(int)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    axis = library.Axis("age", 0, 100)
    library.release({"age": AGES}, axis, epsilon=1, seed=3).save(folder / "ages.json")
    library.release({"age": AGES[:1000]}, axis, epsilon=1).save(folder / "last.json")
    when = library.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 day")
    days = np.datetime64("2013-01-01") + AGES
    library.release({"when": days}, when, epsilon=1).save(folder / "days.json")
    both = (library.Axis("lon", 0, 8), library.Axis("lat", 0, 8))
    library.release({"lon": AGES % 8, "lat": AGES % 7}, both, epsilon=1).save(folder / "map.json")
    return folder


@pytest.fixture(scope="module")
def rel(folder):
    return library.load(folder / "ages.json")


def test_a_table_shows_figures_with_their_intervals(folder, rel):
    shown = dawa("query", folder / "ages.json", "--quantile", "0.25,1/2", "--mean", "--sum")
    assert shown.code == 0
    for figure in (rel.quantile(0.25), rel.quantile(0.5)):
        texts = Figure.of_quantile(figure, rel.axis).texts
        line = next(line for line in shown.out.splitlines() if f"quantile {figure.fraction!r} " in line)
        assert [part.strip() for part in line.split("│")[2:5]] == list(texts)
    for statistic in (rel.mean(), rel.sum()):
        line = next(line for line in shown.out.splitlines() if f"│ {statistic.name} " in line)
        assert [part.strip() for part in line.split("│")[2:5]] == list(statistic.texts)
    assert "holds the true figure with 95% confidence" in shown.out
    assert "bias bound" not in shown.out, "no range was asked for"


def test_json_has_answers_and_figures(folder, rel):
    arguments = (":18", "18:65", "--share", "--difference", "--ratio", "--quantile", ".5", "--confidence", "0.9")
    found = dawa("query", folder / "ages.json", *arguments, "--json").json
    assert len(found["answers"]) == 2
    expected = [
        Figure.of_quantile(rel.quantile(0.5, 0.9), rel.axis),
        Figure.of_statistic(rel.share(0, 18, 0.9), "share of 0 to 18"),
        Figure.of_statistic(rel.share(18, 65, 0.9), "share of 18 to 65"),
        Figure.of_statistic(rel.difference((0, 18), (18, 65), confidence=0.9), "difference of 0 to 18 and 18 to 65"),
        Figure.of_statistic(rel.ratio((0, 18), (18, 65), confidence=0.9), "ratio of 0 to 18 and 18 to 65"),
    ]
    assert found["figures"] == [figure.row() for figure in expected]


def test_without_figures_json_is_as_before(folder):
    assert "figures" not in dawa("query", folder / "ages.json", "18:65", "--json").json


def test_two_releases_are_compared(folder, rel):
    other = library.load(folder / "last.json")
    found = dawa("query", folder / "ages.json", "18:65", "--ratio", "--with", folder / "last.json", "--json").json
    (figure,) = found["figures"]
    assert figure["value"] == rel.ratio((18, 65), (18, 65), other).value
    assert 2 < figure["low"] < 3 < figure["high"] < 4
    two = dawa("query", folder / "ages.json", "18:65", "0:18", "--ratio", "--with", folder / "last.json", "--json").json
    assert two["figures"][0]["value"] == rel.ratio((18, 65), (0, 18), other).value


def test_a_ratio_without_an_upper_end_is_valid_json(folder):
    found = dawa("query", folder / "ages.json", "20:40", "80:81", "--ratio", "--json")
    assert json.loads(found.out, parse_constant=pytest.fail)["figures"][0]["high"] is None
    assert "no limit" in dawa("query", folder / "ages.json", "20:40", "80:81", "--ratio").out


def test_files_hold_figures_in_place_of_answers(folder, tmp_path, rel):
    (row,) = csv.DictReader(io.StringIO(dawa("query", folder / "ages.json", "--mean", "--csv").out))
    assert (float(row["value"]), float(row["low"]), float(row["high"])) == (
        rel.mean().value,
        rel.mean().low,
        rel.mean().high,
    )
    out = tmp_path / "figures.parquet"
    assert dawa("query", folder / "ages.json", "--mean", "--quantile", "0.5", "--out", out).code == 0
    frame = pd.read_parquet(out)
    assert frame.value.tolist() == [rel.quantile(0.5).value, rel.mean().value]
    assert frame.dtypes[["value", "low", "high"]].tolist() == [np.float64] * 3
    dates = tmp_path / "dates.parquet"
    assert dawa("query", folder / "days.json", "--quantile", "0.1,0.9", "--out", dates).code == 0
    assert pd.read_parquet(dates).value.str.match(r"2013-\d\d-\d\d$").all()
    both = tmp_path / "both.json"
    assert dawa("query", folder / "ages.json", "1:9", "--mean", "--out", both).code == 0
    assert {"answers", "figures"} <= json.loads(both.read_text(encoding="utf-8")).keys()


def test_shares_on_maps(folder):
    found = dawa("query", folder / "map.json", "0:4,*", "--share", "--json").json["figures"]
    rel = library.load(folder / "map.json")
    assert found[0]["value"] == rel.share((0, 0), (4, 8)).value
    assert found[0]["name"] == "share of 0 to 4, 0 to 8"


@pytest.mark.parametrize(
    ("release", "arguments", "parts"),
    [
        ("ages", ["--quantile", "2"], ["2.0 is not a fraction", "from 0 to 1"]),
        ("ages", ["--quantile", "0.5,,0.6"], ["''", "0.25,0.5,0.75"]),
        ("ages", ["--quantile", ""], ["''", "0.25,0.5,0.75"]),
        ("ages", ["--quantile", "median"], ["'median'", "0.25,0.5,0.75"]),
        ("ages", ["--quantile", ",".join(["0.5"] * 101)], ["101 quantiles", "at most 100"]),
        ("ages", ["--share"], ["takes ranges"]),
        ("ages", ["--ratio", "1:2"], ["two ranges, and there is 1"]),
        ("ages", ["--difference", "1:2", "3:4", "5:6"], ["there are 3"]),
        ("ages", ["1:2", "--with", "last.json"], ["add --difference or --ratio"]),
        ("ages", ["1:2", "--ratio", "--with", "nowhere"], ["nowhere"]),
        ("days", ["--mean"], ["do not add up", "median"]),
        ("map", ["--quantile", "0.5"], ["2 axes"]),
        ("map", ["--mean"], ["2 axes"]),
        ("ages", ["--mean", "--confidence", "1"], ["cannot be promised"]),
    ],
)
def test_what_cannot_be_asked(folder, monkeypatch, release, arguments, parts):
    monkeypatch.chdir(folder)
    refused(dawa("query", f"{release}.json", *arguments), *parts)
