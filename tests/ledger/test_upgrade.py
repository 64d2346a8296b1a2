"""Ledgers that earlier versions of dawa wrote: read as they are, spent on no more, and upgraded by one more entry."""

import json
import re
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

import dawa
from dawa import Axis, ledger
from dawa.errors import ExhaustedError, LedgerError
from dawa.ledger import entries
from helpers.ledger_places import FILES, in_new_schema, old

AGE = Axis("age", 0, 100)
PEOPLE = {"age": [31, 45], "person": ["a", "b"]}
OLD = [(version, place) for version in (1, 2) for place in ("sqlite", "postgres")]


@pytest.fixture(params=OLD, ids=lambda both: f"{both[1]}-{both[0]}")
def found(request, tmp_path):
    """The version, the ledger and its place."""
    version, kind = request.param
    place = str(tmp_path / "ledger.db") if kind == "sqlite" else in_new_schema(request.getfixturevalue("postgres"))
    old(version, place)
    return version, ledger.opened(place), place


@pytest.fixture
def book(tmp_path):
    """A ledger of version 1, upgraded."""
    old(1, tmp_path / "ledger.db")
    opened = ledger.opened(tmp_path / "ledger.db")
    opened.upgrade()
    return opened


def spent(book, dataset, epsilon="1/100", unit=(), table=None):
    return book.reserve(dataset, epsilon, what={}, mechanism="dawa", unit=unit, table=table)


def refusal(call):
    with pytest.raises(LedgerError) as caught:
        call()
    return caught.value


def dump(place):
    """Everything that the database holds."""
    if "://" not in place:
        return Path(place).read_bytes()
    with psycopg.connect(place) as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608  our own words
            for table in ("dawa_ledger", "dawa_ledger_entries")
        ]


# --- before -----------------------------------------------------------------------------------------------------------


def test_an_old_ledger_can_be_read_as_before(found):
    version, book, place = found
    before = dump(place)
    summary = book.summary()
    assert (summary.version, summary.broken) == (version, None)
    sums = {account.dataset: account.spent for account in summary.accounts}
    assert sums == {
        "hr": 1,
        "rows": Fraction(9, 40),
        "mixed": Fraction(11, 20),
        "Sales": Fraction(1, 7),
        "sales": Fraction(1, 3),
        "new": 0,
        "notes": Fraction(1, 4),
    }
    assert [entry.number for entry in summary.pending] == [26]
    assert len(book.history("mixed")) == 7
    json.dumps(summary.to_json())
    assert dump(place) == before


def test_nothing_more_is_spent_in_an_old_ledger(found):
    _, book, place = found
    before = dump(place)
    calls = [
        lambda: spent(book, "hr", unit=("person",)),
        lambda: spent(book, "rows"),
        lambda: book.create("another", 1),
        lambda: book.bind("hr", unit="person", why="x"),
        lambda: book.relate("hr", unit="record", times=2, why="x"),
        lambda: dawa.release(PEOPLE, AGE, epsilon="1/10", ledger=book, dataset="rows"),
    ]
    for call in calls:
        refused = refusal(call)
        assert "was made by an earlier dawa" in refused.problem
        assert "nothing more is spent in it" in refused.problem
        assert refused.hint.startswith("see what an upgrade would do: dawa ledger upgrade --dry-run --ledger ")
    assert dump(place) == before


def test_what_old_runs_began_can_be_ended_in_an_old_ledger(found):
    version, book, _ = found
    pending = book.history()[25]
    if version == 1:
        ledger.Reservation(book, pending).finalise("r")
        assert book.filed("r", "out").file == "out"
        assert book.summary().version == 1, "dawa 0.1.0 can read it still"
    else:
        book.take_back(26, why="it crashed", nothing_was_made=True)
        assert book.account("rows").spent == Fraction(1, 10)
    assert book.raise_cap("rows", 7, why="x").cap == 7
    assert book.summary().version == version


# --- a dry run, and the upgrade itself --------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_done_and_changes_nothing(found):
    version, book, place = found
    before = dump(place)
    would = book.upgrade(dry_run=True)
    assert dump(place) == before
    assert (would.version, would.entry, would.pending) == (version, None, (26,))
    assert would.same_names == (("Sales", "sales"),)
    units = {account.dataset: None if account.mixed else account.scope.unit for account in would.accounts}
    assert units == {
        "hr": ("person",),
        "rows": (),
        "mixed": None,
        "Sales": (),
        "sales": ("person",),
        "new": None,
        "notes": None,
    }
    assert [account.dataset for account in would.accounts if account.mixed] == ["mixed", "notes"]
    parts = next(account.spent for account in would.accounts if account.dataset == "mixed")
    assert [(part.scope.unit, part.epsilon, part.entries, part.columns) for part in parts] == [
        ((), Fraction(1, 10), (14,), ("age",)),
        (("person",), Fraction(1, 5), (16,), ("age",)),
        (None, Fraction(1, 4), (18,), ()),
    ]
    assert next(account.spent[0].columns for account in would.accounts if account.dataset == "hr") == ("age", "income")
    json.dumps(would.to_json())


def test_an_upgrade_is_one_more_entry(found):
    _, book, place = found
    before = book.history()
    would = book.upgrade(dry_run=True)
    done = book.upgrade(who="ada")
    assert (done.accounts, done.pending, done.same_names) == (would.accounts, would.pending, would.same_names)
    assert book.history() == [*before, done.entry], "nothing is rewritten"
    assert (done.entry.kind, done.entry.who, done.entry.dataset) == ("upgrade", "ada", "")
    summary = book.summary()
    assert (summary.version, summary.broken, summary.head) == (entries.NEWEST, None, done.entry.hash)
    after = dump(place)
    again = book.upgrade()
    assert (again.version, again.accounts, again.entry) == (entries.NEWEST, (), None)
    assert dump(place) == after


