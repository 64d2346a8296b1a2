"""Files of SQLite and DuckDB: which table is meant, one record more moves one count, and nothing is read too early."""

import sqlite3
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError, ExhaustedError, SourceError
from dawa.sources import database_files, engines, sqlite
from helpers.binning import everything, expected, found
from helpers.reading import AWARE, CANARY, INTEGERS, LETTERS, NAIVE, NUMBERS, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

LAW = settings(max_examples=25, deadline=None)
MANY = 125_000


def sqlite_file(path, values, declared="", table="t", extra=""):
    """A table with a column x of these values, whatever their types."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f'create table "{table}" (x {declared}, who) {extra}')
    rows = [(value, place) for place, value in enumerate(values)]
    connection.executemany(f'insert into "{table}" values (?, ?)', rows)  # noqa: S608  our own names
    connection.commit()
    connection.close()
    return f"{path}#{table}"


def duckdb_file(path, kind, values):
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table t (x {kind})")
        connection.executemany(f"insert into t values (?::{kind})", [[value] for value in values])  # noqa: S608  our own
    return f"{path}#t"


# --- SQLite: every value has a type of its own ----------------------------------------------------------------------

VALUES = [
    5,
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**53 + 1,
    2.5,
    -0.0,
    1e308,
    float("inf"),
    float("-inf"),
    None,
    "5",
    " 5 ",
    "5.5",
]
VALUES += ["A", "", "NA", "Ä", b"5", b"\xff", b"", "2013-01-01", "2013-06-01 08:30", "z" * 100_000, "5\0", "1e1", "'"]
anything = st.sampled_from(VALUES) | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5)
anything |= st.binary(max_size=5)


@pytest.mark.parametrize("axis", [*NUMBERS, *INTEGERS, *NAIVE, *LETTERS, AWARE[0]], ids=str)
def test_sqlite_values_are_read_one_by_one(tmp_path, axis):
    """As a list of the same values is, and so with the same proof."""
    path = tmp_path / "x.db"

    @LAW
    @given(st.lists(anything.filter(_is_text), max_size=8), anything.filter(_is_text), st.integers(0, 8))
    def check(values, more, place):
        fewer = outcome(sqlite_file(path, values), axis)
        assert fewer == outcome({"x": values}, axis)
        check_neighbours(outcome(sqlite_file(path, [*values[:place], more, *values[place:]]), axis), fewer)

    check()


def _is_text(value):
    try:
        return not isinstance(value, str) or value.encode() is not None
    except UnicodeEncodeError:
        return False


@pytest.mark.parametrize("declared", ["", "integer", "real", "text", "blob", "numeric", "date"])
def test_what_a_column_declares_does_not_matter(tmp_path, declared):
    """SQLite may convert values when they are stored; what is stored is read."""
    table = sqlite_file(tmp_path / "x.db", [5, "5", 2.5, "A", b"7", None], declared)
    assert outcome(table, X)[0] == "counted"
    assert sum(found(table, X).values()) >= 3


def test_text_that_is_not_unicode_is_missing(tmp_path):
    path = tmp_path / "x.db"
    sqlite_file(path, [5])
    connection = sqlite3.connect(path)
    connection.execute("insert into t values (cast(x'35ff' as text), 1), (cast(x'36' as text), 2), (x'37', 3)")
    connection.commit()
    connection.close()
    assert found(f"{path}#t", X) == {5: 1, 6: 1}
    assert found(f"{path}#t", X, unit="who") == {5: 1, 6: 1}


def test_databases_in_utf_16(tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("pragma encoding = 'UTF-16'")
    connection.execute("create table t (x)")
    connection.executemany("insert into t values (?)", [("Ä",), ("A",), ("😀",)])
    connection.commit()
    connection.close()
    assert found(tmp_path.joinpath("x.db").as_posix() + "#t", LETTERS[0]) == {0: 1, 2: 1}


@pytest.mark.parametrize("place", [0, MANY // 2, MANY])
def test_one_record_more_behind_many(tmp_path, place):
    values = np.random.default_rng(4711).integers(0, 10, MANY).tolist()
    path = tmp_path / "x.db"
    table = sqlite_file(path, values)
    fewer = outcome(table, X)
    assert fewer == ("counted", Counter(values))
    for value in ("late", b"\xff", 10**18, float("inf"), "z" * 1_000_000, "2013-01-01", None, "0.5"):
        check_neighbours(outcome(sqlite_file(path, [*values[:place], value, *values[place:]]), X), fewer)


def test_units_are_told_apart_by_what_they_are(tmp_path):
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("create table t (x, who)")
    connection.executemany("insert into t values (1, ?)", [(7,), (7.0,), ("7",), (b"7",), (None,), ("a",), ("a",)])
    connection.commit()
    connection.close()
    assert found(f"{path}#t", X, unit="who") == {1: 4}
    assert found(f"{path}#t", X, unit="who", max_rows_per_unit=2) == {1: 6}
    for options in ({"unit": "x"}, {"unit": "who", "where": "who != 'a'"}):
        with pytest.raises(SourceError, match="is the unit and also an axis or in the condition"):
            found(f"{path}#t", X, **options)


def test_views_generated_columns_and_other_tables(tmp_path):
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        create table t (x integer primary key, twice as (x * 2), stored as (x * 3) stored) without rowid;
        insert into t (x) values (1), (2), (3);
        create view v as select x + 1 as x, 'A' as "odd ""name""; --" from t;
        create table "odd ""table""; --" (x);
        insert into "odd ""table""; --" values (4);
        create virtual table words using fts5(x);
        insert into words values ('5');
        create table strict (x integer not null) strict;
        insert into strict values (6);
        """
    )
    connection.close()
    assert found(f"{path}#t", X) == {1: 1, 2: 1, 3: 1}
    assert found(f"{path}#t", Axis("twice", 0, 10)) == {2: 1, 4: 1, 6: 1}
    assert found(f"{path}#t", Axis("stored", 0, 10)) == {3: 1, 6: 1, 9: 1}
    assert found(f"{path}#v", X) == {2: 1, 3: 1, 4: 1}
    assert found(f"{path}#v", Axis.ordered('odd "name"; --', ["A"])) == {0: 3}
    assert found(sources.table(path, 'odd "table"; --'), X) == {4: 1}
    assert found(f"{path}#words", X) == {5: 1}
    assert found(f"{path}#strict", X) == {6: 1}
    assert "words" not in outcome(f"{path}#words", Axis("rank", 0, 1))[2].split("Hint")[1], "hidden columns are hidden"


