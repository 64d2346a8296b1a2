"""How a release is written: versioned JSON, described by ``schema/release-2.json``.

A field never changes its meaning. New versions add optional fields; a reader refuses only files newer than itself.
"""

import math
from typing import Any

import numpy as np

from dawa import budget, check
from dawa.arrays import IntArray, frozen
from dawa.axis import Axis
from dawa.axis.apart import patterns
from dawa.errors import DawaError, ReleaseError
from dawa.layout.boxes import Boxes
from dawa.partition.buckets import Buckets, RowMajor, StopRule, every_cell, given
from dawa.partition.split import split_table
from dawa.results.estimate import Estimate
from dawa.results.statement import PrivacyStatement
from dawa.strategy.base import RESOLUTION, Strategy
from dawa.strategy.bumps import BumpStrategy
from dawa.strategy.hats import HatStrategy
from dawa.strategy.nested import NestedStrategy
from dawa.strategy.product import ProductStrategy
from dawa.strategy.tree import TreeStrategy, leaves_only
from dawa.strategy.wavelet import WaveletStrategy

FORMAT = "dawa-release"
VERSION = 2
ORDERS = ("line", "hilbert", "boxes", "rows")
RESTORE = "ask its publisher for the file again."
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


def written(
    axes: tuple[Axis, ...], estimate: Estimate, privacy: PrivacyStatement, others: Estimate | None = None
) -> dict[str, Any]:
    """A release as JSON values; ``others`` are the records that are counted apart."""
    buckets = estimate.buckets
    return {
        "format": FORMAT,
        "version": VERSION,
        "privacy": privacy.to_json(),
        "axes": [axis.to_json() for axis in axes],
        "buckets": {
            "bounds": buckets.bounds.tolist(),
            "totals": estimate.totals.tolist(),
            "unbiased": estimate.unbiased.tolist(),
            **_lines(buckets, len(axes)),
        },
        "noise": {"unit_variance": estimate.unit_variance, "resolution": RESOLUTION},
        "strategy": estimate.measured.to_json(),
        "stops": _stops(buckets.stops),
        "apart": None if others is None else _apart(axes, others),
    }


