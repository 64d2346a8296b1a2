"""Draw how the mechanism works, step by step, from one run of the real code: ``python -m docs.mechanism``.

7,300 values that nobody has, 256 cells, ε = 0.1, a fixed seed: the counts, the walk, the buckets, the rows that are
measured, least squares, and an answer with its two errors.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import dawa
from dawa.partition.split import split_table
from dawa.strategy.base import RESOLUTION

FOLDER = Path(__file__).parent / "explanations"
CELLS, SEED = 256, 1
EPSILON = Fraction(1, 10)
RANGE = (44, 70)
LEVELS = {"at the top": "#0b3c6f", "a level below": "#1f77d0", "two levels below": "#8db9ea"}
TRUTH, NOISY, FITTED = "#9a9a9a", "#c8553d", "#1f77d0"
STYLE = {
    "svg.hashsalt": "dawa",  # the same file for the same run
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}


@dataclass(frozen=True)
class Run:
    """What all pictures are of."""

    release: dawa.Release
    counts: Any

    @property
    def bounds(self) -> Any:  # noqa: ANN401  an array
        """Where buckets begin and end."""
        return np.asarray(self.release.estimate.partition)

    @property
    def totals(self) -> Any:  # noqa: ANN401  an array
        """What buckets truly hold."""
        return np.add.reduceat(self.counts, self.bounds[:-1])


def run() -> Run:
    """A broad hill, a narrow one, and a plain."""
    rng = np.random.default_rng(4)
    hills = (rng.normal(60, 14, 5000), rng.normal(150, 4, 1500), rng.uniform(0, CELLS, 800))
    values = np.concatenate(hills).clip(0, CELLS - 1)
    release = dawa.release({"x": values}, dawa.Axis("x", 0, CELLS), epsilon=EPSILON, seed=SEED)
    return Run(release, np.bincount(values.astype(int), minlength=CELLS))


def sheet(height: float) -> tuple[Figure, Axes]:
    """An empty picture as wide as a page."""
    figure = Figure(figsize=(8, height), layout="constrained")
    return figure, figure.subplots()


def counted(one: Run) -> Figure:
    """The private counts."""
    figure, chart = sheet(2.3)
    chart.bar(np.arange(CELLS) + 0.5, one.counts, width=1, color=TRUTH)
    chart.set(xlim=(0, CELLS), xlabel="cell", ylabel="records")
    return figure


def walked(one: Run) -> Figure:
    """Every interval that the walk met: uneven ones are dark, and those with a blue edge became buckets."""
    figure, chart = sheet(2.8)
    bounds = {(int(lo), int(hi)) for lo, hi in zip(one.bounds[:-1], one.bounds[1:], strict=True)}
    level, depth = [(0, CELLS)], 0
    while level:
        below = []
        for lo, hi in level:
            leaf = (lo, hi) in bounds
            score = np.abs(one.counts[lo:hi] - np.median(one.counts[lo:hi])).sum()
            shade = 1 - min(1, float(np.log1p(score)) / 9)
            chart.add_patch(
                Rectangle(
                    (lo, -depth - 0.9),
                    hi - lo,
                    0.8,
                    facecolor=(1, 0.35 + 0.65 * shade, 0.25 + 0.75 * shade),
                    edgecolor=FITTED if leaf else "white",
                    linewidth=1.4 if leaf else 0.6,
                )
            )
            if not leaf:
                below += [(lo, (lo + hi) // 2), ((lo + hi) // 2, hi)]
        level, depth = below, depth + 1
    chart.set(xlim=(0, CELLS), ylim=(-depth - 0.1, 0), yticks=[], xlabel="cell", ylabel="halves of halves")
    chart.spines["left"].set_visible(False)
    return figure


def coin(one: Run) -> Figure:
    """How likely the second walk is to split, by how uneven an interval is."""
    table = split_table(one.release.estimate.epsilon / 10, 0.15, 0.3)
    figure, chart = sheet(2.2)
    scores = np.arange(0, 6 * table.step)
    for depth, (place, colour) in enumerate(LEVELS.items()):
        chance = 1 - table.stop_probability()[table.points(scores, depth)]
        chart.plot(scores, chance, color=colour, label=place)
    chart.set(xlim=(0, scores[-1]), ylim=(0, 1), ylabel="chance")
    chart.set_xlabel("records to add or remove until all cells are equal")
    chart.legend(frameon=False, loc="lower right")
    return figure


def bucketed(one: Run) -> Figure:
    """The buckets over the counts, with nothing measured yet."""
    figure, chart = sheet(2.3)
    chart.bar(np.arange(CELLS) + 0.5, one.counts, width=1, color=TRUTH)
    chart.stairs(one.totals / np.diff(one.bounds), one.bounds, color=FITTED, linewidth=1.5)
    chart.vlines(one.bounds, 0, -4, color=FITTED, linewidth=1)
    chart.set(xlim=(0, CELLS), xlabel="cell", ylabel="records per cell")
    return figure


def measured(one: Run) -> Figure:
    """The rows that are measured: each bucket's own, and wide overlapping sums."""
    figure, chart = sheet(2.3)
    strategy: Any = one.release.estimate.measured
    bucket = np.arange(strategy.buckets) + 0.5
    chart.bar(bucket, strategy.leaf / RESOLUTION, width=0.9, color="#d5d5d5", label="each bucket alone")
    first = 0
    for number, (start, stop) in enumerate(zip(strategy.start, strategy.stop, strict=True)):
        weights = strategy.weights[first : first + stop - start] / RESOLUTION
        first += stop - start
        chart.plot(bucket[start:stop], weights, "o-", markersize=3, color=FITTED, label=None if number else "hats")
    chart.set(xlim=(0, strategy.buckets), ylim=(0, 1), xlabel="bucket", ylabel="part of the budget")
    chart.legend(frameon=False, ncols=2, loc="upper right")
    return figure


