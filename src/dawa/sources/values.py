"""Python values as text, one by one: what lists and columns of objects hold.

Such a column has no type. A type guessed from all of its values together would let one record change how the others
are read. So each value becomes text by a rule that looks at that value only, and the axis says how to read the text. A
value that no rule covers is missing.
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

from dawa.limits import MOST_BITS

TEXT = pa.large_string()
"""Text of any total length."""
NUMBERS = (Integral, Fraction, float, np.floating, Decimal)
FAR = 1e300
"""Decimals beyond this are not written out: that may never end."""


def texts(values: Sequence[Any]) -> pa.Array:
    """Every value as the text that an axis reads."""
    return _quickly(values) or _each(text, values)


def identities(values: Sequence[Any]) -> pa.Array:
    """Every value as text that identifies it, where values name units: 7 and "7" differ, 7 and 7.0 do not."""
    return _each(identity, values)


def text(value: Any) -> str | None:  # noqa: ANN401  whatever people put into a list
    """One value as text.

    >>> text(31), text(np.float32(0.7)), text("A"), text(True), text(None), text(float("nan")), text(date(2013, 6, 1))
    ('31', '0.7', 'A', 'true', None, None, '2013-06-01')
    """
    rule = next((rule for kinds, rule in RULES if isinstance(value, kinds)), None)
    return None if rule is None or value != value else rule(value)  # noqa: PLR0124  NaN and NaT differ from themselves


def _whole(value: Any) -> str:  # noqa: ANN401  a whole number of any library
    number = int(value)
    return str(number) if number.bit_length() <= MOST_BITS else ("inf" if number > 0 else "-inf")


RULES: tuple[tuple[tuple[type, ...], Callable[[Any], str]], ...] = (
    ((str,), str.__str__),
    ((bool, np.bool_), lambda value: "true" if value else "false"),
    ((Integral,), _whole),
    ((np.floating,), str),
    ((float,), float.__repr__),
    ((Decimal,), lambda value: str(value).replace("Infinity", "inf")),
    ((Fraction,), lambda value: repr(float(value))),
    ((datetime,), lambda value: value.isoformat(sep=" ")),
    ((date, UUID, np.datetime64), str),
)
"""How values are written as text, by their type; the first rule that fits is used."""


def identity(value: Any) -> str | None:  # noqa: ANN401  whatever people put into a list
    """One value as text that no value with another meaning shares.

    >>> identity(7), identity(7.0), identity("7"), identity(float("nan")), identity(object())
    ('number 7/1', 'number 7/1', 'text 7', None, None)
    """
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    plain = text(value)
    number = isinstance(value, NUMBERS) and not isinstance(value, (bool, np.bool_))
    if number and plain is not None and (isinstance(value, (Integral, Fraction)) or abs(value) < FAR):
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
        return f"number {exact.numerator:x}/{exact.denominator:x}"
    return None if plain is None else f"{type(value).__name__} {plain}"


def _each(rule: Callable[[Any], str | None], values: Sequence[Any]) -> pa.Array:
    return pa.array([_safely(rule, value) for value in values], TEXT)


def _safely(rule: Callable[[Any], str | None], value: Any) -> str | None:  # noqa: ANN401
    """The text of a value, or None if its rule fails: no value may stop the others from being read."""
    try:
        found = rule(value)
        return None if found is None else found.encode().decode()
    except Exception:  # noqa: BLE001  a value that cannot be read is missing
        return None


def _quickly(values: Sequence[Any]) -> pa.Array | None:
    """The same text from Arrow, many times as fast, where all values are whole numbers or all are text."""
    try:
        kinds = set(map(type, values)) - {type(None)}
        kind = pa.int64() if kinds == {int} else TEXT if kinds == {str} else None
        return None if kind is None else pa.array(values, kind).cast(TEXT)
    except Exception:  # noqa: BLE001  after any error, values are read one by one
        return None
