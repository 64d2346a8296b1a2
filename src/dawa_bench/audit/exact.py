"""The largest loss of a mechanism over neighbours and transcripts: exact where it can be, and with a confidence else.

What a mechanism says is its transcript (``transcripts``). Noisy costs are the exception: they stay inside, and only the
choice of the least is published. There the chances of each choice are counted, one half of the runs to pick the choice
that tells most, the other half to bound what it tells; what is measured after the choice is exact again.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from scipy import stats

from dawa.arrays import IntArray
from dawa_bench.audit.chances import most
from dawa_bench.audit.subjects import Subject, pairs
from dawa_bench.audit.transcripts import transcripts
from dawa_bench.audit.watch import HIDDEN, Asking, Given, drawn, watched

TOLERANCE = Decimal("1e-30")
"""Losses are computed to sixty digits; beyond epsilon by more than this is beyond epsilon."""
DOUBT = 1e-6
"""The chance that a counted bound is above the truth."""


@dataclass(frozen=True)
class Verdict:
    """What was found of a subject.

    Attributes:
        subject: What was audited.
        loss: The largest loss that was found, as a number that is no larger than the true one.
        seen: How many transcripts, or runs where chances were counted.
        counted: Whether chances were counted, and not computed.
        differs: What differed between neighbours that said the same, if anything did.
    """

    subject: Subject
    loss: Decimal
    seen: int
    counted: bool = False
    differs: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing was found that exceeds what is claimed."""
        claimed = Decimal(self.subject.claimed.numerator) / self.subject.claimed.denominator
        return not self.differs and self.loss <= claimed + TOLERANCE

    @property
    def part(self) -> float:
        """The loss over what is claimed."""
        return float(self.loss) / float(self.subject.claimed)


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
    runs: int = 1000


def audited(subject: Subject, effort: Effort) -> Verdict:
    """The largest loss over some pairs of neighbours."""
    found = [
        judged(subject, one, two, effort, seed) for seed, (one, two) in enumerate(pairs(subject.shape, effort.pairs))
    ]
    worst = max(found, key=lambda verdict: (bool(verdict.differs), verdict.loss))
    return replace(worst, seen=sum(verdict.seen for verdict in found))


def judged(subject: Subject, one: IntArray, two: IntArray, effort: Effort, seed: int = 0) -> Verdict:
    """The largest loss between two neighbours."""
    if hides(subject, one):
        return _counted(subject, subject.on(one), subject.on(two), effort.runs)
    found = list(transcripts(subject.on(one), subject.on(two), effort.transcripts, seed))
    worst = max(found, key=lambda transcript: abs(transcript.loss))
    return Verdict(subject, abs(worst.loss), len(found), differs=worst.differs)


def hides(subject: Subject, counts: IntArray) -> bool:
    """Whether some of what passes the gates stays inside, so that chances have to be counted."""
    with watched(drawn) as seen:
        subject.on(counts)()
    return any(asking.gate == HIDDEN for asking in seen.asked)


def _counted(subject: Subject, one: Callable[[], object], two: Callable[[], object], runs: int) -> Verdict:
    """What the choice of buckets tells, counted, and what measuring them tells, computed."""
    mine, theirs = (_choices(run, runs) for run in (one, two))
    picked = _telling(mine.train, theirs.train)
    if picked is None:
        return Verdict(subject, Decimal(0), 2 * runs, counted=True)
    (more, fewer) = (mine, theirs) if mine.train[picked] >= theirs.train[picked] else (theirs, mine)
    half = runs - runs // 2
    bound = ratio_bound(more.test[picked], half, fewer.test[picked], half)
    after = most(mine.asked[picked], theirs.asked[picked])
    return Verdict(subject, Decimal(max(bound, 0.0)) + after, 2 * runs, counted=True)


@dataclass(frozen=True)
class _Choices:
    """How often each choice was made, in either half of the runs, and what is measured after it."""

    train: Counter[object]
    test: Counter[object]
    asked: dict[object, Asking]


def _choices(run: Callable[[], object], runs: int) -> _Choices:
    """Make many choices. What is measured after them is not drawn, because it is computed."""
    found = _Choices(Counter(), Counter(), {})
    for at in range(runs):
        with watched(_silent) as seen:
            said = run()
        bounds = said[0]  # type: ignore[index]  # as ``Subject.on`` makes it
        (found.train if at < runs // 2 else found.test)[bounds] += 1
        found.asked[bounds] = seen.asked[-1]
    return found


def _silent(asking: Asking, draw: Callable[[], Given]) -> Given:
    return draw() if asking.gate == HIDDEN else (0,) * len(asking.exact)


def _telling(one: Counter[object], two: Counter[object]) -> object | None:
    """The choice that seems to tell most, of those that both make often enough to be bounded."""
    both = [choice for choice in one if one[choice] >= 10 and two[choice] >= 10]
    return max(both, key=lambda choice: abs(np.log(one[choice] / two[choice])), default=None)


def ratio_bound(more: int, of: int, fewer: int, out_of: int, doubt: float = DOUBT) -> float:
    """What ``ln(p / q)`` is at least, but for this doubt, if so many of so many runs had the event (Clopper-Pearson).

    >>> round(ratio_bound(500, 1000, 250, 1000), 3), round(ratio_bound(50_000, 100_000, 25_000, 100_000), 3)
    (0.376, 0.662)
    """
    if not more:
        return -np.inf
    low = stats.beta.ppf(doubt / 2, more, of - more + 1)
    high = stats.beta.ppf(1 - doubt / 2, fewer + 1, out_of - fewer) if fewer < out_of else 1.0
    return float(np.log(low / high))
