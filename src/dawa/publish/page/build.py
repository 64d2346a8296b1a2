"""Build the page: a template, its style, its scripts and a release become one file that needs nothing else.

The page gets the release, and a few public numbers that the browser would otherwise have to compute.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from html import escape
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from dawa import progress
from dawa.axis import Axis, DateAxis
from dawa.axis.apart import clipped, named, patterns
from dawa.axis.numbers import NumberAxis
from dawa.axis.readings import UNITS, at, ticks
from dawa.axis.written import readable, series, written
from dawa.budget import shown
from dawa.errors import FolderError, OptionError, ReleaseError
from dawa.host import atomic
from dawa.limits import MOST_CELLS_IN_BROWSER
from dawa.plots import areas, geography, scales
from dawa.publish import bands, figures, isolated
from dawa.results.about import RECORDS, About, called, is_link
from dawa.results.answers import factor_of, noise_chance, uncut
from dawa.results.estimate import Estimate
from dawa.results.grouped import AnyRelease, estimates_of, inside_of
from dawa.results.insides import SAID
from dawa.results.overview import Overview, of_groups, overview
from dawa.results.quantiles import held
from dawa.results.release import Release
from dawa.results.statement import PrivacyStatement
from dawa.version import __version__

SCRIPTS = (
    "names.js",
    "numbers.js",
    "dates.js",
    "addresses.js",
    "axes.js",
    "hilbert.js",
    "buckets.js",
    "trees.js",
    "hats.js",
    "bumps.js",
    "wavelets.js",
    "stops.js",
    "insides.js",
    "answer.js",
    "together.js",
    "canvas.js",
    "rulers.js",
    "bars.js",
    "handles.js",
    "histogram.js",
    "cumulative.js",
    "heat.js",
    "coast.js",
    "map.js",
    "marginals.js",
    "panel.js",
    "comparing.js",
    "apart.js",
    "kept.js",
    "tiles.js",
    "multiples.js",
    "groups.js",
    "page.js",
)
"""Each script defines one name, and uses the names of the scripts before it."""

GENERATOR = f"dawa {__version__}"
OWN_MARK = b'<meta name="generator" content="dawa '
"""The bytes by which a page of dawa is recognised."""

STEPS = {
    "partition": "choosing where buckets begin and end",
    "measure": "counting records, with noise",
}
"""What each step of a mechanism spends its share on, in words."""


def save(release: AnyRelease, path: str | PathLike[str]) -> Path:
    """Write the page to a file.

    Raises:
        FolderError: If the file cannot be written.
    """
    return save_all([("", release)], path)


def save_all(parts: Sequence[tuple[str, AnyRelease]], path: str | PathLike[str]) -> Path:
    """Write one page about several releases, each with a name by which readers choose it.

    Raises:
        OptionError: If there is none, or two have the same name.
        FolderError: If the file cannot be written.
    """
    target, text = Path(path), html_of(parts)
    try:
        atomic.write(target, text)
    except OSError as error:
        raise FolderError(f"{target} cannot be written: {error.strerror}.", "choose another file.") from None
    return target


def html(release: AnyRelease) -> str:
    """The page as text.

    >>> import dawa
    >>> rel = dawa.release({"age": [31, 45, 45, 62]}, dawa.Axis("age", 0, 100), epsilon=1)
    >>> html(rel).startswith("<!doctype html>")
    True
    """
    return html_of([("", release)])


def html_of(parts: Sequence[tuple[str, AnyRelease]]) -> str:
    """One page about several releases, whatever their axes and groups, with a choice among them.

    Args:
        parts: Each release with the name by which readers choose it. The first is shown first.

    Raises:
        OptionError: If there is none, or two have the same name.
    """
    if not parts:
        raise OptionError("There is no release to show.", "pass at least one, with its name.")
    if len({name for name, _ in parts}) < len(parts):
        raise OptionError("Two releases on the page have the same name.", "give each a name of its own.")
    progress.reached("Building the page")
    template = _part("page.html")
    looks = [(release, named, _looked(named)) for release, named in ((one, isolated.named(one)) for _, one in parts)]
    words = [_words(named, found) for _, named, found in looks]
    values = [data(release, found) for release, _, found in looks]
    several = len(parts) > 1
    if several:
        values = [{"name": name, **one} for (name, _), one in zip(parts, values, strict=True)]
    return _filled(
        template,
        **words[0],
        generator=escape(GENERATOR),
        style=_part("page.css"),
        templates=_templates(template, words) if several else "",
        data=script({"parts": values} if several else values[0]),
        script="\n".join(_part(name) for name in SCRIPTS),
    )


def _looked(release: AnyRelease) -> Overview:
    return overview(release) if isinstance(release, Release) else of_groups(release)


def _words(release: AnyRelease, found: Overview) -> dict[str, str]:
    """What the template says of a release."""
    privacy = release.privacy
    much = " much" if found.warning else ""
    plain, records = isinstance(release, Release), escape(called(release.about))
    return {
        "kind": "A differentially private release" if privacy.private else "An experiment, not a private release",
        "title": escape(_title(release)),
        "description": _description(release.about),
        "about": _about(release.about),
        "summary": escape(_summary(release)),
        "banner": _banner(privacy) + _warning(found),
        "much": much if plain else "",
        "much_in_none": "" if plain else much,
        "counted": f"All {records} in range" if plain else f"{records[:1].upper()}{records[1:]} of all groups",
        "records": records,
        "inside": SAID[inside_of(release)],
        "kept": escape(f" The numbers are {privacy.kept}." if privacy.kept else ""),
        "outside": _outside(release.axes),
        "epsilon": escape(shown(privacy.epsilon)),
        "protected": escape(_protected(privacy)),
        "buckets": f"{_buckets(release):,}",
        "cells": _cells(release),
        "library": escape(f"dawa {privacy.library}"),
        "mechanism": escape(privacy.mechanism),
        "id": escape(privacy.id or "none"),
        "odds": escape(privacy.odds),
        "split": _split(privacy),
        "statement": escape(str(privacy)),
    }


def _templates(template: str, words: Sequence[dict[str, str]]) -> str:
    """The header and the statement of every release, for scripts to put in the place of the first ones."""
    found = []
    for name in ("head", "privacy"):
        inner = re.search(rf'<(\w+) id="{name}"[^>]*>\n(.*?)\n *</\1>\n', template, re.DOTALL)
        if inner is None:
            raise AssertionError(name)
        found += [f'<template id="{name}{i}">{_filled(inner[2], **each)}</template>\n' for i, each in enumerate(words)]
    return "".join(found)


def _buckets(release: AnyRelease) -> int:
    return sum(len(estimate.buckets) for estimate in estimates_of(release))


def _cells(release: AnyRelease) -> str:
    cells = " × ".join(f"{axis.size:,}" for axis in release.axes)
    if isinstance(release, Release):
        return f"{cells} cells"
    return f"{cells} cells in each of {len(release):,} group{'s' * (len(release) != 1)}"


@lru_cache(maxsize=64)
def _part(name: str) -> str:
    return resources.files("dawa.publish.page").joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, **parts: str) -> str:
    """The template with each ``{{name}}`` replaced once; the replacements are not searched again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _title(release: AnyRelease) -> str:
    """What the custodian calls it, or else what it is."""
    if release.about is not None and release.about.title:
        return release.about.title
    by = "" if isinstance(release, Release) else f", by {series([one.column for one in release.by])}"
    records = called(release.about)
    many = "How many," if records == RECORDS else f"How many {records},"
    return f"{many} along {series([axis.column for axis in release.axes])}{by}"


