"""The ledger on a real SQLite file and a real PostgreSQL server: caps hold, entries stay, errors lead on."""

import getpass
import json
import os
import pickle
import sqlite3
import sys
import tempfile
import traceback
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from dawa import ledger
from dawa.errors import BudgetError, DawaError, ExhaustedError, LedgerError, TakenBackError
from dawa.ledger import entries, store
from dawa.ledger import postgres as postgres_ledger
from dawa.ledger import sqlite as sqlite_ledger
from helpers.ledger_places import in_new_schema

TENTH = Fraction(1, 10)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return in_new_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def book(place):
    """A ledger with an account whose cap is 1."""
    found = ledger.opened(place)
    found.create("hr", 1)
    return found


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "ledger.db")


def reserved(book, epsilon=TENTH, dataset="hr"):
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


# --- spending -------------------------------------------------------------------------------------------------------


def test_a_release_from_cap_to_file(book):
    before = reserved(book)
    records = {"unit": (), "parts": (ledger.Part(ledger.Scope(()), TENTH, 1),)}
    assert book.account("hr") == before.account == ledger.Account("hr", Fraction(1), TENTH, TENTH, **records)
    done = before.finalise("r1", "out/release.json")
    assert book.account("hr") == ledger.Account("hr", Fraction(1), TENTH, Fraction(0), **records)
    opening, spending, naming = book.history("hr")
    assert (opening.kind, opening.cap, opening.number) == ("create", 1, 1)
    assert (spending.kind, spending.epsilon, spending.mechanism) == ("reserve", TENTH, "dawa")
    assert spending.what == {"axes": ["age"], "for": {"unit": [], "table": None}}
    assert spending.who == getpass.getuser()
    assert (naming.kind, naming.reservation, naming.release_id, naming.file) == (
        "finalise",
        2,
        "r1",
        "out/release.json",
    )
    assert spending.at.endswith("+00:00")
    assert (before.entry, done) == (spending, naming)
    assert (before.dataset, before.epsilon) == ("hr", TENTH)


@pytest.mark.parametrize("tenth", [0.1, "0.1", "1/10", TENTH])
def test_ten_tenths_are_one(file, tenth):
    book = ledger.opened(file)
    book.create("hr", 1)
    for _ in range(10):
        reserved(book, tenth)
    assert book.account("hr").left == 0
    with pytest.raises(ExhaustedError, match="nothing left of its cap of 1"):
        reserved(book, "1e-9")


def test_the_refusal_says_what_is_left_exactly(book):
    reserved(book, "2/3")
    with pytest.raises(ExhaustedError, match=r"'hr' has 1/3 left of its cap of 1, less than epsilon=0\.34(?s:.)*Hint:"):
        reserved(book, 0.34)
    assert book.account("hr").left == Fraction(1, 3)
    reserved(book, "1/3")
    assert book.account("hr").left == 0


def test_a_refusal_books_nothing(book):
    for wrong in (2, 0, -1, "x", float("nan"), "1" * 5000, "1/" + "7" * 200):
        with pytest.raises(BudgetError, match="Hint:"):
            reserved(book, wrong)
    assert len(book.history()) == 1


def test_sums_stay_short_enough_to_print(book):
    fine = (Fraction(1, 10**70 + k) + Fraction(1, 100) for k in range(1, 30))
    with pytest.raises(BudgetError, match="too many digits"):
        list(map(partial(reserved, book), fine))
    assert 500 < len(str(book.account("hr").spent)) < 4300


def test_a_cap_is_raised_and_never_lowered(book):
    reserved(book, 1)
    for same in (1, "0.5"):
        with pytest.raises(LedgerError, match=r"is already 1(?s:.)*Hint:"):
            book.raise_cap("hr", same, why="no reason")
    assert book.raise_cap("hr", 2, why="a second year", who="the board").left == 1
    last = book.history()[-1]
    assert (last.kind, last.cap, last.what, last.who) == ("raise", 2, {"why": "a second year"}, "the board")


