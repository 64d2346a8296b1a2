"""Where the release of a reservation is: not made yet, made and not booked, or nowhere that can be seen.

A run that is killed after it has paid leaves its reservation pending. The reservation says where its release was to be
written and what it is called (``dawa.paying``). What is found there is told here; nothing is changed.

That nothing is found does not say that nothing was made. A disk may have been exchanged or unmounted since, something
may have been mounted over a folder, and if every disk was full, the release was printed. So a person decides.
"""

import os
import platform
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dawa.errors import DawaError
from dawa.host import mounts, scratch
from dawa.results.grouped import AnyRelease
from dawa.results.keeping import KEPT, RELEASE, UNPAID, other_file, other_folder, rescue_name
from dawa.results.loading import load

if TYPE_CHECKING:
    from dawa.ledger import Entry

WORKING, UNLOCKED, FOUND, BOOKED = "working", "unlocked", "found", "booked"
UNREADABLE, UNSEEN, NOTHING, ELSEWHERE, UNNAMED = "unreadable", "unseen", "nothing", "elsewhere", "unnamed"
"""What is known about a reservation: its process is alive; nobody can tell, for want of locks; its release is there;
and now the ledger knows it; something is there that cannot be read; it may be where nobody may look; no release
was found; no release was found, and the folder is not the one in which its run was; nobody said where it would
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
        looked: Where a release was looked for.
        signed: Whether the receipt of the folder that is booked now is signed; None if there is none.
    """

    entry: "Entry"
    state: str
    where: Path | None = None
    problem: str | None = None
    looked: tuple[Path, ...] = ()
    signed: bool | None = None

    @property
    def unseen(self) -> str:
        """What to know if no release was found."""
        *places, last = map(str, self.looked or ("any place",))
        return (
            f"no release was found in {', '.join(places)} or {last} on this machine ({platform.node()}); one on a disk"
            " that was exchanged or unmounted since would not be seen, nor one that was printed because no disk had"
            " room"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "entry": self.entry.number,
            "dataset": self.entry.dataset,
            "epsilon": str(self.entry.epsilon),
            "state": self.state,
            "where": None if self.where is None else str(self.where),
            "problem": self.problem,
            "looked": [str(path) for path in self.looked],
            "signed": self.signed,
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
        rescue = rescue_name(target, first)
        rescues = [Path(path) for key, path in kept.items() if key.startswith("rescue")]
        found = tuple(path for path in rescues if path.name == rescue and path.is_absolute())
        return cls(target, first, single, found, kept["release"], kept.get("host"))

    @property
    def inside(self) -> bool:
        """Whether it is written first inside its own folder, which then is a mount point, or cannot be replaced."""
        return self.scratch.parent == self.target

    @property
    def places(self) -> list[Path]:
        """Where the release is if nobody moved it: where it is written first, under its name, or under another."""
        other = (other_file if self.single else other_folder)(self.target, self.scratch)
        return [self.scratch, self.target, *self.rescues, other]

    @property
    def looked(self) -> tuple[Path, ...]:
        """Where it is looked for, for people: its place, the folder in which it is written first, and the rescues'."""
        return tuple(dict.fromkeys([self.target, self.scratch, *(rescue.parent for rescue in self.rescues)]))

    def holds(self, here: Path) -> bool:
        """Whether a path lies in the folder that the release is."""
        return not self.single and here.parent == self.target

    def others(self, hidden: list[Path]) -> list[Path]:
        """Where else it may be; folders that cannot be looked into are added to ``hidden``."""
        aside = (UNPAID,) if self.single else (UNPAID, f"{self.target.name}.earlier-")
        beside = self.target.parent
        found = [beside / name for name in _listed(beside, hidden) if name.startswith(aside)]
        for rescue in self.rescues:  # folders that many use
            names = [name for name in _listed(rescue.parent, hidden) if name.startswith(UNPAID)]
            found += [rescue.parent / name for name in names if _own(rescue.parent / name)]
            found += self._nameless(rescue.parent)
        if self.single:  # its scratch folder may have been removed meanwhile
            found += self._nameless(beside)
        for place in () if self.single else (self.target, self.scratch):  # what could not be hidden elsewhere
            found += [place / name for name in _listed(place, hidden) if name.startswith(UNPAID)]
        for place in (self.scratch, self.target):  # or somebody has given the scratch folder its name
            try:
                found += scratch.halves(place)
            except OSError:
                hidden.append(place)
        return found

    @staticmethod
    def _nameless(folder: Path) -> list[Path]:
        """Our files without a name in a folder that others use too; those who may look see them."""
        with suppress(OSError):
            return [half for half in scratch.halves(folder) if _own(half)]
        return []


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


def traced(entry: "Entry", *, ended: bool = False) -> Trace:
    """What can be found of a reservation's release; ``looked`` has the arguments."""
    with looked(entry, ended=ended) as (trace, _, _):
        return trace


@contextmanager
def looked(entry: "Entry", *, ended: bool = False) -> Iterator[tuple[Trace, Where | None, AnyRelease | None]]:
    """Look where a release should be; while the block runs, no other process completes it.

    Args:
        entry: The reservation.
        ended: Somebody says that its run has ended, where no lock can tell.
    """
    where = Where.read((entry.what or {}).get(KEPT))
    if where is None:
        yield Trace(entry, UNNAMED), None, None
        return
    with ExitStack() as locks:
        state, here, found = _searched(where, locks, ended=ended)
        yield Trace(entry, state, here or where.target, looked=where.looked), where, found


def _searched(where: Where, locks: ExitStack, *, ended: bool) -> tuple[str, Path | None, AnyRelease | None]:
    """The state of a release, where it is, and the release itself; what was looked at stays locked."""
    for _ in range(LOOKS):
        there = os.path.lexists(where.scratch)
        found = _once(where, locks, ended=ended)
        if found[0] in {WORKING, FOUND} or not there or os.path.lexists(where.scratch):
            break  # else its run has given it its name in this moment
    return found


def _once(where: Where, locks: ExitStack, *, ended: bool) -> tuple[str, Path | None, AnyRelease | None]:
    hidden: list[Path] = []
    unreadable, unlocked, own = None, False, where.places
    for here in filter(_maybe, [*own, *where.others(hidden)]):
        try:
            free = locks.enter_context(scratch.locked(here)) if here.is_dir() else True
            if free is False and here in own:
                return WORKING, None, None
            unlocked |= free is None and here == where.scratch and not ended
            found = None if _missing(here) else load(file_of(here))
        except (DawaError, OSError):
            half = scratch.HALF.fullmatch(here.name) is not None
            if not _missing(here) and (here in own or here.parent == where.scratch or (half and where.holds(here))):
                unreadable = unreadable or here
            elif not _missing(here) and not half:  # another run may be writing such a file
                hidden.append(here)
        else:
            whole = not (unlocked and here.is_relative_to(where.scratch))  # else its run may be writing the rest
            if found is not None and found.id == where.release and whole:
                return FOUND, here, found
    if unlocked:
        return UNLOCKED, where.scratch, None
    if unreadable is not None:
        return UNREADABLE, unreadable, None
    return *_not_found(where, hidden), None


def _not_found(where: Where, hidden: list[Path]) -> tuple[str, Path | None]:
    """What it means that no release is where it can be seen, and where else it may be."""
    if hidden:
        return UNSEEN, hidden[0]
    if not where.inside and mounts.mounted(where.target):  # what lay there before is under it
        return UNSEEN, where.target
    return (NOTHING if scratch.same(where.host, where.scratch.parent) else ELSEWHERE), None


def file_of(here: Path) -> Path:
    """The file of a release that is a folder, or a file."""
    return here / RELEASE if here.is_dir() else here


def _missing(here: Path) -> bool:
    """Whether there is surely no release: a pipe, or nothing; not if a folder cannot be looked into."""
    try:
        found = file_of(here).stat()
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
