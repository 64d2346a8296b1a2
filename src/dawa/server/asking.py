"""From the values in a request to a release's answers in plain values: no HTTP here.

What can take long is an iterator whose steps are short (``turns``).
"""

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np

from dawa.axis import written
from dawa.axis.apart import touching
from dawa.errors import OptionError, ReleaseError, WorkloadError
from dawa.numerals import told
from dawa.publish import bands as published
from dawa.publish import tables
from dawa.results import bands
from dawa.results.answers import Answer, Steps
from dawa.results.grouped import AnyRelease, GroupedRelease, estimates_of
from dawa.results.overview import all_in_steps, overview
from dawa.results.release import Apart, Release
from dawa.results.statistics import Statistic
from dawa.server import costs, groups, models
from dawa.server.shelf import Shelved
from dawa.spec import ranges

BUCKETS_AT_A_STEP = 250


def summary(shelved: Shelved) -> models.Summary:
    """A release in a list."""
    release = shelved.release
    return models.Summary(
        name=shelved.name,
        title=None if release.about is None else release.about.title,
        columns=[axis.column for axis in release.axes],
        by=list(release.privacy.by),
        groups=len(release) if isinstance(release, GroupedRelease) else 0,
        epsilon=float(release.privacy.epsilon),
        private=release.privacy.private,
        path=f"/releases/{shelved.name}",
    )


def description(shelved: Shelved, whole: AnyRelease) -> Iterator[models.Release | None]:
    """What to know about a release before asking it, in the last of several steps.

    Args:
        shelved: All of it, or one of its groups.
        whole: All of it.
    """
    release = shelved.release
    privacy = release.privacy
    records = yield from _apart(release, 0.95)
    yield models.Release(
        name=shelved.name,
        id=release.id,
        about=None if release.about is None else models.About(**release.about.to_json()),
        axes=[_axis(axis) for axis in release.axes],
        by=[models.Grouping(**one.to_json()) for one in whole.by] if isinstance(whole, GroupedRelease) else [],
        groups=len(whole) if isinstance(whole, GroupedRelease) else 0,
        group=list(release.group) if isinstance(release, Release) else [],
        buckets=sum(len(one.estimate.buckets) for one in costs.histograms(release)),
        epsilon=float(privacy.epsilon),
        epsilon_exact=str(privacy.epsilon),
        mechanism=privacy.mechanism,
        unit=privacy.unit,
        kept=privacy.kept,
        private=privacy.private,
        statement=str(privacy),
        records=records,
    )


def apart(release: AnyRelease, confidence: float) -> Iterator[models.Apart | None]:
    """How many records are in ranges, and how many in none, in the last of several steps."""
    found = yield from _apart(release, confidence)
    yield found


def _apart(release: AnyRelease, confidence: float) -> Steps[models.Apart]:
    if isinstance(release, GroupedRelease):
        found = yield from groups.paced(all_in_steps(release, confidence), costs.at_once(release, [0.0]))
    else:
        found = overview(release, confidence)
    return models.Apart(
        inside=models.Counted(**found.inside.row()),
        apart=None if found.apart is None else models.Counted(**found.apart.row()),
        share=found.share,
        warning=found.warning,
        ways=[_way(way) for way in found.ways],
    )


def _way(way: Apart) -> models.Way:
    return models.Way(label=way.label, states=list(way.states), columns=list(way.columns), **way.answer.row())


Ends = tuple[Sequence[Any], Sequence[Any]]
"""A range with one lower and one upper end per axis."""

Ranges = Sequence[Ends]


