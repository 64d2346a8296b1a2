"""The strategy of a release: which sums were measured, and how much of the budget each sum got.

Weights are shown as shares of Q, the column sum of a bucket that keeps the whole budget of measuring: over any bucket
the shares of all rows, without their signs, add up to 1 or a little less.
"""

from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError
from dawa.limits import MOST_BUCKETS_DRAWN, MOST_CELLS_LISTED
from dawa.plots import drawing
from dawa.results.estimate import Estimate
from dawa.strategy.base import RESOLUTION, Strategy
from dawa.strategy.bumps import BumpStrategy
from dawa.strategy.hats import HatStrategy
from dawa.strategy.nested import NestedStrategy
from dawa.strategy.product import ProductStrategy
from dawa.strategy.tree import TreeStrategy
from dawa.strategy.wavelet import WaveletStrategy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = (2, 4)
"""How many rows of a map are shown, and how they are laid out."""


class Lane(NamedTuple):
    """Rows that do not overlap, drawn on one line."""

    name: str
    share: FloatArray
    """The weight of its row on each bucket, as a share of Q; 0 where it has no row."""


def strategy(estimate: Estimate, path: str | PathLike[str] | None = None) -> "Figure":
    """The rows that were measured, with their weights: trees and wavelets level by level, hats as hats, bumps as maps.

    >>> import dawa
    >>> figure = strategy(dawa.estimate([3] * 64, epsilon=1, seed=0, mechanism="privelet"))
    >>> figure.axes[0].get_title(loc="left")
    'Haar wavelets, 64 buckets'

    Args:
        estimate: What a mechanism learned; ``rel.estimate`` of a release.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).

    Raises:
        OptionError: If the mechanism measured no such rows, or the path has no known ending.
    """
    if not isinstance(estimate, Estimate):
        raise OptionError(
            f"A {type(estimate).__name__} is not an estimate.", "pass what dawa.estimate returned, or rel.estimate."
        )
    measured = estimate.measured
    with drawing.styled():
        if isinstance(measured, HatStrategy):
            figure = _hats(measured)
        elif isinstance(measured, (BumpStrategy, ProductStrategy)):
            figure = _panels(estimate, measured)
        else:
            figure = _lanes(measured)
    return drawing.saved(figure, path)


def _title(measured: Strategy) -> str:
    return f"{measured.name}, {measured.buckets:,} bucket{'s' * (measured.buckets != 1)}"


