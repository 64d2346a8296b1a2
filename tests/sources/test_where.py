# ruff: noqa: DTZ001  times without a zone are part of it
"""A public condition keeps the records for which it is true, by each record alone, in every engine."""

import csv
import io
import sqlite3
from datetime import date, datetime
from decimal import Decimal
from uuid import uuid4

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from dawa import Axis, sources
from dawa.errors import ConditionError
from dawa.sources import counting
from dawa.sources.where_text import parsed
from helpers.binning import found
from helpers.conditions import as_csv, as_parquet, conditions, holds
from helpers.examples import examples
from helpers.nasty import HOSTILE, KINDS, ROWS
from helpers.reading import X, check_neighbours, outcome

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

LAW = examples(25)

# --- the same rows as by hand ---------------------------------------------------------------------------------------

F32 = np.float32
TEXTS = ["A", "B", "Ä", "O'Hare", "", "NA", None, "a;--", "b"]
NUMBERS = ["5", " 5 ", "0.1", "-0.5", "1e1", "abc", "", "NA", None, "inf", "-inf", "nan", "9007199254740993"]
NUMBERS += ["9007199254740992", "2.5000000000000000000000000000001", "1" + "0" * 20, "1" + "0" * 30, "7.005", "1e400"]
TIMES = ["2013-01-01", "2013-01-01 10:00", "2013-01-01T10:00:00Z", "2013-01-01 10:00:00+05:30", "2013-02-30", None]
TIMES += ["01/05/2013", "", " 2013-01-01 ", "2012-12-31 23:59:59.999999", "NA", "5"]
TRUTH = ["true", "No", " t ", "1", "0", "2", "", None]
POOL = {
    "i8": (pa.int8(), [-128, 127, 0, 5, -5, None], ["number"]),
    "i64": (pa.int64(), [-(2**63), 2**63 - 1, 0, 5, -5, 2**53 + 1, 2**53, None], ["number"]),
    "u64": (pa.uint64(), [0, 5, 2**64 - 1, 2**53 + 1, None], ["number"]),
    "f32": (
        pa.float32(),
        [F32(x) for x in (0.1, 2.5, 5, -0.5, np.nan, np.inf, -np.inf, -0.0, 3e38)] + [None],
        ["number"],
    ),
    "f64": (pa.float64(), [0.1, 2.5, 5.0, 0.30000000000000004, np.nan, np.inf, -np.inf, -0.0, 1e300, None], ["number"]),
    "d": (
        pa.decimal128(12, 3),
        [Decimal(x) for x in ("0.1", "2.5", "7.005", "-0.5", "999999999.999")] + [None],
        ["number"],
    ),
    "day": (
        pa.date32(),
        [date(2013, 1, 1), date(2012, 12, 31), date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), None],
        ["time"],
    ),
    "at": (
        pa.timestamp("us"),
        [
            datetime(2013, 1, 1),
            datetime(2013, 1, 1, 10),
            datetime(2012, 12, 31, 23, 59, 59, 999999),
            datetime(1, 1, 1),
            None,
        ],
        ["time"],
    ),
    "ns": (pa.timestamp("ns"), [datetime(2013, 1, 1), datetime(2013, 1, 1, 10), datetime(1970, 1, 1), None], ["time"]),
    "s": (pa.timestamp("s"), [datetime(2013, 1, 1), datetime(2013, 1, 1, 10), datetime(1970, 1, 1), None], ["time"]),
    "yes": (pa.bool_(), [True, False, None], ["truth"]),
    "word": (pa.string(), TEXTS, ["letter"]),
    "written": (pa.string(), NUMBERS, ["number"]),
    "when": (pa.string(), TIMES, ["time", "moment"]),
    "said": (pa.string(), TRUTH, ["truth"]),
}
TYPED = {name: kinds for name, (_, _, kinds) in POOL.items()}
UNTYPED = {"word": ["letter"], "written": ["number"], "when": ["time", "moment"], "said": ["truth"]}


def table(size, seed=4711):
    """A table with every value of the pool beside others of other columns."""
    rng = np.random.default_rng(seed)
    drawn = {
        name: [values[place] for place in rng.integers(0, len(values), size)] for name, (_, values, _) in POOL.items()
    }
    return {"row": list(range(size)), **drawn}


SIZE = 200
ROWS_BY_HAND = table(SIZE)


