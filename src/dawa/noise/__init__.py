"""Exact noise: whole numbers drawn from the discrete Laplace distribution, with no float on the way."""

from dawa.arrays import IntArray
from dawa.noise.discrete import Scale, laplace
from dawa.noise.randomness import randomness_for

__all__ = ["Scale", "discrete_laplace"]


def discrete_laplace(scale: Scale, size: int, seed: int | None = None) -> IntArray:
    """Draw whole numbers x with chances proportional to ``exp(-|x| / scale)``, exactly.

    Args:
        scale: One scale for all draws, a fraction or an int; or a pair of integer arrays
            ``(numerators, denominators)`` with one scale per draw.
        size: How many draws. Must be the length of the arrays, if arrays are given.
        seed: For experiments only: draws made with a seed can be repeated, so they protect nobody.
            Without one they come from the operating system.

    Raises:
        BudgetError: If a scale is not positive, not exact, or has too many digits.
        OptionError: If the size or the seed is not a non-negative integer.

    >>> from fractions import Fraction
    >>> discrete_laplace(Fraction(7, 2), 6, seed=1).dtype
    dtype('int64')
    >>> discrete_laplace(([1, 1_000_000], [3, 1]), 2).shape
    (2,)
    """
    return laplace(scale, size, randomness_for(seed))
