"""Text as numbers and times, in engines that give a missing value for what they cannot read.

A cast that fails at one value would let one record stop a run. DuckDB and Spark have casts that do not fail. PostgreSQL
can be asked first, from version 16 on. No other engine is asked to read text: the table is refused before it is paid
for.
"""

from typing import Any

import ibis
import ibis.expr.datatypes as dt

from dawa.errors import SourceError
from dawa.sources.placed import Expression

ENGINES = ("duckdb", "pyspark", "postgres")
"""Engines that can read text."""
SINCE = 160_000
"""The first version of PostgreSQL that says whether a cast would succeed, as its server numbers it."""
NUMERIC = dt.Decimal(None, None)
"""Decimals of any length, which PostgreSQL has."""
DECIMAL = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
"""Numbers as people write them. Engines would read 0x1F, 1_000 and 1.0d each in its own way."""
CLOCK = r"^[-0-9]{10}([T ][0-9:.]+)?"
"""A time in the form of ISO 8601 without its offset."""
AROUND = r"\A[ \t\n\r\x0B\x0C]+|[ \t\n\r\x0B\x0C]+\z"
"""Space around text."""
FAR = r"^\s*[+-]?([iI][nN][fF]|[iI][nN][fF][iI][nN][iI][tT][yY])\s*$"
"""Infinities."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def pg_input_is_valid(text: dt.string, kind: dt.string) -> dt.boolean:
    """PostgreSQL's own: whether text can be cast to a type."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def to_utc_timestamp(clock: dt.timestamp, zone: dt.string) -> dt.timestamp:
    """Spark's own: the moment at which clocks in a zone show a time, in a session set to UTC."""


def bare(text: Expression, engine: str) -> Expression:
    """Text without the space around it: blanks, tabs and line breaks of ASCII.

    Spark reads the two rarest of these, as they are written in a statement, as the letters v and f.
    """
    return text.re_replace(AROUND, "") if engine == "pyspark" else text.strip()


def can(backend: Any) -> bool:  # noqa: ANN401  Ibis'
    """Whether an engine can read text without failing at any of it."""
    if backend.name == "postgres":
        return int(backend.con.info.server_version) >= SINCE
    return backend.name in ENGINES


def refusal(column: str, engine: str) -> SourceError:
    """The error about an engine that cannot."""
    return SourceError(
        f"The column {column!r} holds text, and {engine} cannot read numbers or times from text without failing at"
        " values that are none.",
        "convert the column there, in a view with a declared type; PostgreSQL can from version 16 on, and so can DuckDB"
        " and Spark.",
    )


def number(text: Expression, engine: str) -> Expression:
    """Text as a float, or in PostgreSQL as a decimal of any length."""
    if engine == "postgres":
        fits = text.re_search(DECIMAL) | text.re_search(FAR)
        return _asked(ibis.ifelse(fits, text, ibis.null("string")), "numeric", NUMERIC)
    if engine == "pyspark":
        text = ibis.ifelse(text.re_search(DECIMAL) | text.re_search(FAR), text, ibis.null("string"))
    return text.try_cast("float64")


def decimal(text: Expression, kind: dt.Decimal, engine: str) -> Expression:
    """Text as a decimal with so many digits; a number that does not fit is missing."""
    if engine == "pyspark":
        text = ibis.ifelse(text.re_search(DECIMAL), text, ibis.null("string"))
    return text.try_cast(kind)


def clock(text: Expression, engine: str) -> Expression:
    """Text in the form of ISO 8601 as the time that it shows; an offset is ignored."""
    if engine == "postgres":
        return _asked(text, "timestamp", dt.timestamp)
    if engine == "pyspark":  # it would turn a time with an offset into a moment
        return text.re_extract(CLOCK, 0).try_cast("timestamp")
    return text.try_cast("timestamp")


def moment(text: Expression, engine: str) -> Expression:
    """Text in the form of ISO 8601, with an offset, as a moment."""
    kind = dt.Timestamp(timezone="UTC")
    if engine == "postgres":
        return _asked(text, "timestamptz", kind)
    if engine == "pyspark":  # it reads no offset after a time without seconds
        shown = text.re_extract(CLOCK, 0)
        whole = ibis.ifelse(shown.length() <= len("2013-01-31 14:00"), shown + ":00", shown)
        return (whole + text.substr(shown.length())).try_cast("timestamp")
    return text.try_cast(kind)


@ibis.udf.scalar.builtin(name="timezone")  # type: ignore[untyped-decorator]
def in_zone(zone: dt.string, time: dt.timestamp) -> dt.Timestamp(timezone="UTC"):  # type: ignore[valid-type]
    """DuckDB's and PostgreSQL's own: the moment at which clocks in a zone show a time."""


def at_home(clock: Expression, zone: str, engine: str) -> Expression:
    """The moment at which clocks in a zone show a time."""
    return to_utc_timestamp(clock, zone) if engine == "pyspark" else in_zone(ibis.literal(zone), clock)


def knows_zone(backend: Any, zone: str) -> bool:  # noqa: ANN401  Ibis'
    """Whether an engine knows a zone: it is asked about a time that is in no table."""
    asked = backend.compile(at_home(ibis.literal("2000-01-01").cast("timestamp"), zone, backend.name))
    try:
        if backend.name == "pyspark":
            return bool(backend.raw_sql(asked).collect())
        if backend.name == "duckdb":
            return bool(len(backend.con.sql(asked).to_arrow_table()))
        with backend.con.cursor() as cursor:
            return bool(cursor.execute(asked).fetchall())
    except Exception:  # noqa: BLE001  engines raise errors of their own
        return False


def _asked(text: Expression, name: str, kind: dt.DataType) -> Expression:
    """A cast in PostgreSQL, where it succeeds."""
    return ibis.ifelse(pg_input_is_valid(text, name), text, ibis.null("string")).cast(kind)
