"""Accounts add like with like: another unit or another table counts only as often as a person has said it does."""

import tempfile
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from dawa import ledger, sources
from dawa.errors import BudgetError, ExhaustedError, LedgerError
from dawa.ledger import store
from helpers.ledger_places import in_new_schema

TENTH = Fraction(1, 10)


@pytest.fixture(params=["sqlite", "postgres"])
def book(request, tmp_path):
    if request.param == "sqlite":
        return ledger.opened(tmp_path / "ledger.db")
    return ledger.opened(in_new_schema(request.getfixturevalue("postgres")))


@pytest.fixture
def file(tmp_path):
    return ledger.opened(tmp_path / "ledger.db")


def spent(book, epsilon=TENTH, unit=(), table=None, dataset="hr"):
    return book.reserve(dataset, epsilon, what={}, mechanism="dawa", unit=unit, table=table)


def test_the_word_for_an_undecided_unit_is_no_unit(book):
    for wrong in (lambda: book.create("x", 1, unit="unknown"), lambda: book.create("x", 1, unit="unknown", table="t")):
        with pytest.raises(LedgerError, match="'unknown' is not a unit"):
            wrong()
    book.create("hr", 2, unit="record")
    wrong = [
        lambda: spent(book, unit="unknown"),
        lambda: book.bind("hr", unit="unknown", why="x"),
        lambda: book.relate("hr", unit="unknown", times=5, why="x"),
        lambda: book.relate("hr", unit=None, times=5, why="no entry of this account is without a unit"),
    ]
    for call in wrong:
        with pytest.raises(LedgerError, match="'unknown' is not a unit"):
            call()
    assert len(book.history()) == 1
    assert book.create("column", 1, unit=["unknown"]).unit == ("unknown",)
    spent(book, unit=("unknown",), dataset="column")


# --- one unit, one table ----------------------------------------------------------------------------------------------


def test_an_account_for_a_unit_refuses_another(book):
    account = book.create("hr", 2, unit="person", table="visits")
    assert (account.unit, account.table) == (("person",), "visits")
    assert account.whom == "It counts what each 'person' in visits loses."
    spent(book, unit=("person",), table="visits")
    spent(book, unit=("PERSON",), table="visits")
    with pytest.raises(LedgerError) as caught:
        spent(book, table="visits")
    assert caught.value.problem == (
        "Dataset 'hr' counts what each 'person' in visits loses, and this is spent for each record."
    )
    assert "protect the same (--unit person)" in caught.value.hint
    assert "dawa ledger relate hr --unit record --times … --why '…' --ledger " in caught.value.hint
    assert caught.value.hint.endswith("it counts as many times as 'person' has records at most.")
    with pytest.raises(LedgerError) as caught:
        spent(book, unit=("person",), table="other visits")
    assert "spent on another table, other visits." in caught.value.problem
    assert "--unit person --table 'other visits' --times …" in caught.value.hint
    assert book.account("hr").spent == 2 * TENTH


def test_an_account_of_records_refuses_persons(book):
    book.create("hr", 2, unit="record")
    spent(book)
    with pytest.raises(LedgerError, match="it counts 2 times, because a record more may change which records of its"):
        spent(book, unit=("person",))
    assert "protect the same (no --unit)" in refusal(lambda: spent(book, unit=("person",))).hint


def refusal(call):
    with pytest.raises(LedgerError) as caught:
        call()
    return caught.value


def test_the_order_of_columns_does_not_matter(book):
    book.create("hr", 1, unit=["person", "day"])
    spent(book, unit=("Day", "person"))
    assert book.account("hr").unit == ("person", "day")
    refusal(lambda: spent(book, unit=("person",)))
    refusal(lambda: spent(book, unit=("day", "person", "ward")))


