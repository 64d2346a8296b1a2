"""Whoever has a folder and the ledger can see whether one paid for the other; whatever is changed is noticed."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import dawa as library
from dawa import ledger
from dawa.publish import folder, receipts, recovery
from dawa.results.paid import RECEIPT, Paid, digest
from helpers.commands import dawa, refused, taken_back_elsewhere

AGES = {"age": [31, 45, 45, 62] * 50}
AXIS = library.Axis("age", 0, 100)


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = ledger.opened("dawa-ledger.db")
    found.create("hr", 2)
    return found


def made(book, name="out", epsilon="0.5"):
    with folder.prepared(name) as keeper:
        library.release(AGES, AXIS, epsilon=epsilon, ledger=book, dataset="hr", out=keeper)
    return Path(name)


def changed(out, **fields):
    file = out / RECEIPT
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **fields}), encoding="utf-8")


def forged(out, **fields):
    """A receipt that fits together, with other fields."""
    file = out / RECEIPT
    file.write_text(replace(Paid.from_json(json.loads(file.read_text("utf-8"))), **fields).as_text(), encoding="utf-8")


def test_a_folder_holds_a_receipt_that_its_ledger_confirms(book):
    out = made(book)
    made(book, "later", "0.25")
    found = receipts.verified(out, book)
    assert (found.receipt, found.file, found.reserved.number, found.finalised.number) == (True, True, 2, 3)
    assert found.to_json()["epsilon"] == "1/2"
    assert receipts.verified(out / "release.json", "dawa-ledger.db") == found
    assert book.check((out / RECEIPT).read_text("utf-8")) == 1
    assert f"`{RECEIPT}`" in (out / "README.md").read_text("utf-8")
    shutil.copytree(out, "a copy")
    assert receipts.verified("a copy", book) == found


def test_a_file_alone_is_known_by_what_the_ledger_booked(book):
    library.release(AGES, AXIS, epsilon=1, ledger=book, dataset="hr", out="ages.json")
    found = receipts.verified("ages.json", book)
    assert (found.receipt, found.file) == (False, True)
    Path("ages.json").write_bytes(Path("ages.json").read_bytes() + b"\n")
    with pytest.raises(library.LedgerError, match="SHA-256"):
        receipts.verified("ages.json", book)


def test_a_release_that_no_ledger_paid_has_no_receipt(book):
    with folder.prepared("free") as keeper:
        library.release(AGES, AXIS, epsilon=1, out=keeper)
    assert not Path("free", RECEIPT).exists()
    with pytest.raises(library.LedgerError, match="does not know this release"):
        receipts.verified("free", book)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"epsilon": Fraction(1, 4)}, "something else than entry 2"),
        ({"dataset": "other"}, "something else than entry 2"),
        ({"hash": "0" * 64}, "not the one that the receipt names"),
        ({"entry": 1}, "not the one that the receipt names"),
        ({"entry": 99}, "older copy"),
        ({"ledger": "0" * 16}, "another ledger"),
        ({"release": "another"}, "another release"),
        ({"digest": "0" * 64}, "SHA-256"),
    ],
)
def test_a_receipt_that_says_something_else_is_refused(book, fields, told):
    out = made(book)
    forged(out, **fields)
    with pytest.raises(library.LedgerError, match=told):
        receipts.verified(out, book)


def test_an_entry_that_paid_for_another_release_pays_for_no_second_one(book):
    one, two = made(book), made(book, "two")
    paid = Paid.from_json(json.loads((two / RECEIPT).read_text("utf-8")))
    forged(one, entry=paid.entry, hash=paid.hash)
    with pytest.raises(library.LedgerError, match="another release"):
        receipts.verified(one, book)


def test_a_release_that_was_changed_together_with_its_receipt_is_refused(book):
    """The ledger knows the file: whoever rewrites folder and receipt would have to rewrite the chain."""
    out = made(book)
    file = out / "release.json"
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(library.LedgerError, match="its receipt names"):
        receipts.verified(out, book)
    forged(out, digest=digest(file))
    with pytest.raises(library.LedgerError, match="entry 3 booked"):
        receipts.verified(out, book)


def test_a_ledger_that_was_edited_confirms_nothing(book):
    out = made(book)
    with closing(sqlite3.connect("dawa-ledger.db")) as edited, edited:
        for (trigger,) in edited.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            edited.execute(f'DROP TRIGGER "{trigger}"')
        edited.execute("UPDATE dawa_ledger_entries SET epsilon = '1/4' WHERE number = 2")
    with pytest.raises(library.LedgerError, match="edited"):
        receipts.verified(out, ledger.opened("./dawa-ledger.db"))


class KilledError(BaseException):
    """A run dies here."""


def die(*_, **__):
    raise KilledError


def killed(book, monkeypatch, *places):
    """A run that dies where one of these is called."""
    with monkeypatch.context() as dying:
        for owner, name in places:
            dying.setattr(owner, name, die)
        with pytest.raises(KilledError):
            made(book)


def test_what_was_not_finalised_is_recovered_and_then_confirmed(book, monkeypatch):
    """The run dies after its folder has its name, and before the ledger is told."""
    killed(book, monkeypatch, (ledger.Reservation, "finalise"))
    assert Path("out", RECEIPT).exists()
    with pytest.raises(library.LedgerError, match="pending"):
        receipts.verified("out", book)
    assert [trace.problem for trace in recovery.recovered(book)] == [None]
    found = receipts.verified("out", book)
    assert (found.receipt, found.file) == (True, True)


@pytest.mark.parametrize("where", [(folder, "_named"), (folder.tables, "write"), (folder.readme, "readme")])
def test_recovery_completes_a_folder_with_its_receipt(book, monkeypatch, where):
    """The run dies while it writes the folder, before or after the receipt."""
    killed(book, monkeypatch, where, (folder.places, "visible"))
    assert not Path("out").exists()
    assert [trace.problem for trace in recovery.recovered(book)] == [None]
    assert receipts.verified("out", book).receipt
    assert f"`{RECEIPT}`" in Path("out/README.md").read_text("utf-8")


def test_what_was_taken_back_is_not_paid_for(book, monkeypatch):
    killed(book, monkeypatch, (ledger.Reservation, "finalise"))
    taken_back_elsewhere(book, 2)
    with pytest.raises(library.LedgerError, match="taken back by entry 3"):
        receipts.verified("out", book)


def test_entries_of_an_earlier_version_do_not_know_the_file(book):
    reservation = book.reserve("hr", "0.5", what={}, mechanism="dawa")
    rel = library.release(AGES, AXIS, epsilon="0.5", out="ages.json")
    reservation.finalise(rel.id)
    found = receipts.verified("ages.json", book)
    assert (found.receipt, found.file) == (False, False)


def test_more_than_was_paid_is_refused(book):
    reservation = book.reserve("hr", "0.1", what={}, mechanism="dawa")
    rel = library.release(AGES, AXIS, epsilon="0.5", out="ages.json")
    reservation.finalise(rel.id)
    with pytest.raises(library.LedgerError, match="has not paid for what is there"):
        receipts.verified("ages.json", book)


def test_the_command_tells_people_and_machines(book):
    made(book)
    said = dawa("ledger", "verify", "out")
    assert said.code == 0
    assert "entry 2 spent 0.5 on dataset 'hr'" in said.out
    assert json.loads(dawa("ledger", "verify", "out/release.json", "--json").out)["receipt"] is True
    changed(Path("out"), epsilon="2")
    refused(dawa("ledger", "verify", "out"), "something else than entry 2")
    refused(dawa("ledger", "verify", "nothing"), "nothing")
    refused(dawa("ledger", "verify", "out", "--ledger", "none.db"), "no ledger")


def test_nobody_is_told_that_a_file_is_the_release_where_the_ledger_does_not_know_it(book):
    library.release(AGES, AXIS, epsilon=1, ledger=book, dataset="hr").save("ages.json")
    edited = json.loads(Path("ages.json").read_text("utf-8"))
    edited["about"] = {"title": "Edited"}
    Path("ages.json").write_text(json.dumps(edited), encoding="utf-8")
    said = dawa("ledger", "verify", "ages.json")
    assert said.code == 0
    assert "by its name alone" in said.out
    assert "It is that release" not in said.out


def test_a_keeper_that_takes_no_receipt_is_refused_before_anything_is_spent(book):
    """Once it is paid for, it would be too late."""

    class Old:
        where, parent = {}, Path()

        def keep(self, release):
            raise AssertionError(release)

    with pytest.raises(library.OptionError, match="takes a release alone"):
        library.release(AGES, AXIS, epsilon=1, ledger=book, dataset="hr", out=Old())
    assert len(book.history()) == 1
