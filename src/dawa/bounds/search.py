"""The private looks that come before a release whose bounds or cap are not known.

Each look is a histogram over public cells, measured with the budget that is set aside for it. What is found is a
function of the measured numbers; ``bounds.md`` has the proof.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dawa import check, progress, sources
from dawa.axis import AutoAxis, Axis
from dawa.axis.groups import Grouping
from dawa.axis.written import written
from dawa.bounds import found
from dawa.budget import fraction, shown
from dawa.counts import Counts
from dawa.errors import AxisError, DawaError, OptionError
from dawa.limits import MOST_CELLS
from dawa.mechanisms.catalogue import Identity
from dawa.noise.randomness import Randomness
from dawa.numerals import told
from dawa.results.estimate import Estimate
from dawa.results.statement import each
from dawa.sources import forms
from dawa.sources.tables import TableLike
from dawa.sources.where import Where
from dawa.workloads import all_ranges

SHARE = Fraction(1, 20)
"""The part of epsilon that is spent on finding a cap."""
USUAL = Fraction(9, 10)
"""The part of the rows that a cap keeps, if nobody says otherwise."""
CAPS = tuple(1 << power for power in range(12, -1, -1))
"""The largest cap that may be found: the first of these for which the mechanism can run."""


@dataclass(frozen=True)
class Search:
    """What has to be found before a release can be made.

    Attributes:
        axes: The axes; those to be found are ``AutoAxis``.
        unit: The columns of the unit.
        most: The cap on a unit's rows, if it is given.
        keep: The part of all rows that the cap shall keep, if it is to be found; None if it is given.
        where: Which records are counted; None counts all.
        grids: The grid on which the bounds of each axis are looked for; an axis whose bounds are given is its own.
        by: What puts records into groups; the looks see the records of all groups together, and no others.
    """

    axes: tuple[Axis | AutoAxis, ...]
    unit: tuple[str, ...]
    most: int
    keep: Fraction | None
    where: Where | None
    grids: tuple[Axis, ...]
    by: tuple[Grouping, ...] = ()

    @property
    def shares(self) -> dict[str, Fraction]:
        """The part of epsilon that each look may spend, by what is looked for."""
        return shares(self.axes, self.unit, self.keep)

    def __bool__(self) -> bool:
        """Whether there is anything to find."""
        return bool(self.shares)

    @property
    def widest(self) -> tuple[Axis, ...]:
        """The axes with the widest bounds that may be found."""
        pairs = zip(self.axes, self.grids, strict=True)
        return tuple(_over(axis, grid, None) for axis, grid in pairs)

    @property
    def probes(self) -> tuple[Axis, ...]:
        """Axes that a table can be counted along if it can be counted along all that may be found.

        For numbers these are the widest. How times are placed does not depend on the bounds, and calendars over many
        years are slow to compile.
        """
        found = zip(self.axes, self.grids, self.widest, strict=True)
        return tuple(_over(axis, grid, (1, 2)) if _dated(axis) else widest for axis, grid, widest in found)

    @property
    def caps(self) -> tuple[int, ...]:
        """The caps to try: the one that is given, or the largest that may be found, in falling order."""
        return (self.most,) if self.keep is None else CAPS

    def describe(self) -> tuple[str, ...]:
        """What is found in the data, in sentences."""
        told = []
        for axis, widest in zip(self.axes, self.widest, strict=True):
            if isinstance(axis, AutoAxis):
                (low,), (high,) = written(widest, [0], [widest.size])
                told.append(f"{axis.describe()} They are looked for between {low} and {high}.")
        if self.keep is not None:
            told.append(
                f"How many records of each {each(self.unit)} are counted is found in the data, privately, for"
                f" {shown(100 * SHARE)}% of epsilon: about as many as keep {shown(100 * self.keep)}% of all records, as"
                f" far as noise lets this be seen, and at most {CAPS[0]}."
            )
        if told and self.by:
            told.append("Only records that are in a group are looked at for this, those of all groups together.")
        return tuple(told)

    def bounds(
        self, table: TableLike, epsilon: Fraction, randomness: Randomness
    ) -> tuple[tuple[Axis, ...], tuple[str, ...]]:
        """Find the bounds of all axes that lack them, and say where none were seen; one record of a unit counts."""
        axes, unseen = [], []
        for axis, grid in zip(self.axes, self.grids, strict=True):
            if not isinstance(axis, AutoAxis):
                axes.append(grid)
                continue
            with sources.query(table, (grid,), self.unit, where=self.where, among=self.by) as query:
                counts = query.counts().inside
            hull = found.hull(_measured(counts, axis.share * epsilon, randomness))
            axes.append(_over(axis, grid, (hull.first, hull.beyond)))
            if not hull.seen:
                unseen.append(
                    f"Nothing of {axis.column!r} stood out of the noise: its bounds mean nothing. More records, a"
                    " larger epsilon or a larger share would be needed."
                )
        return tuple(axes), tuple(unseen)

    def cap(
        self, table: TableLike, axes: tuple[Axis, ...], epsilon: Fraction, most: int, randomness: Randomness
    ) -> int:
        """Find how many rows of a unit to count, ``most`` at most, if that is not given; each unit takes part once."""
        if self.keep is None:
            return self.most
        with sources.query(table, axes, self.unit, where=self.where, among=self.by) as query:
            units = query.units(found.SIZES)
        return found.cap(_measured(units, SHARE * epsilon, randomness), self.keep, most)


def planned(
    table: TableLike,
    axes: Sequence[Axis | AutoAxis],
    unit: tuple[str, ...],
    max_rows_per_unit: int | str | None,
    where: Where | None = None,
    by: tuple[Grouping, ...] = (),
) -> Search:
    """What has to be found, on the farthest grids that the table's types allow.

    Only declared types are looked at. A grid is used if the table could be counted along the widest axes that may be
    found on it, so that no bounds that are found can make counting fail.

    Raises:
        DawaError: If the table does not fit the axes on any grid, or too much of epsilon would be spent on looking.
    """
    keep = kept(unit, max_rows_per_unit)
    most = 1 if keep is not None else sources.check_rows(unit, max_rows_per_unit)
    if shares(axes, unit, keep) and forms.once(table):
        raise OptionError(
            "What is piped in can be read once, and looking for bounds or a cap reads the table several times.",
            "write it to a file first, or name the bounds and the cap.",
        )
    choices = [axis.grids() if isinstance(axis, AutoAxis) else [axis] for axis in axes]
    if not any(isinstance(axis, AutoAxis) for axis in axes):
        return Search(tuple(axes), unit, most, keep, where, tuple(axis for (axis,) in choices), by)
    refused: DawaError = AxisError("The axes have too many cells.", "choose coarser steps, or fewer axes.")
    for place in range(max(map(len, choices))):
        grids = tuple(listed[min(place, len(listed) - 1)] for listed in choices)
        search = Search(tuple(axes), unit, most, keep, where, grids, by)
        if math.prod(axis.size for axis in search.widest) * math.prod(one.size for one in by) > MOST_CELLS:
            continue
        try:
            with sources.query(table, search.probes, unit, where=where, among=by) as query:
                query.check()
        except AxisError as error:
            refused = error
        else:
            return search
    raise refused


def shares(axes: Sequence[Axis | AutoAxis], unit: tuple[str, ...], keep: Fraction | None) -> dict[str, Fraction]:
    """The part of epsilon that each look may spend, by what is looked for.

    Raises:
        OptionError: If nothing would be left for the release.
    """
    parts = {f"bounds of {axis.column!r}": axis.share for axis in axes if isinstance(axis, AutoAxis)}
    if keep is not None:
        parts[f"records per {each(unit)}"] = SHARE
    if sum(parts.values()) >= 1:
        raise OptionError("Looking for bounds would spend all of epsilon.", "give the axes smaller shares.")
    return parts


def kept(unit: tuple[str, ...], max_rows_per_unit: int | str | None) -> Fraction | None:
    """The part of all rows that a cap shall keep, if the cap is to be found: ``"auto"``, or a part such as ``"95%"``.

    >>> kept(("person",), "auto"), kept(("person",), "95%"), kept(("person",), 3)
    (Fraction(9, 10), Fraction(19, 20), None)

    Raises:
        OptionError: If it is some other text, or there is no unit.
    """
    if not isinstance(max_rows_per_unit, str):
        return None
    hint = "pass a whole number, 'auto', or the part of all rows to keep, such as '95%'."
    try:
        part = USUAL if max_rows_per_unit == "auto" else fraction(max_rows_per_unit.removesuffix("%")) / 100
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"max_rows_per_unit={told(max_rows_per_unit)} is not a number of rows.", hint) from None
    if not (max_rows_per_unit == "auto" or max_rows_per_unit.endswith("%")) or not 0 < part < 1:
        raise OptionError(f"max_rows_per_unit={told(max_rows_per_unit)} is not a number of rows.", hint)
    if not unit:
        raise OptionError(
            f"max_rows_per_unit={max_rows_per_unit} without a unit would change nothing.",
            "name the column that says whose record it is: unit='person_id', for example.",
        )
    return part


def loss(searched: dict[str, Fraction], per_record: Fraction, most: int) -> Fraction:
    """What a unit loses to all looks and to the release, in exact arithmetic."""
    return sum(searched.values(), sources.loss(per_record, most))


def _measured(counts: Counts, epsilon: Fraction, randomness: Randomness) -> Estimate:
    """A histogram with noise on every cell alone."""
    with progress.heard(None):  # too short to be a stage
        measured = Identity().run(counts, all_ranges(counts.shape[0]), epsilon, randomness)
    check.within(measured.epsilon, epsilon, "Looking")
    return measured


def _dated(axis: Axis | AutoAxis) -> bool:
    return isinstance(axis, AutoAxis) and axis.dated


def _over(axis: Axis | AutoAxis, grid: Axis, cells: tuple[int, int] | None) -> Axis:
    """The axis over some cells of a grid, or over all of them; an axis with bounds stays as it is."""
    if not isinstance(axis, AutoAxis):
        return axis
    return axis.over(grid, 0, grid.size) if cells is None else axis.around(grid, *cells)
