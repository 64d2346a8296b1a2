"""What a mechanism is: a frozen dataclass whose fields are its options, with a name and a way to run."""

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

from dawa.counts import Counts
from dawa.noise.randomness import Randomness
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate


class Mechanism(ABC):
    """A way to estimate counts. A subclass is a frozen dataclass; its fields are public options that it checks itself.

    Attributes:
        name: The name to pass as ``mechanism=``.
        summary: What it does, in a sentence.
        error_bars: Whether the noise of its answers is known, so that it can make a release.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    error_bars: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        """A mechanism that is derived from another one is not published under the other's name."""
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @abstractmethod
    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """Estimate counts; a record loses epsilon at most."""

    @classmethod
    def options(cls) -> list[str]:
        """The names of its options."""
        return [field.name for field in fields(cls)]  # type: ignore[arg-type]  # every subclass is a dataclass

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        usual = type(self)()
        return {
            name: getattr(self, name) for name in self.options() if _differ(getattr(self, name), getattr(usual, name))
        }


def _differ(one: Any, other: Any) -> bool:  # noqa: ANN401  options of any kind
    """Whether two values differ; arrays always do, whatever they hold."""
    return one is not other and not (type(one) is type(other) and one.__eq__(other) is True)


MechanismLike = str | Mechanism
"""A mechanism by name, or one with its own options."""