def test_an_account_is_opened_once(book):
    with pytest.raises(LedgerError, match=r"already has an account, with a cap of 1(?s:.)*Hint:"):
        book.create("hr", 5)
    assert book.account("hr").cap == 1


def test_an_unknown_dataset_is_answered_with_the_known_ones(book):
    for call in (book.account, book.history, book.summary, lambda name: reserved(book, dataset=name)):
        with pytest.raises(LedgerError, match=r"no account for 'rh'(?s:.)*Hint: it has accounts for 'hr'; open one"):
            call("rh")
    with pytest.raises(LedgerError, match="no account for"):
        book.account(["hr"])


def test_a_reservation_is_finalised_once(book):
    reservation = reserved(book)
    reservation.finalise("r1")
    with pytest.raises(LedgerError, match=r"already has a release: 'r1'(?s:.)*Hint:"):
        reservation.finalise("r2")
    assert len(book.history()) == 3


def test_a_reservation_is_not_finalised_in_another_ledger(tmp_path, book):
    other = ledger.opened(tmp_path / "other.db")
    other.create("hr", 1)
    reservation = reserved(book)
    with pytest.raises(LedgerError, match="no longer has entry 2"):
        ledger.Reservation(other, reservation.entry).finalise("r1")


def test_the_file_can_be_booked_later(book):
    with pytest.raises(LedgerError, match=r"does not know a release 'r1'(?s:.)*Hint:"):
        book.filed("r1", "out/release.json")
    reserved(book).finalise("r1")
    entry = book.filed("r1", Path("out") / "release.json")
    assert (entry.kind, entry.dataset, entry.reservation) == ("file", "hr", 2)
    assert entry.file == str(Path("out") / "release.json")
    assert book.account("hr").reserved == 0


def test_a_strange_file_name_does_not_lose_the_release(book):
    assert reserved(book).finalise("r1", "out\n\0\udc80.json").file == r"out\n\x00\udc80.json"


def test_the_summary_is_of_all_or_of_one(book):
    book.create("sales", 2)
    waiting = reserved(book).entry
    reserved(book, dataset="sales").finalise("r")
    assert book.summary().pending == book.summary("hr").pending == (waiting,)
    assert [account.dataset for account in book.summary().accounts] == ["hr", "sales"]
    assert book.summary("sales").pending == ()
    assert book.summary("sales").entries == 5
    assert book.accounts() == [book.account("hr"), book.account("sales")]
    json.dumps(book.summary().to_json())


# --- taking back ------------------------------------------------------------------------------------------------------


def test_what_nobody_saw_is_taken_back(book):
    reserved(book, "0.3").finalise("r1")
    reservation = reserved(book, "0.7")
    entry = book.take_back(4, why="the server was down", who="ada")
    assert (entry.number, entry.kind, entry.dataset, entry.who) == (5, "take-back", "hr", "ada")
    assert (entry.reservation, entry.what, entry.epsilon) == (4, {"why": "the server was down"}, None)
    account = book.account("hr")
    assert (account.cap, account.spent, account.reserved) == (1, Fraction(3, 10), 0)
    summary = book.summary("hr")
    assert (summary.pending, summary.taken_back, summary.broken) == ((), (entry,), None)
    assert book.history()[3:] == [reservation.entry, entry], "both stay in the book"
    reserved(book, "0.7")
    assert book.account("hr").left == 0


def test_who_takes_back_is_the_user_unless_it_is_said(book):
    reserved(book)
    assert book.take_back(2, why="because").who == getpass.getuser()


def test_a_reservation_is_taken_back_once(book):
    reserved(book)
    book.take_back(2, why="because", who="ada")
    with pytest.raises(LedgerError, match=r"Entry 2 was already taken back, by ada in entry 3(?s:.)*Hint:"):
        book.take_back(2, why="because")
    assert (book.account("hr").spent, len(book.history())) == (0, 3)


