"""Bumps fitted to a workload: blocks of a few sizes, and every entry moved to where the exact error is least.

All of it is public. A sample of the queries steers the descent; the result is compared with trees by exact error, in
``choose``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dawa import kernels
from dawa.arrays import FloatArray, IntArray
from dawa.limits import MOST_BUCKETS_IN_BUMPS, MOST_WEIGHTS
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.base import RESOLUTION
from dawa.strategy.bumps import BumpStrategy, Patches, Pattern
from dawa.strategy.descent import descend

FEWEST_BUCKETS = 48
"""Below this, trees do as well and are simpler."""

FEW_BUCKETS, SMALL_BLOCKS = 1000, (12, 24, 40)
"""Up to this many buckets, blocks of these sizes are tried."""

MANY_BUCKETS, TWO_SCALES = 2**15, (48, 1024)
"""From this many buckets on, blocks of two sizes together are worth it."""


STEERING_QUERIES = 600
"""How many queries steer the descent."""

SPREAD = 12**0.5
"""Half the width of a bump, in standard deviations of its block: a square's reaches the middle of the next block."""

COLUMN = 0.65
"""What the entries on a bucket sum to at first."""

INSIDE, TOUCHING = 0.05, 0.005
"""Added to a bump on its block and on all of its support: an entry of 0 would have nowhere to go."""


@dataclass(frozen=True, eq=False)
class Objective:
    """log T as a function of the entries of bumps.

    Attributes:
        pattern: Where the entries are.
        queries: One row of the queries' weights per bucket, in single or double precision.
        omega: The weight of each query's squared error.
        squares: The weighted sum of all queries' squares, on each bucket.
        inverse: One over each bucket's allowance.
    """

    pattern: Pattern
    queries: NDArray[Any]
    omega: FloatArray
    squares: FloatArray
    inverse: FloatArray

    def __call__(self, entries: FloatArray) -> tuple[float, FloatArray]:
        """The logarithm of T and its gradient; the scales s follow the entries."""
        from scipy import linalg  # noqa: PLC0415  only maps need it

        pattern = self.pattern
        ptr, column = pattern.ptr, pattern.column
        scale = self.inverse * (1 + pattern.summed(entries))
        answers = kernels.bumps.times(ptr, column, (entries * scale[column]).astype(np.float32), self.queries)
        known = linalg.cho_solve((pattern.factor(entries), True), answers, check_finite=False)
        total = float(scale**2 @ self.squares - self.omega @ np.einsum("lq,lq->q", answers, known, dtype=np.float64))
        if not 0 < total < np.inf:
            return np.inf, np.zeros(len(entries))
        weighted = (known * self.omega).astype(np.float32)
        onto = kernels.bumps.products(ptr, column, weighted, self.queries)
        between = kernels.bumps.neighbours(
            ptr, column, entries, pattern.column_ptr, pattern.order, pattern.row, weighted @ known.T
        )
        by_scale = scale * self.squares - pattern.summed(entries * onto)
        gradient = 2 * (between - scale[column] * onto + (self.inverse * by_scale)[column])
        return float(np.log(total)), gradient / total


def search(queries: BucketQueries, allowance: IntArray, patches: Patches, steps: int) -> list[BumpStrategy]:
    """Fitted bumps, one strategy for each choice of blocks; no strategy if bumps make no sense."""
    k = len(patches)
    if not FEWEST_BUCKETS <= k <= MOST_BUCKETS_IN_BUMPS:
        return []
    steering = queries.thinned(max(64, min(STEERING_QUERIES, MOST_WEIGHTS // k)))
    weights = kernels.bumps.dense(
        np.array(steering.first), np.array(steering.lo), np.array(steering.hi), np.array(steering.weight), k
    )
    squares = np.einsum("jq,jq,q->j", weights, weights, steering.omega)
    found = []
    for blocks in _choices(k):
        pattern, entries = bumps(patches, blocks)
        objective = Objective(pattern, weights, steering.omega, squares, RESOLUTION / allowance)
        _, fitted = descend(objective, entries, steps, 1e-4)
        found.append(BumpStrategy.rounded(pattern, fitted, allowance))
    return found


def _choices(k: int) -> list[tuple[int, ...]]:
    """Sizes of blocks to try; several in one choice are used together."""
    if k <= FEW_BUCKETS:
        return [(size,) for size in SMALL_BLOCKS if 3 * size <= k]
    return [TWO_SCALES] if k >= MANY_BUCKETS else [(round(k**0.5),)]


def bumps(patches: Patches, sizes: tuple[int, ...]) -> tuple[Pattern, FloatArray]:
    """Where the rows of blocks of these sizes have their entries, and the bumps to begin with."""
    k, centres = len(patches), patches.centres
    columns, values = [], []
    for size in sizes:
        first = np.linspace(0, k, max(1, round(k / size)) + 1).astype(np.int64)
        for block, near in enumerate(patches.touching(first[:-1])):
            column = np.concatenate([np.arange(first[other], first[other + 1]) for other in near])
            inside = (column >= first[block]) & (column < first[block + 1])
            own = centres[first[block] : first[block + 1]]
            reach = np.maximum(SPREAD * own.std(axis=0), 1.0)
            fall = np.maximum(1 - np.abs(centres[column] - own.mean(axis=0)) / reach, 0).prod(axis=1)
            columns.append(column)
            values.append(fall + INSIDE * inside + TOUCHING)
    ptr = np.concatenate(([0], np.cumsum([len(column) for column in columns])))
    pattern = Pattern(k, ptr, np.concatenate(columns))
    entries = np.concatenate(values)
    return pattern, COLUMN * entries / pattern.summed(entries)[pattern.column]
