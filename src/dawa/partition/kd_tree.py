"""A tree of boxes: private medians above, halves below (Cormode et al. 2012). Its proof is in ``kd_tree.md``.

Every level cuts a box once along each axis, into up to 2^d parts. The upper levels cut near the median of the box's
records, which the exponential mechanism finds; the lower levels cut in the middle, which costs nothing. Boxes of
single cells are not cut.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np

from dawa import budget, check, kernels
from dawa.arrays import BoolArray, IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import OptionError
from dawa.layout.boxes import Boxes
from dawa.layout.nesting import Nesting, depth_first
from dawa.limits import MOST_CELLS_LISTED, MOST_MEDIAN_LEVELS
from dawa.noise import choice, discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets
from dawa.queries.bucket_queries import BucketQueries
from dawa.queries.workload import Workload

Cut = Callable[[IntArray, IntArray, int], IntArray]
"""Where to cut boxes along an axis; boxes are given by their lower and upper corners."""

USUAL_SHARE = Fraction(1, 20)


LEVELS, HEIGHT = check.Whole(0, MOST_MEDIAN_LEVELS), check.Whole(0, 64)


@dataclass(frozen=True)
class KdTree:
    """Options of the tree of boxes: all public.

    Attributes:
        share: Share of epsilon for the medians, spread evenly over all cuts above a box; None takes a twentieth.
        levels: How many levels cut at medians; 0 makes a plain quadtree, which spends nothing and takes no share.
        height: How many levels there are in all; None goes down to single cells.
    """

    share: Annotated[Fraction | None, check.SHARE] = None
    levels: Annotated[int, LEVELS] = 2
    height: Annotated[int | None, HEIGHT] = None

    def __post_init__(self) -> None:
        if self.share is not None:
            object.__setattr__(self, "share", budget.share(self.share, "share"))
        for name, allowed in (("levels", LEVELS), ("height", HEIGHT)):
            value = getattr(self, name)
            if value is not None or name == "levels":
                number = check.whole(value, name, allowed.least, allowed.most, "a number of levels")
                object.__setattr__(self, name, number)
        if self.height is not None and self.height < self.levels:
            raise OptionError(
                f"A tree of height {self.height} has no room for {self.levels} levels of medians.",
                "pass a height of at least that many levels, or None.",
            )
        if self.levels == 0 and self.share is not None:
            raise OptionError(
                f"share={self.share} would change nothing without levels of medians.", "pass share=None, or levels=2."
            )

    @property
    def for_medians(self) -> Fraction:
        """The share of epsilon for the medians."""
        return USUAL_SHARE if self.share is None else self.share

    def choose_boxes(
        self, exposed: Occupied, shape: tuple[int, ...], epsilon: Fraction, randomness: Randomness
    ) -> "TreeBuckets":
        """Choose boxes; a record loses ``Buckets.spent`` out of epsilon.

        Raises:
            OptionError: If there are too many cells.
        """
        if np.prod(shape, dtype=object) > MOST_CELLS_LISTED:
            raise OptionError(
                f"A tree of boxes takes {MOST_CELLS_LISTED} cells at most.",
                "use 'privtree' or 'dawa', or coarser steps.",
            )
        parameters = parameters_for(shape, epsilon, self)
        spent = self.for_medians * epsilon if parameters.cuts else Fraction(0)
        check.within(parameters.loss, spent, "Choosing medians")
        above = medians(exposed, shape, self.levels if parameters.cuts else 0, parameters, randomness)
        return tree_partition(halved(above, self.height), spent)


@dataclass(frozen=True)
class Parameters:
    """The public numbers of one run.

    Attributes:
        cuts: How many medians may lie above a cell.
        scale: Scale of the choice of each median.
    """

    cuts: int
    scale: Fraction

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: one record moves the score of every cut by 1."""
        return self.cuts * choice.loss(1, self.scale)


def parameters_for(shape: tuple[int, ...], epsilon: Fraction, options: KdTree) -> Parameters:
    """Fix the number of cuts and their scale, from public numbers alone."""
    cuts = options.levels * sum(side > 1 for side in shape)
    return Parameters(cuts, discrete.coarsened(2 * max(cuts, 1) / (options.for_medians * epsilon)))


def loss(shape: tuple[int, ...], epsilon: Fraction, options: KdTree) -> Fraction:
    """The privacy loss of the numbers that ``choose_boxes`` would use: at most its share of epsilon, exactly."""
    return parameters_for(shape, epsilon, options).loss


