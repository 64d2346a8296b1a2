"""How much work a client may ask for: tokens, by client.

Each client has a bucket of tokens. A request takes as many as it costs (``costs``), a simple one takes one; tokens come
back at the allowed rate, up to a burst of four seconds' worth. A request that costs more than half a burst is let in
when the bucket is half full, and leaves a debt: the client waits until it is paid back. So in the long run nobody gets
more than the rate, whatever the requests look like.

Buckets live in the memory of one process: with several workers each worker counts for itself, and a restart forgets
all counts. A client is an address; for IPv6, it is the first half of the address. Behind a proxy that the server was
told about, it is the last address in ``X-Forwarded-For``, which the proxy has added.
"""

import ipaddress
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection

from starlette.types import Scope

from dawa.errors import DawaError, OptionError
from dawa.limits import MOST_CLIENTS
from dawa.numerals import told

BURST_SECONDS = 4.0

WRITTEN = re.compile(r"\[(?P<inner>[^\[\]]+)\](?::[0-9]{1,5})?|(?P<host>[^:\[\]]+)(?::[0-9]{1,5})?|(?P<bare>[^\[\]]+)")
"""An address as proxies write it: ``9.9.9.9``, ``9.9.9.9:1234``, ``2001:db8::1``, ``[2001:db8::1]:80``."""

TOO_MUCH = (
    "You have asked for too much in a short time.",
    "wait as long as Retry-After says; many ranges in one request cost less than many requests.",
)


class TooMuchError(DawaError):
    """A client asks for more work than it may.

    Attributes:
        seconds: How long it should wait.
    """

    def __init__(self, seconds: float, problem: str, hint: str) -> None:
        super().__init__(problem, hint)
        self.seconds = seconds


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

    def wait(self, client: str, cost: float = 1.0) -> float:
        """Take tokens; the result is 0, or the seconds until there are enough."""
        now = self._clock()
        level, needed = self._level(client, now), min(cost, max(1.0, self.burst / 2))
        taken = level >= needed
        self._set(client, level - cost * taken, now)
        return 0.0 if taken else (needed - level) / self.rate

    def owe(self, client: str, cost: float) -> None:
        """Take tokens for the rest of a request that was let in: if there are too few, as a debt."""
        now = self._clock()
        self._set(client, self._level(client, now) - cost, now)

    def _level(self, client: str, now: float) -> float:
        """The tokens of a client, which may be below zero."""
        level, then = self._levels.get(client, (self.burst, now))
        return min(self.burst, level + (now - then) * self.rate)

    def _set(self, client: str, level: float, now: float) -> None:
        """Remember a client, and forget another if there are too many."""
        self._levels[client] = (level, now)
        self._levels.move_to_end(client)
        if len(self._levels) > MOST_CLIENTS:
            self._levels.popitem(last=False)

    def take(self, client: str, cost: float = 1.0) -> None:
        """Take tokens.

        Raises:
            TooMuchError: If there are too few.
        """
        seconds = self.wait(client, cost)
        if seconds > 0:
            raise TooMuchError(seconds, *TOO_MUCH)


def client(scope: Scope, proxies: Collection[str] = ()) -> str:
    """Who asks: an address; for IPv6, the network that one subscriber usually has.

    What a proxy says is believed if it is an address, with or without a port; otherwise the proxy itself asks.
    """
    host = plain(str((scope.get("client") or ("unknown", 0))[0]))
    if host in proxies:
        named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        last = named[-1].decode("latin-1").rsplit(",", 1)[-1] if named else ""
        host = host if _address(last) is None else last
    return subscriber(host)


def checked_address(address: str) -> str:
    """An address, as a socket writes it.

    Raises:
        OptionError: If it is none.
    """
    try:
        return plain(str(ipaddress.ip_address(address)))
    except ValueError:
        raise OptionError(f"{told(address)} is not an address.", "pass one such as 10.0.0.7.") from None


def plain(host: str) -> str:
    """An address in its one form: no port, no brackets, and IPv4 where IPv6 only wraps it; other names as they are.

    >>> plain("::ffff:10.0.0.7"), plain("[2001:DB8::1]:80"), plain("unknown")
    ('10.0.0.7', '2001:db8::1', 'unknown')
    """
    address = _address(host)
    return host if address is None else str(address)


def subscriber(host: str) -> str:
    """The client that an address belongs to.

    >>> subscriber("2001:db8::1"), subscriber("::ffff:192.0.2.1"), subscriber("192.0.2.1:443")
    ('2001:db8::/64', '192.0.2.1', '192.0.2.1')
    """
    address = _address(host)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(address), 64), strict=False))
    return host if address is None else str(address)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address in a text that may name a port and a zone too; None if there is none."""
    written = WRITTEN.fullmatch(text.strip(" \t"))
    if written is None:
        return None
    try:
        address = ipaddress.ip_address((written["inner"] or written["host"] or written["bare"]).partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
