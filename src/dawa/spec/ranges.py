"""Ranges as people write them: ``20000:60000`` on a command line, or a CSV file with the columns ``lo`` and ``hi``.

Ends are in the attribute's own units; ``notation`` says how one axis's range can be written. Over several axes, commas
separate the axes' ranges: ``15:60,*``. In a file, an empty end means that of the axis.
"""

import csv
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import TextIO

import numpy as np

from dawa.axis import Axis
from dawa.errors import DawaError, WorkloadError
from dawa.limits import MOST_CUTS_TRIED, MOST_QUERIES_ENUMERATED, MOST_RANGES_FILE, MOST_SPEC_BYTES
from dawa.numerals import brief, told
from dawa.queries.workload import Workload
from dawa.results.answers import Answer
from dawa.results.grouped import AnyRelease
from dawa.spec import notation
from dawa.spec.groups import Named

ENDS = (("lo", "hi"), ("from", "to"))
"""Names that the two columns of an axis may have; over several axes, ``age_lo`` and so on."""

RANGES = "pass a CSV file of ranges."


@dataclass(frozen=True)
class Asked:
    """One range per axis.

    Attributes:
        lo: The lower end on each axis, as written.
        hi: The upper ends.
        where: The range's name in an error.
        labels: The other entries of its line, by column.
        group: Which group of records is meant, by column; None of each column for all groups together, nothing where
            there are no groups.
    """

    lo: tuple[str, ...]
    hi: tuple[str, ...]
    where: str
    labels: tuple[tuple[str, str], ...] = ()
    group: Named = ()


def typed(text: str, axes: Sequence[Axis]) -> Asked:
    """A range from a command line: one per axis, with commas in between.

    Raises:
        DawaError: If it is not a range of these axes, or can be read in several ways.
    """
    where = f"The range {told(text)}"
    try:
        found = [[notation.ends(text, axes[0])]] if len(axes) == 1 else _read(text, axes)
    except DawaError as error:
        problem = error.problem if told(text) in error.problem else f"{where} cannot be answered: {error.problem}"
        raise type(error)(problem, error.hint) from None
    if any(ends != found[0] for ends in found):
        raise WorkloadError(f"{told(text)} can be read in several ways.", notation.IN_A_FILE)
    return _of(found[0], where)


def _read(text: str, axes: Sequence[Axis]) -> list[list[notation.Ends]]:
    """What a text with commas means: more than one thing where commas may be part of categories."""
    pieces = text.split(",")
    if len(pieces) == len(axes):
        return [[notation.ends(piece, axis) for piece, axis in zip(pieces, axes, strict=True)]]
    found = []
    if len(axes) < len(pieces) <= MOST_CUTS_TRIED:
        for cuts in combinations(range(1, len(pieces)), len(axes) - 1):
            parts = [",".join(pieces[a:b]) for a, b in pairwise((0, *cuts, len(pieces)))]
            if any("," in part and axis.kind != "ordered" for part, axis in zip(parts, axes, strict=True)):
                continue
            with suppress(DawaError):
                ends = [notation.ends(part, axis) for part, axis in zip(parts, axes, strict=True)]
                spans(_of(ends, ""), axes)
                found.append(ends)
    if not found:
        raise WorkloadError(
            f"{told(text)} names {len(pieces)} range{'s' * (len(pieces) != 1)}, but there are {len(axes)} axes.",
            f"write one for each of {', '.join(brief(axis.column) for axis in axes)}, with commas in between.",
        )
    return found


def _of(ends: Sequence[notation.Ends], where: str, labels: tuple[tuple[str, str], ...] = ()) -> Asked:
    """A range from its ends on each axis."""
    return Asked(tuple(lo for lo, _ in ends), tuple(hi for _, hi in ends), where, labels)


