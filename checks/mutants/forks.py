"""Processes that end with a verdict: each is a fork of this one, with its own files, and a limit of its work."""

import contextlib
import math
import mmap
import os
import resource
import shutil
import signal
import struct
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

MEMORY = 4 * 2**30
"""So many bytes more than it begins with, a fork may ask for."""

WAITING = 600
"""A test that has done nothing for so many seconds will not end: it sleeps, so that no limit of its work ends it."""

BROKEN = 70
"""How a fork ends in which this program itself failed."""


class Note:
    """A number that a fork leaves for its parent, even if it is killed."""

    def __init__(self) -> None:
        """Memory that both processes see."""
        self._shared = mmap.mmap(-1, 8)

    def write(self, number: int) -> None:
        """Leave a number."""
        self._shared[:8] = struct.pack("q", number)

    def read(self) -> int:
        """The number that was left last."""
        return int(struct.unpack("q", self._shared[:8])[0])


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A fork that has ended.

    Attributes:
        task: What it was for.
        code: What it ended with; minus the number of the signal that ended it.
        note: The number that it left.
    """

    task: T
    code: int
    note: int

    @property
    def stopped(self) -> bool:
        """Whether it worked too long, or waited for nothing."""
        return self.code in {-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL}


@dataclass(frozen=True)
class _Running(Generic[T]):
    task: T
    note: Note
    folder: str


def each(tasks: Iterable[T], work: Callable[[T, Note], int], jobs: int) -> Iterator[Ended[T]]:
    """Fork for each task, several at a time, and yield them as they end.

    Tasks are taken one by one when there is room, so they may depend on what was yielded before.
    """
    running: dict[int, _Running[T]] = {}
    for task in tasks:
        running.update([_forked(task, work)])
        while len(running) >= jobs:
            yield _next(running)
    while running:
        yield _next(running)


def _forked(task: T, work: Callable[[T, Note], int]) -> tuple[int, _Running[T]]:
    note, folder = Note(), tempfile.mkdtemp(prefix="dawa-mutant-")
    pid = os.fork()
    if pid:
        return pid, _Running(task, note, folder)
    code = BROKEN
    try:
        _alone(folder)
        code = work(task, note)
    except BaseException:  # noqa: BLE001  a fork must not go on as if it were its parent
        traceback.print_exc()
    finally:
        os._exit(code)


def _alone(folder: str) -> None:
    """A process group and a folder of its own, silent, and with a limit of its memory."""
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1) if os.environ.get("DAWA_MUTANTS_LOUD") else (0, 1, 2):
        os.dup2(quiet, stream)
    os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = folder
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  no path of anybody's
        pages = int(file.read().split()[0])
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, most))


def allow(seconds: float) -> None:
    """From now on, this process may work so long, and wait for ``WAITING`` seconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    until = math.ceil(usage.ru_utime + usage.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.alarm(WAITING)


def _next(running: dict[int, _Running[T]]) -> Ended[T]:
    """The next one that ends, and nothing of it stays."""
    pid, status = os.wait()
    one = running.pop(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(one.folder, ignore_errors=True)
    return Ended(one.task, os.waitstatus_to_exitcode(status), one.note.read())
