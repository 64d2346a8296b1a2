"""Where a record falls: expressions that every engine evaluates for each row, exactly, with the same result.

Whole numbers stay whole. Ibis divides integers through floats, which is exact below 2^53; above that, the remainder is
divided once more, and one correction step makes it exact. A literal float is written as text and read by the engine, so
that it is the nearest float.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ibis

from dawa.axis import Axis, State
from dawa.axis.groups import Grouping
from dawa.sources.dialect import Dialect

WIDEST = 2**63 - 1
"""The largest whole number that every engine adds without overflow."""

Expression = Any
"""An Ibis value; the library is untyped."""


@dataclass(frozen=True)
class Placed:
    """One axis over one column.

    Attributes:
        present: Whether a row has a value that the axis reads; otherwise its value is missing.
        cell: Its cell. A value outside the bounds is moved to the nearer end.
        beyond: For rows with a value: in which ways it lies outside, with the condition for each.
    """

    present: Expression
    cell: Expression
    beyond: tuple[tuple[State, Expression], ...]

    @classmethod
    def between(cls, present: Expression, cell: Expression, below: Expression, above: Expression) -> "Placed":
        """A value on an axis that has two ends."""
        return cls(present, cell, (("below", below), ("above", above)))


def whole(value: int) -> Expression:
    """A literal whole number."""
    return ibis.literal(value, "int64")


def plus(value: Expression, number: int) -> Expression:
    """A sum, or the value itself if the number is 0."""
    return value + whole(number) if number else value


def nearest(value: object, kind: str) -> Expression:
    """A literal float: the float of this kind that is nearest to the written number."""
    return ibis.literal(str(value)).cast(kind)


def one_if(condition: Expression) -> Expression:
    """1 or 0."""
    return ibis.ifelse(condition, whole(1), whole(0))


def between(value: Expression, least: Expression | None, most: Expression | None) -> Expression:
    """The value, moved to the nearer end if it lies outside; None means no end.

    A CASE expression is cheaper than the functions LEAST and GREATEST, except for floats.
    """
    if least is None:
        return value if most is None else ibis.ifelse(value > most, most, value)
    if most is None:
        return ibis.ifelse(value < least, least, value)
    inside = (value >= least) & (value <= most)
    return ibis.ifelse(inside, value, ibis.ifelse(value < least, least, most))


def quotient(numerator: Expression, denominator: int, most: int) -> Expression:
    """A whole number that is not negative divided by another, rounded down; ``most`` is the largest numerator.

    Up to 2^53 the engine's floats are exact. A quotient of floats errs by less than 2^-51 of itself: by less than 1 up
    to 2^51, where one correction step is enough, and by less than 2^11 up to 2^62. The remainder then holds the divisor
    2^11 times at most, so that dividing it errs by less than 1.
    """
    if denominator == 1:
        return numerator
    found = (numerator // whole(denominator)).cast("int64")
    if most < 2**53:
        return found
    found = ibis.least(found, whole(most // denominator))  # so that the product cannot overflow
    if most // denominator >= 2**51:
        near = found + ((numerator - found * whole(denominator)) // whole(denominator)).cast("int64")
        found = ibis.least(near, whole(most // denominator))
    rest = numerator - found * whole(denominator)
    return found + one_if(rest >= whole(denominator)) - one_if(rest < whole(0))


def pointed(text: Expression, dialect: Dialect) -> Expression:
    """Text with the dialect's decimal mark replaced by a point; text with another mark is missing."""
    if dialect.decimal == ".":
        return text
    return ibis.ifelse(text.contains("."), ibis.null("string"), text.replace(dialect.decimal, "."))


def searched(at_least: Callable[[int], Expression], leaves: Sequence[Expression]) -> Expression:
    """The leaf of the last border that a value reaches: ``at_least(i)`` says whether it reaches border ``i``."""

    def among(first: int, last: int) -> Expression:
        if first == last:
            return leaves[first]
        middle = (first + last + 1) // 2
        return ibis.ifelse(at_least(middle), among(middle, last), among(first, middle - 1))

    return among(0, len(leaves) - 1)


