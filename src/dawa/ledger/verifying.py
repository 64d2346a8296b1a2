"""Whether a ledger holds what paid for a release: exactly that entry, finalised with exactly that file.

The chain of the ledger is whole before anything here is asked (``decisions.trusted``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dawa.errors import LedgerError, printable
from dawa.ledger.accounts import closed_by, scope_of
from dawa.ledger.entries import FINALISE, RESERVE, TAKE_BACK, Entry
from dawa.ledger.scopes import FOR
from dawa.results.grouped import AnyRelease
from dawa.results.paid import DIGEST, Paid

OTHER = "find out which of the two was changed, or name the ledger that paid."


@dataclass(frozen=True)
class Verified:
    """What a ledger says of a release.

    Attributes:
        reserved: The entry that paid.
        finalised: The entry that named the release.
        receipt: Whether a receipt was there, and says the same.
        file: Whether the ledger knows the file by its SHA-256. It does not before version 0.2.0, nor if the release was
            made in memory and saved later; then nobody can tell whether what is there was changed.
    """

    reserved: Entry
    finalised: Entry
    receipt: bool
    file: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "release": self.finalised.release_id,
            "dataset": self.reserved.dataset,
            "epsilon": str(self.reserved.epsilon),
            "entry": self.reserved.number,
            "hash": self.reserved.hash,
            "finalised": self.finalised.number,
            "receipt": self.receipt,
            "file": self.file,
        }


def verified(name: str, entries: Sequence[Entry], release: AnyRelease, digest: str, paid: Paid | None) -> Verified:
    """Compare a release and its receipt with a ledger.

    Args:
        name: The ledger's name in a sentence.
        entries: Its entries, which follow from each other.
        release: The release.
        digest: The SHA-256 of its file.
        paid: The receipt beside it, if there is one.

    Raises:
        LedgerError: If the ledger does not hold what paid for this release, or it is not what was paid for.
    """
    if paid is not None:
        _check_receipt(name, entries, release, digest, paid)
    number = paid.entry if paid is not None else _reservation(name, entries, release)
    reserved = entries[number - 1]
    closing = closed_by(entries, number)
    if closing is None:
        raise LedgerError(
            f"Entry {number} has paid and is pending: the ledger {name} was never told that the release was made.",
            "dawa ledger recover books it.",
        )
    if closing.kind == TAKE_BACK:
        raise LedgerError(
            f"Entry {number} was taken back by entry {closing.number}: this release is not paid for.",
            "do not publish it, and find out who kept it.",
        )
    if closing.release_id != release.id:
        raise LedgerError(f"Entry {number} has paid for another release, {closing.release_id}.", OTHER)
    check_fits(reserved, release)
    known = (closing.what or {}).get(DIGEST)
    if known is not None and known != digest:
        raise LedgerError(
            f"The release is not the file that entry {closing.number} booked: its SHA-256 is another.",
            "somebody changed or rewrote it: take the file as it was made.",
        )
    return Verified(reserved, closing, paid is not None, known is not None)


def check_fits(reserved: Entry, release: AnyRelease) -> None:
    """Refuse a release that costs more than an entry has paid, or costs somebody else.

    Raises:
        LedgerError: If epsilon, unit or mechanism are others.
    """
    asked, privacy = scope_of(reserved, newest=FOR in (reserved.what or {})), release.privacy
    fits = privacy.private and privacy.epsilon <= (reserved.epsilon or 0) and privacy.mechanism == reserved.mechanism
    if not fits or tuple(map(printable, privacy.unit_columns)) != tuple(asked.unit or ()):
        raise LedgerError(
            f"Entry {reserved.number} has not paid for what is there: its epsilon, unit or mechanism is another.",
            "find out who reserved it, and whose release it is.",
        )


def _check_receipt(name: str, entries: Sequence[Entry], release: AnyRelease, digest: str, paid: Paid) -> None:
    """Refuse a receipt that is not about this release, or not about an entry of this ledger."""
    paid.check_is_for(release.id, digest)
    if not entries or paid.ledger != entries[0].hash[:16]:
        raise LedgerError(
            f"The receipt is from another ledger than {name}.", "name the ledger that paid: --ledger FILE|URL."
        )
    if paid.entry > len(entries):
        raise LedgerError(
            f"The receipt names entry {paid.entry}, and the ledger {name} has {len(entries)}.",
            "somebody put an older copy of the ledger back: restore the newest, and spend nothing more from this one.",
        )
    entry = entries[paid.entry - 1]
    if entry.hash != paid.hash:
        raise LedgerError(f"Entry {paid.entry} of the ledger {name} is not the one that the receipt names.", OTHER)
    same = (entry.kind, entry.dataset, entry.epsilon) == (RESERVE, paid.dataset, paid.epsilon)
    if not same or paid.at not in {None, entry.at}:
        raise LedgerError(
            f"The receipt says something else than entry {paid.entry}: that spent"
            f" {'nothing' if entry.epsilon is None else entry.epsilon} on '{entry.dataset}', at {entry.at}.",
            "somebody changed the receipt: take the folder as it was made.",
        )


def _reservation(name: str, entries: Sequence[Entry], release: AnyRelease) -> int:
    """The number of the entry that paid for a release without a receipt."""
    found = (entry for entry in entries if entry.kind == FINALISE and entry.release_id == release.id)
    entry = next(found, None)
    if entry is None or entry.reservation is None or release.id is None:
        raise LedgerError(
            f"The ledger {name} does not know this release, and there is no receipt beside it.",
            "name the ledger that paid; a release that no ledger paid for has nothing to verify.",
        )
    return entry.reservation
