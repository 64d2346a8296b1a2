"""Counting large tables, compared with what the engine needs anyway: ``python -m dawa_bench.sources``.

The yardstick is DuckDB's bare ``GROUP BY`` over the same file with the plain floor expression, which ignores missing
values, values outside, and that a tenth is not a float. The yardstick, counting alone and a whole release are measured
in turns in the same run. The release is made with ``effort="fast"``, because the default's search takes up to a second
for any number of rows. Peak memory is that of a fresh process that goes from the file to a release.

``--csv`` counts a CSV file instead, whose dialect is declared, compared with DuckDB's own read, which sniffs the
dialect. ``--spark`` counts on a local Spark, beside its own ``GROUP BY``, and shows how often Spark's plan reads the
table and moves rows between machines. ``--generated`` counts rows that DuckDB makes up while it counts, which no disk
has to hold. ``--rows`` makes the table smaller or larger.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np

import dawa
from dawa import Axis, sources
from dawa.sources import counting

ROWS = 100_000_000
SPARK_ROWS = 20_000_000
CSV_ROWS = 10_000_000
GENERATED_ROWS = 1_000_000_000
SPARK_MEMORY = "2g"
"""What Spark's driver may hold, which does all the work on one machine."""

AXES = {
    "integers": Axis("income", 0, 500_000),
    "integers by 100": Axis("income", 0, 500_000, 100),
    "floats by 1": Axis("weight", 0, 200),
    "floats by 0.01": Axis("weight", 0, 200, "0.01"),
    "times by the hour": Axis.dates("moment", "2013-01-01", "2014-01-01", "1h"),
}
BARE = {
    "integers": "floor(income / 1)::bigint",
    "integers by 100": "floor(income / 100)::bigint",
    "floats by 1": "floor(weight)::bigint",
    "floats by 0.01": "floor(weight / 0.01::double)::bigint",
    "times by the hour": "floor(date_diff('microsecond', timestamp '2013-01-01', moment) / 3600000000)::bigint",
}
"""The plain expressions. They put some values into wrong cells, and fail on others."""


def write(path: Path, rows: int) -> None:
    """A table of people: integers, floats and times, one value in a hundred missing or outside."""
    with duckdb.connect() as engine:
        engine.execute("set preserve_insertion_order = false")
        engine.execute(
            f"""
            copy (
                select
                    (hash(i) % 8_000_000)::bigint as person,
                    case when i % 200 = 0 then null when i % 200 = 1 then 999_999
                         else (hash(i + 1) % 700 * (hash(i + 2) % 700))::int end as income,
                    case when i % 200 = 2 then null when i % 200 = 3 then 1e9
                         else (hash(i + 3) % 20_000) / 100.0::double end as weight,
                    timestamp '2013-01-01' + to_seconds((hash(i + 4) % 31_536_000)::bigint) as moment
                from range({rows}) as t(i)
            ) to '{path}' (format parquet)
            """  # noqa: S608  our own numbers and a temporary path
        )


def bare(path: Path, name: str) -> Callable[[], object]:
    """DuckDB's own GROUP BY."""

    def action() -> object:
        with duckdb.connect() as engine:
            query = f"select {BARE[name]} as cell, count(*) as records from '{path}' group by cell"  # noqa: S608  ours
            return engine.sql(query).to_arrow_table()

    return action


