"""Losses shown from outside: run two neighbours, look at what comes out, and count.

Nothing is known of the mechanism but its outputs. One half of the runs says which event to look at (``events``); only
then are the others made, and the event is counted in them. So the lower bound on the loss holds with the confidence
stated, whatever the search did: Clopper-Pearson for both chances, in both directions.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

import dawa
from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError
from dawa_bench.audit.events import Event, Reading, found
from dawa_bench.audit.finding import Finding

Run = Callable[[int | None], FloatArray]
"""A run of a mechanism: takes a seed, or None for the operating system's randomness; gives the numbers it published."""

Sampling = Callable[[int], FloatArray]
"""So many outputs, a row each, that were never given before."""

Told = Callable[[int, int], object]
"""Hears how many runs are done, and how many there are."""

CONFIDENCE = 0.9999
LEAST = 50
"""An event must have been seen so often in the outputs that choose it: rarer ones prove nothing."""
BATCH = 1000
"""Runs between two reports of progress."""
APART = 2**40
"""Seeds of the second neighbour begin so far behind those of the first."""
HUGE = 2.0**1000
"""Stands for numbers that are infinite, or none."""


class Counted(NamedTuple):
    """An event, and in how many outputs of each neighbour it happened."""

    event: Event
    likely: int
    rare: int


def lower(seen: ArrayLike, runs: int, error: float) -> FloatArray:
    """The least chance for which so many would be seen with a chance of ``error`` (Clopper and Pearson 1934).

    >>> lower(10, 10, 0.05).round(4).item()  # 0.05 ** (1 / 10)
    0.7411
    """
    times = np.asarray(seen, np.float64)
    return np.where(times > 0, stats.beta.ppf(error, np.maximum(times, 1), runs - times + 1), 0.0)


def upper(seen: ArrayLike, runs: int, error: float) -> FloatArray:
    """The largest chance for which so few would be seen with a chance of ``error``.

    >>> upper(0, 10, 0.05).round(4).item()  # 1 - 0.05 ** (1 / 10)
    0.2589
    """
    times = np.asarray(seen, np.float64)
    return np.where(times < runs, stats.beta.isf(error, times + 1, np.maximum(runs - times, 1)), 1.0)


def least_loss(likely: ArrayLike, rare: ArrayLike, runs: int, error: float) -> FloatArray:
    """What an event's chances lose at least, ``ln(P / P′)``, if each bound is wrong with half of this chance.

    >>> least_loss(900, 300, 1000, 0.0001).round(3).item()
    0.872
    """
    with np.errstate(divide="ignore"):
        logarithm: FloatArray = np.log(lower(likely, runs, error / 2)) - np.log(upper(rare, runs, error / 2))
    return logarithm


def shown(
    one: Sampling,
    two: Sampling,
    runs: int,
    claimed: float,
    *,
    what: str = "",
    reading: Reading | None = None,
    confidence: float = CONFIDENCE,
    least: int = LEAST,
    told: Told = lambda _done, _total: None,
) -> Finding:
    """The largest loss that outputs of two neighbours show.

    Args:
        one: Makes outputs of a neighbour.
        two: Makes outputs of the other.
        runs: How many of each; a half chooses the events.
        claimed: The ε that is claimed for them.
        what: What is audited.
        reading: What the numbers of an output are.
        confidence: How sure the loss is.
        least: How often an event must have been seen by those who choose it.
        told: Hears of progress.
    """
    if not 0 < confidence < 1:
        raise OptionError(f"confidence={confidence} is not between 0 and 1.", "pass confidence=0.9999.")
    error, studied = (1 - confidence) / 2, runs // 2
    total, done = 2 * runs, 0

    def outputs(sampling: Sampling, count: int) -> Iterator[FloatArray]:
        nonlocal done
        for begin in range(0, count, BATCH):
            batch = sampling(min(BATCH, count - begin))
            done += len(batch)
            told(done, total)
            yield np.nan_to_num(batch, nan=-HUGE, posinf=2 * HUGE, neginf=-2 * HUGE)

    first, second = (np.concatenate(list(outputs(each, studied))) for each in (one, two))
    named = reading or Reading.numbered(first.shape[1])

    def worth(seen: IntArray, other: IntArray, runs: int) -> FloatArray:
        return least_loss(seen, other, runs, error)

    chosen = found(first, second, named, worth, least), found(second, first, named, worth, least)
    del first, second
    here, there = (_counts(outputs(each, runs - studied), chosen) for each in (one, two))
    directions = Counted(chosen[0], here[0], there[0]), Counted(chosen[1], there[1], here[1])
    return _finding(directions, runs - studied, error, Finding(what, claimed, 0.0, 0.0, "", confidence, runs - studied))


def audited(
    one: Run,
    two: Run,
    runs: int,
    claimed: float,
    *,
    seed: int | None = None,
    processes: int = 1,
    what: str = "",
    reading: Reading | None = None,
    confidence: float = CONFIDENCE,
    least: int = LEAST,
    told: Told = lambda _done, _total: None,
) -> Finding:
    """The same for functions that make one output; several processes need functions that can be pickled."""
    first, second = (None, None) if seed is None else (2 * seed * APART, (2 * seed + 1) * APART)
    with ExitStack() as open_:
        pool = None
        if processes > 1:
            pool = open_.enter_context(ProcessPoolExecutor(processes, get_context("spawn")))
        here, there = _Repeated(one, first, pool, processes), _Repeated(two, second, pool, processes)
        return shown(
            here,
            there,
            runs,
            claimed,
            what=what,
            reading=reading,
            confidence=confidence,
            least=least,
            told=told,
        )


