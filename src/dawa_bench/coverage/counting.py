"""Search for the questions whose intervals fail most often, then count how often they do, in releases that are fresh.

The search looks at some releases and picks questions. The releases in which they are counted were not seen by it, so
each count is binomial, whatever the search did. If the promise is kept, few intervals hold with a chance of at most
``stats.binom.cdf``. Among all lines of a table, one is then called broken with a chance of at most ``DOUBT``.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from scipy import stats

from dawa.arrays import IntArray
from dawa_bench.coverage.questions import Questions, questions
from dawa_bench.coverage.scenes import Scene

DOUBT = 1e-4
"""The chance that a table calls a promise broken that is kept with nothing to spare."""

WORST_COUNTS, WORST_OTHERS = 4, 2
"""Questions of either kind that the search picks for each scene."""

BATCH = 100
"""Releases between two reports of progress."""

FRESH = 2**40
"""Seeds of the releases that are counted begin here; those of the search begin at 0."""

Advanced = Callable[[int], object]
"""Hears how many releases were made since the last call."""


@dataclass(frozen=True)
class Line:
    """A question with its count.

    Attributes:
        scene: What was released.
        question: What was asked.
        held: In how many releases its interval held the truth.
        releases: How many there were.
        confidence: What was promised.
    """

    scene: str
    question: str
    held: int
    releases: int
    confidence: float

    @property
    def part(self) -> float:
        """How often the interval held."""
        return self.held / self.releases

    @property
    def chance(self) -> float:
        """The chance of so few, or fewer, if the promise were kept with nothing to spare."""
        return float(stats.binom.cdf(self.held, self.releases, self.confidence))


@dataclass(frozen=True, eq=False)
class Batch:
    """Some releases of a scene, and which of its questions they are asked: None stands for all."""

    scene: Scene
    chosen: tuple[int, ...] | None
    first: int
    count: int
    confidence: float

    def held(self) -> IntArray:
        """In how many of the releases each interval held the truth."""
        asked = self._asked if self.chosen is None else self._asked.only(self.chosen)
        total = np.zeros(len(asked), np.int64)
        for seed in range(self.first, self.first + self.count):
            total += asked.held(self.scene.release(seed), self.confidence)
        return total

    @property
    def _asked(self) -> Questions:
        return questions(self.scene.counts, bands=self.scene.bands)


def covered(
    scenes: Sequence[Scene],
    releases: int,
    search: int,
    confidence: float,
    processes: int = 1,
    advanced: Advanced = lambda _: None,
) -> Iterator[list[Line]]:
    """The questions of each scene that the search found worst, with their counts in fresh releases."""
    with _mapped(processes) as mapped:
        for scene in scenes:
            asked = questions(scene.counts, bands=scene.bands)
            seen = _held(mapped(_batches(scene, None, 0, search, confidence)), advanced)
            chosen = worst(asked, seen)
            held = _held(mapped(_batches(scene, chosen, FRESH, releases, confidence)), advanced)
            names = asked.only(chosen).names
            yield [
                Line(scene.title, name, int(times), releases, confidence)
                for name, times in zip(names, held, strict=True)
            ]


def worst(asked: Questions, held: IntArray) -> tuple[int, ...]:
    """The questions whose intervals held least often, by number, in order; counts and others apart."""
    many = len(asked.truth)
    counts, others = np.argsort(held[:many], kind="stable"), many + np.argsort(held[many:], kind="stable")
    return tuple(sorted((*counts[:WORST_COUNTS].tolist(), *others[:WORST_OTHERS].tolist())))


def broken(lines: Sequence[Line]) -> list[Line]:
    """The lines whose promise is broken: as many tests are allowed for as there are lines."""
    return [line for line in lines if line.chance < DOUBT / len(lines)]


def _batches(scene: Scene, chosen: tuple[int, ...] | None, first: int, count: int, confidence: float) -> list[Batch]:
    return [Batch(scene, chosen, first + done, min(BATCH, count - done), confidence) for done in range(0, count, BATCH)]


def _held(found: Iterator[tuple[int, IntArray]], advanced: Advanced) -> IntArray:
    """What all batches found together."""
    total = np.zeros(0, np.int64)
    for count, held in found:
        total = held if not len(total) else total + held
        advanced(count)
    return total


def _ask(batch: Batch) -> IntArray:
    return batch.held()


Mapped = Callable[[Sequence[Batch]], Iterator[tuple[int, IntArray]]]


@contextmanager
def _mapped(processes: int) -> Iterator[Mapped]:
    """A way to ask batches, here or in several processes, in any order: how many releases, and what was found."""
    if processes == 1:
        yield lambda batches: ((batch.count, batch.held()) for batch in batches)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:

        def asked(batches: Sequence[Batch]) -> Iterator[tuple[int, IntArray]]:
            waiting = {pool.submit(_ask, batch): batch.count for batch in batches}
            for done in as_completed(waiting):
                yield waiting[done], done.result()

        yield asked
