"""Every mechanism on maps: ``python -m dawa_bench.maps``.

Mean L1 error per query on 256 × 256 maps: the geometric mean over the maps, for each epsilon. It is measured on the
2,000 rectangles with evenly drawn corners that the mechanism was given, and on as many fresh ones that it did not see.
Beside it, at epsilon 0.1, is the ratio to the research code's error on the given rectangles, if there is a file of
reference errors. The research code's DAWA is compared before it cuts its estimate to whole numbers, and is not private.
The last ratio says how much more error fresh rectangles have than given ones, over all maps and epsilons.

Examples:
  python -m dawa_bench.maps                                  all but the slowest
  python -m dawa_bench.maps dawa agrid --each                every map on its own
  python -m dawa_bench.maps mwem --set rounds=10 --trials 5
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dawa
from dawa.arrays import IntArray
from dawa_bench import comparison
from dawa_bench.comparison import Errors, geometric

EPSILONS = ("0.01", "0.1", "0.5")
COMPARED = "0.1"
KINDS = ("given", "fresh")
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
"""The research code's names of our mechanisms; it has no hybrid tree, and a quadtree is the nearest."""

SLOW = {"dawa-2014", "dawa-2014-all", "php", "structure-first", "efpa"}
"""Mechanisms for a line: here they run along the Hilbert curve, with tables that grow with the square of its length."""

GIVEN, FRESH = 100, 101
"""Seeds of the rectangles on which the research code was measured, and of others."""


def rectangles(shape: tuple[int, ...], seed: int) -> dawa.Workload:
    """Rectangles with evenly drawn corners, as the research code draws them."""
    rng = np.random.default_rng(seed)
    ends = [np.sort(rng.integers(0, n, (2000, 2)), axis=1) for n in shape]
    lo, last = (np.stack([pair[:, side] for pair in ends], axis=1) for side in (0, 1))
    return dawa.Workload.rectangles(lo, last + 1, shape)


@dataclass(frozen=True)
class Case:
    """One map and epsilon: our errors, the research code's if known, and the seconds of a run."""

    epsilon: str
    errors: Errors
    theirs: float | None
    seconds: float


def measured(
    name: str, counts: IntArray, epsilon: str, trials: int, options: dict[str, object]
) -> tuple[Errors, float]:
    """Mean absolute errors per query, and the median seconds of a run."""
    given, fresh = (rectangles(counts.shape, seed) for seed in (GIVEN, FRESH))
    errors, seconds = [], []
    for seed in range(trials):
        begin = time.perf_counter()
        found = dawa.estimate(counts, given, epsilon=epsilon, mechanism=name, seed=seed, **options)
        seconds.append(time.perf_counter() - begin)
        errors.append(Errors.of(found, counts, given, fresh))
    return Errors.mean(errors), float(np.median(seconds))


def row(name: str, cases: list[Case], epsilons: Sequence[str]) -> list[str]:
    """One line of the table."""
    means = [
        f"{geometric([getattr(case.errors, kind) for case in cases if case.epsilon == epsilon]):,.1f}"
        for epsilon in epsilons
        for kind in KINDS
    ]
    known = [(case.errors, case.theirs) for case in cases if case.epsilon == COMPARED and case.theirs]
    ratios = [[getattr(ours, kind) / theirs for ours, theirs in known] for kind in KINDS]
    compared = [f"{found(side):.2f}" if known else "" for found in (geometric, max) for side in ratios]
    growth = geometric([case.errors.fresh / case.errors.given for case in cases])
    return [f"`{name}`", *means, *compared, f"{growth:.2f}", f"{np.median([case.seconds for case in cases]):.3f}"]


def main() -> None:
    """Print one line per mechanism, as a Markdown table."""
    parser = comparison.parser_of_many(__doc__, comparison.REFERENCE_ON_MAPS, trials=5)
    parser.add_argument("--epsilon", action="append", choices=EPSILONS, help="only this one (may be repeated)")
    parser.add_argument("--each", action="store_true", help="show every map")
    chosen = parser.parse_args()
    names = chosen.mechanisms or [name for name in dawa.mechanisms.names() if name not in SLOW]
    epsilons = chosen.epsilon or EPSILONS
    kind, maps = comparison.measured_on(2)
    reference = comparison.reference_errors(chosen.reference)
    options = dict(chosen.set)
    sides = [f"ε = {epsilon}" for epsilon in epsilons] + ["ratio", "largest ratio"]
    columns = ["mechanism", *(f"{side}, {kind}" for side in sides for kind in KINDS), "fresh / given", "seconds"]
    print(f"On {kind} maps: {', '.join(maps)}; options: {options or 'the defaults'}\n")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name in names:
        cases = []
        for epsilon in epsilons:
            for dataset, counts in maps.items():
                errors, took = measured(name, counts, epsilon, chosen.trials, options)
                theirs = reference.get((chosen.against or REFERENCE.get(name, ""), dataset, epsilon))
                cases.append(Case(epsilon, errors, theirs, took))
                if chosen.each:
                    print(f"  {name:16} {dataset:20} {described(cases[-1])}", flush=True)
        print(f"| {' | '.join(row(name, cases, epsilons))} |", flush=True)


def described(case: Case) -> str:
    """One map in a line."""
    errors, theirs = case.errors, case.theirs
    beside = f"{errors.given / theirs:8.2f} and {errors.fresh / theirs:.2f} of {theirs:,.1f}" if theirs else ""
    return f"ε = {case.epsilon:5} {errors.given:12,.1f} {errors.fresh:12,.1f} {case.seconds:8.3f} s {beside}"


if __name__ == "__main__":
    main()
