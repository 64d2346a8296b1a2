# ruff: noqa: DTZ001  times without a zone are part of it
"""One table with everything that engines treat differently, and axes to count it along."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np

from dawa import Axis

HOSTILE = 'x"; drop table "people"; --\n`\'ünï${x}%s'
F32 = np.float32

ROWS = {
    "i8": [0, 1, -1, 127, -128, 5, None, 7, 7, 7, 42, 99],
    "i16": [0, 1, -1, 32767, -32768, 5, None, 7, 700, 7, 42, 99],
    "i32": [0, 1, -1, 2**31 - 1, -(2**31), 5, None, 7, 700, 70_000, 42, 99],
    "i64": [0, 1, -1, 2**63 - 1, -(2**63), 5, None, 2**53 + 1, 2**53, 1_700_000_000_000_000_001, 42, 99],
    "f32": [F32(x) for x in (0.1, 0.3, 0.7, np.nan, np.inf, -np.inf, 0.2, 1.0, 0.99999994, -0.0, 3e38)] + [None],
    "f64": [0.1, 0.3, 0.30000000000000004, np.nan, np.inf, -np.inf, 0.29999999999999999, 1.0, -0.0, 1e300, 0.7, None],
    "money": [Decimal(x) for x in ("0.100", "0.300", "-5.125", "99999.999", "0.299", "1.000", "7.005", "7.004")]
    + [None, Decimal("42.420"), Decimal("-0.001"), Decimal("0.999")],
    "long": [Decimal(x) for x in ("0.1", "0.3", "-5.125", "99999999999999999999.5", "0.299999999999999999", "1")]
    + [Decimal(-99999999999999999999), None, Decimal("7.005"), Decimal("7.004999999999999999"), Decimal(42)]
    + [Decimal(9)],
    "plain": [
        datetime(2013, 3, 31, 2, 30), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1),
        datetime(1901, 2, 3, 4, 5, 6), datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), None,
        datetime(2013, 1, 1), datetime(2013, 12, 31, 23, 59, 59, 999999), datetime(2014, 1, 1),
        datetime(2012, 2, 29, 12), datetime(2013, 10, 27, 2, 30, 0, 1),
    ],
    "aware": [
        datetime(2013, 3, 31, 0, 59, 59, 999999, UTC), datetime(2013, 3, 31, 1, 0, tzinfo=UTC),
        datetime(2013, 3, 30, 22, 59, 59, 999999, UTC), datetime(2013, 3, 30, 23, 0, tzinfo=UTC),
        datetime(2013, 3, 31, 22, 0, tzinfo=UTC), datetime(2013, 10, 27, 0, 30, tzinfo=UTC),
        datetime(2013, 10, 27, 1, 30, tzinfo=UTC), datetime(2013, 10, 27, 23, 0, tzinfo=UTC), None,
        datetime(1950, 6, 1, tzinfo=UTC), datetime(2013, 10, 26, 22, 0, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC),
    ],
    "day": [
        date(2013, 1, 1), date(2012, 12, 31), date(1970, 1, 1), date(1969, 12, 31), date(1904, 2, 29), date(1, 1, 1),
        date(9999, 12, 31), None, date(2013, 6, 30), date(2013, 7, 1), date(2014, 1, 1), date(2013, 12, 31),
    ],
    "grade": ["A", "B", "C", None, "", "a", "Ä", "B", "'; --", "A", "A ", "D"],
    "flag": [True, False, None, True, True, False, None, True, False, True, True, True],
    HOSTILE: [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, None, 5],
    "who": ["ann", "bob", "ann", None, "cy", "ann", "", "bob", "ann", "dee", "ann", "bob"],
}  # fmt: skip

KINDS = {
    "i8": ("int8", "smallint", "tinyint"),
    "i16": ("int16", "smallint", "smallint"),
    "i32": ("int32", "integer", "int"),
    "i64": ("int64", "bigint", "bigint"),
    "f32": ("float32", "real", "float"),
    "f64": ("float64", "double precision", "double"),
    "money": ("decimal(12, 3)", "numeric(12, 3)", "decimal(12, 3)"),
    "long": ("decimal(38, 18)", "numeric", "decimal(38, 18)"),
    "plain": ("timestamp", "timestamp", "timestamp_ntz"),
    "aware": ("timestamp('UTC')", "timestamptz", "timestamp"),
    "day": ("date", "date", "date"),
    "grade": ("string", "text", "string"),
    "flag": ("boolean", "boolean", "boolean"),
    HOSTILE: ("int64", "bigint", "bigint"),
    "who": ("string", "text", "string"),
}
"""The column's type for Ibis (and so DuckDB), PostgreSQL and Spark."""

