"""Checks of options, and the check that guards every private step: it loses no more than it may.

A check returns the value in a plain type, because numpy's types cannot go into a release file. Or it raises an error
that says what was wrong and what to pass instead.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import TypeGuard

import numpy as np

from dawa import numerals
from dawa.errors import InvariantError, OptionError
from dawa.numerals import NO_NUMBERS, NotANumberError, told


@dataclass(frozen=True)
class Whole:
    """Whole numbers between two bounds, both included: what an option takes, in its annotation and in its check.

    >>> str(Whole(1, 10**4))
    'a whole number from 1 to 10,000'
    """

    least: int
    most: int

    def __str__(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}"


@dataclass(frozen=True)
class Names:
    """One of several names.

    Attributes:
        choices: The names.
        besides: What else may be passed in Python, in words.
    """

    choices: tuple[str, ...]
    besides: str = ""

    def __str__(self) -> str:
        listed = " or ".join(filter(None, (", ".join(self.choices[:-1]), self.choices[-1])))
        return listed + (f"; in Python also {self.besides}" if self.besides else "")


@dataclass(frozen=True)
class Kind:
    """Values of another kind, in words."""

    text: str

    def __str__(self) -> str:
        return self.text


SHARE = Kind("a number above 0 and below 1, such as 0.25 or 1/4")
POSITIVE = Kind("a number above 0")


def is_whole(value: object, least: int | None = None, most: int | None = None) -> TypeGuard[int]:
    """Whether a value is a whole number between these bounds; True and False are not numbers.

    >>> is_whole(3), is_whole(np.int64(3)), is_whole(3.0), is_whole(True), is_whole(3, most=2)
    (True, True, False, False, False)
    """
    if isinstance(value, NO_NUMBERS) or not isinstance(value, Integral):
        return False
    return (least is None or int(value) >= least) and (most is None or int(value) <= most)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite real number; True and False are not.

    >>> is_number(0.5), is_number(float("nan")), is_number("0.5"), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, NO_NUMBERS) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is larger than every float
        return False


def whole(value: object, name: str, least: int = 1, most: int | None = None, kind: str = "a whole number") -> int:
    """A whole number, or an error that says which numbers are allowed."""
    if not is_whole(value, least, most):
        if is_whole(value):
            kind = "large enough" if int(value) < least else "small enough"
        bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise OptionError(f"{name}={told(value)} is not {kind}.", f"pass a whole number {bounds}.")
    return int(value)


def number(value: object, name: str) -> float:
    """A finite number."""
    if not is_number(value):
        raise OptionError(f"{name}={told(value)} is not a finite number.", f"pass a number such as {name}=1.5.")
    return float(value)


def positive(value: object, name: str, usual: int) -> float:
    """A positive finite number.

    Args:
        value: A number, or a string that reads as one.
        name: What to call it in an error.
        usual: The value that the error suggests.

    Raises:
        OptionError: If the value is not a positive number.
    """
    try:
        found = numerals.real(value)
    except NotANumberError:
        found = 0.0
    if found <= 0:
        raise OptionError(f"{name}={told(value)} is not a positive number.", f"pass {name}={usual}, for example.")
    return found


def flag(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name}={told(value)} is neither yes nor no.", "pass True or False.")
    return bool(value)


def one_of(value: object, name: str, choices: Iterable[str]) -> str:
    """One of several names.

    >>> one_of("equal", "weights", ["workload", "equal"])
    'equal'
    """
    listed = list(choices)
    if not isinstance(value, str) or value not in listed:
        raise OptionError(f"{name}={told(value)} does not exist.", f"pass one of {', '.join(map(repr, listed))}.")
    return value


def within(loss: Fraction | float, allowed: Fraction, what: str) -> None:
    """Assert, before a private step runs, that the numbers it will use lose no more than is allowed.

    Raises:
        InvariantError: If they lose more: then a proof does not hold, and nothing may be released.
    """
    if Fraction(loss) > allowed:
        raise InvariantError(f"{what} would lose {loss}, more than the allowed {allowed}.")
