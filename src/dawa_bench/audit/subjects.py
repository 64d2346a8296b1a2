"""What is audited: mechanisms with their options on a domain, and neighbouring counts there.

Neighbours differ by one record in one cell. The pairs on tiny domains are made to hurt: nothing at all, teeth, a heavy
cell beside empty ones, flat counts that one record makes uneven.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import dawa
from dawa.arrays import IntArray
from dawa.partition.filled import Filled
from dawa.partition.gauge import Gauge
from dawa.partition.halves import Halves
from dawa.partition.noisy_cost import NoisyCost

ON_MAPS = ("quadtree", "hybrid-tree", "dpcube", "ugrid", "agrid")
"""Mechanisms for two axes and more alone."""
LINES, MAPS = ((1,), (2,), (3,), (8,)), ((2, 2), (2, 4), (4, 4))
"""Tiny domains."""
EPSILONS = ("0.1", "1", "4")
QUERIES = 20
QUICK = {"dawa": {"effort": "fast"}}
"""Options that change nothing but how long public searches take."""
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "dawa": (
        {"partition": Filled()},
        {"partition": Halves()},
        {"aim": "guarantee"},
        {"merge": True},
        {"strategy": "leaves", "effort": None},
    ),
    "dawa-2014": ({"partition": NoisyCost(noise="exponential")},),
    "efpa": ({"cells": False},),
    "mwem": ({"rounds": 3, "records": 9},),
}
"""Options that change what is private."""
VARIANTS_ON_MAPS: dict[str, tuple[dict[str, Any], ...]] = {"dawa": ({"partition": Gauge()},)}


@dataclass(frozen=True)
class Subject:
    """A mechanism as it is called.

    Attributes:
        mechanism: Its name.
        shape: Cells along each axis.
        epsilon: What it claims to lose at most.
        options: Its options, as in ``dawa.estimate``.
    """

    mechanism: str
    shape: tuple[int, ...]
    epsilon: str = "1"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def claimed(self) -> Fraction:
        """Its epsilon, exactly."""
        return Fraction(self.epsilon)

    @property
    def title(self) -> str:
        """The mechanism and its options, on one line."""
        return " ".join([self.mechanism, *(f"{name}={_short(value)}" for name, value in self.options.items())])

    @property
    def domain(self) -> str:
        """How many cells, along each axis."""
        return " × ".join(map(str, self.shape))

    def on(self, counts: IntArray) -> partial[tuple[object, ...]]:
        """A run on these counts, which makes all that an estimate says."""
        return partial(self._said, counts)

    def _said(self, counts: IntArray) -> tuple[object, ...]:
        asked = queries(self.shape)
        options = {**QUICK.get(self.mechanism, {}), **self.options}
        made = dawa.estimate(counts, asked, epsilon=self.epsilon, mechanism=self.mechanism, **options)
        bounds = tuple(range(counts.size + 1) if made.partition is None else np.asarray(made.partition).tolist())
        spread = made.variances(asked).tobytes() if self.mechanism in _with_error_bars() else b""
        return bounds, made.cells.tobytes(), made.answers(asked).tobytes(), spread, plain(made)


def queries(shape: tuple[int, ...]) -> dawa.Workload:
    """A few ranges or rectangles."""
    if len(shape) == 1:
        return dawa.workloads.uniform(shape[0], QUERIES)
    return dawa.workloads.random_rectangles(shape, QUERIES)


def plain(value: object) -> object:
    """Everything that an estimate holds, in every field of every part of it, in a form that ``==`` compares.

    A release publishes more of an estimate than its answers: what was measured before it was evened out, how the walk
    stopped, what each step spent. Numbers are compared by their digits, so that what is not a number equals itself.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, *((part.name, plain(getattr(value, part.name))) for part in fields(value))
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return "dict", *((plain(name), plain(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *(plain(each) for each in value)
    return repr(value)


def subjects(names: tuple[str, ...] = (), epsilons: tuple[str, ...] = EPSILONS) -> Iterator[Subject]:
    """Every mechanism on tiny domains, with options that matter; or those with these names."""
    for name in names or dawa.mechanisms.names():
        for epsilon in epsilons:
            if name not in ON_MAPS:
                yield from (Subject(name, shape, epsilon) for shape in LINES)
                yield from (Subject(name, LINES[-1], epsilon, options) for options in VARIANTS.get(name, ()))
            if takes_maps(name):
                yield from (Subject(name, shape, epsilon) for shape in MAPS)
                yield from (Subject(name, MAPS[-1], epsilon, options) for options in VARIANTS_ON_MAPS.get(name, ()))


def walked(names: tuple[str, ...] = (), epsilons: tuple[str, ...] = EPSILONS) -> Iterator[Subject]:
    """The walks by which ``dawa`` chooses buckets, on two cells, if it is among those named."""
    if not names or "dawa" in names:
        for epsilon in epsilons:
            yield Subject("dawa", (2,), epsilon)
            yield Subject("dawa", (2,), epsilon, {"partition": Halves()})


def takes_maps(name: str) -> bool:
    """Whether a mechanism has a form of its own on several axes, or is made for them."""
    return name in ON_MAPS or name in {"dawa", "identity", "privtree", "mwem"}


def pairs(shape: tuple[int, ...], number: int, seed: int = 0) -> Iterator[tuple[IntArray, IntArray]]:
    """Neighbours: the second has one record more. The first few are fixed, the others drawn."""
    size, rng = int(np.prod(shape)), np.random.default_rng(seed)
    places = np.arange(size)
    fixed = [
        (np.zeros(size, np.int64), 0),
        (2 * (places % 2 == 0), size - 1),
        (np.where(places == size // 2, 50, 0), size // 2),
        (np.full(size, 3), 0),
    ]
    for at in range(number):
        if at < len(fixed):
            counts, more = fixed[at]
        else:
            heights = rng.choice((1, 3, 12, 60))
            counts, more = rng.integers(0, heights + 1, size) * rng.integers(0, 2, size), int(rng.integers(size))
        one = np.asarray(counts, np.int64).copy()
        two = one.copy()
        two[more] += 1
        yield one.reshape(shape), two.reshape(shape)


def _with_error_bars() -> frozenset[str]:
    return frozenset(dawa.mechanisms.names(with_error_bars=True))


def _short(value: object) -> str:
    return type(value).__name__ if hasattr(value, "__dataclass_fields__") else repr(value)
