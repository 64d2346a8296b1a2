"""A release in the tables of other libraries: Arrow, Polars, Ibis, xarray.

Arrow is how libraries hand tables to one another without a copy, so what reads Arrow reads a release: Polars, DuckDB,
pandas, Ibis and others.
"""

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dawa.axis import AddressAxis, Axis, DateAxis
from dawa.axis.written import borders
from dawa.errors import InstallationError
from dawa.host import extras
from dawa.results import uhi
from dawa.results.histogram import Histogram

if TYPE_CHECKING:
    import ibis
    import polars as pl
    import pyarrow as pa
    import xarray


def arrow(columns: dict[str, NDArray[Any]]) -> "pa.Table":
    """Columns as an Arrow table: numbers, text, times with the zone of their axis.

    Raises:
        InstallationError: If Arrow is not installed.
    """
    extras.needed("A table of Arrow", ("pyarrow",))
    import pyarrow as pa  # noqa: PLC0415  slow to load

    return pa.table({name: _arrow(column) for name, column in columns.items()})


def _arrow(column: NDArray[Any]) -> "pa.Array":
    """One column; text, if Arrow has no type for all of its values, such as ends of ranges in text and numbers."""
    import pyarrow as pa  # noqa: PLC0415  slow to load

    if column.dtype != object:
        return pa.array(column)
    try:
        return pa.array(column.tolist())
    except (pa.ArrowException, OverflowError):
        return pa.array([str(value) for value in column])


def polars_of(columns: dict[str, NDArray[Any]]) -> "pl.DataFrame":
    """Columns as a frame of Polars.

    Raises:
        InstallationError: If Polars is not installed.
    """
    try:
        import polars as pl  # noqa: PLC0415  optional
    except ImportError:
        raise missing("Polars") from None
    found: pl.DataFrame = pl.DataFrame(arrow(columns))
    return found


def ibis_of(columns: dict[str, NDArray[Any]]) -> "ibis.Table":
    """Columns as a table of Ibis, which lives in memory: every backend takes it.

    Raises:
        InstallationError: If Ibis is not installed.
    """
    extras.needed("A table of Ibis", ("ibis", "pyarrow"))
    import ibis  # noqa: PLC0415  slow to load

    return ibis.memtable(arrow(columns))


def xarray_of(histogram: Histogram) -> "xarray.Dataset":
    """A histogram as a dataset with labelled dimensions.

    Raises:
        InstallationError: If xarray is not installed.
    """
    try:
        import xarray as xr  # noqa: PLC0415  optional
    except ImportError:
        raise missing("xarray") from None
    dims = _dims(histogram.axes)
    found = {"value": histogram.values(), "standard_deviation": np.sqrt(histogram.variances())}
    coords = {
        name: (dim, values, {"long_name": axis.column, **uhi.units(axis)})
        for dim, axis in zip(dims, histogram.axes, strict=True)
        for name, values in _along(dim, axis).items()
    }
    return xr.Dataset({name: (dims, array) for name, array in found.items()}, coords, dict(histogram.metadata))


def _dims(axes: Sequence[Axis]) -> list[str]:
    """What dimensions are called: as the columns are, unless the name is that of something else."""
    taken, dims = {"value", "standard_deviation"}, []
    for axis in axes:
        dim = axis.column
        while taken & {dim, f"{dim}_lo", f"{dim}_hi"}:
            dim = f"axis_{dim}"
        taken |= {dim, f"{dim}_lo", f"{dim}_hi"}
        dims.append(dim)
    return dims


def _along(dim: str, axis: Axis) -> dict[str, NDArray[Any]]:
    """The coordinates of bins: names; or middles and both ends; of addresses, the first one and both ends."""
    if axis.kind == "ordered":
        return {dim: np.array(uhi.categories(axis))}
    lo, hi = (_instants(axis, end) for end in borders(axis, axis.bins[:-1], axis.bins[1:]))
    middle = lo if isinstance(axis, AddressAxis) else lo + (hi - lo) / 2
    return {dim: middle, f"{dim}_lo": lo, f"{dim}_hi": hi}


def _instants(axis: Axis, ends: NDArray[Any]) -> NDArray[Any]:
    """Times of a zone in UTC, as NumPy has no zones; addresses as text; others as they are."""
    if isinstance(axis, DateAxis) and axis.zone is not None:
        return np.array([end.astimezone(UTC).replace(tzinfo=None) for end in ends.tolist()], "M8[us]")
    return ends.astype(str) if ends.dtype == object else ends


def missing(library: str) -> InstallationError:
    """The error about a library that is not installed."""
    return InstallationError(f"{library} is not installed.", "install it: pip install 'dawa[frames]'.")
