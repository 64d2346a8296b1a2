"""Spark counts as the others do. All tests of Spark live here, since its session takes seconds to start."""

import ibis
import pytest

from dawa import Axis, DawaError, release, sources
from dawa.sources import counting
from dawa_bench import sources as bench
from helpers.binning import everything, expected, found, named
from helpers.grouping import BY, USUAL, outcome, twin
from helpers.nasty import HOSTILE, KINDS, LINES, PAIRS, ROWS, columns

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

ALL = [*((axis,) for axis in LINES), *PAIRS]


@pytest.fixture(scope="module")
def frame(spark):
    """The nasty table, in a session whose clocks are elsewhere."""
    from pyspark.sql.types import DataType, StructType  # noqa: PLC0415  slow to load

    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    schema = StructType()
    for name, (_, _, kind) in KINDS.items():
        schema = schema.add(name, DataType.fromDDL(kind))
    rows = [tuple(map(_plain, row)) for row in zip(*ROWS.values(), strict=True)]
    made = spark.createDataFrame(rows, schema).coalesce(1).cache()
    assert made.count() == len(rows)
    return made


def _plain(value):
    return float(value) if type(value).__name__ == "float32" else value


DOZENS = [ALL[first : first + 12] for first in range(0, len(ALL), 12)]
"""A dozen at a time: one job has much less to set up than twelve."""


@pytest.mark.long_but(1)
@pytest.mark.parametrize("some", DOZENS, ids=lambda some: str(len(some)))
def test_the_same_table_gives_the_same_counts(frame, some):
    assert wrong(frame, some) == []


def wrong(frame, some):
    """Those that are counted otherwise than by hand."""
    with counting.source(frame, (), ()) as source:
        parts = [counting.expression(source, axes, (), 1).mutate(which=i) for i, axes in enumerate(some)]
        rows = source.fetch(ibis.union(*parts)).to_pylist()
    counts = [
        {named(row["cell"], axes): row["records"] for row in rows if row["which"] == i} for i, axes in enumerate(some)
    ]
    return [axes for axes, one in zip(some, counts, strict=True) if one != expected(axes, *columns(axes))]


@pytest.mark.long
def test_units_are_truncated(frame):
    axis = Axis("i8", -1000, 1000, 2000)
    for most, records in ((1, 4), (2, 6), (100, 10)):
        assert found(frame, axis, unit="who", max_rows_per_unit=most) == {0: records}


def test_empty_tables_and_tables_by_name(frame, spark):
    axis = Axis(HOSTILE, 0, 10)
    assert found(frame.limit(0), axis) == {}
    frame.createOrReplaceTempView("people")
    assert everything(sources.table(spark, "people"), axis) == expected((axis,), ROWS[HOSTILE])
    with pytest.raises(DawaError, match="no table 'nobody'"):
        found(sources.table(spark, "nobody"), axis)
    with pytest.raises(DawaError, match="is not a table"):
        found(spark, axis)


def test_the_session_is_left_as_it_was(frame, spark):
    before = {table.name for table in spark.catalog.listTables()}
    release(frame, Axis("i32", 0, 10), epsilon=1)
    assert spark.conf.get("spark.sql.session.timeZone") == "America/New_York"
    assert {table.name for table in spark.catalog.listTables()} == before


def test_zones_must_agree(frame):
    for axis in (
        Axis.dates("aware", "2013-01-01", "2014-01-01"),
        Axis.dates("plain", "2013-01-01", "2014-01-01", zone="UTC"),
    ):
        with pytest.raises(DawaError, match="time zone"):
            found(frame, axis)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("by", BY.values(), ids=BY)
def test_groups_are_counted_as_by_the_slow_twin(spark, by):
    made = spark.createDataFrame(USUAL, "x int, g string, h smallint").coalesce(1)
    values = [(row[0], *(row["xgh".index(grouping.column)] for grouping in by)) for row in USUAL]
    axis = Axis("x", 0, 5, outside="own")
    assert outcome(made, (axis,), by) == ("counted", twin(values, axis, by, text=False))


@pytest.mark.long
def test_a_plan_reads_a_table_once_and_moves_counts_alone(spark, tmp_path):
    """With a unit, its rows are brought together before; nothing else is moved."""
    bench.write(tmp_path / "people.parquet", 1000)
    people, axis = spark.read.parquet(str(tmp_path / "people.parquet")), bench.AXES["integers"]
    assert bench.spark_plan(people, axis) == "1 read, 1 shuffle"
    assert bench.spark_plan(people, axis, ("person",)) == "1 read, 2 shuffles"
