"""A release as a histogram: its records in bins, by the conventions of UHI, which other libraries read.

Along one axis the bins are the buckets, unless others are asked for. Over several axes buckets have any shape, so bins
are cells, or runs of cells where there are too many. Groups are an axis of categories before the others.

The noise of two buckets is correlated after least squares, and bins inside one bucket have one noise between them. So
the variance of two bins together is not the sum of their variances: it is mostly smaller in the first case, and larger
in the second. Whoever wants wider bins asks the release for them: ``rel.histogram(bins)``.

Records that are in no range are in the bins that UHI keeps for them, underflow and overflow, if it has any: below and
above one axis of numbers, times or addresses, and not listed on one axis of categories. What lies on the axis but not
in the bins is there, too. All other ways of having no cell are in the histogram's metadata.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dawa import check
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.axis import Axis, AxisValue, State
from dawa.axis.apart import named, patterns
from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_BINS, MOST_BOXES_BINNED
from dawa.numerals import brief, told
from dawa.queries.workload import Workload
from dawa.results import ends, indexing, uhi
from dawa.results.estimate import Estimate
from dawa.results.indexing import Bin

Along = int | Sequence[AxisValue] | None
"""Bins along one axis: at most so many, or where they begin and the last one ends, or those of the release."""

BinsLike = Along | Sequence[Along]
"""Bins along one axis, or for each of several axes."""

COUNT = "COUNT"
"""The kind of all our histograms, as UHI calls it: bins hold numbers of records."""

WAYS: dict[State, int] = {"below": 0, "above": 1, "unlisted": 1}
"""The ways of having no cell that UHI has a bin for, and at which end."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The records of a release, or of one of its groups.

    Attributes:
        estimate: Those that have a cell.
        others: Those that have none; None if they are not counted apart.
    """

    estimate: Estimate
    others: Estimate | None


@dataclass(frozen=True, eq=False)
class Histogram:
    """Records in bins, with the variance of the noise in each: a ``PlottableHistogram`` of UHI.

    Attributes:
        axes: The grouping columns, if there are groups, and then the axes of the release, each with its bins.
        with_flow: The numbers, and the bins below and above where there are such.
        variances_with_flow: The variances of their noise.
        metadata: What else is known: how private it is, and the records that have no bin.
        again: Asks the release for other bins, given by their borders in cells.
    """

    axes: tuple[Axis, ...]
    with_flow: FloatArray
    variances_with_flow: FloatArray
    metadata: dict[str, uhi.Word]
    again: Callable[[Sequence[IntArray]], "Histogram"] = field(repr=False)

    @property
    def kind(self) -> str:
        """What bins hold, in UHI's words."""
        return COUNT

    def values(self, flow: bool = False) -> FloatArray:  # noqa: FBT001, FBT002  as UHI has it
        """The number of records in each bin; with ``flow``, also of those below and above."""
        return self._cut(self.with_flow, flow=flow)

    def variances(self, flow: bool = False) -> FloatArray:  # noqa: FBT001, FBT002
        """The variance of the noise in each bin alone: noise is correlated, so variances do not add up."""
        return self._cut(self.variances_with_flow, flow=flow)

    def counts(self, flow: bool = False) -> FloatArray:  # noqa: FBT001, FBT002
        """The effective number of entries, as UHI defines it: how many would have this relative error by chance."""
        return effective(self.values(flow), self.variances(flow))

    def to_numpy(self, flow: bool = False) -> tuple[NDArray[Any], ...]:  # noqa: FBT001, FBT002
        """Values and edges, as ``numpy.histogramdd`` returns them; names in the place of edges on axes of categories.

        Bins below and above end at infinity.
        """
        return self.values(flow), *(uhi.edges(axis, flow=flow) for axis in self.axes)

    def __getitem__(self, at: Any) -> "Histogram | Bin":  # noqa: ANN401  whatever UHI says
        """One bin, or some of them, or all of some in one, as UHI indexes; along one axis without groups.

        Raises:
            IndexError: If there is no such bin.
            OptionError: If there are several axes, or no bin is left.
        """
        if len(self.axes) > 1:
            raise OptionError(
                "Bins of several axes are not cut.", "ask for others: rel.histogram(bins); hist.Hist(rel) cuts any."
            )
        axis, flow = self.axes[0], uhi.flow_of(self.axes[0])
        if at is ...:
            return self
        if not isinstance(at, slice):
            place = indexing.picked(axis, at, flow)
            return Bin(float(self.with_flow[place]), float(self.variances_with_flow[place]))
        found = indexing.cut(axis, at)
        along = axis.bins[list(found.borders)]
        if not found.summed:
            return self.again([along])
        lo = 0 if found.open[0] else along[0]
        hi = axis.size if found.open[1] else along[-1]
        alone = self.again([np.array([lo, hi])])
        first, last = (alone.with_flow, alone.variances_with_flow), uhi.flow_of(alone.axes[0])
        kept = slice(int(last[0] and not found.open[0]), len(alone.with_flow) - (last[1] and not found.open[1]))
        return Bin(*(float(array[kept].sum()) for array in first))  # what is counted apart has noise of its own

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        arrays = ("with_flow", "variances_with_flow")
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
        return same and self.axes == other.axes and self.metadata == other.metadata

    __hash__ = None  # type: ignore[assignment]

    def _cut(self, array: FloatArray, *, flow: bool) -> FloatArray:
        """An array with bins below and above, or without."""
        if flow:
            return array
        sides = [uhi.flow_of(axis) for axis in self.axes]
        return array[
            tuple(slice(int(under), size - over) for (under, over), size in zip(sides, array.shape, strict=True))
        ]

    def _to_uhi_(self) -> dict[str, Any]:
        """The histogram as a dictionary of UHI's schema, which ``uhi.io`` writes and ``hist.Hist`` reads."""
        return uhi.document(self.axes, self.with_flow, self.variances_with_flow, self.metadata)

    def _to_boost_histogram_(self) -> Any:  # noqa: ANN401  a library's own type
        """The same as boost-histogram has it."""
        return uhi.boosted(self._to_uhi_())

    def __repr__(self) -> str:
        along = " × ".join(f"{len(axis)} bin{'s' * (len(axis) != 1)} of {axis.column!r}" for axis in self.axes)
        return f"Histogram({along}, {self.values().sum():,.0f} records)"


