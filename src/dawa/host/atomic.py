"""Files that are written whole or not at all, and are on the disk when the writer returns.

A file is written under another name beside its own, synced, and renamed. So a reader sees the earlier file or the new
one, and a crash, a full disk or Ctrl-C leaves the earlier one.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dawa.host.scratch import HIDDEN

COMPANIONS = ("-journal", "-wal", "-shm")
"""How the names of files end that SQLite makes beside a database, and removes."""


def write(
    path: str | os.PathLike[str],
    content: str | bytes,
    *,
    new: bool = False,
    through: Path | None = None,
    private: bool = False,
) -> Path:
    """Write a file.

    A link is followed, but not by a new file: what it points to is replaced. What is not a file, such as a pipe, is
    written to as it is.

    Args:
        path: Where to.
        content: Text, which becomes UTF-8, or bytes.
        new: Refuse to replace a file.
        through: The folder in which it is written before it gets its name, on the same disk; None takes its own.
        private: Let nobody but its owner read it, from its first byte on.

    Raises:
        FileExistsError: If there is something of that name, and ``new`` is set.
        OSError: If it cannot be written. Then nothing has changed.
    """
    data = content.encode() if isinstance(content, str) else content
    with opened(path, new=new, through=through, private=private) as file:
        file.write(data)
    return Path(path)


@contextmanager
def opened(
    path: str | os.PathLike[str], *, new: bool = False, through: Path | None = None, private: bool = False
) -> Iterator[BinaryIO]:
    """A file to write in pieces, which gets its name when the block ends, and is removed if the block fails.

    The arguments and the errors are those of ``write``.
    """
    named = Path(path)
    spare(named)
    mode = _mode(named)
    # A new file is not written through a link that somebody makes in this moment.
    target = Path(os.path.realpath(named.parent)) / named.name if new else Path(os.path.realpath(named))
    if new and os.path.lexists(named):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    if mode is not None and not stat.S_ISREG(mode):
        with named.open("wb") as file:
            yield file
        return
    scratch = (through or target.parent) / f"{HIDDEN}{secrets.token_hex(8)}"
    try:
        with _begun(scratch, private=private) as file:
            if mode is not None:
                with suppress(OSError):
                    scratch.chmod(stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        if new:
            name(scratch, target)
        else:
            scratch.replace(target)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise
    sync([target.parent])


def sync(folders: Iterable[Path]) -> None:
    """Wait until the names in these folders are on the disk; some file systems cannot say, and need not."""
    for folder in folders:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def name(file: Path, target: Path) -> None:
    """Give a file another name, if nobody has it.

    A link is refused if the name is taken. Where there are no links, the name is taken first, and then replaced.

    Raises:
        FileExistsError: If there is something of that name.
    """
    try:
        os.link(file, target)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            file.replace(target)
        except OSError:
            target.unlink()
            raise
    else:
        file.unlink()


def spare(path: Path) -> None:
    """Refuse a name that a database beside it would use: SQLite removes such a file without looking what is in it.

    Raises:
        OSError: If it is such a name.
    """
    target = os.path.realpath(path)
    ending = next((ending for ending in COMPANIONS if target.endswith(ending)), None)
    # The file beside it is not opened: to close it again would drop the locks that this process may have on it.
    if ending is not None and Path(target.removesuffix(ending)).is_file():
        raise PermissionError(errno.EPERM, "SQLite uses such a name for the file beside it")


def holds(folder: Path, path: Path) -> bool:
    """Whether a path is a folder, or a file, or lies in it, by whatever name: links, mounts, case."""
    inner = Path(os.path.realpath(path))
    own = {inner, *inner.parents}
    known = identity(folder)
    return Path(os.path.realpath(folder)) in own or (known is not None and known in map(identity, own))


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at a path, whatever is called so later; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _begun(file: Path, *, private: bool) -> BinaryIO:
    """A new file to write."""
    return open(file, "xb", opener=_owners) if private else open(file, "xb")  # noqa: PTH123  said shortly


def _owners(path: str, flags: int) -> int:
    """Open a new file that is its owner's alone."""
    return os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR)


def _mode(target: Path) -> int | None:
    """The mode of the file that is there; None if there is none."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None
