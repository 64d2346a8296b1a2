"""Workloads by name: those of the paper's experiments, and those that need no list of queries.

Random workloads take a seed because they are public: they say what is asked, not what is answered.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dawa import check
from dawa.arrays import FloatArray, IntArray
from dawa.axis import Axis, NumberAxis
from dawa.axis.readings import exact
from dawa.errors import WorkloadError
from dawa.queries.bucket_queries import Closed
from dawa.queries.workload import Workload, as_shape

__all__ = [
    "all_ranges",
    "clustered",
    "identity",
    "large_clustered",
    "prefixes",
    "random_rectangles",
    "uniform",
]


def identity(n: int | tuple[int, ...]) -> Workload:
    """Every cell on its own.

    >>> identity(4096)
    Workload(4096 queries over 4096 cells)
    """
    return Workload.named(Closed.CELLS, n)


def prefixes(n: int) -> Workload:
    """Every range that begins at the first cell: the cumulative distribution."""
    return Workload.named(Closed.PREFIXES, n)


def all_ranges(n: int) -> Workload:
    """Every range, in closed form: the workload to use when the questions are not known yet.

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
    if not check.is_number(sd) or sd < 0:
        raise WorkloadError(f"sd={sd!r} is not a standard deviation.", "pass a non-negative number of cells.")
    rng = _generator(seed)
    centre = np.repeat(rng.integers(0, n, clusters), per_cluster)
    left, right = (_lengths(rng.normal(0, sd, len(centre)), n) for _ in range(2))
    return Workload.ranges(np.maximum(centre - left, 0), np.minimum(centre + right, n - 1) + 1, n)


def large_clustered(n: int, clusters: int = 5, per_cluster: int = 400, seed: int = 0) -> Workload:
    """The paper's large clustered intervals: as ``clustered``, with a standard deviation of 1,024."""
    return clustered(n, clusters, per_cluster, sd=1024, seed=seed)


def random_rectangles(
    domain: tuple[int, ...] | Sequence[Axis],
    m: int = 2000,
    seed: int = 0,
    size: Sequence[float] | None = None,
) -> Workload:
    """Rectangles at random places: with two evenly drawn corners, or all of one size.

    >>> random_rectangles((256, 256))
    Workload(2000 queries over 256 × 256 cells)

    Args:
        domain: Cells along each axis; or the axes themselves, and then ``size`` is in their units.
        m: The number of rectangles.
        seed: The seed of the random draw.
        size: The extent of every rectangle along each axis; its place is drawn evenly among all places where it fits. A
            size that is not a whole number of cells cuts cells at the edges. None draws both ends of every side among
            all cells.

    Raises:
        WorkloadError: If a size does not fit into the domain.
    """
    if not isinstance(domain, Sequence) or len({isinstance(axis, Axis) for axis in domain}) != 1:
        raise WorkloadError("The domain is neither a shape nor a list of axes.", "pass (256, 256), or rel.axes.")
    axes = [axis for axis in domain if isinstance(axis, Axis)]
    shape = as_shape(tuple(axis.size for axis in axes) or tuple(domain))  # type: ignore[arg-type]  # one or the other
    _at_least(1, m=m)
    rng = _generator(seed)
    if size is None:
        ends = [np.sort(rng.integers(0, n, (m, 2)), axis=1) for n in shape]
        return Workload.rectangles(
            np.stack([pair[:, 0] for pair in ends], axis=1), np.stack([pair[:, 1] + 1 for pair in ends], axis=1), shape
        )
    extent = _extent(size, axes, shape)
    lo = rng.uniform(0, 1, (m, len(shape))) * (np.array(shape) - extent)
    if (extent == np.floor(extent)).all():
        lo = np.minimum(
            np.floor(rng.uniform(0, 1, lo.shape) * (np.array(shape) - extent + 1)), np.array(shape) - extent
        )
    return Workload.rectangles(lo, np.minimum(lo + extent, np.array(shape)), shape)


def _extent(size: Sequence[float], axes: Sequence[Axis], shape: tuple[int, ...]) -> FloatArray:
    """A size in cells."""
    if not all(isinstance(axis, NumberAxis) for axis in axes):
        raise WorkloadError("Sizes are for axes of numbers.", "give the domain as a number of cells along each axis.")
    steps = [axis.step for axis in axes if isinstance(axis, NumberAxis)] or [Fraction(1)] * len(shape)
    try:
        extent = np.array([float(exact(side, "size") / step) for side, step in zip(size, steps, strict=True)])
    except (TypeError, ValueError):
        extent = np.array([np.nan])
    if extent.shape != (len(shape),) or not ((extent > 0) & (extent <= np.array(shape))).all():
        raise WorkloadError(f"size={size!r} does not fit into the domain.", "pass one length per axis that fits.")
    return extent


def _lengths(drawn: FloatArray, most: int) -> IntArray:
    """Lengths as whole numbers of cells, non-negative and no longer than the domain."""
    return np.minimum(np.rint(np.abs(drawn)), most).astype(np.int64)


def _generator(seed: int) -> np.random.Generator:
    _at_least(0, seed=seed)
    return np.random.default_rng(seed)


def _at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if not check.is_whole(number, least):
            raise WorkloadError(f"{name}={number!r} is too small or not a whole number.", f"pass {name} >= {least}.")
