"""A server process: where it listens, its settings, and its workers.

One worker is this process. Of several, each is a process of its own, and gets the releases from this one, which has
read them: so all serve the same version of every release, also a worker that replaces one that died.
"""

import gc
import ipaddress
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from types import FrameType

import uvicorn

from dawa.errors import OptionError
from dawa.limits import MOST_HEAD_BYTES
from dawa.results.release import Release
from dawa.server import RATE, application, asking, connections, costs, logs
from dawa.server.shelf import Shelf

KEEP_ALIVE_SECONDS, LEAVING_SECONDS = 5, 5
"""How long an idle connection stays open, and how long open requests may take when the server is stopped."""

BACKLOG = 2048
"""Connections that may wait for a worker."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")

SWITCH_SECONDS = 0.001
"""How long a computation may keep the interpreter while others have something to read or write."""

YOUNG_SECONDS, MOST_DEATHS = 10.0, 5
"""A worker that ends this soon after its start does so again; after this many in a row, the server gives up."""


@dataclass(frozen=True)
class Settings:
    """How to serve.

    Attributes:
        hosts: Names of the server that requests may use; None accepts any.
        rate: Simple requests per second that one client may send to one worker in the long run.
        token: What a request must show to be answered; None if nothing.
        proxies: Addresses of proxies that say who asks, and have as many connections as they need.
    """

    hosts: tuple[str, ...] | None = None
    rate: float = RATE
    token: str | None = None
    proxies: tuple[str, ...] = ()


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


def names(host: str) -> tuple[str, ...] | None:
    """The names by which requests may call a server that listens there; None if any."""
    return (host, *LOOPBACK) if is_loopback(host) else None


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; with the port 0 the system chooses one.

    Raises:
        OptionError: If the address or the port is not available.
    """
    if not 0 <= port <= 65535:
        raise OptionError(f"There is no port {port}.", "choose one from 1 to 65535, or 0 for any.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)  # asyncio sends at once where the protocol is said to be TCP
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
    return listening


def serve(listening: socket.socket, shelf: Shelf, settings: Settings, *, workers: int = 1) -> None:
    """Answer requests until the process is told to stop.

    Args:
        listening: What ``bound`` returned.
        shelf: The releases to serve.
        settings: How to serve them.
        workers: How many processes answer.

    Raises:
        OptionError: If there is no worker, or none that stays.
    """
    check(workers)
    with suppress(KeyboardInterrupt):  # Ctrl-C is the normal way to stop it
        if workers == 1:
            _work(listening, shelf, settings)
        else:
            _Team(listening, shelf, settings).run(workers)


def _work(listening: socket.socket, shelf: Shelf, settings: Settings) -> None:
    """Be a worker."""
    for release in _of_each_kind(shelf):
        with suppress(Exception):  # whoever asks it is told what is wrong
            asking.warmed(release)
    gc.collect()
    gc.freeze()  # what is here stays; looking through it again and again would make everybody wait
    sys.setswitchinterval(SWITCH_SECONDS)
    doors = connections.Doors(connections.places(), unlimited=settings.proxies)
    made = application.made(shelf, settings.rate, settings.hosts, settings.token, settings.proxies)
    config = uvicorn.Config(
        made,
        http=connections.watched(doors),
        ws="none",
        lifespan="off",
        log_config=logs.configuration(),
        log_level="warning",
        access_log=False,  # what people ask is nobody else's business
        proxy_headers=False,  # any client can forge them
        server_header=False,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=LEAVING_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _of_each_kind(shelf: Shelf) -> list[Release]:
    """One release of each kind: answering the first one loads what it needs, which takes a while."""
    releases = [one for shelved in shelf.releases.values() for one in costs.histograms(shelved.release)]
    kinds = {(type(one.estimate.strategy), type(one.estimate.buckets), len(one.axes) > 1): one for one in releases}
    return list(kinds.values())


class _Team:
    """Workers that are replaced when they die."""

    def __init__(self, listening: socket.socket, shelf: Shelf, settings: Settings) -> None:
        self._told = (listening, shelf, settings)
        self._processes: list[tuple[SpawnProcess, float]] = []
        self._alive, self._ours = multiprocessing.Pipe(duplex=False)
        self._stopping = False
        self._deaths = 0

    def run(self, workers: int) -> None:
        """Keep this many workers until told to stop."""
        before = {one: signal.signal(one, self._stop) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            for _ in range(workers):
                self._start()
            while not self._stopping:
                connection.wait([process.sentinel for process, _ in self._processes], timeout=0.5)
                self._replace()
        finally:
            self._end()
            for one, handler in before.items():
                signal.signal(one, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _start(self) -> None:
        process = multiprocessing.get_context("spawn").Process(target=_one_of_several, args=(*self._told, self._alive))
        process.start()
        self._processes.append((process, time.monotonic()))

    def _replace(self) -> None:
        """Start a worker for each that died.

        Raises:
            OptionError: If workers do not stay.
        """
        for process, since in [one for one in self._processes if one[0].exitcode is not None]:
            self._processes.remove((process, since))
            self._deaths = self._deaths + 1 if time.monotonic() - since < YOUNG_SECONDS else 0
            if self._stopping:
                return
            if self._deaths >= MOST_DEATHS:
                raise OptionError("The workers end as soon as they start.", "try --workers 1, which says why.")
            self._start()

    def _end(self) -> None:
        """Ask all workers to end, and end those that do not."""
        for process, _ in self._processes:
            process.terminate()
        patience = time.monotonic() + 2 * LEAVING_SECONDS
        for process, _ in self._processes:
            process.join(max(0.0, patience - time.monotonic()))
            if process.exitcode is None:
                process.kill()
                process.join()
        self._ours.close()
        self._alive.close()


def _one_of_several(
    listening: socket.socket, shelf: Shelf, settings: Settings, alive: "connection.Connection[object, object]"
) -> None:
    """Be a worker until told to stop, or until the process that started it is gone."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            alive.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    with suppress(KeyboardInterrupt):
        _work(listening, shelf, settings)
