"""``dawa release`` shows wrong input in the result: what was misread is counted apart, and told loudly."""

import csv
from pathlib import Path

import numpy as np
import pytest

import dawa as library
from helpers.commands import dawa

ROWS = 25_000
"""Beyond the first 20,480 rows too."""


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """Every test works in a folder of its own, without a ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)


def written(header, rows, delimiter=","):
    with Path("people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)


def released(*arguments):
    return dawa("release", "people.csv", *arguments, "--epsilon", "1", "--out", "out")


WRONG = {
    "a misspelt list": (
        ["severity"],
        [["None"], ["Mild"], ["Severe"]] * (ROWS // 3),
        ["--column", "severity", "--values", "none,mild,severe"],
        "severity not listed",
        "Check how the listed values are spelt.",
    ),
    "decimal commas": (
        ["height"],
        [["1,75"]] * ROWS,
        ["--delimiter", ";", "--column", "height", "--range", "1:2", "--step", "0.01"],
        "height missing",
        "Check the column's format, and the delimiter of a text file.",
    ),
    "another date format": (
        ["day"],
        [["13/01/2020"]] * ROWS,
        ["--column", "day", "--range", "2020-01-01..2021-01-01"],
        "day missing",
        "Check the column's format",
    ),
    "another unit": (
        ["pay"],
        [["4200.50"]] * ROWS,
        ["--column", "pay", "--range", "0:100", "--outside", "own"],
        "pay from 100 on",
        "Check the bounds and their unit.",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_does_not_look_right(kind):
    header, rows, arguments, label, check = WRONG[kind]
    written(header, rows, ";" if kind == "decimal commas" else ",")
    ran = released(*arguments)
    assert ran.code == 0
    assert f"Nearly all records are in no range, about 100% of all, above all those with {label}. {check}" in ran.out
    assert "apart.csv" in ran.out
    assert ran.out.index("Nearly all") < ran.out.index("Released ")
    again = dawa("query", "out")
    assert label in again.out
    assert check in again.out
    assert check in Path("out/README.md").read_text(encoding="utf-8")
    assert library.load("out/release.json").apart()[0].answer.confidence == 0.95


def test_clean_input_is_told_without_a_warning():
    written(["age"], [[age] for age in np.arange(ROWS) % 100])
    ran = released("--column", "age", "--range", "0:100")
    assert "In no range: " in ran.out
    assert "records, with age missing." in ran.out
    assert "Check " not in ran.out


def test_machines_are_told_all_of_it():
    written(["age", "who"], [[age, age // 2] for age in range(-200, ROWS)])
    arguments = ("--column", "age", "--range", "0:24000", "--step", "1000", "--outside", "own", "--unit", "who")
    told = released(*arguments, "--max-rows-per-unit", "2", "--json").json
    release = library.load("out/release.json")
    assert [way["label"] for way in told["apart"]["ways"]] == ["age from 24000 on", "age below 0", "age missing"]
    assert told["inside"] == release.answer(0, 24000).row()
    assert told["apart"]["remark"] == "of at most 2 records of each value of 'who'"
    assert told["apart"]["value"] == pytest.approx(1200, abs=200)
    assert told["warning"] is None
    assert "apart.csv" in told["files"]


def test_nothing_is_said_of_records_that_were_left_out():
    written(["age"], [[age] for age in np.arange(ROWS) % 130])
    ran = released("--column", "age", "--range", "0:100", "--outside", "drop", "--if-missing", "drop")
    assert "no range" not in ran.out
    assert "apart.csv" not in ran.out
