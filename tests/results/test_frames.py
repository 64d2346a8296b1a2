"""A release in the tables of other libraries."""

import sys
from datetime import datetime

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import dawa
from dawa.errors import InstallationError, OptionError

AGE = dawa.Axis("age", 0, 120)
AXES = {
    "whole": (AGE, pa.int64()),
    "halves": (dawa.Axis("age", 0, 120, step="0.5"), pa.float64()),
    "huge": (dawa.Axis("age", 0, 2**62), pa.int64()),
    "numbers in order": (dawa.Axis.ordered("age", [30, 10, 20]), pa.int64()),
    "flags": (dawa.Axis.ordered("age", [False, True]), pa.bool_()),
    "categories": (dawa.Axis.ordered("age", ["10", "20"]), pa.string()),
    "days": (dawa.Axis.dates("age", "2013-01-01", "2014-01-01"), pa.timestamp("us")),
    "a zone": (
        dawa.Axis.dates("age", "2013-01-01", "2014-01-01", zone="Europe/Berlin"),
        pa.timestamp("us", "Europe/Berlin"),
    ),
    "addresses": (dawa.Axis.ipv4("age", "10.0.0.0/8"), pa.string()),
}


@pytest.fixture(scope="module")
def rel():
    return dawa.release({"age": np.arange(4000) % 100}, AGE, epsilon=1, seed=1)


@pytest.fixture(scope="module")
def grid():
    axes = [dawa.Axis("age", 0, 10), dawa.Axis.ordered("sex", ["f", "m"])]
    return dawa.release({"age": np.arange(4000) % 10, "sex": ["f", "m"] * 2000}, axes, epsilon=1, seed=1)


@pytest.fixture(scope="module")
def groups():
    table = {"age": np.arange(900) % 70, "city": ["Rome", "Oslo", "Lima"] * 300}
    return dawa.release(table, AGE, epsilon=1, seed=1, by="city", groups=["Rome", "Oslo"])


@pytest.mark.parametrize("kind", AXES)
def test_arrow_has_the_types_of_the_axis(kind):
    axis, dtype = AXES[kind]
    made = dawa.release({"age": ["10"] * 50}, axis, epsilon=1, seed=0)
    found = made.to_arrow()
    assert found.column_names == ["lo", "hi", "cells", "value", "standard_deviation"]
    assert [found.schema.field(end).type for end in ("lo", "hi")] == [dtype, dtype]
    assert found["value"].to_pylist() == made.values().tolist()
    assert found["lo"].to_pylist() == [
        str(one) if dtype == pa.string() else pd.Timestamp(one).to_pydatetime() if axis.kind == "dates" else one
        for one in made.buckets.lo.tolist()
    ]


def test_all_frames_have_the_same_numbers(rel, grid, groups):
    for release in (rel, grid, groups):
        frames = [
            release.to_pandas(),
            release.to_arrow().to_pandas(),
            release.to_polars().to_pandas(),
            pl.DataFrame(release.to_arrow()).to_pandas(),
            pd.DataFrame.from_arrow(release),
            pa.table(release.to_arrow()).to_pandas(),
            release.to_ibis().to_pyarrow().to_pandas(),
            duckdb.sql("SELECT * FROM release").df(),
        ]
        for frame in frames:
            assert list(frame) == list(frames[0])
            assert frame["value"].tolist() == frames[0]["value"].tolist()
            assert frame.iloc[-1].tolist() == frames[0].iloc[-1].tolist()
        assert frames[0]["value"].sum() == pytest.approx(release.total.value)


def test_polars_and_arrow_read_a_release_itself(rel, grid):
    for release in (rel, grid):
        assert pl.DataFrame(release).equals(release.to_polars())
        assert pa.table(release).equals(release.to_arrow())


