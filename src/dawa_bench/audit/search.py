"""A search for bad neighbours on larger domains, where nothing can be enumerated.

Counts are changed a little at a time, and a change is kept if it raises the largest loss of a few transcripts. Dense
blocks, second walks and searched strategies first occur here. What is found is exact: the loss of a transcript that
really occurs. That nothing is found proves nothing.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dawa.arrays import IntArray
from dawa_bench.audit.exact import Effort, judged
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.subjects import ON_MAPS, Subject

MAP, LINE, LONG, SHORT = (16, 16), (64,), (256,), (16,)
"""Domains that are searched."""
WALKS = ("dawa", "partition-laplace", "partition-uniform", "partition-geometric")
"""Mechanisms that treat blocks of cells differently: they need some blocks."""
SLOW = ("dawa-2014", "dawa-2014-all", "php", "mwem")
FEW = Effort(transcripts=6, runs=200)
"""What is looked at after each change."""


def searched(name: str, epsilon: str = "1") -> Subject:
    """A mechanism on a domain that is large for it."""
    shape = MAP if name in ON_MAPS else LONG if name in WALKS else SHORT if name in SLOW else LINE
    return Subject(name, shape, epsilon)


def climbed(subject: Subject, steps: int, advanced: Callable[[], None] = lambda: None, seed: int = 0) -> Finding:
    """The largest loss that a number of changes led to."""
    rng = np.random.default_rng(seed)
    counts, more = _teeth(subject.shape), int(rng.integers(np.prod(subject.shape)))
    best = judged(subject, counts, _with_one_more(counts, more), FEW, seed)
    for step in range(1, steps):
        tried, cell = _changed(counts, more, rng)
        found = judged(subject, tried, _with_one_more(tried, cell), FEW, step)
        runs = best.runs + found.runs
        if found.loss > best.loss:
            best, counts, more = found, tried, cell
        best = replace(best, runs=runs)
        advanced()
    return best


def _teeth(shape: tuple[int, ...]) -> IntArray:
    """Uneven at every scale: high and empty cells in turn, higher to one end."""
    places = np.arange(int(np.prod(shape)))
    return np.asarray(np.where(places % 2 == 0, 1 + places // 4, 0), np.int64).reshape(shape)


def _changed(counts: IntArray, more: int, rng: np.random.Generator) -> tuple[IntArray, int]:
    """The same with another place for the record, another count in a cell, a stretch made even, or cells exchanged."""
    line = counts.ravel().copy()
    kind, at = rng.choice(("place", "cell", "stretch", "order")), int(rng.integers(line.size))
    if kind == "place":
        return counts, at
    if kind == "cell":
        line[at] = int(rng.choice((0, 1, 5, 200)))
    elif kind == "stretch":
        line[at : at + int(rng.integers(1, 1 + line.size // 4))] = int(rng.integers(4))
    else:
        rng.shuffle(line[at : at + 16])
    return line.reshape(counts.shape), more


def _with_one_more(counts: IntArray, cell: int) -> IntArray:
    line = counts.ravel().copy()
    line[cell] += 1
    return line.reshape(counts.shape)
