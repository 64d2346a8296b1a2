"""Entries cannot be changed, or it is noticed; and they are on the disk before anybody is told."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from dawa import ledger
from dawa.errors import LedgerError
from dawa.ledger import entries, store
from helpers.ledger_books import TENTH, raw, reserved, unprotected
from helpers.ledger_places import in_new_schema

# --- nothing is changed, or it is noticed -----------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "column"), [("dawa_ledger", "version"), ("dawa_ledger_entries", "epsilon")])
def test_the_databases_refuse_changes(book, place, table, column):
    reserved(book)
    before = book.history()
    changes = [f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"]  # noqa: S608  our own words
    changes += [f"TRUNCATE {table}"] if "://" in place else []
    with raw(place) as connection:
        for change in changes:
            with pytest.raises((sqlite3.Error, psycopg.Error), match="append-only"):
                connection.execute(change)
    assert book.history() == before
    assert book.summary().broken is None


def test_sqlite_refuses_replacements_too(file):
    """They delete without asking a trigger on DELETE."""
    book = ledger.opened(file)
    book.create("hr", 1)
    reserved(book)
    values = "kind, dataset, at, who, '1/1000', cap, mechanism, what, reservation, release_id, file"
    with raw(file) as connection:
        for number, previous in (("number", "'x'"), ("number + 1", "previous")):
            with pytest.raises(sqlite3.Error, match="append-only"):
                connection.execute(
                    f"INSERT OR REPLACE INTO dawa_ledger_entries"  # noqa: S608  our own words
                    f" SELECT {number}, {values}, {previous}, hash FROM dawa_ledger_entries WHERE number = 2"
                )
    assert book.account("hr").spent == TENTH


FORGED = (
    "INSERT INTO dawa_ledger_entries (number, kind, dataset, at, who, cap, previous, hash)"
    " VALUES (9, 'raise', 'hr', 't', 'me', '100', 'p', 'h')"
)


@pytest.mark.long_but(3)
@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE dawa_ledger_entries SET epsilon = '1/1000' WHERE number = 2",
        "UPDATE dawa_ledger_entries SET who = 'somebody else' WHERE number = 2",
        "UPDATE dawa_ledger_entries SET dataset = 'sales' WHERE number = 2",
        "DELETE FROM dawa_ledger_entries WHERE number = 2",
        FORGED,
    ],
)
def test_an_edit_behind_the_triggers_is_noticed_and_stops_the_book(book, place, edit):
    book.create("sales", 1)
    reservations = [reserved(book), reserved(book)]
    with raw(place) as connection:
        unprotected(connection)
        connection.execute(edit.replace("number = 2", "number = 3"))
    assert book.summary().broken == (5 if edit is FORGED else 3)
    calls = [
        lambda: reserved(book),
        lambda: book.create("new", 1),
        lambda: book.raise_cap("hr", 5, why="because"),
        lambda: reservations[1].finalise("r"),
        lambda: book.take_back(4, why="because", nothing_was_made=True),
        lambda: book.filed("r", "f"),
    ]
    for call in calls:
        with pytest.raises(LedgerError, match=r"was edited(?s:.)*Hint:"):
            call()


@pytest.mark.parametrize(
    "edit", ["epsilon = 'much'", "kind = 'refund'", "what = '{'", "epsilon = NULL", "dataset = 'unknown'"]
)
def test_an_entry_that_cannot_be_read_is_no_traceback(book, place, edit):
    reserved(book)
    with raw(place) as connection:
        unprotected(connection)
        connection.execute(f"UPDATE dawa_ledger_entries SET {edit} WHERE number = 2")  # noqa: S608  our own words
    for call in (book.summary, lambda: book.account("hr"), lambda: reserved(book)):
        with pytest.raises(LedgerError, match=r"(somebody changed it|was edited)(?s:.)*Hint:"):
            call()


@pytest.mark.parametrize(
    "what",
    [
        '{"for":{"table":null,"unit":[]},"times":"2","why":"x"}',
        '{"for":{"table":null,"unit":[]},"times":0,"why":"x"}',
        '{"for":{"table":null,"unit":"person"},"times":2,"why":"x"}',
        '{"for":{"table":null,"unit":[5]},"times":2,"why":"x"}',
        '{"for":{"table":5,"unit":[]},"times":2,"why":"x"}',
        '{"times":2,"why":"x"}',
    ],
)
def test_a_forger_who_computes_the_chain_again_still_has_to_say_something(file, what):
    """No hash tells that this entry was edited; no account is made of it."""
    book = ledger.opened(file)
    book.create("hr", 1, unit="person")
    relation = replace(book.relate("hr", unit="record", times=2, why="x") and book.history()[1], what=json.loads(what))
    with raw(file) as connection:
        unprotected(connection)
        forged = entries.digest(entries.row(relation))
        connection.execute("UPDATE dawa_ledger_entries SET what = ?, hash = ? WHERE number = 2", (what, forged))
    assert [entry.number for entry in book.history()] == [1, 2], "the chain is whole"
    for call in (book.summary, lambda: book.account("hr"), lambda: reserved(book), book.receipt):
        with pytest.raises(LedgerError, match=r"was edited(?s:.)*Hint:"):
            call()


@pytest.mark.parametrize(("version", "answer"), [(4, "newer than 3(?s:.)*Hint: update dawa"), (0, "has no version")])
def test_other_versions_are_refused(book, place, version, answer):
    with raw(place) as connection:
        unprotected(connection)
        connection.execute(f"UPDATE dawa_ledger SET version = {version}")  # noqa: S608  our own words
    for call in (book.summary, lambda: reserved(book), lambda: book.create("new", 1)):
        with pytest.raises(LedgerError, match=answer):
            call()


def test_a_new_ledger_fails_closed_in_earlier_versions(book, place, monkeypatch):
    with raw(place) as connection:
        versions = [version for (version,) in connection.execute("SELECT version FROM dawa_ledger").fetchall()]
    assert max(versions) == entries.NEWEST == 3
    monkeypatch.setattr(store, "VERSION", 2)
    for call in (book.summary, book.history, lambda: book.account("hr"), lambda: reserved(book)):
        with pytest.raises(LedgerError, match=r"version 3, newer than 2(?s:.)*Hint: update dawa"):
            call()


def test_a_number_is_given_once_even_to_a_writer_without_the_lock(postgres):
    """The primary key alone keeps two writers apart that decided on the same entries."""
    place = in_new_schema(postgres)
    book = ledger.opened(place)
    book.create("hr", 1)

    def decide(pages):
        with raw(place) as other:
            other.execute(FORGED.replace("9", "2"))
        return pages.entries[0]

    with pytest.raises(LedgerError, match=r"does not follow the order of its entries(?s:.)*Hint:"):
        store.append(book.place, decide)


def test_a_connection_that_is_lost_in_a_transaction_says_what_to_look_at(postgres):
    place = in_new_schema(postgres)
    book = ledger.opened(place)
    book.create("hr", 1)

    def decide(pages):
        with raw(place) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        return pages.entries[0]

    with pytest.raises(LedgerError, match=r"connection to the ledger .* was lost(?s:.)*Hint: see what was booked"):
        store.append(book.place, decide)
    assert len(book.history()) == 1


# --- on the disk before anybody is told -----------------------------------------------------------------------------


def test_sqlite_waits_for_the_disk(file):
    book = ledger.opened(file)
    book.create("hr", 1)
    with store._transaction(book.place, writing=True) as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
    assert list(Path(file).parent.iterdir()) == [Path(file)]


def test_postgres_waits_for_the_disk_whatever_the_server_prefers(postgres):
    place = in_new_schema(postgres) + "%20-csynchronous_commit%3Doff"
    book = ledger.opened(place)
    book.create("hr", 1)
    with raw(place) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
    with store._transaction(book.place, writing=True) as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
