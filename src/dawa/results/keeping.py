"""How a release that is paid for gets to where it stays, before the ledger is told that it was made.

A run that dies after it has paid leaves a reservation, and maybe a release. Where the release would be is booked with
the reservation, so that both can be brought together again.
"""

import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from dawa.errors import FolderError, UnbookedWarning, outside
from dawa.host import atomic, scratch
from dawa.results.grouped import AnyRelease
from dawa.results.paid import Paid, digest

RELEASE = "release.json"
"""The file that makes a folder a release."""

UNPAID = ".not-paid-for-"
"""How the name begins of a release that turned out not to be paid for."""

KEPT = "kept"
"""The word in a ledger entry's description under which it says where its release will be, and what it is called."""


@dataclass(frozen=True)
class Kept:
    """Where a release is.

    Attributes:
        path: Its file, or the folder that holds it.
        file: Its file.
        mark: Which file that is: somebody may have moved it since, and put another in its place.
    """

    path: Path
    file: Path
    mark: tuple[int, ...] | None

    @classmethod
    def at(cls, path: Path) -> "Kept":
        """The release that was just written there."""
        file = path / RELEASE if path.is_dir() else path
        return cls(path, file, _mark(file))

    @property
    def digest(self) -> str | None:
        """The SHA-256 of its file, for a ledger; None if it cannot be read any more."""
        with suppress(OSError):
            return digest(self.file)
        return None

    def withdrawn(self) -> Path | None:
        """Take it away from where people and programs look for releases; the result is where it is now.

        None says that somebody has moved it: what has its name now is not ours to touch.
        """
        if self.mark is None or _mark(self.file) != self.mark:
            return None
        hidden = self.path.with_name(f"{UNPAID}{uuid4().hex[:8]}")
        with suppress(OSError):
            self.path.rename(hidden)
            atomic.sync([hidden.parent])
            return hidden
        if self.file == self.path:
            return self.path
        with suppress(OSError):  # a mount point: without this file it is no release
            hidden = self.file.rename(self.path / hidden.name)
            atomic.sync([self.path])
            return hidden
        return self.path


class Keeper(Protocol):
    """Puts a release where it stays."""

    @property
    def where(self) -> Mapping[str, str]:
        """Where the release will be, in words that a ledger keeps."""
        ...

    @property
    def parent(self) -> Path:
        """The folder in which it is written first."""
        ...

    def keep(self, release: AnyRelease, paid: Paid | None = None) -> Kept | None:
        """Put it there, through to the disk; the result is where it is, or None if it is nowhere.

        Args:
            release: The release.
            paid: How it was paid, for those who read it; None if no ledger paid.
        """
        ...

    def withdraw(self, kept: Kept) -> Path | None:
        """Take what was kept away again, because it turned out not to be paid for; the result is where it is now."""
        ...


def rescue_name(target: Path, scratch_folder: Path) -> str:
    """What a release is called that is saved elsewhere, because there is no room where it should be."""
    return f"dawa-{cut(target.name, 64)}-{scratch_folder.name[-8:]}.json"


def rescues(target: Path, scratch_folder: Path) -> list[Path]:
    """Files elsewhere that a release is written to if there is no room: the user's own, then those for a while.

    Many systems empty the folder for temporary files when they start.
    """
    found: list[Path] = []
    with suppress(RuntimeError, OSError):  # a user without a home; or it is relative to a folder that is gone
        found.append(Path.home().absolute())
    with suppress(OSError):  # a machine without any
        found.append(Path(tempfile.gettempdir()).absolute())
    return [folder / rescue_name(target, scratch_folder) for folder in dict.fromkeys(found)]


def rescued(release: AnyRelease, places: Sequence[Path]) -> Path | None:
    """Save a release at the first of these places that can be written; None if none can."""
    for place in places:
        with suppress(OSError, MemoryError):
            return atomic.write(place, release.as_text(), new=True)
    return None


def numbered(name: str, paths: Sequence[Path]) -> dict[str, str]:
    """Paths in words that a ledger keeps: ``rescue1``, ``rescue2``."""
    return {f"{name}{number}": str(path) for number, path in enumerate(paths, 1)}


def other_folder(target: Path, scratch_folder: Path) -> Path:
    """A name that people see, for a folder that cannot have its own."""
    token = scratch_folder.name[-8:]
    if scratch_folder.parent == target:
        return target / f"release-{token}"
    return target.with_name(f"{target.name}-{token}")


