"""Files that are written whole or not at all, and are on the disk when the writer returns.

A file is written under another name beside its own, synced, and renamed. So a reader sees the earlier file or the new
one, and a crash, a full disk or Ctrl-C leaves the earlier one.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dawa.host.scratch import HIDDEN


def write(path: str | os.PathLike[str], content: str | bytes, *, new: bool = False) -> Path:
    """Write a file.

    A link is followed: what it points to is replaced. What is not a file, such as a pipe, is written to as it is.

    Args:
        path: Where to.
        content: Text, which becomes UTF-8, or bytes.
        new: Refuse to replace a file.

    Raises:
        FileExistsError: If there is something of that name, and ``new`` is set.
        OSError: If it cannot be written. Then nothing has changed.
    """
    named = Path(path)
    data = content.encode() if isinstance(content, str) else content
    mode = _mode(named)
    target = Path(os.path.realpath(named))
    if new and os.path.lexists(named):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    if mode is not None and not stat.S_ISREG(mode):
        with named.open("wb") as file:
            file.write(data)
        return named
    scratch = target.with_name(f"{HIDDEN}{secrets.token_hex(8)}")
    try:
        _write(scratch, data, mode)
        _named(scratch, target, new=new)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise
    sync([target.parent])
    return named


def sync(folders: Iterable[Path]) -> None:
    """Wait until the names in these folders are on the disk; some file systems cannot say, and need not."""
    for folder in folders:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _mode(target: Path) -> int | None:
    """The mode of the file that is there; None if there is none."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _named(scratch: Path, target: Path, *, new: bool) -> None:
    """Give a file its name. A link to it is refused if the name is taken; not every file system has links."""
    if new:
        try:
            os.link(scratch, target)
        except FileExistsError:
            raise
        except OSError:
            pass
        else:
            scratch.unlink()
            return
    scratch.replace(target)


def _write(scratch: Path, data: bytes, mode: int | None) -> None:
    """Write a new file through to the disk, with the mode of the one that it will replace."""
    with open(scratch, "xb") as file:  # noqa: PTH123  the same, said shortly
        if mode is not None:
            with suppress(OSError):
                scratch.chmod(stat.S_IMODE(mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
