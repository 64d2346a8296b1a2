"""Exact draws from the geometric and the discrete Laplace distribution, made from a stream of random bytes.

The method is Canonne, Kamath and Steinke's (2020), in whole numbers: every value is an int64, no float is
made, and every chance is a comparison with fresh random bytes. ``noise/noise.md`` proves the distribution.

If the stream ends before a draw is decided, nothing is decided: the draw is repeated from its first byte once
more bytes follow.
"""

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

ENDED, TOO_LARGE, OUTSIDE = -1, -2, -3
"""Why there is no value: the stream ends first, it exceeds 63 bits, or a scale is none that can be drawn."""

_draw = Kernel("draw_draw")
_choose = Kernel("draw_choose")


def draw(
    stream: NDArray[np.uint8],
    numerators: IntArray,
    denominators: IntArray,
    signed: bool,  # noqa: FBT001  as the kernel takes it
    out: IntArray,
) -> tuple[int, int, bool]:
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
    scales = numerators.size
    if denominators.size != scales or scales not in (1, out.size):
        raise InvariantError(f"{out.size} draws were asked for, of {scales} and {denominators.size} scales.")
    end = np.empty(2, np.int64)
    done = _draw(stream.size, stream, scales, numerators, denominators, signed, out.size, out, end)
    used, why = end.tolist()
    if why == OUTSIDE:
        raise InvariantError("A scale is not made of numbers from 1 to 2^56 - 1.")
    return done, used, why == TOO_LARGE


def choose(stream: NDArray[np.uint8], wholes: IntArray, parts: IntArray, whole: int) -> int:
    """The index of a candidate, with chances proportional to ``exp(-(wholes + parts / whole))``.

    Args:
        stream: Random bytes.
        wholes: One per candidate, not negative.
        parts: One per candidate, from 0 to ``whole - 1``.
        whole: From 1 to 2^56 - 1.

    Returns:
        The index, or -1 if the stream ends first.
    """
    if wholes.size != parts.size:
        raise InvariantError(f"{wholes.size} candidates have {parts.size} parts.")
    pick: int = _choose(stream.size, stream, wholes.size, wholes, parts, whole)
    if pick == OUTSIDE:
        raise InvariantError("There is no candidate, or its chance is not made of numbers below 2^56.")
    return pick
