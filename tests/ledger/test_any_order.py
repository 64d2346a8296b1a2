"""Any order of operations at a ledger, by two hands, comes to what a twin of dictionaries comes to."""

import tempfile
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from dawa import ledger
from dawa.errors import ExhaustedError, LedgerError, TakenBackError
from helpers.ledger_books import reserved
from helpers.ledger_places import in_new_schema

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
            self.books[hand].take_back(number, why="because", nothing_was_made=True)
            self.entries += 1
            self.undone.add(number)
            dataset, epsilon = self.open.pop(number)
            self.spent[dataset].remove(epsilon)
        else:
            with pytest.raises(LedgerError):
                self.books[hand].take_back(number, why="because", nothing_was_made=True)

    @precondition(lambda self: self.entries)
    @rule(hand=HANDS, beyond=st.integers(-3, 3))
    def take_back_what_is_not_reserved(self, hand, beyond):
        numbers = {reservation.entry.number for reservation in self.reservations}
        number = self.entries + beyond
        if number not in numbers:
            with pytest.raises(LedgerError):
                self.books[hand].take_back(number, why="because", nothing_was_made=True)

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


@pytest.mark.parametrize("examples", [8, pytest.param(30, marks=pytest.mark.long)])
def test_any_order_of_operations_agrees_with_a_twin_sqlite(tmp_path, examples):
    run_state_machine_as_test(
        lambda: Twin(f"{tempfile.mkdtemp(dir=tmp_path)}/ledger.db"),
        settings=settings(max_examples=examples, stateful_step_count=20, deadline=None),
    )


@pytest.mark.long
def test_any_order_of_operations_agrees_with_a_twin_postgres(postgres):
    run_state_machine_as_test(
        lambda: Twin(in_new_schema(postgres)),
        settings=settings(max_examples=6, stateful_step_count=15, deadline=None),
    )