def test_the_first_release_decides_what_nobody_said(book):
    account = book.create("hr", 1)
    assert (account.unit, account.table) == (None, None)
    assert account.whom == "Its first release decides for whom it counts: for which unit, in which table."
    spent(book, unit=("person",), table="visits")
    account = book.account("hr")
    assert (account.unit, account.table) == (("person",), "visits")
    refusal(lambda: spent(book))
    refusal(lambda: spent(book, unit=("person",), table="u"))
    assert book.history()[1].what["for"] == {"unit": ["person"], "table": "visits"}


def test_a_table_may_be_said_and_the_unit_left_to_the_first_release(file):
    assert "for which unit in visits" in file.create("hr", 1, table="visits").whom
    assert "another table, u" in refusal(lambda: spent(file, table="u")).problem
    spent(file, unit=("person",), table="visits")
    assert file.account("hr").unit == ("person",)


def test_the_first_release_that_names_a_table_decides_the_table(file):
    file.create("hr", 1, unit="person")
    spent(file, unit=("person",))
    assert file.account("hr").whom.startswith("It counts what each 'person' loses; the first release that names")
    spent(file, unit=("person",), table="visits")
    spent(file, unit=("person",))
    assert file.account("hr").table == "visits"
    refusal(lambda: spent(file, unit=("person",), table="u"))
    assert [part.epsilon for part in file.account("hr").parts] == [3 * TENTH]


def test_a_refusal_books_nothing_and_decides_nothing(file):
    file.create("hr", "1/20")
    with pytest.raises(ExhaustedError):
        spent(file, unit=("person",), table="visits")
    assert (file.account("hr").unit, len(file.history())) == (None, 1)


@pytest.mark.parametrize("wrong", [{"unit": None}, {"unit": 5}, {"unit": [""]}, {"table": 5}, {"table": ""}])
def test_what_is_no_unit_or_table(file, wrong):
    file.create("hr", 1)
    refusal(lambda: spent(file, **wrong))
    assert len(file.history()) == 1


def test_the_word_of_the_ledger_is_its_own(file):
    file.create("hr", 1)
    with pytest.raises(LedgerError, match=r"itself writes 'for'(?s:.)*Hint: choose another"):
        file.reserve("hr", 0.1, what={"for": "me"}, mechanism="dawa")


# --- relations --------------------------------------------------------------------------------------------------------


def test_a_relation_says_how_often_others_count(book):
    book.create("hr", 2, unit="person", table="visits")
    account = book.relate("hr", unit="record", times=3, why="a person has at most 3 rows", who="ada")
    assert account.relations == (ledger.Relation(ledger.Scope(()), 3),)
    spent(book, "0.5", table="visits")
    assert book.account("hr").left == Fraction(1, 2)
    assert book.account("hr").parts == (ledger.Part(ledger.Scope(()), Fraction(1, 2), 3),)
    with pytest.raises(
        ExhaustedError,
        match=r"has 0\.5 left of its cap of 2, less than epsilon=0\.2, which counts 3 times here\.\nHint: spend at most"
        r" 1/6",
    ):
        spent(book, "0.2", table="visits")
    spent(book, "0.2", unit=("person",), table="visits").finalise("r")
    spent(book, "0.1", table="visits")
    assert (book.account("hr").left, book.account("hr").reserved) == (0, Fraction(9, 5))
    with pytest.raises(
        ExhaustedError, match=r"nothing left of its cap of 2, so epsilon=0\.1, which counts 3 times here, c"
    ):
        spent(book, table="visits")
    entry = book.history()[1]
    assert (entry.kind, entry.who, entry.dataset) == ("relate", "ada", "hr")
    assert entry.what == {
        "for": {"unit": [], "table": None},
        "times": 3,
        "why": "a person has at most 3 rows",
    }


def test_another_table_is_related_by_name(book):
    book.create("hr", 2, unit="person", table="visits")
    book.relate("hr", unit="person", table="moved", times=1, why="the same file")
    book.relate("hr", unit="record", table="moved", times=4, why="at most 4 rows")
    spent(book, unit=("person",), table="moved")
    spent(book, table="moved")
    assert book.account("hr").spent == 5 * TENTH
    refusal(lambda: spent(book, table="visits"))
    refusal(lambda: spent(book, unit=("person",), table="third"))
    assert [part.times for part in book.account("hr").parts] == [1, 4]


