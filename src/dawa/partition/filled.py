"""Every cell where records lie in many places, the walk's buckets where they lie in few. Its proof is in ``filled.md``.

A guaranteed interval is as wide as its noise and what cut buckets may hide. Measuring every cell hides nothing, but has
much noise; buckets that are nearly empty have little of both. So the question is how much of the domain is filled, on
the scale of the noise: the line is cut into equal blocks, and the records of each are counted up to ``enough``. The sum
gets noise and is compared with a part of what it could be. That costs little; whatever is then chosen keeps the rest.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dawa import budget, check
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import OptionError
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets, every_cell
from dawa.partition.walk import Walk, two_phase

MOST_BLOCKS = 2**16


@dataclass(frozen=True)
class Filled:
    """Options of this choice: public.

    Attributes:
        share: Share of epsilon for finding out.
        blocks: Into how many equal blocks the line is cut, or as many as it has cells.
        enough: Up to how many records a block counts, in units of 1/epsilon.
        part: Every cell is measured if the blocks hold this part of what they could count.
    """

    share: Fraction = Fraction(2, 100)
    blocks: int = 256
    enough: int = 16
    part: Fraction = Fraction(5, 100)

    def __post_init__(self) -> None:
        for name in ("share", "part"):
            object.__setattr__(self, name, budget.share(getattr(self, name), name))
        for name, most in (("blocks", MOST_BLOCKS), ("enough", MOST_BLOCKS)):
            object.__setattr__(self, name, check.whole(getattr(self, name), name, 1, most))
        if self.share > Fraction(1, 2):
            raise OptionError(f"share={float(self.share)} leaves too little.", "pass 1/2 or less, such as 0.02.")

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Look how much is filled, then take every cell or walk with the rest."""
        spent = self.share * epsilon
        scale = discrete.coarsened(1 / spent)
        check.within(loss(scale), spent, "Looking at blocks")
        (held,) = gates.noisy(np.array([counted(exposed, size, epsilon, self)]), scale, randomness).tolist()
        if held >= self.needed(size, epsilon):
            return Buckets(every_cell(size).bounds, spent, spent)
        found = two_phase(exposed, size, epsilon - spent, Walk(), randomness)
        return Buckets(
            found.bounds, found.spent + spent, found.spent_least + spent, found.spared, found.stops, found.boxes
        )

    def most(self, epsilon: Fraction) -> int:
        """Up to how many records each block counts."""
        return max(1, math.floor(self.enough / epsilon))

    def needed(self, size: int, epsilon: Fraction) -> Fraction:
        """How many records the blocks must count together for every cell to be measured."""
        return self.part * len(edges(size, self)[1:]) * self.most(epsilon)


def edges(size: int, options: Filled) -> IntArray:
    """The bounds of the blocks."""
    blocks = min(options.blocks, size)
    return frozen(np.array([size * block // blocks for block in range(blocks + 1)], np.int64))


def counted(exposed: Occupied, size: int, epsilon: Fraction, options: Filled) -> int:
    """The records of all blocks, each counted up to a number that is known beforehand: one record adds 0 or 1."""
    return int(np.minimum(exposed.totals(edges(size, options)), options.most(epsilon)).sum())


def loss(scale: Fraction) -> Fraction:
    """What a record loses to the look."""
    return discrete.loss(1, scale)
