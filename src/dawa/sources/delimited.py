"""Text files in a declared dialect, as a stream of fields that are all text. ``reading.md`` has the proof.

Records are cut by one automaton that is in the same state wherever a record begins. So how a record is read does not
depend on what comes before it, and every sequence of bytes is some sequence of records: nothing in a file can make
reading fail, or change how another record is read.
"""

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from dawa import kernels
from dawa.arrays import IntArray
from dawa.errors import AxisError, SourceError
from dawa.limits import MOST_HEADER_BYTES, MOST_NAME, MOST_RECORD_BYTES
from dawa.sources import places
from dawa.sources.dialect import Dialect
from dawa.sources.places import Place
from dawa.sources.values import TEXT

WORKERS = 2
"""Threads that cut: DuckDB works beside them."""
LINE = re.compile(rb"[\r\n]")
"""Where a record may end."""
ASCII = 128
"""Bytes below this one are text in every encoding that is read."""
REPLACED = "\ufffd"
"""What stands for bytes that are not text in the file's encoding; a value that holds it is missing."""


@dataclass(frozen=True)
class Header:
    """The columns of a file.

    Attributes:
        names: Their names, in their order.
        size: How many bytes the header takes in the file, as UTF-8.
    """

    names: tuple[str, ...]
    size: int

    def place(self, column: str, place: Place, dialect: Dialect) -> int:
        """Which field of a record holds a column.

        The error does not quote the file's first record: in a file without a header, that is somebody's data.

        Raises:
            AxisError: If the header does not name the column once.
        """
        if self.names.count(column) == 1:
            return self.names.index(column)
        if column in self.names:
            raise AxisError(f"{place} has several columns {column!r}.", "rename all but one of them.")
        raise AxisError(
            f"{place} does not name a column {column!r} in its first line.",
            f"check its spelling, and that {dialect.delimiter!r} separates fields (--delimiter changes that);"
            " if the file has no header line, name its columns: --header id,age.",
        )


def header(place: Place, dialect: Dialect) -> Header:
    """The columns of a file, which is read byte by byte and not beyond its header.

    Raises:
        SourceError: If its first record is too long for a header.
    """
    if dialect.header is not None:
        return Header(dialect.header, 0)
    data, seen, mode = bytearray(), 0, kernels.records.START
    for chunk in chunks(place, dialect, 1):
        data += chunk
        while line := LINE.search(data, max(seen, len(data) - len(chunk))):
            if mode == kernels.records.START and line.end() == seen + 1:  # an empty line: there may be a million
                seen += 1
                continue
            ended, mode = _ends(data[seen : line.end()], dialect, mode)
            seen = line.end()
            if ended:
                del data[seen:]
                break
        if line:
            break
        if len(data) > MOST_HEADER_BYTES:
            raise _too_long(place)
    text = io.StringIO(data.decode(errors="replace").strip("\r\n"), newline="")
    rows = csv.reader(
        text,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        escapechar=dialect.escape,
        quoting=csv.QUOTE_NONE if dialect.quote is None else csv.QUOTE_MINIMAL,
    )
    try:
        fields = next(rows, [])
    except csv.Error:
        raise _too_long(place) from None
    if any(len(name) > MOST_NAME for name in fields):  # the csv module has such a limit, which any library may raise
        raise _too_long(place)
    return Header(tuple(name.strip() for name in fields), len(data))


def _too_long(place: Place) -> SourceError:
    return SourceError(
        f"{place} begins with a line that is too long for a header.",
        "check the delimiter, the quote and the encoding; if the file has no header line, name its columns:"
        " --header id,age.",
    )


