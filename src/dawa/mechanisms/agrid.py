"""AGrid: a coarse grid, and in each of its boxes a finer grid by the box's noisy count; ``agrid.md`` has the proof.

Qardaji, Yang and Li, *Differentially private grids for geospatial data* (ICDE 2013): half of the budget counts the
coarse boxes, half counts the fine boxes, and least squares makes both agree.

Adapts to: where records are, at two scales.

Cost: O(n) time and memory.

Use it for maps with towns and deserts where no error bars are needed. It has no error bars: the fine grid depends on
the noise of the coarse counts, so, given the finished grid, this noise is not centred and not known.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from dawa import budget, check
from dawa.arrays import FloatArray, IntArray
from dawa.counts import Counts, Occupied
from dawa.layout.curve import Order
from dawa.mechanisms.base import Mechanism
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.uniform_grid import crowding, cuts, parts, refuse_unlisted, sides
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate

COARSER = 4
"""How many times fewer boxes the coarse grid has along an axis than an even grid would have."""

FEWEST = 100
"""The least number of coarse boxes: 10 along each of two axes."""


@dataclass(frozen=True)
class Agrid(Mechanism):
    """Options of AGrid: public.

    Attributes:
        share: Share of epsilon for the number of records.
        coarse_share: Share of the rest for the coarse counts: the paper's α.
        per_box: Records per box of an even grid, in units of one over epsilon: the paper's c. Fine boxes are made for
            half as many, as in the paper.
    """

    name = "agrid"
    summary = "A coarse grid, then finer ones inside its boxes by their noisy counts (Qardaji et al. 2013)."
    error_bars = False

    share: Annotated[Fraction, check.SHARE] = Fraction(1, 50)
    coarse_share: Annotated[Fraction, check.SHARE] = Fraction(1, 2)
    per_box: Annotated[float, check.POSITIVE] = 10.0

    def __post_init__(self) -> None:
        for name in ("share", "coarse_share"):
            object.__setattr__(self, name, budget.share(getattr(self, name), name))
        object.__setattr__(self, "per_box", check.positive(self.per_box, "per_box", 10))

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """See the module's function of the same name."""
        return run(counts, workload, epsilon, self, randomness)


