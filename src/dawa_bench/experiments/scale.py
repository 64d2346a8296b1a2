"""DPBench's view: error against ε times the number of records, and how far each mechanism is from the best.

What matters is the product of budget and records: a mechanism answers as well with twice the records and half of ε. So
ε stays, and records are drawn from the shape of each dataset, from a thousand to ten million.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dawa.arrays import IntArray
from dawa_bench import contestants, datasets, figures
from dawa_bench.contestants import judged, workload_named
from dawa_bench.experiment import Experiment, Size
from dawa_bench.published import labelled
from dawa_bench.tables import Table, geometric, means, sources
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "scale"
EPSILON = "0.1"
CODE = "dawa-2014-code"
SCALES = {"quick": (10**3, 10**5, 10**7), "full": (10**3, 10**4, 10**5, 10**6, 10**7)}
TRIALS = {"quick": 1, "full": 5}
NAMES = (*(name for name in contestants.ON_LINES if name != "dawa-2014-all"), CODE)
SHOWN = ("dawa", CODE, "identity", "privelet", "hb", "mwem", "efpa", "php", "uniform")


def tasks(size: Size, data: Path | None) -> list[Task]:
    """Every mechanism, on every dataset, with more and more records."""
    return [
        Task(NAME, one.name, datasets.load(one.name, data).kind, name, EPSILON, f"uniform-{trial}", str(records), trial)
        for trial in range(TRIALS[size])
        for one in datasets.LINES
        for records in SCALES[size]
        for name in NAMES
    ]


@lru_cache(maxsize=64)
def drawn(name: str, data: Path | None, records: int) -> IntArray:
    """So many records from the shape of a dataset."""
    counts = datasets.load(name, data).counts
    found: IntArray = np.random.default_rng(records).multinomial(records, counts / counts.sum()).astype(np.int64)
    return found


def run(task: Task, data: Path | None) -> Measured:
    """One run."""
    counts = drawn(task.dataset, data, int(task.setting))
    return judged(task, counts, workload_named(task.workload, len(counts)))


def _errors(records: Sequence[Record]) -> dict[tuple[str, int, str], float]:
    return means(records, lambda one: (one.task.dataset, int(one.task.setting), one.task.mechanism))


def regrets(records: Sequence[Record]) -> dict[tuple[int, str], float]:
    """By scale and mechanism: its error over the least error of all sound ones, as a geometric mean over datasets."""
    found = _errors(records)
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


def tables(records: Sequence[Record]) -> list[Table]:
    """Regret by scale, and who is best where."""
    found, regret = _errors(records), regrets(records)
    scales = sorted({scale for scale, _ in regret})
    overall = {name: geometric(regret[scale, name] for scale in scales) for name in NAMES}
    rows = [
        [labelled(name), *(f"{regret[scale, name]:.2f}" for scale in scales), f"{overall[name]:.2f}"]
        for name in sorted(NAMES, key=overall.__getitem__)
    ]
    best = []
    for one in datasets.LINES:
        row = [one.name]
        for scale in scales:
            errors = {name: found[one.name, scale, name] for name in NAMES if name != CODE}
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
            "The best sound mechanism, and the error of `dawa` over its error where that is another one",
            ["dataset", *columns],
            best,
        ),
    ]


def figure(records: Sequence[Record]) -> "Figure":
    """Error per record against ε × records, by dataset."""
    found = _errors(records)
    scales = sorted({scale for _, scale, _ in found})
    panels = {
        one.name: {name: [found[one.name, scale, name] / scale for scale in scales] for name in SHOWN}
        for one in datasets.LINES
    }
    places = [float(EPSILON) * scale for scale in scales]
    return figures.panels(panels, places, "error ÷ records", columns=4, across="ε × records", numeric=True)


EXPERIMENT = Experiment(
    NAME,
    "Error against ε × records",
    "DPBench's view: which mechanism suits how much signal.",
    tasks,
    run,
    tables,
    figure,
)
