"""What is released: a mechanism, public counts that are hard on intervals, and a budget."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import dawa
from dawa import Axis, Release
from dawa.arrays import IntArray

LINE, MAP = 64, (8, 8)
MANY = 2**44
"""Records of which floats lose more than the noise of a large budget."""


WITH_BANDS = ("dawa", "greedy-h", "privelet")
"""Mechanisms that are asked for bands: one for every kind of strategy that noise is drawn through, a thousand times."""


def spiky() -> IntArray:
    """Flat but for cells that a bucket may hide, an empty stretch with one heavy cell, and a slope."""
    cells = np.full(LINE, 3)
    cells[[9, 22, 23]] = [150, 80, 2]
    cells[LINE // 2 :] = 0
    cells[3 * LINE // 4] = 40
    cells[7 * LINE // 8 :] = np.arange(LINE // 8)
    return cells


def few() -> IntArray:
    """Five records, of which noise hides most."""
    cells = np.zeros(LINE, np.int64)
    cells[[20, 21, 50]] = [1, 3, 1]
    return cells


def spots() -> IntArray:
    """A map with a town, a road and a field."""
    cells = np.zeros(MAP, np.int64)
    cells[2, 2:4], cells[3, 2] = (300, 40), 90
    cells[5, :] += 12
    cells[6:, 5:] += 4
    return cells


def many(shape: tuple[int, ...]) -> IntArray:
    """2^44 records, unevenly on all cells."""
    shares = np.random.default_rng(0).dirichlet(np.full(int(np.prod(shape)), 0.5))
    return np.floor(shares * MANY).astype(np.int64).reshape(shape)


@dataclass(frozen=True, eq=False)
class Scene:
    """What is released again and again, with fresh noise every time.

    Attributes:
        mechanism: The name of a mechanism with error bars.
        name: What the records look like.
        counts: How many there are in every cell: public.
        epsilon: The budget.
        options: Options of the mechanism that change no promise.
        bands: Whether bands are asked for, too: each takes a thousand draws of noise.
    """

    mechanism: str
    name: str
    counts: IntArray
    epsilon: str
    options: dict[str, Any] = field(default_factory=dict)
    bands: bool = False

    @property
    def title(self) -> str:
        """The mechanism, the records and the budget."""
        return f"{self.mechanism}, {self.name}, epsilon {self.epsilon}"

    def release(self, seed: int) -> Release:
        """One of its releases."""
        made = dawa.estimate(self.counts, epsilon=self.epsilon, seed=seed, mechanism=self.mechanism, **self.options)
        return replace(self._empty, estimate=made)

    @cached_property
    def _empty(self) -> Release:
        """A release of no records, for the axes and the statement."""
        axes = [Axis(f"x{i}", 0, side) for i, side in enumerate(self.counts.shape)]
        table: dict[str, list[int]] = {axis.column: [] for axis in axes}
        made = dawa.release(table, axes, epsilon=self.epsilon, seed=0, mechanism=self.mechanism, **self.options)
        if not isinstance(made, Release):
            raise TypeError(made)
        return made


def scenes(mechanisms: Sequence[str]) -> Iterator[Scene]:
    """Lines and maps for every mechanism."""
    for name in mechanisms:
        quick = {"effort": "fast"} if name == "dawa" else {}
        yield Scene(name, "spiky line", spiky(), "0.5", quick)
        yield Scene(name, "line of five records", few(), "0.5", quick, bands=name in WITH_BANDS)
        yield Scene(name, "line of 2^44 records", many((LINE,)), "10000", quick)
        yield Scene(name, "map", spots(), "0.5", quick)
        yield Scene(name, "map of 2^44 records", many(MAP), "10000", quick)
