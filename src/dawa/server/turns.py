"""Computations in turn: one step at a time, one client after the other.

A computation is an iterator; each of its steps takes a few hundredths of a second. All steps run in one thread, so a
worker never holds more than one step's arrays, and the event loop gets its share of the processor. After each step it
is the next client's turn: a client with a thousand ranges delays a client with one by a step, not by a thousand ranges.
The requests of one client come one after the other. Computations of one step have a line of their own, which gets half
of the time: so a hundred clients with a thousand ranges each do not delay a client with one by a hundred steps either.

What cannot start soon is refused rather than kept: a client may have a few requests waiting, and all together may weigh
a limited amount. If that is reached, the client who has most waiting gives way.
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque
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


BUSY = "The server has too much to do.", "ask again after the seconds in Retry-After."

SMALL = 16
"""What a request weighs that is looked at before it is refused."""

RANGE_BYTES = 45
"""Bytes that a range in a body has, more or less."""


def weight_of(ranges: float) -> float:
    """What a request for so many ranges weighs."""
    return 1 + ranges / 8


class BusyError(TooMuchError):
    """The server has too much to do, for whatever client."""


class GoneError(Exception):
    """Nobody waits for the answer any more."""


Line = OrderedDict[str, "deque[_Job]"]
"""Clients in the order of their turns, each with its computations."""


@dataclass(eq=False)
class _Job:
    """A computation that waits for its turns.

    Attributes:
        client: Whose it is.
        steps: The rest of it.
        weight: How much memory it holds while it waits, in the size of a simple request.
        done: What all steps gave, in the end.
        line: Where it waits.
        found: What they gave so far.
    """

    client: str
    steps: Iterator[Any]
    weight: float
    done: "asyncio.Future[list[Any]]"
    line: "Line"
    found: list[Any] = field(default_factory=list)


class Turns:
    """The computations of one worker."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._short: Line = OrderedDict()
        self._long: Line = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dawa")
        self._runner: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> float:
        """The weight of all that waits or is computed."""
        return sum(self._weights().values())

    async def run(
        self,
        client: str,
        steps: Iterator[Any],
        weight: float = 1.0,
        gone: Callable[[], Awaitable[None]] | None = None,
        *,
        short: bool = False,
    ) -> list[Any]:
        """Compute step by step, in turn with others.

        Args:
            client: Who asks.
            steps: The computation.
            weight: How much it weighs while it waits.
            gone: Returns when the client has left; the rest is then not computed.
            short: Whether it is one short step.

        Raises:
            TooMuchError: If too many requests of this client wait.
            BusyError: If too many requests of all clients wait, or this one did not get its turns in time.
            GoneError: If the client has left.
        """
        job = self._admitted(client, steps, weight, self._short if short else self._long)
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

    def crowded(self, length: int) -> bool:
        """Whether a body of this many bytes would wait for nothing: small ones may always try."""
        weight = weight_of(min(length / RANGE_BYTES, limits.MOST_RANGES_ASKED))
        return weight > SMALL and self.waiting + weight > limits.MOST_WAITING

    def _weights(self) -> Counter[str]:
        """How much each client has waiting."""
        weights = Counter[str]()
        for line in (self._short, self._long):
            for client, jobs in line.items():
                weights[client] += sum(job.weight for job in jobs)  # type: ignore[assignment]  # any number does
        return weights

    def _admitted(self, client: str, steps: Iterator[Any], weight: float, line: Line) -> _Job:
        """A place in a line."""
        if len(self._short.get(client, ())) + len(self._long.get(client, ())) >= limits.MOST_WAITING_OF_ONE:
            raise TooMuchError(
                1.0,
                f"{limits.MOST_WAITING_OF_ONE} of your requests are being answered.",
                "wait for an answer before you ask again, or ask for many ranges in one request.",
            )
        if self.waiting + weight > limits.MOST_WAITING:
            self._make_room(client, weight)
        job = _Job(client, steps, weight, asyncio.get_running_loop().create_future(), line)
        line.setdefault(client, deque()).append(job)
        if self._runner is None or self._runner.done():
            self._runner = asyncio.ensure_future(self._run())
        return job

    def _make_room(self, client: str, weight: float) -> None:
        """Send away the last request of whoever has most waiting, unless that is who asks."""
        weights = self._weights()
        heaviest = max(weights, key=lambda one: weights[one], default=client)
        if weights[heaviest] <= weights[client] + weight:
            raise _busy()
        last = (self._long.get(heaviest) or self._short[heaviest])[-1]
        if not last.done.done():
            last.done.set_exception(_busy())
        self._forget(last)

    def _forget(self, job: _Job) -> None:
        jobs = job.line.get(job.client)
        if jobs is not None and job in jobs:
            jobs.remove(job)
            if not jobs:
                del job.line[job.client]

    async def _run(self) -> None:
        """Take turns until nothing is left."""
        loop, ahead = asyncio.get_running_loop(), 0.0  # how much more time than long ones short ones had
        while self._short or self._long:
            if not (self._short and self._long):
                ahead = 0.0
            line = self._short if self._short and (ahead <= 0 or not self._long) else self._long
            client, jobs = next(iter(line.items()))
            job = jobs[0]
            line.move_to_end(client)
            begin = self._clock()
            try:
                take = _all if line is self._short else _step
                more, found = await loop.run_in_executor(self._thread, take, job)
                ahead += (self._clock() - begin) * (1 if line is self._short else -1)
            except Exception as error:  # noqa: BLE001  it belongs to whoever waits for it
                self._forget(job)
                if not job.done.done():
                    job.done.set_exception(error)
                continue
            job.found += found
            if not more:
                self._forget(job)
                if not job.done.done():
                    job.done.set_result(job.found)


def _step(job: _Job) -> tuple[bool, list[Any]]:
    """One step, and whether there may be more."""
    for found in job.steps:
        return True, [found]
    return False, []


def _all(job: _Job) -> tuple[bool, list[Any]]:
    """The one step of a short computation."""
    return False, list(job.steps)


def _busy() -> BusyError:
    return BusyError(LATER_SECONDS, *BUSY)
