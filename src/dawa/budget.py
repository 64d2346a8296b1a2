"""Epsilon as an exact fraction of what the user typed.

``0.1`` means one tenth, not the binary number nearest to it: shares of a budget then add up exactly, and a
ledger knows whether a last tenth is left.
"""

import math
import re
from fractions import Fraction
from numbers import Rational, Real
from typing import SupportsIndex

from dawa.errors import BudgetError
from dawa.limits import MOST_POWER

Epsilon = float | str | Fraction | SupportsIndex
"""A budget as people write it: 0.1, "0.1", "1/10" or an exact fraction."""

SMALLEST = Fraction(1, 10**9)
LARGEST = Fraction(10**6)


def exact(epsilon: object, name: str = "epsilon") -> Fraction:
    """Read a budget the way it was written.

    Args:
        epsilon: A fraction, an int, a float (read by its shortest decimal form) or a string such as
            ``"0.1"`` or ``"1/10"``.
        name: What to call it in an error.

    Raises:
        BudgetError: If it is not a finite positive number.

    >>> exact(0.1)
    Fraction(1, 10)
    >>> exact("1/3")
    Fraction(1, 3)
    """
    hint = f"pass a positive number such as {name}=0.1, or an exact one such as {name}='1/10'."
    if isinstance(epsilon, bool) or not isinstance(epsilon, (Rational, Real, str)):
        raise BudgetError(f"{name} must be a number, not {type(epsilon).__name__}.", hint)
    if isinstance(epsilon, Real) and not isinstance(epsilon, Rational) and not math.isfinite(epsilon):
        raise BudgetError(f"{name} must be finite, not {epsilon}: no noise or no data would be left.", hint)
    try:
        value = _fraction(epsilon) if isinstance(epsilon, Rational) else fraction(str(epsilon))
    except (ValueError, ZeroDivisionError):
        raise BudgetError(f"{name}={epsilon!r} is not a number.", hint) from None
    if value <= 0:
        raise BudgetError(f"{name} must be positive, not {epsilon}.", hint)
    if not SMALLEST <= value <= LARGEST:
        raise BudgetError(
            f"{name} must lie between {SMALLEST} and {LARGEST}, not {epsilon}.",
            "customary values lie between 0.01 and 10; check the units of what you typed.",
        )
    return value


def fraction(text: str) -> Fraction:
    """The number that a text writes: ``0.1``, ``1/10`` or ``1e-1``.

    Raises:
        ValueError: If the text is not a number, or has more digits than any float: computing them would never end.
    """
    power = re.search(r"[eE]([+-]?[\d_]+)\s*$", text)
    if power and abs(int(power[1])) > MOST_POWER:
        raise ValueError(text)
    return Fraction(text)


def _fraction(number: Rational) -> Fraction:
    """The fraction with Python's unbounded integers: numpy's would overflow in exact arithmetic."""
    return Fraction(int(number.numerator), int(number.denominator))


def share(part: object, name: str) -> Fraction:
    """Read a share of a budget: a fraction strictly between 0 and 1."""
    value = exact(part, name)
    if value >= 1:
        raise BudgetError(f"{name} must be below 1, not {part}.", f"pass a share such as {name}=0.25.")
    return value


def shown(value: Fraction) -> str:
    """An exact number as people write it: in decimals where they are exact, else as a fraction, never rounded.

    >>> shown(Fraction(1, 4)), shown(Fraction(1, 3)), shown(Fraction(12))
    ('0.25', '1/3', '12')
    """
    decimals = repr(float(value)) if value.denominator > 1 else str(value)
    return decimals if Fraction(decimals) == value else str(value)
