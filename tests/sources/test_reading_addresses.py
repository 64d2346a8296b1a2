"""Addresses are read record by record, and in the same way from every source: as Python reads them one by one."""

import csv
import json
import random
from collections import Counter

import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import Axis, sources
from dawa.axis.addresses import read
from dawa.errors import AxisError
from helpers import workbook
from helpers.binning import everything
from helpers.database_files import sqlite_file
from helpers.examples import examples
from helpers.reading import check_neighbours, outcome
from helpers.writers import WRITERS

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

ZERO = ".".join("0000")
"""The first address, which a linter takes for an open door."""
SPACE = " \t\n\r\v\f"
"""What may stand around an address."""
AXES = (
    Axis.ipv4("x", "10.0.0.0/8", 24, outside="own"),
    Axis.ipv4("x"),
    Axis.ipv4("x", "10.1.2.3/32", outside="own", missing="drop"),
    Axis.ipv4("x", "128.0.0.0/1", 1, outside="drop"),
    Axis.ipv6("x", "2001:db8::/32", 64, outside="own"),
    Axis.ipv6("x", "2001:db8::/47", 49, outside="own"),
    Axis.ipv6("x", "fe00::/7", 60),
    Axis.ipv6("x", "::/66", 128, outside="own"),
)

HOSTILE = [
    *("010.0.0.1", "10.0.0.1.", "10.0.0", "10.0.0.256", "1e1.0.0.1", "10..0.1", "10.0.0.00", "0x0a.0.0.1", "-1.0.0.0"),
    *(" 10.0.0.7 ", "10.0.0.7\n", "\v10.0.0.7\f", "10.0.0.7\x85", "10.0.0.7\u2028", "10.0.0.7\u00a0", "10.0.0.7\nf"),
    *(
        "\u0661\u0660.0.0.1",
        "10.0.0.\uff11",
        "",
        "NA",
        "10.0.0.1/32",
        "10.0.0.1 x",
        "10,0,0,1",
        "167772161",
        "+10.0.0.1",
        "f",
        "v",
    ),
    *("9.255.255.255", "10.0.0.0", "10.1.2.3", "10.255.255.255", "11.0.0.0", "255.255.255.255", ZERO, "256.0.0.0"),
    *("::", "::1", "1::", "::ffff:1.2.3.4", "::ffff:102:304", "fe80::1%eth0", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8"),
    *("1::2::3", ":::", ":", "1:2:3:4:5:6:7:8:", ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8"),
    *("12345::", "g::", "1::g", "::1\n", "::1\u2028", "::f\nv", "::f", "v::", "2001:DB8::1", "2001:0db8:0000::"),
    *("2001:00db8::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "[::1]", "10000::", "::1/128"),
    *("z" * 100_000, ":" * 40, "1:" * 19, "." * 15),
]
group = st.sampled_from(["0", "1", "db8", "2001", "FFFF", "00a", ""]) | st.integers(0, 65535).map("{:x}".format)
texts = (
    st.sampled_from(HOSTILE) | st.lists(group, max_size=9).map(":".join) | st.text("0123456789abf.:/ \n", max_size=18)
)


def expected(axis, values):
    """What Python makes of each value."""
    found = Counter()
    for value in values:
        number = None if value is None else read(value.strip(SPACE), axis.version)
        cell = None if number is None else (number - axis.first) // axis.width
        state = "missing" if cell is None else "below" if cell < 0 else "above" if cell >= axis.size else None
        if state == "missing":
            found[(state,)] += axis.missing == "own"
        elif state and axis.outside != "clip":
            found[(state,)] += axis.outside == "own"
        else:
            found[min(max(cell, 0), axis.size - 1)] += 1
    return {cell: records for cell, records in found.items() if records}


def many(size=1500):
    """Hostile values, and others that are made of the same parts."""
    rng = random.Random(1)  # noqa: S311  made-up addresses
    made = []
    for _ in range(size):
        groups = [rng.choice(["0", "0", "2001", "db8", "FFFF", "00a", f"{rng.randrange(65536):x}"]) for _ in range(8)]
        begin = rng.randrange(9)
        end = min(8, begin + rng.randrange(6))
        made.append(rng.choice([":".join(groups), f"{':'.join(groups[:begin])}::{':'.join(groups[end:])}"]))
        made.append(f"10.{rng.randrange(300)}.{rng.randrange(256)}.{rng.randrange(256)}")
    return [*HOSTILE, None, *made]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_lists_are_read_as_python_reads_them(axis):
    assert everything({"x": many()}, axis) == expected(axis, many())


@pytest.mark.long
@pytest.mark.parametrize("axis", [AXES[0], AXES[4]], ids=str)
@examples(8)
@given(values=st.lists(texts | st.none(), max_size=6), more=texts)
def test_one_record_moves_one_count(axis, values, more):
    fewer = outcome({"x": values}, axis)
    assert fewer[0] == "counted"
    check_neighbours(outcome({"x": [more, *values]}, axis), fewer)
    assert everything({"x": [more, *values]}, axis) == expected(axis, [more, *values])


@pytest.mark.long_but(2)
@pytest.mark.parametrize("axis", [AXES[0], AXES[4]], ids=str)
@pytest.mark.parametrize("kind", WRITERS)
def test_tables_are_read_alike(tmp_path, kind, axis):
    values = many(100)
    assert everything(WRITERS[kind](tmp_path, pa.array(values, pa.string())), axis) == expected(axis, values)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("axis", [AXES[0], AXES[4]], ids=str)
def test_files_are_read_alike(tmp_path, axis):
    values = many(100)
    with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["x"], *([value or ""] for value in values)])
    lines = "".join(json.dumps({"x": value}) + "\n" for value in values)
    (tmp_path / "x.jsonl").write_text(lines, encoding="utf-8")
    wanted = expected(axis, values)
    assert everything(tmp_path / "x.csv", axis) == wanted
    assert everything(tmp_path / "x.jsonl", axis) == wanted
    assert everything(sqlite_file(tmp_path / "x.db", values), axis) == wanted
    plain = [value for value in values if value and value.isascii() and value.isprintable() and len(value) < 99]
    workbook.write(tmp_path / "x.xlsx", [["x"], *([value] for value in plain)])
    assert everything(tmp_path / "x.xlsx", axis) == expected(axis, plain)


@pytest.mark.long_but(2)
@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()], ids=str)
def test_whole_numbers_are_addresses_of_version_4(kind):
    least, most = (
        (0 if str(kind)[0] == "u" else -(2 ** (kind.bit_width - 1))),
        2 ** (kind.bit_width - (str(kind)[0] != "u")) - 1,
    )
    values = [value for value in (least, most, -1, 0, 1, 2**32 - 1, 2**32, 0x0A010203) if least <= value <= most]
    for axis in AXES[:4]:
        texts = [sources_text(value) for value in values]
        assert everything({"x": pa.array([*values, None], kind)}, axis) == expected(axis, [*texts, None])
    with pytest.raises(AxisError, match="IPv6"):
        everything({"x": pa.array(values, kind)}, AXES[4])


