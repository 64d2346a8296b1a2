"""The one expression that turns a table into counts, and the only place that receives anything from an engine.

Rows stay in the engine: binning, missing values, values outside and truncation per unit are part of the expression.
Only a cell number and a count for every occupied cell come back.

The expression counts a limited number of records of each unit; ``unit.md`` says why that protects the unit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from dawa.arrays import IntArray
from dawa.axis import Axis
from dawa.axis.apart import patterns
from dawa.axis.groups import Grouping, combinations
from dawa.counts import Counts
from dawa.errors import AxisError, DawaError, SourceError
from dawa.sources import columns, database_files, databases, files, filtering, frames, placed, tables
from dawa.sources.placed import Expression, Placed, searched, whole
from dawa.sources.tables import HINT, JsonLines, Source, Table, TableLike, TextFile, UnitLike, Workbook, Written
from dawa.sources.units import check_rows, owned, truncated, unit_columns
from dawa.sources.where import Where
from dawa.sources.where_text import optional

GROUP, CELL, RECORDS, EVERY = "group", "cell", "records", "every"
"""The columns of what an engine gives back: a group, a cell, how many records it has, and how many rows were looked at.

The first is there if there are groups, the last if all rows are counted beside those that have a value.
"""
SMALL = 2**15
"""Numbers below this one have 16 bits."""


@dataclass(frozen=True)
class Query:
    """An open table, with an expression that fits its columns; none of its rows has been read.

    Attributes:
        source: The open table.
        expression: Cell numbers and counts.
        axes: Where its cells lie.
        unit: The columns that say whose record it is.
        where: Which records are counted; None counts all.
        by: What puts records into groups; nothing, if there are none.
        among: What puts records into groups, if only those in a group are counted, all together.
    """

    source: Source
    expression: Expression
    axes: tuple[Axis, ...]
    unit: tuple[str, ...]
    where: Where | None
    by: tuple[Grouping, ...] = ()
    among: tuple[Grouping, ...] = ()

    def check(self) -> None:
        """Let the engine refuse what it cannot run or may not read, before anything is paid; no row is read.

        Raises:
            SourceError: If the engine refuses.
        """
        try:
            self.source.check(self.expression)
        except DawaError:
            raise
        except Exception as error:  # noqa: BLE001  engines raise errors of their own
            raise SourceError(
                f"{self.source.engine} cannot count the table along these axes ({type(error).__name__}).",
                "check that you may read all of the columns, and check their types; a date format must be one that the"
                " engine knows.",
            ) from None

    def counts(self) -> "Tally":
        """Let the engine count.

        Raises:
            SourceError: If the engine fails.
        """
        return self._tally(*self._numbers(self.expression, CELL, RECORDS))

    def groups(self) -> "Groups":
        """Let the engine count every group, in one statement.

        Raises:
            SourceError: If the engine fails.
        """
        group, cells, records = self._numbers(self.expression, GROUP, CELL, RECORDS)
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(len(combinations(self.by)) + 1))
        none, parts = order[: ends[0]], (order[a:b] for a, b in pairwise(ends))
        return Groups(
            tuple(self._tally(cells[part], records[part]) for part in parts),
            Counts.sparse((len(patterns(self.by)),), -group[none] - 1, records[none]),
        )

    def _tally(self, cells: IntArray, records: IntArray) -> "Tally":
        inside, apart = cells >= 0, cells < 0
        ways = len(patterns(self.axes))
        return Tally(
            Counts.sparse(tuple(axis.size for axis in self.axes), cells[inside], records[inside]),
            Counts.sparse((ways,), -cells[apart] - 1, records[apart]) if ways else None,
        )

    def units(self, sizes: Sequence[int]) -> Counts:
        """How many units have how many rows, in classes that begin at these sizes; every unit is counted once."""
        classes = unit_sizes(self.source, self.axes, self.unit, sizes, self.where, self.among)
        return Counts.sparse((len(sizes),), *self._numbers(classes, CELL, RECORDS))

    def rows(self) -> pa.Table:
        """Cell numbers and counts, of groups if there are groups, as the engine gives them."""
        return pa.table(self._fetched(self.expression))

    def _fetched(self, expression: Expression) -> dict[str, IntArray]:
        """Columns of whole numbers; if the engine has also counted every row, the rest have no value."""
        found = self.source.fetch(expression)
        seen = {name: _whole(column) for name, column in zip(found.column_names, found.drop_null(), strict=True)}
        if EVERY not in found.column_names:
            return seen
        every, there = (_whole(found[name]).sum() for name in (EVERY, RECORDS))
        cells = np.append(seen[CELL], -1 - self.axes[0].apart.index("missing"))
        records = np.append(seen[RECORDS], every - there)
        return {CELL: cells[records > 0], RECORDS: records[records > 0]}

    def _numbers(self, expression: Expression, *names: str) -> list[IntArray]:
        """Let the engine evaluate these columns of whole numbers.

        Raises:
            SourceError: If the engine fails. Its own message is not passed on: it may quote values.
        """
        try:
            found = self._fetched(expression)
        except DawaError:
            raise
        except Exception as error:  # noqa: BLE001  engines raise errors of their own
            raise _failed(self.source.engine, type(error).__name__) from None
        return [found[name] for name in names]


def _whole(column: pa.ChunkedArray) -> IntArray:
    """A column of whole numbers, not by ``to_numpy``: that loads pandas, where it is installed, for nothing."""
    return np.from_dlpack(column.cast("int64").combine_chunks()).astype(np.int64, copy=False)


def _failed(engine: str, kind: str) -> SourceError:
    """What to say of an engine's error: its kind alone."""
    hints = {
        "QueryCanceled": "if it took too long, allow more: postgresql://…?options=-c%20statement_timeout=0.",
        "LockNotAvailable": "somebody has kept the table locked: try again when they are done.",
        "OutOfMemoryException": "give it more memory, or choose fewer cells.",
        "MemoryError": "give it more memory, or choose fewer cells.",
    }
    usual = "check that all of its rows can be read, and that their types are those that the table declares."
    return SourceError(f"The table could not be counted by {engine} ({kind}).", hints.get(kind, usual))


