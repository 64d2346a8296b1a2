"""Values of Python's own, one by one, as text: what lists and columns of objects hold.

Such a column has no type, and one that was made out for all of its values together would let one record change how
the others are read. So each value becomes text by a rule that looks at nothing else, and the axis says what the text
is read as. What the rule does not know is missing.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

MOST_BITS = 1023
"""A whole number beyond is larger than every float, and so lies outside of every axis."""


def texts(values: Sequence[Any]) -> pa.Array:
    """What every value is read as on an axis."""
    return _quickly(values) or _each(text, values)


def identities(values: Sequence[Any]) -> pa.Array:
    """What tells every value from all others, where it names somebody: 7 and "7" are two, 7 and 7.0 are one."""
    return _each(identity, values)


def text(value: Any) -> str | None:  # noqa: ANN401  whatever people put into a list
    """One value as text.

    >>> text(31), text(np.float32(0.7)), text("A"), text(True), text(None), text(float("nan")), text(date(2013, 6, 1))
    ('31', '0.7', 'A', 'true', None, None, '2013-06-01')
    """
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        whole = int(value)
        return str(whole) if whole.bit_length() <= MOST_BITS else ("inf" if whole > 0 else "-inf")
    if isinstance(value, (float, np.floating)):
        return None if value != value else str(value) if isinstance(value, np.floating) else float.__repr__(value)  # noqa: PLR0124  NaN
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value).replace("Infinity", "inf")
    if isinstance(value, Fraction):
        return repr(float(value))
    if isinstance(value, datetime):  # pandas' own among them
        return None if value != value else value.isoformat(sep=" ")  # noqa: PLR0124  NaT
    if isinstance(value, (date, UUID)):
        return str(value)
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    return None


def identity(value: Any) -> str | None:  # noqa: ANN401  likewise
    """One value as text that no value with another meaning has.

    >>> identity(7), identity(7.0), identity("7"), identity(float("nan")), identity(object())
    ('number 7/1', 'number 7/1', 'text 7', None, None)
    """
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    plain = text(value)
    number = isinstance(value, (Integral, float, np.floating)) and not isinstance(value, (bool, np.bool_))
    if number and plain is not None and "inf" not in plain:
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
        return f"number {exact.numerator:x}/{exact.denominator:x}"
    return None if plain is None else f"{type(value).__name__} {plain}"


def _each(rule: Callable[[Any], str | None], values: Sequence[Any]) -> pa.Array:
    return pa.array([_safely(rule, value) for value in values], pa.string())


def _safely(rule: Callable[[Any], str | None], value: Any) -> str | None:  # noqa: ANN401
    """No value may stop the others from being read, whatever it does when it is looked at."""
    try:
        found = rule(value)
        return None if found is None else found.encode().decode()
    except Exception:  # noqa: BLE001  a missing value, like all that cannot be read
        return None


def _quickly(values: Sequence[Any]) -> pa.Array | None:
    """The same text from Arrow, many times as fast, where all values are of one of these types."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {int}:
        kind = pa.int64()
    elif kinds == {str}:
        kind = pa.string()
    else:
        return None
    try:
        return pa.array(values, kind).cast(pa.string())
    except (pa.ArrowException, OverflowError, UnicodeError):
        return None