class Level(NamedTuple):
    """The boxes of a tree after some number of levels, in depth-first order; boxes that are done stay."""

    lo: IntArray
    hi: IntArray
    parent: IntArray
    """The box of the level above in which each box lies."""

    @property
    def divisible(self) -> BoolArray:
        """Which boxes have more than one cell."""
        return np.asarray((self.hi - self.lo > 1).any(axis=1))


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeBuckets(Buckets):
    """Boxes in depth-first order, and the tree above them.

    Attributes:
        start: The first bucket below each inner node; the nodes are in depth-first order.
        stop: One past the last bucket below each inner node.
        inner: The inner nodes as boxes.
    """

    start: IntArray
    stop: IntArray
    inner: Boxes

    def queries(self, workload: Workload) -> BucketQueries:
        """A workload in terms of the buckets; boxes are found from the root down."""
        if self.boxes is None or workload.boxes is None:
            return super().queries(workload)
        (lo, hi), m = workload.boxes, len(workload)
        tree = Nesting.of(len(self), self.start, self.stop)
        low, high = (np.empty((len(tree.start), lo.shape[1]), np.int64) for _ in range(2))
        low[tree.single], low[~tree.single] = self.boxes.lo, self.inner.lo
        high[tree.single], high[~tree.single] = self.boxes.hi, self.inner.hi
        first, start, stop, share = kernels.nested.overlaps(
            np.array(lo), np.array(hi), low, high, tree.start, tree.stop, tree.skip
        )
        return BucketQueries(len(self), first, start, stop, share, np.ones(m), float(m))


def whole(shape: tuple[int, ...]) -> Level:
    """The root: the whole grid."""
    zero = np.zeros((1, len(shape)), np.int64)
    return Level(zero, zero + np.array(shape), zero[:, 0])


def medians(
    exposed: Occupied, shape: tuple[int, ...], levels: int, parameters: Parameters, randomness: Randomness
) -> list[Level]:
    """The private part: the root, and levels of boxes that are cut near their medians, one axis after the other."""
    grid = exposed.grid(shape)

    def near_median(lo: IntArray, hi: IntArray, axis: int) -> IntArray:
        others = tuple(other for other in range(len(shape)) if other != axis)
        cuts = np.empty(len(lo), np.int64)
        for at, corners in enumerate(zip(lo.tolist(), hi.tolist(), strict=True)):
            along = grid[tuple(map(slice, *corners))].sum(axis=others)
            cuts[at] = lo[at, axis] + 1 + gates.chosen(cut_scores(along), parameters.scale, randomness)
        return cuts

    found = [whole(shape)]
    for _ in range(levels):
        found.append(divided(found[-1], near_median))
    return found


def cut_scores(along: IntArray) -> IntArray:
    """The score of a cut after the first 1, 2, … slices of a box: how evenly it divides the records. Private."""
    before = np.cumsum(along)
    scores: IntArray = -np.abs(2 * before[:-1] - before[-1])
    return scores


def halved(levels: list[Level], height: int | None) -> list[Level]:
    """The same tree with further levels of cuts in the middle: public."""
    found = list(levels)
    while found[-1].divisible.any() and (height is None or len(found) <= height):
        found.append(divided(found[-1], lambda lo, hi, axis: (lo[:, axis] + hi[:, axis]) // 2))
    return found


def divided(level: Level, cut: Cut) -> Level:
    """The next level: every box is cut once along each axis on which it has several cells."""
    lo, hi, parent = level.lo, level.hi, np.arange(len(level.lo))
    for axis in range(lo.shape[1]):
        several = hi[:, axis] - lo[:, axis] > 1
        cuts = cut(lo[several], hi[several], axis)
        parts = np.repeat(np.arange(len(lo)), 1 + several)
        first = np.flatnonzero(several) + np.arange(several.sum())
        lo, hi, parent = lo[parts], hi[parts], parent[parts]
        hi[first, axis] = cuts
        lo[first + 1, axis] = cuts
    return Level(lo, hi, parent)


def tree_partition(levels: list[Level], spent: Fraction) -> TreeBuckets:
    """The last level's boxes as buckets, and the boxes that were divided on the way as intervals of them.

    Along one axis, buckets are stretches of the line.
    """
    boxes = Boxes(frozen(levels[-1].lo), frozen(levels[-1].hi))
    leaves = np.ones(len(boxes), np.int64)
    start, stop = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    lo, hi = [boxes.lo[:0]], [boxes.hi[:0]]
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        children = np.bincount(below.parent, minlength=len(level.lo))
        leaves = np.add.reduceat(leaves, np.cumsum(children) - children)
        ends, inner = np.cumsum(leaves), children > 1
        for parts, values in ((start, ends - leaves), (stop, ends), (lo, level.lo), (hi, level.hi)):
            parts.append(values[inner])
    starts, stops = np.concatenate(start), np.concatenate(stop)
    order = depth_first(starts, stops)
    return TreeBuckets(
        boxes.bounds,
        spent,
        spent,
        boxes=boxes if boxes.lo.shape[1] > 1 else None,
        start=frozen(starts[order]),
        stop=frozen(stops[order]),
        inner=Boxes(frozen(np.concatenate(lo)[order]), frozen(np.concatenate(hi)[order])),
    )
