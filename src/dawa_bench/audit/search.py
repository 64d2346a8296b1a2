"""A search for bad neighbours on larger domains, where nothing can be enumerated.

Counts are changed a little at a time, and a change is kept if it raises the largest loss of a few transcripts. Dense
blocks, second walks and searched strategies first occur here. What is found is exact: the loss of a transcript that
really occurs. That nothing is found proves nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np

from dawa.arrays import IntArray
from dawa_bench.audit.exact import Effort, Verdict, judged
from dawa_bench.audit.subjects import Subject

LINE, MAP = (256,), (16, 16)
"""The domains that are searched."""
FEW = Effort(transcripts=6, runs=200)
"""What is looked at after each change."""


def climbed(subject: Subject, steps: int, advanced: Callable[[], None] = lambda: None, seed: int = 0) -> Verdict:
    """The largest loss that a number of changes led to."""
    rng = np.random.default_rng(seed)
    counts, more = _teeth(subject.shape), int(rng.integers(np.prod(subject.shape)))
    best = Verdict(subject, Decimal(0), 0)
    for step in range(steps):
        tried, cell = (counts, more) if step == 0 else _changed(counts, more, rng)
        found = judged(subject, tried, _with_one_more(tried, cell), FEW, step)
        seen = best.seen + found.seen
        if found.differs or found.loss > best.loss:
            best, counts, more = found, tried, cell
        best = replace(best, seen=seen)
        advanced()
        if best.differs:
            break
    return best


def _teeth(shape: tuple[int, ...]) -> IntArray:
    """Uneven at every scale: high and empty cells in turn, higher to one end."""
    places = np.arange(int(np.prod(shape)))
    return np.asarray(np.where(places % 2 == 0, 1 + places // 4, 0), np.int64).reshape(shape)


def _changed(counts: IntArray, more: int, rng: np.random.Generator) -> tuple[IntArray, int]:
    """The same with another place for the record, a cell emptied or filled, or a stretch made even."""
    line = counts.ravel().copy()
    kind, at = int(rng.integers(4)), int(rng.integers(line.size))
    if kind == 0:
        return counts, at
    if kind == 1:
        line[at] = int(rng.choice((0, 1, 5, 200)))
    elif kind == 2:
        line[at : at + int(rng.integers(1, 1 + line.size // 4))] = int(rng.integers(4))
    else:
        rng.shuffle(line[at : at + 16])
    return line.reshape(counts.shape), more


def _with_one_more(counts: IntArray, cell: int) -> IntArray:
    line = counts.ravel().copy()
    line[cell] += 1
    return line.reshape(counts.shape)
