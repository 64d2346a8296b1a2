"""Requests to the server, inside this process: no socket, and no limit on how many."""

import asyncio
import json
import pickle
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dawa.results.grouped import single
from dawa.results.loading import loaded
from dawa.server import application
from dawa.server.shelf import Shelf, Shelved
from dawa_bench.faults import mutation, releases
from dawa_bench.faults.finding import FindingError

MANY = 1e9
"""Requests per second that one client may send here."""


class Http:
    """Requests to the server, inside this process."""

    def __init__(self) -> None:
        made = [one for one in releases.seeds() if "groups" not in json.loads(one)]
        shelved = {
            f"r{i}": Shelved(f"r{i}", Path(f"r{i}.json"), single(loaded(one.encode())), one.encode())
            for i, one in enumerate(made)
        }
        self.app = application.made(Shelf(shelved, ()), MANY)
        self.names = [*shelved, "none", "", "..", "%2e%2e", "r0/../r1"]
        self.loop = asyncio.new_event_loop()

    def made(self, rng: random.Random) -> bytes:
        """A method, a path, its parameters, headers and a body."""
        name = rng.choice(self.names)
        path = rng.choice(("answer", "answers", "quantile", "buckets", "apart", "", "file", "x"))
        names = USUAL.get(path, ()) if rng.random() < 0.8 else [_parameter(rng) for _ in range(rng.randrange(4))]
        query = "&".join(f"{name}={quote(str(_end(rng))[:3000], errors='replace')}" for name in names)
        method = "POST" if path == "answers" else "GET"
        method = method if rng.random() < 0.97 else rng.choice(("GET", "HEAD", "PUT", "POST", "OPTIONS", ""))
        body = _body(rng) if method == "POST" else b""
        headers = [
            (b"host", b"localhost"),
            (b"content-type", rng.choice((b"application/json",) * 8 + (b"text/plain", b""))),
        ]
        if rng.random() < 0.03:
            headers.append((b"content-length", rng.choice((b"-1", b"x", b"9" * 30, b"0"))))
        raw = (
            f"/releases/{name}/{path}".rstrip("/")
            if rng.random() < 0.95
            else rng.choice(("/", "/health", "/releases", "//"))
        )
        if rng.random() < 0.05:
            query = mutation.raw(query.encode("utf-8", "replace"), rng).decode("latin-1")
        return pickle.dumps((method, raw, query.encode("latin-1", "replace"), headers, body))

    def take(self, content: bytes, rng: random.Random) -> str:
        """Send it; an answer that says that the server failed is a finding."""
        del rng
        method, path, query, headers, body = pickle.loads(content)  # noqa: S301  made above
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": query, "headers": headers, "root_path": "",
            "client": ("127.0.0.1", 1), "server": ("localhost", 80), "state": {},
        }  # fmt: skip
        status = self.loop.run_until_complete(_sent(self.app, scope, body))
        if status >= 500 and status != 503:
            raise FindingError(f"the status is {status}")
        return str(status)


USUAL = {
    "answer": ("lo", "hi"),
    "quantile": ("fraction",),
    "buckets": ("first", "count"),
    "apart": ("confidence",),
}
"""The parameters of each path."""


def _parameter(rng: random.Random) -> str:
    return rng.choice(("lo", "hi", "lo", "hi", "confidence", "fraction", "first", "count", "x"))


def _end(rng: random.Random) -> Any:  # noqa: ANN401  anything
    if rng.random() < 0.4:
        return mutation.nasty(rng)
    return rng.choice(("0", "10", 5, 12.5, "0.95", "A", "C", "2013-01-01", "2013-07-01", "50", "1/3"))


def _body(rng: random.Random) -> bytes:
    asked: Any = {
        "ranges": [{"lo": _end(rng), "hi": _end(rng)} for _ in range(rng.randrange(1, 4))],
        "confidence": 0.95,
    }
    if rng.random() < 0.5:
        asked = {"ranges": [{"lo": [0, 0], "hi": [30, 40]}, {"lo": 1, "hi": "20"}]}
    mutation.document(asked, rng)
    try:
        content = json.dumps(asked).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return b"["
    return mutation.raw(content, rng) if rng.random() < 0.3 else content


async def _sent(app: Any, scope: dict[str, Any], body: bytes) -> int:  # noqa: ANN401  an application
    """The status of the answer."""
    found: list[int] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        if message["type"] == "http.response.start":
            found.append(message["status"])

    await app(scope, receive, send)
    return found[0]
