"""What a request costs, in units, before anything is computed: from public numbers alone.

A unit is about two milliseconds of one core, which is what a simple request takes from the socket to the answer. The
constants below are measured; they need not be exact, because tokens limit what one client gets in the long run, and
turns limit what it gets at a moment. What matters is that no request costs a hundred times what it is charged.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from dawa.errors import OptionError
from dawa.limits import MOST_BORDER_CELLS, MOST_BUCKETS_PAGED, MOST_UNITS_ASKED, MOST_UNITS_OF_ONE
from dawa.results import bands
from dawa.results.grouped import AnyRelease, GroupedRelease
from dawa.results.release import Release
from dawa.strategy.bumps import BumpStrategy
from dawa.strategy.nested import NestedStrategy
from dawa.strategy.product import ProductStrategy

UNIT = 2.0
"""Milliseconds of a unit."""

STEP = 4.0
"""Units of a step of a computation, after which it is another client's turn."""

BODY_BYTE = 1e-3
"""Milliseconds to read a byte of a body, together with the ranges in it."""

WRITING = 0.05
"""Milliseconds to write an answer or a bucket."""

END = {"numbers": 0.08, "ordered": 0.08, "dates": 0.35, "addresses": 0.08, "edges": 0.08}
"""Milliseconds to read the two ends of a range on an axis, by kind."""

EDGE = 1.6e-3
"""Milliseconds more for every edge."""

BORDER, CUT_BORDER = 2e-4, 7e-4
"""Milliseconds for every cell along the sides of a box: if it covers whole cells, and if it cuts them."""

BUMP_BUCKET, BUMP_ROW = 3e-5, 5e-7
"""Milliseconds for every bucket in a box, and for every two rows, if bumps were measured."""

CALL, CALL_BUCKET, NESTED_BUCKET = 0.4, 2e-6, 2e-4
"""Milliseconds of a step before its first range: always, and for every bucket."""

PAGE_BUCKET = 5e-3
"""Milliseconds for every bucket of a release, to write them into a page."""

PAGE_GROUP = 1000
"""What a group adds to the work of a page, in buckets."""

BARS_BUCKET, QUANTILE, QUANTILE_BUCKET, VALUES_BUCKET = 4e-4, 0.3, 1e-5, 6e-4
"""Milliseconds for every bucket before the first quantile; for each quantile, and for every bucket then; and for every
bucket to add up values."""

DRAW, DRAW_BUCKET = 0.05, 6e-5
"""Milliseconds to draw the noise of all answers once, always and for every bucket."""

GROUP_RANGE = 3e-3
"""Milliseconds for every range in every group, where all groups are asked together."""

PASSES = 7
"""How often all groups are gone through to answer for them together."""

Span = tuple[Fraction, Fraction]


def of_body(length: int) -> float:
    """Units to read a body of this many bytes and the ranges that it is likely to hold."""
    return length * BODY_BYTE / UNIT


def histograms(release: AnyRelease) -> tuple[Release, ...]:
    """What a release consists of: itself, or the releases of its groups."""
    return tuple(release.values()) if isinstance(release, GroupedRelease) else (release,)


def of_reading(release: AnyRelease, ranges: int) -> float:
    """Units to read the ends of this many ranges."""
    return ranges * (sum(_end(axis) for axis in release.axes) + WRITING) / UNIT


def of_call(release: AnyRelease) -> float:
    """Units of a step before its first range; of a release with groups, for all groups together."""
    return sum(_of_call(one) for one in histograms(release))


def _of_call(release: Release) -> float:
    buckets = len(release.estimate.buckets)
    nested = NESTED_BUCKET if isinstance(release.estimate.strategy, NestedStrategy) else 0.0
    return (CALL + (CALL_BUCKET + nested) * buckets) / UNIT


def of_quantiles(release: Release, count: int) -> float:
    """Units to find this many quantiles, with their intervals."""
    buckets = len(release.estimate.buckets)
    return (CALL + BARS_BUCKET * buckets + count * (QUANTILE + QUANTILE_BUCKET * buckets)) / UNIT


def of_values(release: Release) -> float:
    """Units to add up values."""
    return (CALL + VALUES_BUCKET * len(release.estimate.buckets)) / UNIT


def of_buckets(release: Release, count: int) -> float:
    """Units to tell this many buckets."""
    return of_call(release) + count * 2 * WRITING / UNIT


def of_comparing(release: Release) -> float:
    """Units to compare two ranges, besides answering each."""
    return 2 * of_call(release) + VALUES_BUCKET * len(release.estimate.buckets) / UNIT


def of_band(release: Release) -> float:
    """Units to draw noise anew and to find a band, whether or not that was done before."""
    buckets = len(release.estimate.buckets)
    draws = bands.draws_of(release.estimate) if len(release.axes) == 1 else 0
    return (CALL + VALUES_BUCKET * buckets + draws * (DRAW + DRAW_BUCKET * buckets)) / UNIT