def batches(found: Sequence[Place], dialect: Dialect, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The wanted fields of all records, as text; a field that is not text in the file's encoding is missing."""
    with ThreadPoolExecutor(WORKERS) as workers:
        for place in found:
            there = header(place, dialect)
            slot = np.full(len(there.names), -1, np.int64)
            slot[[there.place(column, place, dialect) for column in columns]] = np.arange(len(columns))
            blocks = places.gathered(_after(there.size, chunks(place, dialect, places.BLOCK)))
            for cut in _cuts(blocks, dialect, slot, workers):
                yield cut.batch


def chunks(place: Place, dialect: Dialect, size: int) -> Iterator[bytes]:
    """A file as UTF-8, read ``size`` bytes at a time; without a byte order mark, if it begins with a header."""
    found = places.unpacked(place, size)
    if dialect.encoding != "utf-8":
        decoder = codecs.getincrementaldecoder(dialect.encoding)(errors="replace")
        found = (decoder.decode(chunk, final=not chunk).encode() for chunk in chain(found, [b""]))
    if dialect.header is not None:  # a mark would be in front of a record, where the kernel ignores it
        yield from (chunk for chunk in found if chunk)
        return
    first = b""
    for chunk in found:
        first += chunk
        if not codecs.BOM_UTF8.startswith(first):
            break
    yield first.removeprefix(codecs.BOM_UTF8)
    yield from (chunk for chunk in found if chunk)


def valid(values: pa.Array) -> pa.Array:
    """Declared text as valid UTF-8; a value that is not UTF-8 is missing, and no other value is affected."""
    plain = values.cast(pa.large_binary())
    plain.validate(full=True)  # offsets in a damaged file may point outside its values
    try:
        return plain.cast(TEXT)  # all at once, if all values are valid
    except pa.ArrowInvalid:
        return pa.array([_decoded(value) for value in plain.to_pylist()], TEXT)


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _after(size: int, found: Iterable[bytes]) -> Iterator[bytes]:
    """What follows the first bytes."""
    for chunk in found:
        part, size = chunk[size:], max(size - len(chunk), 0)
        if part:
            yield part


@dataclass(frozen=True)
class Cut:
    """What the bytes of some records were cut into.

    Attributes:
        batch: Their wanted fields.
        after: Where the last whole record ends.
        understood: How far the bytes after that record were read.
        mode: The automaton's mode there.
    """

    batch: pa.RecordBatch
    after: int
    understood: int
    mode: int


@dataclass(frozen=True)
class Stretch:
    """Some bytes of a file.

    Attributes:
        data: The bytes.
        last: Whether no bytes follow.
        ahead: Their cut, as if a record began with them; None if that is not likely.
    """

    data: bytes
    last: bool
    ahead: Future[Cut] | None


def _cuts(found: Iterable[bytes], dialect: Dialect, slot: IntArray, workers: ThreadPoolExecutor) -> Iterator[Cut]:
    """A file's records, cut by one automaton.

    Stretches are cut ahead and in parallel, each as if a record began with it. What was cut so is used only where the
    stretch before it has ended with a record; otherwise it is cut again, from where the automaton stands.
    """
    held, mode, skip = b"", kernels.records.START, False
    for stretch in _ahead(_lines(found), dialect, slot, workers):
        if stretch.ahead is not None and not held and mode == kernels.records.START and not skip:
            data, cut = stretch.data, stretch.ahead.result()
        else:
            data = held + stretch.data
            cut = _cut(data, dialect, slot, last=stretch.last, mode=mode, skip=skip)
        yield cut
        after = cut.after
        mode, skip = (kernels.records.START, False) if after else (mode, skip)
        if skip or len(data) - after > MOST_RECORD_BYTES + 1:  # the last byte may be part of its end
            # This record is too long: neither its beginning nor its rest is kept.
            after, mode, skip = cut.understood, cut.mode, True
        held = data[after:]


def _ahead(
    found: Iterable[tuple[bytes, bool]], dialect: Dialect, slot: IntArray, workers: ThreadPoolExecutor
) -> Iterator[Stretch]:
    """All stretches, a few of them already being cut."""
    waiting: deque[Stretch] = deque()
    cut = partial(_cut, dialect=dialect, slot=slot, mode=kernels.records.START, skip=False)
    likely = True
    for data, last in found:
        waiting.append(Stretch(data, last, workers.submit(cut, data, last=last) if likely else None))
        likely = data.endswith(b"\n")
        if len(waiting) > 2 * WORKERS:
            yield waiting.popleft()
    yield from waiting


def _lines(found: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Stretches that end with a line, where there are lines, and whether each is the last one."""
    held = b""
    for chunk in found:
        data = held + chunk
        after = data.rfind(b"\n") + 1
        if len(data) - after > places.BLOCK:
            after = len(data)
        if after:
            yield data[:after], False
        held = data[after:]
    yield held, True


def _cut(data: bytes, dialect: Dialect, slot: IntArray, *, last: bool, mode: int, skip: bool) -> Cut:
    """The wanted fields of all whole records."""
    found, wanted, marks = np.frombuffer(data, np.uint8), int(slot.max()) + 1, _bytes(dialect)
    marked = kernels.records.marks(found, *marks)
    text = np.empty((wanted, len(data) + kernels.records.SLACK), np.uint8)
    ends = np.empty((wanted, len(marked) + 2), np.int64)
    rows, after, understood, state = kernels.records.split(
        found, marked, last, *marks, mode, skip, MOST_RECORD_BYTES, slot, text, ends
    )
    arrays = [_values(int(rows), text[column], ends[column], dialect) for column in range(wanted)]
    batch = pa.RecordBatch.from_arrays(arrays, [str(column) for column in range(wanted)])
    return Cut(batch, int(after), int(understood), int(state))


def _values(rows: int, text: NDArray[np.uint8], ends: IntArray, dialect: Dialect) -> pa.Array:
    """One column of a block."""
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    if not rows or text[: ends[rows]].max(initial=0) < ASCII:
        return pa.Array.from_buffers(TEXT, rows, buffers)
    found = valid(pa.Array.from_buffers(pa.large_binary(), rows, buffers))
    if dialect.encoding == "utf-8":
        return found
    return pa.compute.if_else(pa.compute.match_substring(found, REPLACED), pa.scalar(None, TEXT), found)


def _ends(line: bytearray, dialect: Dialect, mode: int) -> tuple[bool, int]:
    """Whether a record ends with a line, and the automaton's mode after it; empty lines are not records."""
    last, skip, slot = True, False, np.full(len(line) + 1, -1, np.int64)
    nothing = np.empty((0, 0), np.uint8), np.empty((0, 0), np.int64)
    data, marks = np.frombuffer(line, np.uint8), _bytes(dialect)
    rows, after, _, state = kernels.records.split(
        data, kernels.records.marks(data, *marks), last, *marks, mode, skip, MOST_RECORD_BYTES, slot, *nothing
    )
    return bool(after and (rows or mode != kernels.records.START)), int(state)


def _bytes(dialect: Dialect) -> tuple[int, int, int]:
    """The delimiter, the quote and the escape, as the kernel takes them."""
    found = (dialect.delimiter, dialect.quote, dialect.escape)
    delimiter, quote, escape = (kernels.records.NONE if mark is None else ord(mark) for mark in found)
    return delimiter, quote, escape
