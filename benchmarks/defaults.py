"""Why the walk's defaults are what they are: ``python -m benchmarks.defaults``.

Each line changes one option and prints the error as a ratio to the default's, geometric mean over histograms and
epsilons, on the histograms themselves and on variants that nobody tuned on: shifted, thinned and coarser ones. Ratios
within about 2% of 1 are noise.
"""

import argparse
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import dawa
from benchmarks import data
from benchmarks.accuracy import geometric_mean
from dawa.partition import Walk

EPSILONS = ("0.02", "0.2", "1")
CHANGES: dict[str, Walk] = {
    "coarse_share 5%": Walk(coarse_share=Fraction(5, 100)),
    "coarse_share 10%": Walk(coarse_share=Fraction(10, 100)),
    "fine_share 20%": Walk(fine_share=Fraction(20, 100)),
    "fine_share 15%": Walk(fine_share=Fraction(15, 100)),
    "least 0.10": Walk(least=0.10),
    "least 0.20": Walk(least=0.20),
    "coarse_theta -1.2": Walk(coarse_theta=-1.2),
    "coarse_theta -0.2": Walk(coarse_theta=-0.2),
    "fine_theta 0.0": Walk(fine_theta=0.0),
    "fine_theta 0.6": Walk(fine_theta=0.6),
    "dense 6": Walk(dense=6),
    "dense 12": Walk(dense=12),
    "no dense blocks": Walk(dense=10**9),
}


def variants(histograms: dict[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """Shifted by a random number of cells; mirrored with one record in five kept; in cells twice as wide."""
    rng = np.random.default_rng(1)
    made: dict[str, NDArray[np.int64]] = {}
    for name, counts in histograms.items():
        made[f"{name}, shifted"] = np.roll(counts, int(rng.integers(500, 3500)))
        made[f"{name}, thinned"] = rng.binomial(counts[::-1], 0.2)
        made[f"{name}, coarser"] = counts[: len(counts) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return made


def errors(walk: Walk, histograms: dict[str, NDArray[np.int64]], trials: int) -> NDArray[np.float64]:
    """Mean L1 error per query for each histogram and epsilon."""
    found = []
    for counts in histograms.values():
        workloads = [dawa.workloads.uniform(len(counts), 2000, seed=seed) for seed in range(min(trials, 5))]
        for epsilon in EPSILONS:
            runs = []
            for trial in range(trials):
                workload = workloads[trial % len(workloads)]
                estimate = dawa.estimate(
                    counts, workload, epsilon=epsilon, partition=walk, effort="fast", seed=9000 + trial
                )
                runs.append(np.abs(estimate.answer(workload) - workload.answers(counts)).mean())
            found.append(np.mean(runs))
    return np.array(found)


def main() -> None:
    """Print one line per change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10)
    trials = parser.parse_args().trials
    kind, histograms = data.one_dimensional()
    sets = {"as they are": histograms, "variants": variants(histograms)}
    base = {name: errors(Walk(), chosen, trials) for name, chosen in sets.items()}
    print(f"Error with one option of the walk changed, over the default's, on {kind} data")
    print(f"{'change':20}" + "".join(f"{name:>14}" for name in sets))
    for change, walk in CHANGES.items():
        ratios = [geometric_mean(list(errors(walk, sets[name], trials) / base[name])) for name in sets]
        print(f"{change:20}" + "".join(f"{ratio:14.3f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
