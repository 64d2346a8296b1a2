"""The receipt beside a release: what it says, and what is no receipt."""

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import LedgerError
from dawa.ledger.anchor import receipts
from dawa.limits import MOST_RECEIPT_FILE
from dawa.results.keys import PrivateKey, PublicKey
from dawa.results.paid import RECEIPT, Paid, beside, digest, message

PAID = Paid("0123456789abcdef", 7, "f" * 64, "hr", Fraction(1, 3), "a-release", "0" * 64)
FULL = replace(PAID, at="2026-05-03T10:11:12.013+00:00", files={"README.md": "1" * 64, "buckets.csv": "2" * 64})


def of(seed):
    """A key that is the same each time: for tests alone."""
    found = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    raw = found.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return PrivateKey(PublicKey(raw), found)


KEY, OTHER = of(1), of(2)
SIGNED = replace(FULL, signer=KEY)


def test_a_receipt_is_read_as_it_was_written(tmp_path):
    (tmp_path / RECEIPT).write_text(PAID.as_text(), encoding="utf-8")
    assert beside(tmp_path / "release.json") == PAID
    assert beside(tmp_path / "elsewhere/release.json") is None


def test_a_receipt_holds_the_line_that_a_ledger_is_checked_with():
    (line,) = receipts(PAID.as_text())
    assert (line.ledger, line.number, line.hash) == (PAID.ledger, 7, PAID.hash)
    assert str(line) == PAID.line


def test_a_receipt_says_nothing_but_what_the_ledger_and_the_folder_know():
    assert set(PAID.to_json()) == {
        *("format", "version", "release", "sha256", "dataset", "epsilon", "ledger", "entry", "hash", "receipt")
    }
    assert set(FULL.to_json()) - set(PAID.to_json()) == {"at", "files"}
    assert set(SIGNED.to_json()) - set(FULL.to_json()) == {"key", "signature"}


def test_the_digest_is_that_of_the_file(tmp_path):
    """SHA-256 of nothing and of ``abc``, as FIPS 180-2 gives them."""
    (tmp_path / "empty").touch()
    (tmp_path / "abc").write_bytes(b"abc")
    assert digest(tmp_path / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert PAID.of(tmp_path / "abc").digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, None) for field in PAID.to_json()),
        ("format", "dawa release"),
        ("version", 2),
        ("version", "1"),
        ("sha256", "F" * 64),
        ("hash", "f" * 63),
        ("ledger", "0123456789abcdeg"),
        ("entry", 0),
        ("entry", True),
        ("entry", 10**30),
        ("entry", "7"),
        ("epsilon", "0"),
        ("epsilon", "many"),
        ("epsilon", []),
        ("dataset", 3),
        ("release", ["a"]),
        ("receipt", "dawa-ledger 0123456789abcdef 8 " + "f" * 64),
        ("at", 3),
        ("at", "now; or later"),
        ("files", None),
        ("files", []),
        ("files", {"../elsewhere": "0" * 64}),
        ("files", {".hidden": "0" * 64}),
        ("files", {"a/b": "0" * 64}),
        ("files", {"a": "0" * 63}),
        ("files", {"a": None}),
        ("key", "0" * 32),
        ("signature", "0" * 128),
    ],
)
def test_what_is_no_receipt_is_refused(field, value):
    with pytest.raises(LedgerError, match="not usable"):
        Paid.from_json({**PAID.to_json(), field: value})


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 60_000, b" " * (MOST_RECEIPT_FILE + 1)], ids=range(6)
)
def test_files_that_are_no_receipt_are_refused(tmp_path, content):
    (tmp_path / RECEIPT).write_bytes(content)
    with pytest.raises(LedgerError, match="not usable"):
        beside(tmp_path / "release.json")