def test_the_file_is_not_written(tmp_path):
    path = tmp_path / "x.db"
    table = sqlite_file(path, [1, 2])
    before, there = path.read_bytes(), sorted(tmp_path.iterdir())
    found(table, X, where="x > 1")
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate"])
def test_a_database_that_others_have_open(tmp_path, mode):
    path = tmp_path / "x.db"
    table = sqlite_file(path, [1, 2])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(f"pragma journal_mode = {mode}")
    other.execute("insert into t values (3, 3)")
    assert found(table, X) == {1: 1, 2: 1, 3: 1}, "what was committed counts, wherever it is"
    other.execute("begin immediate")
    other.execute("insert into t values (4, 4)")
    assert found(table, X) == {1: 1, 2: 1, 3: 1}, "what was not committed does not"
    other.execute("rollback")
    other.close()
    assert found(table, X) == {1: 1, 2: 1, 3: 1}


def test_a_log_in_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    """SQLite then cannot read beside others; if the log is empty, there is nothing that it could miss."""
    path = tmp_path / "x.db"
    table = sqlite_file(path, [1, 2])
    begun = sqlite._begun

    def unwritable(where, mode):
        if mode == "mode=ro":
            begun(tmp_path / "nowhere" / "x.db", mode)
        return begun(where, mode)

    monkeypatch.setattr(sqlite, "_begun", unwritable)
    assert found(table, X) == {1: 1, 2: 1}
    Path(f"{path}-wal").write_bytes(b"x")
    with pytest.raises(SourceError, match=r"could not be opened.\nHint: .*write-ahead log"):
        found(table, X)


