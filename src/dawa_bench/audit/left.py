"""Everything that a release says and leaves behind, apart from what it is counted from.

Two things differ between any two runs, and hide nothing: names that are drawn at random, and the time of day. They are
held still here: the operating system gives the same bytes to every run, in the same order, and the ledger's clock
stands. Two things are left out, which nobody sees who does not ask for them: at its finest level, the log of Spark's
bridge to Java lists its calls, and numbers objects through a whole session; and warnings of resources that were not
closed come whenever Python collects garbage, and quote ports. Nothing else is excused.
"""

import contextlib
import hashlib
import io
import logging
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from dawa.errors import printable
from dawa.host import atomic
from dawa.ledger import drafts
from dawa.plots import multiples, picture
from dawa.results import about
from dawa.results.grouped import AnyRelease
from dawa_bench.audit.watch import Answering, Interrupted, Watched, watched

DATA, LEDGER, TEMPORARY = "data", "ledger.db", "temporary"
"""In the folder of a run: its table, which is not compared, its ledger, and what is meant to go away."""
BRIDGE = "py4j"
SHOWN = 30
"""How much is shown of what differs, on either side of where it begins."""


DRAWN: dict[str, Any] = {}
"""The last picture, and what it shows."""


@dataclass(frozen=True)
class Left:
    """What a run left.

    Attributes:
        parts: All that it said and wrote, by what it is, in the order in which it is looked at.
        passed: What passed the gates.
        made: Whether there is a release.
    """

    parts: dict[str, bytes]
    passed: Watched
    made: bool


@dataclass(frozen=True)
class Ran:
    """What a run says of itself: its result and its exit code, in words of any length."""

    said: dict[str, str]
    made: bool


def left(run: Callable[[], Ran], folder: Path, answering: Answering) -> Left:
    """Make a release in a folder, and look at everything."""
    said: dict[str, str] = {}
    with held_still(), _drawn_once(), _heard(said), _temporary(folder / TEMPORARY), watched(answering) as passed:
        try:
            ran = run()
        except Interrupted:
            ran = Ran({"outcome": "asks for more than its neighbour"}, made=False)
        except Exception as error:  # noqa: BLE001  whatever it is, it is what the run says
            notes = "\n".join(getattr(error, "__notes__", ()))
            ran = Ran({"outcome": "".join(traceback.format_exception(error)) + notes}, made=False)
    parts = {name: text.encode("utf-8", "backslashreplace") for name, text in {**ran.said, **said}.items()}
    return Left({**parts, **_entries(folder / LEDGER), **_files(folder)}, passed, ran.made)


def difference(one: Left, two: Left) -> str:
    """What differs first, in words; empty if nothing does."""
    for name in {**one.parts, **two.parts}:
        here, there = one.parts.get(name), two.parts.get(name)
        if here is None or there is None:
            return f"{name} is there for one alone"
        if here != there:
            return f"{name} differs: {_beside(here, there)}"
    if len(one.passed.asked) != len(two.passed.asked):
        return f"{len(one.passed.asked)} gates are passed, or {len(two.passed.asked)}"
    for place, (mine, theirs) in enumerate(zip(one.passed.asked, two.passed.asked, strict=True), 1):
        if mine.public != theirs.public:
            return f"what is asked at gate {place} differs"
    return ""


def emptied(folder: Path) -> None:
    """Remove all that is in a folder, and leave the folder itself: a ledger books which one it is."""
    for child in folder.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()
    (folder / DATA).mkdir()
    (folder / TEMPORARY).mkdir()


@contextmanager
def held_still() -> Iterator[None]:
    """Draw the same names in every run, and let the clock stand."""
    given = 0

    def bytes_of(count: int) -> bytes:
        nonlocal given
        given += 1
        return hashlib.shake_128(f"{given}".encode()).digest(count)

    with ExitStack() as still:
        for place, name in ((os, "urandom"), (random, "_urandom")):
            still.enter_context(mock.patch.object(place, name, bytes_of))
        for module in (drafts, about):
            still.enter_context(mock.patch.object(module, "datetime", _Still))
        yield


class _Still(datetime):
    """A clock that stands."""

    @classmethod
    def now(cls, tz: object = None) -> "_Still":
        return cls(2026, 1, 1, tzinfo=tz)  # type: ignore[arg-type]


@contextmanager
def _drawn_once() -> Iterator[None]:
    """Draw the picture of the same release once: it is made from the release alone, and takes longer than the rest."""
    with ExitStack() as stack:
        for module in (picture, multiples):
            stack.enter_context(mock.patch.object(module, "draw", partial(_drawn, module.draw)))
        yield


def _drawn(draw: Callable[[AnyRelease, Path], object], release: AnyRelease, path: Path) -> None:
    text = release.as_text()
    if DRAWN.get("of") != text:
        draw(release, path)
        DRAWN.update({"of": text, "picture": path.read_text(encoding="utf-8")})
    else:
        atomic.write(path, DRAWN["picture"], new=True)


@contextmanager
def _heard(said: dict[str, str]) -> Iterator[None]:
    """Hear what is said on standard output and error, by Python and below it, in logs and in warnings."""
    sys.stdout.flush()
    sys.stderr.flush()
    out, err, lines = io.StringIO(), io.StringIO(), _Lines()
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        with (
            _below(1) as below_out,
            _below(2) as below_err,
            redirect_stdout(out),
            redirect_stderr(err),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        root.removeHandler(lines)
        root.setLevel(level)
    said["stdout"] = out.getvalue() + below_out.getvalue()
    said["stderr"] = err.getvalue() + below_err.getvalue()
    said["log"] = "\n".join(lines.heard)
    said["warnings"] = "\n".join(f"{each.category.__name__}: {each.message}" for each in warned)


class _Lines(logging.Handler):
    """Keeps all that is logged, from the finest level on."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(BRIDGE) and record.levelno < logging.INFO:
            return
        self.heard.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@contextmanager
def _below(stream: int) -> Iterator[io.StringIO]:
    """What is written to a stream of the operating system, by whatever library."""
    heard, kept = io.StringIO(), os.dup(stream)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), stream)
        try:
            yield heard
        finally:
            os.dup2(kept, stream)
            os.close(kept)
            file.seek(0)
            heard.write(file.read().decode("utf-8", "backslashreplace"))


@contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    """Let temporary files be in this folder."""
    with mock.patch.object(tempfile, "tempdir", str(folder)), mock.patch.dict(os.environ, {"TMPDIR": str(folder)}):
        yield


def _files(folder: Path) -> dict[str, bytes]:
    """All files and folders but the table itself: names, rights and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] != DATA:
            found[f"the rights of {name}"] = oct(path.lstat().st_mode).encode()
            if path.is_file():
                found[str(name)] = path.read_bytes()
    listed = "\n".join(sorted(found))
    return {"the list of files": listed.encode(), **found}


def _entries(ledger: Path) -> dict[str, bytes]:
    """A ledger's tables, line by line: easier to read than the bytes of its file."""
    if not ledger.is_file():
        return {}
    with contextlib.closing(sqlite3.connect(ledger)) as connection:
        return {f"line {place} of the ledger": line.encode() for place, line in enumerate(connection.iterdump(), 1)}


def _beside(here: bytes, there: bytes) -> str:
    """Where two texts part, and how they go on."""
    ends = min(len(here), len(there))
    at = next((place for place in range(ends) if here[place] != there[place]), ends)
    mine, theirs = (each[max(0, at - SHOWN) : at + SHOWN].decode("utf-8", "backslashreplace") for each in (here, there))
    return f"byte {at}: “{printable(mine)}” or “{printable(theirs)}”"
