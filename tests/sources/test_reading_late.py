"""Nothing of a record is read before the ledger has reserved, and what can be refused without records costs nothing."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError, ExhaustedError
from dawa.sources import engines, places
from helpers.reading import CANARY

X = Axis("x", 0, 10)
DAYS = Axis.dates("x", "2013-01-01", "2014-01-01")
FEW = 2**20
"""Bytes that a refusal may read: the ledger, headers, and some times the last 64 KiB of a file, where footers stand."""


@pytest.fixture
def book(tmp_path):
    """A ledger in which one account has money, and one has none."""
    opened = ledger.opened(tmp_path / "ledger.db")
    opened.create("rich", cap=100)
    opened.create("poor", cap="0.1")
    return opened


@pytest.fixture
def reserved(book, monkeypatch):
    """What happened so far: whether the ledger has reserved."""
    done, original = [], type(book).reserve_all

    def reserve_all(self, *arguments, **options):
        found = original(self, *arguments, **options)
        done.append(time.monotonic())
        return found

    monkeypatch.setattr(type(book), "reserve_all", reserve_all)
    return done


def refused(book, table, axis=X, **options):
    """The words with which an account without money answers."""
    with pytest.raises(ExhaustedError) as caught:
        dawa.release(table, axis, epsilon=1, ledger=book, dataset="poor", **options)
    assert book.account("poor").spent == 0
    return str(caught.value)


def planned(table, axis=X, **options):
    """A plan that opens the table."""
    assert dawa.plan.planned([axis], epsilon=1, table=table, mechanism="identity", **options).opened.fits


# --- bytes of files -------------------------------------------------------------------------------------------------


def bytes_read():
    """How many bytes this process has read so far, by all of its threads."""
    place = Path("/proc/self/io")
    if not place.exists():
        pytest.skip("this system does not say how many bytes a process has read (/proc/self/io)")
    return int(place.read_text(encoding="ascii").splitlines()[0].split()[1])


def write(path, rows):
    """A file of so many rows with 8 bytes each at least."""
    values = np.random.default_rng(4711).random(rows)
    if path.suffix == ".csv":
        path.write_bytes(b"x,y\n" + b"0.12345,7\n" * rows)
    elif path.suffix == ".parquet":
        pa.parquet.write_table(pa.table({"x": values}), path, compression="none", use_dictionary=False)
    else:
        with pa.ipc.new_file(path, pa.schema([("x", pa.float64())])) as file:
            file.write_table(pa.table({"x": values}))


@pytest.mark.long
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_of_a_large_file_only_names_and_types_are_read(tmp_path, book, ending):
    small, large = tmp_path / f"small.{ending}", tmp_path / f"large.{ending}"
    write(small, 10)
    write(large, 7_000_000)
    assert large.stat().st_size > 50 * 2**20
    refused(book, small)  # all modules are loaded now
    before = bytes_read()
    refused(book, small)
    usual = bytes_read() - before
    before = bytes_read()
    refused(book, large)
    assert bytes_read() - before < usual + FEW
    planned(small)
    before = bytes_read()
    planned(large)
    assert bytes_read() - before < usual + FEW, "a plan reads no more"
    before = bytes_read()
    dawa.release(large, X, epsilon=1, ledger=book, dataset="rich")
    assert bytes_read() - before > 45 * 2**20, "the same count sees the rows when they are read"


def test_of_a_text_file_no_byte_after_its_header_is_taken(tmp_path, book, reserved, monkeypatch):
    path, taken, original = tmp_path / "x.csv", [], places.File.pieces
    path.write_bytes(b"x,y\n" + b"5,canary4711\n" * 1000)

    def watched(where, size):
        for chunk in original(where, size):
            taken.append((bool(reserved), chunk))
            yield chunk

    monkeypatch.setattr(places.File, "pieces", watched)
    refused(book, path)
    assert b"".join(chunk for _, chunk in taken) == b"x,y\n"
    taken.clear()
    planned(path)
    assert b"".join(chunk for _, chunk in taken) == b"x,y\n"
    taken.clear()
    dawa.release(path, X, epsilon=1, ledger=book, dataset="rich")
    assert b"".join(chunk for paid, chunk in taken if not paid) == b"x,y\n"
    assert sum(len(chunk) for paid, chunk in taken if paid) >= path.stat().st_size


# --- things in memory that notice being looked at -------------------------------------------------------------------


class Watched(Sequence):
    """Values that may be looked at only when they are paid for."""

    def __init__(self, values, paid):
        self.values, self.paid = values, paid

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        assert self.paid, "a record was read before it was paid for"
        return self.values[place]


class WatchedArray:
    """The same behind numpy's interface."""

    ndim, dtype = 1, np.dtype(np.int64)

    def __init__(self, values, paid):
        self.values, self.paid = values, paid
        self.shape = (len(values),)

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        assert self.paid, "records were read before they were paid for"
        return np.array(self.values, dtype)


