"""Slow, obvious twins shared by the tests: dense matrices for strategies and queries."""

import numpy as np

from dawa import workloads
from dawa.queries.workload import Workload
from dawa.strategy.base import RESOLUTION


def tree_rows(strategy):
    """The rows of a tree strategy as a dense integer matrix, leaves first."""
    rows = np.zeros((strategy.offset[-1], strategy.buckets), np.int64)
    for level in range(len(strategy.offset) - 1):
        width = strategy.branching**level
        for i in range(strategy.offset[level + 1] - strategy.offset[level]):
            node = strategy.offset[level] + i
            rows[node, i * width : (i + 1) * width] = strategy.weights[node]
    return rows


def covariance(rows):
    """``(AᵀA)⁻¹`` with A the rows over the resolution; by QR, so that small leaf weights cost no digits."""
    inverse = np.linalg.inv(np.linalg.qr(rows / RESOLUTION, mode="r"))
    return inverse @ inverse.T


def range_matrix(lo, hi, buckets):
    """Runs in bucket coordinates as dense rows."""
    edges = np.arange(buckets + 1)
    return np.diff(np.clip(edges[None], np.asarray(lo)[:, None], np.asarray(hi)[:, None]), axis=1)


def random_workload(rng, n):
    """One of every kind of workload over n cells."""
    kind = rng.integers(5)
    if kind < 3:
        return (workloads.identity, workloads.prefixes, workloads.all_ranges)[kind](n)
    if kind == 3:
        return workloads.uniform(n, 20, seed=int(rng.integers(1000)))
    first, lo, hi = [0], [], []
    for _ in range(5):
        cuts = np.unique(rng.integers(0, n + 1, 6))
        cuts = cuts[: len(cuts) // 2 * 2] if len(cuts) > 1 else np.array([0, n])
        lo, hi = [*lo, *cuts[::2]], [*hi, *cuts[1::2]]
        first.append(len(lo))
    return Workload.runs(first, lo, hi, rng.normal(size=len(lo)), n)


def random_bounds(rng, n):
    """Bucket bounds over n cells, sometimes every cell."""
    if rng.random() < 0.3:
        return np.arange(n + 1)
    return np.unique(np.concatenate(([0, n], rng.integers(0, n + 1, rng.integers(0, n + 1)))))


def random_allowance(rng, buckets):
    """Column sums as after dense blocks: some buckets keep all, others a part."""
    return np.where(rng.random(buckets) < 0.5, RESOLUTION, int(0.87 * RESOLUTION)).astype(np.int64)


def wavelet_rows(strategy):
    """The rows as a dense integer matrix: the padded Haar transform without its padding."""
    k, levels = strategy.buckets, strategy.levels
    padded = []
    for level in range(1, levels + 1):
        width = 2**level
        for start in range(0, 2**levels, width):
            row = [0] * 2**levels
            row[start : start + width // 2] = [strategy.difference] * (width // 2)
            row[start + width // 2 : start + width] = [-strategy.difference] * (width // 2)
            padded.append(row)
    padded.append([strategy.total] * 2**levels)
    kept = [row[:k] for row in padded]
    return np.array([row for row in kept if any(row)], np.int64)


def gram_of(queries):
    """The k × k matrix whose inner product with a covariance is the total squared error."""
    rows = queries.dense()
    total = (rows * queries.omega[:, None]).T @ rows
    if not queries.differences:
        return total
    mean = queries.omega @ rows
    return queries.omega.sum() * total - np.outer(mean, mean)
