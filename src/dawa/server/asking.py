"""From the values in a request to a release's answers in plain values: no HTTP here."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from dawa.axis import written
from dawa.axis.apart import touching
from dawa.errors import OptionError, WorkloadError
from dawa.limits import MOST_BORDER_CELLS
from dawa.publish import tables
from dawa.results.overview import overview
from dawa.results.release import Release
from dawa.server import models
from dawa.server.shelf import Shelved
from dawa.spec import ranges


def summary(shelved: Shelved) -> models.Summary:
    """A release in a list."""
    release = shelved.release
    return models.Summary(
        name=shelved.name,
        columns=[axis.column for axis in release.axes],
        epsilon=float(release.privacy.epsilon),
        private=release.privacy.private,
        path=f"/releases/{shelved.name}",
    )


def description(shelved: Shelved) -> models.Release:
    """What to know about a release before asking it."""
    release = shelved.release
    privacy = release.privacy
    return models.Release(
        name=shelved.name,
        id=release.id,
        axes=[_axis(axis) for axis in release.axes],
        buckets=len(release.estimate.buckets),
        epsilon=float(privacy.epsilon),
        epsilon_exact=str(privacy.epsilon),
        mechanism=privacy.mechanism,
        unit=privacy.unit,
        kept=privacy.kept,
        private=privacy.private,
        statement=str(privacy),
        records=apart(release, 0.95),
    )


def apart(release: Release, confidence: float) -> models.Apart:
    """How many records are in ranges, and how many in none."""
    found = overview(release, confidence)
    return models.Apart(
        inside=models.Counted(**asdict(found.inside)),
        apart=None if found.apart is None else models.Counted(**asdict(found.apart)),
        share=found.share,
        warning=found.warning,
        ways=[models.Way(label=way.label, states=list(way.states), **asdict(way.answer)) for way in found.ways],
    )


def answers(
    release: Release, asked: Sequence[tuple[Sequence[Any], Sequence[Any]]], confidence: float
) -> list[models.Answer]:
    """The release's answers to ranges, each with one lower and one upper end per axis.

    Raises:
        DawaError: If an end is not a value of its axis, a range is empty, or the ranges together cost too much.
    """
    wanted = [_asked(release, lo, hi, number) for number, (lo, hi) in enumerate(asked, 1)]
    _affordable(release, wanted)
    found = ranges.answered(release, wanted, confidence)
    return [
        models.Answer(lo=list(one.lo), hi=list(one.hi), **asdict(answer))
        for one, answer in zip(wanted, found, strict=True)
    ]


def quantile(release: Release, fraction: float) -> models.Quantile:
    """The smallest value up to which at least this fraction of the records with a cell lies."""
    _along_one_axis(release, "Quantiles")
    return models.Quantile(fraction=fraction, value=written.plain(release.axis, release.quantile(fraction)))


def buckets(release: Release, first: int, count: int) -> models.Buckets:
    """Some of the buckets along one axis."""
    _along_one_axis(release, "Buckets")
    estimate, total = release.estimate, len(release.estimate.buckets)
    number = np.arange(first, max(first, min(first + count, total)))
    bounds = estimate.buckets.bounds
    lo, hi = written.written(release.axis, bounds[number], bounds[number + 1])
    variances = estimate.range_variances(number.astype(np.float64), (number + 1).astype(np.float64))
    columns = (
        lo,
        hi,
        (bounds[number + 1] - bounds[number]).tolist(),
        estimate.totals[number].tolist(),
        np.sqrt(variances).tolist(),
        estimate.unbiased[number].tolist(),
        tables.bucket_notes(release, first, first + len(number)),
    )
    names = tuple(models.Bucket.model_fields)
    rows = [models.Bucket(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]
    return models.Buckets(total=total, first=first, buckets=rows)


def _axis(axis: Any) -> models.Axis:  # noqa: ANN401  an axis of a release, not a model
    lo, hi = written.written(axis, [0], [axis.size])
    return models.Axis(
        column=axis.column,
        kind=axis.kind,
        start=lo[0],
        stop=hi[0],
        cells=axis.size,
        description=axis.describe(),
        edges=touching([axis], [(True, True)]),
    )


def _asked(release: Release, lo: Sequence[Any], hi: Sequence[Any], number: int) -> ranges.Asked:
    count = len(release.axes)
    if not len(lo) == len(hi) == count:
        names = ", ".join(axis.column for axis in release.axes)
        raise WorkloadError(
            f"Range {number} needs two ends on each of {names}.",
            "give lo and hi once for every axis, in this order.",
        )
    return ranges.Asked(tuple(lo), tuple(hi), f"Range {number}")


def _affordable(release: Release, wanted: Sequence[ranges.Asked]) -> None:
    """Refuse ranges that would make other clients wait too long."""
    if len(release.axes) == 1:
        return
    cost = 0
    for one in wanted:
        sides = [math.ceil(stop) - math.floor(start) for start, stop in ranges.spans(one, release.axes)]
        cost += sum(2 * math.prod(sides) // side for side in sides)
        if cost > MOST_BORDER_CELLS:
            raise OptionError(
                "These ranges have too many cells along their sides for one request.",
                "ask for fewer or smaller ones at a time, or load the file with dawa.load.",
            )


def _along_one_axis(release: Release, what: str) -> None:
    if len(release.axes) > 1:
        raise OptionError(
            f"{what} exist only along one axis, and this release has {len(release.axes)}.", "ask for answers instead."
        )