def effective(values: FloatArray, variances: FloatArray) -> FloatArray:
    """The square of each value as a part of its variance; 0 without noise."""
    found: FloatArray = np.divide(values**2, variances, out=np.zeros_like(values), where=variances > 0)
    return found


def of(
    axes: tuple[Axis, ...],
    parts: Sequence[Measured],
    bins: BinsLike = None,
    along: tuple[Axis, ...] = (),
    metadata: dict[str, uhi.Word] | None = None,
) -> Histogram:
    """Measured records in bins.

    Args:
        axes: The axes that were measured.
        parts: The records; of groups, those of each group.
        bins: Which bins.
        along: The grouping columns, as axes.
        metadata: What is known of the release.

    Raises:
        OptionError: If these are no bins, or too many.
    """
    chosen = borders(axes, [part.estimate for part in parts], bins)
    return _of(axes, parts, chosen, along, metadata or {})


def _of(
    axes: tuple[Axis, ...],
    parts: Sequence[Measured],
    chosen: Sequence[IntArray],
    along: tuple[Axis, ...],
    metadata: dict[str, uhi.Word],
) -> Histogram:
    """The same for bins whose borders are known, in cells."""
    flow = [_flow(axis, along_axis) if len(axes) == 1 else None for axis, along_axis in zip(axes, chosen, strict=True)]
    sums = [_with_apart(axes, part, chosen, flow[0]) for part in parts]
    kinds = [grouping.binned(np.arange(grouping.size + 1), (False, False)) for grouping in along]
    binned = [axis.binned(each, side or (False, False)) for axis, each, side in zip(axes, chosen, flow, strict=True)]
    shape = (*map(len, kinds), *sums[0][0].shape)
    values, variances = (frozen(np.array([found[i] for found in sums]).reshape(shape)) for i in (0, 1))
    known = {**metadata, **_unplaced(axes, parts, flow[0])}
    again = partial(_of, axes, parts, along=along, metadata=metadata)
    return Histogram((*kinds, *binned), values, variances, known, again)