# --- a row on all axes ----------------------------------------------------------------------------------------------


class Divided(Protocol):
    """An axis, or a column that puts records into groups."""

    @property
    def size(self) -> int:
        """How many cells it has, or groups."""
        ...

    @property
    def apart(self) -> tuple[State, ...]:
        """The ways of having none that are counted apart."""
        ...


def cell(places: Sequence[Placed], axes: Sequence[Divided]) -> Expression:
    """The number of a row's cell; -1 and below for rows that are counted apart, in the order of ``patterns``."""
    if len(axes) == 1:
        return _on_one(places[0], axes[0])
    number, way, radix = places[0].cell, whole(0), 1
    for place, axis in zip(places[1:], axes[1:], strict=True):
        number = number * whole(axis.size) + place.cell
    for place, axis in zip(reversed(places), reversed(axes), strict=True):
        digit = _way(place, axis, radix)
        way = way if digit is None else way - digit
        radix *= len(axis.apart) + 1
    inside = [condition for place, axis in zip(places, axes, strict=True) for condition in _inside(place, axis)]
    return ibis.ifelse(ibis.and_(*inside), number, way) if inside else number


def group(places: Sequence[Placed], by: Sequence[Grouping]) -> Expression:
    """The number of a row's group; -1 and below for rows in none, in the order of ``patterns``.

    ``places`` are where the row falls among the listed values of each column.
    """
    return cell([_with_other(*pair) if pair[1].other else pair[0] for pair in zip(places, by, strict=True)], by)


def _with_other(place: Placed, grouping: Grouping) -> Placed:
    """The same place, where values that are not listed have a cell of their own, the last one."""
    ((_, unlisted),) = place.beyond
    return Placed(place.present, ibis.ifelse(unlisted, whole(len(grouping.axis.labels)), place.cell), ())


def in_group(places: Sequence[Placed], by: Sequence[Grouping]) -> list[Expression]:
    """The conditions under which a row is in a group."""
    found = [place.present for place in places]
    for place, grouping in zip(places, by, strict=True):
        found += [] if grouping.other else [~unlisted for _, unlisted in place.beyond]
    return found


def with_a_value(place: Placed, axis: Divided) -> Expression:
    """The number of a row's cell on one axis, for rows that have a value; -1 and below if they are counted apart."""
    numbers = {state: whole(-number) for number, state in enumerate(axis.apart, 1)}
    apart = [(condition, numbers[state]) for state, condition in place.beyond if state in numbers]
    return ibis.cases(*apart, else_=place.cell) if apart else place.cell


def kept(places: Sequence[Placed], axes: Sequence[Axis]) -> list[Expression]:
    """The conditions under which a row is counted at all."""
    conditions = []
    for place, axis in zip(places, axes, strict=True):
        if axis.missing == "drop":
            conditions.append(place.present)
        if axis.outside == "drop":
            inside = ~ibis.or_(*(condition for _, condition in place.beyond))
            conditions.append(inside if axis.missing == "drop" else inside | ~place.present)
    return conditions


def _on_one(place: Placed, axis: Divided) -> Expression:
    """On one axis, one step is enough: engines are slow at nested conditions."""
    found = with_a_value(place, axis)
    return ibis.ifelse(place.present, found, whole(-len(axis.apart))) if "missing" in axis.apart else found


def _inside(place: Placed, axis: Divided) -> list[Expression]:
    """The conditions under which a row that is counted has a cell on an axis."""
    beyond = [~condition for state, condition in place.beyond if state in axis.apart]
    return [place.present, *beyond] if "missing" in axis.apart else beyond


def _way(place: Placed, axis: Divided, radix: int) -> Expression | None:
    """In which way a row has no cell on an axis, as a digit of a number: 0 if it has one; None if all rows have one."""
    digits = {state: whole(radix * digit) for digit, state in enumerate(axis.apart, 1)}
    inside = [(condition, digits[state]) for state, condition in place.beyond if state in digits]
    found = ibis.cases(*inside, else_=whole(0)) if inside else whole(0)
    if "missing" in digits:
        return ibis.ifelse(place.present, found, digits["missing"])
    return found if inside else None