@pytest.fixture
def book(tmp_path):
    opened = ledger.opened(tmp_path / "ledger.db")
    opened.create("rich", cap=100)
    opened.create("poor", cap="0.1")
    return opened


def test_a_locked_database_costs_nothing_and_is_not_locked_later(tmp_path, book, monkeypatch):
    monkeypatch.setattr(sqlite, "PATIENCE", 0.1)
    path = tmp_path / "x.db"
    table = sqlite_file(path, [1, 2])
    other = sqlite3.connect(path, isolation_level=None, timeout=0.1)
    other.execute("begin exclusive")
    with pytest.raises(SourceError, match="is locked: another program is writing to it"):
        dawa.release(table, X, epsilon=1, ledger=book, dataset="rich")
    assert book.account("rich").spent == 0
    other.execute("rollback")
    with sources.query(table, (X,)) as query:
        query.check()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("begin exclusive")  # whoever comes now must wait, so that counting does not fail
        assert query.counts().inside.exposed.counts.tolist() == [1, 1]
    other.close()


def test_of_sqlite_only_the_schema_is_read_before_paying(tmp_path, book):
    """Every row fails when it is computed, so a refusal for lack of budget proves that none was."""
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("create table t (x)")
    connection.executemany("insert into t values (?)", [(f"{CANARY}{row}",) for row in range(5)])
    connection.execute("create view trap as select json_extract(x, '$') as x from t")
    connection.commit()
    connection.close()
    with pytest.raises(ExhaustedError) as caught:
        dawa.release(f"{path}#trap", X, epsilon=1, ledger=book, dataset="poor")
    assert CANARY not in str(caught.value)
    with pytest.raises(DawaError) as caught:
        dawa.release(f"{path}#trap", X, epsilon=1, ledger=book, dataset="rich")
    assert CANARY not in str(caught.value)
    assert book.account("rich").spent == 1


def bytes_read():
    place = Path("/proc/self/io")
    if not place.exists():
        pytest.skip("this system does not say how many bytes a process has read (/proc/self/io)")
    return int(place.read_text(encoding="ascii").splitlines()[0].split()[1])


@pytest.mark.parametrize("form", ["SQLite", "DuckDB"])
def test_of_a_large_database_little_is_read_before_paying(tmp_path, book, form):
    path = tmp_path / "x.db"
    if form == "SQLite":
        table = sqlite_file(path, (f"{row:0200}" for row in range(200_000)))
    else:
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t as select random() as x, uuid()::text as y from range(3000000)")
        table = f"{path}#t"
    assert path.stat().st_size > 40 * 2**20
    axis = Axis("x", 0, 10)
    with pytest.raises(ExhaustedError):  # all modules are loaded now
        dawa.release(table, axis, epsilon=1, ledger=book, dataset="poor")
    before = bytes_read()
    with pytest.raises(ExhaustedError):
        dawa.release(table, axis, epsilon=1, ledger=book, dataset="poor")
    early = bytes_read() - before
    before = bytes_read()
    dawa.release(table, axis, epsilon=1, ledger=book, dataset="rich")
    assert early < 3 * 2**20
    assert bytes_read() - before > 15 * 2**20, "the same count sees the rows when they are read"


# --- DuckDB ---------------------------------------------------------------------------------------------------------

