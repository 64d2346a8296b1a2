"""Files of SQLite: every value is read by itself, one record more moves one count, and nothing is read too early."""

import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis, sources
from dawa.errors import DawaError, ExhaustedError, SourceError
from dawa.sources import sqlite
from helpers.binning import found
from helpers.database_files import MANY, sqlite_file
from helpers.examples import examples
from helpers.reading import AWARE, CANARY, INTEGERS, LETTERS, NAIVE, NUMBERS, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

LAW = examples(25)

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


@pytest.mark.long
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


@pytest.mark.long
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