def read(data: Any) -> tuple[tuple[Axis, ...], Estimate, PrivacyStatement, Estimate | None]:  # noqa: ANN401  JSON
    """What ``written`` was given: axes, estimate, statement, and the records that are counted apart."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReleaseError("This file is not a dawa release.", "pass a file that Release.save wrote.")
    version = data.get("version")
    if not check.is_whole(version, 1):
        raise ReleaseError("This release is damaged: it has no version.", RESTORE)
    if version > VERSION:
        raise ReleaseError(
            f"This release has version {version}, newer than {VERSION}.", "update dawa: pip install -U dawa."
        )
    try:
        axes = tuple(Axis.from_json(axis) for axis in data["axes"])
        privacy = PrivacyStatement.from_json(data["privacy"])
        return axes, _estimate(data, axes, privacy), privacy, _others(data.get("apart"), axes, privacy)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        cause = error.problem if isinstance(error, DawaError) else f"{type(error).__name__}: {error}"
        raise ReleaseError(f"This release is damaged ({cause}).", RESTORE) from error


def _estimate(data: dict[str, Any], axes: tuple[Axis, ...], privacy: PrivacyStatement) -> Estimate:
    shape = tuple(axis.size for axis in axes)
    bounds = given(data["buckets"]["bounds"], math.prod(shape)).bounds
    boxes = _boxes(data["buckets"], shape, bounds)
    totals, unbiased = (np.array(data["buckets"][name], np.float64) for name in ("totals", "unbiased"))
    strategy = _strategy(data["strategy"], len(bounds) - 1)
    stops = _stop_rule(data.get("stops"))
    by_rows = data["buckets"].get("order") == "rows"
    unit_variance = float(data["noise"]["unit_variance"])
    if not totals.shape == unbiased.shape == (len(bounds) - 1,):
        raise ValueError("the numbers of buckets do not agree")
    if by_rows and (len(totals) != math.prod(shape) or stops is not None):
        raise ValueError("cells that are lined up row by row must each be a bucket")
    if isinstance(strategy, ProductStrategy) and (not by_rows or strategy.shape != shape):
        raise ValueError("the strategy does not fit the axes")
    if stops is not None and stops.depth.shape != totals.shape:
        raise ValueError("the stops do not fit the buckets")
    if not (np.isfinite(totals) & np.isfinite(unbiased)).all() or not 0 <= unit_variance < np.inf:
        raise ValueError("some numbers are not finite")
    if data["noise"]["resolution"] != RESOLUTION:
        raise ValueError("the strategy has an unknown resolution")
    return Estimate(
        shape=shape,
        epsilon=privacy.mechanism_epsilon,
        buckets=RowMajor(bounds) if by_rows else Buckets(bounds, stops=stops, boxes=boxes),
        unbiased=frozen(unbiased),
        totals=frozen(totals),
        strategy=strategy,
        unit_variance=unit_variance,
        mechanism=privacy.mechanism,
        options=privacy.options,
        split=privacy.mechanism_split,
        randomness=privacy.randomness,
    )


def _apart(axes: tuple[Axis, ...], others: Estimate) -> dict[str, Any]:
    """The records that are counted apart, one number for each way of having no cell."""
    return {
        "states": [list(way) for way in patterns(axes)],
        "totals": others.totals.tolist(),
        "unbiased": others.unbiased.tolist(),
        "unit_variance": others.unit_variance,
    }


def _others(data: dict[str, Any] | None, axes: tuple[Axis, ...], privacy: PrivacyStatement) -> Estimate | None:
    """The estimate that ``_apart`` was given: noise on every number by itself."""
    ways = patterns(axes)
    if data is None:
        if ways:
            raise ValueError("the records that are counted apart are missing")
        return None
    totals, unbiased = (np.array(data[name], np.float64) for name in ("totals", "unbiased"))
    unit_variance = float(data["unit_variance"])
    if [tuple(way) for way in data["states"]] != list(ways) or not totals.shape == unbiased.shape == (len(ways),):
        raise ValueError("the records that are counted apart do not fit the axes")
    if not (np.isfinite(totals) & np.isfinite(unbiased)).all() or not 0 <= unit_variance < np.inf:
        raise ValueError("some numbers are not finite")
    return Estimate(
        shape=(len(ways),),
        epsilon=privacy.mechanism_epsilon,
        buckets=every_cell(len(ways)),
        unbiased=frozen(unbiased),
        totals=frozen(totals),
        strategy=leaves_only(np.full(len(ways), RESOLUTION)),
        unit_variance=unit_variance,
        mechanism="identity",
        options={},
        split={},
        randomness=privacy.randomness,
    )


def _lines(buckets: Buckets, axes: int) -> dict[str, Any]:
    """How cells are lined up, if there are several axes."""
    if buckets.boxes is not None:
        return {"order": "boxes", "lo": buckets.boxes.lo.tolist(), "hi": buckets.boxes.hi.tolist()}
    if isinstance(buckets, RowMajor):
        return {"order": "rows"}
    return {"order": "hilbert"} if axes > 1 else {}


def _boxes(data: dict[str, Any], shape: tuple[int, ...], bounds: IntArray) -> Boxes | None:
    """The buckets as boxes, if they are boxes."""
    order = data.get("order", "line")
    if order not in ORDERS or (order == "line") != (len(shape) == 1 and order != "boxes"):
        raise ValueError("the cells are lined up in an unknown order")
    if order != "boxes":
        return None
    corners = [np.array(data[corner]) for corner in ("lo", "hi")]
    if any(corner.dtype.kind != "i" for corner in corners):
        raise ValueError("the corners of boxes are not cell numbers")
    boxes = Boxes(*(frozen(corner.astype(np.int64)) for corner in corners))
    if boxes.lo.shape != (len(bounds) - 1, len(shape)) or boxes.hi.shape != boxes.lo.shape:
        raise ValueError("the boxes do not fit the buckets")
    boxes.labels(shape)
    if not np.array_equal(boxes.bounds, bounds):
        raise ValueError("the boxes do not fit the bounds")
    return boxes


def _strategy(data: dict[str, Any], buckets: int) -> Strategy:
    """The strategy, if it fits the buckets and the budget."""
    strategy = KINDS[data["kind"]].from_json(data)
    if strategy.buckets != buckets:
        raise ValueError("the strategy is for another number of buckets")
    if (strategy.column_sums() > RESOLUTION).any():
        raise ValueError("the strategy weighs more than its budget")
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
        "depth": stops.depth.tolist(),
    }


def _stop_rule(data: dict[str, Any] | None) -> StopRule | None:
    if data is None:
        return None
    table = split_table(budget.fraction(data["loss"]), data["least"], data["theta"])
    if (table.step, table.offset) != (data["step"], data["offset"]):
        raise ValueError("the split table does not agree with its parameters")
    return StopRule(table, frozen(np.array(data["depth"], np.int64)))