def _description(about: About | None) -> str:
    """What the data are; line breaks stay."""
    return f'<p class="lead lines" dir="auto">{escape(about.description)}</p>' if about and about.description else ""


def _about(about: About | None) -> str:
    """The other words about the data, in a small list."""
    facts = about.facts() if about else {}
    each = '<div><dt>{}</dt><dd dir="auto">{}</dd></div>'
    listed = "".join(each.format(escape(name), _linked(text)) for name, text in facts.items())
    return f'<dl class="facts about">{listed}</dl>' if listed else ""


def _linked(text: str) -> str:
    """Text, as a link if it is a plain address: nothing is fetched until a reader follows it."""
    if not is_link(text):
        return escape(text)
    return f'<a href="{escape(text)}" rel="noopener noreferrer">{escape(text.removeprefix("mailto:"))}</a>'


def _summary(release: AnyRelease) -> str:
    """What can be asked, in one sentence."""
    ranges = []
    for axis in release.axes:
        lo, hi = (readable(axis, end[0]) for end in written(axis, [0], [axis.size]))
        ranges.append(f"{axis.column} from {lo} to {hi}")
    how = {1: "Drag or type any range", 2: "Drag or type any rectangle"}.get(len(ranges), "Drag or type any box")
    rest = "how sure that number is, and why it exposes nobody in the data."
    told = rest if release.privacy.exposes_nobody else "and how sure that number is."
    counted = f"how many {called(release.about)}{'' if isinstance(release, Release) else ' of each group'} lie in it"
    return f"{how} of {series(ranges)}, and read about {counted}, {told}"


