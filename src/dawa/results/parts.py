"""One histogram in a release file: its buckets, strategy, noise and stops, and the records apart.

A file has one of them, or one for each group. Values were held against the schema before; here they are held against
each other, and then used.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dawa import budget
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.axis import Axis, State
from dawa.errors import DawaError, ReleaseError
from dawa.layout.boxes import Boxes
from dawa.partition.buckets import Buckets, RowMajor, StopRule, every_cell
from dawa.partition.split import split_line
from dawa.results import agreeing, insides
from dawa.results.conform import damaged
from dawa.results.estimate import Estimate
from dawa.results.statement import PrivacyStatement
from dawa.strategy.base import RESOLUTION, Strategy
from dawa.strategy.bumps import BumpStrategy
from dawa.strategy.hats import HatStrategy
from dawa.strategy.nested import NestedStrategy
from dawa.strategy.product import ProductStrategy
from dawa.strategy.tree import TreeStrategy, leaves_only
from dawa.strategy.wavelet import WaveletStrategy

ORDERS = ("line", "hilbert", "boxes", "rows")
LONGEST_CAUSE = 300
"""Characters of an error about a part that are told."""
KINDS: dict[
    str,
    type[TreeStrategy]
    | type[HatStrategy]
    | type[BumpStrategy]
    | type[WaveletStrategy]
    | type[NestedStrategy]
    | type[ProductStrategy],
] = {
    "tree": TreeStrategy,
    "hats": HatStrategy,
    "bumps": BumpStrategy,
    "wavelet": WaveletStrategy,
    "nested": NestedStrategy,
    "product": ProductStrategy,
}
Ways = Sequence[tuple[State, ...]]
"""The ways of being counted apart (``axis.apart.patterns``)."""


def written(estimate: Estimate, axes: int) -> dict[str, Any]:
    """A histogram over so many axes as JSON values, with arrays for lists of numbers, without the records apart."""
    buckets = estimate.buckets
    return {
        "buckets": {
            "bounds": buckets.bounds,
            "totals": estimate.totals,
            "unbiased": estimate.unbiased,
            **_lines(buckets, axes),
            **({} if estimate.inside == "even" else {"inside": estimate.inside}),
        },
        "noise": {"unit_variance": estimate.unit_variance, "resolution": RESOLUTION},
        "strategy": estimate.measured.described(),
        "stops": _stops(buckets.by_cells),
        **_halves(buckets.stops),
    }


@contextmanager
def named(where: str) -> Iterator[None]:
    """Errors about a part of the file that name it, whatever they are."""
    try:
        yield
    except ReleaseError:
        raise
    except DawaError as error:
        raise damaged(where, f"is not possible ({error.problem[:LONGEST_CAUSE].removesuffix('.')})") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise damaged(where, f"cannot be read ({type(error).__name__})") from error


def read(data: dict[str, Any], axes: tuple[Axis, ...], privacy: PrivacyStatement) -> Estimate:
    """The estimate that ``written`` was given.

    Raises:
        ReleaseError: If its parts do not fit together; the error names the field.
    """
    shape = tuple(axis.size for axis in axes)
    buckets = data["buckets"]
    bounds = _bounds(buckets["bounds"], math.prod(shape))
    totals, unbiased = (_as_many(buckets[name], len(bounds) - 1, f"buckets.{name}") for name in ("totals", "unbiased"))
    boxes = _boxes(buckets, shape, bounds)
    with named("strategy"):
        strategy = _strategy(data["strategy"], len(bounds) - 1)
    with named("stops"):
        stops = _stop_rule(data.get("stops"), len(bounds) - 1, "stops")
    with named("halves"):
        halves = _stop_rule(data.get("halves"), len(bounds) - 1, "halves")
    if stops is not None and halves is not None:
        raise damaged("halves", "is there beside stops, and one walk chose the buckets")
    stops = stops or halves
    by_rows = buckets.get("order") == "rows"
    if by_rows and (len(totals) != math.prod(shape) or stops is not None):
        raise damaged("buckets.order", "is 'rows', but not every cell is a bucket, or there are stops")
    variance = float(data["noise"]["unit_variance"])
    with named("noise"):
        agreeing.check_measured(variance, privacy, int(strategy.column_sums().max()), stops)
    if isinstance(strategy, ProductStrategy) and (not by_rows or strategy.shape != shape):
        raise damaged("strategy.shape", "does not fit the axes and the order of the buckets")
    placed = RowMajor(bounds) if by_rows else Buckets(bounds, stops=stops, boxes=boxes)
    return Estimate(
        shape=shape,
        epsilon=privacy.mechanism_epsilon,
        buckets=placed,
        inside=_inside(buckets.get("inside", "even"), shape, placed, totals),
        unbiased=unbiased,
        totals=totals,
        strategy=strategy,
        unit_variance=variance,
        mechanism=privacy.mechanism,
        options=privacy.options,
        split=privacy.mechanism_split,
        randomness=privacy.randomness,
    )


def _inside(inside: insides.Inside, shape: tuple[int, ...], buckets: Buckets, totals: FloatArray) -> insides.Inside:
    """Where records lie inside buckets, if these buckets have such a form."""
    if inside == "smooth" and not insides.smoothable(shape, buckets):
        raise damaged("buckets.inside", "is 'smooth', but these buckets have no smooth form")
    if inside == "smooth" and (totals < 0).any():
        raise damaged("buckets.inside", "is 'smooth', but some totals are negative")
    return inside


def _bounds(bounds: IntArray, size: int) -> IntArray:
    """Bucket bounds, if they divide the domain."""
    rising = np.diff(bounds) > 0
    if not rising.all():
        raise damaged(f"buckets.bounds[{int(np.argmin(rising)) + 1}]", "is not larger than the bound before it")
    for at, wanted in ((0, 0), (len(bounds) - 1, size)):
        if bounds[at] != wanted:
            raise damaged(f"buckets.bounds[{at}]", f"is not {wanted}, as the axes say")
    return frozen(bounds)


def _as_many(numbers: FloatArray, count: int, where: str) -> FloatArray:
    if len(numbers) != count:
        raise damaged(where, f"has {len(numbers):,} entries, not {count:,}")
    return frozen(numbers)


def written_apart(ways: Ways, others: Estimate | None) -> dict[str, Any] | None:
    """The records that are counted apart, one number for each way of it; None if there are none."""
    if others is None:
        return None
    return {
        "states": [list(way) for way in ways],
        "totals": others.totals,
        "unbiased": others.unbiased,
        "unit_variance": others.unit_variance,
    }


def read_apart(data: dict[str, Any] | None, ways: Ways, privacy: PrivacyStatement, what: str) -> Estimate | None:
    """The estimate that ``written_apart`` was given: noise on every number by itself.

    Args:
        data: The field.
        ways: The ways that there must be.
        privacy: The budget.
        what: The field that says which ways there are.

    Raises:
        ReleaseError: If they do not fit together; the error names the field.
    """
    if data is None:
        if ways:
            raise damaged("apart", f"is missing, and the {what} count records apart")
        return None
    if not ways:
        raise damaged("apart", f"is there, and the {what} count no records apart")
    if [tuple(way) for way in data["states"]] != list(ways):
        raise damaged("apart.states", f"do not fit the {what}")
    agreeing.check_apart(float(data["unit_variance"]), privacy)
    totals, unbiased = (_as_many(data[name], len(ways), f"apart.{name}") for name in ("totals", "unbiased"))
    if not np.array_equal(totals, np.maximum(unbiased, 0)):
        raise damaged("apart.totals", "are not unbiased without what is below 0")
    return Estimate(
        shape=(len(ways),),
        epsilon=privacy.mechanism_epsilon,
        buckets=every_cell(len(ways)),
        unbiased=unbiased,
        totals=totals,
        strategy=leaves_only(np.full(len(ways), RESOLUTION)),
        unit_variance=float(data["unit_variance"]),
        mechanism="identity",
        options={},
        split={},
        randomness=privacy.randomness,
    )


def _lines(buckets: Buckets, axes: int) -> dict[str, Any]:
    """How cells are lined up, if there are several axes."""
    if buckets.boxes is not None:
        return {"order": "boxes", "lo": buckets.boxes.lo, "hi": buckets.boxes.hi}
    if isinstance(buckets, RowMajor):
        return {"order": "rows"}
    return {"order": "hilbert"} if axes > 1 else {}


def _boxes(data: dict[str, Any], shape: tuple[int, ...], bounds: IntArray) -> Boxes | None:
    """The buckets as boxes, if they are boxes."""
    order = data.get("order", "line")
    if (order == "line") != (len(shape) == 1 and order != "boxes"):
        raise damaged("buckets.order", f"cannot be {order!r} along {len(shape)} axes")
    if order != "boxes":
        return None
    for corner in ("lo", "hi"):
        if data[corner].shape != (len(bounds) - 1, len(shape)):
            raise damaged(f"buckets.{corner}", "does not have one entry for each axis of each bucket")
    boxes = Boxes(frozen(data["lo"]), frozen(data["hi"]))
    with named("buckets.lo and buckets.hi"):
        boxes.check_tiling(shape)
    if not np.array_equal(boxes.bounds, bounds):
        raise damaged("buckets.bounds", "do not count the cells of the boxes")
    return boxes


def _strategy(data: dict[str, Any], buckets: int) -> Strategy:
    """The strategy, if it fits the buckets and the budget."""
    strategy = KINDS[data["kind"]].from_json(data)
    if strategy.buckets != buckets:
        raise damaged("strategy", f"is for {strategy.buckets:,} buckets, not {buckets:,}")
    if (strategy.column_sums() > RESOLUTION).any():
        raise damaged("strategy", "weighs more than its budget")
    return strategy


def _stops(stops: StopRule | None) -> dict[str, Any] | None:
    if stops is None:
        return None
    table = stops.table
    return {
        "loss": str(table.epsilon),
        "least": table.least,
        "theta": table.theta,
        "step": table.step,
        "offset": table.offset,
        "depth": stops.depth,
    }


def _halves(stops: StopRule | None) -> dict[str, Any]:
    """The same of a walk that compared halves: a field of its own, as who takes it for the other is wrong."""
    if stops is None or stops.halves is None:
        return {}
    return {"halves": {"tolerated": stops.halves, **(_stops(stops) or {})}}


def _stop_rule(data: dict[str, Any] | None, buckets: int, where: str) -> StopRule | None:
    if data is None:
        return None
    table = split_line(budget.fraction(data["loss"]), float(data["least"]), float(data["theta"]))
    if (table.step, table.offset) != (data["step"], data["offset"]):
        raise damaged(where, "has a step or an offset that its other numbers do not give")
    if len(data["depth"]) != buckets:
        raise damaged(f"{where}.depth", f"has {len(data['depth']):,} entries, not {buckets:,}")
    return StopRule(table, frozen(data["depth"]), data["tolerated"] if where == "halves" else None)
