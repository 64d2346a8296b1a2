"""Connections that cost little: how many there may be, and how long each may take.

Uvicorn closes idle connections and no others. Here, a request's headers and its body must arrive in time, an answer
must be taken without long pauses, and no client has more than a few connections. A connection beyond a limit is told so
in one short write and closed, without a task and without a line in a log. When all places are taken, a connection that
waits for its client makes room, whether for a request, for headers or for a body: the oldest one of the client with the
most of them. So clients who are slow on purpose only displace each other.

One timer per worker looks at all connections once in a second.
"""

import asyncio
import resource
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from dawa.limits import MOST_CONNECTIONS, MOST_CONNECTIONS_OF_ONE, MOST_UNSENT_BYTES
from dawa.server import headers
from dawa.server.gate import BODY_SECONDS
from dawa.server.problems import written
from dawa.server.throttle import plain, subscriber

HEAD_SECONDS = 10.0
"""How long a request's first line and headers may take, from the connection or the last answer on."""

TAKING_SECONDS = 10.0
"""How long a client may take nothing of an answer."""

TAKEN = 2**15
"""Bytes that count as having taken something."""

SPARE_FILES = 128
"""Open files that are not connections."""


def _answer(status: str, problem: str, hint: str, *more: str) -> bytes:
    body = written({"problem": problem, "hint": hint})
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *more]
    return "\r\n".join([*lines, "Connection: close", ""]).encode("ascii") + headers.as_bytes() + b"\r\n" + body


TOO_MANY = _answer(
    "503 Service Unavailable", "There are too many connections.", "close some, and come back later.", "Retry-After: 10"
)
TOO_SLOW = _answer("408 Request Timeout", "The request did not arrive in time.", "send it without a pause.")
NOT_HTTP = _answer("400 Bad Request", "That is not a request.", "see /openapi.json for what can be asked.")


class Waiting:
    """Connections that wait for their clients, by client; each change takes the same short time, however many."""

    def __init__(self) -> None:
        self._of: dict[str, OrderedDict[Any, None]] = {}
        self._ranks: dict[int, OrderedDict[str, None]] = {}

    def add(self, connection: Any, who: str) -> None:  # noqa: ANN401  a protocol of uvicorn's
        """Note that a connection waits; one that is known keeps its place."""
        own = self._of.setdefault(who, OrderedDict())
        if connection not in own:
            self._unrank(who, len(own))
            own[connection] = None
            self._rank(who, len(own))

    def remove(self, connection: Any, who: str) -> None:  # noqa: ANN401  likewise
        """Note that it does not wait, or is gone."""
        own = self._of.get(who, OrderedDict())
        if connection in own:
            self._unrank(who, len(own))
            del own[connection]
            self._rank(who, len(own))

    def first(self) -> Any:  # noqa: ANN401  likewise
        """The one to close if there is no room: the oldest of whoever has most; None if nobody waits."""
        if not self._ranks:
            return None
        who = next(iter(self._ranks[max(self._ranks)]))
        return next(iter(self._of[who]))

    def _rank(self, who: str, count: int) -> None:
        if count:
            self._ranks.setdefault(count, OrderedDict())[who] = None
        else:
            del self._of[who]

    def _unrank(self, who: str, count: int) -> None:
        if count:
            del self._ranks[count][who]
            if not self._ranks[count]:
                del self._ranks[count]


