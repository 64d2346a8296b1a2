"""Slow, obvious twins for counts over several axes: cells one by one; and random maps, boxes and rows for them."""

import numpy as np

from dawa.layout.boxes import Boxes
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy.bumps import Pattern


def covered(lo, hi, shape):
    """How much of every cell lies in the box, in the shape of the domain."""
    sides = [np.diff(np.clip(np.arange(n + 1), a, b)) for n, a, b in zip(shape, lo, hi, strict=True)]
    weights = sides[0]
    for side in sides[1:]:
        weights = np.multiply.outer(weights, side)
    return weights


def random_shape(rng, *, least=1, axes=(2, 3, 4)):
    """A shape of a few hundred cells at most."""
    count = int(rng.choice(axes))
    return tuple(rng.integers(least, {1: 40, 2: 20, 3: 9, 4: 6}[count], count).tolist())


def random_corners(rng, shape, m, *, whole=None):
    """Lower and upper corners of boxes; by default the first half keep to whole cells, and the others cut them."""
    ends = np.sort(rng.uniform(0, 1, (m, len(shape), 2)), axis=2) * np.array(shape)[:, None]
    lo, hi = ends[:, :, 0], ends[:, :, 1] + 1e-3
    kept = np.arange(m) < m // 2 if whole is None else np.full(m, whole)
    lo[kept], hi[kept] = np.floor(lo[kept]), np.ceil(hi[kept])
    return lo, np.minimum(hi, np.array(shape))


def random_tiling(rng, shape, cuts=6):
    """Boxes that tile a grid: one box, and then one of them cut in two again and again; in any order."""
    lo, hi = [np.zeros(len(shape), np.int64)], [np.array(shape)]
    for _ in range(cuts):
        at, axis = int(rng.integers(len(lo))), int(rng.integers(len(shape)))
        if hi[at][axis] - lo[at][axis] < 2:
            continue
        border = int(rng.integers(lo[at][axis] + 1, hi[at][axis]))
        lo.append(lo[at].copy())
        hi.append(hi[at].copy())
        hi[at][axis] = lo[-1][axis] = border
    mixed = rng.permutation(len(lo))
    return Boxes(np.array(lo)[mixed], np.array(hi)[mixed])


def random_map(rng, shape):
    """Counts with empty parts, even parts and peaks."""
    return rng.poisson(rng.gamma(0.3, 10, shape))


def random_pattern(rng, k):
    """Rows on any buckets, each on one at least."""
    lengths = rng.integers(1, k + 1, rng.integers(0, k + 1))
    columns = [np.sort(rng.choice(k, length, replace=False)) for length in lengths]
    return Pattern(k, np.concatenate(([0], np.cumsum(lengths))), np.concatenate([np.zeros(0, np.int64), *columns]))


def random_stretches(rng, k):
    """Queries of several stretches of whole buckets; or of one run each, with ends anywhere."""
    m = int(rng.integers(1, 30))
    if rng.random() < 0.3:
        ends = np.sort(rng.uniform(0, k, (m, 2)), axis=1)
        return BucketQueries(
            k, np.arange(m + 1), ends[:, 0], ends[:, 1], rng.uniform(0, 1, m), rng.uniform(0, 2, m), float(m)
        )
    first, lo, hi = [0], [], []
    for _ in range(m):
        ends = np.unique(rng.integers(0, k + 1, 8)).astype(float)
        ends = ends if len(ends) > 1 else np.array([0.0, k])
        lo, hi = [*lo, *ends[:-1:2]], [*hi, *ends[1::2]]
        first.append(len(lo))
    arrays = (np.array(array) for array in (first, lo, hi))
    return BucketQueries(k, *arrays, rng.uniform(0, 1, len(lo)), rng.uniform(0, 2, m), float(m))


def dense_rows(pattern, entries):
    """Scattered entries as a dense matrix, one by one."""
    matrix = np.zeros((len(pattern), pattern.buckets), np.asarray(entries).dtype)
    for row in range(len(pattern)):
        for entry in range(pattern.ptr[row], pattern.ptr[row + 1]):
            matrix[row, pattern.column[entry]] = entries[entry]
    return matrix
