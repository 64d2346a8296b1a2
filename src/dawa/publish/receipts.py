"""Verifying what paid for a release that is here: in a folder with its receipt, or as a file alone.

Two can be asked: the ledger that paid, and the key that signed the receipt. Whoever has neither can verify nothing: a
receipt without a signature is what anybody can write.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dawa.budget import shown
from dawa.errors import LedgerError, ReleaseError, printable
from dawa.publish import folder
from dawa.publish.records.croissant import CROISSANT
from dawa.results import paid
from dawa.results.grouped import AnyRelease
from dawa.results.keeping import RELEASE
from dawa.results.keys import PublicKey, as_path
from dawa.results.paid import RECEIPT, Paid

if TYPE_CHECKING:
    from dawa.ledger import LedgerLike
    from dawa.ledger.verifying import Verified

WORDS = {folder.README, CROISSANT}
"""Files that people may complete: they hold words. All others hold numbers of the release, or show them."""


@dataclass(frozen=True)
class Beside:
    """What became of the files beside a release since its receipt was written.

    Attributes:
        same: Those that are as they were.
        edited: Files with words that somebody changed.
        missing: Those that are not there.
        added: What the receipt does not know.
    """

    same: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[str]]:
        """Plain values."""
        return {name: list(files) for name, files in vars(self).items()}


@dataclass(frozen=True)
class Checked:
    """What is known of how a release was paid for.

    Attributes:
        release: The release's name.
        receipt: The receipt beside it; None if there is none.
        booked: What the ledger says; None if none was asked.
        key: The key that signed the receipt; None if none was asked.
        files: What became of the files beside it; None if the receipt does not list them, or a file alone was verified.
    """

    release: str | None
    receipt: Paid | None
    booked: "Verified | None" = None
    key: PublicKey | None = None
    files: Beside | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        receipt, signature = self.receipt, None if self.receipt is None else self.receipt.signature
        said = {} if receipt is None else {"dataset": receipt.dataset, "epsilon": str(receipt.epsilon)}
        where = {} if receipt is None else {"entry": receipt.entry, "hash": receipt.hash}
        booked = {"finalised": None, "file": None} if self.booked is None else self.booked.to_json()
        return {
            "release": self.release,
            **said,
            **where,
            **booked,
            "receipt": receipt is not None,
            "ledger": self.booked is not None,
            "signed_with": None if signature is None else signature.key,
            "signature": None if signature is None or self.key is None else True,
            "files": None if self.files is None else self.files.to_json(),
        }


def verified(
    path: str | os.PathLike[str],
    ledger: "LedgerLike | None" = None,
    *,
    key: PublicKey | str | os.PathLike[str] | None = None,
) -> Checked:
    """Compare a release, and the receipt beside it, with the ledger that paid, or with the key that signed, or both.

    Args:
        path: A folder that ``dawa release`` wrote, whose files are all compared with the receipt, or a release's file.
        ledger: The ledger: a path, an address, or one that is open. None asks no ledger.
        key: The public key of whoever published it, or its file. None asks for no signature.

    Raises:
        ReleaseError: If there is no release.
        LedgerError: If the ledger has not paid for exactly this release, or somebody edited it or the receipt; if the
            receipt is not signed with the key; if a file that holds numbers was changed; if there is nothing to ask.
        InstallationError: If the library that checks signatures is missing.
    """
    if ledger is None and key is None:
        raise LedgerError(
            "Nothing says who paid.", "name the ledger, or the public key of whoever published the folder."
        )
    checking = key if key is None or isinstance(key, PublicKey) else PublicKey.read(as_path(key))
    release = folder.opened_any(path)
    file = Path(path) / RELEASE if Path(path).is_dir() else Path(path)
    receipt, digest = paid.beside(file), _digest(file)
    if checking is not None:
        _check_key(release, digest, receipt, checking)
    booked = None if ledger is None else _booked(ledger, release, digest, receipt)
    listed = receipt is not None and receipt.files and Path(path).is_dir()
    files = _beside(Path(path), receipt) if receipt is not None and listed else None
    return Checked(release.id, receipt, booked, checking, files)


def _booked(ledger: "LedgerLike", release: AnyRelease, digest: str, receipt: Paid | None) -> "Verified":
    from dawa import ledger as ledgers  # noqa: PLC0415  databases are slow to load

    return ledgers.opened(ledger).verify(release, digest, receipt)


def _check_key(release: AnyRelease, digest: str, receipt: Paid | None, key: PublicKey) -> None:
    """Refuse a release whose receipt does not say, signed with this key, that exactly this was paid."""
    if receipt is None:
        raise LedgerError(
            f"There is no {RECEIPT} beside the release, so nothing is signed.",
            "ask whoever published it for the whole folder.",
        )
    receipt.check_signed(key)
    receipt.check_is_for(release.id, digest)
    if not (release.privacy.private and release.privacy.epsilon <= receipt.epsilon):
        raise LedgerError(
            f"The release costs something else than what was paid for it, {shown(receipt.epsilon)}.",
            "ask whoever published it: they signed what does not fit together.",
        )


def _digest(file: Path) -> str:
    """The SHA-256 of a file that is there.

    Raises:
        ReleaseError: If it cannot be read.
    """
    try:
        return paid.digest(file)
    except OSError as error:
        label = printable(str(file))
        raise ReleaseError(f"{label} cannot be read ({error.strerror}).", "check its permissions.") from None


def _beside(place: Path, receipt: Paid) -> Beside:
    """Compare the files of a folder with what its receipt says of them.

    Raises:
        LedgerError: If a file was changed that does not hold words alone.
    """
    there = {child.name for child in place.iterdir() if not child.name.startswith(".")}
    known = there & set(receipt.files)
    changed = {name for name in known if not _same(place / name, receipt.files[name])}
    if numbers := sorted(changed - WORDS):
        verb = "is not the file that its receipt names" if len(numbers) == 1 else "are not the files of the receipt"
        raise LedgerError(
            f"{', '.join(numbers)} in the folder {verb}: somebody changed or rewrote what holds numbers.",
            f"take the folder as it was published; {RELEASE} itself is unaltered.",
        )
    return Beside(
        tuple(sorted(known - changed)),
        tuple(sorted(changed)),
        tuple(sorted(set(receipt.files) - there)),
        tuple(sorted(map(printable, there - {RELEASE, RECEIPT, *receipt.files}))),
    )


def _same(file: Path, digest: str) -> bool:
    """Whether a file is the one with this SHA-256; a pipe in a folder that somebody sent is not read."""
    return file.is_file() and _digest(file) == digest