def test_what_was_released_is_not_taken_back(book):
    reserved(book).finalise("r1")
    with pytest.raises(LedgerError, match=r"Entry 2 has a release: 'r1' \(entry 3\)(?s:.)*Hint: it stays spent"):
        book.take_back(2, why="because")
    assert (book.account("hr").spent, len(book.history())) == (TENTH, 3)


def test_nothing_is_released_on_what_was_taken_back(book):
    reservation = reserved(book)
    book.take_back(2, why="because", who="ada")
    with pytest.raises(TakenBackError, match=r"Entry 2 was taken back by ada in entry 3(?s:.)*Hint:"):
        reservation.finalise("r1")
    with pytest.raises(LedgerError, match="does not know a release"):
        book.filed("r1", "out")
    assert (book.account("hr").spent, len(book.history())) == (0, 3)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (1, "Entry 1 is not a reservation but a 'create'"),
        (3, "Entry 3 is not a reservation but a 'finalise'"),
        (4, "Entry 4 is not a reservation but a 'raise'"),
        (6, "Entry 6 is not a reservation but a 'take-back'"),
        (7, "has no entry 7"),
        (0, "has no entry 0"),
        (-1, "has no entry -1"),
        (10**30, "has no entry 10"),
        ("2", "not by a str"),
        (True, "not by a bool"),
        (None, "not by a NoneType"),
    ],
)
def test_only_reservations_are_taken_back(book, number, answer):
    reserved(book).finalise("r1")
    book.raise_cap("hr", 2, why="because")
    reserved(book)
    book.take_back(5, why="because")
    with pytest.raises(LedgerError, match=rf"{answer}(?s:.)*Hint: take back an entry that dawa ledger show lists"):
        book.take_back(number, why="because")
    assert len(book.history()) == 6


def test_a_take_back_is_of_one_dataset_alone(book):
    book.create("sales", 1)
    reserved(book)
    reserved(book, dataset="sales")
    book.take_back(4, why="because")
    assert (book.account("hr").spent, book.account("sales").spent) == (TENTH, 0)
    assert (len(book.summary("hr").taken_back), len(book.summary("sales").taken_back)) == (0, 1)


def test_sums_stay_short_enough_to_print_without_what_is_taken_back(file):
    """Pairs that add up to round numbers: their halves do not."""
    book = ledger.opened(file)
    book.create("hr", 10)
    for k in range(1, 15):
        fine = Fraction(1, 10**70 + k) + Fraction(1, 100)
        reserved(book, fine)
        reserved(book, Fraction(1, 10) - fine)
    with pytest.raises(LedgerError, match=r"too many digits(?s:.)*Hint:"):
        list(map(partial(book.take_back, why="because"), range(3, 30, 2)))
    assert 500 < len(str(book.account("hr").spent)) < 4300


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


def test_a_new_ledger_fails_closed_in_earlier_versions(book, place, monkeypatch):
    with raw(place) as connection:
        versions = [version for (version,) in connection.execute("SELECT version FROM dawa_ledger").fetchall()]
    assert max(versions) == entries.NEWEST == 3
    monkeypatch.setattr(store, "VERSION", 2)
    for call in (book.summary, book.history, lambda: book.account("hr"), lambda: reserved(book)):
        with pytest.raises(LedgerError, match=r"version 3, newer than 2(?s:.)*Hint: update dawa"):
            call()


@pytest.mark.parametrize("wrong", ["", " hr", "a\nb", "a\0b", "x" * 201, 5, None, "\ud800"])
def test_names_are_lines_of_text(book, wrong):
    calls = [
        lambda: book.create(wrong, 1),
        lambda: book.reserve("hr", 0.1, what={}, mechanism=wrong),
        lambda: book.raise_cap("hr", 2, why=wrong),
        lambda: book.take_back(2, why=wrong),
        lambda: book.filed(wrong, "f"),
    ]
    if wrong is not None:
        calls.append(lambda: book.create("x", 1, wrong))
    for call in calls:
        with pytest.raises(LedgerError, match=r"must be a line of text(?s:.)*Hint:"):
            call()