@pytest.mark.parametrize("made", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")], ids=range(3))
def test_what_is_no_file_is_no_receipt(tmp_path, made):
    made(tmp_path / RECEIPT)
    with pytest.raises(LedgerError, match="no file"):
        beside(tmp_path / "release.json")


def test_fields_that_come_later_are_passed_over():
    assert Paid.from_json({**json.loads(PAID.as_text()), "later": 1}) == PAID


# --- signatures -------------------------------------------------------------------------------------------------------


def read(text):
    """A receipt as it is read from a folder."""
    return Paid.from_json(json.loads(text))


def holds(text, key=KEY):
    """Whether a text is a receipt that is signed with a key."""
    try:
        read(text).check_signed(key.public)
    except (LedgerError, ValueError):
        return False
    return True


def test_a_signed_receipt_is_read_as_it_was_written(tmp_path):
    (tmp_path / RECEIPT).write_text(SIGNED.as_text(), encoding="utf-8")
    found = beside(tmp_path / "release.json")
    assert replace(found, signature=None) == FULL
    assert found.signature.key == KEY.public.fingerprint
    found.check_signed(KEY.public)


def test_what_is_signed_stays_the_same_forever():
    """Receipts are verified years later, by other versions and other programs."""
    fields = {name: value for name, value in SIGNED.to_json().items() if name != "signature"}
    assert message(fields) == (
        b"dawa receipt, signed, 1\n"
        b'{"at":"2026-05-03T10:11:12.013+00:00","dataset":"hr","entry":7,"epsilon":"1/3","files":{"README.md":"'
        + b"1" * 64
        + b'","buckets.csv":"'
        + b"2" * 64
        + b'"},"format":"dawa receipt","hash":"'
        + b"f" * 64
        + b'","key":"34750f98bd59fcfc946da45aaabe933b","ledger":"0123456789abcdef","receipt":"dawa-ledger'
        + b" 0123456789abcdef 7 "
        + b"f" * 64
        + b'","release":"a-release","sha256":"'
        + b"0" * 64
        + b'","version":1}'
    )


def test_a_receipt_without_a_signature_is_not_signed():
    with pytest.raises(LedgerError, match="is not signed"):
        read(FULL.as_text()).check_signed(KEY.public)


def test_another_key_did_not_sign_it():
    with pytest.raises(LedgerError, match="signed with another key") as told:
        read(SIGNED.as_text()).check_signed(OTHER.public)
    assert OTHER.public.fingerprint in str(told.value)
    named = {**SIGNED.to_json(), "key": OTHER.public.fingerprint}
    with pytest.raises(LedgerError, match="not what was signed"):
        read(json.dumps(named)).check_signed(OTHER.public)


def test_a_signature_of_something_else_is_none_of_a_receipt():
    """The same fields, signed without the line that says what they are."""
    fields = {**FULL.to_json(), "key": KEY.public.fingerprint}
    bare = KEY.sign(message(fields).partition(b"\n")[2])
    assert not holds(json.dumps({**fields, "signature": bare.hex()}))
    assert holds(json.dumps({**fields, "signature": KEY.sign(message(fields)).hex()}))


@pytest.mark.parametrize("field", [name for name in SIGNED.to_json() if name != "signature"])
def test_no_field_can_be_left_out(field):
    fields = SIGNED.to_json()
    del fields[field]
    assert not holds(json.dumps(fields))


@pytest.mark.parametrize("field", [None, "files"])
def test_no_field_can_be_added(field):
    fields = SIGNED.to_json()
    (fields if field is None else fields[field])["later"] = "3" * 64
    assert not holds(json.dumps(fields))


def test_fields_that_a_later_version_signs_are_passed_over():
    fields = {**FULL.to_json(), "later": ["anything", {"at": None}], "key": KEY.public.fingerprint}
    assert holds(json.dumps({**fields, "signature": KEY.sign(message(fields)).hex()}))


TEXT = SIGNED.as_text()


@given(st.integers(0, len(TEXT) - 1), st.characters(codec="utf-8"))
def test_any_change_of_any_character_is_noticed(place, character):
    """Unless it changes no value: a space beside another one, an escape that says the same."""
    edited = TEXT[:place] + character + TEXT[place + 1 :]
    try:
        same = json.loads(edited) == json.loads(TEXT)
    except ValueError:
        same = False
    assert holds(edited) == same


@given(st.integers(0, len(TEXT) - 1), st.integers(1, 12))
def test_any_cut_is_noticed(place, length):
    edited = TEXT[:place] + TEXT[place + length :]
    try:
        same = json.loads(edited) == json.loads(TEXT)
    except ValueError:
        same = False
    assert holds(edited) == same


RECEIPTS = st.builds(
    Paid,
    ledger=st.from_regex("[0-9a-f]{16}", fullmatch=True),
    entry=st.integers(1, 10**17),
    hash=st.from_regex("[0-9a-f]{64}", fullmatch=True),
    dataset=st.text(max_size=20),
    epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000),
    release=st.text(max_size=20),
    digest=st.from_regex("[0-9a-f]{64}", fullmatch=True),
    at=st.none() | st.just("2026-05-03T10:11:12.013+00:00"),
    files=st.dictionaries(st.sampled_from(["README.md", "a.csv"]), st.from_regex("[0-9a-f]{64}", fullmatch=True)),
    signer=st.just(KEY),
)


@settings(max_examples=30)
@given(RECEIPTS, RECEIPTS)
def test_receipts_that_say_different_things_have_different_signatures(one, other):
    assert holds(one.as_text())
    mixed = {**other.to_json(), "signature": one.to_json()["signature"]}
    assert holds(json.dumps(mixed)) == (one == other)


def test_a_field_that_stands_there_twice_is_refused(tmp_path):
    """Two readers might take different ones."""
    (tmp_path / RECEIPT).write_text(TEXT.replace("{", '{"dataset": "other",', 1), encoding="utf-8")
    assert read((tmp_path / RECEIPT).read_text("utf-8")).dataset == "hr"
    with pytest.raises(LedgerError, match="not usable"):
        beside(tmp_path / "release.json")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_no_json_holds_was_not_signed(value):
    with pytest.raises(LedgerError, match="nobody can have signed"):
        Paid.from_json({**SIGNED.to_json(), "later": value})
