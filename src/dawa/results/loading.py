"""Reading a release from a file: its bytes, as far as they can be one, then its parts, checked."""

import os
import select
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from dawa.errors import ReleaseError
from dawa.limits import MOST_ARCHIVE_BYTES, MOST_RELEASE_BYTES, MOST_ZEROS
from dawa.results import archive, file, json_text
from dawa.results.grouped import AnyRelease, GroupedRelease
from dawa.results.members import BEGINS
from dawa.results.release import Release

SPACE = b" \t\r\n\xef\xbb\xbf"
"""What may stand before the first value of a JSON file."""

PATIENCE = 10.0
"""Seconds to wait for the first byte of a named pipe."""

PIECE = 2**16
"""Bytes of a file that are read at a time."""


def load(path: str | PathLike[str]) -> AnyRelease:
    """Read a release that ``Release.save`` or ``GroupedRelease.save`` wrote.

    Raises:
        ReleaseError: If there is no such file, or it is not a release that this version can read.
    """
    return loaded(contents(path), str(Path(path)))


def contents(path: str | PathLike[str]) -> bytes:
    """The bytes of a file that should be a release, as far as that can be told before it is read to its end.

    Raises:
        ReleaseError: If there is no such file, or it does not begin like one.
    """
    source = Path(path)
    try:
        with _opened(source) as opened:
            parts = [opened.read(PIECE)]
            first = parts[0].lstrip(SPACE)[:1]
            begun = first in (b"{", b"[") or (not first and len(parts[0]) < PIECE)  # not blanks without an end
            if parts[0].startswith(BEGINS):
                parts += _rest(opened, MOST_ARCHIVE_BYTES + 1 - len(parts[0]), MOST_ZEROS)
            elif begun and b"\0" not in parts[0]:  # what is endless, and no release, is not read on
                parts += _rest(opened, MOST_RELEASE_BYTES + 1 - len(parts[0]), 0)
            content = b"".join(parts)
    except ReleaseError:  # it is a ValueError, too
        raise
    except FileNotFoundError:
        raise ReleaseError(f"There is no file {source}.", "pass the path of a release.json.") from None
    except (OSError, ValueError):
        raise ReleaseError(f"{source} is not a JSON file.", "pass the path of a release.json.") from None
    except MemoryError:
        raise ReleaseError(f"{source} does not fit in memory.", "use a machine with more memory.") from None
    return content


def _opened(source: Path) -> BinaryIO:
    """A file to read from. Opening a named pipe that nobody writes to would wait without an end, so this waits a while.

    The shell's own pipes, such as ``<(zcat release.json.gz)``, have a writer from the start.

    Raises:
        ReleaseError: If nothing comes through a named pipe.
    """
    if source.is_relative_to("/dev") or source.is_relative_to("/proc") or not source.is_fifo():
        return source.open("rb")
    waiting = os.open(source, os.O_RDONLY | os.O_NONBLOCK)
    if not select.select([waiting], [], [], PATIENCE)[0]:
        os.close(waiting)
        raise ReleaseError(f"Nothing comes through the pipe {source}.", "pass the path of a release.json.")
    os.set_blocking(waiting, True)
    return os.fdopen(waiting, "rb")


def _rest(opened: BinaryIO, most: int, zeros: int) -> Iterator[bytes]:
    """What is left of a file, up to a limit, in pieces: a read of many bytes takes room for all of them beforehand.

    Gigabytes of zero bytes cost nothing to send in a sparse file: after so many in a row it ends. JSON has none.
    """
    left = zeros
    while most > 0 and (piece := opened.read(min(PIECE, most))):
        yield piece
        most -= len(piece)
        left = left - len(piece) if zeros and not piece.strip(b"\0") else zeros
        if left < 0 or (not zeros and b"\0" in piece):
            return


def loaded(content: bytes, source: str = "The file") -> AnyRelease:
    """A release from the bytes of its file.

    Args:
        content: The bytes.
        source: What to call them in an error.

    Raises:
        ReleaseError: If they are not a release that this version can read; the error names the field.
    """
    try:
        values = archive.values if content.startswith(BEGINS) else json_text.values
        parts = file.read(values(content, source))
    except MemoryError:
        raise ReleaseError(f"{source} does not fit in memory.", "use a machine with more memory.") from None
    return GroupedRelease(*parts) if isinstance(parts, file.GroupedParts) else Release(*parts)
