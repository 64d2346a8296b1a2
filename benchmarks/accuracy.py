"""Mean L1 error per query, as a ratio: ``python -m benchmarks.accuracy``.

The protocol of the reference figures: 2,000 uniform intervals, five workloads, three trials each. Where a file of
reference errors is at hand, ``dawa`` is divided by its DAWA rows, which come from the published code; that code is
not private. In any case it is divided by ``greedy-h`` (no partition), measured in the same run.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dawa
from benchmarks import data

EPSILONS = ("0.01", "0.05", "0.1", "0.5")


def mean_error(
    counts: NDArray[np.int64],
    epsilon: str,
    mechanism: str,
    workloads: int,
    trials: int,
    first_seed: int = 0,
    **options: str,
) -> float:
    """Mean absolute error per query over workloads and trials."""
    errors = []
    for seed in range(workloads):
        workload = dawa.workloads.uniform(len(counts), 2000, seed=seed)
        truth = workload.answers(counts)
        for trial in range(trials):
            estimate = dawa.estimate(
                counts, workload, epsilon=epsilon, mechanism=mechanism, seed=first_seed + 1000 * seed + trial, **options
            )
            errors.append(np.abs(estimate.answer(workload) - truth).mean())
    return float(np.mean(errors))


def geometric_mean(ratios: list[float]) -> float:
    """The mean that treats twice and half alike."""
    return float(np.exp(np.mean(np.log(ratios))))


def main() -> None:
    """Print a table of errors and ratios, and their geometric means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", choices=("best", "fast"), default="best")
    parser.add_argument("--workloads", type=int, default=5)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="another one gives other noise (default: 0)")
    parser.add_argument("--reference", type=Path, default=data.DEFAULT_REFERENCE)
    chosen = parser.parse_args()
    kind, histograms = data.one_dimensional()
    reference = data.reference_errors(chosen.reference)
    print(f"Accuracy of dawa with effort={chosen.effort!r} on {kind} data")
    print(f"{'dataset':12} {'epsilon':>7} {'error':>9} {'/ greedy-h':>10} {'/ published code':>16}")
    to_tree, to_published = [], []
    for name, counts in histograms.items():
        for epsilon in EPSILONS:
            ours = mean_error(
                counts, epsilon, "dawa", chosen.workloads, chosen.trials, chosen.seed, effort=chosen.effort
            )
            tree = mean_error(counts, epsilon, "greedy-h", 1, chosen.trials)
            published = reference.get(("DAWA", name, epsilon))
            to_tree.append(ours / tree)
            if published:
                to_published.append(ours / published)
            last = f"{ours / published:16.3f}" if published else f"{'-':>16}"
            print(f"{name:12} {epsilon:>7} {ours:9.2f} {ours / tree:10.3f} {last}")
            sys.stdout.flush()
    print(f"geometric mean of ratios to greedy-h: {geometric_mean(to_tree):.3f}")
    if to_published:
        mean, most = geometric_mean(to_published), max(to_published)
        print(f"geometric mean of ratios to the published code: {mean:.3f}, largest {most:.3f}")


if __name__ == "__main__":
    main()
