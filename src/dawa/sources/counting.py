"""The one expression that turns a table into counts, and the only place that receives anything from an engine.

Rows stay in the engine: binning, missing values, values outside and truncation per unit are part of the expression.
Only a cell number and a count for every occupied cell come back.

The expression counts a limited number of records of each unit; ``unit.md`` says why that protects the unit.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

import ibis
import numpy as np

from dawa import check
from dawa.axis import Axis
from dawa.counts import Counts
from dawa.errors import DawaError, OptionError, SourceError
from dawa.sources import columns, databases, files, frames, tables
from dawa.sources.placed import Expression, whole
from dawa.sources.tables import HINT, JsonLines, Source, Table, TableLike, TextFile, Workbook


@dataclass(frozen=True)
class Query:
    """An open table, with an expression that fits its columns; none of its rows has been read.

    Attributes:
        source: The open table.
        expression: Cell numbers and counts.
        shape: Cells along each axis.
    """

    source: Source
    expression: Expression
    shape: tuple[int, ...]

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

    def counts(self) -> Counts:
        """Let the engine count.

        Raises:
            SourceError: If the engine fails. Its own message is not passed on: it may quote values.
        """
        try:
            found = self.rows()
        except DawaError:
            raise
        except Exception as error:  # noqa: BLE001  engines raise errors of their own
            raise SourceError(
                f"The table could not be counted by {self.source.engine} ({type(error).__name__}).",
                "check that all of its rows can be read, and that their types are those that the table declares.",
            ) from None
        cells, records = (np.asarray(found[name].to_numpy(), np.int64) for name in ("cell", "records"))
        return Counts.sparse(self.shape, cells, records)

    def rows(self) -> Any:  # noqa: ANN401  Arrow is untyped
        """Cell numbers and counts, as the engine gives them."""
        return self.source.fetch(self.expression).drop_null()


def counted(table: TableLike, axes: tuple[Axis, ...], unit: str | None = None, max_rows_per_unit: int = 1) -> Counts:
    """Count a table's records along axes, inside the engine that holds it.

    Args:
        table: A file, a folder, a frame, a dict of arrays, a database's or Spark's table, or an Ibis table.
        axes: One to four attributes.
        unit: The column that says whose record it is; None counts all records.
        max_rows_per_unit: How many records of one unit are kept, chosen at random.

    Raises:
        DawaError: A subclass of it, if the table cannot be opened or does not fit the axes.

    >>> from dawa import Axis, sources
    >>> sources.counted({"age": [31, 45, None, 62]}, (Axis("age", 0, 100),))
    Counts(100 cells)
    """
    with query(table, axes, unit, max_rows_per_unit) as asked:
        return asked.counts()


@contextmanager
def query(
    table: TableLike,
    axes: tuple[Axis, ...],
    unit: str | None = None,
    max_rows_per_unit: int = 1,
) -> Iterator[Query]:
    """Open a table and check its columns against the axes, without reading rows."""
    most = check_unit(unit, max_rows_per_unit)
    with ExitStack() as open_for_now:
        try:
            found = open_for_now.enter_context(source(table, axes, unit))
            counted = expression(found, axes, unit, most)
        except (DawaError, AssertionError):
            raise
        except Exception as error:  # noqa: BLE001  engines and Ibis raise errors of their own, about types they do not know
            raise SourceError(
                f"The table could not be opened ({type(error).__name__}).",
                "check the types of its columns, and that whole numbers on an axis fit 64 bits.",
            ) from None
        yield Query(found, counted, tuple(axis.size for axis in axes))


@contextmanager
def source(table: TableLike, axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:
    """Open a table, and close what was opened for it.

    Raises:
        SourceError: If this is not a table, or the table cannot be opened.
    """
    wanted = tables.addressed(table)
    with _opener(wanted)(wanted, axes, unit) as found:
        yield found


def _opener(table: Any) -> Callable[..., Any]:  # noqa: ANN401
    """The function that knows this kind of table."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, Table):
        library = "postgres" if isinstance(table.place, str) else type(table.place).__module__.partition(".")[0]
    if library in {"postgres", "pyspark", "ibis"}:
        return {"postgres": databases.postgres, "pyspark": databases.spark, "ibis": databases.held}[library]
    if isinstance(table, (str, PathLike, TextFile, JsonLines, Workbook)) or callable(getattr(table, "read", None)):
        return files.source
    if library in {"pandas", "polars", "pyarrow"} or isinstance(table, Mapping):
        return frames.source
    raise SourceError(f"A {type(table).__name__} is not a table.", HINT)


def expression(
    source: Source, axes: tuple[Axis, ...], unit: str | None, max_rows_per_unit: int, key: str | None = None
) -> Expression:
    """Cell numbers and counts.

    Args:
        source: The open table.
        axes: One to four attributes.
        unit: The column that says whose record it is.
        max_rows_per_unit: How many records of one unit are kept.
        key: A column that orders the records of a unit. None orders them at random; anything else is for tests.
    """
    places = [columns.placed(source, axis) for axis in axes]
    cell = places[0].cell
    for place, axis in zip(places[1:], axes[1:], strict=True):
        cell = cell * whole(axis.size) + place.cell
    counted = [place.counted for place in places]
    if unit is None and any(columns.named(source, axis.column, "the axis").text for axis in axes):
        # A filter would read the text twice; rows without a cell are left out of the result instead.
        kept = source.table.select(cell=ibis.ifelse(ibis.and_(*counted), cell, ibis.null("int64")))
    elif unit is None:
        kept = source.table.filter(counted).select(cell=cell)
    else:
        owner = columns.unit(source, unit)
        turn = ibis.random() if key is None else columns.named(source, key, "key=").value
        rows = source.table.filter([*counted, owner.present]).select(cell=cell, owner=owner.value, turn=turn)
        kept = truncated(rows, max_rows_per_unit)
    return kept.group_by("cell").aggregate(records=kept.count())


def check_unit(unit: str | None, max_rows_per_unit: int) -> int:
    """The number of rows that a unit may have, checked together with the unit.

    Raises:
        OptionError: If it is not a whole number, or the unit is not a name, or there is a number without a unit.
    """
    if unit is not None and not isinstance(unit, str):
        raise OptionError(f"unit={unit!r} is not a name.", "pass the name of the column that says whose record it is.")
    most = check.whole(max_rows_per_unit, "max_rows_per_unit", kind="a number of rows")
    if unit is None and most != 1:
        raise OptionError(
            f"max_rows_per_unit={max_rows_per_unit} without a unit would change nothing.",
            "name the column that says whose record it is: unit='person_id', for example.",
        )
    return most


def truncated(rows: Expression, most: int) -> Expression:
    """The rows of each ``owner`` with the lowest ``turn``, at most ``most`` of them."""
    place = ibis.row_number().over(group_by=rows.owner, order_by=rows.turn)
    numbered = rows.mutate(turn=place)
    return numbered.filter(numbered.turn < most)


def loss(per_record: Fraction, most: int) -> Fraction:
    """The loss of a unit with ``most`` records, from the loss of one record."""
    return per_record * most
