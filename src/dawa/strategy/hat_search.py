"""Hats fitted to a workload: widths and, in the end, single entries that minimise its exact error.

All of it is public, so it may look at every query. There are two stages, each with bounded work. The first picks the
widths, by a sample of the queries and one scale per level. Which widths are picked matters little, because a formula
is nearly right for every number of buckets; so there are few to pick from. The second moves every entry on its own,
which gains nearly all that there is to gain: first by a sample of the queries again, because a first few steps need no
more, then by all of them. Entries follow the queries so closely that in the end they need all; if those are too many,
there is one scale per row. The result is compared with the table and with no rows at all, by exact error.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.limits import MOST_BUCKETS_SEARCHED, MOST_SEARCH_STEPS
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION
from dawa.strategy.descent import descend
from dawa.strategy.hats import (
    FEWEST_BUCKETS,
    TABLE_SCALE,
    HatStrategy,
    IntervalRows,
    QuerySums,
    from_table,
    hat_rows,
    level_widths,
    sums_by,
    table_widths,
)

STEERING_WORK, FITTING_WORK = 3_000_000, 60_000_000
"""What the two stages may cost, in queries times rows, each about 2 ns; with MANY buckets in proportion to them."""

MANY = 3 * 2**12
"""From this many buckets on, rows are so many that more work is worth it."""

STEERING_QUERIES, STARTING_QUERIES, CHECKING_QUERIES = 150, 800, 5000
"""How many queries steer the first stage, how many the first steps of the second, and how many the comparison."""

FORMS = (
    (1.2, 1.1, 0.0),
    (1.0, 0.8, 0.25),
    (1.2, 1.1, 0.5),
    (1.2, 1.1, 0.25),
    (1.7, 1.5, 0.0),
    (1.7, 1.1, 0.0),
)
"""Narrowest width and ratio of widths, for ``hats.level_widths``, and exponent of the coordinate."""

SCALING_STEPS, STARTING_STEPS = 3, 16
"""Evaluations of a candidate in the first stage, and of the few queries in the second."""

FINALISTS, WORTHWHILE = 3, 0.75
"""How many candidates the second stage takes at most, and which part of its work must be left to take one more."""

FEWEST_STEPS = 10
"""Evaluations per finalist: with fewer, it is not worth beginning."""

LEAST_GAIN = 3e-5
"""A step that lowers the squared error by a smaller part is the last."""

QUERIES_PER_ROW = 1.5
"""With fewer of a workload's queries per row than this, single entries would follow the sample."""

STUCK, RESTART = 0.05, 0.5
"""Zero entries are a stationary point: scales below the first number are set back to the second."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Rows, their entries at scale 1, each row's level, and the levels' scales and log error found so far."""

    rows: IntervalRows
    shape: FloatArray
    level: IntArray
    scales: FloatArray
    error: float

    def entries(self, scales: FloatArray) -> FloatArray:
        """B at these scales of the levels."""
        return self.shape * scales[self.level][self.rows.row]