def in_turns(actions: list[Callable[[], object]], repeats: int) -> list[float]:
    """Median seconds of calls that take turns, so that conditions are the same; the first round is not counted."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats + 1):
        for action, taken in zip(actions, times, strict=True):
            begin = time.perf_counter()
            action()
            taken.append(time.perf_counter() - begin)
    return [float(np.median(taken[1:])) for taken in times]


def _grouped(frame: Any, by: Any) -> object:  # noqa: ANN401  Spark's
    """Counts of a frame that is made anew: Spark keeps what the same one shuffled."""
    return frame.groupBy(by).count().toArrow()


def released(path: Path, axis: Axis) -> dawa.Release:
    """The whole way, from the file to a release. The default effort would search longer, up to a second."""
    return dawa.release(path, axis, epsilon="0.5", effort="fast")


def peak_megabytes(path: Path, name: str, **options: object) -> float:
    """Peak memory of a fresh process, from the file to a release."""
    code = (
        "import dawa, dawa_bench.sources as ours, dawa_bench.speed as speed;"
        f"dawa.release({str(path)!r}, ours.AXES[{name!r}], epsilon='0.5', **{options!r});"
        "print(speed.own_peak())"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    return float(out.stdout)


def on_duckdb(folder: Path, rows: int, repeats: int) -> None:
    """Ratios and peaks for one Parquet file."""
    path = folder / "people.parquet"
    write(path, rows)
    print(f"{rows:,} rows in Parquet, {path.stat().st_size / 1e6:,.0f} MB; medians of {repeats}")
    print(f"{'axis':<18} {'bare':>7} {'counts':>7} {'ratio':>6} {'release':>8} {'ratio':>6} {'peak':>8}")
    for name, axis in AXES.items():
        counting, releasing = partial(sources.counted, path, (axis,)), partial(released, path, axis)
        plain, counted, made = in_turns([bare(path, name), counting, releasing], repeats)
        print(
            f"{name:<18} {plain:6.2f}s {counted:6.2f}s {counted / plain:6.2f} {made:7.2f}s {made / plain:6.2f}"
            f" {peak_megabytes(path, name):5,.0f} MB",
            flush=True,
        )
    begin = time.perf_counter()
    peak = peak_megabytes(path, "integers", unit="person", max_rows_per_unit=3)
    print(f"the same with at most 3 rows per person: {time.perf_counter() - begin:.1f} s, peak {peak:,.0f} MB")


def sniffed(path: Path, name: str) -> Callable[[], object]:
    """DuckDB's own GROUP BY over a CSV file that it sniffs."""

    def action() -> object:
        with duckdb.connect() as engine:
            rows = f"read_csv('{path}')"
            return engine.sql(f"select {BARE[name]} as cell, count(*) as records from {rows} group by cell").fetchall()  # noqa: S608  ours

    return action


def on_csv(folder: Path, rows: int, repeats: int) -> None:
    """Ratios for CSV files: as DuckDB writes them, and with every field in quotes."""
    write(folder / "people.parquet", rows)
    for title, options in (("plain", "header"), ("quoted", "header, force_quote *")):
        path = folder / f"{title}.csv"
        with duckdb.connect() as engine:
            engine.execute(f"copy (from '{folder / 'people.parquet'}') to '{path}' ({options})")
        print(f"{rows:,} rows in CSV, {title}, {path.stat().st_size / 1e6:,.0f} MB; medians of {repeats}")
        print(f"{'axis':<18} {'sniffed':>8} {'counts':>7} {'ratio':>6}")
        for name, axis in AXES.items():
            plain, counted = in_turns([sniffed(path, name), partial(sources.counted, path, (axis,))], repeats)
            print(f"{name:<18} {plain:7.2f}s {counted:6.2f}s {counted / plain:6.2f}", flush=True)


