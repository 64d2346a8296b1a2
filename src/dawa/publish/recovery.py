"""What became of reservations without a release: still at work, made and not booked, or nothing.

A run that is killed after it has paid leaves its reservation pending. The reservation says where its release was to be
written and what it is called (``dawa.paying``). So a release that was made is found there, completed and booked: it is
paid for, and it is the only one that this payment will ever give.
"""

import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dawa.errors import DawaError
from dawa.host import scratch
from dawa.paying import KEPT
from dawa.publish import folder
from dawa.publish import place as places
from dawa.publish.place import RELEASE, Place
from dawa.results.keeping import other_file
from dawa.results.release import Release, load

if TYPE_CHECKING:
    from dawa.ledger import Entry, Ledger

WORKING, FOUND, BOOKED, UNREADABLE = "working", "found", "booked", "unreadable"
NOTHING, UNNAMED = "nothing", "unnamed"
"""What is known about a reservation: its process is alive, or nobody can tell; its release is there; and now the ledger
knows it; something is there that cannot be read; there is nothing where it should be; nobody said where it would be."""


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
    first = next((Path(kept[key]) for key in ("folder", "file") if key in kept), None)
    with ExitStack() as locks:
        state, where, found = _searched(kept, locks)
        yield Trace(entry, state, where or first), found


def _searched(kept: dict[str, str], locks: ExitStack) -> tuple[str, Path | None, Release | None]:
    """The state of a release, where it is, and the release itself; what was looked at stays locked."""
    unreadable = None
    for here in _candidates(kept):
        try:
            free = locks.enter_context(scratch.locked(here)) if here.is_dir() else True
            if free is False or (free is None and str(here) == kept.get("scratch")):
                return WORKING, None, None
            found = load(here / RELEASE if here.is_dir() else here)
        except (DawaError, OSError):
            unreadable = unreadable if _missing(here) else here
        else:
            if found.id == kept.get("release"):
                return FOUND, here, found
    return (UNREADABLE if unreadable else NOTHING), unreadable, None


def _missing(here: Path) -> bool:
    """Whether there is surely no release: not if a folder cannot be looked into."""
    try:
        (here / RELEASE if stat.S_ISDIR(here.stat().st_mode) else here).stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _candidates(kept: dict[str, str]) -> list[Path]:
    """Where a release may be: where it is written first, under its name, or under the name it gets if that is taken."""
    found = [Path(kept[key]) for key in ("scratch", "folder", "file") if key in kept]
    found += [Path(path) for key, path in kept.items() if key.startswith("rescue")]
    if "folder" in kept and "scratch" in kept:
        target = Path(kept["folder"])
        found.append(places.other(Place(target, Path(kept["scratch"]))))
        with suppress(OSError, ValueError):
            found += sorted(path for path in target.parent.iterdir() if path.name.startswith(f"{target.name}.earlier-"))
    if "file" in kept and "scratch" in kept:
        found.append(other_file(Path(kept["file"]), Path(kept["scratch"])))
    return [path for path in found if _maybe(path)]


def _maybe(path: Path) -> bool:
    """Whether there may be something: also if nobody may look."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def _complete(entry: "Entry", here: Path, release: Release) -> Path:
    """Complete a release in its scratch folder and give it its name; elsewhere it is complete."""
    kept = (entry.what or {})[KEPT]
    if str(here) == kept.get("scratch"):
        return folder.completed(Place(Path(kept["folder"]), here), release).folder
    with suppress(OSError, LookupError):  # all of its files have moved, or it was a lock alone
        Path(kept["scratch"]).rmdir()
    return here
