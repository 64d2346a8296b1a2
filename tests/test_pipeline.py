"""From a table to a release: what is public is checked first, the ledger pays before rows are read, units are named."""

import io
import json
import pickle
import signal
import sqlite3
import traceback
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dawa
from dawa import ledger, mechanisms, paying, pipeline, sources
from dawa.errors import (
    AxisError,
    BudgetError,
    ConditionError,
    DawaError,
    ExhaustedError,
    InvariantError,
    LedgerError,
    OptionError,
    PublicNote,
    SourceError,
    TakenBackError,
    UnbookedWarning,
    WorkloadError,
)
from dawa.ledger import store
from dawa.paying import Payment
from dawa.sources import counting
from helpers.ledger_places import in_new_schema
from helpers.workbook import write as workbook

AGE = dawa.Axis("age", 0, 100)
PEOPLE = {"age": [31, 45, 45, 62, None], "person": [1, 1, 2, 3, 4], "text": ["a", "b", "c", "d", "e"]}


@pytest.fixture
def book(tmp_path):
    """A ledger with one account of 1."""
    opened = ledger.opened(tmp_path / "ledger.db")
    opened.create("hr", cap=1)
    return opened


@pytest.fixture
def read(monkeypatch):
    """How often a table was counted."""
    calls, original = [], counting.Query.counts

    def counts(self):
        calls.append(self)
        return original(self)

    monkeypatch.setattr(counting.Query, "counts", counts)
    return calls


# --- before rows are read -------------------------------------------------------------------------------------------


@pytest.mark.long_but(10)
@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"epsilon": 0}, BudgetError),
        ({"epsilon": None}, BudgetError),
        ({"epsilon": "1e-8", "unit": "person", "max_rows_per_unit": 1000}, BudgetError),
        ({"axes": None}, AxisError),
        ({"axes": []}, AxisError),
        ({"axes": [AGE, "text"]}, AxisError),
        ({"axes": [AGE, AGE]}, AxisError),
        ({"axes": [dawa.Axis(name, 0, 2) for name in "abcde"]}, AxisError),
        ({"axes": [dawa.Axis(name, 0, 2**40) for name in "ab"]}, AxisError),
        ({"axes": [dawa.Axis("age", 0, 2), dawa.Axis("person", 0, 2**49)]}, AxisError),
        ({"axes": dawa.Axis("years", 0, 9)}, AxisError),
        ({"axes": dawa.Axis("flag", 0, 9), "table": {"flag": np.array([True, False])}}, AxisError),
        ({"where": "years = "}, ConditionError),
        ({"where": "nobody = 5"}, AxisError),
        ({"where": 5}, ConditionError),
        ({"table": "nowhere.parquet"}, SourceError),
        ({"table": None}, SourceError),
        ({"workload": "all"}, WorkloadError),
        ({"workload": dawa.workloads.prefixes(99)}, WorkloadError),
        ({"mechanism": "magic"}, OptionError),
        ({"mechanism": "mwem"}, OptionError),
        ({"effort": "none"}, DawaError),
        ({"colour": "red"}, OptionError),
        ({"seed": -1}, DawaError),
        ({"max_rows_per_unit": 2}, OptionError),
        ({"unit": "person", "max_rows_per_unit": 0}, OptionError),
        ({"unit": "nobody"}, DawaError),
        ({"dataset": None}, OptionError),
        ({"ledger": None}, OptionError),
        ({"dataset": "sales"}, LedgerError),
        ({"ledger": 5}, DawaError),
    ],
)
def test_what_is_wrong_costs_nothing(book, read, wrong, kind):
    asked = {"table": PEOPLE, "axes": AGE, "epsilon": "0.1", "ledger": book, "dataset": "hr", **wrong}
    with pytest.raises(kind, match="Hint:"):
        dawa.release(**asked)
    assert book.account("hr").spent == 0
    assert read == []


# --- the ledger -----------------------------------------------------------------------------------------------------


def test_a_release_pays_and_is_named_in_the_ledger(book, tmp_path):
    rel = dawa.release(
        PEOPLE, AGE, epsilon="0.3", unit="person", max_rows_per_unit=3, ledger=tmp_path / "ledger.db", dataset="hr"
    )
    assert book.account("hr").spent == Fraction(3, 10)
    _, reserved, finalised = book.history("hr")
    assert reserved.epsilon == Fraction(3, 10)
    assert reserved.mechanism == "dawa"
    assert reserved.what["axes"] == [AGE.to_json()]
    assert (reserved.what["unit"], reserved.what["max_rows_per_unit"]) == ("person", 3)
    assert finalised.release_id == rel.id
    assert len(rel.id) == 32
    assert rel.id != dawa.release(PEOPLE, AGE, epsilon=1).id