def borders(axes: Sequence[Axis], estimates: Sequence[Estimate], bins: BinsLike) -> list[IntArray]:
    """Where bins begin and end on every axis, in cells; no two borders are the same float.

    Raises:
        OptionError: If these are no bins, or too many.
    """
    several: Sequence[Any]
    if len(axes) == 1:
        several = [bins]
    elif bins is None or check.is_whole(bins, 1):
        several = [bins] * len(axes)
    else:
        several = list(bins) if isinstance(bins, Sequence) and not isinstance(bins, str) else []
    if len(several) != len(axes):
        names = ", ".join(axis.column for axis in axes)
        raise OptionError(
            f"bins={told(bins)} does not say which bins there are on each of {names}.",
            "pass one entry for each axis: a number of bins, a list of their borders, or None.",
        )
    usual = default(axes, estimates)
    chosen = [
        _apart(axis, alone if said is None else _chosen(axis, said))
        for axis, said, alone in zip(axes, several, usual, strict=True)
    ]
    count = math.prod((len(estimates), *(len(each) - 1 for each in chosen)))
    if bins is not None and count > MOST_BINS:
        raise OptionError(f"There are {count:,} bins, more than {MOST_BINS:,}.", "choose fewer: rel.histogram(bins).")
    return chosen


def default(axes: Sequence[Axis], estimates: Sequence[Estimate]) -> list[IntArray]:
    """The bins of a release: buckets along one axis, of all groups together; over several, cells if they are few."""
    most = MOST_BINS // len(estimates)
    if len(axes) == 1:
        first = estimates[0].buckets.bounds
        if len(estimates) == 1:
            return [first]
        union = np.unique(np.concatenate([estimate.buckets.bounds for estimate in estimates]))
        return [union if len(union) <= most else _even(axes[0].size, most)]
    sizes = [axis.size for axis in axes]
    if math.prod(sizes) <= most:
        return [_even(size, size) for size in sizes]
    return [_even(size, side) for size, side in zip(sizes, _sides(sizes, min(most, MOST_BOXES_BINNED)), strict=True)]


def _sides(sizes: Sequence[int], most: int) -> list[int]:
    """How many bins each axis may have: short axes keep their cells, and longer ones share what is left."""
    sides = [0] * len(sizes)
    for rank, at in enumerate(np.argsort(np.array(sizes, dtype=object))):
        rest = len(sizes) - rank
        sides[at] = max(1, min(sizes[at], int(most ** (1 / rest) + 1e-9)))
        most //= sides[at]
    return sides


