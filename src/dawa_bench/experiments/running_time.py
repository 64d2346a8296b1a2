"""The paper's last table: how long every mechanism takes on every dataset."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

import dawa
from dawa_bench import contestants, datasets, figures, printed, published
from dawa_bench.experiment import Experiment, Size
from dawa_bench.published import NOT_PRIVATE
from dawa_bench.tables import Table, number, sources
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "paper.time"
EPSILON = "0.1"
TRIALS = {"quick": 3, "full": 9}
SHOWN = ("dawa", "dawa-2014", "greedy-h", "identity", "privelet", "efpa", "php", "structure-first", "mwem")


def tasks(size: Size, data: Path | None) -> list[Task]:
    """Every mechanism on every dataset."""
    names = [name for name in (*contestants.ON_LINES, *published.NAMES) if size == "full" or name != "dawa-2014-all"]
    return [
        Task(NAME, dataset.name, datasets.load(dataset.name, data).kind, name, EPSILON, "uniform-0", "", trial)
        for dataset in datasets.LINES
        for name in names
        for trial in range(TRIALS[size])
    ]


def run(task: Task, data: Path | None) -> Measured:
    """One warm run."""
    counts = datasets.load(task.dataset, data).counts
    rounds = contestants.told(task)
    if task.trial == 0:
        small = contestants.workload_named("uniform-0", 64)
        contestants.run(task.mechanism, np.ones(64, np.int64), small, "1", 0, **rounds)
    return contestants.judged(task, counts, contestants.workload_named(task.workload, len(counts)), **rounds)


def _medians(records: Sequence[Record]) -> dict[tuple[str, str], float]:
    groups: dict[tuple[str, str], list[float]] = {}
    for record in records:
        if record.measured.seconds is not None:
            groups.setdefault((record.task.dataset, record.task.mechanism), []).append(record.measured.seconds)
    return {key: median(found) for key, found in groups.items()}


def tables(records: Sequence[Record]) -> list[Table]:
    """Beside the paper's; then all of ours."""
    found = _medians(records)
    rows = []
    for dataset in datasets.LINES:
        for at, name in enumerate(printed.SECONDS_OF):
            code = found[dataset.name, printed.PUBLISHED_AS[name]]
            sound = found[dataset.name, name]
            rows.append([dataset.name, name, number(printed.SECONDS[dataset.name][at]), number(code), number(sound)])
    names = [name for name in dawa.mechanisms.names() if (datasets.LINES[0].name, name) in found]
    everything = [[name, *(number(found[one.name, name]) for one in datasets.LINES)] for name in names]
    return [
        Table(
            "Seconds, ε = 0.1, beside those in the paper",
            ["dataset", "mechanism", "paper", f"published code here, {NOT_PRIVATE}", "sound"],
            rows,
            "Medians of warm runs. The paper's are of its own machine and code, starting up included.",
        ),
        Table(
            "Seconds of all sound mechanisms",
            ["mechanism", *(one.name for one in datasets.LINES)],
            everything,
            f"On {sources(records)}.",
        ),
    ]


def figure(records: Sequence[Record]) -> "Figure":
    """Seconds here and in the paper."""
    found = _medians(records)
    names = [one.name for one in datasets.LINES]
    here = {name: [found[one, name] for one in names] for name in SHOWN}
    paper = {
        name: [printed.SECONDS[one][at] for one in names] for at, name in enumerate(printed.SECONDS_OF) if name in SHOWN
    }
    return figures.panels({"here": here, "the paper": paper}, names, "seconds", columns=2, shared=True)


EXPERIMENT = Experiment(
    NAME,
    "Running time",
    "Every mechanism on every dataset, one at a time: the paper's Table 3.",
    tasks,
    run,
    tables,
    figure,
    alone=True,
)
