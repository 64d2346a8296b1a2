"""Keys that sign receipts: their files, who may read them, and what no message repeats."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ed448, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dawa.errors import InstallationError, LedgerError
from dawa.host import atomic, extras
from dawa.limits import MOST_KEY_FILE
from dawa.results import keys
from dawa.results.keys import PrivateKey, PublicKey
from helpers.commands import dawa, names, refused

PLAIN = form.NoEncryption()


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(keys.VARIABLE, raising=False)


def written(key, path="other.key", encryption=PLAIN):
    atomic.write(path, key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, encryption), private=True)
    return path


def test_a_key_signs_and_its_public_one_checks():
    key, new = keys.made("a.key")
    assert new
    assert PrivateKey.read("a.key") == key
    assert PublicKey.read("a.key.pub") == key.public
    signature = key.sign(b"this")
    assert key.public.signed(b"this", signature)
    assert not key.public.signed(b"that", signature)
    assert not key.public.signed(b"this", bytes(64))
    assert not keys.made("b.key")[0].public.signed(b"this", signature)


def test_signatures_are_those_of_the_standard():
    """The second test of RFC 8032, section 7.1."""
    secret = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    path = written(Ed25519PrivateKey.from_private_bytes(secret))
    key = PrivateKey.read(path)
    assert key.public.raw.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert key.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs OpenSSL's program")
def test_other_tools_read_both_files():
    keys.made("a.key")
    command = [shutil.which("openssl"), "pkey", "-in", "a.key", "-pubout"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert found.stdout == Path("a.key.pub").read_text("ascii")


@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_nobody_else_may_read_a_private_key(mask):
    before = os.umask(mask)
    try:
        keys.made("a.key")
    finally:
        os.umask(before)
    assert Path("a.key").stat().st_mode & 0o777 == 0o600


def test_nobody_else_may_read_it_while_it_is_written(monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(os.fstat(handle).st_mode & 0o777))
    keys.made("a.key")
    assert seen[0] == 0o600


@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666, 0o777])
def test_a_key_that_others_may_use_is_refused(mode):
    keys.made("a.key")
    Path("a.key").chmod(mode)
    with pytest.raises(LedgerError, match="Others than its owner"):
        PrivateKey.read("a.key")
    Path("a.key").chmod(0o400)
    PrivateKey.read("a.key")


def test_a_private_key_prints_as_its_public_one():
    key, _ = keys.made("a.key")
    secret = Path("a.key").read_text("ascii").splitlines()[1]
    raw = key._key.private_bytes(form.Encoding.Raw, form.PrivateFormat.Raw, PLAIN)
    for text in (repr(key), str(key), f"{key}"):
        assert secret not in text
        assert raw.hex() not in text
        assert repr(raw) not in text
    assert re.fullmatch("[0-9a-f]{32}", key.public.fingerprint)


WRONG = {
    "nothing": lambda: None,
    "a folder": lambda: Path("other.key").mkdir(),
    "a pipe": lambda: os.mkfifo("other.key", 0o600),
    "a link to nowhere": lambda: Path("other.key").symlink_to("nowhere"),
    "empty": lambda: atomic.write("other.key", b"", private=True),
    "too long": lambda: atomic.write("other.key", b"x" * (MOST_KEY_FILE + 1), private=True),
    "bytes": lambda: atomic.write("other.key", bytes(range(256)), private=True),
    "damaged": lambda: atomic.write(
        "other.key", "-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n", private=True
    ),
    "RSA": lambda: written(rsa.generate_private_key(65537, 2048)),
    "X25519": lambda: written(x25519.X25519PrivateKey.generate()),
    "Ed448": lambda: written(ed448.Ed448PrivateKey.generate()),
    "a passphrase": lambda: written(Ed25519PrivateKey.generate(), encryption=form.BestAvailableEncryption(b"s3cret")),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_what_is_no_key_is_refused(make):
    make()
    before = Path("other.key").read_text("ascii", "replace") if Path("other.key").is_file() else ""
    for read in (PrivateKey.read, PublicKey.read):
        with pytest.raises(LedgerError) as told:
            read("other.key")
        assert told.value.hint
        assert not any(line in str(told.value) for line in before.splitlines() if line), "no message repeats a key"


def test_public_and_private_are_told_apart():
    keys.made("a.key")
    with pytest.raises(LedgerError, match="is a private key, which checks nothing"):
        PublicKey.read("a.key")
    with pytest.raises(LedgerError, match="not a private Ed25519 key") as told:
        PrivateKey.read("a.key.pub")
    assert "does not end in .pub" in told.value.hint


def test_a_public_key_of_another_kind_is_refused():
    other = x25519.X25519PrivateKey.generate().public_key()
    Path("x.pub").write_bytes(other.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(LedgerError, match="not a public Ed25519 key"):
        PublicKey.read("x.pub")


def test_a_key_that_stands_where_its_file_should_be_named_is_not_repeated(monkeypatch):
    """People put keys into environment variables."""
    keys.made("a.key")
    content = Path("a.key").read_text("ascii")
    assert dawa("ledger", "create", "hr", "--cap", "2").code == 0
    for value in (content, content.splitlines()[1], "0123456789abcdef" * 4):
        ran = dawa("ledger", "spend", "hr", "0.1", "--what", "x", DAWA_LEDGER_KEY=value)
        refused(ran, "The file that should hold the key cannot be read")
        assert value.splitlines()[-1] not in ran.err
        monkeypatch.setenv(keys.VARIABLE, value)
        from dawa import ledger  # noqa: PLC0415  the variable is read when a ledger is opened

        assert value.splitlines()[0] not in repr(ledger.opened("dawa-ledger.db"))
    with pytest.raises(LedgerError, match="cannot name a key"):
        keys.named("a\0b")


def test_what_names_no_key_is_refused_by_what_it_is(monkeypatch):
    from dawa import ledger  # noqa: PLC0415  databases are slow to load
    from dawa.publish import receipts  # noqa: PLC0415

    monkeypatch.delenv(keys.VARIABLE, raising=False)
    with pytest.raises(LedgerError, match="The name of the key is empty"):
        ledger.opened("dawa-ledger.db", key=" ")
    private, _ = keys.made("a.key")
    for value in (b"a.key", 5, ["a.key"], private):
        with pytest.raises(LedgerError, match=f"not by a value of type {type(value).__name__}"):
            ledger.opened("dawa-ledger.db", key=value)
        with pytest.raises(LedgerError, match=f"not by a value of type {type(value).__name__}"):
            receipts.verified("out", key=value)
    monkeypatch.setenv(keys.VARIABLE, " ")
    with pytest.raises(LedgerError, match=f"^{keys.VARIABLE} is empty"):
        ledger.opened("dawa-ledger.db")


def test_a_ledger_that_is_open_takes_no_key_that_would_sign_nothing():
    from dawa import ledger  # noqa: PLC0415  databases are slow to load

    keys.made("a.key")
    book = ledger.opened("dawa-ledger.db")
    assert ledger.opened(book) is book
    for more in ({"key": "a.key"}, {"anchor": "receipts.txt"}):
        with pytest.raises(LedgerError, match="open already"):
            ledger.opened(book, **more)


def test_nothing_is_replaced():
    keys.made("a.key")
    before = {name: Path(name).read_bytes() for name in names()}
    refused(dawa("ledger", "key", "a.key"), "'a.key' exists already")
    refused(dawa("ledger", "key", "a.key.pub"), "ends in .pub is that of a public key")
    Path("b.key.pub").write_text("somebody's", encoding="ascii")
    refused(dawa("ledger", "key", "b.key"), "'b.key.pub' exists already")
    Path("c.key").write_text("somebody's", encoding="ascii")
    refused(dawa("ledger", "key", "c.key"), "'c.key' exists already")
    Path("d.key").symlink_to("nowhere")
    refused(dawa("ledger", "key", "d.key"), "'d.key' exists already")
    assert {name: Path(name).read_bytes() for name in before} == before
    assert names() == {*before, "b.key.pub", "c.key", "d.key"}


def test_what_cannot_be_written_leaves_nothing(monkeypatch):
    refused(dawa("ledger", "key", "no/such/folder/a.key"), "cannot be written")
    refused(dawa("ledger", "key", "a" * 300), "cannot be written")
    write = atomic.write

    def full(path, content, **options):
        if str(path).endswith(".pub"):
            raise OSError(28, "No space left on device")
        return write(path, content, **options)

    monkeypatch.setattr(atomic, "write", full)
    refused(dawa("ledger", "key", "a.key"), "No space left")
    assert names() == set()


def test_a_public_key_that_is_missing_is_written_again():
    """A run was killed between the two files, or somebody lost one."""
    key, _ = keys.made("a.key")
    text = Path("a.key.pub").read_text("ascii")
    Path("a.key.pub").unlink()
    told = dawa("ledger", "key", "a.key", "--json").json
    assert told == {"key": "a.key", "public": "a.key.pub", "fingerprint": key.public.fingerprint, "new": False}
    assert Path("a.key.pub").read_text("ascii") == text


@pytest.mark.long
def test_of_many_who_make_the_same_key_one_does():
    """Whoever is told of a key is told of the one that is there."""
    command = [sys.executable, "-m", "dawa", "ledger", "key", "a.key", "--json"]
    with ThreadPoolExecutor(6) as pool:
        ran = list(
            pool.map(
                lambda _: subprocess.run(command, check=False, capture_output=True, text=True),  # noqa: S603
                range(6),
            )
        )
    own = PublicKey.read("a.key.pub")
    assert PrivateKey.read("a.key").public == own
    assert names() == {"a.key", "a.key.pub"}
    done = [one.stdout for one in ran if one.returncode == 0]
    assert sum('"new": true' in one for one in done) == 1
    assert all(own.fingerprint in one for one in done)
    assert all("exists already" in one.stdout for one in ran if one.returncode)


DIE = """
import os, signal, sys
import cryptography.hazmat.primitives.asymmetric.ed25519, cryptography.hazmat.primitives.serialization
from dawa.results import keys
left = [int(sys.argv[1])]