class Doors:
    """The connections of one worker.

    Args:
        most: How many there may be.
        most_of_one: How many of them one client may have.
        unlimited: Addresses that may have as many as there are: proxies, which hold the connections of others.
        clock: The time in seconds.
    """

    def __init__(
        self,
        most: int = MOST_CONNECTIONS,
        most_of_one: int = MOST_CONNECTIONS_OF_ONE,
        unlimited: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most, self.most_of_one, self.unlimited, self.clock = most, most_of_one, frozenset(unlimited), clock
        self.open: dict[Any, str] = {}
        self._waiting = Waiting()
        self._of: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, connection: Any, host: str) -> bool:  # noqa: ANN401  a protocol of uvicorn's
        """Whether there is a place for one more connection; if so, it has it."""
        who = subscriber(host)
        if self._of[who] >= self.most_of_one and plain(host) not in self.unlimited:
            return False
        if len(self.open) >= self.most:
            first = self._waiting.first()
            if first is None:
                return False
            self.leave(first)
            first.transport.abort()
        self.open[connection] = who
        self._of[who] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(1.0, self._look)
        return True

    def leave(self, connection: Any) -> None:  # noqa: ANN401  likewise
        """Free the place of a connection."""
        who = self.open.pop(connection, None)
        if who is not None:
            self._waiting.remove(connection, who)
            self._of[who] -= 1
            if not self._of[who]:
                del self._of[who]

    def note(self, connection: Any, *, waits: bool) -> None:  # noqa: ANN401  likewise
        """Whether a connection waits for its client."""
        who = self.open.get(connection)
        if who is not None:
            (self._waiting.add if waits else self._waiting.remove)(connection, who)

    def _look(self) -> None:
        """Close what takes too long, and what holds too much."""
        self._timer = asyncio.get_running_loop().call_later(1.0, self._look) if self.open else None
        now, unsent = self.clock(), []
        for connection in list(self.open):
            waiting = connection.look(now)
            if waiting:
                unsent.append((waiting, connection))
        total = sum(waiting for waiting, _ in unsent)
        for waiting, connection in sorted(unsent, key=lambda one: -one[0]):
            if total <= MOST_UNSENT_BYTES:
                break
            connection.transport.abort()
            total -= waiting


def places(wanted: int = MOST_CONNECTIONS) -> int:
    """How many connections this process may have; asks the system for more open files if there are too few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted + SPARE_FILES
    if 0 <= soft < most:
        raised = most if hard < 0 else min(most, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        except (OSError, ValueError):  # then it stays as it is
            pass
        most = max(soft, 2 * SPARE_FILES)
    return most - SPARE_FILES


class Watched(H11Protocol):
    """A connection of uvicorn's with a place and time limits."""

    doors: ClassVar[Doors]

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401  uvicorn's
        self._begin = partial(super().__init__, *arguments, **options)  # most that is refused needs none of it

    since = 0.0
    phase: Any = None
    refused = False
    unsent, taken_at = 0, 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, or say that there is none."""
        peer = transport.get_extra_info("peername")
        if not self.doors.enter(self, str(peer[0]) if peer else "unknown"):
            self.refused = True
            transport.write(TOO_MANY)
            transport.close()
            return
        self._begin()
        super().connection_made(transport)
        self.since = self.doors.clock()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place to others."""
        if self.refused:
            return
        self.doors.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read, and note what is still to come."""
        if self.refused or self.transport.is_closing():
            return
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.since = self.doors.clock()
        super().on_response_complete()
        self._note()

    def resume_writing(self) -> None:
        """Go on writing: the client has taken something."""
        self.taken_at = self.doors.clock()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Say that the request is not one, unless an answer has begun."""
        del msg
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(NOT_HTTP)
            self.transport.close()
        else:
            self.transport.abort()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: the request is answered as if it had not asked for another protocol."""

    def _note(self) -> None:
        """Remember when the client began to send what it sends."""
        phase = self.conn.their_state
        if phase is not self.phase:
            self.phase = phase
            if phase is h11.SEND_BODY:
                self.since = self.doors.clock()
        self.doors.note(self, waits=phase in {h11.IDLE, h11.SEND_BODY})

    def look(self, now: float) -> int:
        """Close the connection if it takes too long; the result is how much of its answers was not taken."""
        limit = {h11.IDLE: HEAD_SECONDS, h11.SEND_BODY: BODY_SECONDS + HEAD_SECONDS}.get(self.phase)
        size: int = self.transport.get_write_buffer_size()
        if not size and limit is not None and now - self.since > limit and not self.transport.is_closing():
            if self.phase is h11.IDLE:
                self.transport.write(TOO_SLOW)
                self.transport.close()
            else:
                self.transport.abort()
        if not size or size <= self.unsent - TAKEN or not self.unsent:
            self.unsent, self.taken_at = size, now
        elif now - self.taken_at > TAKING_SECONDS:
            self.transport.abort()
        return size


def watched(doors: Doors) -> type[H11Protocol]:
    """The protocol of connections that go through these doors."""
    return type("Watched", (Watched,), {"doors": doors})
