"""Files of SQLite and DuckDB: which file and table is meant, what is wrong costs nothing, and no value is told."""

import sqlite3
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError, ExhaustedError, SourceError
from dawa.sources import database_files, sqlite
from helpers.binning import everything, expected, found
from helpers.database_files import duckdb_file, sqlite_file
from helpers.reading import AWARE, CANARY, LETTERS, NAIVE, X

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


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


def bytes_read():
    place = Path("/proc/self/io")
    if not place.exists():
        pytest.skip("this system does not say how many bytes a process has read (/proc/self/io)")
    return int(place.read_text(encoding="ascii").splitlines()[0].split()[1])


@pytest.mark.long
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


@pytest.mark.long
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
