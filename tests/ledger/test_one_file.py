"""One ledger is one file: under two names, what is spent under one could be undone under the other."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from dawa import ledger
from dawa.errors import LedgerError
from dawa.host import mounts
from dawa.ledger import sqlite, store


@pytest.fixture
def book(tmp_path):
    found = ledger.opened(tmp_path / "ledger.db")
    found.create("hr", cap=2, unit="record")
    return found


def spend(book, epsilon="0.5"):
    return book.reserve("hr", epsilon, what={}, mechanism="dawa")


def test_hard_links_are_refused_under_every_name(tmp_path, book):
    os.link(tmp_path / "ledger.db", tmp_path / "other.db")
    for name in ("ledger.db", "other.db"):
        with pytest.raises(LedgerError, match="several names"):
            spend(ledger.opened(tmp_path / name))
        with pytest.raises(LedgerError, match="several names"):
            ledger.opened(tmp_path / name).account("hr")
    (tmp_path / "other.db").unlink()
    assert spend(book).account.spent == 0.5


def test_a_link_made_during_a_booking_stops_it(tmp_path, book, monkeypatch):
    decide = store.Pages.head.fget

    def linked(pages):
        if not (tmp_path / "other.db").exists():
            os.link(tmp_path / "ledger.db", tmp_path / "other.db")
        return decide(pages)

    monkeypatch.setattr(store.Pages, "head", property(linked))
    with pytest.raises(LedgerError, match="several names"):
        spend(book)
    monkeypatch.undo()
    (tmp_path / "other.db").unlink()
    assert book.account("hr").spent == 0


def test_a_file_that_is_replaced_while_it_is_read_is_not_read(tmp_path, book):
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
    with (
        pytest.raises(LedgerError, match="replaced by another file, while it was open"),
        store._transaction(book.place, writing=False),
    ):
        (tmp_path / "copy.db").replace(tmp_path / "ledger.db")
    assert book.account("hr").cap == 2


def test_a_removed_file_that_a_process_still_holds_is_no_ledger(tmp_path, book):
    """Under its name in /proc it can be opened, and whatever is booked there is gone with the process."""
    with (tmp_path / "ledger.db").open("rb") as file:
        (tmp_path / "ledger.db").unlink()
        held = ledger.opened(f"/proc/self/fd/{file.fileno()}")
        for use in (held.summary, lambda: spend(held), lambda: held.create("pay", cap=1)):
            with pytest.raises(LedgerError, match="was removed"):
                use()
    assert book.place.sign() is None, "nothing is known of it"
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_keeps_a_write_ahead_log_stops_bookings(tmp_path, book, monkeypatch):
    monkeypatch.setattr(sqlite, "PATIENCE", 0)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM dawa_ledger_entries").fetchall()
        with pytest.raises(LedgerError, match=r"in SQLite's mode WAL|is busy"):
            spend(book)
        other.execute("COMMIT")
    assert spend(book).account.spent == 0.5


def test_a_symbolic_link_is_the_file_itself(tmp_path, book):
    (tmp_path / "link.db").symlink_to("ledger.db")
    spend(ledger.opened(tmp_path / "link.db"))
    assert book.account("hr").spent == 0.5


@pytest.mark.parametrize("folder", ["plain", "with space", "tab\there"])
def test_a_single_file_that_is_mounted_is_refused(tmp_path, monkeypatch, folder):
    (tmp_path / folder).mkdir()
    file = tmp_path / folder / "ledger.db"
    ledger.opened(file).create("hr", cap=2)
    escaped = str(file).replace(" ", "\\040").replace("\t", "\\011")
    listed = tmp_path / "mountinfo"
    listed.write_text(f"36 35 98:0 / / rw - ext4 a rw\n37 36 98:0 /x {escaped} rw - ext4 a rw\n", encoding="utf-8")
    monkeypatch.setattr(mounts, "MOUNTS", listed)
    with pytest.raises(LedgerError, match=r"single file that is mounted(?s:.)*mount the folder"):
        ledger.opened(file).account("hr")
    listed.write_text(f"37 36 98:0 /x {escaped.rsplit('/', 1)[0]} rw - ext4 a rw\n", encoding="utf-8")
    assert ledger.opened(file).account("hr").cap == 2, "its folder may be mounted"


def test_a_file_that_is_replaced_while_it_is_open_books_nothing(tmp_path, book, monkeypatch):
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
    decide = store.Pages.head.fget

    def replaced(pages):
        if (tmp_path / "copy.db").exists():
            (tmp_path / "copy.db").replace(tmp_path / "ledger.db")
        return decide(pages)

    monkeypatch.setattr(store.Pages, "head", property(replaced))
    with pytest.raises(LedgerError, match="replaced by another file"):
        spend(book)
    monkeypatch.undo()
    assert book.account("hr").spent == 0


def test_pages_are_read_again_only_when_somebody_wrote(tmp_path, book, monkeypatch):
    reads = []
    rows = store._rows
    monkeypatch.setattr(store, "_rows", lambda connection: reads.append(1) or rows(connection))
    store._READ.clear()
    spend(book).finalise("a")
    assert book.account("hr").spent == 0.5
    assert len(reads) == 1, "what this process wrote itself it knows"
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as other:
        other.execute("DROP TRIGGER dawa_ledger_entries_update")
        other.execute("UPDATE dawa_ledger_entries SET epsilon = '1/1000' WHERE number = 2")
        other.commit()
    with pytest.raises(LedgerError, match="edited"):
        spend(book)


@pytest.mark.parametrize("name", ["hr", "HR", "\uff48\uff52", "h\u0052"])
def test_names_are_compared_after_normalisation(book, name):
    assert book.account(name).dataset == "hr"
    with pytest.raises(LedgerError, match="already has an account"):
        book.create(name, cap=1)


def test_accents_however_they_are_encoded(book):
    book.create("Santé", cap=1)
    assert book.account("sante\u0301").dataset == "Santé"
    assert book.account("SANTÉ").dataset == "Santé"
