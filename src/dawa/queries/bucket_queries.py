"""A workload on buckets: the same queries, counted in buckets instead of cells.

A run that cuts a bucket takes the covered part of the bucket, as if its records lay evenly in it. Queries keep their
own corners as well, for answers that know better (``results.insides``).
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray
from dawa.layout.boxes import Boxes
from dawa.layout.curve import Runs


class Closed(Enum):
    """Workloads that are known by name alone."""

    CELLS = "cells"
    PREFIXES = "prefixes"
    RANGES = "ranges"


@dataclass(frozen=True, eq=False)
class BucketQueries:
    """A workload on buckets: the queries over which a strategy's expected error is summed.

    Attributes:
        buckets: Number of buckets, k.
        first: Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.
        lo: Where each run begins, in buckets; 2.5 is the middle of the third bucket.
        hi: Where each run ends.
        weight: The weight of each run.
        omega: The weight of each query's squared error.
        total: The number of queries that these queries stand for.
        differences: If true, each query is a prefix and the workload is the difference of every two prefixes:
            with q the squared error, ``sum(omega) * sum(omega * q(prefix)) - q(sum(omega * prefix))``.
        boxes: The lower and the upper corner of each query, if buckets are the cells of a grid row by row.
        corners: The lower and the upper corner of each query, in cells, if it is one range or box.
    """

    buckets: int
    first: IntArray
    lo: FloatArray
    hi: FloatArray
    weight: FloatArray
    omega: FloatArray
    total: float
    differences: bool = False
    boxes: tuple[FloatArray, FloatArray] | None = None
    corners: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def of_runs(
        cls, buckets: int, lo: FloatArray, hi: FloatArray, corners: tuple[FloatArray, FloatArray] | None = None
    ) -> "BucketQueries":
        """One query per run ``[lo, hi)``, all with the same weight."""
        m = len(lo)
        return cls(buckets, np.arange(m + 1), lo, hi, np.ones(m), np.ones(m), float(m), corners=corners)

    @classmethod
    def of_boxes(cls, boxes: Boxes, lo: FloatArray, hi: FloatArray) -> "BucketQueries":
        """Rectangles in terms of boxes that are buckets, each box taken in proportion to its covered part."""
        m = len(lo)
        corners = (np.array(lo), np.array(hi), np.array(boxes.lo), np.array(boxes.hi))
        first, start, stop, share = kernels.boxes.overlaps(*corners)
        return cls(len(boxes), first, start, stop, share, np.ones(m), float(m), corners=(lo, hi))

    def __len__(self) -> int:
        return len(self.first) - 1

    def thinned(self, most: int) -> "BucketQueries":
        """At most ``most`` evenly spaced queries that stand for all: enough to steer a search."""
        if len(self) <= most:
            return self
        keep = np.linspace(0, len(self) - 1, most).astype(np.int64)
        first, runs = runs_of(self.first, keep)
        omega = self.omega[keep]
        return BucketQueries(
            self.buckets,
            first,
            self.lo[runs],
            self.hi[runs],
            self.weight[runs],
            omega * (self.omega.sum() / omega.sum()),
            self.total,
            self.differences,
            self.boxes and (self.boxes[0][keep], self.boxes[1][keep]),
            self.corners and (self.corners[0][keep], self.corners[1][keep]),
        )

    def also_in_buckets(self, bounds: IntArray, part: float) -> "BucketQueries":
        """All ranges, but this part of their ends lie in buckets drawn evenly, however narrow these are."""
        inner = self.omega[:-1]
        bucket = np.minimum(self.hi[:-1].astype(np.int64), self.buckets - 1)
        drawn = inner / np.diff(bounds)[bucket] * (inner.sum() / self.buckets)
        return replace(self, omega=np.append((1 - part) * inner + part * drawn, self.omega[-1]))

    def only(self, i: int) -> "BucketQueries":
        """One query on its own."""
        runs = slice(self.first[i], self.first[i + 1])
        ends = np.array([0, runs.stop - runs.start])
        return BucketQueries(self.buckets, ends, self.lo[runs], self.hi[runs], self.weight[runs], np.ones(1), 1.0)

    def dense(self) -> FloatArray:
        """The m × k matrix: for tests and small cases."""
        matrix = np.zeros((len(self), self.buckets))
        edges = np.arange(self.buckets + 1)
        for i in range(len(self)):
            for r in range(self.first[i], self.first[i + 1]):
                matrix[i] += self.weight[r] * np.diff(np.clip(edges, self.lo[r], self.hi[r]))
        return matrix


def on_line(runs: Runs, bounds: IntArray) -> BucketQueries:
    """Queries of weighted runs of cells, in bucket coordinates.

    A query of several runs may cut one bucket many times; it then has one run for that bucket, with the weight of
    all the parts together.
    """
    m, k = len(runs.first) - 1, len(bounds) - 1
    if len(runs.lo) == m:
        lo, hi = coordinates(runs.lo, bounds), coordinates(runs.hi, bounds)
        return BucketQueries(k, runs.first, lo, hi, runs.weight, np.ones(m), float(m))
    cells = (np.array(runs.first), np.array(runs.lo), np.array(runs.hi), np.array(runs.weight))
    first, start, stop, share = kernels.runs.gathered(*cells, np.array(bounds))
    return BucketQueries(k, first, start, stop, share, np.ones(m), float(m))


def runs_of(first: IntArray, picks: IntArray) -> tuple[IntArray, IntArray]:
    """The runs of some queries, in the given order: where each query's runs begin, and which runs they are.

    >>> runs_of(np.array([0, 2, 3]), np.array([1, 0]))
    (array([0, 1, 3]), array([2, 0, 1]))
    """
    number = np.diff(first)[picks]
    begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(number)))
    return begin, np.repeat(first[:-1][picks] - begin[:-1], number) + np.arange(begin[-1])


NEAREST = 2.0**-64
"""How near to the first bound a place inside the first bucket may be."""


def coordinates(borders: IntArray | FloatArray, bounds: IntArray, part: FloatArray | float = 0.0) -> FloatArray:
    """Cell borders in bucket coordinates: whole at bucket bounds, linear in between.

    A place inside a bucket stays inside, however near it is to a bound: a range that ends there cuts the bucket.

    Args:
        borders: The borders. Whole numbers are exact, however large they are.
        bounds: Where buckets begin and end.
        part: How far beyond its border each place lies, less than a cell.
    """
    bucket = np.minimum(np.searchsorted(bounds, borders, side="right") - 1, len(bounds) - 2)
    after, past = borders - bounds[bucket], bounds[bucket + 1] - borders
    place = bucket + (after + part) / (bounds[bucket + 1] - bounds[bucket])
    first, last = np.maximum(np.nextafter(bucket, np.inf), NEAREST), np.nextafter(bucket + 1.0, 0)
    whole = (part == 0) & ((after == 0) | (past == 0))
    found: FloatArray = np.where(whole, bucket + (past == 0), np.clip(place, first, last))
    return found


def closed_on_buckets(name: Closed, bounds: IntArray) -> BucketQueries:
    """A closed workload as at most two queries per bucket, with exactly the same total squared error.

    The squared error of the prefix that ends inside a bucket is a quadratic function of the covered fraction.
    Its sum over the fractions 0, 1/b, …, (b-1)/b equals b/2 times its sum at the two points of Gauss's rule for
    these fractions: their mean minus and plus their standard deviation. The rule keeps linear terms exactly too, so
    it also serves the differences of prefixes.
    """
    k, widths = len(bounds) - 1, np.diff(bounds).astype(np.float64)
    bucket = np.arange(k, dtype=np.float64)
    if name is Closed.CELLS:
        ones = np.ones(k)
        return BucketQueries(k, np.arange(k + 1), bucket, bucket + 1, ones, 1 / widths, float(bounds[-1]))
    mean, spread = (widths - 1) / (2 * widths), np.sqrt((widths**2 - 1) / 12) / widths
    several = widths > 1
    ends = np.concatenate((bucket + mean - spread, (bucket + mean + spread)[several], [k]))
    omega = np.concatenate((np.where(several, widths / 2, 1), widths[several] / 2, [1]))
    order = np.argsort(ends, kind="stable")
    ends, omega = ends[order], omega[order]
    n, zeros = int(bounds[-1]), np.zeros(len(ends))
    total = n * (n + 1) / 2 if name is Closed.RANGES else float(n)
    return BucketQueries(k, np.arange(len(ends) + 1), zeros, ends, zeros + 1, omega, total, name is Closed.RANGES)