def fitted(one: Run) -> Figure:
    """How far off each bucket is: measured alone, and after least squares over all rows."""
    estimate = one.release.estimate
    strategy: Any = estimate.measured
    scale = RESOLUTION / estimate.split["measure"]
    answers = strategy.apply(one.totals)
    noisy = answers + dawa.noise.discrete_laplace(scale, len(answers), seed=SEED)
    alone = noisy[-strategy.buckets :] / strategy.leaf
    together = strategy.solve(noisy.astype(float))
    running = [np.cumsum(found - one.totals) for found in (alone, together)]
    figure, chart = sheet(2.3)
    chart.axhline(0, color=TRUTH)
    chart.plot(running[0], color=NOISY, label="from each bucket alone")
    chart.plot(running[1], color=FITTED, label="after least squares")
    chart.set(xlim=(0, strategy.buckets - 1), xlabel="buckets added up", ylabel="records off")
    chart.legend(frameon=False, loc="best")
    return figure


def answered(one: Run) -> Figure:
    """One range, which cuts two buckets, and its interval."""
    lo, hi = RANGE
    answer = one.release.answer(lo, hi)
    truth = one.counts[lo:hi].sum()
    figure = Figure(figsize=(8, 3), layout="constrained")
    chart, bars = figure.subplots(2, 1, height_ratios=(3, 1.3))
    densities = one.release.values() / np.diff(one.bounds)
    chart.bar(np.arange(CELLS) + 0.5, one.counts, width=1, color=TRUTH)
    chart.stairs(densities, one.bounds, color=FITTED, linewidth=1.5)
    chart.axvspan(lo, hi, color=FITTED, alpha=0.15, linewidth=0)
    chart.set(xlim=(20, 110), ylabel="records per cell")
    parts = (("noise", answer.noise_margin, "#8db9ea"), ("bias", answer.bias_bound, "#f0c987"))
    inner = answer.noise_margin
    bars.barh(0, 2 * (inner + answer.bias_bound), left=answer.measured - inner - answer.bias_bound, color=parts[1][2])
    bars.barh(0, 2 * inner, left=answer.measured - inner, color=parts[0][2])
    bars.plot(answer.value, 0, "o", color=FITTED)
    bars.plot(truth, 0, "D", color="black")
    bars.text(answer.value, 0.62, f"answer {answer.value:,.0f}", ha="center", color="#0b3c6f")
    bars.text(truth, -0.95, f"truth {truth:,}", ha="center")
    for name, size, colour in parts:
        bars.barh(0, 0, color=colour, label=f"{name} ±{size:,.0f}")
    bars.legend(frameon=False, loc="upper left", ncols=1)
    bars.set(ylim=(-1.2, 1.2), yticks=[], xlabel=f"records from {lo} up to {hi}")
    bars.spines["left"].set_visible(False)
    bars.margins(x=0.35)
    return figure


PICTURES = {
    "1-counts": counted,
    "2-walk": walked,
    "3-coin": coin,
    "4-buckets": bucketed,
    "5-rows": measured,
    "6-least-squares": fitted,
    "7-answer": answered,
}


def main() -> None:
    """Write docs/explanations/*.svg."""
    one = run()
    with rc_context(STYLE):
        for name, draw in PICTURES.items():
            draw(one).savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    answer = one.release.answer(*RANGE)
    print(f"{len(one.bounds) - 1} buckets; {RANGE}: {answer}; truth {one.counts[slice(*RANGE)].sum():,}")  # noqa: T201  a command


if __name__ == "__main__":
    main()
