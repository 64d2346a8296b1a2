"""Along the axes of pictures: where cells lie, what heights count, and labels that fit."""

import math
import textwrap
import warnings
from datetime import datetime
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import FloatArray
from dawa.axis import AddressAxis, Axis, EdgeAxis
from dawa.axis.dates import DateAxis
from dawa.axis.written import readable, series, written, years
from dawa.budget import shown
from dawa.plots import areas, drawing, names
from dawa.results.about import called
from dawa.results.grouped import AnyRelease

NEW_YEAR, PARTS = "0001-01-01 00:00:00.000000", (4, 7, 10, 16, 19, 26)
"""A time that needs no more than its year, and after how many characters a written time may end."""

TICKS, LETTERS = 6, 13
"""The most labels along an axis, and how many characters fit an inch."""

UPRIGHT = 0.11
"""How many inches an upright label needs, from one to the next."""


def unit(release: AnyRelease) -> str:
    """What the height or the colour counts."""
    axes, records = release.axes, called(release.about)
    if len(axes) == 1:
        return f"{records} per {each(axes[0])}"
    if len(axes) > 2 or not any(areas.to_scale(axis) for axis in axes):
        return f"{records} per cell"
    sides = [each(axis, even=not areas.to_scale(axis)) for axis in axes]
    named = [
        f"cell of {names.isolated(drawing.text(axis.column))}" if side == "cell" else side
        for axis, side in zip(axes, sides, strict=True)
    ]
    return f"{records} per {series(named)}"


def unit_in(release: AnyRelease, inches: float) -> str:
    """What the colour counts, in lines that fit beside colours of this height."""
    return textwrap.fill(unit(release), max(round(LETTERS * inches), LETTERS))


def unit_along(release: AnyRelease, axis: Axis) -> str:
    """What the height counts along one of several axes."""
    return f"{called(release.about)} per {each(axis, even=areas.flat(axis))}"


def each(axis: Axis, *, even: bool = False) -> str:
    """What one cell is called, or what heights are counted by if cells are uneven and not drawn equally wide."""
    if isinstance(axis, EdgeAxis) and even:
        return "cell"
    if isinstance(axis, EdgeAxis):
        return f"{readable(axis, _plain(areas.unit_of(axis)))} of {names.isolated(drawing.text(axis.column))}"
    if axis.kind == "ordered":
        return "category"
    if isinstance(axis, AddressAxis):
        return "address" if axis.whole else f"network of {axis.prefix} bits"
    if isinstance(axis, DateAxis):
        return axis.step.removeprefix("1 ")
    step: Fraction = getattr(axis, "step", Fraction(1))
    return "cell" if step == 1 else f"step of {readable(axis, _plain(step))}"


def _plain(value: Fraction) -> int | str:
    return int(value) if value.denominator == 1 else shown(value)


def width(axis: Axis, borders: ArrayLike, *, even: bool = False) -> FloatArray:
    """From border to border, what heights are counted by: cells, or for uneven cells how much of the column."""
    places = axis.value(borders) / float(areas.unit_of(axis)) if isinstance(axis, EdgeAxis) and not even else borders
    return np.diff(np.asarray(places, np.float64))


def placed(axis: Axis, borders: ArrayLike, *, even: bool = False) -> FloatArray:
    """Where cell borders go: numbers and edges at their values, all others cell by cell."""
    valued = axis.kind in {"numbers", "edges"} and not even
    return axis.value(borders) if valued else np.asarray(borders, np.float64)


def label(
    axis: Axis,
    side: Any,  # noqa: ANN401  Matplotlib's
    width: float,
    *,
    upright: bool = False,
    lines: float | None = None,
    longest: int | None = None,
    even: bool = False,
) -> None:
    """Name an axis of a chart, and its cells if they are not numbers; the texts fit this many inches.

    Args:
        axis: What is named.
        side: The side of the chart.
        width: How much room there is.
        upright: Whether categories that do not fit may stand upright below their bars.
        lines: How many inches there are for categories one above the other, if the side goes up.
        longest: How many characters such a category, or an upright one, may have, so that charts keep their room.
        even: Whether cells between edges are drawn equally wide.
    """
    side.set_label_text(drawing.text(axis.column), parse_math=False)
    if axis.kind == "numbers":
        _number(axis, side, width)
        return
    if axis.kind == "edges":
        at, texts = _edges(axis, width, placed(axis, np.arange(axis.size + 1), even=even))
    elif axis.kind == "ordered" and lines is not None:
        gap = max(1, math.ceil(axis.size * UPRIGHT / lines))
        at, texts = np.arange(0, axis.size, gap).astype(np.float64) + 0.5, _cut(_labels(axis)[::gap], longest)
    elif upright and standing(axis, width):
        gap = max(1, math.ceil(axis.size * UPRIGHT / (0.8 * width)))
        at, texts = np.arange(0, axis.size, gap).astype(np.float64) + 0.5, _cut(_labels(axis)[::gap], longest)
        side.set_tick_params(rotation=90)
    else:
        for ticks in range(axis.size + 1 if axis.kind == "ordered" else TICKS, 0, -1):
            at, texts = _moments(axis, ticks) if isinstance(axis, DateAxis) else _cells(axis, min(ticks, axis.size + 1))
            if sum(map(len, texts)) + 2 * len(texts) <= LETTERS * width:
                break
    side.set_ticks(at, texts, parse_math=False)


