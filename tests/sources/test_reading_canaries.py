"""No value of a record is in an error, a warning, a log, on a screen, in a ledger or in a release."""

import errno
import gzip
import io
import json
import logging
import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError
from dawa.sources import (
    counting,
    delimited,
    engines,
    frames,
    json_lines,
    packages,
    places,
    sheets,
    streams,
    values,
    workbooks,
)
from helpers import workbook
from helpers.commands import dawa as command
from helpers.reading import CANARY

ROWS = {
    "x": [f"{CANARY}x{row}" for row in range(40)],
    "y": [f"{CANARY}y{row}" for row in range(40)],
    "who": [f"{CANARY}w{row}" for row in range(40)],
}
NUMBERS = Axis("x", 0, 10)
DAYS = Axis.dates("x", "2013-01-01", "2014-01-01")
ZONED = Axis.dates("x", "2013-01-01", "2014-01-01", zone="Europe/Berlin")
LETTERS = Axis.ordered("x", ["A", "B"])
WHOLE = Axis.ordered("x", [1, 2**60])
TRUTH = Axis.ordered("x", [True, False])
EDGES = Axis.edges("x", [0, 1, 2])
HUGE = Axis("x", 2**64 - 3, 2**64)
ABSENT = Axis("absent", 0, 10)
AXES = {
    "numbers": NUMBERS,
    "days": DAYS,
    "zoned": ZONED,
    "letters": LETTERS,
    "whole": WHOLE,
    "truth": TRUTH,
    "edges": EDGES,
    "huge": HUGE,
    "absent": ABSENT,
}

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


class Told:
    """All that a run says and leaves behind."""

    def __init__(self, folder, capfd, caplog):
        self.folder, self.capfd, self.caplog = folder, capfd, caplog
        self.book = ledger.opened(folder / "ledger.db")
        self.runs = 0

    def run(self, table, axes, **options):
        """Make a release and write it, or fail; then check that nothing of a record came out."""
        said = []
        self.runs += 1  # each with an account of its own: one account would refuse the next table
        self.book.create(f"hr {self.runs}", cap=1)
        with warnings.catch_warnings(record=True) as caught, self.caplog.at_level(logging.DEBUG):
            warnings.simplefilter("always")
            try:
                made = dawa.release(table, axes, epsilon=1, ledger=self.book, dataset=f"hr {self.runs}", **options)
                said += [repr(made), str(made.privacy), made.privacy.to_json()]
            except Exception as error:  # noqa: BLE001  whatever it is, it may not tell
                said += ["".join(traceback.format_exception(error)), repr(error), *getattr(error, "__notes__", [])]
                assert isinstance(error, DawaError), said[0]  # noqa: PT017  most runs end without one
                assert "counts what" not in said[0], "the ledger refuses another table"
        said += [str(one.message) for one in caught]
        said += [record.getMessage() for record in self.caplog.records]
        self.check(*said)

    def check(self, *said):
        shown = self.capfd.readouterr()
        for one in (*said, shown.out, shown.err):
            assert CANARY not in str(one)
        for path in self.folder.rglob("*"):
            if path.is_file() and "data" not in path.relative_to(self.folder).parts[0]:
                assert CANARY.encode() not in path.read_bytes(), path


@pytest.fixture
def told(tmp_path, capfd, caplog):
    return Told(tmp_path, capfd, caplog)


