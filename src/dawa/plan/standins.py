"""Made-up records of a stated kind, on which a plan tries what a release would do.

What a mechanism gains from its buckets depends on how rough the data are, and nobody may look at them before they are
paid for. But people often know the kind of their column without looking: delays and incomes are skewed, events by the
hour are periodic. A stand-in has that kind and the stated number of records, and nothing else in common with the data.
Every draw has other features, so several draws show how much these matter.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from dawa.arrays import FloatArray
from dawa.limits import MOST_RECORDS_DRAWN
from dawa.plan.data import Data

SEED = 20_140_905
"""All draws of a plan follow from this number, so the same question has the same answer."""

STEPS = 2048
"""Steps of a pattern that returns, at most."""

Draw = Callable[[Generator, int, tuple[int, ...], tuple[int, ...]], FloatArray]
"""So many records, as positions from 0 up to 1 along every axis, given the cells along each, and in each period."""


@dataclass(frozen=True)
class Kind:
    """A kind of data.

    Attributes:
        name: Its name.
        meaning: What it is like, in words.
        draw: How records are drawn.
    """

    name: str
    meaning: str
    draw: Draw


def standin(kind: str, shape: tuple[int, ...], records: int, number: int, periods: tuple[int, ...] = ()) -> Data:
    """The stand-in of a kind with this number: another one, of the same kind, for each number.

    >>> standin("skewed", (1000,), 5000, 0).records
    5000

    Args:
        kind: One of ``KINDS``.
        shape: Cells along each axis.
        records: How many records it has.
        number: Which one.
        periods: Cells after which a pattern returns along each axis, where known; 0 where not.
    """
    rng = np.random.default_rng((SEED, number, sorted(KINDS).index(kind)))
    drawn = min(records, MOST_RECORDS_DRAWN)
    along = KINDS[kind].draw(rng, drawn, shape, periods or (0,) * len(shape))
    places = np.minimum((along * np.array(shape)).astype(np.int64), np.array(shape) - 1)
    cells = np.ravel_multi_index(tuple(places.T), shape)
    held = np.full(drawn, records // drawn, np.int64)
    held[: records % drawn] += 1
    return Data.of(kind, shape, cells, held)


# --- along one axis -------------------------------------------------------------------------------------------------


def _smooth(rng: Generator, records: int, shape: tuple[int, ...], periods: tuple[int, ...]) -> FloatArray:  # noqa: ARG001
    """A few broad hills; over several axes, each of them round."""
    axes, hills = len(shape), int(rng.integers(2, 6))
    centre, spread = rng.uniform(0.15, 0.85, (hills, axes)), rng.uniform(0.05, 0.2, (hills, axes))
    which = rng.choice(hills, records, p=rng.dirichlet(np.full(hills, 2.0)))
    return _folded(rng.normal(centre[which], spread[which]))


def _skewed(rng: Generator, records: int, shape: tuple[int, ...], periods: tuple[int, ...]) -> FloatArray:
    """Most records near the lower end and a long tail, some rounded; over several axes, towns of very unequal size."""
    if len(shape) > 1:
        return _towns(rng, records, shape, periods)
    return _tailed(rng, records, shape[0], (0.03, 0.15), (0.5, 1.0))


def _sparse(rng: Generator, records: int, shape: tuple[int, ...], periods: tuple[int, ...]) -> FloatArray:
    """The same in a small part of the axis; over several axes, few towns and nearly nothing between them."""
    if len(shape) > 1:
        return _towns(rng, records, shape, periods, (10, 60), (0.0, 0.03), 0.002)
    return _tailed(rng, records, shape[0], (0.006, 0.04), (0.5, 1.1))


def _tailed(
    rng: Generator, records: int, cells: int, middles: tuple[float, float], spreads: tuple[float, float]
) -> FloatArray:
    """A logarithmic normal distribution around a middle, in parts of the axis, of which some is rounded."""
    middle, spread = np.exp(rng.uniform(*np.log(middles))), rng.uniform(*spreads)
    along = np.minimum(middle * rng.lognormal(0, spread, records), 1 - 2**-20)
    return _rounded(rng, along, cells, middle, rng.uniform(0, 0.6))[:, None]


def _spiky(rng: Generator, records: int, shape: tuple[int, ...], periods: tuple[int, ...]) -> FloatArray:
    """Most records at few values, of very unequal weight, and the rest between them."""
    spikes = int(np.exp(rng.uniform(np.log(20), np.log(300))))
    places = _skewed(rng, spikes, shape, periods) if len(shape) > 1 else rng.uniform(0, 1, (spikes, 1))
    weights = np.arange(1, spikes + 1) ** -rng.uniform(0.6, 1.2)
    along = places[rng.choice(spikes, records, p=weights / weights.sum())]
    between = rng.random(records) < rng.uniform(0, 0.2)
    along[between] = _skewed(rng, int(between.sum()), shape, periods)
    return along


def _periodic(rng: Generator, records: int, shape: tuple[int, ...], periods: tuple[int, ...]) -> FloatArray:
    """The same pattern again and again, such as hours of the day; over several axes, along each of them."""
    columns = [_repeated(rng, records, cells, period) for cells, period in zip(shape, periods, strict=True)]
    return np.stack(columns, axis=1)


def _repeated(rng: Generator, records: int, cells: int, period: int) -> FloatArray:
    """A pattern that returns every so many cells, with every turn somewhat larger or smaller than the last."""
    length = period if 1 < period < cells else max(2, cells // int(rng.integers(20, 200)))
    turns = math.ceil(cells / length)
    steps = min(length, STEPS)
    inside = np.sin(np.pi * (np.arange(steps) + 0.5) / steps) ** rng.uniform(0.5, 3) * rng.gamma(4, 0.25, steps)
    slow = 1 + rng.uniform(0, 0.4) * np.sin(2 * np.pi * (np.linspace(0, 1, turns) + rng.random()))
    each = slow * rng.gamma(40, 1 / 40, turns)
    turn = rng.choice(turns, records, p=each / each.sum())
    step = rng.choice(steps, records, p=inside / inside.sum())
    return _folded((turn + (step + rng.random(records)) / steps) * length / cells)


def _rounded(rng: Generator, along: FloatArray, cells: int, middle: float, part: float) -> FloatArray:
    """Some of the records at round numbers, as people state them: a tenth or a hundredth of what is usual."""
    grid = 10 ** max(0, round(math.log10(cells * middle)) - int(rng.integers(1, 3)))
    some = rng.random(len(along)) < part
    along[some] = np.minimum(np.round(along[some] * cells / grid) * grid / cells, 1 - 2**-20)
    return along


# --- over several axes ----------------------------------------------------------------------------------------------


def _towns(
    rng: Generator,
    records: int,
    shape: tuple[int, ...],
    periods: tuple[int, ...],  # noqa: ARG001
    number: tuple[int, int] = (50, 500),
    villages: tuple[float, float] = (0.05, 0.3),
    width: float = 0.004,
) -> FloatArray:
    """Towns whose sizes follow Zipf's law, and villages everywhere."""
    towns, axes = int(rng.integers(*number)), len(shape)
    centre = rng.uniform(0, 1, (towns, axes))
    weights = np.arange(1, towns + 1) ** -rng.uniform(0.8, 1.2)
    home = rng.choice(towns, records, p=weights / weights.sum())
    widths = rng.gamma(2, width, (towns, 1))
    along = _folded(rng.normal(centre[home], widths[home]))
    apart = rng.random(records) < rng.uniform(*villages)
    along[apart] = rng.uniform(0, 1, (int(apart.sum()), axes))
    return along


def _folded(along: FloatArray) -> FloatArray:
    """Positions beyond an end, back inside."""
    turned = np.abs(along) % 2
    return np.minimum(np.where(turned >= 1, 2 - turned, turned), 1 - 2**-20)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("smooth", "a few broad hills, as of ages or heights", _smooth),
        Kind("skewed", "most at one end and a long tail, as of incomes or delays; on maps, towns", _skewed),
        Kind("sparse", "nine of ten in less than a tenth of the axis, as of amounts with generous bounds", _sparse),
        Kind("spiky", "most at a few values, as of prices or distances", _spiky),
        Kind("periodic", "the same pattern again and again, as of hours or days", _periodic),
    )
}
"""The kinds of made-up data, by name."""
