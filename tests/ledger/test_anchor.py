"""A receipt outside the ledger notices when an older copy is put back."""

import os
import shutil
import subprocess
import sys

import pytest

import dawa as library
from dawa import ledger
from dawa.errors import LedgerError
from dawa.ledger import anchor
from helpers.commands import dawa, refused
from helpers.ledger_places import in_new_schema


def spend(book):
    return book.reserve("hr", "0.1", what={}, mechanism="dawa")


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "elsewhere" / "receipts.txt"


@pytest.fixture
def book(tmp_path, kept):
    kept.parent.mkdir()
    found = ledger.opened(tmp_path / "ledger.db", anchor=kept)
    found.create("hr", cap=2, unit="record")
    return found


def test_every_booking_leaves_a_receipt(book, kept):
    spend(book).finalise("a")
    found = anchor.receipts(kept.read_text(encoding="ascii"))
    assert [receipt.number for receipt in found] == [1, 2, 3]
    assert [receipt.hash for receipt in found] == [entry.hash for entry in book.history()]
    assert book.receipt() == found[-1]


def test_an_older_copy_is_noticed_by_every_use(tmp_path, book):
    file = tmp_path / "ledger.db"
    spend(book).finalise("a")
    shutil.copy(file, tmp_path / "old.db")
    spend(book).finalise("b")
    newest = file.read_bytes()
    file.write_bytes((tmp_path / "old.db").read_bytes())
    for use in (lambda: book.account("hr"), book.summary, book.history, lambda: spend(book), book.receipt):
        with pytest.raises(LedgerError, match="is not what it was: a receipt says that it had 4 entries, and it has 3"):
            use()
    file.write_bytes(newest)
    assert book.account("hr").spent == ledger.opened(file).account("hr").spent
    without = ledger.opened(tmp_path / "old.db")
    assert without.summary().broken is None, "the chain alone does not notice"


def test_another_history_of_the_same_length_is_noticed(tmp_path, book):
    shutil.copy(tmp_path / "ledger.db", tmp_path / "fork.db")
    spend(book)
    fork = ledger.opened(tmp_path / "fork.db")
    fork.reserve("hr", "0.001", what={}, mechanism="dawa")
    shutil.copy(tmp_path / "fork.db", tmp_path / "ledger.db")
    with pytest.raises(LedgerError, match="it has 2, others now"):
        book.account("hr")


def test_another_ledger_in_its_place_is_noticed(tmp_path, book):
    spend(book)
    ledger.opened(tmp_path / "new.db").create("hr", cap=2)
    shutil.copy(tmp_path / "new.db", tmp_path / "ledger.db")
    with pytest.raises(LedgerError, match="has no receipt of the ledger"):
        spend(book)


def test_an_anchor_that_is_gone_stops_the_ledger(book, kept):
    kept.unlink()
    for use in (lambda: book.account("hr"), lambda: spend(book), lambda: book.create("pay", cap=1)):
        with pytest.raises(LedgerError, match=r"anchor of the ledger.*cannot be read(?s:.)*dawa ledger receipt"):
            use()


def test_an_anchor_that_cannot_be_written_lets_nobody_read_data(book, kept, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(anchor.os, "fsync", full)
    with pytest.raises(LedgerError, match="Entry 2 is booked, but the anchor"):
        spend(book)
    monkeypatch.undo()
    assert book.account("hr").spent == ledger.opened(book.place.path, anchor=kept).account("hr").reserved


def test_a_ledger_that_is_made_anew_is_noticed(tmp_path, book, kept):
    spend(book)
    (tmp_path / "ledger.db").unlink()
    with pytest.raises(LedgerError, match=r"has receipts, and there is no entry"):
        book.create("hr", cap=2)
    assert not ledger.opened(tmp_path / "other.db", anchor=tmp_path / "another.txt").create("pay", cap=1).spent
    assert kept.exists()


@pytest.mark.long_but(6)
@pytest.mark.parametrize("cut", range(1, 70, 3))
def test_half_a_line_accuses_nobody(book, kept, cut):
    spend(book)
    kept.write_bytes(kept.read_bytes()[:-cut])
    spend(book)
    assert book.account("hr").reserved == ledger.opened(book.place.path).account("hr").reserved
    assert anchor.receipts(kept.read_text(encoding="ascii"))[-1] == book.receipt()


def test_places_that_cannot_be_an_anchor(tmp_path, monkeypatch):
    file = tmp_path / "ledger.db"
    with pytest.raises(LedgerError, match="is the ledger itself"):
        ledger.opened(file, anchor=file)
    with pytest.raises(LedgerError, match="folder of the ledger's anchor does not exist"):
        ledger.opened(file, anchor=tmp_path / "none" / "x.txt").create("hr", cap=1)
    monkeypatch.setenv("DAWA_LEDGER_ANCHOR", " ")
    with pytest.raises(LedgerError, match="DAWA_LEDGER_ANCHOR is empty"):
        ledger.opened(file)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_release_is_written_where_the_anchor_is(tmp_path, kept, request, kind):
    kept.parent.mkdir()
    place = tmp_path / "ledger.db" if kind == "sqlite" else in_new_schema(request.getfixturevalue("postgres"))
    book = ledger.opened(place, anchor=kept)
    book.create("hr", cap=2, unit="record")
    for where in (kept, kept.parent):
        with pytest.raises(LedgerError, match=r"The anchor .* lies in(?s:.)*Hint: choose another folder"):
            book.place.spare({"file": str(tmp_path / "release.json"), "folder": str(where)})
    made = {"epsilon": "0.1", "ledger": book, "dataset": "hr"}
    library.release({"age": [1]}, library.Axis("age", 0, 9), **made, out=kept.parent / "release.json")
    assert anchor.receipts(kept.read_text(encoding="ascii"))[-1] == book.receipt()
    assert library.load(kept.parent / "release.json").privacy.epsilon == book.account("hr").spent


def test_the_anchor_of_a_database(postgres, tmp_path):
    url, kept = in_new_schema(postgres), tmp_path / "receipts.txt"
    first = ledger.opened(url)
    first.create("hr", cap=2)
    kept.write_text(f"{first.receipt()}\n", encoding="ascii")
    book = ledger.opened(url, anchor=kept)
    spend(book)
    assert len(anchor.receipts(kept.read_text(encoding="ascii"))) == 2
    assert book.account("hr").spent == book.account("HR").reserved


def test_what_a_killed_run_left_of_a_ledger_is_none_yet(tmp_path, kept):
    """SQLite makes an empty file before the first entry is booked: a run that is killed in between leaves it behind."""
    kept.parent.mkdir()
    (tmp_path / "ledger.db").touch()
    book = ledger.opened(tmp_path / "ledger.db", anchor=kept)
    assert book.create("hr", cap=2, unit="record").left == 2
    assert anchor.receipts(kept.read_text(encoding="ascii")) == [book.receipt()]


def test_a_ledger_in_a_database_begins_its_anchor_once(postgres, tmp_path):
    url, kept = in_new_schema(postgres), tmp_path / "receipts.txt"
    ledger.opened(url, anchor=kept).create("hr", cap=2)
    assert anchor.receipts(kept.read_text(encoding="ascii")) == [ledger.opened(url).receipt()]
    kept.unlink()
    with pytest.raises(LedgerError, match=r"anchor of the ledger.*cannot be read"):
        ledger.opened(url, anchor=kept).create("pay", cap=1)
    assert not kept.exists()


@pytest.mark.long
@pytest.mark.usefixtures("book")
def test_many_processes_share_an_anchor(tmp_path, kept):
    code = (
        "import sys\nfrom dawa import ledger\nbook = ledger.opened(sys.argv[1], anchor=sys.argv[2])\n"
        "for n in range(5): book.reserve('hr', '0.01', what={}, mechanism='dawa'); book.account('hr')"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "ledger.db"), str(kept)]
    running = [
        subprocess.Popen(command)  # noqa: S603  our own
        for _ in range(4)
    ]
    assert [process.wait() for process in running] == [0] * 4
    numbers = sorted(receipt.number for receipt in anchor.receipts(kept.read_text(encoding="ascii")))
    assert numbers == list(range(1, 22))


