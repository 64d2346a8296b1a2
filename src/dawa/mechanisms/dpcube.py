"""DPCube: noise on every cell, a kd-tree over the noisy cells, noise on every box; ``dpcube.md`` has the proof.

Xiao, Xiong, Fan, Goryczka and Li, *DPCube: differentially private histogram release through multidimensional
partitioning* (Transactions on Data Privacy 2014): half of the budget finds boxes that look even, half measures them,
and the noisy cells of a box help with its total.

Adapts to: where counts differ, with cuts anywhere along any axis.

Cost: O(n·depth) time, O(n) memory.

Use it for maps with even plateaus or few crowded cells, where no error bars are needed. It has no error bars: the boxes
are drawn around the noise of the cells, so, given the finished boxes, this noise is not centred and not known.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from dawa import budget, check, kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.counts import Counts, Occupied
from dawa.layout.boxes import Boxes
from dawa.layout.curve import Order
from dawa.mechanisms.base import Mechanism
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets
from dawa.partition.uniform_grid import refuse_unlisted
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate


@dataclass(frozen=True)
class Dpcube(Mechanism):
    """Options of DPCube: public.

    Attributes:
        share: Share of epsilon for the cells.
        tolerance: How far beyond noise alone the noisy cells of a box may vary before it is cut, in standard
            deviations.
        combine: Whether the noisy cells of a box help with its total, as published: less noise, at the price of a
            bias. Without it, totals are right on average.
    """

    name = "dpcube"
    summary = "Noisy cells, a kd-tree of boxes over them, noise on every box (Xiao et al. 2014)."
    error_bars = False

    share: Annotated[Fraction, check.SHARE] = Fraction(1, 2)
    tolerance: Annotated[float, check.POSITIVE] = 2.0
    combine: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))
        object.__setattr__(self, "tolerance", check.positive(self.tolerance, "tolerance", 2))
        object.__setattr__(self, "combine", check.flag(self.combine, "combine"))

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """See the module's function of the same name."""
        return run(counts, workload, epsilon, self, randomness)


@dataclass(frozen=True)
class Parameters:
    """The public numbers of one run.

    Attributes:
        cell_scale: Scale of the noise on every cell.
        box_scale: Scale of the noise on every box.
    """

    cell_scale: Fraction
    box_scale: Fraction

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: a record is in one cell and in one box."""
        return discrete.loss(1, self.cell_scale) + discrete.loss(1, self.box_scale)


def parameters_for(epsilon: Fraction, options: Dpcube) -> Parameters:
    """Fix the scales, from public numbers alone."""
    cells = options.share * epsilon
    return Parameters(discrete.coarsened(1 / cells), discrete.coarsened(1 / (epsilon - cells)))


def loss(epsilon: Fraction, options: Dpcube) -> Fraction:
    """The privacy loss of the numbers that ``run`` would use: at most epsilon, exactly."""
    return parameters_for(epsilon, options).loss


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: Dpcube, randomness: Randomness) -> Estimate:  # noqa: ARG001  the workload makes no difference
    """Measure cells, cut boxes, measure boxes; then combine both measurements."""
    refuse_unlisted(counts.size)
    parameters = parameters_for(epsilon, options)
    check.within(parameters.loss, epsilon, "Counting for dpcube")
    cells = estimated(counts.exposed, counts.shape, parameters, options, randomness)
    line = cells[Order(counts.shape).flat()]
    split = {"cells": options.share * epsilon, "boxes": (1 - options.share) * epsilon}
    return Estimate.of_cells(counts.shape, line, epsilon, _plain(options), split, randomness.description)


def estimated(
    exposed: Occupied, shape: tuple[int, ...], parameters: Parameters, options: Dpcube, randomness: Randomness
) -> FloatArray:
    """The private part: noisy cells, and the noisy totals of the boxes that they make; in row-major order."""
    cells = gates.noisy(exposed.grid(shape).ravel(), parameters.cell_scale, randomness)
    boxes = even_boxes(cells, shape, parameters, options.tolerance)
    totals = gates.noisy(Buckets(boxes.bounds, boxes=boxes).totals(exposed, shape), parameters.box_scale, randomness)
    found = combined(cells, totals, boxes, shape, parameters) if options.combine else totals
    spread: FloatArray = found / np.diff(boxes.bounds)
    return spread[boxes.labels(shape)]


def even_boxes(cells: IntArray, shape: tuple[int, ...], parameters: Parameters, tolerance: float) -> Boxes:
    """Boxes in which noisy cells vary as noise alone would: post-processing."""
    variance = discrete.variance(parameters.cell_scale)
    lo, hi = kernels.boxes.cut(cells.astype(np.float64), np.array(shape), variance, tolerance)
    return Boxes(frozen(lo), frozen(hi))


def combined(
    cells: IntArray, totals: IntArray, boxes: Boxes, shape: tuple[int, ...], parameters: Parameters
) -> FloatArray:
    """The total of each box from both of its measurements, averaged by the inverse of their variances."""
    sums = np.zeros(len(boxes), np.int64)
    np.add.at(sums, boxes.labels(shape), cells)
    of_sum, of_total = np.diff(boxes.bounds) * float(parameters.cell_scale) ** 2, float(parameters.box_scale) ** 2
    total: FloatArray = (sums * of_total + totals * of_sum) / (of_sum + of_total)
    return total


def _plain(options: Dpcube) -> dict[str, Any]:
    """Options as JSON can hold them."""
    return {"share": str(options.share), "tolerance": options.tolerance, "combine": options.combine}
