"""The picture of a release: a histogram with its uncertainty along one axis, a map over two. No truth is needed."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dawa.arrays import FloatArray, IntArray
from dawa.axis import AddressAxis, Axis
from dawa.axis.apart import touching
from dawa.axis.dates import DateAxis
from dawa.axis.written import written
from dawa.budget import shown
from dawa.errors import OptionError, printable
from dawa.host import atomic
from dawa.limits import MOST_ROWS_WRITTEN, MOST_STEPS_DRAWN
from dawa.plots import drawing
from dawa.results.answers import factor_of, uncut
from dawa.results.grouped import AnyRelease
from dawa.results.overview import Overview, overview
from dawa.results.release import Release

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NEW_YEAR, PARTS = "0001-01-01 00:00:00.000000", (4, 7, 10, 16, 19, 26)
"""A time that needs no more than its year, and after how many characters a written time may end."""

TICKS, LETTERS = 6, 13
"""The most labels along an axis, and how many characters fit an inch."""

CONFIDENCE = 0.95


def figure(
    release: Release, path: str | PathLike[str] | None = None, *, width: float = drawing.COLUMN, footed: bool = True
) -> "Figure":
    """Records per cell of a release along one axis, with the margin of their noise; or a map over two.

    Triangles mark the ends of axes whose cells hold values from beyond. Lines below the picture say which, how many
    records are in no range, and how many of a unit were counted.

    >>> import dawa
    >>> from dawa.cli.demo import people
    >>> rel = dawa.release(people(5000), dawa.Axis("age", 0, 100), epsilon=1, seed=0)
    >>> figure(rel).axes[0].get_xlabel()
    'age'

    Args:
        release: What to draw.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).
        width: In inches; 3.5 is one column of a paper, 7 are both.
        footed: Whether there are lines below the picture.

    Raises:
        OptionError: If the release is over more than two axes or too many cells, or the path has no known ending.
    """
    if len(release.axes) > 2:
        raise OptionError(
            f"A release over {len(release.axes)} axes has no picture.", "ask it for ranges: rel.answers(lo, hi)."
        )
    lines = drawing.wrapped(beside(release), width) if footed else []
    below = drawing.height_of(lines) + (0.15 if title_of(release) else 0)
    with drawing.styled():
        if len(release.axes) == 1:
            sheet = drawing.sheet(width, 0.3 * width + 1.2 + below)
            chart = sheet.subplots()
            _histogram(release, chart, width)
        else:
            cells = drawing.coarse(release.estimate.cells)
            sheet = drawing.sheet(width, 0.6 * width + 0.7 + below)
            chart = sheet.subplots()
            sheet.colorbar(_map(release, cells, chart, width), ax=chart, label=unit(release))
            drawing.titled(chart, _summary(release))
        for axis, (first, last) in zip(release.axes, (((0, 0), (1, 0)), ((0, 0), (0, 1))), strict=False):
            if axis.outside == "clip":
                drawing.beyond(chart, first, last)
        drawing.footed(sheet, lines)
    return drawing.saved(sheet, path)


def beside(release: Release) -> list[str]:
    """What a picture cannot show, in sentences: edges, records in no range, and how many records of a unit count."""
    found = overview(replace(release, axes=shortened(release)))
    return sentences_of(release, found)


def shortened(release: AnyRelease) -> Any:  # noqa: ANN401  axes of any kind
    """The axes with names that are not too long to be drawn."""
    return tuple(replace(axis, column=drawing.text(axis.column)) for axis in release.axes)  # type: ignore[type-var]


def sentences_of(release: AnyRelease, found: Overview) -> list[str]:
    """What a picture cannot show, given how many records there are."""
    axes, kept = shortened(release), release.privacy.kept
    held = touching(axes, [(True, True)] * len(axes))
    sentences = [f"Edges: {held}." if held else "", found.said(), found.warning, f"Numbers {kept}." if kept else ""]
    return [printable(sentence) for sentence in sentences if sentence]


def drawable(release: Release) -> bool:
    """Whether a picture can show the release, at little cost."""
    return len(release.axes) == 1 or (len(release.axes) == 2 and release.estimate.size <= MOST_ROWS_WRITTEN)


def draw(release: Release, path: str | PathLike[str]) -> None:
    """Write the picture that goes with a release, as wide as a page, as a new file."""
    atomic.write(path, drawing.as_svg(figure(release, width=drawing.PAGE)), new=True)


def inline(release: Release) -> str:
    """The picture as an SVG element for a page."""
    return element(figure(release, width=drawing.PAGE, footed=False), release)


def element(drawn: "Figure", release: AnyRelease, by: str = "") -> str:
    """A figure as an SVG element for a page: no names that may clash, no styles that reach beyond it."""
    text = drawing.as_svg(drawn)
    body = text[text.index("<defs") :]
    begin, end = body.index("<style"), body.index("</style>") + len("</style>")
    box = text[text.index('viewBox="') :].split('"')[1]
    along = " and ".join(drawing.text(axis.column) for axis in release.axes)
    label = escape(f"{title}: released" if (title := drawing.text(title_of(release))) else "Released")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" role="img"'
        f' aria-label="{label} records along {escape(along + by)}" stroke-linejoin="round" stroke-linecap="butt"'
        f' style="max-width: 45em; width: 100%; height: auto; background: white">{body[:begin]}{body[end:]}'
    )


def page(release: Release) -> str:
    """What a notebook shows of a release: a picture, what it cannot show, a line, and the privacy statement."""
    return shown_in_notebooks(release, inline(release) if drawable(release) else "", beside(release))


def shown_in_notebooks(release: AnyRelease, drawn: str, sentences: Sequence[str]) -> str:
    """A title, a picture, what it cannot show, a line, and the privacy statement."""
    line, statement = escape(repr(release)), escape(str(release.privacy))
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    title = f"<p><strong>{escape(title_of(release))}</strong></p>" if title_of(release) else ""
    return f"<div>{title}{drawn}{said}<p><code>{line}</code></p><p><small>{statement}</small></p></div>"


class Steps(NamedTuple):
    """What is drawn along one axis: records per cell from border to border, and the margin of their noise."""

    borders: FloatArray
    density: FloatArray
    margin: FloatArray

    @property
    def noise(self) -> float:
        """How many records per cell noise alone can make, on average along the axis."""
        return float(np.average(self.margin, weights=np.diff(self.borders)))


def steps(release: Release, most: int = MOST_STEPS_DRAWN) -> Steps:
    """Records per cell in every bucket, or in runs of buckets that are drawn as one if there are more than ``most``."""
    estimate = release.estimate
    groups = _groups(estimate.buckets.bounds, most)
    bounds = estimate.buckets.bounds[groups]
    widths, borders = np.diff(bounds), placed(release.axis, bounds)
    density = np.add.reduceat(estimate.totals, groups[:-1]) / widths
    variances = estimate.range_variances(groups[:-1].astype(np.float64), groups[1:].astype(np.float64))
    factor = factor_of(estimate, uncut(estimate, 1 - CONFIDENCE))
    return Steps(borders, density, factor * np.sqrt(np.maximum(variances, 0)) / widths)


def traced(chart: Any, found: Steps) -> None:  # noqa: ANN401  Matplotlib's
    """The line of the release over the band of its noise."""
    borders, density, margin = found
    low = np.maximum(density - margin, 0)
    chart.stairs(
        density + margin, borders, baseline=low, fill=True, color=drawing.BAND, linewidth=0, label="noise, 95%"
    )
    chart.stairs(density, borders, baseline=None, color=drawing.LINE, label="release")


def _histogram(release: Release, chart: Any, width: float) -> None:  # noqa: ANN401  Matplotlib's
    """Records per cell in every bucket, with the margin of their noise."""
    found = steps(release)
    traced(chart, found)
    drawing.stretch(chart, found.density, found.noise)
    chart.set_ylabel(unit(release))
    drawing.keyed(chart, _summary(release))
    label(release.axis, chart.xaxis, width)


def _groups(bounds: IntArray, most: int) -> IntArray:
    """Where runs of buckets that are drawn as one begin, and the end; wide buckets are drawn alone."""
    if len(bounds) <= most:
        return np.arange(len(bounds))
    place = (bounds[:-1].astype(np.float64) * (most / float(bounds[-1]))).astype(np.int64)
    begin = np.concatenate(([0], np.flatnonzero(np.diff(place)) + 1))
    return np.append(begin, len(bounds) - 1)


def painted(release: Release, cells: FloatArray, chart: Any, scale: Any) -> Any:  # noqa: ANN401  Matplotlib's
    """Records per cell in colours, the first axis to the right."""
    across, up = release.axes
    corners = (*placed(across, [0, across.size]), *placed(up, [0, up.size]))
    found = np.maximum(cells.T, 0)
    return chart.imshow(
        found, origin="lower", extent=corners, aspect="auto", interpolation="nearest", cmap="viridis", norm=scale
    )


def _map(release: Release, cells: FloatArray, chart: Any, width: float) -> Any:  # noqa: ANN401  Matplotlib's
    """The colours with both axes named."""
    across, up = release.axes
    image = painted(release, cells, chart, drawing.magnitudes(max(float(cells.max()), 1.0), least=0.0))
    label(across, chart.xaxis, 0.75 * width)
    label(up, chart.yaxis, drawing.PAGE)
    return image


def _summary(release: Release) -> str:
    """What the release is called and what was spent, in a few words."""
    privacy = release.privacy
    loud = "" if privacy.private else "NOT PRIVATE, "
    many = len(release.estimate.buckets)
    title = f"{drawing.text(title)}\n" if (title := title_of(release)) else ""
    return f"{title}{loud}ε = {float(privacy.epsilon):.4g}, {many:,} bucket{'s' * (many != 1)}"


def title_of(release: AnyRelease) -> str:
    """What the custodian calls the release; empty if nobody said."""
    return (release.about is not None and release.about.title) or ""


def unit(release: AnyRelease) -> str:
    """What the height or the colour counts."""
    axis = release.axes[0]
    if len(release.axes) > 1 or axis.kind == "edges":
        return "records per cell"
    if axis.kind == "ordered":
        return "records per category"
    if isinstance(axis, AddressAxis):
        return "records per address" if axis.whole else f"records per network of {axis.prefix} bits"
    if isinstance(axis, DateAxis):
        return f"records per {axis.step.removeprefix('1 ')}"
    step: Fraction = getattr(axis, "step", Fraction(1))
    return "records per unit" if step == 1 else f"records per {shown(step)}"


def placed(axis: Axis, borders: ArrayLike) -> FloatArray:
    """Where cell borders go: numbers at their values, all others cell by cell."""
    return axis.value(borders) if axis.kind == "numbers" else np.asarray(borders, np.float64)


def label(axis: Axis, side: Any, width: float) -> None:  # noqa: ANN401  Matplotlib's
    """Name an axis of a chart, and its cells if they are not numbers; the texts fit this many inches."""
    side.set_label_text(drawing.text(axis.column), parse_math=False)
    if axis.kind == "numbers":
        _number(axis, side, width)
        return
    for ticks in range(min(TICKS, axis.size + 1), 0, -1):
        at, texts = _moments(axis, ticks) if isinstance(axis, DateAxis) else _cells(axis, ticks)
        if sum(map(len, texts)) + 2 * len(texts) <= LETTERS * width:
            break
    side.set_ticks(at, texts, parse_math=False)


def _number(axis: Axis, side: Any, width: float) -> None:  # noqa: ANN401  Matplotlib's
    """Round numbers, as many as there is room for."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  slow to load

    form = "{x:,.10g}"
    for parts in range(max(2, round(1.4 * width)), 0, -1):
        locator = MaxNLocator(nbins=parts, steps=[1, 2, 2.5, 5, 10])
        texts = [form.format(x=tick) for tick in locator.tick_values(*placed(axis, [0, axis.size]))]
        if sum(map(len, texts)) + 2 * len(texts) <= LETTERS * width:
            break
    side.set_major_locator(locator)
    side.set_major_formatter(form)


def _cells(axis: Axis, ticks: int) -> tuple[FloatArray, list[str]]:
    """Labels spread evenly: a category stands in the middle of its cell, an edge at its place."""
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
