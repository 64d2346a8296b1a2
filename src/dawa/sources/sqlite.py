"""Tables in files of SQLite, where every value has a type of its own, whatever its column declares.

So a column has no type here: each value becomes text by a rule for values of its type (``values.py``), and the axis
says how to read the text, as with lists. Bytes are missing, and so is text that is not UTF-8.

Before paying, the schema is read and the statement is compiled, but not run: running it would read the first row. From
then on a transaction keeps others from changing the file, so that it is not found locked after paying.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa

from dawa.errors import SourceError
from dawa.sources import frames, values
from dawa.sources.streams import Stream, Text

MAGIC = b"SQLite format 3\0"
"""How a file of SQLite begins."""
BATCH = 2**14
"""Rows that are converted at once."""
PATIENCE = 5
"""Seconds to wait for somebody who writes to the file."""
LEDGER = "dawa_ledger"
"""The table by which a ledger is known."""
FEW = 10
"""Tables that an error lists."""


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, inside a transaction.

    Raises:
        SourceError: If the file cannot be read, is locked, or is not a database.
    """
    try:
        connection = _connected(path)
    except sqlite3.Error as error:
        raise _unopened(path, error) from None
    with closing(connection):
        yield connection


def _connected(path: Path) -> sqlite3.Connection:
    try:
        return _begun(path, "mode=ro")
    except sqlite3.OperationalError as error:
        log = Path(f"{path}-wal")
        if _name(error) != "SQLITE_CANTOPEN" or (log.exists() and log.stat().st_size):
            raise
        return _begun(path, "immutable=1")  # a write-ahead log that is empty, in a folder that cannot be written


def _begun(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,  # rows are fetched by a thread of the engine's, one at a time
    )
    try:
        connection.text_factory = _decoded
        connection.execute("pragma query_only = on")
        connection.execute("begin")
        connection.execute("select count(*) from sqlite_master").fetchall()  # this locks, and reads the schema
    except BaseException:
        connection.close()
        raise
    return connection


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _unopened(path: Path, error: sqlite3.Error) -> SourceError:
    name = _name(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return SourceError(
            f"{path} is locked: another program is writing to it.",
            "try again when that program is done, or copy the file with the other program closed.",
        )
    if name.startswith("SQLITE_CANTOPEN"):
        return SourceError(
            f"{path} could not be opened.",
            "check that you may read it; with a write-ahead log (a -wal file beside it), you must be able to write to"
            " its folder, or whoever writes to it must close it first.",
        )
    return SourceError(
        f"{path} could not be read as a SQLite database ({name or type(error).__name__}).",
        "check that the file is complete, and not encrypted.",
    )


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def tables(connection: sqlite3.Connection, path: Path) -> list[str]:
    """The names of all tables and views.

    Raises:
        SourceError: If the file is a ledger: somebody mixed up two files.
    """
    rows = connection.execute("select name from sqlite_master where type in ('table', 'view') order by name").fetchall()
    there = [name for (name,) in rows if isinstance(name, str) and not name.startswith("sqlite_")]
    if LEDGER in there:
        raise SourceError(
            f"{path} is a ledger of dawa's, which holds no records.",
            "pass the file that holds the records; the ledger is named with --ledger, or ledger= in Python.",
        )
    return there


def stream(
    connection: sqlite3.Connection, path: Path, table: str, columns: Sequence[str], unit: tuple[str, ...]
) -> Stream:
    """The wanted columns of a table; only the schema is read here.

    Raises:
        SourceError: If there is no such table, or it cannot be queried.
    """
    there = tables(connection, path)
    if table not in there:
        few = ", ".join(there[:FEW]) + (", …" if len(there) > FEW else "")
        raise SourceError(
            f"{path} has no table {table!r}.", f"name one of {few}." if there else "it has no table; check the path."
        )
    twice = [name for name in unit if name in columns]
    if twice:
        raise frames.both(twice[0], "make a view with a second column that repeats it, under another name.")
    try:
        names = _columns(connection, table)
        wanted = [name for name in dict.fromkeys([*columns, *unit]) if name in names]
        statement = f"select {', '.join(map(_quoted, wanted)) or '1'} from {_quoted(table)}"  # noqa: S608  quoted
        connection.execute(f"explain {statement}").fetchall()
    except sqlite3.Error as error:
        raise SourceError(
            f"The table {table!r} of {path} cannot be queried ({_name(error) or type(error).__name__}).",
            "if it is a view, check that everything it needs is in the same file.",
        ) from None
    rules = [values.identities if name in unit else values.texts for name in wanted]

    def batches() -> Iterator[pa.RecordBatch]:
        cursor = connection.execute(statement)
        while rows := cursor.fetchmany(BATCH):
            arrays = [rule(list(column)) for rule, column in zip(rules, zip(*rows, strict=True), strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, [str(place) for place in range(len(arrays))])

    told = f"The table {table!r} of a SQLite file is read value by value, as text; bytes and damaged text are missing."
    return Stream(dict.fromkeys(wanted, Text()), tuple(names), batches, (told,), {"table": table})


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The names of a table's columns, those of generated ones too, without hidden ones of virtual tables."""
    rows = connection.execute(f"pragma table_xinfo({_quoted(table)})").fetchall()
    return [row[1] for row in rows if row[6] != 1 and isinstance(row[1], str)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
