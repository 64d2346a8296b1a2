"""How often intervals hold the truth: ``python -m dawa_bench.coverage``.

Six kinds of data, each released many times with fresh noise. A line for each kind, budget and question says how many of
the intervals held the truth, and the probability that so few or fewer would if the promise were kept with nothing to
spare. A promise that is broken shows as a probability near 0; the command then fails. Bands are right only if all of
their limits are.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

import dawa
from dawa import Axis, Release
from dawa.arrays import FloatArray, IntArray

FRACTIONS = (0.0, 0.01, 0.25, 0.5, 0.9, 1.0)
EPSILONS = ("0.05", "0.5", "5")
SURPRISING = 1e-4
"""A promise counts as broken if so few intervals would hold with less than this chance; a hundred lines are printed."""


@dataclass(frozen=True)
class Sample:
    """Values of a public table.

    Attributes:
        name: What they look like.
        axis: Their axis.
        values: One for each record, all of them inside the axis.
    """

    name: str
    axis: Axis
    values: FloatArray

    @property
    def counts(self) -> IntArray:
        """Records in each cell."""
        step = float(self.axis.size / (self.axis.stop - self.axis.start))
        cells = np.floor((self.values - float(self.axis.start)) * step + 1e-9).astype(np.int64)
        return np.bincount(cells, minlength=self.axis.size)


def samples(seed: int = 0) -> Iterator[Sample]:
    """Six kinds of data."""
    rng = np.random.default_rng(seed)
    ages = np.floor(np.clip(rng.normal(45, 18, 20_000), 0, 119))
    yield Sample("smooth", Axis("age", 0, 120), ages)
    incomes = np.clip(rng.lognormal(10, 0.8, 50_000), 0, 199_999) // 100 * 100
    yield Sample("skewed, wide cells with low values", Axis("income", 0, 200_000, 500), incomes)
    heaps = np.concatenate((rng.integers(0, 1000, 2000), 50 * rng.integers(0, 20, 18_000))).astype(np.float64)
    yield Sample("spiky", Axis("amount", 0, 1000), heaps)
    hours = np.floor(24 * rng.integers(0, 60, 30_000) + np.clip(rng.normal(13, 3, 30_000), 0, 23.9))
    yield Sample("periodic", Axis("hour", 0, 1440), hours)
    few = np.floor(np.clip(rng.normal(-20, 5, 40), -50, 49))
    yield Sample("few records", Axis("degree", -50, 50), few)
    jump = np.concatenate((np.full(5000, 300.0), rng.integers(301, 330, 5000), rng.integers(0, 1024, 50)))
    yield Sample("sharp ends", Axis("place", 0, 1024), jump.astype(np.float64))


Asked = dict[str, Callable[[Release, float], bool]]
"""Questions: whether a release's interval of this confidence holds the truth."""


def questions(sample: Sample, seed: int = 1) -> Asked:
    """What is asked of every release, with the truth; ranges are drawn."""
    values, axis, rng = sample.values, sample.axis, np.random.default_rng(seed)
    cuts = np.sort(rng.choice(axis.size + 1, (4, 2), replace=True), axis=1)
    cuts[:, 1] += cuts[:, 0] == cuts[:, 1]
    cuts = np.minimum(cuts - (cuts[:, 1:] > axis.size), axis.size)
    step = (axis.stop - axis.start) / axis.size
    ends = [tuple(float(axis.start + int(cut) * step) for cut in pair) for pair in cuts]
    number = [int(((values >= lo) & (values < hi)).sum()) for lo, hi in ends]
    found: Asked = {}
    for i, (pair, count) in enumerate(zip(ends, number, strict=True)):
        found[f"range {i + 1}"] = partial(_holds, "answer", pair, count)
        found[f"share {i + 1}"] = partial(_holds, "share", pair, count / len(values))
    for i, j in ((0, 1), (2, 3)):
        found[f"difference {i + 1}, {j + 1}"] = partial(_holds, "difference", (ends[i], ends[j]), number[i] - number[j])
        if number[j]:
            found[f"ratio {i + 1}, {j + 1}"] = partial(_holds, "ratio", (ends[i], ends[j]), number[i] / number[j])
    for fraction in FRACTIONS:
        truth = float(np.quantile(values, fraction, method="inverted_cdf"))
        found[f"quantile {fraction}"] = partial(_holds, "quantile", (fraction,), truth)
    found["mean"] = partial(_holds, "mean", (), float(values.mean()))
    found["sum"] = partial(_holds, "sum", (), float(values.sum()))
    found["band"] = partial(_inside, values)
    return found


def _holds(name: str, arguments: tuple[Any, ...], truth: float, release: Release, confidence: float) -> bool:
    """Whether the interval of an answer holds a number."""
    try:
        found = getattr(release, name)(*arguments, confidence=confidence)
    except dawa.ReleaseError:  # no records, as far as the release knows: nothing is claimed
        return True
    rounding = 1e-9 * max(abs(truth), 1)
    return bool(found.low - rounding <= truth <= found.high + rounding)


def _inside(values: FloatArray, release: Release, confidence: float) -> bool:
    """Whether all limits of a band are right."""
    band = release.band(confidence)
    below = np.searchsorted(np.sort(values), np.asarray(band.bounds, np.float64))
    part, rounding = below / len(values), 1e-9
    counts = (band.low - rounding <= below) & (below <= band.high + rounding)
    return bool((counts & (band.share_low - rounding <= part) & (part <= band.share_high + rounding)).all())


def covered(sample: Sample, epsilon: str, releases: int, confidence: float, **options: Any) -> Counter[str]:  # noqa: ANN401  options of a mechanism
    """How many of the intervals held the truth, by question."""
    asked, held = questions(sample), Counter[str]()
    first = dawa.release({sample.axis.column: sample.values}, sample.axis, epsilon=epsilon, seed=0, **options)
    for seed in range(releases):
        estimate = dawa.estimate(sample.counts, epsilon=epsilon, seed=seed, **options)
        release = replace(first, estimate=estimate)
        held.update({name: int(ask(release, confidence)) for name, ask in asked.items()})
    return held


def main() -> None:
    """Print the coverage of every interval, and fail if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=2000, help="of each kind, over all budgets")
    parser.add_argument("--confidence", type=float, default=0.9, help="of every interval")
    parser.add_argument("--mechanism", default="dawa", help="which makes the releases")
    asked = parser.parse_args()
    options = {"mechanism": asked.mechanism, **({"effort": "fast"} if asked.mechanism == "dawa" else {})}
    each, broken = -(-asked.releases // len(EPSILONS)), []
    print(f"{asked.mechanism}, confidence {asked.confidence:g}, {each} releases a line")
    for sample in samples():
        for epsilon in EPSILONS:
            held = covered(sample, epsilon, each, asked.confidence, **options)
            chances = {name: stats.binom.cdf(count, each, asked.confidence) for name, count in held.items()}
            worst = min(held, key=lambda name: held[name])
            broken += [f"{sample.name}, epsilon {epsilon}: {name}" for name in held if chances[name] < SURPRISING]
            mean = sum(held.values()) / len(held) / each
            print(
                f"{sample.name:36} epsilon {epsilon:5} {len(held)} questions: {mean:.4f} held;"
                f" least {held[worst] / each:.4f} ({worst}, p {chances[worst]:.2g}); band {held['band'] / each:.4f}",
                flush=True,
            )
    sys.exit(f"Promises that were broken: {'; '.join(broken)}." if broken else 0)


if __name__ == "__main__":
    main()
