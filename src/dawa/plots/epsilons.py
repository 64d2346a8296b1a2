"""How errors fall as epsilon grows: for people who choose it."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from dawa.errors import OptionError
from dawa.plots import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def epsilons(
    curves: Mapping[str, Mapping[float, float]],
    path: str | PathLike[str] | None = None,
    *,
    needed: float | None = None,
    chosen: float | None = None,
    label: str = "19 of 20 ranges are within, in records",
) -> "Figure":
    """A curve for each kind of data, on logarithmic scales.

    >>> figure = epsilons({"smooth": {0.1: 90, 1: 9}, "spiky": {0.1: 190, 1: 20}}, needed=100, chosen=0.2)
    >>> figure.axes[0].get_xlabel()
    'epsilon: smaller is more private'

    Args:
        curves: The error at every epsilon, by kind of data.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).
        needed: An error that may not be exceeded: a line across.
        chosen: An epsilon: a line upwards.
        label: What the errors are.

    Raises:
        OptionError: If there is nothing to draw, or the path has no known ending.
    """
    drawn = {name: [(x, y) for x, y in sorted(curve.items()) if x > 0 and y > 0] for name, curve in curves.items()}
    if not any(drawn.values()):
        raise OptionError("There are no errors to draw.", "pass {kind: {epsilon: error}}, all of them positive.")
    with drawing.styled():
        figure = drawing.sheet(drawing.COLUMN, 2.6)
        chart = figure.subplots()
        for place, (name, curve) in enumerate(drawn.items()):
            hue, mark = drawing.HUES[place % len(drawing.HUES)], drawing.MARKS[place % len(drawing.MARKS)]
            x, y = np.array(curve).T if curve else (np.zeros(0), np.zeros(0))
            chart.plot(x, y, color=hue, marker=mark, markersize=3, linewidth=0.9, label=drawing.text(name))
        for value, line in ((needed, chart.axhline), (chosen, chart.axvline)):
            if value is not None:
                line(value, color=drawing.TRUTH, linewidth=0.8, linestyle="--", zorder=0)
        chart.set(xscale="log", yscale="log")
        for side in (chart.xaxis, chart.yaxis):
            _numbered(side)
        chart.set(xlabel="epsilon: smaller is more private", ylabel=label)
        chart.grid(color="#e0e0e0", linewidth=0.5)
        chart.set_axisbelow(True)
        drawing.key(figure, loc="outside upper center", ncols=3, handlelength=1.6, columnspacing=0.8)
    return drawing.saved(figure, path)


def _numbered(side: Any) -> None:  # noqa: ANN401  Matplotlib's
    """Numbers as people write them, on a logarithmic scale."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415  slow to load

    side.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=10))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    side.set_minor_formatter(NullFormatter())
