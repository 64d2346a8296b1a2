"""A server process: where it listens, how many workers it has, and how long it waits for a client."""

import ipaddress
import json
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import uvicorn

from dawa.errors import OptionError
from dawa.limits import MOST_CONNECTIONS
from dawa.server import RATE, app, application
from dawa.server.shelf import Shelf

KEEP_ALIVE_SECONDS, LEAVING_SECONDS = 5, 5
"""How long an idle connection stays open, and how long open requests may take when the server is stopped."""


BACKLOG = 2048
"""Connections that may wait for a worker."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")


WORKERS = "DAWA_SERVE_WORKERS"
"""The environment variable that tells workers what to serve."""

SETTINGS: dict[str, Any] = {
    "log_level": "warning",
    "access_log": False,  # what people ask is nobody else's business
    "proxy_headers": False,  # any client can forge them
    "server_header": False,
    "lifespan": "off",
    "limit_concurrency": MOST_CONNECTIONS,
    "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    "timeout_graceful_shutdown": LEAVING_SECONDS,
}


def check(workers: int) -> None:
    """Refuse a number of workers that cannot answer.

    Raises:
        OptionError: If the number is below 1.
    """
    if workers < 1:
        raise OptionError(f"{workers} workers cannot answer.", "pass --workers 1, or more.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; with the port 0 the system chooses one.

    Raises:
        OptionError: If the address or the port is not available.
    """
    if not 0 <= port <= 65535:
        raise OptionError(f"There is no port {port}.", "choose one from 1 to 65535, or 0 for any.")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
    except (OSError, UnicodeError):
        raise OptionError(f"There is no address {host!r} here.", "use 127.0.0.1, or a name of this machine.") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)  # from here on connections wait until workers are ready
    except OSError as error:
        listening.close()
        raise OptionError(
            f"The server cannot listen on {host}, port {port}: {error.strerror}.", "choose another --port or --host."
        ) from None
    listening.set_inheritable(True)
    return listening


def serve(
    listening: socket.socket,
    host: str,
    shelf: Shelf,
    places: Sequence[str],
    *,
    workers: int = 1,
    rate: float = RATE,
) -> None:
    """Answer requests until the process is told to stop.

    Args:
        listening: What ``bound`` returned.
        host: The address it is bound to.
        shelf: The releases to serve.
        places: The files and folders they were read from; further workers read them again.
        workers: How many processes answer.
        rate: Requests per second that one client may send to one worker in the long run.
    """
    check(workers)
    hosts = (host, *LOOPBACK) if is_loopback(host) else None
    with suppress(KeyboardInterrupt):  # Ctrl-C is the normal way to stop it
        if workers == 1:
            config = uvicorn.Config(application.made(shelf, rate=rate, hosts=hosts), **SETTINGS)
            uvicorn.Server(config).run(sockets=[listening])
            return
        os.environ[WORKERS] = json.dumps({"places": list(places), "rate": rate, "hosts": hosts})
        here = f"{__name__}:{worker.__name__}"
        uvicorn.run(here, factory=True, workers=workers, fd=listening.fileno(), **SETTINGS)


def worker() -> object:
    """The application of one of several workers, as the process that started it says."""
    told = json.loads(os.environ[WORKERS])
    return app(*told["places"], rate=told["rate"], hosts=told["hosts"])
