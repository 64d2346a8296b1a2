"""A band as tables, files and pages hold it: how many records lie up to each bound, with limits for all together.

A band promises something about every bound at once. So a table of some of its bounds keeps the promise, and between two
bounds the number of records can only grow: the lower limit of the first and the upper limit of the second hold.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dawa.axis.written import written
from dawa.publish.tables import Rows
from dawa.results.bands import Band
from dawa.results.release import Release

COLUMNS = ("value", "low", "high", "share", "share_low", "share_high")

MOST_ON_PAGE = 200
"""Bounds whose limits a page draws; it is a few pixels from one to the next."""

DIGITS = 6
"""Decimals of a share on a page; limits are rounded outwards."""


def lines(release: Release, found: Band, chosen: ArrayLike | None = None) -> Iterator[tuple[Any, ...]]:
    """Bounds with their limits: all but the first, below which nothing lies, or the chosen ones.

    >>> import dawa
    >>> rel = dawa.release({"age": [31, 45, 45, 62] * 9}, dawa.Axis("age", 0, 100), epsilon=1, seed=0)
    >>> [line[0] for line in lines(rel, rel.band())][-1]
    100
    """
    which = np.arange(1, len(found)) if chosen is None else np.asarray(chosen)
    at = release.estimate.buckets.bounds[which]
    _, bounds = written(release.axis, at - 1, at)
    columns = [getattr(found, name)[which].tolist() for name in COLUMNS]
    yield from zip(bounds, *columns, strict=True)


def table(release: Release, found: Band) -> Rows:
    """A band as a table."""
    alike = (found.confidence, found.remark)
    return Rows(("to", *COLUMNS, "confidence", "remark"), [(*line, *alike) for line in lines(release, found)])


def as_json(release: Release, found: Band) -> dict[str, Any]:
    """A band as JSON values."""
    names = ("to", *COLUMNS)
    return {
        "confidence": found.confidence,
        "remark": found.remark,
        "bounds": [dict(zip(names, line, strict=True)) for line in lines(release, found)],
    }


def texts(line: Sequence[Any]) -> tuple[str, ...]:
    """A line of ``lines`` as people read it."""
    bound, value, low, high, share, share_low, share_high = line
    counts = (f"{number:,.0f}" for number in (value, low, high))
    return (str(bound), *counts, *(f"{part:.1%}" for part in (share, share_low, share_high)))


def for_page(release: Release, confidence: float) -> dict[str, list[float]] | None:
    """The limits that a page draws: cells, and the parts of all records below them; None on several axes."""
    if len(release.axes) > 1 or not release.estimate.totals.sum() > 0:
        return None
    found = release.band(confidence)
    chosen = found.thinned(MOST_ON_PAGE)
    scale = 10**DIGITS
    return {
        "at": release.estimate.buckets.bounds[chosen].tolist(),
        "low": (np.floor(found.share_low[chosen] * scale) / scale).tolist(),
        "high": (np.ceil(found.share_high[chosen] * scale) / scale).tolist(),
    }
