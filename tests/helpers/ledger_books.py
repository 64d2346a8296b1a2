"""What tests do with a ledger: spend a tenth, and speak SQL behind its back."""

import sqlite3
from contextlib import closing, contextmanager
from fractions import Fraction

import psycopg

TENTH = Fraction(1, 10)


def reserved(book, epsilon=TENTH, dataset="hr"):
    """Spend on a release that is not there yet."""
    return book.reserve(dataset, epsilon, what={"axes": ["age"]}, mechanism="dawa")


@contextmanager
def raw(place):
    """A connection for SQL of our own."""
    if "://" in place:
        with psycopg.connect(place, autocommit=True) as connection:
            yield connection
    else:
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            yield connection


def unprotected(connection):
    """Drop the triggers, as somebody who means to edit would."""
    if isinstance(connection, sqlite3.Connection):
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    else:
        connection.execute("DROP FUNCTION dawa_ledger_append_only CASCADE")
