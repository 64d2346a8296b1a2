"""What every strategy can do, and the resolution at which its weights become integers."""

from typing import Any, Protocol

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import ReleaseError
from dawa.queries.bucket_queries import BucketQueries

RESOLUTION = 2**16
"""Q: the column sum of a bucket that keeps the whole budget of the measure step."""


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

    def variances(self, queries: BucketQueries) -> FloatArray:
        """``wᵀ (AᵀA)⁻¹ w`` for each query, however many runs it has."""
        ...

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers from which the strategy can be rebuilt."""
        ...


def variances_by_runs(strategy: Strategy, queries: BucketQueries) -> FloatArray:
    """Each query's variance: at once where queries are single runs, else one after the other."""
    if len(queries.lo) == len(queries):
        return strategy.range_variances(queries.lo, queries.hi) * queries.weight**2
    one_by_one = (strategy.expected_error(queries.only(i)) for i in range(len(queries)))
    return np.fromiter(one_by_one, np.float64, len(queries))


def broken(problem: str) -> ReleaseError:
    """The error for a strategy in a release file whose numbers make none."""
    return ReleaseError(
        f"The strategy of this release {problem}.", "ask its publisher for it again: the file was changed or cut off."
    )


def whole_numbers(data: dict[str, Any], name: str) -> IntArray:
    """A list of a JSON object, as integers that are exactly the ones written there."""
    numbers = data.get(name)
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise broken(f"has no list of whole numbers named {name!r}")
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        raise broken(f"has too large numbers in {name!r}") from None
