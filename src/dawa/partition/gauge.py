"""One walk, then a gauge or a second walk: for few records on a large map. Its proof is in ``gauge.md``.

The first walk goes down where counts are uneven, as on a line. A second walk would toss coins for every level again,
and with few records on a large map most of its buckets come from chance. So each leaf of the first is cut once more,
and the unevenness of every part is measured with noise. How finely a part is cut, all at once, follows from the noisy
number: unevenness that a cut leaves inside buckets and noise that it adds are balanced, as in AGrid (Qardaji, Yang, Li
2013), which does so with numbers of records.

Where the first walk went deep in few places, records are crowded into few cells. There a second walk finds the cells
with fewer buckets, so it is taken instead. The first tree alone decides, and both cost the same.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dawa import check
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets, StopRule
from dawa.partition.split import LARGEST_LOSS, SplitTable, split_table
from dawa.partition.walk import Nodes, cells_of, check_options, dense_leaves, unevenness, walk, whole

MOST_CUTS = 3
"""How often a part is cut at most: with four parts each time, into 64 buckets. Whatever noise says, it cannot ask for
more buckets than that for each part."""


@dataclass(frozen=True)
class Gauge:
    """Options of the walk with a gauge: all public, all with measured defaults.

    Attributes:
        walk_share: Share of epsilon for the walk.
        second_share: Share of epsilon for the gauge, or for the second walk.
        per_bucket: Unevenness that a bucket is worth, in units of one over the budget that is left for measuring.
        least: How often a node splits for no reason at all.
        theta: Evidence, in steps, that the first walk needs to split with even odds.
        second_theta: The same for the second walk.
        crowded: Levels by which leaves of the first walk lie deeper than in a balanced tree, on the whole, from which
            on a second walk follows and not the gauge.
        fan: Parts into which a node splits, a power of two.
        many: The number of leaves from which dense blocks are looked for.
        block: Cells in a block, a power of two.
        dense: Leaves that make a block dense: it goes to single cells at once, and its records pay for the walk alone.
    """

    walk_share: Fraction = Fraction(5, 100)
    second_share: Fraction = Fraction(16, 100)
    per_bucket: float = 6.0
    least: float = 1 / 9
    theta: float = -0.6
    second_theta: float = 0.3
    crowded: float = 1.4
    fan: int = 4
    many: int = 64
    block: int = 64
    dense: int = 12

    def __post_init__(self) -> None:
        check_options(self, ("walk_share", "second_share"), ("least", "theta", "second_theta", "crowded"))
        object.__setattr__(self, "per_bucket", check.positive(self.per_bucket, "per_bucket", 6))

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets; a record loses ``Buckets.spent``, or ``spent_least`` if its bucket is spared."""
        plan, (walked, second) = parameters_for(epsilon, self), self.losses(epsilon)
        check.within(Fraction(plan.table.loss), walked, "The first walk")
        check.within(discrete.loss(1, plan.scale), second, "The gauge")
        check.within(Fraction(plan.second.loss), second, "The second walk")
        leaves = walk(exposed, size, whole(size, self.fan), plan.table, randomness, fan=self.fan)
        dense = dense_leaves(leaves, self)
        rest, spared = leaves.where(~dense), leaves.where(dense)
        depth = None
        if crowding(leaves, self.fan) < self.crowded:
            parts = cut_once(rest, size, self.fan)
            before = np.concatenate((np.zeros(1, np.int64), np.cumsum(exposed.counts)))
            scores = unevenness(exposed, before, parts.start, parts.stop(size))
            uneven = gates.noisy(scores, plan.scale, randomness)
            start = pieces(parts, size, cuts(uneven, parts.height, epsilon - walked - second, self), self.fan)
        else:
            found = walk(exposed, size, rest.at_root(), plan.second, randomness, fan=self.fan)
            start, depth = found.start, found.depth
        cells = cells_of(spared.start, spared.stop(size))
        order = np.argsort(np.concatenate((start, cells)), kind="stable")
        single = np.concatenate((np.zeros(len(start), bool), np.ones(len(cells), bool)))[order]
        stops = None
        if depth is not None:
            stops = StopRule(plan.second, frozen(np.concatenate((depth, np.zeros(len(cells), np.int64)))[order]))
        return Buckets(
            bounds=frozen(np.append(np.concatenate((start, cells))[order], size)),
            spent=walked + second,
            spent_least=walked if dense.any() else walked + second,
            spared=frozen(single),
            stops=stops,
        )

    def losses(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """What the first walk, and what follows it, may lose."""
        return min(self.walk_share * epsilon, LARGEST_LOSS), min(self.second_share * epsilon, LARGEST_LOSS)


@dataclass(frozen=True, eq=False)
class Parameters:
    """The public numbers of one run.

    Attributes:
        table: Split probabilities of the first walk.
        scale: The scale of the noise on unevenness.
        second: Split probabilities of the second walk.
    """

    table: SplitTable
    scale: Fraction
    second: SplitTable

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: of one path of the first walk, and of the worse of what may follow."""
        return Fraction(self.table.loss) + max(discrete.loss(1, self.scale), Fraction(self.second.loss))


def parameters_for(epsilon: Fraction, options: Gauge) -> Parameters:
    """Fix the tables and the scale, from public numbers alone."""
    walked, second = options.losses(epsilon)
    return Parameters(
        split_table(walked, options.least, options.theta),
        discrete.coarsened(1 / second),
        split_table(second, options.least, options.second_theta),
    )


def loss(epsilon: Fraction, options: Gauge) -> Fraction:
    """The most that any record loses to the walk and to what follows it; at most their shares."""
    return parameters_for(epsilon, options).loss


def crowding(leaves: Nodes, fan: int) -> float:
    """How many levels deeper leaves lie, on the whole, than in a balanced tree with as many: public, given the leaves.

    It is 0 if all leaves have the same depth, and large if few branches go deep.

    >>> round(crowding(Nodes(np.arange(4), np.zeros(4), np.array([1, 2, 3, 3])), 2), 2)
    0.25
    """
    return float(leaves.depth.mean() - np.log(len(leaves.depth)) / np.log(fan))


def cut_once(leaves: Nodes, size: int, fan: int) -> Nodes:
    """The parts of every leaf, in order of their cells; a single cell stays: public, given the leaves."""
    divisible = leaves.stop(size) - leaves.start > 1
    parts, cells = leaves.where(divisible).children(size, fan), leaves.where(~divisible)
    start, height = (np.concatenate(pair) for pair in ((parts.start, cells.start), (parts.height, cells.height)))
    order = np.argsort(start, kind="stable")
    return Nodes(start[order], height[order], np.zeros(len(order), np.int64))


def cuts(uneven: IntArray, height: IntArray, left: Fraction, options: Gauge) -> IntArray:
    """How often each part is cut, by its noisy unevenness: public, given the first walk and the noisy numbers.

    A part that is cut j times has ``fan^j`` buckets: the nearest such number, in ratio, to its unevenness times the
    budget left for measuring, over ``per_bucket``.
    """
    bits = options.fan.bit_length() - 1
    buckets = np.maximum(uneven * (float(left) / options.per_bucket), 1.0)
    wanted = np.rint(np.log2(buckets) / bits).astype(np.int64)
    found: IntArray = np.minimum(np.minimum(wanted, MOST_CUTS), height // bits)
    return found


def pieces(parts: Nodes, size: int, cut: IntArray, fan: int) -> IntArray:
    """Where the buckets begin, in order, if each part is cut that often."""
    bits = fan.bit_length() - 1
    number = np.int64(1) << (bits * cut)
    ends = np.cumsum(number)
    step = np.arange(number.sum()) - np.repeat(ends - number, number)
    start = np.repeat(parts.start, number) + (step << np.repeat(parts.height - bits * cut, number))
    inside: IntArray = start[start < size]
    return inside