@dataclass(frozen=True)
class Parameters:
    """The public numbers of one run.

    Attributes:
        total_scale: Scale of the noise on the number of records.
        coarse_scale: Scale of the noise on the count of a coarse box.
        fine_scale: Scale of the noise on the count of a fine box.
    """

    total_scale: Fraction
    coarse_scale: Fraction
    fine_scale: Fraction

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: a record is in one coarse box and in one fine box."""
        scales = (self.total_scale, self.coarse_scale, self.fine_scale)
        return sum((discrete.loss(1, scale) for scale in scales), Fraction(0))


@dataclass(frozen=True, eq=False)
class Grid:
    """A coarse grid: public.

    Attributes:
        shape: Cells along each axis of the domain.
        along: Boxes along each axis.
    """

    shape: tuple[int, ...]
    along: tuple[int, ...]

    def widths(self) -> list[IntArray]:
        """Cells along each axis in each slice of boxes."""
        return [np.diff(cuts(length, count)) for length, count in zip(self.shape, self.along, strict=True)]

    def lengths(self) -> IntArray:
        """Cells along each axis of every box, one row each."""
        return np.stack(np.meshgrid(*self.widths(), indexing="ij"), axis=-1).reshape(-1, len(self.shape))

    def labels(self) -> IntArray:
        """The box of every cell, in the shape of the domain."""
        slices = [np.repeat(np.arange(len(widths)), widths) for widths in self.widths()]
        return np.ravel_multi_index(np.ix_(*slices), self.along).astype(np.int64)

    def fine_labels(self, coarse: IntArray, finer: IntArray) -> IntArray:
        """The fine box of every cell.

        Args:
            coarse: ``labels``.
            finer: Fine boxes along each axis of every box, one row each.
        """
        labels = np.zeros_like(coarse)
        for axis, (length, widths) in enumerate(zip(self.shape, self.widths(), strict=True)):
            along = [1] * len(self.shape)
            along[axis] = length
            width = np.repeat(widths, widths)
            offset = np.arange(length) - np.repeat(np.cumsum(widths) - widths, widths)
            count = finer[:, axis][coarse]
            # The fine box j of an axis begins at cell j·width // count, so this is the last that begins at or before.
            labels = labels * count + ((offset.reshape(along) + 1) * count - 1) // width.reshape(along)
        boxes = finer.prod(axis=1)
        labels += (np.cumsum(boxes) - boxes)[coarse]
        return labels


def parameters_for(epsilon: Fraction, options: Agrid) -> Parameters:
    """Fix the scales, from public numbers alone."""
    spent = _split(epsilon, options)
    return Parameters(*(discrete.coarsened(1 / spent[step]) for step in ("total", "coarse", "fine")))


def loss(epsilon: Fraction, options: Agrid) -> Fraction:
    """The privacy loss of the numbers that ``run`` would use: at most epsilon, exactly."""
    return parameters_for(epsilon, options).loss


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: Agrid, randomness: Randomness) -> Estimate:  # noqa: ARG001  the workload makes no difference
    """Count all records, the coarse boxes, the fine boxes; then make both levels agree."""
    refuse_unlisted(counts.size)
    parameters, split = parameters_for(epsilon, options), _split(epsilon, options)
    check.within(parameters.loss, epsilon, "Counting for agrid")
    cells = estimated(counts.exposed, counts.shape, epsilon, options, parameters, randomness)
    line = cells.ravel()[Order(counts.shape).flat()]
    return Estimate.of_cells(counts.shape, line, epsilon, _plain(options), split, randomness.description)


def estimated(
    exposed: Occupied,
    shape: tuple[int, ...],
    epsilon: Fraction,
    options: Agrid,
    parameters: Parameters,
    randomness: Randomness,
) -> FloatArray:
    """The private part: three rounds of noisy counts, each over boxes that the rounds before made public."""
    place = Order(shape).flat()[exposed.cells]
    records = gates.noisy(np.array([exposed.counts.sum()]), parameters.total_scale, randomness)
    grid = coarse_grid(shape, records, epsilon, options)
    coarse = grid.labels()
    upper = gates.noisy(
        _totals(exposed, coarse.ravel()[place], int(np.prod(grid.along))), parameters.coarse_scale, randomness
    )
    finer = fine_parts(grid, upper, epsilon, options)
    fine, boxes = grid.fine_labels(coarse, finer), finer.prod(axis=1)
    lower = gates.noisy(_totals(exposed, fine.ravel()[place], int(boxes.sum())), parameters.fine_scale, randomness)
    cells = np.bincount(fine.ravel(), minlength=len(lower))
    spread: FloatArray = agreed(upper, lower, boxes, parameters) / cells
    return spread[fine]


def coarse_grid(shape: tuple[int, ...], records: IntArray, epsilon: Fraction, options: Agrid) -> Grid:
    """A quarter as many boxes along each axis as an even grid would have, but at least a hundred in all: public."""
    lengths, left = np.array([shape]), (1 - options.share) * epsilon
    along = sides(lengths, crowding(records, left, options.per_box)) / COARSER
    axes = max(1, sum(length > 1 for length in shape))
    at_least = np.minimum(np.maximum(along, FEWEST ** (1 / axes)), lengths)
    return Grid(shape, tuple(parts(lengths, at_least)[0].tolist()))


def fine_parts(grid: Grid, upper: IntArray, epsilon: Fraction, options: Agrid) -> IntArray:
    """How finely each coarse box is divided along each axis, by its noisy count: public."""
    lengths, fine = grid.lengths(), _split(epsilon, options)["fine"]
    return parts(lengths, sides(lengths, crowding(upper, fine, options.per_box / 2)))


def agreed(upper: IntArray, lower: IntArray, boxes: IntArray, parameters: Parameters) -> FloatArray:
    """Least squares over both levels: the counts of the fine boxes, moved equally inside each coarse box.

    The count of a coarse box and the sum of its fine counts are averaged by the inverse of their variances; what the
    fine counts then lack is spread over them evenly.
    """
    sums = np.add.reduceat(lower, np.cumsum(boxes) - boxes)
    own, below = float(parameters.coarse_scale) ** 2, boxes * float(parameters.fine_scale) ** 2
    move: FloatArray = (upper - sums) * (below / (own + below)) / boxes
    return lower.astype(np.float64) + np.repeat(move, boxes)


def _totals(exposed: Occupied, labels: IntArray, boxes: int) -> IntArray:
    """The number of records in each box, exactly: private."""
    totals = np.zeros(boxes, np.int64)
    np.add.at(totals, labels, exposed.counts)
    return totals


def _split(epsilon: Fraction, options: Agrid) -> dict[str, Fraction]:
    """What each step spends of epsilon."""
    left = (1 - options.share) * epsilon
    coarse = options.coarse_share * left
    return {"total": epsilon - left, "coarse": coarse, "fine": left - coarse}


def _plain(options: Agrid) -> dict[str, Any]:
    """Options as JSON can hold them."""
    return {"share": str(options.share), "coarse_share": str(options.coarse_share), "per_box": options.per_box}
