"""Domains of up to 2^62 cells: ``python -m dawa_bench.huge``.

The default mechanism on more cells than anybody could list, against what people do instead: they cut the axis into
equal bins beforehand. Here the bins are chosen with hindsight: of 2^8, 2^10, … 2^16 of them, each with the default
mechanism on top and as they are, the number with the least error on the true data counts. That is no mechanism: nobody
could choose so without spending budget, and the choice is made anew for each dataset and each kind of range.

A line for each kind of data: the seconds and the memory (the largest so far) of one estimate, its buckets, how deep the
narrowest one lies, and two ratios of errors, for ranges with ends anywhere on the axis, and for those with ends at two
records. An error is the mean L1 error over ranges and trials, here with its standard error; below 1 the huge domain is
better. At the end, the mean width of 95% intervals of the same ranges, in records.

Examples:
  python -m dawa_bench.huge                                   2^62 cells and 10,000 records, a small try
  python -m dawa_bench.huge --records 1000000 --trials 12     the figures of docs/limits.md
  python -m dawa_bench.huge --bits 32 --records 10000000      all addresses of IPv4
  python -m dawa_bench.huge --aim guarantee                   with narrower promises, and larger errors
  python -m dawa_bench.huge --table                           a release of a table, sources and all, in place of counts
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import dawa
from dawa import Workload
from dawa.arrays import FloatArray, IntArray
from dawa.counts import Counts
from dawa.results.answers import Ranged, figures_in_steps, finished
from dawa.results.estimate import Estimate

RANGES = 1000
"""Ranges of each kind."""
BINS = range(8, 17, 2)
"""Powers of two of the bins that are tried with hindsight."""
BORDER = (np.full(RANGES, 2.0), np.ones(RANGES, bool))
"""A range has two ends, at cells."""
SALT, MIX, FOLD = 7919, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9


def clusters(rng: np.random.Generator, bits: int, records: int) -> IntArray:
    """Fifty heaps, from broad to a few cells wide, of very different sizes."""
    size = 2**bits
    centre, spread = rng.integers(0, size, 50), size * 2.0 ** -rng.uniform(6, 40, 50)
    heap = rng.choice(50, records, p=rng.dirichlet(np.full(50, 0.3)))
    moved = centre[heap] + np.rint(rng.normal(0, 1, records) * spread[heap]).astype(np.int64)
    return np.asarray(np.clip(moved, 0, size - 1))


def networks(rng: np.random.Generator, bits: int, records: int) -> IntArray:
    """As addresses lie: at every bit most of a network's records are in one of its halves."""
    found = np.zeros(records, np.int64)
    for level in range(bits):
        code = found.astype(np.uint64) * np.uint64(MIX) + np.uint64(SALT * level + 1)
        code = (code ^ (code >> np.uint64(29))) * np.uint64(FOLD)
        part = ((code ^ (code >> np.uint64(32))) >> np.uint64(11)).astype(np.float64) / 2**53
        upper = np.where(part < 0.5, 2 * part**2, 1 - 2 * (1 - part) ** 2)
        found = 2 * found + (rng.random(records) < upper)
    return found


def even(rng: np.random.Generator, bits: int, records: int) -> IntArray:
    """Without any structure: the few bins that suit it best are found by no mechanism that looks at cells."""
    return rng.integers(0, 2**bits, records)


DATA: dict[str, Callable[[np.random.Generator, int, int], IntArray]] = {
    "clusters": clusters,
    "networks": networks,
    "even": even,
}


