"""Where a release goes: a folder that is complete or absent, never over an earlier one, and never lost.

Everything is written into a scratch folder, which gets its final name when all of it is on the disk. The scratch folder
lies beside its target, so that one rename is enough. Where that is impossible, because the target is a mount point or
lies in a folder that cannot be written, it lies inside the target, and its files move up, ``release.json`` first: if
two runs have the same target, one of them has it.

A scratch folder is locked while its process lives. So whoever finds one can tell a run that is still at work from one
that was killed (``recovery.py``).
"""

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dawa.errors import FolderError
from dawa.host import atomic, scratch
from dawa.results.keeping import RELEASE, UNPAID, numbered, other_folder, rescues

ASKED = "asked.json"
"""The ranges that were named, as long as a folder is not complete: whoever completes it needs them. By this file a
scratch folder is known to be ours."""

OF_DISKS = {"lost+found"}
"""What a folder may hold and still be empty: file systems have it at their top."""


@dataclass(frozen=True)
class Place:
    """Where a folder will be.

    Attributes:
        target: Its final path, with links followed.
        scratch: Where it is written first.
        given: The target as it was written, for people.
        replace: Whether an earlier folder of that name is moved aside.
        made: Folders above it that had to be made, the outermost first.
    """

    target: Path
    scratch: Path
    given: Path | None = None
    replace: bool = False
    made: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def inside(self) -> bool:
        """Whether the scratch folder lies inside the target."""
        return self.scratch.parent == self.target

    @property
    def where(self) -> Mapping[str, str]:
        """Both paths, for a ledger that should be able to find them."""
        return {"folder": str(self.target), "scratch": str(self.scratch), **numbered("rescue", self.rescues)}

    @cached_property
    def rescues(self) -> list[Path]:
        """Files elsewhere that the release is written to if there is no room here."""
        return rescues(self.target, self.scratch)

    @property
    def label(self) -> Path:
        """The target as people know it."""
        return self.target if self.given is None else self.given

    def shown(self, folder: Path) -> Path:
        """A folder beside the target, or the target, as people know it: by a path like the one that they gave."""
        if folder == self.target:
            return self.label
        beside = folder.parent == self.target.parent and not self.label.is_symlink()
        return self.label.with_name(folder.name) if beside else folder


@dataclass(frozen=True)
class Named:
    """A folder that is complete.

    Attributes:
        folder: Where it is: the target, or another name if the target was taken in the meantime.
        earlier: Where an earlier folder of that name was moved, if there was one.
        problem: Why it is not the target, if that was not taken.
    """

    folder: Path
    earlier: Path | None = None
    problem: str | None = None


@contextmanager
def prepared(target: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Place]:
    """Make sure that a folder can be written, before anything is spent on it.

    Args:
        target: The folder to write.
        replace: Whether to move an earlier folder of that name aside.

    Raises:
        FolderError: If the folder exists already, or cannot be written.
    """
    given = Path(target)
    with ExitStack() as stack:
        try:
            place = _made(given, replace=replace)
            stack.callback(discard, place)
            stack.enter_context(scratch.locked(place.scratch))
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "this cannot be a name"
            raise FolderError(f"{given} cannot be written: {reason}.", "choose another folder.") from None
        yield place


def discard(place: Place) -> None:
    """Remove a scratch folder in which there is no release, and the folders that were made for it."""
    if not os.path.lexists(place.scratch):
        return
    precious = _precious(place.scratch)
    if precious:
        return
    if precious is not None:
        shutil.rmtree(place.scratch, ignore_errors=True)
    for folder in (place.scratch, *reversed(place.made)):  # an empty one can be removed even if nobody may look into it
        with suppress(OSError):
            folder.rmdir()


def _precious(folder: Path) -> bool | None:
    """Whether there is a release in a scratch folder, also one that has no name yet, or is not paid for.

    None says that nobody may look: there may be one.
    """
    try:
        there = any(name == RELEASE or name.startswith(UNPAID) for name in _names(folder))
        return there or bool(scratch.halves(folder))
    except OSError:
        return None


def named(place: Place) -> Named:
    """Give a complete scratch folder its final name, on the disk.

    If the name was taken in the meantime, or cannot be given, the folder gets another one that people see.

    Raises:
        OSError: If no name at all can be given; everything is still in the scratch folder.
    """
    atomic.sync([place.scratch])
    found = _moved_up(place) if place.inside else _renamed(place)
    atomic.sync([found.folder, *dict.fromkeys([found.folder.parent, *(folder.parent for folder in place.made)])])
    return found


def visible(place: Place) -> Path:
    """Give a scratch folder that could not be completed a name that people see; its own if that fails.

    The result is where the release is: it may have moved up already.
    """
    if place.inside and not os.path.lexists(place.scratch / RELEASE):
        return place.target
    shown = other_folder(place.target, place.scratch)
    try:
        place.scratch.rename(shown)
    except OSError:
        return place.scratch
    atomic.sync([shown, shown.parent])
    return shown


def left_behind(target: Path) -> list[Path]:
    """Scratch folders for this target in which no process is at work any more: killed runs leave them."""
    hidden = re.compile(re.escape(f".{target.name}-") + "[0-9a-f]{8}")
    return [*scratch.abandoned(target.parent, hidden), *scratch.abandoned(target, scratch.OURS)]


