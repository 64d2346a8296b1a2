"""The paper's main figure and table: average error on uniform intervals, by dataset, budget and mechanism."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dawa_bench import contestants, datasets, figures, printed
from dawa_bench.contestants import judged, workload_named
from dawa_bench.experiment import Experiment, Size
from dawa_bench.published import RIVALS, labelled
from dawa_bench.tables import Table, geometric, means, number, sources
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "paper.errors"
CODE = "dawa-2014-code"
PUBLISHED = (CODE, *RIVALS, "mwem-2012-code")
SLOW = {"dawa-2014-all": {"quick": 0, "full": 1}}
"""Trials of those that take seconds."""

NEAR = 0.35
"""How near to the paper's an entry of its table of ratios counts as reproduced."""

WORKLOADS = {"quick": 2, "full": 5}
TRIALS = {"quick": 1, "full": 5}
SHOWN = ("dawa", CODE, "dawa-2014", "identity", "privelet", "mwem", "efpa", "php", "structure-first")


def tasks(size: Size, data: Path | None) -> list[Task]:
    """Every mechanism on every dataset, with every budget."""
    return [
        Task(NAME, dataset.name, datasets.load(dataset.name, data).kind, name, epsilon, f"uniform-{number_}", "", trial)
        for number_ in range(WORKLOADS[size])
        for trial in range(TRIALS[size])
        for dataset in datasets.LINES
        for epsilon in printed.EPSILONS
        for name in (*contestants.ON_LINES, *PUBLISHED)
        if trial < SLOW.get(name, TRIALS)[size]
    ]


def run(task: Task, data: Path | None) -> Measured:
    """One run."""
    counts = datasets.load(task.dataset, data).counts
    return judged(task, counts, workload_named(task.workload, len(counts)), **contestants.told(task))


def ratios(records: Sequence[Record], epsilon: str, rival: str, base: str) -> list[float]:
    """The error of a mechanism over that of another, by dataset."""
    found = _errors(records)
    return [
        found[dataset.name, epsilon, rival] / found[dataset.name, epsilon, base]
        for dataset in datasets.LINES
        if (dataset.name, epsilon, rival) in found
    ]


def entries(records: Sequence[Record], base: str = CODE) -> list[tuple[str, str, str, float, float, float]]:
    """The paper's table entry by entry: ε, rival, which end, as printed, as published here, as sound here.

    Published rivals are divided by ``base``.
    """
    found = []
    for epsilon in printed.EPSILONS:
        for at, rival in enumerate(printed.RIVALS):
            published = ratios(records, epsilon, printed.PUBLISHED_AS[rival], base)
            sound = ratios(records, epsilon, rival, "dawa")
            ends = (("smallest", printed.SMALLEST, min), ("largest", printed.LARGEST, max))
            for word, table, end in ends:
                found.append((epsilon, rival, word, table[epsilon][at], end(published), end(sound)))
    return found


def reproduced(records: Sequence[Record], base: str = CODE) -> int:
    """How many of the 48 entries the published mechanisms give again, to within ``NEAR``."""
    return sum(abs(here / paper - 1) <= NEAR for _, _, _, paper, here, _ in entries(records, base))


def losses(records: Sequence[Record], least: float = 1.05) -> list[tuple[str, str, str, float]]:
    """Where a sound mechanism is better than ``dawa`` by more than a little: dataset, ε, which, and by what factor."""
    found = _errors(records)
    worse = []
    for dataset in datasets.LINES:
        for epsilon in printed.EPSILONS:
            rivals = {name: found.get((dataset.name, epsilon, name)) for name in contestants.ON_LINES}
            errors = {name: error for name, error in rivals.items() if error is not None}
            best = min(errors, key=errors.__getitem__)
            if errors["dawa"] > least * errors[best]:
                worse.append((dataset.name, epsilon, best, errors["dawa"] / errors[best]))
    return worse


def tables(records: Sequence[Record]) -> list[Table]:
    """Ratios as in the paper, then errors of all mechanisms."""
    listed = {(epsilon, rival, word): rest for epsilon, rival, word, *rest in entries(records)}
    rows = []
    for epsilon in printed.EPSILONS:
        for rival in printed.RIVALS:
            ends = [f"{value:.2f}" for word in ("smallest", "largest") for value in listed[epsilon, rival, word]]
            rows.append([epsilon, rival, *ends])
    first = Table(
        "Error over DAWA's: smallest and largest over the datasets",
        [
            "ε",
            "mechanism",
            "smallest: paper",
            "published code, NOT PRIVATE",
            "sound",
            "largest: paper",
            "published code, NOT PRIVATE",
            "sound",
        ],
        rows,
        f"Published code: every mechanism as its research code has it, over {labelled(CODE)}. Sound: our mechanism of "
        f"that name over our `dawa`. {reproduced(records)} of the paper's 48 entries are reproduced by the published "
        f"code to within {NEAR:.0%}. On {sources(records)}.",
    )
    return [first, _against_code(records), _lost(records), *(_of(records, epsilon) for epsilon in printed.EPSILONS)]


def _against_code(records: Sequence[Record]) -> Table:
    """How the sound mechanism compares with the one that is not."""
    rows = []
    for rival in ("dawa", "dawa-2014", "greedy-h", "hb"):
        by = [ratios(records, epsilon, rival, CODE) for epsilon in printed.EPSILONS]
        rows.append([rival, *(f"{geometric(found):.2f} ({min(found):.2f} to {max(found):.2f})" for found in by)])
    return Table(
        f"Error of sound mechanisms over that of {labelled(CODE)}: geometric mean over the datasets, and range",
        ["mechanism", *(f"ε = {epsilon}" for epsilon in printed.EPSILONS)],
        rows,
    )


def _lost(records: Sequence[Record]) -> Table:
    rows = [[dataset, epsilon, name, f"{factor:.2f}"] for dataset, epsilon, name, factor in losses(records)]
    number_ = len(datasets.LINES) * len(printed.EPSILONS)
    return Table(
        "Where another sound mechanism is better than `dawa`",
        ["dataset", "ε", "mechanism", "error of dawa over its error"],
        rows,
        f"In {len(rows)} of {number_} settings, counting differences of more than 5%.",
    )


def _of(records: Sequence[Record], epsilon: str) -> Table:
    found = _errors(records)
    shown = [name for name in (*contestants.ON_LINES, *PUBLISHED) if (datasets.LINES[0].name, epsilon, name) in found]
    rows = [[labelled(name), *(number(found[one.name, epsilon, name]) for one in datasets.LINES)] for name in shown]
    return Table(f"Mean error per query, ε = {epsilon}", ["mechanism", *(one.name for one in datasets.LINES)], rows)


def figure(records: Sequence[Record]) -> "Figure":
    """The paper's main figure: a panel for each budget, datasets from easy to hard."""
    found = _errors(records)
    names = [one.name for one in datasets.LINES]
    panels = {
        f"ε = {epsilon}": {name: [found[one, epsilon, name] for one in names] for name in SHOWN}
        for epsilon in printed.EPSILONS
    }
    return figures.panels(panels, names, "mean error per query", columns=2)


def _errors(records: Sequence[Record]) -> dict[tuple[str, str, str], float]:
    return means(records, lambda record: (record.task.dataset, record.task.epsilon, record.task.mechanism))


EXPERIMENT = Experiment(
    NAME,
    "Average error on uniform intervals",
    "2,000 uniform intervals on seven histograms of 4,096 cells: the paper's Figure 3 and Table 2.",
    tasks,
    run,
    tables,
    figure,
)
