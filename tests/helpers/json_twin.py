"""JSON lines by Python's own parser, one line at a time: the slow twin of the kernel."""

import io
import json

from dawa.sources import json_lines, places
from dawa.sources.dialect import Dialect

MARK = b"\xef\xbb\xbf"


def line(data, columns):
    """The text of the wanted values of a line; None if the line is no record."""
    plain = data.removeprefix(MARK)
    if not plain.strip(b" \t\r"):
        return None
    try:
        text = plain.decode("utf-8", "surrogateescape")
        found = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        found = None
    return tuple(_text(_value(found, column)) for column in columns)


def _value(found, column):
    if not isinstance(found, dict) or column in found:
        return found[column] if isinstance(found, dict) else None
    for part in column.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return value if isinstance(value, str) and value.encode() is not None else None
    except UnicodeEncodeError:  # half of a pair of surrogates, or bytes that were not UTF-8
        return None


def lines(data, columns):
    """The same for all lines of a file."""
    return [found for found in (line(one, columns) for one in data.split(b"\n")) if found is not None]


def read(data, columns):
    """The same by the library."""
    rows = []
    for batch in json_lines.batches([places.opened_file(io.BytesIO(data), packed=False)], Dialect(), columns):
        rows += zip(*(batch.column(place).to_pylist() for place in range(len(columns))), strict=True)
    return rows
