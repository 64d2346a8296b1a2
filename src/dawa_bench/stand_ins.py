"""Generated stand-ins for datasets that are not at hand: as large, as sparse and as hard to partition.

As hard means that the best partition at ε2 = 0.05 has about as many buckets. Occupied cells gather where a few slow
waves are high, counts are log-normal around them, and the spread of that is what sets the hardness. The numbers below
were chosen for that.
"""

import math
from dataclasses import dataclass

import numpy as np

from dawa.arrays import IntArray
from dawa.layout.curve import Order

SEED = 2014
WAVES = 8


@dataclass(frozen=True)
class Recipe:
    """What a stand-in has in common with its dataset.

    Attributes:
        shape: Cells along each axis.
        records: How many, exactly.
        occupied: Cells that are not empty, exactly.
        spread: Standard deviation of the logarithm of a count: what sets the hardness.
        gathering: How much occupied cells keep together.
    """

    shape: tuple[int, ...]
    records: int
    occupied: int
    spread: float
    gathering: float = 2.0


def generated(recipe: Recipe, seed: int = SEED) -> IntArray:
    """Counts by a recipe.

    >>> cells = generated(Recipe((64,), records=1000, occupied=16, spread=1.0))
    >>> int(cells.sum()), int((cells > 0).sum())
    (1000, 16)
    """
    generator = np.random.default_rng(seed)
    size = math.prod(recipe.shape)
    place, level = np.arange(size) / size, np.zeros(size)
    for wave in range(1, WAVES + 1):
        level += generator.normal() * np.cos(2 * np.pi * (wave * place + generator.uniform())) / wave
    chosen = np.argsort(recipe.gathering * level + generator.gumbel(size=size), kind="stable")[-recipe.occupied :]
    cells = np.sort(chosen)
    weight = np.exp(level[cells] + recipe.spread * generator.normal(size=len(cells)))
    share = (recipe.records - len(cells)) * weight / weight.sum()
    line = np.zeros(size, np.int64)
    line[cells] = 1 + np.floor(share).astype(np.int64)
    missing = recipe.records - int(line.sum())
    line[cells[np.argsort(np.floor(share) - share, kind="stable")[:missing]]] += 1
    if len(recipe.shape) == 1:
        return line
    grid = np.empty(size, np.int64)
    grid[Order(recipe.shape).flat()] = line
    return grid.reshape(recipe.shape)
