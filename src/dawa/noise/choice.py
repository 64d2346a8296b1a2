"""The exponential mechanism, sampled exactly: ``choice.md`` has the proof.

Scores and scale are whole numbers and fractions, so the chances are exact; nothing is exponentiated in floats.
"""

from fractions import Fraction

import numpy as np

from dawa import kernels
from dawa.arrays import IntArray
from dawa.errors import BudgetError
from dawa.noise.discrete import LIMIT, as_bytes
from dawa.noise.randomness import Randomness

HOPELESS = 2**40
"""More coins of chance 1/e in a row than will ever all succeed: a candidate never needs to toss more."""


def exponential_choice(scores: IntArray, scale: Fraction, randomness: Randomness) -> int:
    """The index of a score, drawn with chances proportional to ``exp(score / scale)``.

    With scores that one record moves by at most Δ, and scale 2Δ/ε, this is ε-differentially private; if all scores
    move in the same direction, scale Δ/ε is enough.

    >>> from dawa.noise.randomness import Seeded
    >>> exponential_choice(np.array([0, 1000, 0]), Fraction(1), Seeded(0))
    1
    """
    if scale <= 0 or max(scale.numerator, scale.denominator) >= LIMIT:
        raise BudgetError(f"A choice cannot be drawn at scale {scale}.", "pass a positive fraction below 2^56.")
    behind = int(scores.max()) - scores
    if int(behind.max()) * scale.denominator < 2**63:
        wholes, parts = np.divmod(behind * scale.denominator, scale.numerator)
    else:
        pairs = [divmod(int(gap) * scale.denominator, scale.numerator) for gap in behind]
        wholes = np.array([min(whole, HOPELESS) for whole, _ in pairs], np.int64)
        parts = np.array([part for _, part in pairs], np.int64)
    stream = as_bytes(randomness.words(64))
    while (pick := kernels.draw.choose(stream, wholes, parts, scale.numerator)) < 0:
        stream = np.concatenate((stream, as_bytes(randomness.words(len(stream) // 8))))
    return int(pick)


def loss(sensitivity: int, scale: Fraction, *, same_direction: bool = False) -> Fraction:
    """The epsilon spent by choosing among scores that one record moves by at most ``sensitivity``."""
    return (1 if same_direction else 2) * sensitivity / scale
