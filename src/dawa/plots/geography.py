"""Maps of the world: which axes are longitude and latitude, how tall such a map is, and the coasts and borders on it.

Everything here follows from public names and bounds. The shapes are Natural Earth's at a scale of 1:110 million, in a
compact text that ``python -m docs.borders`` writes.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from dawa.arrays import FloatArray
from dawa.axis import Axis
from dawa.axis.numbers import NumberAxis

LONGITUDE, LATITUDE = {"longitude", "lon", "lng", "long"}, {"latitude", "lat"}
"""Words in the name of a column that say what it is; the case does not matter."""

GRID = 20
"""Parts of a degree to which shapes are rounded."""

FIRST, BITS = 63, 5
"""The character that stands for zero, and how many bits a character holds beside the one that says that more follow."""

LEAST_DEGREES = 3
"""Maps of less are left without: the shapes would be off by a part of the picture that is seen."""


class Shape(NamedTuple):
    """A line on the map: as it is kept, its kind first (``c`` for a coast, ``b`` for a border), and its points."""

    text: str
    points: FloatArray

    @property
    def coast(self) -> bool:
        """Whether the sea lies on one side."""
        return self.text[0] == "c"


def is_map(axes: Sequence[Axis]) -> bool:
    """Whether two axes of numbers are longitude and latitude, in this order, by their names and bounds.

    >>> is_map([Axis("pickup_longitude", -75, -73), Axis("pickup_latitude", 40, 41)])
    True
    >>> is_map([Axis("lon", 0, 1000), Axis("lat", 0, 50)])
    False
    """
    if len(axes) != 2:
        return False
    across, up = axes
    if not (isinstance(across, NumberAxis) and isinstance(up, NumberAxis)):
        return False
    named = bool(_words(across.column) & LONGITUDE and _words(up.column) & LATITUDE)
    return named and across.start >= -180 and across.stop <= 180 and up.start >= -90 and up.stop <= 90


def _words(name: str) -> set[str]:
    """The words of a column's name, in lower case.

    >>> sorted(_words("pickupLon_2"))
    ['lon', 'pickup']
    """
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def aspect(axes: Sequence[Axis]) -> float:
    """How tall a map is for its width, so that a kilometre in its middle is as long either way."""
    across, up = ((float(axis.start), float(axis.stop)) for axis in axes if isinstance(axis, NumberAxis))
    middle = math.radians(sum(up) / 2)
    return (up[1] - up[0]) / ((across[1] - across[0]) * max(math.cos(middle), 0.05))


def shapes(axes: Sequence[Axis]) -> list[Shape]:
    """The lines that touch a map; none if it shows too little for them to be right."""
    ends = [(float(axis.start), float(axis.stop)) for axis in axes if isinstance(axis, NumberAxis)]
    (west, east), (south, north) = ends
    if max(east - west, north - south) < LEAST_DEGREES:
        return []
    found = []
    for shape in _all():
        (left, low), (right, high) = shape.points.min(axis=0), shape.points.max(axis=0)
        if left < east and right > west and low < north and high > south:
            found.append(shape)
    return found


@lru_cache(maxsize=1)
def _all() -> tuple[Shape, ...]:
    text = resources.files("dawa.plots").joinpath("borders.txt").read_text(encoding="ascii")
    return tuple(Shape(line, decoded(line[1:])) for line in text.splitlines())


def encoded(points: Sequence[tuple[int, int]]) -> str:
    """Points on the grid as text: how far each is from the one before, in characters of five bits, the lowest first.

    >>> encoded([(0, 1), (-1, 40)])
    '?A@mA'
    """
    text, before = [], (0, 0)
    for point in points:
        for now, then in zip(point, before, strict=True):
            left = 2 * (now - then) if now >= then else 2 * (then - now) - 1
            while left >> BITS:
                text.append(chr(FIRST + (left & 31) + 32))
                left >>= BITS
            text.append(chr(FIRST + left))
        before = point
    return "".join(text)


def decoded(text: str) -> FloatArray:
    """The points of such a text, in degrees.

    >>> decoded(encoded([(0, 1), (-1, 40)])).tolist()
    [[0.0, 0.05], [-0.05, 2.0]]
    """
    steps, value, shift = [], 0, 0
    for letter in text:
        part = ord(letter) - FIRST
        value |= (part & 31) << shift
        shift += BITS
        if part < 32:
            steps.append(-(value + 1) // 2 if value % 2 else value // 2)
            value = shift = 0
    return np.cumsum(np.array(steps, np.int64).reshape(-1, 2), axis=0) / GRID
