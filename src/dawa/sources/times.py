"""Columns of dates and times, as microseconds on a line.

Every engine clamps to the bounds before it does arithmetic: some know times at infinity.
"""

from datetime import UTC, date, timedelta

import ibis
import ibis.expr.datatypes as dt

from dawa.axis import DateAxis
from dawa.axis.dates import Run
from dawa.axis.readings import UNITS, at, ticks
from dawa.errors import AxisError
from dawa.sources.placed import Expression, Placed, between, plus, quotient, searched, whole

MOST_RUNS = 4096
"""Engines search among runs of equal cells by comparisons that are written out."""
MICROSECONDS = 6
"""Digits of a second that borders have."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def timezone(zone: dt.string, moment: dt.Timestamp(timezone="UTC")) -> dt.timestamp:  # type: ignore[valid-type]
    """PostgreSQL's own: a plain cast would go by the session's time zone."""


def placed(column: Expression, axis: DateAxis, engine: str) -> Placed:
    """A column of dates or times on an axis; whether both have a zone was checked before."""
    runs = _runs(axis)
    line, inside = _dates(column, axis) if column.type().is_date() else _times(column, axis, engine)
    counted = column.notnull() & inside if axis.outside == "drop" else column.notnull()
    return Placed(counted, _cells(line, runs, ticks(axis.stop)))


def _runs(axis: DateAxis) -> list[Run]:
    runs = []
    for run in axis.runs():
        runs.append(run)
        if len(runs) > MOST_RUNS:
            raise AxisError(
                f"Steps of {axis.step} change their length more than {MOST_RUNS} times on the axis {axis.column!r}.",
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
        """A literal. Spark reads both kinds alike, in a session set to UTC."""
        kind = dt.Timestamp(timezone="UTC") if aware and engine != "pyspark" else dt.timestamp
        text = at(tick, UTC if kind.timezone else None).isoformat(sep=" ")
        return ibis.literal(text).cast(kind)

    value = column if (column.type().scale or 0) <= MICROSECONDS else _cut(column, aware=aware)
    inside = (value >= moment(first)) & (value < moment(beyond))
    held = between(value, moment(first), moment(beyond - 1))
    origin = moment(0)
    if aware and engine == "postgres":
        held, origin = timezone("UTC", held), ibis.literal("1970-01-01").cast("timestamp")
    return held.delta(origin, unit="microsecond").cast("int64"), inside


def _cut(column: Expression, *, aware: bool) -> Expression:
    """Nanoseconds cut off: a cast may round them, and then up."""
    near = column.cast(dt.Timestamp(timezone="UTC" if aware else None, scale=MICROSECONDS))
    return ibis.ifelse(near > column, near - ibis.interval(microseconds=1), near)


def _dates(column: Expression, axis: DateAxis) -> tuple[Expression, Expression]:
    """Dates as their midnights: held near the bounds as dates, and between them as whole numbers."""
    day, first, beyond = UNITS["day"], ticks(axis.start), ticks(axis.stop)
    least, most = -(-first // day), -(-beyond // day) - 1
    held = between(column, _date(least - 1), _date(most + 1))
    midnights = held.epoch_days().cast("int64") * whole(day)
    inside = (column >= _date(least)) & (column <= _date(most))
    return between(midnights, whole(first), whole(beyond - 1)), inside


def _date(days: int) -> Expression:
    earliest = date.min.toordinal() - date(1970, 1, 1).toordinal()
    return ibis.literal(date(1970, 1, 1) + timedelta(days=max(days, earliest)))