def _sweep(target: Path) -> None:
    """Remove what killed runs left for this target, if there is nothing in it but what a run writes first."""
    scratch.remove_empty(target)
    for folder in left_behind(target):
        with suppress(OSError):
            ours = all(name == ASKED or scratch.HALF.fullmatch(name) for name in _names(folder))
            if ours and not scratch.halves(folder):  # one with something in it may be a release that got no name
                (folder / ASKED).unlink()
                shutil.rmtree(folder, ignore_errors=True)


def _made(given: Path, *, replace: bool) -> Place:
    """A scratch folder for a target, if the target can have one."""
    target = Path(os.path.realpath(given))
    _check(given, target, replace=replace)
    _sweep(target)
    token = uuid.uuid4().hex[:8]
    beside = target.parent / f".{target.name}-{token}"
    made = _missing(target.parent)
    try:
        if not (target.is_dir() and _mounted(target)):
            beside.mkdir(parents=True)
            return Place(target, beside, given, replace, made)
    except OSError:
        if not target.is_dir():
            raise
    if _holds_something(target):
        raise FolderError(
            f"{given} cannot be moved aside: it is a mount point, or its parent folder cannot be written.",
            f"name a new folder inside it: {given / 'release'}.",
        )
    inside = target / f"{scratch.HIDDEN}{token}"
    inside.mkdir()
    return Place(target, inside, given, replace)


def _check(given: Path, target: Path, *, replace: bool) -> None:
    atomic.spare(target)
    if target.exists() and not target.is_dir():
        raise FolderError(f"{given} is a file.", "choose another name for the folder.")
    here = None
    with suppress(FileNotFoundError):  # the current folder was removed
        here = Path.cwd().resolve()
    if here is not None and target in {here, *here.parents}:
        raise FolderError(f"{given} is the current folder, or a folder above it.", "name a new folder.")
    if target.is_symlink():
        raise FolderError(f"{given} is a link that leads nowhere.", "choose another name for the folder.")
    if _holds_something(target) and not replace:
        raise FolderError(
            f"{given} exists already.",
            "choose another folder, or pass --force: the earlier one is then moved aside, not deleted.",
        )


def _missing(folder: Path) -> tuple[Path, ...]:
    """The folders that have to be made for this one, the outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return tuple(reversed(missing))


def _mounted(folder: Path) -> bool:
    """Whether a folder is a mount point, which cannot be renamed or replaced.

    Asked by trying to remove the folder while it cannot be removed: a mount point is busy, another is not empty.
    """
    probe = folder / f"{scratch.HIDDEN}{uuid.uuid4().hex[:8]}"
    probe.mkdir()
    try:
        folder.rmdir()
    except OSError as error:
        return error.errno == errno.EBUSY
    finally:
        probe.rmdir()
    return False


def _renamed(place: Place) -> Named:
    """Rename the scratch folder, in one step that an empty folder of that name does not prevent."""
    earlier = None
    if place.replace and _holds_something(place.target):
        earlier = _free(place.target)
        try:
            place.target.rename(earlier)
        except OSError as error:
            why = f"The earlier {place.label} cannot be moved aside ({error.strerror}) and is still there"
            return Named(_shown(place), problem=why)
    try:
        if os.name == "nt" and place.target.is_dir():
            place.target.rmdir()
        place.scratch.rename(place.target)
    except OSError:
        if earlier is not None:
            with suppress(OSError):
                earlier.rename(place.target)
        return Named(_shown(place))
    return Named(place.target, earlier)


def _moved_up(place: Place) -> Named:
    """Move all files from a scratch folder into the folder around it, and replace none.

    The release comes first: whoever has moved it has the folder. What is in the way of another file stays, and ours is
    kept in a folder that people see.
    """
    files = sorted(_names(place.scratch), key=lambda name: name != RELEASE)
    begun = _same(place.scratch / RELEASE, place.target / RELEASE)  # killed between its second name and its first
    if RELEASE in files and ((_taken(place, files) and not begun) or not _moved(place, RELEASE)):
        return Named(_shown(place))
    atomic.sync([place.target])
    for name in files:
        if name != RELEASE:
            _moved(place, name)
    try:
        place.scratch.rmdir()
    except OSError:
        _shown(place)
    return Named(place.target)


def _moved(place: Place, name: str) -> bool:
    """Whether a file could be moved up."""
    file, target = place.scratch / name, place.target / name
    try:
        atomic.name(file, target)
    except FileExistsError:
        if not _same(file, target):
            return False
        file.unlink()
    return True


def _taken(place: Place, files: list[str]) -> bool:
    """Whether something in the target has the name of one of these files."""
    return any(os.path.lexists(place.target / name) for name in files)


def _same(one: Path, other: Path) -> bool:
    """Whether two names are of one file."""
    found = [atomic.identity(path) for path in (one, other) if not path.is_symlink()]
    return len(found) == 2 and found[0] is not None and found[0] == found[1]


def _shown(place: Place) -> Path:
    """Give a scratch folder another name that people see, because it cannot have its own."""
    seen = other_folder(place.target, place.scratch)
    place.scratch.rename(seen)
    return seen


def _free(target: Path) -> Path:
    """A name for the earlier folder that is not taken."""
    number = 1
    while os.path.lexists(name := target.with_name(f"{target.name}.earlier-{number}")):
        number += 1
    return name


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and any(name not in OF_DISKS and not scratch.OURS.fullmatch(name) for name in _names(folder))


def _names(folder: Path) -> list[str]:
    return [child.name for child in folder.iterdir()]
