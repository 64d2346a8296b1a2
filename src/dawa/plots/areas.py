"""Cells between uneven edges on pictures of several axes: drawn to scale, with colours that count records per area.

Where some cell would be narrower than a pixel on a phone, all cells of that axis are drawn equally wide instead, and
their colours count records per cell. Which of both it is follows from the edges alone, so figures and pages agree on
where a value lies, and pictures say it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dawa.arrays import FloatArray
from dawa.axis import Axis, EdgeAxis
from dawa.axis.written import series
from dawa.plots import drawing

NARROWEST = 1 / 300
"""The part of an axis that a cell is at least if cells are drawn to scale: a pixel of a map on a phone."""

PIXELS = 600
"""Pixels along an axis that is drawn to scale."""


def to_scale(axis: Axis) -> bool:
    """Whether an axis has uneven cells that are all wide enough to be drawn to scale.

    >>> to_scale(Axis.edges("age", [0, 1, 5, 18, 65, 110])), to_scale(Axis.edges("pay", [0, 1, 1000]))
    (True, False)
    >>> to_scale(Axis.edges("age", [0, 10, 20]))
    False
    """
    parts = _parts(axis)
    return _uneven(parts) and bool(parts.min() >= NARROWEST)


def flat(axis: Axis) -> bool:
    """Whether uneven cells are drawn equally wide, because to scale some would be too narrow to see."""
    return _uneven(_parts(axis)) and not to_scale(axis)


def said(axes: Sequence[Axis]) -> str:
    """How uneven cells are drawn, in sentences; empty if there are none.

    >>> said([Axis.edges("age", [0, 1, 5, 18, 65, 110]), Axis.edges("pay", [0, 1, 1000])])
    'Cells of age are drawn to scale. Cells of pay are drawn equally wide: to scale, some would be too narrow to see.'
    """
    scaled, even = ([drawing.text(axis.column) for axis in axes if kind(axis)] for kind in (to_scale, flat))
    sentences = (
        f"Cells of {series(scaled)} are drawn to scale." if scaled else "",
        f"Cells of {series(even)} are drawn equally wide: to scale, some would be too narrow to see." if even else "",
    )
    return " ".join(sentence for sentence in sentences if sentence)


def image(axes: Sequence[Axis], cells: FloatArray, most: int) -> FloatArray:
    """At most this many pixels along each axis: records per cell, and per unit of an axis that is drawn to scale."""
    for at, axis in enumerate(axes):
        if isinstance(axis, EdgeAxis) and to_scale(axis):
            cells = np.moveaxis(_resampled(axis, np.moveaxis(cells, at, 0), min(PIXELS, most)), 0, at)
    return drawing.coarse(cells, most)


def unit_of(axis: EdgeAxis) -> Fraction:
    """How much of the column heights are counted by: a power of ten near the width of usual cells."""
    widths = sorted(np.diff([float(cut) for cut in axis.cuts]))
    return Fraction(10) ** math.floor(math.log10(widths[len(widths) // 2]))


def _parts(axis: Axis) -> FloatArray:
    """How large a part of the axis each of its cells is; nothing where cells are no values between edges."""
    if not isinstance(axis, EdgeAxis):
        return np.zeros(0)
    values = axis.value(np.arange(axis.size + 1))
    return np.asarray(np.diff(values) / (values[-1] - values[0]), np.float64)


def _uneven(parts: FloatArray) -> bool:
    return parts.size > 1 and not np.allclose(parts, parts[0], rtol=1e-9)


def _resampled(axis: EdgeAxis, cells: FloatArray, pixels: int) -> FloatArray:
    """Records per unit of the first axis, in pixels of equal width; none is lost."""
    values = axis.value(np.arange(axis.size + 1))
    places = np.linspace(values[0], values[-1], pixels + 1)
    running = np.concatenate((np.zeros((1, *cells.shape[1:])), np.cumsum(cells, axis=0)))
    at = np.interp(places, values, np.arange(axis.size + 1))
    whole = np.minimum(at.astype(np.int64), axis.size - 1)
    part = (at - whole).reshape(-1, *[1] * (cells.ndim - 1))
    below = (1 - part) * running[whole] + part * running[whole + 1]
    return np.asarray(np.diff(below, axis=0) * float(unit_of(axis)) / (places[1] - places[0]), np.float64)
