"""How long mechanisms take, and how time and memory grow.

``paper.time`` is the paper's last table: how long every mechanism takes on every dataset. ``growth`` varies the number
of cells, of queries and of buckets.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import dawa
from dawa_bench import display, paper, published
from dawa_bench.display import Table, means, number, sources
from dawa_bench.experiments import Experiment, Measured, Record, Size, Task
from dawa_bench.published import NOT_PRIVATE
from dawa_bench.speed import domain, own_peak

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIME, GROWTH = "paper.time", "growth"
EPSILON = "0.1"
TRIALS = {"quick": 3, "full": 9}
SHOWN = ("dawa", "dawa-2014", "greedy-h", "identity", "privelet", "efpa", "php", "structure-first", "mwem")

CELLS, QUERIES = 2**14, 2000
LARGEST = {"quick": 16, "full": 22}
MECHANISMS = {"fast": "dawa", "best": "dawa", "greedy-h": "greedy-h", "dawa-2014": "dawa-2014"}
EFFORTS = ("fast", "best")
LARGEST_OF = {"best": 20, "dawa-2014": 20}
"""Log2 of the most cells on which these are run."""


def _time_tasks(size: Size, data: Path | None) -> list[Task]:
    """Every mechanism on every dataset."""
    names = [name for name in (*paper.ON_LINES, *published.NAMES) if size == "full" or name != "dawa-2014-all"]
    return [
        Task(TIME, dataset, kind, name, EPSILON, "uniform-0", "", trial)
        for dataset, kind in paper.lines(data)
        for name in names
        for trial in range(TRIALS[size])
    ]


def _time_run(task: Task, data: Path | None) -> Measured:
    """One warm run."""
    rounds = paper.told(task)
    if task.trial == 0:
        small = paper.workload_named("uniform-0", 64)
        paper.run(task.mechanism, np.ones(64, np.int64), small, "1", 0, **rounds)
    return paper.on_line(task, data, **rounds)


def _medians(records: Sequence[Record]) -> dict[tuple[str, str], float]:
    groups: dict[tuple[str, str], list[float]] = {}
    for record in records:
        if record.measured.seconds is not None:
            groups.setdefault((record.task.dataset, record.task.mechanism), []).append(record.measured.seconds)
    return {key: median(found) for key, found in groups.items()}


def _time_tables(records: Sequence[Record]) -> list[Table]:
    """Our times beside the paper's, then the times of all sound mechanisms."""
    found = _medians(records)
    rows = []
    for dataset in paper.DATASETS:
        for at, name in enumerate(paper.SECONDS_OF):
            code = found[dataset, paper.PUBLISHED_AS[name]]
            sound = found[dataset, name]
            rows.append([dataset, name, number(paper.SECONDS[dataset][at]), number(code), number(sound)])
    names = [name for name in dawa.mechanisms.names() if (paper.DATASETS[0], name) in found]
    everything = [[name, *(number(found[one, name]) for one in paper.DATASETS)] for name in names]
    return [
        Table(
            "Seconds, ε = 0.1, beside the paper's",
            ["dataset", "mechanism", "paper", f"published code here, {NOT_PRIVATE}", "sound"],
            rows,
            "Medians of warm runs. The paper's times are from its own machine and code, and include starting up.",
        ),
        Table(
            "Seconds of all sound mechanisms",
            ["mechanism", *paper.DATASETS],
            everything,
            f"On {sources(records)}.",
        ),
    ]


def _time_figure(records: Sequence[Record]) -> "Figure":
    """Seconds here and in the paper."""
    found = _medians(records)
    here = {name: [found[one, name] for one in paper.DATASETS] for name in SHOWN}
    theirs = {
        name: [paper.SECONDS[one][at] for one in paper.DATASETS]
        for at, name in enumerate(paper.SECONDS_OF)
        if name in SHOWN
    }
    return display.panels({"here": here, "the paper": theirs}, paper.DATASETS, "seconds", columns=2, shared=True)


def _growth_tasks(size: Size, _: Path | None) -> list[Task]:
    """Cells, queries and buckets, each varied while the others stay fixed."""
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
    return Task(GROWTH, "generated", "generated", name, EPSILON, f"uniform-{queries}", f"{how}/{cells}/{buckets}")


def _growth_run(task: Task, _: Path | None) -> Measured:
    """Run one task in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(timed, task).result()


def timed(task: Task) -> Measured:
    """A warm run, and the memory of this process."""
    how, cells, buckets = task.setting.split("/")
    counts = domain(int(cells))
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
    return Measured(seconds=sorted(took)[1], buckets=len(found.buckets), megabytes=own_peak())


def _split(record: Record) -> tuple[str, int, int, int]:
    how, cells, buckets = record.task.setting.split("/")
    return how, int(cells), int(record.task.workload.rpartition("-")[2]), int(buckets)


def _growth_tables(records: Sequence[Record]) -> list[Table]:
    """One table for each thing that is varied."""
    seconds, memory = means(records, _split, "seconds"), means(records, _split, "megabytes")
    found = means(records, _split, "buckets")
    columns = ["run", "cells", "queries", "buckets", "seconds", "peak MB"]
    keys = sorted(seconds)
    parts = {
        "By the number of cells, n": [key for key in keys if key[2] == QUERIES and not key[3]],
        "By the number of queries, m": [key for key in keys if key[1] == CELLS and not key[3] and key[0] in EFFORTS],
        "By the number of buckets, k, with a given partition": [key for key in keys if key[3]],
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
        "Medians of three warm runs, each in its own process, on generated counts; the peak includes Python and its "
        "libraries. The paper has no such numbers; its greedy stage takes time O(m·k·log k + k²)."
    )
    return [*listed[:-1], Table(last.title, last.columns, last.rows, note)]


def _growth_figure(records: Sequence[Record]) -> "Figure":
    """Seconds by cells."""
    seconds, memory = means(records, _split, "seconds"), means(records, _split, "megabytes")
    cells = sorted({key[1] for key in seconds})
    words = {"fast": "dawa, effort=fast", "best": "dawa, effort=best", "greedy-h": "greedy-h", "dawa-2014": "dawa-2014"}
    drawn = {
        title: {words[how]: [found.get((how, n, QUERIES, 0)) for n in cells] for how in MECHANISMS}
        for title, found in (("seconds", seconds), ("peak memory in MB", memory))
    }
    return display.panels(drawn, cells, "", columns=2, across="cells", numeric=True)


EXPERIMENTS = (
    Experiment(
        TIME,
        "Running time",
        "Every mechanism on every dataset, one at a time: the paper's Table 3.",
        _time_tasks,
        _time_run,
        _time_tables,
        _time_figure,
        alone=True,
    ),
    Experiment(
        GROWTH,
        "Growth of time and memory",
        "What a release costs as the domain, the workload and the partition grow.",
        _growth_tasks,
        _growth_run,
        _growth_tables,
        _growth_figure,
        alone=True,
    ),
)
