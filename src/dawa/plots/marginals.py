"""Records along one of several axes, whatever the others: bars, each an answer of the release with its interval."""

from typing import Any, NamedTuple

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.axis.written import written
from dawa.plots import areas, drawing, scales
from dawa.results.release import Release

MOST_BARS = 40
"""Bars along an axis; of more cells, several are counted together."""


class Bars(NamedTuple):
    """Records per cell from border to border: the answers' values, and their lower and upper ends."""

    borders: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def top(self) -> float:
        """How high a picture has to be; a bar that nobody is sure of does not make all others small."""
        return float(np.minimum(self.high, 2 * self.value.max()).max())


def of(release: Release, at: int, most: int = MOST_BARS) -> Bars:
    """The bars along one axis.

    Args:
        release: What is asked.
        at: The number of the axis.
        most: How many bars there are at most.
    """
    axis = release.axes[at]
    borders = np.unique(np.linspace(0, axis.size, min(axis.size, most) + 1).astype(np.int64))
    lo = np.zeros((len(borders) - 1, len(release.axes)), np.int64)
    hi = lo + np.array([axis.size for axis in release.axes], np.int64)
    lo[:, at], hi[:, at] = borders[:-1], borders[1:]
    even = areas.flat(axis)
    found = _answered(release, lo, hi) / scales.width(axis, borders, even=even)
    return Bars(scales.placed(axis, borders, even=even), *found)


def drawn(chart: Any, bars: Bars, top: float) -> None:  # noqa: ANN401  Matplotlib's
    """Bars up to a height; lines go from low to high."""
    borders = bars.borders
    chart.stairs(bars.value, borders, fill=True, color=drawing.BAND, label="release")
    chart.stairs(bars.value, borders, baseline=None, color=drawing.LINE, linewidth=0.8)
    chart.vlines((borders[1:] + borders[:-1]) / 2, bars.low, bars.high, color=drawing.LINE, linewidth=0.5)
    chart.set_xlim(borders[0], borders[-1])
    chart.set_ylim(0, 1.1 * top or 1.0)
    chart.yaxis.set_major_formatter("{x:,.10g}")


def _answered(release: Release, lo: IntArray, hi: IntArray) -> FloatArray:
    """Values, lower and upper ends of the answers to boxes of cells, as three rows."""
    both = [written(axis, lo[:, at], hi[:, at]) for at, axis in enumerate(release.axes)]
    lows, highs = (list(zip(*side, strict=True)) for side in zip(*both, strict=True))
    answers: Any = release.answers
    found = answers(lows, highs)
    return np.array([[one.value for one in found], [one.low for one in found], [one.high for one in found]])