def test_sequences_are_not_looked_at(book, reserved):
    table = {"x": Watched([1, 2, 3], reserved), "who": Watched(["a", "b", None], reserved)}
    refused(book, table)
    refused(book, table, unit="who", max_rows_per_unit=1)
    planned(table)
    planned(table, unit="who", max_rows_per_unit=1)
    assert (
        dawa.release(table, X, epsilon=1, unit="who", max_rows_per_unit=1, ledger=book, dataset="rich").privacy.epsilon
        == 1
    )


def test_what_becomes_an_array_is_not_looked_at(book, reserved):
    table = {"x": WatchedArray([1, 2, 3], reserved)}
    refused(book, table)
    planned(table)
    assert dawa.release(table, X, epsilon=1, ledger=book, dataset="rich").privacy.epsilon == 1


def test_times_in_arrays_are_not_looked_at(book, reserved, monkeypatch):
    original = np.isnat

    def isnat(values):
        assert reserved, "records were read before they were paid for"
        return original(values)

    monkeypatch.setattr(np, "isnat", isnat)
    table = {"x": np.array(["2013-01-01", "NaT"], "M8[s]")}
    refused(book, table, DAYS)
    planned(table, DAYS)
    assert dawa.release(table, DAYS, epsilon=1, ledger=book, dataset="rich").privacy.epsilon == 1


def test_series_of_polars_in_a_dict_are_not_converted(book, reserved, monkeypatch):
    original = pl.Series.to_arrow

    def to_arrow(self, *arguments, **options):
        assert reserved or not len(self), "records were read before they were paid for"
        return original(self, *arguments, **options)

    monkeypatch.setattr(pl.Series, "to_arrow", to_arrow)
    table = {"x": pl.Series([1, 2])}
    refused(book, table)
    planned(table)
    assert dawa.release(table, X, epsilon=1, ledger=book, dataset="rich").privacy.epsilon == 1


def test_lazy_frames_do_not_run(book, reserved):
    def step(frame):
        assert reserved, "records were read before they were paid for"
        return frame

    table = pl.LazyFrame({"x": [1, 2]}).map_batches(step, schema={"x": pl.Int64})
    refused(book, table)
    planned(table)
    assert dawa.release(table, X, epsilon=1, ledger=book, dataset="rich").privacy.epsilon == 1


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_frames_in_ibis_are_not_converted(book, reserved, monkeypatch):
    from ibis.formats.pandas import PandasDataFrameProxy  # noqa: PLC0415  beside its use

    original = PandasDataFrameProxy.to_pyarrow

    def to_pyarrow(self, schema):
        assert reserved, "records were read before they were paid for"
        return original(self, schema)

    monkeypatch.setattr(PandasDataFrameProxy, "to_pyarrow", to_pyarrow)
    table = ibis.memtable(pd.DataFrame({"x": [1, 2]}))
    refused(book, table)
    planned(table)
    assert dawa.release(table, X, epsilon=1, ledger=book, dataset="rich").privacy.epsilon == 1


# --- engines --------------------------------------------------------------------------------------------------------


def test_an_engine_of_ibis_computes_no_row(book):
    """Every row fails when it is computed, so a refusal for lack of budget proves that none was."""
    backend = ibis.duckdb.connect()
    backend.con.execute("create table plain as select range as x from range(5)")
    backend.con.execute(
        f"create view tripwire as select case when x >= 0 then error('{CANARY}')::int else 1 end as x from plain"  # noqa: S608  our own words
    )
    with engines.quietly():
        table = backend.table("tripwire")
    assert CANARY not in refused(book, table)
    planned(table)
    with pytest.raises(DawaError) as caught:
        dawa.release(table, X, epsilon=1, ledger=book, dataset="rich")
    assert CANARY not in str(caught.value)
    assert book.account("rich").spent == 1, "it was paid for before it failed"
    backend.disconnect()


@pytest.fixture
def people(postgres):
    """Tables on a server: one of which every row fails, and users with rights to few columns or to none."""
    with psycopg.connect(postgres) as connection:
        connection.execute("drop schema if exists late cascade")
        connection.execute("create schema late")
        connection.execute("create table late.plain as select i as x, i as y from generate_series(1, 5) i")
        connection.execute(
            "create function late.tripwire(i int) returns int language plpgsql volatile as"
            f" $$ begin raise exception '{CANARY} %', i; end $$"
        )
        connection.execute("create view late.failing as select late.tripwire(x) as x from late.plain")
        for role in ("late_nobody", "late_other"):
            connection.execute(
                f"do $$ begin create role {role} login; exception when duplicate_object then null; end $$"
            )
            connection.execute(f"grant usage on schema late to {role}")
        connection.execute("grant select (y) on late.plain to late_other")
    return postgres


def test_postgres_computes_no_row(book, people):
    table = sources.table(people, "failing", "late")
    assert CANARY not in refused(book, table)
    planned(table)
    with pytest.raises(DawaError) as caught:
        dawa.release(table, X, epsilon=1, ledger=book, dataset="rich")
    assert CANARY not in str(caught.value)
    assert book.account("rich").spent == 1


