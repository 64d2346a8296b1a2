"""Ctrl-C, and the signals that mean the same: raised while nothing is at stake, held while a paid release is made.

From the first private draw until a release is on the disk, stopping would waste what was paid for it. So a signal is
noted then, and takes effect afterwards. Who asks twice means it, as long as there is nothing yet to keep.

Signals reach the main thread alone, and what the shell told the process to ignore stays ignored.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))

Handler = Callable[[int, FrameType | None], Any]


class Interrupted(KeyboardInterrupt):
    """Somebody wants the run to stop.

    Attributes:
        signal: With which signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.signal = signal.Signals(number)


class Hold:
    """What happens to signals for a while.

    Attributes:
        asked: The signals that came.
        open: Whether there is nothing to keep yet, so that a second signal takes effect.
    """

    def __init__(self, told: Callable[[], object] | None = None) -> None:
        self.asked: list[int] = []
        self.open = True
        self._told = told

    def close(self) -> None:
        """From here on there is something to keep: no number of signals loses it."""
        self.open = False

    def heard(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  a handler
        """Note a signal."""
        self.asked.append(number)
        if self.open and len(self.asked) > 1:
            raise Interrupted(number)
        if self._told is not None:
            self._told()


@contextmanager
def raised() -> Iterator[None]:
    """Let every such signal in the block stop it as Ctrl-C does, so that it is cleaned up after and reported."""

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  a handler
        raise Interrupted(number)

    with _handled(stop):
        yield


@contextmanager
def held(told: Callable[[], object] | None = None) -> Iterator[Hold]:
    """Put off what signals ask for; after the block, nothing is raised: ``Hold.asked`` says what came.

    Args:
        told: Called when a signal is put off, to say so.
    """
    hold = Hold(told)
    with _handled(hold.heard):
        yield hold


@contextmanager
def _handled(handler: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    chosen = [number for number, earlier in before.items() if earlier not in {signal.SIG_IGN, None}]
    try:
        for number in chosen:
            signal.signal(number, handler)
        yield
    finally:
        for number in chosen:
            signal.signal(number, before[number])
