"""Files on servers: text over http and https, and all kinds of files in S3.

Addresses may hold passwords and signatures. Messages show the server and the path of a file, and nothing else of its
address; what a server answers is not shown either.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

import pyarrow as pa

from dawa.errors import AbsentError, DawaError, SourceError
from dawa.sources.places import Stream
from dawa.sources.tables import DOWNLOAD
from dawa.version import __version__

S3 = "s3"
PATIENCE = 60
"""Seconds to wait for a server's next bytes."""
AHEAD = 2**16
"""Bytes of a file in S3 that are asked for at once: a request for every byte of a header would take hours."""


def shown(address: str) -> str:
    """An address without what may be secret, also if somebody forgot to encode a password.

    >>> shown("https://ann:secret@server:8080/a/people.csv?signature=secret#x")
    'https://server:8080/a/people.csv'
    >>> shown("https://ann:sec/r?et@server/people.csv")
    'https://server/people.csv'
    """
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{re.split('[?#]', rest.rpartition('@')[2])[0]}"


@contextmanager
def opened(address: str, *, packed: bool | None) -> Iterator[Stream]:
    """A text file on a server, to be read once.

    Args:
        address: Its address.
        packed: Whether it is compressed with gzip; None if its name says so.

    Raises:
        SourceError: If the server does not give it.
    """
    zipped = shown(address).lower().endswith(".gz") if packed is None else packed
    if address.lower().startswith(f"{S3}://"):
        with _said(address):
            found = file(address).open_stream()
        with found:
            yield Stream(shown(address), zipped, found.read)
        return
    with _said(address):
        answer = _asked(address)
    with answer:
        yield Stream(shown(address), zipped, _Answer(answer, shown(address)).read)


# --- http and https -------------------------------------------------------------------------------------------------


class _SameOrSafer(HTTPRedirectHandler):
    """Follows a server to another address, unless others could listen there and not here."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """The request for the other address."""
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise SourceError(f"{shown(req.full_url)} leads to an address without https.", DOWNLOAD)
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    def http_error_302(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage) -> Any:  # noqa: ANN401  an answer of urllib
        """What the other address answers; where it is none, the first connection is closed all the same."""
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except BaseException:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Answer:
    """What a server sends, which must be as long as it said."""

    def __init__(self, answer: Any, name: str) -> None:  # noqa: ANN401  an answer of urllib
        self._answer, self._name, self._left = answer, name, answer.length

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many."""
        try:
            found: bytes = self._answer.read(size)
        except (OSError, HTTPException):
            raise SourceError(f"The connection to {self._name} was lost.", DOWNLOAD) from None
        if self._left is not None:
            self._left -= len(found)
            if size and not found and self._left:
                raise SourceError(f"{self._name} ended before its end.", DOWNLOAD)
        return found


def _asked(address: str) -> Any:  # noqa: ANN401
    """A server's answer, of which nothing but the head was read."""
    parts = urlsplit(address)
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor, _SameOrSafer):
        opener.add_handler(handler())
    request = Request(  # noqa: S310  http or https
        parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl(),
        headers={"User-Agent": f"dawa/{__version__}", "Accept-Encoding": "identity"},
    )
    if parts.username is not None:  # not sent on to other servers
        request.add_unredirected_header("Authorization", f"Basic {_secret(parts)}")
    answer = opener.open(request, timeout=PATIENCE)
    if answer is None or answer.status != 200:
        if answer is not None:
            answer.close()
        raise SourceError(f"The server does not give {shown(address)}.", DOWNLOAD)
    if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
        answer.close()
        raise SourceError(f"The server compresses {shown(address)} on its way.", DOWNLOAD)
    return answer


def _secret(parts: SplitResult) -> str:
    return b64encode(f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()).decode()


@contextmanager
def _said(address: str) -> Iterator[None]:
    """Errors of libraries in our own words: theirs may show the whole address."""
    name = shown(address)
    try:
        yield
    except HTTPError as error:
        error.close()
        raise SourceError(
            f"The server answers {error.code} when it is asked for {name}.",
            "check the address, and that you may read the file.",
        ) from None
    except (URLError, HTTPException, OSError, ValueError, pa.ArrowException) as error:
        if isinstance(error, DawaError):
            raise
        raise AbsentError(
            f"{name} could not be opened ({type(error).__name__}).", "check the address and the connection."
        ) from None


# --- S3 -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Object:
    """A file in S3, or in a store that speaks the same language.

    Attributes:
        name: What messages call it.
        system: Arrow's way to the store.
        key: The bucket and the file.
    """

    name: str
    system: Any = field(repr=False)
    key: str = field(repr=False)

    def __str__(self) -> str:
        return self.name

    def open(self) -> Any:  # noqa: ANN401  Arrow is untyped
        """The file, any part of which can be read."""
        return self.system.open_input_file(self.key)

    def open_stream(self) -> Any:  # noqa: ANN401
        """The file from its beginning, without decompressing it."""
        return self.system.open_input_stream(self.key, compression=None, buffer_size=AHEAD)


def file(address: str) -> Object:
    """A file in S3, which is not opened yet; access comes from the environment, as for all programs that use S3.

    Raises:
        SourceError: If there is no way to the store.
    """
    from pyarrow import fs  # noqa: PLC0415  slow to load, and seldom needed

    with _said(address):
        system, key = fs.FileSystem.from_uri(address)
    return Object(shown(address), system, key)
