"""Run the partition step that the options ask for: here counts enter stage 1."""

import math
from fractions import Fraction

from numpy.typing import ArrayLike

from dawa.counts import Counts
from dawa.errors import BudgetError, OptionError
from dawa.limits import MOST_CELLS_LISTED
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets, GridMethod, Method, every_cell, given
from dawa.partition.filled import Filled
from dawa.partition.halves import Halves
from dawa.partition.noisy_cost import NoisyCost
from dawa.partition.php import Php
from dawa.partition.privtree import PrivTree
from dawa.partition.structure_first import StructureFirst
from dawa.partition.uniform_grid import UniformGrid
from dawa.partition.walk import Walk, on_maps

METHODS: dict[str, Method | GridMethod] = {
    "walk": Walk(),
    "filled": Filled(),
    "noisy-cost": NoisyCost(),
    "php": Php(),
    "structure-first": StructureFirst(),
    "privtree": PrivTree(),
    "uniform-grid": UniformGrid(),
}
ON_MAPS: dict[str, Method | GridMethod] = {"walk": on_maps()}
"""The method that a name means over several axes, if it differs."""
ON_LONG_AXES: dict[str, Method | GridMethod] = {"walk": Halves()}
"""The method that a name means over one axis with too many cells to list, if it differs."""

PUBLIC = ("none", "one")


PartitionLike = Method | GridMethod | Buckets | str | ArrayLike | None
"""A partition by name, a method with its own options, or public bucket bounds."""


def method(option: PartitionLike, shape: tuple[int, ...]) -> Method | GridMethod | Buckets:
    """Read the ``partition`` option: a name, a method with its own options, or public bucket bounds."""
    size = math.prod(shape)
    if option is None or (isinstance(option, str) and option == "none"):
        return every_cell(size)
    if isinstance(option, str) and option == "one":
        return given([0, size], size)
    if isinstance(option, str):
        if option not in METHODS:
            raise OptionError(
                f"There is no partition {option!r}.",
                f"choose one of {', '.join((*METHODS, *PUBLIC))}, or pass public bucket bounds.",
            )
        special = ON_MAPS if len(shape) > 1 else ON_LONG_AXES if size > MOST_CELLS_LISTED else METHODS
        return special.get(option, METHODS[option])
    if isinstance(option, Buckets):
        given(option.bounds, size)
        return option
    return option if isinstance(option, (Method, GridMethod)) else given(option, size)


def partition(
    counts: Counts, epsilon: Fraction, chosen: Method | GridMethod | Buckets, randomness: Randomness
) -> Buckets:
    """Choose buckets. A record loses ``Buckets.spent`` out of epsilon, or less."""
    if isinstance(chosen, GridMethod):
        return chosen.choose_boxes(counts.exposed, counts.shape, epsilon, randomness)
    if not isinstance(chosen, Buckets):
        return chosen.choose_buckets(counts.exposed, counts.size, epsilon, randomness)
    if max(chosen.spent, chosen.spent_least) >= epsilon:
        raise BudgetError(
            f"The partition has spent {chosen.spent} already, which leaves nothing of {epsilon}.",
            "raise epsilon, which includes the partition's share.",
        )
    return chosen
