"""StructureFirst: a histogram of k buckets, bounds first, one by one (Xu et al. 2013). Proof: ``structure_first.md``.

A dynamic program finds the least cost of every prefix. From right to left, each bound is then drawn by the
exponential mechanism, as if the cells to its left were divided in the best way. A last coin, which the original does
not have, decides whether the buckets are even enough: if they are not, every cell becomes its own bucket.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from dawa import budget, check, kernels
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError, OptionError
from dawa.limits import MOST_CELLS_STRUCTURED, MOST_MARKS
from dawa.noise import choice, discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets

LARGEST_BOUND = 2**22
"""Largest bound on a count: squares over all cells then add up to at most 2^60."""


@dataclass(frozen=True)
class StructureFirst:
    """Options of StructureFirst: all public, and so must be the values that a caller passes.

    Attributes:
        share: Share of epsilon for the bounds.
        verdict_share: Share for the verdict: whether the buckets are even enough.
        buckets: The number of buckets, k; None takes half the root of the number of cells.
        cost: ``"absolute"`` deviation from the median, or ``"squared"`` deviation from the mean as in the original.
        bound: For ``"squared"``: a public bound on counts, at which they are cut off when costs are computed.
        marks: At most how many equally spaced places compete for a bound.
        verdict: Whether there is a verdict; without it, the buckets stay as they are, as in the original.
    """

    share: Fraction = Fraction(5, 100)
    verdict_share: Fraction = Fraction(3, 100)
    buckets: int | None = None
    cost: Literal["absolute", "squared"] = "absolute"
    bound: int | None = None
    marks: int = 1024
    verdict: bool = True

    def __post_init__(self) -> None:
        for name in ("share", "verdict_share"):
            object.__setattr__(self, name, budget.share(getattr(self, name), name))
        if self.share + self.verdict_share >= 1:
            raise BudgetError("The shares leave nothing for measuring.", "the defaults spend 5% and 3%.")
        check.one_of(self.cost, "cost", ("absolute", "squared"))
        if self.buckets is not None:
            check.whole(self.buckets, "buckets", 1, MOST_CELLS_STRUCTURED, "a number of buckets")
        check.whole(self.marks, "marks", 1, MOST_MARKS)
        if (self.cost == "squared") != (self.bound is not None):
            raise OptionError(
                "Squared deviations need a public bound on counts, and nothing else does.",
                "pass cost='squared' and bound=1000, a bound that you know without looking at the counts.",
            )
        if self.bound is not None:
            check.whole(self.bound, "bound", 1, LARGEST_BOUND)

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets; a record loses ``Buckets.spent`` out of epsilon.

        Raises:
            OptionError: If there are too many cells.
        """
        if size > MOST_CELLS_STRUCTURED:
            raise OptionError(
                f"StructureFirst takes at most {MOST_CELLS_STRUCTURED} cells, not {size}.",
                "use the walk, which has no such limit.",
            )
        parameters = parameters_for(size, epsilon, self)
        allowed = (self.share + self.verdict_share) * epsilon
        check.within(parameters.loss, allowed, "Choosing bounds")
        counts = exposed.dense(size)
        bounds = drawn_bounds(counts, parameters, randomness)
        if parameters.verdict and not worthwhile(counts, bounds, parameters, randomness):
            bounds = np.arange(size + 1)
        return Buckets(frozen(bounds), parameters.spent, parameters.spent)


