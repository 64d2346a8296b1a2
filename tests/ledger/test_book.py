"""The ledger on a real SQLite file and a real PostgreSQL server: caps hold, entries stay, errors lead on."""

import getpass
import json
import os
import pickle
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from dawa import ledger
from dawa.errors import BudgetError, ExhaustedError, LedgerError, TakenBackError
from helpers.ledger_books import TENTH, reserved

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


@pytest.mark.long_but(2)
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


def test_a_failure_after_the_release_was_booked_says_so(book):
    reservation = reserved(book)

    def failed():
        with reservation.accounted():
            reservation.finalise("r1")
            raise RuntimeError

    with pytest.raises(RuntimeError) as caught:
        failed()
    (note,) = caught.value.__notes__
    assert note == (
        "epsilon=0.1 was spent on dataset 'hr' all the same (entry 2 of the ledger), and its release is booked; 0.9 of"
        " 1 is left."
    )


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
    entry = book.take_back(4, why="the server was down", nothing_was_made=True, who="ada")
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
    assert book.take_back(2, why="because", nothing_was_made=True).who == getpass.getuser()


def test_a_reservation_is_taken_back_once(book):
    reserved(book)
    book.take_back(2, why="because", nothing_was_made=True, who="ada")
    with pytest.raises(LedgerError, match=r"Entry 2 was already taken back, by ada in entry 3(?s:.)*Hint:"):
        book.take_back(2, why="because", nothing_was_made=True)
    assert (book.account("hr").spent, len(book.history())) == (0, 3)


def test_what_was_released_is_not_taken_back(book):
    reserved(book).finalise("r1")
    with pytest.raises(LedgerError, match=r"Entry 2 has a release: 'r1' \(entry 3\)(?s:.)*Hint: it stays spent"):
        book.take_back(2, why="because", nothing_was_made=True)
    assert (book.account("hr").spent, len(book.history())) == (TENTH, 3)


def test_nothing_is_released_on_what_was_taken_back(book):
    reservation = reserved(book)
    book.take_back(2, why="because", nothing_was_made=True, who="ada")
    with pytest.raises(TakenBackError, match=r"Entry 2 was taken back by ada in entry 3(?s:.)*Hint:"):
        reservation.finalise("r1")
    with pytest.raises(LedgerError, match="does not know a release"):
        book.filed("r1", "out")
    assert (book.account("hr").spent, len(book.history())) == (0, 3)


@pytest.mark.long_but(8)
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
    book.take_back(5, why="because", nothing_was_made=True)
    with pytest.raises(LedgerError, match=rf"{answer}(?s:.)*Hint: take back an entry that dawa ledger show lists"):
        book.take_back(number, why="because", nothing_was_made=True)
    assert len(book.history()) == 6


def test_a_take_back_is_of_one_dataset_alone(book):
    book.create("sales", 1)
    reserved(book)
    reserved(book, dataset="sales")
    book.take_back(4, why="because", nothing_was_made=True)
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
        list(map(partial(book.take_back, why="because", nothing_was_made=True), range(3, 30, 2)))
    assert 500 < len(str(book.account("hr").spent)) < 4300


# --- names, descriptions and users ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["", " hr", "a\nb", "a\0b", "x" * 201, 5, None, "\ud800"])
def test_names_are_lines_of_text(book, wrong):
    calls = [
        lambda: book.create(wrong, 1),
        lambda: book.reserve("hr", 0.1, what={}, mechanism=wrong),
        lambda: book.raise_cap("hr", 2, why=wrong),
        lambda: book.take_back(2, why=wrong, nothing_was_made=True),
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
