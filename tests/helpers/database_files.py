"""Files of SQLite and DuckDB with one column of values."""

import sqlite3

import duckdb

MANY = 125_000
"""More rows than DuckDB keeps in one group."""


def sqlite_file(path, values, declared="", table="t", extra=""):
    """A table with a column x of these values, whatever their types."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f'create table "{table}" (x {declared}, who) {extra}')
    rows = [(value, place) for place, value in enumerate(values)]
    connection.executemany(f'insert into "{table}" values (?, ?)', rows)  # noqa: S608  our own names
    connection.commit()
    connection.close()
    return f"{path}#{table}"


def duckdb_file(path, kind, values):
    """A table with a column x of this type."""
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table t (x {kind})")
        connection.executemany(f"insert into t values (?::{kind})", [[value] for value in values])  # noqa: S608  our own
    return f"{path}#t"
