"""Every mechanism on maps: ``python -m benchmarks.spatial``.

Mean L1 error per query on 2,000 rectangles with evenly drawn corners, on 256 × 256 maps: the geometric mean over the
maps, for each epsilon; beside it, at epsilon 0.1, the ratio to what the research code measured, where a file of
reference errors is at hand. Its DAWA is compared as it is before its estimate is cut to whole numbers, and is not
private.

Examples:
  python -m benchmarks.spatial                                  all but the slowest
  python -m benchmarks.spatial dawa agrid --each                every map on its own
  python -m benchmarks.spatial mwem --set rounds=10 --trials 5
"""

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dawa
from benchmarks import data
from benchmarks.accuracy import geometric_mean
from benchmarks.rivals import option

EPSILONS = ("0.01", "0.1", "0.5")
COMPARED = "0.1"
REFERENCE = {
    "dawa": "DAWA-Hilbert (float output, same run)",
    "identity": "Identity",
    "privelet": "Privelet2D",
    "hb": "HB2D",
    "quadtree": "QuadTree",
    "hybrid-tree": "QuadTree",
    "dpcube": "DPCube",
    "ugrid": "UGrid",
    "agrid": "AGrid",
    "mwem": "MWEM(T=10)",
    "uniform": "UniformNoisy",
}
"""What the research code calls them; it has no hybrid tree, and a quadtree is the nearest."""

SLOW = {"dawa-2014", "dawa-2014-all", "php", "structure-first", "efpa"}
"""Made for a line: here they run along the Hilbert curve, with tables that grow with the square of its length."""


def reference_workload(shape: tuple[int, ...]) -> dawa.Workload:
    """The rectangles on which the research code was measured."""
    rng = np.random.default_rng(100)
    ends = [np.sort(rng.integers(0, n, (2000, 2)), axis=1) for n in shape]
    lo, last = (np.stack([pair[:, side] for pair in ends], axis=1) for side in (0, 1))
    return dawa.Workload.rectangles(lo, last + 1, shape)


def measured(
    name: str, counts: NDArray[np.int64], epsilon: str, trials: int, options: dict[str, object]
) -> tuple[float, float]:
    """Mean absolute error per query, and the median seconds of a run."""
    workload = reference_workload(counts.shape)
    truth = workload.answers(counts)
    errors, seconds = [], []
    for seed in range(trials):
        begin = time.perf_counter()
        found = dawa.estimate(counts, workload, epsilon=epsilon, mechanism=name, seed=seed, **options)
        seconds.append(time.perf_counter() - begin)
        errors.append(np.abs(found.answer(workload) - truth).mean())
    return float(np.mean(errors)), float(np.median(seconds))


def main() -> None:
    """Print one line per mechanism, as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mechanisms", nargs="*", help="names (default: all but the slowest)")
    parser.add_argument("--set", type=option, action="append", default=[], metavar="NAME=VALUE", help="an option")
    parser.add_argument("--against", help="the reference to compare with (default: of the same name)")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--epsilon", action="append", choices=EPSILONS, help="only this one (may be repeated)")
    parser.add_argument("--each", action="store_true", help="show every map")
    parser.add_argument("--reference", type=Path, default=data.REFERENCE_2D)
    chosen = parser.parse_args()
    names = chosen.mechanisms or [name for name in dawa.mechanisms.names() if name not in SLOW]
    epsilons = chosen.epsilon or EPSILONS
    kind, maps = data.two_dimensional()
    reference = data.reference_errors(chosen.reference)
    options = dict(chosen.set)
    columns = ("mechanism", *(f"ε = {epsilon}" for epsilon in epsilons), "ratio", "largest ratio", "seconds")
    print(f"On {kind} maps: {', '.join(maps)}; options: {options or 'the defaults'}\n")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name in names:
        means, ratios, seconds = [], [], []
        for epsilon in epsilons:
            errors = []
            for dataset, counts in maps.items():
                error, took = measured(name, counts, epsilon, chosen.trials, options)
                theirs = reference.get((chosen.against or REFERENCE.get(name, ""), dataset, epsilon))
                errors.append(error)
                seconds.append(took)
                if epsilon == COMPARED and theirs:
                    ratios.append(error / theirs)
                if chosen.each:
                    beside = f"{error / theirs:8.2f} of {theirs:,.1f}" if theirs else ""
                    print(f"  {name:16} {dataset:20} ε = {epsilon:5} {error:12,.1f} {took:8.3f} s {beside}", flush=True)
            means.append(f"{geometric_mean(errors):,.1f}")
        compared = [f"{geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"] if ratios else ["", ""]
        print(f"| `{name}` | {' | '.join((*means, *compared, f'{np.median(seconds):.3f}'))} |", flush=True)


if __name__ == "__main__":
    main()