@pytest.mark.long
def test_many_processes_begin_a_ledger_and_its_anchor(tmp_path, kept):
    """The first entry is there before the first receipt: who comes in between waits for it."""
    kept.parent.mkdir()
    code = (
        "import sys\nfrom dawa import ledger\nbook = ledger.opened(sys.argv[1], anchor=sys.argv[2])\n"
        "input()\nbook.create(sys.argv[3], cap=1, unit='record')"
    )
    running = [
        subprocess.Popen(  # noqa: S603  our own
            [sys.executable, "-c", code, str(tmp_path / "ledger.db"), str(kept), f"set {number}"], stdin=subprocess.PIPE
        )
        for number in range(8)
    ]
    for process in running:
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [process.wait() for process in running] == [0] * 8
    assert len(ledger.opened(tmp_path / "ledger.db", anchor=kept).summary().accounts) == 8
    for process in running:
        process.stdin.close()


def test_who_finds_a_ledger_without_its_first_receipt_waits_for_it(tmp_path, kept, monkeypatch):
    kept.parent.mkdir()
    book, add = ledger.opened(tmp_path / "ledger.db", anchor=kept), anchor.Anchor.add
    late = []
    monkeypatch.setattr(anchor.Anchor, "add", lambda *receipt: late.append(receipt))
    with pytest.raises(LedgerError, match=r"no receipt|cannot be read"):  # it asks what it has created
        book.create("a", cap=1, unit="record")
    monkeypatch.setattr(anchor.Anchor, "add", add)
    monkeypatch.setattr("time.sleep", lambda _: add(*late[0]))
    assert book.create("b", cap=1, unit="record").cap == 1


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dawa("ledger", "create", "hr", "--cap", "2", "--unit", "record")
    receipt = dawa("ledger", "receipt").out
    (tmp_path / "kept.txt").write_text(f"Filed on 3 May:\n{receipt}", encoding="utf-8")
    shutil.copy("dawa-ledger.db", "old.db")
    with_anchor = {"DAWA_LEDGER_ANCHOR": str(tmp_path / "kept.txt")}
    assert dawa("ledger", "spend", "hr", "0.5", "--what", "x", **with_anchor).code == 0
    assert "goes on from 3 receipts" in dawa("ledger", "check", "kept.txt").out
    assert dawa("ledger", "check", "--json").json["entries"] == 3
    shutil.copy("old.db", "dawa-ledger.db")
    assert "whole" in dawa("ledger", "check").out, "without receipts nobody knows"
    refused(dawa("ledger", "check", "kept.txt"), "is not what it was", "older or another copy")
    refused(dawa("ledger", "show", **with_anchor), "is not what it was")
    refused(dawa("ledger", "check", "none.txt"), "cannot be read")
    (tmp_path / "empty.txt").touch()
    refused(dawa("ledger", "check", "empty.txt"), "no receipt of this ledger")


@pytest.mark.usefixtures("book")
def test_what_never_ends_is_not_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(LedgerError, match="is not a file"):
            ledger.opened(tmp_path / "ledger.db", anchor=place).summary()
    monkeypatch.setattr(anchor, "MOST_RECEIPT_BYTES", 2**21)
    refused(dawa("ledger", "check", "/dev/zero", "--ledger", tmp_path / "ledger.db"), "File too large")
