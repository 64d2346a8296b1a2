"""A release of groups: one histogram for each of several groups of records, under one epsilon.

A record is in one group at most, so the groups' histograms are about different records and were made one after the
other, each with the whole budget. Every group is a ``Release`` of its own; what can be asked of all groups together is
asked here. ``answers`` says why the intervals hold.
"""

from collections.abc import Iterator, Mapping, ValuesView
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import check, infer
from dawa.axis import Axis
from dawa.axis.apart import named, patterns
from dawa.axis.base import labelled
from dawa.axis.groups import Group, Grouping, combinations, number
from dawa.errors import OptionError, ReleaseError
from dawa.results import archive, comparing, ends, file, histogram, quantiles, uhi, views
from dawa.results.about import About
from dawa.results.answers import Answer, Ranged, Steps, finished
from dawa.results.ends import End
from dawa.results.estimate import Estimate
from dawa.results.histogram import Measured
from dawa.results.insides import Inside
from dawa.results.release import ROWS, Apart, Release, answers_of, apart_of
from dawa.results.statement import PrivacyStatement
from dawa.results.statistics import Statistic

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIELDS = {field.name for field in fields(Release)}


class OneGroupError(OptionError, AttributeError):
    """What can be asked of one group only was asked of a release of groups."""


@dataclass(frozen=True, eq=False, repr=False)
class GroupedRelease(archive.Saveable, views.Viewed, Mapping[Group, Release]):
    """A release with a histogram for each group: ``rel["AA"]`` is the release of one, ``rel.answer`` is about all.

    With several grouping columns a group is one value of each: ``rel["AA", "JFK"]``.

    Attributes:
        by: The columns that put records into groups, and their values.
        axes: The attributes, one to four, of every group.
        privacy: What is protected, and how much was spent, for all groups together.
        estimates: Bucket totals of each group.
        others: The records of each group that have no cell on some axis; None if they were left out.
        none: The records in no group, one bucket for each way of being in none. ``apart`` shows them.
        about: Words about the data, as their custodian chose them; None if there are none.

    >>> import dawa
    >>> from dawa.cli.demo import people
    >>> table = {**people(3000), "city": ["Rome", "Oslo", "Lima"] * 1000}
    >>> age = dawa.Axis("age", 0, 100)
    >>> rel = dawa.release(table, age, epsilon=1, by="city", groups=["Rome", "Oslo"], seed=0)
    >>> rel.groups, "Lima" in rel
    (('Rome', 'Oslo'), False)
    >>> both, one = rel.answer(20, 60), rel["Oslo"].answer(20, 60)
    >>> 0 < one.value < both.value
    True
    """

    by: tuple[Grouping, ...]
    axes: tuple[Axis, ...]
    privacy: PrivacyStatement
    estimates: tuple[Estimate, ...]
    others: tuple[Estimate | None, ...]
    none: Estimate
    about: About | None = None

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __post_init__(self) -> None:
        if self.about is not None:
            object.__setattr__(self, "about", self.about.dated() if self.about.to_json() else None)

    @property
    def id(self) -> str | None:
        """The release's name, by which a ledger knows it."""
        return self.privacy.id

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """What the groups are called, in order: values; with several grouping columns, one value of each."""
        every = combinations(self.by)
        return every if len(self.by) > 1 else tuple(group for (group,) in every)

    # --- as a mapping -----------------------------------------------------------------------------------------------

    @cached_property
    def _releases(self) -> tuple[Release, ...]:
        parts = zip(combinations(self.by), self.estimates, self.others, strict=True)
        return tuple(
            Release(
                self.axes,
                estimate,
                self.privacy.spending(file.split_of(self.privacy, estimate)),
                others,
                self.about,
                group,
            )
            for group, estimate, others in parts
        )

    def __getitem__(self, group: Group) -> Release:
        return self._releases[number(self.by, group)]

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.estimates)

    def values(self, *ranges: object) -> ValuesView[Release]:  # ends of ranges are refused
        """The releases of all groups; what a release calls by this name is asked of one group."""
        if ranges:
            raise self._of_one("values")
        return super().values()

    def __contains__(self, group: object) -> bool:
        try:
            number(self.by, group)
        except OptionError:
            return False
        return True

    def get(self, group: Group, default: Any = None) -> Any:  # noqa: ANN401  whatever the default is
        """The release of a group, or the default if there is no such group."""
        try:
            return self[group]
        except OptionError:
            return default

    # --- all groups together ----------------------------------------------------------------------------------------

    @property
    def total(self) -> Answer:
        """How many records of all groups lie on the axes, with 95% confidence; those in no group are in ``apart``."""
        lows, highs = ([getattr(axis, end) for axis in self.axes] for end in ("start", "stop"))
        return self._answers(ends.one_by_one(self.axes, [(lows, highs)]), 0.95)[0]

    def answer(self, lo: End, hi: End | None = None, confidence: float = 0.95) -> Answer:
        """How many records of all groups lie from ``lo`` up to but not including ``hi``.

        Records in no group are not among them.

        Args:
            lo: Lower end, in the attribute's own units; with several axes, one for each.
            hi: Upper end.
            confidence: The probability, at least, that the truth lies between ``low`` and ``high``.
        """
        return self._answers(ends.one_by_one(self.axes, [(lo, hi)]), confidence)[0]

    def answers(self, lo: ArrayLike, hi: ArrayLike | None = None, confidence: float = 0.95) -> list[Answer]:
        """How many records of all groups lie in each of many ranges.

        Args:
            lo: Lower ends; with several axes, one row each.
            hi: Upper ends.
            confidence: For each range on its own.
        """
        return self._answers(ends.asked(self.axes, lo, hi), confidence)

    def answers_in_steps(
        self, lo: ArrayLike, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> Steps[list[Answer]]:
        """The same as ``answers``, as a generator: for who must not wait for hundreds of groups at once."""
        return self._in_steps(ends.asked(self.axes, lo, hi), confidence)

    def answers_by_group(self, lo: End, hi: End | None = None, confidence: float = 0.95) -> list[tuple[Group, Answer]]:
        """How many records of each group lie from ``lo`` up to but not including ``hi``.

        Args:
            lo: Lower end.
            hi: Upper end.
            confidence: For each group on its own.
        """
        return [(group, rel.answer(lo, hi, confidence)) for group, rel in self.items()]

    def share(self, group: Group, lo: End, hi: End | None = None, confidence: float = 0.95) -> Statistic:
        """Which part of the records of all groups in a range is in one group.

        >>> import dawa
        >>> table = {"sex": ["f", "m", "m"] * 2000, "age": [31, 45, 62] * 2000}
        >>> rel = dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="sex", groups=["f", "m"], seed=0)
        >>> part = rel.share("m", 0, 100)
        >>> part.low <= 2 / 3 <= part.high
        True
        """
        at, spans = number(self.by, group), ends.spans(self.axes, lo, hi)
        ranged = [comparing.Compared(one, spans) for one in self._ranged([(lo, hi)])]
        found = comparing.part(ranged.pop(at), ranged, confidence)
        return Statistic("share", *found, float(confidence), self._note(lo, hi))

    def apart(self, confidence: float = 0.95) -> list[Apart]:
        """The records in no group: with a value that is not listed, or without one, each kind with error bars.

        They were counted at no further cost, because a record is in a group or in none. Records of a group that have no
        cell on an axis are in that group's own ``apart``.
        """
        columns = [grouping.axis for grouping in self.by]
        return apart_of(columns, patterns(self.by), [self.none], confidence, self.privacy.kept)

    def sample(self, size: int, seed: int | None = None) -> NDArray[Any]:
        """Synthetic rows with the released distribution: a value of each grouping column, then one of each axis.

        All of them are in a group and have a cell. No noise is added here, so a seed does no harm.
        """
        pieces = [np.stack([column.astype(object) for column in piece], axis=1) for piece in self.sampled(size, seed)]
        return np.concatenate(pieces)

    def sampled(self, size: int, seed: int | None = None) -> Iterator[list[NDArray[Any]]]:
        """The same rows as from ``sample`` in pieces, each with all columns: for tables of any length."""
        for name, given in (("size", size), ("seed", 0 if seed is None else seed)):
            check.whole(given, name, 0)
        rng = np.random.default_rng(seed)
        weights = np.array([float(infer.nonnegative(estimate.totals).sum()) for estimate in self.estimates])
        if not weights.sum() > 0:
            raise quantiles.no_records()
        for begin in range(0, max(size, 1), ROWS):
            sizes = rng.multinomial(min(size - begin, ROWS), weights / weights.sum())
            drawn = np.flatnonzero(sizes) if sizes.any() else np.array([weights.argmax()])
            parts = [next(self._releases[at].sampled(int(sizes[at]), int(rng.integers(2**62)))) for at in drawn]
            columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
            order = rng.permutation(len(columns[0]))
            groups = self._group_columns(np.repeat(drawn, sizes[drawn])).values()
            yield [column[order] for column in (*groups, *columns)]

    # --- files ------------------------------------------------------------------------------------------------------

    # --- to look at --------------------------------------------------------------------------------------------------

    def report(self, path: str | PathLike[str]) -> Path:
        """Write a page in which a reader chooses a group, drags a range and reads the answers of all groups.

        It is one HTML file that needs nothing else.

        Raises:
            FolderError: If the file cannot be written.
        """
        from dawa.publish import page as report  # noqa: PLC0415  it shows releases

        return report.save(self, path)

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """A picture of each group, up to 24 on one sheet: histograms along one axis, maps over two.

        Args:
            path: Where to save it too; the ending says in which format (``.pdf``, ``.svg``, ``.png``).

        Raises:
            OptionError: If there are more than two axes or too many cells, or the path has no known ending.
        """
        from dawa.plots import multiples  # noqa: PLC0415  it draws releases

        return multiples.figure(self, path)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _document(self) -> dict[str, Any]:
        """The release as JSON values, with arrays in the place of long lists."""
        parts = (self.by, self.axes, self.privacy, self.estimates, self.others, self.none, self.about)
        return file.written_groups(file.GroupedParts(*parts))

    def _ranged(self, pairs: list[tuple[object, object]]) -> list[Ranged]:
        """The ranges on every group's buckets."""
        corners = ends.corners(self.axes, pairs)
        return [Ranged(estimate, *ends.placed(corners, estimate)) for estimate in self.estimates]

    def _answers(self, asked: ends.Asked, confidence: float) -> list[Answer]:
        return finished(self._in_steps(asked, confidence))

    def _in_steps(self, asked: ends.Asked, confidence: float) -> Steps[list[Answer]]:
        ranged = []
        for estimate in self.estimates:
            ranged += [Ranged(estimate, *ends.placed(asked.corners, estimate))]
            yield
        return (yield from answers_of(ranged, asked, self.privacy.kept, confidence))

    def _note(self, lo: object, hi: object) -> str:
        return "; ".join(part for part in (ends.held(self.axes, lo, hi), self.privacy.kept) if part)

    def _measured(self) -> list[Measured]:
        return [Measured(estimate, others) for estimate, others in zip(self.estimates, self.others, strict=True)]

    def _groupings(self) -> tuple[Grouping, ...]:
        return self.by

    def _told(self) -> dict[str, uhi.Word]:
        named_by, found = [grouping.axis for grouping in self.by], views.facts(self.privacy, self.about)
        for at, way in enumerate(patterns(self.by)):
            found |= histogram.said(named(named_by, way), [self.none], at)
        return found

    def _kept(self) -> str:
        return self.privacy.kept

    def _table(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> dict[str, NDArray[Any]]:
        tables = [rel._table(lo, hi, confidence) for rel in self.values()]  # noqa: SLF001  a release too
        return views.grouped(self._group_columns(np.arange(len(self))), tables)

    def _group_columns(self, at: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The value of each grouping column, for rows of these groups."""
        every = combinations(self.by)
        return {
            grouping.column: labelled([group[place] for group in every], (len(every),))[at]
            for place, grouping in enumerate(self.by)
        }

    if not TYPE_CHECKING:  # so that type checkers find whoever asks all groups for what one has

        def __getattr__(self, name: str) -> None:
            if name.startswith("_") or not (hasattr(Release, name) or name in FIELDS):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise self._of_one(name)

    def _of_one(self, name: str) -> OneGroupError:
        return OneGroupError(
            f"{name} is asked of one group, and this release has {len(self.estimates)}.",
            f"choose one: rel[{self.groups[0]!r}].{name}, for example.",
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: pictures, a line, and the privacy statement."""
        from dawa.plots import multiples  # noqa: PLC0415  it draws releases

        return multiples.page(self)

    def __repr__(self) -> str:
        axes = " × ".join(f"{axis.column!r} from {axis.start} to {axis.stop}" for axis in self.axes)
        by = " × ".join(f"{grouping.column!r}" for grouping in self.by)
        count = len(self)
        return f"GroupedRelease({count} group{'s' * (count != 1)} by {by}, {axes}, epsilon={self.privacy.epsilon})"


AnyRelease = Release | GroupedRelease
"""A release, with groups or without."""


def estimates_of(release: AnyRelease) -> tuple[Estimate, ...]:
    """The histograms: that of each group, or the only one there is."""
    return (release.estimate,) if isinstance(release, Release) else release.estimates


def inside_of(release: AnyRelease) -> Inside:
    """Where records lie inside buckets; of groups, wherever that is not simply evenly."""
    return "smooth" if any(estimate.inside == "smooth" for estimate in estimates_of(release)) else "even"


def single(release: AnyRelease) -> Release:
    """A release without groups, for what cannot take another.

    Raises:
        ReleaseError: If it has groups.
    """
    if isinstance(release, GroupedRelease):
        raise ReleaseError(
            f"This release has {len(release)} groups, and a release without groups is needed here.",
            f"save one of them: dawa.load(…)[{release.groups[0]!r}].save(…), for example.",
        )
    return release
