"""The gates: the only ways in which a private number becomes a public one.

Each takes whole numbers that were computed from records, adds what it must, and gives back what may be published; the
proofs of ``noise.md`` and ``choice.md`` say what each costs. ``costs`` alone gives back what may not be published: only
the choice of the least is paid for. Private steps have no other access to randomness. Whoever watches these functions
has seen all that a mechanism says about the records, because the rest of every estimate follows from it and from public
numbers. ``dawa audit`` watches them.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import BoolArray, IntArray, WordArray
from dawa.errors import InvariantError
from dawa.noise import choice, discrete
from dawa.noise.discrete import Scale
from dawa.noise.randomness import Randomness


def noisy(exact: IntArray, scale: Scale, randomness: Randomness) -> IntArray:
    """Sums with discrete Laplace noise: loses ``discrete.loss`` of what a record moves them by.

    >>> from dawa.noise.randomness import Seeded
    >>> noisy(np.array([10, 20]), Fraction(1, 50), Seeded(0))
    array([10, 20])
    """
    sums: IntArray = _whole(exact) + discrete.laplace(scale, len(exact), randomness)
    return sums


def noisy_large(exact: Sequence[int], scale: Scale, randomness: Randomness) -> list[int]:
    """The same for sums that may have more than 64 bits."""
    noise = discrete.laplace(scale, len(exact), randomness).tolist()
    return [each + more for each, more in zip(_integers(exact), noise, strict=True)]


def costs(exact: IntArray, scale: Scale, centre: IntArray | None, randomness: Randomness) -> IntArray:
    """Noisy costs for a choice of the least: which one that is may be published, and they themselves may not.

    With a public centre their noise has one side, downwards from it; without, it is Laplace noise (``noisy_cost.md``).
    """
    if centre is None:
        around: IntArray = _whole(exact) + discrete.laplace(scale, len(exact), randomness)
    else:
        around = _whole(exact) + centre - discrete.exponential(scale, len(exact), randomness)
    return around


def chosen(scores: IntArray, scale: Fraction, randomness: Randomness) -> int:
    """The index of a score, by the exponential mechanism: loses ``choice.loss`` of what a record moves scores by."""
    return choice.exponential_choice(_whole(scores), scale, randomness)


def tossed(thresholds: WordArray, randomness: Randomness) -> BoolArray:
    """A coin for each threshold, true with exactly this chance over 2^64: loses what the table of thresholds says."""
    if thresholds.dtype != np.uint64:
        raise InvariantError(f"Chances have type {thresholds.dtype}, not uint64.")
    coins: BoolArray = randomness.words(len(thresholds)) < thresholds
    return coins


def _whole(exact: NDArray[np.generic]) -> IntArray:
    """No float comes this far, nor anything that numpy would turn into one."""
    if exact.dtype != np.int64 or exact.ndim != 1:
        raise InvariantError(f"Private numbers have type {exact.dtype} and {exact.ndim} axes, not int64 and one.")
    return exact.view(np.ndarray)


def _integers(exact: Sequence[int]) -> Sequence[int]:
    """Python's whole numbers alone."""
    if not all(type(each) is int for each in exact):
        raise InvariantError("Private numbers are not all whole.")
    return exact
