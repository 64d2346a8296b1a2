"""Exact draws from the geometric and the discrete Laplace distribution, made from a stream of random bytes.

The method is Canonne, Kamath and Steinke's (2020), in whole numbers: every value is an int64, no float is
made, and every chance is a comparison with fresh random bytes. ``noise/noise.md`` proves the distribution.

A helper takes the stream and a position, and returns its value and the next position. If the stream ends
first, the position is ``EXHAUSTED``: nothing is decided then, and the draw is repeated from its first byte
once more bytes follow.
"""

import numpy as np

from dawa.kernels.compiled import njit

EXHAUSTED = -1

SHORT = 2**28
"""Uniform numbers below this take 4 random bytes, others 8: at most one try in 16 is wasted."""

LARGEST = 2**63 - 1


@njit(cache=True)
def _below(stream, at, bound):
    """A uniform number in ``[0, bound)``: the remainder of a number that is uniform below a multiple of the bound."""
    width = 4 if bound < SHORT else 8
    last = 2**32 - bound if bound < SHORT else LARGEST - (bound - 1)
    while at + width <= stream.size:
        number = np.int64(0)
        for i in range(width):
            number |= np.int64(stream[at + i]) << (8 * i)
        number &= LARGEST
        at += width
        remainder = number % bound
        if number - remainder <= last:
            return remainder, at
    return np.int64(0), EXHAUSTED


@njit(cache=True)
def _run(stream, at):
    """How many of the coins with chances 1, 1/2, 1/3, … succeed before the first failure.

    The run has length k or more with chance 1/k!, and 240/k! is whole for k up to 5: one byte decides.
    """
    while at < stream.size:
        byte = stream[at]
        at += 1
        if byte < 240:
            if byte >= 120:
                return np.int64(1), at
            if byte >= 40:
                return np.int64(2), at
            if byte >= 10:
                return np.int64(3), at
            if byte >= 2:
                return np.int64(4), at
            return _long_run(stream, at)
    return np.int64(0), EXHAUSTED


@njit(cache=True)
def _long_run(stream, at):
    """The same run, known to have at least length 5: one coin at a time."""
    length = np.int64(5)
    while True:
        pick, at = _below(stream, at, length + 1)
        if at == EXHAUSTED or pick > 0:
            return length, at
        length += 1


@njit(cache=True)
def _less(stream, at, part, whole):
    """Whether a uniform real number is less than ``part / whole``, comparing 7 bits at a time.

    ``whole`` is below 2^56 and ``part`` below ``whole``, so the products stay below 2^63.
    """
    while at < stream.size:
        digit = np.int64(stream[at]) >> 1
        at += 1
        rest = (part << 7) - digit * whole
        if rest <= 0:
            return False, at
        if rest >= whole:
            return True, at
        part = rest
    return False, EXHAUSTED


@njit(cache=True)
def _exponential_coin(stream, at, part, whole):
    """True with chance ``exp(-part / whole)``: the first failure among coins ``part / (whole·k)`` is odd."""
    length, at = _run(stream, at)
    if at == EXHAUSTED:
        return False, at
    for k in range(1, length + 1):
        success, at = _less(stream, at, part, whole)
        if at == EXHAUSTED:
            return False, at
        if not success:
            return k % 2 == 1, at
    return length % 2 == 0, at


@njit(cache=True)
def _geometric(stream, at, numerator):
    """A number x ≥ 0 with chances proportional to ``exp(-x / numerator)``, or -1 if it exceeds 63 bits."""
    while True:
        unit, at = _below(stream, at, numerator)
        if at == EXHAUSTED:
            return unit, at
        accepted, at = _exponential_coin(stream, at, unit, numerator)
        if at == EXHAUSTED:
            return unit, at
        if accepted:
            break
    wholes = np.int64(0)
    while True:
        length, at = _run(stream, at)
        if at == EXHAUSTED:
            return unit, at
        if length % 2 == 1:
            break
        wholes += 1
    if wholes >= 127 and wholes > (LARGEST - unit) // numerator:
        return np.int64(-1), at
    return unit + numerator * wholes, at


@njit(cache=True)
def draw(stream, numerators, denominators, signed, out):
    """Fill ``out`` with draws of scale ``numerators / denominators`` as far as the stream reaches.

    Args:
        stream: Random bytes.
        numerators: One per draw, or a single one for all; from 1 to 2^56 - 1.
        denominators: Likewise.
        signed: Whether to draw from the discrete Laplace rather than the one-sided distribution.
        out: Where the draws go.

    Returns:
        How many draws are complete; how many bytes they took; whether the next draw exceeds 63 bits.
    """
    step = 0 if numerators.size == 1 else 1
    at = np.int64(0)
    for i in range(out.size):
        begin = at
        numerator = numerators[i * step]
        denominator = denominators[i * step]
        while True:
            steps, at = _geometric(stream, at, numerator)
            if at == EXHAUSTED:
                return i, begin, False
            if steps < 0:
                return i, begin, True
            value = steps if denominator == 1 else steps // denominator
            if not signed:
                break
            if at == stream.size:
                return i, begin, False
            negative = stream[at] & 1
            at += 1
            if value > 0 or not negative:
                value = -value if negative else value
                break
        out[i] = value
    return out.size, at, False


@njit(cache=True)
def choose(stream, wholes, parts, whole):
    """The index of a candidate, with chances proportional to ``exp(-(wholes + parts / whole))``.

    Candidates are proposed evenly, and each is kept with this chance, until one is kept.

    Returns:
        The index, or -1 if the stream ends first.
    """
    at = np.int64(0)
    while True:
        pick, at = _below(stream, at, np.int64(len(wholes)))
        if at == EXHAUSTED:
            return np.int64(-1)
        kept = True
        for _ in range(wholes[pick]):
            length, at = _run(stream, at)
            if at == EXHAUSTED:
                return np.int64(-1)
            if length % 2 == 1:
                kept = False
                break
        if kept and parts[pick] > 0:
            kept, at = _exponential_coin(stream, at, parts[pick], whole)
            if at == EXHAUSTED:
                return np.int64(-1)
        if kept:
            return pick
