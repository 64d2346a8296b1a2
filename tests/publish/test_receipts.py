"""Whoever has a folder and the ledger can see whether one paid for the other; whatever is changed is noticed."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import dawa as library
from dawa import ledger
from dawa.publish import folder, receipts, recovery
from dawa.results import keeping, keys
from dawa.results.paid import RECEIPT, Paid, digest
from helpers.commands import dawa, names, refused, taken_back_elsewhere
from helpers.ledger_places import in_new_schema

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
    assert (found.booked.receipt, found.booked.file) == (True, True)
    assert (found.booked.reserved.number, found.booked.finalised.number) == (2, 3)
    assert found.to_json()["epsilon"] == "1/2"
    assert found.files.same == ("README.md", "apart.csv", "buckets.csv", "croissant.json", "release.svg")
    assert receipts.verified(out / "release.json", "dawa-ledger.db") == replace(found, files=None)
    assert book.check((out / RECEIPT).read_text("utf-8")) == 1
    assert f"`{RECEIPT}`" in (out / "README.md").read_text("utf-8")
    shutil.copytree(out, "a copy")
    assert receipts.verified("a copy", book) == found


def test_a_file_alone_is_known_by_what_the_ledger_booked(book):
    library.release(AGES, AXIS, epsilon=1, ledger=book, dataset="hr", out="ages.json")
    found = receipts.verified("ages.json", book)
    assert (found.booked.receipt, found.booked.file) == (False, True)
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
        ({"at": "2026-01-01T00:00:00+00:00"}, "something else than entry 2"),
        ({"files": {"buckets.csv": "0" * 64}}, "buckets.csv in the folder is not the file"),
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
    forged(one, entry=paid.entry, hash=paid.hash, at=paid.at)
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
    assert (found.booked.receipt, found.booked.file) == (True, True)


@pytest.mark.parametrize(
    "where", [(folder, "_named"), (folder.tables, "write"), (folder.readme, "readme"), (Paid, "of")]
)
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
    assert (found.booked.receipt, found.booked.file) == (False, False)


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


# --- the files beside a release ---------------------------------------------------------------------------------------


def test_words_may_be_edited_and_files_left_out_or_added(book):
    out = made(book)
    for name in ("README.md", "croissant.json"):
        (out / name).write_text("edited", encoding="utf-8")
    (out / "apart.csv").unlink()
    (out / "notes.txt").touch()
    (out / ".DS_Store").touch()
    found = receipts.verified(out, book).files
    assert found.edited == ("README.md", "croissant.json")
    assert found.missing == ("apart.csv",)
    assert found.added == ("notes.txt",)
    assert found.same == ("buckets.csv", "release.svg")
    said = dawa("ledger", "verify", "out")
    assert said.code == 0
    assert (
        "edited the words in README.md, croissant.json. Not there: apart.csv. Added by somebody: notes.txt." in said.out
    )


@pytest.mark.parametrize("name", ["buckets.csv", "apart.csv", "release.svg"])
def test_numbers_that_were_changed_are_refused(book, name):
    out = made(book)
    with (out / name).open("ab") as file:
        file.write(b" ")
    refused(dawa("ledger", "verify", "out"), f"{name} in the folder is not the file that its receipt names")
    assert receipts.verified(out / "release.json", book).booked.file, "the release itself is what it was"


def test_what_is_no_file_any_more_is_refused(book):
    out = made(book)
    (out / "buckets.csv").unlink()
    os.mkfifo(out / "buckets.csv")
    with pytest.raises(library.LedgerError, match=r"buckets\.csv in the folder is not the file"):
        receipts.verified(out, book)


def test_a_catalogue_does_not_name_the_receipt_which_some_readers_do_not_get(book):
    said = json.loads((made(book) / "croissant.json").read_text("utf-8"))
    assert RECEIPT not in {file["name"] for file in said["distribution"]}


def test_a_receipt_of_an_earlier_version_lists_no_files(book):
    out = made(book)
    old = json.loads((out / RECEIPT).read_text("utf-8"))
    del old["files"], old["at"]
    (out / RECEIPT).write_text(json.dumps(old), encoding="utf-8")
    (out / "buckets.csv").write_text("edited", encoding="utf-8")
    found = receipts.verified(out, book)
    assert found.booked.receipt
    assert found.files is None


# --- signatures -------------------------------------------------------------------------------------------------------


@pytest.fixture
def signing(book):
    """The ledger, with a key that signs."""
    keys.made("hospital.key")
    return ledger.opened(book.place.path, key="hospital.key")


PUBLIC = "hospital.key.pub"


def test_a_signed_folder_is_verified_without_a_ledger(signing):
    out = made(signing)
    own = keys.PublicKey.read(PUBLIC)
    shutil.copytree(out, "elsewhere/copy")
    Path("dawa-ledger.db").unlink()
    Path("hospital.key").unlink()
    found = receipts.verified("elsewhere/copy", key=PUBLIC)
    assert (found.booked, found.key) == (None, own)
    assert found.receipt.signature.key == own.fingerprint
    assert receipts.verified("elsewhere/copy/release.json", key=own).files is None
    said = dawa("ledger", "verify", "elsewhere/copy", "--key", PUBLIC)
    assert said.code == 0
    assert said.out.startswith(f"Signed with the key {own.fingerprint}: entry 2 of the ledger")
    assert "No ledger was asked." in said.out
    told = dawa("ledger", "verify", "elsewhere/copy", "--key", PUBLIC, "--json").json
    assert (told["ledger"], told["signature"], told["signed_with"]) == (False, True, own.fingerprint)
    assert (told["dataset"], told["epsilon"], told["entry"], told["file"]) == ("hr", "1/2", 2, None)
    assert names() == {"elsewhere", PUBLIC, "out"}, "no ledger was made"


def test_a_ledger_and_a_key_are_both_asked(signing):
    out = made(signing)
    found = receipts.verified(out, signing, key=PUBLIC)
    assert found.booked.receipt
    said = dawa("ledger", "verify", "out", "--key", PUBLIC, "--ledger", "dawa-ledger.db")
    assert "so says its receipt. The receipt is signed with the key" in said.out
    assert "No ledger" not in said.out
    assert "No ledger" not in dawa("ledger", "verify", "out", "--key", PUBLIC, DAWA_LEDGER="dawa-ledger.db").out
    assert "nobody checked the signature" in dawa("ledger", "verify", "out").out
    other = ledger.opened("other.db")
    other.create("hr", 2)
    with pytest.raises(library.LedgerError, match="from another ledger"):
        receipts.verified(out, other, key=PUBLIC)


def test_somebody_has_to_be_asked(signing):
    with pytest.raises(library.LedgerError, match="Nothing says who paid"):
        receipts.verified(made(signing))


def test_every_change_of_a_signed_folder_is_told(signing):
    out = made(signing)
    keys.made("other.key")
    refused(dawa("ledger", "verify", "out", "--key", "other.key.pub"), "signed with another key")
    text = (out / RECEIPT).read_text("utf-8")
    changed(out, dataset="nothing")
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "not what was signed")
    fields = json.loads(text)
    unsigned = {name: value for name, value in fields.items() if name not in {"key", "signature"}}
    (out / RECEIPT).write_text(json.dumps(unsigned), encoding="utf-8")
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "is not signed")
    assert dawa("ledger", "verify", "out").code == 0, "the ledger knows it all the same"
    (out / RECEIPT).unlink()
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "no receipt.json beside the release")
    (out / RECEIPT).write_text(text, encoding="utf-8")
    assert dawa("ledger", "verify", "out", "--key", PUBLIC).code == 0
    with (out / "release.json").open("ab") as file:
        file.write(b"\n")
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "not the file that its receipt names")
    refused(dawa("ledger", "verify", "out", "--key", "nothing.pub"), "cannot be read (No such file")


def test_a_table_of_a_signed_folder_that_was_changed_is_told_whatever_its_receipt_says(signing):
    """Without a signature, the receipt is rewritten with the table, and the ledger knows neither."""
    out = made(signing)
    with (out / "buckets.csv").open("ab") as file:
        file.write(b"0,1,2,3,4\n")
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "buckets.csv in the folder is not the file")
    receipt = Paid.from_json(json.loads((out / RECEIPT).read_text("utf-8")))
    files = {**receipt.files, "buckets.csv": digest(out / "buckets.csv")}
    changed(out, files=files)
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "not what was signed")
    assert dawa("ledger", "verify", "out").code == 0


def test_a_ledger_in_a_server_signs_as_well(postgres, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys.made("hospital.key")
    shared = ledger.opened(in_new_schema(postgres), key="hospital.key")
    shared.create("hr", 2)
    out = made(shared)
    assert receipts.verified(out, shared, key=PUBLIC).booked.file


def test_names_that_move_a_cursor_are_shown_as_text(signing):
    """Whoever signs may call their account what they like."""
    out = made(signing)
    receipt = Paid.from_json(json.loads((out / RECEIPT).read_text("utf-8")))
    odd = replace(receipt, dataset="\x1b[2J\ud800", signer=signing.signer())
    (out / RECEIPT).write_bytes(json.dumps(odd.to_json()).encode("ascii"))
    assert r"on dataset '\x1b[2J\ud800' for" in dawa("ledger", "verify", "out", "--key", PUBLIC).out
    assert dawa("ledger", "verify", "out", "--key", PUBLIC, "--json").json["dataset"] == "\x1b[2J\ud800"


def test_a_receipt_signed_for_another_release_is_not_for_this_one(signing):
    one, two = made(signing), made(signing, "two")
    shutil.copy(two / RECEIPT, one / RECEIPT)
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "another release")


def test_a_signature_under_more_than_was_paid_is_refused(signing):
    out = made(signing)
    receipt = Paid.from_json(json.loads((out / RECEIPT).read_text("utf-8")))
    less = replace(receipt, epsilon=Fraction(1, 9), signer=signing.signer())
    (out / RECEIPT).write_text(less.as_text(), encoding="utf-8")
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "costs something else than what was paid")


def test_the_environment_names_the_key_of_releases(book):
    Path("people.csv").write_text("age\n" + "31\n45\n" * 100, encoding="utf-8")
    assert dawa("ledger", "key", "hospital.key").code == 0
    release = ("release", "people.csv", "--column", "age", "--range", "0:100", "--epsilon", "0.5", "--dataset", "hr")
    assert dawa(*release, "--out", "out", DAWA_LEDGER_KEY="hospital.key").code == 0
    assert dawa("ledger", "verify", "out", "--key", PUBLIC).code == 0
    assert len(book.history()) == 3
    refused(dawa(*release, "--out", "two", DAWA_LEDGER_KEY=" "), "DAWA_LEDGER_KEY is empty")
    refused(dawa(*release, "--out", "two", DAWA_LEDGER_KEY="nothing"), "No such file")
    refused(dawa(*release, "--out", "two", DAWA_LEDGER_KEY=PUBLIC), "not a private Ed25519 key")
    Path("hospital.key").chmod(0o640)
    refused(dawa(*release, "--out", "two", DAWA_LEDGER_KEY="hospital.key"), "Others than its owner")
    assert len(ledger.opened("dawa-ledger.db").history()) == 3, "nothing was paid"
    assert not Path("two").exists()


def test_no_release_takes_the_key_along(signing):
    Path("out").mkdir()
    for file in Path().glob("hospital.key*"):
        file.rename(Path("out") / file.name)
    inside = ledger.opened("dawa-ledger.db", key="out/hospital.key")
    with (
        pytest.raises(library.LedgerError, match="key that signs receipts lies in"),
        folder.prepared("out", replace=True) as keeper,
    ):
        library.release(AGES, AXIS, epsilon=1, ledger=inside, dataset="hr", out=keeper)
    assert len(signing.history()) == 1
    assert names("out") == {"hospital.key", PUBLIC}


def test_several_releases_are_signed_each(signing):
    with folder.prepared("one") as one, folder.prepared("two") as two:
        for keeper in (one, two):
            library.release(AGES, AXIS, epsilon="0.5", ledger=signing, dataset="hr", out=keeper)
    for name in ("one", "two"):
        assert receipts.verified(name, signing, key=PUBLIC).booked.receipt


def test_recovery_signs_where_a_key_is_named_and_says_so(signing, book, monkeypatch):
    killed(signing, monkeypatch, (folder.readme, "readme"), (folder.places, "visible"))
    assert [trace.signed for trace in recovery.recovered(signing)] == [True]
    assert receipts.verified("out", signing, key=PUBLIC).booked.receipt
    Path("out").rename("first")
    killed(signing, monkeypatch, (folder.readme, "readme"), (folder.places, "visible"))
    assert "Its receipt is not signed." in dawa("ledger", "recover").out
    refused(dawa("ledger", "verify", "out", "--key", PUBLIC), "is not signed")
    assert receipts.verified("out", book).booked.receipt


def test_recovery_keeps_the_receipt_of_a_run_that_wrote_one(signing, monkeypatch):
    """The run dies after its folder has its name; whoever recovers has no key, and need not have one."""
    killed(signing, monkeypatch, (ledger.Reservation, "finalise"))
    assert "Its receipt is signed." in dawa("ledger", "recover").out
    assert receipts.verified("out", signing, key=PUBLIC).booked.receipt


def test_recovery_changes_nothing_where_its_key_cannot_be_used(signing, monkeypatch):
    killed(signing, monkeypatch, (folder.readme, "readme"), (folder.places, "visible"))
    Path("hospital.key").chmod(0o644)
    before = names()
    refused(dawa("ledger", "recover", DAWA_LEDGER_KEY="hospital.key"), "Others than its owner")
    assert names() == before
    assert dawa("ledger", "recover", "--dry-run", DAWA_LEDGER_KEY="hospital.key").code == 0
    Path("hospital.key").chmod(0o600)
    assert [trace.signed for trace in recovery.recovered(signing)] == [True]


READER = """
import sys
for name in ("sqlalchemy", "duckdb", "ibis", "pyarrow", "pandas", "matplotlib"):
    sys.modules[name] = None  # as if it were not installed
