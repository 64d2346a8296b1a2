"""Mean L1 error per query, as a ratio: ``python -m dawa_bench.accuracy``.

The protocol is that of the reference figures: 2,000 uniform intervals, five workloads, three trials each. Every run is
measured twice: on the intervals that the mechanism was given, and on as many fresh ones of the same kind that it did
not see. A reader of a release asks fresh ones.

If there is a file of reference errors, the error of ``dawa`` is divided by those of its DAWA rows. They come from the
published code, which is not private, and were measured on the intervals that it was given. In any case the error of
``dawa`` is divided by that of ``greedy-h`` (no partition), measured in the same run on the same kind of intervals.
"""

import sys

import dawa
from dawa.arrays import IntArray
from dawa_bench import comparison
from dawa_bench.comparison import EPSILONS, Errors, geometric

QUERIES = 2000
UNSEEN = 1_000_000
"""Fresh workloads have seeds from this number on; given workloads have smaller seeds."""


def mean_errors(
    counts: IntArray,
    epsilon: str,
    mechanism: str,
    workloads: int,
    trials: int,
    first_seed: int = 0,
    **options: object,
) -> Errors:
    """Mean absolute errors per query over workloads and trials."""
    found = []
    for seed in range(workloads):
        given, fresh = (dawa.workloads.uniform(len(counts), QUERIES, seed=first + seed) for first in (0, UNSEEN))
        for trial in range(trials):
            noise = first_seed + 1000 * seed + trial
            estimate = dawa.estimate(counts, given, epsilon=epsilon, mechanism=mechanism, seed=noise, **options)
            found.append(Errors.of(estimate, counts, given, fresh))
    return Errors.mean(found)


def summary(what: str, given: list[float], fresh: list[float]) -> str:
    """The geometric mean and the largest of ratios, on both kinds of queries, in a line."""
    sides = (
        f"{kind} {geometric(ratios):.3f} (largest {max(ratios):.3f})"
        for kind, ratios in (("given", given), ("fresh", fresh))
    )
    return f"geometric mean of ratios to {what}: {', '.join(sides)}"


def main() -> None:
    """Print a table of errors and ratios, and their geometric means."""
    parser = comparison.parser(__doc__, comparison.REFERENCE, trials=3)
    parser.add_argument("--effort", choices=("best", "fast"), default="best")
    parser.add_argument("--workloads", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other noise (default: 0)")
    chosen = parser.parse_args()
    options = {"effort": chosen.effort, **dict(chosen.set)}
    kind, histograms = comparison.measured_on(1)
    reference = comparison.reference_errors(chosen.reference)
    print(f"Accuracy of dawa with {options} on {kind} data: {QUERIES} intervals that were given, as many fresh ones")
    columns = f"{'error':^19} {'/ greedy-h':^15} {'/ published':^15} {'fresh':>7}"
    print(f"{'':20} {columns}\n{'dataset':12} {'epsilon':>7} {'given':>9} {'fresh':>9}", end="")
    print(f"{' given   fresh':>16}{' given   fresh':>16} {'/ given':>7}")
    to_tree: list[Errors] = []
    to_published: list[Errors] = []
    growth: list[float] = []
    for name, counts in histograms.items():
        for epsilon in EPSILONS:
            ours = mean_errors(counts, epsilon, "dawa", chosen.workloads, chosen.trials, chosen.seed, **options)
            tree = mean_errors(counts, epsilon, "greedy-h", 1, chosen.trials)
            published = reference.get(("DAWA", name, epsilon))
            to_tree.append(Errors(ours.given / tree.given, ours.fresh / tree.fresh))
            growth.append(ours.fresh / ours.given)
            last = f"{'-':>7} {'-':>7}"
            if published:
                to_published.append(Errors(ours.given / published, ours.fresh / published))
                last = f"{to_published[-1].given:7.3f} {to_published[-1].fresh:7.3f}"
            print(
                f"{name:12} {epsilon:>7} {ours.given:9.2f} {ours.fresh:9.2f}"
                f" {to_tree[-1].given:7.3f} {to_tree[-1].fresh:7.3f} {last} {growth[-1]:7.3f}"
            )
            sys.stdout.flush()
    for what, ratios in (("greedy-h", to_tree), ("the published code", to_published)):
        if ratios:
            print(summary(what, [one.given for one in ratios], [one.fresh for one in ratios]))
    print(f"fresh queries over given ones: geometric mean {geometric(growth):.3f}, largest {max(growth):.3f}")


if __name__ == "__main__":
    main()
