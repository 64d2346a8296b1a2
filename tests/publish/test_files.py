"""Answers and synthetic rows as files that other tools read, with the types of the axes."""

import csv
import json
from datetime import datetime
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dawa
from dawa.errors import FolderError, OptionError
from dawa.publish import files, parquet, tables
from dawa.spec import ranges

BERLIN = ZoneInfo("Europe/Berlin")
AXES = {
    "numbers": (dawa.Axis("x", 0, 120), "18:65", pa.float64(), (18.0, 65.0)),
    "thirds": (dawa.Axis("x", 0, 3, step="1/3"), "1/3..", pa.float64(), (1 / 3, 3.0)),
    "edges": (dawa.Axis.edges("x", [0, 18, 65]), ":18", pa.float64(), (0.0, 18.0)),
    "categories": (dawa.Axis.ordered("x", ["A", "B, or so", "C"]), "B, or so:", pa.string(), ("B, or so", "C")),
    "numbers in order": (dawa.Axis.ordered("x", [3, 1, 2]), "1:2", pa.int64(), (1, 2)),
    "flags": (dawa.Axis.ordered("x", [False, True]), "true", pa.bool_(), (True, True)),
    "days": (
        dawa.Axis.dates("x", "2013-01-01", "2014-01-01"),
        "2013-01-05",
        pa.timestamp("us"),
        (datetime(2013, 1, 5), datetime(2013, 1, 6)),  # noqa: DTZ001  the axis has no zone
    ),
    "a zone": (
        dawa.Axis.dates("x", "2013-01-01", "2014-01-01", step="1 hour", zone="Europe/Berlin"),
        "2013-10-27",
        pa.timestamp("us", "Europe/Berlin"),
        (datetime(2013, 10, 27, tzinfo=BERLIN), datetime(2013, 10, 28, tzinfo=BERLIN)),
    ),
}


def answered(axes, *texts):
    table = {axis.column: ["1"] * 50 for axis in axes}
    release = dawa.release(table, axes, epsilon=1, seed=0)
    asked = [ranges.typed(text, axes) for text in texts]
    return release, asked, ranges.answered(release, asked)


@pytest.mark.parametrize("kind", AXES)
def test_ends_have_the_type_of_the_axis(tmp_path, kind):
    axis, text, expected, ends = AXES[kind]
    files.save_answers(tmp_path / "a.parquet", *(found := answered([axis], text, "*")), None)
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.schema.field("from").type == table.schema.field("to").type == expected
    assert (table["from"][0].as_py(), table["to"][0].as_py()) == ends
    assert table["value"].to_pylist() == [answer.value for answer in found[2]]
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names[2:]}
    assert kinds == {**dict.fromkeys(("value", "noise_margin", "bias_bound", "measured", "low", "high"), "double"),
                     "confidence": "double", "remark": "string"}  # fmt: skip


def test_numbers_of_more_than_64_bits_are_text():
    axis = dawa.Axis.ordered("x", [3, 2**70])
    assert parquet.kind(axis) == pa.string()
    assert parquet.value(str(2**70), axis) == str(2**70)


def test_columns_have_the_names_of_the_csv_file(tmp_path):
    axes = (dawa.Axis("age", 0, 120), dawa.Axis.ordered("sex", ["f", "m"]))
    release, (one,), found = answered(axes, "18:65,f")
    labelled = [ranges.Asked(one.lo, one.hi, one.where, (("who", "women"), ("note", "")))]
    files.save_answers(tmp_path / "a.parquet", release, labelled, found, None)
    files.save_answers(tmp_path / "a.csv", release, labelled, found, None)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    (typed,) = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert list(row) == list(typed) == list(tables.answers(release, labelled, found).header)
    assert (typed["who"], typed["note"], typed["age_from"], typed["sex_to"]) == ("women", "", 18.0, "f")
    assert float(row["value"]) == typed["value"] == found[0].value


@pytest.mark.parametrize("kind", ["numbers", "categories", "days", "a zone"])
def test_other_tools_read_it(tmp_path, kind):
    axis, text, _, ends = AXES[kind]
    path = tmp_path / "a.parquet"
    files.save_answers(path, *answered([axis], text), None)
    (lo,) = pd.read_parquet(path)["from"]
    assert lo == ends[0]
    assert pl.read_parquet(path)["from"].to_list() == [ends[0]]
    column = "epoch_us({})" if kind == "a zone" else "{}"
    (found,) = duckdb.read_parquet(str(path)).project(column.format('"from"')).fetchall()
    assert found == ((round(ends[0].timestamp() * 1e6),) if kind == "a zone" else (ends[0],))


