"""A release: the only thing that is published. It answers any range, any number of times, at no further cost."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import check, infer
from dawa.arrays import BoolArray, FloatArray, IntArray
from dawa.axis import Axis, AxisValue, State
from dawa.axis.apart import named, patterns, touching
from dawa.errors import OptionError, ReleaseError
from dawa.host import atomic
from dawa.limits import MOST_RELEASE_BYTES
from dawa.numerals import told
from dawa.queries.bucket_queries import BucketQueries, coordinates
from dawa.queries.workload import Workload
from dawa.results import file, json_text
from dawa.results.answers import Answer, answers
from dawa.results.estimate import Estimate
from dawa.results.statement import PrivacyStatement

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SPACE = b" \t\r\n\xef\xbb\xbf"
"""What may stand before the first value of a JSON file."""

PIECE = 2**16
"""Bytes of a file that are read at a time."""

End = AxisValue | Sequence[AxisValue] | NDArray[Any]
"""One end of a range: a value of the axis; with several axes, one value for each."""


@dataclass(frozen=True)
class Apart:
    """Records that are in no range of a release, for the same reason.

    Attributes:
        label: The reason, in words.
        states: Where their values lie on each axis.
        answer: How many they are.
    """

    label: str
    states: tuple[State, ...]
    answer: Answer


@dataclass(frozen=True, eq=False)
class Release:
    """An estimate with its axes and its privacy statement.

    Attributes:
        axes: The attributes, one to four.
        estimate: Bucket totals and what is known about their noise.
        privacy: What is protected, and how much was spent.
        others: The records that have no cell on some axis, one bucket for each way of having none; None if they were
            left out, or counted in the first or last cells. ``apart`` shows them.
    """

    axes: tuple[Axis, ...]
    estimate: Estimate
    privacy: PrivacyStatement
    others: Estimate | None = None

    @property
    def id(self) -> str | None:
        """The release's name, by which a ledger knows it; None in old files."""
        return self.privacy.id

    @property
    def axis(self) -> Axis:
        """The one axis of a one-dimensional release."""
        if len(self.axes) > 1:
            raise OptionError(f"This release has {len(self.axes)} axes.", "use rel.axes.")
        return self.axes[0]

    @property
    def bounds(self) -> NDArray[Any]:
        """Bucket bounds in the attribute's own units, on one axis."""
        return self.axis.value(self.estimate.buckets.bounds)

    def answer(self, lo: End, hi: End, confidence: float = 0.95) -> Answer:
        """How many records lie from ``lo`` up to but not including ``hi``.

        Args:
            lo: Lower end, in the attribute's own units; with several axes, one for each: ``(lon, lat)``.
            hi: Upper end.
            confidence: The probability, at least, that the truth lies between ``low`` and ``high``.

        Raises:
            AxisError: If an end lies outside the axis.
            OptionError: If the range is empty, or the confidence cannot be promised.
        """
        return self._answers([(lo, hi)], confidence)[0]

    def answers(self, lo: ArrayLike, hi: ArrayLike, confidence: float = 0.95) -> list[Answer]:
        """How many records lie in each of many ranges, with error bars; ``pandas.DataFrame`` reads the result.

        Args:
            lo: Lower ends; with several axes, one row each.
            hi: Upper ends.
            confidence: For each range on its own.
        """
        return self._answers(_pairs(lo, hi), confidence)

    def apart(self, confidence: float = 0.95) -> list[Apart]:
        """The records that are in no range: missing, outside or not listed, each kind with error bars.

        They were counted at no further cost, because a record is either in a cell or apart.

        >>> import dawa
        >>> table = {"age": [31, 45, 45, 62, None, "unknown"]}
        >>> rel = dawa.release(table, dawa.Axis("age", 0, 100, outside="own"), epsilon=1, seed=0)
        >>> [kind.label for kind in rel.apart()]
        ['age below 0', 'age from 100 on', 'age missing']
        """
        ways = patterns(self.axes)
        if self.others is None:
            return []
        each = np.arange(len(ways), dtype=np.float64)
        queries = BucketQueries.of_runs(len(ways), each, each + 1)
        whole = np.ones(len(ways), dtype=bool)
        notes = [self.privacy.kept] * len(ways)
        found = answers(self.others, queries, np.ones(len(ways)), whole, confidence, notes)
        return [Apart(named(self.axes, way), way, answer) for way, answer in zip(ways, found, strict=True)]

    def values(self, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> FloatArray:
        """The estimated number of records in each bucket, or in each of many ranges."""
        if lo is None and hi is None:
            return self.estimate.totals
        return self.estimate.totals_of(self._queries(_pairs(lo, hi))[0])

    def variances(self, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> FloatArray:
        """The variance of the noise in each bucket's total, or in each of many ranges, before post-processing."""
        if lo is None and hi is None:
            bucket = np.arange(len(self.estimate.buckets), dtype=np.float64)
            return self.estimate.range_variances(bucket, bucket + 1)
        return self.estimate.variances_of(self._queries(_pairs(lo, hi))[0])

    def quantile(self, fraction: float) -> Any:  # noqa: ANN401  the axis's own kind of value
        """The smallest value up to which at least this fraction of the records lies: 0.5 gives the median.

        It is about records that have a cell: those that ``apart`` lists are below no value and above none.

        It is a value that the attribute can have: an integer on an axis of integers, a category on an ordered axis.
        If cells are wider than that, records are assumed to lie evenly in them, and the value is rounded down to the
        unit of the axis: a whole number with a step of 100, an hour with a step of 6 hours, a day with months.

        >>> import dawa
        >>> from dawa.cli.demo import people
        >>> rel = dawa.release(people(5000), dawa.Axis("age", 0, 100), epsilon=1, seed=0)
        >>> rel.quantile(0.5)
        42
        """
        if not check.is_number(fraction) or not 0 <= fraction <= 1:
            raise OptionError(f"{told(fraction)} is not a fraction.", "pass a number from 0 to 1, such as 0.5.")
        axis, before = self.axis, self._records_before()
        return axis.value_in(*_holding(float(fraction), before, self.estimate.buckets.bounds))

    def sample(self, size: int, seed: int | None = None) -> NDArray[Any]:
        """Synthetic values with the released distribution: for tools that need rows, at no further cost.

        One value each on one axis, one row of values on several. On an axis of whole numbers values are whole;
        otherwise they lie anywhere in their bucket. All of them have a cell: records that ``apart`` lists are not
        drawn. No noise is added here, so a seed does no harm.
        """
        for name, number in (("size", size), ("seed", 0 if seed is None else seed)):
            check.whole(number, name, 0)
        before, bounds, rng = self._records_before(), self.estimate.buckets.bounds, np.random.default_rng(seed)
        place = np.interp(rng.uniform(0, before[-1], size), *_steps(before, bounds))
        cell = np.minimum(np.floor(place).astype(np.int64), bounds[-1] - 1)
        if len(self.axes) == 1:
            return self.axis.value(cell if self.axis.whole else place)
        cells = self.estimate.buckets.cells(cell, self.estimate.shape)
        places = cells + rng.uniform(0, 1, cells.shape)
        columns = [axis.value(cells[:, i] if axis.whole else places[:, i]) for i, axis in enumerate(self.axes)]
        if len({column.dtype.kind for column in columns}) > 1:  # dates and numbers have no type in common
            columns = [column.astype(object) for column in columns]
        return np.stack(columns, axis=1)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values, as ``save`` writes them."""
        return file.written(self.axes, self.estimate, self.privacy, self.others)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the release as JSON, whole or not at all; ``dawa.load`` reads it back."""
        return atomic.write(path, self.as_text())

    def as_text(self) -> str:
        """What ``save`` writes."""
        return json.dumps(self.to_json(), indent=1) + "\n"

    def report(self, path: str | PathLike[str]) -> Path:
        """Write a page in which a reader drags a range and reads the answer: one HTML file that needs nothing else.

        Raises:
            FolderError: If the file cannot be written.
        """
        from dawa.publish import page as report  # noqa: PLC0415  it shows releases

        return report.save(self, path)

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """A picture for a paper: a histogram with its uncertainty along one axis, a map over two.

        Args:
            path: Where to save it too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).

        Raises:
            OptionError: If there are more than two axes or too many cells, or the path has no known ending.
        """
        from dawa.plots import picture  # noqa: PLC0415  it draws releases

        return picture.figure(self, path)

    def _answers(self, pairs: list[tuple[object, object]], confidence: float) -> list[Answer]:
        queries, border, whole = self._queries(pairs)
        return answers(self.estimate, queries, border, whole, confidence, [self._note(*pair) for pair in pairs])

    def _note(self, lo: object, hi: object) -> str:
        """What a range holds besides its own values, and how many records of a unit were counted."""
        spans = ((axis, axis.span(low, high)) for axis, low, high in self._by_axis(lo, hi))
        held = touching(self.axes, [(start == 0, stop == axis.size) for axis, (start, stop) in spans])
        return "; ".join(part for part in (held, self.privacy.kept) if part)

    def _queries(self, pairs: list[tuple[object, object]]) -> tuple[BucketQueries, FloatArray, BoolArray]:
        """Ranges in the axes' own units as queries on buckets, their numbers of border cells, and which cut no cell."""
        spans = [[axis.span(a, b) for axis, a, b in self._by_axis(lo, hi)] for lo, hi in pairs]
        lo, hi = (np.array([[float(span[end]) for span in query] for query in spans]) for end in (0, 1))
        whole = np.array([all(border.denominator == 1 for span in query for border in span) for query in spans])
        buckets = self.estimate.buckets
        if len(self.axes) > 1:
            workload = Workload.rectangles(lo, hi, self.estimate.shape)
            return buckets.queries(workload), _border_cells(lo, hi, self.estimate.shape), whole
        runs = (coordinates(ends[:, 0], buckets.bounds) for ends in (lo, hi))
        return BucketQueries.of_runs(len(buckets), *runs), _border_cells(lo, hi, self.estimate.shape), whole

    def _by_axis(self, lo: object, hi: object) -> Iterator[tuple[Axis, object, object]]:
        """The two ends on every axis."""
        count = len(self.axes)
        lows, highs = ([lo], [hi]) if count == 1 and not (_listed(lo) and _listed(hi)) else (lo, hi)
        if not (_listed(lows) and _listed(highs) and len(lows) == len(highs) == count):
            names = ", ".join(axis.column for axis in self.axes)
            raise OptionError(
                f"A range of this release has two ends on each of {names}.", "pass (lo, …), (hi, …), one for each axis."
            )
        yield from zip(self.axes, lows, highs, strict=True)

    def _records_before(self) -> FloatArray:
        """Non-decreasing sums of records at the bucket bounds."""
        before = np.concatenate(([0.0], np.cumsum(infer.nonnegative(self.estimate.totals))))
        if before[-1] <= 0:
            raise ReleaseError(
                "The release holds no records, so it has no distribution.",
                "ask for counts instead; noise exceeds the counts here.",
            )
        return before

    def __repr__(self) -> str:
        axes = " × ".join(f"{axis.column!r} from {axis.start} to {axis.stop}" for axis in self.axes)
        buckets, ways = len(self.estimate.buckets), 0 if self.others is None else len(self.others.buckets)
        apart = f" and {ways} count{'s' * (ways != 1)} apart" if ways else ""
        return f"Release({axes}, epsilon={self.privacy.epsilon}, {buckets} bucket{'s' * (buckets != 1)}{apart})"

    def _repr_html_(self) -> str:
        """What a notebook shows: a picture, a line, and the privacy statement."""
        from dawa.plots import picture  # noqa: PLC0415  it draws releases

        return picture.page(self)


def load(path: str | PathLike[str]) -> Release:
    """Read a release that ``Release.save`` wrote.

    Raises:
        ReleaseError: If there is no such file, or it is not a release that this version can read.
    """
    return loaded(contents(path), str(Path(path)))


def contents(path: str | PathLike[str]) -> bytes:
    """The bytes of a file that should be a release, as far as that can be told before it is read to its end.

    Raises:
        ReleaseError: If there is no such file, or it does not begin like one.
    """
    source = Path(path)
    try:
        with source.open("rb") as opened:
            parts = [opened.read(PIECE)]
            begun = parts[0].lstrip(SPACE)[:1] in (b"{", b"", b"[")
            if begun and b"\0" not in parts[0]:  # what is endless, and no release, is not read on
                parts += _rest(opened, MOST_RELEASE_BYTES + 1 - len(parts[0]))
            content = b"".join(parts)
    except FileNotFoundError:
        raise ReleaseError(f"There is no file {source}.", "pass the path of a release.json.") from None
    except (OSError, ValueError):
        raise ReleaseError(f"{source} is not a JSON file.", "pass the path of a release.json.") from None
    except MemoryError:
        raise ReleaseError(f"{source} does not fit in memory.", "use a machine with more memory.") from None
    return content


def _rest(opened: BinaryIO, most: int) -> Iterator[bytes]:
    """What is left of a file, up to a limit, in pieces: a read of many bytes takes room for all of them beforehand.

    No JSON holds a zero byte, and gigabytes of them cost nothing to send in a sparse file: at the first one it ends.
    """
    while most > 0 and (piece := opened.read(min(PIECE, most))):
        yield piece
        most = 0 if b"\0" in piece else most - len(piece)


def loaded(content: bytes, source: str = "The file") -> Release:
    """A release from the bytes of its file.

    Args:
        content: The bytes.
        source: What to call them in an error.

    Raises:
        ReleaseError: If they are not a release that this version can read; the error names the field.
    """
    try:
        return Release(*file.read(json_text.values(content, source)))
    except MemoryError:
        raise ReleaseError(f"{source} does not fit in memory.", "use a machine with more memory.") from None


def _border_cells(lo: FloatArray, hi: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """At most how many cells of each box have a neighbour outside it.

    A bucket is a connected patch, so a bucket that a box cuts holds such a cell.
    """
    widths, size = np.ceil(hi) - np.floor(lo), np.array(shape)
    faces = (lo > 0).astype(np.float64) + (hi < size)
    cells: FloatArray = (faces * widths.prod(axis=1, keepdims=True) / widths).sum(axis=1)
    return np.maximum(cells, 1)


def _listed(end: object) -> TypeGuard[tuple[object, ...] | list[object] | NDArray[Any]]:
    """Whether an end is a row of several values."""
    return isinstance(end, (tuple, list, np.ndarray))


def _several(end: ArrayLike) -> list[object]:
    """One end as a list, several ends as they are: rows of any kinds and lengths, which numpy would not take."""
    one = isinstance(end, str) or not isinstance(end, Iterable) or (isinstance(end, np.ndarray) and end.ndim == 0)
    return [end] if one else list(end)  # type: ignore[arg-type]  # an Iterable, as mypy cannot see


def _pairs(lo: ArrayLike | None, hi: ArrayLike | None) -> list[tuple[object, object]]:
    """Lower and upper ends, pair by pair, as plain values."""
    if lo is None or hi is None:
        raise OptionError("Only one end of the ranges is given.", "pass both lo and hi, or neither.")
    lows, highs = (_several(end) for end in (lo, hi))
    if len(lows) != len(highs) or not lows:
        raise OptionError("lo and hi do not have the same length.", "pass one hi for every lo.")
    return list(zip(lows, highs, strict=True))


def _holding(fraction: float, before: FloatArray, bounds: IntArray) -> tuple[int, Fraction]:
    """The first cell up to whose end at least this fraction of all records lies, and which part of it is needed.

    The result is exact from the running sums on, so a page that computes with the same sums finds the same cell.
    """
    occupied = np.flatnonzero(np.diff(before) > 0)
    wanted = fraction * float(before[-1])
    bucket = int(occupied[np.searchsorted(before[occupied + 1], wanted)])
    below, upto = (Fraction(float(records)) for records in before[bucket : bucket + 2])
    first, beyond = (int(bound) for bound in bounds[bucket : bucket + 2])
    cells = (Fraction(wanted) - below) / (upto - below) * (beyond - first)
    whole = max(math.ceil(cells) - 1, 0)  # a quantile at the end of a cell belongs to this cell
    return first + whole, cells - whole


def _steps(before: FloatArray, bounds: IntArray) -> tuple[FloatArray, FloatArray]:
    """The running sums without empty buckets, for inverting them: both ends of every bucket that holds records."""
    occupied = np.diff(before) > 0
    keep = np.append(occupied, False) | np.append(False, occupied)
    return before[keep], bounds[keep].astype(np.float64)