def test_frames_of_ranges_have_their_answers(rel, groups):
    found = rel.to_polars([0, 18], [18, 65], confidence=0.9)
    for row, (lo, hi) in zip(found.iter_rows(named=True), [(0, 18), (18, 65)], strict=True):
        answer = rel.answer(lo, hi, 0.9)
        assert (row["lo"], row["hi"], row["value"], row["low"]) == (lo, hi, answer.value, answer.low)
    assert rel.to_arrow([0, "3"], [5, 7])["lo"].to_pylist() == ["0", "3"]
    frame = groups.to_pandas([0, 18], [18, 65])
    assert frame["city"].tolist() == ["Rome", "Rome", "Oslo", "Oslo"]
    assert frame["high"].tolist() == [groups[c].answer(*ends).high for c in groups for ends in ((0, 18), (18, 65))]


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis 12 and DuckDB 2
@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # and pandas 3.1
def test_ibis_takes_a_release_to_other_engines(rel, tmp_path):
    wide = rel.to_ibis().filter(ibis._.cells > 1).value.sum()
    expected = rel.to_pandas().query("cells > 1")["value"].sum()
    for backend in (ibis.duckdb.connect(), ibis.sqlite.connect(tmp_path / "r.db"), ibis.polars.connect()):
        assert backend.to_pyarrow(wide).as_py() == pytest.approx(expected)
        backend.disconnect()


def test_xarray_has_labelled_dimensions(grid):
    found = grid.to_xarray()
    assert dict(found.sizes) == {"age": 10, "sex": 2}
    np.testing.assert_array_equal(found["value"], grid.values())
    np.testing.assert_allclose(found["standard_deviation"] ** 2, grid.variances())
    assert float(found["value"].sel(age=3.5, sex="m")) == pytest.approx(grid.answer((3, "m"), (4, "m")).value)
    assert found["age_lo"].to_numpy().tolist() == list(range(10))
    assert found.attrs["epsilon"] == "1"
    assert found["age"].attrs["long_name"] == "age"
    wide = grid.to_xarray([[0, 5, 10], None])
    assert wide["value"].sel(sex="f").to_numpy().tolist() == pytest.approx(
        [grid.answer((a, "f"), (a + 5, "f")).value for a in (0, 5)]
    )


def test_xarray_has_times_and_addresses_and_groups(groups):
    def made(axis, value):
        return dawa.release({"x": [value] * 50}, axis, epsilon=1, seed=0, partition="none").to_xarray(4)

    days = made(dawa.Axis.dates("x", "2013-01-01", "2013-01-05"), "2013-01-02")
    assert days["x"].to_numpy()[0] == np.datetime64("2013-01-01T12")
    assert float(days["value"].sel(x=slice("2013-01-02", "2013-01-03")).sum()) == pytest.approx(
        float(days["value"][1:3].sum())
    )
    zoned = made(dawa.Axis.dates("x", "2013-01-01", "2013-01-05", zone="Europe/Berlin"), "2013-01-02")
    assert zoned["x_lo"].to_numpy()[0] == np.datetime64(datetime(2012, 12, 31, 23))  # noqa: DTZ001  NumPy has no zones
    assert zoned["x"].attrs["zone"] == "Europe/Berlin"
    nets = made(dawa.Axis.ipv4("x", "10.0.0.0/8", prefix=10), "10.1.1.1")
    assert nets["x"].to_numpy().tolist() == ["10.0.0.0", "10.64.0.0", "10.128.0.0", "10.192.0.0"]
    assert groups.to_xarray([0, 60, 120])["value"].sel(city="Oslo").to_numpy()[0] == pytest.approx(
        groups["Oslo"].answer(0, 60).value
    )
    assert isinstance(nets, xr.Dataset)


def test_dimensions_have_names_of_their_own():
    axes = [dawa.Axis(name, 0, 2) for name in ("value", "x", "x_lo")]
    made = dawa.release({axis.column: [1] * 9 for axis in axes}, axes, epsilon=1, seed=0)
    found = made.to_xarray()
    assert found["value"].dims == ("axis_value", "x", "axis_x_lo")
    assert found["axis_value"].attrs["long_name"] == "value"
    assert made.to_polars().columns[:2] == ["value_lo", "value_hi"]


@pytest.mark.parametrize(("library", "call"), [("polars", "to_polars"), ("xarray", "to_xarray")])
def test_the_error_says_what_to_install(monkeypatch, rel, library, call):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InstallationError, match=r"dawa\[frames\]"):
        getattr(rel, call)()


def test_frames_of_too_many_cells_are_refused():
    axes = [dawa.Axis("x", 0, 2**20), dawa.Axis("y", 0, 2**20)]
    made = dawa.release({"x": [5] * 99, "y": [1] * 99}, axes, epsilon=1, seed=0)
    for call in (made.to_arrow, made.to_ibis, made.__arrow_c_stream__):
        with pytest.raises(OptionError, match="more than the"):
            call()
    assert made.to_xarray(4)["value"].shape == (4, 4)