def test_a_file_of_json_is_what_machines_are_told(tmp_path):
    files.save_answers(tmp_path / "a.JSON", *answered([AXES["numbers"][0]], "18:65"), {"answers": [1]})
    assert json.loads((tmp_path / "a.JSON").read_text(encoding="utf-8")) == {"answers": [1]}


@pytest.mark.parametrize("name", ["a", "a.xlsx", "a.parquet.gz", "csv", ".csv", "folder/"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(OptionError, match="does not say what to write") as caught:
        files.save_answers(tmp_path / name, *answered([AXES["numbers"][0]], "18:65"), None)
    assert caught.value.hint == "let it end with .csv, .json or .parquet."
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet"])
def test_a_file_is_whole_or_not_there(tmp_path, name):
    found = answered([AXES["numbers"][0]], "18:65")
    (tmp_path / name).write_text("dear to somebody", encoding="utf-8")
    with pytest.raises(FolderError, match="exists already"):
        files.save_answers(tmp_path / name, *found, None)
    assert (tmp_path / name).read_text(encoding="utf-8") == "dear to somebody"
    (tmp_path / name).unlink()
    with pytest.raises((TypeError, AttributeError)):
        files.save_answers(tmp_path / name, found[0], found[1], [object()], object())
    assert not list(tmp_path.iterdir())
    with pytest.raises(FolderError, match="cannot be written: No such file"):
        files.save_answers(tmp_path / "none" / name, *found, None)


# --- synthetic rows -------------------------------------------------------------------------------------------------


def moments(axis, size=200):
    times = pd.Series(pd.to_datetime(["2013-03-31T01:30"] * 90))
    times = times if axis.zone is None else times.dt.tz_localize(axis.zone)
    release = dawa.release(pd.DataFrame({"x": times}), axis, epsilon=1, seed=0)
    return list(release.sampled(size, 1))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("step", ["1 hour", "1 day", "1 month"])
def test_times_are_text_in_csv_and_timestamps_in_parquet(tmp_path, zone, step):
    axis = dawa.Axis.dates("x", "2013-01-01", "2014-01-01", step=step, zone=zone)
    pieces = moments(axis)
    for name in ("rows.csv", "rows.parquet"):
        files.save_rows(tmp_path / name, [axis], pieces)
    (drawn,) = np.concatenate([piece[0] for piece in pieces]).reshape(1, -1).tolist()
    typed = pq.read_table(tmp_path / "rows.parquet")
    assert typed.schema.field("x").type == pa.timestamp("us", zone)
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "x"
    if step == "1 hour":
        assert typed["x"].to_pylist() == drawn
        assert [datetime.fromisoformat(line) for line in lines[1:]] == drawn
    else:
        assert lines[1:] == [str(moment.date()) for moment in drawn]
        assert [moment.date() for moment in typed["x"].to_pylist()] == [moment.date() for moment in drawn]
        assert {moment.time() for moment in typed["x"].to_pylist()} == {datetime.min.time()}


def test_rows_are_written_piece_by_piece(tmp_path):
    axes = (dawa.Axis("age", 0, 100), dawa.Axis("pay", 0, 10, step="0.5"), dawa.Axis.ordered("sex", ["f", "m"]))
    pieces = [(np.arange(3.0), np.arange(3) / 3, np.array(["f", "m", "f"], object))] * 2
    taken = []

    def one_by_one():
        for piece in pieces:
            taken.append(len(list(tmp_path.glob("rows.*"))))
            yield piece

    for name in ("rows.csv", "rows.parquet"):
        files.save_rows(tmp_path / name, axes, one_by_one())
    assert taken == [0, 0, 1, 1], "it has no name before all is written"
    typed = pq.read_table(tmp_path / "rows.parquet")
    assert [str(field.type) for field in typed.schema] == ["int64", "double", "string"]
    assert typed["age"].to_pylist() == [0, 1, 2] * 2
    read = pd.read_csv(tmp_path / "rows.csv")
    assert read["pay"].tolist() == typed["pay"].to_pylist() == [0, 1 / 3, 2 / 3] * 2
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()[:2] == ["age,pay,sex", "0,0.0,f"]
