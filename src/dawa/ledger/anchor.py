"""Receipts: what the last entry of a ledger was, kept outside the ledger.

The chain of entries notices every change but one: that its end is cut off, as when an older copy of the ledger is put
back. A receipt notices that. It names a ledger, the number of an entry and its hash, on one line. It may be printed,
mailed or filed. An anchor is a file of receipts to which every booking adds its own, before it is reported as booked,
and with which every use of the ledger is compared. It should lie where whoever can write to the ledger cannot replace
it unnoticed: another disk, a file that can only be appended to, a folder under version control.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dawa.errors import LedgerError, printable
from dawa.host import atomic
from dawa.ledger.entries import Entry
from dawa.limits import MOST_RECEIPT_BYTES

VARIABLE = "DAWA_LEDGER_ANCHOR"
"""The environment variable that names the anchor."""

WORD = "dawa-ledger"
LINE = re.compile(rf"(?<!\w){WORD} ([0-9a-f]{{16}}) ([1-9][0-9]{{0,17}}) ([0-9a-f]{{64}})(?!\w)")

BEGIN = f"if there was none before, begin one with {VARIABLE} unset: dawa ledger receipt >> FILE; else find out why."


class UnanchoredError(LedgerError):
    """There is no receipt of a ledger in its anchor: at all, or yet."""


@dataclass(frozen=True)
class Receipt:
    """What a ledger was at some time.

    Attributes:
        ledger: Which ledger: how the hash of its first entry begins.
        number: How many entries it had.
        hash: The hash of the last of them.
    """

    ledger: str
    number: int
    hash: str

    def __str__(self) -> str:
        """One line."""
        return f"{WORD} {self.ledger} {self.number} {self.hash}"

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> "Receipt":
        """The receipt for a ledger with these entries."""
        return cls(entries[0].hash[:16], len(entries), entries[-1].hash)

    def fits(self, entries: Sequence[Entry]) -> bool:
        """Whether a ledger with these entries goes on from what it was."""
        return len(entries) >= self.number and entries[self.number - 1].hash == self.hash


def receipts(text: str) -> list[Receipt]:
    """The receipts in a text; everything else in it is passed over.

    >>> line = "dawa-ledger 0123456789abcdef 3 " + "0" * 64
    >>> [str(found) == line for found in receipts(f"Filed on 3 May: {line}")]
    [True]
    """
    return [Receipt(found[1], int(found[2]), found[3]) for found in LINE.finditer(text)]


def text_of(path: Path, *, regular: bool = False) -> str:
    """What a file of receipts holds.

    Args:
        path: The file.
        regular: Refuse a pipe or a device, which may never end, or never begin.

    Raises:
        OSError: If it cannot be read, or has no end in sight.
    """
    if regular and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "this is not a file")
    parts, length = [], 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            parts.append(part)
            length += len(part)
            if length > MOST_RECEIPT_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return b"".join(parts).decode("ascii", "replace")


def check(name: str, entries: Sequence[Entry], kept: Iterable[Receipt]) -> int:
    """Compare a ledger with receipts; the result is how many of them are its own.

    Args:
        name: The ledger's name in a sentence.
        entries: Its entries.
        kept: Receipts, of which those of other ledgers are passed over.

    Raises:
        LedgerError: If it is not the ledger that it was.
    """
    own = [receipt for receipt in kept if entries and receipt.ledger == entries[0].hash[:16]]
    for receipt in own:
        if not receipt.fits(entries):
            raise LedgerError(
                f"The ledger {name} is not what it was: a receipt says that it had {receipt.number} entries, and it has"
                f" {len(entries)}{'' if len(entries) < receipt.number else ', others'} now.",
                "somebody put an older or another copy back: restore the newest, or spend nothing more from it.",
            )
    return len(own)


@dataclass(frozen=True)
class Anchor:
    """A file of receipts, to which each booking adds one.

    Attributes:
        path: The file.
    """

    path: Path

    @classmethod
    def named(cls, path: str | os.PathLike[str] | None) -> "Anchor | None":
        """The anchor at a path, or the one that the environment names, or none."""
        found = os.environ.get(VARIABLE) if path is None else os.fspath(path)
        if found is not None and not found.strip():
            raise LedgerError(f"{VARIABLE} is empty.", "name a file in it, or unset it.")
        if found is None:
            return None
        path = Path(found).absolute()
        try:
            path.lstat()
        except ValueError:
            raise LedgerError("This path cannot name the anchor of a ledger.", "name another file.") from None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise LedgerError("The name of the ledger's anchor is too long.", "choose a shorter one.") from None
        return Anchor(path)

    def spare(self, where: Mapping[str, str]) -> None:
        """Refuse to write where the anchor is."""
        for path in map(Path, where.values()):
            if atomic.holds(path, self.path):
                raise LedgerError(f"The anchor {printable(str(self.path))} lies in {path}.", "choose another folder.")

    def read(self) -> list[Receipt]:
        """All receipts.

        Raises:
            UnanchoredError: If there is no such file.
        """
        try:
            return receipts(text_of(self.path, regular=True))
        except OSError as error:
            raise UnanchoredError(
                f"The anchor of the ledger, '{printable(str(self.path))}', cannot be read ({error.strerror}).",
                BEGIN,
            ) from None

    def check(self, name: str, entries: Sequence[Entry], kept: Sequence[Receipt]) -> None:
        """Compare a ledger with what ``read`` gave.

        Raises:
            LedgerError: If it is not the ledger that it was; an UnanchoredError if there is no receipt of it.
        """
        if not entries and kept:
            raise LedgerError(
                f"The anchor '{printable(str(self.path))}' belongs to another ledger, or this one was here before:"
                " it has receipts, and there is no entry.",
                "restore the ledger from a backup, or name another anchor for a new one.",
            )
        if not check(name, entries, kept) and entries:
            raise UnanchoredError(
                f"The anchor '{printable(str(self.path))}' has no receipt of the ledger {name}: somebody put another"
                " one in its place, or it is the first time.",
                BEGIN,
            )

    def add(self, receipt: Receipt) -> None:
        """Add a receipt, through to the disk.

        Raises:
            LedgerError: If it cannot be written. What it is for is booked all the same.
        """
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                size = os.fstat(handle).st_size
                torn = size and os.pread(handle, 1, size - 1) != b"\n"  # a power cut may leave half a line
                line = ("\n" * bool(torn) + f"{receipt}\n").encode()
                while line:
                    line = line[os.write(handle, line) :]
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise LedgerError(
                f"Entry {receipt.number} is booked, but the anchor '{printable(str(self.path))}' cannot be written"
                f" ({error.strerror}).",
                "make it writable; then see what was booked: dawa ledger history.",
            ) from None