@pytest.mark.parametrize("wrong", [None, [1], {"a": {1}}, {"a": float("nan")}, {("a",): 1}, {"a": TENTH}], ids=str)
def test_descriptions_are_json(file, wrong):
    book = ledger.opened(file)
    book.create("hr", 1)
    with pytest.raises(LedgerError, match=r"what must (?s:.)*Hint:"):
        book.reserve("hr", 0.1, what=wrong, mechanism="dawa")


@pytest.mark.parametrize("name", ["hr'; DROP TABLE dawa_ledger; --", '"', "人", "%s", ":x", "a" * 200])
def test_hostile_names_are_only_names(place, name):
    book = ledger.opened(place)
    book.create(name, 1)
    book.reserve(name, 1, what={name: [name, "\0"]}, mechanism=name, who=name).finalise(name, name)
    assert book.account(name).left == 0
    assert book.history(name)[1].what == {name: [name, "\0"], "for": {"unit": [], "table": None}}
    assert book.summary().broken is None


def test_a_user_without_a_name_has_a_number(file, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: {}["nobody"])
    ledger.opened(file).create("hr", 1)
    assert ledger.opened(file).history()[0].who == f"user {os.getuid()}"


def test_an_open_ledger_passes_through_and_crosses_process_borders(book):
    assert ledger.opened(book) is book
    assert pickle.loads(pickle.dumps(book)).account("hr") == book.account("hr")  # noqa: S301  our own


def test_the_place_does_not_depend_on_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    book = ledger.opened("ledger.db")
    book.create("hr", 1)
    monkeypatch.chdir(tmp_path / "other")
    assert book.account("hr").left == 1


# --- against a twin ---------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["hr", "sales", "人"])
AMOUNTS = st.sampled_from([Fraction(1, 10), Fraction(1, 7), Fraction(2, 3), Fraction(1), Fraction(1, 10**9)])
HANDS = st.integers(0, 1)


