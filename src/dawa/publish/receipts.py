"""Verifying that a ledger has paid for a release that is here: in a folder with its receipt, or as a file alone."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dawa.errors import ReleaseError
from dawa.publish import folder
from dawa.results import paid
from dawa.results.keeping import RELEASE

if TYPE_CHECKING:
    from dawa.ledger import LedgerLike
    from dawa.ledger.verifying import Verified


def verified(path: str | os.PathLike[str], ledger: "LedgerLike") -> "Verified":
    """Compare a release, and the receipt beside it, with the ledger that paid.

    Args:
        path: A folder that ``dawa release`` wrote, or a release's file.
        ledger: The ledger: a path, an address, or one that is open.

    Raises:
        ReleaseError: If there is no release.
        LedgerError: If the ledger has not paid for exactly this release, or somebody edited it or the receipt.
    """
    from dawa import ledger as ledgers  # noqa: PLC0415  databases are slow to load

    release = folder.opened_any(path)
    file = Path(path) / RELEASE if Path(path).is_dir() else Path(path)
    try:
        digest = paid.digest(file)
    except OSError as error:
        raise ReleaseError(f"{file} cannot be read ({error.strerror}).", "check its permissions.") from None
    return ledgers.opened(ledger).verify(release, digest, paid.beside(file))
