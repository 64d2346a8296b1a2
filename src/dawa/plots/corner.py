"""The picture of a release over three or four axes: a histogram along each, and below them a map of every pair."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dawa.limits import MOST_PIXELS
from dawa.plots import areas, drawing, marginals, scales
from dawa.results.release import Release

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        bars, chart = marginals.of(release, at), charts[at, at]
        marginals.drawn(chart, bars, bars.top)
        chart.yaxis.tick_right()
        chart.tick_params(labelright=True)
    for left, down in combinations(range(many), 2):
        _pair(release, cells, left, down, charts[down, left])
    longest = round(0.7 * scales.LETTERS * width / many)
    for at, axis in enumerate(release.axes):
        how: Any = {"longest": longest, "even": areas.flat(axis)}
        scales.label(axis, charts[many - 1, at].xaxis, width / many, upright=True, **how)
        if at:
            scales.label(axis, charts[at, 0].yaxis, drawing.PAGE, lines=0.7 * width / many, **how)
    return sheet


def _pair(release: Release, cells: Any, left: int, down: int, chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """A map of two axes, whatever the others."""
    rest = tuple(at for at in range(len(release.axes)) if at not in {left, down})
    axes = (release.axes[left], release.axes[down])
    found = areas.image(axes, cells.sum(axis=rest), MOST_PIXELS)
    across, up = (scales.placed(axis, [0, axis.size], even=areas.flat(axis)) for axis in axes)
    scale = drawing.magnitudes(max(float(found.max()), 1.0), least=0.0)
    how: Any = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "cmap": "viridis", "norm": scale}
    chart.imshow(found.T, extent=(*across, *up), **how)