def test_the_own_table_has_two_names(file):
    """Its own, and none."""
    file.create("hr", 2, unit="person", table="visits")
    file.relate("hr", unit="record", table="visits", times=2, why="x")
    spent(file)
    spent(file, table="visits")
    assert file.account("hr").spent == 4 * TENTH
    assert len(file.account("hr").parts) == 1
    refusal(lambda: file.relate("hr", unit="record", times=2, why="x"))


def test_a_table_that_was_another_becomes_the_own(file):
    """What was said about it stays said."""
    file.create("hr", 2, unit="person")
    file.relate("hr", unit="record", table="t", times=3, why="x")
    file.relate("hr", unit="person", table="t", times=2, why="x")
    spent(file, table="t")
    assert file.account("hr").table is None
    account = file.bind("hr", table="t", why="it is the same after all")
    assert (account.unlike, account.spent) == ((), 3 * TENTH)
    spent(file)
    spent(file, unit=("person",))
    assert file.account("hr").spent == 8 * TENTH, "the larger factor counts"


def test_a_factor_is_raised_for_what_was_spent_already_and_never_lowered(book):
    book.create("hr", 1, unit="person")
    book.relate("hr", unit="record", times=2, why="at most 2 rows")
    spent(book, "0.4").finalise("r")
    assert book.account("hr").left == Fraction(1, 5)
    for times in (1, 2):
        refused = refusal(lambda times=times: book.relate("hr", unit="record", times=times, why="fewer"))
        assert refused.problem == "What each record loses already counts 2 times in dataset 'hr'."
    account = book.relate("hr", unit="record", times=3, why="somebody has 3")
    assert account.left == Fraction(-1, 5)
    assert str(account) == "'hr' is overspent by 0.2, beyond its cap of 1"
    with pytest.raises(ExhaustedError, match="nothing left of its cap of 1"):
        spent(book, unit=("person",))
    assert book.raise_cap("hr", 2, why="so be it").left == Fraction(4, 5)


def test_what_is_alike_needs_no_relation(file):
    file.create("hr", 1, unit="person", table="visits")
    for own in ({"unit": "Person"}, {"unit": ["person"], "table": "visits"}):
        assert "that itself, once" in refusal(lambda own=own: file.relate("hr", **own, times=2, why="x")).problem


def test_nothing_relates_to_an_account_that_counts_for_nobody(file):
    file.create("hr", 1)
    refused = refusal(lambda: file.relate("hr", unit="record", times=2, why="x"))
    assert "not decided yet for whom dataset 'hr' counts" in refused.problem
    assert "dawa ledger bind hr --unit …" in refused.hint


@pytest.mark.parametrize("wrong", [{"times": 0}, {"times": "1/2"}, {"why": ""}, {"unit": 5}, {"table": 5}])
def test_a_relation_is_checked(file, wrong):
    file.create("hr", 1, unit="person")
    refusal(lambda: file.relate("hr", **{"unit": "record", "times": 2, "why": "x", **wrong}))
    assert len(file.history()) == 1


def test_factors_do_not_make_sums_too_long_to_print(file):
    """The halves of round numbers are not round once one of them counts three times."""
    file.create("hr", 100, unit="person")
    file.relate("hr", unit="record", times=1, why="x")
    for k in range(1, 15):
        fine = Fraction(1, 10**70 + k) + Fraction(1, 100)
        spent(file, fine)
        spent(file, TENTH - fine, unit=("person",))
    assert file.account("hr").spent == 14 * TENTH
    assert (
        "With this factor the sum that is spent has too many"
        in refusal(lambda: file.relate("hr", unit="record", times=3, why="x")).problem
    )
    with pytest.raises(BudgetError, match="too many digits"):
        list(map(partial(spent, file), (Fraction(1, 10**71 + k) + Fraction(1, 100) for k in range(1, 15))))


