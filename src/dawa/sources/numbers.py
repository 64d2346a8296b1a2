"""Columns of numbers, on axes with a step and on axes with edges.

Integers and decimals are compared exactly. A float counts as the number that people would write for it: 0.3 is three
tenths. So borders are compared as floats of the column's own type. Text is read as floats, or as decimals where floats
are too coarse for the axis: the axis decides this, not the values in the column.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import ibis
import ibis.expr.datatypes as dt
import numpy as np

from dawa.axis import EdgeAxis, NumberAxis
from dawa.budget import shown
from dawa.errors import AxisError
from dawa.limits import MOST_CELLS_IN_FLOATS, MOST_DIGITS
from dawa.sources import casts
from dawa.sources.dialect import Dialect
from dawa.sources.placed import (
    WIDEST,
    Expression,
    Placed,
    between,
    nearest,
    one_if,
    plus,
    pointed,
    quotient,
    searched,
    whole,
)
from dawa.sources.tables import Column


@ibis.udf.scalar.builtin(name="floor")  # type: ignore[untyped-decorator]
def rounded_down(value) -> dt.Decimal(38, 0):  # type: ignore[no-untyped-def, valid-type]  # noqa: ANN001  of any precision
    """The engine's own: Ibis' floor would put the result back into a type that may be too small for it."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def div(value, by) -> dt.Decimal(None, None):  # type: ignore[no-untyped-def, valid-type]  # noqa: ANN001  of any precision
    """PostgreSQL's own: decimals of any length divided without rounding, towards 0."""


def placed(column: Column, axis: NumberAxis | EdgeAxis, engine: str) -> Placed:
    """A column of numbers on an axis.

    Raises:
        AxisError: If its type cannot tell the cells apart exactly.
    """
    kind, value = column.kind, column.value
    if column.text is not None and engine == "postgres":
        return _unlimited(column.read[0], axis, engine)
    if column.text is not None:
        return _text(axis, *column.read)
    if kind.is_floating():
        return _floats(value, axis, np.dtype(np.float32 if kind.is_float32() else np.float64))
    if kind.is_integer():
        return _scaled(value, axis, Scale(kind, 0, kind.bounds.lower, kind.bounds.upper))
    if kind.precision is None or kind.scale is None or engine == "postgres":  # there, every decimal may be NaN
        return _unlimited(value, axis, engine)
    return _scaled(value, axis, Scale.decimal(kind.precision, kind.scale))


# --- text -----------------------------------------------------------------------------------------------------------


def read(text: Expression, axis: NumberAxis | EdgeAxis, dialect: Dialect, engine: str) -> tuple[Expression, ...]:
    """Text as numbers: as floats and, where floats do not tell the cells apart, as decimals too.

    A value that is not a number is missing, and no other value is affected. PostgreSQL has decimals that are enough.
    """
    plain = pointed(text, dialect)
    number = casts.number(plain, engine)
    if engine == "postgres":
        return (number,)
    try:
        _floats(number, axis, np.dtype(np.float64))
    except AxisError:
        apart = False
    else:
        apart = max(abs(axis.start), abs(axis.stop)) < MOST_CELLS_IN_FLOATS  # no whole number there is rounded
    return (number,) if apart else (number, casts.decimal(plain, _fine(axis).kind, engine))


def _room(axis: NumberAxis | EdgeAxis) -> int:
    """Digits in front of the point."""
    return len(str(math.floor(max(abs(axis.start), abs(axis.stop)))))


def _fine(axis: NumberAxis | EdgeAxis) -> "Scale":
    """The decimals with the most digits after the point that reach beyond an axis, and can be multiplied."""
    factor = len(str(axis.whole_numbers[2])) if isinstance(axis, NumberAxis) else 0
    digits = MOST_DIGITS - 1 - _room(axis) - 2 * factor
    if digits < 0:
        raise AxisError(
            f"The axis {axis.column!r} needs more than the {MOST_DIGITS} digits with which numbers in text are read.",
            "narrow its bounds, or make the step a rounder number.",
        )
    return Scale.decimal(MOST_DIGITS, digits)