def by_hand(node, untyped=(), rows=ROWS_BY_HAND):
    return [
        place
        for place in range(len(rows["row"]))
        if holds(node, {name: values[place] for name, values in rows.items()}, untyped) is True
    ]


def by_engine(source, node, size=SIZE):
    kept = found(source, Axis("row", 0, size), where=str(node))
    assert set(kept.values()) <= {1}
    return sorted(kept)


def arrow(names=tuple(POOL)):
    return pa.table(
        {"row": ROWS_BY_HAND["row"], **{name: pa.array(ROWS_BY_HAND[name], POOL[name][0]) for name in names}}
    )


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """The table in many kinds of tables, by name, each with the columns that are untyped text in it."""
    folder = tmp_path_factory.mktemp("held")
    texts = {name: ROWS_BY_HAND[name] for name in UNTYPED}
    pa.parquet.write_table(arrow(), folder / "x.parquet")
    plain = arrow(("i8", "i64", "f32", "f64", "d", "day", "at", "yes"))
    pa.parquet.write_table(plain, folder / "plain.parquet")
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["row", *texts], *zip(map(str, ROWS_BY_HAND["row"]), *texts.values(), strict=True)])
    (folder / "x.csv").write_text(file.getvalue(), encoding="utf-8")
    with sqlite3.connect(folder / "x.db") as connection:
        connection.execute(f"create table t (row, {', '.join(map(repr, texts))})")
        rows = list(zip(ROWS_BY_HAND["row"], *texts.values(), strict=True))
        connection.executemany("insert into t values (?, ?, ?, ?, ?)", rows)
    connection.close()
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.register("rows_", arrow())
        connection.execute("create table t as select * from rows_")
    return {
        "Arrow": (arrow(), TYPED, ()),
        "Parquet": (folder / "x.parquet", TYPED, ()),
        "plain Parquet": (folder / "plain.parquet", {name: TYPED[name] for name in plain.column_names[1:]}, ()),
        "Polars": (pl.from_arrow(arrow()), TYPED, ()),
        "DuckDB": (str(folder / "x.duckdb") + "#t", TYPED, ()),
        "CSV": (folder / "x.csv", UNTYPED, tuple(UNTYPED)),
        "lists": ({"row": ROWS_BY_HAND["row"], **texts}, UNTYPED, tuple(UNTYPED)),
        "pandas": (
            pd.DataFrame({"row": ROWS_BY_HAND["row"], **{k: pd.Series(v, dtype=object) for k, v in texts.items()}}),
            UNTYPED,
            tuple(UNTYPED),
        ),
        "SQLite": (str(folder / "x.db") + "#t", UNTYPED, tuple(UNTYPED)),
    }


HELD = ("Arrow", "Parquet", "plain Parquet", "Polars", "DuckDB", "CSV", "lists", "pandas", "SQLite")


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", HELD)
def test_rows_are_kept_as_by_hand(held, name):
    source, columns, untyped = held[name]

    @LAW
    @given(conditions(columns))
    def check(node):
        empty = name == "CSV"  # None is written as empty text there
        rows = {k: ["" if value is None else value for value in v] for k, v in ROWS_BY_HAND.items()} if empty else None
        assert by_engine(source, node) == by_hand(node, untyped, rows or ROWS_BY_HAND)

    check()


@pytest.mark.long
def test_every_column_is_compared_by_every_operator(held):
    """What random conditions may miss: all literals with all operators, in one pass for each column."""
    from helpers.conditions import LETTERS, MOMENTS, NUMBERS, OPERATORS, TIMES  # noqa: PLC0415  other names here

    literals = {
        "number": NUMBERS,
        "time": [f"'{time}'" for time in TIMES],
        "moment": [f"'{time}'" for time in MOMENTS],
        "letter": ["'" + word.replace("'", "''") + "'" for word in LETTERS],
        "truth": ["true", "false"],
    }
    source, columns, _ = held["DuckDB"]
    for name, kinds in columns.items():
        asked = [
            f"{name} {sign} {literal}"
            for kind in kinds
            for literal in literals[kind]
            for sign in (OPERATORS[:2] if kind == "truth" else OPERATORS)
        ]
        for one, rows in together(source, asked, SIZE).items():
            assert rows == by_hand(parsed(one).root), one