ENDS = {
    "tinyint": ([-128, 127], INTEGERS),
    "bigint": ([-(2**63), 2**63 - 1], INTEGERS),
    "ubigint": ([0, 2**64 - 1], INTEGERS),
    "hugeint": ([-(2**127), 2**127 - 1, 10**38 - 1, 1 - 10**38], (X, NUMBERS[2])),
    "float": (["nan", "inf", "-inf", "-0.0", "3.4e38"], NUMBERS),
    "double": (["nan", "inf", "-inf", "-0.0", "1.7e308", "5e-324"], NUMBERS),
    "decimal(4,2)": (["-99.50", "99.99"], NUMBERS),
    "decimal(38,30)": ([f"{'9' * 8}.{'9' * 30}", f"-{'9' * 8}.{'9' * 30}"], (X, NUMBERS[2])),
    "date": (["infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"], NAIVE),
    "timestamp": (["infinity", "-infinity", "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00"], NAIVE),
    "timestamp_s": (["infinity", "-infinity", "294247-01-10 04:00:54"], NAIVE),
    "timestamp_ms": (["infinity", "-infinity", "294247-01-10 04:00:54.775"], NAIVE),
    "timestamp_ns": (["infinity", "-infinity", "2262-04-11 23:47:16.854775806", "1677-09-22 00:00:00"], NAIVE),
    "timestamptz": (["infinity", "-infinity", "294247-01-10 04:00:54.775806+00"], AWARE),
    "varchar": (["z" * 300_000, "", "A\nB", "Ä", "late"], (*LETTERS, *NUMBERS[:1], *NAIVE[:1], AWARE[0])),
    "enum('A', 'B')": (["B"], (*LETTERS, Axis.ordered("x", ["C", "A"]), X)),
    "boolean": (["true"], (Axis.ordered("x", [True]),)),
}


@pytest.mark.parametrize("kind", ENDS)
def test_duckdb_with_the_ends_of_every_type(tmp_path, kind):
    odd, axes = ENDS[kind]
    usual = {"varchar": "A", "enum('A', 'B')": "A", "boolean": "true"}.get(kind, "1")
    usual = "2013-01-05" if "time" in kind or kind == "date" else usual
    for axis in axes:
        fewer = outcome(duckdb_file(tmp_path / "x.duckdb", kind, [usual] * 3), axis)
        assert fewer[0] == "counted"
        for value in odd:
            check_neighbours(
                outcome(duckdb_file(tmp_path / "x.duckdb", kind, [usual, value, usual, usual]), axis), fewer
            )


def test_conditions_on_the_ends_of_every_type(tmp_path):
    for kind, (odd, _) in ENDS.items():
        word = {"varchar": "'A'", "enum('A', 'B')": "'C'", "boolean": "true"}.get(kind, "1")
        word = "'2013-01-05'" if "time" in kind or kind == "date" else word
        word = "'2013-01-05 00:00Z'" if kind == "timestamptz" else word
        axis = ENDS[kind][1][0]
        usual = {"varchar": "A", "enum('A', 'B')": "A", "boolean": "true"}.get(kind, "1")
        usual = "2013-01-05" if "time" in kind or kind == "date" else usual
        for sign in ("=", "!=") if kind == "boolean" else ("=", "!=", "<", ">="):
            asked = f"x {sign} {word} or x is missing"
            fewer = outcome(duckdb_file(tmp_path / "x.duckdb", kind, [usual] * 2), axis, where=asked)
            assert fewer[0] == "counted"
            for value in odd:
                table = duckdb_file(tmp_path / "x.duckdb", kind, [usual, usual, value])
                check_neighbours(outcome(table, axis, where=asked), fewer)


