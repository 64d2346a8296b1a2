"""How far answers are from the truth, mechanism by mechanism.

``paper.errors`` is the paper's main figure and table: average error on uniform intervals, by dataset and budget.
``scale`` is DPBench's view: error against ε times the number of records, and how far each mechanism is from the best.
Only that product matters: a mechanism answers as well with twice the records and half of ε. So ε stays fixed, and
records are drawn from the shape of each dataset, from a thousand to ten million. ``paper.rounds`` finds how many rounds
suit MWEM on each dataset, for the other experiments. It tunes them on the data as the paper did, so it is NOT PRIVATE.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dawa.arrays import IntArray
from dawa_bench import datasets, display, paper, published
from dawa_bench.comparison import geometric
from dawa_bench.display import Table, means, number, sources
from dawa_bench.experiments import Experiment, Measured, Record, Size, Task
from dawa_bench.paper import CODE
from dawa_bench.published import labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERRORS, SCALE, TUNING = "paper.errors", "scale", "paper.rounds"
EPSILON = "0.1"
"""The budget of ``scale`` and ``paper.rounds``."""

PUBLISHED = (CODE, *published.RIVALS, published.MWEM)
SLOW = {"dawa-2014-all": {"quick": 0, "full": 1}}
"""Trials of mechanisms that take seconds."""

NEAR = 0.35
"""An entry of the paper's table of ratios counts as reproduced within this relative difference."""

WORKLOADS = {"quick": 2, "full": 5}
TRIALS = {"quick": 1, "full": 5}
SHOWN = ("dawa", CODE, "dawa-2014", "identity", "privelet", "mwem", "efpa", "php", "structure-first")

SCALES = {"quick": (10**3, 10**5, 10**7), "full": (10**3, 10**4, 10**5, 10**6, 10**7)}
ON_SCALES = (*(name for name in paper.ON_LINES if name != "dawa-2014-all"), CODE)
SHOWN_BY_SCALE = ("dawa", CODE, "identity", "privelet", "hb", "mwem", "efpa", "php", "uniform")

ROUNDS = {"quick": (10, 50, 100, 200), "full": tuple(range(10, 201, 10))}
ROUND_TRIALS = {"quick": 1, "full": 3}


def _error_tasks(size: Size, data: Path | None) -> list[Task]:
    """Every mechanism on every dataset, with every budget."""
    return [
        Task(ERRORS, dataset, kind, name, epsilon, f"uniform-{at}", "", trial)
        for at in range(WORKLOADS[size])
        for trial in range(TRIALS[size])
        for dataset, kind in paper.lines(data)
        for epsilon in paper.EPSILONS
        for name in (*paper.ON_LINES, *PUBLISHED)
        if trial < SLOW.get(name, TRIALS)[size]
    ]


def _error_run(task: Task, data: Path | None) -> Measured:
    return paper.on_line(task, data, **paper.told(task))


def ratios(records: Sequence[Record], epsilon: str, rival: str, base: str) -> list[float]:
    """The error of a mechanism over the error of another, by dataset."""
    found = _errors(records)
    return [
        found[dataset, epsilon, rival] / found[dataset, epsilon, base]
        for dataset in paper.DATASETS
        if (dataset, epsilon, rival) in found
    ]


def entries(records: Sequence[Record], base: str = CODE) -> list[tuple[str, str, str, float, float, float]]:
    """The paper's table entry by entry: ε, rival, which end, and three values: printed, published code, sound.

    Errors of published rivals are divided by those of ``base``.
    """
    found = []
    for epsilon in paper.EPSILONS:
        for at, rival in enumerate(paper.RIVALS):
            code = ratios(records, epsilon, paper.PUBLISHED_AS[rival], base)
            sound = ratios(records, epsilon, rival, "dawa")
            ends = (("smallest", paper.SMALLEST, min), ("largest", paper.LARGEST, max))
            for word, table, end in ends:
                found.append((epsilon, rival, word, table[epsilon][at], end(code), end(sound)))
    return found


def reproduced(records: Sequence[Record], base: str = CODE) -> int:
    """How many of the 48 entries the published mechanisms reproduce to within ``NEAR``."""
    return sum(abs(here / told - 1) <= NEAR for _, _, _, told, here, _ in entries(records, base))


