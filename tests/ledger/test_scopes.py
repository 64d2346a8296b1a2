"""Units and tables in a ledger: compared as people mean them, written as they are read, and told in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import LedgerError
from dawa.ledger import scopes
from dawa.ledger.scopes import Scope

COLUMNS = st.lists(
    st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp", "Zs", "Co", "Cn", "Cf")), min_size=1),
    max_size=3,
    unique_by=scopes.folded,
)


@given(COLUMNS)
def test_what_is_written_is_read_back(columns):
    unit = tuple(columns)
    assert scopes.parsed(scopes.written(unit)) == unit
    assert Scope.from_json(Scope(unit, "t").to_json()) == Scope(unit, "t")


@given(COLUMNS, st.randoms())
def test_neither_order_nor_case_matters(columns, random):
    mixed = [random.choice([str.upper, str.lower, str])(column) for column in columns]
    random.shuffle(mixed)
    fair = [column for column in mixed if scopes.folded(column) in set(map(scopes.folded, columns))]
    assert Scope(tuple(columns)).alike(Scope(tuple(fair))) == (len(fair) == len(columns))


def test_names_are_compared_however_their_accents_are_encoded():
    assert scopes.folded("Caf\u00e9") == scopes.folded("CAFE\u0301")
    assert scopes.folded("a") != scopes.folded("b")


def test_what_is_not_said_is_like_nothing():
    assert not Scope(None).alike(Scope(None))
    assert not Scope(None).alike(Scope(()))
    assert Scope(()).alike(Scope((), "t"))
    assert not Scope(()).alike(Scope(("record",)))


@pytest.mark.parametrize("wrong", [None, 5, b"person", [5], [""], "", {"person": 1}, {"person"}])
def test_units_are_named_by_columns(wrong):
    with pytest.raises(LedgerError, match=r"named by columns(?s:.)*Hint: pass 'record'"):
        scopes.unit_of(wrong)


def test_a_column_is_named_once():
    with pytest.raises(LedgerError, match=r"twice(?s:.)*Hint:"):
        scopes.unit_of(["person", "Person"])


@pytest.mark.parametrize("wrong", ["", ",", "person,", '"person', "person,person"])
def test_what_names_no_unit_on_a_command_line(wrong):
    with pytest.raises(LedgerError, match="Hint:"):
        scopes.parsed(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3", None, 10**6 + 1])
def test_factors_are_whole(wrong):
    with pytest.raises(LedgerError, match=r"whole number of at least 1(?s:.)*Hint:"):
        scopes.times_of(wrong)


@pytest.mark.parametrize("wrong", [5, "", " ", b"x"])
def test_tables_are_named_by_text(wrong):
    with pytest.raises(LedgerError, match=r"named by text(?s:.)*Hint: pass the name that dawa.sources.label"):
        scopes.table_of(wrong)


@pytest.mark.parametrize(
    ("own", "other", "answer"),
    [
        (("person",), (), "as many times as 'person' has records at most"),
        (("person",), ("day", "Person"), "as many times as 'person' has different values of 'day' at most"),
        ((), ("person",), "2 times, because a record more may change which records of its 'person' are kept"),
        (("person", "day"), ("person",), "2 times"),
        (("person",), ("ward",), "2k times, if the records of 'person' belong to at most k different values of 'ward'"),
        (("person",), None, "once, if it is known to be the same unit"),
    ],
)
def test_the_advice_fits_the_units(own, other, answer):
    assert scopes.advice(Scope(own, "t"), Scope(other)).startswith(answer)


def test_the_advice_for_another_table():
    own = Scope(("person",), "t")
    assert scopes.advice(own, Scope(("PERSON",), "u")).startswith("once, if it is the same table under another name")
    assert scopes.advice(own, Scope(("PERSON",), "u")).endswith(", or holds other records of the same 'person'")
    assert scopes.advice(Scope((), "t"), Scope((), "u")).endswith(" under another name, or holds other records")
    assert scopes.advice(own, Scope((), "u")) == (
        "k times, if one 'person' more or less means at most k records more or less there"
    )
    assert scopes.advice(own, Scope(("ward",), "u")).endswith("at most k units of 'ward' more or less there")


@pytest.mark.parametrize("text", ["record", " record", "record "])
def test_spaces_do_not_make_a_column_of_records(text):
    assert scopes.parsed(text) == ()
    assert scopes.parsed(text.replace("record", "unknown")) is None


@pytest.mark.parametrize(
    "wrong",
    [{}, {"unit": []}, {"unit": "x", "table": None}, {"unit": [1], "table": None}, {"unit": None, "table": 1}, 5, None],
    ids=str,
)
def test_a_damaged_scope_is_refused(wrong):
    with pytest.raises((ValueError, TypeError, LookupError)):
        Scope.from_json(wrong)


@pytest.mark.parametrize("letter", [0x034F, 0xFE0F, 0xE0100, 0x180B, 0x115F, 0x1160, 0x3164, 0x2800, 0xFFA0])
def test_letters_that_nobody_sees_make_no_other_account(letter):
    for name in (f"h{chr(letter)}r", f"{chr(letter)}hr", f"HR{chr(letter)}"):
        assert scopes.same_account(name) == scopes.same_account("hr")
