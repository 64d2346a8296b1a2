"""The paper's Figure 4: the two stages of DAWA, each without the other."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dawa_bench import contestants, datasets, figures
from dawa_bench.experiment import Experiment, Size
from dawa_bench.published import NOT_PRIVATE, labelled
from dawa_bench.tables import Table, means, number, sources
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "paper.stages"
EPSILON = "0.1"
MECHANISMS = ("dawa", "partition-laplace", "greedy-h", "dawa-2014-code", "partition-laplace-code")
WORKLOADS = {"quick": 2, "full": 5}
TRIALS = {"quick": 2, "full": 5}


def tasks(size: Size, data: Path | None) -> list[Task]:
    """Both stages, the first alone, and the second alone."""
    return [
        Task(NAME, dataset.name, datasets.load(dataset.name, data).kind, name, EPSILON, f"uniform-{at}", "", trial)
        for at in range(WORKLOADS[size])
        for trial in range(TRIALS[size])
        for dataset in datasets.LINES
        for name in MECHANISMS
    ]


def run(task: Task, data: Path | None) -> Measured:
    """One run."""
    counts = datasets.load(task.dataset, data).counts
    return contestants.judged(task, counts, contestants.workload_named(task.workload, len(counts)))


def tables(records: Sequence[Record]) -> list[Table]:
    """What each stage is worth."""
    found = means(records, lambda one: (one.task.mechanism, one.task.dataset))
    rows = []
    for dataset in datasets.LINES:
        code, both = found["dawa-2014-code", dataset.name], found["dawa", dataset.name]
        rows.append(
            [
                dataset.name,
                number(code),
                f"{found['partition-laplace-code', dataset.name] / code:.2f}",
                f"{found['greedy-h', dataset.name] / code:.2f}",
                number(both),
                f"{found['partition-laplace', dataset.name] / both:.2f}",
                f"{found['greedy-h', dataset.name] / both:.2f}",
            ]
        )
    return [
        Table(
            "Error of both stages, and what leaving one out multiplies it by, ε = 0.1",
            [
                "dataset",
                labelled("dawa-2014-code"),
                f"without its second stage, {NOT_PRIVATE}",
                "without a first stage (greedy-h)",
                "sound dawa",
                "without its second stage (partition-laplace)",
                "without a first stage (greedy-h)",
            ],
            rows,
            "The paper shows this as a figure without numbers, and says: the first stage is worth much on easy "
            "datasets and nearly nothing on hard ones; the second stage changes little on easy ones and much on hard "
            f"ones. On {sources(records)}.",
        )
    ]


def figure(records: Sequence[Record]) -> "Figure":
    """Errors by dataset."""
    found = means(records, lambda one: (one.task.mechanism, one.task.dataset))
    names = [one.name for one in datasets.LINES]
    sound = {name: [found[name, one] for one in names] for name in MECHANISMS[:3]}
    code = {
        name: [found[name, one] for one in names] for name in ("dawa-2014-code", "partition-laplace-code", "greedy-h")
    }
    drawn = {"sound": sound, f"published code ({NOT_PRIVATE})": code}
    return figures.panels(drawn, names, "mean error per query", columns=2, shared=True)


EXPERIMENT = Experiment(
    NAME,
    "The two stages in isolation",
    "What the partition is worth, and what the tree over it: the paper's Figure 4.",
    tasks,
    run,
    tables,
    figure,
)