@dataclass(frozen=True)
class Tally:
    """A table's records, each of them counted once at most.

    Attributes:
        inside: Those that have a cell on every axis.
        apart: The others, by the ways in which they have none (``axis.apart.patterns``); None if all are left out.
    """

    inside: Counts
    apart: Counts | None


@dataclass(frozen=True)
class Groups:
    """A table's records by group, each of them counted once at most.

    Attributes:
        each: Those of each group.
        none: Those in no group, by the ways of being in none (``axis.apart.patterns``).
    """

    each: tuple[Tally, ...]
    none: Counts


def counted(
    table: TableLike,
    axes: tuple[Axis, ...],
    unit: UnitLike | None = None,
    max_rows_per_unit: int | None = None,
    where: Where | str | None = None,
) -> Counts:
    """Count a table's records along axes, inside the engine that holds it.

    Args:
        table: A file, a folder, a frame, a dict of arrays, a database's or Spark's table, or an Ibis table.
        axes: One to four attributes.
        unit: The column that says whose record it is, or several; None counts all records.
        max_rows_per_unit: How many records of one unit are kept, chosen at random.
        where: Which records are counted; None counts all.

    Raises:
        DawaError: A subclass of it, if the table cannot be opened or does not fit the axes.

    >>> from dawa import Axis, sources
    >>> sources.counted({"age": [31, 45, None, 62]}, (Axis("age", 0, 100),))
    Counts(100 cells)
    """
    owner = unit_columns(unit)
    with query(table, axes, owner, check_rows(owner, max_rows_per_unit), where) as asked:
        return asked.counts().inside


