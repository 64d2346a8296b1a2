"""Where random words come from.

Private noise takes them from the operating system and keeps none for later: a process that forks between two
calls has nothing to share with its child. Experiments may take them from a seed instead; their releases say so.
"""

import os
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dawa import check
from dawa.arrays import WordArray
from dawa.errors import OptionError


class Randomness(Protocol):
    """An endless sequence of independent, uniform 64-bit words."""

    @property
    def description(self) -> str:
        """What to tell the reader of a release about its randomness."""

    @property
    def secure(self) -> bool:
        """Whether noise from this randomness protects anyone."""

    def words(self, count: int) -> WordArray:
        """The next ``count`` words; no word is ever returned twice."""


@dataclass(frozen=True)
class OperatingSystem:
    """The operating system's generator, asked again for every word."""

    description = "operating system"
    secure = True

    def words(self, count: int) -> WordArray:
        """The next ``count`` words."""
        return np.frombuffer(os.urandom(8 * count), np.uint64)


@dataclass(frozen=True)
class Seeded:
    """A repeatable sequence: whoever knows the seed can subtract the noise.

    >>> Seeded(1).description
    'seeded: for experiments only, NOT private'
    """

    seed: int
    _generator: np.random.Philox = field(init=False, repr=False, compare=False)

    description = "seeded: for experiments only, NOT private"
    secure = False

    def __post_init__(self) -> None:
        if not check.is_whole(self.seed, 0):
            raise OptionError(
                f"The seed must be a non-negative integer, not {self.seed!r}.",
                "pass seed=1 for an experiment, or no seed at all for private noise.",
            )
        object.__setattr__(self, "_generator", np.random.Philox(int(self.seed)))

    def words(self, count: int) -> WordArray:
        """The next ``count`` words of the sequence."""
        return self._generator.random_raw(count)


def randomness_for(seed: int | None) -> Randomness:
    """The operating system, unless an experiment asks for a seed.

    >>> randomness_for(None).secure, randomness_for(7).secure
    (True, False)
    """
    return OperatingSystem() if seed is None else Seeded(seed)
