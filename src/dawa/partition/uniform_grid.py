"""A grid of equal boxes, as fine as the number of records allows (Qardaji, Yang, Li 2013): ``uniform_grid.md``.

Finer boxes are more even inside and noisier in sum. The rule that balances the two needs the number of records and
nothing else; this number is measured with a small share of epsilon. ``dawa.mechanisms.agrid`` builds on the same rule.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dawa import budget, check
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import OptionError
from dawa.layout.boxes import Boxes
from dawa.limits import MOST_BOXES_ALONG, MOST_CELLS_LISTED
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets


@dataclass(frozen=True)
class UniformGrid:
    """Options of the grid: public.

    Attributes:
        share: Share of epsilon for the number of records.
        per_box: Records per box over two axes, in units of one over the rest of epsilon: the paper's c.
    """

    share: Fraction = Fraction(1, 50)
    per_box: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))
        object.__setattr__(self, "per_box", check.positive(self.per_box, "per_box", 10))

    def choose_boxes(
        self, exposed: Occupied, shape: tuple[int, ...], epsilon: Fraction, randomness: Randomness
    ) -> Buckets:
        """Count the records, and lay a grid that suits their number; a record loses ``share`` of epsilon.

        Raises:
            OptionError: If there are several axes and too many cells to list.
        """
        size = math.prod(shape)
        if len(shape) > 1:
            refuse_unlisted(size)
        if size == 1:
            return Buckets(frozen(np.arange(2)))
        spent = self.share * epsilon
        check.within(loss(epsilon, self), spent, "Counting the records")
        records = gates.noisy(np.array([exposed.counts.sum()]), scale_for(epsilon, self), randomness)
        lengths = np.array([shape])
        along = parts(lengths, sides(lengths, crowding(records, epsilon - spent, self.per_box)))[0]
        return _grid(shape, along.tolist(), spent)


def scale_for(epsilon: Fraction, options: UniformGrid) -> Fraction:
    """The scale of the noise on the number of records."""
    return discrete.coarsened(1 / (options.share * epsilon))


def loss(epsilon: Fraction, options: UniformGrid) -> Fraction:
    """The privacy loss of the number of records, at the scale that is drawn: at most its share, exactly."""
    return discrete.loss(1, scale_for(epsilon, options))


def crowding(records: IntArray, epsilon: Fraction, per_box: float) -> FloatArray:
    """N·ε/c: the number of records divided by what one box is worth; 0 if noise made the number negative."""
    worth: FloatArray = np.maximum(records, 0) * (float(epsilon) / per_box)
    return worth


def sides(lengths: IntArray, worth: FloatArray) -> FloatArray:
    """How many boxes to lay along each axis, as a real number: ``worth^(2/(d+2))``, the balance over d axes.

    An axis with fewer cells than that is cut into cells and leaves the balance to the other axes, where each of its
    cells then has its own noise.

    >>> sides(np.array([[256, 256], [256, 4]]), np.array([144.0, 144.0])).round(1).tolist()
    [[12.0, 12.0], [17.3, 4.0]]

    Args:
        lengths: Cells along each axis, one row per domain.
        worth: ``crowding`` of each domain.
    """
    order = np.argsort(lengths, axis=1, kind="stable")
    ordered = np.take_along_axis(lengths, order, axis=1).astype(np.float64)
    along, left = np.empty_like(ordered), np.array(worth, np.float64)
    short = np.ones(len(ordered), bool)
    axes = ordered.shape[1]
    for axis in range(axes):
        side = np.minimum(left ** (2 / (axes - axis + 2)), MOST_BOXES_ALONG)
        along[short, axis:] = side[short, None]
        short &= ordered[:, axis] <= side
        along[short, axis] = ordered[short, axis]
        left[short] /= np.sqrt(ordered[short, axis])
    found = np.empty_like(along)
    np.put_along_axis(found, order, along, axis=1)
    return found


def parts(lengths: IntArray, along: FloatArray) -> IntArray:
    """Whole numbers of boxes: each box is a whole number of cells wide, rounded down, one cell at least.

    >>> parts(np.array([[256, 256, 256]]), np.array([[206.0, 68.0, 0.3]])).tolist()
    [[256, 86, 1]]
    """
    width = np.maximum(lengths // np.maximum(along, 1.0), 1.0).astype(np.int64)
    count: IntArray = -(-lengths // width)
    return count


def cuts(length: int, count: int) -> IntArray:
    """Where boxes begin and end along an axis: ``count`` of them, as equal as possible.

    >>> cuts(10, 4).tolist()
    [0, 2, 5, 7, 10]
    """
    place, (width, more) = np.arange(count + 1), divmod(length, count)
    ends: IntArray = place * width + place * more // count  # place * length // count, which may not fit in 64 bits
    return ends


def refuse_unlisted(size: int) -> None:
    """Raise an OptionError for a domain whose cells cannot be listed."""
    if size > MOST_CELLS_LISTED:
        raise OptionError(
            f"A grid of boxes takes at most {MOST_CELLS_LISTED} cells over several axes, not {size}.",
            "choose coarser steps, or a mechanism along the curve, such as 'dawa'.",
        )


def _grid(shape: tuple[int, ...], along: list[int], spent: Fraction) -> Buckets:
    """The grid as buckets: boxes in row-major order; stretches if there is one axis, cells if all boxes are cells."""
    ends = [cuts(length, count) for length, count in zip(shape, along, strict=True)]
    if len(shape) == 1:
        return Buckets(frozen(ends[0]), spent, spent)
    if along == list(shape):
        return Buckets(frozen(np.arange(math.prod(shape) + 1)), spent, spent)
    lo, hi = (
        np.stack(np.meshgrid(*[end[side] for end in ends], indexing="ij"), axis=-1).reshape(-1, len(shape))
        for side in (slice(None, -1), slice(1, None))
    )
    boxes = Boxes(frozen(lo), frozen(hi))
    return Buckets(boxes.bounds, spent, spent, boxes=boxes)