@contextmanager
def query(
    table: TableLike,
    axes: tuple[Axis, ...],
    unit: tuple[str, ...] = (),
    max_rows_per_unit: int = 1,
    where: Where | str | None = None,
    by: tuple[Grouping, ...] = (),
    among: tuple[Grouping, ...] = (),
) -> Iterator[Query]:
    """Open a table and check its columns against the axes and the condition, without reading rows.

    Args:
        table: A file, a folder, a frame, a dict of arrays, a database's or Spark's table, or an Ibis table.
        axes: One to four attributes.
        unit: The columns that say whose record it is.
        max_rows_per_unit: How many records of one unit are kept, chosen at random: of all groups together.
        where: Which records are counted; None counts all.
        by: What puts records into groups that are counted apart from each other.
        among: What puts records into groups, if only those in a group are to be counted, all together.
    """
    asked = optional(where)
    also = () if asked is None else asked.columns
    read = (*axes, *(grouping.axis for grouping in (*by, *among)))
    with ExitStack() as open_for_now:
        try:
            found = open_for_now.enter_context(source(table, read, unit, also))
            _check_text(table, found, [*(axis.column for axis in read), *unit, *also])
            found = columns.told(found, read, () if asked is None else filtering.read_from_text(found, asked))
            counted = expression(found, axes, unit, max_rows_per_unit, where=asked, by=by, among=among)
        except (DawaError, AssertionError):
            raise
        except Exception as error:  # noqa: BLE001  engines and Ibis raise errors of their own, about types they do not know
            raise SourceError(
                f"The table could not be opened ({type(error).__name__}).",
                "check the types of its columns, and that whole numbers on an axis fit 64 bits.",
            ) from None
        yield Query(found, counted, axes, unit, asked, by, among)


def _check_text(table: TableLike, source: Source, names: Sequence[str]) -> None:
    """Refuse what is declared about text where no column is text: nobody would see that it changes nothing."""
    found = [source.column(name) for name in names]
    if isinstance(table, Written) and not any(column is not None and column.text is not None for column in found):
        raise SourceError(
            "A decimal mark, a format of dates or words for missing values are declared, but no column here is text.",
            "leave them out; to leave out a number that means a missing value, add a condition: where='x != -99'.",
        )


@contextmanager
def source(
    table: TableLike, axes: tuple[Axis, ...], unit: tuple[str, ...], also: Sequence[str] = ()
) -> Iterator[Source]:
    """Open a table, and close what was opened for it.

    Args:
        table: The table, and perhaps what is declared about its text.
        axes: The axes.
        unit: The column that says whose record it is.
        also: Further columns that are needed.

    Raises:
        SourceError: If this is not a table, or the table cannot be opened.
    """
    text = table.dialect if isinstance(table, Written) else None
    wanted = tables.addressed(table.table if isinstance(table, Written) else table)
    with _opener(wanted)(wanted, axes, unit, also, text) as found:
        yield found


