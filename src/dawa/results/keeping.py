"""How a release that is paid for gets to where it stays, before the ledger is told that it was made.

A run that dies after it has paid leaves a reservation, and maybe a release. Where the release would be is booked with
the reservation, so that both can be brought together again.
"""

import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dawa.errors import FolderError, UnbookedWarning
from dawa.host import whole
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

    def withdraw(self) -> Path | None:
        """Take it away again, because it turned out not to be paid for; the result is where it is now."""
        ...


@dataclass(frozen=True)
class FileKeeper:
    """Saves a release as one file.

    Attributes:
        file: Its absolute path.
    """

    file: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> "FileKeeper":
        """Make sure that a file can be written, before anything is spent on it.

        Raises:
            FolderError: If there is something of that name, or the file cannot be written.
        """
        file = Path(path).absolute()
        try:
            whole.write(file, b"", new=True)
            file.unlink()
        except FileExistsError:
            raise FolderError(f"{path} exists already.", "choose another file: a release replaces nothing.") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "this cannot be a name"
            raise FolderError(f"{path} cannot be written: {reason}.", "choose another file.") from None
        return cls(file)

    @property
    def where(self) -> Mapping[str, str]:
        """The file."""
        return {"file": str(self.file)}

    def keep(self, release: Release) -> Path | None:
        """Save it. If that fails now, a warning says so: whoever made the release still has it in memory."""
        try:
            return whole.write(self.file, release.as_text(), new=True)
        except OSError as error:
            warnings.warn(
                f"The release was made, but {self.file} cannot be written: {error.strerror}.\nIts budget is spent: save"
                " what you get elsewhere.",
                UnbookedWarning,
                stacklevel=4,
            )
            return None

    def withdraw(self) -> Path | None:
        """Give the file a name that nobody looks for."""
        hidden = self.file.with_name(f".{self.file.name}-not-paid-for")
        with suppress(OSError):
            return self.file.rename(hidden)
        return self.file if self.file.exists() else None
