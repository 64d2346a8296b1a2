"""A release: the only thing that is published. It answers any range, any number of times, at no further cost."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import check
from dawa.arrays import FloatArray, frozen
from dawa.axis import Axis, State
from dawa.axis.apart import named, patterns, touching
from dawa.axis.ordered import Label
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_IN_FLOATS
from dawa.numerals import told
from dawa.queries.bucket_queries import BucketQueries
from dawa.results import archive, bands, comparing, ends, file, histogram, quantiles, statistics, tabled, uhi, views
from dawa.results.about import About
from dawa.results.answers import Answer, Ranged, Steps, answers_in_steps, figures_in_steps, finished
from dawa.results.bands import Band
from dawa.results.ends import End, Range
from dawa.results.estimate import Estimate
from dawa.results.histogram import Measured
from dawa.results.insides import Grid, Line
from dawa.results.quantiles import Quantile
from dawa.results.statement import PrivacyStatement
from dawa.results.statistics import Statistic

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROWS = 2**16
"""Synthetic rows that are drawn at a time."""


@dataclass(frozen=True)
class Apart:
    """Records that are in no range of a release, for the same reason.

    Attributes:
        label: The reason, in words.
        states: Where their values lie on each axis.
        answer: How many they are.
        columns: What the states are about: the axes, or the columns that put records into groups.
    """

    label: str
    states: tuple[State, ...]
    answer: Answer
    columns: tuple[str, ...] = ()


def apart_of(
    axes: Sequence[Axis], ways: Sequence[tuple[State, ...]], others: Sequence[Estimate], confidence: float, note: str
) -> list[Apart]:
    """The records that are counted apart, one number for each of these ways; ``axes`` name what the ways are about.

    Several estimates are about different records, which add up.
    """
    return finished(apart_in_steps(axes, ways, others, confidence, note))


def apart_in_steps(
    axes: Sequence[Axis], ways: Sequence[tuple[State, ...]], others: Sequence[Estimate], confidence: float, note: str
) -> Steps[list[Apart]]:
    """The same, for who must not wait for hundreds of estimates at once."""
    each, one = np.arange(len(ways), dtype=np.float64), np.ones(len(ways))
    queries = BucketQueries.of_runs(len(ways), each, each + 1)
    ranged = [Ranged(estimate, queries, one, one > 0) for estimate in others]
    found = yield from answers_in_steps(ranged, confidence, [note] * len(ways))
    columns = tuple(axis.column for axis in axes)
    return [Apart(named(axes, way), way, answer, columns) for way, answer in zip(ways, found, strict=True)]


def answers_of(ranged: Sequence[Ranged], asked: ends.Asked, kept: str, confidence: float) -> Steps[list[Answer]]:
    """Answers that keep the ranges that were asked, with what is remarked about each."""
    notes = ["; ".join(part for part in (held, kept) if part) for held in asked.held]
    return (yield from answers_in_steps(ranged, confidence, notes, (asked.lo, asked.hi)))


@dataclass(frozen=True, eq=False)
class Release(archive.Saveable, views.Viewed):
    """An estimate with its axes and its privacy statement.

    Attributes:
        axes: The attributes, one to four, each with its bins, as ``values`` has them.
        estimate: Bucket totals and what is known about their noise.
        privacy: What is protected, and how much was spent.
        others: The records that have no cell on some axis, one bucket for each way of having none; None if they were
            left out, or counted in the first or last cells. ``apart`` shows them.
        about: Words about the data, as their custodian chose them; None if there are none.
        group: Which group of a ``GroupedRelease`` this is, its value in each of the columns in ``privacy.by``; empty if
            there are no groups.
    """

    axes: tuple[Axis, ...]
    estimate: Estimate
    privacy: PrivacyStatement
    others: Estimate | None = None
    about: About | None = None
    group: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        if self.about is not None:
            object.__setattr__(self, "about", self.about.dated() if self.about.to_json() else None)
        usual = histogram.default(self.axes, [self.estimate])
        object.__setattr__(
            self, "axes", tuple(axis.binned(along) for axis, along in zip(self.axes, usual, strict=True))
        )

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

    @property
    def buckets(self) -> tabled.BucketTable:
        """The buckets on one axis: their ends in the attribute's own units, cells, value, standard deviation.

        >>> import dawa
        >>> rel = dawa.release({"age": [31, 45, 45, 62]}, dawa.Axis("age", 0, 100), epsilon=1, partition="one", seed=0)
        >>> [(bucket.lo, bucket.hi, bucket.cells) for bucket in rel.buckets]
        [(0, 100, 100)]

        Raises:
            OptionError: If there are several axes.
        """
        if len(self.axes) > 1:
            raise OptionError(
                f"This release has {len(self.axes)} axes, and buckets of any shape.",
                "use rel.to_pandas() for its cells, or rel.answers for ranges.",
            )
        return tabled.BucketTable.of(self.axis, self.estimate)

    @property
    def total(self) -> Answer:
        """How many records lie on the axes, with 95% confidence; those in no range are in ``apart``."""
        lows, highs = ([getattr(axis, end) for axis in self.axes] for end in ("start", "stop"))
        return self._answers(ends.one_by_one(self.axes, [(lows, highs)]), 0.95)[0]

    def answer(self, lo: End, hi: End | None = None, confidence: float = 0.95) -> Answer:
        """How many records lie from ``lo`` up to but not including ``hi``.

        Args:
            lo: Lower end, in the attribute's own units; with several axes, one for each: ``(lon, lat)``.
            hi: Upper end. None if the axis has addresses, and ``lo`` is a network such as ``"10.0.0.0/8"``.
            confidence: The probability, at least, that the truth lies between ``low`` and ``high``.

        Raises:
            AxisError: If an end lies outside the axis.
            OptionError: If the range is empty, or the confidence cannot be promised.
        """
        return self._answers(ends.one_by_one(self.axes, [(lo, hi)]), confidence)[0]

    def answers(self, lo: ArrayLike, hi: ArrayLike | None = None, confidence: float = 0.95) -> list[Answer]:
        """How many records lie in each of many ranges, with error bars; ``pandas.DataFrame`` reads the result.

        Args:
            lo: Lower ends; with several axes, one row each.
            hi: Upper ends.
            confidence: For each range on its own.
        """
        return self._answers(ends.asked(self.axes, lo, hi), confidence)

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
        return apart_of(self.axes, ways, [self.others], confidence, self.privacy.kept)

    @property
    def kind(self) -> str:
        """What bins hold, as UHI calls it: numbers of records."""
        return histogram.COUNT

    def values(self, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> FloatArray:
        """The estimated number of records in each bin, or in each of many ranges.

        The bins are the buckets of one axis; over several axes, a grid of cells, or of runs of cells if there are more
        than a million.
        """
        if lo is None and hi is None:
            return self._binned[0]
        return self.estimate.totals_of(self._on_buckets(lo, hi).queries)

    def variances(self, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> FloatArray:
        """The variance of the noise in each bin's number, or in each of many ranges, before post-processing.

        Noise is correlated, so the variance of two bins together is not the sum of theirs: ask for the range.
        """
        if lo is None and hi is None:
            return self._binned[1].copy()
        return self.estimate.variances_of(self._on_buckets(lo, hi).queries)

    def counts(self) -> FloatArray:
        """The effective number of entries of each bin, as UHI defines it: its value squared, over its variance."""
        return histogram.effective(*self._binned)

    @cached_property
    def _binned(self) -> tuple[FloatArray, FloatArray]:
        """Values and variances in the bins of the axes."""
        values, variances = histogram.binned(self.estimate, [axis.bins for axis in self.axes])
        return frozen(values), frozen(variances)

    def quantile(self, fraction: float, confidence: float = 0.95) -> Quantile:
        """The smallest value up to which at least this fraction of the records lies: 0.5 gives the median.

        It is about records that have a cell: those that ``apart`` lists are below no value and above none.

        ``value`` is one that the attribute can have: an integer on an axis of integers, a category on an ordered axis.
        If cells are wider than that, records are assumed to lie evenly in them, and the value is rounded down to the
        unit of the axis: a whole number with a step of 100, an hour with a step of 6 hours, a day with months. The true
        quantile, rounded down in the same way, lies from ``low`` to ``high``.

        >>> import dawa
        >>> from dawa.cli.demo import people
        >>> rel = dawa.release(people(5000), dawa.Axis("age", 0, 100), epsilon=1, seed=0)
        >>> median = rel.quantile(0.5)
        >>> median.value, median.low <= 42 <= median.high
        (42, True)
        """
        return self.quantiles([fraction], confidence)[0]

    def quantiles(self, fractions: Sequence[float], confidence: float = 0.95) -> list[Quantile]:
        """Several quantiles, each with an interval that holds the true one with this confidence on its own."""
        if isinstance(fractions, str) or not isinstance(fractions, Iterable):
            raise OptionError(f"{told(fractions)} is no list of fractions.", "pass several, such as [0.25, 0.5, 0.75].")
        axis, wanted = self.axis, [quantiles.check_fraction(fraction) for fraction in fractions]
        remark = self._remark_of_all()
        return [
            Quantile(
                fraction,
                axis.value_in(found.cell, found.part),
                axis.value_in(found.first, Fraction(0)),
                axis.value_in(found.last, Fraction(1)),
                float(confidence),
                remark,
            )
            for fraction, found in zip(wanted, quantiles.held(self.estimate, wanted, confidence), strict=True)
        ]

    def mean(self, confidence: float = 0.95) -> Statistic:
        """The mean of the records' values along one axis of numbers; of records that have a cell.

        Values are read as the axis distinguishes them: on an axis of whole numbers, each is rounded down to one. Values
        that were counted in the first or last cell count as values there.
        """
        mean, _ = self.mean_and_sum(confidence)
        if np.isnan(mean.value):
            raise quantiles.no_records()
        return mean

    def sum(self, confidence: float = 0.95) -> Statistic:
        """The sum of the records' values along one axis of numbers, read as ``mean`` reads them."""
        return self.mean_and_sum(confidence)[1]

    def mean_and_sum(self, confidence: float = 0.95) -> tuple[Statistic, Statistic]:
        """Both at once; the mean is not a number if there seem to be no records."""
        values = statistics.Values.of(self.axis, self.estimate.buckets.bounds)
        mean, total = statistics.mean_and_sum(self.estimate, values, confidence)
        said = (float(confidence), self._remark_of_all(values.remark))
        return Statistic("mean", *mean, *said), Statistic("sum", *total, *said)

    def share(self, lo: End, hi: End | None = None, confidence: float = 0.95) -> Statistic:
        """The part of all records that lies from ``lo`` up to but not including ``hi``; of records that have a cell."""
        lows, highs = zip(*((axis.start, axis.stop) for axis in self.axes), strict=True)
        first, every = self._ranged(lo, hi), self._ranged(lows, highs)
        found = statistics.ratio(comparing.pair(first, every, confidence, apart=False))
        return Statistic("share", *found, float(confidence), self._note(lo, hi))

    def difference(
        self, first: Range, second: Range, other: "Release | None" = None, confidence: float = 0.95
    ) -> Statistic:
        """How many more records lie in one range than in another.

        Args:
            first: The lower and the upper end of a range.
            second: Those of another.
            other: The release that the second range is of; None means this one.
            confidence: The probability, at least, that the truth lies between ``low`` and ``high``.
        """
        pair, remark = self._pair(first, second, other, confidence)
        return Statistic("difference", *comparing.difference(pair), float(confidence), remark)

    def ratio(self, first: Range, second: Range, other: "Release | None" = None, confidence: float = 0.95) -> Statistic:
        """How many times as many records lie in one range as in another; ``high`` is infinite if that may be empty.

        Args:
            first: The lower and the upper end of a range.
            second: Those of another.
            other: The release that the second range is of; None means this one.
            confidence: The probability, at least, that the truth lies between ``low`` and ``high``.
        """
        pair, remark = self._pair(first, second, other, confidence)
        return Statistic("ratio", *statistics.ratio(pair), float(confidence), remark)

    def band(self, confidence: float = 0.95) -> Band:
        """How many records lie below every bound at once, as numbers and as parts of all; along one axis."""
        return bands.band(self.estimate, self.bounds, confidence, self._remark_of_all())

    def sample(self, size: int, seed: int | None = None) -> NDArray[Any]:
        """Synthetic values with the released distribution: for tools that need rows, at no further cost.

        One value each on one axis, one row of values on several. On an axis of whole numbers values are whole;
        otherwise they lie anywhere in their bucket, and where there are more than 2^53 cells, at the beginning of one.
        All of them have a cell: records that ``apart`` lists are not drawn. No noise is added here, so a seed does no
        harm.
        """
        drawn = list(self.sampled(size, seed))
        columns = [np.concatenate(parts) for parts in zip(*drawn, strict=True)]
        if len(columns) == 1:
            return columns[0]
        if len({column.dtype.kind for column in columns}) > 1:  # dates and numbers have no type in common
            columns = [column.astype(object) for column in columns]
        return np.stack(columns, axis=1)

    def sampled(self, size: int, seed: int | None = None) -> Iterator[list[NDArray[Any]]]:
        """The same values as from ``sample`` in pieces, each with a column for every axis: for tables of any length."""
        for name, number in (("size", size), ("seed", 0 if seed is None else seed)):
            check.whole(number, name, 0)
        estimate, placed = self.estimate, self.estimate.placed
        before, bounds = quantiles.records_before(estimate), estimate.buckets.bounds
        if isinstance(placed, Grid):
            before, bounds = np.concatenate(([0.0], np.cumsum(placed.cells))), np.arange(estimate.size + 1)
        rng, widths = np.random.default_rng(seed), np.diff(bounds)
        for begin in range(0, max(size, 1), ROWS):
            bucket, part = quantiles.drawn(before, rng.uniform(0, before[-1], min(size - begin, ROWS)))
            if isinstance(placed, Line):
                part = placed.moved_parts(bucket, part)
            inside = part * widths[bucket]
            cell = np.minimum(inside.astype(np.int64), widths[bucket] - 1)
            if bounds[-1] > MOST_CELLS_IN_FLOATS:  # a part of a wide bucket has 53 bits: the others are drawn, too
                cell = np.minimum(cell + rng.integers(0, (widths[bucket] >> 52) + 1), widths[bucket] - 1)
            if len(self.axes) == 1:
                exact = self.axis.whole or bounds[-1] > MOST_CELLS_IN_FLOATS
                yield [self.axis.value(bounds[bucket] + cell if exact else bounds[bucket] + inside)]
                continue
            cell = bounds[bucket] + cell
            cells = placed.at(cell) if isinstance(placed, Grid) else estimate.buckets.cells(cell, estimate.shape)
            places = cells + rng.uniform(0, 1, cells.shape)
            yield [axis.value(cells[:, i] if axis.whole else places[:, i]) for i, axis in enumerate(self.axes)]

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

    def _measured(self) -> list[Measured]:
        return [Measured(self.estimate, self.others)]

    def _told(self) -> dict[str, uhi.Word]:
        group = {name: str(value) for name, value in zip(self.privacy.by, self.group, strict=False)}
        return {**views.facts(self.privacy, self.about), **{f"group: {name}": value for name, value in group.items()}}

    def _kept(self) -> str:
        return self.privacy.kept

    def _table(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> dict[str, NDArray[Any]]:
        if lo is not None or hi is not None:
            asked = ends.asked(self.axes, lo, hi)
            ranged = Ranged(self.estimate, *ends.placed(asked.corners, self.estimate))
            figures = finished(figures_in_steps([ranged], confidence))
            return {**ends.columns(self.axes, asked), **figures._asdict()}
        return self.buckets.columns() if len(self.axes) == 1 else tabled.cells(self.axes, self.estimate)

    def _document(self) -> dict[str, Any]:
        """The same with arrays in the place of long lists."""
        return file.written(file.Parts(self.axes, self.estimate, self.privacy, self.others, self.about, self.group))

    def _answers(self, asked: ends.Asked, confidence: float) -> list[Answer]:
        ranged = Ranged(self.estimate, *ends.placed(asked.corners, self.estimate))
        return finished(answers_of([ranged], asked, self.privacy.kept, confidence))

    def _on_buckets(self, lo: ArrayLike | None, hi: ArrayLike | None) -> ends.OnBuckets:
        """Many ranges as queries on buckets."""
        return ends.placed(ends.asked(self.axes, lo, hi).corners, self.estimate)

    def _ranged(self, lo: object, hi: object) -> comparing.Compared:
        ranged = Ranged(self.estimate, *ends.queries(self.axes, self.estimate, [(lo, hi)]))
        return comparing.Compared(ranged, ends.spans(self.axes, lo, hi))

    def _pair(
        self, first: Range, second: Range, other: "Release | None", confidence: float
    ) -> tuple[statistics.Pair, str]:
        """Two ranges, the second perhaps of another release, and what to remark about them."""
        rel = self if other is None else other
        if not isinstance(rel, Release):
            raise OptionError(f"{told(rel)} is not a release.", "pass one, such as dawa.load(…), or leave it out.")
        for one in (first, second):
            ends.check_pair(one)
        apart = self._drawn_apart(rel)
        notes = dict.fromkeys((self._note(*first), rel._note(*second)))  # noqa: SLF001  a release too
        ranged = self._ranged(*first), rel._ranged(*second)  # noqa: SLF001
        pair = comparing.pair(*ranged, confidence, apart=apart)
        return pair, "; ".join(note for note in notes if note)

    def _drawn_apart(self, rel: "Release") -> bool:
        """Whether the noise of this release and that of another one are known to be independent."""
        if None in {self.id, rel.id}:
            return False
        if self.id == rel.id:  # one run, which drew the noise of its groups one after the other
            return self.privacy.by == rel.privacy.by and self.group != rel.group
        return self.privacy.private and rel.privacy.private

    def _remark_of_all(self, reading: str = "") -> str:
        """What is remarked about all records together."""
        held = touching(self.axes, [(True, True)] * len(self.axes))
        return "; ".join(part for part in (reading, held, self.privacy.kept) if part)

    def _note(self, lo: object, hi: object) -> str:
        """What a range holds besides its own values, and how many records of a unit were counted."""
        return "; ".join(part for part in (ends.held(self.axes, lo, hi), self.privacy.kept) if part)

    def __repr__(self) -> str:
        axes = " × ".join(f"{axis.column!r} from {axis.start} to {axis.stop}" for axis in self.axes)
        buckets, ways = len(self.estimate.buckets), 0 if self.others is None else len(self.others.buckets)
        apart = f" and {ways} count{'s' * (ways != 1)} apart" if ways else ""
        which = ", ".join(f"{name}={value!r}" for name, value in zip(self.privacy.by, self.group, strict=False))
        axes = f"{which}, {axes}" if which else axes
        return f"Release({axes}, epsilon={self.privacy.epsilon}, {buckets} bucket{'s' * (buckets != 1)}{apart})"

    def _repr_html_(self) -> str:
        """What a notebook shows: a picture, a line, and the privacy statement."""
        from dawa.plots import picture  # noqa: PLC0415  it draws releases

        return picture.page(self)
