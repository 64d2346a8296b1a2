"""What became of reservations without a release: still at work, made and not booked, or nothing.

A run that is killed after it has paid leaves its reservation pending. The reservation says where its release was to be
written and what it is called (``dawa.paying``). So a release that was made is found there, completed and booked: it is
paid for, and it is the only one that this payment will ever give.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dawa.errors import DawaError, FolderError
from dawa.host import scratch
from dawa.paying import KEPT
from dawa.publish import folder
from dawa.publish import place as places
from dawa.publish.place import RELEASE, Place
from dawa.results.release import Release, load

if TYPE_CHECKING:
    from dawa.ledger import Entry, Ledger

WORKING, FOUND, BOOKED, NOTHING, UNNAMED = "working", "found", "booked", "nothing", "unnamed"
"""What is known about a reservation: its process is alive; its release is there; and now the ledger knows it; there is
no release where it should be; nobody said where it would be."""


@dataclass(frozen=True)
class Trace:
    """What was found of a reservation's release.

    Attributes:
        entry: The reservation.
        state: One of the words above.
        where: The folder or file, if there is a release, or where it should have been.
        problem: Why it could not be completed or booked.
    """

    entry: "Entry"
    state: str
    where: Path | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "entry": self.entry.number,
            "dataset": self.entry.dataset,
            "epsilon": str(self.entry.epsilon),
            "state": self.state,
            "where": None if self.where is None else str(self.where),
            "problem": self.problem,
        }


def recovered(ledger: "Ledger", dataset: str | None = None, *, dry_run: bool = False) -> list[Trace]:
    """Look for the releases of all pending reservations, and complete and book those that are found.

    Args:
        ledger: The ledger.
        dataset: Look at this account alone.
        dry_run: Only look.

    Raises:
        LedgerError: If the ledger cannot be read or trusted.
    """
    return [_recovered(ledger, entry, dry_run=dry_run) for entry in ledger.summary(dataset).pending]


def traced(entry: "Entry") -> Trace:
    """What can be found of a reservation's release, without changing anything."""
    with _looked(entry) as (trace, _):
        return trace


def _recovered(ledger: "Ledger", entry: "Entry", *, dry_run: bool) -> Trace:
    from dawa.ledger import Reservation  # noqa: PLC0415  databases are slow to load

    with _looked(entry) as (trace, found):
        if dry_run or found is None or trace.where is None:
            return trace
        try:
            where = _complete(entry, trace.where, found)
            Reservation(ledger, entry).finalise(str(found.id), where)
        except (DawaError, OSError) as error:
            problem = error.problem if isinstance(error, DawaError) else f"It cannot be written: {error.strerror}."
            return Trace(entry, FOUND, trace.where, problem)
        return Trace(entry, BOOKED, where)


@contextmanager
def _looked(entry: "Entry") -> Iterator[tuple[Trace, Release | None]]:
    """Look where a release should be; while the block runs, no other process completes it."""
    kept = (entry.what or {}).get(KEPT)
    if not isinstance(kept, dict) or not all(isinstance(value, str) for value in kept.values()):
        yield Trace(entry, UNNAMED), None
        return
    name = kept.get("release")
    first = next((Path(kept[key]) for key in ("folder", "file") if key in kept), None)
    for here in _candidates(kept):
        with scratch.locked(here) if here.is_dir() else _nothing() as free:
            if not free:
                yield Trace(entry, WORKING, first), None
                return
            found = _release(here)
            if found is not None and found.id == name:
                yield Trace(entry, FOUND, here), found
                return
    yield Trace(entry, NOTHING, first), None


@contextmanager
def _nothing() -> Iterator[bool]:
    yield True


def _candidates(kept: dict[str, str]) -> list[Path]:
    """Where a release may be: where it is written first, under its name, or under the name it gets if that is taken."""
    found = [Path(kept[key]) for key in ("scratch", "folder", "file") if key in kept]
    if "folder" in kept and "scratch" in kept:
        found.append(places.other(Place(Path(kept["folder"]), Path(kept["scratch"]))))
    return [path for path in found if path.exists()]


def _release(here: Path) -> Release | None:
    """The release in a folder or file, if there is one."""
    with suppress(DawaError, OSError):
        return load(here / RELEASE if here.is_dir() else here)
    return None


def _complete(entry: "Entry", here: Path, release: Release) -> Path:
    """Complete a release in its scratch folder and give it its name; elsewhere it is complete."""
    kept = (entry.what or {})[KEPT]
    if str(here) != kept.get("scratch"):
        return here
    written = folder.completed(Place(Path(kept["folder"]), here), release)
    if written.problem is not None and not written.files:
        raise FolderError(written.problem.problem, written.problem.hint)
    return written.folder
