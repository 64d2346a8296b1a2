"""A server in this process, for files that are read over http: it also answers as a store of S3 would."""

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Site:
    """What is on the server, and what it was asked.

    Attributes:
        files: The bytes of each path.
        moved: For a path, where it is now.
        heads: Headers that a path's answer has besides.
        short: Paths of which the last bytes are never sent.
        asked: The requests so far: method, path and headers, whose names are in small letters.
        port: Where it listens.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    heads: dict[str, dict[str, str]] = field(default_factory=dict)
    short: set[str] = field(default_factory=set)
    asked: deque = field(default_factory=deque)
    port: int = 0

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving():  # noqa: C901  a class of several short functions
    """A server that runs for as long as somebody needs it."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path = self.path.partition("?")[0]
            site.asked.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}))
            if path in site.moved:
                return self._head(302, b"", {"Location": site.moved[path]})
            if path not in site.files:
                return self._head(404, b"")
            return self._give(path, site.files[path])

        do_HEAD = do_GET  # noqa: N815  the library's name

        def _give(self, path, data):
            total, wanted = len(data), self.headers.get("Range")
            if wanted:
                first, last = wanted.removeprefix("bytes=").split("-")
                data = data[int(first) : min(int(last or total), total - 1) + 1]
                more = {"Content-Range": f"bytes {first}-{int(first) + len(data) - 1}/{total}"}
                return self._head(206, data, more)
            return self._head(200, data, site.heads.get(path, {}), short=path in site.short)

        def _head(self, code, data, more=None, *, short=False):
            self.send_response(code)
            for name, value in {"Content-Length": str(len(data)), **(more or {})}.items():
                if value:
                    self.send_header(name, value)
            if short or "Content-Length" in (more or {}):
                self.close_connection = True
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data[: len(data) // 2] if short else data)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.port = server.server_port
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