def test_what_counted_often_is_taken_back_as_often(file):
    file.create("hr", 1, unit="person")
    file.relate("hr", unit="record", times=5, why="x")
    number = spent(file).entry.number
    assert file.account("hr").spent == Fraction(1, 2)
    file.take_back(number, why="down", nothing_was_made=True)
    assert file.account("hr").spent == 0


def test_a_failure_says_how_often_it_counted(file):
    file.create("hr", 1, unit="person")
    file.relate("hr", unit="record", times=5, why="x")
    with pytest.raises(RuntimeError) as caught, spent(file).accounted():
        raise RuntimeError
    (note,) = caught.value.__notes__
    assert note.startswith(
        "epsilon=0.1, which counts 5 times, was spent on dataset 'hr' all the same (entry 3 of the ledger); 0.5 of 1 is"
    )


# --- binding ----------------------------------------------------------------------------------------------------------


def test_a_person_says_for_whom_an_account_counts(book):
    book.create("hr", 1)
    assert book.bind("hr", unit="person", why="we protect persons", who="ada").unit == ("person",)
    assert book.bind("hr", table="visits", why="always was").table == "visits"
    refusal(lambda: spent(book))
    spent(book, unit=("person",), table="visits")
    for other in ({"unit": "record"}, {"table": "u"}, {"unit": "person", "table": "u"}):
        refused = refusal(lambda other=other: book.bind("hr", **other, why="x"))
        assert refused.problem == "Dataset 'hr' counts what each 'person' in visits loses, and 0.1 of it is spent."
    assert [entry.kind for entry in book.history()] == ["create", "bind", "bind", "reserve"]


def test_a_wrong_first_release_can_be_undone_before_anything_is_spent(file):
    """Bound by mistake; the run is taken back; then a person says what was meant, and old factors are void."""
    file.create("hr", 1)
    number = spent(file, table="visits").entry.number
    file.relate("hr", unit="person", times=2, why="x")
    file.take_back(number, why="down", nothing_was_made=True)
    assert file.account("hr").unit == (), "a take-back alone changes nothing"
    account = file.bind("hr", unit="person", why="we meant persons")
    assert (account.unit, account.table, account.relations) == (("person",), "visits", ())
    refusal(lambda: spent(file, table="visits"))


def test_binding_says_something(file):
    file.create("hr", 1)
    assert "Neither a unit nor a table" in refusal(lambda: file.bind("hr", why="x")).problem
    refusal(lambda: file.bind("hr", unit="person", why=""))
    refusal(lambda: file.bind("rh", unit="person", why="x"))


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_are_compared_without_case(book):
    book.create("Straße", 1, unit="Person")
    assert "already has an account, as 'Straße': names are" in refusal(lambda: book.create("STRASSE", 1)).problem
    number = spent(book, unit=("PERSON",), dataset="strasse").entry.number
    assert book.account("STRASSE").dataset == "Straße"
    assert book.raise_cap("strasse", 2, why="x").cap == 2
    assert book.relate("strasse", unit="record", times=2, why="x").relations[0].times == 2
    assert book.bind("strasse", table="t", why="x").table == "t"
    assert book.take_back(number, why="x", nothing_was_made=True).dataset == "Straße"
    assert {entry.dataset for entry in book.history("sTRASSE")} == {"Straße"}
    assert len(book.history("sTRASSE")) == len(book.history()) == 6
    assert len(book.summary("STRASSE").accounts) == len(book.summary("STRASSE").taken_back) == 1
    assert book.summary().to_json()["accounts"][0]["dataset"] == "Straße"


# --- against a twin ---------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["hr", "hr", "HR", "sales"])
UNITS = st.sampled_from([(), ("person",), ("Day", "person"), ("person", "day"), ("PERSON",)])
TABLES = st.sampled_from([None, "t", "u"])
AMOUNTS = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 7), Fraction(2, 3)])


