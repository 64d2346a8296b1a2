"""Records that have no cell: each way is counted apart, a record once, and none takes a place of one inside."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis, sources
from dawa.axis.apart import clipped, named, patterns
from dawa.sources import counting
from helpers.axes import dated, edged, numbered
from helpers.binning import everything, expected
from helpers.examples import examples

ordered = st.builds(
    lambda outside, missing: Axis.ordered("c", ["None", "Mild", "Severe"], outside, missing),
    st.sampled_from(["own", "drop"]),
    st.sampled_from(["own", "drop"]),
)
numbers = st.none() | st.integers(-60, 60)
words = st.none() | st.sampled_from(["None", "Mild", "Severe", "severe", "NA", ""])


@pytest.mark.long
@examples(60)
@given(numbered() | edged(), ordered, st.lists(st.tuples(numbers, words), max_size=30))
def test_every_record_is_in_one_place_at_most(axis, categories, rows):
    table = {"x": pa.array([x for x, _ in rows], pa.int64()), "c": pa.array([c for _, c in rows], pa.string())}
    found = everything(table, axis, categories)
    assert found == expected((axis, categories), *zip(*rows, strict=True)) if rows else found == {}
    if {axis.outside, axis.missing, categories.outside, categories.missing} <= {"own", "clip"}:
        assert sum(found.values()) == len(rows), "nobody is left out"


@examples(40)
@given(dated(), st.lists(st.none() | st.dates(min_value=np.datetime64("1850-01-01").item()), max_size=20))
def test_dates_too(axis, days):
    if axis.zone is None:
        assert everything({"x": pa.array(days, pa.date32())}, axis) == expected((axis,), days)


floats = st.none() | st.sampled_from([float("nan"), float("inf"), -0.0, 0.7]) | st.floats(-60, 60)


@pytest.mark.long
@examples(60)
@given(numbered() | edged(), st.lists(floats, max_size=30), st.booleans())
def test_what_has_no_value_is_the_rest_of_a_parquet_file(tmp_path_factory, axis, values, none_missing):
    """DuckDB knows how many rows such a file has; frames are counted row by row."""
    column = pa.array([0.5 if none_missing and (x is None or np.isnan(x)) else x for x in values], pa.float64())
    path = tmp_path_factory.mktemp("rest") / "x.parquet"
    pq.write_table(pa.table({"x": column}), path, row_group_size=7)
    assert everything(path, axis) == everything({"x": column}, axis)
    if axis.missing == "own" and axis.outside != "drop":
        assert sum(everything(path, axis).values()) == len(values)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("values", [[-1, float("nan"), 0, 3], [float("nan"), 1], [1, 0, float("nan"), float("nan")]])
def test_a_parquet_files_statistics_hide_no_nan(tmp_path, kind, values):
    """The least and the largest value of a column are never NaN; an engine that believes them finds none."""
    column, numbers = pa.array(values, kind), pa.array(range(len(values)), pa.int64())
    pq.write_table(pa.table({"x": column, "n": numbers}), tmp_path / "x.parquet")
    stated = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(0).statistics
    assert stated.has_min_max
    assert not np.isnan([stated.min, stated.max]).any()
    table, n = {"x": column, "n": numbers}, Axis("n", 0, 9)
    for axes in ((Axis("x", 0, 4),), (Axis.edges("x", [0, 1, 5], "own"),), (Axis("x", 0, 4, "0.25", "drop"), n)):
        assert everything(tmp_path / "x.parquet", *axes) == everything(table, *axes)
    for where in ("x >= 0", "not x < 2", "x is missing", "x is not missing", "x in (0, 3)"):
        assert everything(tmp_path / "x.parquet", n, where=where) == everything(table, n, where=where), where
    by_unit = everything(tmp_path / "x.parquet", n, unit="x", max_rows_per_unit=9)
    assert by_unit == everything(table, n, unit="x", max_rows_per_unit=9)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.timestamp("us"), pa.decimal128(18, 0)])
def test_nothing_is_concluded_from_a_parquet_files_statistics(tmp_path, kind):
    """Here they are wrong, as old writers' are for some types: the values that they state are those of another file."""
    values, path = [1, 2, 7, 77_777_777], tmp_path / "x.parquet"
    column = pa.array([Decimal(x) for x in values] if pa.types.is_decimal(kind) else values, kind)
    table = {"x": column, "n": pa.array(range(4), pa.int64())}
    pq.write_table(pa.table(table), path, use_dictionary=False)
    data = path.read_bytes()
    rows = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # the footer follows
    stated = [(77_777_777).to_bytes(8, order) for order in ("little", "big")]
    assert any(end in data[rows:] for end in stated)
    patched = data[rows:]
    for end, order in zip(stated, ("little", "big"), strict=True):
        patched = patched.replace(end, (5).to_bytes(8, order))
    path.write_bytes(data[:rows] + patched)
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).statistics is not None
    first = Axis.dates("x", "1970-01-01", "1970-01-02", "1 second") if pa.types.is_timestamp(kind) else Axis("x", 0, 10)
    for axis in (first, replace(first, outside="own"), replace(first, outside="drop")):
        assert everything(path, axis) == everything(table, axis)
    n = Axis("n", 0, 9)
    where = "x >= '1970-01-01 00:01'" if pa.types.is_timestamp(kind) else "x > 6"
    assert everything(path, n, where=where) == everything(table, n, where=where)
    assert sum(everything(path, n, where=where).values()) in {1, 2}


