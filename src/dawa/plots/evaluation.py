"""A release beside its truth, for evaluation on public data: the truth is drawn as it is.

The module also draws the errors of mechanisms side by side.
"""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dawa import infer
from dawa.arrays import FloatArray, IntArray
from dawa.counts import Counts
from dawa.errors import CountsError, OptionError
from dawa.limits import MOST_CELLS_LISTED, MOST_COLUMNS_DRAWN, MOST_OUTLINES
from dawa.plots import drawing
from dawa.results.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def maps(truth: ArrayLike, estimate: Estimate, path: str | PathLike[str] | None = None) -> "Figure":
    """Truth, release and error side by side, as heat maps. For public data: the truth is drawn as it is.

    Truth and release share a logarithmic scale; the error is how far the release is too high (red) or too low (blue).

    >>> import dawa
    >>> counts = np.random.default_rng(0).poisson(5, (32, 48))
    >>> figure = maps(counts, dawa.estimate(counts, epsilon=1, seed=0, effort="fast"))
    >>> [axes.get_title() for axes in figure.axes[:3]]
    ['truth', 'release', 'error']

    Args:
        truth: The counts that the estimate was made from, over two axes.
        estimate: What a mechanism learned from them.
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
        estimate: What a mechanism learned from them.
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
            f"A {type(estimate).__name__} is not an estimate.", "pass what dawa.estimate returned, or rel.estimate."
        )
    if not least <= len(estimate.shape) <= 2:
        raise OptionError(f"The estimate is over {len(estimate.shape)} axes.", hint)
    if estimate.size > MOST_CELLS_LISTED:
        raise OptionError(f"There are {estimate.size} cells, too many to draw.", "use a coarser step.")
    counts = np.asarray(truth)
    if Counts.of(counts).shape != estimate.shape:
        raise CountsError(f"The truth has shape {counts.shape}, the estimate {estimate.shape}.", "pass its counts.")
    return counts.astype(np.float64)


def _line(counts: FloatArray, estimate: Estimate, chart: Any, ruler: Any) -> None:  # noqa: ANN401  Matplotlib's
    """Truth and release as steps, and below them where buckets begin."""
    size, bounds = len(counts), estimate.buckets.bounds
    begin = np.linspace(0, size, min(size, MOST_COLUMNS_DRAWN) + 1).astype(np.int64)
    least, most = (reduce.reduceat(counts, begin[:-1]) for reduce in (np.minimum, np.maximum))
    chart.stairs(drawing.coarse(counts, MOST_COLUMNS_DRAWN), begin, fill=True, color=drawing.SHADE, linewidth=0)
    band = least if size > MOST_COLUMNS_DRAWN else 0
    chart.stairs(most, begin, baseline=band, fill=True, color=drawing.TRUTH, linewidth=0.2, label="truth")
    steps, borders = estimate.totals / np.diff(bounds), bounds
    if len(bounds) > MOST_COLUMNS_DRAWN:
        steps, borders = drawing.coarse(infer.expanded(estimate.totals, bounds), MOST_COLUMNS_DRAWN), begin
    chart.stairs(steps, borders, baseline=None, color=drawing.LINE, label="release")
    drawing.stretch(chart, most, max(2.0, float(np.median(most))))
    chart.set_ylabel("records per cell")
    drawing.keyed(chart, _summary(estimate))
    marks = (
        np.unique(bounds * MOST_COLUMNS_DRAWN // size * size // MOST_COLUMNS_DRAWN)
        if len(bounds) > MOST_COLUMNS_DRAWN
        else bounds
    )
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
    """The borders between buckets, in as few and as long lines as possible."""
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


HINT = "pass {mechanism: errors} or {mechanism: {dataset: error}}."


def errors(
    results: Mapping[str, Any],
    path: str | PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    label: str = "error",
) -> "Figure":
    """The error of each mechanism on a logarithmic scale, the best on top: a mark per dataset, a bar at their mean.

    The mean is geometric, so the best mechanism is the same in every unit of error.

    >>> figure = errors({"dawa": {"adult": 20, "trace": 30}, "identity": {"adult": 90, "trace": 80}}, baseline="dawa")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['dawa', 'identity']

    Args:
        results: The errors of each mechanism: one or several, or one or several for each dataset, of which the
            geometric mean is drawn. A data frame with a column per mechanism and a row per dataset works too.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).
        baseline: A mechanism; all errors are divided by its error on the same dataset.
        label: What the error is, such as ``"mean absolute error per query"``.

    Raises:
        OptionError: If there is nothing to draw, an error is not a positive number, mechanisms were run on different
            datasets, or there is no such baseline.
    """
    table = _table(results, baseline)
    datasets = list(next(iter(table.values())))
    means = {name: _mean(np.array([_mean(found) for found in row.values()])) for name, row in table.items()}
    ranked = sorted(table, key=means.__getitem__)
    named = datasets != [""]
    with drawing.styled():
        rows = math.ceil(len(datasets) / 3) if named else 0
        figure = drawing.sheet(drawing.COLUMN, 0.75 + 0.19 * len(ranked) + 0.16 * rows)
        chart = figure.subplots()
        if baseline is not None:
            chart.axvline(1, color=drawing.TRUTH, linewidth=0.8, zorder=0)
        for at, dataset in enumerate(datasets):
            _marks(chart, [table[name][dataset] for name in ranked], at, drawing.text(dataset) if named else None)
        height, centre = np.arange(len(ranked)), [means[name] for name in ranked]
        chart.vlines(
            centre, height - 0.36, height + 0.36, color="black", linewidth=1.6, label="geometric mean", zorder=3
        )
        chart.set_yticks(height, [drawing.text(name) for name in ranked], parse_math=False)
        chart.set_ylim(len(ranked) - 0.4, -0.6)
        _scale(chart)
        chart.grid(axis="x", color="#e0e0e0", linewidth=0.5)
        chart.set_axisbelow(True)
        chart.set_xlabel(_label(label, baseline), parse_math=False)
        if named:
            drawing.key(figure, loc="outside upper center", ncols=3, handletextpad=0.3, columnspacing=0.8)
    return drawing.saved(figure, path)


def _scale(chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """A logarithmic scale, with numbers as people write them: more numbers if it spans less."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415  slow to load

    chart.set_xscale("log")
    low, high = chart.get_xlim()
    magnitudes = math.log10(high / low)
    choices = ((0.5, (1, 1.5, 2, 3, 4, 5, 6, 7, 8)), (1.5, (1, 2, 5)), (3, (1, 3)), (math.inf, (1,)))
    steps = next(steps for most, steps in choices if magnitudes < most)
    side = chart.xaxis
    side.set_major_locator(LogLocator(subs=steps, numticks=12))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}" if 1e-4 < value < 1e6 else f"{value:.0e}"))
    side.set_minor_formatter(NullFormatter())