def test_past_the_cap_no_row_is_read(book, read):
    dawa.release(PEOPLE, AGE, epsilon="0.9", ledger=book, dataset="hr")
    assert len(read) == 1
    with pytest.raises(ExhaustedError, match="Hint:"):
        dawa.release(PEOPLE, AGE, epsilon="0.2", ledger=book, dataset="hr")
    assert len(read) == 1
    assert book.account("hr").left == Fraction(1, 10)


def test_the_ledger_pays_before_rows_are_read_and_a_crash_stays_spent(book, monkeypatch):
    seen = []

    def counts(_):
        seen.append(book.account("hr").spent)
        raise SourceError("The disk is gone.", "buy another.")

    monkeypatch.setattr(counting.Query, "counts", counts)
    with pytest.raises(SourceError, match="disk"):
        dawa.release(PEOPLE, AGE, epsilon="0.25", ledger=book, dataset="hr")
    assert seen == [Fraction(1, 4)]
    assert book.account("hr").spent == Fraction(1, 4)


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ({}, "counts what each 'person' in memory loses, and this is spent for each record."),
        ({"unit": "text", "max_rows_per_unit": 1}, "in memory loses, and this is spent for each 'text'."),
        ({"unit": "person", "max_rows_per_unit": 1, "table": "people.csv"}, "this is spent on another table, "),
    ],
)
def test_what_is_not_alike_is_refused_before_rows_are_read(book, read, tmp_path, monkeypatch, more, answer):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,person\n31,a\n", encoding="utf-8")
    dawa.release(PEOPLE, AGE, epsilon="0.1", unit="person", max_rows_per_unit=1, ledger=book, dataset="hr")
    assert (book.account("hr").unit, book.account("hr").table, len(read)) == (("person",), "memory", 1)
    with pytest.raises(LedgerError, match="Hint:") as caught:
        dawa.release(**{"table": PEOPLE, "axes": AGE, "epsilon": "0.1", "ledger": book, "dataset": "HR", **more})
    assert answer in caught.value.problem
    assert (book.account("hr").spent, len(read)) == (Fraction(1, 10), 1)


def test_a_release_counts_as_often_as_a_person_has_said(book):
    book.bind("hr", unit="person", why="we protect persons")
    book.relate("hr", unit="record", times=3, why="at most 3 rows")
    dawa.release(PEOPLE, AGE, epsilon="0.2", ledger=book, dataset="Hr")
    assert book.account("hr").left == Fraction(2, 5)
    with pytest.raises(ExhaustedError, match=r"less than epsilon=0\.2, which counts 3 times here"):
        dawa.release(PEOPLE, AGE, epsilon="0.2", ledger=book, dataset="hr")
    mine = {"unit": "person", "max_rows_per_unit": 1, "ledger": book, "dataset": "hr"}
    assert dawa.release(PEOPLE, AGE, epsilon="0.2", **mine).privacy.epsilon


