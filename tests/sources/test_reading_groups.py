"""One record more moves one count of one group, or one number of records in no group, in tables of every kind."""

import gzip
import json
import sqlite3

import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis, sources
from dawa.axis.groups import combinations, groupings
from dawa.sources import counting
from helpers import workbook
from helpers.examples import examples
from helpers.grouping import BY, USUAL, WORDS, outcome, twin
from helpers.hostile import ADVERSARIAL, MANY, lines
from helpers.reading import check_neighbours

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::dawa.LargeEpsilonWarning"
)

X = Axis("x", 0, 5, outside="own")
numbers = st.none() | st.integers(-2, 7)
rows = st.lists(
    st.tuples(numbers, st.none() | st.sampled_from([*WORDS, "", "NA"]), st.none() | st.integers(0, 4)), max_size=25
)


# --- makers ---------------------------------------------------------------------------------------------------------


def table_of(found):
    kinds = {"x": pa.int64(), "g": pa.string(), "h": pa.int64()}
    columns = zip(*found, strict=True) if found else ([], [], [])
    return pa.table(
        {name: pa.array(list(part), kind) for (name, kind), part in zip(kinds.items(), columns, strict=True)}
    )


def csv(folder, found):
    path = folder / "x.csv"
    path.write_bytes(lines([["x", "g", "h"], *[["" if part is None else part for part in row] for row in found]]))
    return path


def packed(folder, found):
    path = folder / "x.csv.gz"
    path.write_bytes(gzip.compress(csv(folder, found).read_bytes()))
    return path


def json_lines(folder, found):
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps(dict(zip("xgh", row, strict=True))) + "\n" for row in found), encoding="utf-8")
    return path


def excel(folder, found):
    return workbook.write(folder / "x.xlsx", [["x", "g", "h"], *map(list, found)])


def parquet(folder, found):
    pa.parquet.write_table(table_of(found), folder / "x.parquet")
    return folder / "x.parquet"


def sqlite(folder, found):
    path = folder / "x.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("create table t (x, g, h)")
    connection.executemany("insert into t values (?, ?, ?)", found)
    connection.commit()
    connection.close()
    return f"{path}#t"


def duck(folder, found):
    path = folder / "x.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t (x bigint, g varchar, h integer)")
        if found:
            connection.executemany("insert into t values (?, ?, ?)", found)
    return f"{path}#t"


TEXT = {"CSV": csv, "gzip": packed, "JSON lines": json_lines, "Excel": excel, "SQLite": sqlite}
"""Text of no declared type, in which words can mean a missing value."""
TYPED = {
    "Parquet": parquet,
    "pyarrow": lambda _, found: table_of(found),
    "pandas": lambda _, found: table_of(found).to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda _, found: pl.from_arrow(table_of(found)),
    "DuckDB": duck,
    "Ibis": lambda _, found: ibis.memtable(table_of(found)),
    "lists": lambda _, found: {name: table_of(found)[name].to_pylist() for name in "xgh"},
}
MAKERS = TEXT | TYPED
ALIKE = {"lists"} | set(TEXT)
"""Where words can mean a missing value."""


def rows_of(maker, found):
    """Rows as such a table holds them: no table of text tells empty text from no text."""
    return [row for row in found if not (maker == "Excel" and row == (None, None, None))]


# --- exactly --------------------------------------------------------------------------------------------------------


@pytest.mark.long_but(12)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("by", BY.values(), ids=BY)
def test_every_source_counts_as_the_slow_twin_does(tmp_path, maker, by):
    found = rows_of(maker, USUAL * 2)
    table = MAKERS[maker](tmp_path, found)
    values = [(row[0], *(row["xgh".index(grouping.column)] for grouping in by)) for row in found]
    expected = twin(values, X, by, text=maker in ALIKE)
    assert outcome(table, (X,), by) == ("counted", expected)


def test_truth_values_and_several_axes():
    by = groupings({"g": [True, False]})
    table = pa.table({"x": [1, 1, 2], "y": [0.5, 1.5, 0.5], "g": pa.array([True, False, None])})
    axes = (X, Axis("y", 0, 2))
    came, counts = outcome(table, axes, by)
    assert came == "counted"
    assert counts.total() == 3
    assert counts["none", ("missing",)] == 1
    assert {group for group, _ in counts} == {"none", (True,), (False,)}


@pytest.mark.parametrize("maker", ["CSV", "Parquet", "lists", "JSON lines"])
def test_with_a_huge_epsilon_every_cell_is_right(tmp_path, maker):
    by = groupings({"g": ["AA", "Ä"], "h": [1, 2]}, other=True)
    found = USUAL * 3
    table = MAKERS[maker](tmp_path, found)
    mapping = {"g": ["AA", "Ä"], "h": [1, 2]}
    rel = dawa.release(table, X, epsilon=10**6, by=mapping, other=True, mechanism="identity")
    true = twin(found, X, by, text=maker in ALIKE)
    for group in combinations(by):
        cells = [round(float(cell), 1) for cell in rel[group].estimate.cells]
        assert cells == [true[group, cell] for cell in range(5)], group
        assert [round(kind.answer.value, 1) for kind in rel[group].apart()] == [
            true[group, kind.states] for kind in rel[group].apart()
        ]
    assert {kind.states: round(kind.answer.value, 1) for kind in rel.apart()} == {
        kind.states: true["none", kind.states] for kind in rel.apart()
    }


# --- one record more ------------------------------------------------------------------------------------------------

