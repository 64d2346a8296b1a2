"""P-HP: recursive bisection by the exponential mechanism (Ács, Castelluccia, Chen 2012). Its proof is in ``php.md``.

Starting from the whole domain, each interval is left alone or cut in two where that leaves the least deviation,
level by level. A last choice says how many of the cuts, in the order in which they were made, are worth keeping.
"""

import math
from collections import deque
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dawa import budget, kernels
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError, OptionError
from dawa.noise import choice, discrete
from dawa.noise.choice import exponential_choice
from dawa.noise.source import Source
from dawa.partition.buckets import Partition

LARGEST = 2**20
"""Most cells: every one of them is a candidate on every level."""


@dataclass(frozen=True)
class Php:
    """Options of P-HP: all public.

    Attributes:
        share: Share of epsilon for the partition.
        final_share: Share of that for the last choice, how many cuts to keep.
        levels: How often an interval and its parts are cut; None takes log2 of the number of cells.
    """

    share: Fraction = Fraction(1, 2)
    final_share: Fraction = Fraction(1, 5)
    levels: int | None = None

    def __post_init__(self) -> None:
        for name in ("share", "final_share"):
            object.__setattr__(self, name, budget.share(getattr(self, name), name))
        if self.levels is not None and (isinstance(self.levels, bool) or not 1 <= int(self.levels) == self.levels):
            raise OptionError(f"levels={self.levels} is no number of levels.", "pass 12, or None for log2(n).")

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, source: Source) -> Partition:
        """Choose buckets; a record loses ``Partition.spent`` out of epsilon.

        Raises:
            OptionError: If there are too many cells.
        """
        if size > LARGEST:
            raise OptionError(f"P-HP takes {LARGEST} cells, not {size}.", "use the walk, which has no such limit.")
        if size == 1:
            return Partition(frozen(np.arange(2)))
        spent = self.share * epsilon
        plan = planned(size, epsilon, self)
        if plan.loss > spent:
            raise BudgetError(
                f"The choices would lose {plan.loss}, more than the {spent} that the partition may spend.",
                "this is a fault of dawa and not yours; nothing has been spent. Please report it.",
            )
        return Partition(frozen(chosen(exposed.dense(size), plan, source)), spent, spent)


@dataclass(frozen=True)
class Plan:
    """The public numbers of one run.

    Attributes:
        levels: How many cuts may lie above a cell.
        bucket: What a bucket costs by itself, in records: 1/ε2, rounded up.
        cut_scale: Scale of the choice of each cut.
        keep_scale: Scale of the last choice.
    """

    levels: int
    bucket: int
    cut_scale: Fraction
    keep_scale: Fraction

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: every level, then the last choice; scores have sensitivity 1."""
        return self.levels * choice.loss(1, self.cut_scale) + choice.loss(1, self.keep_scale)


def planned(size: int, epsilon: Fraction, options: Php) -> Plan:
    """Fix levels and scales, from public numbers alone."""
    levels = (size - 1).bit_length() if options.levels is None else int(options.levels)
    spent = options.share * epsilon
    keep = options.final_share * spent
    return Plan(
        levels=levels,
        bucket=math.ceil(1 / (epsilon - spent)),
        cut_scale=discrete.coarsened(2 * levels / (spent - keep)),
        keep_scale=discrete.coarsened(2 / keep),
    )


def loss(size: int, epsilon: Fraction, options: Php) -> Fraction:
    """The privacy loss of the numbers that ``Php.choose_buckets`` would use: at most its share of epsilon, exactly."""
    return planned(size, epsilon, options).loss if size > 1 else Fraction(0)


def chosen(counts: IntArray, plan: Plan, source: Source) -> IntArray:
    """The private part: choose cuts level by level, then how many of them to keep."""
    cuts, gains = [], [0]
    nodes = deque([(0, len(counts), 0)])
    while nodes:
        start, stop, depth = nodes.popleft()
        if stop - start == 1 or depth == plan.levels:
            continue
        left_over = kernels.bisect.bisections(counts[start:stop])
        cut = exponential_choice(cut_scores(left_over, plan), plan.cut_scale, source)
        if cut:
            nodes.extend(((start, start + cut, depth + 1), (start + cut, stop, depth + 1)))
            cuts.append(start + cut)
            gains.append(int(left_over[0] - left_over[cut]))
    kept = exponential_choice(keep_scores(np.array(gains), plan), plan.keep_scale, source)
    return np.array([0, *sorted(cuts[:kept]), len(counts)])


def cut_scores(left_over: IntArray, plan: Plan) -> IntArray:
    """What speaks for each cut of an interval, the first entry for none: deviation and buckets, negated."""
    scores = -left_over
    scores[1:] -= plan.bucket
    return scores


def keep_scores(gains: IntArray, plan: Plan) -> IntArray:
    """What speaks for keeping the first 0, 1, 2, … cuts: the deviation they remove, less their buckets."""
    scores: IntArray = np.cumsum(gains) - plan.bucket * np.arange(len(gains))
    return scores
