"""A release as tables for other tools: CSV with a header, in the attribute's own units, with all digits."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.axis import Axis
from dawa.axis.apart import touching
from dawa.axis.written import written
from dawa.publish.figures import COLUMNS, Figure
from dawa.results.answers import LISTED, Answer
from dawa.results.grouped import AnyRelease
from dawa.results.release import Release
from dawa.results.tabled import beside
from dawa.spec.ranges import Asked

REMARK, STATE = "remark", "state"
BARS = ("noise_margin", "measured", "low", "high", "confidence", REMARK)
"""What the table of records in no range tells of an answer besides its value; no bucket is cut there."""


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
    columns = [lo, hi, np.diff(bounds).tolist(), *(column.tolist() for column in numbers)]
    if not clips(release):
        return Rows(header, zip(*columns, strict=True))
    return Rows((*header, REMARK), zip(*columns, bucket_notes(release, 0, len(lo)), strict=True))


def bucket_notes(release: Release, first: int, beyond: int) -> list[str]:
    """What buckets along one axis hold besides their own values, in words; all but the first and the last nothing."""
    last = len(release.estimate.buckets) - 1
    return [
        touching(release.axes, [(bucket == 0, bucket == last)]) if bucket in {0, last} else ""
        for bucket in range(first, beyond)
    ]


def cells(release: Release) -> Rows:
    """Every cell of a release along several axes; the last axis changes fastest."""
    header = [f"{axis.column}_{end}" for axis in release.axes for end in ("from", "to")]
    places = np.indices(release.estimate.shape).reshape(len(release.axes), -1)
    borders = [column for axis, at in zip(release.axes, places, strict=True) for column in _cells(axis, at)]
    columns = [*borders, release.estimate.cells.ravel().tolist()]
    if not clips(release):
        return Rows([*header, "value"], zip(*columns, strict=True))
    return Rows([*header, "value", REMARK], zip(*columns, _cell_notes(release, places), strict=True))


def apart(release: Release, confidence: float = 0.95) -> Rows:
    """The records that are in no range: a line for each way of having no cell, the same way round as the axes."""
    alone = len(release.axes) == 1
    states = [STATE if alone else f"{axis.column}_{STATE}" for axis in release.axes]
    found = release.apart(confidence)
    others = release.others
    noise = [] if others is None else np.sqrt(others.range_variances(*_each(len(found)))).tolist()
    unbiased = [] if others is None else others.unbiased.tolist()
    rows = [
        (way.label, *way.states, way.answer.value, deviation, number, *(getattr(way.answer, name) for name in BARS))
        for way, deviation, number in zip(found, noise, unbiased, strict=True)
    ]
    return Rows(("label", *states, "value", "standard_deviation", "unbiased", *BARS), rows)


def answers(release: AnyRelease, asked: Sequence[Asked], found: Sequence[Answer]) -> Rows:
    """Ranges with their answers; the group that is meant and the other entries of their lines come first."""
    names, by = labels(asked), grouped(asked)
    alone = len(release.axes) == 1
    ends = [f"{'' if alone else axis.column + '_'}{end}" for axis in release.axes for end in ("from", "to")]
    rows = []
    for one, answer in zip(asked, found, strict=True):
        known = dict(one.labels)
        spans = (end for both in zip(one.lo, one.hi, strict=True) for end in both)
        group = (value for _, value in one.group)
        rows.append((*group, *(known.get(name, "") for name in names), *spans, *answer.row().values()))
    header = [*names, *ends, *LISTED]
    return Rows([*beside(by, header), *header], rows)


def figures(found: Sequence[Figure]) -> Rows:
    """Figures with their intervals, each after the group that it is about."""
    rows = [(*(value for _, value in one.group), one.name, *(getattr(one, name) for name in COLUMNS)) for one in found]
    header = ("name", *COLUMNS)
    return Rows((*beside(grouped(found), header), *header), rows)


def grouped(asked: Sequence[Asked] | Sequence[Figure]) -> list[str]:
    """The columns that say which group is meant; all rows have the same."""
    return [name for name, _ in asked[0].group] if asked else []


def clips(release: Release) -> bool:
    """Whether cells at the edges hold values from beyond them."""
    return any(axis.outside == "clip" for axis in release.axes)


def labels(asked: Sequence[Asked]) -> list[str]:
    """The columns of the other entries in their lines."""
    return list(dict.fromkeys(name for one in asked for name, _ in one.labels))


def _each(count: int) -> tuple[FloatArray, FloatArray]:
    """Each bucket alone, in bucket coordinates."""
    bucket = np.arange(count, dtype=np.float64)
    return bucket, bucket + 1


def _cell_notes(release: Release, places: IntArray) -> list[str]:
    """What every cell holds besides its own values; few combinations of edges are worded, once each."""
    sizes = [[axis.size] for axis in release.axes]
    kinds = np.stack((places == 0, places == np.array(sizes) - 1), axis=1)  # axis, end, cell
    code = np.tensordot(1 << np.arange(kinds[..., 0].size), kinds.reshape(-1, kinds.shape[-1]), axes=1)
    known = {0: ""}
    for kind, cell in zip(*np.unique(code, return_index=True), strict=True):
        known[int(kind)] = touching(release.axes, [(bool(first), bool(last)) for first, last in kinds[..., cell]])
    return [known[kind] for kind in code.tolist()]


def _cells(axis: Axis, at: IntArray) -> tuple[list[Any], list[Any]]:
    """The borders of these cells, each cell written once."""
    every = np.arange(axis.size)
    lo, hi = written(axis, every, every + 1)
    return [lo[i] for i in at], [hi[i] for i in at]
