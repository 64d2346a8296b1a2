"""Columns of dates and times, as microseconds on a line.

Every engine clamps to the bounds before it does arithmetic: some engines have times at infinity. In text, times are
written as in ISO 8601 unless a format is declared; a time in another form is missing.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import ibis
import ibis.expr.datatypes as dt

from dawa.axis import DateAxis
from dawa.axis.dates import Run
from dawa.axis.readings import UNITS, at, ticks
from dawa.errors import AxisError
from dawa.limits import MOST_DATE_RUNS
from dawa.sources.dialect import Dialect
from dawa.sources.placed import WIDEST, Expression, Placed, between, plus, quotient, searched, whole
from dawa.sources.tables import Column

MICROSECONDS = 6
"""Decimal digits of a second in the borders of cells."""
DAY, SECOND = "____-__-__", "____-__-_____:__:__"
"""The usual forms of dates and times in ISO 8601. Without a pattern, 01/05/20 would be in the year 1."""
ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d?:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|[+-](0\d|1[0-8])(:?[0-5]\d(:[0-5]\d)?)?)?)?$"
"""All forms of dates and times. Without its end, 08:30 PM would be in the morning."""
COARSE = (0, 3)
"""Digits of a second in types that reach further into past and future than microseconds do."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def timezone(zone: dt.string, moment: dt.Timestamp(timezone="UTC")) -> dt.timestamp:  # type: ignore[valid-type]
    """PostgreSQL's own: a plain cast would use the session's time zone."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def try_strptime(text: dt.string, form: dt.string) -> dt.timestamp:
    """DuckDB's own: NULL for text in another format."""


@ibis.udf.scalar.builtin(name="try_strptime")  # type: ignore[untyped-decorator]
def try_strptime_zoned(text: dt.string, form: dt.string) -> dt.Timestamp(timezone="UTC"):  # type: ignore[valid-type]
    """The same for a format with an offset from UTC."""


@ibis.udf.scalar.builtin(name="timezone")  # type: ignore[untyped-decorator]
def in_zone(zone: dt.string, time: dt.timestamp) -> dt.Timestamp(timezone="UTC"):  # type: ignore[valid-type]
    """DuckDB's own: the moment at which clocks in a zone show a time."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def epoch_ns(moment) -> dt.int64:  # type: ignore[no-untyped-def]  # noqa: ANN001  with or without a zone
    """DuckDB's own: nanoseconds since 1970, and NULL at infinity."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def make_timestamp(microseconds: dt.int64) -> dt.timestamp:
    """DuckDB's own: a time from the microseconds since 1970."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def divide(value: dt.int64, by: dt.int64) -> dt.int64:
    """DuckDB's own: whole numbers divided without floats, rounded towards 0."""


def placed(column: Column, axis: DateAxis, engine: str) -> Placed:
    """A column of dates or times on an axis; that both have a zone, or neither, was checked before."""
    runs, value = _runs(axis), column.value
    if column.text is not None:
        (value,) = column.read
        line, inside = _times(value, axis, engine)
    elif column.width is not None:
        line, inside = _ticks(value, column.width, axis)
    elif column.kind.is_date():
        line, inside = _dates(value, axis)
    elif engine == "duckdb" and (column.kind.scale or 0) > MICROSECONDS:
        value = epoch_ns(value)
        line, inside = _ticks(value, 1, axis)
    else:
        line, inside = _times(value, axis, engine)
    counted = value.notnull() & inside if axis.outside == "drop" else value.notnull()
    return Placed(counted, _cells(line, runs, ticks(axis.stop)))


def read(text: Expression, axis: DateAxis, dialect: Dialect, serial: Expression | None = None) -> Expression:
    """Text as times: as clocks show them, or as moments where the axis has a zone.

    ``serial`` are microseconds since 1970, as clocks show them, where times are not written as text.
    """
    written = _written(text, axis, dialect)
    if serial is None:
        return written
    clock = make_timestamp(serial)
    return ibis.coalesce(clock if axis.zone is None else in_zone(ibis.literal(axis.zone), clock), written)


def _written(text: Expression, axis: DateAxis, dialect: Dialect) -> Expression:
    """Times in text."""
    if dialect.date_format is not None:
        written = _if(text.strip(), lambda plain: plain.re_search("[0-9]"))  # DuckDB would read "infinity"
        form = ibis.literal(dialect.date_format)
        if dialect.zoned:
            return try_strptime_zoned(written, form)
        clock = try_strptime(written, form)
        return clock if axis.zone is None else in_zone(ibis.literal(axis.zone), clock)
    usual = text.like(DAY) | text.like(SECOND)
    apart = text.strip().re_replace(r" +([Z+-])", r"\1")
    written = ibis.ifelse(usual, text, _if(apart, lambda plain: plain.re_search(ISO)))
    clock = written.try_cast("timestamp")  # this ignores an offset
    if axis.zone is None:
        return clock
    offset = written.substr(11).re_search("[A-Za-z+-]")
    moment = written.try_cast(dt.Timestamp(timezone="UTC"))
    return ibis.ifelse(offset, moment, in_zone(ibis.literal(axis.zone), clock))


