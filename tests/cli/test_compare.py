"""``dawa compare``: mechanisms on a public table."""

import json

import numpy as np
import pytest

from helpers.commands import dawa, refused

AGES = ("people.csv", "--column", "age", "--range", "0:256")
FEW = ("--mechanism", "dawa", "--mechanism", "uniform", "--epsilon", "0.5", "--runs", "2")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ages = np.random.default_rng(0).normal(90, 30, 3000).astype(int)
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n", encoding="utf-8")


def test_the_winner_comes_first(tmp_path):
    shown = dawa("compare", *AGES, *FEW, "--out", "wins.svg")
    assert shown.code == 0, shown.err
    assert shown.out.index("dawa") < shown.out.index("uniform")
    assert "3,000 records over 256 cells, 1,000 ranges, 2 runs of each mechanism." in shown.out
    assert "NOT PRIVATE" in shown.err, "said before anything is read"
    assert "NOT PRIVATE" in shown.out, "and with what came of it"
    assert "The picture is in wins.svg." in shown.out
    assert "mean absolute error" in (tmp_path / "wins.svg").read_text(encoding="utf-8")


def test_for_machines():
    found = json.loads(dawa("compare", *AGES, *FEW, "--json").out)
    assert [row["mechanism"] for row in found["rows"]] == ["dawa", "uniform"]
    assert found["private"] is False
    again = json.loads(dawa("compare", *AGES, *FEW, "--json").out)
    assert again == found, "the same question has the same answer"


def test_for_the_ranges_that_matter(tmp_path):
    (tmp_path / "ranges.csv").write_text("lo,hi\n0,18\n18,65\n", encoding="utf-8")
    assert dawa("compare", *AGES, *FEW, "--queries", "ranges.csv", "--json").json["queries"] == 2


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--mechanism", "dewa"], ["no mechanism 'dewa'"]),
        (["--epsilon", "0.1,"], ["epsilon"]),
        (["--runs", "1"], ["runs=1"]),
        (["--effort", "great"], ["effort"]),
        (["--where", "sex = 'f'"], ["sex"]),
        (["--out", "x.txt", *FEW], ["format to draw"]),
    ],
)
def test_wrong_steps_lead_on(arguments, parts):
    ran = dawa("compare", *AGES, *arguments)
    assert ran.code == 1
    assert not ran.out
    *before, problem = ran.err.splitlines()
    assert all("NOT PRIVATE" in line for line in before)
    assert "Hint: " in problem
    assert all(part in problem for part in parts), problem


def test_what_describes_a_release_is_not_compared(tmp_path):
    (tmp_path / "spec.toml").write_text("", encoding="utf-8")
    refused(dawa("compare", "spec.toml"), "A spec describes a release")
    assert "no file none.csv" in dawa("compare", "none.csv", *AGES[1:]).err
    assert "with bounds" in dawa("compare", "people.csv", "--column", "age", "--range", "auto").err