def listed(path: str | Path, axes: Sequence[Axis]) -> list[Asked]:
    """The ranges in a CSV file with a header; the entries of other columns are kept.

    An empty end is that of the axis, unless it is a category. A line without any separator is left out if it is empty.

    Raises:
        WorkloadError: If the file cannot be read, lacks a column, or one of its lines lacks an end.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(limited(file, path))
            lines = [(reader.line_num, line) for line in reader]
    except FileNotFoundError:
        raise WorkloadError(f"There is no file {path}.", RANGES) from None
    except WorkloadError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not CSV"
        raise WorkloadError(f"{path} cannot be read: {reason}.", RANGES) from None
    header = [name.strip() for name in lines[0][1]] if lines else []
    places = [_columns(header, axis, path, alone=len(axes) == 1) for axis in axes]
    _check_labels([name for i, name in enumerate(header) if all(i not in both for both in places)], axes, path)
    asked = [
        _asked(line, header, places, axes, f"Line {number} of {path}")
        for number, line in lines[1:]
        if len(line) > 1 or any(entry.strip() for entry in line)
    ]
    if not asked:
        raise WorkloadError(f"{path} holds no range.", "write one range per line, below the names of the columns.")
    return asked


def limited(file: TextIO, path: str | Path) -> Iterator[str]:
    """The lines of a file of ranges, as long as they may be, and as many as there may be.

    Raises:
        WorkloadError: If a line or the whole file exceeds its limit.
    """
    left = MOST_RANGES_FILE
    for _ in range(MOST_QUERIES_ENUMERATED + 1):
        line = file.readline(MOST_SPEC_BYTES + 1)
        if not line:
            return
        left -= len(line)
        if len(line) > MOST_SPEC_BYTES:
            raise WorkloadError(f"{path} has a line of more than {MOST_SPEC_BYTES:,} characters.", RANGES)
        if left < 0:
            raise WorkloadError(f"{path} has more than {MOST_RANGES_FILE:,} characters.", RANGES)
        yield line
    raise WorkloadError(f"{path} has more than {MOST_QUERIES_ENUMERATED:,} lines.", RANGES)


def workload(asked: Sequence[Asked], axes: Sequence[Axis]) -> Workload:
    """The workload for which a release is made accurate: these ranges, widened to whole cells."""
    corners = [spans(one, axes) for one in asked]
    lo = np.array([[start // 1 for start, _ in corner] for corner in corners])
    hi = np.array([[-(-stop // 1) for _, stop in corner] for corner in corners])
    shape = tuple(axis.size for axis in axes)
    return Workload.rectangles(lo, hi, shape) if len(axes) > 1 else Workload.ranges(lo[:, 0], hi[:, 0], shape)


def answered(release: AnyRelease, asked: Sequence[Asked], confidence: float = 0.95) -> list[Answer]:
    """The release's answer to each of these ranges."""
    for one in asked:
        spans(one, release.axes)
    several = len(release.axes) > 1
    lows, highs = (
        [one.lo if several else one.lo[0] for one in asked],
        [one.hi if several else one.hi[0] for one in asked],
    )
    return release.answers(lows, highs, confidence) if asked else []


def spans(one: Asked, axes: Sequence[Axis]) -> list[tuple[Fraction, Fraction]]:
    """The borders of a range on every axis.

    Raises:
        DawaError: If an end is not a value of its axis, or the range is empty; the error names the range.
    """
    try:
        return [axis.span(lo, hi) for axis, lo, hi in zip(axes, one.lo, one.hi, strict=True)]
    except DawaError as error:
        raise type(error)(f"{one.where} cannot be answered: {error.problem}", error.hint) from None


def _columns(header: list[str], axis: Axis, path: str | Path, *, alone: bool) -> tuple[int, int]:
    """The places of the two columns with the ends of an axis."""
    prefixes = ("", f"{axis.column}_") if alone else (f"{axis.column}_",)
    choices = [(prefix + lo, prefix + hi) for prefix in prefixes for lo, hi in ENDS]
    for lo, hi in choices:
        if header.count(lo) == 1 and header.count(hi) == 1:
            return header.index(lo), header.index(hi)
    shown = " or ".join(f"{lo},{hi}" for lo, hi in choices)
    raise WorkloadError(
        f"{path} does not say which columns hold the ranges of {axis.column!r}.",
        f"name the columns in its first line: {shown}.",
    )


def _check_labels(names: list[str], axes: Sequence[Axis], path: str | Path) -> None:
    """Other columns are copied beside the answers, so they need names of their own."""
    taken = {field.name for field in fields(Answer)} | {end for both in ENDS for end in both}
    taken |= {f"{axis.column}_{end}" for axis in axes for end in taken}
    for name in names:
        if name in taken or names.count(name) > 1:
            raise WorkloadError(f"{path} has a column {name!r} too many.", "rename it, or leave it out.")


def _asked(
    line: list[str], header: list[str], places: list[tuple[int, int]], axes: Sequence[Axis], where: str
) -> Asked:
    if len(line) != len(header):
        raise WorkloadError(f"{where} is not a range.", f"write one entry for each of {', '.join(header)}.")
    both = [notation.filled(line[lo], line[hi], axis) for (lo, hi), axis in zip(places, axes, strict=True)]
    taken = {place for pair in places for place in pair}
    return _of(both, where, tuple((header[i], line[i].strip()) for i in range(len(line)) if i not in taken))


def whole(axes: Sequence[Axis]) -> Asked:
    """All that there is: every axis from its first cell to its last."""
    return _of([notation.texts(axis, 0, axis.size) for axis in axes], "The whole range")


def example(axes: Sequence[Axis]) -> str:
    """A range to try with ``dawa query``, as it is typed: the middle half of every axis."""
    cells = [(axis.size // 4, max(3 * axis.size // 4, axis.size // 4 + 1)) for axis in axes]
    meant = [(Fraction(lo), Fraction(hi)) for lo, hi in cells]
    ways = [notation.joined(axis, lo, hi) for axis, (lo, hi) in zip(axes, cells, strict=True)]
    for text in map(",".join, product(*ways)):
        with suppress(DawaError):
            if spans(typed(text, axes), axes) == meant:
                return shlex.quote(text)
    return "--queries ranges.csv"  # categories that hold separators, and one another