def _hats(measured: HatStrategy) -> "Figure":
    """Every row as a line over its buckets, and the buckets' own weights as an area."""
    figure = drawing.sheet(drawing.COLUMN, 2.3)
    chart = figure.subplots()
    rows, bucket = measured.rows, np.arange(measured.buckets)
    alone = drawing.coarse(measured.leaf / RESOLUTION, MOST_BUCKETS_DRAWN)
    edges = np.linspace(0, measured.buckets, len(alone) + 1)
    chart.stairs(alone, edges, fill=True, color=drawing.BAND, linewidth=0, label="each bucket alone")
    lengths = rows.stop - rows.start
    level = np.digitize(lengths, _gaps(lengths))
    for row in range(len(rows)):
        inside = slice(rows.start[row], rows.stop[row])
        share = measured.weights[rows.ptr[row] : rows.ptr[row + 1]] / RESOLUTION
        thin = max(1, len(share) // 256)
        hue = drawing.HUES[level[row] % len(drawing.HUES)]
        chart.plot(bucket[inside][::thin] + 0.5, share[::thin], color=hue, linewidth=0.7)
    if len(rows):
        chart.plot([], [], color=drawing.HUES[0], linewidth=0.7, label=f"{len(rows):,} hats, a colour per width")
    chart.set_ylim(bottom=0)
    chart.margins(x=0)
    chart.set(xlabel="bucket", ylabel="share of the budget")
    drawing.keyed(chart, _title(measured))
    return figure


def _gaps(lengths: IntArray) -> FloatArray:
    """Where lengths jump by half or more: between the levels of hats."""
    ordered = np.unique(lengths)
    jump = ordered[1:] > 1.5 * ordered[:-1]
    gaps: FloatArray = np.sqrt(ordered[1:][jump] * ordered[:-1][jump].astype(np.float64))
    return gaps


def _lanes(measured: Strategy) -> "Figure":
    """One line per level; the colour shows the weight of the row there, with one hue per sign."""
    lanes = _levels(measured)
    shares = np.stack([drawing.coarse(lane.share, MOST_BUCKETS_DRAWN) for lane in lanes])
    signed = bool((shares < 0).any())
    figure = drawing.sheet(drawing.COLUMN, max(1.7, 0.9 + min(0.17 * len(lanes), 4)))
    chart = figure.subplots()
    most = max(float(np.abs(shares).max()), 1e-9)
    image = chart.imshow(
        shares,
        aspect="auto",
        interpolation="nearest",
        cmap="RdBu_r" if signed else "Blues",
        vmin=-1.5 * most if signed else 0,
        vmax=1.5 * most if signed else most,
        extent=(0, measured.buckets, len(lanes), 0),
    )
    every = max(1, len(lanes) // 24)
    at = np.arange(0, len(lanes), every)
    chart.set_yticks(at + 0.5, [lanes[i].name for i in at])
    chart.tick_params(axis="y", length=0)
    chart.hlines(np.arange(1, len(lanes)), 0, measured.buckets, color="#c8c8c8", linewidth=0.6)
    for i, lane in enumerate(lanes):
        _separate(chart, lane.share, i)
    chart.set_xlim(0, measured.buckets)
    chart.set_xlabel("bucket")
    figure.colorbar(image, ax=chart, label="share of the budget")
    drawing.titled(chart, _title(measured))
    return figure


def _separate(chart: Any, share: FloatArray, at: int) -> None:  # noqa: ANN401  Matplotlib's
    """Lines between the rows of a lane, if the eye can tell them apart."""
    cuts = np.flatnonzero(np.diff(share)) + 1
    if len(cuts) <= 128:
        chart.vlines(cuts, at, at + 1, color="#c8c8c8", linewidth=0.4)


def _levels(measured: Strategy) -> list[Lane]:
    """The rows of a strategy, level by level, the widest on top."""
    if isinstance(measured, TreeStrategy):
        return _tree_levels(measured)
    if isinstance(measured, WaveletStrategy):
        return _wavelet_levels(measured)
    if isinstance(measured, NestedStrategy):
        return _nested_levels(measured)
    raise OptionError(f"Rows of the kind {measured.name!r} cannot be drawn.", "draw the release: rel.plot().")


def _tree_levels(measured: TreeStrategy) -> list[Lane]:
    lanes = []
    for level, (begin, end) in enumerate(zip(measured.offset[:-1], measured.offset[1:], strict=True)):
        share = measured.weights[begin:end] / RESOLUTION
        width = measured.branching**level
        across = np.repeat(share, np.minimum(width, measured.buckets))[: measured.buckets]
        lanes.append(Lane("alone" if level == 0 else f"{width:,}", across))
    return lanes[::-1]


def _wavelet_levels(measured: WaveletStrategy) -> list[Lane]:
    bucket, part = np.arange(measured.buckets), measured.difference / RESOLUTION
    lanes = [
        Lane(f"{2**level:,}", np.where(bucket >> (level - 1) & 1, -part, part))
        for level in range(1, measured.levels + 1)
    ]
    return [Lane("total", np.full(measured.buckets, measured.total / RESOLUTION)), *lanes[::-1]]


def _nested_levels(measured: NestedStrategy) -> list[Lane]:
    """By depth: an interval lies one level deeper than the narrowest interval around it."""
    depth = np.zeros(len(measured.start), np.int64)
    around: list[int] = []
    for i, (first, beyond) in enumerate(zip(measured.start.tolist(), measured.stop.tolist(), strict=True)):
        while around and around[-1] <= first:
            around.pop()
        depth[i] = len(around)
        around.append(beyond)
    lanes = []
    for level in range(int(depth.max(initial=-1)) + 1):
        share = np.zeros(measured.buckets)
        for node in np.flatnonzero(depth == level):
            share[measured.start[node] : measured.stop[node]] = measured.weights[node] / RESOLUTION
        lanes.append(Lane(f"depth {level}", share))
    return [*lanes, Lane("alone", measured.leaf / RESOLUTION)]


def _panels(estimate: Estimate, measured: BumpStrategy | ProductStrategy) -> "Figure":
    """Some rows of a map, each as a map of its weights."""
    if estimate.size > MOST_CELLS_LISTED or len(estimate.shape) != 2:
        raise OptionError("These rows are not a map over two axes that can be drawn.", "draw ranges instead.")
    many = PANELS[0] * PANELS[1]
    shown = _bump_rows(measured, many) if isinstance(measured, BumpStrategy) else _product_rows(measured, many)
    signed = any((share < 0).any() for _, share in shown)
    figure = drawing.sheet(drawing.PAGE, 3.4)
    charts = figure.subplots(*PANELS, sharex=True, sharey=True).ravel()
    most = max(float(np.abs(share).max()) for _, share in shown)
    order, widths = estimate.buckets.order(estimate.shape), np.diff(estimate.buckets.bounds)
    image: Any = None
    for chart, (name, share) in zip(charts, shown, strict=False):
        cells = np.empty(estimate.size)
        cells[order] = np.repeat(share, widths)
        image = chart.imshow(
            drawing.coarse(cells.reshape(estimate.shape)),
            cmap="RdBu_r" if signed else "Blues",
            vmin=-1.5 * most if signed else 0,
            vmax=1.5 * most if signed else most,
            aspect="auto",
            interpolation="nearest",
            extent=(0, estimate.shape[1], estimate.shape[0], 0),
        )
        chart.set_title(name)
    for chart in charts[len(shown) :]:
        chart.set_axis_off()
    figure.colorbar(image, ax=list(charts), label="share of the budget")
    figure.supxlabel("cell along the second axis", fontsize=8)
    figure.supylabel("cell along the first axis", fontsize=8)
    figure.suptitle(_title(measured))
    return figure


def _bump_rows(measured: BumpStrategy, most: int) -> list[tuple[str, FloatArray]]:
    """The buckets' own rows, which do not overlap, and some of the others, spread evenly."""
    found = [("each bucket alone", measured.leaf / RESOLUTION)]
    count = len(measured.pattern)
    for row in np.unique(np.linspace(0, count - 1, min(most - 1, count)).astype(np.int64)) if count else ():
        share, entries = np.zeros(measured.buckets), slice(measured.ptr[row], measured.ptr[row + 1])
        share[measured.column[entries]] = measured.weights[entries] / RESOLUTION
        found.append((f"row {row + 1:,} of {count:,}", share))
    return found


def _product_rows(measured: ProductStrategy, most: int) -> list[tuple[str, FloatArray]]:
    """The first row of each pair of levels, coarse ones first: the other rows are the same, moved."""
    sides = [_haar(size) for size in measured.shape]
    pairs = sorted(
        ((i, j) for i in range(len(sides[0])) for j in range(len(sides[1]))), key=lambda pair: (sum(pair), max(pair))
    )
    scale = measured.weight / RESOLUTION
    return [
        (f"{sides[0][i][0]} × {sides[1][j][0]}", scale * np.outer(sides[0][i][1], sides[1][j][1]).ravel())
        for i, j in pairs[:most]
    ]


def _haar(size: int) -> list[tuple[str, FloatArray]]:
    """The total of an axis, and the first difference of each level, the widest first."""
    cell, found = np.arange(size), [("total", np.ones(size))]
    for level in range((size - 1).bit_length(), 0, -1):
        half = 2 ** (level - 1)
        found.append((f"{2 * half:,}", np.where(cell < half, 1.0, np.where(cell < 2 * half, -1.0, 0.0))))
    return found
