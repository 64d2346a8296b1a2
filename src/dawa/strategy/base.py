"""What every strategy can do, what strategies with a row per bucket share, and the resolution of weights."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dawa.arrays import FloatArray, IntArray, frozen
from dawa.errors import ReleaseError
from dawa.queries.bucket_queries import BucketQueries

RESOLUTION = 2**16
"""Q: the column sum of a bucket that keeps the whole budget of the measure step."""


WHOLE_FITS = 2
"""Fits in whole numbers before the last one: the first may be off by some records of 2^44, the second is not."""


class Strategy(Protocol):
    """Integer rows R over k buckets, with full column rank. A stands for R / Q.

    A bucket's *leaf row* measures it alone; all other rows measure several buckets at once. Variances are in
    units of the variance that a row's noise has after division by Q.
    """

    @property
    def buckets(self) -> int:
        """Number of buckets, k."""
        ...

    @property
    def name(self) -> str:
        """What to call it in a release."""
        ...

    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of absolute weights: how far one record there moves the answers in L1."""
        ...

    def apply(self, totals: IntArray) -> IntArray:
        """R · totals in exact integers: the answers before noise."""
        ...

    def solve(self, answers: FloatArray) -> FloatArray:
        """Least squares: the bucket totals that fit the answers best, ``(RᵀR)⁻¹ Rᵀ answers``."""
        ...

    def range_variances(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each run ``[lo, hi)`` in bucket coordinates, in logarithmic time each."""
        ...

    def bucket_variances(self) -> FloatArray:
        """The same for each bucket alone."""
        ...

    def border_variances(self) -> tuple[FloatArray, FloatArray]:
        """The same for all buckets before each border, from the first to the last, and for all after it."""
        ...

    def variances(self, queries: BucketQueries) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each query, however many runs it has."""
        ...

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        ...

    def described(self) -> dict[str, Any]:
        """Plain numbers and arrays from which the strategy can be rebuilt; ``arrays.listed`` makes JSON of them."""
        ...


def fitted(strategy: Strategy, answers: IntArray) -> FloatArray:
    """The bucket totals that fit noisy answers best, each to about its last digit.

    Answers may have 62 bits, of which floats hold 53: with 2^44 records, least squares in floats alone are off by more
    than the noise of a large budget. So the fit is made of whole numbers first, whose answers are exact again. What
    they leave of the noisy answers is small, and is fitted in turn (``results/rounding.md``).
    """
    whole = np.zeros(strategy.buckets, np.int64)
    for _ in range(WHOLE_FITS):
        whole += np.rint(strategy.solve(_left(strategy, answers, whole))).astype(np.int64)
    fit: FloatArray = whole + strategy.solve(_left(strategy, answers, whole))
    return fit


def _left(strategy: Strategy, answers: IntArray, totals: IntArray) -> FloatArray:
    """What these totals leave of the answers: exact, but for the last step to floats."""
    return (answers - strategy.apply(totals)).astype(np.float64)


class ByRanges:
    """Variances of buckets and of what lies before and after borders, where there is no better way than ranges."""

    def bucket_variances(self: Strategy) -> FloatArray:
        """The variance of every bucket alone."""
        starts = np.arange(self.buckets, dtype=np.float64)
        return self.range_variances(starts, starts + 1)

    def border_variances(self: Strategy) -> tuple[FloatArray, FloatArray]:
        """The variances of the buckets before every border, and of those after."""
        borders = np.arange(self.buckets + 1, dtype=np.float64)
        first, last = np.zeros(self.buckets), np.full(self.buckets, float(self.buckets))
        before, after = self.range_variances(first, borders[1:]), self.range_variances(borders[:-1], last)
        return np.append(0.0, before), np.append(after, 0.0)


@dataclass(frozen=True, eq=False)
class LeafRows(ByRanges, ABC):
    """One leaf row per bucket, in addition to the rows that a subclass lays over several buckets.

    A subclass is a dataclass of integer arrays; a release file holds the same arrays.

    Attributes:
        leaf: The weight of each bucket's leaf row, at least 1.
        kind: What a release file calls such a strategy.
        name: What to call it in a release.
    """

    leaf: IntArray
    kind: ClassVar[str]
    name: ClassVar[str]

    @property
    def buckets(self) -> int:
        """Number of buckets, k."""
        return len(self.leaf)

    @abstractmethod
    def column_sums(self) -> IntArray:
        """Each bucket's exact sum of weights."""

    @abstractmethod
    def check(self) -> None:
        """Refuse arrays that do not make rows; compiled loops would not notice.

        Raises:
            ReleaseError: If the arrays do not make rows.
        """

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild a strategy from what ``described`` returned, or from the same as JSON values.

        Raises:
            ReleaseError: If the lists do not make a strategy.
        """
        strategy = cls(*(frozen(whole_numbers(data, field.name)) for field in fields(cls)))
        if strategy.buckets == 0:
            raise broken("is empty", "leaf")
        strategy.check()
        if (strategy.leaf < 1).any() or (strategy.leaf > RESOLUTION).any():
            raise broken(f"has weights below 1 or above {RESOLUTION}", "leaf")
        if (strategy.column_sums() > RESOLUTION).any():
            raise broken(f"has columns that sum to more than {RESOLUTION}")
        return strategy

    def described(self) -> dict[str, Any]:
        """Arrays: leaf weights, and where the other rows have which weights."""
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}


def variances_by_runs(strategy: Strategy, queries: BucketQueries) -> FloatArray:
    """Each query's variance: all at once if queries are single runs, else one after the other."""
    if len(queries.lo) == len(queries):
        return strategy.range_variances(queries.lo, queries.hi) * queries.weight**2
    one_by_one = (strategy.expected_error(queries.only(i)) for i in range(len(queries)))
    return np.fromiter(one_by_one, np.float64, len(queries))


def broken(problem: str, name: str = "") -> ReleaseError:
    """The error for a release file whose numbers do not make a strategy; ``name`` is the field that shows it."""
    return ReleaseError(
        f"This release is damaged: strategy{name and '.'}{name} {problem}.",
        "ask its publisher for the file again: it was changed or cut off.",
    )


def whole_numbers(data: dict[str, Any], name: str) -> IntArray:
    """A list of a JSON object, as exactly the integers that are written there."""
    numbers = data.get(name)
    if isinstance(numbers, np.ndarray) and numbers.dtype == np.int64:  # checked already
        return numbers
    if not isinstance(numbers, list) or not set(map(type, numbers)) <= {int}:
        raise broken("is not a list of whole numbers", name)
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        raise broken("has numbers that are too large", name) from None
