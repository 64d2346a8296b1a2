"""Where the bytes of a file come from: a file, which can be read again, or a stream, which cannot.

Before a release is paid for, at most a header is read, byte by byte. What was read of a stream until then is kept, so
that it can be looked at again.
"""

import io
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from dawa.errors import SourceError

BLOCK = 2**21
"""Bytes that are read at once."""
MEMBERS = 2**16
"""Bytes of a compressed file that are read at once: the bytes after a gzip member are copied."""
GZIP = b"\x1f\x8b"
"""How a compressed file begins."""


class Place(Protocol):
    """Where bytes are. As text, it is what messages call it."""

    @property
    def packed(self) -> bool:
        """Whether the bytes are compressed with gzip."""
        ...

    def pieces(self, size: int) -> Iterator[bytes]:
        """All bytes from the beginning, at most so many at a time."""
        ...


@dataclass(frozen=True)
class File:
    """A file that can be read again and again.

    Attributes:
        path: The file.
        packed: Whether it is compressed with gzip.
    """

    path: Path
    packed: bool

    def __str__(self) -> str:
        return str(self.path)

    def pieces(self, size: int) -> Iterator[bytes]:
        """All bytes, at most so many at a time."""
        with self.path.open("rb", buffering=0) as opened:
            while chunk := opened.read(size):
                yield chunk


@dataclass
class Stream:
    """Bytes that arrive once: standard input, a pipe, an open file, an answer from a server.

    Attributes:
        name: What messages call it, in the beginning of a sentence.
        packed: Whether it is compressed with gzip.
        read: Gives the next bytes, at most so many, and none at the end.
    """

    name: str
    packed: bool
    read: Callable[[int], bytes] = field(repr=False)
    _kept: bytearray = field(default_factory=bytearray, repr=False)
    _gone: bool = field(default=False, repr=False)

    def __str__(self) -> str:
        return self.name

    def pieces(self, size: int) -> Iterator[bytes]:
        """All bytes, at most so many at a time; large pieces are rows, which can be had once.

        Raises:
            SourceError: If the rows are gone.
        """
        if self._gone:
            raise SourceError(f"{self} was read already, and cannot be read twice.", "open it again.")
        self._gone = size >= MEMBERS
        if self._kept:
            yield bytes(self._kept)
        while chunk := self.read(size):
            if not self._gone:
                self._kept += chunk
            yield chunk


def file(path: Path) -> File:
    """A file that is compressed if its name says so."""
    return File(path, path.name.lower().endswith(".gz"))


@contextmanager
def piped(path: Path, *, packed: bool) -> Iterator[Stream]:
    """A pipe that has a name, such as the one that a shell makes for ``<(zcat people.csv.gz)``.

    Raises:
        SourceError: If this is not a pipe: somebody would have to type into it, or it never ends.
    """
    with path.open("rb", buffering=0) as opened:
        kind = os.fstat(opened.fileno()).st_mode
        if opened.isatty():
            raise _terminal(str(path))
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_ISREG(kind)):
            raise SourceError(f"{path} is neither a file nor a pipe.", "write its records to a file first.")
        yield opened_file(opened, str(path), packed=packed)


@contextmanager
def standard_input(*, packed: bool) -> Iterator[Stream]:
    """What is piped into the program, without a buffer that would read ahead.

    Raises:
        SourceError: If nothing is piped into it.
    """
    try:
        opened = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115  a number, and it stays open
    except OSError:
        raise SourceError("There is no standard input.", "pipe a file into the command, or name a file.") from None
    with opened:
        if opened.isatty():
            raise _terminal("Standard input")
        yield opened_file(opened, "Standard input", packed=packed)


def opened_file(opened: Any, name: str | None = None, *, packed: bool) -> Stream:  # noqa: ANN401  whatever has read()
    """A file that somebody has opened, from where it stands.

    Raises:
        SourceError: If it gives text instead of bytes.
    """
    name = f"The open {type(opened).__name__}" if name is None else name
    if isinstance(opened, io.TextIOBase):
        raise SourceError(f"{name} gives text.", "open it in binary mode: open(path, 'rb').")

    def read(size: int) -> bytes:
        found = opened.read(size)
        if not isinstance(found, (bytes, bytearray)):
            raise SourceError(f"{name} does not give bytes.", "pass a blocking file that is open in binary mode.")
        return bytes(found)

    return Stream(name, packed, read)


def _terminal(name: str) -> SourceError:
    return SourceError(
        f"{name} is a terminal, so records would have to be typed.",
        "pipe a file into the command: dawa release - … < people.csv.",
    )


# --- pieces ---------------------------------------------------------------------------------------------------------


def check(place: Place) -> None:
    """Refuse what cannot be opened, or is not compressed although it is said to be.

    Raises:
        SourceError: If it does not begin as gzip files do.
    """
    begins = b"".join(islice(place.pieces(1 if place.packed else 0), len(GZIP)))
    if place.packed and begins != GZIP:
        raise SourceError(f"{place} is not a gzip file.", "take .gz off its name or format if it is plain text.")


def unpacked(place: Place, size: int) -> Iterator[bytes]:
    """All bytes, decompressed if they are compressed."""
    return _unzipped(place, size) if place.packed else place.pieces(size)


def _unzipped(place: Place, size: int) -> Iterator[bytes]:
    """A gzip file of one or several members."""
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for chunk in place.pieces(min(size, MEMBERS)):
        rest = chunk.lstrip(b"\0") if unzip.eof else chunk
        while rest:
            if unzip.eof:
                unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
            out = _inflated(unzip, rest, place)
            yield out
            while len(out) == BLOCK and not unzip.unconsumed_tail:  # more output may come without more input
                out = _inflated(unzip, b"", place)
                yield out
            rest = unzip.unused_data.lstrip(b"\0") if unzip.eof else unzip.unconsumed_tail
    if not unzip.eof:
        raise SourceError(f"{place} ends in the middle of its compressed data.", "check that the file is complete.")


def _inflated(unzip: Any, data: bytes, place: Place) -> bytes:  # noqa: ANN401  zlib's own, which has no public name
    try:
        return bytes(unzip.decompress(data, BLOCK))
    except zlib.error:
        raise SourceError(f"The compressed data of {place} is damaged.", "compress the file again.") from None


def gathered(found: Iterable[bytes]) -> Iterator[bytes]:
    """Small pieces joined into blocks: a compressed file may consist of many members, and pipes give little at once."""
    held = bytearray()
    for chunk in found:
        if not held and len(chunk) >= BLOCK:
            yield chunk
            continue
        held += chunk
        if len(held) >= BLOCK:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
