"""Every mechanism on the same footing: ``python -m benchmarks.rivals``.

Mean L1 error per query on 2,000 uniform intervals, beside what the research code measured where a file of reference
errors is at hand, and the median time of a run. The research code is not private in several places (the proof files say
where); its figures are facts to compare with.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dawa
from benchmarks import data
from benchmarks.accuracy import EPSILONS, geometric_mean

REFERENCE = {
    "dawa": "DAWA",
    "greedy-h": "GreedyH",
    "identity": "Identity",
    "privelet": "Privelet",
    "hierarchical": "H2",
    "hb": "HB",
    "efpa": "EFPA",
    "php": "PHP",
    "structure-first": "StructureFirst",
    "mwem": "MWEM(T=10)",
}
"""What the research code calls them."""

SLOW = {"dawa-2014-all"}


def measured(
    name: str, counts: NDArray[np.int64], epsilon: str, workloads: int, trials: int, first_seed: int
) -> tuple[float, float]:
    """Mean absolute error per query, and the median seconds of a run."""
    errors, seconds = [], []
    for seed in range(workloads):
        workload = dawa.workloads.uniform(len(counts), 2000, seed=seed)
        truth = workload.answers(counts)
        for trial in range(trials):
            begin = time.perf_counter()
            chosen = first_seed + 1000 * seed + trial
            found = dawa.estimate(counts, workload, epsilon=epsilon, mechanism=name, seed=chosen)
            seconds.append(time.perf_counter() - begin)
            errors.append(np.abs(found.answer(workload) - truth).mean())
    return float(np.mean(errors)), float(np.median(seconds))


def main() -> None:
    """Print one line per mechanism."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=5)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--reference", type=Path, default=data.DEFAULT_REFERENCE)
    parser.add_argument("mechanisms", nargs="*", help="names (default: all but the slowest)")
    chosen = parser.parse_args()
    names = chosen.mechanisms or [name for name in dawa.mechanisms.names() if name not in SLOW]
    kind, histograms = data.one_dimensional()
    reference = data.reference_errors(chosen.reference)
    print(
        f"Every mechanism on {kind} data: geometric means over {len(histograms)} datasets and {len(EPSILONS)} epsilons"
    )
    print(f"{'mechanism':20} {'error·epsilon':>13} {'/ research code':>15} {'largest':>8} {'seconds':>8}")
    for name in names:
        scaled, ratios, seconds = [], [], []
        dawa.estimate(np.ones(64, np.int64), epsilon=1, mechanism=name)
        for number, (dataset, counts) in enumerate(histograms.items()):
            for epsilon in EPSILONS:
                seed = 10_000 * number
                error, duration = measured(name, counts, epsilon, chosen.workloads, chosen.trials, seed)
                scaled.append(error * float(epsilon))
                seconds.append(duration)
                theirs = reference.get((REFERENCE.get(name, ""), dataset, epsilon))
                if theirs:
                    ratios.append(error / theirs)
        compared = f"{geometric_mean(ratios):15.3f} {max(ratios):8.2f}" if ratios else f"{'-':>15} {'-':>8}"
        print(f"{name:20} {geometric_mean(scaled):13.2f} {compared} {np.median(seconds):8.3f}", flush=True)


if __name__ == "__main__":
    main()
