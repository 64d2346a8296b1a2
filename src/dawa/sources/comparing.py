"""A column's values compared with a bound, exactly, by an expression that fails at no value.

A bound that no value of the column's type can be equal to is compared all the same: 0.5 lies between 0 and 1 for whole
numbers, and noon after a date and before the next one.
"""

import math
import operator as operators
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from fractions import Fraction
from functools import cache
from typing import Any, cast

import ibis
import ibis.expr.datatypes as dt
import numpy as np

from dawa.axis.readings import UNITS, ticks
from dawa.errors import ConditionError
from dawa.limits import MOST_DIGITS
from dawa.sources import casts, columns, numbers, times
from dawa.sources.dialect import Dialect
from dawa.sources.numbers import Scale
from dawa.sources.placed import WIDEST, Expression, nearest, pointed
from dawa.sources.tables import Column, Source
from dawa.sources.where import Literal, Text

Compared = Callable[[str, Fraction], Expression]
"""Compares a column's values with a bound, by an operator; times are nanoseconds since 1970."""
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
EQUAL = ("=", "!=")
TIME = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?"
"""Text of this form in a condition is a date or a time."""
DAY, TICK = UNITS["day"] * 1000, 1000
"""Nanoseconds of a day and of a microsecond."""


# --- numbers --------------------------------------------------------------------------------------------------------


def _in_units(present: Expression, at_least: Callable[[int], Expression], unit: Fraction = Fraction(1)) -> Compared:
    """Comparisons of whole numbers of a unit, from whether a value reaches one of them."""

    def compare(sign: str, bound: Fraction) -> Expression:
        units = bound / unit
        reached, passed = math.ceil(units), math.floor(units) + 1
        if sign in EQUAL and units.denominator > 1:  # no value is equal to it
            return present if sign == "!=" else present & ibis.literal(value=False)
        if sign == "=":
            return present & at_least(reached) & ~at_least(passed)
        if sign == "!=":
            return present & (~at_least(reached) | at_least(passed))
        border = at_least(reached if sign in {">=", "<"} else passed)
        return present & (border if sign in {">", ">="} else ~border)

    return compare


def _directly(present: Expression, value: Expression, literal: Callable[[Fraction], Expression]) -> Compared:
    """Comparisons with literals in the type of the values."""
    return lambda sign, bound: present & OPERATORS[sign](value, literal(bound))


def of_numbers(column: Column, source: Source, name: str) -> Compared:  # noqa: ARG001  one signature for all
    """Whole numbers and decimals exactly; floats with the float that is nearest to the bound."""
    kind, value = column.kind, column.value
    if kind.is_floating():
        width: np.dtype[np.floating] = np.dtype(np.float32 if kind.is_float32() else np.float64)
        present = value.notnull() & ~value.isnan()
        return _directly(present, value, lambda bound: nearest(numbers.as_float(bound, width), width.name))
    if kind.is_integer():
        scale = Scale(kind, 0, kind.bounds.lower, kind.bounds.upper)
    elif kind.precision is None or kind.scale is None or source.engine == "postgres":
        return _unlimited(value)
    else:
        scale = Scale.decimal(kind.precision, kind.scale)
    return _in_units(value.notnull(), lambda units: scale.at_least(value, units), Fraction(1, scale.unit))


def _unlimited(value: Expression) -> Compared:
    """Decimals of any length."""
    present = value.notnull() & (value != ibis.literal("NaN").cast(casts.NUMERIC))
    return _directly(present, value, lambda bound: ibis.literal(_decimal(bound)).cast(casts.NUMERIC))


