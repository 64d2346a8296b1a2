"""Clients that mean no good, and clients that do: what ``siege`` sends against a server.

Every attacker is a coroutine that goes on until its time is over and counts what the server did: statuses of answers,
``closed`` for a connection that the server ended without one, ``held`` for one that was still open at the end.
"""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

Count = Counter[str]

SIDE = 256
"""Cells along each side of the map that is asked."""

MANY = 1000
"""Ranges in one large request."""

PATIENCE = 90.0
"""Seconds after which a client gives up."""


def get(path: str) -> bytes:
    """A request for a path."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()


def large(seed: int) -> bytes:
    """A request for a thousand rectangles, most of them large, half of them through the middle of cells."""
    rng = random.Random(seed)  # noqa: S311  no secrets here
    part = rng.choice([0, 0.5])
    ranges = [
        {
            "lo": [rng.randrange(SIDE // 4) + part for _ in range(2)],
            "hi": [rng.randrange(SIDE // 2, SIDE) + part for _ in range(2)],
        }
        for _ in range(MANY)
    ]
    body = json.dumps({"ranges": ranges}).encode()
    return b"%b%b" % (_post(len(body)), body)


def _post(length: int) -> bytes:
    return (
        "POST /releases/map/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


async def ask(port: int, request: bytes, source: str) -> str:
    """The status of the answer to a request from an address, after all of it was read."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            try:
                writer.write(request)
                answer = await reader.read()
                return answer[9:12].decode() or "closed"
            finally:
                writer.close()
    except TimeoutError:
        return "late"
    except OSError:
        return "closed"


async def many_ranges(port: int, seconds: float, count: Count, source: str, rate: float = 20) -> None:
    """Large requests at a fixed rate, whether or not earlier ones were answered."""
    await _fired(port, seconds, count, source, [large(seed) for seed in range(8)], rate)


async def from_everywhere(port: int, seconds: float, count: Count, source: str, addresses: int = 100) -> None:
    """Large requests from many addresses, each of which waits for its answer before it asks again."""
    del source
    prepared, end = [large(seed) for seed in range(8)], time.monotonic() + seconds

    async def one(number: int) -> None:
        while time.monotonic() < end:
            count[await ask(port, prepared[number % 8], f"127.0.2.{1 + number}")] += 1
            await asyncio.sleep(1)

    await asyncio.gather(*(one(number) for number in range(addresses)))


async def at_once(port: int, seconds: float, count: Count, source: str, requests: int = 107) -> None:
    """Many large requests at the same moment, again and again."""
    prepared, end = [large(seed) for seed in range(8)], time.monotonic() + seconds
    while time.monotonic() < end:
        waves = (ask(port, prepared[number % 8], source) for number in range(requests))
        count.update(await asyncio.gather(*waves))
        await asyncio.sleep(1)


async def _fired(port: int, seconds: float, count: Count, source: str, requests: list[bytes], rate: float) -> None:
    tasks, begin, sent = [], time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        tasks.append(asyncio.ensure_future(ask(port, requests[sent % len(requests)], source)))
        sent += 1
        await asyncio.sleep(max(0.0, begin + sent / rate - time.monotonic()))
    count.update(await asyncio.gather(*tasks))


async def half_open(port: int, seconds: float, count: Count, source: str, connections: int = 1100) -> None:
    """Connections that send the beginning of a request and nothing more, opened anew when they are closed."""
    await _held(connections, partial(_silent, port, time.monotonic() + seconds, count, source))


async def slow_bodies(port: int, seconds: float, count: Count, source: str, connections: int = 60) -> None:
    """Requests whose bodies come byte by byte."""
    await _held(connections, partial(_dripping, port, time.monotonic() + seconds, count, source))


async def slow_readers(port: int, seconds: float, count: Count, source: str, connections: int = 60) -> None:
    """Requests for the whole map, whose answers nobody reads."""
    await _held(connections, partial(_deaf, port, time.monotonic() + seconds, count, source))


async def _held(connections: int, one: Callable[[], Awaitable[None]]) -> None:
    await asyncio.gather(*(one() for _ in range(connections)))


async def _silent(port: int, end: float, count: Count, source: str) -> None:
    while time.monotonic() < end:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            count[await _ended(reader, end)] += 1
            writer.close()
        await asyncio.sleep(1)


async def _dripping(port: int, end: float, count: Count, source: str) -> None:
    while time.monotonic() < end:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            writer.write(_post(200_000))
            ended = asyncio.ensure_future(_ended(reader, end))
            while not ended.done() and time.monotonic() < end:
                writer.write(b"[")
                await asyncio.wait([ended], timeout=0.5)
            count[await ended] += 1
            writer.close()
        await asyncio.sleep(1)


async def _deaf(port: int, end: float, count: Count, source: str) -> None:
    while time.monotonic() < end:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0), limit=1024)
            writer.write(get("/releases/map/file") if random.random() < 0.5 else large(1))  # noqa: S311  likewise
            status = (await reader.read(12))[9:].decode()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, end - time.monotonic())):
                    await writer.wait_closed()  # the buffer is full, so nothing more is read
            count[status or "closed"] += 1
            writer.close()
        await asyncio.sleep(1)


async def _ended(reader: asyncio.StreamReader, end: float) -> str:
    """How a connection ended that the client does not end."""
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + max(0.0, end - time.monotonic())):
            return (await reader.read())[9:12].decode() or "closed"
    except TimeoutError:
        return "held"


Attack = Callable[[int, float, Count, str], Awaitable[None]]

ATTACKS: dict[str, Attack] = {
    "20 requests of 1,000 ranges a second": many_ranges,
    "107 of them at once": at_once,
    "such requests from 100 addresses": from_everywhere,
    "1,100 half-open connections": half_open,
    "slow bodies": slow_bodies,
    "slow readers": slow_readers,
}


async def well_behaved(port: int, seconds: float, source: str, pause: float = 0.05) -> tuple[Count, list[float]]:
    """One range after the other, and a health check in between: the statuses, and the seconds that each took."""
    rng, end = random.Random(source), time.monotonic() + seconds  # noqa: S311  likewise
    count, taken = Counter[str](), []
    while time.monotonic() < end:
        low, high = sorted(rng.sample(range(SIDE + 1), 2))
        paths = [
            f"/releases/map/answer?lo={low}&lo={low}&hi={high}&hi={high}",
            f"/releases/line/answer?lo={low}&hi={high}",
            "/health",
        ]
        begin = time.perf_counter()
        count[await ask(port, get(rng.choice(paths)), source)] += 1
        taken.append(time.perf_counter() - begin)
        await asyncio.sleep(pause)
    return count, taken