class Plain:
    """An account as a careful person keeps it: a list of what was spent, added anew each time somebody asks."""

    def __init__(self, name, cap, unit, table):
        self.name, self.cap, self.unit, self.table = name, cap, unit, table
        self.said = []  # what people said: unit, table, factor
        self.live = {}  # what is spent: entry -> unit, table, epsilon

    def factor(self, unit, table):
        if self.unit is None:
            return 1 if self.table is None or table in {None, self.table} else None
        mine = table is None or self.table is None or table == self.table
        names = {None, self.table, table} if mine else {table}
        fitting = [1] if mine and unit == self.unit else []
        fitting += [times for other, where, times in self.said if other == unit and where in names]
        return max(fitting) if fitting else None

    def spent(self):
        return sum(epsilon * self.factor(unit, table) for unit, table, epsilon in self.live.values())

    def settle(self, unit, table):
        if self.unit is None:
            self.unit, self.table = unit, self.table or table
        elif self.table is None and not any((unit, table) == (other, where) for other, where, _ in self.said):
            self.table = table


def meant(unit):
    return None if unit is None else frozenset(column.lower() for column in unit)


class Twin(RuleBasedStateMachine):
    """Any order of operations, against a twin that adds like with like in plain Python."""

    def __init__(self, place):
        super().__init__()
        self.book, self.kept, self.pending, self.entries = ledger.opened(place), {}, {}, 0

    def attempt(self, call, *, allowed):
        """The call succeeds exactly if the twin says so."""
        if allowed:
            self.entries += 1
            return call()
        with pytest.raises((LedgerError, ExhaustedError)):
            call()
        return None

    @rule(name=NAMES, cap=st.sampled_from([Fraction(1), Fraction(7, 3)]), unit=st.none() | UNITS, table=TABLES)
    def create(self, name, cap, unit, table):
        allowed = name.lower() not in self.kept
        if self.attempt(lambda: self.book.create(name, cap, unit=unit, table=table), allowed=allowed):
            self.kept[name.lower()] = Plain(name, cap, meant(unit), table)

    @precondition(lambda self: self.kept)
    @rule(name=NAMES, epsilon=AMOUNTS, unit=UNITS, table=TABLES)
    def reserve(self, name, epsilon, unit, table):
        plain = self.kept.get(name.lower())
        factor = plain and plain.factor(meant(unit), table)
        allowed = bool(factor) and plain.spent() + factor * epsilon <= plain.cap
        made = self.attempt(lambda: spent(self.book, epsilon, unit, table, name), allowed=allowed)
        if made:
            plain.settle(meant(unit), table)
            plain.live[self.entries] = meant(unit), table, epsilon
            self.pending[self.entries] = plain
            assert made.entry.number == self.entries

    @precondition(lambda self: self.kept)
    @rule(name=NAMES, unit=UNITS, table=TABLES, times=st.integers(1, 3))
    def relate(self, name, unit, table, times):
        plain, other = self.kept.get(name.lower()), meant(unit)
        allowed = plain is not None and plain.unit is not None
        if allowed:
            where = None if table == plain.table else table
            itself = other == plain.unit and where is None
            before = [said for one, place, said in plain.said if (one, place) == (other, where)]
            allowed = not itself and times > max(before, default=0)
        call = lambda: self.book.relate(name, unit=unit, table=table, times=times, why="because")  # noqa: E731
        if self.attempt(call, allowed=allowed):
            plain.said.append((other, where, times))

    @precondition(lambda self: self.kept)
    @rule(name=NAMES, unit=st.none() | UNITS, table=TABLES)
    def bind(self, name, unit, table):
        plain, said = self.kept.get(name.lower()), meant(unit)
        allowed = plain is not None and (said, table) != (None, None)
        if allowed and plain.live:
            allowed = said in {None, plain.unit} and (table is None or plain.table in {None, table})
        if self.attempt(lambda: self.book.bind(name, unit=unit, table=table, why="because"), allowed=allowed):
            before = plain.unit, plain.table
            plain.unit, plain.table = plain.unit if said is None else said, table or plain.table
            if not plain.live and before != (plain.unit, plain.table):
                plain.said = []

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), back=st.booleans())
    def close(self, data, back):
        number = data.draw(st.sampled_from(sorted(self.pending)))
        plain = self.pending.pop(number)
        if back:
            self.book.take_back(number, why="because", nothing_was_made=True)
            del plain.live[number]
        else:
            entry = next(entry for entry in self.book.history() if entry.number == number)
            ledger.Reservation(self.book, entry).finalise(f"r{number}")
        self.entries += 1

    @precondition(lambda self: self.kept)
    @invariant()
    def agrees(self):
        summary = self.book.summary()
        assert (summary.broken, summary.entries) == (None, self.entries)
        assert [account.dataset for account in summary.accounts] == [plain.name for plain in self.kept.values()]
        for account, plain in zip(summary.accounts, self.kept.values(), strict=True):
            assert (meant(account.unit), account.table, account.cap) == (plain.unit, plain.table, plain.cap)
            assert account.spent == plain.spent()
            assert account.reserved == sum(
                epsilon * plain.factor(unit, table)
                for number, (unit, table, epsilon) in plain.live.items()
                if number in self.pending
            )
            assert account.unlike == ()
            assert account.spent == sum(part.times * part.epsilon for part in account.parts)


