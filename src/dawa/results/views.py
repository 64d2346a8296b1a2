"""What a release is for other libraries: a histogram, a frame, a table of SQL.

A release and a release of groups have the same views; a release of groups has a column, or an axis, for each grouping
column before the others. All of it is public, and costs nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.axis import Axis, OrderedAxis
from dawa.axis.groups import Grouping
from dawa.budget import shown
from dawa.results import frames, histogram, sql, tabled, uhi
from dawa.results.about import About
from dawa.results.histogram import BinsLike, Histogram, Measured
from dawa.results.statement import PrivacyStatement

if TYPE_CHECKING:
    import ibis
    import polars as pl
    import pyarrow as pa
    import xarray
    from pandas import DataFrame


class Viewed:
    """A release, with groups or without."""

    axes: tuple[Axis, ...]

    # --- what a view is made of -------------------------------------------------------------------------------------

    def _measured(self) -> list[Measured]:
        """The records; of groups, those of each."""
        raise NotImplementedError

    def _groupings(self) -> tuple[Grouping, ...]:
        """The grouping columns."""
        return ()

    def _told(self) -> dict[str, uhi.Word]:
        """What is known of the release, for metadata, besides its records."""
        raise NotImplementedError

    def _kept(self) -> str:
        """What is remarked about every answer."""
        raise NotImplementedError

    def _table(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> dict[str, NDArray[Any]]:
        """Its buckets or cells, or answers to ranges, as columns."""
        raise NotImplementedError

    # --- histograms -------------------------------------------------------------------------------------------------

    def histogram(self, bins: BinsLike = None) -> Histogram:
        """The records in bins, with the variance of the noise in each, for plotting and histogram libraries.

        Wider bins have to be asked for here: noise is correlated, so variances of narrower ones do not add up.

        Args:
            bins: None has the buckets of one axis, those of all groups together; on several axes, the cells, or about
                16,000 runs of cells if there are more than a million cells. A number is how many bins there are at
                most, of about equally many cells; a list has their borders, in the attribute's own units; a list of
                categories, the first of each bin. On several axes one of these for all, or a list with one for each.

        Raises:
            OptionError: If a border lies inside a cell, or there are too many bins.

        >>> import dawa
        >>> from dawa.cli.demo import people
        >>> rel = dawa.release(people(5000), dawa.Axis("age", 0, 100), epsilon=1, seed=0)
        >>> rel.histogram([0, 18, 65, 100]).axes[0][1]
        (18.0, 65.0)
        """
        along = tuple(_as_axis(grouping) for grouping in self._groupings())
        return histogram.of(self.axes, self._measured(), bins, along, self._told())

    def _to_uhi_(self) -> dict[str, Any]:
        """The release as a dictionary of UHI's schema, which ``uhi.io`` writes and ``hist.Hist`` reads."""
        return self.histogram()._to_uhi_()

    def _to_boost_histogram_(self) -> Any:  # noqa: ANN401  a library's own type
        """The same as boost-histogram has it."""
        return uhi.boosted(self._to_uhi_())

    def to_xarray(self, bins: BinsLike = None) -> "xarray.Dataset":
        """Values and standard deviations in bins, with labelled dimensions: the middle of each bin, and both its ends.

        Args:
            bins: The bins, as ``histogram`` takes them.

        Raises:
            InstallationError: If xarray is not installed.
        """
        return frames.xarray_of(self.histogram(bins))

    # --- frames -----------------------------------------------------------------------------------------------------

    def to_pandas(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> "DataFrame":
        """A row for each bucket on one axis, for each cell on several; or for each of many ranges, with error bars.

        A million ranges in arrays take seconds. The columns are those of ``Answer``; with several axes, the ends have a
        column for each. Groups come one after the other, with a column for each grouping column before the others.

        Raises:
            AxisError: If an end lies outside the axis.
            OptionError: If there are too many cells, or pandas is not installed.
        """
        return tabled.frame(self._table(lo, hi, confidence))

    def to_arrow(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> "pa.Table":
        """The same as an Arrow table."""
        return frames.arrow(self._table(lo, hi, confidence))

    def to_polars(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> "pl.DataFrame":
        """The same as a frame of Polars.

        Raises:
            InstallationError: If Polars is not installed.
        """
        return frames.polars_of(self._table(lo, hi, confidence))

    def to_ibis(
        self, lo: ArrayLike | None = None, hi: ArrayLike | None = None, confidence: float = 0.95
    ) -> "ibis.Table":
        """The same as a table of Ibis, which every backend takes: a *memtable*."""
        return frames.ibis_of(self._table(lo, hi, confidence))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table of ``to_arrow`` for whatever reads Arrow: ``polars.DataFrame(rel)``, or DuckDB's ``FROM rel``."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    # --- SQL --------------------------------------------------------------------------------------------------------

    def to_duckdb(
        self,
        connection: Any,  # noqa: ANN401  DuckDB's, or Ibis'
        name: str = "release",
        confidence: float = 0.95,
        *,
        replace: bool = False,
    ) -> None:
        """Give a connection to DuckDB the buckets as a view, and the answers as a function of both ends of a range.

        ``income`` is the view, ``income_between(lo, hi)`` a struct with the numbers of ``rel.answer(lo, hi)``; on
        several axes it takes both ends on the first, both on the second, and so on. NULL has the answer NULL. Where
        there is no such range the numbers are NULL, and ``problem`` says why. With groups, ``income_between`` is about
        all of them together, and ``income_between_in('AA', lo, hi)`` about one. Nothing is written into a database:
        the view belongs to the connection, and the functions to all connections of this process to the same database,
        which DuckDB lets ask them while this connection is open, and not after.

        Args:
            connection: What ``duckdb.connect`` or ``ibis.duckdb.connect`` returns.
            name: What the view is called.
            confidence: That of every answer.
            replace: Whether to replace what has the name; a table of the database is hidden by it, and stays.

        Raises:
            OptionError: If it is no connection, or the name is in use.
        """
        estimates = tuple(part.estimate for part in self._measured())
        asked = sql.functions_of(str(name), self.axes, estimates, self._groupings(), self._kept(), confidence)
        sql.attach(connection, name, self.to_arrow(), asked, replace=replace)


def _as_axis(grouping: Grouping) -> Axis:
    """A grouping column as an axis of categories; text, if one is called "other" and the others are numbers."""
    labels = list(map(str, grouping.labels)) if grouping.other else list(grouping.labels)
    return OrderedAxis(grouping.column, labels, "drop", "drop")


def grouped(groups: dict[str, NDArray[Any]], tables: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The groups' tables under one another, with these columns before the others.

    Args:
        groups: For each grouping column, the value of each group.
        tables: For each group its table.
    """
    lengths = [len(table["value"]) for table in tables]
    called = tabled.beside(list(groups), tables[0])
    rest = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    first = (np.repeat(column, lengths) for column in groups.values())
    return {**dict(zip(called, first, strict=True)), **rest}


def facts(privacy: PrivacyStatement, about: About | None) -> dict[str, uhi.Word]:
    """What every histogram says of the release that it shows."""
    found: dict[str, uhi.Word] = {
        "epsilon": shown(privacy.epsilon),
        "mechanism": privacy.mechanism,
        "unit": privacy.unit,
        "private": privacy.private,
        "privacy": str(privacy),
    }
    named = {"release": privacy.id, "title": about and about.title, "licence": about and about.licence}
    return {**found, **{name: word for name, word in named.items() if word}}