@dataclass(frozen=True)
class Task:
    """Data, and ranges with their true answers.

    Attributes:
        bits: The domain has two to this power cells.
        values: The sorted records.
        ranges: Lower and upper ends, by kind.
    """

    bits: int
    values: IntArray
    ranges: dict[str, tuple[IntArray, IntArray]]

    @classmethod
    def of(cls, kind: str, bits: int, records: int, seed: int) -> "Task":
        """Data of a kind, and ranges that do not depend on trials."""
        rng = np.random.default_rng(seed)
        values = np.sort(DATA[kind](rng, bits, records))
        anywhere = dawa.workloads.uniform(2**bits, RANGES, seed)
        ends = np.sort(values[rng.integers(0, records, (2, RANGES))], axis=0)
        return cls(bits, values, {"anywhere": (anywhere.lo, anywhere.hi), "records": (ends[0], ends[1] + 1)})

    def errors(self, answered: Callable[[IntArray, IntArray], FloatArray]) -> dict[str, float]:
        """The mean error over each kind of ranges."""
        found = {}
        for kind, (lo, hi) in self.ranges.items():
            true = np.searchsorted(self.values, hi) - np.searchsorted(self.values, lo)
            found[kind] = float(np.abs(answered(lo, hi) - true).mean())
        return found

    def promised(self, found: Estimate) -> dict[str, float]:
        """The mean width of 95% intervals of each kind of ranges."""
        widths = {}
        for kind, (lo, hi) in self.ranges.items():
            ranged = Ranged(found, found.buckets.queries(Workload.ranges(lo, hi, found.shape)), *BORDER)
            figures = finished(figures_in_steps([ranged], 0.95))
            widths[kind] = float((figures.high - figures.low).mean())
        return widths

    def huge(self, epsilon: str, seed: int, *, table: bool, aim: str = "error") -> Estimate:
        """The estimate on all cells."""
        if table:
            axis = dawa.Axis("x", 0, 2**self.bits, missing="drop")
            return dawa.release({"x": self.values}, axis, epsilon=epsilon, seed=seed, aim=aim).estimate
        cells, counts = np.unique(self.values, return_counts=True)
        return dawa.estimate(Counts.sparse((2**self.bits,), cells, counts), epsilon=epsilon, seed=seed, aim=aim)

    def binned(self, power: int, epsilon: str, seed: int, *, plain: bool) -> dict[str, float]:
        """The errors on equal bins; a range that cuts a bin takes its part of it."""
        wide = 2 ** (self.bits - power)
        counts = np.bincount(self.values // wide, minlength=2**power)
        partition = "none" if plain else "walk"
        found = dawa.estimate(counts, epsilon=epsilon, seed=seed, effort="fast", partition=partition)

        def answered(lo: IntArray, hi: IntArray) -> FloatArray:
            before = np.concatenate((np.zeros(1), np.cumsum(found.cells)))
            low, high = (np.interp(end / wide, np.arange(2**power + 1), before) for end in (lo, hi))
            return np.asarray(high - low)

        return self.errors(answered)


def mean(errors: list[dict[str, float]]) -> dict[str, float]:
    """The mean over trials, by kind of ranges."""
    return {kind: float(np.mean([one[kind] for one in errors])) for kind in errors[0]}


def compared(task: Task, epsilon: str, trials: int, *, table: bool, aim: str) -> tuple[dict[str, str], str, str]:
    """The ratio of errors for each kind of ranges, a line about the estimates, and the widths of intervals."""
    errors, seconds, widths, depth, buckets = [], [], [], 0, 0
    for seed in range(trials):
        begin = time.perf_counter()
        found = task.huge(epsilon, seed, table=table, aim=aim)
        seconds.append(time.perf_counter() - begin)
        depth = max(depth, task.bits + 1 - int(np.diff(found.buckets.bounds).min()).bit_length())
        buckets += len(found.buckets)
        errors.append(task.errors(lambda lo, hi, est=found: est.answers(Workload.ranges(lo, hi, est.shape))))  # type: ignore[misc]
        widths.append(task.promised(found))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    ours, best = mean(errors), dict.fromkeys(task.ranges, np.inf)
    for power in (power for power in BINS if power <= task.bits):
        for plain in (False, True):
            bins = mean([task.binned(power, epsilon, seed, plain=plain) for seed in range(trials)])
            best = {kind: min(best[kind], bins[kind]) for kind in best}
    line = f"{np.median(seconds):7.1f} s {memory:7.0f} MB {buckets // trials:7} buckets, depth {depth:2}"
    around = {kind: np.std([one[kind] for one in errors]) / np.sqrt(max(trials - 1, 1)) for kind in ours}
    ratios = {kind: f"{ours[kind] / best[kind]:.3f} ± {around[kind] / best[kind]:.3f}" for kind in ours}
    return ratios, line, ", ".join(f"{width:,.0f} ({kind})" for kind, width in mean(widths).items())


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each kind of data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=62, help="the domain has two to this power cells")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--epsilon", default="0.1")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--data", choices=DATA, help="one kind of data alone")
    parser.add_argument("--aim", choices=("error", "guarantee"), default="error")
    parser.add_argument("--table", action="store_true", help="count a table, in place of ready counts")
    chosen = parser.parse_args(arguments)
    print(f"2^{chosen.bits} cells, {chosen.records:,} records, epsilon={chosen.epsilon}, {chosen.trials} trials")
    for kind in [chosen.data] if chosen.data else DATA:
        task = Task.of(kind, chosen.bits, chosen.records, seed=1)
        ratios, line, widths = compared(task, chosen.epsilon, chosen.trials, table=chosen.table, aim=chosen.aim)
        told = ", ".join(f"{ratio} ({where})" for where, ratio in ratios.items())
        print(f"{kind:9} {line}; error over the best equal bins': {told}; width: {widths}", flush=True)


if __name__ == "__main__":
    main()
