"""Workloads by name: those of the paper's experiments, and those that need no list.

Random ones take a seed because they are public: they say what is asked, not what is answered.
"""

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import WorkloadError
from dawa.workload import Closed, Workload

__all__ = ["all_ranges", "clustered", "identity", "large_clustered", "prefixes", "uniform"]


def identity(n: int) -> Workload:
    """Every cell on its own.

    >>> identity(4096)
    Workload(4096 queries over 4096 cells)
    """
    return Workload.named(Closed.CELLS, n)


def prefixes(n: int) -> Workload:
    """Every range that begins at the first cell: the cumulative distribution."""
    return Workload.named(Closed.PREFIXES, n)


def all_ranges(n: int) -> Workload:
    """Every range there is, in closed form: what to ask for when the questions are not known yet.

    >>> len(all_ranges(2**20))
    549756338176
    """
    return Workload.named(Closed.RANGES, n)


def uniform(n: int, m: int = 2000, seed: int = 0) -> Workload:
    """The paper's uniform intervals: m ranges, each drawn evenly among all ranges.

    A range is a pair of distinct cuts out of the ``n + 1`` cell borders, so every pair is equally likely.
    """
    _at_least(1, n=n, m=m)
    rng = _generator(seed)
    one = rng.integers(0, n + 1, m)
    other = rng.integers(0, n, m)
    other += other >= one
    return Workload.ranges(np.minimum(one, other), np.maximum(one, other), n)


def clustered(n: int, clusters: int = 5, per_cluster: int = 400, sd: float = 256, seed: int = 0) -> Workload:
    """The paper's clustered intervals: ``[c - |X|, c + |Y|]`` around evenly drawn centres c.

    X and Y are independent normal variables with standard deviation ``sd``. Ends are rounded to cells and
    clipped to the domain; the centre's own cell is always inside.
    """
    _at_least(1, n=n, clusters=clusters, per_cluster=per_cluster)
    if isinstance(sd, bool) or not isinstance(sd, (int, float, np.number)) or not 0 <= sd < np.inf:
        raise WorkloadError(f"sd={sd!r} is no standard deviation.", "pass a non-negative number of cells.")
    rng = _generator(seed)
    centre = np.repeat(rng.integers(0, n, clusters), per_cluster)
    left, right = (_lengths(rng.normal(0, sd, len(centre)), n) for _ in range(2))
    return Workload.ranges(np.maximum(centre - left, 0), np.minimum(centre + right, n - 1) + 1, n)


def large_clustered(n: int, clusters: int = 5, per_cluster: int = 400, seed: int = 0) -> Workload:
    """The paper's large clustered intervals: as ``clustered``, with a standard deviation of 1,024."""
    return clustered(n, clusters, per_cluster, sd=1024, seed=seed)


def _lengths(drawn: FloatArray, most: int) -> IntArray:
    """Whole, non-negative, and no longer than the domain."""
    return np.minimum(np.rint(np.abs(drawn)), most).astype(np.int64)


def _generator(seed: int) -> np.random.Generator:
    _at_least(0, seed=seed)
    return np.random.default_rng(seed)


def _at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
            raise WorkloadError(f"{name}={number!r} is too small or no whole number.", f"pass {name} >= {least}.")
