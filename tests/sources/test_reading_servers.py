"""One record more moves one count at most, and never the outcome: in databases and clusters too."""

import traceback

import psycopg
import pytest

from dawa import Axis, ledger, release, sources
from dawa.errors import DawaError, ExhaustedError
from helpers.binning import found
from helpers.reading import AWARE, INTEGERS, LETTERS, NAIVE, NUMBERS, X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


# --- PostgreSQL -----------------------------------------------------------------------------------------------------

SERVER = {
    "i": ("bigint", ["-9223372036854775808", "9223372036854775807", "0"], INTEGERS),
    "s": ("smallint", ["-32768", "32767"], INTEGERS),
    "r": ("real", ["NaN", "Infinity", "-Infinity", "-0", "1e-45", "3.4e38"], NUMBERS),
    "f": ("double precision", ["NaN", "Infinity", "-Infinity", "-0", "5e-324", "-5e-324", "1.7e308"], NUMBERS),
    "n": (
        "numeric",
        ["NaN", "Infinity", "-Infinity", f"1e{1000}", f"-1e{1000}", "1e-1000", "-1e-16383", "9" * 500],
        NUMBERS,
    ),
    "n42": ("numeric(4,2)", ["NaN", "-99.50", "99.99", "-0.01"], NUMBERS),
    "n3830": (
        "numeric(38,30)",
        ["NaN", "99999999.999999999999999999999999999999", "-99999999.999999999999999999999999999999"],
        NUMBERS,
    ),
    "d": ("date", ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "0001-01-01 BC"], NAIVE),
    "t": (
        "timestamp",
        ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31 23:59:59.999999", "0001-01-01 BC"],
        NAIVE,
    ),
    "z": ("timestamptz", ["infinity", "-infinity", "4713-01-02 BC", "294276-12-31 00:00:00+00"], AWARE),
    "w": ("text", ["z" * 1_000_000, "", "A\nB", "Ä"], LETTERS),
    "b": ("boolean", ["true"], (Axis.ordered("x", [True]),)),
    "v": ("varchar(9)", ["A ", ""], LETTERS),
}


@pytest.fixture(scope="module")
def server(postgres):
    """One table for every type: three usual rows with the number 0, and one for each odd value."""
    usual = {
        "date": "2013-01-05",
        "timestamp": "2013-01-05",
        "timestamptz": "2013-01-05",
        "text": "A",
        "varchar(9)": "A",
        "boolean": "true",
    }
    with psycopg.connect(postgres) as connection:
        connection.execute("drop schema if exists reading cascade")
        connection.execute("create schema reading")
        for name, (kind, odd, _) in SERVER.items():
            connection.execute(f"create table reading.all_{name} (which int, x {kind})")
            rows = [(0, usual.get(kind, "1"))] * 3 + list(enumerate(odd, 1))
            connection.cursor().executemany(f"insert into reading.all_{name} values (%s, %s)", rows)  # noqa: S608  our own names
            for number in range(len(odd) + 1):
                condition = f"which in (0, {number})"
                connection.execute(
                    f"create view reading.{name}_{number} as select x from reading.all_{name} where {condition}"  # noqa: S608  our own names
                )
    return postgres


@pytest.mark.long_but(3)
@pytest.mark.parametrize("name", SERVER)
def test_postgres_with_the_ends_of_every_type(server, name):
    _, odd, axes = SERVER[name]
    for axis in axes:
        fewer = outcome(sources.table(server, f"{name}_0", "reading"), axis)
        assert fewer[0] == "counted" or axis.column == "x"
        for number in range(1, len(odd) + 1):
            check_neighbours(outcome(sources.table(server, f"{name}_{number}", "reading"), axis), fewer)


def test_postgres_units_at_the_ends_of_their_type(postgres):
    with psycopg.connect(postgres) as connection:
        connection.execute("drop table if exists reading_units")
        connection.execute("create table reading_units (who numeric, x int)")
        connection.execute(
            "insert into reading_units values"
            " ('NaN', 1), ('NaN', 1), ('Infinity', 1), (1e1000, 1), (null, 1), (7, 1), (7.0, 1)"
        )
    assert found(sources.table(postgres, "reading_units"), X, unit="who")[1] in {3, 4}


