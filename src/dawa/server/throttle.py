"""Limits for one client: how often it may ask, how much at once, and by which name of the server.

Each client has a bucket of tokens. A request takes one token; tokens come back at the allowed rate, up to a burst of
four seconds' worth. Buckets live in the memory of one process: with several workers each worker counts for itself, and
a restart forgets all counts. A client is an address; for IPv6, it is the first half of the address. Behind a proxy, all
clients have the proxy's address, so set limits in the proxy.
"""

import asyncio
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dawa.errors import OptionError
from dawa.limits import MOST_BODY_BYTES, MOST_CLIENTS
from dawa.server.problems import answer

BURST_SECONDS = 4.0


BODY_SECONDS = 10.0
"""How long a client may pause while it sends a body."""


class Throttle:
    """Tokens by client: the only thing about requests that is remembered, and not for long.

    >>> clock = iter([0.0, 0.0, 0.0, 0.5]).__next__
    >>> buckets = Throttle(rate=0.5, clock=clock)
    >>> [buckets.wait("someone") for _ in range(4)]
    [0.0, 0.0, 2.0, 1.5]
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate < math.inf:
            raise OptionError(f"rate={rate!r} is not a rate.", "pass the requests per second that a client may send.")
        self.rate = float(rate)
        self.burst = max(1.0, rate * BURST_SECONDS)
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a token; the result is 0, or the seconds until there is one."""
        now = self._clock()
        level, then = self._levels.pop(client, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.rate)
        taken = level >= 1
        self._levels[client] = (level - taken, now)
        if len(self._levels) > MOST_CLIENTS:
            self._levels.popitem(last=False)
        return 0.0 if taken else (1 - level) / self.rate


class Limited:
    """An application behind these limits."""

    def __init__(self, app: ASGIApp, buckets: Throttle, hosts: Iterable[str] | None = None) -> None:
        self.app = app
        self.buckets = buckets
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on with its body complete."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            body = await _body(scope, receive)
            if isinstance(body, bytes):
                await self.app(scope, _replayed(body, receive), send)
                return
            refusal = body
        await refusal(scope, receive, send)

    def _refusal(self, scope: Scope) -> Any:  # noqa: ANN401  an application too, or None
        headers = dict(scope["headers"])
        if self.hosts is not None and _host(headers.get(b"host", b"")) not in self.hosts:
            return answer(400, "This server is not known by that name.", "use the address that it printed.")
        seconds = self.buckets.wait(client(scope))
        if seconds > 0:
            return answer(
                429,
                "You have sent too many requests.",
                "wait as long as Retry-After says, or ask for many ranges in one request.",
                {"Retry-After": str(math.ceil(seconds))},
            )
        return None


def client(scope: Scope) -> str:
    """Who asks: an address; for IPv6, the network that one subscriber usually has."""
    host = (scope.get("client") or ("unknown", 0))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    return host if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


def _host(header: bytes) -> str:
    """The name in a Host header, without the port."""
    text = header.decode("latin-1").lower()
    return text[1:].split("]")[0] if text.startswith("[") else text.split(":")[0]


async def _body(scope: Scope, receive: Receive) -> Any:  # noqa: ANN401  bytes, or a refusal
    """The whole body, or a refusal that says why it is not accepted."""
    too_large = answer(413, f"The body is larger than {MOST_BODY_BYTES:,} bytes.", "ask for fewer ranges at a time.")
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if not declared.isdigit() or int(declared[:20]) > MOST_BODY_BYTES:
        return too_large
    parts, length = [], 0
    while True:
        try:
            message = await asyncio.wait_for(receive(), BODY_SECONDS)
        except TimeoutError:
            return answer(408, "The body of the request did not arrive.", "send it without a pause.")
        if message["type"] != "http.request":
            return answer(400, "The request broke off.", "send it again.")
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > MOST_BODY_BYTES:
            return too_large
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then the messages after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