def _text(axis: NumberAxis | EdgeAxis, number: Expression, exact: Expression | None = None) -> Placed:
    if exact is None:
        return _floats(number, axis, np.dtype(np.float64))
    inner = _scaled(exact, axis, _fine(axis))
    beyond = nearest(f"1e{_room(axis) + 1}", "float64")  # the decimals end before this
    far = ~number.isnan() & ((number >= beyond) | (number <= -beyond))
    end = ibis.ifelse(number > 0, whole(axis.size - 1), whole(0))
    present = exact.notnull() | (number.notnull() & far)
    below, above = (
        ibis.ifelse(exact.notnull(), near, by_float)
        for (_, near), by_float in zip(inner.beyond, (number < 0, number > 0), strict=True)
    )
    return Placed.between(present, ibis.ifelse(exact.notnull(), inner.cell, end), below, above)


# --- integers and decimals ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """The values of an exact type: whole numbers of a decimal unit, from the least to the most.

    Attributes:
        kind: The type.
        digits: How many digits it has after the point.
        least: The lowest value, in units.
        most: The highest.
    """

    kind: dt.DataType
    digits: int
    least: int
    most: int

    @classmethod
    def decimal(cls, precision: int, digits: int) -> "Scale":
        """Decimals with ``precision`` digits, ``digits`` of them after the point."""
        most = 10**precision - 1
        return cls(dt.Decimal(precision, digits), digits, -most, most)

    @property
    def unit(self) -> int:
        """How many units make 1."""
        return int(10**self.digits)

    def reached(self, bound: Fraction) -> int:
        """The lowest value that is not below a bound, in units."""
        return math.ceil(bound * self.unit)

    def literal(self, units: int) -> Expression:
        """A value of this type."""
        if self.kind.is_integer():
            return ibis.literal(units, self.kind)
        sign, digits = "-" * (units < 0), str(abs(units)).rjust(self.digits + 1, "0")
        text = f"{sign}{digits[: len(digits) - self.digits]}.{digits[len(digits) - self.digits :]}".rstrip(".")
        return ibis.literal(text).cast(self.kind)

    def at_least(self, value: Expression, units: int) -> Expression:
        """Whether a value reaches a border, which may lie beyond the type."""
        if units <= self.least:
            return ibis.literal(value=True)
        return ibis.literal(value=False) if units > self.most else value >= self.literal(units)


def _scaled(column: Expression, axis: NumberAxis | EdgeAxis, scale: Scale) -> Placed:
    first, beyond = scale.reached(axis.start), scale.reached(axis.stop)
    present, outside = column.notnull(), (~scale.at_least(column, first), scale.at_least(column, beyond))
    if isinstance(axis, EdgeAxis):
        reached = [scale.reached(cut) for cut in axis.cuts]
        leaves = [whole(cell) for cell in range(axis.size)]
        cell = searched(lambda i: scale.at_least(column, reached[i]), leaves)
        return Placed.between(present, cell, *outside)
    least, most = max(first, scale.least), min(beyond - 1, scale.most)
    if least > most:  # the type has no value inside
        end = ibis.ifelse(scale.at_least(column, first), whole(axis.size - 1), whole(0))
        return Placed.between(present, end, *outside)
    cell = _steps(_held(column, scale, least, most), axis, scale, least, most)
    if scale.least < first and _cell(axis, Fraction(first, scale.unit)) > 0:
        cell = ibis.ifelse(scale.at_least(column, first), cell, whole(0))
    if scale.most >= beyond and _cell(axis, Fraction(beyond - 1, scale.unit)) < axis.size - 1:
        cell = ibis.ifelse(scale.at_least(column, beyond), whole(axis.size - 1), cell)
    return Placed.between(present, cell, *outside)


def _held(column: Expression, scale: Scale, least: int, most: int) -> Expression:
    """The column with values outside moved to the ends, so that arithmetic cannot overflow."""
    return between(
        column,
        scale.literal(least) if least > scale.least else None,
        scale.literal(most) if most < scale.most else None,
    )


def _steps(value: Expression, axis: NumberAxis, scale: Scale, least: int, most: int) -> Expression:
    """The cell of a value from ``least`` to ``most``: how many whole steps it lies above the start.

    In units in which both start and step are whole numbers, only the whole units in a value matter.
    """
    start, width, unit = axis.whole_numbers
    low, high = (math.floor(Fraction(end * unit, scale.unit)) for end in (least, most))
    if scale.digits and max(abs(low), abs(high)) + abs(start) > WIDEST >= high - low + 1:
        origin = math.floor(Fraction(least, scale.unit))  # counted from near the lowest value that matters
        units = _floored(value - scale.literal(origin * scale.unit), scale, unit, (most - least) // scale.unit + 1)
        start, low, high = start - origin * unit, 0, high - origin * unit
    elif scale.digits:
        units = _floored(value, scale, unit, max(abs(least), abs(most)) // scale.unit + 1)
    elif max(abs(low), abs(high)) + abs(start) <= WIDEST:
        units = value.cast("int64") * whole(unit) if unit > 1 else value.cast("int64")
    elif (high - low) <= WIDEST:  # counted from the lowest value that matters
        units = (value - scale.literal(least)).cast("int64") * whole(unit)
        start, low, high = start - least * unit, 0, high - low
    elif unit == 1 and high - low <= 2 * WIDEST + 1 and width <= WIDEST:
        return _widest(value, axis, scale, least)
    else:
        raise _too_wide(axis)
    if max(abs(low), abs(high)) + abs(start) > WIDEST:
        if unit == 1 and high - low <= 2 * WIDEST + 1 and width <= WIDEST:
            return _widest(value, axis, scale, low)
        raise _too_wide(axis)
    return quotient(plus(units, -start), width, high - start)


def _widest(value: Expression, axis: NumberAxis, scale: Scale, least: int) -> Expression:
    """The cell of a value among up to 2^64 whole numbers from ``least`` on, in steps of at least 2.

    The value less the start may have 65 bits. So both are divided, around the middle of the numbers, and then
    subtracted: with v = a·w + b and s = c·w + e, the whole steps from s to v are a - c, less 1 if b < e. A negative
    number is divided as -1 - n, which never overflows: its quotient is -1 - q, and its remainder w - 1 - r.
    """
    start, width, _ = axis.whole_numbers
    origin = 0
    if least < -WIDEST - 1 or scale.kind.is_decimal() or scale.kind.is_unsigned_integer():
        origin, kind = least + WIDEST + 1, dt.Decimal(MOST_DIGITS, 0)
        exact = rounded_down(value) if scale.digits else value.cast(kind)
        value = exact - ibis.literal(str(origin)).cast(kind)
    number = value.cast("int64")
    turned = number < whole(0)
    upward = ibis.ifelse(turned, whole(-1) - number, number)
    steps = quotient(upward, width, WIDEST)
    rest = upward - steps * whole(width)
    behind, part = divmod(start - origin, width)
    early = ibis.ifelse(turned, whole(width - 1) - rest, rest) < whole(part)
    return plus(ibis.ifelse(turned, whole(-1) - steps, steps) - one_if(early), -behind)


def _too_wide(axis: NumberAxis | EdgeAxis) -> AxisError:
    return AxisError(
        f"The axis {axis.column!r} is wider than whole numbers of 64 bits, in the units of its step.",
        "narrow its bounds, or make the step a rounder number.",
    )


def _floored(value: Expression, scale: Scale, unit: int, most: int) -> Expression:
    """The whole units in a decimal, rounded down; ``most`` bounds its size."""
    if unit == 1:
        return rounded_down(value).cast("int64")
    room = len(str(unit))
    digits = len(str(most)) + room + scale.digits
    if digits + room > MOST_DIGITS:
        raise AxisError(
            f"A decimal with {scale.digits} digits after the point cannot be multiplied exactly by {unit}.",
            "choose a whole step, or cast the column to fewer digits.",
        )
    factor = ibis.literal(str(unit)).cast(dt.Decimal(room, 0))
    return rounded_down(value.cast(dt.Decimal(digits, scale.digits)) * factor).cast("int64")


def _unlimited(column: Expression, axis: NumberAxis | EdgeAxis, engine: str) -> Placed:
    """Decimals of any length, as PostgreSQL has them, with NaN and infinities."""
    number = casts.NUMERIC
    present = column.notnull() & (column != ibis.literal("NaN").cast(number))
    cuts = axis.cuts if isinstance(axis, EdgeAxis) else (axis.start, axis.stop, axis.step)
    unit = math.lcm(*(cut.denominator for cut in cuts))
    ends = (math.floor(axis.start) - 1, math.ceil(axis.stop) + 1)  # so near that the product cannot overflow
    near = between(column.cast(number), *(ibis.literal(str(end)).cast(number) for end in ends))
    units = near * ibis.literal(str(unit)).cast(number) if unit > 1 else near

    def at_least(bound: Fraction) -> Expression:
        return units >= ibis.literal(str(int(bound * unit))).cast(number)

    outside = ~at_least(axis.start), at_least(axis.stop)
    if isinstance(axis, EdgeAxis):
        leaves = [whole(cell) for cell in range(axis.size)]
        return Placed.between(present, searched(lambda i: at_least(axis.cuts[i]), leaves), *outside)
    start, width = int(axis.start * unit), int(axis.step * unit)
    most = start + axis.size * width - 1
    held = between(units, *(ibis.literal(str(end)).cast(number) for end in (start, most)))
    if abs(start) + abs(most) > WIDEST:
        if engine != "postgres":
            raise _too_wide(axis)
        near, each = (ibis.literal(str(end)).cast(number) for end in (start, width))
        return Placed.between(present, div(rounded_down(held) - near, each).cast("int64"), *outside)
    cell = quotient(plus(rounded_down(held).cast("int64"), -start), width, most - start)
    return Placed.between(present, cell, *outside)


def _cell(axis: NumberAxis, value: Fraction) -> int:
    return math.floor((value - axis.start) / axis.step)


# --- floats ---------------------------------------------------------------------------------------------------------


def _floats(column: Expression, axis: NumberAxis | EdgeAxis, kind: np.dtype[np.floating]) -> Placed:
    low, high = (as_float(bound, kind) for bound in (axis.start, axis.stop))
    present = column.notnull() & ~column.isnan()
    outside = column < nearest(low, kind.name), column >= nearest(high, kind.name)
    if isinstance(axis, EdgeAxis):
        cuts = [as_float(cut, kind) for cut in axis.cuts]
        if not np.isfinite(cuts).all() or any(a >= b for a, b in pairwise(cuts)):
            raise _too_fine(axis, kind)
        leaves = [whole(cell) for cell in range(axis.size)]
        cell = searched(lambda i: column >= nearest(cuts[i], kind.name), leaves)
        return Placed.between(present, cell, *outside)
    largest = max(abs(low), abs(high))
    if not np.isfinite(largest) or Fraction(float(np.spacing(largest))) * 3 > axis.step:
        raise _too_fine(axis, kind)
    last = np.nextafter(high, low)
    value = ibis.greatest(ibis.least(column, nearest(last, kind.name)), nearest(low, kind.name))
    return Placed.between(present, _rounded(value, axis, kind), *outside)


def _rounded(value: Expression, axis: NumberAxis, kind: np.dtype[np.floating]) -> Expression:
    """The cell of a float inside the axis.

    Where every border is a float, rounding down finds the cell. Elsewhere division finds the nearest border, and the
    cell begins or ends there. This is right, because floats lie at most a third of a step apart: rounding moves borders
    and start by a third together, and the quotient by another eighth, which is less than half a cell.
    """
    start, width, unit = axis.whole_numbers
    most = max(abs(start), abs(start + axis.size * width))
    wide = value.cast("float64") if kind == np.float32 else value
    if most <= 2 ** (24 if kind == np.float32 else 53) and unit & (unit - 1) == 0:
        scaled = wide * nearest(float(unit), "float64") if unit > 1 else wide
        return quotient(plus(scaled.floor().cast("int64"), -start), width, axis.size * width)
    common = math.gcd(start, width) if most >= 2**53 and unit == 1 else 1
    if most // common >= 2**53 or unit >= 2**53 or common >= 2**53:
        raise _too_fine(axis, kind)
    shifted = (wide - nearest(float(axis.start - axis.step / 2), "float64")) / nearest(float(axis.step), "float64")
    near = shifted.floor().cast("int64")
    units = plus(near * whole(width // common) if width > common else near, start // common).cast("float64")
    border = units * nearest(float(common), "float64") if common > 1 else units / nearest(float(unit), "float64")
    return near - one_if(value < (border.cast(kind.name) if kind == np.float32 else border))


def as_float(bound: Fraction, kind: np.dtype[np.floating]) -> np.floating:
    """The float that is nearest to a number, or an infinity beyond all of them."""
    with np.errstate(over="ignore"):
        try:
            return kind.type(float(bound))
        except OverflowError:
            return kind.type(math.inf if bound > 0 else -math.inf)


def _too_fine(axis: NumberAxis | EdgeAxis, kind: np.dtype[np.floating]) -> AxisError:
    return AxisError(
        f"The column {axis.column!r} holds {kind.name} numbers, which do not tell the cells between"
        f" {shown(axis.start)} and {shown(axis.stop)} apart.",
        "choose a coarser step, or cast the column to float64 or to a decimal type.",
    )
