"""What smooth insides are worth: ``python -m dawa_bench.insides``.

The same estimates with their buckets' records spread evenly, and placed smoothly: the mean L1 error of smooth insides
over that of even ones, on the queries that the mechanism was given and on as many fresh ones that it did not see. The
same for negative totals: evened out by the nearest running sums that never fall, as the default does, or not at all.

Beside it, how long it takes to place records and to answer all fresh queries, as a part of the time of the estimate in
the same run; the mean half-width of the intervals of fresh queries with smooth insides, over that with even ones; and
how many of the intervals hold the truth, where 95% is promised.

Examples:
  python -m dawa_bench.insides               histograms, four epsilons
  python -m dawa_bench.insides --axes 2      maps
  python -m dawa_bench.insides --generated   on generated data, which nothing was chosen on
"""

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np

import dawa
from dawa import Workload
from dawa.arrays import FloatArray, IntArray
from dawa.results import ends
from dawa.results.answers import Ranged, answers
from dawa.results.estimate import Estimate
from dawa_bench import accuracy, comparison, maps
from dawa_bench.comparison import Errors, geometric

INTERVALS = 200
"""Fresh queries of which intervals are computed."""


@dataclass(frozen=True)
class Found:
    """One estimate with both insides.

    Attributes:
        even: Errors with records spread evenly.
        smooth: Errors with records placed smoothly.
        raw: Errors with records spread evenly, and negative totals as they were measured.
        time: Seconds of placing and answering over those of the estimate.
        width: The width of intervals over that with even insides.
        held: How many intervals hold the truth, as a part.
    """

    even: Errors
    smooth: Errors
    raw: Errors
    time: float
    width: float
    held: float


def once(counts: IntArray, given: Workload, fresh: Workload, epsilon: str, seed: int, effort: str) -> Found:
    """One run."""
    dawa.estimate(np.zeros(counts.shape, np.int64), given, epsilon=epsilon, seed=seed, effort="fast").answers(fresh)
    begin = time.perf_counter()
    smooth = dawa.estimate(counts, given, epsilon=epsilon, seed=seed, effort=effort)
    made = time.perf_counter()
    smooth.answers(fresh)
    answered = time.perf_counter()
    even = replace(smooth, inside="even")
    raw = replace(even, totals=even.unbiased)
    true = fresh.answers(counts)[:INTERVALS]
    (low, high), (even_low, even_high) = (intervals(one, fresh) for one in (smooth, even))
    return Found(
        Errors.of(even, counts, given, fresh),
        Errors.of(smooth, counts, given, fresh),
        Errors.of(raw, counts, given, fresh),
        (answered - made) / (made - begin),
        float((high - low).mean() / (even_high - even_low).mean()),
        float(((low <= true) & (true <= high)).mean()),
    )


def intervals(estimate: Estimate, asked: Workload) -> tuple[FloatArray, FloatArray]:
    """The ends of the intervals of the first queries, at 95%."""
    lo, hi = (asked.lo[:, None], asked.hi[:, None]) if asked.boxes is None else asked.boxes
    lo, hi = (np.asarray(side[:INTERVALS], np.float64) for side in (lo, hi))
    border = ends.border_cells(lo, hi, estimate.shape)
    queries = estimate.buckets.queries(Workload.rectangles(lo, hi, estimate.shape))
    found = answers([Ranged(estimate, queries, border, np.ones(len(lo), bool))], 0.95)
    return np.array([one.low for one in found]), np.array([one.high for one in found])


def queries(counts: IntArray, trial: int) -> tuple[Workload, Workload]:
    """Given and fresh queries for data of this shape."""
    if counts.ndim > 1:
        return maps.rectangles(counts.shape, maps.GIVEN), maps.rectangles(counts.shape, maps.FRESH)
    given, fresh = (
        dawa.workloads.uniform(len(counts), accuracy.QUERIES, seed=trial + first) for first in (0, accuracy.UNSEEN)
    )
    return given, fresh


def main() -> None:
    """Print a line for each dataset and epsilon, and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--generated", action="store_true", help="generated data, even if there are real ones")
    parser.add_argument("--effort", choices=("best", "fast"), default="fast")
    parser.add_argument("--trials", type=int, default=10)
    chosen = parser.parse_args()
    kind, data = comparison.measured_on(chosen.axes)
    if chosen.generated:
        made = comparison.generated_histograms() if chosen.axes == 1 else comparison.generated_maps()
        kind, data = "generated", made
    print(f"{kind} data, {chosen.trials} trials, effort={chosen.effort}: smooth insides over even ones")
    print(
        f"{'dataset':20} {'epsilon':>7} {'given':>7} {'fresh':>7} {'raw/even':>8} {'time':>6} {'width':>6} {'held':>6}"
    )
    given, fresh = [], []
    for name, counts in data.items():
        for epsilon in comparison.EPSILONS if chosen.axes == 1 else maps.EPSILONS:
            runs = [
                once(counts, *queries(counts, trial), epsilon, 7000 + trial, chosen.effort)
                for trial in range(chosen.trials)
            ]
            even, smooth, raw = (
                Errors.mean([getattr(run, form) for run in runs]) for form in ("even", "smooth", "raw")
            )
            given.append(smooth.given / even.given)
            fresh.append(smooth.fresh / even.fresh)
            time_, width, held = (np.mean([getattr(run, part) for run in runs]) for part in ("time", "width", "held"))
            print(
                f"{name:20} {epsilon:>7} {given[-1]:7.3f} {fresh[-1]:7.3f} {raw.fresh / even.fresh:8.3f}"
                f" {time_:6.3f} {width:6.3f} {held:6.3f}",
                flush=True,
            )
    print(
        f"geometric mean: given {geometric(given):.3f} (largest {max(given):.3f}),"
        f" fresh {geometric(fresh):.3f} (largest {max(fresh):.3f})"
    )


if __name__ == "__main__":
    main()