def _decimal(bound: Fraction) -> str:
    """A decimal number, written out in full."""
    digits = _digits(bound)
    whole = str(abs(bound.numerator) * 10**digits // bound.denominator).rjust(digits + 1, "0")
    return "-" * (bound < 0) + whole[: len(whole) - digits] + "." * bool(digits) + whole[len(whole) - digits :]


def _digits(bound: Fraction) -> int:
    """Digits after the point."""
    digits = 0
    while 10**digits % bound.denominator:
        digits += 1
    return digits


def of_text_as_numbers(column: Column, source: Source, name: str) -> Compared:
    """Text as numbers, with as many digits as there are; numbers too large for them are read as floats.

    How many digits stand after the point depends on how many the bound has before it, and on no other bound.
    """
    dialect = column.text or Dialect()
    columns.check_casts(source, name, dialect, times=False)
    plain = pointed(columns.without_words(column.value, dialect), dialect)
    number = casts.number(plain, source.engine)
    if source.engine == "postgres":
        return _unlimited(number)

    @cache
    def read(room: int) -> Compared:
        scale = Scale.decimal(MOST_DIGITS, MOST_DIGITS - 1 - room)
        exact = casts.decimal(plain, cast("dt.Decimal", scale.kind), source.engine)
        beyond = nearest(f"1e{room + 1}", "float64")  # the decimals end before this
        far = number.notnull() & ~number.isnan() & ((number >= beyond) | (number <= -beyond))

        def at_least(units: int) -> Expression:
            return ibis.ifelse(exact.notnull(), scale.at_least(exact, units), number > nearest(0.0, "float64"))

        return _in_units(exact.notnull() | far, at_least, Fraction(1, scale.unit))

    def compare(sign: str, bound: Fraction) -> Expression:
        room = len(str(math.floor(abs(bound))))
        if room + _digits(bound) >= MOST_DIGITS:
            raise ConditionError(
                f"The condition compares {name!r}, which is text, with a number of more than {MOST_DIGITS - 1} digits.",
                "write fewer digits.",
            )
        return read(room)(sign, bound)

    return compare


# --- times ----------------------------------------------------------------------------------------------------------


def is_time(literal: Literal) -> bool:
    """Whether a literal has the form of a date or a time."""
    return isinstance(literal, Text) and re.fullmatch(TIME, literal.value, re.ASCII) is not None


def moment(literal: Text, name: str) -> datetime:
    """The date or time that a literal stands for.

    Raises:
        ConditionError: If there is none.
    """
    problem = f"The condition compares {name!r} with {literal}, which is neither a date nor a time."
    if is_time(literal):
        try:
            found = datetime.fromisoformat(literal.value.replace(" Z", "Z").replace(" +", "+").replace(" -", "-"))
            ticks(found)  # a time near the end of the calendar may have no moment
        except (ValueError, OverflowError):
            pass
        else:
            return found
    raise ConditionError(problem, "write one that exists, such as '2013-01-31', '2013-01-31 14:00' or with +01:00.")


def aware(moments: Iterable[datetime]) -> bool:
    """Whether times say how far from UTC they are: all of them, or none.

    Raises:
        ConditionError: If some do.
    """
    found = {moment.tzinfo is not None for moment in moments}
    if len(found) > 1:
        raise ConditionError(
            "A list in the condition has times with and without an offset from UTC.", "write all of them alike."
        )
    return found.pop()


def _zones(name: str, holds: str, *, aware: bool) -> ConditionError:
    return ConditionError(
        f"The column {name!r} holds {holds}, but the condition compares it with a time"
        f" {'with' if aware else 'without'} an offset from UTC.",
        "leave the offset out." if aware else "say which moment is meant: '2013-01-31 00:00+01:00', or …Z for UTC.",
    )


def of_times(column: Column, source: Source, name: str, *, aware: bool) -> Compared:
    """Dates and times as the whole numbers of their unit, in their own type."""
    value, kind = column.value, column.kind
    if column.aware != aware:
        raise _zones(name, columns.in_words(column), aware=aware)
    if column.width is not None:
        return _ticks(value, column.width)
    if kind.is_date():
        return _dates(value)
    if source.engine == "duckdb" and (kind.scale or 0) > times.MICROSECONDS:
        return _ticks(times.epoch_ns(value), 1)
    if source.engine == "duckdb" and kind.scale in times.COARSE:
        return _moments(value, source, 10 ** (9 - kind.scale), aware=aware)
    if (kind.scale or 0) > times.MICROSECONDS:
        value = times.cut(value, aware=aware)
    return _moments(value, source, TICK, aware=aware)


def _ticks(value: Expression, width: int) -> Compared:
    scale = Scale(dt.int64, 0, -WIDEST - 1, WIDEST)
    return _in_units(value.notnull(), lambda units: scale.at_least(value, units), Fraction(width))


def _dates(value: Expression) -> Compared:
    last = ticks(datetime.max) // UNITS["day"]  # noqa: DTZ901  in no zone

    def at_least(days: int) -> Expression:
        return value > times.day(last) if days > last else value >= times.day(days)

    return _in_units(value.notnull(), at_least, Fraction(DAY))


def _moments(value: Expression, source: Source, width: int, *, aware: bool) -> Compared:
    last = ticks(datetime.max) * TICK // width  # noqa: DTZ901  in no zone

    def at_least(units: int) -> Expression:
        border = times.moment(min(units, last) * width // TICK, source.engine, aware=aware)
        if width > TICK:
            border = border.cast(value.type())
        return value > border if units > last else value >= border

    return _in_units(value.notnull(), at_least, Fraction(width))


def of_text_as_times(column: Column, source: Source, name: str, *, aware: bool) -> Compared:
    """Text as times: as clocks show them, or as moments where the text says how far from UTC it is.

    Numbers of days do not say that, so they are times as clocks show them only.
    """
    dialect = column.text or Dialect()
    columns.check_casts(source, name, dialect, times=True)
    if dialect.date_format is not None and dialect.zoned != aware:
        raise _zones(name, f"times in the format {dialect.date_format!r}", aware=aware)
    text, serial = columns.dates(column.value, dialect, column.dated)
    if aware and dialect.date_format is None:
        written = times.iso(text, source.engine)
        value = casts.moment(ibis.ifelse(times.has_offset(written), written, ibis.null("string")), source.engine)
    else:
        value = times.read(text, None if aware else serial, None, dialect, source.engine)
    return _moments(value, source, TICK, aware=aware)
