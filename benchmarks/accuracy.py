"""Mean L1 error per query, as a ratio: ``python -m benchmarks.accuracy``.

The protocol of the reference figures: 2,000 uniform intervals, five workloads, three trials each. Every run is measured
twice: on the intervals that the mechanism was given, and on as many fresh ones of the same kind that it did not see. A
reader of a release asks fresh ones.

Where a file of reference errors is at hand, ``dawa`` is divided by its DAWA rows, which come from the published code;
that code is not private, and was measured on the intervals that it was given. In any case ``dawa`` is divided by
``greedy-h`` (no partition), measured in the same run on the same kind of intervals.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dawa
from benchmarks import data

EPSILONS = ("0.01", "0.05", "0.1", "0.5")
QUERIES = 2000
UNSEEN = 1_000_000
"""Fresh workloads have seeds from here on; those that are given have smaller ones."""


@dataclass(frozen=True)
class Errors:
    """Mean absolute errors per query, on the queries that were given and on fresh ones of the same kind."""

    given: float
    fresh: float

    @classmethod
    def of(
        cls, found: dawa.Estimate, counts: NDArray[np.int64], given: dawa.Workload, fresh: dawa.Workload
    ) -> "Errors":
        """The errors of one estimate."""
        return cls(*(float(np.abs(found.answers(asked) - asked.answers(counts)).mean()) for asked in (given, fresh)))

    @classmethod
    def mean(cls, several: list["Errors"]) -> "Errors":
        """Their means."""
        return cls(
            float(np.mean([errors.given for errors in several])), float(np.mean([errors.fresh for errors in several]))
        )


def mean_errors(
    counts: NDArray[np.int64],
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


def geometric_mean(ratios: list[float]) -> float:
    """The mean that treats twice and half alike."""
    return float(np.exp(np.mean(np.log(ratios))))


def option(text: str) -> tuple[str, object]:
    """``name=value`` as an option of a mechanism: whole numbers and truth values are read as such."""
    name, _, value = text.partition("=")
    known: dict[str, object] = {"True": True, "False": False, "None": None}
    return name, known[value] if value in known else int(value) if value.isdigit() else value


def summary(what: str, given: list[float], fresh: list[float]) -> str:
    """The geometric mean and the largest of ratios, on both kinds of queries, in a line."""
    sides = (
        f"{kind} {geometric_mean(ratios):.3f} (largest {max(ratios):.3f})"
        for kind, ratios in (("given", given), ("fresh", fresh))
    )
    return f"geometric mean of ratios to {what}: {', '.join(sides)}"


def main() -> None:
    """Print a table of errors and ratios, and their geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", choices=("best", "fast"), default="best")
    parser.add_argument("--set", type=option, action="append", default=[], metavar="NAME=VALUE", help="an option")
    parser.add_argument("--workloads", type=int, default=5)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="another one gives other noise (default: 0)")
    parser.add_argument("--reference", type=Path, default=data.DEFAULT_REFERENCE)
    chosen = parser.parse_args()
    options = {"effort": chosen.effort, **dict(chosen.set)}
    kind, histograms = data.one_dimensional()
    reference = data.reference_errors(chosen.reference)
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
    print(f"fresh queries over given ones: geometric mean {geometric_mean(growth):.3f}, largest {max(growth):.3f}")


if __name__ == "__main__":
    main()
