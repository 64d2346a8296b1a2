"""What a person sees: answers on stdout, and on stderr a sign of life or one sentence that says what went wrong.

Every wrong step ends in ``reported``: one sentence, a hint, an exit code, and no traceback. A traceback may carry
values out of the data, so even a defect shows no more than its kind, unless the person at the keyboard asks for it with
``DAWA_DEBUG=1``. A sign of life names the stage and never a number.
"""

import errno
import json as encoder
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import typer
from rich.console import Console
from rich.text import Text

from dawa import progress
from dawa.errors import DawaError, ExhaustedError, FolderError, PublicNote, printable
from dawa.host import extras, interrupts

REFUSED, EXHAUSTED, STOPPED = 1, 3, 128
"""Exit codes; 0 is done, and 2 is wrong usage, which Typer finds. A signal's number is added to the last."""

DEBUG = "DAWA_DEBUG"

SMALLER = "give it more, or ask for less: coarser steps, fewer axes, or --option effort=fast."

WIDE = 200
"""For pipes and files, which have no width of their own."""


FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the system says where there is no room for more."""


def screen() -> Console:
    """Where answers go."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=WIDE)


def write_json(data: object, target: TextIO | None = None) -> None:
    """Write one JSON value for machines, on stdout unless told otherwise."""
    (target or sys.stdout).write(encoder.dumps(data, indent=1) + "\n")


def text(line: str, style: str = "") -> Text:
    """A line as it is, without markup; names of files and columns in it may hold anything."""
    return Text(printable(line), style)


def tell(*lines: str) -> None:
    """Say sentences to a person, each on a line of its own."""
    for line in lines:
        screen().print(text(line), soft_wrap=True)


def complain(line: str) -> None:
    """Say a sentence that must not be overlooked, on stderr: it is no part of an answer."""
    with suppress(OSError, ValueError, AttributeError):  # nobody listens
        Console(stderr=True, highlight=False).print(text(line, "bold red"), soft_wrap=True)


@contextmanager
def working(first: str) -> Iterator[None]:
    """Say on a terminal what is being done, stage by stage; elsewhere say nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{first} …") as status, progress.heard(lambda stage: status.update(f"{stage} …")):
        yield


@contextmanager
def reported(json: bool = False) -> Iterator[None]:  # noqa: FBT001, FBT002  the name of the flag it stands for
    """Turn an error into a sentence on stderr, or into JSON on stdout, and leave with its exit code.

    Args:
        json: Whether a machine reads stdout; it then finds ``{"error": {"kind", "problem", "hint"}}`` there.
    """
    try:
        with interrupts.raised():
            _check_folder()
            yield
    except DawaError as error:
        _say(type(error).__name__, error.problem, error.hint, json=json)
        raise typer.Exit(EXHAUSTED if isinstance(error, ExhaustedError) else REFUSED) from None
    except KeyboardInterrupt as error:
        said = _noted(error, "Stopped.", "budget that a ledger had reserved by then stays spent.")
        _say("Stopped", *said, json=json)
        raise typer.Exit(STOPPED + getattr(error, "signal", signal.SIGINT)) from None
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except MemoryError as error:
        _say("MemoryError", *_noted(error, "There is not enough memory for this.", SMALLER), json=json)
        raise typer.Exit(REFUSED) from None
    except Exception as error:
        absent = extras.explained(error) if isinstance(error, ModuleNotFoundError) else None
        if absent is not None:
            _say(type(absent).__name__, *_noted(error, absent.problem, absent.hint), json=json)
            raise typer.Exit(REFUSED) from None
        if isinstance(error, OSError) and error.errno in FULL:
            said = _noted(error, f"What was found cannot be written: {error.strerror}.", "send it where there is room.")
            _say(type(error).__name__, *said, json=json)
            raise typer.Exit(REFUSED) from None
        if os.environ.get(DEBUG):
            raise
        said = _noted(
            error,
            f"Something inside dawa went wrong ({type(error).__name__}).",
            f"this is a defect: please report it, with what {DEBUG}=1 shows if that holds nothing private.",
        )
        _say(type(error).__name__, *said, json=json)
        raise typer.Exit(REFUSED) from None


def _check_folder() -> None:
    """Refuse to begin in a folder that was removed: every name that is relative to it would seem to be missing."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise FolderError("The current folder was removed.", "change to one that exists: cd.") from None


def _noted(error: BaseException, problem: str, hint: str) -> tuple[str, str]:
    """A problem and a hint, with what our notes add to them; notes of others may quote values."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, PublicNote):
            problem, hint = note.after(problem, hint)
    return problem, hint


def _say(kind: str, problem: str, hint: str, *, json: bool) -> None:
    told = f"{problem} Hint: {hint}".encode("utf-8", "replace").decode()
    if json:
        with suppress(OSError, ValueError, AttributeError):  # a pipe that nobody reads: then people are told
            sys.stdout.write(encoder.dumps({"error": {"kind": kind, "problem": problem, "hint": hint}}) + "\n")
            sys.stdout.flush()
            return
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(printable(told) + "\n")
