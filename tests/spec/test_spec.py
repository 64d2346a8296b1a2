"""A description that is written down reads back the same, and nothing in it is ignored."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st

from dawa.errors import AxisError, BudgetError, SpecError
from dawa.results.about import About
from dawa.sources.dialect import Dialect
from dawa.spec import toml
from dawa.spec.model import AxisSpec, Spec, expanded, is_address, without_password
from helpers.words import FLIGHTS, abouts

AGE = AxisSpec("age", start="0", stop="120")
WHOLE = """
[source]
file = "people.parquet"

[[axes]]
column = "age"
start = 0
stop = 120

[privacy]
epsilon = 0.5
"""

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
numbers = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.fractions().map(str),
    st.sampled_from(["-0", "1e5", "007", "+3", "0.10", "-0.0", "1_000"]),
)
dates = st.one_of(st.dates().map(str), st.datetimes().map(str))
steps = st.sampled_from(["1 hour", "15 minutes", "1d"])
outsides = st.sampled_from(["clip", "drop", None])
axes = st.one_of(
    st.builds(AxisSpec, words, st.just("numbers"), numbers, numbers, st.none() | numbers, outside=outsides),
    st.builds(AxisSpec, words, st.just("dates"), dates, dates, st.none() | steps, zone=st.none() | words),
    st.builds(AxisSpec, words, values=st.lists(words | st.integers() | st.booleans(), min_size=1).map(tuple)),
    st.builds(AxisSpec, words, edges=st.lists(numbers, min_size=1).map(tuple), outside=outsides),
)
paths = st.from_regex(r"[a-z]{1,5}(/[a-z *]{0,4}[a-z]){0,2}(\.csv)?", fullmatch=True)
addresses = st.sampled_from(["postgresql://reader@server/hr", "postgresql://u:${PGPASSWORD}@h:5432/d?sslmode=require"])
settings = st.dictionaries(
    words, words | st.integers() | st.booleans() | st.lists(st.integers(), min_size=1), max_size=3
)
dialects = st.builds(
    Dialect,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(['"', "'", None]),
    st.sampled_from([None, "\\"]),
    st.sampled_from(["utf-8", "cp1252", "utf-16-le"]),
    st.none() | st.lists(words, min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from([".", ","]),
    st.sampled_from([None, "%d.%m.%Y", "%Y%m%d %H:%M %z"]),
    st.lists(words, max_size=3).map(tuple),
)


@st.composite
def specs(draw, folder):
    inside = paths.map(lambda path: str(folder / path))
    address = draw(st.none() | addresses)
    source = address or draw(inside)
    dataset = draw(st.none() | words)
    return Spec(
        source,
        tuple(draw(st.lists(axes, min_size=1, max_size=4))),
        draw(st.fractions(Fraction(1, 10**9), 1000, max_denominator=10**9).filter(lambda e: e >= Fraction(1, 10**9))),
        table=draw(words) if address else None,
        unit=tuple(draw(st.lists(words, max_size=3, unique=True))),
        max_rows_per_unit=draw(st.none() | st.integers(1, 100) | st.sampled_from(["auto", "95%"])),
        ledger=draw(st.none() | inside | addresses) if dataset else None,
        dataset=dataset,
        mechanism=draw(words),
        options=draw(settings),
        queries=draw(st.none() | inside),
        out=draw(st.none() | inside),
        seed=None if dataset else draw(st.none() | st.integers(0, 2**63)),
        dialect=None if address else draw(st.none() | dialects),
        about=draw(st.none() | abouts().filter(About.to_json)),
    )


@pytest.mark.long
@checked(deadline=None)
@given(st.data())
def test_what_is_written_reads_back_the_same(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    spec = data.draw(specs(folder))
    text = toml.written(spec, folder)
    assert toml.parsed(text, folder / "spec.toml") == spec
    assert toml.written(toml.parsed(text, folder / "spec.toml"), folder) == text


def test_a_file_is_saved_once_and_read(tmp_path):
    spec = Spec(str(tmp_path / "people.csv"), (AGE,), Fraction(1, 3), out=str(tmp_path / "out"))
    path = toml.save(spec, tmp_path / "spec.toml")
    assert 'epsilon = "1/3"' in path.read_text(encoding="utf-8")
    assert 'file = "people.csv"' in path.read_text(encoding="utf-8"), "relative to the file"
    assert toml.read(path) == spec
    assert toml.save(spec, path) == path, "the same once more is not a change"
    with pytest.raises(SpecError, match="exists already"):
        toml.save(Spec("other.csv", (AGE,), Fraction(1)), path)


def test_numbers_are_read_as_they_are_written():
    for written in ("0.1", '"0.1"', '"1/10"', "1e-1", "0.10000"):
        assert toml.parsed(WHOLE.replace("0.5", written)).epsilon == Fraction(1, 10)
    text = WHOLE.replace("start = 0", "start = 0.1").replace("stop = 120", 'stop = "0.7"\nstep = 0.2')
    (axis,) = toml.parsed(text).axes
    assert axis.axis().size == 3, "in binary floats the step would not divide the axis"


def test_dates_may_stand_without_quotes():
    (axis,) = toml.parsed(WHOLE.replace("= 0\n", "= 2013-01-01\n").replace("= 120", "= 2014-01-01")).axes
    assert (axis.kind, axis.start, axis.stop) == ("dates", "2013-01-01", "2014-01-01")


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        ({"start": "0", "stop": "1/2"}, "numbers"),
        ({"start": "2013", "stop": "2014", "step": "1 hour"}, "dates"),
        ({"start": "2013-01-01", "stop": "2014-01-01"}, "dates"),
        ({"start": "0", "stop": "1", "zone": "UTC"}, "dates"),
        ({"values": ("a", "b")}, "ordered"),
        ({"edges": ("0", "1")}, "edges"),
    ],
)
def test_the_kind_follows_from_the_rest(entries, kind):
    assert AxisSpec("x", **entries).kind == kind


WRONG = [
    ("epsilon = 0.5", "epsilom = 0.5", "unknown key 'epsilom'", "did you mean 'epsilon'"),
    ("[privacy]", "[privasy]", "unknown key 'privasy'", "did you mean 'privacy'"),
    ("[source]", "[source]\nzzz = 1", "unknown key 'zzz'", "it takes file, url, table"),
    ("epsilon = 0.5", "", "no budget", "--epsilon 0.5"),
    ("epsilon = 0.5", "epsilon = true", "epsilon is neither a number", "epsilon = 0.5"),
    ("epsilon = 0.5", "epsilon =", "is not TOML: .*line 11", "correct that line"),
    ('file = "people.parquet"', "", "one file or one url", "file ="),
    ('file = "people.parquet"', 'file = "a"\nurl = "b://c"', "one file or one url", "file ="),
    ('file = "people.parquet"', 'file = "a.csv"\ntable = "b"', "no table", "leave the table out"),
    ('file = "people.parquet"', 'file = "a.db#b"\ntable = "b"', "named twice", "once"),
    ('file = "people.parquet"', 'file = "a.db"\ntable = "b"\ndelimiter = ";"', "not a text file", "decimal mark"),
    ('file = "people.parquet"', 'file = "a"\nwhere = "x == 1"', "'==', character 3", "single ="),
    ('file = "people.parquet"', 'file = "a"\nwhere = 5', "where is not text", "in quotes"),
    ('file = "people.parquet"', 'url = "postgresql://h/d"', "one table", "--table people"),
    ('file = "people.parquet"', 'url = "postgresql://h/d#t"\ntable = "t"', "one table", "once"),
    ('file = "people.parquet"', "file = 5", "file is not text", "in quotes"),
    ('file = "people.parquet"', "file = 5.5", "file is not text", "in quotes"),
    ('file = "people.parquet"', 'url = "postgresql://u:secret@h/d"', "holds a password", "PGPASSWORD"),
    (
        "[privacy]",
        '[privacy]\ndataset = "hr"\nledger = "postgresql://u:secret@h/d"',
        "ledger holds a password",
        "PGPASS",
    ),
    ("[privacy]", '[privacy]\nledger = "l.db"', "not the dataset", "--dataset"),
    ('column = "age"\n', "", "no column", "column ="),
    ("stop = 120", "", "no bounds", "known before looking"),
    ("stop = 120", "stop = 120\nvalues = [1]", "'start' would change nothing", "leave it out"),
    ("stop = 120", 'stop = 120\nkind = "nombers"', "no axis of the kind", "numbers"),
    ("stop = 120", "stop = [1]", "stop is neither a number nor a date", "stop = 0.5"),
    ("start = 0\nstop = 120", "values = [0.5]", "values are not categories", "low"),
    ("start = 0\nstop = 120", "values = 5", "values is not a list", "values = "),
    ("[[axes]]", "[axes]", "axes is not a list", r"\[\[axes\]\]"),
    ("[privacy]", "[privacy]\nunit = []", "The unit is empty", 'unit = "person"'),
    ("[privacy]", '[privacy]\nunit = ""', "The unit is empty", 'unit = "person"'),
    ("[privacy]", '[privacy]\nunit = ["person", ""]', "The unit is empty, or one of its columns is", "leave it out"),
    ("[privacy]", "[privacy]\nmax_rows_per_unit = 1.5", "not a whole number", "max_rows_per_unit = 1"),
    ("[source]", "release = 5\n[source]", "release is not a table", "write a line"),
    ("[source]", "[release.options]\nx = {a = 1}\n[source]", "option 'x' is not a plain value", "list of numbers"),
]


@pytest.mark.parametrize(("old", "new", "problem", "hint"), WRONG)
def test_each_wrong_step_leads_on(old, new, problem, hint):
    assert old in WHOLE
    with pytest.raises(SpecError, match=problem) as caught:
        toml.parsed(WHOLE.replace(old, new))
    assert caught.value.problem.startswith("spec.toml")
    assert "secret" not in str(caught.value)
    with pytest.raises(SpecError, match=hint):
        raise caught.value


@pytest.mark.parametrize(
    ("source", "entries"),
    [
        ("people.parquet", {"where": """age >= 18 and "first name" != 'O''Hare'"""}),
        ("people.db", {"table": "people", "where": "x = 1"}),
        ("people.db#people", {"dialect": Dialect(decimal=",")}),
        ("people.parquet", {"dialect": Dialect()}),
        ("people.duckdb", {"table": "hr.people", "dialect": Dialect(date_format="%d.%m.%Y", missing=("?",))}),
        ("postgresql://server/hr", {"table": "people", "where": "x is missing", "dialect": Dialect(missing=())}),
    ],
)
def test_conditions_tables_and_what_is_declared_about_text_are_kept(tmp_path, source, entries):
    spec = Spec(source, (AxisSpec("age", start="0", stop="9"),), Fraction(1), **entries)
    read = toml.parsed(toml.written(spec, Path()), Path("spec.toml"))
    assert read == spec
    toml.save(spec, tmp_path / "spec.toml")
    saved = toml.read(tmp_path / "spec.toml")
    assert (saved.table, saved.where, saved.dialect) == (spec.table, spec.where, spec.dialect)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", '"much"', "1e99"])
def test_a_budget_that_is_none_is_refused(epsilon):
    with pytest.raises(BudgetError, match="epsilon"):
        toml.parsed(WHOLE.replace("0.5", epsilon))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match="There is no file"):
        toml.read(tmp_path / "spec.toml")
    with pytest.raises(SpecError, match="cannot be read"):
        toml.read(tmp_path)
    (tmp_path / "spec.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="it is not text"):
        toml.read(tmp_path / "spec.toml")
    with pytest.raises(SpecError, match="cannot be written"):
        toml.save(Spec("a", (AGE,), Fraction(1)), tmp_path / "nowhere" / "spec.toml")


def test_an_axis_without_bounds_says_why():
    for entries in ({}, {"start": "0"}, {"kind": "ordered"}, {"edges": ()}):
        with pytest.raises(AxisError, match="belong to two people"):
            AxisSpec("income", **entries)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('delimiter = ";;"', "not one ASCII character"),
        ('quote = ","', "not all different"),
        ('encoding = "shift_jis"', "one byte for each character"),
        ('encoding = "base64"', "one byte for each character"),
        ('decimal = "x"', "not a decimal mark"),
        ('date_format = "yyyy"', "not a format of dates"),
        ("header = []", "every column once"),
        ("header = 5", "not a list of text"),
        ("missing = [1]", "not a list of text"),
        ('delimeter = ";"', "unknown key"),
    ],
)
def test_what_is_said_of_a_text_file_is_checked(entry, problem):
    text = WHOLE.replace('"people.parquet"', f'"people.csv"\n{entry}')
    with pytest.raises(SpecError, match=problem):
        toml.parsed(text)


def test_only_text_files_have_a_dialect():
    for source in ('file = "people.parquet"', 'url = "postgresql://server/hr"\ntable = "people"'):
        with pytest.raises(SpecError, match="not a text file"):
            toml.parsed(WHOLE.replace('file = "people.parquet"', f'{source}\ndelimiter = ";"'))


def test_axes_are_few():
    with pytest.raises(SpecError, match="one to 4 axes, not 5"):
        Spec("a.csv", (AGE,) * 5, Fraction(1))


def test_addresses_take_what_the_environment_holds(monkeypatch):
    monkeypatch.setenv("SECRET", "open sesame")
    assert expanded("postgresql://u:${SECRET}@h/d") == "postgresql://u:open sesame@h/d"
    monkeypatch.delenv("SECRET")
    with pytest.raises(SpecError, match="SECRET is not set"):
        expanded("postgresql://u:${SECRET}@h/d")
    assert not is_address("C:/data/people.csv")


@pytest.mark.parametrize(
    "address",
    [
        "p://u:x@h/d",
        "p://u:a/b@h/d",
        "p://u:a@b@h/d",
        "p://u:${A}x@h/d",
        "p://h/d?password=x",
        "p://h/d?a=b&sslPassword=x",
    ],
)
def test_a_password_is_noticed_wherever_it_stands(address):
    with pytest.raises(SpecError, match="holds a password"):
        without_password(address, "url")


@pytest.mark.parametrize(
    "address",
    ["p://u@h/d", "p://h:5432/d", "p://u:${A}@h/d", "p://u@h:5432/d?host=/tmp", "p://h/d?password=${A}", "p://u:@h/d"],
)
def test_other_addresses_are_fine(address):
    assert without_password(address, "url") == address


# --- words about the data -------------------------------------------------------------------------------------------


def test_words_about_the_data_are_readable_and_read_back(tmp_path):
    words = FLIGHTS.to_json() | {"released": "today", "description": 'Says "all" \\\n\nto """everybody"""\\'}
    spec = Spec(str(tmp_path / "people.csv"), (AGE,), Fraction(1), about=About(**words))
    text = toml.save(spec, tmp_path / "spec.toml").read_text(encoding="utf-8")
    assert text.index("[about]") < text.index("[source]"), "reviewers see it first"
    assert 'released = "today"' in text, "the day is that of the release, not of the spec"
    assert toml.read(tmp_path / "spec.toml") == spec


def test_dates_of_the_data_may_stand_without_quotes():
    words = "[about]\ndata_from = 2013-01-01\ndata_to = '2013-12-31'\ndescription = '''\none\ntwo\n'''\n"
    about = toml.parsed(words + WHOLE).about
    assert about == About(data_from="2013-01-01", data_to="2013-12-31", description="one\ntwo")
    assert toml.parsed("[about]\n" + WHOLE).about is None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("tittle = 'x'", "unknown key 'tittle'"),
        ("title = 5", "title is not text"),
        ("title = ''", "title is not text"),
        ("title = ' '", "The title is blank"),
        ("title = 0.5", "title is not text"),
        ("title = ['x']", "title is not text"),
        ('title = "a\\nb"', "no text"),
        ("data_from = 2013-01-01T08:00:00", "not a date"),
        ("data_from = 08:00:00", "data_from is not text"),
        ("data_from = 2013", "data_from is not text"),
        ("data_to = '31.12.2013'", "not a date"),
        ("data_from = 2013-01-02\ndata_to = 2013-01-01", "before they begin"),
        ("released = 'tomorrow'", "not a date"),
    ],
)
def test_words_that_are_none_are_refused(line, problem):
    with pytest.raises(SpecError, match=problem):
        toml.parsed(f"[about]\n{line}\n{WHOLE}")


def test_words_are_a_table():
    with pytest.raises(SpecError, match="about is not a table"):
        toml.parsed(f"about = 'x'\n{WHOLE}")
