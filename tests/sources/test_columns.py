"""Every kind of column on every kind of axis, in DuckDB, against counting by hand."""

import math
from datetime import UTC, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import Axis, Counts, sources
from dawa.errors import AxisError
from helpers.axes import dated, edged, numbered
from helpers.binning import everything, expected, found
from helpers.examples import examples

ENGINE = examples(40)
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
X = Axis("x", 0, 10)


# --- columns of numbers, against the twin ---------------------------------------------------------------------------


@ENGINE
@given(numbered() | edged(), st.sampled_from(INTEGERS), st.data())
def test_integers(axis, kind, data):
    limits = np.iinfo(kind)
    near = st.integers(max(limits.min, -500), min(limits.max, 500))
    values = data.draw(st.lists(near | st.integers(limits.min, limits.max), max_size=30))
    assert everything({"x": np.array(values, kind)}, axis) == expected((axis,), values)


@pytest.mark.long
@ENGINE
@given(numbered() | edged(), st.sampled_from([np.float32, np.float64]), st.data())
def test_floats(axis, kind, data):
    near = st.floats(-500, 500, width=32 if kind is np.float32 else 64)
    anything = st.floats(width=32 if kind is np.float32 else 64)
    borders = [kind(float(axis.start)), kind(float(axis.stop)), np.nextafter(kind(float(axis.stop)), kind(-np.inf))]
    values = data.draw(st.lists(near | anything | st.sampled_from(borders), max_size=30))
    values = [kind(value) for value in values]
    assert everything({"x": np.array(values, kind)}, axis) == expected((axis,), values)


@pytest.mark.long
@ENGINE
@given(numbered() | edged(), st.integers(0, 12), st.data())
def test_decimals(axis, digits, data):
    most = 10 ** (digits + 6) - 1
    drawn = data.draw(st.lists(st.integers(-most, most) | st.integers(-1000, 1000), max_size=30))
    values = [Decimal(number).scaleb(-digits) for number in drawn]
    column = pa.array(values, pa.decimal128(digits + 6, digits))
    assert everything({"x": column}, axis) == expected((axis,), values)