def _if(text: Expression, fits: Callable[[Expression], Expression]) -> Expression:
    """The text if it fits, otherwise a missing value."""
    return ibis.ifelse(fits(text), text, ibis.null("string"))


def _ticks(column: Expression, width: int, axis: DateAxis) -> tuple[Expression, Expression]:
    """Times as multiples of ``width`` nanoseconds: held near the bounds in that unit, and between them on the line."""
    first, beyond = ticks(axis.start) * 1000, ticks(axis.stop) * 1000
    least, most = -(-first // width), (beyond - 1) // width
    inside = (column >= _within(least)) & (column <= _within(most)) if least <= WIDEST else ibis.literal(value=False)
    low, high = max(least - 1, 1000 - WIDEST), min(most + 1, WIDEST - 1000)
    held = between(column, whole(low), whole(max(high, low)))
    if width >= 1000:
        line = held * whole(width // 1000)
    else:
        rest = held % whole(1000)
        line = divide(held - ibis.ifelse(rest < whole(0), rest + whole(1000), rest), whole(1000))
    return between(line, whole(first // 1000), whole(beyond // 1000 - 1)), inside


def _within(value: int) -> Expression:
    """A literal whole number, or the nearest one that fits 64 bits."""
    return whole(min(max(value, -WIDEST), WIDEST))


def _runs(axis: DateAxis) -> list[Run]:
    runs = []
    for run in axis.runs():
        runs.append(run)
        if len(runs) > MOST_DATE_RUNS:
            raise AxisError(
                f"Steps of {axis.step} change their length more than {MOST_DATE_RUNS} times on {axis.column!r}.",
                "narrow its bounds, or use a step in hours.",
            )
    return runs


def _cells(line: Expression, runs: list[Run], beyond: int) -> Expression:
    """The cell of a place on the line."""
    ends = [run.tick for run in runs[1:]] + [beyond]

    def leaf(run: Run, end: int) -> Expression:
        if end - run.tick <= run.width:
            return whole(run.cell)
        return plus(quotient(plus(line, -run.tick), run.width, end - run.tick), run.cell)

    leaves = [leaf(run, end) for run, end in zip(runs, ends, strict=True)]
    return searched(lambda i: line >= whole(runs[i].tick), leaves)


def _times(column: Expression, axis: DateAxis, engine: str) -> tuple[Expression, Expression]:
    aware, (first, beyond) = axis.zone is not None, (ticks(axis.start), ticks(axis.stop))

    def moment(tick: int) -> Expression:
        """A literal. In a session set to UTC, Spark reads both kinds in the same way."""
        kind = dt.Timestamp(timezone="UTC") if aware and engine != "pyspark" else dt.timestamp
        text = at(tick, UTC if kind.timezone else None).isoformat(sep=" ")
        return ibis.literal(text).cast(kind)

    scale = column.type().scale
    value = column if (scale or 0) <= MICROSECONDS else _cut(column, aware=aware)
    if engine == "duckdb" and scale in COARSE:  # held near the bounds in its own type, which reaches further
        edges = (_clamped(first - UNITS["second"]), _clamped(beyond + UNITS["second"]))
        value = between(column, *(moment(edge).cast(column.type()) for edge in edges)).cast(dt.timestamp)
    inside = (value >= moment(first)) & (value < moment(beyond))
    held = between(value, moment(first), moment(beyond - 1))
    origin = moment(0)
    if aware and engine == "postgres":
        held, origin = timezone("UTC", held), ibis.literal("1970-01-01").cast("timestamp")
    return held.delta(origin, unit="microsecond").cast("int64"), inside


def _clamped(tick: int) -> int:
    """A moment that Python can write."""
    return min(max(tick, ticks(datetime.min)), ticks(datetime.max))  # noqa: DTZ901  without a zone


def _cut(column: Expression, *, aware: bool) -> Expression:
    """Times with their nanoseconds cut off: a cast might round them up."""
    near = column.cast(dt.Timestamp(timezone="UTC" if aware else None, scale=MICROSECONDS))
    return ibis.ifelse(near > column, near - ibis.interval(microseconds=1), near)


def _dates(column: Expression, axis: DateAxis) -> tuple[Expression, Expression]:
    """Dates as their midnights: moved near the bounds as dates, then between the bounds as whole numbers."""
    day, first, beyond = UNITS["day"], ticks(axis.start), ticks(axis.stop)
    least, most = -(-first // day), -(-beyond // day) - 1
    held = between(column, _date(least - 1), _date(most + 1))
    midnights = held.epoch_days().cast("int64") * whole(day)
    inside = (column >= _date(least)) & (column <= _date(most))
    return between(midnights, whole(first), whole(beyond - 1)), inside


def _date(days: int) -> Expression:
    earliest = date.min.toordinal() - date(1970, 1, 1).toordinal()
    return ibis.literal(date(1970, 1, 1) + timedelta(days=max(days, earliest)))