@pytest.mark.long_but(1)
@pytest.mark.parametrize("size", [32_764, 32_765, 32_766, 32_767, 32_768, 40_000])
def test_axes_of_about_as_many_cells_as_small_numbers_have(tmp_path, size):
    values = [-(10**12), -1, 0, 1, size - 2, size - 1, size, 10**12, None, None]
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), tmp_path / "x.parquet")
    for outside in ("clip", "own"):
        axis = Axis("x", 0, size, outside=outside)
        assert everything(tmp_path / "x.parquet", axis) == expected((axis,), values)


def test_places_that_a_dictionary_does_not_have_are_missing():
    for places in ([0, 1, 100], [0, 1, -1], [None, 2, 1]):
        values = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(["1", "2", "3"]), safe=False)
        plain = [None if place is None or not 0 <= place < 3 else str(place + 1) for place in places]
        for axis in (Axis("x", 0, 10), Axis.ordered("x", ["1", "2"])):
            assert everything(pa.table({"x": values}), axis) == everything(pa.table({"x": plain}), axis)


def test_a_misspelt_list_of_categories_can_be_seen():
    table = {"severity": ["None"] * 600 + ["Mild"] * 300 + [None] * 90 + [""] * 10}
    rel = dawa.release(table, Axis.ordered("severity", ["None", "mild"]), epsilon=1, seed=1)
    apart = {kind.label: kind.answer for kind in rel.apart()}
    assert apart["severity not listed"].low <= 300 <= apart["severity not listed"].high
    assert apart["severity missing"].low <= 100 <= apart["severity missing"].high
    right = dawa.release(table, Axis.ordered("severity", ["None", "Mild"]), epsilon=1, seed=1)
    assert right.answer("None", "Mild").value > 850, "a category is no missing value because it is called None"


def test_words_for_missing_values_are_missing_unless_they_are_listed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("c\nNone\nMild\nNA\n\nnull\nodd\n")
    axis = Axis.ordered("c", ["None", "Mild"])
    assert everything(path, axis) == {0: 1, 1: 1, ("missing",): 2, ("unlisted",): 1}, "an empty line is no record"


def test_a_wrong_delimiter_can_be_seen(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("age;x\n" + "31;1\n" * 500)
    with pytest.raises(dawa.AxisError):
        dawa.release(path, Axis("age", 0, 100), epsilon=1)
    path.write_text("age\n" + "31,5\n" * 500)
    rel = dawa.release(sources.csv(path, delimiter=";"), Axis("age", 0, 100), epsilon=1)
    assert rel.apart()[0].answer.value > 450, "31,5 is not a number with a decimal point"


rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(-2, 7), st.integers(0, 10**9)),
    max_size=25,
    unique_by=lambda row: row[2],
)
OWN = Axis("x", 0, 5, outside="own")


def kept(table, most):
    columns = {
        "owner": pa.array([owner for owner, _, _ in table], pa.string()),
        "x": pa.array([x for _, x, _ in table], pa.int64()),
        "key": pa.array([key for _, _, key in table], pa.int64()),
    }
    with counting.source(columns, (OWN, Axis("key", 0, 1)), ("owner",)) as source:
        found = source.fetch(counting.expression(source, (OWN,), ("owner",), most, "key")).to_pylist()
    return Counter({row["cell"]: row["records"] for row in found})


def by_hand(table, most):
    """Unit by unit: rows inside come first."""
    counts = Counter()
    for owner in {row[0] for row in table} - {None}:
        mine = sorted((x is None or not 0 <= x < 5, key, x) for who, x, key in table if who == owner)
        counts.update(x if not out else -3 if x is None else -1 if x < 0 else -2 for out, _, x in mine[:most])
    return counts