def standing(axis: Axis, width: float) -> float:
    """How many inches of height upright labels need; 0 if all categories can be named side by side, or are none."""
    if axis.kind != "ordered":
        return 0.0
    labels = _labels(axis)
    room = LETTERS * width / len(labels)
    return 0.0 if max(map(len, labels)) + 2 <= room else max(map(len, labels)) / LETTERS + 0.05


def _labels(axis: Axis) -> list[str]:
    return [drawing.text(value) for value in written(axis, np.arange(axis.size), np.arange(axis.size) + 1)[0]]


def _cut(texts: list[str], longest: int | None) -> list[str]:
    """Texts that are not longer than this."""
    return [text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…" for text in texts]


def _edges(axis: Axis, width: float, places: FloatArray) -> tuple[FloatArray, list[str]]:
    """Edges at their places, from the left, where there is room for their texts."""
    texts = [readable(axis, value) for value in written(axis, np.arange(axis.size + 1), np.arange(axis.size + 1))[0]]
    letters = (places - places[0]) / (places[-1] - places[0]) * LETTERS * 0.85 * width
    kept, free = [], -math.inf
    for at, text in enumerate(texts):
        if letters[at] - len(text) / 2 >= free:
            kept.append(at)
            free = letters[at] + len(text) / 2 + 1
    return places[kept], [texts[at] for at in kept]


def _number(axis: Axis, side: Any, width: float) -> None:  # noqa: ANN401  Matplotlib's
    """Round numbers, as many as there is room for."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  slow to load

    form = "{x:.10g}" if years(axis) else "{x:,.10g}"
    for parts in range(max(2, round(1.4 * width)), 0, -1):
        locator = MaxNLocator(nbins=parts, steps=[1, 2, 2.5, 5, 10])
        texts = [form.format(x=tick) for tick in locator.tick_values(*placed(axis, [0, axis.size]))]
        if sum(map(len, texts)) + 2 * len(texts) <= LETTERS * width:
            break
    side.set_major_locator(locator)
    side.set_major_formatter(form)


def _cells(axis: Axis, ticks: int) -> tuple[FloatArray, list[str]]:
    """Labels spread evenly: a category stands in the middle of its cell."""
    inside = axis.kind == "ordered"
    at = np.unique(np.linspace(0, axis.size - inside, ticks).astype(np.int64))
    if axis.kind == "addresses":  # where networks begin
        at = np.arange(0, axis.size + 1, 1 << max((axis.size - 1) // ticks, 0).bit_length())
    texts = [drawing.text(value) for value in written(axis, at, at + 1)[0]]
    return at.astype(np.float64) + 0.5 * inside, texts


def _moments(axis: DateAxis, ticks: int) -> tuple[FloatArray, list[str]]:
    """Round times, at most this many, written as short as possible."""
    start, stop = axis.start.replace(tzinfo=None), axis.stop.replace(tzinfo=None)
    moments = [moment for moment in _round_times(start, stop, ticks) if start <= moment <= stop] or [start]
    texts = [moment.isoformat(" ", "microseconds") for moment in moments]
    length = next(part for part in PARTS if all(text[part:] == NEW_YEAR[part:] for text in texts))
    return np.array([float(axis.border(moment)) for moment in moments]), [text[:length] for text in texts]


def _round_times(start: datetime, stop: datetime, most: int) -> list[datetime]:
    """Times that people would choose between two others."""
    from matplotlib import dates  # noqa: PLC0415  slow to load

    untyped: Any = dates
    locator = untyped.AutoDateLocator(minticks=2, maxticks=max(most, 2))
    with warnings.catch_warnings(action="ignore"):  # if no interval fits, it gives too many times
        times = [untyped.num2date(tick).replace(tzinfo=None) for tick in locator.tick_values(start, stop)]
    return times[:: max(1, -(-len(times) // most))]
