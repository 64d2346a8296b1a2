"""What can be promised with and without buckets: ``python -m dawa_bench.guarantee``.

For each dataset, cut down to some sizes, and each epsilon: the mean half-width of the guaranteed intervals of fresh
ranges, with ``aim="guarantee"`` as a ratio to ``aim="error"``, and the ratio of their mean errors. Below 1, it promises
more; the second ratio says what that costs.
"""

import argparse
from dataclasses import dataclass

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


def measured(counts: IntArray, epsilon: str, aim: str, trials: int) -> Widths:
    """The intervals of ranges that no mechanism was told about."""
    fresh = dawa.workloads.uniform(len(counts), QUERIES, seed=UNSEEN)
    found = [_once(dawa.estimate(counts, epsilon=epsilon, seed=seed, aim=aim), counts, fresh) for seed in range(trials)]
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
    chosen = parser.parse_args()
    kind, histograms = comparison.measured_on(1)
    print(f"{kind} data, {QUERIES} fresh ranges, {chosen.trials} trials: aim='guarantee' / aim='error'")
    widths, errors = [], []
    for name, counts in histograms.items():
        for size in (size for size in SIZES if size <= len(counts)):
            cells = counts[: len(counts) // size * size].reshape(size, -1).sum(axis=1)
            for epsilon in EPSILONS:
                sure, close = (measured(cells, epsilon, aim, chosen.trials) for aim in ("guarantee", "error"))
                widths.append(sure.promised / close.promised)
                errors.append(sure.error / close.error)
                print(
                    f"{name:12} {size:5} cells, epsilon {epsilon:5} ±{sure.promised:8.0f} / ±{close.promised:8.0f}"
                    f" = {widths[-1]:.2f}, error {errors[-1]:.2f}",
                    flush=True,
                )
    print(
        f"geometric means: promised {geometric(widths):.2f}, error {geometric(errors):.2f}; largest {max(widths):.2f}"
    )


if __name__ == "__main__":
    main()
