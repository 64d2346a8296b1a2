"""Files of DuckDB: one record more moves one count with every type, and no other file is read or written."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import pytest

import dawa
from dawa import Axis, sources
from dawa.errors import SourceError
from dawa.sources import engines
from helpers.binning import found
from helpers.database_files import MANY, duckdb_file
from helpers.reading import AWARE, CANARY, INTEGERS, LETTERS, NAIVE, NUMBERS, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

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


@pytest.mark.long_but(1)
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


@pytest.mark.long
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


@pytest.mark.long_but(1)
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
