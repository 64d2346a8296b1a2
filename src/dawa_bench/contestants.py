"""Run any mechanism by name, the sound ones and those that are NOT PRIVATE, and judge it by the truth."""

import time
from functools import lru_cache
from typing import Any

import numpy as np

import dawa
from dawa.arrays import IntArray
from dawa.queries.workload import Workload
from dawa_bench import published
from dawa_bench.published import Outcome
from dawa_bench.tasks import Measured, Task

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
"""The sound mechanisms along one axis; the others are for maps."""

QUERIES = 2000
"""In every random workload, as in the paper."""


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


def judged(task: Task, counts: IntArray, workload: Workload, **options: Any) -> Measured:  # noqa: ANN401  likewise
    """Run a task's mechanism: how far its answers are from the truth, how long it took, how many buckets it has."""
    begin = time.perf_counter()
    found = run(task.mechanism, counts, workload, task.epsilon, task.seed, **options)
    seconds = time.perf_counter() - begin
    error = float(np.abs(found.answers - workload.answers(counts)).mean())
    return Measured(error, seconds, None if found.bounds is None else len(found.bounds) - 1)


def told(task: Task) -> dict[str, int]:
    """What the published MWEM was told about each dataset, and nothing for all others."""
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
