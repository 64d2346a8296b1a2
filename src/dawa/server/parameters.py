"""Numbers in requests, read as everywhere in dawa (``numerals``), and refused with the same sentences.

FastAPI would read them in its own way: no ``1/2``, and ``1.0`` for a whole number. So they come as text, and the
description says what the text may be.
"""

import re
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import StrictFloat, StrictInt, StrictStr, WithJsonSchema

from dawa import check, numerals
from dawa.errors import OptionError
from dawa.limits import MOST_BUCKETS_TOLD, MOST_NUMERAL, MOST_NUMERAL_DIGITS, MOST_QUANTILES_ASKED
from dawa.numerals import NotANumberError, told
from dawa.results.answers import check_confidence
from dawa.results.quantiles import check_fraction

LAST_BUCKET = 2**53
"""Numbers of buckets end before it."""

USUAL = 15
"""Characters of a number in JSON up to which a float has the value that was written."""

_DIGITS = "[0-9]+(_[0-9]+)*"
_NUMERAL = rf"^\s*[+-]?({_DIGITS}/{_DIGITS}|({_DIGITS}(\.({_DIGITS})?)?|\.{_DIGITS})([eE][+-]?{_DIGITS})?)\s*$"
_WHOLE = rf"^\s*[+-]?{_DIGITS}\s*$"

SURE = "pass a probability such as confidence=0.95."


def _either(number: dict[str, Any], pattern: str, example: str) -> WithJsonSchema:
    """A number, or text that writes one."""
    text = {"type": "string", "pattern": pattern, "maxLength": MOST_NUMERAL, "examples": [example]}
    return WithJsonSchema({"anyOf": [number, text]})


SureNumber = Annotated[
    StrictStr | StrictInt | StrictFloat,
    _either({"type": "number", "minimum": 0.5, "exclusiveMaximum": 1}, _NUMERAL, "19/20"),
]
"""A confidence in a request."""

_Part = Annotated[str | float, _either({"type": "number", "minimum": 0, "maximum": 1}, _NUMERAL, "1/2")]
_Start = Annotated[str | int, _either({"type": "integer", "minimum": 0, "maximum": LAST_BUCKET}, _WHOLE, "1_000")]
_Many = Annotated[str | int, _either({"type": "integer", "minimum": 1, "maximum": MOST_BUCKETS_TOLD}, _WHOLE, "1_000")]


def sure(value: object) -> float:
    """A confidence.

    >>> sure("19/20"), sure(0.5)
    (0.95, 0.5)

    Raises:
        OptionError: If it is no number, or cannot be promised.
    """
    found = _real(value, "confidence", SURE)
    check_confidence(found)
    return found


async def _confidence(
    confidence: Annotated[SureNumber, Query(description="How sure the interval is.")] = 0.95,
) -> float:
    return sure(confidence)


async def _fraction(
    fraction: Annotated[_Part, Query(description="0.5 is the median.", examples=[0.5])],
) -> float:
    return _read_fraction(fraction)


async def _fractions(
    fraction: Annotated[
        list[_Part],
        Query(description="0.5 is the median; once for each.", min_length=1, max_length=MOST_QUANTILES_ASKED),
    ],
) -> list[float]:
    return [_read_fraction(one) for one in fraction]


def _read_fraction(value: object) -> float:
    return check_fraction(_real(value, "fraction", "pass a number from 0 to 1, such as 0.5."))


async def _first(first: Annotated[_Start, Query(description="The number of the first bucket.")] = 0) -> int:
    return _whole(first, "first", 0, LAST_BUCKET)


async def _count(count: Annotated[_Many, Query(description="How many buckets at most.")] = 1000) -> int:
    return _whole(count, "count", 1, MOST_BUCKETS_TOLD)


Confidence = Annotated[float, Depends(_confidence)]
Fraction = Annotated[float, Depends(_fraction)]
Fractions = Annotated[list[float], Depends(_fractions)]
First = Annotated[int, Depends(_first)]
Count = Annotated[int, Depends(_count)]


def written_float(text: str) -> float | str:
    """A number of JSON that is no whole one: a float if that has the very same value, else the text, to be read later.

    >>> written_float("0.1"), written_float("1e400"), written_float("0.1000000000000000055")
    (0.1, '1e400', '0.1000000000000000055')
    """
    found = float(text) if len(text) <= USUAL else 0.0
    return found if 1e-200 < abs(found) < 1e200 or not re.search("[1-9]", text) else text


def written_int(text: str) -> int | str:
    """A whole number of JSON; the text, if it is too long."""
    return int(text) if len(text) <= MOST_NUMERAL_DIGITS else text


def _real(value: object, name: str, hint: str) -> float:
    try:
        return numerals.real(value)
    except NotANumberError as error:
        raise OptionError(f"{name}={told(value)} {error}.", hint) from None


def _whole(value: object, name: str, least: int, most: int) -> int:
    found = numerals.whole(value) if isinstance(value, str) else value
    return check.whole(value if found is None else found, name, least, most)