@pytest.fixture
def data(tmp_path):
    """A folder whose files hold records, so that they are not searched."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


# --- every source on every axis -------------------------------------------------------------------------------------


def as_csv(folder, rows=ROWS, name="x.csv"):
    path = folder / name
    lines = [",".join(rows), *(",".join(row) for row in zip(*rows.values(), strict=True))]
    whole = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(whole) if name.endswith("gz") else whole)
    return path


def as_parquet(folder):
    path = folder / "x.parquet"
    pa.parquet.write_table(pa.table(ROWS), path)
    return path


def as_arrow(folder, columns=tuple(ROWS)):
    path = folder / "x.feather"
    pa.feather.write_feather(pa.table(ROWS).select(list(columns)), path)
    return path


def as_json_lines(folder):
    path = folder / "x.jsonl"
    records = (dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True))
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def as_workbook(folder):
    return workbook.write(folder / "x.xlsx", [list(ROWS), *zip(*ROWS.values(), strict=True)])


def without_header(folder):
    path = folder / "x.csv"
    path.write_text("".join(f"{CANARY}{row},{row},{CANARY}\n" for row in range(9)), encoding="utf-8")
    return path


TABLES = {
    "CSV": as_csv,
    "gzip": lambda folder: as_csv(folder, name="x.csv.gz"),
    "no header": without_header,
    "wrong delimiter": lambda folder: sources.csv(as_csv(folder), delimiter=";"),
    "wrong quote": lambda folder: sources.csv(as_csv(folder), quote="'", escape="|"),
    "wrong encoding": lambda folder: sources.csv(as_csv(folder), encoding="utf-16"),
    "wrong format": lambda folder: sources.csv(as_csv(folder), date_format="%d.%m.%Y"),
    "declared header": lambda folder: sources.csv(as_csv(folder), header=["x", "y", "who"]),
    "JSON lines": as_json_lines,
    "JSON lines that are none": lambda folder: sources.jsonl(as_csv(folder)),
    "JSON lines as text": lambda folder: sources.csv(as_json_lines(folder)),
    "workbook": as_workbook,
    "workbook without a header": lambda folder: workbook.write(folder / "x.xlsx", [[CANARY, CANARY], [CANARY]]),
    "declared columns of a workbook": lambda folder: sources.excel(as_workbook(folder), header=["x", "y", "who"]),
    "workbook as text": lambda folder: sources.csv(as_workbook(folder)),
    "workbook that is none": lambda folder: sources.excel(as_csv(folder)),
    "open file": lambda folder: io.BytesIO(as_csv(folder).read_bytes()),
    "open JSON lines": lambda folder: sources.jsonl(io.BytesIO(as_json_lines(folder).read_bytes())),
    "text that is open": lambda folder: io.StringIO(as_csv(folder).read_text(encoding="utf-8")),
    "Parquet": as_parquet,
    "Arrow": as_arrow,
    "lists": lambda _: ROWS,
    "numpy": lambda _: {name: np.array(column) for name, column in ROWS.items()},
    "bytes": lambda _: {name: np.array(column, "S") for name, column in ROWS.items()},
    "objects": lambda _: {name: np.array(column, object) for name, column in ROWS.items()},
    "pandas": lambda _: pd.DataFrame(ROWS),
    "categories": lambda _: pd.DataFrame(ROWS).astype("category"),
    "Polars": lambda _: pl.DataFrame(ROWS),
    "lazy": lambda _: pl.LazyFrame(ROWS),
    "Polars categories": lambda _: pl.DataFrame(ROWS).cast(pl.Categorical),
    "nested": lambda _: pa.table({"x": [[CANARY]], "who": [{"a": CANARY}]}),
    "memtable": lambda _: ibis.memtable(pa.table(ROWS)),
    "pandas in Ibis": lambda _: ibis.memtable(pd.DataFrame(ROWS)),
    "computed": lambda _: ibis.memtable(pa.table(ROWS)).mutate(x=ibis._.x.cast("int64")),
    "series": lambda _: pd.Series(ROWS["x"], name="x"),
    "Polars series": lambda _: pl.Series("x", ROWS["x"]),
    "Arrow column": lambda _: pa.array(ROWS["x"]),
    "text": lambda _: "x,y",
    "list of rows": lambda _: [dict.fromkeys("xy", CANARY)],
    "dict of text": lambda _: {"x": CANARY, "who": CANARY},
    "dict of rows": lambda _: {"x": {CANARY: CANARY}},
    "uneven": lambda _: {"x": [CANARY], "who": [CANARY, CANARY]},
    "columns of an array": lambda _: {"x": np.array([[CANARY]])},
}


@pytest.mark.long_but(4)
@pytest.mark.parametrize("name", TABLES)
def test_no_source_tells_a_value(told, data, name):
    few = AXES if name in {"CSV", "lists", "Parquet"} else ("numbers", "zoned", "letters", "absent")
    for axis in few:
        told.run(TABLES[name](data), AXES[axis])
    told.run(TABLES[name](data), LETTERS, unit="who", max_rows_per_unit=2)
    told.run(TABLES[name](data), LETTERS, unit="absent", max_rows_per_unit=1)


@pytest.mark.parametrize("schema", [None, {"x": "int64"}, {"x": "date"}, {"x": "string"}])
def test_frames_in_ibis_that_do_not_fit_their_schema_tell_nothing(told, schema):
    """Ibis converts them, and quotes what it cannot convert."""
    for column in ([1, CANARY], [CANARY, 1], [CANARY, CANARY], [b"x", CANARY]):
        frame = pd.DataFrame({"x": pd.Series(column, dtype=object)})
        try:
            table = ibis.memtable(frame, schema=schema)
        except Exception:  # noqa: BLE001, S112  whoever makes the table is told, and not through us
            continue
        told.run(table, NUMBERS)


def test_postgres_tells_no_value(told, postgres):
    with psycopg.connect(postgres) as connection:
        connection.execute("drop schema if exists quiet cascade")
        connection.execute("create schema quiet")
        connection.execute(
            "create table quiet.plain as"
            " select 'canary4711' || i as x, 'canary4711' || i as who from generate_series(1, 9) i"
        )
        connection.execute("create view quiet.failing as select x::int as x, who from quiet.plain")
        connection.execute("create type quiet.canary4711 as enum ('canary4711')")
    for axis in AXES.values():
        told.run(sources.table(postgres, "plain", "quiet"), axis)
        told.run(sources.table(postgres, "failing", "quiet"), axis, unit="who", max_rows_per_unit=1)


@pytest.mark.long
def test_an_engine_of_ibis_tells_no_value(told):
    backend = ibis.duckdb.connect()
    backend.con.execute(
        "create table plain as select 'canary4711' || range as x, 'canary4711' || range as who from range(9)"
    )
    backend.con.execute("create view failing as select x::int as x, who from plain")
    with engines.quietly():
        plain, failing = backend.table("plain"), backend.table("failing")
    for axis in AXES.values():
        told.run(plain, axis, unit="who", max_rows_per_unit=1)
        told.run(failing, axis)
        told.run(plain.mutate(x=plain.x.cast("date")), axis)
    backend.disconnect()


# --- failures on the way --------------------------------------------------------------------------------------------


def fail(*_, **__):
    raise RuntimeError(f"it broke at {CANARY}")


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device", CANARY)


def exhausted(*_, **__):
    raise MemoryError(CANARY)


STEPS = {
    "values": (values, "texts"),
    "each value": (values, "_each"),
    "plain": (streams, "plain"),
    "batches": (frames, "_batches"),
    "records": (delimited, "batches"),
    "chunks": (delimited, "chunks"),
    "decoding": (delimited, "valid"),
    "header": (delimited, "header"),
    "pieces": (places, "gathered"),
    "lines": (json_lines, "batches"),
    "picking": (json_lines, "_picked"),
    "list of sheets": (workbooks, "contents"),
    "first row": (sheets, "first"),
    "shared strings": (sheets, "shared"),
    "cells": (sheets, "plain"),
    "XML": (packages, "feed"),
    "stream": (streams, "source"),
    "embedded": (engines, "embedded"),
    "opening": (counting, "source"),
    "rows": (counting.Query, "rows"),
    "expression": (counting, "expression"),
}


@pytest.mark.long_but(1, of="how")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("how", [fail, full, exhausted], ids=lambda how: how.__name__)
def test_no_failing_step_tells_a_value(told, data, monkeypatch, step, how):
    where, name = STEPS[step]
    tables = (
        as_csv(data),
        ROWS,
        pd.DataFrame(ROWS),
        as_parquet(data),
        pl.LazyFrame(ROWS),
        as_json_lines(data),
        as_workbook(data),
    )
    monkeypatch.setattr(where, name, how)
    for table in tables:
        told.run(table, LETTERS)


def test_a_lazy_frame_that_fails_tells_nothing(told):
    def step(_):
        raise ValueError(CANARY)

    told.run(pl.LazyFrame(ROWS).map_batches(step, schema={"x": pl.String, "y": pl.String, "who": pl.String}), LETTERS)
    told.run(pl.LazyFrame(ROWS).with_columns(x=pl.col("x").str.to_integer(strict=True)), NUMBERS)
    told.run(pl.LazyFrame(ROWS).with_columns(x=pl.col("x").str.to_date("%Y", strict=True)), DAYS)


def test_damaged_files_tell_nothing(told, data):
    packed = as_csv(data, name="x.csv.gz")
    whole = packed.read_bytes()
    for damaged in (
        whole[:-1],
        whole[:-9],
        whole[: len(whole) // 2],
        whole[:30],
        whole[:50] + b"\xff" * 9 + whole[59:],
        whole + b"junk",
    ):
        packed.write_bytes(damaged)
        told.run(packed, LETTERS)


DAMAGE = """
import sys
from pathlib import Path
from dawa import Axis
from helpers.reading import outcome
path = Path(sys.argv[1])
whole = path.read_bytes()
for place in range(4, len(whole), max(len(whole) // 60, 1)):
    path.write_bytes(whole[:place] + bytes([255, 0, 255]) + whole[place + 3 :])
    print(outcome(path, Axis.ordered("x", ["A", "B"])), flush=True)
path.write_bytes(whole[: len(whole) // 2])
print(outcome(path, Axis.ordered("x", ["A", "B"])))
"""


@pytest.mark.long
@pytest.mark.parametrize("make", [as_parquet, lambda folder: as_arrow(folder, "x")], ids=["Parquet", "Arrow"])
def test_damaged_files_with_a_schema_tell_nothing_and_do_not_end_the_process(data, make):
    """In a process of its own: some damage has made libraries read where nothing is."""
    command_line = [sys.executable, "-c", DAMAGE, str(make(data))]
    here = os.pathsep.join((str(Path(__file__).parents[1]), *sys.path))
    ran = subprocess.run(  # noqa: S603  ourselves
        command_line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": here}, check=False
    )
    assert CANARY not in ran.stdout + ran.stderr
    assert ran.returncode == 0, ran.stderr[-500:]


def test_a_reservation_that_fails_tells_nothing(told, data, monkeypatch):
    monkeypatch.setattr(
        type(told.book), "reserve", lambda *_, **__: (_ for _ in ()).throw(dawa.errors.LedgerError("no", "no"))
    )
    for table in (as_csv(data), ROWS, as_parquet(data)):
        told.run(table, LETTERS)


# --- the command line -----------------------------------------------------------------------------------------------


@pytest.mark.long_but(6)
@pytest.mark.parametrize(
    "flags",
    [
        ("--range", "0:10"),
        ("--range", "2013-01-01..2014-01-01"),
        ("--range", "2013-01-01..2014-01-01", "--date-format", "%Q"),
        ("--range", "2013-01-01..2014-01-01", "--date-format", "%d.%m.%Y"),
        ("--values", "A,B"),
        ("--values", "A,B", "--delimiter", ";"),
        ("--values", "A,B", "--header", "x,y,who"),
        ("--values", "A,B", "--encoding", "utf-16"),
        ("--values", "A,B", "--unit", "who"),
        ("--values", "A,B", "--unit", "absent"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "make",
    [as_csv, without_header, as_parquet, as_arrow, as_json_lines, as_workbook],
    ids=lambda make: make.__name__,
)
def test_the_command_line_tells_no_value(told, data, monkeypatch, make, flags):
    monkeypatch.chdir(told.folder)
    path = make(data)
    asked = (
        "release",
        path,
        "--column",
        "x",
        *flags,
        "--epsilon",
        "1",
        "--ledger",
        "ledger.db",
        "--dataset",
        "hr",
        "--out",
        "out",
    )
    ran = command(*asked)
    told.check(ran.out, ran.err)
    assert CANARY.encode() not in b"".join(one.read_bytes() for one in Path("out").rglob("*") if one.is_file())
    again = command("ledger", "show", "--ledger", "ledger.db", "--json") if ran.code == 0 else ran
    told.check(again.out, again.err)


# --- the test can fail ----------------------------------------------------------------------------------------------


def test_control_a_canary_is_noticed(told):
    with pytest.raises(AssertionError):
        told.check(f"so many of {CANARY}")
    (told.folder / "note.txt").write_text(CANARY, encoding="utf-8")
    with pytest.raises(AssertionError):
        told.check()
