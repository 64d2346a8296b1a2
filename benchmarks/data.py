"""Histograms to measure on: the real ones where a folder has them, generated ones otherwise."""

import csv
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DEFAULT_FOLDER = Path(__file__).parents[2] / "shared" / "datasets"
DEFAULT_REFERENCE = DEFAULT_FOLDER.parent / "reference" / "peers-1d.csv"
REFERENCE_2D = DEFAULT_REFERENCE.with_name("peers-2d.csv")


def folder() -> Path:
    """Where the real histograms lie: ``DAWA_DATA``, or a folder beside the project."""
    return Path(os.environ.get("DAWA_DATA", DEFAULT_FOLDER))


def one_dimensional() -> tuple[str, dict[str, NDArray[np.int64]]]:
    """What kind of data this is, and the histograms by name."""
    files = sorted((folder() / "1d").glob("*.npy"))
    if files:
        return "real", {file.stem: np.load(file).astype(np.int64) for file in files}
    return "generated (set DAWA_DATA to a folder with 1d/*.npy for the real ones)", generated()


def generated(n: int = 4096) -> dict[str, NDArray[np.int64]]:
    """Histograms from easy to hard: few spikes, a smooth slope, steps, rough everywhere."""
    rng = np.random.default_rng(2014)
    cell = np.arange(n)
    spikes = np.zeros(n, np.int64)
    spikes[rng.choice(n, 60, replace=False)] = rng.integers(1, 2000, 60)
    return {
        "spikes": spikes,
        "slope": rng.poisson(200 * np.exp(-cell / (n / 6))),
        "steps": rng.poisson(np.repeat(rng.integers(0, 60, 32), n // 32)),
        "rough": rng.poisson(rng.gamma(0.3, 300, n)),
    }


def two_dimensional() -> tuple[str, dict[str, NDArray[np.int64]]]:
    """What kind of data this is, and the maps by name."""
    files = sorted((folder() / "2d").glob("*.npy"))
    if files:
        return "real", {file.stem: np.load(file).astype(np.int64) for file in files}
    return "generated (set DAWA_DATA to a folder with 2d/*.npy for the real ones)", generated_maps()


def generated_maps(side: int = 256) -> dict[str, NDArray[np.int64]]:
    """Maps from sparse to full: a few towns, streets between them, a smooth landscape."""
    rng = np.random.default_rng(2014)
    y, x = np.mgrid[:side, :side]
    towns = np.zeros((side, side))
    for cy, cx, size in zip(*rng.integers(0, side, (2, 40)), rng.gamma(0.5, 400, 40), strict=True):
        towns += size * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * rng.uniform(1, 8) ** 2))
    streets = np.where((y % 32 == 5) | (x % 24 == 7), rng.gamma(1, 20, (side, side)), 0)
    slope = 30 * np.exp(-(x + y) / side)
    return {"towns": rng.poisson(towns), "streets": rng.poisson(streets), "slope": rng.poisson(slope)}


def reference_errors(path: Path) -> dict[tuple[str, str, str], float]:
    """Errors of the research code by algorithm, dataset and epsilon; empty where the file is absent."""
    if not path.exists():
        return {}
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {(row["algorithm"], row["dataset"], row["epsilon"]): float(row["mean_abs_error"]) for row in rows}
