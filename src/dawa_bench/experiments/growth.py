"""How time and memory grow with the number of cells, of queries and of buckets."""

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dawa
from dawa.arrays import IntArray
from dawa_bench import figures
from dawa_bench.experiment import Experiment, Size
from dawa_bench.tables import Table, means, number
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "growth"
EPSILON = "0.1"
CELLS, QUERIES = 2**14, 2000
LARGEST = {"quick": 16, "full": 22}
MECHANISMS = {"fast": "dawa", "best": "dawa", "greedy-h": "greedy-h", "dawa-2014": "dawa-2014"}
EFFORTS = ("fast", "best")
LARGEST_OF = {"best": 20, "dawa-2014": 20}
"""Log2 of the most cells that these are asked for."""


def tasks(size: Size, _: Path | None) -> list[Task]:
    """Cells, queries and buckets, each varied while the others stay."""
    top = LARGEST[size]
    listed = []
    for how, name in MECHANISMS.items():
        powers = range(10, min(top, LARGEST_OF.get(how, top)) + 1, 2)
        listed += [_task(name, how, 2**power, QUERIES, 0) for power in powers]
    for queries in (10, 100, 1000, 10_000, 100_000)[: 4 if size == "quick" else 5]:
        listed += [_task("dawa", how, CELLS, queries, 0) for how in EFFORTS]
    for power in range(4, 15, 2):
        listed += [_task("dawa", how, CELLS, QUERIES, 2**power) for how in EFFORTS]
    return listed


def _task(name: str, how: str, cells: int, queries: int, buckets: int) -> Task:
    return Task(NAME, "generated", "generated", name, EPSILON, f"uniform-{queries}", f"{how}/{cells}/{buckets}")


def run(task: Task, _: Path | None) -> Measured:
    """One task in a fresh process, so that the peak of its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(timed, task).result()


def timed(task: Task) -> Measured:
    """A warm run, and the memory of this process."""
    how, cells, buckets = task.setting.split("/")
    counts = histogram(int(cells))
    queries = dawa.workloads.uniform(int(cells), int(task.workload.rpartition("-")[2]))
    effort: dict[str, Any] = {"effort": how} if task.mechanism == "dawa" else {}
    given: dict[str, Any] = {}
    if int(buckets):
        given = {"partition": np.linspace(0, int(cells), int(buckets) + 1).astype(np.int64)}
    dawa.estimate([1, 2, 3, 4] * 16, epsilon=1, mechanism=task.mechanism, seed=0, **effort)
    took = []
    for _ in range(3):
        begin = time.perf_counter()
        found = dawa.estimate(
            counts, queries, epsilon=task.epsilon, mechanism=task.mechanism, seed=task.seed, **effort, **given
        )
        took.append(time.perf_counter() - begin)
    import resource  # noqa: PLC0415  not on every system

    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return Measured(seconds=sorted(took)[1], buckets=len(found.buckets), megabytes=peak)


def histogram(cells: int) -> IntArray:
    """Counts with something at every scale: hills, plains, rough stretches and spikes."""
    generator = np.random.default_rng(cells)
    place = np.arange(cells) / cells
    rate = 40 * np.exp(-(((place - 0.3) / 0.15) ** 2)) + 5 * (place > 0.6)
    rough = (place > 0.8) & (place < 0.85)
    rate[rough] = generator.gamma(0.3, 400, rough.sum())
    counts: IntArray = generator.poisson(rate).astype(np.int64)
    counts[generator.integers(0, cells, 40)] += generator.integers(100, 5000, 40)
    return counts


def _split(record: Record) -> tuple[str, int, int, int]:
    how, cells, buckets = record.task.setting.split("/")
    return how, int(cells), int(record.task.workload.rpartition("-")[2]), int(buckets)


def tables(records: Sequence[Record]) -> list[Table]:
    """One table for each thing that is varied."""
    seconds, memory = means(records, _split, "seconds"), means(records, _split, "megabytes")
    found = means(records, _split, "buckets")
    columns = ["run", "cells", "queries", "buckets", "seconds", "peak MB"]
    keys = sorted(seconds)
    parts = {
        "By the number of cells, n": [key for key in keys if key[2] == QUERIES and not key[3]],
        "By the number of queries, m": [key for key in keys if key[1] == CELLS and not key[3] and key[0] in EFFORTS],
        "By the number of buckets, k, given from outside": [key for key in keys if key[3]],
    }
    listed = []
    for title, wanted in parts.items():
        rows = [
            [
                f"dawa, {key[0]}" if key[0] in EFFORTS else key[0],
                f"{key[1]:,}",
                f"{key[2]:,}",
                f"{found[key]:,.0f}",
                number(seconds[key]),
                f"{memory[key]:,.0f}",
            ]
            for key in wanted
        ]
        listed.append(Table(title, columns, rows))
    last = listed[-1]
    note = (
        "Medians of three warm runs, each in a process of its own, on generated counts; the peak includes Python and "
        "its libraries. The paper gives no such figures; its greedy stage takes time O(m·k·log k + k²)."
    )
    return [*listed[:-1], Table(last.title, last.columns, last.rows, note)]


def figure(records: Sequence[Record]) -> "Figure":
    """Seconds by cells."""
    seconds, memory = means(records, _split, "seconds"), means(records, _split, "megabytes")
    cells = sorted({key[1] for key in seconds})
    words = {"fast": "dawa, effort=fast", "best": "dawa, effort=best", "greedy-h": "greedy-h", "dawa-2014": "dawa-2014"}
    drawn = {
        title: {words[how]: [found.get((how, n, QUERIES, 0)) for n in cells] for how in MECHANISMS}
        for title, found in (("seconds", seconds), ("peak memory in MB", memory))
    }
    return figures.panels(drawn, cells, "", columns=2, across="cells", numeric=True)


EXPERIMENT = Experiment(
    NAME,
    "Growth of time and memory",
    "What a release costs as the domain, the workload and the partition grow.",
    tasks,
    run,
    tables,
    figure,
    alone=True,
)
