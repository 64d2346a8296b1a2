"""Discrete Laplace and geometric noise of rational scale; ``noise.md`` has the proofs.

A scale is exact: a fraction whose two parts lie below 2^56, so that the sampler's numbers fit in 63 bits.
"""

import math
from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import check, kernels
from dawa.arrays import IntArray, WordArray
from dawa.errors import BudgetError, OptionError
from dawa.noise.randomness import Randomness

Scale = Fraction | int | tuple[ArrayLike, ArrayLike]
"""One scale for all draws, or integer arrays (numerators, denominators) with one per draw."""

LIMIT = 2**56
"""Numerators and denominators lie below this."""

BUFFER = 2**15
"""Words asked for at a time: few enough to stay in the processor's cache while they are used."""

BYTES = 14, 20
"""Bytes that a draw takes on average, rounded up, for numerators below and above 2^28."""

HINT = "pass a positive Fraction or int, or a pair (numerators, denominators) of integer arrays."


def laplace(scale: Scale, size: int, randomness: Randomness) -> IntArray:
    """Draw whole numbers x with ``P(x) ∝ exp(-|x| / scale)``.

    >>> from dawa.noise.randomness import Seeded
    >>> bool(abs(laplace(Fraction(1, 50), 1000, Seeded(0))).any())
    False
    """
    return _draws(scale, size, randomness, signed=True)


def exponential(scale: Scale, size: int, randomness: Randomness) -> IntArray:
    """Draw whole numbers x ≥ 0 with ``P(X ≥ x) = exp(-x / scale)``: one side of the Laplace."""
    return _draws(scale, size, randomness, signed=False)


def loss(sensitivity: int, scale: Fraction) -> Fraction:
    """The epsilon spent by adding Laplace noise to integer sums of this L1 sensitivity.

    >>> loss(65536, Fraction(65536 * 10))
    Fraction(1, 10)
    """
    if not check.is_whole(sensitivity, 0):
        raise BudgetError(
            f"The sensitivity of integer sums must be a non-negative integer, not {sensitivity!r}.",
            "pass the largest L1 change of the sums that one record can make.",
        )
    return int(sensitivity) / _fraction(scale)


def variance(scale: Fraction) -> float:
    """The variance of the discrete Laplace: ``2 q / (1 - q)²`` with ``q = exp(-1 / scale)``.

    >>> round(variance(Fraction(10)), 4)
    199.8334
    """
    exponent = float(-1 / _fraction(scale))
    return 2 * math.exp(exponent) / math.expm1(exponent) ** 2


def coarsened(scale: Fraction) -> Fraction:
    """The least scale that can be drawn and is not below the given one: privacy only gets better.

    >>> coarsened(Fraction(10, 3))
    Fraction(10, 3)
    >>> coarsened(Fraction(2**70 + 1, 2**70)) == Fraction(2**56 - 1, 2**56 - 2)
    True

    Raises:
        BudgetError: If there is no such scale within a relative 2^-20, that is, outside of about 2^-56 to 2^56.
    """
    exact = _fraction(scale)
    least = _least_above(exact, LIMIT - 1)
    if least is None or least > exact * (1 + Fraction(1, 2**20)):
        raise BudgetError(
            "The noise scale lies outside of 2^-56 to 2^56, where it cannot be drawn.",
            "check epsilon: the scale is the sensitivity divided by it.",
        )
    return least


