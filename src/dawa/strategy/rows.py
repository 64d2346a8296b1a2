"""What every strategy can do, and the resolution at which its weights become integers."""

from typing import Any, Protocol

from dawa.arrays import FloatArray, IntArray
from dawa.errors import ReleaseError
from dawa.workload import BucketQueries

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

    def expected_error(self, queries: BucketQueries) -> float:
        """The weighted sum of ``wᵀ (AᵀA)⁻¹ w`` over the queries, exactly."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers from which the strategy can be rebuilt."""
        ...


def broken(problem: str) -> ReleaseError:
    """The error for a strategy in a release file whose numbers make none."""
    return ReleaseError(
        f"The strategy of this release {problem}.", "ask its publisher for it again: the file was changed or cut off."
    )