def _marks(chart: Any, groups: list[FloatArray], at: int, name: str | None) -> None:  # noqa: ANN401  Matplotlib's
    """The errors of all mechanisms on one dataset."""
    drawn = groups if name is None else [np.array([_mean(values)]) for values in groups]
    height = np.repeat(np.arange(len(drawn)), [len(values) for values in drawn])
    hue = drawing.HUES[at % len(drawing.HUES)]
    mark = drawing.MARKS[(at + at // len(drawing.HUES)) % len(drawing.MARKS)]
    artist = chart.scatter(np.concatenate(drawn), height, s=12, marker=mark, color=hue, linewidths=0, alpha=0.85)
    if name is not None:
        artist.set_label(name if not name.startswith("_") else f" {name}")  # Matplotlib hides names that begin with "_"


def _label(label: str, baseline: str | None) -> str:
    """What is drawn, over two lines if one is too short."""
    if baseline is None:
        return drawing.text(label)
    first, second = drawing.text(label), f"÷ that of {drawing.text(baseline)}"
    return f"{first}{' ' if len(first + second) < 45 else chr(10)}{second}"


def _table(results: Any, baseline: str | None) -> dict[str, dict[str, FloatArray]]:  # noqa: ANN401  anyone's
    """Mechanism → dataset → errors, checked; errors without a dataset have the dataset ''."""
    if not isinstance(results, Mapping) and callable(getattr(results, "to_dict", None)):
        results = results.to_dict()
    if not isinstance(results, Mapping) or not results:
        raise OptionError("There are no errors to draw.", HINT)
    table = {
        str(name): {str(dataset): _numbers(found, f"{name} on {dataset}") for dataset, found in errors.items()}
        if isinstance(errors, Mapping)
        else {"": _numbers(errors, str(name))}
        for name, errors in results.items()
    }
    datasets = set(next(iter(table.values())))
    if not datasets or any(set(errors) != datasets for errors in table.values()):
        raise OptionError(
            "The mechanisms were not run on the same datasets.", "leave out the datasets that some of them lack."
        )
    if baseline is None:
        return table
    if baseline not in table:
        raise OptionError(f"There are no errors of the baseline {baseline!r}.", f"choose one of {', '.join(table)}.")
    unit = {dataset: _mean(found) for dataset, found in table[baseline].items()}
    return {name: {dataset: found / unit[dataset] for dataset, found in row.items()} for name, row in table.items()}


def _numbers(found: Any, whose: str) -> FloatArray:  # noqa: ANN401  anyone's
    """Positive numbers, one or several."""
    try:
        listed = list(found) if isinstance(found, Iterable) and not isinstance(found, str) else [found]
        numbers = np.array([float(number) for number in listed])
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if not len(numbers) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise OptionError(f"The errors of {drawing.text(whose)} are not all positive numbers.", HINT)
    return numbers


def _mean(errors: FloatArray) -> float:
    """The geometric mean."""
    return float(np.exp(np.log(errors).mean()))