def _draws(scale: Scale, size: int, randomness: Randomness, *, signed: bool, buffer: int = BUFFER) -> IntArray:
    """Feed the kernel with words until all draws are complete.

    The kernel stops before a draw that the available bytes cannot finish. That draw keeps its bytes and is
    repeated with the same bytes, now followed by more. So the draws depend on the sequence of words alone, not
    on how it is cut into buffers, and no draw is thrown away for being long.
    """
    if not check.is_whole(size, 0):
        raise OptionError(f"The number of draws must be a non-negative integer, not {size!r}.", "pass size=1000.")
    numerators, denominators = _pair(scale, int(size)) if isinstance(scale, tuple) else _single(scale)
    each = BYTES[int(numerators.max(initial=1) >= 2**28)]
    many = numerators.size > 1
    draws = np.empty(int(size), np.int64)
    stream = np.empty(0, np.uint8)
    done = 0
    while done < draws.size:
        words = randomness.words(min(buffer, (draws.size - done) * each // 8 + 8))
        stream = np.concatenate((stream, as_bytes(words)))
        rest = slice(done, None) if many else slice(None)
        complete, used, too_large = kernels.draw.draw(
            stream, numerators[rest], denominators[rest], signed, draws[done:]
        )
        if too_large:  # with a chance below exp(-128): noise.md, "Sizes"
            raise BudgetError(
                "A draw does not fit in 64 bits, so none of this call's draws is returned.",
                "use a scale with a smaller numerator.",
            )
        done += complete
        stream = stream[used:]
    return draws


def as_bytes(words: WordArray) -> NDArray[np.uint8]:
    """The words' bytes, the least significant first on every machine."""
    return words.astype("<u8", copy=False).view(np.uint8)


def _fraction(scale: object) -> Fraction:
    """A positive, exact scale of any size."""
    if isinstance(scale, bool) or not isinstance(scale, Rational):
        raise BudgetError(f"A noise scale must be an exact fraction, not {type(scale).__name__}.", HINT)
    exact = Fraction(int(scale.numerator), int(scale.denominator))
    if exact <= 0:
        raise BudgetError(f"A noise scale must be positive, not {scale}.", HINT)
    return exact


def _single(scale: object) -> tuple[IntArray, IntArray]:
    """One scale, checked."""
    exact = _fraction(scale)
    if max(exact.numerator, exact.denominator) >= LIMIT:
        raise _too_fine()
    return np.array([exact.numerator]), np.array([exact.denominator])


def _pair(scale: tuple[ArrayLike, ...], size: int) -> tuple[IntArray, IntArray]:
    """One scale per draw, checked; a scale is reduced only if its parts are too large, since any form works."""
    if len(scale) != 2:
        raise BudgetError(f"A pair of arrays was expected, not {len(scale)} of them.", HINT)
    parts = [_positive(part) for part in scale]
    try:
        shape = np.broadcast_shapes(parts[0].shape, parts[1].shape)
    except ValueError:
        shape = None
    if shape != (size,):
        shapes = f"{parts[0].shape} and {parts[1].shape}"
        raise BudgetError(
            f"The numerators and denominators have shapes {shapes}, for {size} draws.",
            "pass one numerator and one denominator per draw.",
        )
    numerators, denominators = (np.array(np.broadcast_to(part, shape), order="C") for part in parts)
    large = np.flatnonzero((numerators >= LIMIT) | (denominators >= LIMIT))
    if large.size:
        common = np.gcd(numerators[large], denominators[large])
        numerators[large] //= common
        denominators[large] //= common
        if max(numerators[large].max(), denominators[large].max()) >= LIMIT:
            raise _too_fine()
    return numerators.view(np.int64), denominators.view(np.int64)


def _positive(part: ArrayLike) -> WordArray:
    """Positive whole numbers."""
    try:
        array = np.asarray(part)
    except (ValueError, TypeError, OverflowError):
        raise BudgetError("The noise scales cannot be read as arrays of integers.", HINT) from None
    if array.dtype.kind not in "iu":
        raise BudgetError(f"The noise scales have type {array.dtype}; integers were expected.", HINT)
    if (array <= 0).any():
        raise BudgetError("Some noise scales are not positive.", HINT)
    return array.astype(np.uint64)


def _too_fine() -> BudgetError:
    return BudgetError(
        "A noise scale has a numerator or denominator of 2^56 or more after reduction.",
        "round it up with dawa.noise.discrete.coarsened(scale); that spends no more than before.",
    )


def _least_above(exact: Fraction, most: int) -> Fraction | None:
    """The least fraction not below ``exact`` with both parts at most ``most``; None if there is none.

    Walks down the Stern-Brocot tree, where a fraction strictly between two neighbours has parts no smaller than
    the sums of the neighbours' parts.
    """
    part, whole = exact.as_integer_ratio()
    if part <= most and whole <= most:
        return exact
    low, high = (0, 1), (1, 0)
    while True:
        below, above = part * low[1] - whole * low[0], whole * high[0] - part * high[1]
        room = _room(low, high, most)
        low = _moved(low, high, min(room, below // above))
        if room < below // above:
            break
        below = part * low[1] - whole * low[0]
        room = _room(high, low, most)
        high = _moved(high, low, min(room, above // below))
        if room < above // below:
            break
    return Fraction(*high) if high[1] else None


def _moved(start: tuple[int, int], towards: tuple[int, int], times: int) -> tuple[int, int]:
    """The mediant of ``start`` and that many copies of its neighbour."""
    return start[0] + times * towards[0], start[1] + times * towards[1]


def _room(start: tuple[int, int], towards: tuple[int, int], most: int) -> int:
    """How many copies of its neighbour ``start`` can take before a part exceeds ``most``."""
    return min((most - have) // step for have, step in zip(start, towards, strict=True) if step)
