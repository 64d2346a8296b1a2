"""What an entry of the registry is."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from dawa.counts import Counts
from dawa.estimates import Estimate
from dawa.noise.source import Source
from dawa.workload import Workload

Run = Callable[[Counts, Workload, Fraction, Any, Source], Estimate]


@dataclass(frozen=True)
class Mechanism:
    """A way to estimate counts.

    Attributes:
        summary: What it does, in a sentence.
        defaults: Its options, a frozen dataclass, as they are when nothing else is asked for.
        run: Takes counts, workload, epsilon, options and a source of randomness.
        error_bars: Whether the noise of its answers is known, so that it can make a release.
    """

    summary: str
    defaults: Any
    run: Run
    error_bars: bool = True

    @property
    def options(self) -> list[str]:
        """The names of its options."""
        return [field.name for field in fields(self.defaults)]
