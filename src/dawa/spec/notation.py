"""How people write a range of one axis.

=====================  =================================================================================
``20:60``, ``20..60``  two ends
``60:``, ``60..``      from 60 to the end of the axis
``:15``, ``..15``      from its start up to 15
``*``                  the whole axis
``27``                 one whole number, where every cell is one: 27 up to 28
``Mild``               one category
``2013-01-05``         one day; ``2013-01`` one month; also a year, an hour, a minute or a second, where cells begin
                       and end with it
``10.0.0.0/8``         one network of addresses; or one address
=====================  =================================================================================

``:`` works where it is the only colon, and so never between IPv6 addresses. A category may hold colons, dots, commas or
asterisks, or be empty: a text that is a category means this category, and so does an end. What can still be read in two
ways is refused; in a CSV file of ranges each end has a column of its own, so nothing is ambiguous there.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache

from dawa import numerals
from dawa.axis import AddressAxis, Axis, DateAxis, EdgeAxis, NumberAxis, OrderedAxis
from dawa.axis.written import written
from dawa.budget import shown
from dawa.errors import AxisError, WorkloadError
from dawa.limits import MOST_CUTS_TRIED
from dawa.numerals import NotANumberError, brief, told

Ends = tuple[str, str]
"""Both ends of a range, as ``axis.span`` reads them."""

WHOLE = "*"
SEPARATOR = re.compile(r"(?=(\.\.|:))")
IN_A_FILE = "write the ends into a CSV file of ranges, each in a column of its own, and pass it with --queries."

_PERIOD = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:[ T]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2}))?)?)?)?)?")
_PERIODS = ("year", "month", "day", "hour", "minute", "second")
_LENGTHS = {name: timedelta(**{f"{name}s": 1}) for name in _PERIODS[2:]}


def split(text: str) -> Ends:
    """The two ends of a range, of which none is left out.

    >>> split("20000:60000"), split("-60..0"), split("2013-01-01 08:00..2013-01-02")
    (('20000', '60000'), ('-60', '0'), ('2013-01-01 08:00', '2013-01-02'))

    Raises:
        WorkloadError: If there are not exactly two.
    """
    ends = _cut(text)
    if ends is None or not all(ends):
        raise WorkloadError(f"{told(text)} is not a range.", "write both ends, such as 20000:60000 or 20000..60000.")
    return ends


def ends(text: str, axis: Axis) -> Ends:
    """Both ends of a range, however it is written.

    >>> ends("60:", Axis("age", 0, 120)), ends("27", Axis("age", 0, 120))
    (('60', '120'), ('27', '28'))
    >>> ends("2013-02", Axis.dates("when", "2013-01-01", "2014-01-01"))
    ('2013-02-01', '2013-03-01')
    >>> ends("B", Axis.ordered("grade", ["A", "B", "C"])), ends("..B", Axis.ordered("grade", ["A", "B", "C"]))
    (('B', 'B'), ('A', 'B'))

    Raises:
        WorkloadError: If it is not a range, or can be read in several ways.
        AxisError: If a value alone is none of the axis.
    """
    if isinstance(axis, OrderedAxis):
        return _categories(text, axis)
    if text.strip() == WHOLE:
        return texts(axis, 0, axis.size)
    if isinstance(axis, AddressAxis):
        return _addresses(text.strip(), axis)
    if isinstance(axis, DateAxis) and _PERIOD.fullmatch(text.strip()):
        return _period(text.strip(), axis)
    if isinstance(axis, (NumberAxis, EdgeAxis)) and numerals.numeric(text):
        return _number(text.strip(), axis)
    found = _cut(text)
    if found is None or not any(found):
        raise WorkloadError(f"{told(text)} is not a range.", how(axis))
    return filled(*found, axis)


def filled(lo: str, hi: str, axis: Axis) -> Ends:
    """Both ends, each from a place of its own: an empty one is the axis's, unless it is a category."""
    first, last = texts(axis, 0, axis.size)
    return _end(lo, first, axis), _end(hi, last, axis)


