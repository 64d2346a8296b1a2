"""Axes of up to 2^62 cells, in steps of any size: every engine finds the cell that whole numbers of Python find."""

from collections import Counter
from decimal import Decimal

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import Axis, sources
from dawa.errors import AxisError
from helpers.binning import everything, found
from helpers.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

LEAST, MOST = -(2**63), 2**63 - 1
EDGES = [
    LEAST,
    LEAST + 3,
    LEAST + 4,
    MOST,
    MOST - 4,
    MOST - 5,
    -5,
    -1,
    0,
    1,
    3,
    5,
    2**62,
    -(2**62),
    2**53 + 1,
    2**61 + 1,
]
AXES = [(LEAST, 4), (LEAST, 2**40), (LEAST, 2**62), (LEAST + 1, 6), (0, 2), (0, 3), (-(2**61), 1), (LEAST, 2**10 + 1)]


def axis(start, step, stop=2**63):
    return Axis("x", start, start + min((stop - start) // step, 2**62) * step, step)


def cells(one, values):
    start, step = int(one.start), int(one.step)
    return dict(Counter(min(max((value - start) // step, 0), one.size - 1) for value in values))


def some(count=200):
    return EDGES + np.random.default_rng(1).integers(LEAST, MOST, count).tolist()


@pytest.mark.long_but(1)
@pytest.mark.parametrize(("start", "step"), AXES)
def test_whole_numbers_text_and_decimals(start, step):
    one, values = axis(start, step), some()
    wanted = cells(one, values)
    assert found({"x": np.array(values)}, one) == wanted
    assert found({"x": [str(value) for value in values]}, one) == wanted
    decimals = pa.array([Decimal(value) for value in values], pa.decimal128(38, 2))
    assert found({"x": decimals}, one) == wanted


@pytest.mark.long
@examples(15)
@given(st.integers(LEAST, MOST), st.integers(1, 2**20), st.lists(st.integers(LEAST, MOST), min_size=1, max_size=20))
def test_any_step_from_anywhere(start, step, values):
    one = axis(start, step)
    around = [start, start + step, start - 1, start + step - 1, start + 2**62]
    values = [value for value in values + around if LEAST <= value <= MOST]
    assert found({"x": np.array(values)}, one) == cells(one, values)


@pytest.mark.parametrize("step", [4, 6, 2**10])
def test_unsigned_numbers(step):
    one = axis(0, step, 2**64)
    values = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 4, *(value - LEAST for value in some())]
    assert found({"x": np.array(values, np.uint64)}, one) == cells(one, values)


def test_what_no_engine_can_count_is_refused_before_any_row():
    wide = Axis("x", 0, 2**62 * 1000, 1000)
    with pytest.raises(AxisError, match="wider than whole numbers of 64 bits"):
        found({"x": pa.array([1], pa.decimal128(38, 0))}, wide)

    with pytest.raises(AxisError, match="float64"):
        found({"x": np.array([0.5])}, Axis("x", 0, 2**62))


def test_times_of_all_centuries_to_the_microsecond():
    one = Axis.dates("x", "0001-01-02", "9998-12-31", step="1us")
    assert one.size > 2**58
    assert found({"x": ["2020-01-01 00:00:00.000007"]}, one) == {int(one.border("2020-01-01 00:00:00.000007")): 1}
    coarse = Axis.dates("x", "1000-01-01", "9000-01-01", step="3us")
    assert found({"x": ["8999-12-31 23:59:59.999999"]}, coarse) == {coarse.size - 1: 1}


def test_money_is_exact():
    one = Axis("x", 0, 500_000, step="0.01")
    written = ["0.29", "0.57", "1.15", "4.35", "19.999", "0.01", "499999.99", "500000", "-0.01", "0.005", "299999.07"]
    wanted = dict(Counter(min(max(int(Decimal(text) * 100 // 1), 0), one.size - 1) for text in written))
    assert found({"x": written}, one) == wanted
    assert found({"x": np.array(written, float)}, one) == wanted
    assert found({"x": pa.array(map(Decimal, written), pa.decimal128(18, 3))}, one) == wanted
    assert found({"x": [Decimal(text) for text in written]}, one) == wanted


def test_postgres_finds_the_same_cells(postgres):
    values = some()
    with psycopg.connect(postgres) as connection:
        for name, kind in (("wide_i", "bigint"), ("wide_n", "numeric"), ("wide_t", "text")):
            connection.execute(f"drop table if exists {name}")
            connection.execute(f"create table {name} (x {kind})")
            rows = [(str(value) if kind == "text" else value,) for value in values]
            connection.cursor().executemany(f"insert into {name} values (%s)", rows)  # noqa: S608  our own names
    for start, step in AXES:
        one = axis(start, step)
        for name in ("wide_i", "wide_n", "wide_t"):
            assert found(sources.table(postgres, name), one) == cells(one, values)


@pytest.mark.long
def test_spark_finds_the_same_cells(spark):
    values = some()
    whole = spark.createDataFrame([(value,) for value in values], "x bigint").coalesce(1)
    text = spark.createDataFrame([(str(value),) for value in values], "x string").coalesce(1)
    exact = spark.createDataFrame([(Decimal(value),) for value in values], "x decimal(20,0)").coalesce(1)
    for start, step in AXES[::3]:
        one = axis(start, step)
        for table in (whole, text, exact):
            assert found(table, one) == cells(one, values)


@pytest.mark.long
def test_spark_keeps_letters_at_the_ends_of_text(spark):
    """Space around text is ignored; the letters f and v are none."""
    table = spark.createDataFrame([("f",), (" true\x0b",), ("2013-01-05f",), ("2013-01-05 ",)], "x string").coalesce(1)
    assert found(table, Axis.ordered("x", [False, True])) == {0: 1, 1: 1}
    assert found(table, Axis.dates("x", "2013-01-01", "2014-01-01")) == {4: 1}


@pytest.mark.parametrize("value", [2**62 - 1, 2**62, 2**61 - 1, 2**61, 0, -1, 2**30 - 1])
def test_whole_numbers_in_text_are_not_rounded_first(tmp_path, value):
    """Cells that floats tell apart have borders, too, at which floats round up."""
    axis = Axis("x", 0, 2**62, step=2**30, outside="own")
    cell = value // 2**30
    wanted = {("above",): 1} if cell >= axis.size else {("below",): 1} if cell < 0 else {cell: 1}
    (tmp_path / "x.csv").write_text(f"x\n{value}\n")
    for table in ({"x": [str(value)]}, str(tmp_path / "x.csv"), {"x": np.array([value], np.int64)}):
        assert everything(table, axis) == wanted
