"""A release as tables for other tools: CSV with a header, in the attribute's own units, with all digits."""

import csv
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import datetime, time
from typing import Any, TextIO

import numpy as np
from numpy.typing import ArrayLike

from dawa.answers import Answer
from dawa.arrays import IntArray
from dawa.axis import Axis, DateAxis
from dawa.ranges import Asked
from dawa.releases import Release

MOST_CELLS = 2**20
"""A table with more lines than this is of no use to anyone; the release answers in its place."""


@dataclass(frozen=True)
class Rows:
    """A table.

    Attributes:
        header: The columns' names.
        rows: The lines.
    """

    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


def write(table: Rows, target: TextIO) -> None:
    """As CSV; floats with the digits that read back to the same float."""
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(table.rows)


def buckets(release: Release) -> Rows:
    """The buckets of a release along one axis."""
    bounds = release.estimate.buckets.bounds
    lo, hi = written(release.axis, bounds[:-1], bounds[1:])
    numbers = (release.values(), np.sqrt(release.variances()), release.estimate.unbiased)
    header = ("from", "to", "cells", "value", "standard_deviation", "unbiased")
    return Rows(header, zip(lo, hi, np.diff(bounds).tolist(), *(column.tolist() for column in numbers), strict=True))


def cells(release: Release) -> Rows:
    """Every cell of a release along several axes, the last axis fastest."""
    header = [f"{axis.column}_{end}" for axis in release.axes for end in ("from", "to")]
    places = np.indices(release.estimate.shape).reshape(len(release.axes), -1)
    borders = [column for axis, at in zip(release.axes, places, strict=True) for column in _cells(axis, at)]
    return Rows([*header, "value"], zip(*borders, release.estimate.cells.ravel().tolist(), strict=True))


def answers(release: Release, asked: Sequence[Asked], found: Sequence[Answer]) -> Rows:
    """Ranges with their answers; what else their lines held comes first."""
    names = labels(asked)
    alone = len(release.axes) == 1
    ends = [f"{'' if alone else axis.column + '_'}{end}" for axis in release.axes for end in ("from", "to")]
    rows = []
    for one, answer in zip(asked, found, strict=True):
        known = dict(one.labels)
        spans = (end for both in zip(one.lo, one.hi, strict=True) for end in both)
        rows.append((*(known.get(name, "") for name in names), *spans, *astuple(answer)))
    return Rows([*names, *ends, *(field.name for field in fields(Answer))], rows)


def labels(asked: Sequence[Asked]) -> list[str]:
    """The names of what else their lines held."""
    return list(dict.fromkeys(name for one in asked for name, _ in one.labels))


def written(axis: Axis, lo: ArrayLike, hi: ArrayLike) -> tuple[list[Any], list[Any]]:
    """Ranges of cells as people write them; ``axis.span`` reads the same cells where borders have decimals.

    >>> written(Axis("age", 0, 120), [0, 18], [18, 65])
    ([0, 18], [18, 65])
    >>> written(Axis.ordered("grade", ["A", "B", "C"]), [0], [2])
    (['A'], ['B'])
    """
    last = np.asarray(hi) - 1 if axis.kind == "ordered" else hi
    return _plain(axis, lo), _plain(axis, last)


def plain(axis: Axis, value: Any) -> Any:  # noqa: ANN401  the axis' own kind of value
    """One value of an axis as JSON can hold it: times as text, without the clock where the axis is of days.

    >>> plain(Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month"), datetime(2013, 5, 17))
    '2013-05-17'
    """
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(axis, DateAxis):
        return str(found.date() if axis.daily else found)
    return found


def middle(axes: Sequence[Axis]) -> tuple[list[Any], list[Any]]:
    """A range to try: the middle half of every axis."""
    lows, highs = [], []
    for axis in axes:
        quarter = axis.size // 4
        lo, hi = written(axis, [quarter], [max(3 * axis.size // 4, quarter + 1)])
        lows += lo
        highs += hi
    return lows, highs


def example(axes: Sequence[Axis]) -> str:
    """The same as it is typed after ``dawa query``."""
    ends = [f"{lo}..{hi}" if ":" in f"{lo}{hi}" else f"{lo}:{hi}" for lo, hi in zip(*middle(axes), strict=True)]
    return shlex.quote(",".join(ends))


def _cells(axis: Axis, at: IntArray) -> tuple[list[Any], list[Any]]:
    """The borders of these cells, each cell written once."""
    every = np.arange(axis.size)
    lo, hi = written(axis, every, every + 1)
    return [lo[i] for i in at], [hi[i] for i in at]


def _plain(axis: Axis, borders: ArrayLike) -> list[Any]:
    """The values at cell borders: whole numbers where all are, dates without a time where none has one."""
    values = axis.value(borders)
    if axis.kind == "dates":
        moments = [value if isinstance(value, datetime) else value.item() for value in values.reshape(-1)]
        midnight = all(moment.timetz() == time() for moment in moments)
        return [str(moment.date() if midnight else moment) for moment in moments]
    found = values.reshape(-1).tolist()
    whole = axis.kind != "ordered" and all(float(value).is_integer() for value in found)
    return [int(value) for value in found] if whole else found
