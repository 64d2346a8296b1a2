"""Hats fitted to a workload: widths, scales and, in the end, single entries that minimise its exact error.

All of it is public, so it may look at every query. There are two stages, each with bounded work. The first finds
one scale per level for many choices of widths, steered by a few of the queries. The second finds every entry on
its own, for the best of these choices. It follows the queries so closely that it needs all of them; if they are
too many for that, it keeps to one scale per row. The result is compared with the table and with no rows at all,
by exact error.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.limits import MOST_BUCKETS_SEARCHED, MOST_SEARCH_STEPS
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION
from dawa.strategy.descent import descend
from dawa.strategy.hats import (
    FEWEST_BUCKETS,
    HatStrategy,
    IntervalRows,
    QuerySums,
    from_table,
    hat_rows,
    sums_by,
    table_widths,
)

STEERING_WORK, FITTING_WORK = 25_000_000, 80_000_000
"""What the two stages may cost, in queries times rows, each about 8 ns."""

STEERING_QUERIES, CHECKING_QUERIES = 200, 5000
"""How many queries steer the first stage, and how many the final comparison is made on."""

WIDTHS, RATIOS, WARPS = (5.0, 8.0, 11.0, 14.0, 20.0, 28.0), (8.0, 12.0, 16.0, 20.0), (0.0, 0.25, 0.5)
"""Narrowest widths, ratios of widths and exponents of the coordinate that the first stage combines."""

FINALISTS = 6
"""How many candidates the second stage takes, if its work allows."""

FEWEST_STEPS = 10
"""Evaluations per finalist: with fewer, it is not worth beginning."""

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
    best = candidates[0]
    strategies = [HatStrategy.rounded(best.rows, best.entries(best.scales), allowance)]
    affordable = FITTING_WORK / (FEWEST_STEPS * len(best.rows) * len(queries.lo))
    fitted = queries if affordable >= 1 else queries.thinned(max(1, int(len(queries) * affordable / 2)))
    fitting = Objective(fitted, allowance, FITTING_WORK)
    for finalist in _finalists(candidates):
        if len(strategies) > 1 and fitting.evaluations(finalist.rows) < MOST_SEARCH_STEPS:
            break
        strategies.append(HatStrategy.rounded(finalist.rows, _fit(finalist, fitting, queries), allowance))
    return strategies


def _fit(candidate: Candidate, fitting: Objective, queries: BucketQueries) -> FloatArray:
    """The best entries, each on its own; or one scale per row if there are too few queries for that."""
    rows = candidate.rows
    scales = np.where(candidate.scales < STUCK, RESTART, candidate.scales)
    if len(fitting.queries) < min(len(queries), QUERIES_PER_ROW * len(rows)):
        _, by_row = fitting.minimise(rows, candidate.shape, rows.row, scales[candidate.level], MOST_SEARCH_STEPS, 1e-6)
        return candidate.shape * by_row[rows.row]
    entries = candidate.entries(scales)
    ones, each = np.ones(len(entries)), np.arange(len(entries))
    return fitting.minimise(rows, ones, each, entries, MOST_SEARCH_STEPS, 1e-6)[1]


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
    steering = Objective(queries.thinned(STEERING_QUERIES), allowance, STEERING_WORK)
    candidates: list[Candidate] = []
    for rows, shape, level in _choices(queries):
        if candidates and steering.evaluations(rows) < 4:
            break
        error, scales = steering.minimise(rows, shape, level[rows.row], np.full(level.max() + 1, 0.8), 12, 0.01)
        candidates.append(Candidate(rows, shape, level, scales, error))
    return sorted(candidates, key=lambda candidate: candidate.error)


def _choices(queries: BucketQueries) -> Iterator[tuple[IntervalRows, FloatArray, IntArray]]:
    """Rows to try, the most promising first."""
    k = queries.buckets
    usual = table_widths(k)
    ratio = usual[1] / usual[0] if len(usual) > 1 else k / usual[0]
    pairs = [(w, r) for w in WIDTHS for r in RATIOS if 4 * w <= k]
    pairs.sort(key=lambda pair: abs(np.log(pair[0] / usual[0])) + abs(np.log(pair[1] / ratio)))
    widths = dict.fromkeys([tuple(usual), *(_levels(k, *pair) for pair in pairs), *((w,) for w, _ in pairs)])
    coordinates = [_warped(queries, exponent) for exponent in WARPS]
    for levels in widths:
        for coordinate in coordinates:
            rows, shape, level = hat_rows(k, levels, coordinate)
            if len(rows):
                yield rows, shape, level


def _levels(k: int, width: float, ratio: float) -> tuple[float, ...]:
    """Widths of as many levels as leave room for two hats of the widest."""
    count = 1 + max(0, int(np.log(k / (2 * width)) / np.log(ratio)))
    return tuple(width * ratio**level for level in range(count))


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
