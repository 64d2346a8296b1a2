"""Any order of operations by two hands at one ledger, some killed at any step, against a twin in dictionaries.

The ledger is new, or one that an earlier dawa wrote; receipts are kept; older copies of the file are put back.
"""

import json
import sqlite3
import tempfile
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dawa import ledger
from dawa.errors import DawaError, LedgerError
from dawa.ledger import anchor
from helpers.ledger_crashes import STEPS, Hands
from helpers.ledger_places import old

NAMES = st.sampled_from(["hr", "HR", "rows", "mixed", "Sales", "sales", "SALES"])
UNITS = st.sampled_from([(), ("person",), ("Day", "person"), ("PERSON",)])
TABLES = st.sampled_from([None, "t", "u"])
AMOUNTS = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 7), Fraction(2, 3)])
CAPS = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7, 3)])
HANDS = st.sampled_from([0, 1, 0, 1, "killed"])
NEWEST = 3


def meant(unit):
    """A unit as it is compared."""
    return None if unit is None else frozenset(column.lower() for column in unit)


class Plain:
    """An account as a careful person keeps it: a list of what was spent, added anew each time somebody asks."""

    def __init__(self, cap, unit=None, table=None):
        self.cap, self.unit, self.table = cap, unit, table
        self.said = {}  # unit and table -> factor
        self.live = {}  # entry -> unit, table, epsilon

    def factor(self, unit, table):
        """How often it counts; None if nobody said so."""
        mine = table is None or self.table is None or table == self.table
        names = {table} | ({None, self.table} if mine else set())
        fitting = [1] if mine and unit == self.unit and unit is not None else []
        fitting += [times for (other, at), times in self.said.items() if other == unit and at in names]
        return max(fitting, default=None)

    def spent(self, numbers=None):
        """Everything, or what these entries spent."""
        some = [self.live[number] for number in self.live if numbers is None or number in numbers]
        return sum((self.factor(unit, table) or 1) * epsilon for unit, table, epsilon in some)

    def asked(self, unit, table):
        """How often something new would count; None if it is refused."""
        if any(self.factor(one, where) is None for one, where, _ in self.live.values()):
            return None  # it is mixed
        if self.unit is None:
            return 1 if table is None or self.table in {None, table} else None
        return self.factor(unit, table)

    def settle(self, unit, table):
        if self.unit is None and not self.live:
            self.unit, self.table = unit, self.table or table
        elif self.table is None and (unit, table) not in self.said:
            self.table = table


