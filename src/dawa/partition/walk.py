"""The two-phase tree walk: the default way to choose buckets privately. Its proof is in ``walk.md``.

Starting from the whole domain, an interval whose counts are uneven tends to split into halves; an interval that does
not split is a bucket. A second walk, from each leaf of the first, refines without paying again for the depth reached
so far. Where the first walk found a lot of structure in a block of cells, the block goes to single cells at once
and keeps the second walk's budget for measuring.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from dawa import budget, check, kernels
from dawa.arrays import BoolArray, IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError, OptionError
from dawa.limits import MOST_NODES
from dawa.noise import gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets, StopRule
from dawa.partition.split import LARGEST_LOSS, SplitTable, split_table

LARGEST_SHARE = Fraction(95, 100)
HIGHEST = 62
"""Two to this power is the largest domain; with some fans, the root is higher."""

Score = Callable[[Occupied, IntArray, IntArray, IntArray], IntArray]


@dataclass(frozen=True)
class Walk:
    """Options of the walk: all public, all with measured defaults.

    Attributes:
        coarse_share: Share of epsilon for the first walk.
        fine_share: Share of epsilon for the second walk.
        least: How often a node splits for no reason at all.
        coarse_theta: Evidence, in steps, that the first walk needs to split with even odds.
        fine_theta: The same for the second walk.
        fan: Parts into which a node splits, a power of two.
        many: The number of leaves of the first walk from which dense blocks are looked for.
        block: Cells in a block, a power of two.
        dense: Leaves of the first walk that make a block dense.
    """

    coarse_share: Fraction = Fraction(7, 100)
    fine_share: Fraction = Fraction(10, 100)
    least: float = 0.15
    coarse_theta: float = -0.7
    fine_theta: float = 0.3
    fan: int = 2
    many: int = 64
    block: int = 64
    dense: int = 8

    def __post_init__(self) -> None:
        check_options(self, ("coarse_share", "fine_share"), ("least", "coarse_theta", "fine_theta"))

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets by both walks."""
        return two_phase(exposed, size, epsilon, self, randomness)

    def losses(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """What the first and the second walk may lose."""
        return min(self.coarse_share * epsilon, LARGEST_LOSS), min(self.fine_share * epsilon, LARGEST_LOSS)

    def tables(self, epsilon: Fraction) -> tuple[SplitTable, SplitTable]:
        """The split tables that go with ``losses``, each certified."""
        coarse, fine = self.losses(epsilon)
        return split_table(coarse, self.least, self.coarse_theta), split_table(fine, self.least, self.fine_theta)


class Fanned(Protocol):
    """The options that all walks have."""

    @property
    def least(self) -> float: ...  # noqa: D102
    @property
    def fan(self) -> int: ...  # noqa: D102
    @property
    def many(self) -> int: ...  # noqa: D102
    @property
    def block(self) -> int: ...  # noqa: D102
    @property
    def dense(self) -> int: ...  # noqa: D102


def check_options(options: Fanned, shares: tuple[str, str], numbers: tuple[str, ...]) -> None:
    """Check the options of a walk and whatever follows it, and set them to plain values.

    Args:
        options: They, whose two steps spend shares of epsilon.
        shares: The names of these shares.
        numbers: The names of its options that are any finite number.

    Raises:
        DawaError: If an option is not what it should be.
    """
    for name in shares:
        object.__setattr__(options, name, budget.share(getattr(options, name), name))
    for name in ("fan", "many", "block", "dense"):
        object.__setattr__(options, name, check.whole(getattr(options, name), name))
    for name in numbers:
        object.__setattr__(options, name, check.number(getattr(options, name), name))
    if sum(getattr(options, name) for name in shares) > LARGEST_SHARE:
        usual = (f"{float(100 * getattr(type(options), name)):g}%" for name in shares)
        raise BudgetError(
            f"The walk's shares must leave at least {float(1 - LARGEST_SHARE)} for measuring.",
            f"the defaults spend {' and then '.join(usual)}.",
        )
    if not 0 < options.least < 0.5:
        raise OptionError(f"least={options.least} is not between 0 and 1/2.", "pass a number such as least=0.15.")
    for name in ("fan", "block"):
        if getattr(options, name) & (getattr(options, name) - 1):
            raise OptionError(
                f"{name}={getattr(options, name)} is not a power of two.", f"pass {name}=64, for example."
            )
    if options.fan < 2:
        raise OptionError("fan=1 splits nothing.", "pass 2, or 4 on maps.")


def on_maps() -> Walk:
    """Both walks for several axes: four parts at a time, the squares of a quadtree."""
    return Walk(
        coarse_share=Fraction(8, 100),
        fine_share=Fraction(20, 100),
        least=1 / 9,
        coarse_theta=-0.6,
        fine_theta=0.3,
        fan=4,
        dense=12,
    )


@dataclass(frozen=True, eq=False)
class Nodes:
    """Intervals ``[start, start + 2^height)``, clipped to the domain, at ``depth`` below their root."""

    start: IntArray
    height: IntArray
    depth: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def at_root(self) -> "Nodes":
        """The same nodes, each as the root of a new walk."""
        return Nodes(self.start, self.height, np.zeros(len(self.start), np.int64))

    def where(self, chosen: BoolArray) -> "Nodes":
        """Only the chosen nodes."""
        return Nodes(self.start[chosen], self.height[chosen], self.depth[chosen])

    def stop(self, size: int) -> IntArray:
        """One past the last cell of each node."""
        widths: IntArray = np.minimum(np.int64(1) << np.minimum(self.height, HIGHEST), size - self.start)
        return self.start + widths

    def children(self, size: int, fan: int = 2) -> "Nodes":
        """The equal parts of each node, without parts outside the domain, each no higher than its cells need."""
        bits = fan.bit_length() - 1
        low = self.height - bits
        inside = [part <= (size - 1 - self.start) >> low for part in range(fan)]
        start = np.concatenate([(self.start + (np.int64(part) << low))[there] for part, there in enumerate(inside)])
        height, depth = (np.concatenate([each[there] for there in inside]) for each in (low, self.depth + 1))
        return Nodes(start, _trimmed(start, height, size, bits), depth)


def whole(size: int, fan: int = 2) -> Nodes:
    """The root: the whole domain."""
    zero = np.zeros(1, np.int64)
    return Nodes(zero, np.array([_height(size, fan.bit_length() - 1)]), zero)


def unevenness(exposed: Occupied, before: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """The walk's score: each interval's deviation from its median."""
    scores: IntArray = kernels.walk.median_deviations(exposed.cells, exposed.counts, before, start, stop)
    return scores


def walk(
    exposed: Occupied,
    size: int,
    roots: Nodes,
    table: SplitTable,
    randomness: Randomness,
    score: Score = unevenness,
    fan: int = 2,
) -> Nodes:
    """The leaves of one walk from each root, in order of their cells. Loses ``table.loss``.

    A node that splits has ``fan`` children, a power of two. The score takes the counts, the records before each
    occupied cell, and the ends of intervals. It must be a whole number that one record moves by at most 1 and that is
    no larger for a part of an interval.

    A level of more than ``MOST_NODES`` nodes is the last one. Its leaves have depth -1: no coin says how even they are.
    """
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(exposed.counts)))
    leaves, nodes = [roots.where(np.zeros(len(roots.start), bool))], roots
    while len(nodes.start):
        if len(nodes.start) > MOST_NODES:
            leaves.append(Nodes(nodes.start, nodes.height, np.full(len(nodes.start), -1)))
            break
        stop = nodes.stop(size)
        divisible = stop - nodes.start > 1
        leaves.append(nodes.where(~divisible))
        nodes, stop = nodes.where(divisible), stop[divisible]
        scores = score(exposed, before, nodes.start, stop)
        threshold = table.thresholds[table.points(scores, nodes.depth)]
        split = gates.tossed(threshold, randomness)
        leaves.append(nodes.where(~split))
        nodes = nodes.where(split).children(size, fan)
    start, height, depth = (
        np.concatenate([getattr(part, name) for part in leaves]) for name in ("start", "height", "depth")
    )
    order = np.argsort(start, kind="stable")
    return Nodes(start[order], height[order], depth[order])


