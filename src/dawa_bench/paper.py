"""The paper's setting: its mechanisms and rivals, its workloads, how it judged them, and the numbers that it printed.

Li, Hay, Miklau, Wang, *A Data- and Workload-Aware Algorithm for Range Queries Under Differential Privacy* (PVLDB 2014).
Mechanisms are run by name on public counts: the sound ones, and others that are NOT PRIVATE. The numbers of the paper's
tables are here for comparison; its other experiments are figures without numbers.
"""

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import dawa
from dawa.arrays import IntArray
from dawa.queries.workload import Workload
from dawa_bench import datasets, published
from dawa_bench.experiments import Measured, Task
from dawa_bench.published import Outcome

ON_LINES = (
    "dawa",
    "dawa-2014",
    "dawa-2014-all",
    "greedy-h",
    "partition-laplace",
    "partition-uniform",
    "partition-geometric",
    "identity",
    "privelet",
    "hierarchical",
    "hb",
    "efpa",
    "php",
    "structure-first",
    "mwem",
    "privtree",
    "uniform",
)
"""The sound mechanisms along one axis; other mechanisms are for maps."""

CODE = "dawa-2014-code"
"""What the paper ran as DAWA: NOT PRIVATE."""

DATASETS = tuple(dataset.name for dataset in datasets.LINES)
"""From easy to hard."""

QUERIES = 2000
"""Queries in every random workload, as in the paper."""

EPSILONS = ("0.01", "0.05", "0.1", "0.5")

RIVALS = ("identity", "privelet", "mwem", "efpa", "php", "structure-first")

SMALLEST = {
    "0.01": (2.04, 1.00, 2.65, 0.88, 2.20, 0.86),
    "0.05": (2.27, 1.11, 3.00, 3.20, 1.98, 1.01),
    "0.1": (2.00, 0.98, 2.54, 3.84, 1.81, 0.82),
    "0.5": (2.06, 1.01, 3.39, 3.60, 1.25, 0.89),
}
"""Table 2a: the error of each rival over DAWA's, at its smallest over the datasets."""

LARGEST = {
    "0.01": (26.42, 12.93, 17.00, 18.94, 7.09, 10.85),
    "0.05": (22.97, 11.24, 19.14, 43.58, 17.57, 9.77),
    "0.1": (20.85, 10.20, 22.54, 41.09, 31.41, 8.32),
    "0.5": (25.47, 12.46, 68.75, 43.69, 138.14, 10.89),
}
"""Table 2b: the same ratio at its largest."""

OPTIMAL_K = {
    "nettrace": 22,
    "adult": 29,
    "medcost": 20,
    "searchlogs": 500,
    "income": 1537,
    "patent": 1870,
    "hepth": 2168,
}
"""Table 1: buckets of the optimal partition, "when ε = 0.1"."""

SECONDS_OF = (
    "dawa",
    "partition-laplace",
    "partition-geometric",
    "partition-uniform",
    "identity",
    "privelet",
    "efpa",
    "php",
    "structure-first",
    "mwem",
)
SECONDS = {
    "nettrace": (1.33, 1.17, 1.17, 1.17, 1.15, 1.21, 1.21, 1.73, 35.45, 11.60),
    "adult": (1.31, 1.17, 1.17, 1.17, 1.14, 1.21, 1.21, 1.69, 44.56, 11.55),
    "medcost": (1.36, 1.17, 1.17, 1.17, 1.14, 1.21, 1.21, 1.76, 41.89, 11.65),
    "searchlogs": (1.91, 1.18, 1.21, 1.22, 1.14, 1.20, 1.21, 1.90, 45.40, 151.1),
    "income": (3.05, 1.22, 1.28, 1.28, 1.16, 1.22, 1.22, 1.76, 38.95, 2982.0),
    "patent": (5.23, 1.22, 1.36, 1.36, 1.14, 1.20, 1.20, 1.89, 48.03, 1568.0),
    "hepth": (3.80, 1.22, 1.28, 1.28, 1.14, 1.21, 1.21, 1.90, 52.92, 39.98),
}
"""The paper's last table: running times in seconds for ε = 0.1, by dataset, in the order of ``SECONDS_OF``."""

PUBLISHED_AS = {
    "dawa": "dawa-2014-code",
    "partition-laplace": "partition-laplace-code",
    "partition-geometric": "partition-geometric-code",
    "partition-uniform": "partition-uniform-code",
    "identity": "identity",
    "privelet": "privelet",
    "efpa": "efpa-2012-code",
    "php": "php-2012-code",
    "structure-first": "structure-first-2013-code",
    "mwem": "mwem-2012-code",
}
"""What the paper ran under each name; noise on cells and on wavelets was already sound."""


def lines(data: Path | None) -> list[tuple[str, str]]:
    """The datasets by name, and what each is in a folder: real, other or generated."""
    return [(name, datasets.load(name, data).kind) for name in DATASETS]


def run(
    name: str,
    counts: IntArray,
    workload: Workload,
    epsilon: str,
    seed: int,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Outcome:
    """Run a mechanism on public counts."""
    if name in published.NAMES:
        return published.run(name, counts, workload, epsilon, seed, research=True, **options)
    found = dawa.estimate(counts, workload, epsilon=epsilon, mechanism=name, seed=seed, **options)
    return Outcome(found.answers(workload), found.buckets.bounds)


def judged(task: Task, counts: IntArray, workload: Workload, **options: Any) -> Measured:  # noqa: ANN401  as above
    """Run a task's mechanism: how far its answers are from the truth, how long it took, how many buckets it has."""
    begin = time.perf_counter()
    found = run(task.mechanism, counts, workload, task.epsilon, task.seed, **options)
    seconds = time.perf_counter() - begin
    error = float(np.abs(found.answers - workload.answers(counts)).mean())
    return Measured(error, seconds, None if found.bounds is None else len(found.bounds) - 1)


def on_line(task: Task, data: Path | None, **options: Any) -> Measured:  # noqa: ANN401  as above
    """Run a task's mechanism on a dataset along one axis, with a workload of the paper, as most experiments do."""
    counts = datasets.load(task.dataset, data).counts
    return judged(task, counts, workload_named(task.workload, len(counts)), **options)


def told(task: Task) -> dict[str, int]:
    """The tuned rounds of the published MWEM for the task's dataset; empty for other mechanisms."""
    return {"rounds": published.ROUNDS[task.dataset]} if task.mechanism == published.MWEM else {}


@lru_cache(maxsize=32)
def workload_named(name: str, cells: int) -> Workload:
    """A workload of the paper along one axis: ``identity``, or a kind and a number such as ``uniform-3``.

    >>> workload_named("clustered-0", 4096)
    Workload(2000 queries over 4096 cells)
    """
    kind, _, seed = name.rpartition("-")
    if name == "identity":
        return dawa.workloads.identity(cells)
    if kind == "uniform":
        return dawa.workloads.uniform(cells, QUERIES, seed=int(seed))
    wide = {"clustered": 256.0, "large-clustered": 1024.0}[kind]
    return dawa.workloads.clustered(cells, 5, QUERIES // 5, sd=wide, seed=int(seed))