def read(release: AnyRelease, asked: str | Ends) -> Ends:
    """A range as the command line reads it, if it is text; else as it is.

    What holds more commas than axes has is not cut at every one of them to see what it may mean: that takes too long.

    Raises:
        DawaError: If the text is not a range of these axes.
    """
    if not isinstance(asked, str):
        return asked
    axes = release.axes
    if len(axes) > 1 and asked.count(",") != len(axes) - 1:
        names = ", ".join(axis.column for axis in axes)
        raise WorkloadError(
            f"The range {told(asked)} does not have one part for each of {names}.",
            "put commas between them, and * for a whole axis; if a category holds a comma, pass lo and hi.",
        )
    found = ranges.typed(asked, axes)
    return found.lo, found.hi


def read_all(release: AnyRelease, asked: Sequence[str | Ends]) -> Iterator[list[Ends]]:
    """Several ranges, some at a step.

    Raises:
        DawaError: If a text is not a range of these axes.
    """
    most = max(1, int(costs.STEP / max(2 * costs.of_reading(release, 1), 1e-9)))
    for begin in range(0, len(asked), most):
        yield [read(release, one) for one in asked[begin : begin + most]]


def spans(release: AnyRelease, asked: Ranges) -> Iterator[list[list[costs.Span]]]:
    """The borders of ranges on every axis, some at a step.

    Raises:
        DawaError: If an end is not a value of its axis, or a range is empty.
    """
    most = max(1, int(costs.STEP / max(costs.of_reading(release, 1), 1e-9)))
    for begin in range(0, len(asked), most):
        part = enumerate(asked[begin : begin + most], begin + 1)
        yield [ranges.spans(_asked(release, lo, hi, number), release.axes) for number, (lo, hi) in part]


def answers(
    release: AnyRelease, asked: Ranges, each: Sequence[float], confidence: float
) -> Iterator[list[models.Answer]]:
    """The release's answers to ranges, some at a step.

    Args:
        release: The release.
        asked: Ranges that ``spans`` has read.
        each: What each of them costs.
        confidence: The confidence of every answer.
    """
    reading = costs.of_reading(release, 1)
    for part in costs.steps([cost + reading for cost in each], costs.of_call(release)):
        lows, highs = zip(*asked[part], strict=True)
        one = len(release.axes) == 1
        lo, hi = ([end[0] if one else tuple(end) for end in ends] for ends in (lows, highs))
        if isinstance(release, GroupedRelease):
            steps = release.answers_in_steps(lo, hi, confidence)
            found = yield from _nothing_yet(groups.paced(steps, costs.at_once(release, each[part])))
        else:
            found = release.answers(lo, hi, confidence)
        yield [
            models.Answer(lo=list(low), hi=list(high), **answer.row())
            for low, high, answer in zip(lows, highs, found, strict=True)
        ]


