"""How a release that is paid for gets to where it stays, before the ledger is told that it was made.

A run that dies after it has paid leaves a reservation, and maybe a release. Where the release would be is booked with
the reservation, so that both can be brought together again.
"""

import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from dawa.errors import FolderError, UnbookedWarning
from dawa.host import atomic, scratch
from dawa.results.release import Release


class Keeper(Protocol):
    """Puts a release where it stays."""

    @property
    def where(self) -> Mapping[str, str]:
        """Where the release will be, in words that a ledger keeps."""
        ...

    def keep(self, release: Release) -> Path | None:
        """Put it there, through to the disk; the result is where it is, or None if it is nowhere."""
        ...

    def withdraw(self, kept: Path) -> Path:
        """Take what was kept away again, because it turned out not to be paid for; the result is where it is now."""
        ...


def other_file(file: Path, scratch_folder: Path) -> Path:
    """Where a release is saved if its file's name was taken in the meantime."""
    return file.with_name(f"{file.stem[:200]}-{scratch_folder.name[-8:]}{file.suffix[:20]}")


@dataclass(frozen=True)
class FileKeeper:
    """Saves a release as one file.

    Attributes:
        file: Its absolute path.
        scratch: A folder beside it that is locked while the run is at work.
    """

    file: Path
    scratch: Path

    @classmethod
    @contextmanager
    def at(cls, path: str | os.PathLike[str]) -> Iterator["FileKeeper"]:
        """Make sure that a file can be written, before anything is spent on it.

        Raises:
            FolderError: If there is something of that name, or the file cannot be written.
        """
        try:
            file = Path(path).absolute()
            if os.path.lexists(file):
                raise FolderError(f"{path} exists already.", "choose another file: a release replaces nothing.")
            scratch.remove_empty(file.parent)
            folder = file.with_name(f"{scratch.HIDDEN}{uuid4().hex[:8]}")
            folder.mkdir()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "this cannot be a name"
            raise FolderError(f"{path} cannot be written: {reason}.", "choose another file.") from None
        try:
            with scratch.locked(folder):
                yield cls(file, folder)
        finally:
            with suppress(OSError):
                folder.rmdir()

    @property
    def where(self) -> Mapping[str, str]:
        """The file, and the folder that is locked."""
        return {"file": str(self.file), "scratch": str(self.scratch)}

    def keep(self, release: Release) -> Path | None:
        """Save it. If that fails now, a warning says so: whoever made the release still has it in memory."""
        try:
            return atomic.write(self.file, release.as_text(), new=True)
        except FileExistsError:
            other = other_file(self.file, self.scratch)
        except OSError as error:
            warned(
                f"The release was made, but {self.file} cannot be written: {error.strerror}.\nIts budget is spent: save"
                " what you get elsewhere."
            )
            return None
        try:
            atomic.write(other, release.as_text(), new=True)
        except OSError:
            warned(
                f"The release was made, but {self.file} was taken meanwhile.\nIts budget is spent: save what you get."
            )
            return None
        warned(f"{self.file} was taken meanwhile: the release is in {other}.")
        return other

    def withdraw(self, kept: Path) -> Path:
        """Give the file a name that nobody looks for."""
        return withdrawn(kept)


def withdrawn(kept: Path, inside: str = "") -> Path:
    """Take a folder or file that is not paid for away from where people and programs look for releases.

    Args:
        kept: Where it is.
        inside: The file that makes a folder a release: if the folder itself cannot be renamed, this file is.
    """
    hidden = kept.with_name(f".not-paid-for-{uuid4().hex[:8]}")
    with suppress(OSError):
        kept.rename(hidden)
        atomic.sync([hidden.parent])
        return hidden
    if not inside:
        return kept
    with suppress(OSError):  # a mount point
        hidden = (kept / inside).rename(kept / hidden.name)
        atomic.sync([kept])
        return hidden
    return kept


def warned(problem: str) -> None:
    """Warn about a release that was paid for; even where warnings are errors, whoever made it gets it."""
    try:
        warnings.warn(problem, UnbookedWarning, stacklevel=5)
    except UnbookedWarning:
        logging.getLogger("dawa").warning(problem)
