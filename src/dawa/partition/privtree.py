"""PrivTree (Zhang, Xiao, Xie 2016): split while there are many records. Its proof is in ``privtree.md``.

The score of a node is its number of records, minus a penalty for depth, plus Laplace noise; a node splits if its score
is above zero. Here the noisy comparison is a coin whose chance is the Laplace tail, as a table of whole numbers over
2^64, and the loss of the table is certified by ``SplitTable.loss`` instead of the paper's bound.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dawa import budget, check
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError, OptionError
from dawa.limits import MOST_PARTS, MOST_SPLIT_ENTRIES
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets
from dawa.partition.split import LARGEST_LOSS, SMALLEST_STOP, SplitTable
from dawa.partition.walk import Nodes, walk, whole


@dataclass(frozen=True)
class PrivTree:
    """Options of PrivTree: public.

    Attributes:
        share: Share of epsilon for the tree.
        fan: Parts into which a node splits, a power of two; None halves every axis: 2 on a line, 4 on a map.
    """

    share: Fraction = Fraction(1, 2)
    fan: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))
        if self.fan is None:
            return
        if not check.is_whole(self.fan, 2, MOST_PARTS) or int(self.fan) & (int(self.fan) - 1):
            raise OptionError(
                f"fan={self.fan!r} is not a number of parts.", f"pass a power of two from 2 to {MOST_PARTS}, or None."
            )
        object.__setattr__(self, "fan", int(self.fan))

    def choose_boxes(
        self, exposed: Occupied, shape: tuple[int, ...], epsilon: Fraction, randomness: Randomness
    ) -> Buckets:
        """Choose stretches of the line through a domain of this shape."""
        fan = self.fan or 2 ** len(shape)
        return replace(self, fan=fan).choose_buckets(exposed, math.prod(shape), epsilon, randomness)

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets; a record loses ``Buckets.spent`` out of epsilon."""
        if size == 1:
            return Buckets(frozen(np.arange(2)))
        spent = min(self.share * epsilon, LARGEST_LOSS)
        check.within(loss(epsilon, self), spent, "Dividing")
        leaves = grown(exposed, size, table_for(epsilon, self), randomness, self.fan or 2)
        return Buckets(frozen(np.append(leaves.start, size)), spent, spent)


def table_for(epsilon: Fraction, options: PrivTree) -> SplitTable:
    """The split probabilities that its share of epsilon pays for."""
    return laplace_table(min(options.share * epsilon, LARGEST_LOSS), options.fan or 2)


def loss(epsilon: Fraction, options: PrivTree) -> Fraction:
    """The certified loss of the table that is used: at most its share of epsilon."""
    return Fraction(table_for(epsilon, options).loss)


def records(exposed: Occupied, before: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """PrivTree's score: the number of records in each interval."""
    return before[np.searchsorted(exposed.cells, stop)] - before[np.searchsorted(exposed.cells, start)]


def grown(exposed: Occupied, size: int, table: SplitTable, randomness: Randomness, fan: int = 2) -> Nodes:
    """The leaves of one tree, in order of their cells. Loses ``table.loss``."""
    return walk(exposed, size, whole(size, fan), table, randomness, records, fan)


def worst_chain(fan: int) -> float:
    """What the worst chain loses, in units of one over the noise scale, if steps are long.

    >>> [round(worst_chain(fan), 3) for fan in (2, 4, 8)]
    [2.607, 2.186, 2.076]
    """
    return 1 + sum((1 / (2 * fan**level - 1) for level in range(64)), 0.0)


@lru_cache(maxsize=64)
def laplace_table(epsilon: Fraction, fan: int = 2) -> SplitTable:
    """The Laplace tail with the least noise that loses at most epsilon, and the step that goes with it.

    Raises:
        BudgetError: If epsilon is so small that the table would not fit in memory.
    """
    allowed = float(epsilon)
    scale = worst_chain(fan) / allowed
    step = max(1, round(scale * math.log(fan)))
    if step - scale * math.log(2 * SMALLEST_STOP) >= MOST_SPLIT_ENTRIES:
        raise BudgetError(
            f"A tree with a budget of {allowed:.3g} would need a table of more than {MOST_SPLIT_ENTRIES:,} entries.",
            "raise epsilon above about 0.00001, or use a mechanism without a partition.",
        )
    table = _tail(step, scale, epsilon, fan)
    for _ in range(6):  # the loss is nearly one over the scale: a few steps come as close as rounding allows
        if (1 - 1e-6) * allowed <= table.loss and Fraction(table.loss) <= epsilon:
            return table
        scale *= table.loss / allowed * (1 + 1e-9)
        table = _tail(step, scale, epsilon, fan)
    while Fraction(table.loss) > epsilon:
        scale *= 1.01
        table = _tail(step, scale, epsilon, fan)
    return table


def _tail(step: int, scale: float, epsilon: Fraction, fan: int) -> SplitTable:
    """``P(a + Laplace > 0)`` at a = -step, …, up to where a node stops with the least chance allowed."""
    below = np.arange(-step, 1)
    above = np.arange(1, math.ceil(-scale * math.log(2 * SMALLEST_STOP)) + 1)
    rare = np.maximum(np.exp(-above / scale) / 2, SMALLEST_STOP)
    split = np.round(np.exp(below / scale) * 2.0**63).astype(np.uint64)
    stop = np.round(rare * 2.0**64).astype(np.uint64)
    return SplitTable(step, step, frozen(np.concatenate((split, np.uint64(0) - stop))), epsilon, 1 / (2 * fan), 0.0)
