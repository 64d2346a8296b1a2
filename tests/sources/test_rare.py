"""What few tables have and every source must get right all the same: odd types, odd holders, engines that fail."""

import os
import signal
import socket
import sqlite3
import sys
import threading
from collections import UserList
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

from dawa import Axis, sources
from dawa.errors import AxisError, DawaError, SourceError
from dawa.sources import counting, database_files, engines, forms, numbers, remote, streams, values
from dawa.sources.dialect import Dialect
from dawa.sources.tables import Column, Source
from dawa.sources.where_text import parsed
from helpers.binning import everything, expected, found
from helpers.reading import check_neighbours, outcome

X = Axis("x", 0, 10)
YEAR = Axis.dates("x", "2013-01-01", "2014-01-01")
ROW = Axis("n", 0, 10)


@pytest.fixture
def backend():
    """An embedded DuckDB that somebody has open with Ibis."""
    made = ibis.duckdb.connect()
    yield made
    made.disconnect()


def table(backend, kind, *values):
    """A table with numbered rows and a column of a type; SQL for each value."""
    rows = ", ".join(f"({number}, {value})" for number, value in enumerate(values))
    backend.raw_sql(f"create table t as select n, cast(x as {kind}) as x from (values {rows}) v(n, x)").fetchall()  # noqa: S608  our own values
    with engines.quietly():
        return backend.table("t")


# --- types ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [X, YEAR, Axis.ordered("x", ["A"]), Axis.ipv4("x", "10.0.0.0/8")], ids=str)
def test_a_column_that_is_declared_to_hold_nothing(axis):
    nothing = {"x": pa.nulls(3), "n": np.arange(3)}
    assert everything(nothing, axis) == {("missing",): 3}
    assert found(nothing, ROW, where="x is missing") == {0: 1, 1: 1, 2: 1}
    for asked in ("x is not missing", "x = 1", "x in (1, 2)", "x < '2013-01-01'", "not x = 1"):
        assert found(nothing, ROW, where=asked) == {}


def test_whole_numbers_of_128_bits_are_missing_beyond_38_digits(backend):
    odd = [f"{number}::hugeint" for number in (2**127 - 1, 1 - 2**127, 10**38, 10**38 - 1)]
    some = table(backend, "hugeint", "5", "null", *odd)
    assert everything(some, X) == {5: 1, 9: 1, ("missing",): 4}
    assert found(some, ROW, where="x >= 5") == {0: 1, 5: 1}
    assert found(some, ROW, where="x < 0") == {}


@pytest.mark.parametrize("scale", ["s", "ms", "ns"])
def test_times_of_every_scale_in_an_engine(backend, scale):
    """In nanoseconds they end in 2262, and in seconds they reach further than Python can write."""
    odd = ["'2262-04-11 23:47:16'", "'1677-09-21 00:12:44'"] if scale == "ns" else ["'infinity'", "'-infinity'"]
    odd += [] if scale == "ns" else ["'0001-01-01'", "'294246-12-31 00:00:00'", "'290000-01-01 (BC) 00:00:00'"]
    usual = ["'2013-01-01'", "'2013-12-31 23:59:59'", "null"]
    some = table(backend, f"timestamp_{scale}", *usual, *odd)
    early = {"ns": 1, "s": 3, "ms": 3}[scale]
    assert everything(some, Axis.dates("x", "2013-01-01", "2014-01-01", outside="own")) == {
        0: 1,
        364: 1,
        ("missing",): 1,
        ("below",): early,
        ("above",): len(odd) - early,
    }
    later = set(found(some, ROW, where="x >= '2013-06-01'"))
    earlier = set(found(some, ROW, where="x < '2013-06-01'"))
    assert (0 in earlier, 1 in later, earlier & later, len(earlier | later)) == (True, True, set(), 2 + len(odd))
    assert found(some, ROW, where="x = '2013-01-01'") == {0: 1}
    ends = [Axis.dates("x", "0001-01-01", "0001-01-03"), Axis.dates("x", "9998-12-29", "9998-12-31")]
    for axis in ends[: 1 if scale == "ns" else 2]:  # nobody counts nanoseconds up to the year 9998 in 64 bits
        assert sum(found(some, axis).values()) == 2 + len(odd), "outside, they are in the end cells"


