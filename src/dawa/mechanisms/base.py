"""What a mechanism is: a frozen dataclass whose fields are its options, with a name and a way to run."""

import inspect
import re
import types
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from dawa.check import Names
from dawa.counts import Counts
from dawa.noise.randomness import Randomness
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate


@dataclass(frozen=True)
class Option:
    """An option of a mechanism, for people who choose.

    Attributes:
        name: Its name.
        default: Its value unless somebody says otherwise.
        meaning: What it does, as the mechanism's docstring says.
        values: What it takes, in words, as its annotation says.
    """

    name: str
    default: Any
    meaning: str
    values: str


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

    @classmethod
    def explained(cls) -> list[Option]:
        """Its options, with their meanings and the values that they take."""
        usual, kinds, meanings = cls(), get_type_hints(cls, include_extras=True), _meanings(cls)
        return [
            Option(name, getattr(usual, name), meanings.get(name, ""), _values(kinds[name])) for name in cls.options()
        ]

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        usual = type(self)()
        return {
            name: getattr(self, name) for name in self.options() if _differ(getattr(self, name), getattr(usual, name))
        }


def _differ(one: Any, other: Any) -> bool:  # noqa: ANN401  options of any kind
    """Whether two values differ; arrays always do, whatever they hold."""
    return one is not other and not (type(one) is type(other) and one.__eq__(other) is True)


def _meanings(kind: type) -> dict[str, str]:
    """What docstrings say under ``Attributes``, a class's own before those that it derives from."""
    found: dict[str, str] = {}
    for one in kind.__mro__:
        _, _, listed = inspect.cleandoc(vars(one).get("__doc__") or "").partition("Attributes:\n")
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", listed, re.MULTILINE):
            found.setdefault(name, " ".join(text.replace("``", "").split()))
    return found


def _values(kind: Any) -> str:  # noqa: ANN401  any annotation
    """What an annotation allows, in words: what is noted with the type, or what the type itself says."""
    if get_origin(kind) is Annotated:
        inner, *notes = get_args(kind)
        return f"{notes[0]}{', or None' * (type(None) in get_args(inner))}"
    if get_origin(kind) in {Union, types.UnionType}:
        parts = [part for part in get_args(kind) if part is not type(None)]
        return " or ".join(map(_values, parts)) + ", or None" * (len(parts) < len(get_args(kind)))
    if get_origin(kind) is Literal:
        return str(Names(get_args(kind)))
    return "true or false" if kind is bool else ""


MechanismLike = str | Mechanism
"""A mechanism by name, or one with its own options."""
