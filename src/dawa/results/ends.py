"""Ranges in the attribute's own units, as they are asked in Python, and what they are on a release's buckets."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import numerals
from dawa.arrays import BoolArray, FloatArray, IntArray
from dawa.axis import AddressAxis, Axis, AxisValue
from dawa.axis.apart import touching
from dawa.errors import OptionError
from dawa.numerals import told
from dawa.queries.bucket_queries import NEAREST, BucketQueries, coordinates
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate

End = AxisValue | Sequence[AxisValue] | NDArray[Any]
"""One end of a range: a value of the axis; with several axes, one value for each."""

Range = tuple[End, End]
"""A lower and an upper end."""

Span = tuple[Fraction, Fraction]
"""The two borders of a range on one axis, in cells."""


BELOW_ONE = math.nextafter(1, 0)
"""The largest part of a cell: no float may make a whole cell of it."""

GAP = 4
"""Floats between the ends of a range, so that there is something between them."""

FEW = 100
"""Ranges that are read one by one, whatever they are."""


class OnBuckets(NamedTuple):
    """Ranges on buckets.

    Attributes:
        queries: The ranges, in bucket coordinates.
        border: At most how many cells lie along the border of each.
        whole: Which of them cover whole cells only.
    """

    queries: BucketQueries
    border: FloatArray
    whole: BoolArray


def queries(axes: Sequence[Axis], estimate: Estimate, asked: Sequence[tuple[object, object]]) -> OnBuckets:
    """Ranges in the axes' own units as queries on buckets.

    Raises:
        DawaError: If an end is not a value of its axis, or a range is empty.
    """
    return placed(corners(axes, asked), estimate)


class Corners(NamedTuple):
    """Ranges in cells, whatever the buckets are.

    Attributes:
        lo: The lower end of each on every axis.
        hi: The upper ends.
        whole: Which of them cover whole cells only.
        line: Along one axis, both ends exactly: each as its cell, and how far into it the range begins or ends.
    """

    lo: FloatArray
    hi: FloatArray
    whole: BoolArray
    line: tuple[tuple[IntArray, FloatArray], ...] = ()


def corners(axes: Sequence[Axis], asked: Sequence[tuple[object, object]]) -> Corners:
    """Ranges in the axes' own units as ranges of cells.

    Raises:
        DawaError: If an end is not a value of its axis, or a range is empty.
    """
    return of_spans(axes, [spans(axes, lo, hi) for lo, hi in asked])


def of_spans(axes: Sequence[Axis], every: Sequence[tuple[Span, ...]]) -> Corners:
    """The same for ranges whose borders are known."""
    lo, hi = (np.array([[float(span[end]) for span in query] for query in every]) for end in (0, 1))
    whole = np.array([all(end.denominator == 1 for span in query for end in span) for query in every])
    if len(axes) > 1:
        return Corners(lo, hi, whole)
    size = float(axes[0].size)
    inner = math.nextafter(size, 0)  # a float must not reach an end that it rounds to
    hi = np.array(
        [[min(end, inner) if query[0][1] < axes[0].size else size] for (end,), query in zip(hi, every, strict=True)]
    )
    return Corners(lo, hi, whole, tuple(_exactly([query[0][end] for query in every]) for end in (0, 1)))


class Asked(NamedTuple):
    """Ranges as they were asked.

    Attributes:
        lo: The lower end of each, in values that can be compared; with several axes, one for each.
        hi: The upper ends.
        corners: The same ranges in cells.
        held: What each holds besides its own values, in words.
    """

    lo: list[Any]
    hi: list[Any]
    corners: Corners
    held: list[str]


def asked(axes: Sequence[Axis], lo: ArrayLike | None, hi: ArrayLike | None) -> Asked:
    """Many ranges: arrays of numbers all at once, and others one by one.

    Raises:
        DawaError: If an end is not a value of its axis, a range is empty, or there is not one upper end for every
            lower one.
    """
    lo, hi = _taken(lo), _taken(hi)
    found = _in_bulk(axes, *(_as_array(end, len(axes)) for end in (lo, hi)))
    return one_by_one(axes, pairs(lo, hi)) if found is None else found


def one_by_one(axes: Sequence[Axis], asked: Sequence[tuple[object, object]]) -> Asked:
    """The same for pairs of ends of any kind."""
    ends = [told_ends(axes, *pair) for pair in asked]
    lows, highs = ([pair[end] for pair in ends] for end in ("lo", "hi"))
    return Asked(lows, highs, corners(axes, asked), [held(axes, *pair) for pair in asked])


def columns(axes: Sequence[Axis], asked: Asked) -> dict[str, NDArray[Any]]:
    """The ends of ranges as columns: ``lo`` and ``hi``; with several axes, ``age_lo`` and so on."""
    found = {}
    for name, ends in (("lo", asked.lo), ("hi", asked.hi)):
        each = [ends] if len(axes) == 1 else list(zip(*ends, strict=True))
        for axis, column in zip(axes, each, strict=True):
            mixed = len(set(map(type, column))) > 1
            found[name if len(axes) == 1 else f"{axis.column}_{name}"] = np.array(column, object if mixed else None)
    return found


def _taken(ends: Any) -> Any:  # noqa: ANN401  whatever somebody passes
    """Columns of other libraries as NumPy's, but for zones and what is masked, which NumPy's would lose."""
    if isinstance(ends, np.ndarray):
        return list(ends) if np.ma.is_masked(ends) else np.asarray(ends)[()]
    zoned = any(getattr(kind, "tz", None) or getattr(kind, "time_zone", None) for kind in _kinds(ends))
    if hasattr(ends, "to_pylist"):  # Arrow's
        return ends.to_pylist() if zoned else ends.to_numpy(zero_copy_only=False)
    if hasattr(ends, "columns") and hasattr(ends, "to_numpy"):  # a frame, which is read row by row, not by its names
        return list(ends.iter_rows()) if zoned and hasattr(ends, "iter_rows") else ends.to_numpy()
    return list(ends) if zoned else ends


def _kinds(ends: Any) -> Iterable[Any]:  # noqa: ANN401
    """The types of columns, as libraries say them."""
    if hasattr(ends, "columns"):
        return list(getattr(ends, "dtypes", ()))
    return [getattr(ends, "type", getattr(ends, "dtype", None))]


def _as_array(ends: object, axes: int) -> NDArray[Any] | None:
    """Many numbers as an array, one row for each range; None if they are few, or of several types."""
    if isinstance(ends, list) and axes == 1 and len(ends) > FEW and set(map(type, ends)) in ({int}, {float}):
        with suppress(OverflowError):
            ends = np.array(ends)
    elif hasattr(ends, "to_numpy"):
        ends = ends.to_numpy()
    if not isinstance(ends, np.ndarray) or ends.ndim != 1 + (axes > 1) or len(ends) <= FEW:
        return None
    return ends.reshape(len(ends), -1) if ends.size == len(ends) * axes else None


def _in_bulk(axes: Sequence[Axis], lo: NDArray[Any] | None, hi: NDArray[Any] | None) -> Asked | None:
    """Ranges in arrays, all at once; None if they need a look one by one, perhaps because one of them cannot be."""
    if lo is None or hi is None or lo.shape != hi.shape:
        return None
    found = in_columns(axes, *(list(ends.T) for ends in (lo, hi)))
    return found and Asked(_told(lo), _told(hi), *found)


def in_columns(
    axes: Sequence[Axis], lo: Sequence[NDArray[Any]], hi: Sequence[NDArray[Any]]
) -> tuple[Corners, list[str]] | None:
    """Ranges in columns, one for each axis, all at once, and what each holds; None if they need a look one by one."""
    found = [[axis.places(end) for axis, end in zip(axes, ends, strict=True)] for ends in (lo, hi)]
    lows, highs = ([places for places in each if places is not None] for each in found)
    if len(lows) < len(axes) or len(highs) < len(axes):
        return None
    several = zip(axes, lows, highs, strict=True)
    if any(((b < a) | ((a == b) & (y <= x))).any() or _rounded_away(axis, b, y) for axis, (a, x), (b, y) in several):
        return None
    first = np.stack([(cell == 0) & (part == 0) for cell, part in lows], axis=1)
    last = np.stack([cell == axis.size for axis, (cell, _) in zip(axes, highs, strict=True)], axis=1)
    whole = np.logical_and.reduce([part == 0 for _, part in (*lows, *highs)])
    start, stop = (np.stack([cell + part for cell, part in places], axis=1) for places in (lows, highs))
    line = (lows[0], highs[0]) if len(axes) == 1 else ()
    return Corners(start, stop, whole, line), _held_by_each(axes, first, last)


def held_in(axes: Sequence[Axis], every: Sequence[tuple[Span, ...]]) -> list[str]:
    """What ranges hold besides their own values, in words, for ranges whose borders are known."""
    first = np.array([[start == 0 for start, _ in spans] for spans in every])
    last = np.array([[stop == axis.size for axis, (_, stop) in zip(axes, spans, strict=True)] for spans in every])
    return _held_by_each(axes, first, last)


def _rounded_away(axis: Axis, cell: IntArray, part: FloatArray) -> bool:
    """Whether an upper end below that of the axis would be a float that is not below it."""
    return bool(((cell < axis.size) & (cell + part >= axis.size)).any())


def _told(ends: NDArray[Any]) -> list[Any]:
    """Ends as Python has them; with several axes, one for each."""
    if ends.dtype.kind == "M":  # Python has no nanoseconds
        return list(ends[:, 0]) if ends.shape[1] == 1 else list(map(tuple, ends))
    return ends[:, 0].tolist() if ends.shape[1] == 1 else list(map(tuple, ends.tolist()))


def _held_by_each(axes: Sequence[Axis], first: BoolArray, last: BoolArray) -> list[str]:
    """What ranges hold besides their own values, in words that few of them differ in."""
    kinds, kind = np.unique(np.concatenate((first, last), axis=1), axis=0, return_inverse=True)
    words = [touching(axes, list(zip(*np.split(touches, 2), strict=True))) for touches in kinds]
    return [words[at] for at in kind.ravel().tolist()]


def _exactly(borders: Sequence[Fraction]) -> tuple[IntArray, FloatArray]:
    """Borders as whole numbers of cells, and the parts of cells that are left."""
    parts = np.minimum([float(border % 1) for border in borders], BELOW_ONE)
    return np.array([border // 1 for border in borders], np.int64), parts


def placed(ranges: Corners, estimate: Estimate) -> OnBuckets:
    """Ranges of cells as queries on the buckets of an estimate."""
    lo, hi, whole, line = ranges
    buckets, border = estimate.buckets, border_cells(lo, hi, estimate.shape)
    if len(estimate.shape) > 1:
        return OnBuckets(buckets.queries(Workload.rectangles(lo, hi, estimate.shape)), border, whole)
    first, last = _apart(*(coordinates(cells, buckets.bounds, parts) for cells, parts in line))
    return OnBuckets(BucketQueries.of_runs(len(buckets), first, last), border, whole)


def _apart(first: FloatArray, last: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both ends of ranges in bucket coordinates, some floats apart even in buckets so wide that they would be one."""
    gap = np.maximum(GAP * np.spacing(first), NEAREST)
    near, up = last - first < gap, np.floor(first + gap) == np.floor(first)
    return np.where(near & ~up, last - gap, first), np.where(near & up, first + gap, last)


