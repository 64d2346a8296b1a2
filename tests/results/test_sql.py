"""A release in DuckDB: each row is answered as ``rel.answer`` answers it, whatever the others are."""

from datetime import UTC, datetime

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.errors import DawaError, OptionError
from dawa.results import sql

NUMBERS = ("value", "noise_margin", "bias_bound", "measured", "low", "high", "confidence", "remark")
RELEASES = {
    "whole": (dawa.Axis("x", 0, 120), [5, 40, 40, 80], [0, 3, 40.5, 100, 120, 121, -1, 1e300, float("nan")]),
    "tenths": (dawa.Axis("x", 0, 12, step="0.1"), [0.3, 5], [0, 0.1, 0.3, 0.30000000000000004, 1 / 3, 5, 12]),
    "edges": (dawa.Axis.edges("x", [0, 0.1, 10, 100]), [0.3, 50], [0, 0.1, 0.7, 10, 55.5, 100, 101]),
    "huge": (dawa.Axis("x", 0, 2**62), [2**60, 5], [0, 5, 2**60, 2**60 + 1, 2**61 + 1, 2**62, -5]),
    "days": (
        dawa.Axis.dates("x", "2013-01-01", "2014-01-01"),
        ["2013-05-05", "2013-05-06"],
        [datetime(2013, *at) for at in ((1, 1), (5, 5, 7, 30), (5, 6), (12, 31), (1, 2))] + [datetime(2015, 1, 1)],  # noqa: DTZ001
    ),
    "a zone": (
        dawa.Axis.dates("x", "2013-01-01", "2014-01-01", zone="Europe/Berlin"),
        ["2013-05-05", "2013-05-06"],
        [datetime(2013, 5, 5, 22, tzinfo=UTC), datetime(2013, 7, 1, tzinfo=UTC), datetime(2015, 1, 1, tzinfo=UTC)],
    ),
    "categories": (dawa.Axis.ordered("x", ["A", "B", "C"]), ["A", "C"], ["A", "B", "C", "D", "", "a'; DROP TABLE x"]),
    "numbers in order": (dawa.Axis.ordered("x", [3, 1, 2]), [3, 2], [3, 1, 2, 4]),
    "flags": (dawa.Axis.ordered("x", [False, True]), [True, False], [False, True]),
    "addresses": (
        dawa.Axis.ipv4("x", "10.0.0.0/8"),
        ["10.1.2.3", "10.1.2.4"],
        ["10.0.0.0", "10.1.0.0/16", "10.1.2.4", "11.0.0.0", "12.0.0.0", "ten", "10.1.2.3/8"],
    ),
}


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def rel():
    return dawa.release({"x": np.arange(4000) % 100}, dawa.Axis("x", 0, 120), epsilon=1, seed=1, where="x < 99")


@pytest.fixture(scope="module")
def groups():
    table = {"x": np.arange(3000) % 100, "city": ["Rome", "Oslo", "Lima"] * 1000, "n": [1, 2] * 1500}
    by = {"city": ["Rome", "Oslo"], "n": [1, 2]}
    return dawa.release(table, dawa.Axis("x", 0, 120), epsilon=1, seed=1, by=by)


def agrees(found, release, *ends, confidence=0.95):
    """Whether an answer in SQL is that of a release, or the reason why there is none."""
    if any(end is None for end in ends):
        return found is None
    try:
        wanted = release.answer(*map(plainly, ends), confidence)
    except DawaError as error:
        return found == {**dict.fromkeys(NUMBERS), "problem": error.problem}
    return found == {**wanted.row(), "problem": None}


def plainly(end):
    """A whole number as people write it, which DuckDB makes a float of."""
    if isinstance(end, tuple):
        return tuple(map(plainly, end))
    return int(end) if isinstance(end, float) and end.is_integer() and abs(end) < 2**53 else end


def asked(con, function, types, rows):
    """The answers to rows, each with as many ends as the function takes."""
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    table = pa.table(columns, [f"c{at}" for at in range(len(types))])
    con.register("given_rows", table)
    query = f"SELECT {function}({', '.join(table.column_names)}) AS found FROM given_rows"  # noqa: S608  our own names
    found = con.sql(query).to_arrow_table()
    return found["found"].to_pylist()


