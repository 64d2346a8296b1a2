"""The noise of a mechanism, known before any data: exactly, or for several numbers of buckets.

To find it, the mechanism itself is run on an empty table.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from dawa import mechanisms, pipeline
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_FOR_ALL_RANGES, MOST_CELLS_PLANNED
from dawa.partition.buckets import GridMethod, Method
from dawa.queries.workload import Workload
from dawa.results.answers import noise_chance
from dawa.results.estimate import Estimate
from dawa.results.margins import margin_factor
from dawa.workloads import uniform

CONFIDENCE = 0.95
NUMBERS = (16, 64, 256, 1024, 4096, 16_384)
"""Numbers of buckets for which a plan gives the noise, as examples; the last example has a bucket for every cell."""

SMALL = {1: 256, 2: 16, 3: 6, 4: 4}
"""Cells along each axis that are enough to see how a mechanism splits its budget."""


@dataclass(frozen=True)
class Expected:
    """The noise of answers, for one number of buckets of equal size.

    Attributes:
        buckets: The number of buckets.
        rmse: The root of the mean squared error that noise makes, over the workload.
        margin: About how far noise moves an answer at most, at 95%.
    """

    buckets: int
    rmse: float
    margin: float


def split(
    shape: tuple[int, ...], epsilon: Fraction, mechanism: str, options: dict[str, Any]
) -> tuple[dict[str, Fraction], bool]:
    """What each step spends: shares of epsilon, for which a small domain is enough; and whether a walk is one."""
    if not isinstance(options.get("partition", ""), str | Method | GridMethod):
        return {"partition": Fraction(0), "measure": epsilon}, False
    small = tuple(min(cells, SMALL[len(shape)]) for cells in shape)
    tried = _run(small, pipeline.asked(None, small), epsilon, mechanism, options)
    return tried.split, tried.buckets.stops is not None


def known(
    shape: tuple[int, ...], workload: Workload, epsilon: Fraction, mechanism: str, options: dict[str, Any]
) -> list[Expected]:
    """The noise of a mechanism that does not look at the data, exactly."""
    if prod(shape) > MOST_CELLS_PLANNED:
        return []
    found = _run(shape, workload, epsilon, mechanism, options)
    return [_expected(found, workload, len(found.buckets))]


def by_buckets(
    shape: tuple[int, ...],
    workload: Workload,
    epsilon: Fraction,
    mechanism: str,
    options: dict[str, Any],
    *,
    walked: bool,
) -> list[Expected]:
    """The noise of measuring with this epsilon, over buckets of equal size that cost nothing."""
    size = prod(shape)
    numbers = [number for number in NUMBERS if number < size] + [size] * (size <= MOST_CELLS_PLANNED)
    if not takes(mechanism, {**options, "partition": "one"}):
        return []
    hasty = {"effort": "fast"} if takes(mechanism, {"effort": "fast", **options}) else {}
    sample = uniform(size) if workload.closed is not None and size > MOST_CELLS_FOR_ALL_RANGES else workload
    expected = []
    for number in numbers:
        even = {**hasty, **options, "partition": _even(size, number)}
        expected.append(_expected(_run(shape, workload, epsilon, mechanism, even), sample, number, walked=walked))
    return expected


def takes(mechanism: str, options: dict[str, Any]) -> bool:
    """Whether these options would make a difference."""
    try:
        mechanisms.configured(mechanism, options)
    except OptionError:
        return False
    return True


def _even(size: int, number: int) -> list[int]:
    """The bounds of this number of buckets of nearly equal size."""
    return [size * bucket // number for bucket in range(number + 1)]


def _run(
    shape: tuple[int, ...], workload: Workload, epsilon: Fraction, mechanism: str, options: dict[str, Any]
) -> Estimate:
    """The mechanism's estimate of an empty table."""
    return pipeline.estimate(Counts.none(shape), workload, epsilon=epsilon, mechanism=mechanism, **options)


def _expected(estimate: Estimate, workload: Workload, buckets: int, *, walked: bool = False) -> Expected:
    """The noise of these buckets; if a walk will choose others, it keeps its part of the chance as in a release."""
    rmse = estimate.noise_rmse(workload)
    return Expected(buckets, rmse, margin_factor(noise_chance(1 - CONFIDENCE, walked=walked)) * rmse)
