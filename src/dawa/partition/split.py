"""The probability of splitting a node of the walk, as a table of exact rationals with a certified loss.

A node at depth i below its root whose score is c splits with probability ``P(c - step*i + offset)``. P is defined on
the integers because scores are integers, and each entry is a 64-bit integer over 2^64: a coin is one comparison with
one random word, and the proof has no rounding to consider. ``walk.md`` explains the shape of P. ``SplitTable.loss``
does not rely on the shape: it bounds the loss of the integers that are really used.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dawa.arrays import FloatArray, IntArray, WordArray, frozen
from dawa.errors import BudgetError
from dawa.limits import MOST_SPLIT_ENTRIES

SMALLEST_STOP = 2.0**-24
"""P stays this far below 1, so a walk can always stop."""

LARGEST_LOSS = Fraction(3)
"""A walk never needs more: its coins are nearly certain by then, and the rest serves the measure step better."""

SMALLEST_BUDGET = Fraction(1, 10**12)
"""A walk never gets less: its table would not fit in memory by far."""

SMALLEST_LEAST, LARGEST_LEAST = 1e-12, 0.5
"""Between them, steps make splitting more certain; from one half on they never do."""

LARGEST_THETA = 2.0**20
"""Steps of evidence for or against splitting: far more than any record could give."""

ROUNDING = 1e-6
"""Relative room left for rounding entries to integers; certified, not assumed."""


@dataclass(frozen=True, eq=False)
class SplitTable:
    """Split probabilities on the lattice of scores.

    Attributes:
        step: What one level of depth subtracts from the score, in records.
        offset: What is added to every score, in records.
        thresholds: Entry a is 2^64 times the probability of splitting at lattice point a. Points below the
            table have its first entry, points above it the last.
        epsilon: What the table was made to lose at most; ``epsilon``, ``least`` and ``theta`` are the arguments of
            ``split_table``.
    """

    step: int
    offset: int
    thresholds: WordArray
    epsilon: Fraction
    least: float
    theta: float

    def points(self, scores: IntArray, depth: IntArray | int) -> IntArray:
        """Lattice points, clipped to the table, of nodes with these scores at this depth."""
        points: IntArray = scores - self.step * depth + self.offset
        return np.minimum(np.maximum(points, 0), len(self.thresholds) - 1)  # np.clip takes five times as long

    @cached_property
    def stop_words(self) -> WordArray:
        """2^64 times the probability of stopping, entry by entry, exactly."""
        return frozen(np.uint64(0) - self.thresholds)

    @cached_property
    def loss(self) -> float:
        """An upper bound of the walk's privacy loss, by a dynamic program over all chains of lattice points.

        One record changes the score of the nodes on one root-to-leaf path, each by at most 1. Scores do not grow
        downwards, so the larger of the two lattice points falls by at least ``step`` from node to node. The
        program takes the worst such chain: every node splits, or every node but the last.
        """
        split = np.append(0, _log_ratio(self.thresholds[1:], self.thresholds[:-1]))
        stop = np.append(0, _log_ratio(self.stop_words[:-1], self.stop_words[1:]))
        above = np.zeros(self.step)  # worst sum over chains that start one step above, point by point
        worst, best_split = 0.0, 0.0
        for low in range((len(split) - 1) // self.step * self.step, -1, -self.step):
            block = slice(low, min(low + self.step, len(split)))
            reach = above[: block.stop - low]
            worst = max(worst, float((stop[block] + reach).max()))
            here = np.full(self.step, best_split)
            here[: len(reach)] = np.maximum(split[block] + reach, best_split)
            above = np.maximum.accumulate(here[::-1])[::-1]
            best_split = float(above[0])
        # Differences of words are exact; each of the at most few dozen logarithms in a chain is within 2^-50 of itself.
        return max(worst, best_split) * (1 + 2.0**-40)

    def stop_probability(self) -> FloatArray:
        """Probability of stopping at each lattice point, as floats: for reports, not for coins."""
        return self.stop_words.astype(np.float64) * 2.0**-64

    def surprising_point(self, chance: FloatArray | float) -> FloatArray:
        """The least lattice point such that stopping at it or above has at most this chance on any path.

        Nodes of one path lie at least ``step`` apart, so the chances of stopping at one of them are at most those
        at the point itself, one step above, two steps above, and so on; above the table there are at most 64 more.
        Infinite if no point is that surprising.
        """
        point = np.searchsorted(-self._stop_chances, -np.asarray(chance))
        return np.where(point < len(self._stop_chances), point, math.inf)

    @cached_property
    def _stop_chances(self) -> FloatArray:
        """For each lattice point, the most that the chances of stopping there, a step above, … can add up to."""
        stop = self.stop_probability()
        rows = -(-len(stop) // self.step)
        padded = np.full(rows * self.step, stop[-1])
        padded[: len(stop)] = stop
        sums: FloatArray = np.cumsum(padded.reshape(rows, self.step)[::-1], axis=0)[::-1].ravel()
        return sums + 64 * float(stop[-1])


@dataclass(frozen=True, eq=False)
class SplitLine:
    """The table that a walk used, by the few points between which it is straight: what a reader of a release needs.

    A table may have millions of entries and follows from three numbers. A reader draws no coins and certifies nothing,
    so it takes the entries that a question needs from these points.

    Attributes:
        step: What one level of depth subtracts from the score, in records.
        offset: What is added to every score, in records.
        knots: The logarithm of the probability of splitting at 0, 1, 2, … steps.
        epsilon: What the table was made to lose at most.
        least: About the probability with which a node splits for no reason at all.
        theta: The score, in steps, that a root needs to split with even odds.
    """

    step: int
    offset: int
    knots: FloatArray
    epsilon: Fraction
    least: float
    theta: float

    @property
    def entries(self) -> int:
        """How many entries the table has."""
        return self.step * (len(self.knots) - 1) + 1

    def table(self) -> SplitTable:
        """The table itself."""
        thresholds = np.uint64(0) - self._stop_words(np.arange(self.entries))
        return SplitTable(self.step, self.offset, frozen(thresholds), self.epsilon, self.least, self.theta)

    def surprising_point(self, chance: FloatArray | float) -> FloatArray:
        """As ``SplitTable.surprising_point``, by bisection if there are many entries."""
        if self.entries <= LISTED:
            return self._listed.surprising_point(chance)
        asked = np.asarray(chance, np.float64)
        low, high = np.zeros(asked.shape, np.int64), np.full(asked.shape, len(self.knots) * self.step)
        while (low < high).any():
            middle = (low + high) // 2
            rare = self._stop_chances(np.minimum(middle, len(self.knots) * self.step - 1)) <= asked
            low, high = np.where(rare | (low >= high), low, middle + 1), np.where(rare, middle, high)
        return np.where(low < len(self.knots) * self.step, low, math.inf)

    @cached_property
    def _listed(self) -> SplitTable:
        return self.table()

    def _stop_words(self, points: IntArray) -> WordArray:
        """2^64 times the probability of stopping at these lattice points."""
        log_split = np.interp(points / self.step, np.arange(len(self.knots)), self.knots)
        words: WordArray = np.round(-np.expm1(log_split) * 2.0**64).astype(np.uint64)
        return words

    def _stop_chances(self, points: IntArray) -> FloatArray:
        """The most that the chances of stopping at a point, a step above, … can add up to, summed from the top."""
        row, rest = np.divmod(points, self.step)
        chances = np.zeros(points.shape)
        for above in range(len(self.knots) - 1, -1, -1):
            words = self._stop_words(np.minimum(above * self.step + rest, self.entries - 1))
            chances += np.where(above >= row, words.astype(np.float64) * 2.0**-64, 0.0)
        return chances + 64 * float(self._stop_words(np.array([self.entries - 1]))[0]) * 2.0**-64


LISTED = 2**14
"""Tables with at most so many entries are listed by a reader too."""


@lru_cache(maxsize=64)
def split_table(epsilon: Fraction, least: float, theta: float) -> SplitTable:
    """The steepest table whose walk loses at most epsilon.

    Args:
        epsilon: What the walk may lose.
        least: About the probability with which a node splits for no reason at all; it is moved a little so that the
            step is a whole number of records and no budget is left over.
        theta: The score, in steps, that a root needs to split with even odds.

    Raises:
        BudgetError: If epsilon is so small that the table would not fit in memory, or ``least`` has no table.
    """
    table = split_line(epsilon, least, theta).table()
    if Fraction(table.loss) > epsilon:
        raise BudgetError(
            f"The split table for a budget of {float(epsilon):.3g} could not be certified.",
            "choose other walk options; the defaults are certified for every epsilon.",
        )
    return table


@lru_cache(maxsize=64)
def split_line(epsilon: Fraction, least: float, theta: float) -> SplitLine:
    """The same table by few of its points, not certified: for readers.

    Raises:
        BudgetError: If there is no such table.
    """
    if not (SMALLEST_BUDGET <= epsilon <= LARGEST_LOSS and SMALLEST_LEAST <= least < LARGEST_LEAST):
        raise BudgetError(
            "A walk cannot lose so much or so little, or split so often for no reason.",
            f"choose least between {SMALLEST_LEAST} and {LARGEST_LEAST}, such as 0.15.",
        )
    if not abs(theta) <= LARGEST_THETA:
        raise BudgetError(f"No walk needs so many steps of evidence ({theta:g}).", "choose theta near 0.")
    allowed = float(epsilon) * (1 - ROUNDING)
    step = max(1, round(math.log(1 / least) / allowed))
    often = math.exp(-allowed * step)
    if often >= LARGEST_LEAST:
        raise BudgetError(
            f"With a budget of {float(epsilon):.3g}, a walk would split too often for no reason.",
            "choose a smaller least, such as 0.15.",
        )
    knots = log_knots(often)
    if step * (len(knots) - 1) >= MOST_SPLIT_ENTRIES:
        raise BudgetError(
            f"A walk with a budget of {float(epsilon):.3g} would need a table of {step * len(knots):,} entries.",
            "raise epsilon above about 0.0001, or use a mechanism without a partition, such as greedy-h.",
        )
    return SplitLine(step, round((1 - theta) * step), frozen(knots), epsilon, least, theta)


def log_knots(least: float) -> FloatArray:
    """``ln P`` at 0, 1, 2, … steps: each knot is the largest that the one before it allows.

    Knot q after knot p may be as large as ``q/(1-q) · ln(q/p) <= ln(q/least)``: what a node pays for stopping must
    fit into what its split ancestors leave of the budget. The probabilities of stopping are kept, not those of
    splitting, because they are the small numbers.
    """
    stops = [1 - least]
    while stops[-1] > SMALLEST_STOP:
        low, high = 0.0, stops[-1]
        for _ in range(100):
            middle = (low + high) / 2
            gain = math.log1p(-middle) - math.log1p(-stops[-1])
            fits = middle > 0 and (1 - middle) / middle * gain <= math.log1p(-middle) - math.log(least)
            low, high = (low, middle) if fits else (middle, high)
        stops.append(high)
    stops[-1] = max(stops[-1], SMALLEST_STOP)
    knots: FloatArray = np.log1p(-np.array(stops))
    return knots


def _log_ratio(larger: WordArray, smaller: WordArray) -> FloatArray:
    """``ln(larger / smaller)``, precise even if the two nearly agree."""
    ratio: FloatArray = np.log1p((larger - smaller).astype(np.float64) / smaller.astype(np.float64))
    return ratio