class Objective:
    """log T as a function of the entries B, and the work that may still be spent on it."""

    def __init__(self, queries: BucketQueries, allowance: IntArray, work: float) -> None:
        self.queries = queries
        self.sums = QuerySums.of(queries)
        self.inverse_allowance = RESOLUTION / allowance
        self.work = work

    def evaluations(self, rows: IntervalRows) -> int:
        """How many evaluations are still affordable."""
        return int(self.work / self._cost(rows))

    def __call__(self, rows: IntervalRows, entries: FloatArray) -> tuple[float, FloatArray]:
        """The logarithm of T and its gradient in the entries; the scales s follow the entries."""
        self.work -= self._cost(rows)
        inverse = self.inverse_allowance
        scale = inverse * (1 + sums_by(rows.column, entries, rows.buckets))
        total, by_entry, by_scale = self.sums.error(rows, entries, scale, gradient=True)
        if not 0 < total < np.inf:
            return np.inf, np.zeros(len(entries))
        return float(np.log(total)), (by_entry + (inverse * by_scale)[rows.column]) / total

    def minimise(
        self,
        rows: IntervalRows,
        shape: FloatArray,
        group: IntArray,
        scales: FloatArray,
        most: int,
        tolerance: float,
    ) -> tuple[float, FloatArray]:
        """The best scales, one for each group of entries: log T, and the scales."""

        def grouped(scales: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self(rows, shape * scales[group])
            return value, sums_by(group, gradient * shape, len(scales))

        return descend(grouped, scales, min(most, self.evaluations(rows)), tolerance)

    def _cost(self, rows: IntervalRows) -> float:
        return float(len(self.queries.lo) * len(rows) + 2 * rows.ptr[-1] + 5000)


def search(queries: BucketQueries, allowance: IntArray) -> HatStrategy | None:
    """The best hats for the queries that bounded work finds; None if leaves alone do as well."""
    k = queries.buckets
    if k < FEWEST_BUCKETS:
        return None
    with np.errstate(all="ignore"):
        checking = queries.thinned(CHECKING_QUERIES)
        least, best = float(QuerySums.of(checking).square @ (RESOLUTION / allowance) ** 2), None
        if not 0 < least < np.inf:
            return None
        strategies = [from_table(queries, allowance)]
        if k <= MOST_BUCKETS_SEARCHED:
            strategies += _fitted(queries, allowance)
        for strategy in strategies:
            error = np.inf if strategy is None else strategy.expected_error(checking)
            if 0 < error < least:
                least, best = error, strategy
    return best


def _fitted(queries: BucketQueries, allowance: IntArray) -> list[HatStrategy]:
    """The results of the two stages, as integer strategies."""
    candidates = _by_level(queries, allowance)
    if not candidates:
        return []
    work = FITTING_WORK * max(1.0, queries.buckets / MANY)
    affordable = work / (FEWEST_STEPS * len(candidates[0].rows) * len(queries.lo))
    fitted = queries if affordable >= 1 else queries.thinned(max(1, int(len(queries) * affordable / 2)))
    starting = Objective(queries.thinned(STARTING_QUERIES), allowance, work / 4)
    fitting = Objective(fitted, allowance, work)
    candidates = [one for one in candidates if fitting.evaluations(one.rows) >= 2 * FEWEST_STEPS] or candidates
    strategies: list[HatStrategy] = []
    for finalist in _finalists(candidates):
        if fitting.work < WORTHWHILE * work:
            break
        entries = _fit(finalist, starting, fitting, len(queries))
        strategies.append(HatStrategy.rounded(finalist.rows, entries, allowance))
    return strategies


def _fit(candidate: Candidate, starting: Objective, fitting: Objective, queries: int) -> FloatArray:
    """The best entries, each on its own; or one scale per row if there are too few queries for that."""
    rows = candidate.rows
    scales = np.where(candidate.scales < STUCK, RESTART, candidate.scales)
    steps = min(MOST_SEARCH_STEPS, fitting.evaluations(rows))
    if len(fitting.queries) < min(queries, QUERIES_PER_ROW * len(rows)):
        by_row = fitting.minimise(rows, candidate.shape, rows.row, scales[candidate.level], steps, LEAST_GAIN)[1]
        return candidate.shape * by_row[rows.row]
    entries = candidate.entries(scales)
    if 2 * len(starting.queries) <= len(fitting.queries):
        entries = descend(partial(starting, rows), entries, STARTING_STEPS, LEAST_GAIN)[1]
    return descend(partial(fitting, rows), entries, steps, LEAST_GAIN)[1]


def _finalists(candidates: list[Candidate]) -> list[Candidate]:
    """The best candidate of about each number of rows: candidates that differ enough to end elsewhere."""
    kept: list[Candidate] = []
    for candidate in candidates:
        sizes = [len(other.rows) / len(candidate.rows) for other in kept]
        if not any(0.9 < size < 1.1 for size in sizes):
            kept.append(candidate)
    return kept[:FINALISTS]


def _by_level(queries: BucketQueries, allowance: IntArray) -> list[Candidate]:
    """One scale per level for as many choices of widths as the work allows, the best first."""
    steering = Objective(queries.thinned(STEERING_QUERIES), allowance, STEERING_WORK * max(1.0, queries.buckets / MANY))
    candidates: list[Candidate] = []
    for rows, shape, level in _choices(queries):
        if candidates and steering.evaluations(rows) < SCALING_STEPS:
            break
        start = np.full(level.max() + 1, TABLE_SCALE)
        error, scales = steering.minimise(rows, shape, level[rows.row], start, SCALING_STEPS, 0.01)
        candidates.append(Candidate(rows, shape, level, scales, error))
    return sorted(candidates, key=lambda candidate: candidate.error)


def _choices(queries: BucketQueries) -> Iterator[tuple[IntervalRows, FloatArray, IntArray]]:
    """Rows to try, the most promising first."""
    k = queries.buckets
    usual = len(table_widths(k))
    coordinates = {exponent: _warped(queries, exponent) for _, _, exponent in FORMS}
    for levels, (width, ratio, exponent) in product((usual, usual + 1), FORMS):
        rows, shape, level = hat_rows(k, level_widths(k, levels, width, ratio), coordinates[exponent])
        if len(rows):
            yield rows, shape, level


def _warped(queries: BucketQueries, exponent: float, floor: float = 0.05) -> FloatArray:
    """A coordinate that runs faster where many queries end and few pass: narrow hats are worth it there."""
    k = queries.buckets
    omega = np.repeat(queries.omega, np.diff(queries.first)) * queries.weight**2
    ends = np.zeros(k + 1)
    for end in (queries.lo, queries.hi):
        inner = (end > 0) & (end < k)
        ends += np.bincount(end[inner].astype(np.int64), omega[inner], minlength=k + 1)
    ending, passing = _smoothed(ends[:k]), _smoothed(QuerySums.of(queries).square)
    speed = ((ending + floor * ending.mean()) / (passing + floor * passing.mean())) ** exponent
    speed = np.clip(speed / np.median(speed), 1 / 8, 8)
    borders = np.concatenate(([0.0], np.cumsum(speed)))
    usable = 0 < borders[-1] < np.inf
    return borders * (k / borders[-1]) if usable else np.arange(k + 1.0)


def _smoothed(values: FloatArray) -> FloatArray:
    """The moving average over about a 64th of the buckets."""
    k = len(values)
    half = max(2, k // 128)
    before = np.concatenate(([0.0], np.cumsum(values)))
    left, right = np.maximum(np.arange(k) - half, 0), np.minimum(np.arange(k) + half + 1, k)
    averages: FloatArray = (before[right] - before[left]) / (right - left)
    return averages
