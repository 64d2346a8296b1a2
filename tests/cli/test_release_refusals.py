"""``dawa release``: every wrong step leads on, and leaves nothing behind."""

import pytest

from dawa import sources
from helpers.commands import dawa, names, refused
from helpers.people import AGES

pytestmark = pytest.mark.usefixtures("somewhere")

WRONG = [
    (["--column", "age", "--epsilon", "1"], ["no bounds", "never read from the data", "--range 0:120"]),
    (["--range", "0:5", "--epsilon", "1"], ["stands before any --column"]),
    (["--epsilon", "1"], ["no column", "--column age --range 0:120"]),
    (["--column", "agee", "--range", "0:5", "--epsilon", "1"], ["no column 'agee'", "age, income, when"]),
    (["--column", "age", "--range", "0:5"], ["no budget", "--epsilon 0.5"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "0"], ["must be positive"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "-1"], ["must be positive"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "nan"], ["not a finite number"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "inf"], ["not a finite number"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--mechanism", "dewa"], ["no mechanism 'dewa'"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--mechanism", "mwem"], ["cannot make a release"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--option", "efort=1"], ["no option 'efort'"]),
    (
        ["--column", "age", "--range", "0:5", "--epsilon", "1", "--option", "effort"],
        ["is not an option of a mechanism"],
    ),
    (["--column", "age", "--range", "5:0", "--epsilon", "1"], ["from 5 to 0"]),
    (["--column", "age", "--range", "0:5", "--step", "2", "--epsilon", "1"], ["does not divide", "6"]),
    (["--column", "age", "--range", "0:5", "--range", "0:6", "--epsilon", "1"], ["--range is given twice"]),
    (["--column", "age", "--range", "0:5", "--values", "a", "--epsilon", "1"], ["would change nothing"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--table", "people"], ["is a file"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--delimiter", ";"], ["not a text file", "decimal mark"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--where", "age = old"], ["'old', character 7", "'old'"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--where", "age = 'old'"], ["holds numbers", "quotes"]),
    (
        ["--column", "age", "--range", "0:5", "--epsilon", "1", "--where", "agee = 5"],
        ["no column 'agee'", "age, income"],
    ),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--where", " "], ["is not a condition"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--where", "age > 5; drop table t"], ["';', character 8"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--ledger", "l.db"], ["not the dataset"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--dataset", "hr"], ["no ledger", "dawa ledger create"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--queries", "none.csv"], ["no file none.csv"]),
    (["--column", "age", "--range", "0:5", "--epsilon", "1", "--max-rows-per-unit", "2"], ["without a unit"]),
]


@pytest.mark.parametrize(("arguments", "parts"), WRONG)
def test_each_wrong_step_leads_on(people, arguments, parts):
    refused(dawa("release", people, *arguments, "--out", "out"), *parts)
    assert not names(), "nothing is left behind"


EMPTY = ("unit", "where", "dataset", "ledger", "table", "sheet", "format", "mechanism", "queries", "header", "column")


@pytest.mark.parametrize("option", EMPTY)
@pytest.mark.parametrize("command", ["release", "plan"])
def test_an_empty_value_is_not_the_same_as_none(people, monkeypatch, command, option):
    monkeypatch.setattr(sources, "query", lambda *_: pytest.fail("nothing is read"))
    refused(dawa(command, people, *AGES, f"--{option}", ""), f"--{option} is empty", "variable")
    assert dawa(command, people, *AGES, f"--{option}=", "--json").json["error"]["problem"] == f"--{option} is empty."
    assert not names()


@pytest.mark.parametrize("unit", [" ", ",", "\n", "\r", "person,", '""'])
def test_a_unit_without_a_name_does_not_become_single_records(people, unit):
    refused(dawa("release", people, *AGES, "--unit", unit), "The unit is empty, or one of its columns is")
    refused(dawa("plan", people, *AGES, "--unit", unit, "--toml"), "The unit is empty, or one of its columns is")
    assert not names()


def test_more_that_is_empty(people, monkeypatch):
    refused(dawa("release", "", *AGES), "SOURCE is empty")
    refused(dawa("release", people, *AGES[:-1], ""), "--out is empty")
    refused(dawa("release", people, *AGES, "--save-spec", ""), "--save-spec is empty")
    monkeypatch.setenv("DAWA_LEDGER", "")
    refused(dawa("release", people, *AGES, "--dataset", "hr"), "DAWA_LEDGER is empty")
    refused(dawa("release", people, *AGES), "DAWA_LEDGER is empty")
    monkeypatch.delenv("DAWA_LEDGER")
    assert not names()
    said = dawa("plan", people.with_suffix(".csv"), *AGES, "--missing", "", "--toml")
    assert "missing = []" in said.out, "that no word means a missing value can be said"


@pytest.mark.parametrize(
    "more", [("--epsilon", "2"), ("--out", "elsewhere"), ("--seed", "1", "--seed", "2"), ("--where", "age > 1") * 2]
)
def test_an_option_of_one_value_comes_once(people, more):
    refused(dawa("release", people, *AGES, *more), f"{more[0]} is given 2 times")
    refused(dawa("plan", people, *AGES, *more), f"{more[0]} is given 2 times")
    assert not names()


def test_an_option_of_the_mechanism_comes_once(people):
    twice = ("--option", "effort=fast", "--option", "effort=best")
    refused(dawa("release", people, *AGES, *twice), "The option 'effort' is given twice")
    assert not names()


def test_more_wrong_steps(people):
    refused(dawa("release", people, *AGES[:-2]), "no folder", "--out")
    refused(dawa("release", "none.parquet", *AGES), "There is no file none.parquet")
    refused(dawa("release", "spec.toml", "--out", "out"), "There is no file spec.toml")
    refused(dawa("release", "postgresql://server/hr", *AGES), "one table", "--table")
    refused(dawa("release", f"file://{people}", *AGES), "does not read from file:// addresses", "pass the path alone")
    refused(dawa("release", "ftp://server/people.csv", *AGES), "does not read from ftp:// addresses", "download")
    refused(dawa("release", "mysql://server/hr", "--table", "t", *AGES), "does not read from mysql://", "Ibis")
    refused(
        dawa("release", "postgresql://u:${NOT_SET_HERE}@server/hr", "--table", "t", *AGES), "NOT_SET_HERE is not set"
    )
    secret = dawa("release", "postgresql://u:secret@127.0.0.1:1/hr", "--table", "t", *AGES)
    refused(secret, "does not answer")
    assert "secret" not in secret.err
    refused(
        dawa("release", "postgresql://u:secret@h/hr", "--table", "t", *AGES, "--save-spec", "s.toml"),
        "holds a password",
    )
    assert not names()


def test_a_range_with_a_bad_row(people, tmp_path):
    (tmp_path / "ranges.csv").write_text("lo,hi\n0,18\n18,200\n", encoding="utf-8")
    refused(dawa("release", people, *AGES, "--queries", "ranges.csv"), "Line 3 of ranges.csv", "200 lies outside")


def test_a_defect_in_the_middle_names_no_value(people, monkeypatch):
    def broken(*_arguments, **_options):
        raise RuntimeError("row 777 is odd")

    monkeypatch.setattr(sources.Query, "counts", broken)
    ran = dawa("release", people, *AGES)
    refused(ran, "RuntimeError", "defect")
    assert "777" not in ran.err
    assert not names()
