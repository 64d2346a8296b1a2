"""The parts of a workbook: a zip file of XML, of which only the asked-for bytes are read.

The standard library reads a zip file's directory. Its reader of parts takes more bytes than it is asked for, and its
reader of XML trees takes whole parts, so both are not used: before a release is paid for, a part is decompressed and
parsed byte by byte, and no further than needed.
"""

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from dawa.errors import SourceError
from dawa.limits import MOST_PART_BYTES
from dawa.sources.places import BLOCK

COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How old workbooks begin, and encrypted ones."""
BEGINS = b"PK\3\4"
LOCAL = struct.Struct("<4s22xHH")
"""What stands before a part: a mark, and the lengths of what comes between it and the part's bytes."""
LOCKED = 1
"""The flag of an encrypted part."""
ROOT = "_rels/.rels"
DAMAGED = "open the workbook in the program that made it, and save it again."


@dataclass(frozen=True)
class Package:
    """A zip file, by its directory.

    Attributes:
        path: The file.
        parts: Where each part is, by its name.
    """

    path: Path
    parts: Mapping[str, zipfile.ZipInfo]

    def pieces(self, name: str, size: int) -> Iterator[bytes]:
        """A part, of which so many compressed bytes are read at a time.

        Raises:
            SourceError: If the part is not there, or is not what the directory says.
        """
        if name not in self.parts:
            raise damaged(self.path)
        info, total, check = self.parts[name], 0, 0
        if info.flag_bits & LOCKED or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SourceError(f"{self.path} is encrypted, or packed in an unusual way.", "save it again, unprotected.")
        try:
            for piece in _plain(self._raw(info, size), packed=info.compress_type == zipfile.ZIP_DEFLATED):
                yield piece[: info.file_size - total]
                total, check = total + len(piece), zlib.crc32(piece, check)
                if total > info.file_size:
                    break
        except zlib.error:
            raise damaged(self.path) from None
        if (total, check) != (info.file_size, info.CRC):
            raise damaged(self.path)

    def single(self, name: str) -> Iterator[bytes]:
        """The bytes of a part, one by one; no compressed byte is read before it is needed."""
        for piece in self.pieces(name, 1):
            for place in range(len(piece)):
                yield piece[place : place + 1]

    def whole(self, name: str) -> Iterator[bytes]:
        """A small part that holds no records.

        Raises:
            SourceError: If the part is not there, or is too large for what it should hold.
        """
        if name in self.parts and self.parts[name].file_size > MOST_PART_BYTES:
            raise damaged(self.path)
        return self.pieces(name, BLOCK)

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """The parts that a part refers to: for each reference, the kind of the other part and its name."""
        folder, file = posixpath.split(name)
        rels = posixpath.join(folder, "_rels", f"{file}.rels") if name else ROOT
        found = {}

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            target = attributes.get("Target", "")
            if local(tag) == "Relationship" and attributes.get("TargetMode") != "External":
                kind = attributes.get("Type", "").rpartition("/")[2]
                joined = posixpath.normpath(posixpath.join("/", folder, target))
                found[attributes.get("Id", "")] = (kind, joined.lstrip("/"))

        if rels in self.parts:
            parse(self.path, self.whole(rels), start)
        return found

    def _raw(self, info: zipfile.ZipInfo, size: int) -> Iterator[bytes]:
        """The stored bytes of a part."""
        with self.path.open("rb", buffering=0) as file:
            file.seek(info.header_offset)
            head = file.read(LOCAL.size)
            if len(head) < LOCAL.size or not head.startswith(BEGINS):
                raise damaged(self.path)
            _, name, extra = LOCAL.unpack(head)
            file.seek(info.header_offset + LOCAL.size + name + extra)
            left = info.compress_size
            while left and (chunk := file.read(min(size, left))):
                left -= len(chunk)
                yield chunk


def opened(path: Path) -> Package:
    """A zip file, of which only the directory is read.

    Raises:
        SourceError: If this is not one.
    """
    try:
        with zipfile.ZipFile(path) as file:
            return Package(path, {info.filename: info for info in file.infolist()})
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, UnicodeDecodeError):
        pass
    with path.open("rb", buffering=0) as file:
        begins = file.read(len(COMPOUND))
    if begins == COMPOUND:
        raise SourceError(
            f"{path} is an encrypted workbook, or one in the old format .xls.",
            "open it in Excel, take the password off, and save it as .xlsx.",
        )
    raise SourceError(
        f"{path} is not an Excel workbook, or not a whole one.",
        "check that the file is complete, and that the ending of its name fits its format.",
    )


def damaged(path: Path) -> SourceError:
    """What is said of a workbook whose parts do not fit together."""
    return SourceError(f"The workbook {path} is damaged.", DAMAGED)


def local(tag: str) -> str:
    """A tag without the prefix that stands for its namespace.

    >>> local("x:row"), local("row")
    ('row', 'row')
    """
    return tag[tag.rfind(":") + 1 :]


def parser(*, at_once: bool = False) -> Any:  # noqa: ANN401  expat has no name for it
    """A parser of XML that refuses what could expand: a document type, and so every entity that it would declare.

    Args:
        at_once: Whether every element is told with its last byte. Newer parsers wait for more bytes, to save time.
    """
    made = expat.ParserCreate()
    made.buffer_text = True
    if at_once and hasattr(made, "SetReparseDeferralEnabled"):
        made.SetReparseDeferralEnabled(False)  # noqa: FBT003  expat has no name for it
    made.StartDoctypeDeclHandler = _refuse
    return made


def _refuse(*_: object) -> None:
    raise SourceError("A part of the workbook declares a document type.", DAMAGED)


def feed(path: Path, made: Any, piece: bytes, *, last: bool = False) -> None:  # noqa: ANN401
    """Let a parser go on.

    Raises:
        SourceError: If this is not XML.
    """
    try:
        made.Parse(piece, last)
    except expat.ExpatError:
        raise damaged(path) from None


def parse(path: Path, pieces: Iterator[bytes], start: Callable[[str, Mapping[str, str]], None]) -> None:
    """Parse a whole part, of which only the beginnings of elements matter."""
    made = parser()
    made.StartElementHandler = start
    for piece in pieces:
        feed(path, made, piece)
    feed(path, made, b"", last=True)


def _plain(chunks: Iterator[bytes], *, packed: bool) -> Iterator[bytes]:
    """Bytes as they were before they were compressed, at most a block at a time."""
    if not packed:
        yield from chunks
        return
    unzip = zlib.decompressobj(-zlib.MAX_WBITS)
    for chunk in chunks:
        rest, more = chunk, True
        while more and not unzip.eof:
            piece = unzip.decompress(rest, BLOCK)
            yield piece
            rest = unzip.unconsumed_tail
            more = bool(rest) or len(piece) == BLOCK
