"""What time and memory tell: ``python -m dawa_bench.audit.side [SOURCE…]``.

A release on a table and one on its neighbour take about as long, and as much memory, but not exactly. Whoever watches
the machine may learn from that; ``docs/limits.md`` names it, and here is how much it is. Both neighbours are given the
same at the gates, as where their releases are compared, so that all that follows is the same work, and what differs is
reading and counting. They run in turns in one process, so that what else the machine does falls on both alike.

A line for each source and odd record: the median of milliseconds of processor time without it and with it (the time
that passes tells less, as other work on the machine disturbs it), the usual spread of runs on the same table (half the
distance between quartiles), and the chance that a run with the odd record takes longer than one without: 50% tells
nothing, 100% everything. Then the medians of the most memory that a run held beyond what the process held before it,
and the same chance (Linux only). Where nothing differs, 40 runs of each show a chance of 37 to 63%, but for one case in
twenty.

Examples:
  python -m dawa_bench.audit.side                     a few sources, the figures of docs/limits.md
  python -m dawa_bench.audit.side Parquet --runs 100  one of them, more often
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dawa
from dawa.arrays import FloatArray
from dawa_bench.audit.holders import Holder, named
from dawa_bench.audit.left import DATA, emptied
from dawa_bench.audit.releases import EPSILON, again, likely
from dawa_bench.audit.tables import ASKED, ODDS, Asked, Odd, Table, neighbours
from dawa_bench.audit.watch import Answering, Watched, watched

SOURCES = ("CSV", "JSON lines", "Parquet", "SQLite", "DuckDB", "lists")
LOOKED = {
    "numbers, many rows": ("an ordinary record", "the largest", "three megabytes"),
    "persons": ("a person with a thousand records",),
}
"""Odd records whose time is looked at, where a source can hold them, by what is asked."""
RUNS = 40
RESET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@dataclass(frozen=True)
class Spent:
    """What runs on two neighbours took.

    Attributes:
        what: The source, and what one of them has more.
        fewer: Of each run without it, seconds of the processor and kibibytes.
        more: Of each run with it.
    """

    what: str
    fewer: FloatArray
    more: FloatArray

    def medians(self, which: int) -> tuple[float, float]:
        """Of seconds (0) or kibibytes (1), without and with what is odd."""
        return float(np.median(self.fewer[:, which])), float(np.median(self.more[:, which]))

    def chance(self, which: int) -> float:
        """The chance that a run with what is odd takes more than one without; of two that take the same, half.

        >>> Spent("x", np.array([[1.0], [2.0]]), np.array([[2.0], [3.0]])).chance(0)
        0.875
        """
        here, there = self.more[:, which][:, None], self.fewer[:, which]
        return float((here > there).mean() + (here == there).mean() / 2)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles of seconds without what is odd."""
        low, high = np.quantile(self.fewer[:, 0], (0.25, 0.75))
        return float(high - low) / 2


def spent(holder: Holder, asked: Asked, odd: Odd, runs: int = RUNS, running: object = None) -> Spent:
    """Release two neighbours in turns, so often."""
    tables = neighbours(asked, odd)
    taken: list[list[tuple[float, float]]] = [[], []]
    with tempfile.TemporaryDirectory(prefix="dawa-audit-") as name:
        place = Path(name).resolve()
        passed, *_ = _run(holder, tables[0], asked, place, running, likely(0))
        for turn in range(2 * (runs + 1)):
            which = (turn + turn // 2) % 2  # one, two, two, one
            _, seconds, memory = _run(holder, tables[which], asked, place, running, again(passed))
            taken[which].append((seconds, memory))
    fewer, more = (np.array(each[1:]) for each in taken)  # the first of each warms caches
    return Spent(f"{holder.name}: {odd.name}", fewer, more)


def _run(
    holder: Holder, table: Table, asked: Asked, place: Path, running: object, answering: Answering
) -> tuple[Watched, float, float]:
    """One release: what passed the gates, seconds, and kibibytes beyond what was held before."""
    emptied(place)
    held, _typed = holder.made(place / DATA, table, running)
    with watched(answering) as passed:
        before, began = _memory(reset=True), time.process_time()
        dawa.release(held, asked.axes, epsilon=EPSILON, effort="fast", **asked.options)
        seconds = time.process_time() - began
        return passed, seconds, _memory() - before


def _memory(*, reset: bool = False) -> float:
    """The most kibibytes that this process held, since it was last reset; 0 where the system does not say."""
    with suppress(OSError, StopIteration):
        if reset:
            RESET.write_text("5", encoding="ascii")
        lines = STATUS.read_text(encoding="utf-8").splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
    return 0.0


def cases(sources: tuple[str, ...]) -> Iterator[tuple[Holder, Asked, Odd]]:
    """What is looked at."""
    for holder in named(sources):
        for asked in ASKED:
            for odd in ODDS:
                if odd.kind in holder.kinds and odd.name in LOOKED.get(asked.name, ()):
                    yield holder, asked, odd


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="*", metavar="SOURCE", help=f"one or several (default: {', '.join(SOURCES)})")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each neighbour (default: {RUNS})")
    typed = parser.parse_args()
    print("| source: what one table has more | rows | ms | with it | spread | longer | MB | with it | more |")
    print("|---|---|---|---|---|---|---|---|---|")
    for holder, asked, odd in cases(tuple(typed.source) or SOURCES):
        with holder.running() as running:
            found = spent(holder, asked, odd, typed.runs, running)
        (one, two), (held, holds) = found.medians(0), found.medians(1)
        cells = (
            found.what,
            f"{asked.rows:,}",
            f"{1000 * one:.1f}",
            f"{1000 * two:.1f}",
            f"{1000 * found.spread:.1f}",
            f"{found.chance(0):.0%}",
            f"{held / 1024:.1f}",
            f"{holds / 1024:.1f}",
            f"{found.chance(1):.0%}",
        )
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