def _even(size: int, count: int) -> IntArray:
    """Borders of so many runs of cells, about equally long."""
    if count >= size:
        return np.arange(size + 1)
    return np.array([size * part // count for part in range(count + 1)], np.int64)


def _chosen(axis: Axis, said: object) -> IntArray:
    """Borders in cells, as somebody named them."""
    if check.is_whole(said, 1):
        return _even(axis.size, min(int(said), MOST_BINS))
    if isinstance(said, str) or not isinstance(said, (Sequence, np.ndarray)):
        raise OptionError(
            f"bins={told(said)} are no bins of {told(axis.column)}.", "pass a number of bins, or a list of borders."
        )
    try:
        places = [axis.border(value) for value in said]
    except AxisError as error:
        raise OptionError(f"Bins have a border that is none: {error.problem}", error.hint) from None
    if axis.kind == "ordered":
        places = [*places, type(places[0])(axis.size)] if places and places[0] == 0 else []
    if len(places) < 2 or any(one >= two for one, two in pairwise(places)):
        how = "all categories, each bin by its first one" if axis.kind == "ordered" else "at least two of them"
        raise OptionError(f"The borders of bins of {told(axis.column)} do not increase.", f"name {how}, in order.")
    cut = next((value for value, place in zip(said, places, strict=False) if place.denominator != 1), None)
    if cut is not None:
        raise OptionError(
            f"{brief(cut)} lies inside a cell of the axis {told(axis.column)}.",
            "let bins begin and end where cells do; rel.answer takes any range.",
        )
    return np.array([int(place) for place in places], np.int64)


def _apart(axis: Axis, along: IntArray) -> IntArray:
    """The borders without those that floats do not tell from the one before, as happens on huge axes."""
    if axis.kind == "ordered":
        return along
    numbers = axis.number(along)
    kept = np.concatenate(([True], numbers[1:] > numbers[:-1]))
    if kept.all():
        return along
    found = along[kept]
    found[-1] = along[-1]
    if len(found) < 2:
        raise OptionError(
            f"Floats do not tell the ends of the axis {told(axis.column)} apart.",
            "histograms have borders that are floats: use rel.to_arrow() or rel.answers.",
        )
    return found


def _flow(axis: Axis, along: IntArray) -> tuple[bool, bool]:
    """Whether there is something to know below the bins, and above them."""
    apart = {WAYS.get(state) for state in axis.apart}
    return bool(along[0] > 0) or 0 in apart, bool(along[-1] < axis.size) or 1 in apart


def _with_apart(
    axes: Sequence[Axis], part: Measured, chosen: Sequence[IntArray], flow: tuple[bool, bool] | None
) -> tuple[FloatArray, FloatArray]:
    """Values and variances in bins, with what lies below and above them along one axis."""
    if flow is None:
        return binned(part.estimate, chosen)
    values, variances = binned(part.estimate, chosen)
    size, sides = axes[0].size, []
    for side, (lo, hi) in enumerate(((0, int(chosen[0][0])), (int(chosen[0][-1]), size))):
        found = np.array(binned(part.estimate, [np.array([lo, hi])])) if lo < hi else np.zeros((2, 1))
        for at, (state,) in enumerate(patterns(axes)):
            if part.others is not None and WAYS.get(state) == side:
                found += [[part.others.totals[at]], [part.others.variances_alone[at]]]
        sides.append(found if flow[side] else np.zeros((2, 0)))
    (low, low_variance), (high, high_variance) = sides
    return np.concatenate((low, values, high)), np.concatenate((low_variance, variances, high_variance))


def binned(estimate: Estimate, chosen: Sequence[IntArray]) -> tuple[FloatArray, FloatArray]:
    """The records in bins, which are runs of cells on every axis, and the variance of the noise in each."""
    if len(chosen) == 1:
        along = chosen[0]
        if np.array_equal(along, estimate.buckets.bounds):
            return estimate.totals, estimate.variances_alone
        whole = np.zeros(len(along) - 1)
        lo, hi = along[:-1], along[1:]
        low, high = (each.astype(np.float64)[:, None] for each in (lo, hi))
        corners = ends.Corners(low, high, whole == 0, ((lo, whole), (hi, whole)))
        queries = ends.placed(corners, estimate).queries
    elif all(len(along) == size + 1 for along, size in zip(chosen, estimate.shape, strict=True)):
        return estimate.cells, estimate.cell_variances
    else:
        lows, highs = (
            np.stack([side.ravel() for side in np.meshgrid(*each, indexing="ij")], axis=1).astype(np.float64)
            for each in ([along[:-1] for along in chosen], [along[1:] for along in chosen])
        )
        queries = estimate.buckets.queries(Workload.rectangles(lows, highs, estimate.shape))
    shape = tuple(len(along) - 1 for along in chosen)
    variances = np.maximum(estimate.variances_of(queries), 0)
    return estimate.totals_of(queries).reshape(shape), variances.reshape(shape)


def _unplaced(axes: tuple[Axis, ...], parts: Sequence[Measured], flow: tuple[bool, bool] | None) -> dict[str, uhi.Word]:
    """The records that have no bin, by how they have none, of all groups together."""
    found: dict[str, uhi.Word] = {}
    for at, way in enumerate(patterns(axes)):
        if flow is None or way[0] not in WAYS:
            counted = [part.others for part in parts if part.others is not None]
            found |= said(named(axes, way), counted, at)
    return found


def said(label: str, counted: Sequence[Estimate], at: int) -> dict[str, uhi.Word]:
    """How many records have no bin for one reason, and the variance of this number."""
    if not counted:
        return {}
    return {
        f"apart: {label}": float(sum(estimate.totals[at] for estimate in counted)),
        f"apart: {label}: variance": float(sum(estimate.variances_alone[at] for estimate in counted)),
    }