def sources_text(value):
    """A whole number as an address is written, if it is one."""
    return ".".join(map(str, value.to_bytes(4, "big"))) if 0 <= value < 2**32 else "none"


def test_columns_of_other_types_are_refused():
    for array in (pa.array([1.5]), pa.array([True]), pa.array([0], pa.timestamp("us"))):
        with pytest.raises(AxisError, match="counts IPv4 addresses"):
            everything({"x": array}, AXES[0])


def test_declared_words_are_missing():
    table = sources.written({"x": [ZERO, "1.0.0.0"]}, missing=[ZERO])
    assert everything(table, AXES[1]) == {1 << 24: 1, ("missing",): 1}


@pytest.mark.long
@pytest.mark.alone
def test_postgres_reads_addresses_alike(postgres):
    values = many(300)
    with psycopg.connect(postgres) as connection:
        connection.execute("drop table if exists addresses, inets, numbers")
        connection.execute("create table addresses (x text)")
        connection.cursor().executemany("insert into addresses values (%s)", [(value,) for value in values])
        connection.execute("create table inets (x inet)")
        inets = [
            "10.1.2.3",
            "10.0.0.0/8",
            "2001:db8::1",
            "::ffff:102:304",
            "::102:304",
            "::1:0",
            "11.0.0.1",
            ZERO,
            None,
        ]
        connection.cursor().executemany("insert into inets values (%s)", [(value,) for value in inets])
        connection.execute("create table numbers (x bigint)")
        numbers = [-(2**63), -1, 0, 2**32 - 1, 2**32, 2**63 - 1, 0x0A010203]
        connection.cursor().executemany("insert into numbers values (%s)", [(value,) for value in numbers])
    for axis in AXES:
        assert everything(sources.table(postgres, "addresses"), axis) == expected(axis, values)
        assert everything(sources.table(postgres, "inets"), axis) == expected(axis, inets)
    for axis in AXES[:4]:
        assert everything(sources.table(postgres, "numbers"), axis) == expected(axis, map(sources_text, numbers))


@pytest.mark.long
@pytest.mark.alone
def test_spark_reads_addresses_alike(spark):
    values = many(300)
    table = spark.createDataFrame([(value,) for value in values], "x string").coalesce(1)
    for axis in AXES[::3]:
        assert everything(table, axis) == expected(axis, values)
    numbers = [-(2**63), -1, 0, 2**32 - 1, 2**32, 2**63 - 1, 0x0A010203]
    table = spark.createDataFrame([(value,) for value in numbers], "x bigint").coalesce(1)
    assert everything(table, AXES[0]) == expected(AXES[0], map(sources_text, numbers))