def texts(axis: Axis, lo: int, hi: int) -> Ends:
    """A range of whole cells as its ``span`` reads it, exactly.

    >>> texts(Axis("x", 0, 1, step="1/3"), 1, 3)
    ('1/3', '1')
    """
    if isinstance(axis, NumberAxis):
        return shown(axis.start + lo * axis.step), shown(axis.start + hi * axis.step)
    if isinstance(axis, EdgeAxis):
        return shown(axis.cuts[lo]), shown(axis.cuts[hi])
    (low,), (high,) = written(axis, [lo], [hi])
    return str(low), str(high)


def joined(axis: Axis, lo: int, hi: int) -> list[str]:
    """The same as it can be typed, the shortest first; which of them is read so depends on the categories."""
    low, high = texts(axis, lo, hi)
    ways = [f"{low}{separator}{high}" for separator in (":", "..", " .. ")]
    return ways[1:] if axis.kind in {"dates", "addresses"} and ":" in f"{low}{high}" else ways


def how(axis: Axis) -> str:
    """The hint that says how a range is written."""
    quarter = axis.size // 4
    lo, hi = texts(axis, quarter, max(3 * axis.size // 4, quarter + 1))
    if isinstance(axis, AddressAxis):
        return f"write a network such as {axis.within}, or two ends, such as {lo}..{hi}; {WHOLE} is the whole axis."
    return f"write two ends, such as {brief(lo)}..{brief(hi)}; one may be left out, and {WHOLE} is the whole axis."


def _cut(text: str) -> Ends | None:
    """What stands before and after the separator; None if there is not exactly one that can be meant.

    Raises:
        WorkloadError: If there are several colons and nothing else.
    """
    parts = [part.strip() for part in text.split(".." if ".." in text else ":")]
    if len(parts) > 2 and ".." not in text:
        raise WorkloadError(f"{told(text)} has several colons.", "write two dots between the ends: from..to.")
    if len(parts) != 2 or "..." in text:  # of three dots, the first or the last may belong to a number
        return None
    return parts[0], parts[1]


def _end(text: str, own: str, axis: Axis) -> str:
    """One end: a category if it is one, the axis's own if it is empty, else as it is written."""
    known = _category(text, axis) if isinstance(axis, OrderedAxis) else None
    return known if known is not None else text.strip() or own


# Categories.


@lru_cache(maxsize=16)
def _known(axis: OrderedAxis) -> dict[str, str]:
    """The categories by what is typed for them."""
    if isinstance(axis.labels[0], str):
        return {str(label): str(label) for label in axis.labels}
    return {str(label).lower(): str(label) for label in axis.labels}


def _category(text: str, axis: OrderedAxis) -> str | None:
    """The category that a text names: as it is, or without the space around it."""
    known, bare = _known(axis), text.strip()
    found = known.get(text)
    return found if found is not None else known.get(bare if isinstance(axis.labels[0], str) else bare.lower())


def _categories(text: str, axis: OrderedAxis) -> Ends:
    """Both ends of a range of categories: every separator is tried, because categories may hold it too."""
    alone = _category(text, axis)
    if alone is not None:
        return alone, alone
    if text.strip() == WHOLE:
        return texts(axis, 0, axis.size)
    cuts = [(match.start(), match.end(1)) for match in SEPARATOR.finditer(text)]
    if text.strip() and not cuts:
        axis.border(text.strip())  # the error lists the categories
    if len(cuts) > MOST_CUTS_TRIED:
        raise WorkloadError(f"{told(text)} can be cut at more than {MOST_CUTS_TRIED} places.", IN_A_FILE)
    readings = {filled(text[:begin], text[end:], axis) for begin, end in cuts if _says(text[:begin], text[end:], axis)}
    if len(readings) > 1:
        readings = {(lo, hi) for lo, hi in readings if axis.border(lo) <= axis.border(hi)}
    if len(readings) > 1:
        ways = " or ".join(f"from {told(lo)} to {told(hi)}" for lo, hi in sorted(readings)[:2])
        raise WorkloadError(f"{told(text)} can be read in several ways: {ways}.", IN_A_FILE)
    if readings:
        return readings.pop()
    pair = _cut(text)
    if pair is None or not any(pair):
        raise WorkloadError(f"{told(text)} is not a range.", how(axis))
    return filled(*pair, axis)


def _says(lo: str, hi: str, axis: OrderedAxis) -> bool:
    """Whether two ends are categories, or one is and the other is left out."""
    named = [_category(end, axis) is not None for end in (lo, hi)]
    return any(named) and all(known or not end.strip() for known, end in zip(named, (lo, hi), strict=True))


# Networks, single numbers and periods.


def _addresses(text: str, axis: AddressAxis) -> Ends:
    """A network, an address, or two ends; between IPv6 addresses, which consist of colons, stand two dots."""
    apart = ".." in text or (axis.version == 4 and ":" in text)
    found = _cut(text) if apart else None
    if found is not None and any(found):
        return filled(*found, axis)
    try:
        return axis.ends(text)
    except AxisError as error:
        raise AxisError(error.problem, how(axis)) from None


def _number(text: str, axis: NumberAxis | EdgeAxis) -> Ends:
    """One whole number; an error where a number alone is no range."""
    try:
        value = numerals.exact(text)
    except NotANumberError as error:
        raise AxisError(f"{told(text)} {error}.", how(axis)) from None
    if not axis.start <= value < axis.stop:
        raise AxisError(
            f"{told(text)} lies outside the axis {told(axis.column)}, which ends before {brief(shown(axis.stop))}."
            if value == axis.stop
            else f"{told(text)} lies outside the axis {told(axis.column)}.",
            f"ask between {brief(shown(axis.start))} and {brief(shown(axis.stop))}.",
        )
    cell = int(axis.border(value))
    here = texts(axis, cell, cell + 1)
    if axis.whole and value.denominator == 1:
        return here
    between = f"write two ends, such as {brief(here[0])}..{brief(here[1])}, the cell that holds it."
    if axis.whole:
        raise WorkloadError(f"{told(text)} is one value, and not a whole number.", between)
    raise WorkloadError(
        f"{told(text)} is one value, and a cell of the axis {told(axis.column)} holds more than one.", between
    )


def _period(text: str, axis: DateAxis) -> Ends:
    """One year, month, day, hour, minute or second, if cells begin and end with it."""
    match = _PERIOD.fullmatch(text)
    numbers = [int(group) for group in match.groups() if group is not None] if match else []
    period = _PERIODS[len(numbers) - 1]
    try:
        begins = datetime(*(numbers + [1] * (3 - len(numbers))))  # type: ignore[arg-type]  # noqa: DTZ001  the axis has the zone
        beyond = _following(begins, period)
    except (ValueError, OverflowError):
        raise AxisError(f"{told(text)} is not a {period} of the calendar.", how(axis)) from None
    lo, hi = (str(end if len(numbers) > 3 else end.date()) for end in (begins, beyond))
    start, stop = axis.span(lo, hi)
    if start.denominator == stop.denominator == 1:
        return lo, hi
    cells = texts(axis, start // 1, -(-stop // 1))
    wider = f"are wider than {'an' if period == 'hour' else 'a'} {period}"
    raise WorkloadError(
        f"{told(text)} is one {period}, but the cells of the axis {told(axis.column)}, of {axis.step},"
        f" {wider if stop - start < 1 else 'do not begin and end with it'}.",
        f"write two ends, such as {cells[0]}..{cells[1]}.",
    )


def _following(begins: datetime, period: str) -> datetime:
    """When a period ends."""
    if period == "year":
        return begins.replace(year=begins.year + 1)
    if period == "month":
        return begins.replace(year=begins.year + begins.month // 12, month=begins.month % 12 + 1)
    return begins + _LENGTHS[period]
