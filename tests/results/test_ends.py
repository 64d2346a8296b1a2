"""Many ranges in arrays are what they are one by one."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dawa
from dawa import Axis
from dawa.errors import AxisError, DawaError, OptionError
from dawa.results import ends

AXES = [
    Axis("n", 0, 1000),
    Axis("n", -500, 500, step=10),
    Axis("n", 0, 10, step="0.01"),
    Axis("n", "0.5", "100.5", step="0.25"),
    Axis("n", 0, 1, step="1/3"),
    Axis("n", -(2**61), 2**61),
    Axis("n", "0.0000001", "0.0001", step="0.0000001"),
    Axis("n", 0, 3 * 10**15, step=3),
]


def outcome(read, *arguments):
    """What is read, or the error as it is told."""
    try:
        return read(*arguments)
    except DawaError as error:
        return f"{type(error).__name__}: {error}"


def agree(axes, lo, hi):
    """Whether ranges in arrays are read as they are one by one, errors included."""
    wanted, found = outcome(ends.one_by_one, axes, ends.pairs(lo, hi)), outcome(ends.asked, axes, lo, hi)
    if isinstance(wanted, str):
        assert found == wanted
        return False
    assert (found.lo, found.hi, found.held) == (wanted.lo, wanted.hi, wanted.held)
    assert [type(end) for end in found.lo] == [type(end) for end in wanted.lo]
    for name in ("lo", "hi", "whole"):
        assert np.array_equal(getattr(found.corners, name), getattr(wanted.corners, name)), name
    for one, other in zip(found.corners.line, wanted.corners.line, strict=True):
        assert np.array_equal(one[0], other[0])
        np.testing.assert_allclose(one[1], other[1], rtol=1e-15)
    return True


@pytest.mark.long_but(12)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("kind", [float, np.int64, np.int16, np.uint8, np.float32, "text"])
def test_arrays_of_all_types_are_read_like_single_numbers(axis, kind):
    rng = np.random.default_rng(1)
    cells = np.sort(rng.integers(0, axis.size, (2, 300)), axis=0)
    cells[1] += 1
    lo, hi = ([(axis.start + int(cell) * axis.step) for cell in row] for row in cells)
    lo[:2], hi[:2] = [axis.start] * 2, [axis.stop] * 2
    if kind == "text":
        lo, hi = ([str(end) for end in each] for each in (lo, hi))
    else:
        with np.errstate(invalid="ignore"):
            lo, hi = (np.array([float(end) for end in each]).astype(kind) for each in (lo, hi))
    agree((axis,), lo, hi)


@pytest.mark.parametrize("axis", [*AXES[:4], AXES[5]], ids=str)
def test_whole_numbers_are_read_all_at_once(axis, monkeypatch):
    first, last = int(-(-axis.start // 1)), int(axis.stop // 1)
    lo = np.array([first + i * (last - 1 - first) // 199 for i in range(200)])
    monkeypatch.setattr(ends, "one_by_one", None)
    assert len(ends.asked((axis,), lo, lo + 1).lo) == 200
    assert len(ends.asked((axis,), pd.Series(lo), pd.Series(lo + 1)).lo) == 200
    assert len(ends.asked((axis,), lo.tolist(), (lo + 1).tolist()).lo) == 200


@settings(deadline=None)
@given(st.data(), st.sampled_from(AXES))
def test_any_floats_are_read_like_single_ones(data, axis):
    some = st.one_of(
        st.floats(float(axis.start), float(axis.stop)),
        st.integers(int(axis.start * 10**8), int(axis.stop * 10**8)).map(lambda units: units / 10**8),
        st.integers(int(axis.start), int(axis.stop)).map(float),
        st.floats(),
    )
    lo = np.array(data.draw(st.lists(some, min_size=1, max_size=4)) * 60)
    hi = np.array(data.draw(st.lists(some, min_size=1, max_size=4)) * 60)
    size = min(len(lo), len(hi))
    agree((axis,), lo[:size], hi[:size])


@pytest.mark.parametrize("spoil", [1001, -1, np.nan, np.inf, 0.0])
def test_one_wrong_end_is_named(spoil):
    lo, hi = np.zeros(500), np.arange(500) + 1.0
    hi[377] = spoil
    assert not agree((AXES[0],), lo, hi)


def test_several_axes_and_what_they_hold_besides():
    axes = (Axis("a", 0, 50), Axis("b", 0, 10, step="0.5", outside="own"))
    rng = np.random.default_rng(2)
    lo = np.stack([rng.integers(0, 49, 400), rng.integers(0, 19, 400) / 2], axis=1)
    hi = np.minimum(lo + rng.integers(1, 20, (400, 2)), [50, 10])
    lo[:5], hi[:3] = 0, [50, 10]
    assert agree(axes, lo, hi)


def test_bulk_and_single_answers_are_the_same():
    table = {"n": np.random.default_rng(0).integers(0, 1000, 5000)}
    rel = dawa.release(table, Axis("n", 0, 1000), epsilon=1, seed=0)
    lo = np.arange(0, 900, 3)
    hi = lo + np.arange(len(lo)) % 90 + 1
    single = [rel.answer(int(a), int(b)) for a, b in zip(lo, hi, strict=True)]
    assert rel.answers(lo, hi) == single
    assert rel.answers(lo + 0.5, hi + 0.25)[7] == rel.answer(float(lo[7] + 0.5), float(hi[7] + 0.25))
    frame = rel.to_pandas(lo, hi)
    assert list(frame.columns) == ["lo", "hi", "value", "noise_margin", "bias_bound", "measured", "low", "high"]
    for name in frame.columns:
        assert frame[name].tolist() == [getattr(one, name) for one in single]


def test_a_frame_of_ranges_over_several_axes():
    table = {"a": [1, 2, 3] * 100, "b": [4, 5, 6] * 100}
    rel = dawa.release(table, [Axis("a", 0, 10), Axis("b", 0, 10)], epsilon=1, seed=0)
    frame = rel.to_pandas([(0, 0), (1, 2)], [(10, 10), (5, 5)])
    assert list(frame.columns[:4]) == ["a_lo", "b_lo", "a_hi", "b_hi"]
    assert frame["b_hi"].tolist() == [10, 5]
    assert frame["value"].tolist() == [one.value for one in rel.answers([(0, 0), (1, 2)], [(10, 10), (5, 5)])]


def test_exact_places_of_decimals():
    axis = AXES[2]
    cell, part = axis.places(np.array([0.29, 0.295, 10.0, 0.0]))
    assert cell.tolist() == [29, 29, 1000, 0]
    assert part.tolist() == [0, 0.5, 0, 0]
    assert axis.border(0.295) == Fraction(59, 2)
    assert axis.places(np.array([0.1 + 0.2])) is None, "0.30000000000000004 has more digits than are read at once"


@pytest.mark.parametrize("none", [[], np.array([])])
def test_no_ranges_are_said_to_be_none(none):
    rel = dawa.release({"a": [1, 2, 3] * 100}, Axis("a", 0, 10), epsilon=1, seed=0)
    for ask in (rel.answers, rel.variances, rel.to_pandas):
        with pytest.raises(OptionError, match=r"No range is given\.\nHint: pass at least one"):
            ask(none, none)
        with pytest.raises(OptionError, match="do not have the same length"):
            ask(none, [5])


COLUMNS = {
    "pandas": pd.Series,
    "Polars": pl.Series,
    "Arrow": pa.array,
    "chunks of Arrow": lambda values: pa.chunked_array([pa.array(values)[:3], pa.array(values)[3:]]),
}
"""Columns of other libraries, as they are made of a list."""

AWARE = [datetime(2020, 1, 1 + i % 28, tzinfo=UTC) for i in range(300)]
DAYS = [day.replace(tzinfo=None) for day in AWARE]


@pytest.mark.parametrize("count", [5, 300])
@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(
    ("axis", "lo", "hi"),
    [
        (AXES[0], list(range(300)), list(range(1, 301))),
        (AXES[2], [Decimal(i) / 50 for i in range(300)], [Decimal(i + 1) / 50 for i in range(300)]),
        (Axis.dates("n", "2020-01-01", "2021-01-01"), DAYS, [day + timedelta(days=9) for day in DAYS]),
        (Axis.dates("n", "2020-01-01", "2021-01-01", zone="Asia/Tokyo"), AWARE, [day + timedelta(9) for day in AWARE]),
        (Axis.ordered("n", ["a", "b", "c"]), ["a", "b", "b"] * 100, ["c", "b", "c"] * 100),
        (Axis.ipv4("n"), ["10.0.0.0/8", "1.2.3.4", "::"] * 100, None),
    ],
    ids=["whole", "decimals", "times", "zone", "text", "networks, one wrong"],
)
def test_columns_of_other_libraries_are_read_like_lists(axis, lo, hi, column, count):
    ranges = [None if end is None else end[:count] for end in (lo, hi)]
    wanted, found = (
        outcome(ends.asked, (axis,), *(end if end is None else made(end) for end in ranges)) for made in (list, column)
    )
    if isinstance(wanted, str):
        assert found == wanted
    else:
        assert np.array_equal(found.corners.lo, wanted.corners.lo)
        assert np.array_equal(found.corners.hi, wanted.corners.hi)
        assert found.held == wanted.held


@pytest.mark.parametrize("count", [5, 300])
@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_zone_is_no_more_lost_in_a_column_than_in_a_list(column, count):
    axis = Axis.dates("n", "2020-01-01", "2021-01-01")
    with pytest.raises(AxisError, match="has a time zone, but the axis has none"):
        ends.asked((axis,), column(AWARE[:count]), column([day + timedelta(1) for day in AWARE[:count]]))


@pytest.mark.parametrize("count", [5, 300])
@pytest.mark.parametrize("column", [*COLUMNS.values(), np.ma.array], ids=[*COLUMNS, "masked"])
def test_what_is_missing_or_masked_is_no_end(column, count):
    lo = list(range(count))
    if column is np.ma.array:
        lo = np.ma.array(lo, mask=[i == 3 for i in lo])
    else:
        lo = column([None if i == 3 else i for i in lo])
    with pytest.raises(AxisError, match="is not a finite number"):
        ends.asked((AXES[0],), lo, np.arange(count) + 1)
    unmasked = ends.asked((AXES[0],), np.ma.array(range(count)), np.arange(count) + 1)
    assert unmasked.lo == list(range(count))


@pytest.mark.parametrize("count", [2, 300])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_read_row_by_row(frame, count):
    axes = (Axis("a", 0, 500), Axis("b", 0, 500))
    lo = frame({"a": range(count), "b": [7] * count})
    hi = frame({"a": range(1, count + 1), "b": [8] * count})
    found = ends.asked(axes, lo, hi)
    assert found.corners.lo.tolist() == [[i, 7] for i in range(count)]
    assert found.corners.hi.tolist() == [[i + 1, 8] for i in range(count)]


def test_a_zone_in_a_frame_is_not_lost():
    axes = (Axis.dates("a", "2020-01-01", "2021-01-01"), Axis.dates("b", "2020-01-01", "2021-01-01"))
    for count in (2, 300):
        lo = pl.DataFrame({"a": AWARE[:count], "b": AWARE[:count]})
        with pytest.raises(AxisError, match="has a time zone, but the axis has none"):
            ends.asked(axes, lo, lo)


def test_a_single_number_in_an_array_is_one_end():
    rel = dawa.release({"a": [1, 2, 3] * 100}, Axis("a", 0, 10), epsilon=1, seed=0)
    assert rel.answers(np.array(2), np.array(5)) == rel.answers([2], [5])