def on_spark(folder: Path, rows: int) -> None:
    """A release of a table in local Spark."""
    from pyspark.sql import SparkSession, functions  # noqa: PLC0415  optional

    path = folder / "people.parquet"
    write(path, rows)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": SPARK_MEMORY,
    }
    builder = SparkSession.builder.master("local[2]").config("spark.local.dir", str(folder))
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    frame = session.read.parquet(str(path))
    print(f"{rows:,} rows in Spark, local, {SPARK_MEMORY} of memory; plan: reads of the table, shuffles of rows")
    print(f"{'axis':<18} {'bare':>7} {'release':>8} {'ratio':>6}  plan")
    try:
        for name, axis in list(AXES.items())[:-1]:
            plain = functions.expr(BARE[name])
            bare, made = in_turns(
                [
                    partial(_grouped, frame, plain),
                    partial(dawa.release, frame, axis, epsilon="0.5", effort="fast"),
                ],
                1,
            )
            print(f"{name:<18} {bare:6.1f}s {made:7.1f}s {made / bare:6.2f}  {spark_plan(frame, axis)}", flush=True)
        begin, axis = time.perf_counter(), AXES["integers"]
        sources.counted(frame, (axis,), unit="person", max_rows_per_unit=3)
        seconds, plan = time.perf_counter() - begin, spark_plan(frame, axis, ("person",))
        counted = dawa.release(frame, axis, epsilon="0.5", effort="fast").total.value
        print(f"integers, at most 3 rows per person: {seconds:.1f} s, {plan}; {counted:,.0f} rows without a unit")
    finally:
        session.stop()


def spark_plan(frame: Any, axis: Axis, unit: tuple[str, ...] = ()) -> str:  # noqa: ANN401  Spark's
    """How often Spark's plan for counting reads the table, and how often it moves rows between machines.

    What is moved last is one row for each cell and machine; with a unit, the rows themselves are moved before that.
    """
    with counting.query(frame, (axis,), unit, 3 if unit else 1) as asked:
        made = frame.sparkSession.sql(str(ibis.to_sql(asked.expression, dialect="pyspark")))
        plan = made._jdf.queryExecution().executedPlan().toString()  # noqa: SLF001  nothing public tells it
    reads, moves = (
        len(re.findall(word, plan)) for word in (r"\bFileScan\b", r"\bExchange (?:hash|range|round|Single)")
    )
    return f"{reads} read{'s' * (reads != 1)}, {moves} shuffle{'s' * (moves != 1)}"


def on_generated(folder: Path, rows: int) -> None:
    """Rows that are never anywhere: a view in a DuckDB file makes them up, and no row reaches Python."""
    path = folder / "generated.duckdb"
    with duckdb.connect(str(path)) as engine:
        income = "(hash(i) % 700 * (hash(i + 1) % 700))::int as income"
        engine.execute(f"create view people as select {income} from range({rows}) as t(i)")  # noqa: S608  ours
    begin = time.perf_counter()
    with duckdb.connect(str(path), read_only=True) as engine:
        engine.sql("select floor(income / 1)::bigint as cell, count(*) from people group by cell").fetchall()
    plain = time.perf_counter() - begin
    begin = time.perf_counter()
    code = (
        "import dawa, dawa_bench.sources as ours, dawa_bench.speed as speed;"
        f"rel = dawa.release(dawa.sources.table({str(path)!r}, 'people'), ours.AXES['integers'], epsilon='0.5');"
        "print(speed.own_peak(), rel.total.value)"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    taken, (peak, total) = time.perf_counter() - begin, map(float, out.stdout.split())
    print(f"{rows:,} rows made up by DuckDB: bare GROUP BY {plain:.1f} s, release {taken:.1f} s,", end=" ")
    print(f"ratio {taken / plain:.2f}, peak {peak:,.0f} MB, {total:,.0f} records counted")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--spark", action="store_true", help="count on a local Spark")
    parser.add_argument("--csv", action="store_true", help="count a CSV file")
    parser.add_argument("--generated", action="store_true", help="count rows that DuckDB makes up")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="dawa-bench-"))
    try:
        if chosen.spark:
            on_spark(folder, chosen.rows or SPARK_ROWS)
        elif chosen.generated:
            on_generated(folder, chosen.rows or GENERATED_ROWS)
        elif chosen.csv:
            on_csv(folder, chosen.rows or CSV_ROWS, chosen.repeats)
        else:
            on_duckdb(folder, chosen.rows or ROWS, chosen.repeats)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
