"""How a release was paid for: the receipt that lies beside it, and names one entry of one ledger.

A ledger's entries are chained: the hash of an entry covers all of its fields and the entry before it. So whoever has
the number and the hash of an entry can see whether a ledger still holds exactly this entry. The receipt says both,
with the account and the epsilon, and ties them to one file by its SHA-256. It holds nothing that the ledger does not
know, and nothing of the data.

It is not signed. Whoever keeps the ledger could sign whatever they like with a key of their own; what binds them is the
chain, and an anchor of it with others. Who wants to show who published a folder signs its files with their own tools.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dawa import budget
from dawa.errors import BudgetError, LedgerError
from dawa.limits import MOST_RECEIPT_FILE

RECEIPT = "receipt.json"
"""What the receipt in a folder is called."""

FORMAT = "dawa receipt"
VERSION = 1
HASH, BEGUN = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{16}")
DIGEST = "sha256"
"""The word for a file's SHA-256, in receipts and in the ledger."""


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
    """

    ledger: str
    entry: int
    hash: str
    dataset: str
    epsilon: Fraction
    release: str
    digest: str | None = None

    @property
    def line(self) -> str:
        """The receipt as ``dawa ledger receipt`` writes it, for ``dawa ledger check``."""
        return f"dawa-ledger {self.ledger} {self.entry} {self.hash}"

    def of(self, file: Path) -> "Paid":
        """The same for a release that was written there."""
        return replace(self, digest=digest(file))

    def as_text(self) -> str:
        """The file, as JSON."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values; the exact epsilon as a fraction in a string."""
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
            "receipt": self.line,
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
        return Paid.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        raise _broken(f"it cannot be read ({type(error).__name__})") from None


def digest(file: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: If it cannot be read.
    """
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _broken(why: str, hint: str = "take the folder as it was published.") -> LedgerError:
    return LedgerError(f"The receipt in {RECEIPT} is not usable: {why}.", hint)
