"""Completing and booking the releases of runs that were killed after they had paid.

``results.traces`` finds them, by what their reservations say. A release that was made is paid for, and it is the only
one that this payment will ever give: so its folder is completed, gets its name, and the ledger is told.
"""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dawa.errors import DawaError, LedgerError
from dawa.host import atomic, scratch
from dawa.publish import folder
from dawa.publish.place import ASKED, Place
from dawa.results import paid as paid_by
from dawa.results.grouped import AnyRelease
from dawa.results.keeping import RELEASE, UNPAID, Kept, other_file, other_folder
from dawa.results.keys import PrivateKey
from dawa.results.paid import Paid
from dawa.results.traces import BOOKED, Trace, Where, file_of, looked

if TYPE_CHECKING:
    from dawa.ledger import Entry, Ledger


def recovered(
    ledger: "Ledger", dataset: str | None = None, *, dry_run: bool = False, ended: bool = False
) -> list[Trace]:
    """Look for the releases of all pending reservations, and complete and book those that are found.

    Args:
        ledger: The ledger.
        dataset: Look at this account alone.
        dry_run: Only look.
        ended: Their runs have ended, where no lock can tell: somebody knows that.

    Raises:
        LedgerError: If the ledger cannot be read or trusted, or its key cannot be used.
    """
    found = ledger.summary(dataset).pending
    signer = ledger.signer() if found and not dry_run else None
    return [_recovered(ledger, entry, signer, dry_run=dry_run, ended=ended) for entry in found]


def _recovered(ledger: "Ledger", entry: "Entry", signer: PrivateKey | None, *, dry_run: bool, ended: bool) -> Trace:
    from dawa.ledger import Reservation  # noqa: PLC0415  databases are slow to load

    with looked(entry, ended=ended) as (trace, where, found):
        if dry_run or found is None or where is None or trace.where is None:
            return trace
        try:
            _check_paid(ledger, entry, found)
            reservation = Reservation(ledger, entry, ledger.history()[0].hash, signer)
            kept = _complete(where, trace.where, found, reservation.paid(str(found.id)))
            reservation.finalise(str(found.id), kept, Kept.at(kept).digest)
        except (DawaError, OSError) as error:
            problem = error.problem if isinstance(error, DawaError) else f"It cannot be written: {error.strerror}."
            return replace(trace, problem=problem)
        return replace(trace, state=BOOKED, where=kept, signed=_signed(kept))


def _signed(kept: Path) -> bool | None:
    """Whether the receipt in a folder is signed: the run that was killed may have written it, with or without a key."""
    with suppress(LedgerError):
        receipt = paid_by.beside(kept / RELEASE) if kept.is_dir() else None
        return None if receipt is None else receipt.signature is not None
    return None


def _check_paid(ledger: "Ledger", entry: "Entry", found: AnyRelease) -> None:
    """Refuse to touch a release that another reservation has paid for, or that costs more than this one has paid."""
    from dawa.ledger.verifying import check_fits  # noqa: PLC0415  databases are slow to load

    for other in ledger.history():
        if other.release_id == found.id and other.reservation != entry.number:
            raise LedgerError(f"Entry {other.number} has booked this release already.", "find out who reserved again.")
    check_fits(entry, found)


def _complete(where: Where, here: Path, release: AnyRelease, paid: Paid | None) -> Path:
    """Complete a release that is not where it should be, and give it its name; elsewhere it is complete."""
    if where.scratch.is_symlink():
        raise LedgerError(f"{where.scratch} is a link, and no run makes links.", "find out who made it.")
    here = _handed_back(where, here)
    inside = here.parent == where.scratch
    moving = where.inside and here == where.target and where.scratch.is_dir()  # stopped between two of its files
    if not where.single and (inside or moving or here == where.scratch):
        _check_own(where.scratch)
        if inside:
            atomic.name(here, where.scratch / RELEASE)
        return folder.completed(Place(where.target, where.scratch), release, paid).folder
    nameless = inside or here.name.startswith(UNPAID) or scratch.HALF.fullmatch(here.name)
    found = _named(where, here) if nameless else here
    with suppress(OSError):
        for left in scratch.halves(where.scratch):
            if atomic.identity(left) == atomic.identity(file_of(found)):  # the same file, under the name it had first
                left.unlink()
        where.scratch.rmdir()  # all of its files have moved, or it was a lock alone
    return found


def _check_own(place: Path) -> None:
    """Refuse to write into a folder of somebody else, who could put links there meanwhile."""
    if hasattr(os, "getuid") and place.lstat().st_uid != os.getuid():
        raise LedgerError(f"{place} belongs to another user.", "let that user run dawa ledger recover.")


def _handed_back(where: Where, here: Path) -> Path:
    """Take the target's name from a scratch folder that somebody gave it by hand: it is not complete."""
    half = here.parent == where.target and scratch.HALF.fullmatch(here.name)
    begun = (where.target / ASKED).is_file() and not os.path.lexists(where.target / folder.README)
    early = here == where.target and not where.single and begun
    if where.inside or not (half or early) or os.path.lexists(where.scratch):
        return here
    _check_own(where.target)
    where.target.rename(where.scratch)
    return where.scratch / here.name if half else where.scratch


def _named(where: Where, here: Path) -> Path:
    """Give what has no name, or one that says it is not paid for, its own name, or another one if that is taken."""
    if where.single:
        names = [where.target, other_file(where.target, where.scratch)]
    else:
        names = [where.target, other_folder(where.target, where.scratch)] if here.is_dir() else []
    near = [rescue for rescue in where.rescues if rescue.parent == here.parent]
    for name in [*near, *names] if scratch.HALF.fullmatch(here.name) else [*names, *near]:
        with suppress(OSError):
            if here.is_dir():
                here.rename(name)
            else:
                atomic.name(here, name)
            atomic.sync([name.parent])
            return name
    if here.parent == where.target:  # a mount point, in which the file itself was hidden
        atomic.name(here, where.target / RELEASE)
        return where.target
    return here