@pytest.mark.parametrize("named", [{"ledger": "none.db"}, {"dataset": "hr"}, {"ledger": "none.db", "dataset": "hr"}])
def test_a_run_with_a_seed_is_never_booked(book, read, tmp_path, monkeypatch, named):
    """Not even looked at: neither the table nor the ledger is there."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(
        OptionError, match=r"with a seed is not private, so no ledger books it\.\nHint: leave out the s"
    ):
        dawa.release("nowhere.csv", AGE, epsilon=1, seed=0, **named)
    with pytest.raises(OptionError, match="seed"):
        dawa.release(PEOPLE, AGE, epsilon="0.1", seed=7, ledger=book, dataset="hr")
    assert (read, len(book.history()), sorted(tmp_path.iterdir())) == ([], 1, before)
    assert not dawa.release(PEOPLE, AGE, epsilon="0.1", seed=7).privacy.private


def test_words_about_the_data_that_are_none_cost_nothing(book, read):
    with pytest.raises(OptionError, match=r"is no dawa\.About(?s:.)*Hint: pass dawa\.About"):
        dawa.release(PEOPLE, AGE, epsilon="0.1", ledger=book, dataset="hr", about="Ages")
    assert (book.account("hr").spent, read) == (0, [])


def test_a_run_that_asks_to_be_paid_twice_is_stopped():
    """What is reserved together is reserved once: after its payment, a run may only end."""
    closed = []

    def twice():
        try:
            yield Payment.of(None, None, None)
            yield Payment.of(None, None, None)
        finally:
            closed.append(True)

    with pytest.raises(InvariantError, match="paid for twice"):
        paying.paid([twice()])
    assert closed == [True]


# --- failures after paying --------------------------------------------------------------------------------------------

CANARY = "4711"
SPENT = "epsilon=0.25 was spent on dataset 'hr' all the same (entry 3 of the ledger)"
TAKE_BACK = "if nothing was observed, take it back: dawa ledger take-back 3 --nothing-was-made --why '…' --ledger "


@pytest.fixture
def half(book):
    """A ledger in which 1/2 of 1 is spent, so that the next reservation is entry 3."""
    book.reserve("hr", "0.5", what={}, mechanism="earlier")
    return book


@pytest.fixture
def odd():
    """A table that its engine cannot count, for reasons that quote a value."""
    notes = ibis.memtable(pa.table({"age": ["31", f"{CANARY}x"]}))
    return notes.select(age=notes.age.cast("int64"))


def paid(book, table=PEOPLE):
    return dawa.release(table, AGE, epsilon="0.25", ledger=book, dataset="hr")


def printed(error):
    """All that Python shows of an exception."""
    return "".join(traceback.format_exception(error))


def test_an_engine_that_fails_says_what_it_cost_and_quotes_nothing(half, odd):
    with pytest.raises(SourceError) as caught:
        paid(half, odd)
    error = caught.value
    assert type(error) is SourceError
    assert (
        error.problem == f"The table could not be counted by duckdb (ConversionException). {SPENT}; 0.25 of 1 is left."
    )
    assert error.hint == (
        "check that all of its rows can be read, and that their types are those that the table declares;"
        f" {TAKE_BACK}{half.place.name[1:-1]}"
    )
    assert CANARY not in printed(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  our own
    half.take_back(3, why="the engine failed", nothing_was_made=True)
    assert half.account("hr").left == Fraction(1, 2)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyboardInterrupt, SystemExit, OSError])
def test_other_exceptions_say_it_in_a_note(half, monkeypatch, kind):
    raised = kind(CANARY)
    raised.add_note(f"near {CANARY}")

    def counts(_):
        raise raised

    monkeypatch.setattr(counting.Query, "counts", counts)
    with pytest.raises(kind) as caught:
        paid(half)
    assert caught.value is raised
    foreign, note = caught.value.__notes__
    assert not isinstance(foreign, PublicNote)
    assert isinstance(note, PublicNote)
    assert note == f"{SPENT}; 0.25 of 1 is left.\nHint: {TAKE_BACK}{half.place.name[1:-1]}"
    assert note in printed(caught.value)


def test_a_mechanism_that_fails_says_what_it_cost(half, monkeypatch):
    original = mechanisms.Dawa.run

    def broken(self, *arguments):
        if half.account("hr").left == Fraction(1, 4):
            raise ArithmeticError(CANARY)
        return original(self, *arguments)

    monkeypatch.setattr(mechanisms.Dawa, "run", broken)
    with pytest.raises(ArithmeticError) as caught:
        paid(half)
    (note,) = caught.value.__notes__
    assert note.startswith(f"{SPENT}; 0.25 of 1 is left.")


def test_an_engine_that_cannot_be_closed_says_what_it_cost(half, monkeypatch):
    class Opened(sources.query(PEOPLE, (AGE,)).__class__):
        def __exit__(self, *arguments):
            super().__exit__(*arguments)
            raise OSError(CANARY)

    def opened(*arguments):
        found = counting.query(*arguments)
        found.__class__ = Opened
        return found

    monkeypatch.setattr(sources, "query", opened)
    with pytest.raises(OSError, match=CANARY) as caught:
        paid(half)
    assert caught.value.__notes__[0].startswith(SPENT)


def test_what_is_refused_before_paying_says_nothing_of_it(half):
    with pytest.raises(ExhaustedError) as caught:
        dawa.release(PEOPLE, AGE, epsilon="0.75", ledger=half, dataset="hr")
    assert "was spent" not in str(caught.value)
    with pytest.raises(SourceError) as caught:
        dawa.release("nowhere.csv", AGE, epsilon="0.1", ledger=half, dataset="hr")
    assert "was spent" not in str(caught.value)


def test_without_a_ledger_a_failure_says_nothing_of_it(odd):
    with pytest.raises(SourceError) as caught:
        dawa.release(odd, AGE, epsilon="0.25")
    assert "was spent" not in str(caught.value)


@pytest.mark.parametrize("impatient", [False, True])
def test_a_ledger_that_cannot_be_asked_is_said_to_be_so(half, odd, monkeypatch, impatient):
    def read(_):
        raise KeyboardInterrupt if impatient else LedgerError(f"The disk has {CANARY}.", "wait.")

    monkeypatch.setattr(store, "read", read)
    with pytest.raises(SourceError) as caught:
        paid(half, odd)
    assert f"{SPENT}; the ledger could not be read to see what is left.\nHint: check that" in str(caught.value)
    assert TAKE_BACK in caught.value.hint
    assert CANARY not in printed(caught.value)


def test_an_edited_ledger_is_not_asked(half, monkeypatch):
    def counts(_):
        with closing(sqlite3.connect(half.place.path, isolation_level=None)) as connection:
            connection.execute("DROP TRIGGER dawa_ledger_entries_update")
            connection.execute("UPDATE dawa_ledger_entries SET epsilon = '1/100' WHERE number = 2")
        raise SourceError("The disk is gone.", "buy another.")

    monkeypatch.setattr(counting.Query, "counts", counts)
    with pytest.raises(SourceError, match="the ledger could not be read to see what is left"):
        paid(half)


def test_postgres_says_it_too_and_never_its_address(postgres, odd):
    book = ledger.opened(in_new_schema(postgres).replace("postgres@", "postgres:pa55word@"))
    book.create("hr", "1/3")
    with pytest.raises(SourceError) as caught:
        dawa.release(odd, AGE, epsilon="1/7", ledger=book, dataset="hr")
    assert "epsilon=1/7 was spent on dataset 'hr' all the same (entry 2 of the ledger); 4/21 of 1/3 is left." in str(
        caught.value
    )
    assert caught.value.hint.endswith("take it back: dawa ledger take-back 2 --nothing-was-made --why '…' --ledger URL")
    assert "pa55word" not in printed(caught.value)


def test_what_was_taken_back_meanwhile_is_not_released(half, monkeypatch):
    original = counting.Query.counts

    def counts(self):
        half.take_back(3, why="somebody thought that it had crashed", nothing_was_made=True, who="ada")
        return original(self)

    monkeypatch.setattr(counting.Query, "counts", counts)
    with pytest.raises(TakenBackError) as caught:
        paid(half)
    assert "Entry 3 was taken back by ada in entry 4" in caught.value.problem
    assert "was spent" not in str(caught.value)
    assert half.account("hr").spent == Fraction(1, 2)
    assert [entry.kind for entry in half.history()] == ["create", "reserve", "reserve", "take-back"]


def test_a_failure_after_a_take_back_says_that_it_is_not_spent(half, monkeypatch):
    def counts(_):
        half.take_back(3, why="because", nothing_was_made=True)
        raise SourceError("The disk is gone.", "buy another.")

    monkeypatch.setattr(counting.Query, "counts", counts)
    with pytest.raises(SourceError) as caught:
        paid(half)
    assert caught.value.problem == f"The disk is gone. {SPENT}, and taken back in entry 4; 0.5 of 1 is left."
    assert caught.value.hint == "buy another."


def test_a_stop_while_the_release_is_booked_does_not_cost_it(half, monkeypatch):
    def finalise(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger.Reservation, "finalise", finalise)
    with pytest.warns(UnbookedWarning, match=r"it was interrupted(?s:.)*do not take it back"):
        assert paid(half).privacy.epsilon == Fraction(1, 4)


def test_a_ledger_that_fails_afterwards_does_not_cost_the_release(half, monkeypatch):
    def full(*_arguments):
        raise LedgerError("The disk is full.", "make room.")

    monkeypatch.setattr(ledger.Reservation, "finalise", full)
    with pytest.warns(
        UnbookedWarning, match=r"The disk is full(?s:.)*Entry 3 stays spent: do not take it back"
    ) as told:
        assert paid(half).privacy.epsilon == Fraction(1, 4)
    assert told[0].filename == __file__
    assert half.account("hr").reserved == Fraction(3, 4)


@pytest.mark.parametrize("paid", [True, False])
def test_a_stop_while_the_release_is_made_waits_until_it_is_kept(book, tmp_path, monkeypatch, paid):
    made = pipeline._made

    def stopped(*arguments):
        signal.raise_signal(signal.SIGINT)
        return made(*arguments)

    monkeypatch.setattr(pipeline, "_made", stopped)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it in its background
    try:
        pays = {"ledger": book, "dataset": "hr"} if paid else {}
        with pytest.raises(KeyboardInterrupt) as caught:
            dawa.release(PEOPLE, AGE, epsilon="0.1", out=tmp_path / "release.json", **pays)
    finally:
        signal.signal(signal.SIGINT, before)
    finished = f"The release was finished first, as it is paid for: it is in {tmp_path / 'release.json'}."
    spent = " epsilon=0.1 was spent on dataset 'hr' for it (entry 2)." if paid else ""
    assert caught.value.__notes__ == [finished + spent]
    assert dawa.load(tmp_path / "release.json").privacy.epsilon == Fraction(1, 10)
    assert [entry.kind for entry in book.history()] == ["create", *(["reserve", "finalise"] if paid else [])]


# --- the unit -------------------------------------------------------------------------------------------------------


@pytest.mark.long_but(3)
@pytest.mark.parametrize("mechanism", ["dawa", "identity", "hb"])
@pytest.mark.parametrize("most", [1, 3, 7])
def test_a_unit_is_protected_at_epsilon_and_a_record_at_its_share(tmp_path, mechanism, most):
    rel = dawa.release(PEOPLE, AGE, epsilon="0.3", unit="person", max_rows_per_unit=most, mechanism=mechanism)
    alone = dawa.release(PEOPLE, AGE, epsilon=Fraction(3, 10) / most, mechanism="identity")
    again = dawa.load(rel.save(tmp_path / "release.json"))
    for made in (rel, again):
        assert made.privacy.epsilon == Fraction(3, 10)
        assert made.privacy.mechanism_epsilon == made.estimate.epsilon == Fraction(3, 10) / most
        assert sum(made.privacy.split.values()) == Fraction(3, 10)
        assert sum(made.estimate.split.values()) == Fraction(3, 10) / most
        assert made.id == rel.id
    assert again.answer(0, 50) == rel.answer(0, 50)
    if mechanism == "identity":
        assert rel.answer(0, 50).noise_margin == pytest.approx(alone.answer(0, 50).noise_margin)  # up to rounding.md


def test_the_noise_grows_with_the_rows_of_a_unit():
    margins = [
        dawa.release(PEOPLE, AGE, epsilon=1, unit="person", max_rows_per_unit=most, mechanism="identity")
        .answer(0, 50)
        .noise_margin
        for most in (1, 4)
    ]
    assert margins[1] == pytest.approx(4 * margins[0], rel=0.05)


@pytest.mark.filterwarnings("ignore::dawa.LargeEpsilonWarning")
def test_only_so_many_rows_of_a_unit_are_released():
    table = {"age": np.full(3000, 40), "person": np.repeat(np.arange(30), 100)}
    totals = [
        dawa.release(table, AGE, epsilon=10**5, unit="person", max_rows_per_unit=most).answer(0, 100).value
        for most in (1, 7, 1000)
    ]
    assert totals == pytest.approx([30, 210, 3000], abs=1)


# --- the statement --------------------------------------------------------------------------------------------------


def test_the_statement_names_a_record():
    said = str(dawa.release(PEOPLE, AGE, epsilon="0.5").privacy)
    for words in (
        "0.5-differentially private for each record",
        "one row of the table",
        "Somebody with several records in the table is protected less",
        "The column 'age' is read as numbers from 0 up to 100 in steps of 1.",
        "Values outside are counted in the first or the last cell; missing values, and values that cannot be read so,",
    ):
        assert words in said
    assert "person" not in said


def test_the_statement_names_a_person(tmp_path):
    axis = dawa.Axis("age", 0, 100, outside="drop")
    rel = dawa.release(PEOPLE, axis, epsilon="0.5", unit="person", max_rows_per_unit=3)
    said = str(rel.privacy)
    for words in (
        "0.5-differentially private for each person (a value of 'person')",
        "with one person added or removed, together with all records that carry the same 'person'",
        "At most 3 records of each were counted, chosen at random.",
        "an epsilon of 1/6 for each record, so that 3 records together lose no more than 0.5",
        "Records without a value in 'person' were left out.",
        "Values outside are left out",
    ):
        assert words in said
    data = json.loads(rel.save(tmp_path / "release.json").read_text(encoding="utf-8"))["privacy"]
    assert data["statement"] == said
    assert (data["unit_columns"], data["max_rows_per_unit"], data["mechanism_epsilon"]) == (["person"], 3, "1/6")
    assert str(dawa.load(tmp_path / "release.json").privacy) == said
    one = str(dawa.release(PEOPLE, axis, epsilon="0.5", unit="person", max_rows_per_unit=1).privacy)
    assert "At most one record of each was counted, chosen at random. Records without" in one


def test_nothing_tells_how_many_were_left_out():
    """Neither the statement nor the file changes with the number of missing, outside or truncated rows."""
    few = {"age": [1] * 10, "person": list(range(10))}
    many = {"age": [1] * 10 + [None] * 777 + [-5] * 777, "person": [*range(10), *[None] * 777, *[3] * 777]}
    axis = dawa.Axis("age", 0, 100, outside="drop")
    texts = {
        str(dawa.release(table, axis, epsilon=1, unit="person", max_rows_per_unit=2).privacy) for table in (few, many)
    }
    assert len(texts) == 1


# --- kinds of axes --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::dawa.LargeEpsilonWarning")
def test_releases_along_every_kind_of_axis_are_read_back(tmp_path):
    table = {
        "when": np.array(["2013-01-05T10:30", "2013-06-01", "1960-01-01"], "M8[us]"),
        "grade": ["A", "B", "A"],
        "age": [31, 45, 62],
    }
    for axis, lo, hi in (
        (dawa.Axis.dates("when", "2013-01-01", "2014-01-01", "1 month"), "2013-01-01", "2013-07-01"),
        (dawa.Axis.ordered("grade", ["A", "B", "C"]), "A", "B"),
        (dawa.Axis.edges("age", [0, 18, 65, 120]), 18, 120),
    ):
        rel = dawa.release(table, axis, epsilon=10**5)
        assert rel.answer(lo, hi).value == pytest.approx(3, abs=0.6)
        again = dawa.load(rel.save(tmp_path / "release.json"))
        assert again.axes == rel.axes == (axis,)
        assert again.answer(lo, hi) == rel.answer(lo, hi)
        assert axis.describe() in str(again.privacy)


def test_what_a_mechanism_cannot_do_on_a_domain_costs_nothing(tmp_path):
    """Its refusal needs no data, so it comes before the ledger pays."""
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", 1)
    wide = dawa.Axis("x", 0, 2**40)
    with pytest.raises(DawaError, match="Hint:"):
        dawa.release({"x": [1, 2]}, wide, epsilon=1, mechanism="greedy-h", ledger=book, dataset="hr")
    assert book.account("hr").spent == 0
    dawa.release({"x": [1, 2]}, wide, epsilon=1, ledger=book, dataset="hr")
    assert book.account("hr").spent == 1


TWINS = "id,ID,age\n" + "".join(f"{row},{row % 7},{row % 90}\n" for row in range(300))


def _twins(kind, folder):
    """A table whose columns id and ID differ in case alone."""
    path = folder / f"twins.{kind}"
    frame = pd.read_csv(io.StringIO(TWINS))
    if kind == "frame":
        return frame
    if kind == "csv":
        path.write_text(TWINS, encoding="utf-8")
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        workbook(path, [list(frame.columns), *frame.to_numpy().tolist()])
    return path


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "xlsx"])
def test_a_unit_that_a_ledger_could_mistake_is_refused_before_paying(book, tmp_path, monkeypatch, kind):
    table = _twins(kind, tmp_path)
    paid = {"epsilon": "0.1", "max_rows_per_unit": 1, "ledger": book, "dataset": "hr"}
    with monkeypatch.context() as patch:
        patch.setattr(sources.Query, "counts", lambda _: pytest.fail("no row is read"))
        for unit in ("id", "ID"):
            with pytest.raises(SourceError, match=f"differs from '{unit}' in case alone") as caught:
                dawa.release(table, AGE, unit=unit, **paid)
            assert f"'{unit.swapcase()}'" not in str(caught.value)
    assert len(book.history()) == 1, "nothing is booked"
    dawa.release(table, AGE, epsilon="0.1", unit="ID", max_rows_per_unit=1)  # no ledger, no confusion
    dawa.release(table, AGE, unit="age", **paid)
