"""Headers that every response has, and responses that a browser may keep.

The server hands out text that other people wrote (names of columns, labels of categories), and one page with a script.
So a browser is told to run nothing but that script, to guess no types, to put nothing into frames of other sites, and
to tell nobody which address was read.
"""

import asyncio
import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Self

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The policy of responses that are no pages."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Authorization",
}

PIECE = 2**16
"""Bytes that are handed to a connection at a time, so that a client who does not read holds no more."""

SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def secured(message: Message) -> Message:
    """The start of a response with the headers that every response has."""
    headers = MutableHeaders(scope=message)
    for name, value in ALWAYS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", NOTHING)
    headers.setdefault("Cache-Control", "no-cache" if message["status"] < 400 else "no-store")
    return message


def as_bytes() -> bytes:
    """The same headers for answers that are written without an application."""
    lines = {**ALWAYS, "Content-Security-Policy": NOTHING, "Cache-Control": "no-store"}
    return b"".join(f"{name}: {value}\r\n".encode("ascii") for name, value in lines.items())


@dataclass(frozen=True)
class Document:
    """Something that is handed out as it is.

    Attributes:
        content: Its bytes.
        tag: Its name for browsers that have it already.
        policy: What it may do in a browser.
    """

    content: bytes
    tag: str
    policy: str

    @classmethod
    def file(cls, content: bytes) -> Self:
        """A file to download."""
        return cls(content, _tag(content), NOTHING)

    @classmethod
    def page(cls, content: bytes) -> Self:
        """A page: its own scripts run, by their hashes, and nothing from elsewhere."""
        hashes = (base64.b64encode(hashlib.sha256(script).digest()) for script in SCRIPT.findall(content))
        scripts = " ".join(f"'sha256-{digest.decode('ascii')}'" for digest in hashes)
        policy = f"{NOTHING}; script-src {scripts}; style-src 'unsafe-inline'; img-src data:"
        return cls(content, _tag(content), policy)


class Kept(Response):
    """A document that a browser may keep, and ask whether it is still the same. It is sent piece by piece."""

    def __init__(self, document: Document, media_type: str, disposition: str = "inline") -> None:
        told = {
            "Content-Disposition": disposition,
            "Content-Security-Policy": document.policy,
            "ETag": document.tag,
            "Content-Length": str(len(document.content)),
        }
        super().__init__(None, media_type=media_type, headers=told)
        self.document = document

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it, or say that nothing has changed."""
        del receive
        asked, content = Headers(scope=scope).get("if-none-match", ""), self.document.content
        same = asked.strip() == "*" or self.document.tag in {tag.strip().removeprefix("W/") for tag in asked.split(",")}
        if same:
            del self.headers["Content-Length"]
        status = 304 if same else 200
        await send({"type": "http.response.start", "status": status, "headers": self.raw_headers})
        for begin in range(0, 0 if same else len(content), PIECE):
            await send({"type": "http.response.body", "body": content[begin : begin + PIECE], "more_body": True})
            await asyncio.sleep(0)  # others have a turn, and a client who has left is noticed
        await send({"type": "http.response.body", "body": b""})


def _tag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'
