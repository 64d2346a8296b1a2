"""A server under attack: ``python -m dawa_bench.faults.siege``.

Starts a server with a map of 256 × 256 cells and a line, attacks it from one address in every way that ``attacks``
knows, first one by one and then all at once, and meanwhile asks it honest questions from other addresses. Prints how
long these took, how much memory the server had, how much it wrote into its log, and what the attackers were told. The
exit code is 1 if somebody honest waited longer than a second (99 of 100 requests), was refused, or if memory or the log
grew beyond their bounds. Needs Linux, whose loopback has more than one address.
"""

import argparse
import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.pool import Pool
from pathlib import Path

import numpy as np

import dawa
from dawa_bench.faults import attacks

ATTACKER = "127.0.0.1"
OTHERS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")

MOST_SECONDS, MOST_MEGABYTES, MOST_LOG_BYTES = 1.0, 600.0, 2**16
"""What the server promises while it is attacked."""


@dataclass(frozen=True)
class Outcome:
    """What came of one attack.

    Attributes:
        name: The attack.
        taken: The seconds of every honest request.
        honest: How often honest clients got which status.
        hostile: How often attackers got which.
        megabytes: The most memory that the server had meanwhile.
        log: The bytes in its log so far.
    """

    name: str
    taken: Sequence[float]
    honest: Counter[str]
    hostile: Counter[str]
    megabytes: float
    log: int

    def percentile(self, percent: float) -> float:
        """Seconds within which this many of a hundred honest requests were answered."""
        return float(np.percentile(self.taken, percent))

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept."""
        broken = {
            f"99 of 100 within {self.percentile(99):.2f} s": self.percentile(99) > MOST_SECONDS,
            f"{self.megabytes:,.0f} MB": self.megabytes > MOST_MEGABYTES,
            f"{self.log:,} bytes in the log": self.log > MOST_LOG_BYTES,
            f"honest clients got {dict(self.honest)}": set(self.honest) != {"200"},
        }
        return [what for what, is_so in broken.items() if is_so]

    def __str__(self) -> str:
        told = ", ".join(f"{status} × {times:,}" for status, times in sorted(self.hostile.items()))
        times = "".join(f"{1000 * self.percentile(percent):>8,.0f}" for percent in (50, 99, 100))
        return f"{self.name:<38}{len(self.taken):>8,}{times}{self.megabytes:>8,.0f}{self.log:>8,}  {told}"


HEADING = f"{'':<38}{'honest':>8}{'p50 ms':>8}{'p99 ms':>8}{'max ms':>8}{'MB':>8}{'log':>8}  what attackers got"


class Besieged:
    """A server process, and what can be seen of it from outside."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.log = folder / "server.log"
        command = [sys.executable, "-m", "dawa", "serve", str(folder / "out"), "--port", "0", *arguments]
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)  # noqa: S603  ours
        assert self.process.stdout is not None  # noqa: S101  it is a pipe
        line = self.process.stdout.readline()
        self.port = int(line.split("/  ")[0].rsplit(":", 1)[1])
        asyncio.run(attacks.ask(self.port, attacks.get("/health"), OTHERS[0]))  # connections wait until it is ready

    def megabytes(self) -> float:
        """The memory that the process has now."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    @contextmanager
    def weighed(self) -> Iterator[list[float]]:
        """The memory of the process, several times in a second."""
        found, over = [self.megabytes()], threading.Event()

        def weigh() -> None:
            while not over.wait(0.1):
                found.append(self.megabytes())

        thread = threading.Thread(target=weigh)
        thread.start()
        try:
            yield found
        finally:
            over.set()
            thread.join()

    def end(self) -> None:
        """Stop the server."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


@contextmanager
def besieged(*arguments: str) -> Iterator[Besieged]:
    """A server with a map and a line, which are made on the spot from random counts."""
    with tempfile.TemporaryDirectory(prefix="siege-") as name:
        folder = Path(name)
        (folder / "out").mkdir()
        rng, side = np.random.default_rng(0), attacks.SIDE
        east, north = np.clip(rng.normal(side / 2, side / 6, (2, 200_000)), 0, side - 1).astype(int)
        axes = dawa.Axis("east", 0, side), dawa.Axis("north", 0, side)
        dawa.release({"east": east, "north": north}, axes, epsilon=1, seed=0, effort="fast").save(
            folder / "out" / "map.json"
        )
        dawa.release({"east": east}, axes[0], epsilon=1, seed=0).save(folder / "out" / "line.json")
        server = Besieged(folder, *arguments)
        try:
            yield server
        finally:
            server.end()


def attacked(server: Besieged, name: str, chosen: Sequence[str], seconds: float, pool: Pool) -> Outcome:
    """Attack a server in the chosen ways, each from a process of its own, while others ask it."""
    with server.weighed() as memory:
        hostile = [pool.apply_async(_attack, (way, server.port, seconds)) for way in chosen]
        honest = [pool.apply_async(_others, (server.port, seconds, OTHERS[half::2])) for half in range(2)]
        found = [asked.get() for asked in honest]
        told = sum((attack.get() for attack in hostile), Counter[str]())
    count = sum((statuses for statuses, _ in found), Counter[str]())
    taken = [one for _, times in found for one in times]
    return Outcome(name, taken, count, told, max(memory), server.log.stat().st_size)


def _attack(way: str, port: int, seconds: float) -> Counter[str]:
    count = Counter[str]()
    asyncio.run(_run(attacks.ATTACKS[way], port, seconds, count))
    return count


async def _run(attack: attacks.Attack, port: int, seconds: float, count: Counter[str]) -> None:
    await attack(port, seconds, count, ATTACKER)


def _others(port: int, seconds: float, sources: Sequence[str]) -> tuple[Counter[str], list[float]]:
    async def all_of_them() -> list[tuple[Counter[str], list[float]]]:
        return await asyncio.gather(*(attacks.well_behaved(port, seconds, source) for source in sources))

    found = asyncio.run(all_of_them())
    return sum((count for count, _ in found), Counter[str]()), [one for _, times in found for one in times]


def outcomes(seconds: float, *, everything: float) -> Iterator[Outcome]:
    """Nothing, every attack by itself, and all at once; then nothing again."""
    processes = len(attacks.ATTACKS) + 2
    with besieged() as server, multiprocessing.get_context("spawn").Pool(processes, os.nice, (0,)) as pool:
        yield attacked(server, "nothing", [], seconds, pool)
        for name in attacks.ATTACKS:
            yield attacked(server, name, [name], seconds, pool)
        yield attacked(server, "all of these", list(attacks.ATTACKS), everything, pool)
        yield attacked(server, "nothing, afterwards", [], seconds, pool)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per attack."""
    parser = argparse.ArgumentParser(prog="python -m dawa_bench.faults.siege", description="Attack a server.")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each attack; all at once, three times as long")
    seconds = parser.parse_args(arguments).seconds
    missed = []
    print(HEADING, flush=True)
    for outcome in outcomes(seconds, everything=3 * seconds):
        print(outcome, flush=True)
        missed += [f"{outcome.name}: {what}" for what in outcome.missed]
    print("\n".join(["Not kept:", *missed]) if missed else "All kept.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
