"""Releases that are paid together: all are booked, or none."""

import signal
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dawa import ledger
from dawa.errors import BudgetError, ExhaustedError, LedgerError
from dawa.ledger import Order
from helpers.ledger_books import TENTH


def order(epsilon=TENTH, dataset="hr", **more):
    return Order(dataset, epsilon, {"axes": ["age"]}, "dawa", **more)


def test_all_are_booked_in_their_order(book):
    booked = book.reserve_all([order("0.1"), order("0.2"), order("0.3")])
    assert [one.entry.number for one in booked] == [2, 3, 4]
    assert [one.epsilon for one in booked] == [Fraction(n, 10) for n in (1, 2, 3)]
    assert book.account("hr").spent == Fraction(6, 10)
    assert book.summary().broken is None
    booked[1].finalise("second")
    assert [entry.number for entry in book.summary().pending] == [2, 4]


def test_none_is_booked_if_one_does_not_fit(book):
    with pytest.raises(ExhaustedError, match=r"has 1 left of its cap of 1, less than the 2 releases together.*: 1\.2"):
        book.reserve_all([order("0.6"), order("0.6")])
    assert len(book.history()) == 1
    assert book.account("hr").spent == 0


def test_the_refusal_is_about_what_was_left_before_any_of_them(book):
    book.reserve_all([order("0.5")])
    with pytest.raises(ExhaustedError, match=r"has 0\.5 left of its cap of 1, less than the 3 releases together"):
        book.reserve_all([order("0.2"), order("0.2"), order("0.2")])


def test_none_is_booked_if_one_is_for_another_unit(book):
    with pytest.raises(LedgerError, match="this is spent for each 'person'"):
        book.reserve_all([order(), order(unit=("person",))])
    assert len(book.history()) == 1


def test_a_wrong_epsilon_books_nothing(book):
    with pytest.raises(BudgetError):
        book.reserve_all([order(), order(-1)])
    assert len(book.history()) == 1


def test_several_accounts_can_pay_together(book):
    book.create("it", 1)
    book.reserve_all([order(), order("1", "it")])
    assert (book.account("hr").left, book.account("it").left) == (Fraction(9, 10), 0)
    with pytest.raises(ExhaustedError, match="'it' has nothing left"):
        book.reserve_all([order(), order("0.1", "IT")])
    assert book.account("hr").left == Fraction(9, 10)


def test_factors_count_in_the_refusal(book):
    book.reserve_all([order("0.1", unit=("person",))])
    book.relate("hr", unit="record", times=3, why="nobody has more than three")
    with pytest.raises(ExhaustedError, match=r"0\.9 left of its cap of 1, less than .*: 1\.2"):
        book.reserve_all([order("0.2"), order("0.2")])


def test_one_receipt_stands_for_all(file, tmp_path):
    anchor = tmp_path / "anchor"
    book = ledger.opened(file, anchor=anchor)
    book.create("hr", 1)
    book.reserve_all([order(), order()])
    assert [int(line.split()[2]) for line in anchor.read_text().splitlines()] == [1, 3]
    assert book.account("hr").spent == Fraction(2, 10)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=4), max_size=6))
def test_it_is_like_one_after_the_other_or_nothing(tmp_path_factory, batches):
    book = ledger.opened(str(tmp_path_factory.mktemp("book") / "ledger.db"))
    book.create("hr", 1)
    spent = 0
    for batch in batches:
        if spent + sum(batch) <= 100:
            book.reserve_all([order(Fraction(part, 100)) for part in batch])
            spent += sum(batch)
        else:
            with pytest.raises(ExhaustedError):
                book.reserve_all([order(Fraction(part, 100)) for part in batch])
        assert book.account("hr").spent == Fraction(spent, 100)


WRITER = """
    import sys
    from dawa import ledger
    book = ledger.opened(sys.argv[1])
    while True:
        book.reserve_all([ledger.Order("hr", "0.001", {}, "dawa") for _ in range(3)])
        print("booked", flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3])
def test_a_killed_run_has_booked_all_three_or_none(file, seconds):
    book = ledger.opened(file)
    book.create("hr", 1000)
    for _ in range(5):
        run = subprocess.Popen(  # noqa: S603  our own script
            [sys.executable, "-c", textwrap.dedent(WRITER), file], stdout=subprocess.PIPE, text=True
        )
        run.stdout.readline()
        signal.sigtimedwait([], seconds)
        run.send_signal(signal.SIGKILL)
        heard = 1 + run.stdout.read().count("booked")
        run.wait()
        run.stdout.close()
        entries = len(book.history()) - 1
        assert entries % 3 == 0
        assert entries >= 3 * heard
        assert book.summary().broken is None
        Path(file).unlink()
        book.create("hr", 1000)
