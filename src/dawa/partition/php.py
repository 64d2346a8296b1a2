"""P-HP: recursive bisection by the exponential mechanism (Ács, Castelluccia, Chen 2012). Its proof is in ``php.md``.

Starting from the whole domain, each interval is left alone or cut in two where that leaves the least deviation,
level by level. A last choice decides how many of the cuts, in the order in which they were made, are kept.
"""

import math
from collections import deque
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dawa import budget, check, kernels
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_BISECTED
from dawa.noise import choice, discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets


@dataclass(frozen=True)
class Php:
    """Options of P-HP: all public.

    Attributes:
        share: Share of epsilon for the partition.
        final_share: Share of that for the last choice: how many cuts to keep.
        levels: How often an interval and its parts are cut; None takes log2 of the number of cells.
    """

    share: Fraction = Fraction(1, 2)
    final_share: Fraction = Fraction(1, 5)
    levels: int | None = None

    def __post_init__(self) -> None:
        for name in ("share", "final_share"):
            object.__setattr__(self, name, budget.share(getattr(self, name), name))
        if self.levels is not None:
            object.__setattr__(self, "levels", check.whole(self.levels, "levels", kind="a number of levels"))

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets; a record loses ``Buckets.spent`` out of epsilon.

        Raises:
            OptionError: If there are too many cells.
        """
        if size > MOST_CELLS_BISECTED:
            raise OptionError(
                f"P-HP takes at most {MOST_CELLS_BISECTED} cells, not {size}.", "use the walk, which has no such limit."
            )
        if size == 1:
            return Buckets(frozen(np.arange(2)))
        spent = self.share * epsilon
        parameters = parameters_for(size, epsilon, self)
        check.within(parameters.loss, spent, "Choosing cuts")
        return Buckets(frozen(chosen(exposed.dense(size), parameters, randomness)), spent, spent)


@dataclass(frozen=True)
class Parameters:
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


def parameters_for(size: int, epsilon: Fraction, options: Php) -> Parameters:
    """Fix levels and scales, from public numbers alone."""
    levels = (size - 1).bit_length() if options.levels is None else int(options.levels)
    spent = options.share * epsilon
    keep = options.final_share * spent
    return Parameters(
        levels=levels,
        bucket=math.ceil(1 / (epsilon - spent)),
        cut_scale=discrete.coarsened(2 * levels / (spent - keep)),
        keep_scale=discrete.coarsened(2 / keep),
    )


def loss(size: int, epsilon: Fraction, options: Php) -> Fraction:
    """The privacy loss of the numbers that ``Php.choose_buckets`` would use: at most its share of epsilon, exactly."""
    return parameters_for(size, epsilon, options).loss if size > 1 else Fraction(0)


def chosen(counts: IntArray, parameters: Parameters, randomness: Randomness) -> IntArray:
    """The private part: choose cuts level by level, then how many of them to keep."""
    cuts, gains = [], [0]
    nodes = deque([(0, len(counts), 0)])
    while nodes:
        start, stop, depth = nodes.popleft()
        if stop - start == 1 or depth == parameters.levels:
            continue
        left_over = kernels.bisect.bisections(counts[start:stop])
        cut = gates.chosen(cut_scores(left_over, parameters), parameters.cut_scale, randomness)
        if cut:
            nodes.extend(((start, start + cut, depth + 1), (start + cut, stop, depth + 1)))
            cuts.append(start + cut)
            gains.append(int(left_over[0] - left_over[cut]))
    kept = gates.chosen(keep_scores(np.array(gains), parameters), parameters.keep_scale, randomness)
    return np.array([0, *sorted(cuts[:kept]), len(counts)])


def cut_scores(left_over: IntArray, parameters: Parameters) -> IntArray:
    """The score of each cut of an interval, the first entry for no cut: deviation and cost of buckets, negated."""
    scores = -left_over
    scores[1:] -= parameters.bucket
    return scores


def keep_scores(gains: IntArray, parameters: Parameters) -> IntArray:
    """The score of keeping the first 0, 1, 2, … cuts: the deviation they remove, minus the cost of their buckets."""
    scores: IntArray = np.cumsum(gains) - parameters.bucket * np.arange(len(gains))
    return scores
