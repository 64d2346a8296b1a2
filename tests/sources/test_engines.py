"""One nasty table gives the same counts through DuckDB, PostgreSQL and Spark, and by hand."""

import ibis
import psycopg
import pyarrow as pa
import pytest
from ibis.expr.datatypes import dtype
from psycopg import sql

from dawa import Axis, sources
from dawa.sources import counting
from dawa.sources.tables import Column, Source
from helpers.binning import everything, expected, found
from helpers.nasty import HOSTILE, KINDS, LINES, PAIRS, ROWS, columns

ALL = [*((axis,) for axis in LINES), *PAIRS]


def named(axes):
    return " × ".join(f"{axis.kind} {axis.column[:6]!r}" for axis in axes)


@pytest.fixture(scope="session")
def duckdb_table():
    """The table as Arrow has it, which DuckDB reads."""
    kinds = {name: dtype(kind).to_pyarrow() for name, (kind, _, _) in KINDS.items()}
    return pa.table({name: pa.array(values, kinds[name]) for name, values in ROWS.items()})


@pytest.fixture(scope="session")
def postgres_table(postgres):
    """The table on a server whose clocks are elsewhere."""
    names = [sql.Identifier(name) for name in ROWS]
    kinds = [sql.SQL(kind) for _, kind, _ in KINDS.values()]
    fields = sql.SQL(", ").join(sql.SQL("{} {}").format(*both) for both in zip(names, kinds, strict=True))
    with psycopg.connect(postgres) as connection:
        connection.execute("create schema odd")
        connection.execute("alter database postgres set timezone = 'America/New_York'")
        table = sql.Identifier("odd", HOSTILE)
        connection.execute(sql.SQL("create table {} ({})").format(table, fields))
        with connection.cursor().copy(sql.SQL("copy {} from stdin").format(table)) as copy:
            for row in zip(*ROWS.values(), strict=True):
                copy.write_row([_plain(value) for value in row])
    return sources.table(postgres, HOSTILE, "odd")


def _plain(value):
    return float(value) if type(value).__name__ == "float32" else value


@pytest.mark.long_but(12)
@pytest.mark.parametrize("axes", ALL, ids=named)
def test_duckdb(duckdb_table, axes):
    assert everything(duckdb_table, *axes) == expected(axes, *columns(axes))


@pytest.mark.long_but(12)
@pytest.mark.parametrize("axes", ALL, ids=named)
def test_postgres(postgres_table, axes):
    assert everything(postgres_table, *axes) == expected(axes, *columns(axes))


@pytest.mark.parametrize("name", ["duckdb_table", "postgres_table"])
def test_units(request, name):
    """With all rows of a unit in one cell, chance has no say."""
    table, axis = request.getfixturevalue(name), Axis("i8", -1000, 1000, 2000)
    assert found(table, axis, unit="who", max_rows_per_unit=1) == {0: 4}
    assert found(table, axis, unit="who", max_rows_per_unit=2) == {0: 6}
    assert found(table, axis, unit="who", max_rows_per_unit=100) == {0: 10}


ELSEWHERE = {"n": "int64", "f": "float64", "d": "decimal(12, 2)", "t": "timestamp", "s": "string", "who": "int64"}
THERE = [
    Axis("n", 0, 100),
    Axis("d", 0, 100, step="0.01"),
    Axis.ordered("s", ["a", "b"]),
    Axis("f", 0, 1, step="0.01"),
    Axis.dates("t", "2020-01-01", "2021-01-01", step="1h"),
]


@pytest.mark.parametrize("engine", ["bigquery", "snowflake", "trino", "clickhouse", "databricks", "athena", "mysql"])
def test_statements_can_be_made_for_engines_that_nobody_tried(engine):
    """That they are right there is nowhere claimed: docs/sources.md says so."""
    table = ibis.table(ELSEWHERE, name="people")

    def column(name):
        return Column(table[name], table[name].type())

    source = Source(table, engine, column, tuple(table.columns), fetch=None, check=None)
    for axis in THERE[:4] if engine == "mysql" else THERE:
        for unit in ((), ("who",)):
            statement = str(ibis.to_sql(counting.expression(source, (axis,), unit, 3 if unit else 1), dialect=engine))
            assert "COUNT" in statement.upper()
