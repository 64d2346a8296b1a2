"""Epsilon as an exact fraction of what the user typed.

``0.1`` means one tenth, not the binary number nearest to it: shares of a budget then add up exactly, and a
ledger knows whether a last tenth is left.
"""

import math
import warnings
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import SupportsIndex

from dawa import numerals
from dawa.errors import BudgetError, LargeEpsilonWarning, outside
from dawa.limits import MOST_BUDGET_DIGITS
from dawa.numerals import NotANumberError, told

Epsilon = float | str | Fraction | SupportsIndex
"""A budget as people write it: 0.1, "0.1", "1/10" or an exact fraction."""

SMALLEST = Fraction(1, 10**9)
LARGEST = Fraction(10**6)
LARGE = Fraction(10)
"""The largest budget that still promises something; customary ones are smaller."""


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
    if isinstance(epsilon, bool) or not isinstance(epsilon, (Real, Decimal, str)):
        raise BudgetError(f"{name} must be a number, not {type(epsilon).__name__}.", hint)
    if isinstance(epsilon, float) and not math.isfinite(epsilon):
        raise BudgetError(f"{name} must be finite, not {epsilon}: no noise or no data would be left.", hint)
    try:
        value = numerals.exact(epsilon)
    except NotANumberError as error:
        raise BudgetError(f"{name}={told(epsilon)} {error}.", hint) from None
    if value <= 0:
        raise BudgetError(f"{name} must be positive, not {told(epsilon)}.", hint)
    if not SMALLEST <= value <= LARGEST:
        raise BudgetError(
            f"{name} must lie between {SMALLEST} and {LARGEST}, not {told(epsilon)}.",
            "customary values lie between 0.01 and 10; check the units of what you typed.",
        )
    if value.denominator >= 10**MOST_BUDGET_DIGITS:
        raise BudgetError(
            f"{name}={told(epsilon)} has more than {MOST_BUDGET_DIGITS} digits.", "round it; nobody needs so many."
        )
    return value


def fraction(text: str) -> Fraction:
    """The number that a text writes: ``0.1``, ``1/10`` or ``1e-1``.

    Raises:
        ValueError: If the text is not a number, or has too many digits.
    """
    return numerals.exact(text)


def share(part: object, name: str) -> Fraction:
    """Read a share of a budget: a fraction strictly between 0 and 1."""
    value = exact(part, name)
    if value >= 1:
        raise BudgetError(f"{name} must be below 1, not {told(part)}.", f"pass a share such as {name}=0.25.")
    return value


def shown(value: Fraction) -> str:
    """An exact number as people write it: in decimals where they are exact, else as a fraction, never rounded.

    >>> shown(Fraction(1, 4)), shown(Fraction(1, 3)), shown(Fraction(12))
    ('0.25', '1/3', '12')
    """
    decimals = repr(float(value)) if value.denominator > 1 else str(value)
    return decimals if Fraction(decimals) == value else str(value)


def rounded_up(value: Fraction) -> float:
    """The smallest float that is not below a number.

    >>> rounded_up(Fraction(3, 10)), rounded_up(Fraction(1, 4))
    (0.30000000000000004, 0.25)
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def caution(epsilon: Fraction, unit: str = "record") -> str:
    """What everybody has to be told about a budget that promises little; empty for all others.

    >>> caution(Fraction(10)), caution(Fraction(20)).partition(":")[0]
    ('', 'ε = 20 promises little')
    """
    if epsilon <= LARGE:
        return ""
    return (
        f"ε = {shown(epsilon)} promises little: whoever sees the release may become nearly certain whether one {unit}"
        " is in the data."
    )


def warn_if_large(epsilon: Fraction, unit: str) -> None:
    """Warn whoever called dawa of a budget that promises little."""
    if epsilon > LARGE:
        hint = f"customary values lie between 0.01 and {LARGE}; check what you typed."
        warnings.warn(f"{caution(epsilon, unit)}\nHint: {hint}", LargeEpsilonWarning, stacklevel=outside())