def losses(records: Sequence[Record], least: float = 1.05) -> list[tuple[str, str, str, float]]:
    """Where a sound mechanism is better than ``dawa`` by more than 5%: dataset, ε, mechanism, and by what factor."""
    found = _errors(records)
    worse = []
    for dataset in paper.DATASETS:
        for epsilon in paper.EPSILONS:
            rivals = {name: found.get((dataset, epsilon, name)) for name in paper.ON_LINES}
            errors = {name: error for name, error in rivals.items() if error is not None}
            best = min(errors, key=errors.__getitem__)
            if errors["dawa"] > least * errors[best]:
                worse.append((dataset, epsilon, best, errors["dawa"] / errors[best]))
    return worse


def _error_tables(records: Sequence[Record]) -> list[Table]:
    """Ratios as in the paper, then errors of all mechanisms."""
    listed = {(epsilon, rival, word): rest for epsilon, rival, word, *rest in entries(records)}
    rows = []
    for epsilon in paper.EPSILONS:
        for rival in paper.RIVALS:
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
        f"Published code: every mechanism as in its research code, over {labelled(CODE)}. Sound: our mechanism of "
        f"that name over our `dawa`. The published code reproduces {reproduced(records)} of the paper's 48 entries "
        f"to within {NEAR:.0%}. On {sources(records)}.",
    )
    return [
        first,
        _against_code(records),
        _lost(records),
        *(_errors_at(records, epsilon) for epsilon in paper.EPSILONS),
    ]


def _against_code(records: Sequence[Record]) -> Table:
    """How sound mechanisms compare with the published code."""
    rows = []
    for rival in ("dawa", "dawa-2014", "greedy-h", "hb"):
        by = [ratios(records, epsilon, rival, CODE) for epsilon in paper.EPSILONS]
        rows.append([rival, *(f"{geometric(found):.2f} ({min(found):.2f} to {max(found):.2f})" for found in by)])
    return Table(
        f"Error of sound mechanisms over that of {labelled(CODE)}: geometric mean over the datasets, and range",
        ["mechanism", *(f"ε = {epsilon}" for epsilon in paper.EPSILONS)],
        rows,
    )


def _lost(records: Sequence[Record]) -> Table:
    rows = [[dataset, epsilon, name, f"{factor:.2f}"] for dataset, epsilon, name, factor in losses(records)]
    settings = len(paper.DATASETS) * len(paper.EPSILONS)
    return Table(
        "Where another sound mechanism is better than `dawa`",
        ["dataset", "ε", "mechanism", "error of dawa over its error"],
        rows,
        f"In {len(rows)} of {settings} settings, counting differences of more than 5%.",
    )


def _errors_at(records: Sequence[Record], epsilon: str) -> Table:
    found = _errors(records)
    shown = [name for name in (*paper.ON_LINES, *PUBLISHED) if (paper.DATASETS[0], epsilon, name) in found]
    rows = [[labelled(name), *(number(found[one, epsilon, name]) for one in paper.DATASETS)] for name in shown]
    return Table(f"Mean error per query, ε = {epsilon}", ["mechanism", *paper.DATASETS], rows)


def _error_figure(records: Sequence[Record]) -> "Figure":
    """The paper's main figure: a panel for each budget, datasets from easy to hard."""
    found = _errors(records)
    panels = {
        f"ε = {epsilon}": {name: [found[one, epsilon, name] for one in paper.DATASETS] for name in SHOWN}
        for epsilon in paper.EPSILONS
    }
    return display.panels(panels, paper.DATASETS, "mean error per query", columns=2)


def _errors(records: Sequence[Record]) -> dict[tuple[str, str, str], float]:
    return means(records, lambda record: (record.task.dataset, record.task.epsilon, record.task.mechanism))


def _scale_tasks(size: Size, data: Path | None) -> list[Task]:
    """Every mechanism, on every dataset, with more and more records."""
    return [
        Task(SCALE, dataset, kind, name, EPSILON, f"uniform-{trial}", str(records), trial)
        for trial in range(TRIALS[size])
        for dataset, kind in paper.lines(data)
        for records in SCALES[size]
        for name in ON_SCALES
    ]


@lru_cache(maxsize=64)
def drawn(name: str, data: Path | None, records: int) -> IntArray:
    """This many records, drawn from the shape of a dataset."""
    counts = datasets.load(name, data).counts
    found: IntArray = np.random.default_rng(records).multinomial(records, counts / counts.sum()).astype(np.int64)
    return found


def _scale_run(task: Task, data: Path | None) -> Measured:
    counts = drawn(task.dataset, data, int(task.setting))
    return paper.judged(task, counts, paper.workload_named(task.workload, len(counts)))


def _by_scale(records: Sequence[Record]) -> dict[tuple[str, int, str], float]:
    return means(records, lambda one: (one.task.dataset, int(one.task.setting), one.task.mechanism))


