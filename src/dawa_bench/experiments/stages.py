"""The two stages of DAWA, and what to measure in the second.

``paper.stages`` is the paper's Figure 4: each stage without the other. ``paper.scaling`` is its Figure 6: what to
measure over a partition, on four workloads.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dawa_bench import datasets, display, paper
from dawa_bench.display import Table, means, number, sources
from dawa_bench.experiments import Experiment, Measured, Record, Size, Task
from dawa_bench.paper import CODE
from dawa_bench.published import NOT_PRIVATE, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAGES, SCALING = "paper.stages", "paper.scaling"
EPSILON = "0.1"
MECHANISMS = ("dawa", "partition-laplace", "greedy-h", CODE, "partition-laplace-code")
WORKLOADS = {"quick": 2, "full": 5}
TRIALS = {"quick": 2, "full": 5}

SCALED = ("nettrace", "searchlogs", "hepth")
KINDS = ("identity", "uniform", "clustered", "large-clustered")
SOUND = {
    "greedy": "dawa",
    "uniform": "partition-uniform",
    "geometric": "partition-geometric",
    "laplace": "partition-laplace",
}
"""The four ways of the paper to measure; the first is our walk with the paper's greedy tree."""

PUBLISHED = {name: f"partition-{name}-code" for name in ("uniform", "geometric", "laplace")} | {"greedy": CODE}
"""The same four over the published first stage, NOT PRIVATE."""


def _stage_tasks(size: Size, data: Path | None) -> list[Task]:
    """Both stages, the first alone, and the second alone."""
    return [
        Task(STAGES, dataset, kind, name, EPSILON, f"uniform-{at}", "", trial)
        for at in range(WORKLOADS[size])
        for trial in range(TRIALS[size])
        for dataset, kind in paper.lines(data)
        for name in MECHANISMS
    ]


def _stage_tables(records: Sequence[Record]) -> list[Table]:
    """What each stage is worth."""
    found = means(records, lambda one: (one.task.mechanism, one.task.dataset))
    rows = []
    for dataset in paper.DATASETS:
        code, both = found[CODE, dataset], found["dawa", dataset]
        rows.append(
            [
                dataset,
                number(code),
                f"{found['partition-laplace-code', dataset] / code:.2f}",
                f"{found['greedy-h', dataset] / code:.2f}",
                number(both),
                f"{found['partition-laplace', dataset] / both:.2f}",
                f"{found['greedy-h', dataset] / both:.2f}",
            ]
        )
    return [
        Table(
            "Error of both stages, and by what factor it grows without one of them, ε = 0.1",
            [
                "dataset",
                labelled(CODE),
                f"without its second stage, {NOT_PRIVATE}",
                "without a first stage (greedy-h)",
                "sound dawa",
                "without its second stage (partition-laplace)",
                "without a first stage (greedy-h)",
            ],
            rows,
            "The paper shows this as a figure without numbers, and says: the first stage helps much on easy datasets "
            "and hardly at all on hard ones; the second stage changes little on easy datasets and much on hard ones. "
            f"On {sources(records)}.",
        )
    ]


def _stage_figure(records: Sequence[Record]) -> "Figure":
    """Errors by dataset."""
    found = means(records, lambda one: (one.task.mechanism, one.task.dataset))
    parts = {
        "sound": MECHANISMS[:3],
        f"published code ({NOT_PRIVATE})": (CODE, "partition-laplace-code", "greedy-h"),
    }
    drawn = {
        title: {name: [found[name, one] for one in paper.DATASETS] for name in names} for title, names in parts.items()
    }
    return display.panels(drawn, paper.DATASETS, "mean error per query", columns=2, shared=True)


def _scaling_tasks(size: Size, data: Path | None) -> list[Task]:
    """Every way to measure, over both kinds of partitions; and the default, which searches for the best."""
    runs = (
        [(name, how) for how, name in SOUND.items()]
        + [(name, how) for how, name in PUBLISHED.items()]
        + [("dawa", "best")]
    )
    return [
        Task(SCALING, name, datasets.load(name, data).kind, mechanism, EPSILON, workload, how, trial)
        for name in SCALED
        for kind in KINDS
        for workload in ([kind] if kind == "identity" else [f"{kind}-{at}" for at in range(WORKLOADS[size])])
        for trial in range(TRIALS[size] * (WORKLOADS[size] if kind == "identity" else 1))
        for mechanism, how in runs
    ]


def _scaling_run(task: Task, data: Path | None) -> Measured:
    if (task.mechanism, task.setting) == ("dawa", "greedy"):
        return paper.on_line(task, data, strategy="greedy", postprocess="none")
    return paper.on_line(task, data)


def _kind(record: Record) -> str:
    workload = record.task.workload
    return workload if workload == "identity" else workload.rpartition("-")[0]


def _by_workload(records: Sequence[Record]) -> dict[tuple[str, str, str, str], float]:
    return means(records, lambda one: (one.task.dataset, _kind(one), one.task.mechanism, one.task.setting))


def _scaling_tables(records: Sequence[Record]) -> list[Table]:
    """Errors by dataset and workload."""
    found = _by_workload(records)
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
            *(number(found[dataset, kind, PUBLISHED[how], how]) for how in SOUND),
            *(number(found[dataset, kind, name, how]) for how, name in SOUND.items()),
            number(found[dataset, kind, "dawa", "best"]),
        ]
        for dataset in SCALED
        for kind in KINDS
    ]
    note = (
        f"Code: over the published first stage, {NOT_PRIVATE}. Sound: over our walk. Best: `dawa` with its defaults. "
        "The paper shows this as a figure without numbers, and says that greedy always beats geometric on uniform "
        f"intervals and is the same as Laplace on identity. On {sources(records)}."
    )
    return [Table("Mean error per query by what is measured over the partition, ε = 0.1", columns, rows, note)]


def _scaling_figure(records: Sequence[Record]) -> "Figure":
    """A panel for each dataset and kind of partition."""
    found = _by_workload(records)
    drawn = {}
    for code in (False, True):
        for dataset in SCALED:
            title = f"{dataset}, {NOT_PRIVATE} code" if code else f"{dataset}, sound"
            lines = {
                how: [found[dataset, kind, PUBLISHED[how] if code else SOUND[how], how] for kind in KINDS]
                for how in SOUND
            }
            if not code:
                lines["best"] = [found[dataset, kind, "dawa", "best"] for kind in KINDS]
            drawn[title] = lines
    return display.panels(drawn, KINDS, "mean error per query", columns=3)


EXPERIMENTS = (
    Experiment(
        STAGES,
        "The two stages in isolation",
        "How much the partition helps, and how much the tree over it: the paper's Figure 4.",
        _stage_tasks,
        paper.on_line,
        _stage_tables,
        _stage_figure,
    ),
    Experiment(
        SCALING,
        "What to measure over a partition",
        "Greedy, uniform, geometric and Laplace on the four workloads and three datasets: the paper's Figure 6.",
        _scaling_tasks,
        _scaling_run,
        _scaling_tables,
        _scaling_figure,
    ),
)
