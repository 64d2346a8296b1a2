"""What a file is: by the format that is declared for it, or else by the ending of its name. Its content has no say.

Nothing here opens a file, or loads what would be needed for that.
"""

import re
from dataclasses import fields
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from dawa.errors import SourceError
from dawa.sources import dialect as dialects
from dawa.sources.dialect import Dialect
from dawa.sources.tables import STANDARD_INPUT, JsonLines, TextFile, Workbook, Written, is_address

TEXT, JSON_LINES, EXCEL = "text", "JSON lines", "an Excel workbook"
PARTS = {
    TEXT: tuple(part.name for part in fields(Dialect)),
    JSON_LINES: ("decimal", "date_format", "missing"),
    EXCEL: ("header", "decimal", "date_format", "missing"),
}
"""The formats that leave something to be declared, and the parts of a dialect that each leaves open."""
ENDINGS = {
    TEXT: dialects.ENDINGS,
    JSON_LINES: (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    EXCEL: (".xlsx", ".xlsm"),
}
FORMATS = tuple(ending[1:] for endings in ENDINGS.values() for ending in endings)
"""What ``--format`` may say: the ending that the file's name might have."""
OTHERS = {
    ".xls": "an old Excel workbook",
    ".xlsb": "a binary Excel workbook",
    ".ods": "an OpenDocument sheet",
    ".numbers": "a Numbers sheet",
    ".json": "one JSON document",
}
"""Endings of files that dawa does not read, and what they hold."""
STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""How the names of what a shell pipes into a program begin; they have no endings."""


def ending(source: str | PathLike[str], form: str | None = None) -> str | None:
    """The ending that says what a file is; None if there is none that is known here.

    >>> ending("people.CSV.gz"), ending("data", "jsonl"), ending("https://server/x.tsv?v=2"), ending("-")
    ('.csv.gz', '.jsonl', '.tsv', '.csv')

    Raises:
        SourceError: If there is no such format.
    """
    if form is not None and form not in FORMATS:
        raise SourceError(f"There is no format {form!r} to choose.", f"choose one of {', '.join(FORMATS)}.")
    if form is not None:
        return f".{form}"
    name = fspath(source)
    plain = (re.split("[?#]", name)[0] if is_address(name) else name).lower()
    found = [one for endings in ENDINGS.values() for one in endings if plain.endswith(one)]
    if not found and (name == STANDARD_INPUT or name.startswith(STREAMS)):
        return ".csv"
    return max(found, key=len, default=None)


def of(source: str | PathLike[str], form: str | None = None) -> str | None:
    """Which of the formats above a file has; None if it has another, or its name does not say."""
    found = ending(source, form)
    return next((kind for kind, endings in ENDINGS.items() if found in endings), None)


def declared(
    source: str | PathLike[str], form: str | None = None, sheet: str | None = None, dialect: Dialect | None = None
) -> str | PathLike[str] | TextFile | JsonLines | Workbook:
    """A file with all that is declared about it; a path alone, if nothing is and its name does not say what it is.

    Raises:
        SourceError: If something is declared that a file of this format does not have.
    """
    kind = of(source, form) or (None if dialect is None else TEXT)
    unfit(kind, sheet, dialect)
    if kind is None:
        return source
    name = ending(source, form) or ""
    written = dialects.of(name) if dialect is None else dialect
    if kind == EXCEL:
        return Workbook(source, sheet, written)
    return (TextFile if kind == TEXT else JsonLines)(source, written, name.endswith(".gz") if name else None)


def unfit(kind: str | None, sheet: str | None, dialect: Dialect | None) -> None:
    """Refuse what a file of a format does not have.

    Raises:
        SourceError: If a sheet or a part of a dialect is declared that the format does not have.
    """
    if sheet is not None and kind != EXCEL:
        raise SourceError("Only Excel workbooks have sheets.", "leave the sheet out, or pass a .xlsx file.")
    if dialect is None or kind == TEXT:
        return
    if kind is None:
        raise SourceError(
            "The source is not a text file, so it has no delimiter, encoding or other part of a dialect.",
            "leave them out.",
        )
    for part in fields(Dialect):
        if part.name not in PARTS[kind] and getattr(dialect, part.name) != getattr(Dialect(), part.name):
            subject = "JSON lines have" if kind == JSON_LINES else "An Excel workbook has"
            raise SourceError(f"{subject} no {part.name}.", f"leave it out; {', '.join(PARTS[kind])} can be declared.")


def describe(kind: str, dialect: Dialect, sheet: str | None = None) -> tuple[str, ...]:
    """How a file is read, in sentences; ``sheet`` is the one of a workbook, if its name is known."""
    if kind == TEXT:
        return dialect.describe()
    if kind == JSON_LINES:
        how = (
            "The file is read as JSON lines: every line is one record, an object whose keys are the columns. A line"
            " that is not such an object has no values, and a value that is an object or a list is missing. A dot in a"
            " column's name leads into an object, unless the record has a key with that dot."
        )
    else:
        which = "The first sheet" if sheet is None else f"The sheet {sheet!r}"
        names = "Its first row names the columns" if dialect.header is None else "Its columns are named by the release"
        how = (
            f"{which} of an Excel workbook is read: every row that is not empty is one record, hidden or not. {names}."
            " Formulas count as the results that are stored for them, errors are missing. On an axis of dates, and"
            " where a condition compares with a date, a number is a day as Excel counts days; how a cell looks does not"
            " matter."
        )
    return how, dialect.describe_values()


def parts(kind: str, dialect: Dialect) -> dict[str, Any]:
    """What is declared about a file, in plain values, for a ledger."""
    return {name: value for name, value in dialect.to_json().items() if name in PARTS[kind]}


def once(table: Any) -> bool:  # noqa: ANN401  whatever users pass
    """Whether a table can be read only once: what is piped in, and files that somebody has opened."""
    if isinstance(table, Written):
        return once(table.table)
    where = table.path if isinstance(table, (TextFile, JsonLines, Workbook)) else table
    if not isinstance(where, (str, PathLike)):
        return callable(getattr(where, "read", None))
    name = fspath(where)
    return name == STANDARD_INPUT or name.startswith(STREAMS) or Path(name).is_fifo()


def unread(source: str) -> str:
    """What a file holds that dawa does not read, in words; empty if its ending says nothing."""
    name = source.lower()
    return next((what for ending, what in OTHERS.items() if name.endswith(ending)), "")