def _nothing_yet(steps: Steps[list[Answer]]) -> Generator[list[models.Answer], None, list[Answer]]:
    """A computation in steps, which gives no answers before its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: list[Answer] = end.value
            return found
        yield []


def warmed(release: AnyRelease) -> None:
    """Ask a release once, so that everything is loaded that its answers need."""
    lo, hi = written.middle(release.axes)
    asked = [(lo, hi)]
    for _ in chain(answers(release, asked, [0.0], 0.95), apart(release, 0.95)):
        pass


def prepared(release: Release) -> Iterator[None]:
    """What quantiles of any fraction need, some at a step; nothing if it is known already."""
    for name in ("variances_before", "variances_after", "variances_alone"):
        if name not in vars(release.estimate):
            yield getattr(release.estimate, name)


def quantiles(release: Release, fractions: Sequence[float], confidence: float) -> list[models.Quantile]:
    """The smallest values up to which at least these fractions of the records with a cell lie."""
    _along_one_axis(release, "Quantiles")
    return [
        models.Quantile(
            fraction=found.fraction,
            value=written.plain(release.axis, found.value),
            low=written.plain(release.axis, found.low),
            high=written.plain(release.axis, found.high),
            confidence=found.confidence,
            remark=found.remark,
        )
        for found in release.quantiles(fractions, confidence)
    ]


def values(release: Release, confidence: float) -> models.Values:
    """The mean and the sum of the values along one axis of numbers."""
    _along_one_axis(release, "Means and sums")
    mean, total = release.mean_and_sum(confidence)
    return models.Values(mean=None if math.isnan(mean.value) else _statistic(mean), sum=_statistic(total))


def whole(lo: Sequence[Any], hi: Sequence[Any]) -> tuple[Any, Any]:
    """A range as a release takes it."""
    return (lo[0], hi[0]) if len(lo) == 1 else (tuple(lo), tuple(hi))


def share(release: Release, lo: Sequence[Any], hi: Sequence[Any], confidence: float) -> models.Statistic:
    """The part of all records with a cell that lies in a range."""
    return _statistic(release.share(*whole(lo, hi), confidence))


def comparison(release: Release, first: Ends, second: Ends, other: Release, confidence: float) -> models.Comparison:
    """How many more records lie in a range than in another, perhaps of another release, and how many times as many."""
    pair = whole(*first), whole(*second)
    less = release.difference(*pair, other, confidence)
    try:
        times = _statistic(release.ratio(*pair, other, confidence))
    except ReleaseError:
        times = None
    ends = ([list(one[at]) for one in (first, second)] for at in (0, 1))
    return models.Comparison(lo=next(ends), hi=next(ends), difference=_statistic(less), ratio=times)


def _statistic(found: Statistic) -> models.Statistic:
    """A statistic; JSON knows no infinite number."""
    told = asdict(found) | {"high": found.high if math.isfinite(found.high) else None}
    return models.Statistic(**told, said=str(found))


def drawn(release: AnyRelease) -> Iterator[None]:
    """What bands of any confidence need, some at a step; nothing if it is known already."""
    if len(release.axes) == 1:
        for estimate in estimates_of(release):
            yield from bands.prepared(estimate)


def band(release: Release, first: int, count: int, confidence: float) -> models.Band:
    """Limits for the number of records up to some of the bounds along one axis; they hold for all bounds together."""
    _along_one_axis(release, "Bands")
    found = release.band(confidence)
    chosen = range(1 + first, min(1 + first + count, len(found)))
    names = tuple(models.Limits.model_fields)
    listed = published.lines(release, found, chosen) if chosen else ()
    return models.Band(
        total=len(found) - 1,
        first=first,
        confidence=found.confidence,
        said=found.said,
        remark=found.remark,
        bounds=[models.Limits(**dict(zip(names, line, strict=True))) for line in listed],
    )


def buckets(release: Release, first: int, count: int) -> Iterator[list[models.Bucket]]:
    """Some of the buckets along one axis, some of them at a step."""
    _along_one_axis(release, "Buckets")
    last = min(first + count, len(release.estimate.buckets))
    for begin in range(first, last, BUCKETS_AT_A_STEP):
        yield _buckets(release, begin, min(begin + BUCKETS_AT_A_STEP, last))


def _buckets(release: Release, first: int, last: int) -> list[models.Bucket]:
    estimate, number = release.estimate, np.arange(first, last)
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
        tables.bucket_notes(release, first, last),
    )
    names = tuple(models.Bucket.model_fields)
    return [models.Bucket(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


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


def _asked(release: AnyRelease, lo: Sequence[Any], hi: Sequence[Any], number: int) -> ranges.Asked:
    count = len(release.axes)
    if not len(lo) == len(hi) == count:
        names = ", ".join(axis.column for axis in release.axes)
        raise WorkloadError(
            f"Range {number} needs two ends on each of {names}.",
            "give lo and hi once for every axis, in this order.",
        )
    return ranges.Asked(tuple(lo), tuple(hi), f"Range {number}")


def _along_one_axis(release: Release, what: str) -> None:
    if len(release.axes) > 1:
        raise OptionError(
            f"{what} exist only along one axis, and this release has {len(release.axes)}.", "ask for answers instead."
        )