def together(source, asked, size):
    """The rows that each of several conditions keeps, by a few statements: one has much less to set up than many."""
    axes, kept = (Axis("row", 0, size),), {one: [] for one in asked}
    for first in range(0, len(asked), 12):
        some = asked[first : first + 12]
        with counting.source(source, axes, None) as opened:
            parts = [
                counting.expression(opened, axes, None, 1, where=parsed(one)).mutate(which=i)
                for i, one in enumerate(some)
            ]
            rows = opened.fetch(ibis.union(*parts) if len(parts) > 1 else parts[0]).to_pylist()
        for row in rows:
            assert row["records"] == 1
            kept[some[row["which"]]].append(row["cell"])
    return {one: sorted(rows) for one, rows in kept.items()}


@pytest.mark.long
def test_numbers_are_compared_exactly():
    big = np.array([2**53, 2**53 + 1, 2**53 + 2])
    axis = Axis("row", 0, 3)
    for table_ in (
        {"x": big, "row": np.arange(3)},
        {"x": [str(value) for value in big], "row": np.arange(3)},
        {"x": pa.array([Decimal(int(value)) for value in big], pa.decimal128(38, 0)), "row": np.arange(3)},
    ):
        assert set(found(table_, axis, where=f"x = {2**53 + 1}")) == {1}
        assert set(found(table_, axis, where=f"x > {2**53}.5")) == {1, 2}
        assert set(found(table_, axis, where=f"x != {2**53 + 1}.5")) == {0, 1, 2}
        assert set(found(table_, axis, where=f"not x = {2**53 + 1}.0")) == {0, 2}
        assert set(found(table_, axis, where="x < 1e30")) == {0, 1, 2}
        assert found(table_, axis, where="x < -1e30") == {}
    assert set(found({"x": big, "row": np.arange(3)}, axis, where="x < 1e299")) == {0, 1, 2}
    floats = {"x": np.array([0.1, 0.1 + 2**-55, 0.2]), "row": np.arange(3)}
    assert set(found(floats, axis, where="x = 0.1")) == {0}
    assert set(found(floats, axis, where="x = 0.1000000000000000000001")) == {0}, "the nearest float is the same"
    single = {"x": np.array([0.1, 0.2, np.inf], np.float32), "row": np.arange(3)}
    assert set(found(single, axis, where="x <= 0.1")) == {0}
    assert set(found(single, axis, where="x < 1e299")) == {0, 1}
    text = {"x": ["0.1", "0.10000000000000000000000000001", "1e-1"], "row": np.arange(3)}
    assert set(found(text, axis, where="x = 0.1")) == {0, 2}
    assert set(found(text, axis, where="x > 0.1")) == {1}
    assert set(found(text, axis, where=f"x in (0.1, 1{'0' * 30})")) == {0, 2}, "a list is no coarser than its parts"


