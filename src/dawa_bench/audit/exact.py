"""The largest loss of a mechanism over neighbours and transcripts: exact where it can be, and with a confidence else.

What a mechanism says is its transcript (``transcripts``). Noisy costs are the exception: they stay inside, and only the
choice of the least is published. There the chances of each choice are counted, one half of the runs to pick the choice
that tells most, the other half to bound what it tells; what is measured after the choice is exact again.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from dawa.arrays import IntArray
from dawa_bench.audit.chances import most
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.outside import least_loss
from dawa_bench.audit.subjects import Subject, pairs
from dawa_bench.audit.transcripts import through_coins, transcripts
from dawa_bench.audit.watch import HIDDEN, Asking, Given, drawn, watched

CONFIDENCE = 1 - 1e-6
"""Of losses that are counted."""
Bounds = tuple[int, ...]
"""Where buckets end: the choice that is published."""
OFTEN = 10
"""A choice is looked at if each neighbour made it so often."""


@dataclass(frozen=True)
class Effort:
    """How hard an audit looks.

    Attributes:
        pairs: Of neighbours, for each subject.
        transcripts: At most, for each pair.
        runs: With each neighbour, where chances are counted.
    """

    pairs: int = 6
    transcripts: int = 40
    runs: int = 400


ENOUGH = 520
"""Records, times epsilon, from which on a walk by default all but surely splits."""


def audited(subject: Subject, effort: Effort, seed: int = 0) -> Finding:
    """The largest loss over some pairs of neighbours."""
    neighbours = enumerate(pairs(subject.shape, effort.pairs, seed))
    found = [judged(subject, one, two, effort, seed + at) for at, (one, two) in neighbours]
    return replace(max(found, key=lambda each: each.loss), runs=sum(each.runs for each in found))


def swept(subject: Subject, numbers: range | None = None) -> Finding:
    """The largest loss where one of two cells holds all records, for every number of them that a walk tells apart.

    A few neighbours meet a few entries of a walk's tables. One entry that is wrong is met here: each number of records
    is a score of its own, up to where splitting is all but sure. All coins are followed up to the first noise.
    """
    heights = range(int(ENOUGH / subject.claimed)) if numbers is None else numbers
    runs = {held: subject.on(np.array([held, 0])) for held in (*heights, heights.stop)}
    losses = {held: through_coins(runs[held], runs[held + 1]) for held in heights}
    worst = max(losses, key=lambda held: losses[held])
    return _finding(subject, losses[worst], f"{worst} records beside {worst + 1}", len(losses))


def judged(subject: Subject, one: IntArray, two: IntArray, effort: Effort, seed: int = 0) -> Finding:
    """The largest loss between two neighbours."""
    if hides(subject, one):
        return _counted(subject, subject.on(one), subject.on(two), effort.runs)
    found = list(transcripts(subject.on(one), subject.on(two), effort.transcripts, seed))
    worst = max(found, key=lambda transcript: abs(transcript.loss))
    told = f"differs in {worst.differs}" if worst.differs else f"{worst.gates} gates"
    return _finding(subject, abs(worst.loss), told, len(found))


def hides(subject: Subject, counts: IntArray) -> bool:
    """Whether some of what passes the gates stays inside, so that chances have to be counted."""
    with watched(drawn) as seen:
        subject.on(counts)()
    return any(asking.gate == HIDDEN for asking in seen.asked)


def _finding(subject: Subject, loss: Decimal, event: str, runs: int, confidence: float = 1.0) -> Finding:
    exact = float(loss)
    what = f"{subject.title}, {subject.domain} cells"
    return Finding(what, float(subject.claimed), exact, exact, event, confidence, runs)


def _counted(subject: Subject, one: Callable[[], object], two: Callable[[], object], runs: int) -> Finding:
    """What the choice of buckets tells, counted, and what measuring them tells, computed."""
    mine, theirs = (_choices(run, runs) for run in (one, two))
    picked = _telling(mine.train, theirs.train)
    if picked is None:
        return _finding(subject, Decimal(0), "no choice was made often", 2 * runs, CONFIDENCE)
    likely, rare = sorted((mine.test[picked], theirs.test[picked]), reverse=True)
    bound = float(least_loss(likely, rare, runs - runs // 2, (1 - CONFIDENCE) / 2))
    loss = Decimal(max(bound, 0.0)) + most(mine.asked[picked], theirs.asked[picked])
    told = f"buckets that end at {', '.join(map(str, picked[1:]))}"
    return _finding(subject, loss, told, 2 * runs, CONFIDENCE)


@dataclass(frozen=True)
class _Choices:
    """How often each choice was made, in either half of the runs, and what is measured after it."""

    train: Counter[Bounds]
    test: Counter[Bounds]
    asked: dict[Bounds, Asking]


def _choices(run: Callable[[], object], runs: int) -> _Choices:
    """Make many choices. What is measured after them is not drawn, because it is computed."""
    found = _Choices(Counter(), Counter(), {})
    for at in range(runs):
        with watched(_silent) as seen:
            said = run()
        bounds: Bounds = said[0]  # type: ignore[index]  # as ``Subject.on`` makes it
        (found.train if at < runs // 2 else found.test)[bounds] += 1
        found.asked[bounds] = seen.asked[-1]
    return found


def _silent(asking: Asking, draw: Callable[[], Given]) -> Given:
    return draw() if asking.gate == HIDDEN else (0,) * len(asking.exact)


def _telling(one: Counter[Bounds], two: Counter[Bounds]) -> Bounds | None:
    """The choice that seems to tell most, of those that both make often enough to be bounded."""
    both = [choice for choice in one if min(one[choice], two[choice]) >= OFTEN]
    return max(both, key=lambda choice: abs(math.log(one[choice] / two[choice])), default=None)
