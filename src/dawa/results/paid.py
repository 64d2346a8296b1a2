"""How a release was paid for: the receipt that lies beside it, and names one entry of one ledger.

A ledger's entries are chained: the hash of an entry covers all of its fields and the entry before it. So whoever has
the number and the hash of an entry can see whether a ledger still holds exactly this entry. The receipt says both,
with the account and the epsilon, and ties them to the files beside it by their SHA-256. It holds nothing that the
ledger or the folder does not say, and nothing of the data.

It is signed if a key is named (``dawa.results.keys``). A signature says that whoever holds the key wrote exactly this
receipt, to those who have no ledger to ask. It says nothing of what became of the ledger since: what binds its keeper
is the chain, and an anchor of it with others.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dawa import budget
from dawa.errors import BudgetError, LedgerError
from dawa.limits import MOST_RECEIPT_FILE
from dawa.results.keys import PrivateKey, PublicKey

RECEIPT = "receipt.json"
"""What the receipt in a folder is called."""

FORMAT = "dawa receipt"
VERSION = 1
HASH, BEGUN = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{16}")
DIGEST = "sha256"
"""The word for a file's SHA-256, in receipts and in the ledger."""

SIGNED = b"dawa receipt, signed, 1\n"
"""How begins what is signed: a signature of it is one of nothing else, and other versions are signed otherwise."""

KEY, SIGNATURE = "key", "signature"
PRINT, SEAL = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{128}")
TIME, NAME = re.compile(r"[0-9T:.+Z-]{1,40}"), re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Signature:
    """A signature that was read, and not checked yet.

    Attributes:
        key: The fingerprint of the key that it names.
        value: The signature.
        message: What was signed, if it is one.
    """

    key: str
    value: bytes = field(repr=False)
    message: bytes = field(repr=False)


@dataclass(frozen=True)
class Paid:
    """What paid for a release.

    Attributes:
        ledger: Which ledger: how the hash of its first entry begins.
        entry: The number of the entry that reserved.
        hash: The hash of that entry.
        dataset: The account.
        epsilon: What the entry spent.
        release: The release's name.
        digest: The SHA-256 of the release's file; None until it is written.
        at: When the entry was booked, as it says; None in receipts of earlier versions.
        files: The SHA-256 of the files beside it, by their names; none in receipts of earlier versions.
        signature: The signature that was read with it; None if there is none.
        signer: The key that signs it when it is written; None leaves it unsigned.
    """

    ledger: str
    entry: int
    hash: str
    dataset: str
    epsilon: Fraction
    release: str
    digest: str | None = None
    at: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    signature: Signature | None = None
    signer: PrivateKey | None = field(default=None, repr=False, compare=False)

    @property
    def line(self) -> str:
        """The receipt as ``dawa ledger receipt`` writes it, for ``dawa ledger check``."""
        return f"dawa-ledger {self.ledger} {self.entry} {self.hash}"

    def of(self, file: Path, beside: Mapping[str, Path] | None = None) -> "Paid":
        """The same for a release that was written there, with these files beside it."""
        files = {name: digest(path) for name, path in (beside or {}).items()}
        return replace(self, digest=digest(file), files=files)

    def as_text(self) -> str:
        """The file, as JSON, signed if there is a key."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values; the exact epsilon as a fraction in a string. With a key, they are signed."""
        if self.signer is None:
            return self._fields()
        fields = {**self._fields(), KEY: self.signer.public.fingerprint}
        return {**fields, SIGNATURE: self.signer.sign(message(fields)).hex()}

    def check_signed(self, key: PublicKey) -> None:
        """Refuse a receipt that was not signed with this key, or was changed since.

        Raises:
            LedgerError: If it was not signed with it, exactly as it is.
        """
        found = self.signature
        if found is None:
            raise LedgerError(
                f"The receipt in {RECEIPT} is not signed.",
                "ask whoever published the folder for a signed one; or compare it with the ledger alone: no --key.",
            )
        if found.key != key.fingerprint:
            raise LedgerError(
                f"The receipt was signed with another key, {found.key}; the one that was named is {key.fingerprint}.",
                "name the key of whoever published the folder, as they themselves gave it to you.",
            )
        if not key.signed(found.message, found.value):
            raise LedgerError(
                "The receipt is not what was signed: somebody changed it, or forged the signature.",
                "take the folder as it was published.",
            )

    def check_is_for(self, release: str | None, digest: str) -> None:
        """Refuse another release than the one that was paid.

        Args:
            release: Its name.
            digest: The SHA-256 of its file.

        Raises:
            LedgerError: If the receipt is for another one, or for another file.
        """
        if self.release != release:
            raise LedgerError(
                "The receipt is for another release than the one beside it.", "put each where it belongs."
            )
        if self.digest != digest:
            raise LedgerError(
                "The release is not the file that its receipt names: its SHA-256 is another.",
                "somebody changed or rewrote it: take the file as it was made.",
            )

    def _fields(self) -> dict[str, Any]:
        """What it says."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "release": self.release,
            DIGEST: self.digest,
            "dataset": self.dataset,
            "epsilon": str(self.epsilon),
            "ledger": self.ledger,
            "entry": self.entry,
            "hash": self.hash,
            **({} if self.at is None else {"at": self.at}),
            "receipt": self.line,
            **({"files": dict(self.files)} if self.files else {}),
        }

    @classmethod
    def from_json(cls, data: object) -> "Paid":
        """What ``to_json`` wrote; fields that it does not know are passed over.

        Raises:
            LedgerError: If it is no receipt, or its parts do not fit together.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise _broken("it is no receipt")
        if data.get("version") != VERSION:
            raise _broken("it has another version", "use a newer dawa.")
        texts = {name: data.get(name) for name in ("ledger", "hash", "dataset", "release", DIGEST)}
        for name, pattern in (("ledger", BEGUN), ("hash", HASH), (DIGEST, HASH)):
            if not isinstance(texts[name], str) or not pattern.fullmatch(str(texts[name])):
                raise _broken(f"its field {name!r} is no hash")
        if not all(isinstance(texts[name], str) for name in ("dataset", "release")):
            raise _broken("it does not name the account and the release")
        number = data.get("entry")
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 10**18:
            raise _broken("its field 'entry' is no number of an entry")
        try:
            epsilon = budget.exact(data.get("epsilon"))
        except BudgetError:
            raise _broken("its field 'epsilon' is no budget") from None
        found = cls(
            str(texts["ledger"]),
            number,
            str(texts["hash"]),
            str(texts["dataset"]),
            epsilon,
            str(texts["release"]),
            str(texts[DIGEST]),
            _time(data.get("at")),
            _files(data.get("files", {})),
            _signature(data),
        )
        if data.get("receipt") != found.line:
            raise _broken("its line is not what its fields say")
        return found


