"""Folders for a while: locked while their process lives, so that what killed processes left can be told and removed.

Embedded engines put what does not fit in memory on the disk, identifiers in clear among it. Such a folder is private to
its user, and is removed at every exit that can be caught. After one that cannot, the next run removes it.
"""

import errno
import os
import platform
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nobody can tell whether a process is still at work
    fcntl = None  # type: ignore[assignment]

YOUNG = 60
"""Seconds after which a folder is surely locked, if its process lives."""

SPILL = "dawa-spill-"
"""How folders among the temporary files begin, for what an engine cannot hold."""

HIDDEN = ".dawa-"
"""How the names of files and folders begin that are beside or inside what people asked for, for a while."""

OURS = re.compile(re.escape(HIDDEN) + "[0-9a-f]{8}")
"""Names of such folders."""

HALF = re.compile(re.escape(HIDDEN) + "[0-9a-f]{16}")
"""Names of files that are not whole yet, or that have no name yet."""

NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}
"""How systems say that there is nothing at a path; all other refusals leave it open."""

MACHINE = Path("/etc/machine-id")
"""Where Linux keeps a name for each machine, which nobody should be told as it is."""

MARK = "swept-by-dawa"
"""A file by which a folder among the temporary files is known to be ours, whatever it is called."""


@contextmanager
def locked(folder: Path) -> Iterator[bool | None]:
    """Say with a lock that a process is at work in a folder; False if another one says so, None if nobody can tell."""
    if fcntl is None:
        yield None
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        except OSError:  # a file system without locks
            yield None
        else:
            yield True
    finally:
        os.close(handle)


def abandoned(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """Folders in this folder with such names, of this user, in which no process is at work any more."""
    if fcntl is None:
        return []
    with suppress(OSError):
        return sorted(child for child in folder.iterdir() if pattern.fullmatch(child.name) and _abandoned(child))
    return []


def here(folder: Path) -> str:
    """Which folder this is: the machine, the file systems that this process sees, and the folder among them.

    The same path may name another folder on another machine, in another container, or after something was mounted or
    moved. Two disks that are mounted one after the other may have the same device, and their folders the same numbers:
    so the file system's own number is added, if it has one.
    """
    known = [platform.node()]
    with suppress(OSError):
        known.append(sha256(b"dawa " + MACHINE.read_bytes()).hexdigest()[:8])
    with suppress(OSError):
        known.append(str(Path("/proc/self/ns/mnt").readlink()))
    with suppress(OSError):
        found = folder.stat()
        known.append(f"{found.st_dev}:{found.st_ino}")
        with suppress(AttributeError):  # Windows
            known[-1] += f":{os.statvfs(folder).f_fsid:x}"
    return " ".join(known)


def same(booked: str | None, folder: Path) -> bool:
    """Whether a folder is the one that was booked, as far as that was booked: earlier versions left parts out."""
    now = here(folder)
    return booked in {None, now, now.rpartition(":")[0]}


def halves(folder: Path) -> list[Path]:
    """Files in a folder of ours that got no name, because their process was killed; without those that are empty.

    Raises:
        OSError: If nobody may look.
    """
    try:
        return sorted(file for file in folder.iterdir() if HALF.fullmatch(file.name) and file.lstat().st_size)
    except OSError as error:
        if error.errno in NOT_THERE:
            return []
        raise


def remove_empty(folder: Path) -> None:
    """Remove the hidden folders of ours in a folder that are abandoned and empty."""
    for left in abandoned(folder, OURS):
        with suppress(OSError):
            left.rmdir()


@contextmanager
def spill() -> Iterator[Path]:
    """A private folder for what an engine cannot hold in memory; those of killed processes are removed first."""
    for left in abandoned(Path(tempfile.gettempdir()), re.compile(re.escape(SPILL) + "[a-z0-9_]{8}")):
        if (left / MARK).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=SPILL))
    try:
        (folder / MARK).touch()
        with locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    try:
        found = folder.lstat()
        young = time.time() - found.st_mtime < YOUNG
        if young or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        with locked(folder) as free:
            return free is True
    except OSError:
        return False