@dataclass(frozen=True, eq=False)
class Parameters:
    """The public numbers of one run.

    Attributes:
        marks: Where bounds may lie, from 0 to the number of cells.
        buckets: The number of buckets, k.
        bound: Where counts are cut off before they are squared; None means absolute deviations.
        sensitivity: By how much one record moves the cost of a division into buckets.
        scale: Scale of the choice of each bound.
        verdict: What the verdict may lose; 0 without a verdict.
        noise: About how far off a range would be if every cell were measured.
        spent: What choosing bounds and the verdict are charged.
    """

    marks: IntArray
    buckets: int
    bound: int | None
    sensitivity: int
    scale: Fraction
    verdict: Fraction
    noise: Fraction
    spent: Fraction

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: k - 1 bounds, then the verdict."""
        return (self.buckets - 1) * choice.loss(self.sensitivity, self.scale) + self.verdict


def parameters_for(size: int, epsilon: Fraction, options: StructureFirst) -> Parameters:
    """Fix marks, sensitivities and scales, from public numbers alone."""
    parts = min(size, options.marks)
    buckets = min(parts, max(1, math.isqrt(size) // 2) if options.buckets is None else int(options.buckets))
    sensitivity = 1 if options.bound is None else 2 * int(options.bound) - 1
    bounds_loss = options.share * epsilon if buckets > 1 else Fraction(0)
    verdict = options.verdict_share * epsilon if options.verdict and buckets < size else Fraction(0)
    levels = 1 + math.ceil(math.log2(size) / 4)
    return Parameters(
        marks=np.arange(parts + 1) * size // parts,
        buckets=buckets,
        bound=options.bound,
        sensitivity=sensitivity,
        scale=discrete.coarsened(2 * sensitivity * max(buckets - 1, 1) / (options.share * epsilon)),
        verdict=verdict,
        noise=round(2 * levels**1.5) / (epsilon - bounds_loss - verdict),
        spent=bounds_loss + verdict,
    )


def loss(size: int, epsilon: Fraction, options: StructureFirst) -> Fraction:
    """The privacy loss of the numbers that ``choose_buckets`` would use: at most its shares of epsilon, exactly."""
    return parameters_for(size, epsilon, options).loss


def drawn_bounds(counts: IntArray, parameters: Parameters, randomness: Randomness) -> IntArray:
    """The private choice of k - 1 bounds, from right to left."""
    cost, best = costs(counts, parameters)
    found = [len(parameters.marks) - 1]
    for left in range(parameters.buckets - 1, 0, -1):
        scores = bound_scores(cost, best, left, found[-1])
        found.append(left + gates.chosen(scores, parameters.scale, randomness))
    return parameters.marks[[0, *reversed(found)]]


def costs(counts: IntArray, parameters: Parameters) -> tuple[IntArray, IntArray]:
    """The cost of every interval between marks, and the least cost of every prefix by number of buckets."""
    if parameters.bound is None:
        cost = kernels.bisect.absolute(counts, parameters.marks)
    else:
        cost = kernels.bisect.squared(np.minimum(counts, parameters.bound), parameters.marks)
    return cost, kernels.bisect.prefixes(cost, max(parameters.buckets - 1, 1))


def bound_scores(cost: IntArray, best: IntArray, left: int, right: int) -> IntArray:
    """The score of each mark from ``left`` on, with ``left`` buckets before it and one from it to ``right``."""
    scores: IntArray = -(best[left - 1, left:right] + cost[left:right, right])
    return scores


def worthwhile(counts: IntArray, bounds: IntArray, parameters: Parameters, randomness: Randomness) -> bool:
    """The verdict: keep the buckets, or measure every cell? Loses ``parameters.verdict``, given the bounds.

    A range with random ends cuts bucket b with a chance in proportion to its width, and is then off by a part of
    its deviation: in all by about a quarter of the mean deviation, weighted by width.
    """
    widest, threshold = verdict_numbers(bounds, parameters)
    scale = discrete.coarsened(widest / parameters.verdict)
    check.within(choice.loss(widest, scale, same_direction=True), parameters.verdict, "The verdict")
    scores = np.array([-uneven(counts, bounds), -threshold])
    return not gates.chosen(scores, scale, randomness)


def verdict_numbers(bounds: IntArray, parameters: Parameters) -> tuple[int, int]:
    """How far one record moves ``uneven``, and where cells are as good as buckets: public, given the bounds."""
    return int(np.diff(bounds).max()), round(4 * int(bounds[-1]) * parameters.noise)


def uneven(counts: IntArray, bounds: IntArray) -> int:
    """The sum of the buckets' deviations from their medians, each times the bucket's width."""
    cells = np.arange(len(counts))
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    scores = kernels.walk.median_deviations(cells, counts, before, bounds[:-1], bounds[1:])
    return int((scores * np.diff(bounds)).sum())
