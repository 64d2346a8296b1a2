"""What the page is given: the release, and the few public numbers that a browser would have to work out otherwise."""

import json
import math
from typing import Any

from dawa import release_file
from dawa.axis import Axis, DateAxis
from dawa.axis.readings import UNITS, at, ticks
from dawa.margins import margin_factor
from dawa.releases import Release
from dawa.strategy.rows import RESOLUTION

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)
MOST_CELLS = 2**53
"""Beyond so many cells, a browser's numbers do not tell positions on a map apart."""


def data(release: Release) -> dict[str, Any]:
    """The release with what the page needs beside it, as JSON values."""
    scale = RESOLUTION / float(release.estimate.epsilon)
    return {
        "release": release_file.written(release.axes, release.estimate, release.privacy),
        "shape": list(release.estimate.shape),
        "levels": [_level(confidence, scale) for confidence in CONFIDENCES],
        "times": [_times(axis) for axis in release.axes],
        "askable": math.prod(release.estimate.shape) <= MOST_CELLS,
    }


def script(values: dict[str, Any]) -> str:
    """JSON that no text inside can end: every character that HTML knows is written as a number."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _level(confidence: float, scale: float) -> dict[str, float]:
    """A confidence, and the margins in standard deviations that ``dawa.answers`` takes for it."""
    chance = 1 - confidence
    return {
        "confidence": confidence,
        "chance": chance,
        "whole": margin_factor(chance, scale),
        "cut": margin_factor(chance / 2, scale),
        "total": margin_factor(chance / 2 / 2, scale),
    }


def _times(axis: Axis) -> dict[str, Any] | None:
    """The cells of an axis of times as runs of equal length, the offsets of its zone, and to what times are rounded."""
    if not isinstance(axis, DateAxis):
        return None
    return {
        "size": axis.size,
        "runs": [[run.cell, str(run.tick), str(run.width)] for run in axis.runs()],
        "offsets": _offsets(axis),
        "unit": None if axis.resolution is None else str(axis.resolution),
        "daily": axis.daily,
    }


def _offsets(axis: DateAxis) -> list[list[Any]] | None:
    """When the clocks of the zone change, and how many seconds east of Greenwich they go from then on."""
    zone = axis.start.tzinfo
    if zone is None:
        return None

    def east(tick: int) -> int:
        offset = at(tick, zone).utcoffset()
        return round(offset.total_seconds()) if offset is not None else 0

    day, first, last = UNITS["day"], ticks(axis.start), ticks(axis.stop)
    # From a day before, so that a clock's time around the first border is read as Python reads it.
    here = first - day
    found = [[str(here), east(here)]]
    while here < last + day:
        low, high = here, here + day
        if east(high) != found[-1][1]:
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if east(middle) == found[-1][1] else (low, middle)
            found.append([str(high), east(high)])
        here += day
    return found