def die(event, found):
    if event in {"open", "os.link", "os.remove"} and any(".key" in str(one) or ".dawa-" in str(one) for one in found):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
keys.made("a.key")
"""


@pytest.mark.long
def test_a_run_that_is_killed_leaves_a_key_or_none(tmp_path, monkeypatch):
    """At each of its calls: what is there then is whole, its owner's alone, and completed by the next run."""
    done = 0
    while True:
        done += 1
        place = tmp_path / str(done)
        place.mkdir()
        monkeypatch.chdir(place)
        killed = subprocess.run([sys.executable, "-c", DIE, str(done)], check=False)  # noqa: S603
        left = {path.name: path.stat().st_mode & 0o077 for path in place.iterdir()}
        assert not left.get("a.key")
        whole = "a.key.pub" in left
        before = Path("a.key").read_bytes() if "a.key" in left else None
        assert dawa("ledger", "key", "a.key").code == (1 if whole else 0)
        assert before in {None, Path("a.key").read_bytes()}
        assert PrivateKey.read("a.key").public == PublicKey.read("a.key.pub")
        if killed.returncode == 0:
            break
    assert done > 6


def test_of_many_threads_one_makes_the_key():
    """Many times, as close together as they come."""
    for turn in range(40):
        first, path = Barrier(4), f"{turn}.key"

        def make(_, first=first, path=path):
            first.wait()
            with suppress(LedgerError):
                return keys.made(path)

        with ThreadPoolExecutor(4) as pool:
            found = [one for one in pool.map(make, range(4)) if one is not None]
        assert sum(new for _, new in found) == 1
        assert {key.public for key, _ in found} == {PublicKey.read(f"{path}.pub")}
        assert PrivateKey.read(path).public == found[0][0].public


