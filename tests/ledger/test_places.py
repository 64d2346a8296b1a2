"""Where ledgers are: places that do not serve are refused in a sentence, and passwords are nowhere."""

import os
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path

import pytest

from dawa import ledger
from dawa.errors import DawaError, LedgerError
from dawa.ledger import postgres as postgres_ledger
from dawa.ledger import sqlite as sqlite_ledger
from dawa.ledger import store
from helpers.ledger_books import TENTH, raw, reserved
from helpers.ledger_places import in_new_schema


@pytest.mark.parametrize(
    ("place", "flag"),
    [
        ("ledger.db", "--ledger ledger.db"),
        ("our ledger.db", "--ledger 'our ledger.db'"),
        ("$(rm x)\n.db", r"--ledger '$(rm x)\n.db'"),
        ("postgresql://ada:pa55word@host/hr", "--ledger URL"),
    ],
)
def test_a_ledger_is_named_to_the_command_line_safely(place, flag):
    assert ledger.opened(place).place.flag == flag


def test_the_place_does_not_depend_on_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    book = ledger.opened("ledger.db")
    book.create("hr", 1)
    monkeypatch.chdir(tmp_path / "other")
    assert book.account("hr").left == 1


def test_a_misspelt_path_makes_no_file(tmp_path):
    book = ledger.opened(tmp_path / "leger.db")
    for call in (book.history, book.summary, lambda: book.account("hr"), lambda: reserved(book)):
        with pytest.raises(LedgerError, match=r"no ledger at '.*leger\.db'(?s:.)*Hint:(?s:.)*dawa ledger create"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_too_long_is_no_traceback(tmp_path):
    with pytest.raises(LedgerError, match=r"more than 247 bytes(?s:.)*Hint:"):
        ledger.opened(tmp_path / ("x" * 300)).create("hr", 1)


def test_an_empty_file_becomes_a_ledger(file):
    Path(file).touch()
    with pytest.raises(LedgerError, match="There is no ledger"):
        ledger.opened(file).history()
    assert ledger.opened(file).create("hr", 1).left == 1


def test_what_is_no_ledger_is_left_alone(tmp_path):
    text, strange = tmp_path / "notes.txt", tmp_path / "strange.db"
    text.write_text("notes " * 1000, encoding="utf-8")
    with raw(str(strange)) as connection:
        connection.execute("CREATE TABLE people (age)")
    before = text.read_bytes(), strange.read_bytes()
    for path, answer in (
        (text, "is not a SQLite file"),
        (strange, "is a database, but not a ledger"),
        (tmp_path, "is a folder"),
        (tmp_path / "nowhere" / "ledger.db", r"folder of .* does not exist"),
        (text / "ledger.db", r"folder of .* does not exist"),
    ):
        with pytest.raises(LedgerError, match=rf"{answer}(?s:.)*Hint:"):
            ledger.opened(path).create("hr", 1)
        with pytest.raises(LedgerError, match="Hint:"):
            ledger.opened(path).history()
    assert before == (text.read_bytes(), strange.read_bytes())


def test_a_damaged_file_is_no_traceback(file):
    book = ledger.opened(file)
    book.create("hr", 1)
    whole = Path(file).read_bytes()
    for keep in (50, 5000, len(whole) - 4096):
        Path(file).write_bytes(whole[:keep])
        with pytest.raises(LedgerError, match="Hint:"):
            reserved(book)
    Path(file).write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    with pytest.raises(LedgerError, match="Hint:"):
        reserved(book)


@contextmanager
def as_nobody():
    """The rights of a user without any: root may write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_places_without_rights():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        book = ledger.opened(path)
        book.create("hr", 1)
        reservation = reserved(book)
        try:
            path.chmod(0o444)
            Path(folder).chmod(0o555)
            with as_nobody():
                assert book.account("hr").spent == TENTH
                for call in (lambda: reserved(book), lambda: reservation.finalise("r")):
                    with pytest.raises(LedgerError, match=r"cannot be written(?s:.)*Hint:"):
                        call()
                with pytest.raises(LedgerError, match=r"cannot be opened(?s:.)*Hint:"):
                    ledger.opened(f"{folder}/new.db").create("hr", 1)
            Path(folder).chmod(0o600)
            with as_nobody(), pytest.raises(LedgerError, match=r"cannot be opened(?s:.)*Hint:"):
                book.account("hr")
            Path(folder).chmod(0o755)
            path.chmod(0)
            with as_nobody(), pytest.raises(LedgerError, match=r"cannot be opened(?s:.)*Hint:"):
                book.account("hr")
        finally:
            Path(folder).chmod(0o700)


def test_a_busy_file_is_waited_for_and_then_given_up(file, monkeypatch):
    book = ledger.opened(file)
    book.create("hr", 1)
    monkeypatch.setattr(sqlite_ledger, "PATIENCE", 0.05)
    with raw(file) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"is busy(?s:.)*Hint:"):
            reserved(book)
        assert book.account("hr").left == 1, "readers do not wait"


def test_a_busy_database_is_waited_for_and_then_given_up(postgres, monkeypatch):
    place = in_new_schema(postgres)
    book = ledger.opened(place)
    book.create("hr", 1)
    monkeypatch.setitem(postgres_ledger.SETTINGS, "lock_timeout", "50ms")
    with raw(place) as connection:
        connection.execute(f"SELECT pg_advisory_lock({postgres_ledger.LOCK})")
        with pytest.raises(LedgerError, match=r"is busy(?s:.)*Hint:"):
            reserved(book)
        assert book.account("hr").left == 1, "readers do not wait"


def test_a_connection_that_breaks_midway_asks_to_look_first(postgres):
    place = in_new_schema(postgres)
    book = ledger.opened(place)
    book.create("hr", 1)

    def decide(pages):
        with raw(place) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND state = 'idle in transaction'"
            )
        return pages.entries[0]

    with pytest.raises(LedgerError, match=r"was lost(?s:.)*Hint: see what was booked"):
        store.append(book.place, decide)
    assert len(book.history()) == 1


def test_a_role_that_may_only_add_can_keep_the_book(postgres):
    place = in_new_schema(postgres)
    book = ledger.opened(place)
    book.create("hr", 1)
    role = place.rsplit("%3D", 1)[1].replace("ledger", "clerk")
    clerk = ledger.opened(place.replace("postgres@", f"{role}@"))
    with raw(place) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        schema = connection.execute("SELECT current_schema()").fetchone()[0]
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        with pytest.raises(LedgerError, match=r"refuses this user(?s:.)*Hint: grant SELECT and INSERT"):
            clerk.history()
        connection.execute(f"GRANT SELECT, INSERT ON dawa_ledger, dawa_ledger_entries TO {role}")
    reserved(clerk).finalise("r")
    assert book.account("hr").spent == TENTH


SECRET = "pa55word"  # noqa: S105  for tests


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ada:{SECRET}@127.0.0.1:1/hr",
        f"postgres://ada:{SECRET}@127.0.0.1:1/hr",
        f"postgresql+psycopg://ada:{SECRET}@127.0.0.1:1/hr",
        f"postgresql://ada@127.0.0.1:1/hr?password={SECRET}",
        f"postgresql://ada:{SECRET}",
        f"postgresql://ada:x@{SECRET}@127.0.0.1:1/hr",
        f"postgresql://ada:x@{SECRET}/y@127.0.0.1:1/hr",
        f"postgresql://ada:{SECRET}@127.0.0.1:port/hr",
        f"postgresql+psycopg2://ada:{SECRET}@127.0.0.1/hr",
        f"mysql://ada:{SECRET}@127.0.0.1/hr",
        f"{SECRET}@://x",
        f"postgresql://ada:{SECRET}@127.0.0.1:1/hr?nonsense=1",
    ],
)
def test_passwords_are_nowhere(address):
    with pytest.raises(LedgerError, match="Hint:") as caught:
        ledger.opened(address).create("hr", 1)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert SECRET not in told


def test_passwords_are_not_in_what_is_printed(postgres):
    book = ledger.opened(in_new_schema(postgres).replace("postgres@", f"postgres:{SECRET}@"))
    book.create("hr", 1)
    reservation = reserved(book)
    entry = reservation.finalise("r")
    assert SECRET not in f"{book!r} {book} {reservation!r} {entry!r} {book.summary().to_json()} {book.history()}"


@pytest.mark.parametrize("wrong", [None, 5, b"ledger.db", "", "  ", "a\0b", "sqlite:///x.db", "://"])
def test_what_names_no_ledger(wrong):
    with pytest.raises(DawaError, match="Hint:"):
        ledger.opened(wrong)


def test_a_missing_driver_is_named(monkeypatch):
    postgres_ledger._engine.cache_clear()
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"driver(?s:.)*Hint: pip install 'dawa\[postgres\]'"):
        ledger.opened("postgresql://nowhere/x").history()
