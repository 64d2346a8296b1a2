"""The picture of a release of groups: a small histogram or map of each, or a row of bars along each of its axes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from dawa.axis.groups import combinations
from dawa.errors import OptionError, printable
from dawa.host import atomic
from dawa.limits import MOST_GROUPS_DRAWN, MOST_PIXELS, MOST_ROWS_WRITTEN, MOST_STEPS_DRAWN
from dawa.plots import areas, drawing, marginals, names, picture, scales
from dawa.results.grouped import GroupedRelease
from dawa.results.overview import of_groups
from dawa.results.release import Release

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TILE = 1.75
"""How wide a small picture is at least, in inches."""

ALIKE = 6
"""Up to this ratio of the highest of all pictures to the lowest they have one scale, so that groups compare."""

BARS = 24
"""Bars along each axis of a row."""

LETTERS = 15
"""How many characters of a name fit an inch above a small picture."""

ROOM, MAP_ROOM = 0.85, 0.72
"""How much of its tile lies above a small picture: the rest is numbers and names beside it, and the colours' scale."""


def figure(
    release: GroupedRelease,
    path: str | PathLike[str] | None = None,
    *,
    width: float = drawing.PAGE,
    footed: bool = True,
) -> "Figure":
    """A small picture for each group, as many as fit; a line says how many more there are.

    Along one axis they have one scale upwards if no group is much smaller than the others, and a scale of their own
    otherwise, which the title says. Maps always share their colours. Over three and four axes a group is a row, with
    its records along each axis, whatever the others.

    >>> import dawa
    >>> table = {"sex": ["f", "m", "m"] * 2000, "age": [31, 45, 62] * 2000}
    >>> rel = dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="sex", groups=["f", "m"], seed=0)
    >>> [chart.get_title(loc="left").split(":")[0] for chart in figure(rel).axes]
    ['f', 'm']

    Args:
        release: What to draw.
        path: Where to save the figure too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).
        width: In inches.
        footed: Whether there are lines below the pictures.

    Raises:
        OptionError: If the release is over several axes and too many cells, or the path has no known ending.
    """
    if not drawable(release):
        raise OptionError("A release of so many cells has no picture.", "ask it for ranges: rel.answers(lo, hi).")
    many = len(release.axes)
    shown = list(release.values())[: _most(many)]
    more = len(release) - len(shown)
    sentences = [*([f"And {more:,} more group{'s' * (more != 1)}."] if more else []), *beside(release)]
    lines = drawing.wrapped(sentences if footed else sentences[: bool(more)], width)
    across = many if many > 2 else min(max(int(width / TILE), 1), len(shown))
    down = len(shown) if many > 2 else -(-len(shown) // across)
    below = drawing.height_of(lines) + 0.15 * (1 + bool(picture.title_of(release)))
    with drawing.styled():
        sheet = drawing.sheet(width, down * _tall(release, width / across) + 0.55 + below + _deep(release, width))
        charts = sheet.subplots(down, across, sharex="col" if many > 2 else True, squeeze=False)
        one = (_histograms, _maps)[many - 1] if many < 3 else _rows
        alike = one(release, shown, list(charts.ravel()), width / across)
        _bare(list(charts.ravel()), across, len(shown) if many < 3 else charts.size, every=many != 2)
        _titled(sheet, release, one=alike)
        drawing.footed(sheet, lines)
    return drawing.saved(sheet, path)


def drawable(release: GroupedRelease) -> bool:
    """Whether pictures can show the groups, at little cost."""
    many = len(release.axes)
    cells = math.prod(axis.size for axis in release.axes)
    return many == 1 or min(len(release), _most(many)) * cells <= 4 * MOST_ROWS_WRITTEN


def _most(many: int) -> int:
    """How many groups are drawn over so many axes: fewer if each has a row of its own."""
    return MOST_GROUPS_DRAWN if many < 3 else MOST_GROUPS_DRAWN // 2


def _tall(release: GroupedRelease, width: float) -> float:
    """How tall a small picture of this width is, with what stands above it."""
    if len(release.axes) == 2:
        return max(1.5, 0.9 * picture.tall(release, width))
    return 1.15 if len(release.axes) == 1 else 0.9


def _deep(release: GroupedRelease, width: float) -> float:
    """How much more room names below rows of bars need."""
    axes = release.axes
    return 0.15 + max(scales.standing(axis, width / len(axes)) for axis in axes) if len(axes) > 2 else 0.0


def _bare(charts: Sequence[Any], across: int, shown: int, *, every: bool) -> None:
    """Write numbers and names below the lowest pictures alone, and beside every one or the first of each row."""
    for at, chart in enumerate(charts):
        chart.set_visible(at < shown)
        lowest = at + across >= shown
        chart.tick_params(labelbottom=lowest, labelleft=every or at % across == 0, labelsize=6)
        chart.set_xlabel(chart.get_xlabel() if lowest else "", parse_math=False)


def draw(release: GroupedRelease, path: str | PathLike[str]) -> None:
    """Write the picture that goes with a release, as wide as a page, as a new file."""
    atomic.write(path, drawing.as_svg(figure(release)), new=True)


def page(release: GroupedRelease) -> str:
    """What a notebook shows: pictures, what they cannot show, a line, and the privacy statement."""
    by = f" by {' and '.join(drawing.text(grouping.column) for grouping in release.by)}"

    def drawn() -> str:
        return picture.element(figure(release, footed=False), release, by) if drawable(release) else ""

    return picture.shown_in_notebooks(release, drawn, beside(release))


def beside(release: GroupedRelease) -> list[str]:
    """What pictures cannot show, in sentences: edges, records in no group, and how many records of a unit count."""
    short = replace(release, axes=picture.shortened(release))
    return picture.sentences_of(short, of_groups(short))


def _histograms(release: GroupedRelease, shown: Sequence[Release], charts: Sequence[Any], width: float) -> bool:
    """Draw histograms, and say whether they have one scale upwards."""
    found = [picture.steps(rel, MOST_STEPS_DRAWN // 4) for rel in shown]
    tops = [max(float(one.density.max()), one.noise) for one in found]
    one_scale = max(tops) <= ALIKE * min(tops)
    every, noise = np.concatenate([one.density for one in found]), float(np.mean([one.noise for one in found]))
    for one, chart in zip(found, charts, strict=False):
        (picture.barred if release.axes[0].kind == "ordered" else picture.traced)(chart, one)
        if release.axes[0].kind in {"ordered", "edges"}:
            drawing.flat(chart)
        else:
            drawing.stretch(chart, every if one_scale else one.density, noise if one_scale else one.noise)
        if one_scale:
            chart.set_ylim(top=1.08 * max(tops))
        scales.label(release.axes[0], chart.xaxis, width)
    _named(charts, release, shown, ROOM * width)
    return one_scale


def _rows(release: GroupedRelease, shown: Sequence[Release], charts: Sequence[Any], width: float) -> bool:
    """Draw a row of bars for each group, and say whether they have one scale upwards along every axis."""
    many = len(release.axes)
    found = [[marginals.of(rel, at, BARS) for at in range(many)] for rel in shown]
    tops = np.array([[max(bars.top, 1e-9) for bars in row] for row in found])
    one_scale = bool((tops.max(axis=0) <= ALIKE * tops.min(axis=0)).all())
    longest = round(0.7 * scales.LETTERS * width)
    for place, chart in enumerate(charts):
        group, at = divmod(place, many)
        axis = release.axes[at]
        marginals.drawn(chart, found[group][at], float(tops[:, at].max() if one_scale else tops[group, at]))
        scales.label(axis, chart.xaxis, width, upright=True, longest=longest, even=areas.flat(axis))
        chart.set_xlabel(f"{chart.get_xlabel()}\n{scales.unit_along(release, axis)}", parse_math=False, fontsize=7)
    _named(charts[::many], release, shown, many * width)
    return one_scale


def _maps(release: GroupedRelease, shown: Sequence[Release], charts: Sequence[Any], width: float) -> bool:
    """Draw maps in one scale of colours."""
    pixels = MOST_PIXELS // 4
    cells = [areas.image(release.axes, rel.estimate.cells, pixels) for rel in shown]
    scale = drawing.magnitudes(max(1.0, *(float(one.max()) for one in cells)), least=0.0)
    across, up = release.axes
    for at, (rel, one, chart) in enumerate(zip(shown, cells, charts, strict=False)):
        image = picture.painted(rel, one, chart, scale)
        scales.label(across, chart.xaxis, 0.75 * width, even=areas.flat(across))
        longest = round(0.5 * scales.LETTERS * width)
        scales.label(up, chart.yaxis, drawing.PAGE, lines=1.0, longest=longest, even=areas.flat(up))
        chart.set_ylabel(chart.get_ylabel() if at == 0 else "", parse_math=False)
    _named(charts, release, shown, MAP_ROOM * width)
    counted = scales.unit_in(release, _tall(release, width) * len(charts) * width / drawing.PAGE)
    bar = charts[0].figure.colorbar(image, ax=list(charts), label=counted, aspect=40, fraction=0.03)
    bar.ax.tick_params(labelsize=6)
    return True


def _named(charts: Sequence[Any], release: GroupedRelease, shown: Sequence[Release], width: float) -> None:
    """Write each group and its number of records above its picture."""
    totals = [f": {rel.total.value:,.0f}" for rel in shown]
    groups = [printable(", ".join(map(str, group))) for group in combinations(release.by)[: len(shown)]]
    rooms = [round(LETTERS * width) - len(total) for total in totals]
    for chart, name, total in zip(charts, names.shortened(groups, rooms), totals, strict=False):
        drawing.titled(chart, names.isolated(name) + total)


def _titled(sheet: "Figure", release: GroupedRelease, *, one: bool) -> None:
    """What the release is called, what was spent, and how to read heights."""
    privacy, many = release.privacy, len(release)
    loud = "" if privacy.private else "NOT PRIVATE, "
    by = " and ".join(drawing.text(grouping.column) for grouping in release.by)
    scale = "" if one else ", each with a scale of its own"
    above = f"each group's total above its {'row' if len(release.axes) > 2 else 'map'}"
    what = scales.unit(release) if len(release.axes) == 1 else above
    line = f"{loud}ε = {float(privacy.epsilon):.4g}, {many:,} group{'s' * (many != 1)} by {by}; {what}{scale}"
    title = picture.title_of(release)
    text = f"{drawing.text(title)}\n{line}" if title else line
    sheet.suptitle(text, x=0.01, ha="left").set_parse_math(False)
