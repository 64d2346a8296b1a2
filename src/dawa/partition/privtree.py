"""PrivTree on a line (Zhang, Xiao, Xie 2016): split while there are many records. Its proof is in ``privtree.md``.

The score of a node is its number of records, less a penalty for depth, plus Laplace noise; it splits while that is
above zero. Here the noisy comparison is a coin whose chance is the Laplace tail, as a table of whole numbers over
2^64, and the loss of the table is certified by ``SplitTable.loss`` instead of the paper's bound.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dawa import budget
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError
from dawa.noise.source import Source
from dawa.partition.buckets import Partition
from dawa.partition.split import LARGEST_LOSS, MOST_ENTRIES, SMALLEST_STOP, SplitTable
from dawa.partition.walk import Nodes, walk, whole

WORST_CHAIN = 2.607
"""What the worst chain loses, in units of one over the noise scale, where steps are long: 3 in the paper."""

LEAST = 0.25
"""How often a node without records splits."""


@dataclass(frozen=True)
class PrivTree:
    """Options of PrivTree: public.

    Attributes:
        share: Share of epsilon for the tree.
    """

    share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, source: Source) -> Partition:
        """Choose buckets; a record loses ``Partition.spent`` out of epsilon."""
        if size == 1:
            return Partition(frozen(np.arange(2)))
        spent = min(self.share * epsilon, LARGEST_LOSS)
        table = laplace_table(spent)
        if Fraction(table.loss) > spent:
            raise BudgetError("The tree would lose more than its share.", "this is a fault of dawa: please report it.")
        leaves = grown(exposed, size, table, source)
        return Partition(frozen(np.append(leaves.start, size)), spent, spent)


def loss(epsilon: Fraction, options: PrivTree) -> Fraction:
    """The certified loss of the table that ``choose_buckets`` would use: at most its share of epsilon."""
    return Fraction(laplace_table(min(options.share * epsilon, LARGEST_LOSS)).loss)


def records(exposed: Occupied, before: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """PrivTree's score: the number of records in each interval."""
    return before[np.searchsorted(exposed.cells, stop)] - before[np.searchsorted(exposed.cells, start)]


def grown(exposed: Occupied, size: int, table: SplitTable, source: Source) -> Nodes:
    """The leaves of one tree, in order of their cells. Loses ``table.loss``."""
    return walk(exposed, size, whole(size), table, source, records)


@lru_cache(maxsize=64)
def laplace_table(epsilon: Fraction) -> SplitTable:
    """The Laplace tail with the least noise that loses at most epsilon, and the step that goes with it.

    Raises:
        BudgetError: If epsilon is so small that the table would not fit in memory.
    """
    allowed = float(epsilon)
    scale = WORST_CHAIN / allowed
    step = max(1, round(scale * math.log(2)))
    if step * (1 - math.log2(SMALLEST_STOP)) >= MOST_ENTRIES:
        raise BudgetError(
            f"A tree with a budget of {allowed:.3g} would need a table of more than {MOST_ENTRIES:,} entries.",
            "raise epsilon above about 0.00001, or use a mechanism without a partition.",
        )
    table = _tail(step, scale, epsilon)
    for _ in range(6):  # the loss is nearly one over the scale: a few steps come as close as rounding lets them
        if (1 - 1e-6) * allowed <= table.loss and Fraction(table.loss) <= epsilon:
            return table
        scale *= table.loss / allowed * (1 + 1e-9)
        table = _tail(step, scale, epsilon)
    while Fraction(table.loss) > epsilon:
        scale *= 1.01
        table = _tail(step, scale, epsilon)
    return table


def _tail(step: int, scale: float, epsilon: Fraction) -> SplitTable:
    """``P(a + Laplace > 0)`` at a = -step, …, up to where a node stops with the least chance allowed."""
    below = np.arange(-step, 1)
    above = np.arange(1, math.ceil(-scale * math.log(2 * SMALLEST_STOP)) + 1)
    rare = np.maximum(np.exp(-above / scale) / 2, SMALLEST_STOP)
    split = np.round(np.exp(below / scale) * 2.0**63).astype(np.uint64)
    stop = np.round(rare * 2.0**64).astype(np.uint64)
    return SplitTable(step, step, frozen(np.concatenate((split, np.uint64(0) - stop))), epsilon, LEAST, 0.0)