def test_between_its_two_files_another_run_may_write_the_second_one(monkeypatch):
    """It finds the private key alone, and writes the public one; the first run then finds that it is there."""
    read = PrivateKey.read.__func__

    def meanwhile(cls, path):
        monkeypatch.undo()
        monkeypatch.chdir(path.parent)
        assert keys.made("a.key")[1] is False
        return read(cls, path)

    monkeypatch.setattr(PrivateKey, "read", classmethod(meanwhile))
    key, new = keys.made(Path.cwd() / "a.key")
    assert new
    assert PublicKey.read("a.key.pub") == key.public == PrivateKey.read("a.key").public


def test_the_command_says_what_to_do_next():
    said = dawa("ledger", "key", "my keys/hospital.key".replace("/", "-")).out
    key = PrivateKey.read("my keys-hospital.key")
    assert key.public.fingerprint in said
    assert f"export DAWA_LEDGER_KEY='{Path.cwd()}/my keys-hospital.key'" in said
    assert Path("my keys-hospital.key").read_text("ascii").splitlines()[1] not in said


def test_without_the_library_nothing_is_begun(monkeypatch):
    keys.made("a.key")
    assert dawa("ledger", "create", "hr", "--cap", "2").code == 0
    find = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "cryptography" else find(name))
    hint = "Hint: pip install 'dawa[signing]'."
    refused(dawa("ledger", "key", "b.key"), "Making a key needs cryptography", hint)
    Path("people.csv").write_text("age\n31\n", encoding="utf-8")
    table = ("--column", "age", "--range", "0:100", "--epsilon", "1", "--dataset", "hr", "--out", "out")
    ran = dawa("release", "people.csv", *table, DAWA_LEDGER_KEY="a.key")
    refused(ran, "Signing receipts needs cryptography", hint)
    assert dawa("ledger", "show", "--json").json["accounts"][0]["spent"] == "0"
    assert dawa("release", "people.csv", *table).code == 0, "without a key, nothing needs it"
    refused(dawa("ledger", "verify", "out", "--key", "a.key.pub"), "Checking a signature needs cryptography", hint)
    with pytest.raises(InstallationError):
        PublicKey.read("a.key.pub")
