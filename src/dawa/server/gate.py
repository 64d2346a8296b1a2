"""What every request passes before the application sees it: who may ask, how much, and how.

In this order, the cheapest first: the name of the server, the health check, tokens for work (``throttle``), the token
for reading, the form of the request, and its body, which must arrive in time and find room. Every response, whoever
made it, gets the headers that all have (``headers``).
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dawa.errors import OptionError
from dawa.limits import MOST_BODIES_BYTES, MOST_BODY_BYTES, MOST_HEAD_BYTES, MOST_PARAMETERS
from dawa.server import costs, headers, throttle
from dawa.server.problems import PlainJSON, answer
from dawa.server.throttle import Throttle, client
from dawa.server.turns import BUSY, LATER_SECONDS

BODY_SECONDS = 20.0
"""How long a body may take to arrive."""

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 1024

CLIENT = "dawa.client"
"""Where the rest of the application finds who asks."""

PAID = "dawa.paid"
"""Where it finds how many units the request has paid for."""

HEALTH = "/health"

BODIED = ("POST", "PUT", "PATCH", "DELETE")
"""Methods of requests that may have a body, whether there is a path for them or not."""

CLOSE = {"Connection": "close"}


def checked_token(token: str) -> str:
    """A token for reading, without white space around it.

    Raises:
        OptionError: If it is easily guessed, or cannot stand in a header.
    """
    found = token.strip()
    if not SHORTEST_TOKEN <= len(found) <= LONGEST_TOKEN or not all("!" <= c <= "~" for c in found):
        raise OptionError(
            f"The token is not {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits and signs without spaces.",
            "make one with: python -c 'import secrets; print(secrets.token_urlsafe())'.",
        )
    return found


class Gate:
    """An application behind these limits.

    Args:
        app: The application.
        buckets: Tokens for work.
        health: What the health check says.
        hosts: Names of the server that requests may use; None accepts any name.
        token: What requests must show; None if nothing.
        proxies: Addresses of proxies that say who asks.
        crowded: Whether there is no place for the ranges in a body of this many bytes.
    """

    def __init__(
        self,
        app: ASGIApp,
        buckets: Throttle,
        health: PlainJSON,
        *,
        hosts: Iterable[str] | None = None,
        token: str | None = None,
        proxies: Collection[str] = (),
        crowded: Callable[[int], bool] = lambda _length: False,
    ) -> None:
        self.app = app
        self.buckets = buckets
        self.health = health
        self.hosts = None if hosts is None else {host.lower() for host in hosts}
        self.proxies = frozenset(proxies)
        self.crowded = crowded
        self._secret = None if token is None else _digest(token)
        self._bodies = Bodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on with its body complete."""
        if scope["type"] != "http":
            return
        asked, send = _plain(scope), _secured(scope, send)
        who = asked[CLIENT] = client(asked, self.proxies)
        refusal = self._refusal(asked, who)
        if refusal is not None:
            await refusal(asked, receive, send)
            return
        if self.crowded(_declared(asked)):
            await answer(503, *BUSY, {**CLOSE, **_after(LATER_SECONDS)})(asked, receive, send)
            return
        with self._bodies.held(who) as held:
            body = await _body(asked, receive, held)
            if isinstance(body, bytes):
                asked[PAID] = 1 + costs.of_body(len(body))
                seconds = self.buckets.wait(who, asked[PAID] - 1)
                if seconds > 0:
                    await answer(429, *throttle.TOO_MUCH, _after(seconds))(asked, receive, send)
                    return
                await self.app(asked, _replayed(body, receive), send)
            else:
                await body(asked, receive, send)

    def _refusal(self, scope: Scope, who: str) -> Any:  # noqa: ANN401  an application too, or None
        """Why a request is not let in, as a response; None if it is."""
        given = dict(scope["headers"])
        if self.hosts is not None and _host(given.get(b"host", b"")) not in self.hosts:
            return answer(400, "This server is not known by that name.", "use the address that it printed.")
        if scope["path"] == HEALTH and scope["method"] == "GET" and not scope["query_string"]:
            return self.health
        seconds = self.buckets.wait(who)
        if seconds > 0:
            return answer(429, *throttle.TOO_MUCH, _after(seconds))
        if self._secret is not None and not hmac.compare_digest(_shown(given.get(b"authorization", b"")), self._secret):
            return answer(
                401,
                "These releases are not for everyone.",
                "send the header 'Authorization: Bearer …' with the token, or give the token as the password.",
                {"WWW-Authenticate": 'Basic realm="dawa", charset="UTF-8", Bearer realm="dawa"'},
            )
        return _malformed(scope, given)