LAW = examples(15)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("maker", ["CSV", "JSON lines", "Excel", "Parquet", "lists"])
def test_one_record_more_moves_one_count(tmp_path, maker):
    @LAW
    @given(rows, st.data())
    def check(found, data):
        by = data.draw(st.sampled_from(list(BY.values())))
        at = data.draw(st.integers(0, len(found)))
        more = [*found[:at], data.draw(rows.filter(bool))[0], *found[at:]]
        check_neighbours(*(outcome(MAKERS[maker](tmp_path, some), (X,), by) for some in (more, found)))

    check()


@pytest.mark.long_but(3)
@pytest.mark.parametrize("odd", [*range(len(ADVERSARIAL))])
def test_a_hostile_record_deep_in_a_text_file(tmp_path, odd):
    """Beyond all rows that a reader which sniffs would look at; what is hostile stands in the grouping column too."""
    by = groupings({"y": ["x", "NA", "a,b;c|d\te"]})
    plain = [[str(i % 5), "x" if i % 3 else "w"] for i in range(MANY)]
    path = tmp_path / "x.csv"

    def counted(found):
        path.write_bytes(lines([["x", "y"], *found]))
        return outcome(path, (X,), by)

    fewer = counted(plain)
    assert fewer[1].total() == MANY
    check_neighbours(counted([*plain[: MANY - 7], ADVERSARIAL[odd], *plain[MANY - 7 :]]), fewer)


def test_text_that_is_not_utf8_is_missing(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"x,g\n1,AA\n1,A\xff\n1,\xff\xfe\n")
    came, counts = outcome(path, (X,), groupings({"g": ["AA"]}, other=True))
    assert (came, counts) == ("counted", {(("AA",), 1): 1, ("none", ("missing",)): 2})


# --- units ----------------------------------------------------------------------------------------------------------


def by_unit(table, most, by):
    """What is kept of each unit, with keys that decide which."""
    with counting.source(table, (X, Axis("key", 0, 1), *(one.axis for one in by)), ("who",)) as source:
        found = source.fetch(counting.expression(source, (X,), ("who",), most, "key", by=by))
    return {
        (group, cell): number
        for group, cell, number in zip(*(found[name].to_pylist() for name in ("group", "cell", "records")), strict=True)
    }


people = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "NA"]),
        numbers,
        st.none() | st.sampled_from(["AA", "UA", "?"]),
        st.integers(0, 10**9),
    ),
    max_size=25,
    unique_by=lambda row: row[3],
)


@pytest.mark.long
@LAW
@given(people, st.integers(1, 3), st.sampled_from(["a", "b", "NA"]), st.booleans())
def test_the_cap_holds_for_all_groups_together(found, most, who, other):
    by = groupings({"g": ["AA", "UA"]}, other=other)

    def kept(some):
        names = ("who", "x", "g", "key")
        table = pa.table(
            {
                name: pa.array([row[at] for row in some], kind)
                for at, (name, kind) in enumerate(
                    zip(names, (pa.string(), pa.int64(), pa.string(), pa.int64()), strict=True)
                )
            }
        )
        return by_unit(table, most, by)

    more, fewer = kept(found), kept([row for row in found if row[0] != who])
    assert all(more.get(place, 0) >= number for place, number in fewer.items())
    assert sum(more.values()) - sum(fewer.values()) == min(most, sum(row[0] == who for row in found))


def test_records_in_a_group_come_before_those_in_none():
    by = groupings({"g": ["AA"]})
    table = {"who": ["a"] * 5, "x": [9, 1, 2, None, 3], "g": ["AA", "?", "AA", "AA", None], "key": [1, 2, 5, 3, 4]}
    typed = pa.table({name: pa.array(values) for name, values in table.items()})
    assert by_unit(typed, 1, by) == {(0, 2): 1}
    assert sum(by_unit(typed, 3, by).values()) == 3


def test_looks_see_the_records_of_groups_alone():
    table = pa.table({"x": [1, 2, 3, 4], "g": ["AA", "?", "AA", None], "who": ["a", "a", "a", "b"]})
    by = groupings({"g": ["AA"]})
    with sources.query(table, (Axis("x", 0, 9),), among=by) as query:
        found = query.rows()
        assert dict(zip(found["cell"].to_pylist(), found["records"].to_pylist(), strict=True)) == {1: 1, 3: 1}
    with sources.query(table, (Axis("x", 0, 9),), ("who",), among=by) as query:
        assert [int(number) for number in query.units([1, 2, 3]).exposed.counts] == [1]
    with sources.query(table, (Axis("x", 0, 9),), among=groupings({"g": ["AA"]}, other=True)) as query:
        assert sum(query.rows()["records"].to_pylist()) == 3


# --- refusals -------------------------------------------------------------------------------------------------------


def test_columns_that_do_not_fit_are_refused_before_anything_is_read():
    table = pa.table({"x": [1], "g": pa.array(["AA"]), "f": pa.array([1.5]), "b": pa.array([True])})
    for by, said in (
        (groupings({"nope": ["AA"]}), "no column 'nope'"),
        (groupings({"b": [1]}), "the groups are integers"),
        (groupings({"f": ["AA"]}), "the groups are text"),
    ):
        came = outcome(table, (X,), by)
        assert came[0] == "opening"
        assert said in came[2]


# --- a server -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", BY.values(), ids=BY)
def test_postgres_counts_as_the_slow_twin_does(postgres, by):
    with psycopg.connect(postgres) as connection:
        connection.execute("drop table if exists reading_groups")
        connection.execute("create table reading_groups (x int, g text, h smallint)")
        connection.cursor().executemany("insert into reading_groups values (%s, %s, %s)", USUAL)
    values = [(row[0], *(row["xgh".index(grouping.column)] for grouping in by)) for row in USUAL]
    assert outcome(sources.table(postgres, "reading_groups"), (X,), by) == ("counted", twin(values, X, by, text=False))
