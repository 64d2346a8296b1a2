"""Tables that an Ibis engine holds already, and the embedded DuckDB for those that none does."""

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import ibis
import ibis.expr.operations as ops

from dawa.axis import Axis
from dawa.errors import SourceError
from dawa.sources.tables import Column, Source

MEMORY = "1GB"
"""What the embedded DuckDB may hold in memory, so that a table of any size is counted within two of these."""


@contextmanager
def opened(table: Any, axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:  # noqa: ANN401  Ibis is untyped
    """An Ibis table, as it is, in the engine that holds it."""
    if not isinstance(table, ibis.Table):
        raise SourceError(f"A {type(table).__name__} of Ibis is not a table.", "pass a table expression.")
    if isinstance(table.op(), ops.InMemoryTable):
        from dawa.sources import streams  # noqa: PLC0415  imports this module

        with streams.opened(streams.in_memory(table, [*(axis.column for axis in axes), unit]), axes) as found:
            yield found
        return
    if not table.op().find((ops.DatabaseTable, ops.SQLQueryResult, ops.UnboundTable)):
        with embedded() as backend:  # it holds all its rows itself, and checking would convert them
            yield replace(source(backend, table), check=backend.compile)
        return
    try:
        backend = table.get_backend()
    except ibis.common.exceptions.IbisError:
        raise SourceError(
            "The Ibis table has no engine.", "connect first: ibis.duckdb.connect().table(name)."
        ) from None
    if backend.name == "pyspark":
        from dawa.sources import spark  # noqa: PLC0415  imports this module

        with spark.settled(backend._session):  # noqa: SLF001  Ibis has no other name for it
            yield source(backend, table)
    else:
        yield source(backend, table)


def source(backend: Any, table: Any, names: tuple[str, ...] | None = None) -> Source:  # noqa: ANN401
    """A table in an engine, with what Ibis does not tell of it."""
    if backend.name == "pyspark":
        from pyspark.sql.types import TimestampType  # noqa: PLC0415  loaded with the session

        kinds = backend.raw_sql(backend.compile(table)).schema
        aware = {kind.name for kind in kinds if isinstance(kind.dataType, TimestampType)}
    else:
        kinds = table.schema()
        aware = {name for name in kinds if kinds[name].is_timestamp() and kinds[name].timezone is not None}
    there = tuple(table.columns) if names is None else names

    def column(name: str) -> Column | None:
        return Column(table[name], table[name].type(), name in aware) if name in there else None

    def fetch(expression: Any) -> Any:  # noqa: ANN401
        if backend.name == "pyspark":
            return backend.raw_sql(backend.compile(expression)).toArrow()
        if backend.name == "duckdb":
            return interruptible(partial(backend.to_pyarrow, expression), backend.con.interrupt)
        return backend.to_pyarrow(expression)

    def check(expression: Any) -> None:  # noqa: ANN401
        if backend.name == "pyspark":  # it analyses a statement when it is made, and runs it when rows are fetched
            backend.raw_sql(backend.compile(expression))
        elif backend.name == "postgres":  # rights are checked, too
            with backend.con.cursor() as cursor:
                cursor.execute(f"explain {backend.compile(expression)}")
        else:
            backend.to_pyarrow(expression.limit(0))

    return Source(table, backend.name, column, there, fetch, check)


@contextmanager
def embedded() -> Iterator[Any]:
    """A DuckDB of its own; what does not fit in memory goes to a private folder that is deleted afterwards."""
    folder = tempfile.mkdtemp(prefix="dawa-")
    try:
        backend = ibis.duckdb.connect(temp_directory=folder, memory_limit=MEMORY)
        try:
            backend.con.execute("set enable_progress_bar = false").fetchall()  # it would print among the results
            backend.con.execute("set TimeZone = 'UTC'").fetchall()  # the same everywhere, whatever the machine's
            yield backend
        finally:
            backend.disconnect()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def interruptible(work: Callable[[], Any], stop: Callable[[], None]) -> Any:  # noqa: ANN401  whatever it gives
    """Let an engine work in a thread of its own, so that Ctrl-C reaches this one and stops it.

    Inside an engine's own call, an interruption may look like any other of its errors, or get lost.
    """
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(work)
        try:
            return future.result()
        except (KeyboardInterrupt, SystemExit):
            if not future.done():
                stop()
            raise


@contextmanager
def quietly() -> Iterator[None]:
    """Without the warnings that libraries have for each other."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        yield