class Bodies:
    """How many bytes of bodies are in memory; one client may have an eighth of what all may have."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    @contextmanager
    def held(self, who: str) -> Iterator[Callable[[int], bool]]:
        """Counts bytes for a client until the end; false if there is no room for more."""
        total = 0

        def more(length: int) -> bool:
            nonlocal total
            if self._held[who] + length > MOST_BODIES_BYTES // 8 or self._held.total() + length > MOST_BODIES_BYTES:
                return False
            self._held[who] += length
            total += length
            return True

        try:
            yield more
        finally:
            self._held[who] -= total
            if self._held[who] <= 0:
                del self._held[who]


async def _body(scope: Scope, receive: Receive, more: Callable[[int], bool]) -> Any:  # noqa: ANN401  bytes, or a refusal
    """The whole body, or a refusal that says why it is not accepted."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _arrived(scope, receive, more)
    except TimeoutError:
        return answer(408, "The body of the request did not arrive in time.", "send it without a pause.", CLOSE)


async def _arrived(scope: Scope, receive: Receive, more: Callable[[int], bool]) -> Any:  # noqa: ANN401  likewise
    too_large = answer(
        413, f"The body is larger than {MOST_BODY_BYTES:,} bytes.", "ask for fewer ranges at a time.", CLOSE
    )
    if _declared(scope) > MOST_BODY_BYTES:
        return too_large
    parts, length = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return answer(400, "The request broke off.", "send it again.")
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > MOST_BODY_BYTES:
            return too_large
        if not more(len(parts[-1])):
            return answer(
                503, "There is no room for this body now.", "send it again in a few seconds.", {**CLOSE, **_after(5)}
            )
        if not message.get("more_body", False):
            return b"".join(parts)


def _malformed(scope: Scope, given: dict[bytes, bytes]) -> Any:  # noqa: ANN401  a refusal, or None
    """Refuse what no honest client sends."""
    head = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    if head + len(scope["path"]) + len(scope["query_string"]) > MOST_HEAD_BYTES:
        return answer(400, f"The address and the headers exceed {MOST_HEAD_BYTES:,} bytes.", "send fewer.", CLOSE)
    lengths = {value for name, value in scope["headers"] if name == b"content-length"}
    if len(lengths) > 1 or (lengths and b"transfer-encoding" in given):
        return answer(400, "The request does not say clearly where it ends.", "send one Content-Length.", CLOSE)
    if scope["method"] not in BODIED and (lengths - {b"0"} or b"transfer-encoding" in given):
        return answer(400, f"A request with {scope['method'][:20]} has no body here.", "send it without one.", CLOSE)
    if scope["query_string"].count(b"&") >= MOST_PARAMETERS:
        return answer(422, f"The address has more than {MOST_PARAMETERS} parameters.", "see /openapi.json.")
    return None


def _declared(scope: Scope) -> int:
    """How long the body is, as far as the headers say."""
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text[:20]) if text.isdigit() else 0


def _after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def _digest(token: str | bytes) -> bytes:
    """A token as bytes of one length, so that comparing takes the same time for all."""
    return hashlib.sha256(token.encode("latin-1", "replace") if isinstance(token, str) else token).digest()


def _shown(header: bytes) -> bytes:
    """The digest of the token that a header shows: a bearer's, or the password of basic authentication."""
    kind, _, rest = header.strip().partition(b" ")
    if kind.lower() == b"bearer":
        return _digest(rest.strip())
    if kind.lower() == b"basic":
        try:
            return _digest(base64.b64decode(rest.strip(), validate=True).partition(b":")[2])
        except binascii.Error:
            return b""
    return b""


def _host(header: bytes) -> str:
    """The name in a Host header, without the port."""
    text = header.decode("latin-1").lower()
    return text[1:].split("]")[0] if text.startswith("[") else text.split(":")[0]


def _plain(scope: Scope) -> Scope:
    """The request as the application knows requests: HEAD as GET, and an address in full as its path."""
    asked = {**scope, "method": "GET" if scope["method"] == "HEAD" else scope["method"]}
    if scope["path"].startswith(("http://", "https://")):
        try:
            full = urlsplit(scope["path"])
        except ValueError:
            return asked
        host = [(name, value) for name, value in scope["headers"] if name != b"host"]
        asked["path"] = full.path or "/"
        asked["raw_path"] = asked["path"].encode("utf-8", "replace")
        asked["headers"] = [(b"host", full.netloc.encode("utf-8", "replace")), *host]
    return asked


def _secured(scope: Scope, send: Send) -> Send:
    """Sending with the headers that every response has; of an answer to HEAD, the headers only."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = headers.secured(message)
        elif scope["method"] == "HEAD":
            message = {**message, "body": b""}
        await send(message)

    return sending


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then the messages after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