def border_cells(lo: FloatArray, hi: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """At most how many cells of each box have a neighbour outside it.

    A bucket is a connected patch, so a bucket that a box cuts holds such a cell.
    """
    widths, size = np.ceil(hi) - np.floor(lo), np.array(shape)
    faces = (lo > 0).astype(np.float64) + (hi < size)
    if len(shape) == 1:
        return np.maximum(faces[:, 0], 1)
    cells: FloatArray = (faces * widths.prod(axis=1, keepdims=True) / widths).sum(axis=1)
    return np.maximum(cells, 1)


def spans(axes: Sequence[Axis], lo: object, hi: object) -> tuple[Span, ...]:
    """The two borders of a range on every axis, in cells."""
    return tuple(axis.span(low, high) for axis, low, high in by_axis(axes, lo, hi))


def by_axis(axes: Sequence[Axis], lo: object, hi: object) -> Iterator[tuple[Axis, object, object]]:
    """The two ends of a range on every axis; on an axis of addresses, a network alone will do.

    Raises:
        OptionError: If there are more or fewer.
    """
    count = len(axes)
    lows, highs = ([lo], [hi]) if count == 1 and not (_listed(lo) and _listed(hi)) else (lo, hi)
    if not (_listed(lows) and _listed(highs) and len(lows) == len(highs) == count):
        names = ", ".join(axis.column for axis in axes)
        raise OptionError(
            f"A range of this release has two ends on each of {names}.", "pass (lo, …), (hi, …), one for each axis."
        )
    for axis, low, high in zip(axes, lows, highs, strict=True):
        if high is None and isinstance(axis, AddressAxis):
            yield axis, *axis.ends(low)
        elif high is None:
            raise OptionError("Only one end of the range is given.", "pass both lo and hi.")
        else:
            yield axis, low, high


def held(axes: Sequence[Axis], lo: object, hi: object) -> str:
    """What a range holds besides its own values, in words."""
    borders = zip(axes, spans(axes, lo, hi), strict=True)
    return touching(axes, [(start == 0, stop == axis.size) for axis, (start, stop) in borders])


def told_ends(axes: Sequence[Axis], lo: object, hi: object) -> dict[str, Any]:
    """The ends of a range as they were asked, in values that can be compared."""
    lows, highs = zip(*((_plain(low), _plain(high)) for _, low, high in by_axis(axes, lo, hi)), strict=True)
    return {"lo": lows, "hi": highs} if len(axes) > 1 else {"lo": lows[0], "hi": highs[0]}


def pairs(lo: ArrayLike | None, hi: ArrayLike | None) -> list[tuple[object, object]]:
    """Lower and upper ends, pair by pair, as plain values.

    Raises:
        OptionError: If there is not one upper end for every lower one, or no range at all.
    """
    if lo is None:
        raise OptionError("Only one end of the ranges is given.", "pass both lo and hi, or neither.")
    lows = _several(lo)
    highs = [None] * len(lows) if hi is None else _several(hi)
    if not lows and not highs:
        raise OptionError("No range is given.", "pass at least one lower and one upper end.")
    if len(lows) != len(highs):
        raise OptionError("lo and hi do not have the same length.", "pass one hi for every lo.")
    return list(zip(lows, highs, strict=True))


def check_pair(ends: object) -> None:
    """Refuse what is not a lower and an upper end together.

    Raises:
        OptionError: If it is not.
    """
    if not _listed(ends) or len(ends) != 2:
        raise OptionError(f"{told(ends)} is not a range.", "pass both ends together: (lo, hi).")


def _listed(end: object) -> TypeGuard[tuple[object, ...] | list[object] | NDArray[Any]]:
    """Whether an end is a row of several values."""
    return isinstance(end, (tuple, list)) or (isinstance(end, np.ndarray) and end.ndim > 0)


def _plain(end: object) -> object:
    """One end as Python has it: no number of NumPy, and no fraction where another number is as exact."""
    if isinstance(end, (np.number, np.bool_, np.str_)):
        return end.item()
    if isinstance(end, Fraction):
        near = int(end) if end.denominator == 1 else float(end)
        return near if numerals.exact(near) == end else end
    return end


def _several(end: ArrayLike) -> list[object]:
    """One end as a list, several ends as they are: rows of any kinds and lengths, which numpy would not take."""
    one = isinstance(end, str) or not isinstance(end, Iterable) or (isinstance(end, np.ndarray) and end.ndim == 0)
    return [end] if one else list(end)  # type: ignore[arg-type]  # an Iterable, as mypy cannot see
