"""A ZIP file of one text and several arrays, which ``numpy.load`` opens: written, and read from whoever sent it.

The text is a member of its own, stored as it is. Every array is a member ``NAME.npy``, deflated where that pays. What
is read is exactly what is written here: members one after the other from the first byte on, then their directory, and
nothing else; no encryption, no other compression, no objects. So names lead nowhere, and no byte is read twice. What
members grow to is added up from what they declare, before any of them is inflated; a file may grow as many times as
``MOST_GROWTH`` says. Whoever writes stays below that by not deflating.
"""

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dawa.errors import OptionError, ReleaseError
from dawa.limits import MOST_ARCHIVE_BYTES, MOST_GROWTH, MOST_MEMBERS
from dawa.numerals import told
from dawa.results.json_text import RESTORE

BEGINS = b"PK\3\4"
"""How every such file begins."""
TYPES = tuple(np.dtype(name) for name in ("<f8", "<i8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4"))
"""What arrays consist of."""
NARROW = TYPES[2:]
"""Integers that are widened when they are read; the narrowest first."""
WORTH = 0.9
"""What deflating must leave at most."""
SAMPLES, SAMPLE = 4, 2**14
"""Stretches of an array from which is told whether deflating pays, and their bytes."""
LEVEL = 1
"""Higher ones take longer, and save little of noise."""

_LOCAL = struct.Struct("<4s5H3L2H")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<type>[<|][fiu][1248])', 'fortran_order': False,"
    rb" 'shape': \((?P<rows>\d{1,10}),(?: (?P<width>[1-9]))?\), \} *\n",
    re.DOTALL,
)
"""How ``numpy.save`` begins a member of one column, or of a few beside one another."""
HEAD = 128
"""Its bytes."""


class Member(NamedTuple):
    """Where a member is, and what it says of itself."""

    name: str
    begin: int
    stored: int
    size: int
    deflated: bool
    check: int


# --- written ----------------------------------------------------------------------------------------------------------


