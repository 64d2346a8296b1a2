"""A release beside its truth, for evaluation on public data: the truth is drawn as it is."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dawa import infer
from dawa.arrays import FloatArray, IntArray
from dawa.counts import Counts
from dawa.errors import CountsError, OptionError
from dawa.estimates import Estimate
from dawa.order import MOST_LISTED
from dawa.plots import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 800
"""More cells than this are drawn several to a column: their mean, and the band from their least to their most."""

MOST_OUTLINES = 4000
"""More lines than this make a file that no viewer opens gladly, so they become pixels."""


def maps(truth: ArrayLike, estimate: Estimate, path: str | PathLike[str] | None = None) -> "Figure":
    """Truth, release and error side by side, as heat maps. For public data: the truth is drawn as it is.

    Truth and release share a logarithmic scale; the error is what the release says too much (red) or too little (blue).

    >>> import dawa
    >>> counts = np.random.default_rng(0).poisson(5, (32, 48))
    >>> figure = maps(counts, dawa.estimate(counts, epsilon=1, seed=0, effort="fast"))
    >>> [axes.get_title() for axes in figure.axes[:3]]
    ['truth', 'release', 'error']

    Args:
        truth: The counts that the estimate was made from, over two axes.
        estimate: What a mechanism made of them.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).

    Raises:
        OptionError: If the estimate is not over two axes, or the path has no known ending.
        CountsError: If the truth has another shape.
    """
    counts = _checked(truth, estimate, "maps are drawn over two axes.", least=2)
    with drawing.styled():
        figure = drawing.sheet(drawing.PAGE, 2.5)
        charts = figure.subplots(1, 3, sharex=True, sharey=True)
        real, found = drawing.coarse(counts), drawing.coarse(estimate.cells)
        most, off = max(float(real.max()), float(found.max()), 1.0), max(float(np.abs(found - real).max()), 1.0)
        panels = (
            ("truth", real, "viridis", drawing.magnitudes(most, least=0.0)),
            ("release", np.maximum(found, 0), "viridis", drawing.magnitudes(most, least=0.0)),
            ("error", found - real, "RdBu_r", drawing.magnitudes(off)),
        )
        for chart, (title, values, colours, scale) in zip(charts, panels, strict=True):
            image = _heat(chart, values, estimate.shape, colours, scale)
            chart.set_title(title)
            chart.set_xlabel("cell along the second axis")
            if title != "truth":
                label = "records per cell" if title == "release" else "too many or too few"
                figure.colorbar(image, ax=chart, label=label)
        charts[0].set_ylabel("cell along the first axis")
        figure.suptitle(_summary(estimate), parse_math=False)
    return drawing.saved(figure, path)


def partition(truth: ArrayLike, estimate: Estimate, path: str | PathLike[str] | None = None) -> "Figure":
    """The buckets of a release over the truth. For public data: the truth is drawn as it is.

    Along one axis the truth is grey, the release a blue line, and every bucket begins at a tick below them. Over two
    axes the truth is a heat map, and the buckets are outlined.

    >>> import dawa
    >>> counts = [0] * 40 + [9] * 60
    >>> figure = partition(counts, dawa.estimate(counts, epsilon=1, seed=0))
    >>> figure.axes[0].get_ylabel()
    'records per cell'

    Args:
        truth: The counts that the estimate was made from, over one or two axes.
        estimate: What a mechanism made of them.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).

    Raises:
        OptionError: If the estimate is over more than two axes, or the path has no known ending.
        CountsError: If the truth has another shape.
    """
    counts = _checked(truth, estimate, "partitions are drawn over one or two axes.")
    with drawing.styled():
        if counts.ndim == 1:
            figure = drawing.sheet(drawing.COLUMN, 2.4)
            _line(counts, estimate, *figure.subplots(2, 1, sharex=True, height_ratios=(12, 1)))
        else:
            figure = drawing.sheet(drawing.COLUMN, 2.9)
            chart = figure.subplots()
            real = drawing.coarse(counts)
            scale = drawing.magnitudes(max(float(real.max()), 1.0), least=0.0)
            image = _heat(chart, real, estimate.shape, "viridis", scale)
            figure.colorbar(image, ax=chart, label="records per cell")
            _outline(chart, estimate)
            drawing.cell_labels(chart)
            drawing.titled(chart, _summary(estimate))
    return drawing.saved(figure, path)


def _checked(truth: ArrayLike, estimate: Estimate, hint: str, least: int = 1) -> FloatArray:
    """The truth as floats, if it fits the estimate and both can be drawn."""
    if not isinstance(estimate, Estimate):
        raise OptionError(
            f"A {type(estimate).__name__} is no estimate.", "pass what dawa.estimate returned, or rel.estimate."
        )
    if not least <= len(estimate.shape) <= 2:
        raise OptionError(f"The estimate is over {len(estimate.shape)} axes.", hint)
    if estimate.size > MOST_LISTED:
        raise OptionError(f"There are {estimate.size} cells, too many to draw.", "use a coarser step.")
    counts = np.asarray(truth)
    if Counts.of(counts).shape != estimate.shape:
        raise CountsError(f"The truth has shape {counts.shape}, the estimate {estimate.shape}.", "pass its own counts.")
    return counts.astype(np.float64)


def _line(counts: FloatArray, estimate: Estimate, chart: Any, ruler: Any) -> None:  # noqa: ANN401  Matplotlib's
    """Truth and release as steps, and below them where buckets begin."""
    size, bounds = len(counts), estimate.buckets.bounds
    begin = np.linspace(0, size, min(size, MOST_COLUMNS) + 1).astype(np.int64)
    least, most = (reduce.reduceat(counts, begin[:-1]) for reduce in (np.minimum, np.maximum))
    chart.stairs(drawing.coarse(counts, MOST_COLUMNS), begin, fill=True, color=drawing.SHADE, linewidth=0)
    band = least if size > MOST_COLUMNS else 0
    chart.stairs(most, begin, baseline=band, fill=True, color=drawing.TRUTH, linewidth=0.2, label="truth")
    steps, borders = estimate.totals / np.diff(bounds), bounds
    if len(bounds) > MOST_COLUMNS:
        steps, borders = drawing.coarse(infer.expanded(estimate.totals, bounds), MOST_COLUMNS), begin
    chart.stairs(steps, borders, baseline=None, color=drawing.LINE, label="release")
    drawing.stretch(chart, most, max(2.0, float(np.median(most))))
    chart.set_ylabel("records per cell")
    drawing.keyed(chart, _summary(estimate))
    marks = np.unique(bounds * MOST_COLUMNS // size * size // MOST_COLUMNS) if len(bounds) > MOST_COLUMNS else bounds
    ruler.vlines(marks, 0, 1, color=drawing.LINE, linewidth=0.4)
    ruler.set_yticks([])
    ruler.set_ylim(0, 1)
    ruler.set_xlim(0, size)
    ruler.xaxis.set_major_formatter("{x:,.10g}")
    ruler.spines["left"].set_visible(False)
    ruler.set_xlabel("cell, with a tick where each bucket begins")


def _heat(chart: Any, values: FloatArray, shape: tuple[int, ...], colours: str, scale: Any) -> Any:  # noqa: ANN401
    corners = (0, shape[1], shape[0], 0)
    return chart.imshow(values, cmap=colours, norm=scale, extent=corners, interpolation="nearest", aspect="auto")


def _outline(chart: Any, estimate: Estimate) -> None:  # noqa: ANN401  Matplotlib's
    """The borders between buckets, as few and long lines as there can be."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415  slow to load

    flat = np.empty(estimate.size, np.int64)
    flat[estimate.buckets.order(estimate.shape)] = np.repeat(
        np.arange(len(estimate.buckets)), np.diff(estimate.buckets.bounds)
    )
    label = flat.reshape(estimate.shape)
    across = [((lo, row + 1), (hi, row + 1)) for row, lo, hi in runs(label[1:] != label[:-1])]
    down = [((column + 1, lo), (column + 1, hi)) for column, lo, hi in runs((label[:, 1:] != label[:, :-1]).T)]
    lines = across + down
    many = len(lines) > MOST_OUTLINES
    chart.add_collection(
        LineCollection(lines, colors="white", linewidths=0.15 if many else 0.4, rasterized=many), autolim=False
    )


def runs(marked: "np.ndarray[Any, np.dtype[np.bool_]]") -> list[tuple[int, int, int]]:
    """Stretches of marked entries in every row of a matrix: the row, the first, and one past the last.

    >>> runs(np.array([[True, True, False], [False, False, True]]))
    [(0, 0, 2), (1, 2, 3)]
    """
    edge = np.zeros((len(marked), 1), np.int8)
    steps = np.diff(np.concatenate((edge, marked.astype(np.int8), edge), axis=1), axis=1)
    rows, first = np.nonzero(steps == 1)
    beyond: IntArray = np.nonzero(steps == -1)[1]
    return list(zip(rows.tolist(), first.tolist(), beyond.tolist(), strict=True))


def _summary(estimate: Estimate) -> str:
    name = drawing.text(estimate.mechanism)
    return f"{name}, ε = {float(estimate.epsilon):.4g}, {len(estimate.buckets):,} buckets"
