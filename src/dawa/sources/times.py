"""Columns of dates and times, as microseconds on a line.

Every engine clamps to the bounds before it does arithmetic: some engines have times at infinity. In text, times are
written as in ISO 8601 unless a format is declared; a time in another form is missing.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial

import ibis
import ibis.expr.datatypes as dt

from dawa.axis import DateAxis
from dawa.axis.dates import Run
from dawa.axis.readings import UNITS, at, ticks
from dawa.errors import AxisError
from dawa.limits import MOST_DATE_RUNS
from dawa.sources import casts
from dawa.sources.dialect import Dialect
from dawa.sources.placed import WIDEST, Expression, Placed, between, plus, quotient, searched, whole
from dawa.sources.tables import Column

MICROSECONDS = 6
"""Decimal digits of a second in the borders of cells."""
DAY, SECOND = "____-__-__", "____-__-_____:__:__"
"""The usual forms of dates and times in ISO 8601. Without a pattern, 01/05/20 would be in the year 1."""
ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d?:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|[+-](0\d|1[0-8])(:?[0-5]\d(:[0-5]\d)?)?)?)?$"
"""All forms of dates and times. Without its end, 08:30 PM would be in the morning."""
Outside = tuple[Expression, Expression]
"""Whether a time lies before the axis, and whether after."""
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
        line, outside = _times(value, axis, engine)
    elif column.width is not None:
        line, outside = _ticks(value, column.width, axis)
    elif column.kind.is_date():
        line, outside = _dates(value, axis)
    elif engine == "duckdb" and (column.kind.scale or 0) > MICROSECONDS:
        value = epoch_ns(value)
        line, outside = _ticks(value, 1, axis)
    else:
        line, outside = _times(value, axis, engine)
    return Placed.between(value.notnull(), _cells(line, runs, ticks(axis.stop)), *outside)


def read(text: Expression, serial: Expression | None, zone: str | None, dialect: Dialect, engine: str) -> Expression:
    """Text as times: as clocks show them, or as moments where there is a zone.

    ``serial`` are microseconds since 1970, as clocks show them, where times are not written as text.
    """
    written = _written(text, zone, dialect, engine)
    if serial is None:
        return written
    clock = make_timestamp(serial)
    return ibis.coalesce(clock if zone is None else casts.at_home(clock, zone, engine), written)


def _written(text: Expression, zone: str | None, dialect: Dialect, engine: str) -> Expression:
    """Times in text."""
    if dialect.date_format is not None:
        return _formatted(text, zone, dialect)
    written = iso(text, engine)
    clock = casts.clock(written, engine)
    if zone is None:
        return clock
    return ibis.ifelse(has_offset(written), casts.moment(written, engine), casts.at_home(clock, zone, engine))


def _formatted(text: Expression, zone: str | None, dialect: Dialect) -> Expression:
    """Text in a declared format, which DuckDB reads."""
    written = _if(text.strip(), lambda plain: plain.re_search("[0-9]"))  # DuckDB would read "infinity"
    form = ibis.literal(dialect.date_format)
    if dialect.zoned:
        return try_strptime_zoned(written, form)
    clock = try_strptime(written, form)
    return clock if zone is None else casts.at_home(clock, zone, "duckdb")


def iso(text: Expression, engine: str) -> Expression:
    """Text in the form of ISO 8601; a missing value for other text."""
    if engine == "duckdb":
        usual = text.like(DAY) | text.like(SECOND)
        apart = text.strip().re_replace(r" +([Z+-])", r"\1")
        return ibis.ifelse(usual, text, _if(apart, lambda plain: plain.re_search(ISO)))
    near = casts.bare(text, engine)
    for mark in "Z+-":
        near = near.replace(f" {mark}", mark)
    return _if(near, lambda plain: plain.re_search(ISO))


def has_offset(written: Expression) -> Expression:
    """Whether a time in the form of ISO 8601 says how far from UTC it is."""
    return written.substr(11).re_search("[A-Za-z+-]")


def _if(text: Expression, fits: Callable[[Expression], Expression]) -> Expression:
    """The text if it fits, otherwise a missing value."""
    return ibis.ifelse(fits(text), text, ibis.null("string"))


def _ticks(column: Expression, width: int, axis: DateAxis) -> tuple[Expression, Outside]:
    """Times as multiples of ``width`` nanoseconds: held near the bounds in that unit, and between them on the line."""
    first, beyond = ticks(axis.start) * 1000, ticks(axis.stop) * 1000
    least, most = -(-first // width), (beyond - 1) // width
    below, above = _less(column, least), ~_less(column, most + 1)
    low, high = max(least - 1, 1000 - WIDEST), min(most + 1, WIDEST - 1000)
    held = between(column, whole(low), whole(max(high, low)))
    if width >= 1000:
        line = held * whole(width // 1000)
    else:
        rest = held % whole(1000)
        line = divide(held - ibis.ifelse(rest < whole(0), rest + whole(1000), rest), whole(1000))
    return between(line, whole(first // 1000), whole(beyond // 1000 - 1)), (below, above)


def _less(column: Expression, border: int) -> Expression:
    """Whether a whole number lies below a border, which may lie beyond 64 bits."""
    return column < whole(border) if abs(border) <= WIDEST else ibis.literal(value=border > 0)


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


def _times(column: Expression, axis: DateAxis, engine: str) -> tuple[Expression, Outside]:
    aware, (first, beyond) = axis.zone is not None, (ticks(axis.start), ticks(axis.stop))
    literal = partial(moment, engine=engine, aware=aware)
    scale = column.type().scale
    value = column if (scale or 0) <= MICROSECONDS else cut(column, aware=aware)
    if engine == "duckdb" and scale in COARSE:  # held near the bounds in its own type, which reaches further
        edges = (_clamped(first - UNITS["second"]), _clamped(beyond + UNITS["second"]))
        value = between(column, *(literal(edge).cast(column.type()) for edge in edges)).cast(dt.timestamp)
    outside = value < literal(first), value >= literal(beyond)
    held = between(value, literal(first), literal(beyond - 1))
    origin = literal(0)
    if aware and engine == "postgres":
        held, origin = timezone("UTC", held), ibis.literal("1970-01-01").cast("timestamp")
    return held.delta(origin, unit="microsecond").cast("int64"), outside


def moment(tick: int, engine: str, *, aware: bool) -> Expression:
    """A literal time. In a session set to UTC, Spark reads both kinds in the same way."""
    kind = dt.Timestamp(timezone="UTC") if aware and engine != "pyspark" else dt.timestamp
    text = at(tick, UTC if kind.timezone else None).isoformat(sep=" ")
    return ibis.literal(text).cast(kind)


def _clamped(tick: int) -> int:
    """A moment that Python can write."""
    return min(max(tick, ticks(datetime.min)), ticks(datetime.max))  # noqa: DTZ901  without a zone


def cut(column: Expression, *, aware: bool) -> Expression:
    """Times with their nanoseconds cut off: a cast might round them up."""
    near = column.cast(dt.Timestamp(timezone="UTC" if aware else None, scale=MICROSECONDS))
    return ibis.ifelse(near > column, near - ibis.interval(microseconds=1), near)


def _dates(column: Expression, axis: DateAxis) -> tuple[Expression, Outside]:
    """Dates as their midnights: moved near the bounds as dates, then between the bounds as whole numbers."""
    length, first, beyond = UNITS["day"], ticks(axis.start), ticks(axis.stop)
    least, most = -(-first // length), -(-beyond // length) - 1
    held = between(column, day(least - 1), day(most + 1))
    midnights = held.epoch_days().cast("int64") * whole(length)
    return between(midnights, whole(first), whole(beyond - 1)), (column < day(least), column > day(most))


def day(days: int) -> Expression:
    """A literal date, so many days after 1970 began."""
    earliest = date.min.toordinal() - date(1970, 1, 1).toordinal()
    return ibis.literal(date(1970, 1, 1) + timedelta(days=max(days, earliest)))