def test_one_time_more_in_an_engine_moves_one_count(backend):
    for scale in ("s", "ms", "ns"):
        fewer = outcome(table(backend, f"timestamp_{scale}", "'2013-01-01'", "'2013-05-05 10:00'"), YEAR)
        backend.raw_sql("drop table t").fetchall()
        more = outcome(table(backend, f"timestamp_{scale}", "'2013-01-01'", "'2013-05-05 10:00'", "'2100-01-01'"), YEAR)
        check_neighbours(more, fewer)
        backend.raw_sql("drop table t").fetchall()


def test_whole_numbers_are_never_equal_to_a_fraction(backend):
    for some in (table(backend, "int", "1", "2", "null"), {"x": [1, 2, None], "n": [0, 1, 2]}):
        assert found(some, ROW, where="x = 1.5") == {}
        assert found(some, ROW, where="x != 1.5") == {0: 1, 1: 1}
        assert found(some, ROW, where="x not in (1.5, 2)") == {0: 1}


def test_days_of_64_bits():
    """Arrow counts them in milliseconds."""
    days = pa.array([1357344000000, None, -86_400_000 * 10**6], pa.date64())
    assert (
        everything({"x": days}, YEAR)
        == everything({"x": days.cast(pa.date32())}, YEAR)
        == {4: 1, 0: 1, ("missing",): 1}
    )


