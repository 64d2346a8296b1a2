"""The receipt beside a release: what it says, and what is no receipt."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from dawa.errors import LedgerError
from dawa.ledger.anchor import receipts
from dawa.limits import MOST_RECEIPT_FILE
from dawa.results.paid import RECEIPT, Paid, beside, digest

PAID = Paid("0123456789abcdef", 7, "f" * 64, "hr", Fraction(1, 3), "a-release", "0" * 64)


def test_a_receipt_is_read_as_it_was_written(tmp_path):
    (tmp_path / RECEIPT).write_text(PAID.as_text(), encoding="utf-8")
    assert beside(tmp_path / "release.json") == PAID
    assert beside(tmp_path / "elsewhere/release.json") is None


def test_a_receipt_holds_the_line_that_a_ledger_is_checked_with():
    (line,) = receipts(PAID.as_text())
    assert (line.ledger, line.number, line.hash) == (PAID.ledger, 7, PAID.hash)
    assert str(line) == PAID.line


def test_a_receipt_says_nothing_but_what_the_ledger_knows():
    assert set(PAID.to_json()) == {
        *("format", "version", "release", "sha256", "dataset", "epsilon", "ledger", "entry", "hash", "receipt")
    }


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
