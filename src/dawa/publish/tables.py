"""A release as tables for other tools: CSV with a header, in the attribute's own units, with all digits."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, TextIO

import numpy as np

from dawa.arrays import IntArray
from dawa.axis import Axis
from dawa.axis.written import written
from dawa.results.answers import Answer
from dawa.results.release import Release
from dawa.spec.ranges import Asked


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
    """Write a table as CSV; floats have enough digits to read back as the same float."""
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
    """Every cell of a release along several axes; the last axis changes fastest."""
    header = [f"{axis.column}_{end}" for axis in release.axes for end in ("from", "to")]
    places = np.indices(release.estimate.shape).reshape(len(release.axes), -1)
    borders = [column for axis, at in zip(release.axes, places, strict=True) for column in _cells(axis, at)]
    return Rows([*header, "value"], zip(*borders, release.estimate.cells.ravel().tolist(), strict=True))


def answers(release: Release, asked: Sequence[Asked], found: Sequence[Answer]) -> Rows:
    """Ranges with their answers; the other entries of their lines come first."""
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
    """The columns of the other entries in their lines."""
    return list(dict.fromkeys(name for one in asked for name, _ in one.labels))


def _cells(axis: Axis, at: IntArray) -> tuple[list[Any], list[Any]]:
    """The borders of these cells, each cell written once."""
    every = np.arange(axis.size)
    lo, hi = written(axis, every, every + 1)
    return [lo[i] for i in at], [hi[i] for i in at]