def test_words_for_missing_values_are_missing_unless_the_condition_names_them(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("row,x\n0,A\n1,NA\n2,\n3,-99\n4,B\n", encoding="utf-8")
    axis = Axis("row", 0, 5)
    assert set(found(path, axis, where="x != 'A'")) == {3, 4}
    assert set(found(path, axis, where="x = 'NA' or x = ''")) == {1, 2}
    assert set(found(path, axis, where="x not in ('A', 'NA')")) == {3, 4}
    assert set(found(path, axis, where="x is missing")) == {1, 2}
    declared = sources.csv(path, missing=["-99"])
    assert set(found(declared, axis, where="x is missing")) == {2, 3}
    assert set(found(declared, axis, where="x != 'A'")) == {1, 4}
    assert found(declared, axis, where="x < 0") == {}
    typed = pa.table({"row": range(3), "x": ["NA", "", None]})
    assert set(found(typed, Axis("row", 0, 3), where="x is missing")) == {2}, "a declared type has its own"
    assert set(found(sources.written(typed, missing=["NA"]), Axis("row", 0, 3), where="x is missing")) == {0, 1, 2}


def test_dates_in_a_declared_format(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("row;x\n0;31.12.2012\n1;01.01.2013\n2;2013-01-01\n3;02.01.2013\n", encoding="utf-8")
    table_ = sources.csv(path, delimiter=";", date_format="%d.%m.%Y")
    assert set(found(table_, Axis("row", 0, 4), where="x >= '2013-01-01'")) == {1, 3}
    assert set(found(table_, Axis("row", 0, 4), where="x in ('2012-12-31', '2013-01-02')")) == {0, 3}
    with pytest.raises(ConditionError, match="with an offset from UTC"):
        found(table_, Axis("row", 0, 4), where="x >= '2013-01-01 00:00Z'")
    zoned = sources.csv(path, delimiter=";", date_format="%d.%m.%Y %z")
    with pytest.raises(ConditionError, match="without an offset from UTC"):
        found(zoned, Axis("row", 0, 4), where="x >= '2013-01-01'")


def test_the_condition_comes_before_the_cap_of_a_unit():
    """Rows that do not count use up nothing: every unit keeps the one row that does."""
    table_ = {"who": np.repeat(np.arange(50), 20), "x": np.tile(np.arange(20), 50), "y": np.tile(np.arange(20), 50)}
    for _ in range(3):
        assert found(table_, Axis("x", 0, 20), unit="who", where="y = 7") == {7: 50}
    assert sum(found(table_, Axis("x", 0, 20), unit="who", max_rows_per_unit=3, where="y < 2").values()) == 100


# --- the law --------------------------------------------------------------------------------------------------------

MANY = 125_000
HOSTILES = [
    "late",
    "1e999",
    "2013-02-30",
    "",
    "NA",
    "z" * 300_000,
    "-9" * 400,
    "NaN",
    "inf",
    "'",
    "A' or 'a' = 'a",
    "5\0",
]
HOSTILES += [
    "9999-12-31 23:59:59.9999999",
    "0001-01-01",
    "1" * 38,
    "-0.0",
    "true",
    "infinity",
    "1_000",
    "0x1F",
    "5e-324",
]
ASKED = (
    "y >= 2.5",
    "not y < 3",
    "y in (1, 2, 3) or y > 1e30",
    "y > '2013-01-01'",
    "y != 'A'",
    "y = true",
    "not (y = 'A' or y is missing)",
    "y <= '2013-06-01 00:00+01:00' or y is not null",
)


def as_lists(folder, y):  # noqa: ARG001  one signature for all
    return {"x": [5] * len(y), "y": y}


@pytest.mark.long_but(1)
@pytest.mark.parametrize("place", [0, MANY // 2, MANY])
@pytest.mark.parametrize("make", [as_csv, as_parquet, as_lists], ids=["CSV", "Parquet", "lists"])
def test_one_record_more_moves_one_count_whatever_it_holds(tmp_path, make, place):
    """At the front, in the middle, and behind 125,000 rows."""
    y = [str(value) for value in np.random.default_rng(1).integers(0, 10, MANY)]
    for number, asked in enumerate(ASKED):
        fewer = outcome(make(tmp_path, y), X, where=asked)
        assert fewer[0] == "counted"
        more = [*y[:place], HOSTILES[(number * 3 + place) % len(HOSTILES)], *y[place:]]
        check_neighbours(outcome(make(tmp_path, more), X, where=asked), fewer)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("asked", ASKED)
def test_one_record_more_moves_one_count_among_few(tmp_path, asked):
    y = ["1", "3", "2013-06-01", "A", "", "true"]
    fewer = {make: outcome(make(tmp_path, y), X, where=asked) for make in (as_csv, as_parquet, as_lists)}
    for number, hostile in enumerate(HOSTILES):
        make = list(fewer)[number % 3]
        check_neighbours(outcome(make(tmp_path, [*y[:3], hostile, *y[3:]]), X, where=asked), fewer[make])


@pytest.mark.long
@LAW
@given(st.sampled_from(sorted(POOL)), st.data())
def test_typed_values_at_the_ends_of_their_types(name, data):
    kind, values, kinds = POOL[name]
    node = data.draw(conditions({"y": kinds}))
    rows = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=6))

    def table_(some):
        return pa.table({"x": pa.array([5] * len(some)), "y": pa.array(some, kind)})

    check_neighbours(outcome(table_(rows), X, where=str(node)), outcome(table_(rows[1:]), X, where=str(node)))


def test_control_a_condition_by_the_mean_breaks_the_law():
    """The law can fail: keeping what lies above the mean is no rule for one record."""

    def above(y):
        kept = [value for value in y if value > sum(y) / len(y)]
        return outcome({"x": kept}, X)

    with pytest.raises(AssertionError):
        check_neighbours(above([1, 2, 3, 1000]), above([1, 2, 3]))


# --- other engines --------------------------------------------------------------------------------------------------

EVERYWHERE = (
    "i8 >= 5",
    "i16 between -1 and 7.5",
    "i64 = 9007199254740993",
    "not i64 <= 9007199254740992.5",
    "i32 in (0, 5, 70000)",
    "f32 = 0.1",
    "not f32 < 0.3",
    "f64 <= 0.3 or f64 > 1e200",
    "f64 is missing or f32 is missing",
    "money = 7.005",
    "money > 0.2995",
    "not money >= 1",
    "long >= 7.005",
    "long != 0.3",
    "plain >= '2013-01-01'",
    "plain < '1970-01-01' or plain > '2013-12-31 23:59:59.999999'",
    "aware >= '2013-03-31 01:00Z'",
    "aware < '2013-03-31 00:00+02:00'",
    "day > '2012-12-31 12:00'",
    "day in ('2013-01-01', '1904-02-29')",
    "grade = 'A' or grade = '''; --'",
    "grade > 'A'",
    "grade not in ('A', 'a')",
    "grade <= 'B' and grade != ''",
    "flag = true",
    "not flag = true",
    "flag is missing",
    '"' + HOSTILE.replace('"', '""') + '" > 3',
    "not (i8 = 7 or grade = 'B') and who is not missing",
)


def rows_by_hand(asked):
    node = parsed(asked).root
    found_ = []
    for place in range(len(ROWS["i8"])):
        row = {name: values[place] for name, values in ROWS.items()}
        if holds(node, row) is True:
            found_.append(place)
    return found_


@pytest.fixture(scope="module")
def numbered_postgres(postgres):
    """The nasty table with a column of row numbers, on a server that sorts text as people do."""
    names = [sql.Identifier(name) for name in ("row", *ROWS)]
    kinds = [sql.SQL(kind) for kind in ("int", *(kind for _, kind, _ in KINDS.values()))]
    fields = sql.SQL(", ").join(sql.SQL("{} {}").format(*both) for both in zip(names, kinds, strict=True))
    with psycopg.connect(postgres) as connection:
        connection.execute("drop schema if exists filtered cascade")
        connection.execute("create schema filtered")
        connection.execute(sql.SQL("create table filtered.t ({})").format(fields))
        with connection.cursor().copy("copy filtered.t from stdin") as copy:
            for number, row in enumerate(zip(*ROWS.values(), strict=True)):
                copy.write_row([number, *map(_plain, row)])
    return sources.table(postgres, "t", "filtered")


def _plain(value):
    return float(value) if type(value).__name__ == "float32" else value


@pytest.mark.parametrize("asked", EVERYWHERE)
def test_postgres_keeps_the_same_rows(numbered_postgres, asked):
    assert sorted(found(numbered_postgres, Axis("row", 0, 12), where=asked)) == rows_by_hand(asked)


@pytest.mark.long
def test_spark_keeps_the_same_rows(spark):
    from pyspark.sql.types import DataType, IntegerType, StructType  # noqa: PLC0415  slow to load

    schema = StructType().add("row", IntegerType())
    for name, (_, _, kind) in KINDS.items():
        schema = schema.add(name, DataType.fromDDL(kind))
    rows = [(number, *map(_plain, row)) for number, row in enumerate(zip(*ROWS.values(), strict=True))]
    frame = spark.createDataFrame(rows, schema).coalesce(1).cache()
    for asked, kept in together(frame, EVERYWHERE, 12).items():
        assert kept == rows_by_hand(asked), asked


def test_nothing_that_is_written_reaches_an_engine_as_text(tmp_path, postgres):
    """Quotes, comments and statements inside literals and names are only ever compared."""
    attacks = ["'; drop table t; --", '"; drop table t; --', "\\'; --", "$$; select 1; $$", "%s ${x} {}", "/*", "\\"]
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t (x int, word varchar)")
        connection.executemany("insert into t values (?, ?)", list(enumerate(attacks)))
    name = f"t_{uuid4().hex[:8]}"
    with psycopg.connect(postgres) as connection:
        connection.execute(f"create table {name} (x int, word text)")
        connection.cursor().executemany(f"insert into {name} values (%s, %s)", list(enumerate(attacks)))  # noqa: S608  our own name
    for table_ in (f"{path}#t", sources.table(postgres, name), {"x": list(range(len(attacks))), "word": attacks}):
        for number, attack in enumerate(attacks):
            literal = "'" + attack.replace("'", "''") + "'"
            assert found(table_, X, where=f"word = {literal}") == {number: 1}
            quoted = '"' + attack.replace('"', '""') + '"'
            assert outcome(table_, X, where=f"{quoted} = 1")[:2] == ("opening", "AxisError")