@pytest.mark.parametrize("kind", RELEASES)
def test_every_row_is_answered_as_the_release_answers_it(con, kind):
    axis, records, ends = RELEASES[kind]
    release = dawa.release({"x": records * 300}, axis, epsilon=1, seed=1)
    release.to_duckdb(con, "r", confidence=0.9)
    rows = [(lo, hi) for lo in [*ends, None] for hi in [*ends, None]]
    kinds = {
        "whole": pa.float64(),
        "tenths": pa.float64(),
        "edges": pa.float64(),
        "huge": pa.int64(),
        "days": pa.timestamp("us"),
        "a zone": pa.timestamp("us", "UTC"),
        "numbers in order": pa.int64(),
        "flags": pa.bool_(),
    }
    found = asked(con, "r_between", [kinds.get(kind, pa.string())] * 2, rows)
    assert len(found) == len(rows)
    wrong = [(row, one) for row, one in zip(rows, found, strict=True) if not agrees(one, release, *row, confidence=0.9)]
    assert wrong == []
    assert any(one and one["problem"] is None for one in found)


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.floats(-5, 125), st.integers(0, 120))] * 2), max_size=30))
def test_rows_do_not_depend_on_one_another(rel, rows):
    function = sql.Asked(rel.axes, (rel.estimate,), (), rel.privacy.kept, 0.95)
    columns = [pa.chunked_array([pa.array(column, pa.float64())]) for column in zip(*rows, strict=True)] or [
        pa.chunked_array([], pa.float64())
    ] * 2
    found = function(*columns).to_pylist()
    assert all(agrees(one, rel, *row) for one, row in zip(found, rows, strict=True))


def test_a_public_table_is_joined_with_a_release(con, rel):
    rel.to_duckdb(con, "income")
    con.sql("CREATE TABLE public_bands AS SELECT * FROM (VALUES ('young', 0, 30), ('old', 60, 120)) t(region, lo, hi)")
    found = con.sql("SELECT region, income_between(lo, hi).value FROM public_bands ORDER BY lo").fetchall()
    assert found == [("young", rel.answer(0, 30).value), ("old", rel.answer(60, 120).value)]
    total = con.sql("SELECT sum(value), count(*), max(hi) FROM income").fetchall()[0]
    assert total == (pytest.approx(rel.total.value), len(rel.buckets), 120)
    wide = con.sql("SELECT sum((income_between(i % 50, 50 + i % 60)).value) FROM range(20000) t(i)").fetchall()[0][0]
    lo, hi = np.arange(20000) % 50, 50 + np.arange(20000) % 60
    assert wide == pytest.approx(rel.values(lo, hi).sum())
    assert con.sql("SELECT income_between(20, 30).remark").fetchall()[0] == ("of records where x < 99",)


def test_messages_say_numbers_as_people_write_them(con, rel):
    rel.to_duckdb(con, "r")
    assert con.sql("SELECT r_between(0, 130).problem").fetchall()[0] == ("130 lies outside the axis 'x'.",)
    assert con.sql("SELECT r_between(30, 20).problem").fetchall()[0] == ("The range from 30 to 20 is empty.",)
    assert con.sql("SELECT r_between(NULL, 20) IS NULL").fetchall()[0] == (True,)
    assert con.sql("SELECT r_between(lo, hi) FROM (SELECT 1 AS lo, 2 AS hi WHERE false)").fetchall() == []


def test_groups_are_asked_together_or_one_by_one(con, groups):
    groups.to_duckdb(con, "r")
    assert con.sql("SELECT r_between(3, 50)").fetchall()[0][0] == {**groups.answer(3, 50).row(), "problem": None}
    rows = [("Rome", 1, 3.0, 50.0), ("Oslo", 2, 3.0, 50.0), ("Lima", 1, 3.0, 50.0), (None, 1, 3.0, 50.0)]
    rows += [("Rome", 1, 50.0, 3.0), ("Rome", 3, 3.0, 50.0)]
    found = asked(con, "r_between_in", [pa.string(), pa.int64(), pa.float64(), pa.float64()], rows)
    assert agrees(found[0], groups["Rome", 1], 3, 50)
    assert agrees(found[1], groups["Oslo", 2], 3, 50)
    assert found[3] is None
    assert [one["problem"] for one in (found[2], found[5])] == [
        "('Lima', 1) is not a group of 'city' and 'n'.",
        "('Rome', 3) is not a group of 'city' and 'n'.",
    ]
    assert agrees(found[4], groups["Rome", 1], 50, 3)
    assert con.sql("SELECT sum(value) FROM r WHERE city = 'Oslo' AND n = 2").fetchall()[0][0] == pytest.approx(
        groups["Oslo", 2].total.value
    )