def _opener(table: Any) -> Callable[..., Any]:  # noqa: ANN401
    """The function that knows this kind of table."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, Table):
        if isinstance(table.place, PathLike) or (isinstance(table.place, str) and not tables.is_address(table.place)):
            return database_files.source
        library = "postgres" if isinstance(table.place, str) else type(table.place).__module__.partition(".")[0]
    if library in {"postgres", "pyspark", "ibis"}:
        return {"postgres": databases.postgres, "pyspark": databases.spark, "ibis": databases.held}[library]
    if isinstance(table, (str, PathLike, TextFile, JsonLines, Workbook)) or callable(getattr(table, "read", None)):
        return files.source
    if library in {"pandas", "polars", "pyarrow"} or isinstance(table, Mapping):
        return frames.source
    raise SourceError(f"A {type(table).__name__} is not a table.", HINT)


def expression(
    source: Source,
    axes: tuple[Axis, ...],
    unit: tuple[str, ...],
    max_rows_per_unit: int,
    key: str | None = None,
    where: Where | None = None,
    by: tuple[Grouping, ...] = (),
    among: tuple[Grouping, ...] = (),
) -> Expression:
    """Cell numbers and counts; with groups, the numbers of groups before them.

    Args:
        source: The open table.
        axes: One to four attributes.
        unit: The columns that say whose record it is.
        max_rows_per_unit: How many records of one unit are kept.
        key: A column that orders the records of a unit. None orders them at random; anything else is for tests.
        where: Which records are counted; None counts all.
        by: What puts records into groups that are counted apart from each other.
        among: What puts records into groups, if only those in a group are to be counted.
    """
    places = [columns.placed(source, axis) for axis in axes]
    text = any(columns.named(source, axis.column, "the axis").text for axis in axes)
    plain = not (unit or by or among) and where is None
    if plain and _rest_is_missing(axes) and (source.sized or (text and source.engine == "duckdb")):
        return (_by_difference if source.sized else _beside)(source, places[0], axes[0])
    cell = placed.cell(places, axes)
    kept = [*placed.kept(places, axes), *_among(source, among), *_only(source, where)]
    numbers = {CELL: cell}
    if by:  # a record in no group has no cell that would matter
        group = placed.group(_grouped(source, by), by)
        numbers = {GROUP: group, CELL: ibis.ifelse(group < whole(0), whole(0), cell)}
    if not unit and kept and text:
        # A filter would read the text twice; rows that are left out have no cell instead.
        left_out = ibis.ifelse(ibis.and_(*kept), numbers[CELL], ibis.null("int64"))
        rows = source.table.select(**{**numbers, CELL: left_out})
    elif not unit:
        rows = (source.table.filter(kept) if kept else source.table).select(**numbers)
    else:
        turn = ibis.random() if key is None else columns.named(source, key, "key=").value
        belonging, owner = owned(source, unit, kept)
        rows = belonging.select(**numbers, turn=turn, **owner)
        apart = ibis.or_(*(rows[name] < whole(0) for name in numbers))
        rows = truncated(rows, tuple(owner), max_rows_per_unit, apart)
    return rows.group_by(list(numbers)).aggregate(**{RECORDS: rows.count()})


def unit_sizes(
    source: Source,
    axes: tuple[Axis, ...],
    unit: tuple[str, ...],
    sizes: Sequence[int],
    where: Where | None = None,
    among: tuple[Grouping, ...] = (),
) -> Expression:
    """Classes of units by their number of counted rows, and how many units each class has.

    Every unit is one record here, whatever its number of rows: adding or removing it moves one count by 1.
    """
    kept = placed.kept([columns.placed(source, axis) for axis in axes], axes)
    belonging, owner = owned(source, unit, [*kept, *_among(source, among), *_only(source, where)])
    rows = belonging.select(**owner)
    units = rows.group_by(list(owner)).aggregate(rows=rows.count())
    leaves = [whole(place) for place in range(len(sizes))]
    classed = units.select(cell=searched(lambda place: units.rows >= whole(sizes[place]), leaves))
    return classed.group_by("cell").aggregate(records=classed.count())


def _only(source: Source, where: Where | None) -> list[Expression]:
    """The condition for a row to be looked at, if there is one."""
    return [] if where is None else [filtering.kept(source, where)]


def _grouped(source: Source, by: tuple[Grouping, ...]) -> list[Placed]:
    """Where rows fall in the columns that put them into groups, which are read as ordered axes are.

    Raises:
        AxisError: If the table lacks such a column, or its type does not fit the groups.
    """
    found = []
    for grouping in by:
        columns.named(source, grouping.column, "by=")
        try:
            found.append(columns.placed(source, grouping.axis))
        except AxisError as error:
            raise AxisError(error.problem.replace("the axis lists", "the groups are"), error.hint) from None
    return found


def _among(source: Source, among: tuple[Grouping, ...]) -> list[Expression]:
    """The conditions for a row to be in a group, if only such rows are counted."""
    return placed.in_group(_grouped(source, among), among)


def _rest_is_missing(axes: tuple[Axis, ...]) -> bool:
    """Whether all records that have a value are counted, and those that have none are counted apart."""
    return len(axes) == 1 and axes[0].missing == "own" and axes[0].outside != "drop"


def _beside(source: Source, place: Placed, axis: Axis) -> Expression:
    """Cell numbers, counts, and beside them how many rows were looked at: those without a value have any cell.

    DuckDB would compute what depends on a condition twice, and read text twice for a filter.
    """
    rows = source.table.select(cell=placed.with_a_value(place, axis), there=place.present)
    return rows.group_by(CELL).aggregate(**{RECORDS: rows.count(where=rows.there), EVERY: rows.count()})


def _by_difference(source: Source, place: Placed, axis: Axis) -> Expression:
    """The same, where the number of rows is known: a filter is cheaper than to look at all of them."""
    kind = "int16" if axis.size + len(axis.apart) < SMALL else "int64"  # DuckDB groups by small numbers much faster
    rows = source.table.filter(place.present).select(cell=placed.with_a_value(place, axis).cast(kind))
    groups = rows.group_by(CELL).aggregate(**{RECORDS: rows.count()})
    known, nothing = source.table.aggregate(**{EVERY: source.table.count()}), whole(0)
    found = groups.select(**{CELL: groups[CELL].cast("int64"), RECORDS: groups[RECORDS], EVERY: nothing})
    return found.union(known.select(**{CELL: nothing, RECORDS: nothing, EVERY: known[EVERY]}))
