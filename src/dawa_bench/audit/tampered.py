"""The sampler made wrong on purpose, for a control: NOT PRIVATE while the block runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

from dawa import noise
from dawa.arrays import IntArray
from dawa.noise import discrete
from dawa.noise.randomness import Randomness


@contextmanager
def half_the_noise() -> Iterator[None]:
    """Draw every discrete Laplace at half its scale, in this process, until the end of the block. Not for threads.

    Gates, proofs and losses still name the right scale, so nothing but a look at the noise can notice.
    """
    own = discrete.laplace

    def halved(scale: discrete.Scale, size: int, randomness: Randomness) -> IntArray:
        if isinstance(scale, tuple):
            numerators, denominators = scale
            return own((numerators, 2 * np.asarray(denominators)), size, randomness)
        return own(Fraction(scale) / 2, size, randomness)

    places = (discrete, noise)
    try:
        for place in places:
            setattr(place, "laplace", halved)  # noqa: B010  a module's function, replaced for a while
        yield
    finally:
        for place in places:
            setattr(place, "laplace", own)  # noqa: B010  likewise