def test_groups_of_numbers_and_others_are_asked_by_text(con):
    table = {"x": [3, 4] * 99, "n": [1, 7] * 99}
    made = dawa.release(table, dawa.Axis("x", 0, 9), epsilon=1, seed=0, by="n", groups=[1, 2], other=True)
    made.to_duckdb(con, "r")
    found = con.sql("SELECT r_between_in('1', 0, 9).value, r_between_in('other', 0, 9).value").fetchall()[0]
    assert found == (made[1].total.value, made["other"].total.value)
    assert con.sql("SELECT r_between_in('7', 0, 9).problem").fetchall()[0] == ("'7' is not a group of 'n'.",)


def test_several_axes_have_both_ends_on_each(con):
    days = dawa.Axis.dates("when", "2013-01-01", "2013-02-01")
    table = {"x": np.arange(900) % 30, "when": ["2013-01-05"] * 900, "g": ["a", "b"] * 450}
    axes = [dawa.Axis("x", 0, 30), days, dawa.Axis.ordered("g", ["a", "b"])]
    made = dawa.release(table, axes, epsilon=1, seed=0)
    made.to_duckdb(con, "r")
    ask = "r_between(3, 20, TIMESTAMP '2013-01-02', TIMESTAMP '2013-01-09', 'a', 'b')"
    wanted = made.answer((3, datetime(2013, 1, 2), "a"), (20, datetime(2013, 1, 9), "b"))  # noqa: DTZ001
    assert con.sql(f"SELECT {ask}").fetchall()[0][0] == {**wanted.row(), "problem": None}


def test_maps_are_answered_in_bulk_as_one_by_one(con):
    table = {"x": np.arange(900) % 30, "y": np.arange(900) % 20}
    made = dawa.release(table, [dawa.Axis("x", 0, 30), dawa.Axis("y", 0, 20)], epsilon=1, seed=0)
    made.to_duckdb(con, "r")
    rows = [(float(a), 30.0, b / 2, 20.0) for a in range(9) for b in range(9)] + [(5.0, 3.0, 0.0, 1.0)]
    found = asked(con, "r_between", [pa.float64()] * 4, rows)
    for one, (x_lo, x_hi, y_lo, y_hi) in zip(found, rows, strict=True):
        assert agrees(one, made, (x_lo, y_lo), (x_hi, y_hi))


# --- connections ----------------------------------------------------------------------------------------------------


def test_a_name_that_is_in_use_is_kept(con, rel):
    con.sql("CREATE TABLE Income (x INT)")
    with pytest.raises(OptionError, match="has a 'income' already") as caught:
        rel.to_duckdb(con, "income")
    assert "replace=True" in caught.value.hint
    rel.to_duckdb(con, "other")
    with pytest.raises(OptionError, match="already"):
        rel.to_duckdb(con, "other")
    sharper = dawa.release({"x": [7] * 99}, dawa.Axis("x", 0, 120), epsilon=1, seed=0)
    sharper.to_duckdb(con, "other", replace=True)
    assert con.sql("SELECT other_between(0, 120).value").fetchall()[0] == (sharper.total.value,)