def packed(text: tuple[str, bytes], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a file: the same for the same content, whenever it is written.

    Args:
        text: Its name and its content.
        arrays: The arrays by name.

    Raises:
        OptionError: If they are too large for such a file.
    """
    if len(text[1]) + sum(array.nbytes for array in arrays.values()) > MOST_ARCHIVE_BYTES // 2:
        raise OptionError(
            f"This release is larger than {MOST_ARCHIVE_BYTES // 2:,} bytes.",
            "save it as JSON: rel.save('release.json').",
        )
    content = _zipped(text, arrays, deflate=True)
    grown = len(text[1]) + 8 * sum(array.size for array in arrays.values())
    return content if grown <= MOST_GROWTH * len(content) else _zipped(text, arrays, deflate=False)


def _zipped(text: tuple[str, bytes], arrays: Mapping[str, NDArray[Any]], *, deflate: bool) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", allowZip64=False) as made:
        made.writestr(_info(text[0]), text[1])
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            pays = deflate and _pays(array.tobytes())
            made.writestr(
                _info(f"{name}.npy"), content.getvalue(), zipfile.ZIP_DEFLATED if pays else zipfile.ZIP_STORED, LEVEL
            )
    return target.getvalue()


def _info(name: str) -> zipfile.ZipInfo:
    """A member without a date, and with the rights of any file."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def _pays(content: bytes) -> bool:
    """Whether deflating saves anything to speak of."""
    sample = _sampled(content)
    return len(zlib.compress(sample, LEVEL)) < WORTH * len(sample)


def _sampled(content: bytes) -> bytes:
    starts = range(0, len(content), max(SAMPLE, len(content) // SAMPLES))
    return b"".join(content[start : start + SAMPLE] for start in starts)


def narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the narrowest type that holds them; others as they are."""
    low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    for kind in NARROW:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers.astype("<i8")


def deflated(numbers: NDArray[Any]) -> int:
    """About how many bytes deflating leaves of a part of an array: to choose between two forms of it."""
    return math.ceil(
        len(zlib.compress(sample := _sampled(numbers.tobytes()), LEVEL)) / max(len(sample), 1) * numbers.nbytes
    )


# --- read -------------------------------------------------------------------------------------------------------------


def unpacked(content: bytes, text: str, source: str) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """What ``packed`` was given: the text, and the arrays by name, as 64-bit numbers.

    Args:
        content: All bytes of the file.
        text: The name of the text.
        source: What to call the file in an error.

    Raises:
        ReleaseError: If the file is anything else than what ``packed`` writes.
    """
    if len(content) > MOST_ARCHIVE_BYTES:
        raise _damaged(source, f"has more than {MOST_ARCHIVE_BYTES:,} bytes")
    members = list(_members(content, source))
    if not members or members[0].name != text or members[0].deflated:
        raise _damaged(source, f"does not begin with {text}")
    allowed = MOST_GROWTH * len(content) - members[0].size
    heads = []
    for member in members[1:]:
        if not member.name.endswith(".npy"):
            raise _damaged(source, f"has a member {told(member.name)}, which is no array")
        heads.append(_shape(content, member, source))
        allowed -= 8 * math.prod(heads[-1][1])
    if allowed < 0:
        raise _damaged(source, f"would grow to more than {MOST_GROWTH} times its size")
    arrays = {
        member.name.removesuffix(".npy"): _wide(_inflated(content, member, source), *head)
        for member, head in zip(members[1:], heads, strict=True)
    }
    return _inflated(content, members[0], source), arrays


def _members(content: bytes, source: str) -> Iterator[Member]:
    """The members, of which the directory and their own heads say the same.

    Raises:
        ReleaseError: If they do not, or if bytes are left between them.
    """
    if len(content) < _END.size:
        raise _damaged(source, "ends before its directory")
    mark, *disks, count, size, directory, comment = _END.unpack_from(content, len(content) - _END.size)
    if mark != b"PK\5\6" or disks != [0, 0, count] or comment or directory + size + _END.size != len(content):
        raise _damaged(source, "ends before its directory does, or was not written by Release.save")
    if count > MOST_MEMBERS:
        raise _damaged(source, f"has more than {MOST_MEMBERS} members")
    at, begin, seen = directory, 0, set()
    for _ in range(count):
        member, at, begin = _member(content, at, begin, directory, source)
        if member.name in seen:
            raise _damaged(source, f"has the member {told(member.name)} twice")
        seen.add(member.name)
        yield member
    if (at, begin) != (directory + size, directory):
        raise _damaged(source, "has bytes that belong to no member")


def _member(content: bytes, at: int, begin: int, directory: int, source: str) -> tuple[Member, int, int]:
    """The member whose entry in the directory, and whose own head, are at these places; and the next places."""
    if at + _ENTRY.size > len(content) - _END.size or begin + _LOCAL.size > directory:
        raise _damaged(source, "has a directory that does not fit its members")
    mark, _, *entry, comment, disk, _, _, offset = _ENTRY.unpack_from(content, at)
    own_mark, *own = _LOCAL.unpack_from(content, begin)
    _, flags, method, _, _, check, stored, size, length, extra = entry
    name = content[at + _ENTRY.size : at + _ENTRY.size + length]
    end = begin + _LOCAL.size + length + stored
    if flags & 1:
        raise _damaged(source, "is encrypted")
    if method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _damaged(source, "is packed in an unknown way")
    if (
        (mark, own_mark, own) != (b"PK\1\2", BEGINS, entry)
        or (flags, extra, comment, disk, offset) != (0, 0, 0, 0, begin)
        or not name.isascii()
        or content[begin + _LOCAL.size : begin + _LOCAL.size + length] != name
        or end > directory
        or (method == zipfile.ZIP_STORED and stored != size)
    ):
        raise _damaged(source, "has a directory that does not fit its members")
    member = Member(name.decode("ascii"), end - stored, stored, size, method == zipfile.ZIP_DEFLATED, check)
    return member, at + _ENTRY.size + length, end


def _shape(content: bytes, member: Member, source: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The type and the shape of an array, from its first bytes.

    Raises:
        ReleaseError: If it is no array of numbers, or not as long as it says.
    """
    raw = memoryview(content)[member.begin : member.begin + min(member.stored, 2 * HEAD)]
    try:
        head = zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, HEAD) if member.deflated else bytes(raw[:HEAD])
    except zlib.error:
        head = b""
    said = _HEAD.fullmatch(head)
    kind = next((one for one in TYPES if said is not None and one.str.encode() == said["type"]), None)
    if said is None or kind is None or int.from_bytes(said["length"], "little") != HEAD - 10:
        raise _damaged(source, f"has a member {told(member.name)}, which is no array of numbers")
    shape = (int(said["rows"]), *([int(said["width"])] if said["width"] else []))
    if math.prod(shape) * kind.itemsize + HEAD != member.size:
        raise _damaged(source, f"has a member {told(member.name)}, which is not as long as it says")
    return kind, shape


def _inflated(content: bytes, member: Member, source: str) -> bytes:
    """The bytes of a member: exactly as many as it declares."""
    raw = memoryview(content)[member.begin : member.begin + member.stored]
    whole = True
    if member.deflated:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            found = inflate.decompress(raw, member.size + 1)
        except zlib.error:
            found = b""
        whole = inflate.eof and not inflate.unused_data and not inflate.unconsumed_tail
    else:
        found = bytes(raw)
    if not whole or len(found) != member.size or zlib.crc32(found) != member.check:
        raise _damaged(source, f"has a member {told(member.name)}, which was changed or cut off")
    return found


def _wide(content: bytes, kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    numbers = np.frombuffer(content, kind, offset=HEAD).reshape(shape)
    return numbers.astype(np.float64 if kind.kind == "f" else np.int64)


def _damaged(source: str, problem: str) -> ReleaseError:
    return ReleaseError(f"{source} is damaged: it {problem}.", RESTORE)