@pytest.mark.parametrize("role", ["late_nobody", "late_other"])
def test_postgres_without_the_right_to_read_costs_nothing(book, people, role):
    address = people.replace("postgres@", f"{role}@", 1)
    with pytest.raises(DawaError, match="Hint:"):
        dawa.release(sources.table(address, "plain", "late"), X, epsilon=1, ledger=book, dataset="rich")
    table = sources.table(address, "plain", "late")
    with pytest.raises(DawaError, match="Hint:"):
        dawa.release(table, Axis("y", 0, 9), unit="x", max_rows_per_unit=1, epsilon=1, ledger=book, dataset="rich")
    assert book.account("rich").spent == 0
    if role == "late_other":
        dawa.release(sources.table(address, "plain", "late"), Axis("y", 0, 9), epsilon=1, ledger=book, dataset="rich")


# --- the same words, whatever the rows hold -------------------------------------------------------------------------


def test_an_empty_account_answers_alike_whatever_the_rows_hold(tmp_path, book):
    path = tmp_path / "x.csv"
    words = set()
    for rows in (b"", b"5\n", b'"open', b"\xff\xff\n", b"late,1,2,3\n" * 1000, b"\0" * 5000):
        path.write_bytes(b"x\n" + rows)
        words.add(refused(book, path))
    for values in ([], [1], [object()], ["late"], [10**5000]):
        words.add(refused(book, {"x": values}))
    for array in (pa.array([1.0]), pa.array([np.nan]), pa.array([], pa.float64())):
        words.add(refused(book, pa.table({"x": array})))
    assert len(words) == 1


# --- what can be told without rows costs nothing --------------------------------------------------------------------


def broken_footer(folder):
    path = folder / "x.parquet"
    pa.parquet.write_table(pa.table({"x": [1]}), path)
    path.write_bytes(path.read_bytes()[:-10] + b"\xff" * 2 + path.read_bytes()[-8:])
    return path


def unreadable(folder):
    path = folder / "x.csv"
    path.write_text("x\n5\n", encoding="utf-8")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything
        path.unlink()
        path.symlink_to(path)
    return path


def text(folder, data="x\n5\n", **dialect):
    path = folder / "x.csv"
    path.write_text(data, encoding="utf-8")
    return sources.csv(path, **dialect)


REFUSED = {
    "wrong column": (lambda folder: text(folder, "y\n5\n"), X),
    "no header": (lambda folder: text(folder, ""), X),
    "wrong delimiter": (lambda folder: text(folder, "x;y\n5;5\n"), X),
    "wrong format": (lambda folder: text(folder, date_format="%Q"), DAYS),
    "format with an offset": (lambda folder: text(folder, date_format="%Y %z"), DAYS),
    "wrong type": (lambda _: {"x": np.array([True])}, X),
    "zone of the column": (lambda _: {"x": pa.array([1], pa.timestamp("us", "UTC"))}, DAYS),
    "zone of the axis": (
        lambda _: {"x": pa.array([1], pa.timestamp("us"))},
        Axis.dates("x", "2013-01-01", "2014-01-01", zone="UTC"),
    ),
    "unreadable": (unreadable, X),
    "no file": (lambda folder: folder / "nothing.csv", X),
    "broken footer": (broken_footer, X),
    "not Parquet": (lambda folder: [(folder / "y.parquet").write_bytes(b"PAR1"), folder / "y.parquet"][1], X),
    "not Arrow": (lambda folder: [(folder / "y.arrow").write_bytes(b"ARROW1"), folder / "y.arrow"][1], X),
    "not gzip": (lambda folder: [(folder / "y.csv.gz").write_bytes(b"x\n5\n"), folder / "y.csv.gz"][1], X),
    "empty gzip": (lambda folder: [(folder / "y.csv.gz").write_bytes(b""), folder / "y.csv.gz"][1], X),
    "uneven lists": (lambda _: {"x": [1], "who": [1, 2]}, X),
    "text labels": (lambda _: {"x": np.array([1.5])}, Axis.ordered("x", ["A"])),
    "labels that do not fit": (lambda _: {"x": np.array([1], np.uint64)}, Axis.ordered("x", [True, False])),
    "nested": (lambda _: pa.table({"x": [[1]]}), X),
    "complex": (lambda _: {"x": np.array([1j])}, X),
}


@pytest.mark.parametrize("name", sorted(REFUSED.keys() - {"no file", "unreadable"}))
def test_what_can_be_told_without_rows_is_told_by_a_plan(tmp_path, name):
    make, axis = REFUSED[name]
    with pytest.raises(DawaError, match="Hint:"):
        planned(make(tmp_path), axis, **({"unit": "who", "max_rows_per_unit": 1} if name == "uneven lists" else {}))


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_be_told_without_rows_costs_nothing(tmp_path, book, name):
    make, axis = REFUSED[name]
    with pytest.raises(DawaError, match="Hint:"):
        dawa.release(
            make(tmp_path),
            axis,
            epsilon=1,
            **({"unit": "who", "max_rows_per_unit": 1} if name == "uneven lists" else {}),
            ledger=book,
            dataset="rich",
        )
    assert book.account("rich").spent == 0