def test_a_function_of_another_connection_is_not_replaced(con, rel):
    rel.to_duckdb(con, "income")
    with con.cursor() as other:
        assert other.sql("SELECT income_between(0, 120).value").fetchall() == [(rel.total.value,)], "they share it"
        with pytest.raises(OptionError, match="another connection") as caught:
            rel.to_duckdb(other, "income", replace=True)
        assert "another name" in caught.value.hint
        days = dawa.Axis.dates("day", "2013-01-01", "2014-01-01")
        with pytest.raises(OptionError, match="another connection"):  # ends of other types would make two functions
            dawa.release({"day": []}, days, epsilon=1).to_duckdb(other, "income", replace=True)
        assert other.sql("SELECT income_between(0, 120).value").fetchall() == [(rel.total.value,)]
        rel.to_duckdb(other, "mine")


@pytest.mark.parametrize("replace", [False, True])
def test_a_closed_connection_says_so(rel, replace):
    closed = duckdb.connect()
    closed.close()
    with pytest.raises(OptionError, match="is closed"):
        rel.to_duckdb(closed, "income", replace=replace)


def test_an_aborted_transaction_says_so(con, rel):
    con.execute("BEGIN")
    with pytest.raises(duckdb.Error):
        con.execute("SELECT error('no')")
    with pytest.raises(OptionError, match="was aborted"):
        rel.to_duckdb(con, "income")
    con.execute("ROLLBACK")
    rel.to_duckdb(con, "income")


@pytest.mark.parametrize("name", ["income", "INCOME"])
def test_no_function_of_a_release_of_groups_stays_beside_one_without(con, rel, groups, name):
    groups.to_duckdb(con, "income")
    rel.to_duckdb(con, name, replace=True)
    known = "SELECT function_name FROM duckdb_functions() WHERE function_name ILIKE 'income%'"
    assert [found.lower() for (found,) in con.sql(known).fetchall()] == ["income_between"]
    con.create_function("pay_between_in", lambda x: x, ["DOUBLE"], "DOUBLE")
    rel.to_duckdb(con, "pay", replace=True)
    assert con.sql("SELECT pay_between_in(2)").fetchall() == [(2,)], "this one is somebody's own"


def test_a_table_of_the_database_is_hidden_and_stays(rel, tmp_path):
    with duckdb.connect(tmp_path / "kept.duckdb") as connection:
        connection.sql("CREATE TABLE income AS SELECT 1 AS x")
        rel.to_duckdb(connection, "income", replace=True)
        assert connection.sql("SELECT count(*) FROM income").fetchall() == [(len(rel.buckets),)]
    with duckdb.connect(tmp_path / "kept.duckdb") as connection:
        assert connection.sql("FROM income").fetchall() == [(1,)]


@pytest.mark.parametrize("name", ["", "a b", "1x", 'x"; DROP TABLE y; --', "é", None, "x" * 300])
def test_names_are_plain(con, rel, name):
    with pytest.raises(OptionError, match="no plain name"):
        rel.to_duckdb(con, name)


@pytest.mark.parametrize("connection", [None, "memory", 3])
def test_what_is_no_connection_is_refused(rel, connection):
    with pytest.raises(OptionError, match="not a connection to DuckDB") as caught:
        rel.to_duckdb(connection)
    assert "to_ibis" in caught.value.hint


def test_confidence_that_cannot_be_promised_is_refused(con, rel):
    with pytest.raises(OptionError, match="cannot be promised"):
        rel.to_duckdb(con, confidence=1)


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis 12 and DuckDB 2
def test_a_connection_of_ibis_will_do(rel):
    backend = ibis.duckdb.connect()
    rel.to_duckdb(backend, "income")
    assert backend.table("income").value.sum().to_pyarrow().as_py() == pytest.approx(rel.total.value)
    found = backend.con.sql("SELECT income_between(20, 30).value").fetchall()
    assert found == [(rel.answer(20, 30).value,)]
    backend.disconnect()


def test_nothing_is_written_into_a_database(rel, tmp_path):
    path = str(tmp_path / "kept.duckdb")
    with duckdb.connect(path) as connection:
        rel.to_duckdb(connection, "income")
        assert connection.sql("SELECT income_between(0, 120).value").fetchall()[0] == (rel.total.value,)
    with duckdb.connect(path, read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM duckdb_views() WHERE view_name = 'income'").fetchall()[0] == (0,)
        rel.to_duckdb(connection, "income")
        assert connection.sql("SELECT count(*) FROM income").fetchall()[0] == (len(rel.buckets),)
