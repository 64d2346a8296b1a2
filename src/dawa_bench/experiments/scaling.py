"""The paper's Figure 6: what to measure over a partition, on four workloads."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dawa_bench import contestants, datasets, figures
from dawa_bench.experiment import Experiment, Size
from dawa_bench.published import NOT_PRIVATE
from dawa_bench.tables import Table, means, number, sources
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "paper.scaling"
EPSILON = "0.1"
DATASETS = ("nettrace", "searchlogs", "hepth")
KINDS = ("identity", "uniform", "clustered", "large-clustered")
SOUND = {
    "greedy": "dawa",
    "uniform": "partition-uniform",
    "geometric": "partition-geometric",
    "laplace": "partition-laplace",
}
"""The four of the paper; the first is our walk with the paper's greedy tree."""

CODE = {name: f"partition-{name}-code" for name in ("uniform", "geometric", "laplace")} | {"greedy": "dawa-2014-code"}
WORKLOADS = {"quick": 2, "full": 5}
TRIALS = {"quick": 2, "full": 5}


def tasks(size: Size, data: Path | None) -> list[Task]:
    """Every way to measure, over both kinds of partitions; and the default, which searches for the best."""
    runs = (
        [(name, how) for how, name in SOUND.items()] + [(name, how) for how, name in CODE.items()] + [("dawa", "best")]
    )
    return [
        Task(NAME, name, datasets.load(name, data).kind, mechanism, EPSILON, workload, how, trial)
        for name in DATASETS
        for kind in KINDS
        for workload in ([kind] if kind == "identity" else [f"{kind}-{at}" for at in range(WORKLOADS[size])])
        for trial in range(TRIALS[size] * (WORKLOADS[size] if kind == "identity" else 1))
        for mechanism, how in runs
    ]


def run(task: Task, data: Path | None) -> Measured:
    """One run."""
    counts = datasets.load(task.dataset, data).counts
    asked = contestants.workload_named(task.workload, len(counts))
    if (task.mechanism, task.setting) == ("dawa", "greedy"):
        return contestants.judged(task, counts, asked, strategy="greedy", postprocess="none")
    return contestants.judged(task, counts, asked)


def _kind(record: Record) -> str:
    workload = record.task.workload
    return workload if workload == "identity" else workload.rpartition("-")[0]


def _found(records: Sequence[Record]) -> dict[tuple[str, str, str, str], float]:
    return means(records, lambda one: (one.task.dataset, _kind(one), one.task.mechanism, one.task.setting))


def tables(records: Sequence[Record]) -> list[Table]:
    """Errors by dataset and workload."""
    found = _found(records)
    columns = [
        "dataset",
        "workload",
        *(f"{how}, code" for how in SOUND),
        *(f"{how}, sound" for how in SOUND),
        "best, sound",
    ]
    rows = [
        [
            dataset,
            kind,
            *(number(found[dataset, kind, CODE[how], how]) for how in SOUND),
            *(number(found[dataset, kind, name, how]) for how, name in SOUND.items()),
            number(found[dataset, kind, "dawa", "best"]),
        ]
        for dataset in DATASETS
        for kind in KINDS
    ]
    note = (
        f"Code: over the published first stage, {NOT_PRIVATE}. Sound: over our walk. Best: `dawa` as it is. The paper "
        "shows this as a figure without numbers, and says that greedy always beats geometric on uniform intervals and "
        f"is the same as Laplace on identity. On {sources(records)}."
    )
    return [Table("Mean error per query by what is measured over the partition, ε = 0.1", columns, rows, note)]


def figure(records: Sequence[Record]) -> "Figure":
    """A panel for each dataset and kind of partition."""
    found = _found(records)
    drawn = {}
    for code in (False, True):
        for dataset in DATASETS:
            title = f"{dataset}, {NOT_PRIVATE} code" if code else f"{dataset}, sound"
            lines = {
                how: [found[dataset, kind, CODE[how] if code else SOUND[how], how] for kind in KINDS] for how in SOUND
            }
            if not code:
                lines["best"] = [found[dataset, kind, "dawa", "best"] for kind in KINDS]
            drawn[title] = lines
    return figures.panels(drawn, KINDS, "mean error per query", columns=3)


EXPERIMENT = Experiment(
    NAME,
    "What to measure over a partition",
    "Greedy, uniform, geometric and Laplace on the four workloads and three datasets: the paper's Figure 6.",
    tasks,
    run,
    tables,
    figure,
)