def _protected(privacy: PrivacyStatement) -> str:
    if not privacy.private:
        return "nobody"
    return f"hardly: {_unit(privacy)}" if privacy.caution else _unit(privacy)


def _unit(privacy: PrivacyStatement) -> str:
    """Who or what epsilon is about."""
    if not privacy.unit_columns:
        return "each single record"
    most = privacy.max_rows_per_unit
    records = "1 record" if most == 1 else f"{most} records"
    if len(privacy.unit_columns) > 1:
        return f"each combination of {' and '.join(privacy.unit_columns)}, with up to {records} counted"
    return f"each person (one value of {privacy.unit_columns[0]}), with up to {records} counted"


def _banner(privacy: PrivacyStatement) -> str:
    """A loud line if nobody is protected, or hardly anybody."""
    if not privacy.private:
        return _part("not_private.html")
    return f'<p class="warning" role="note" id="weak">{escape(privacy.caution)}</p>' if privacy.caution else ""


def _warning(found: Overview) -> str:
    """A loud line if a large part of all records is in no range."""
    return f'<p class="warning" id="much">{escape(found.warning)}</p>' if found.warning else ""


def _outside(axes: Sequence[Axis]) -> str:
    """What cannot be learned about values outside the bounds; nothing if all of them are counted apart."""
    clipping = [axis.column for axis in axes if axis.outside == "clip"]
    dropping = [axis.column for axis in axes if axis.outside == "drop"]
    lines = []
    if clipping:
        names = " and ".join(clipping)
        lines.append(f"To tell values of {names} outside the bounds from values at the edges: they were counted there.")
    if dropping:
        lines.append(f"To learn about values of {' and '.join(dropping)} outside: they were left out.")
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def _split(privacy: PrivacyStatement) -> str:
    """How epsilon was split: one part of a bar per step, with a line of text for each."""
    parts = [(step, shown(part), float(part / privacy.epsilon)) for step, part in privacy.split.items() if part > 0]
    bar = "".join(
        f'<div class="part part{i % 4}" style="flex-grow:{share:.6f}"></div>' for i, (_, _, share) in enumerate(parts)
    )
    lines = "".join(
        f'<li><span class="swatch part{i % 4}"></span><b>{escape(step)}</b> ε = {part} ({share:.0%}):'
        f" {escape(STEPS.get(step, 'a step of the mechanism'))}</li>"
        for i, (step, part, share) in enumerate(parts)
    )
    said = escape("How ε was split: " + ", ".join(f"{step} {share:.0%}" for step, _, share in parts))
    return f'<div class="bar" role="img" aria-label="{said}">{bar}</div><ul class="key">{lines}</ul>'


FIRST, OLDEST, SETTLED = (ticks(datetime(year, 1, 2)) for year in (1, 1800, 2100))  # noqa: DTZ001  good for any zone
"""Where the calendar begins; before the second, no zone changed its clocks; from the third on, all follow rules that
repeat with the calendar."""
CYCLE = 146_097 * UNITS["day"]
"""Four hundred years, after which the calendar repeats."""

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


def data(release: AnyRelease, found: Overview) -> dict[str, Any]:
    """The release, and what else the page needs, as JSON values."""
    shared = {**_of_axes(release, found), "inside": found.inside.value}
    if isinstance(release, Release):
        return {**shared, **_of_estimate(release)}
    walked = any(estimate.buckets.stops is not None for estimate in release.estimates)
    estimate = release.estimates[0]  # all have the same budget
    return {
        **shared,
        "by": [grouping.column for grouping in release.by],
        "none": [named([one.axis for one in isolated.named(release).by], way) for way in patterns(release.by)],
        "levels": [
            {
                **_level(estimate, sure, walked=walked),
                "alone": factor_of(estimate, (1 - sure) / 2 / 2 / len(release) / 2),
            }
            for sure in CONFIDENCES
        ],
        "each": [_of_estimate(rel) for rel in release.values()],
    }


def _of_axes(release: AnyRelease, found: Overview) -> dict[str, Any]:
    """The release, and what the page needs to know of its axes, as JSON values."""
    shape = [axis.size for axis in release.axes]
    return {
        "release": release.to_json(),
        "shape": shape,
        "times": [_times(axis) for axis in release.axes],
        "clips": [[clipped(axis, first=end == 0, last=end == 1) for end in (0, 1)] for axis in release.axes],
        "apart": [named(isolated.named(release).axes, way) for way in patterns(release.axes)],
        "kept": release.privacy.kept,
        "records": called(release.about),
        "much": bool(found.warning),
        "askable": math.prod(shape) <= MOST_CELLS_IN_BROWSER,
        "geography": _geography(release.axes),
        "scaled": [areas.to_scale(axis) for axis in release.axes],
        "flat": [areas.flat(axis) for axis in release.axes],
        "counted": scales.unit(release),
    }