LINES = [
    *(Axis(name, 0, 10, outside=outside) for name in ("i8", "i16", "i32", "i64") for outside in ("clip", "drop")),
    Axis("i8", -200, 300, 5),
    Axis("i8", 1000, 2000),
    Axis("i64", "0.5", "8.5", "0.1", "drop"),
    Axis("i64", "0.05", "0.95", "0.1"),
    Axis("i64", 2**53 - 2, 2**53 + 6),
    Axis("i64", 1_700_000_000_000_000_000, 1_700_000_000_000_000_500, 5, "drop"),
    Axis("i64", -(2**62), 2**62, 2**52),
    *(Axis(name, 0, 1, "0.1", outside) for name in ("f32", "f64", "money", "long") for outside in ("clip", "drop")),
    *(Axis(name, -2, 8, "0.25") for name in ("f32", "f64", "money", "long")),
    *(Axis(name, 0, 49, 7) for name in ("f32", "f64", "money", "long")),
    Axis("money", "7.004", "7.006", "0.001", "drop"),
    Axis("money", 0, 1, "1/3"),
    Axis("long", 0, 9, "9/7"),
    *(Axis.edges(name, ["0", "0.3", "0.7", "1", "50"], outside)
      for name in ("i64", "f32", "f64", "money", "long") for outside in ("clip", "drop")),
    Axis.edges("long", ["-1/3", "1/3", "100"]),
    *(Axis.dates("plain", "2013-01-01", "2014-01-01", step, None, outside)
      for step in ("1h", "1 day", "1 month", "1 quarter", "1 year") for outside in ("clip", "drop")),
    Axis.dates("plain", "1900-01-01", "2014-01-01", "1 day"),
    Axis.dates("plain", "1969-12-31 23:59:59.999", "1970-01-01 00:00:00.001", "1us", None, "drop"),
    *(Axis.dates("aware", "2013-03-30", "2013-10-29", step, zone, outside)
      for step in ("1h", "15 min", "1 day") for zone in ("Europe/Berlin", "UTC", "America/New_York")
      for outside in ("clip", "drop")),
    Axis.dates("aware", "2013-01-01", "2014-01-01", "1 month", "Europe/Berlin"),
    Axis.dates("aware", "1900-01-01", "2100-01-01", "1 year", "Europe/Berlin", "drop"),
    *(Axis.dates("day", "2013-01-01", "2014-01-01", step, None, outside)
      for step in ("12 hours", "1 day", "1 month") for outside in ("clip", "drop")),
    Axis.dates("day", "2013-01-01 06:00", "2013-01-01 18:00", "1 hour"),
    Axis.dates("day", "1900-01-01", "2020-01-01", "1 year"),
    Axis.ordered("grade", ["A", "B", "Ä", "'; --"]),
    Axis.ordered("i64", [5, 42, 2**53 + 1]),
    Axis.ordered("flag", [False, True]),
    Axis(HOSTILE, 0, 10),
]  # fmt: skip

PAIRS = [
    (Axis("i8", 0, 10), Axis("f64", 0, 1, "0.1", "drop")),
    (
        Axis.ordered("grade", ["A", "B", "C"]),
        Axis(HOSTILE, 0, 6),
        Axis.dates("day", "2013-01-01", "2014-01-01", "1 month"),
    ),
]


def columns(axes):
    return [ROWS[axis.column] for axis in axes]