@pytest.mark.long
@examples(60)
@given(rows, st.integers(1, 4), st.sampled_from(["a", "b"]))
def test_with_a_unit_records_apart_come_last_and_nobody_else_moves(table, most, who):
    more, fewer = kept(table, most), kept([row for row in table if row[0] != who], most)
    assert more == by_hand(table, most)
    assert not fewer - more
    assert (more - fewer).total() <= most


def test_units_of_several_columns():
    table = {"p": ["a", "a", "a", "b", None], "d": [1, 1, 2, 1, 1], "x": [1, 2, 3, 4, 5]}
    counts = everything(table, Axis("x", 0, 9), unit=["p", "d"])
    assert sum(counts.values()) == 3
    assert counts[3] == counts[4] == 1
    rel = dawa.release(table, Axis("x", 0, 9), epsilon=1, unit=("p", "d"), max_rows_per_unit=2)
    assert "each combination of values in the columns 'p' and 'd'" in str(rel.privacy)
    assert "of at most 2 records of each combination of 'p' and 'd'" in str(rel.answer(1, 5))


def test_names():
    age, grade = Axis("age", 0, 120, outside="own"), Axis.ordered("grade", ["A", "B"])
    when = Axis.dates("when", "2013-01-01", "2014-01-01", outside="own", missing="drop")
    assert [named([age], way) for way in patterns([age])] == ["age below 0", "age from 120 on", "age missing"]
    assert [named([when], way) for way in patterns([when])] == ["when before 2013-01-01", "when from 2014-01-01 on"]
    both = patterns([age, grade])
    assert len(both) == 11
    assert named([age, grade], both[-1]) == "age missing and grade missing"
    assert clipped(Axis("age", 0, 120), first=True, last=True) == "everything below 0 and everything from 120 on"
    assert clipped(age, first=True, last=True) == clipped(grade, first=True, last=True) == ""


def test_answers_say_what_a_clipped_end_holds():
    rel = dawa.release({"x": [5] * 100, "y": [1] * 100}, [Axis("x", 0, 10), Axis("y", 0, 4, outside="own")], epsilon=1)
    assert "on x with everything below 0" in str(rel.answer((0, 1), (5, 2)))
    assert "everything" not in str(rel.answer((1, 0), (5, 4)))
    one = dawa.release({"x": [5] * 100}, Axis("x", 0, 10), epsilon=1)
    assert str(one.answer(0, 10)).endswith("; with everything below 0 and everything from 10 on")


@pytest.mark.long
def test_intervals_of_records_apart_hold_as_often_as_promised():
    """4,000 intervals at 90%: at most 10% and five standard deviations of them may miss."""
    axis, misses, runs = Axis("x", 0, 4, outside="own"), 0, 1000
    table = {"x": np.array([1.0] * 20 + [-1.0] * 5 + [9.0] * 0 + [np.nan] * 40)}
    truth = (5, 0, 40)
    for seed in range(runs):
        rel = dawa.release(table, axis, epsilon="0.3", seed=seed, mechanism="identity")
        found = [kind.answer for kind in rel.apart(0.9)]
        misses += sum(not one.low <= true <= one.high for one, true in zip(found, truth, strict=True))
    assert misses <= 0.1 * 3 * runs + 5 * (0.09 * 3 * runs) ** 0.5


@pytest.mark.long
def test_noise_inside_and_apart_is_not_the_same():
    """A seed makes both repeatable; they still draw one after the other from one stream."""
    table, axis = {"x": [1] * 50 + [None] * 50}, Axis("x", 1, 2)
    rel = [dawa.release(table, axis, epsilon="0.01", seed=seed, mechanism="identity") for seed in range(200)]
    inside = np.array([one.estimate.unbiased[0] for one in rel])
    apart = np.array([one.others.unbiased[0] for one in rel])
    assert abs(np.corrcoef(inside, apart)[0, 1]) < 5 / 200**0.5
    again = dawa.release(table, axis, epsilon="0.01", seed=7, mechanism="identity")
    assert again.others.unbiased[0] == rel[7].others.unbiased[0]


def test_earlier_files_have_no_records_apart(tmp_path):
    rel = dawa.release({"x": [1]}, Axis("x", 0, 4, missing="drop"), epsilon=1)
    assert rel.others is None
    assert rel.apart() == []
    assert dawa.load(rel.save(tmp_path / "r.json")).apart() == []