class Sheet:
    """A ledger on a sheet of paper: the same decisions, without a database, and so many more of them."""

    def __init__(self):
        self.entries = []

    def read(self, _place):
        return store.Pages(tuple(self.entries), None)

    def append(self, place, decide, *, making=False):
        del making
        entry = replace(decide(self.read(place)), number=len(self.entries) + 1)
        self.entries.append(entry)
        return entry

    def append_all(self, place, decisions, *, making=False):
        return [self.append(place, decide, making=making) for decide in decisions]


@pytest.mark.parametrize("examples", [60, pytest.param(1500, marks=pytest.mark.long)])
def test_any_order_of_operations_agrees_with_a_twin_on_paper(monkeypatch, tmp_path, examples):
    def fresh():
        sheet = Sheet()
        monkeypatch.setattr(store, "read", sheet.read)
        monkeypatch.setattr(store, "append", sheet.append)
        monkeypatch.setattr(store, "append_all", sheet.append_all)
        return Twin(tmp_path / "none.db")

    run_state_machine_as_test(fresh, settings=settings(max_examples=examples, stateful_step_count=40, deadline=None))
    assert not (tmp_path / "none.db").exists()


@pytest.mark.long
def test_any_order_of_operations_agrees_with_a_twin_sqlite(tmp_path):
    run_state_machine_as_test(
        lambda: Twin(f"{tempfile.mkdtemp(dir=tmp_path)}/ledger.db"),
        settings=settings(max_examples=20, stateful_step_count=25, deadline=None),
    )


def test_any_order_of_operations_agrees_with_a_twin_postgres(postgres):
    run_state_machine_as_test(
        lambda: Twin(in_new_schema(postgres)),
        settings=settings(max_examples=6, stateful_step_count=15, deadline=None),
    )


def test_an_account_for_an_address_without_its_port_asks(file):
    """As 0.2.0.dev has named such tables."""
    old, new = "http://server/x.csv", sources.label("http://server:8799/x.csv?year=2013")
    file.create("hr", 1, unit="person", table=old)
    with pytest.raises(LedgerError, match="spent on another table") as caught:
        spent(file, unit=("person",), table=new)
    assert f"--table '{new}'" in caught.value.hint
    file.relate("hr", unit="person", table=new, times=1, why="The same file")
    spent(file, unit=("person",), table=new)
