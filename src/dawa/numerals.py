"""Numbers from outside: what people type, files hold, requests ask and Python passes, read exactly, with one limit.

``0.1`` is one tenth, wherever it is written. Every number is kept as a fraction of two whole numbers, each with at
most ``MOST_NUMERAL_DIGITS`` digits. So a float can hold every number that is accepted, a number that is written into a
file is accepted when the file is read, and no number takes long to read, however it is written.
"""

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

import numpy as np

from dawa.limits import MOST_NUMERAL, MOST_NUMERAL_DIGITS, MOST_SHOWN

LARGEST = 10**MOST_NUMERAL_DIGITS
"""Numerators and denominators lie below it."""

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_DECIMAL = re.compile(rf"([+-]?)(?:({_DIGITS})(?:\.({_DIGITS})?)?|\.({_DIGITS}))(?:[eE]([+-]?{_DIGITS}))?")
_RATIO = re.compile(rf"([+-]?{_DIGITS})/({_DIGITS})")
_WHOLE = re.compile(rf"[+-]?{_DIGITS}")


class NotANumberError(ValueError):
    """A value that is not a number, or one beyond the limit; the message is the end of a sentence that names it."""


NO_NUMBERS = (bool, np.bool_, np.timedelta64)
"""Types that count as numbers in Python or NumPy, and are none."""

NO_NUMBER = "is not a finite number"
TOO_LONG = f"has more than {MOST_NUMERAL_DIGITS} digits, or a power of ten beyond {MOST_NUMERAL_DIGITS}"


def exact(value: object) -> Fraction:
    """A number as it was written: text, or a number of Python, NumPy or ``decimal``.

    Floats are read by their shortest decimal form. Text is a decimal number such as ``-1.5e3``, or two whole numbers
    with a stroke between them, in the digits 0 to 9; underscores may group digits, and space around it is ignored.

    >>> exact(0.1), exact("1/3"), exact(np.float32(0.1)), exact(Decimal("-2.50"))
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 10), Fraction(-5, 2))
    >>> exact("1e99999999")
    Traceback (most recent call last):
    dawa.numerals.NotANumberError: has more than 300 digits, or a power of ten beyond 300

    Raises:
        NotANumberError: If it is not a finite number, or has too many digits.
    """
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, NO_NUMBERS) or not isinstance(value, (Real, Decimal)):
        raise NotANumberError(NO_NUMBER)
    if isinstance(value, Rational):
        return _limited(int(value.numerator), int(value.denominator))
    return _of_text(str(value) if isinstance(value, (np.floating, Decimal)) else repr(float(value)))


def real(value: object) -> float:
    """The float nearest to a number.

    Raises:
        NotANumberError: If it is not a finite number, or has too many digits.

    >>> real("1/4"), real(2)
    (0.25, 2.0)
    """
    if type(value) is float and math.isfinite(value):
        return value
    return float(exact(value))


def whole(text: str) -> int | None:
    """The whole number that a text writes in the digits 0 to 9; None if it writes something else.

    >>> whole("12"), whole("-1_000"), whole("1.0"), whole("9" * 5000)
    (12, -1000, None, None)
    """
    written = text.strip()
    if len(written) > MOST_NUMERAL_DIGITS or not _WHOLE.fullmatch(written):
        return None
    return int(written)


def is_number(value: object) -> bool:
    """Whether ``exact`` reads a value.

    >>> is_number("1e9"), is_number("1e999"), is_number(float("nan"))
    (True, False, False)
    """
    try:
        exact(value)
    except NotANumberError:
        return False
    return True


def numeric(text: str) -> bool:
    """Whether a text is meant as a number, even as one that is too long.

    >>> numeric("1e99999999"), numeric("2013-01-01")
    (True, False)
    """
    try:
        exact(text)
    except NotANumberError as error:
        return str(error) == TOO_LONG
    return True


def told(value: object) -> str:
    """A value as an error may show it: not longer than a line, whatever it is.

    >>> told("age"), told(1.5), told(10**5000), told("x" * 100)[-5:]
    ("'age'", '1.5', 'a number of hundreds of digits', 'xxxx…')
    """
    if isinstance(value, (str, bytes)):
        value = value[: MOST_SHOWN + 1]
    if (
        isinstance(value, Integral)
        and not isinstance(value, NO_NUMBERS)
        and int(value).bit_length() > 4 * MOST_NUMERAL_DIGITS
    ):
        return "a number of hundreds of digits"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  such as whole numbers inside it are too long to be written
        return f"a {type(value).__name__}"
    return _cut(text)


def brief(value: object) -> str:
    """A value in a sentence, without quotes: not longer than a line.

    >>> brief("2013-06-01"), brief(np.float64(1.5)), brief("9" * 100)[-3:]
    ('2013-06-01', '1.5', '99…')
    """
    try:
        return _cut(str(value))
    except Exception:  # noqa: BLE001  such as whole numbers that are too long to be written
        return told(value)


def shortened(sentence: str) -> str:
    """A sentence with a value in it, if the value is short; else its two ends.

    >>> len(shortened("9" * 5000 + " is too long."))
    361
    """
    return (
        sentence if len(sentence) <= 6 * MOST_SHOWN else f"{sentence[: 3 * MOST_SHOWN]}…{sentence[-3 * MOST_SHOWN :]}"
    )


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _of_text(text: str) -> Fraction:
    written = text.strip()
    if len(written) > MOST_NUMERAL:
        raise NotANumberError(TOO_LONG)
    ratio = _RATIO.fullmatch(written)
    if ratio:
        if int(ratio[2]) == 0:
            raise NotANumberError(NO_NUMBER)
        return _limited(int(ratio[1]), int(ratio[2]))
    decimal = _DECIMAL.fullmatch(written)
    if not decimal:
        raise NotANumberError(NO_NUMBER)
    sign, before, after, alone, power = (part.replace("_", "") if part else "" for part in decimal.groups())
    decimals = after or alone
    if len(power) > 5 or abs(int(power or 0)) > MOST_NUMERAL:
        raise NotANumberError(TOO_LONG)
    digits, shift = int(f"{sign}{before}{decimals}"), int(power or 0) - len(decimals)
    return _limited(digits * 10 ** max(shift, 0), 10 ** max(-shift, 0))


def _limited(numerator: int, denominator: int) -> Fraction:
    """The fraction in lowest terms, if its digits are few enough."""
    if max(numerator.bit_length(), denominator.bit_length()) > 16 * MOST_NUMERAL:
        raise NotANumberError(TOO_LONG)
    found = Fraction(numerator, denominator)
    if abs(found.numerator) >= LARGEST or found.denominator >= LARGEST:
        raise NotANumberError(TOO_LONG)
    return found
