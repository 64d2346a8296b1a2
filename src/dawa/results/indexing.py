"""Cutting histograms along one axis as UHI indexes them: ``h[3]``, ``h[loc(18):loc(65)]``, ``h[::rebin(2)]``.

Where bins are merged, the histogram that comes of it was asked from the release: its variances are those of the merged
ranges, which libraries that add up what they hold cannot know.
"""

from typing import Any, NamedTuple

import numpy as np

from dawa import check
from dawa.axis import Axis
from dawa.errors import OptionError
from dawa.numerals import told


class Bin(NamedTuple):
    """What one bin holds.

    Attributes:
        value: The number of records.
        variance: That of the noise in it.
    """

    value: float
    variance: float


class Cut(NamedTuple):
    """What is left of the bins of an axis.

    Attributes:
        borders: The numbers of the borders that are kept.
        open: Whether what lies below the first and above the last belongs to the sum, if there is one.
        summed: Whether all of it is one number.
    """

    borders: range
    open: tuple[bool, bool]
    summed: bool


def picked(axis: Axis, at: Any, flow: tuple[bool, bool]) -> int:  # noqa: ANN401  a number, or what finds one
    """The place of one bin among all bins, those below and above included.

    Raises:
        IndexError: If there is no such bin.
    """
    size = len(axis)
    if callable(at):
        found = int(at(axis))
    elif check.is_whole(at):
        found = int(at) + (size if at < 0 else 0)
        if not 0 <= found < size:
            raise IndexError(f"There are {size} bins, and no bin {at}.")
    else:
        raise OptionError(f"{told(at)} is not the number of a bin.", "use a whole number, or uhi.tag.loc(value).")
    place = found + flow[0]
    if not 0 <= place < size + sum(flow):
        raise IndexError(f"There is no bin {'below' if found < 0 else 'above'} all others.")
    return place


def cut(axis: Axis, along: slice) -> Cut:
    """What a slice leaves.

    Raises:
        OptionError: If it is none, or leaves no bin.
    """
    size, step = len(axis), along.step
    start, stop = _end(axis, along.start, 0), _end(axis, along.stop, size)
    summed, factor = step is sum or step is np.sum, 1 if step is None else getattr(step, "factor", None)
    if not summed and not check.is_whole(factor, 1):
        raise OptionError(f"Bins cannot be cut by {told(step)}.", "use uhi.tag.rebin(2), or sum, as the step.")
    borders = range(start, stop + 1, max(stop - start, 1) if summed else int(factor or 1))
    if len(borders) < 2:
        raise OptionError("No bin is left.", "name the first bin, and the one after the last.")
    return Cut(borders, (along.start is None, along.stop is None), summed)


def _end(axis: Axis, said: Any, usual: int) -> int:  # noqa: ANN401  a number, or what finds one
    """Where a slice begins or ends, as the number of a border."""
    size = len(axis)
    if said is None:
        return usual
    if callable(said):
        found = int(said(axis))
    elif check.is_whole(said):
        found = int(said) + (size if said < 0 else 0)
    else:
        raise OptionError(f"{told(said)} is not the number of a bin.", "use a whole number, or uhi.tag.loc(value).")
    return min(max(found, 0), size)