# --- Spark ----------------------------------------------------------------------------------------------------------

CLUSTER = {
    "i": ("bigint", ["-9223372036854775807L - 1", "9223372036854775807L"], INTEGERS[:1]),
    "y": ("tinyint", ["-128", "127"], INTEGERS[:1]),
    "r": ("float", ["'NaN'", "'Infinity'", "'-Infinity'", "-0.0", "1.4e-45"], NUMBERS[:1]),
    "f": ("double", ["'NaN'", "'Infinity'", "'-Infinity'", "-0.0D", "4.9e-324D", "1.7e308D"], NUMBERS),
    "n42": ("decimal(4,2)", ["-99.50", "99.99", "-0.01"], NUMBERS[:2]),
    "n3830": (
        "decimal(38,30)",
        ["'99999999.999999999999999999999999999999'", "'-99999999.999999999999999999999999999999'"],
        NUMBERS[::2],
    ),
    "d": (
        "date",
        ["date_from_unix_date(2147483647)", "date_from_unix_date(-2147483647)", "date_from_unix_date(-1500000)"],
        NAIVE,
    ),
    "z": ("timestamp", ["timestamp_micros(9223372036854775806L)", "timestamp_micros(-9223372036854775806L)"], AWARE),
    "t": (
        "timestamp_ntz",
        ["'294247-01-01 00:00:00'", "'-290307-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'"],
        NAIVE,
    ),
    "w": (
        "string",
        ["repeat('z', 1000000)", "''", "'A\\nB'", "cast(X'41ff' as string)", "cast(X'ff' as string)"],
        LETTERS,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CLUSTER)
def test_spark_with_the_ends_of_every_type(spark, name):
    kind, odd, axes = CLUSTER[name]
    usual = {"date": "'2013-01-05'", "timestamp": "'2013-01-05'", "timestamp_ntz": "'2013-01-05'", "string": "'A'"}.get(
        kind, "1"
    )

    def frame(values):
        return spark.sql(" union all ".join(f"select cast({value} as {kind}) as x" for value in values))

    for axis in axes:
        fewer = outcome(frame([usual] * 2), axis)
        assert fewer[0] == "counted"
        together = outcome(frame([usual, *odd, usual]), axis)
        assert together[0] == "counted"
        assert not fewer[1] - together[1]
        assert together[1].total() <= fewer[1].total() + len(odd)
        if together[1].total() > fewer[1].total() and axis.outside == "clip":
            check_neighbours(outcome(frame([odd[0], usual, usual]), axis), fewer)


@pytest.mark.long
def test_spark_runs_no_job_before_the_reservation(spark, tmp_path):
    """Every row fails when it is computed: a refusal for lack of budget proves that none was."""
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("poor", cap="0.1")
    book.create("rich", cap=1)
    frame = spark.sql("select cast(raise_error(concat('canary4711', id)) as int) as x from range(5)")
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    with pytest.raises(ExhaustedError):
        release(frame, X, epsilon=1, ledger=book, dataset="poor")
    assert len(tracker.getJobIdsForGroup(None)) == before
    with pytest.raises(DawaError) as caught:
        release(frame, X, epsilon=1, ledger=book, dataset="rich")
    assert len(tracker.getJobIdsForGroup(None)) > before
    assert book.account("rich").spent == 1
    assert "canary4711" not in "".join(traceback.format_exception(caught.value))
    for axis in (Axis("y", 0, 5), Axis.ordered("x", ["A", "B"]), Axis.dates("x", "2013-01-01", "2014-01-01")):
        with pytest.raises(DawaError) as caught:
            release(frame, axis, epsilon=1, ledger=book, dataset="poor")
        assert "canary4711" not in str(caught.value)
    assert book.account("poor").spent == 0