@pytest.mark.long_but(8)
@pytest.mark.parametrize("outside", ["clip", "drop"])
@pytest.mark.parametrize(
    ("start", "step", "kind"),
    [
        (2**60, 1, np.int64),
        (1_700_000_000_000_000_000, 1000, np.int64),
        (-(2**63), 3, np.int64),
        (-(2**63) - 45, 3, np.int64),
        (2**63 - 31, 1, np.uint64),
        (2**64 - 31, 1, np.uint64),
        (2**64 - 31, 3, np.uint64),
        (100, 1, np.int8),
        (-5, 1, np.uint8),
        (-500, 1, np.uint8),
        (500, 1, np.uint8),
        (-(2**62), 2**58, np.int64),
        (0, 2**58, np.uint64),
    ],
)
def test_integers_beyond_the_precision_of_floats(start, step, kind, outside):
    """Nanoseconds since 1970 have 19 digits; floats have 16."""
    axis = Axis("x", start, start + 30 * step, step, outside)
    limits = np.iinfo(kind)
    near = [start + 30 * step * i // 60 + j for i in range(-5, 70) for j in (-1, 0, 1)]
    values = [v for v in [*near, limits.min, limits.max] if limits.min <= v <= limits.max]
    assert everything({"x": np.array(values, kind)}, axis) == expected((axis,), values)


def test_an_axis_wider_than_64_bits_is_refused():
    decimals = pa.array([Decimal(1)], pa.decimal128(38, 0))
    with pytest.raises(AxisError, match="64 bits"):
        found({"x": decimals}, Axis("x", -(2**70), 2**70, 2**30))
    for axis in (Axis("x", -(2**63), 2**63, 2**20), Axis("x", -(2**70), 2**70, 2**30)):
        assert found({"x": np.array([1])}, axis) == {axis.size // 2: 1}


@pytest.mark.long_but(4)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("start", "step", "size"),
    [(0, "0.1", 1000), ("-1.7", "0.1", 500), (0, "0.01", 5000), ("0.05", "1/3", 300), (-3, "0.25", 99), (0, 1, 50)],
)
def test_a_float_on_a_border_belongs_to_the_cell_that_begins_there(start, step, size, kind):
    axis = Axis("x", start, Fraction(start) + size * Fraction(step), step)
    borders = np.array([float(axis.start + i * axis.step) for i in range(size + 1)])
    np.testing.assert_array_equal(axis.value(np.arange(size + 1)), borders)
    on = borders[:-1].astype(kind)
    assert found({"x": on}, axis) == dict.fromkeys(range(size), 1)
    assert found({"x": np.nextafter(on[1:], kind(-np.inf))}, axis) == dict.fromkeys(range(size - 1), 1)


def test_floats_on_the_finest_axis_that_they_tell_apart():
    """A third of a step between two floats is the limit that the proof in the code needs."""
    start, step = 2.0**52, Fraction(3)
    axis = Axis("x", int(start) + Fraction(1, 7), int(start) + Fraction(1, 7) + 300, step)
    values = start + np.arange(-5, 310, dtype=np.float64)
    with pytest.raises(AxisError, match="do not tell the cells"):
        found({"x": values}, axis)
    axis = Axis("x", int(start) + Fraction(1, 2), int(start) + Fraction(1, 2) + 300, step)
    with pytest.raises(AxisError, match="do not tell the cells"):
        found({"x": values}, axis)
    axis = Axis("x", 2**52 // 10, 2**52 // 10 + 300, "0.3")
    values = float(2**52 // 10) + np.arange(-100, 3100) / 10
    assert everything({"x": values}, axis) == expected((axis,), values.tolist())
    axis = Axis("x", 2**60, 2**60 + 2**20, 2**10)
    values = 2.0**60 + np.arange(-(2**11), 2**20 + 2**11, 2**8).astype(np.float64)
    assert everything({"x": values}, axis) == expected((axis,), values.tolist())


@pytest.mark.parametrize(
    ("axis", "kind"),
    [
        (Axis("x", 2**52, 2**52 + 3, "0.25"), np.float64),
        (Axis("x", 0, 1000, "0.0001"), np.float32),
        (Axis("x", 0, 10**40, 10**30), np.float32),
        (Axis.edges("x", [0, "1e-60", "1e-59"]), np.float32),
        (Axis.edges("x", [1, "1.00000000000000000001"]), np.float64),
    ],
)
def test_cells_that_floats_do_not_tell_apart_are_refused(axis, kind):
    with pytest.raises(AxisError, match="coarser step"):
        found({"x": np.array([1], kind)}, axis)


# --- dates, categories, several axes --------------------------------------------------------------------------------


@pytest.mark.long
@ENGINE
@given(dated(), st.data())
def test_times(axis, data):
    spread = (axis.stop - axis.start) // timedelta(microseconds=1)
    offsets = st.integers(-spread, 2 * spread).map(lambda part: axis.start + timedelta(microseconds=part))
    values = data.draw(st.lists(offsets | st.none() | st.just(axis.start) | st.just(axis.stop), max_size=20))
    zone = "Europe/Berlin" if axis.zone else None
    values = [value.astimezone(UTC) if value and axis.zone else value for value in values]
    column = pa.array(values, pa.timestamp("us", zone))
    assert everything({"x": column}, axis) == expected((axis,), values)


@ENGINE
@given(dated(), st.data())
def test_dates(axis, data):
    if axis.zone is not None:
        return
    days = st.dates(axis.start.date() - timedelta(days=9), axis.stop.date() + timedelta(days=9))
    values = data.draw(st.lists(days | st.dates() | st.none(), max_size=20))
    assert everything({"x": pa.array(values, pa.date32())}, axis) == expected((axis,), values)


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns"])
def test_times_of_every_unit(unit):
    """Nanoseconds are cut off, not rounded, before 1970 too."""
    axis = Axis.dates("x", "1969-12-31", "1970-01-02", "12 hours", outside="drop")
    values = np.array([-49, -2, -1, 0, 1, 25, 47, 10**6], f"M8[{unit}]")
    values = np.concatenate((values, np.array(["1969-12-31T12:00", "1970-01-01T11:59:59"], f"M8[{unit}]")))
    assert everything({"x": values}, axis) == expected((axis,), values.tolist() if unit != "ns" else list(values))


@pytest.mark.long
def test_nanoseconds_at_the_ends_of_their_line():
    values = np.array([-(2**63) + 10**9, 2**63 - 10**9, -1, 999, 1000, 0], "M8[ns]")
    for axis in (
        Axis.dates("x", "1600-01-01", "2300-01-01", "1 day"),
        Axis.dates("x", "1969-12-31 23:59:59.999990", "1970-01-01 00:00:00.000010", "1us", None, "drop"),
    ):
        assert everything({"x": values}, axis) == expected((axis,), list(values))


def test_categories_of_every_type():
    assert found({"x": ["A", "c", None, "B", "A"]}, Axis.ordered("x", ["A", "B"])) == {0: 2, 1: 1}
    assert found({"x": [3, 1, None, 2, 1]}, Axis.ordered("x", [1, 3])) == {0: 2, 1: 1}
    assert found({"x": [3, 1, None, 2, 1]}, Axis.ordered("x", ["1", "3"])) == {0: 2, 1: 1}
    assert found({"x": [3.0, 1, math.nan, 2.5, 1]}, Axis.ordered("x", [1, 3])) == {0: 2, 1: 1}
    assert found({"x": [True, None, False, True]}, Axis.ordered("x", [True, False])) == {0: 2, 1: 1}
    assert found({"x": [True, None, False, True]}, Axis.ordered("x", ["false", "true"])) == {0: 1, 1: 2}
    frame = pd.DataFrame({"x": pd.Categorical(["A", "B", None, "A"])})
    assert found(frame, Axis.ordered("x", ["A", "B"])) == {0: 2, 1: 1}


@pytest.mark.long
@ENGINE
@given(st.lists(st.tuples(st.integers(-3, 12), st.sampled_from(["A", "B", "?"]), st.floats(-2, 2)), max_size=30))
def test_several_axes_are_numbered_row_by_row(rows):
    axes = (Axis("a", 0, 9, 3), Axis.ordered("b", ["B", "A"]), Axis("c", -1, 1, "0.5", "drop"))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    table = {"a": np.array(columns[0], np.int64), "b": pa.array(columns[1], pa.string()), "c": np.array(columns[2])}
    assert everything(table, *axes) == expected(axes, *columns)


def test_counts_of_a_huge_domain_are_sparse():
    axes = tuple(Axis(name, 0, 2**31) for name in "ab")
    counts = sources.counted({"a": [0, 2**31 - 1, 5], "b": [0, 2**31 - 1, 6]}, axes)
    assert isinstance(counts, Counts)
    assert counts.size == 2**62
    assert counts.exposed.counts.tolist() == [1, 1, 1]


def test_columns_without_rows():
    assert found({"x": np.array([], np.int64)}, X) == {}
    assert found({"x": pa.array([None, None], pa.float64())}, X) == {}
    assert found({"x": [7]}, X) == {7: 1}
    for axis in (X, Axis.dates("x", "2013-01-01", "2014-01-01"), Axis.ordered("x", ["A"])):
        assert found({"x": []}, axis) == found({"x": [None]}, axis) == {}
    assert found({"x": [1, 2], "who": [None, None]}, X, unit="who") == {}
    assert sources.counted({"x": np.array([], np.int64)}, (X,)).exposed.cells.tolist() == []
