"""Entries and accounts, without a database: read back as written, changes noticed, sums exact."""

import gc
import hashlib
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa import ledger
from dawa.errors import LedgerError
from dawa.ledger import entries
from dawa.ledger.accounts import accounts, closed_by, pending, shown
from dawa.ledger.entries import Entry

NUMBERS = st.fractions(min_value=0, max_value=10**6, max_denominator=10**30)
TEXTS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ENTRIES = st.builds(
    Entry,
    number=st.integers(1, 10**6),
    kind=st.sampled_from(entries.KINDS),
    dataset=TEXTS,
    at=TEXTS,
    who=TEXTS,
    epsilon=st.none() | NUMBERS,
    cap=st.none() | NUMBERS,
    mechanism=st.none() | TEXTS,
    what=st.none() | st.dictionaries(TEXTS, JSON, max_size=3),
    reservation=st.none() | st.integers(1, 10**6),
    release_id=st.none() | TEXTS,
    file=st.none() | TEXTS,
    previous=TEXTS,
    hash=TEXTS,
)


def chained(found):
    """Rows that follow from each other."""
    rows, previous = [], entries.START
    for number, entry in enumerate(found, 1):
        row = entries.row(replace(entry, number=number, previous=previous))
        previous = entries.digest(row)
        row = (*row[:-1], previous)
        rows.append(row)
    return rows


@settings(deadline=None)
@given(ENTRIES)
def test_an_entry_is_read_back_as_it_was(entry):
    assert entries.read(entries.row(entry)) == entry
    assert entries.digest(entries.row(entry)) == entries.digest(entries.row(entries.read(entries.row(entry))))


@settings(deadline=None)
@given(st.lists(ENTRIES, max_size=5))
def test_a_chain_is_whole(found):
    assert entries.first_broken(chained(found)) is None


@settings(deadline=None)
@given(st.lists(ENTRIES, min_size=1, max_size=5), st.data())
def test_a_change_of_any_field_is_noticed_where_it_is(found, data):
    rows = chained(found)
    place = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.sampled_from(range(len(entries.COLUMNS))))
    changed = data.draw(st.none() | st.integers() | TEXTS)
    same = type(changed) is type(rows[place][column]) and changed == rows[place][column]
    rows[place] = (*rows[place][:column], changed, *rows[place][column + 1 :])
    assert entries.first_broken(rows) == (None if same else place + 1)


@settings(deadline=None)
@given(st.lists(ENTRIES, min_size=2, max_size=5), st.data())
def test_a_removed_or_moved_entry_is_noticed(found, data):
    rows = chained(found)
    place = data.draw(st.integers(0, len(rows) - 2))
    fewer = rows[:place] + rows[place + 1 :]
    assert entries.first_broken(fewer) == place + 1
    moved = [*rows[:place], rows[place + 1], rows[place], *rows[place + 2 :]]
    assert entries.first_broken(moved) == place + 1


def test_the_end_cut_off_shows_in_the_head_alone():
    """No chain can notice this by itself; ledger.md says so."""
    rows = chained([Entry(number=0, kind="file", dataset="a", at="", who="", previous="")] * 3)
    assert entries.first_broken(rows[:2]) is None


def test_the_hash_does_not_depend_on_the_version_of_this_library():
    entry = Entry(number=1, kind="create", dataset="é", at="t", who="w", cap=Fraction(1, 3), previous=entries.START)
    text = r'[1,"create","\u00e9","t","w",null,"1/3",null,null,null,null,null,"' + "0" * 64 + '"]'
    assert entries.digest(entries.row(entry)) == hashlib.sha256(text.encode()).hexdigest()


def test_the_same_description_is_the_same_text():
    assert entries.canonical({"b": 1, "a": [1, "é"]}) == entries.canonical({"a": [1, "é"], "b": 1})
    with pytest.raises(ValueError, match="JSON"):
        entries.canonical({"a": float("nan")})


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "refund"}, {"epsilon": "much"}, {"epsilon": "1/0"}, {"what": "{"}, {"cap": b"\xff"}, {"colour": "red"}],
    ids=str,
)
def test_a_damaged_row_is_refused(wrong):
    row = entries.row(Entry(number=1, kind="reserve", dataset="a", at="", who="", previous=""))
    entries.read(row)
    with pytest.raises((ValueError, TypeError, LookupError, ArithmeticError)):
        entries.read(tuple({**dict(zip(entries.COLUMNS, row, strict=True)), **wrong}.values()))