def _geography(axes: Sequence[Axis]) -> dict[str, Any] | None:
    """How a map of longitude and latitude is drawn; None if the axes are not these."""
    if not geography.is_map(axes):
        return None
    numbers = [axis for axis in axes if isinstance(axis, NumberAxis)]
    return {
        "aspect": geography.aspect(axes),
        "start": [float(axis.start) for axis in numbers],
        "step": [float(axis.step) for axis in numbers],
        "lines": [shape.text for shape in geography.shapes(axes)],
    }


def _of_estimate(release: Release) -> dict[str, Any]:
    """What the page needs to know of one histogram, as JSON values."""
    levels = [
        {**_level(release.estimate, sure), "figures": _figures(release, sure), "band": bands.for_page(release, sure)}
        for sure in CONFIDENCES
    ]
    return {
        "levels": levels,
        "middle": _middle(release),
    }


def script(values: dict[str, Any]) -> str:
    """JSON that no text inside it can end: characters with a meaning in HTML are written as numbers."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _level(estimate: Estimate, confidence: float, *, walked: bool | None = None) -> dict[str, float]:
    """A confidence, and the margins in standard deviations that ``dawa.results.answers`` uses for it.

    Args:
        estimate: What is asked.
        confidence: The confidence.
        walked: Whether a walk chose buckets of any group, if all of them are asked together.
    """
    chance = 1 - confidence
    rest = uncut(estimate, chance) if walked is None else noise_chance(chance, walked=walked)
    return {
        "confidence": confidence,
        "chance": chance,
        "apart": factor_of(estimate, chance),
        "whole": factor_of(estimate, rest),
        "cut": factor_of(estimate, chance / 2),
        "total": factor_of(estimate, chance / 2 / 2),
        "both": factor_of(estimate, chance / 2 / 2 / 2),
    }


def _figures(release: Release, confidence: float) -> list[tuple[str, ...]]:
    return [(figure.name, *figure.texts) for figure in figures.usual(release, confidence)]


def _middle(release: Release) -> list[int] | None:
    """The cells from the lower to the upper quartile, which the page shows first; None if there are no quartiles."""
    if len(release.axes) > 1:
        return None
    try:
        lower, upper = held(release.estimate, (0.25, 0.75), 0.95)
    except ReleaseError:
        return None
    return [lower.cell, upper.cell + 1]


def _times(axis: Axis) -> dict[str, Any] | None:
    """The cells of an axis of times as runs of equal length, and its zone's offsets."""
    if not isinstance(axis, DateAxis):
        return None
    return {
        "size": axis.size,
        "runs": [[run.cell, str(run.tick), str(run.width)] for run in axis.runs()],
        "offsets": _offsets(axis),
    }


def _offsets(axis: DateAxis) -> list[list[Any]] | None:
    """When the clocks of the zone change, and how many seconds ahead of UTC they are from then on."""
    zone = axis.start.tzinfo
    if zone is None:
        return None

    def east(tick: int) -> int:
        offset = at(tick, zone).utcoffset()
        return round(offset.total_seconds()) if offset is not None else 0

    # Start a day earlier, so that local times around the first border are read as Python reads them.
    first, last = max(ticks(axis.start) - UNITS["day"], FIRST), ticks(axis.stop) + UNITS["day"]
    changes = [change for change in _changes(east, max(first, OLDEST), min(last, SETTLED), "day") if change[0] > first]
    if last > SETTLED:
        rules = list(_changes(east, SETTLED, SETTLED + CYCLE, "week"))
        for cycle in range(max(first - SETTLED, 0) // CYCLE, (last - SETTLED) // CYCLE + 1):
            later = ((tick + cycle * CYCLE, offset) for tick, offset in rules)
            changes += [(tick, offset) for tick, offset in later if first < tick <= last]
    return [[str(first), east(first)], *([str(tick), offset] for tick, offset in changes)]


def _changes(east: Callable[[int], int], here: int, last: int, often: str) -> Iterator[tuple[int, int]]:
    """When an offset changes, and what it is from then on; it is looked at once a day, or once in a longer unit."""
    known = east(here)
    while here < last:
        low, high = here, here + UNITS[often]
        if east(high) != known:
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if east(middle) == known else (low, middle)
            known = east(high)
            yield high, known
        here += UNITS[often]