def test_types_that_are_no_number_time_or_text_are_refused():
    for array in (pa.array([b"a"]), pa.array([[1]]), pa.array([{"a": 1}])):
        assert outcome(pa.table({"x": array}), X)[0] == "opening"
    odd = pa.table({"x": pa.array([1], pa.duration("s")), "m": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    with pytest.raises(DawaError, match="Hint:"):
        found(odd, Axis("m", 0, 3))
    with pytest.raises(SourceError, match="names nobody"):
        found({"x": [1, 2], "who": pa.array([[1], [2]])}, X, unit="who")


def test_lengths_of_time_name_nobody():
    """Engines count them in microseconds, and in months of 30 days: two people would be one."""
    for unit in ("ns", "us", "s"):
        with pytest.raises(SourceError, match="names nobody"):
            found({"x": [1, 2], "who": pa.array([1, 2], pa.duration(unit))}, X, unit="who")


def test_ways_that_are_counted_apart_one_at_a_time():
    numbers_ = {"x": [-1, 5, 11, None]}
    assert everything(numbers_, Axis("x", 0, 10, outside="own", missing="drop")) == {5: 1, ("below",): 1, ("above",): 1}
    assert everything(numbers_, Axis("x", 0, 10, outside="drop", missing="own")) == {5: 1, ("missing",): 1}
    assert everything(numbers_, Axis("x", 0, 10, outside="drop", missing="drop")) == {5: 1}


# --- numbers at the edge of what can be told apart ------------------------------------------------------------------


def test_bounds_beyond_all_floats_are_infinite():
    from fractions import Fraction  # noqa: PLC0415  beside what it is for

    for kind in (np.dtype(np.float32), np.dtype(np.float64)):
        assert numbers.as_float(Fraction(10**400), kind) == np.inf
        assert numbers.as_float(Fraction(-(10**400)), kind) == -np.inf
        assert numbers.as_float(Fraction(1, 2), kind) == 0.5


@pytest.mark.parametrize(
    ("column", "axis", "says"),
    [
        (pa.array([1], pa.decimal128(38, 30)), Axis("x", 0, 1, "1/1000003"), "cannot be multiplied exactly by 1000003"),
        (pa.array([1], pa.decimal128(38, 2)), Axis("x", -(10**18), 10**18, "100/7"), "Hint:"),
        (["1"], Axis("x", 10**37, 10**37 + 10), "more than the 38 digits"),
    ],
    ids=["fine decimals", "wide decimals", "text"],
)
def test_axes_on_which_a_type_cannot_be_placed_exactly_are_refused(column, axis, says):
    with pytest.raises(AxisError, match=says):
        found({"x": column}, axis)


# --- holders --------------------------------------------------------------------------------------------------------


class Rows(UserList):
    """A sequence that gives one value at a time."""

    def __getitem__(self, place):
        if isinstance(place, slice):
            raise TypeError("canary4711")
        return self.data[place]


def test_sequences_that_cannot_be_sliced_are_read_one_by_one():
    assert found({"x": Rows([1, 2, 2, None])}, X) == {1: 1, 2: 2}
    check_neighbours(outcome({"x": Rows([1, 2, object()])}, X), outcome({"x": Rows([1, 2])}, X))


def test_frames_whose_columns_are_ambiguous_or_wide_are_refused():
    twice = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(AxisError, match="several columns 'x'"):
        found(twice, X)
    with pytest.raises(SourceError, match="is not a list of values"):
        found({"x": pd.array(pd.to_datetime(["2013-01-01", "2013-01-02"])).reshape(1, 2)}, YEAR)
    with pytest.raises(SourceError, match="not a list of values"):
        found({"x": pd.DataFrame({"a": [1], "b": [2]})}, X)


def test_text_that_no_encoding_can_write_stops_nothing_else():
    """One lone half of a character: the other values are read all the same, and it is one record without a cell."""
    letters = Axis.ordered("x", ["A", "B"])
    text = ["A", "\ud800", "B", None]
    wanted = {0: 1, 1: 1, ("unlisted",): 0, ("missing",): 2}
    for held in (text, np.array(text, object), pd.Series(text, dtype=object), pd.Series(text, dtype="string[python]")):
        counted = everything({"x": held}, letters)
        assert (counted[0], counted[1], sum(counted.values())) == (1, 1, 4), type(held)
    assert wanted[0] == 1
    assert values.texts(["A", "\ud800", 5, None, "B"]).to_pylist() == ["A", None, "5", None, "B"]


def test_a_file_that_somebody_declared_something_about_can_be_read_once_as_well(tmp_path):
    (tmp_path / "x.csv").write_text("x\n5\n")
    with (tmp_path / "x.csv").open("rb") as file:
        assert forms.once(sources.written(sources.csv(file), missing=["NA"]))
    assert not forms.once(sources.written(tmp_path / "x.csv", missing=["NA"]))
    assert not forms.once(sources.written(tmp_path / "x.parquet", missing=["NA"]))
    assert not forms.once(sources.written({"x": ["5"]}, missing=["NA"]))
    os.mkfifo(tmp_path / "pipe.csv")
    assert forms.once(tmp_path / "pipe.csv")


def test_what_is_no_text_has_no_dialect():
    with pytest.raises(SourceError, match="is not a text file, so it has no delimiter"):
        forms.unfit(None, None, Dialect())


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_name_that_is_no_file_is_refused_and_not_opened(tmp_path):
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(tmp_path / "x.parquet"))
        assert outcome(tmp_path / "x.parquet", X)[:2] == ("opening", "SourceError")
    with pytest.raises(DawaError, match="There is no file"):
        found(tmp_path / "nothing.there", X)


def test_parts_of_a_table_have_the_same_columns_once(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), tmp_path / "b.parquet")
    with pytest.raises(AxisError, match="several columns 'x'"):
        found(tmp_path, X)
    pa.parquet.write_table(pa.table({"y": [1]}), tmp_path / "b.parquet")
    with pytest.raises(AxisError, match="no column 'x', but other files do"):
        found(tmp_path, X)