@dataclass(frozen=True)
class Estimating:
    """A run of ``dawa.estimate``, and all numbers that anybody can read off its estimate.

    Attributes:
        counts: Records per cell.
        epsilon: The budget.
        options: The mechanism's name and its options, as ``dawa.estimate`` takes them.
    """

    counts: Any
    epsilon: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, seed: int | None) -> FloatArray:
        """Cells, answers, where buckets end, and the unbiased total of the bucket at each place."""
        made = dawa.estimate(self.counts, epsilon=self.epsilon, seed=seed, **self.options)
        bounds = made.buckets.bounds
        ends = np.zeros(made.size)
        ends[bounds[1:-1]] = 1
        answers = made.answers(self.asked)
        totals = np.repeat(made.unbiased, np.diff(bounds))
        return np.concatenate((made.cells.ravel(), answers, ends[1:], totals))

    @cached_property
    def asked(self) -> dawa.Workload:
        """All ranges from the first cell, or all rectangles."""
        shape = np.shape(self.counts)
        corners = np.array(list(np.ndindex(*shape))) + 1
        if len(shape) == 1:
            return dawa.Workload.ranges(np.zeros(len(corners), np.int64), corners[:, 0], shape)
        return dawa.Workload.rectangles(np.zeros_like(corners), corners, shape)

    @cached_property
    def reading(self) -> Reading:
        """Names for the numbers."""
        size = int(np.prod(np.shape(self.counts)))
        kinds = (
            ("cell", "cells", size),
            ("answer", "answers", size),
            ("the end of a bucket behind place", "bounds", size - 1),
            ("total at place", "totals", size),
        )
        names = [f"{name} {at + 1}" for name, _, count in kinds for at in range(count)]
        stops = np.cumsum([count for _, _, count in kinds]).tolist()
        starts = [0, *stops[:-1]]
        together = [
            (f"the {part}", slice(lo, hi)) for (_, part, _), lo, hi in zip(kinds, starts, stops, strict=True) if hi > lo
        ]
        return Reading(tuple(names), (("all numbers", slice(None)), *together))


def estimates(
    one: ArrayLike,
    two: ArrayLike,
    runs: int,
    epsilon: str = "1",
    *,
    seed: int | None = None,
    processes: int = 1,
    confidence: float = CONFIDENCE,
    told: Told = lambda _done, _total: None,
    **options: Any,  # noqa: ANN401  of a mechanism
) -> Finding:
    """The largest loss that ``dawa.estimate`` shows on two neighbours.

    >>> estimates([0, 0], [1, 0], 400, "1", seed=0, mechanism="identity").wrong
    False
    """
    first, second = (Estimating(np.asarray(counts).tolist(), epsilon, options) for counts in (one, two))
    return audited(
        first,
        second,
        runs,
        float(Fraction(epsilon)),
        seed=seed,
        processes=processes,
        what=f"{options.get('mechanism', 'dawa')}, {' × '.join(map(str, np.shape(one)))} cells",
        reading=first.reading,
        confidence=confidence,
        told=told,
    )


@dataclass
class _Repeated:
    """Outputs of a function, with a seed for each if there are seeds."""

    run: Run
    seed: int | None
    pool: Executor | None
    processes: int

    def __call__(self, count: int) -> FloatArray:
        seeds: list[int | None] = [None] * count
        if self.seed is not None:
            seeds = list(range(self.seed, self.seed + count))
            self.seed += count
        if self.pool is None:
            return _rows(self.run, seeds)
        each = -(-count // self.processes)
        parts = [seeds[begin : begin + each] for begin in range(0, count, each)]
        return np.concatenate(list(self.pool.map(_rows, [self.run] * len(parts), parts)))


def _rows(run: Run, seeds: list[int | None]) -> FloatArray:
    return np.array([run(seed) for seed in seeds], np.float64)


def _counts(batches: Iterator[FloatArray], events: tuple[Event, Event]) -> tuple[int, int]:
    """How often each of two events happens."""
    first = second = 0
    for batch in batches:
        first += int(np.count_nonzero(events[0].holds(batch)))
        second += int(np.count_nonzero(events[1].holds(batch)))
    return first, second


def _finding(directions: tuple[Counted, Counted], runs: int, error: float, empty: Finding) -> Finding:
    """The direction that shows more. No loss is below 0: what always happens shows that much."""
    bounds = [float(least_loss(each.likely, each.rare, runs, error)) for each in directions]
    at = int(np.argmax(bounds))
    event, likely, rare = directions[at]
    ratio = likely / rare if rare else math.inf
    return Finding(
        what=empty.what,
        claimed=empty.claimed,
        loss=max(bounds[at], 0.0),
        estimate=math.log(ratio) if likely else 0.0,
        event=event.words,
        confidence=empty.confidence,
        runs=runs,
        seen=(likely, rare),
    )
