"""From a table to a release: what is public is checked first, the ledger pays before rows are read, units are named."""

import json
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import ledger
from dawa.errors import (
    AxisError,
    BudgetError,
    DawaError,
    ExhaustedError,
    LedgerError,
    OptionError,
    SourceError,
    WorkloadError,
)
from dawa.sources import counting

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
        ({"axes": dawa.Axis("years", 0, 9)}, AxisError),
        ({"axes": dawa.Axis("text", 0, 9), "table": {"text": np.array(["a", "b"])}}, AxisError),
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


# --- the unit -------------------------------------------------------------------------------------------------------


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
        assert rel.answer(0, 50).noise_margin == alone.answer(0, 50).noise_margin


def test_the_noise_grows_with_the_rows_of_a_unit():
    margins = [
        dawa.release(PEOPLE, AGE, epsilon=1, unit="person", max_rows_per_unit=most, mechanism="identity")
        .answer(0, 50)
        .noise_margin
        for most in (1, 4)
    ]
    assert margins[1] == pytest.approx(4 * margins[0], rel=0.05)


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
        "Somebody with several records in it is protected less",
        "The column 'age' is read as numbers from 0 up to 100 in steps of 1.",
        "Values outside are counted in the first or the last cell; missing values are left out.",
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
    assert (data["unit_column"], data["max_rows_per_unit"], data["mechanism_epsilon"]) == ("person", 3, "1/6")
    assert str(dawa.load(tmp_path / "release.json").privacy) == said
    one = str(dawa.release(PEOPLE, axis, epsilon="0.5", unit="person").privacy)
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
        assert rel.answer(lo, hi).value == pytest.approx(3, abs=0.5)
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
