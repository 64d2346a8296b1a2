"""Errors of mechanisms beside one another."""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from dawa.arrays import FloatArray
from dawa.errors import OptionError
from dawa.plots import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HINT = "pass {mechanism: errors} or {mechanism: {dataset: error}}."


def errors(
    results: Mapping[str, Any],
    path: str | PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    label: str = "error",
) -> "Figure":
    """The error of each mechanism on a logarithmic scale, the best on top: a mark per dataset, a bar at their mean.

    The mean is the geometric one, so that the best is the same in whatever unit an error is told.

    >>> figure = errors({"dawa": {"adult": 20, "trace": 30}, "identity": {"adult": 90, "trace": 80}}, baseline="dawa")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['dawa', 'identity']

    Args:
        results: By mechanism, its errors: one, several, or by dataset one or several, of which the geometric mean is
            drawn. A data frame will do that has a column per mechanism and a row per dataset.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).
        baseline: A mechanism whose error on the same dataset all errors are divided by.
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
    """A logarithmic scale, with numbers as people write them: more of them where it spans less."""
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
        artist.set_label(name if not name.startswith("_") else f" {name}")  # Matplotlib hides names with a bar in front


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