def regrets(records: Sequence[Record]) -> dict[tuple[int, str], float]:
    """By scale and mechanism: its error over the least error of all sound mechanisms, geometric mean over datasets."""
    found = _by_scale(records)
    least = {
        (dataset, scale): min(
            error for (d, s, name), error in found.items() if (d, s) == (dataset, scale) and name != CODE
        )
        for dataset, scale, _ in found
    }
    return {
        (scale, name): geometric(
            error / least[d, s] for (d, s, who), error in found.items() if (s, who) == (scale, name)
        )
        for _, scale, name in found
    }


def _scale_tables(records: Sequence[Record]) -> list[Table]:
    """Regret by scale, and which mechanism is best where."""
    found, regret = _by_scale(records), regrets(records)
    scales = sorted({scale for scale, _ in regret})
    overall = {name: geometric(regret[scale, name] for scale in scales) for name in ON_SCALES}
    rows = [
        [labelled(name), *(f"{regret[scale, name]:.2f}" for scale in scales), f"{overall[name]:.2f}"]
        for name in sorted(ON_SCALES, key=overall.__getitem__)
    ]
    best = []
    for one in paper.DATASETS:
        row = [one]
        for scale in scales:
            errors = {name: found[one, scale, name] for name in ON_SCALES if name != CODE}
            first = min(errors, key=errors.__getitem__)
            row.append(first if first == "dawa" else f"{first} ({errors['dawa'] / errors[first]:.2f})")
        best.append(row)
    columns = [f"{float(EPSILON) * scale:,.0f}" for scale in scales]
    return [
        Table(
            "Regret: error over that of the best sound mechanism on each dataset, by ε × records",
            ["mechanism", *columns, "all"],
            rows,
            f"Geometric means over the datasets. {labelled(CODE)} does not compete, so it may be below 1. The paper "
            f"has no such table. On the shapes of {sources(records)}.",
        ),
        Table(
            "The best sound mechanism, and, if that is not `dawa`, the error of `dawa` over its error",
            ["dataset", *columns],
            best,
        ),
    ]


def _scale_figure(records: Sequence[Record]) -> "Figure":
    """Error per record against ε × records, by dataset."""
    found = _by_scale(records)
    scales = sorted({scale for _, scale, _ in found})
    panels = {
        one: {name: [found[one, scale, name] / scale for scale in scales] for name in SHOWN_BY_SCALE}
        for one in paper.DATASETS
    }
    places = [float(EPSILON) * scale for scale in scales]
    return display.panels(panels, places, "error ÷ records", columns=4, across="ε × records", numeric=True)


def _round_tasks(size: Size, data: Path | None) -> list[Task]:
    """Every number of rounds on every dataset."""
    return [
        Task(TUNING, dataset, kind, published.MWEM, EPSILON, f"uniform-{at}", str(rounds), trial)
        for dataset, kind in paper.lines(data)
        for rounds in ROUNDS[size]
        for at in range(WORKLOADS[size])
        for trial in range(ROUND_TRIALS[size])
    ]


def _round_run(task: Task, data: Path | None) -> Measured:
    return paper.on_line(task, data, rounds=int(task.setting))


def _round_tables(records: Sequence[Record]) -> list[Table]:
    """The best number for each dataset."""
    found = means(records, lambda one: (one.task.dataset, int(one.task.setting)))
    rows = []
    for one in paper.DATASETS:
        by = {rounds: error for (name, rounds), error in found.items() if name == one}
        best = min(by, key=by.__getitem__)
        used = published.ROUNDS[one]
        rows.append([one, str(best), number(by[best]), str(used), number(by.get(used))])
    return [
        Table(
            f"Rounds of {labelled(published.MWEM)} with the least error, ε = {EPSILON}",
            ["dataset", "best here", "error", "used in all experiments", "error"],
            rows,
            "The paper tuned the rounds on the data and does not print them. Our sound `mwem` computes them from ε and "
            f"a noisy number of records. On {sources(records)}.",
        )
    ]


EXPERIMENTS = (
    Experiment(
        ERRORS,
        "Average error on uniform intervals",
        "2,000 uniform intervals on seven histograms of 4,096 cells: the paper's Figure 3 and Table 2.",
        _error_tasks,
        _error_run,
        _error_tables,
        _error_figure,
    ),
    Experiment(
        SCALE,
        "Error against ε × records",
        "DPBench's view: which mechanism is best at which ε × records.",
        _scale_tasks,
        _scale_run,
        _scale_tables,
        _scale_figure,
    ),
    Experiment(
        TUNING, "Rounds of MWEM", "How many rounds MWEM uses on each dataset.", _round_tasks, _round_run, _round_tables
    ),
)
