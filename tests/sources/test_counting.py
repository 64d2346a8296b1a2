"""Tables of every kind become counts inside their engine; what is none is refused in a sentence."""

from datetime import UTC, datetime
from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import dawa
from dawa import Axis, sources
from dawa.errors import AxisError, OptionError, SourceError
from dawa.sources import engines
from helpers.binning import found
from helpers.nasty import HOSTILE

X = Axis("x", 0, 10)


# --- tables of every kind -------------------------------------------------------------------------------------------

PEOPLE = {"x": [1, 2, 2, None, 50], "name": ["a", "b", None, "d", "e"], HOSTILE: [9, 9, 1, 1, None]}
COUNTED = {1: 1, 2: 2, 9: 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same people in files of every format."""
    place, arrow = tmp_path_factory.mktemp("people [1]"), pa.table(PEOPLE)
    pyarrow.parquet.write_table(arrow, place / "people.parquet")
    (place / "parts").mkdir()
    for part in range(2):
        pyarrow.parquet.write_table(arrow.slice(part * 3, 3), place / "parts" / f"part-{part}.parquet")
    pyarrow.feather.write_feather(arrow, place / "people.feather")
    with pa.ipc.new_file(place / "people.arrow", arrow.schema) as file:
        file.write_table(arrow)
    frame = arrow.to_pandas()
    frame.to_csv(place / "people.csv", index=False)
    frame.to_csv(place / "people.tsv", index=False, sep="\t")
    frame.to_csv(place / "people.csv.gz", index=False)
    (place / "empty").mkdir()
    (place / "broken.parquet").write_text("no Parquet 4711")
    (place / "broken.arrow").write_text("no Arrow 4711")
    for ending in ("xlsx", "xls", "ods", "sas7bdat"):
        (place / f"people.{ending}").write_text("x 4711")
    return place


@pytest.mark.long_but(4)
@pytest.mark.parametrize(
    "name",
    [
        "people.parquet", "parts", "parts/*.parquet", "people.feather", "people.arrow", "people.csv", "people.tsv",
        "people.csv.gz",
    ],
)  # fmt: skip
def test_files(folder, name):
    path = folder / name
    if "*" not in name:
        assert found(path, X) == COUNTED
        assert found(path, Axis(HOSTILE, 0, 10)) == {1: 2, 9: 2}
        assert found(path, X, Axis.ordered("name", ["a", "b", "e"])) == {3: 1, 7: 1, 29: 1}
        assert found(path, X, unit="name", max_rows_per_unit=1) == {1: 1, 2: 1, 9: 1}
    else:
        assert found(str(path).replace("[1]", "[[]1]"), X) == COUNTED


@pytest.mark.long_but(5)
@pytest.mark.parametrize(
    "make",
    [
        lambda: PEOPLE,
        lambda: {name: np.array(values, object) for name, values in PEOPLE.items()},
        lambda: {"x": pd.Series(PEOPLE["x"]), "name": pl.Series(PEOPLE["name"]), HOSTILE: pa.array(PEOPLE[HOSTILE])},
        lambda: pa.table(PEOPLE),
        lambda: pa.table(PEOPLE).to_batches()[0],
        lambda: pd.DataFrame(PEOPLE),
        lambda: pd.DataFrame(PEOPLE).convert_dtypes(),
        lambda: pl.DataFrame(PEOPLE),
        lambda: pl.DataFrame(PEOPLE).lazy(),
        lambda: ibis.memtable(pa.table(PEOPLE)),
        lambda: ibis.memtable(pa.table(PEOPLE)).filter(ibis._.x > 0),
    ],
)
def test_tables_in_memory(make):
    assert found(make(), X) == COUNTED
    assert found(make(), Axis(HOSTILE, 5, 10)) in ({0: 2, 4: 2}, {0: 1, 4: 2})
    assert found(make(), X, unit="name", max_rows_per_unit=1) == {1: 1, 2: 1, 9: 1}


def test_tables_of_ibis():
    backend = ibis.duckdb.connect()
    with engines.quietly():
        table = backend.create_table("people", pa.table(PEOPLE))
    assert found(table, X) == COUNTED
    assert found(table.filter(table.x < 2), X) == {1: 1}
    backend.disconnect()
    with pytest.raises(SourceError, match="has no engine"):
        found(ibis.table({"x": "int64"}, name="people"), X)


def test_a_csv_file_with_words_for_missing_values(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        "x,when,unit\n1,2013-01-01 00:00,7\nNA,2013-01-02 05:00,8\n2.5,,9\nnan,NA,\n1e3,2013-01-01 00:30,7\n"
    )
    assert found(path, X) == {1: 1, 2: 1, 9: 1}
    assert found(path, Axis.dates("when", "2013-01-01", "2013-01-03", "1h")) == {0: 2, 29: 1}
    assert found(path, X, unit="unit") in ({1: 1, 2: 1}, {9: 1, 2: 1})


def test_a_csv_file_that_changes_its_mind(tmp_path):
    """A late word in a column of numbers or dates is a missing value: an error would tell of it."""
    path = tmp_path / "x.csv"
    path.write_text("x,y\n" + "5,1\n" * 50_000 + "late4711,1\n" + "7.5,1\n")
    assert found(path, X) == {5: 50_000, 7: 1}
    path.write_text("x,when\n" + "5,2013-01-01\n" * 50_000 + "5,late4711\n")
    assert found(path, Axis.dates("when", "2013-01-01", "2014-01-01")) == {0: 50_000}


def test_a_csv_file_without_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x,y\n")
    assert found(path, X) == {}
    path.write_text("x,y\n,1\n,2\n")
    assert found(path, X) == {}
    path.write_text("x,y\n18446744073709551615,1\n0,2\n")
    assert found(path, Axis("x", 2**64 - 3, 2**64)) == {0: 1, 2: 1}


# --- PostgreSQL's own -----------------------------------------------------------------------------------------------


def test_postgres_by_address(postgres):
    import psycopg  # noqa: PLC0415  only here

    with psycopg.connect(postgres) as connection:
        connection.execute("drop table if exists oddities")
        connection.execute(
            "create table oddities as select * from (values"
            " (1, 'NaN'::numeric, 'infinity'::timestamp, 'infinity'::date, 'infinity'::timestamptz),"
            " (2, 'Infinity', '-infinity', '-infinity', '-infinity'), "
            " (3, '-Infinity', '2013-01-01', '2013-01-02', null))"
            " v(x, n, t, d, z)"
        )
    base, _, query = postgres.partition("?")
    address = f"{base}?{query}#oddities"
    assert found(address, X) == found(f"{address.replace('#', '#public.')}", X) == {1: 1, 2: 1, 3: 1}
    assert found(address.replace("postgresql://", "postgres://"), X) == {1: 1, 2: 1, 3: 1}
    assert found(address, Axis("n", 0, 5)) == {0: 1, 4: 1}
    assert found(address, Axis("n", 0, 5, outside="drop")) == {}
    for column, zone in (("t", None), ("d", None), ("z", "UTC")):
        axis = Axis.dates(column, "2013-01-01", "2013-02-01", zone=zone)
        assert set(found(address, axis)) == {0, 30} | ({1} if column == "d" else set())
    assert found(sources.table(postgres, "oddities"), X) == {1: 1, 2: 1, 3: 1}
    with pytest.raises(SourceError, match="no table 'nobody'") as caught:
        found(sources.table(postgres, "nobody"), X)
    assert "oddities" in caught.value.hint
    with pytest.raises(SourceError, match="in the schema 'nowhere'"):
        found(sources.table(postgres, "oddities", "nowhere"), X)
    with pytest.raises(SourceError, match="does not let this user"):
        found(sources.table(postgres.replace("/postgres?", "/nobody?"), "oddities"), X)
    with pytest.raises(AxisError, match="name one of its columns in the axis: x, n, t, d, z"):
        found(address, Axis("y", 0, 1))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@127.0.0.1:1/db#people",
        "postgresql://me:s3cret@127.0.0.1:1/db",
        "postgresql://me:s3cret@[broken/db#people",
        "postgres://me:s3cret@127.0.0.1:notaport/db#people",
        "mysql://me:s3cret@127.0.0.1/db#people",
        "postgresql://me:s3cret@127.0.0.1:1/db#.people",
    ],
)
def test_no_error_tells_a_password(address):
    with pytest.raises(SourceError, match="Hint:") as caught:
        found(address, X)
    shown = f"{caught.value} {caught.value.__cause__} {sources.table(address, 'people')!r}"
    assert "s3cret" not in shown


# --- what is not a table, or does not fit ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing.csv", "There is no file"),
        ("*.nothing", "There is no file"),
        ("empty", "holds no Parquet file"),
        ("people.xlsx", "is not an Excel workbook"),
        ("people.sas7bdat", "does not name a format"),
        ("people.xls", "an old Excel workbook, which dawa does not read"),
        ("people.ods", "an OpenDocument sheet, which dawa does not read"),
        ("broken.parquet", "could not be read as Parquet"),
        ("broken.arrow", "could not be read as Arrow"),
    ],
)
def test_files_that_are_none(folder, name, says):
    with pytest.raises(SourceError, match=says) as caught:
        found(folder / name, X)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    "table",
    [None, 5, [1, 2], np.zeros((3, 2)), ibis.memtable(pa.table(PEOPLE)).x, pa.array([1]), {"x": 5}, {"x": "4711"},
     {"x": np.zeros((2, 2))}, {"x": [1], "name": [1, 2]}, {"x": {1, 2}}, b"people.csv", pd.Series([4711], name="x"),
     pl.Series("x", [4711]), {"x": np.array(["2013"], "M8[Y]")}, {"x": np.array([1], complex)}],
    ids=lambda table: type(table).__name__,
)  # fmt: skip
def test_what_is_no_table_is_refused(table):
    with pytest.raises((SourceError, AxisError), match="Hint:") as caught:
        found(table, X, unit="name" if isinstance(table, dict) and "name" in table else None)
    assert "Traceback" not in str(caught.value)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    ("axis", "says"),
    [
        (Axis("y", 0, 1), "no column 'y'"),
        (Axis("flag", 0, 1), "holds true and false"),
        (Axis("when", 0, 1), "times without a time zone, but the axis counts numbers"),
        (Axis("half", 0, 1), "float16"),
        (Axis("list", 0, 1), "array<int64>"),
        (Axis.dates("x", "2013-01-01", "2014-01-01"), "but the axis counts dates or times"),
        (Axis.dates("aware", "2013-01-01", "2014-01-01"), "with a time zone, but the axis has no time zone"),
        (Axis.dates("when", "2013-01-01", "2014-01-01", zone="UTC"), "but the axis has the time zone UTC"),
        (Axis.ordered("x", [True, False]), "the axis lists booleans"),
        (Axis.ordered("when", ["A"]), "but the axis lists text"),
        (Axis.dates("when", "0100-01-01", "1900-01-01", "1 month"), "change their length more than"),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_their_axis_are_refused(axis, says):
    stamp = datetime(2013, 1, 1, tzinfo=UTC)
    table = pa.table(
        {
            "x": [1],
            "text": ["secret4711"],
            "flag": [True],
            "when": pa.array([stamp.replace(tzinfo=None)]),
            "aware": pa.array([stamp], pa.timestamp("us", "UTC")),
            "half": pa.array(np.array([1], np.float16)),
            "list": [[1]],
        }
    )
    with pytest.raises(AxisError, match=says) as caught:
        found(table, axis)
    assert "4711" not in str(caught.value)


def test_a_missing_column_is_answered_with_those_there_are():
    with pytest.raises(AxisError, match="no column 'age'") as caught:
        found({"years": [1], HOSTILE: [2]}, Axis("age", 0, 1))
    assert "years" in caught.value.hint
    with pytest.raises(AxisError, match="no column 'person'") as caught:
        found({"x": [1]}, X, unit="person")
    assert "unit=" in caught.value.hint


def test_names_in_an_address():
    assert sources.table("postgresql://h/db", "a.b c", "s") == sources.Table("postgresql://h/db", "a.b c", "s")
    assert sources.table("postgresql://h/db#s.a%2Eb%20c") == sources.Table("postgresql://h/db", "a.b c", "s")
    for name in ("", 5, None):
        with pytest.raises(SourceError, match="Hint:"):
            sources.table("postgresql://h/db", name)


@pytest.mark.parametrize(
    "wrong",
    [{"max_rows_per_unit": 2}, {"unit": "p", "max_rows_per_unit": 0}, {"unit": "p", "max_rows_per_unit": 1.5},
     {"unit": "p", "max_rows_per_unit": True}, {"unit": "p", "max_rows_per_unit": None}, {"unit": 5}, {"unit": ""},
     {"unit": [], "max_rows_per_unit": 1}, {"unit": ["p", "p"], "max_rows_per_unit": 1}, {"unit": "p"},
     {"unit": ["p", 5], "max_rows_per_unit": 1}, {"unit": "p", "max_rows_per_unit": "many"},
     {"unit": "p", "max_rows_per_unit": "0%"}, {"unit": "p", "max_rows_per_unit": "100%"},
     {"unit": "p", "max_rows_per_unit": "3"}, {"max_rows_per_unit": "auto"}],
)  # fmt: skip
def test_what_is_no_unit_is_refused(wrong):
    with pytest.raises(OptionError, match="Hint:"):
        dawa.release({"x": [1], "p": [1]}, X, epsilon=1, **wrong)


@pytest.mark.parametrize("unit", ["", [], (), ["p", ""]])
def test_an_empty_unit_is_not_every_record(unit):
    with pytest.raises(OptionError, match="The unit is empty"):
        dawa.release({"x": [1], "p": [1]}, X, epsilon=1, unit=unit)


def test_the_embedded_engine_prints_nothing_and_spills_into_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with engines.embedded() as backend:
        settings = "select current_setting('enable_progress_bar'), current_setting('temp_directory')"
        bar, folder = backend.con.execute(settings).fetchall()[0]
    assert bar is False
    assert folder.startswith(str(tmp_path))


@pytest.mark.long
def test_a_notebook_without_widgets_makes_a_release():
    """There DuckDB refuses every word about its bar. In a real kernel, because only that is one for DuckDB."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cell = 'import dawa\ndawa.release({"x": [1, 2, 3]}, dawa.Axis("x", 0, 10), epsilon=1).total.confidence'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    quiet = ["--IPKernelApp.log_level=ERROR"]
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", extra_arguments=quiet).execute()
    assert notebook.cells[0].outputs[-1]["data"]["text/plain"] == "0.95"


def test_nothing_is_left_behind(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    sources.counted(folder / "people.csv", (X,))
    assert list(Path(tmp_path).iterdir()) == []
