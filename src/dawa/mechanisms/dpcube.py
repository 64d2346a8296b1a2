"""DPCube: noise on every cell, a kd-tree over the noisy cells, noise on every box; ``dpcube.md`` has the proof.

Xiao, Xiong, Fan, Goryczka and Li, *DPCube: differentially private histogram release through multidimensional
partitioning* (Transactions on Data Privacy 2014): half of the budget finds boxes that look even, half measures them,
and the noisy cells of a box help with its total.

Adapts to: where counts differ, with cuts anywhere along any axis.

Cost: O(n·depth) time, O(n) memory.

Use it for maps with even plateaus or few crowded cells, where no error bars are needed. It gives none: the boxes are
drawn around the noise of the cells, so that this noise, seen from the finished boxes, is not centred and not known.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dawa import budget, kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.counts import Counts, Occupied
from dawa.errors import OptionError
from dawa.estimates import Estimate
from dawa.mechanisms.mechanism import Mechanism
from dawa.noise import discrete
from dawa.noise.source import Source
from dawa.order import Order
from dawa.partition.boxes import Boxes
from dawa.partition.buckets import Partition
from dawa.partition.uniform_grid import noisy, positive, refuse_unlisted
from dawa.workload import Workload


@dataclass(frozen=True)
class Dpcube:
    """Options of DPCube: public.

    Attributes:
        share: Share of epsilon for the cells.
        tolerance: How far beyond noise alone the noisy cells of a box may vary before it is cut, in standard
            deviations.
        combine: Whether the noisy cells of a box help with its total, as published: less noise, at the price of a
            bias. Without, totals are right on average.
    """

    share: Fraction = Fraction(1, 2)
    tolerance: float = 2.0
    combine: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))
        object.__setattr__(self, "tolerance", positive(self.tolerance, "tolerance", 2))
        if not isinstance(self.combine, (bool, np.bool_)):
            raise OptionError(f"combine={self.combine!r} is neither yes nor no.", "pass True or False.")
        object.__setattr__(self, "combine", bool(self.combine))


@dataclass(frozen=True)
class Plan:
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


def planned(epsilon: Fraction, options: Dpcube) -> Plan:
    """Fix the scales, from public numbers alone."""
    cells = options.share * epsilon
    return Plan(discrete.coarsened(1 / cells), discrete.coarsened(1 / (epsilon - cells)))


def loss(epsilon: Fraction, options: Dpcube) -> Fraction:
    """The privacy loss of the numbers that ``run`` would use: at most epsilon, exactly."""
    return planned(epsilon, options).loss


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: Dpcube, source: Source) -> Estimate:  # noqa: ARG001  the workload makes no difference
    """Measure cells, cut boxes, measure boxes; then put both together."""
    refuse_unlisted(counts.size)
    plan = planned(epsilon, options)
    if plan.loss > epsilon:
        raise AssertionError("the counts of dpcube outweigh their budget: this is a bug in dawa")
    cells = estimated(counts.exposed, counts.shape, plan, options, source)
    line = cells[Order(counts.shape).flat()]
    split = {"cells": options.share * epsilon, "boxes": (1 - options.share) * epsilon}
    return Estimate.of_cells(counts.shape, line, epsilon, _plain(options), split, source.description)


def estimated(exposed: Occupied, shape: tuple[int, ...], plan: Plan, options: Dpcube, source: Source) -> FloatArray:
    """The private part: noisy cells, and the noisy totals of the boxes that they make; row by row of the grid."""
    cells = noisy(exposed.grid(shape).ravel(), plan.cell_scale, source)
    boxes = even_boxes(cells, shape, plan, options.tolerance)
    totals = noisy(Partition(boxes.bounds, boxes=boxes).totals(exposed, shape), plan.box_scale, source)
    found = combined(cells, totals, boxes, shape, plan) if options.combine else totals
    spread: FloatArray = found / np.diff(boxes.bounds)
    return spread[boxes.labels(shape)]


def even_boxes(cells: IntArray, shape: tuple[int, ...], plan: Plan, tolerance: float) -> Boxes:
    """Boxes in which noisy cells vary as noise alone would: post-processing."""
    variance = discrete.variance(plan.cell_scale)
    lo, hi = kernels.even_boxes.cut(cells.astype(np.float64), np.array(shape), variance, tolerance)
    return Boxes(frozen(lo), frozen(hi))


def combined(cells: IntArray, totals: IntArray, boxes: Boxes, shape: tuple[int, ...], plan: Plan) -> FloatArray:
    """The total of each box from both of its measurements, averaged by the inverse of their variances."""
    sums = np.zeros(len(boxes), np.int64)
    np.add.at(sums, boxes.labels(shape), cells)
    of_sum, of_total = np.diff(boxes.bounds) * float(plan.cell_scale) ** 2, float(plan.box_scale) ** 2
    total: FloatArray = (sums * of_total + totals * of_sum) / (of_sum + of_total)
    return total


def _plain(options: Dpcube) -> dict[str, Any]:
    """Options as JSON can hold them."""
    return {"share": str(options.share), "tolerance": options.tolerance, "combine": options.combine}


MECHANISM = Mechanism(
    "Noisy cells, a kd-tree of boxes over them, noise on every box (Xiao et al. 2014).",
    Dpcube(),
    run,
    error_bars=False,
)
