"""How far a range that cuts a bucket can be from even, where the walk compared halves.

The proof is in ``partition/halves.md``: which halves of halves a range cuts follows from where it ends, and the walk
says by how much the two halves of each differ at most. So the bound depends on the places of the range's ends in the
bucket, other than that of a walk by cells, which depends on how large a part of the bucket is inside.
"""

import numpy as np

from dawa.arrays import BoolArray, FloatArray, IntArray

LEVELS = 24
"""How many times a bucket is halved: what is left of its records is far less than what any halves differ by."""


def dyadic(start: IntArray, stop: IntArray) -> BoolArray:
    """Which intervals have equal halves, and halves of halves; the walk clipped all others at the end of the domain."""
    width = stop - start
    found: BoolArray = ((width | start) & (width - 1)) == 0
    return found


def off_even(place: FloatArray, most: FloatArray, differ: FloatArray, moved: FloatArray) -> FloatArray:
    """At most how far the records of a bucket up to some place are from lying evenly, for buckets with equal halves.

    Args:
        place: The part of the bucket that lies before the place.
        most: The most that the bucket can hold.
        differ: By how much any two halves in it can differ.
        moved: How far floats may have moved the place.
    """
    below, above = (_beside(np.clip(place + side, 0.0, 1.0), most, differ, moved) for side in (-moved, moved))
    return np.where((place <= 0) | (place >= 1), 0.0, np.maximum(below, above))


def _beside(place: FloatArray, most: FloatArray, differ: FloatArray, moved: FloatArray) -> FloatArray:
    """The same, for all places at most 2 ``moved`` away that lie in the same halves of halves.

    After each halving, in the notation of the proof: ``part`` is f, ``held`` is n/2^j, ``steps`` is M and ``leaning``
    is S. The least bound of all levels counts, for more records before the place than evenly, and for fewer.
    """
    part, held, steps, leaning = place, most, np.zeros(len(place)), np.zeros(len(place))
    more, fewer = ((side * most + 2 * moved * most) for side in (1 - place, place))
    for level in range(1, LEVELS + 1):
        upper = part >= 0.5
        steps = steps + np.where(upper, 1 - part, part)
        leaning = (leaning + np.where(upper, -1.0, 1.0)) / 2
        part, held = 2 * part - upper, held / 2
        cells = 2.0**level * moved
        fixed = np.where(2 * cells < 1, steps * differ + 4 * cells * differ + 2 * moved * most, np.inf)
        more = np.minimum(more, (1 - part) * (held + differ * leaning) + fixed)
        fewer = np.minimum(fewer, part * (held - differ * leaning) + fixed)
    return np.maximum(np.maximum(more, fewer), 0.0)