from dawa.cli import main
sys.argv = ["dawa", *sys.argv[1:]]
main()
"""


def test_a_reader_needs_nothing_but_the_core_and_the_extra(signing):
    made(signing)
    command = [sys.executable, "-c", READER, "ledger", "verify", "out", "--key", PUBLIC]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  our own
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Signed with the key")


def test_releases_of_groups_and_of_maps_are_signed_with_all_their_files(signing):
    table = {"age": [31, 45, 62] * 40, "sex": ["f", "m", "m"] * 40, "height": [160, 170, 180] * 40}
    with folder.prepared("groups") as keeper:
        library.release(
            table, AXIS, epsilon="0.5", by="sex", groups=["f", "m"], ledger=signing, dataset="hr", out=keeper
        )
    with folder.prepared("map") as keeper:
        axes = [library.Axis("age", 0, 100, step=10), library.Axis("height", 100, 200, step=10)]
        library.release(table, axes, epsilon="0.5", ledger=signing, dataset="hr", out=keeper)
    for name in ("groups", "map"):
        found = receipts.verified(name, signing, key=PUBLIC)
        assert {*found.files.same, "release.json", RECEIPT} == names(name)
        assert found.files == receipts.Beside(same=found.files.same)


def test_a_keeper_of_ones_own_writes_a_signed_receipt(signing):
    class Own:
        where, parent = {}, Path()

        def keep(self, release, paid):
            Path("own").mkdir()
            release.save("own/release.json")
            Path("own", RECEIPT).write_text(paid.of(Path("own/release.json")).as_text(), encoding="utf-8")
            return keeping.Kept.at(Path("own"))

    library.release(AGES, AXIS, epsilon="0.5", ledger=signing, dataset="hr", out=Own())
    assert receipts.verified("own", signing, key=PUBLIC).booked.file


def test_opened_ledgers_say_nothing_of_their_key(signing):
    reservation = signing.reserve("hr", "0.5", what={}, mechanism="dawa")
    assert "hospital" not in repr(signing)
    secret = reservation.signer._key.private_bytes_raw()
    for text in (repr(reservation), repr(reservation.paid("x")), reservation.paid("x").as_text(), str(vars(signing))):
        assert secret.hex() not in text
        assert repr(secret)[2:-1] not in text
    assert "hospital" not in json.dumps([entry.to_json() for entry in signing.history()])
