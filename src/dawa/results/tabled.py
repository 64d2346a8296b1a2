"""A release as tables in Python: its buckets along one axis, its cells over several."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray, IntArray, frozen
from dawa.axis import Axis
from dawa.axis.written import borders
from dawa.errors import OptionError
from dawa.limits import MOST_ROWS_WRITTEN
from dawa.results.estimate import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 8
"""Lines of a table that its representation shows, half of them from its end."""


@dataclass(frozen=True)
class Bucket:
    """Cells that were counted together.

    Attributes:
        lo: Where it begins, in the attribute's own units.
        hi: Where it ends, not included; of categories the last, included.
        cells: How many cells it has.
        value: The estimated number of records in it.
        standard_deviation: That of the noise in this number, before post-processing.
    """

    lo: Any
    hi: Any
    cells: int
    value: float
    standard_deviation: float


NAMES = tuple(field.name for field in fields(Bucket))


@dataclass(frozen=True, eq=False, repr=False)
class BucketTable(Sequence[Bucket]):
    """All buckets along one axis: a sequence of them, and a table with a column for each of their attributes.

    ``pandas.DataFrame(table)`` reads it.
    """

    lo: NDArray[Any]
    hi: NDArray[Any]
    cells: IntArray
    value: FloatArray
    standard_deviation: FloatArray

    @classmethod
    def of(cls, axis: Axis, estimate: Estimate) -> "BucketTable":
        """The buckets of an estimate."""
        bounds, spread = estimate.buckets.bounds, np.sqrt(estimate.variances_alone)
        columns = (*borders(axis, bounds[:-1], bounds[1:]), np.diff(bounds), estimate.totals, spread)
        return cls(*map(frozen, columns))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in NAMES}

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, at: int) -> Bucket: ...
    @overload
    def __getitem__(self, at: slice) -> "BucketTable": ...
    def __getitem__(self, at: int | slice) -> "Bucket | BucketTable":
        columns = [column[at] for column in self.columns().values()]
        if isinstance(at, slice):
            return BucketTable(*columns)
        return Bucket(*(_plain(value) for value in columns))

    def __repr__(self) -> str:
        head, tail = (len(self), 0) if len(self) <= SHOWN else (SHOWN // 2, SHOWN // 2)
        chosen = chain(range(head), range(len(self) - tail, len(self)))
        lines = [NAMES, *(_shown(self[at]) for at in chosen)]
        if tail:
            lines.insert(head + 1, ("…",) * len(NAMES))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ("  ".join(map(str.rjust, line, widths)) for line in lines)
        return "\n".join((f"{len(self)} bucket{'s' * (len(self) != 1)}", *rows))


def cells(axes: Sequence[Axis], estimate: Estimate) -> dict[str, NDArray[Any]]:
    """Every cell over several axes, column by column; the last axis changes fastest.

    Raises:
        OptionError: If there are too many.
    """
    if estimate.size > MOST_ROWS_WRITTEN:
        raise OptionError(
            f"The release has {estimate.size:,} cells, more than the {MOST_ROWS_WRITTEN:,} of a table.",
            "ask for ranges instead: rel.answers(lo, hi).",
        )
    places = np.indices(estimate.shape).reshape(len(axes), -1)
    found = {}
    for axis, at in zip(axes, places, strict=True):
        every = np.arange(axis.size)
        for end, column in zip(("lo", "hi"), borders(axis, every, every + 1), strict=True):
            found[f"{axis.column}_{end}"] = column[at]
    return {**found, "value": estimate.cells.ravel()}


def beside(by: Sequence[str], header: Collection[str]) -> list[str]:
    """Grouping columns as they are called beside other columns: no name comes twice.

    >>> beside(["value", "city"], ["lo", "hi", "value"])
    ['group_value', 'city']
    """
    found: list[str] = []
    for name in by:
        free = name
        while free in header or free in found:
            free = f"group_{free}"
        found.append(free)
    return found


def frame(columns: dict[str, NDArray[Any]]) -> "DataFrame":
    """Columns as a frame of pandas'.

    Raises:
        OptionError: If pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415  slow to load, and not needed elsewhere
    except ImportError:
        raise OptionError(
            "pandas is not installed.", "install it (pip install pandas), or use rel.buckets and rel.answers."
        ) from None
    return pd.DataFrame(
        {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    )


def _plain(value: Any) -> Any:  # noqa: ANN401  the axis' own kind of value
    """A number of Python; times stay what they are."""
    return value.item() if isinstance(value, (np.number, np.bool_)) else value


def _shown(bucket: Bucket) -> tuple[str, ...]:
    numbers = (f"{bucket.cells:,}", f"{bucket.value:,.1f}", f"{bucket.standard_deviation:,.1f}")
    ends = (str(end).removesuffix(".000000").removesuffix("T00:00:00") for end in (bucket.lo, bucket.hi))
    return (*ends, *numbers)
