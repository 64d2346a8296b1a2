"""What became of reservations without a release: still at work, made and not booked, or nothing.

A run that is killed after it has paid leaves its reservation pending. The reservation says where its release was to be
written and what it is called (``dawa.paying``). So a release that was made is found there, completed and booked: it is
paid for, and it is the only one that this payment will ever give.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dawa.errors import DawaError, LedgerError, printable
from dawa.host import atomic, scratch
from dawa.paying import KEPT
from dawa.publish import folder
from dawa.publish import place as places
from dawa.publish.place import Place
from dawa.results.keeping import RELEASE, UNPAID, other_file
from dawa.results.loading import load
from dawa.results.release import Release

if TYPE_CHECKING:
    from dawa.ledger import Entry, Ledger

WORKING, UNLOCKED, FOUND, BOOKED = "working", "unlocked", "found", "booked"
UNREADABLE, UNSEEN, NOTHING, ELSEWHERE, UNNAMED = "unreadable", "unseen", "nothing", "elsewhere", "unnamed"
"""What is known about a reservation: its process is alive; nobody can tell, for want of locks; its release is there;
and now the ledger knows it; something is there that cannot be read; it may be where nobody may look; there is nothing
where it should be; there is nothing, and the folder is not the one in which its run was; nobody said where it would
be."""


LOOKS = 3
"""How often a release is looked for, if it gets its name while it is looked for."""


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


@dataclass(frozen=True)
class Where:
    """Where a reservation says that its release will be.

    Attributes:
        target: The folder or file.
        scratch: The folder in which it is written first.
        single: Whether the target is a file.
        rescues: Where it is written if there is no room.
        release: What it is called.
        host: Where its run was.
    """

    target: Path
    scratch: Path
    single: bool
    rescues: tuple[Path, ...]
    release: str
    host: str | None

    @classmethod
    def read(cls, kept: object) -> "Where | None":
        """What was booked, if it names what our runs name: whoever may spend can write anything into a ledger."""
        if not isinstance(kept, dict) or not all(
            isinstance(value, str) and "\0" not in value for value in kept.values()
        ):
            return None
        single = "file" in kept
        if not {"file" if single else "folder", "scratch", "release"} <= set(kept):
            return None
        target, first = Path(kept["file" if single else "folder"]), Path(kept["scratch"])
        beside = re.escape(scratch.HIDDEN if single else f".{target.name}-") + "[0-9a-f]{8}"
        inside = not single and first.parent == target and scratch.OURS.fullmatch(first.name)
        ours = inside or (first.parent == target.parent and re.fullmatch(beside, first.name))
        if not (ours and target.name and target.is_absolute()):
            return None
        rescue = Place(target, first).rescue
        rescues = [Path(path) for key, path in kept.items() if key.startswith("rescue")]
        found = tuple(path for path in rescues if path.name == rescue and path.is_absolute())
        return cls(target, first, single, found, kept["release"], kept.get("host"))

    @property
    def places(self) -> list[Path]:
        """Where the release is if nobody moved it: where it is written first, under its name, or under another."""
        other = other_file(self.target, self.scratch) if self.single else places.other(Place(self.target, self.scratch))
        return [self.scratch, self.target, *self.rescues, other]

    def others(self, hidden: list[Path]) -> list[Path]:
        """Where else it may be; folders that cannot be looked into are added to ``hidden``."""
        aside = (UNPAID,) if self.single else (UNPAID, f"{self.target.name}.earlier-")
        beside = self.target.parent
        found = [beside / name for name in _listed(beside, hidden) if name.startswith(aside)]
        for rescue in self.rescues:  # folders that many use
            names = [name for name in _listed(rescue.parent, hidden) if name.startswith(UNPAID)]
            found += [rescue.parent / name for name in names if _own(rescue.parent / name)]
        for place in () if self.single else (self.target, self.scratch):  # what could not be hidden elsewhere
            found += [place / name for name in _listed(place, hidden) if name.startswith(UNPAID)]
        try:
            found += scratch.halves(self.scratch)
        except OSError:
            hidden.append(self.scratch)
        return found


def _listed(folder: Path, hidden: list[Path]) -> list[str]:
    """The names in a folder, if it is one."""
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError as error:
        if error.errno not in scratch.NOT_THERE:
            hidden.append(folder)
        return []


def _own(path: Path) -> bool:
    with suppress(OSError):
        return not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()
    return False


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
    with _looked(entry) as (trace, _, _):
        return trace


def _recovered(ledger: "Ledger", entry: "Entry", *, dry_run: bool) -> Trace:
    from dawa.ledger import Reservation  # noqa: PLC0415  databases are slow to load

    with _looked(entry) as (trace, where, found):
        if dry_run or found is None or where is None or trace.where is None:
            return trace
        try:
            _check_paid(ledger, entry, found)
            kept = _complete(where, trace.where, found)
            Reservation(ledger, entry).finalise(str(found.id), kept)
        except (DawaError, OSError) as error:
            problem = error.problem if isinstance(error, DawaError) else f"It cannot be written: {error.strerror}."
            return Trace(entry, FOUND, trace.where, problem)
        return Trace(entry, BOOKED, kept)


def _check_paid(ledger: "Ledger", entry: "Entry", found: Release) -> None:
    """Refuse to touch a release that another reservation has paid for, or that costs more than this one has paid."""
    from dawa.ledger.accounts import scope_of  # noqa: PLC0415  databases are slow to load
    from dawa.ledger.scopes import FOR  # noqa: PLC0415

    for other in ledger.history():
        if other.release_id == found.id and other.reservation != entry.number:
            raise LedgerError(f"Entry {other.number} has booked this release already.", "find out who reserved again.")
    asked, privacy = scope_of(entry, newest=FOR in (entry.what or {})), found.privacy
    fits = privacy.private and privacy.epsilon <= (entry.epsilon or 0) and privacy.mechanism == entry.mechanism
    if not fits or tuple(map(printable, privacy.unit_columns)) != tuple(asked.unit or ()):
        raise LedgerError(
            f"Entry {entry.number} has not paid for what is there: its epsilon, unit or mechanism is another.",
            "find out who reserved it, and whose release it is.",
        )


@contextmanager
def _looked(entry: "Entry") -> Iterator[tuple[Trace, Where | None, Release | None]]:
    """Look where a release should be; while the block runs, no other process completes it."""
    where = Where.read((entry.what or {}).get(KEPT))
    if where is None:
        yield Trace(entry, UNNAMED), None, None
        return
    with ExitStack() as locks:
        state, here, found = _searched(where, locks)
        yield Trace(entry, state, here or where.target), where, found


def _searched(where: Where, locks: ExitStack) -> tuple[str, Path | None, Release | None]:
    """The state of a release, where it is, and the release itself; what was looked at stays locked."""
    for _ in range(LOOKS):
        there = os.path.lexists(where.scratch)
        found = _once(where, locks)
        if found[0] in {WORKING, FOUND} or not there or os.path.lexists(where.scratch):
            break  # else its run has given it its name in this moment
    return found


def _once(where: Where, locks: ExitStack) -> tuple[str, Path | None, Release | None]:
    hidden: list[Path] = []
    unreadable, unlocked, own = None, False, where.places
    for here in filter(_maybe, [*own, *where.others(hidden)]):
        try:
            free = locks.enter_context(scratch.locked(here)) if here.is_dir() else True
            if free is False and here in own:
                return WORKING, None, None
            unlocked |= free is None and here == where.scratch
            found = None if _missing(here) else load(_file(here))
        except (DawaError, OSError):
            if not _missing(here) and (here in own or here.parent == where.scratch):
                unreadable = unreadable or here
            elif not _missing(here):
                hidden.append(here)
        else:
            whole = not (unlocked and here.is_relative_to(where.scratch))  # else its run may be writing the rest
            if found is not None and found.id == where.release and whole:
                return FOUND, here, found
    if unlocked:
        return UNLOCKED, where.scratch, None
    if unreadable is not None or hidden:
        return (UNREADABLE, unreadable, None) if unreadable is not None else (UNSEEN, hidden[0], None)
    return (NOTHING if where.host in {None, scratch.here(where.scratch.parent)} else ELSEWHERE), None, None


def _file(here: Path) -> Path:
    return here / RELEASE if here.is_dir() else here


def _missing(here: Path) -> bool:
    """Whether there is surely no release: a pipe, or nothing; not if a folder cannot be looked into."""
    try:
        found = _file(here).stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return not stat.S_ISREG(found.st_mode)


def _maybe(path: Path) -> bool:
    """Whether there may be something: also if nobody may look."""
    try:
        path.stat()
    except ValueError:
        return False
    except OSError as error:
        return error.errno not in scratch.NOT_THERE
    return True


def _complete(where: Where, here: Path, release: Release) -> Path:
    """Complete a release that is not where it should be, and give it its name; elsewhere it is complete."""
    if where.scratch.is_symlink():
        raise LedgerError(f"{where.scratch} is a link, and no run makes links.", "find out who made it.")
    inside = here.parent == where.scratch
    if not where.single and (inside or here == where.scratch):
        if inside:
            here.replace(where.scratch / RELEASE)
        return folder.completed(Place(where.target, where.scratch), release).folder
    found = _named(where, here) if inside or here.name.startswith(UNPAID) else here
    with suppress(OSError):
        for left in scratch.halves(where.scratch):
            if atomic.identity(left) == atomic.identity(_file(found)):  # the same file, under the name it had first
                left.unlink()
        where.scratch.rmdir()  # all of its files have moved, or it was a lock alone
    return found


def _named(where: Where, here: Path) -> Path:
    """Give what has no name, or one that says it is not paid for, its own name, or another one if that is taken."""
    if where.single:
        names = [where.target, other_file(where.target, where.scratch)]
    else:
        names = [where.target, places.other(Place(where.target, where.scratch))] if here.is_dir() else []
    for name in [*names, *(rescue for rescue in where.rescues if rescue.parent == here.parent)]:
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
