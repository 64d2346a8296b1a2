"""Engines: how to query one, and the embedded DuckDB for tables that no other engine holds."""

import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import ibis

from dawa.errors import SourceError
from dawa.host import scratch
from dawa.sources import casts
from dawa.sources.dialect import Dialect
from dawa.sources.tables import Column, Source

MEMORY, LEAST = 1 << 30, 1 << 26
"""How many bytes the embedded DuckDB may hold in memory; a table of any size is counted within twice as much."""


def source(
    backend: Any,  # noqa: ANN401  Ibis'
    table: Any,  # noqa: ANN401
    names: tuple[str, ...] | None = None,
    text: Dialect | None = None,
    *,
    alone: bool = False,
) -> Source:
    """A table in an engine, with what Ibis does not say about it, and what somebody declared about its text.

    ``alone`` says that all of it is in the embedded DuckDB, and nothing in Python's memory.
    """
    there = tuple(table.columns) if names is None else names
    aware, huge = _aware(backend, table), _huge(backend, table)

    def column(name: str) -> Column | None:
        if name not in there:
            return None
        value, kind = table[name], table[name].type()
        if name in huge:  # a comparison with a decimal would fail at numbers of 39 digits
            value = value.cast("string").try_cast(kind)
        return Column(value, kind, name in aware, text=text if kind.is_string() else None)

    def fetch(expression: Any) -> Any:  # noqa: ANN401
        if backend.name == "pyspark":
            return backend.raw_sql(backend.compile(expression)).toArrow()
        if backend.name == "duckdb":
            run = partial(_arrow, backend) if alone else backend.to_pyarrow
            return interruptible(partial(run, expression), backend.con.interrupt)
        return backend.to_pyarrow(expression)

    return Source(
        table,
        backend.name,
        column,
        there,
        fetch,
        partial(_check, backend),
        casts=casts.can(backend),
        knows_zone=partial(casts.knows_zone, backend),
    )


def _arrow(backend: Any, expression: Any) -> Any:  # noqa: ANN401
    """What DuckDB finds. Ibis' own way would load pandas, where it is installed, for nothing."""
    return backend.con.sql(backend.compile(expression)).to_arrow_table()


def _check(backend: Any, expression: Any) -> None:  # noqa: ANN401
    """Let an engine refuse an expression; it reads no rows for that, and does not run it if it need not."""
    if backend.name == "pyspark":  # Spark analyses a statement when it is made, and runs it when rows are fetched
        backend.raw_sql(backend.compile(expression))
    elif backend.name == "postgres":  # EXPLAIN checks rights too
        with backend.con.cursor() as cursor:
            cursor.execute(f"explain {backend.compile(expression)}")
    elif backend.name == "duckdb":  # LIMIT 0 would read rows where steps of the optimiser are off
        backend.con.execute(f"explain {backend.compile(expression)}").fetchall()
    else:
        backend.to_pyarrow(expression.limit(0))


def _aware(backend: Any, table: Any) -> set[str]:  # noqa: ANN401
    """The columns of times with a time zone."""
    if backend.name == "pyspark":
        from pyspark.sql.types import TimestampType  # noqa: PLC0415  loaded with the session

        kinds = backend.raw_sql(backend.compile(table)).schema
        return {kind.name for kind in kinds if isinstance(kind.dataType, TimestampType)}
    kinds = table.schema()
    return {name for name in kinds if kinds[name].is_timestamp() and kinds[name].timezone is not None}


def _huge(backend: Any, table: Any) -> set[str]:  # noqa: ANN401
    """The columns of DuckDB's whole numbers of 128 bits, which Ibis takes for decimals of 38 digits."""
    if backend.name != "duckdb" or not any(kind.is_decimal() for kind in table.schema().types):
        return set()
    try:
        described = backend.con.execute(f"describe {backend.compile(table)}").fetchall()
    except Exception:  # noqa: BLE001  DuckDB's own, about an expression over a table that is not there yet
        return set()
    return {name for name, kind, *_ in described if kind == "HUGEINT"}


def memory() -> int:
    """How many bytes the embedded DuckDB may hold: the usual number, or a third of what this process may have."""
    found = [MEMORY * 3]
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  not on Windows

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        found += [] if allowed == resource.RLIM_INFINITY else [allowed]
    groups = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        for kind, path in (line.split(":", 2)[1:] for line in lines):
            here, file = (groups, "memory.max") if not kind else (groups / "memory", "memory.limit_in_bytes")
            if kind in {"", "memory"}:
                found += [_number(folder / file) for folder in (here, here / path.lstrip("/"))]
    return max(LEAST, min(number for number in found if number > 0) // 3)


def _number(file: Path) -> int:
    """The number in a file; 0 if it holds none."""
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0


@contextmanager
def _spill() -> Iterator[Path]:
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch.spill())
        except OSError as error:
            raise SourceError(
                f"No folder for temporary files can be written ({error.strerror}), and the engine needs one.",
                "name one in the environment: TMPDIR=/a/folder; what is put there is removed afterwards.",
            ) from None
        yield folder


@contextmanager
def embedded() -> Iterator[Any]:
    """A separate DuckDB; what does not fit in memory goes to a private folder that is deleted afterwards."""
    with _spill() as folder:
        backend = ibis.duckdb.connect(temp_directory=str(folder), memory_limit=f"{memory() >> 20}MiB")
        try:
            _without_progress(backend.con)
            backend.con.execute("set TimeZone = 'UTC'").fetchall()  # the same on every machine
            yield backend
        finally:
            backend.disconnect()


def _without_progress(connection: Any) -> None:  # noqa: ANN401  DuckDB's own, without types
    """Print no bar among the results. In a notebook without widgets there is none, and switching it off fails."""
    ((shown,),) = connection.execute("select current_setting('enable_progress_bar')").fetchall()
    if shown:
        connection.execute("set enable_progress_bar = false").fetchall()


def interruptible(work: Callable[[], Any], stop: Callable[[], None]) -> Any:  # noqa: ANN401  whatever it gives
    """Let an engine work in another thread, so that Ctrl-C reaches this thread, which stops the engine.

    Inside an engine's own call, an interruption may look like any other error of the engine, or get lost. The engine
    does not begin before somebody waits for it: an interruption while the thread starts would leave it working alone.
    """
    begin, wanted, future = threading.Event(), [True], None

    def begun() -> Any:  # noqa: ANN401  whatever it gives
        begin.wait()
        return work() if wanted else None

    with ThreadPoolExecutor(1) as thread:
        try:
            future = thread.submit(begun)
            begin.set()
            return future.result()
        except (KeyboardInterrupt, SystemExit):
            wanted.clear()
            begin.set()
            if future is not None and not future.done():
                stop()
            raise


@contextmanager
def quietly() -> Iterator[None]:
    """Hide the deprecation warnings that libraries have for each other."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        yield
