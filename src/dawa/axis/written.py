"""How values of an axis are written: for tables, pages, figures and JSON."""

from collections.abc import Sequence
from datetime import datetime, time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.axis.addresses import AddressAxis
from dawa.axis.base import Axis
from dawa.axis.dates import DateAxis
from dawa.axis.numbers import EdgeAxis, NumberAxis
from dawa.axis.ordered import OrderedAxis
from dawa.limits import MOST_CELLS_IN_FLOATS


def written(axis: Axis, lo: ArrayLike, hi: ArrayLike) -> tuple[list[Any], list[Any]]:
    """Ranges of cells as people write them; ``axis.span`` reads the same cells if the borders are exact decimals.

    >>> written(Axis("age", 0, 120), [0, 18], [18, 65])
    ([0, 18], [18, 65])
    >>> written(Axis.ordered("grade", ["A", "B", "C"]), [0], [2])
    (['A'], ['B'])
    """
    last = np.asarray(hi) - 1 if axis.kind == "ordered" else hi
    return _plain(axis, lo), _plain(axis, last)


def series(parts: Sequence[str]) -> str:
    """Names or phrases one after the other, as in a sentence.

    >>> series(["age"]), series(["age", "sex"]), series(["age", "sex", "income"])
    ('age', 'age and sex', 'age, sex and income')
    """
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


YEARS = (1000, 3000)
"""Whole numbers between these are taken for years, which are written without a comma."""


def years(axis: Axis) -> bool:
    """Whether an axis of numbers looks like one of years: whole steps, and bounds that are years of our time.

    >>> years(Axis("born", 1900, 2020)), years(Axis("grams", 0, 2500))
    (True, False)
    """
    if not isinstance(axis, NumberAxis):
        return False
    whole = axis.start.denominator == axis.step.denominator == 1
    return whole and axis.start >= YEARS[0] and axis.stop <= YEARS[1]


def readable(axis: Axis, value: Any) -> str:  # noqa: ANN401  as ``written`` returns it
    """One written value as text for people: thousands of numbers have a comma, except those of years.

    >>> readable(Axis("income", 0, 100_000), 20_000), readable(Axis("born", 1900, 2020), 1950)
    ('20,000', '1950')
    """
    number = isinstance(axis, (NumberAxis, EdgeAxis)) and isinstance(value, (int, float))
    if not number or years(axis):
        return str(value)
    whole, point, rest = str(value).partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.removeprefix("-").isdecimal() and whole != "-0" else str(value)


def borders(axis: Axis, lo: ArrayLike, hi: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same in arrays of the axis' own kind: whole numbers if all its borders are whole, floats, times, categories.

    >>> borders(Axis("age", 0, 120), [0, 18], [18, 65])
    (array([ 0, 18]), array([18, 65]))
    """
    last = np.asarray(hi) - 1 if axis.kind == "ordered" else hi
    return typed(axis, axis.value(lo)), typed(axis, axis.value(last))


def typed(axis: Axis, values: NDArray[Any]) -> NDArray[Any]:
    """Values at the borders of an axis in the narrowest type that suits all borders, whichever these are."""
    if isinstance(axis, OrderedAxis):
        largest = max(abs(int(label)) if not isinstance(label, str) else 0 for label in axis.labels)
        kind = type(axis.labels[0])
        return values if kind is str or largest >= 2**63 else values.astype(kind)
    if isinstance(axis, (DateAxis, AddressAxis)):
        return values
    if isinstance(axis, NumberAxis):
        whole = axis.whole_numbers[2] == 1
    else:
        whole = isinstance(axis, EdgeAxis) and all(cut.denominator == 1 for cut in axis.cuts)
    return values.astype(np.int64) if whole and max(abs(axis.start), abs(axis.stop)) < MOST_CELLS_IN_FLOATS else values


def plain(axis: Axis, value: Any) -> Any:  # noqa: ANN401  the axis' own kind of value
    """One value of an axis as JSON can hold it: times as text, without the time of day on an axis of days.

    >>> plain(Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month"), datetime(2013, 5, 17))
    '2013-05-17'
    """
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(axis, DateAxis):
        return str(found.date() if axis.daily else found)
    return found


def middle(axes: Sequence[Axis]) -> tuple[list[Any], list[Any]]:
    """A range to try: the middle half of every axis."""
    lows, highs = [], []
    for axis in axes:
        quarter = axis.size // 4
        lo, hi = written(axis, [quarter], [max(3 * axis.size // 4, quarter + 1)])
        lows += lo
        highs += hi
    return lows, highs


def _plain(axis: Axis, borders: ArrayLike) -> list[Any]:
    """The values at cell borders: integers if all are whole, dates without a time if all are at midnight."""
    values = axis.value(borders)
    if axis.kind == "dates":
        moments = [value if isinstance(value, datetime) else value.item() for value in values.reshape(-1)]
        midnight = all(moment.timetz() == time() and not moment.fold for moment in moments)
        return [str(moment.date() if midnight else moment) for moment in moments]
    found = values.reshape(-1).tolist()
    whole = axis.kind not in {"ordered", "addresses"} and all(float(value).is_integer() for value in found)
    return [int(value) for value in found] if whole else found
