"""What the server says about trouble: little, whoever provokes it.

Requests are not logged. Trouble is, on stderr: at most a few lines of each kind in a minute and a limited number of all
kinds, so nobody can fill a disk or hide one message among a million; what was left out is counted and said with the
next line. A line is one line: characters that move a cursor or begin a new line are written as escapes.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, TextIO

from dawa.errors import printable
from dawa.limits import MOST_LOG_LINE, MOST_LOG_LINES

SECONDS = 60.0
"""The time in which lines are counted."""

MOST_ALIKE = 5
"""Lines of one kind in this time."""


class Brief(logging.Handler):
    r"""A handler that leaves out what repeats.

    >>> handler = Brief(sys.stdout, clock=lambda: 0.0)
    >>> for number in range(7):
    ...     handler.handle(logging.makeLogRecord({"msg": "%d is not\nright", "args": (number,)})) and None
    0 is not\nright
    1 is not\nright
    2 is not\nright
    3 is not\nright
    4 is not\nright
    >>> handler.close()
    … and 2 more lines like these
    """

    def __init__(self, target: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._target = target
        self._clock = clock
        self._since = clock()
        self._kinds: Counter[object] = Counter()
        self._written = self._left_out = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or count it."""
        now = self._clock()
        if now - self._since >= SECONDS:
            self._since = now
            self._settle()
        kind = (record.name, str(record.msg)[:100])
        if self._written >= MOST_LOG_LINES or self._kinds[kind] >= MOST_ALIKE:
            self._left_out += 1
            return
        self._kinds[kind] += 1
        self._written += 1
        self._write(_line(self.format(record)))

    def close(self) -> None:
        """Say how much was left out."""
        self._settle()
        super().close()

    def _settle(self) -> None:
        """Begin to count anew."""
        if self._left_out:
            self._write(f"… and {self._left_out:,} more line{'s' * (self._left_out != 1)} like these")
        self._kinds.clear()
        self._written = self._left_out = 0

    def _write(self, line: str) -> None:
        target = sys.stderr if self._target is None else self._target
        try:
            target.write(line + "\n")
            target.flush()
        except (OSError, ValueError):  # nobody listens; that is no reason to stop
            return


def _line(text: str) -> str:
    """One line of limited length; the end of a traceback says more than its beginning."""
    short = text if len(text) <= MOST_LOG_LINE else f"{text[: MOST_LOG_LINE // 4]} … {text[-MOST_LOG_LINE * 3 // 4 :]}"
    return printable(short)


def configuration() -> dict[str, Any]:
    """The configuration of Python's logging for a server."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"short": {"format": "%(levelname)s: %(message)s"}},
        "handlers": {"brief": {"()": Brief, "formatter": "short"}},
        "root": {"handlers": ["brief"], "level": "WARNING"},
        "loggers": {name: {"propagate": True} for name in ("uvicorn", "uvicorn.error", "asyncio")},
    }
