"""Spark data frames and tables, for data that outgrows one machine. Spark counts; only the counts travel."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import ibis

from dawa.axis import Axis
from dawa.errors import SourceError
from dawa.sources import engines
from dawa.sources.tables import Source, Table

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",  # times without a zone are compared with literals as if they had one
    "spark.sql.variable.substitute": "false",  # names and labels are no templates
}
"""What Spark must be told while it counts."""


@contextmanager
def opened(table: Any, axes: tuple[Axis, ...], unit: str | None) -> Iterator[Source]:  # noqa: ANN401, ARG001  Spark's own; one signature for all
    """A Spark data frame, or a table of a Spark session."""
    frame = _read(table) if isinstance(table, Table) else table
    session = getattr(frame, "sparkSession", None)
    if session is None or not hasattr(frame, "createOrReplaceTempView"):
        raise SourceError(
            f"A {type(frame).__name__} of Spark is no table.", "pass a data frame, or sources.table(session, name)."
        )
    view = f"dawa_{uuid4().hex}"
    with settled(session):
        frame.createOrReplaceTempView(view)
        try:
            backend = ibis.pyspark.connect(session)
            yield engines.source(backend, backend.table(view))
        finally:
            session.catalog.dropTempView(view)


@contextmanager
def settled(session: Any) -> Iterator[None]:  # noqa: ANN401
    """A session with the settings that counting needs; they are set back afterwards."""
    before = {name: session.conf.get(name) for name in SETTINGS}
    try:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def _read(table: Table) -> Any:  # noqa: ANN401
    parts = [part for part in (table.schema, table.name) if part is not None]
    try:
        return table.place.table(".".join(f"`{part.replace('`', '``')}`" for part in parts))
    except Exception as error:  # noqa: BLE001  Spark's own, of many kinds
        raise SourceError(
            f"Spark has no table {table.name!r} ({type(error).__name__}).",
            "pass the name that session.catalog.listTables() shows, and its schema apart.",
        ) from None