def sums(account):
    return account.cap, account.spent, account.reserved


def test_accounts_are_sums():
    def entry(number, kind, dataset="hr", **more):
        return Entry(number=number, kind=kind, dataset=dataset, at="", who="", previous="", **more)

    found = [
        entry(1, "create", cap=Fraction(1)),
        entry(2, "create", "sales", cap=Fraction(1, 3)),
        entry(3, "reserve", epsilon=Fraction(1, 7)),
        entry(4, "reserve", epsilon=Fraction(1, 10)),
        entry(5, "reserve", "sales", epsilon=Fraction(1, 3)),
        entry(6, "finalise", reservation=3),
        entry(7, "file", reservation=3),
        entry(8, "raise", cap=Fraction(2)),
    ]
    assert {name: sums(account) for name, account in accounts(found).items()} == {
        "hr": (Fraction(2), Fraction(17, 70), Fraction(1, 10)),
        "sales": (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
    }
    assert accounts(found)["sales"].left == 0
    assert [waiting.number for waiting in pending(found)] == [4, 5]
    found.append(entry(9, "take-back", reservation=4))
    assert sums(accounts(found)["hr"]) == (Fraction(2), Fraction(1, 7), Fraction(0))
    assert [waiting.number for waiting in pending(found)] == [5]
    assert [closed_by(found, number) for number in (3, 4, 5)] == [found[5], found[8], None]


@pytest.mark.parametrize(
    "wrong",
    [{"reservation": 3}, {"reservation": 9}, {"reservation": None}, {"reservation": 2, "dataset": "sales"}],
    ids=str,
)
@pytest.mark.parametrize("kind", ["take-back", "finalise"])
def test_what_was_not_reserved_there_is_not_taken_back(kind, wrong):
    """A forged entry gives no account back what another spent, nor the same twice."""

    def entry(number, kind, **more):
        return Entry(**{"number": number, "kind": kind, "dataset": "hr", "at": "", "who": "", "previous": "", **more})

    found = [
        entry(1, "create", cap=Fraction(1)),
        entry(2, "reserve", epsilon=Fraction(1, 7)),
        entry(3, "reserve", epsilon=Fraction(1, 10)),
        entry(4, "take-back", reservation=3),
        entry(5, "create", dataset="sales", cap=Fraction(1)),
        entry(6, kind, **wrong),
    ]
    with pytest.raises(LookupError):
        accounts(found)


@settings(deadline=None)
@given(NUMBERS)
def test_a_budget_is_never_rounded_when_it_is_shown(value):
    assert Fraction(shown(value)) == value


def test_descriptions_that_no_reader_could_take_apart_are_refused(tmp_path):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=1, unit="record")
    for depth in (40, 494, 5000):
        what = {}
        for _ in range(depth):
            what = {"a": [what]} if depth == 40 else {"a": what}
        with pytest.raises(LedgerError, match=r"deep|plain JSON"):
            book.reserve("hr", "0.1", what=what, mechanism="dawa")
    assert len(book.history()) == 1


@pytest.mark.parametrize("file", [b"x", 5, ["x"]])
def test_what_is_no_path_is_refused(tmp_path, file):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=1, unit="record")
    reserved = book.reserve("hr", "0.1", what={}, mechanism="dawa")
    with pytest.raises(LedgerError, match="is not a path"):
        reserved.finalise("x", file)
    reserved.finalise("x")
    with pytest.raises(LedgerError, match="is not a path"):
        book.filed("x", file)


def test_long_names_of_users_are_cut(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "x" * 100_000)
    assert len(entries.user()) == entries.LONGEST


@pytest.mark.parametrize("on", [True, False])
def test_looking_for_garbage_goes_on_as_it_was(on):
    """Who has turned it off keeps it off."""
    was = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with entries.kept():
            assert not gc.isenabled()
        assert gc.isenabled() == on
    finally:
        (gc.enable if was else gc.disable)()