def beside(file: Path) -> Paid | None:
    """The receipt in the folder of a release, if there is one.

    Raises:
        LedgerError: If it cannot be read, or is none.
    """
    path = file.parent / RECEIPT
    if not os.path.lexists(path):
        return None
    try:
        if not path.is_file() or path.stat().st_size > MOST_RECEIPT_FILE:
            raise _broken("it is no file, or too long")
        return Paid.from_json(json.loads(path.read_bytes(), object_pairs_hook=_once))
    except (OSError, ValueError, RecursionError) as error:
        raise _broken(f"it cannot be read ({type(error).__name__})") from None


def message(fields: Mapping[str, Any]) -> bytes:
    """What a signature is of: every field of a receipt but the signature, also those that a later version adds.

    They are written as JSON without spaces, in ASCII, sorted by their names, behind a line that says what this is. So
    equal fields give equal bytes, and different fields different ones.
    """
    rest = {name: value for name, value in fields.items() if name != SIGNATURE}
    return SIGNED + json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest(file: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: If it cannot be read.
    """
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _signature(data: Mapping[str, Any]) -> Signature | None:
    """The signature of a receipt, if it has one."""
    if KEY not in data and SIGNATURE not in data:
        return None
    key, value = data.get(KEY), data.get(SIGNATURE)
    if not (isinstance(key, str) and PRINT.fullmatch(key) and isinstance(value, str) and SEAL.fullmatch(value)):
        raise _broken("its signature is none")
    try:
        return Signature(key, bytes.fromhex(value), message(data))
    except ValueError:
        raise _broken("it holds what nobody can have signed") from None


def _time(found: object) -> str | None:
    if found is not None and not (isinstance(found, str) and TIME.fullmatch(found)):
        raise _broken("its field 'at' is no time")
    return found


def _files(found: object) -> dict[str, str]:
    """The files beside it: names that lead nowhere else, and hashes."""
    if not isinstance(found, dict) or not all(
        NAME.fullmatch(name) and isinstance(value, str) and HASH.fullmatch(value) for name, value in found.items()
    ):
        raise _broken("its field 'files' does not list files with their SHA-256")
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object, none of them twice: two readers might take different ones."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _broken(why: str, hint: str = "take the folder as it was published.") -> LedgerError:
    return LedgerError(f"The receipt in {RECEIPT} is not usable: {why}.", hint)
