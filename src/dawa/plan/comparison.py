"""Several mechanisms on one public table: who wins, and by how much more than chance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from dawa import budget, check, mechanisms, pipeline, progress
from dawa.axis import Axis, AxisLike
from dawa.budget import Epsilon
from dawa.errors import AxisError, DawaError, OptionError
from dawa.limits import MOST_RUNS_COMPARED
from dawa.mechanisms import MechanismLike
from dawa.plan import data, trial
from dawa.plan.data import Data
from dawa.plan.prediction import Prediction, Setting, hasty
from dawa.plan.standins import SEED
from dawa.queries.workload import Workload
from dawa.sources.tables import TableLike
from dawa.sources.where import Where

USUAL = ("dawa", "dawa-2014", "greedy-h", "identity", "hb", "privtree", "uniform")
"""What is compared unless somebody names others: the default, the paper's, and what either has to beat."""
USUAL_ON_MAPS = ("dawa", "quadtree", "ugrid", "agrid", "identity", "privtree", "uniform")
EPSILONS = ("0.1", "1")
RUNS = 5


@dataclass(frozen=True)
class Row:
    """One mechanism at one epsilon.

    Attributes:
        mechanism: Its name.
        epsilon: The budget.
        errors: Its errors over several runs.
        ratio: Its mean error, over that of the best at this epsilon.
        tied: Whether it cannot be told from the best: the gap is below three standard errors.
    """

    mechanism: str
    epsilon: Fraction
    errors: Prediction
    ratio: float
    tied: bool


@dataclass(frozen=True)
class Comparison:
    """What came of it.

    Attributes:
        records: How many records the table has on these axes.
        shape: Cells along each axis.
        queries: How many ranges were asked.
        runs: How often each mechanism ran.
        rows: The mechanisms, from the best to the worst, for one epsilon after the other.
        refused: Mechanisms that do not take this domain, and why.
    """

    records: int
    shape: tuple[int, ...]
    queries: int
    runs: int
    rows: tuple[Row, ...]
    refused: dict[str, str]

    def errors(self) -> dict[str, dict[str, float]]:
        """Mean errors by mechanism and epsilon, as ``dawa.plots.errors`` takes them."""
        found: dict[str, dict[str, float]] = {}
        for row in self.rows:
            found.setdefault(row.mechanism, {})[f"ε = {budget.shown(row.epsilon)}"] = max(row.errors.mean, 1e-9)
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        rows = [{**asdict(row), "epsilon": str(row.epsilon)} for row in self.rows]
        return {**asdict(self), "shape": list(self.shape), "rows": rows, "private": False}


def compared(
    table: TableLike,
    axes: AxisLike,
    names: Sequence[MechanismLike] = (),
    *,
    epsilons: Sequence[Epsilon] = EPSILONS,
    runs: int = RUNS,
    where: Where | str | None = None,
    workload: Workload | None = None,
    effort: str = "fast",
) -> Comparison:
    """Run mechanisms on a PUBLIC table, which is read WITHOUT any privacy, and compare their answers with the truth.

    Args:
        table: A table that holds nothing to protect.
        axes: As for ``dawa.release``.
        names: Mechanisms; a customary few if there are none.
        epsilons: The budgets.
        runs: How often each is run, with noise of its own.
        where: Which records are counted.
        workload: What is asked; None asks random ranges.
        effort: ``"fast"`` takes a strategy that needs no search, ``"best"`` searches as releases do.

    Raises:
        DawaError: If the table does not fit the axes, or a mechanism or a budget is none.

    >>> import dawa
    >>> table = {"age": [20] * 500 + [50] * 200}
    >>> found = compared(table, dawa.Axis("age", 0, 100), ["dawa", "identity"], epsilons=[0.1], runs=3)
    >>> found.records, len(found.rows)
    (700, 2)
    """
    along = tuple(axis for axis in pipeline.listed_axes(axes) if isinstance(axis, Axis))
    if len(along) < len(pipeline.listed_axes(axes)):
        raise AxisError("A comparison needs axes with bounds.", "name the bounds: --range 0:120.")
    check.one_of(effort, "effort", ("fast", "best"))
    totals = tuple(dict.fromkeys(budget.exact(epsilon) for epsilon in epsilons))
    chosen = [mechanisms.configured(one, {}) for one in names or (USUAL if len(along) == 1 else USUAL_ON_MAPS)]
    if len({one.name for one in chosen}) < len(chosen):
        raise OptionError("A mechanism is named twice.", "name each of them once.")
    times = check.whole(runs, "runs", 2, MOST_RUNS_COMPARED)
    pipeline.asked(workload, tuple(axis.size for axis in along))
    progress.reached("Reading the public table")
    known = data.read(table, along, where=where)
    trial.check_size(known.shape, len(known.cells))
    rows: list[Row] = []
    refused: dict[str, str] = {}
    asked = 0
    for total in totals:
        found: list[tuple[str, Prediction]] = []
        for one in chosen:
            options = one.changed() if effort == "best" else hasty(one.name, one.changed())
            setting = Setting.of(known.shape, total, one.name, options, workload)
            asked = len(setting.asked)
            progress.reached(f"Running {one.name}")
            try:
                found.append((one.name, _several(setting, known, times)))
            except DawaError as error:
                refused[one.name] = error.problem
        rows += _ranked(total, found)
    if not rows:
        raise OptionError("None of these mechanisms takes this domain.", next(iter(refused.values())))
    kept = tuple(row for row in rows if row.mechanism not in refused)
    return Comparison(known.records, known.shape, asked, times, kept, refused)


def _several(setting: Setting, known: Data, times: int) -> Prediction:
    return Prediction.of(known.name, [setting.run(known, SEED + number) for number in range(times)])


def _ranked(epsilon: Fraction, found: list[tuple[str, Prediction]]) -> list[Row]:
    """From the best to the worst."""
    order = sorted(found, key=lambda one: one[1].mean)
    rows = []
    for name, errors in order:
        best = order[0][1]
        gap = errors.mean - best.mean
        apart = 3 * (errors.spread**2 + best.spread**2) ** 0.5
        rows.append(Row(name, epsilon, errors, errors.mean / max(best.mean, 1e-9), gap <= apart))
    return rows
