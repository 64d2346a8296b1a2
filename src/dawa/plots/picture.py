"""The picture of a release: a histogram with its uncertainty along one axis, a map over two, or maps of all pairs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.axis.apart import touching
from dawa.axis.written import series
from dawa.errors import InstallationError, OptionError, printable
from dawa.host import atomic
from dawa.limits import MOST_PIXELS, MOST_ROWS_WRITTEN, MOST_STEPS_DRAWN
from dawa.plots import areas, corner, drawing, geography, scales
from dawa.plots.scales import label, placed, unit, unit_in
from dawa.results.answers import factor_of, uncut
from dawa.results.grouped import AnyRelease
from dawa.results.overview import Overview, overview
from dawa.results.release import Release

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CONFIDENCE = 0.95


def figure(
    release: Release, path: str | PathLike[str] | None = None, *, width: float = drawing.COLUMN, footed: bool = True
) -> "Figure":
    """Records per cell along one axis, with the margin of their noise; a map over two; over more, a map of each pair.

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
        OptionError: If the release is over several axes and has too many cells, or the path has no known ending.
    """
    if len(release.axes) > 2 and not drawable(release):
        raise OptionError("A release of so many cells has no picture.", "ask it for ranges: rel.answers(lo, hi).")
    lines = drawing.wrapped(beside(release), width) if footed else []
    below = drawing.height_of(lines) + (0.15 if title_of(release) else 0)
    with drawing.styled():
        if len(release.axes) == 1:
            sheet = drawing.sheet(width, 0.3 * width + 1.2 + below + scales.standing(release.axis, width))
            chart = sheet.subplots()
            _histogram(release, chart, width)
        elif len(release.axes) > 2:
            sheet = corner.figure(release, width, below)
            sheet.suptitle(_summary(release), x=0.01, ha="left").set_parse_math(False)
        else:
            cells = areas.image(release.axes, release.estimate.cells, MOST_PIXELS)
            sheet = drawing.sheet(width, tall(release, width) + 0.7 + below)
            chart = sheet.subplots()
            sheet.colorbar(_map(release, cells, chart, width), ax=chart, label=unit_in(release, tall(release, width)))
            drawing.titled(chart, _summary(release))
        sides = (((0, 0), (1, 0)), ((0, 0), (0, 1)))
        for axis, (first, last) in zip(release.axes, sides, strict=False) if len(release.axes) < 3 else ():
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
    drawn = areas.said(axes) if len(axes) > 1 else ""
    sentences = [
        drawn,
        f"Edges: {held}." if held else "",
        found.said(),
        found.warning,
        f"Numbers {kept}." if kept else "",
    ]
    return [printable(sentence) for sentence in sentences if sentence]


def drawable(release: Release) -> bool:
    """Whether a picture can show the release, at little cost."""
    return len(release.axes) == 1 or release.estimate.size <= MOST_ROWS_WRITTEN


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
    along = series([drawing.text(axis.column) for axis in release.axes])
    label = escape(f"{title}: released" if (title := drawing.text(title_of(release))) else "Released")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" role="img"'
        f' aria-label="{label} records along {escape(along + by)}" stroke-linejoin="round" stroke-linecap="butt"'
        f' style="max-width: 45em; width: 100%; height: auto">{body[:begin]}{body[end:]}'
    )


def page(release: Release) -> str:
    """What a notebook shows of a release: a picture, what it cannot show, a line, and the privacy statement."""
    return shown_in_notebooks(release, lambda: inline(release) if drawable(release) else "", beside(release))


def shown_in_notebooks(release: AnyRelease, drawn: Callable[[], str], sentences: Sequence[str]) -> str:
    """A title, a picture, what it cannot show, a line, and the privacy statement; or what a picture needs."""
    try:
        image = drawn()
    except InstallationError as error:
        image, sentences = "", [*sentences, f"{error.problem} {error.hint}"]
    line, statement = escape(repr(release)), escape(str(release.privacy))
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    title = f"<p><strong>{escape(title_of(release))}</strong></p>" if title_of(release) else ""
    return f"<div>{title}{image}{said}<p><code>{line}</code></p><p><small>{statement}</small></p></div>"


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
    """Records per cell in every bucket, or in runs of buckets that are drawn as one if there are more than ``most``.

    Categories and cells between edges are drawn one by one.
    """
    estimate, axis = release.estimate, release.axis
    one_by_one = axis.kind in {"ordered", "edges"}
    groups = _groups(estimate.buckets.bounds, axis.size + 1 if one_by_one else most)
    bounds = estimate.buckets.bounds[groups]
    cells = np.diff(bounds)
    variances = estimate.range_variances(groups[:-1].astype(np.float64), groups[1:].astype(np.float64))
    factor = factor_of(estimate, uncut(estimate, 1 - CONFIDENCE))
    margin = factor * np.sqrt(np.maximum(variances, 0)) / cells
    if not one_by_one:
        return Steps(placed(axis, bounds), np.add.reduceat(estimate.totals, groups[:-1]) / cells, margin)
    every = np.arange(axis.size + 1)
    widths = scales.width(axis, every)
    return Steps(placed(axis, every), estimate.cells / widths, np.repeat(margin, cells) / widths)


def traced(chart: Any, found: Steps) -> None:  # noqa: ANN401  Matplotlib's
    """The line of the release over the band of its noise."""
    borders, density, margin = found
    low = np.maximum(density - margin, 0)
    chart.stairs(
        density + margin, borders, baseline=low, fill=True, color=drawing.BAND, linewidth=0, label="noise, 95%"
    )
    chart.stairs(density, borders, baseline=None, color=drawing.LINE, label="release")


def barred(chart: Any, found: Steps) -> None:  # noqa: ANN401  Matplotlib's
    """A bar for each category, with a line for its noise."""
    middle, density, margin = found.borders[:-1] + 0.5, found.density, found.margin
    chart.bar(middle, density, 0.8, color=drawing.BAND, edgecolor=drawing.LINE, linewidth=0.8, label="release")
    low = np.maximum(density - margin, 0)
    chart.vlines(middle, low, density + margin, color=drawing.LINE, linewidth=0.8, label="noise, 95%")
    chart.set_xlim(0, len(middle))


def _histogram(release: Release, chart: Any, width: float) -> None:  # noqa: ANN401  Matplotlib's
    """Records per cell in every bucket, with the margin of their noise."""
    found = steps(release)
    if release.axis.kind == "ordered":
        barred(chart, found)
    else:
        if release.axis.kind == "edges":
            chart.stairs(found.density, found.borders, fill=True, color=drawing.BAND, alpha=0.5)
        traced(chart, found)
    if release.axis.kind in {"ordered", "edges"}:
        drawing.flat(chart)
    else:
        drawing.stretch(chart, found.density, found.noise)
    chart.set_ylabel(unit(release))
    drawing.keyed(chart, _summary(release))
    label(release.axis, chart.xaxis, width, upright=True)


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
    ends = (placed(axis, [0, axis.size], even=areas.flat(axis)) for axis in (across, up))
    corners = tuple(np.concatenate(list(ends)).tolist())
    found = np.maximum(cells.T, 0)
    shape = "auto"
    if geography.is_map(release.axes):
        shape = geography.aspect(release.axes) * (corners[1] - corners[0]) / (corners[3] - corners[2])
        for one in geography.shapes(release.axes):
            dashes = "-" if one.coast else (0, (3, 2))
            chart.plot(*one.points.T, color="white", linewidth=0.5, linestyle=dashes, scalex=False, scaley=False)
    return chart.imshow(
        found, origin="lower", extent=corners, aspect=shape, interpolation="nearest", cmap="viridis", norm=scale
    )


def tall(release: AnyRelease, width: float) -> float:
    """How tall a map of this width is, in inches: in the shape of the land, if it is one of the world."""
    shape = geography.aspect(release.axes) * 0.8 if geography.is_map(release.axes) else 0.6
    return min(max(shape, 0.2), 1.3) * width


def _map(release: Release, cells: FloatArray, chart: Any, width: float) -> Any:  # noqa: ANN401  Matplotlib's
    """The colours with both axes named."""
    across, up = release.axes
    image = painted(release, cells, chart, drawing.magnitudes(max(float(cells.max()), 1.0), least=0.0))
    label(across, chart.xaxis, 0.75 * width, even=areas.flat(across))
    label(up, chart.yaxis, drawing.PAGE, lines=0.9 * tall(release, width), even=areas.flat(up))
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
