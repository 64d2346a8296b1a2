"""The picture of a release over three or four axes: a histogram along each, and below them a map of every pair."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.axis.written import written
from dawa.plots import drawing, scales
from dawa.results.release import Release

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 40
"""Bars along an axis; of more cells, several are counted together."""


def figure(release: Release, width: float, below: float) -> "Figure":
    """Histograms on the diagonal, with their intervals, and maps of all pairs of axes below it.

    Args:
        release: What to draw.
        width: In inches.
        below: How many inches the lines below need.
    """
    many = len(release.axes)
    sheet = drawing.sheet(width, 0.85 * width + 0.3 + below)
    charts = sheet.subplots(many, many, squeeze=False)
    cells = np.maximum(release.estimate.cells, 0)
    for place, chart in np.ndenumerate(charts):
        row, column = (int(at) for at in place)
        chart.set_visible(row >= column)
        chart.tick_params(labelbottom=row == many - 1, labelleft=column in {0, row}, labelsize=6)
    for at in range(many):
        _marginal(release, at, charts[at, at])
    for left, down in combinations(range(many), 2):
        _pair(release, cells, left, down, charts[down, left])
    longest = round(0.7 * scales.LETTERS * width / many)
    for at, axis in enumerate(release.axes):
        scales.label(axis, charts[many - 1, at].xaxis, width / many, upright=True, longest=longest)
        if at:
            scales.label(axis, charts[at, 0].yaxis, drawing.PAGE, lines=0.7 * width / many, longest=longest)
    return sheet


def _marginal(release: Release, at: int, chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """Records per cell along one axis, whatever the others; lines go from low to high."""
    axis = release.axes[at]
    borders = np.unique(np.linspace(0, axis.size, min(axis.size, MOST_BARS) + 1).astype(np.int64))
    lo = np.zeros((len(borders) - 1, len(release.axes)), np.int64)
    hi = lo + np.array([axis.size for axis in release.axes], np.int64)
    lo[:, at], hi[:, at] = borders[:-1], borders[1:]
    found = _answered(release, lo, hi) / scales.width(axis, borders)
    places = scales.placed(axis, borders)
    chart.stairs(found[0], places, fill=True, color=drawing.BAND, label="release")
    chart.stairs(found[0], places, baseline=None, color=drawing.LINE, linewidth=0.8)
    chart.vlines((places[1:] + places[:-1]) / 2, found[1], found[2], color=drawing.LINE, linewidth=0.5)
    chart.set_xlim(places[0], places[-1])
    chart.set_ylim(0, 1.1 * float(np.minimum(found[2], 2 * found[0].max()).max()) or 1.0)
    chart.yaxis.tick_right()
    chart.yaxis.set_major_formatter("{x:,.10g}")
    chart.tick_params(labelright=True)


def _answered(release: Release, lo: IntArray, hi: IntArray) -> FloatArray:
    """Values, lower and upper ends of the answers to boxes of cells, as three rows."""
    both = [written(axis, lo[:, at], hi[:, at]) for at, axis in enumerate(release.axes)]
    lows, highs = (list(zip(*side, strict=True)) for side in zip(*both, strict=True))
    answers: Any = release.answers
    found = answers(lows, highs)
    return np.array([[one.value for one in found], [one.low for one in found], [one.high for one in found]])


def _pair(release: Release, cells: Any, left: int, down: int, chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """A map of two axes, whatever the others."""
    rest = tuple(at for at in range(len(release.axes)) if at not in {left, down})
    found = drawing.coarse(cells.sum(axis=rest))
    across, up = (scales.placed(release.axes[at], [0, release.axes[at].size]) for at in (left, down))
    scale = drawing.magnitudes(max(float(found.max()), 1.0), least=0.0)
    how: Any = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "cmap": "viridis", "norm": scale}
    chart.imshow(found.T, extent=(*across, *up), **how)