class Twin(RuleBasedStateMachine):
    """Two hands at one ledger, in any order, against dictionaries."""

    def __init__(self, place):
        super().__init__()
        self.place = place
        self.books = [ledger.opened(place), ledger.opened(place)]
        self.caps, self.spent, self.open, self.reservations, self.entries = {}, {}, {}, [], 0
        self.undone = set()

    @rule(dataset=NAMES, cap=AMOUNTS, hand=HANDS)
    def create(self, dataset, cap, hand):
        if dataset in self.caps:
            with pytest.raises(LedgerError):
                self.books[hand].create(dataset, cap)
        else:
            self.books[hand].create(dataset, cap)
            self.caps[dataset], self.spent[dataset] = cap, []
            self.entries += 1

    @precondition(lambda self: self.caps)
    @rule(dataset=NAMES, cap=AMOUNTS, hand=HANDS)
    def raise_cap(self, dataset, cap, hand):
        if dataset in self.caps and cap > self.caps[dataset]:
            self.books[hand].raise_cap(dataset, cap, why="because")
            self.caps[dataset] = cap
            self.entries += 1
        else:
            with pytest.raises(LedgerError):
                self.books[hand].raise_cap(dataset, cap, why="because")

    @precondition(lambda self: self.caps)
    @rule(dataset=NAMES, epsilon=AMOUNTS, hand=HANDS)
    def reserve(self, dataset, epsilon, hand):
        if dataset not in self.caps:
            with pytest.raises(LedgerError):
                reserved(self.books[hand], epsilon, dataset)
        elif sum(self.spent[dataset]) + epsilon > self.caps[dataset]:
            with pytest.raises(ExhaustedError):
                reserved(self.books[hand], epsilon, dataset)
        else:
            self.reservations.append(reserved(self.books[hand], epsilon, dataset))
            self.entries += 1
            self.open[self.entries] = dataset, epsilon
            self.spent[dataset].append(epsilon)

    @precondition(lambda self: self.reservations)
    @rule(data=st.data())
    def finalise(self, data):
        reservation = data.draw(st.sampled_from(self.reservations))
        if reservation.entry.number in self.open:
            reservation.finalise(f"r{reservation.entry.number}")
            self.entries += 1
            del self.open[reservation.entry.number]
        else:
            with pytest.raises(TakenBackError if reservation.entry.number in self.undone else LedgerError):
                reservation.finalise("again")

    @precondition(lambda self: self.reservations)
    @rule(data=st.data(), hand=HANDS)
    def take_back(self, data, hand):
        number = data.draw(st.sampled_from(self.reservations)).entry.number
        if number in self.open:
            self.books[hand].take_back(number, why="because")
            self.entries += 1
            self.undone.add(number)
            dataset, epsilon = self.open.pop(number)
            self.spent[dataset].remove(epsilon)
        else:
            with pytest.raises(LedgerError):
                self.books[hand].take_back(number, why="because")

    @precondition(lambda self: self.entries)
    @rule(hand=HANDS, beyond=st.integers(-3, 3))
    def take_back_what_is_not_reserved(self, hand, beyond):
        numbers = {reservation.entry.number for reservation in self.reservations}
        number = self.entries + beyond
        if number not in numbers:
            with pytest.raises(LedgerError):
                self.books[hand].take_back(number, why="because")

    @rule(hand=HANDS)
    def reopen(self, hand):
        self.books[hand] = ledger.opened(self.place)

    @precondition(lambda self: self.caps)
    @invariant()
    def agrees(self):
        for book in self.books:
            summary = book.summary()
            assert summary.broken is None
            assert summary.entries == self.entries
            assert {account.dataset: account.cap for account in summary.accounts} == self.caps
            for account in summary.accounts:
                waiting = sum(epsilon for dataset, epsilon in self.open.values() if dataset == account.dataset)
                assert account.spent == sum(self.spent[account.dataset])
                assert account.reserved == waiting
                assert 0 <= account.left == account.cap - account.spent
                booked = [entry for entry in book.history(account.dataset) if entry.kind == "reserve"]
                assert account.spent == sum(entry.epsilon for entry in booked if entry.number not in self.undone)
            assert [entry.number for entry in summary.pending] == list(self.open)
            assert {entry.reservation for entry in summary.taken_back} == self.undone


def test_any_order_of_operations_agrees_with_a_twin_sqlite(tmp_path):
    run_state_machine_as_test(
        lambda: Twin(f"{tempfile.mkdtemp(dir=tmp_path)}/ledger.db"),
        settings=settings(max_examples=30, stateful_step_count=20, deadline=None),
    )


def test_any_order_of_operations_agrees_with_a_twin_postgres(postgres):
    run_state_machine_as_test(
        lambda: Twin(in_new_schema(postgres)),
        settings=settings(max_examples=6, stateful_step_count=15, deadline=None),
    )


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
        lambda: book.take_back(4, why="because"),
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


@pytest.mark.parametrize(("version", "answer"), [(4, "newer than 3(?s:.)*Hint: update dawa"), (0, "has no version")])
def test_other_versions_are_refused(book, place, version, answer):
    with raw(place) as connection:
        unprotected(connection)
        connection.execute(f"UPDATE dawa_ledger SET version = {version}")  # noqa: S608  our own words
    for call in (book.summary, lambda: reserved(book), lambda: book.create("new", 1)):
        with pytest.raises(LedgerError, match=answer):
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


# --- places that do not serve -----------------------------------------------------------------------------------------


def test_a_misspelt_path_makes_no_file(tmp_path):
    book = ledger.opened(tmp_path / "leger.db")
    for call in (book.history, book.summary, lambda: book.account("hr"), lambda: reserved(book)):
        with pytest.raises(LedgerError, match=r"no ledger at '.*leger\.db'(?s:.)*Hint:(?s:.)*dawa ledger create"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_too_long_is_no_traceback(tmp_path):
    with pytest.raises(LedgerError, match=r"cannot be opened(?s:.)*Hint:"):
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