def rows_of(place):
    """All rows, read behind the ledger's back; what a killed hand left half done is undone by SQLite."""
    if not Path(place).exists():
        return []
    with closing(sqlite3.connect(place)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'dawa_ledger_entries'").fetchall():
            return []
        return connection.execute("SELECT * FROM dawa_ledger_entries ORDER BY number").fetchall()


class Twin(RuleBasedStateMachine):
    """The ledger and what it should be."""

    def __init__(self, folder, hands):
        super().__init__()
        self.place, self.kept = f"{folder}/ledger.db", Path(folder) / "receipts.txt"
        self.killing = hands
        self.books = [ledger.opened(self.place, anchor=self.kept) for _ in range(2)]
        self.accounts, self.pending, self.closed, self.rows = {}, {}, {}, []
        self.version, self.copy = NEWEST, None

    # --- what is there ------------------------------------------------------------------------------------------------

    @initialize(version=st.sampled_from([None, None, 1, 2]))
    def begin(self, version):
        """A place without a ledger; or an old ledger, for which somebody begins to keep receipts."""
        if version is None:
            return
        old(version, self.place)
        self.version, self.rows = version, rows_of(self.place)
        for number, kind, dataset, _at, _who, epsilon, cap, _mechanism, what, closes, release, *_ in self.rows:
            if kind == "create":
                self.accounts[dataset] = Plain(Fraction(cap))
            elif kind == "reserve":
                unit = json.loads(what).get("unit", "nobody said")
                unit = {None: frozenset(), "nobody said": None}.get(unit, frozenset([unit]))
                self.accounts[dataset].live[number] = unit, None, Fraction(epsilon)
                self.pending[number] = dataset
            elif kind == "take-back":
                del self.accounts[dataset].live[closes], self.pending[closes]
            elif kind == "raise":
                self.accounts[dataset].cap = Fraction(cap)
            else:
                assert kind == "finalise"
                self.closed[closes] = release
                del self.pending[closes]
        self.receipt()

    def receipt(self):
        """What a person does who begins an anchor."""
        with self.kept.open("a", encoding="ascii") as file:
            file.write(f"{ledger.opened(self.place).receipt()}\n")

    def named(self, name):
        """The account that a name means, if it means one."""
        alike = [other for other in self.accounts if other.lower() == name.lower()]
        found = name if name in self.accounts else alike[0] if len(alike) == 1 else None
        return found, self.accounts.get(found)

    def attempt(self, hand, call, *, allowed, **arguments):
        """Let a hand do something; whether it is booked, which it is exactly if it is allowed and nobody killed it."""
        why = None
        if hand == "killed":
            told = self.killed(call, arguments)
        else:
            told = "done"
            try:
                done(self.books[hand], call, arguments)
            except DawaError as error:
                told, why = "refused", error
        rows = rows_of(self.place)
        assert rows[: len(self.rows)] == self.rows, "what was booked has changed"
        booked = len(rows) - len(self.rows)
        if told == "killed":
            assert booked <= int(allowed)
        else:
            assert (told, booked) == (("done", 1) if allowed else ("refused", 0)), why
        self.rows = rows
        if booked == 1 == len(rows) and told == "killed":
            self.begun()
        return booked == 1

    def killed(self, call, arguments):
        """What a run told that was killed somewhere, or not, if the step is beyond its end."""
        plain = {name: str(value) if isinstance(value, Fraction) else value for name, value in arguments.items()}
        steps = self.data.draw(st.integers(0, STEPS), label="steps")
        return self.killing.order(place=self.place, anchor=str(self.kept), call=call, arguments=plain, steps=steps)

    def begun(self):
        """Killed between the first entry and its receipt, a ledger is used by nobody until a person has looked."""
        if not (self.kept.exists() and anchor.receipts(self.kept.read_text(encoding="ascii"))):
            for book in self.books:
                with pytest.raises(LedgerError, match=r"cannot be read|has no receipt"):
                    book.summary()
            self.receipt()

    # --- what hands do ------------------------------------------------------------------------------------------------

    @rule(data=st.data(), hand=HANDS, name=NAMES, cap=CAPS, unit=st.none() | UNITS, table=TABLES)
    def create(self, data, hand, name, cap, unit, table):
        self.data = data
        allowed = self.version == NEWEST and not any(other.lower() == name.lower() for other in self.accounts)
        if self.attempt(hand, "create", allowed=allowed, dataset=name, cap=cap, unit=unit, table=table):
            self.accounts[name] = Plain(cap, meant(unit), table)

    @precondition(lambda self: self.accounts)
    @rule(data=st.data(), hand=HANDS, name=NAMES, epsilon=AMOUNTS, unit=UNITS, table=TABLES)
    def reserve(self, data, hand, name, epsilon, unit, table):
        self.data = data
        name, plain = self.named(name)
        times = plain and plain.asked(meant(unit), table)
        allowed = self.version == NEWEST and bool(times) and plain.spent() + times * epsilon <= plain.cap
        spending = {"dataset": name or "none", "epsilon": epsilon, "what": {}, "mechanism": "dawa"}
        if self.attempt(hand, "reserve", allowed=allowed, **spending, unit=unit, table=table):
            plain.settle(meant(unit), table)
            plain.live[len(self.rows)] = meant(unit), table, epsilon
            self.pending[len(self.rows)] = name
            assert plain.spent() <= plain.cap

    @precondition(lambda self: self.pending or self.closed)
    @rule(data=st.data(), hand=HANDS, file=st.none() | st.just("out"))
    def finalise(self, data, hand, file):
        """As a run does, or whoever recovers it: twice is once."""
        self.data = data
        number = data.draw(st.sampled_from(sorted({**self.pending, **self.closed})), label="reservation")
        release = self.closed.get(number) or f"release-{number}"
        told = {"number": number, "release_id": release, "file": file}
        if number in self.closed:
            self.again(self.books[0], told)
        elif self.attempt(hand, "finalise", allowed=True, **told):
            del self.pending[number]
            self.closed[number] = release

    def again(self, book, told):
        """A release that is booked is not booked again; another one for its reservation is refused."""
        if self.closed[told["number"]] is None:
            with pytest.raises(LedgerError, match="taken back"):
                done(book, "finalise", told | {"release_id": "late"})
        else:
            entry = done(book, "finalise", told)
            assert (entry.reservation, entry.release_id) == (told["number"], told["release_id"])
            with pytest.raises(LedgerError):
                done(book, "finalise", told | {"release_id": "another"})
        assert rows_of(self.place) == self.rows

    @precondition(lambda self: self.pending or self.closed)
    @rule(data=st.data(), hand=HANDS)
    def take_back(self, data, hand):
        self.data = data
        number = data.draw(st.sampled_from(sorted({**self.pending, **self.closed})), label="reservation")
        told = {"entry_number": number, "why": "because", "nothing_was_made": True}
        if self.attempt(hand, "take_back", allowed=number in self.pending, **told):
            del self.accounts[self.pending.pop(number)].live[number]
            self.closed[number] = None
            self.version = max(self.version, 2)

    @precondition(lambda self: self.accounts)
    @rule(data=st.data(), hand=HANDS, name=NAMES, cap=CAPS)
    def raise_cap(self, data, hand, name, cap):
        self.data = data
        name, plain = self.named(name)
        told = {"dataset": name or "none", "cap": cap, "why": "because"}
        if self.attempt(hand, "raise_cap", allowed=plain is not None and cap > plain.cap, **told):
            plain.cap = cap

    @precondition(lambda self: self.accounts)
    @rule(data=st.data(), hand=HANDS, name=NAMES, unit=st.none() | UNITS, table=TABLES)
    def bind(self, data, hand, name, unit, table):
        self.data = data
        (name, plain), said = self.named(name), meant(unit)
        allowed = plain is not None and self.version == NEWEST and (said, table) != (None, None)
        if allowed and plain.live:
            same = said is None or plain.unit in {None, said}
            allowed = same and (table is None or plain.table in {None, table})
        told = {"dataset": name or "none", "unit": unit, "table": table, "why": "because"}
        if self.attempt(hand, "bind", allowed=allowed, **told):
            before = plain.unit, plain.table
            plain.unit, plain.table = plain.unit if said is None else said, table or plain.table
            if not plain.live and before != (plain.unit, plain.table):
                plain.said = {}

    @precondition(lambda self: self.accounts)
    @rule(data=st.data(), hand=HANDS, name=NAMES, unit=st.none() | UNITS, table=TABLES, times=st.integers(1, 3))
    def relate(self, data, hand, name, unit, table, times):
        self.data = data
        (name, plain), other = self.named(name), meant(unit)
        where = None if plain is None or table == plain.table else table
        allowed = plain is not None and plain.unit is not None and self.version == NEWEST
        if allowed:
            nobody = unit is None and not any(one is None for one, _, _ in plain.live.values())
            itself = other == plain.unit and where is None
            allowed = not (nobody or itself) and times > plain.said.get((other, where), 0)
        told = {"dataset": name or "none", "unit": unit, "table": table, "times": times, "why": "because"}
        if self.attempt(hand, "relate", allowed=allowed, **told):
            plain.said[other, where] = times

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), hand=HANDS)
    def upgrade(self, data, hand):
        self.data = data
        if self.version == NEWEST:
            assert self.books[0].upgrade().entry is None
            assert rows_of(self.place) == self.rows
        elif self.attempt(hand, "upgrade", allowed=True):
            self.version = NEWEST
            for plain in self.accounts.values():
                units = {unit for unit, _, _ in plain.live.values()}
                plain.unit = units.pop() if len(units) == 1 else None

    # --- what befalls the file ----------------------------------------------------------------------------------------

    @precondition(lambda self: self.rows)
    @rule()
    def copied(self):
        self.copy = Path(self.place).read_bytes(), len(self.rows)

    @precondition(lambda self: self.copy is not None)
    @rule()
    def older_copy_put_back(self):
        """Noticed by every use if a receipt knows better; the newest is put back then."""
        known = max(receipt.number for receipt in anchor.receipts(self.kept.read_text(encoding="ascii")))
        content, length = self.copy
        if length >= known:
            return
        newest = Path(self.place).read_bytes()
        Path(self.place).write_bytes(content)
        for book in self.books:
            for use in (book.summary, lambda book=book: book.create("late", 1)):
                with pytest.raises(LedgerError, match="is not what it was: a receipt says"):
                    use()
        Path(self.place).write_bytes(newest)

    @rule(hand=st.sampled_from([0, 1]))
    def reopened(self, hand):
        self.books[hand] = ledger.opened(self.place, anchor=self.kept)

    # --- what always holds --------------------------------------------------------------------------------------------

    @precondition(lambda self: self.rows)
    @invariant()
    def agrees(self):
        """Both hands see the twin: caps, what is left, what is pending; and a chain without a gap."""
        for book in self.books:
            summary = book.summary()
            assert (summary.broken, summary.entries, summary.version) == (None, len(self.rows), self.version)
            assert summary.head == self.rows[-1][-1]
            assert [entry.number for entry in summary.pending] == list(self.pending)
            assert [account.dataset for account in summary.accounts] == list(self.accounts)
            for account, plain in zip(summary.accounts, self.accounts.values(), strict=True):
                assert account.cap == plain.cap
                assert account.spent == (plain.spent() if self.version == NEWEST else total(plain.live))
                assert account.left == account.cap - account.spent
                if self.version == NEWEST:
                    assert (meant(account.unit), account.table) == (plain.unit, plain.table)
                    assert account.reserved == plain.spent(self.pending)
        assert [row[-2] for row in self.rows] == ["0" * 64, *(row[-1] for row in self.rows[:-1])]


def total(live):
    return sum(epsilon for _, _, epsilon in live.values())


def done(book, call, arguments):
    """One operation in this process."""
    if call != "finalise":
        return getattr(book, call)(**arguments)
    number, *told = arguments.values()
    return ledger.Reservation(book, book.history()[number - 1]).finalise(*told)


@pytest.mark.parametrize(("examples", "length"), [(6, 12), pytest.param(80, 40, marks=pytest.mark.long)])
def test_any_order_of_operations_with_kills_agrees_with_a_twin(tmp_path, examples, length):
    with Hands() as hands:
        run_state_machine_as_test(
            lambda: Twin(tempfile.mkdtemp(dir=tmp_path), hands),
            settings=settings(max_examples=examples, stateful_step_count=length, deadline=None),
        )
