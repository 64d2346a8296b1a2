"""Computations in turn: one step at a time, one client after the other.

A computation is an iterator; each of its steps takes a few hundredths of a second. All steps run in one thread, so a
worker never holds more than one step's arrays, and the event loop gets its share of the processor. After each step it
is the next client's turn: a client with a thousand ranges delays a client with one by a step, not by a thousand ranges.
The requests of one client come one after the other.

What cannot start soon is refused rather than kept: a client may have a few requests waiting, and all together may weigh
a limited amount. If that is reached, the client who has most waiting gives way.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dawa import limits
from dawa.server.throttle import TooMuchError

WAITING_SECONDS = 30.0
"""How long a request may wait and compute."""

LATER_SECONDS = 5.0
"""When to come back if everybody waits."""


class BusyError(TooMuchError):
    """The server has too much to do, for whatever client."""


class GoneError(Exception):
    """Nobody waits for the answer any more."""


@dataclass(eq=False)
class _Job:
    """A computation that waits for its turns.

    Attributes:
        client: Whose it is.
        steps: The rest of it.
        weight: How much memory it holds while it waits, in the size of a simple request.
        done: What all steps gave, in the end.
        found: What they gave so far.
    """

    client: str
    steps: Iterator[Any]
    weight: float
    done: "asyncio.Future[list[Any]]"
    found: list[Any] = field(default_factory=list)


class Turns:
    """The computations of one worker."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dawa")
        self._runner: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> float:
        """The weight of all that waits or is computed."""
        return sum(job.weight for line in self._lines.values() for job in line)

    async def run(
        self, client: str, steps: Iterator[Any], weight: float = 1.0, gone: Callable[[], Awaitable[None]] | None = None
    ) -> list[Any]:
        """Compute step by step, in turn with others.

        Args:
            client: Who asks.
            steps: The computation.
            weight: How much it weighs while it waits.
            gone: Returns when the client has left; the rest is then not computed.

        Raises:
            TooMuchError: If too many requests of this client wait.
            BusyError: If too many requests of all clients wait, or this one did not get its turns in time.
            GoneError: If the client has left.
        """
        job = self._admitted(client, steps, weight)
        left = None if gone is None else asyncio.ensure_future(gone())
        try:
            await asyncio.wait(
                [one for one in (job.done, left) if one is not None],
                timeout=WAITING_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if job.done.done():
                return job.done.result()
            if left is not None and left.done():
                raise GoneError
            raise _busy()
        finally:
            if left is not None:
                left.cancel()
            job.done.cancel()
            self._forget(job)

    def _admitted(self, client: str, steps: Iterator[Any], weight: float) -> _Job:
        """A place in the line."""
        line = self._lines.get(client, ())
        if len(line) >= limits.MOST_WAITING_OF_ONE:
            raise TooMuchError(
                1.0,
                f"{limits.MOST_WAITING_OF_ONE} of your requests are being answered.",
                "wait for an answer before you ask again, or ask for many ranges in one request.",
            )
        if self.waiting + weight > limits.MOST_WAITING:
            self._make_room(sum(job.weight for job in line) + weight)
        job = _Job(client, steps, weight, asyncio.get_running_loop().create_future())
        self._lines.setdefault(client, deque()).append(job)
        if self._runner is None or self._runner.done():
            self._runner = asyncio.ensure_future(self._run())
        return job

    def _make_room(self, wanted: float) -> None:
        """Send away the last request of whoever has most waiting, unless that is who asks."""
        heaviest = max(self._lines.values(), key=lambda line: sum(job.weight for job in line))
        if sum(job.weight for job in heaviest) <= wanted:
            raise _busy()
        last = heaviest[-1]
        if not last.done.done():
            last.done.set_exception(_busy())
        self._forget(last)

    def _forget(self, job: _Job) -> None:
        line = self._lines.get(job.client)
        if line is not None and job in line:
            line.remove(job)
            if not line:
                del self._lines[job.client]

    async def _run(self) -> None:
        """Take turns until nothing is left."""
        loop = asyncio.get_running_loop()
        while self._lines:
            client, line = next(iter(self._lines.items()))
            job = line[0]
            self._lines.move_to_end(client)
            try:
                more, found = await loop.run_in_executor(self._thread, _step, job.steps)
            except Exception as error:  # noqa: BLE001  it belongs to whoever waits for it
                self._forget(job)
                if not job.done.done():
                    job.done.set_exception(error)
                continue
            if more:
                job.found.append(found)
                continue
            self._forget(job)
            if not job.done.done():
                job.done.set_result(job.found)


def _step(steps: Iterator[Any]) -> tuple[bool, Any]:
    """One step, and whether there was one."""
    for found in steps:
        return True, found
    return False, None


def _busy() -> BusyError:
    return BusyError(LATER_SECONDS, "The server has too much to do.", "ask again after the seconds in Retry-After.")