def test_after_an_upgrade_accounts_add_like_with_like(found):
    _, book, _ = found
    book.upgrade()
    assert (book.account("hr").unit, book.account("hr").table) == (("person",), None)
    spent(book, "hr", unit=("Person",), table="visits")
    assert book.account("hr").table == "visits"
    assert "spent for each record" in refusal(lambda: spent(book, "hr", table="visits")).problem
    spent(book, "rows")
    assert "spent for each 'person'" in refusal(lambda: spent(book, "rows", unit=("person",))).problem
    spent(book, "new", unit=("ward",), table="t")
    assert book.account("new").whom == "It counts what each 'ward' in t loses."
    book.create("another", 1)
    assert book.take_back(26, why="it crashed", nothing_was_made=True).dataset == "rows"
    assert book.account("rows").spent == Fraction(1, 10) + Fraction(1, 100)
    assert book.summary().broken is None


def test_a_release_pays_again_after_an_upgrade(book):
    dawa.release(PEOPLE, AGE, epsilon="1/10", ledger=book, dataset="rows")
    assert (book.account("rows").unit, book.account("rows").table) == ((), "memory")


# --- what a person decides --------------------------------------------------------------------------------------------


def test_a_mixed_account_pays_no_more_until_a_person_decides(book):
    refused = refusal(lambda: spent(book, "mixed"))
    assert refused.problem == (
        "Dataset 'mixed' cannot pay. It mixes 0.1 for each record, 0.2 for each 'person', 0.25 for a unit that"
        " nobody named: nothing more is spent on it until somebody says how these count."
    )
    assert refused.hint.startswith("say for whom it counts: dawa ledger bind mixed --unit record --why '…' --ledger ")
    account = book.bind("mixed", unit="person", table="visits", why="we protect persons")
    assert (account.spent, account.unit) == (Fraction(11, 20), ("person",))
    refused = refusal(lambda: spent(book, "mixed", unit=("person",), table="visits"))
    assert "dawa ledger relate mixed --unit record --times … --why '…' --ledger " in refused.hint
    assert "(as many times as 'person' has records at most); dawa ledger relate mixed --unit unknown" in refused.hint
    book.relate("mixed", unit="record", times=10, why="at most 10 rows")
    assert refusal(lambda: spent(book, "mixed", unit=("person",))).hint.count("relate") == 1
    account = book.relate("mixed", unit=None, times=1, why="Table 3 was made for persons")
    assert (account.spent, account.unlike) == (1 + Fraction(1, 5) + Fraction(1, 4), ())
    spent(book, "mixed", "1/20", unit=("person",), table="visits")
    assert book.account("mixed").left == Fraction(1, 2)


def test_the_truth_may_be_that_too_much_was_spent(book):
    book.bind("mixed", unit="person", why="we protect persons")
    book.relate("mixed", unit=None, times=1, why="for persons, too")
    account = book.relate("mixed", unit="record", times=20, why="at most 20 rows")
    assert account.left == Fraction(-9, 20)
    with pytest.raises(ExhaustedError, match="nothing left"):
        spent(book, "mixed", unit=("person",))


def test_an_account_that_never_said_its_unit_is_decided_by_a_person(book):
    book.bind("notes", unit="record", why="Table 4 counted rows")
    assert "--unit unknown" in refusal(lambda: spent(book, "notes")).hint
    book.relate("notes", unit=None, times=1, why="Table 4 counted rows")
    spent(book, "notes")
    assert book.account("notes").spent == Fraction(26, 100)
    assert book.history("notes")[1].what == {"note": "Table 4", "for": "the board"}, "an old word, which means nothing"


def test_names_that_differ_in_case_alone_are_written_exactly(book):
    assert (book.account("Sales").spent, book.account("sales").spent) == (Fraction(1, 7), Fraction(1, 3))
    spent(book, "sales", unit=("person",))
    spent(book, "Sales")
    for call in (book.account, book.history, book.summary, lambda name: spent(book, name), lambda n: book.create(n, 1)):
        refused = refusal(lambda call=call: call("SALES"))
        assert refused.problem.startswith("'SALES' may mean 'Sales' and 'sales': the ledger ")
        assert refused.hint == "write the name exactly as one of them."


def test_an_edited_ledger_is_not_upgraded(tmp_path):
    place = tmp_path / "ledger.db"
    text = (FILES / "ledger-1.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript(re.sub(r"'1/5'", "'1/50'", text))
    for dry_run in (True, False):
        with pytest.raises(LedgerError, match=r"was edited(?s:.)*Hint:"):
            ledger.opened(place).upgrade(dry_run=dry_run)


def test_an_upgrade_needs_no_more_rights_than_spending(postgres):
    place = in_new_schema(postgres)
    old(1, place)
    role = place.rsplit("%3D", 1)[1].replace("ledger", "clerk")
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        schema = connection.execute("SELECT current_schema()").fetchone()[0]
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT, INSERT ON dawa_ledger, dawa_ledger_entries TO {role}")
    clerk = ledger.opened(place.replace("postgres@", f"{role}@"))
    assert clerk.upgrade().entry.number == 27


def test_there_is_nothing_to_upgrade_where_there_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="There is no ledger"):
        ledger.opened(tmp_path / "none.db").upgrade()
    assert list(tmp_path.iterdir()) == []