@pytest.mark.parametrize("place", [0, MANY // 2, MANY])
def test_one_record_more_behind_many_in_duckdb(tmp_path, place):
    path = tmp_path / "x.duckdb"

    def made(more):
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t (x varchar)")
            connection.execute(f"insert into t select (range % 10)::varchar from range({place})")  # noqa: S608  our own numbers
            connection.executemany("insert into t values (?)", [[value] for value in more]) if more else None
            connection.execute(f"insert into t select (range % 10)::varchar from range({place}, {MANY})")  # noqa: S608
        return f"{path}#t"

    fewer = outcome(made([]), X)
    assert fewer == ("counted", Counter(dict.fromkeys(range(10), MANY // 10)))
    for value in ("late", "1e999", "z" * 1_000_000, "2013-01-01", None, "0.5", ""):
        check_neighbours(outcome(made([value]), X), fewer)


def test_duckdb_tables_by_schema_and_odd_names(tmp_path):
    path = tmp_path / "x's.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table people as select 1 as x")
        connection.execute("create schema hr")
        connection.execute("create table hr.people as select 2 as x")
        connection.execute('create table "hr.people" as select 3 as x')
        connection.execute('create table "odd ""table""; --" as select 4 as "odd ""name"""')
        connection.execute("create view double as select x * 5 as x from people")
    assert found(f"{path}#people", X) == {1: 1}
    assert found(sources.table(path, "people", "hr"), X) == {3: 1}, "a table with that very name comes first"
    assert found(sources.table(path, 'odd "table"; --'), Axis('odd "name"', 0, 9)) == {4: 1}
    assert found(f"{path}#double", X) == {5: 1}
    with duckdb.connect(str(path)) as connection:
        connection.execute('drop table "hr.people"')
    assert found(f"{path}#hr.people", X) == {2: 1}


def test_a_view_cannot_read_other_files(tmp_path, book):
    """It might have DuckDB sniff how they are written."""
    (tmp_path / "other.csv").write_text(f"x\n5\n{CANARY}\n", encoding="utf-8")
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create view v as select * from read_csv('{tmp_path / 'other.csv'}')")  # noqa: S608  our own path
    with pytest.raises(SourceError, match="if it is a view, it must read this file alone") as caught:
        dawa.release(f"{path}#v", X, epsilon=1, ledger=book, dataset="rich")
    assert CANARY not in str(caught.value)
    assert book.account("rich").spent == 0


def test_a_file_that_is_open_for_writing(tmp_path, book):
    path = tmp_path / "x.duckdb"
    table = duckdb_file(path, "int", [1])
    with duckdb.connect(str(path)), pytest.raises(SourceError, match="is open for writing elsewhere"):
        dawa.release(table, X, epsilon=1, ledger=book, dataset="rich")
    code = f"import duckdb, sys; held = duckdb.connect({str(path)!r}); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603  our own code
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(SourceError, match="is open for writing elsewhere"):
            dawa.release(table, X, epsilon=1, ledger=book, dataset="rich")
        other.stdin.close()
        other.wait()
    assert book.account("rich").spent == 0
    assert found(table, X) == {1: 1}
    with duckdb.connect(str(path), read_only=True):
        assert outcome(table, X)[0] in {"counted", "opening"}


def test_a_file_of_another_version(tmp_path):
    path = tmp_path / "x.duckdb"
    table = duckdb_file(path, "int", [1])
    data = bytearray(path.read_bytes())
    data[12:20] = (9999).to_bytes(8, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError, match=r"x.duckdb .*DuckDB"):
        found(table, X)


def test_the_duckdb_file_is_not_written(tmp_path):
    path = tmp_path / "x.duckdb"
    table = duckdb_file(path, "int", [1, 2])
    before = path.read_bytes()
    found(table, X)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["x.duckdb"]


def test_a_log_that_was_left_behind(tmp_path):
    """A program that stopped in the middle leaves what it committed in a second file."""
    path = tmp_path / "x.duckdb"
    table = duckdb_file(path, "int", [1])
    code = (
        f"import duckdb, os; held = duckdb.connect({str(path)!r});"  # noqa: S608  our own path
        " held.execute('begin'); held.execute('insert into t values (2)'); held.execute('commit'); os._exit(0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  our own code
    assert Path(f"{path}.wal").exists()
    assert found(table, X) == {1: 1, 2: 1}


def test_large_tables_use_a_private_folder_for_what_does_not_fit_in_memory(tmp_path, monkeypatch):
    """Other files cannot be opened, but these can."""
    monkeypatch.setattr(engines, "memory", lambda: 40 << 20)
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select range % 10 as x, range as who from range(1500000)")
    kept = found(f"{path}#t", X, unit="who")
    assert kept == dict.fromkeys(range(10), 150_000)
    assert [one.name for one in tmp_path.iterdir()] == ["x.duckdb"]


# --- which file, which table ----------------------------------------------------------------------------------------


def test_first_bytes_say_what_a_file_is(tmp_path):
    """Whatever its name: SQLite as .duckdb, DuckDB as .sqlite, both without an ending."""
    for name in ("x.duckdb", "x", "x.csv", "x.parquet"):
        sqlite_file(tmp_path / name, [1])
        assert found(sources.table(tmp_path / name, "t"), X) == {1: 1}
        (tmp_path / name).unlink()
    for name in ("x.sqlite", "y", "y.db"):
        duckdb_file(tmp_path / name, "int", [2])
        assert found(sources.table(str(tmp_path / name), "t"), X) == {2: 1}


def test_a_sharp_sign_in_a_name_is_part_of_it(tmp_path):
    (tmp_path / "a#b.csv").write_text("x\n5\n", encoding="utf-8")
    assert found(str(tmp_path / "a#b.csv"), X) == {5: 1}
    sqlite_file(tmp_path / "a#b.db", [6])
    assert found(str(tmp_path / "a#b.db#t"), X) == {6: 1}


def plain(folder, name, data=b"x\n5\n"):
    (folder / name).write_bytes(data)
    return str(folder / name)


def ledger_file(folder):
    book = ledger.opened(folder / "spent.db")
    book.create("hr", cap=1)
    return str(folder / "spent.db")


WRONG = {
    "no table": (
        lambda folder: sqlite_file(folder / "x.db", [1])[:-2],
        "is a SQLite database, and none of its tables is named.\nHint: name one of t: --table t",
    ),
    "no table of DuckDB": (
        lambda folder: duckdb_file(folder / "x.db", "int", [1])[:-2],
        "is a DuckDB database, and none of its tables is named.\nHint: name one of t: --table t",
    ),
    "no table, odd name": (
        lambda folder: sqlite_file(folder / "x.bin", [1])[:-2],
        "is a SQLite database, and none of its tables is named",
    ),
    "wrong table": (
        lambda folder: sqlite_file(folder / "x.db", [1])[:-1] + "people",
        "has no table 'people'.\nHint: name one of t.",
    ),
    "wrong table of DuckDB": (
        lambda folder: duckdb_file(folder / "x.db", "int", [1])[:-1] + "people",
        "has no table 'people'.\nHint: name one of t: --table t",
    ),
    "wrong column": (
        lambda folder: [sqlite_file(folder / "x.db", [1]), sources.table(folder / "x.db", "other")][1],
        "has no table 'other'",
    ),
    "no database": (
        lambda folder: plain(folder, "x.csv") + "#t",
        "is neither a SQLite nor a DuckDB database, so it has no table 't'",
    ),
    "called like one": (lambda folder: plain(folder, "x.db"), "although it is called like one.\nHint: .*sources.csv"),
    "called like one, with a table": (
        lambda folder: plain(folder, "x.db") + "#t",
        "is neither a SQLite nor a DuckDB database",
    ),
    "empty file": (lambda folder: plain(folder, "x.sqlite", b"") + "#t", "is neither a SQLite nor a DuckDB database"),
    "no file": (lambda folder: str(folder / "nothing.db#t"), "There is no file"),
    "folder": (lambda folder: sources.table(folder, "t"), "could not be opened"),
    "damaged": (
        lambda folder: plain(folder, "x.db", sqlite.MAGIC + b"\xff" * 5000) + "#t",
        "could not be read as a SQLite database",
    ),
    "damaged DuckDB": (lambda folder: plain(folder, "x.db", b"12345678DUCK" + b"\xff" * 50_000) + "#t", "DuckDB"),
    "ledger": (
        lambda folder: ledger_file(folder) + "#dawa_ledger_entries",
        "is a ledger of dawa's, which holds no records.\nHint: .*--ledger",
    ),
    "ledger without a table": (ledger_file, "is a ledger of dawa's"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_and_tables_cost_nothing(tmp_path, book, name):
    make, words = WRONG[name]
    with pytest.raises(SourceError, match=words):
        dawa.release(make(tmp_path), X, epsilon=1, ledger=book, dataset="rich")
    assert book.account("rich").spent == 0


def test_errors_list_few_tables(tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    for number in range(15):
        connection.execute(f"create table t{number:02} (x)")
    connection.close()
    with pytest.raises(SourceError, match=r"t09, …"):
        found(str(tmp_path / "x.db#t"), X)
    with pytest.raises(SourceError, match=r"t09, …: --table t00"):
        found(str(tmp_path / "x.db"), X)


def test_no_value_is_told(tmp_path, book, capfd):
    """Canaries in every cell: in errors, in the ledger, in the release, on the screen."""
    for table in (
        sqlite_file(tmp_path / "x.db", [CANARY, CANARY.encode(), "5"]),
        duckdb_file(tmp_path / "x.duckdb", "varchar", [CANARY, "5"]),
    ):
        for axis in (X, NAIVE[0], AWARE[0], *LETTERS, Axis.ordered("x", [1, 2]), Axis("absent", 0, 1)):
            for where in (None, "x > 3", "x = 'A'", "x >= '2013-01-01'", "absent = 1", "x = true"):
                try:
                    made = dawa.release(table, axis, epsilon="0.01", where=where, ledger=book, dataset="rich")
                    said = [repr(made), str(made.privacy)]
                except DawaError as error:
                    said = [str(error)]
                assert CANARY not in "".join(said)
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err
    assert CANARY.encode() not in (tmp_path / "ledger.db").read_bytes()


def test_what_is_said_about_a_sqlite_table(tmp_path, book):
    made = dawa.release(sqlite_file(tmp_path / "x.db", [1, 2]), X, epsilon=1, ledger=book, dataset="rich")
    assert "The table 't' of a SQLite file is read value by value" in str(made.privacy)
    assert "The column 'x' is read from text." in str(made.privacy)
    entry = next(entry for entry in book.history("rich") if entry.kind == "reserve")
    assert entry.what["table"] == "t"
    assert entry.what["text"]["columns"] == ["x"]


def test_declared_formats_hold_for_text_in_databases(tmp_path):
    days = Axis.dates("x", "2013-01-01", "2013-01-10")
    table = sqlite_file(tmp_path / "x.db", ["02.01.2013", "2013-01-03", "0,5"])
    assert found(sources.written(table, date_format="%d.%m.%Y"), days) == {1: 1}
    assert found(sources.written(table, decimal=","), Axis("x", 0, 1, "0.25")) == {2: 1}
    held = duckdb_file(tmp_path / "x.duckdb", "varchar", ["02.01.2013", "-99", "3"])
    assert found(sources.written(held, date_format="%d.%m.%Y"), days) == {1: 1}
    assert found(sources.written(held, missing=["-99"]), X) == {3: 1}
    assert found(held, X) == {0: 1, 3: 1}


def test_random_numbers_as_by_hand(tmp_path):
    rng = np.random.default_rng(1)
    values = [*rng.integers(-20, 20, 300).tolist(), *np.round(rng.normal(0, 9, 300), 3).tolist(), None, float("inf")]
    axis = Axis("x", -5, 5, "0.25")
    assert everything(sqlite_file(tmp_path / "x.db", values), axis) == expected((axis,), values)
    assert database_files.kind(tmp_path / "x.db") == "SQLite"
    money = [Decimal(value).scaleb(-3) for value in rng.integers(-9000, 9000, 300).tolist()]
    assert everything(duckdb_file(tmp_path / "x.duckdb", "decimal(12, 3)", money), axis) == expected((axis,), money)
