"""Files and names that are no ledger, or cannot be one, are refused with a sentence, and at once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dawa import ledger
from dawa.errors import LedgerError
from dawa.ledger import sqlite
from helpers.commands import dawa, refused

ENDLESS = "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x)"


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def changed(*statements):
    """A ledger that somebody has prepared."""
    ledger.opened("ledger.db").create("hr", cap=2, unit="record")
    with closing(sqlite3.connect("ledger.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return ledger.opened("ledger.db")


@pytest.mark.parametrize("name", ["dawa_ledger_entries", "dawa_ledger"])
def test_a_ledger_is_no_view(name):
    columns = "number, kind, dataset, at, who, epsilon, cap, mechanism, what, reservation, release_id, file, previous"
    made = "SELECT a AS version" if name == "dawa_ledger" else f"SELECT a AS {', a AS '.join(columns.split(', '))}"
    book = changed(f"DROP TABLE {name}", f"CREATE VIEW {name.upper()} AS {ENDLESS} {made} FROM x")
    for use in (book.summary, lambda: book.reserve("hr", 1, what={}, mechanism="x"), book.receipt):
        with pytest.raises(LedgerError, match="its tables are computed"):
            use()
    with pytest.raises(LedgerError, match="its tables are computed"):
        book.create("other", cap=1)


def test_a_ledger_is_no_table_that_a_module_computes():
    book = changed("DROP TABLE dawa_ledger", "CREATE VIRTUAL TABLE dawa_ledger USING fts5(version)")
    with pytest.raises(LedgerError, match="its tables are computed"):
        book.summary()


def test_no_statement_runs_for_ever(monkeypatch):
    monkeypatch.setattr(sqlite, "MOST_STEPS", 2)
    sum_up = f"SELECT max(a) FROM ({ENDLESS} SELECT a FROM x)"  # noqa: S608  ours
    book = changed(f"CREATE TRIGGER slow BEFORE INSERT ON dawa_ledger_entries BEGIN {sum_up}; END")
    with pytest.raises(LedgerError, match="takes too long to read"):
        book.reserve("hr", 1, what={}, mechanism="x")
    assert len(book.history()) == 1


@pytest.mark.parametrize("name", ["x" * 300 + ".db", "x" * 300 + "-journal", "é" * 124, "x" * 250, "x/" * 3000 + "y"])
def test_names_that_are_too_long(name):
    refused(dawa("ledger", "create", "hr", "--cap", 2, "--ledger", name), "ledger")
    refused(dawa("ledger", "show", "--ledger", name), "ledger")
    with pytest.raises(LedgerError):
        ledger.opened(name).summary()


def test_the_longest_name():
    ledger.opened("x" * sqlite.LONGEST).create("hr", cap=1)
    assert ledger.opened("x" * sqlite.LONGEST).account("hr").left == 1


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "a\0b"])
def test_anchors_that_cannot_be(name):
    with pytest.raises(LedgerError, match="anchor"):
        ledger.opened("ledger.db", anchor=name).create("hr", cap=1)
    if "\0" not in name:
        refused(dawa("ledger", "create", "hr", "--cap", 2, "--ledger", "ledger.db", DAWA_LEDGER_ANCHOR=name), "anchor")
    assert not Path("ledger.db").exists()