def test_a_header_with_an_endless_name_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text(f'x,"{"y" * 200_000}"\n5,1\n')
    with pytest.raises(SourceError, match="too long"):
        found(tmp_path / "x.csv", X)


def test_databases_without_tables_say_so(tmp_path):
    sqlite3.connect(tmp_path / "x.db").execute("pragma user_version = 1").connection.close()
    duckdb.connect(str(tmp_path / "x.duckdb")).close()
    for name in ("x.db", "x.duckdb"):
        with pytest.raises(SourceError, match="none of its tables is named") as caught:
            found(tmp_path / name, X)
        assert "it has no table; check the path" in caught.value.hint


def test_the_home_of_a_user_who_is_not_there_is_a_name_like_others():
    user = f"~nobody{uuid4().hex}"
    assert database_files._path(f"{user}/x.db") == Path(f"{user}/x.db")
    with pytest.raises(DawaError, match="Hint:"):
        found(sources.table(f"{user}/x.db", "t"), X)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Could not set lock on file", "is open for writing elsewhere"),
        ("older version of duckdb", "by a version of DuckDB"),
        ("canary4711", "could not be opened as a DuckDB database"),
    ],
)
def test_what_duckdb_says_about_a_file_is_not_repeated(said, answer):
    error = database_files._unopened(Path("x.duckdb"), duckdb.IOException(said))
    assert answer in error.problem
    assert "canary" not in str(error)


def test_text_in_sqlite_that_is_not_unicode_is_missing(tmp_path):
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("create table t (x text)")
        connection.execute("insert into t values ('A'), (cast(x'ff41' as text)), (null), ('B')")
        connection.commit()
    letters = Axis.ordered("x", ["A", "B"])
    assert everything(sources.table(tmp_path / "x.db", "t"), letters) == {0: 1, 1: 1, ("missing",): 2}
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("create view broken as select x from nowhere")
        connection.commit()
    with pytest.raises(SourceError, match="cannot be queried"):
        found(sources.table(tmp_path / "x.db", "broken"), X)


# --- engines --------------------------------------------------------------------------------------------------------


def test_a_driver_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SourceError, match=r"needs psycopg(?s:.)*pip install 'dawa\[postgres\]'"):
        found(sources.table("postgresql://reader@server/hr", "people"), X)


def test_a_table_that_a_user_may_not_read_is_not_opened(postgres):
    role, schema = (f"{name}_{uuid4().hex[:8]}" for name in ("clerk", "closed"))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"create role {role} login")
        connection.execute(f"create schema {schema}")
        connection.execute(f"create table {schema}.t (x int)")
    place = postgres.replace("postgres@", f"{role}@")
    with pytest.raises(SourceError, match="Hint:") as caught:
        found(sources.table(place, "t", schema), X)
    assert "4711" not in str(caught.value)


def test_an_expression_that_has_no_engine_is_refused():
    with pytest.raises(SourceError, match="has no engine"):
        found(ibis.table({"x": "int64"}, name="nowhere"), X)


def test_rows_that_an_expression_holds_itself():
    """There is no table that an engine could describe, and decimals are what they are."""
    held = ibis.memtable(pa.table({"x": pa.array([1, 2, 2], pa.decimal128(5, 2))}))
    with engines.quietly():
        assert found(held.filter(held.x > 1), X) == {2: 2}
        assert found(held, X) == {1: 1, 2: 2}


ELSEWHERE = {"t": "timestamp(9)", "z": "timestamp('UTC', 9)", "n": "decimal"}


