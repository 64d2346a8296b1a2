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

from dawa.limits import MOST_BITS

TEXT = pa.large_string()
"""Text without a limit to how much of it there is."""
NUMBERS = (Integral, Fraction, float, np.floating, Decimal)
FAR = 1e300
"""Decimals beyond are not written out: that may never end."""


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
    rule = next((rule for kinds, rule in RULES if isinstance(value, kinds)), None)
    return None if rule is None or value != value else rule(value)  # noqa: PLR0124  NaN and its like differ from all


def _whole(value: Any) -> str:  # noqa: ANN401  a whole number of any library's
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
"""How values are written as text, by their type; the first that fits."""


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
    number = isinstance(value, NUMBERS) and not isinstance(value, (bool, np.bool_))
    if number and plain is not None and (isinstance(value, (Integral, Fraction)) or abs(value) < FAR):
        exact = Fraction(value.item() if isinstance(value, np.generic) else value)
        return f"number {exact.numerator:x}/{exact.denominator:x}"
    return None if plain is None else f"{type(value).__name__} {plain}"


def _each(rule: Callable[[Any], str | None], values: Sequence[Any]) -> pa.Array:
    return pa.array([_safely(rule, value) for value in values], TEXT)


def _safely(rule: Callable[[Any], str | None], value: Any) -> str | None:  # noqa: ANN401
    """No value may stop the others from being read, whatever it does when it is looked at."""
    try:
        found = rule(value)
        return None if found is None else found.encode().decode()
    except Exception:  # noqa: BLE001  a missing value, like all that cannot be read
        return None


def _quickly(values: Sequence[Any]) -> pa.Array | None:
    """The same text from Arrow, many times as fast, where all values are of one of these types."""
    try:
        kinds = set(map(type, values)) - {type(None)}
        kind = pa.int64() if kinds == {int} else TEXT if kinds == {str} else None
        return None if kind is None else pa.array(values, kind).cast(TEXT)
    except Exception:  # noqa: BLE001  whatever it is, each value is looked at by itself then
        return None