def at_once(release: AnyRelease, each: Sequence[float]) -> int:
    """How many passes over a group make a step, where these ranges are asked of all groups together."""
    groups = max(len(histograms(release)), 1)
    return max(1, int(STEP * PASSES * groups / max(of_call(release) + sum(each), 1e-9)))


def of_page(release: AnyRelease) -> float:
    """Units to make a page."""
    each = histograms(release)
    return sum((CALL + PAGE_BUCKET * len(one.estimate.buckets)) / UNIT + of_band(one) for one in each)


def check_page(release: AnyRelease, name: str) -> None:
    """Refuse a page that cannot be made in one short step.

    Raises:
        OptionError: If the release has too many buckets.
    """
    parts = histograms(release)
    buckets = sum(len(one.estimate.buckets) for one in parts)
    if buckets + PAGE_GROUP * (len(parts) - 1) > MOST_BUCKETS_PAGED:
        if len(parts) > 1:
            raise OptionError(
                f"This release has {len(parts):,} groups with {buckets:,} buckets, too many for a page by the server.",
                f"add group= for the page of one, or download /releases/{name}/file: dawa explore {name}.json.",
            )
        raise OptionError(
            f"This release has {buckets:,} buckets, and the server makes pages for at most {MOST_BUCKETS_PAGED:,}.",
            f"download /releases/{name}/file, and make its page: dawa explore {name}.json.",
        )


def of_range(release: AnyRelease, spans: Sequence[Span]) -> float:
    """Units to answer one range, after its ends were read; of a release with groups, in all of them together."""
    if isinstance(release, GroupedRelease):
        return sum(GROUP_RANGE / UNIT + of_range(one, spans) for one in release.values())
    if len(spans) == 1:
        return 0.0
    sides = [math.ceil(stop) - math.floor(start) for start, stop in spans]
    cells, strategy = math.prod(sides), release.estimate.strategy
    border = sum(2 * cells // side for side in sides)
    whole = all(end.denominator == 1 for span in spans for end in span)
    spent = border * (BORDER if whole else CUT_BORDER)
    if isinstance(strategy, BumpStrategy):
        spent += min(cells, len(release.estimate.buckets)) * BUMP_BUCKET + len(strategy.pattern) ** 2 * BUMP_ROW
    if isinstance(strategy, ProductStrategy) and not whole:
        spent += 1e-3 * sum(side**2 for side in sides) + 2e-7 * cells * sum(sides)
    return spent / UNIT


def checked(release: AnyRelease, ranges: Sequence[Sequence[Span]]) -> list[float]:
    """Units to answer each of these ranges.

    Raises:
        OptionError: If they cost more than one request may.
    """
    border, spent, count = 0, of_call(release), len(release) if isinstance(release, GroupedRelease) else 1
    found = []
    for spans in ranges:
        sides = [math.ceil(stop) - math.floor(start) for start, stop in spans]
        border += sum(2 * math.prod(sides) // side for side in sides) * count if len(sides) > 1 else 0
        if border > MOST_BORDER_CELLS:
            raise OptionError(
                "These ranges have too many cells along their sides for one request.",
                "ask for fewer or smaller ones at a time, or load the file with dawa.load.",
            )
        found.append(of_range(release, spans))
        check(found[-1] / count * (MOST_UNITS_ASKED / MOST_UNITS_OF_ONE), 1)  # a step is about one group
        spent += found[-1]
        check(spent, len(found))
    return found


def check(units: float, ranges: int) -> None:
    """Refuse a request that costs too much.

    Raises:
        OptionError: If it does.
    """
    if units > MOST_UNITS_ASKED:
        most = math.floor(ranges * MOST_UNITS_ASKED / units)
        fewer = f"ask for at most {most} ranges" if most > 1 else "ask for a smaller range, or one that cuts no cells"
        raise OptionError(
            f"These ranges take too long to answer: {units:,.0f} units, and a request may take {MOST_UNITS_ASKED:,}.",
            f"{fewer} at a time, or load the file with dawa.load.",
        )


def steps(each: Sequence[float], call: float) -> Iterator[slice]:
    """Cut ranges with these costs into steps that cost about the same, and not much less than starting one costs."""
    most, begin, spent = max(STEP, 2 * call), 0, 0.0
    for at, cost in enumerate(each):
        if at > begin and spent + cost > most:
            yield slice(begin, at)
            begin, spent = at, 0.0
        spent += cost
    if begin < len(each):
        yield slice(begin, len(each))


def _end(axis: Any) -> float:  # noqa: ANN401  an axis of a release
    return END.get(axis.kind, max(END.values())) + (EDGE * axis.size if axis.kind == "edges" else 0.0)
