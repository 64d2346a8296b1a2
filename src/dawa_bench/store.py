"""The results of an experiment, in a folder: one line for each result, appended whole.

So an interruption costs no more than the runs that were under way.

``records.csv`` is written while an experiment runs. A killed process may leave a line without its end; this line is cut
off when the file is next opened. ``records.parquet`` holds the same once all is done. ``run.json`` says on which
machine, with which versions and which settings the experiment ran.
"""

import csv
import io
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from dawa.errors import FolderError
from dawa.host import atomic
from dawa_bench.experiments import COLUMNS, KEYS, VALUES, Measured, Record, Task

try:
    import fcntl
except ImportError:  # Windows: one process at a time
    fcntl = None  # type: ignore[assignment]

LINES, TABLE, RUN = "records.csv", "records.parquet", "run.json"
WHOLE = {"buckets"}
LIBRARIES = ("numpy", "scipy", "joblib")


def opened(folder: Path) -> int:
    """A file descriptor to append records; the folder, the file and its heading are made if they are not there.

    Raises:
        FolderError: If the folder cannot be written, or the file does not hold records.
    """
    path = folder / LINES
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        with _alone(found):
            _mend(found)
            if os.fstat(found).st_size == 0:
                _write(found, _line(COLUMNS))
    except OSError as error:
        raise FolderError(f"{folder} cannot be written: {error.strerror}.", "name another folder with --out.") from None
    return found


def append(descriptor: int, record: Record) -> None:
    """Add one record, in one piece."""
    row = [getattr(record.task, name) for name in KEYS]
    row += [getattr(record.measured, name) for name in VALUES]
    with _alone(descriptor):
        _write(descriptor, _line([*row, record.version]))


def records(folder: Path) -> list[Record]:
    """All records of a folder, in the order of their keys; if a task is there twice, its first record.

    Raises:
        FolderError: If the file does not hold records.
    """
    path = folder / LINES
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
    if rows.fieldnames is not None and tuple(rows.fieldnames) != COLUMNS:
        raise FolderError(f"{path} does not have the columns of results.", "name another folder with --out.")
    found: dict[tuple[Task, str], Record] = {}
    try:
        for row in rows:
            record = _record(row)
            found.setdefault((record.task, record.version), record)
    except (ValueError, TypeError):
        raise FolderError(f"{path} is damaged.", "remove it and run the experiment again.") from None
    return sorted(found.values(), key=lambda record: record.task)


def finish(folder: Path, kept: Iterable[Record]) -> None:
    """Write the records as Parquet."""
    import pyarrow as pa  # noqa: PLC0415  slow to load
    from pyarrow import parquet  # noqa: PLC0415  slow to load

    listed = list(kept)
    columns: dict[str, list[Any]] = {name: [getattr(record.task, name) for record in listed] for name in KEYS}
    columns |= {name: [getattr(record.measured, name) for record in listed] for name in VALUES}
    columns["version"] = [record.version for record in listed]
    kinds = {**dict.fromkeys(KEYS, pa.string()), **dict.fromkeys(VALUES, pa.float64())}
    kinds |= {"trial": pa.int64(), "buckets": pa.int64(), "version": pa.string()}
    arrays = {name: pa.array(values, kinds[name]) for name, values in columns.items()}
    stream = io.BytesIO()
    parquet.write_table(pa.table(arrays), stream)
    atomic.write(folder / TABLE, stream.getvalue())


def note(folder: Path, settings: Mapping[str, object]) -> None:
    """Write down what is run, on which machine, with which versions."""
    found = {**settings, "machine": machine(), "versions": versions()}
    atomic.write(folder / RUN, json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def noted(folder: Path) -> dict[str, Any]:
    """What was written down about a run; empty if nothing was."""
    try:
        found: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def machine() -> dict[str, object]:
    """The machine, as far as it matters for how long things take."""
    return {"system": platform.system(), "processor": _processor(), "cores": os.cpu_count()}


def versions() -> dict[str, str]:
    """The versions of Python, dawa and its libraries."""
    found = {"python": platform.python_version(), "dawa": metadata.version("dawa")}
    for name in LIBRARIES:
        if name in sys.modules:
            found[name] = metadata.version(name)
    return found


def _processor() -> str:
    """The processor's name, if the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


@contextmanager
def _alone(descriptor: int) -> Iterator[None]:
    """Keep other processes from writing: a line that has no end yet must not look like one that will never have one."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _mend(descriptor: int) -> None:
    """Cut off a line that has no end: its process was killed."""
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        end = file.read(size).rfind(b"\n") + 1
    if end < size:
        os.ftruncate(descriptor, end)


def _line(values: Iterable[object]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow("" if value is None else value for value in values)
    return text.getvalue().encode("utf-8")


def _record(row: Mapping[str, str]) -> Record:
    key: dict[str, Any] = {name: row[name] for name in KEYS}
    key["trial"] = int(key["trial"])
    values: dict[str, Any] = {}
    for name in VALUES:
        values[name] = (int if name in WHOLE else float)(row[name]) if row[name] else None
    return Record(Task(**key), Measured(**values), row["version"])