def other_file(file: Path, scratch_folder: Path) -> Path:
    """Where a release is saved if its file's name was taken in the meantime."""
    return file.with_name(f"{cut(file.stem, 200)}-{scratch_folder.name[-8:]}{cut(file.suffix, 20)}")


def cut(name: str, most: int) -> str:
    """A name of at most so many bytes, as file systems count them.

    >>> cut("ages", 200), len(cut("人" * 100, 200))
    ('ages', 66)
    """
    return os.fsencode(name)[:most].decode(errors="ignore")


@dataclass(frozen=True)
class FileKeeper:
    """Saves a release as one file.

    Attributes:
        file: Its absolute path.
        scratch: A folder beside it that is locked while the run is at work. The file is written there first: a run that
            is killed before it has given the file its name leaves it where ``dawa ledger recover`` looks.
        rescues: Where it is saved if there is no room.
    """

    file: Path
    scratch: Path
    rescues: tuple[Path, ...] = ()

    @classmethod
    @contextmanager
    def at(cls, path: str | os.PathLike[str]) -> Iterator["FileKeeper"]:
        """Make sure that a file can be written, before anything is spent on it.

        Raises:
            FolderError: If there is something of that name, or the file cannot be written.
        """
        with ExitStack() as stack:
            try:
                file = Path(os.path.realpath(Path(path).parent)) / Path(path).name
                atomic.spare(file)
                if _taken(file):
                    raise FolderError(f"{path} exists already.", "choose another file: a release replaces nothing.")
                scratch.remove_empty(file.parent)
                folder = file.with_name(f"{scratch.HIDDEN}{uuid4().hex[:8]}")
                folder.mkdir()
                stack.callback(_removed, folder)
                stack.enter_context(scratch.locked(folder))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else "this cannot be a name"
                raise FolderError(f"{path} cannot be written: {reason}.", "choose another file.") from None
            yield cls(file, folder, tuple(rescues(file, folder)))

    @property
    def where(self) -> Mapping[str, str]:
        """The file, the folder that is locked, and where it is saved if there is no room."""
        return {"file": str(self.file), "scratch": str(self.scratch), **numbered("rescue", self.rescues)}

    @property
    def parent(self) -> Path:
        """The folder of the file."""
        return self.file.parent

    def keep(self, release: AnyRelease, paid: Paid | None = None) -> Kept | None:  # noqa: ARG002  one file alone
        """Save it, or save it elsewhere with a warning; None if it is in memory alone."""
        through = self.scratch if self.scratch.is_dir() else None  # somebody may have removed it: it was empty
        other = other_file(self.file, self.scratch)
        reason = "it was taken meanwhile"
        for file in (self.file, other):
            try:
                atomic.write(file, release.saved(file), new=True, through=through)
            except FileExistsError:
                continue
            except (OSError, MemoryError) as error:
                reason = getattr(error, "strerror", None) or type(error).__name__
                break
            if file == other:
                warned(f"{self.file} was taken meanwhile: the release is in {other}.")
            return Kept.at(file)
        rescue = rescued(release, self.rescues)
        if rescue is None:
            warned(
                f"The release was made, but {self.file} cannot be written ({reason}), nor can any other place.\n"
                "Its budget is spent: save what you get."
            )
            return None
        warned(
            f"{self.file} cannot be written ({reason}), but the release is safe in {rescue}.\n"
            "Its budget is spent: keep that file."
        )
        return Kept.at(rescue)

    def withdraw(self, kept: Kept) -> Path | None:
        """Give the file a name that nobody looks for."""
        return kept.withdrawn()


def _mark(file: Path) -> tuple[int, ...] | None:
    """Which file is at a path. Its number alone is not enough: file systems give it to the next file at once."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _taken(file: Path) -> bool:
    """Whether there is something of that name; OSError if there cannot be, as for names that are too long."""
    try:
        file.lstat()
    except FileNotFoundError:
        return False
    return True


def _removed(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def warned(problem: str) -> None:
    """Warn about a release that was paid for; even where warnings are errors, whoever made it gets it."""
    try:
        warnings.warn(problem, UnbookedWarning, stacklevel=outside())
    except UnbookedWarning:
        logging.getLogger("dawa").warning(problem)