def dense_leaves(leaves: Nodes, options: Fanned) -> BoolArray:
    """Which leaves of the first walk lie in dense blocks: a public function of the first walk's output."""
    dense = np.zeros(len(leaves.start), bool)
    if len(leaves.start) >= options.many:
        height = options.block.bit_length() - 1
        inside = leaves.height <= height
        _, block, per_block = np.unique(leaves.start[inside] >> height, return_inverse=True, return_counts=True)
        dense[inside] = per_block[block] >= options.dense
    return dense


def two_phase(
    exposed: Occupied,
    size: int,
    epsilon: Fraction,
    options: Walk,
    randomness: Randomness,
    score: Score = unevenness,
) -> Buckets:
    """Choose buckets; a record loses ``Buckets.spent``, or ``spent_least`` if its bucket is spared."""
    coarse_loss, fine_loss = options.losses(epsilon)
    coarse_table, fine_table = options.tables(epsilon)
    check.within(coarse_table.loss, coarse_loss, "The first walk")
    check.within(fine_table.loss, fine_loss, "The second walk")
    coarse = walk(exposed, size, whole(size, options.fan), coarse_table, randomness, score, options.fan)
    dense = dense_leaves(coarse, options)
    fine = walk(exposed, size, coarse.where(~dense).at_root(), fine_table, randomness, score, options.fan)
    spared = coarse.where(dense)
    cells = cells_of(spared.start, spared.stop(size))
    start = np.concatenate((fine.start, cells))
    order = np.argsort(start, kind="stable")
    return Buckets(
        bounds=frozen(np.append(start[order], size)),
        spent=coarse_loss + fine_loss,
        spent_least=coarse_loss if dense.any() else coarse_loss + fine_loss,
        spared=frozen(np.concatenate((np.zeros(len(fine.start), bool), np.ones(len(cells), bool)))[order]),
        stops=StopRule(fine_table, frozen(np.concatenate((fine.depth, np.zeros(len(cells), np.int64)))[order])),
    )


def loss(epsilon: Fraction, options: Walk) -> Fraction:
    """The most that any record loses to both walks, from the certified tables; at most its share."""
    return sum((Fraction(table.loss) for table in options.tables(epsilon)), Fraction(0))


def cells_of(start: IntArray, stop: IntArray) -> IntArray:
    """All cells of the given intervals."""
    widths = stop - start
    return np.repeat(start - (np.cumsum(widths) - widths), widths) + np.arange(widths.sum())


def _trimmed(start: IntArray, height: IntArray, size: int, bits: int) -> IntArray:
    """The least height that still covers a node's cells inside the domain."""
    trimmed = height.copy()
    for last in np.flatnonzero(np.int64(1) << np.minimum(height, HIGHEST) > size - start):
        trimmed[last] = _height(size - int(start[last]), bits)
    return trimmed


def _height(cells: int, bits: int) -> int:
    """The least multiple of ``bits`` such that two to that power is no less than the cells."""
    return -(-(cells - 1).bit_length() // bits) * bits