def test_nanoseconds_and_endless_decimals_in_engines_that_nobody_tried():
    """Their nanoseconds are cut off, never rounded up into the next cell; what cannot be exact is refused."""
    some = ibis.table(ELSEWHERE, name="people")

    def column(name):
        return Column(some[name], some[name].type(), some[name].type().is_timestamp() and name == "z")

    source = Source(some, "snowflake", column, tuple(some.columns), fetch=None, check=None)
    for axis, asked in (
        (Axis.dates("t", "2020-01-01", "2021-01-01"), "t < '2020-06-01'"),
        (Axis.dates("z", "2020-01-01", "2021-01-01", zone="UTC"), "z < '2020-06-01 00:00Z'"),
    ):
        made = counting.expression(source, (axis,), (), 1, where=parsed(asked))
        statement = str(ibis.to_sql(made, dialect="snowflake")).upper()
        column_, cut = f'"T0"."{axis.column.upper()}"', f'"T0"."{axis.column.upper()}" AS TIMESTAMP'
        assert cut in statement
        assert f") > {column_}" in statement.replace("\n", " ").replace("  ", ""), "where a cast has rounded up"
    with pytest.raises(AxisError):
        counting.expression(source, (Axis("n", 0, "1e30", "1e10"),), (), 1)


def test_an_engine_that_is_interrupted_is_told_to_stop():
    told, begun, asked = threading.Event(), threading.Event(), []

    def work():
        begun.set()
        assert told.wait(60)
        return 5

    def stopped(asked):
        if len(asked) == 1:
            raise KeyboardInterrupt

    def interrupt():
        """Again and again: what comes in the moment before a thread falls asleep does not wake it."""
        begun.wait(60)
        while not told.wait(0.1):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, lambda *_: asked.append(True) or stopped(asked))
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            engines.interruptible(work, told.set)
    finally:
        signal.signal(signal.SIGINT, before)
    assert told.is_set()
    assert engines.interruptible(lambda: 5, told.clear) == 5
    assert told.is_set(), "nothing is stopped that has ended"


def test_no_room_for_what_does_not_fit_in_memory_is_said_so(monkeypatch):
    def full():
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(engines.scratch, "spill", full)
    with pytest.raises(SourceError, match=r"No folder for temporary files can be written \(No space left on device\)"):
        found({"x": [1]}, X)


def test_a_stream_that_is_stopped_gives_no_more_batches():
    batch = pa.record_batch([pa.array([1])], ["0"])
    some = streams._Once(batch.schema, lambda: iter([batch, batch]))
    some.stop()
    assert pa.RecordBatchReader.from_stream(some).read_all().num_rows == 0


# --- servers --------------------------------------------------------------------------------------------------------


class Broken:
    """An answer of which some came."""

    def __init__(self, length, *pieces):
        self.length, self.pieces = length, list(pieces)

    def read(self, _size):
        piece = self.pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece


def test_an_answer_that_breaks_off_is_no_answer():
    lost = remote._Answer(Broken(10, b"12345", ConnectionResetError("canary4711")), "server")
    assert lost.read(5) == b"12345"
    with pytest.raises(SourceError, match="connection to server was lost") as caught:
        lost.read(5)
    assert "canary" not in str(caught.value)
    short = remote._Answer(Broken(10, b"12345", b""), "server")
    assert short.read(5) == b"12345"
    with pytest.raises(SourceError, match="server ended before its end"):
        short.read(5)
    open_ended = remote._Answer(Broken(None, b"12345", b""), "server")
    assert [open_ended.read(5), open_ended.read(5)] == [b"12345", b""]


def test_labels_of_expressions_and_names_of_tables():
    assert sources.label(ibis.table({"x": "int64"}, name="t").select("x")) == "ibis:expression"
    assert sources.label(ibis.literal(1).as_table()) == "ibis:expression"
    assert sources.label(ibis.selectors.all()) == "memory", "nothing that an engine could know"
    with pytest.raises(SourceError, match="names no table"):
        sources.table("postgresql://server/hr")
    with pytest.raises(SourceError, match="is not a name of a table"):
        sources.table("hr.db")


def test_a_polars_frame_is_counted_like_its_columns():
    frame = pl.DataFrame({"x": [1, 2, None, 50]})
    assert everything(frame, X) == everything(frame.lazy(), X) == expected((X,), [1, 2, None, 50])
