"""Compact release files whose members were changed: what they declare, what they hold, and how they fit together."""

import io
import json
import random
import warnings
import zipfile
from typing import Any

import numpy as np

from dawa.results import archive
from dawa_bench.faults import mutation

HEADS = (
    b"'<f8'",
    b"'<i8'",
    b"'|i1'",
    b"'<u8'",
    b"'>f8'",
    b"'<f4'",
    b"'|O'",
    b"'<M8'",
    b"'|b1'",
    b"[('x', '<f8')]",
    b"False",
    b"True ",
    b"(1,)",
    b"(-1,)",
    b"(9999999999,)",
    b"(2, 2)",
    b"()",
)
"""What a head of an array may say, in the place of what it says."""


def packed(document: dict[str, Any]) -> bytes:
    """A release as an archive; lists that cannot be arrays stay lists."""
    for _, holder, name, _ in archive.slots(document):
        numbers = holder[name]
        if isinstance(numbers, list) and set(map(type, numbers)) <= {int, float, list}:
            try:
                array = np.array(numbers)
            except (ValueError, OverflowError):
                continue
            if array.dtype in (np.int64, np.float64) and array.ndim <= 2 and array.size:
                holder[name] = array
    return archive.packed(document)


def changed(content: bytes, rng: random.Random) -> bytes:
    """An archive with some of its members changed, packed again so that they fit together."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        members = [(info.filename, opened.read(info), info.compress_type) for info in opened.infolist()]
    for _ in range(rng.choice((1, 1, 2, 5))):
        if members:
            rng.choice((_text, _head, _numbers, _special, _order, _named, _long))(members, rng)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made, warnings.catch_warnings(action="ignore"):  # about names that come twice
        for name, data, method in members:
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, 0o644 << 16
            made.writestr(info, data, method)
    return target.getvalue()


Members = list[tuple[str, bytes, int]]


def _text(members: Members, rng: random.Random) -> None:
    """Fields of the document, among them those that name members."""
    name, data, method = members[0]
    try:
        document = json.loads(data)
    except ValueError:
        return
    mutation.document(document, rng)
    members[0] = name, mutation.dumped(document).encode("utf-8", "surrogatepass"), method


def _head(members: Members, rng: random.Random) -> None:
    at = rng.randrange(len(members))
    name, data, method = members[at]
    members[at] = name, data.replace(rng.choice(HEADS), rng.choice(HEADS)).replace(b"'<f8'", rng.choice(HEADS)), method


def _numbers(members: Members, rng: random.Random) -> None:
    at = rng.randrange(len(members))
    name, data, method = members[at]
    members[at] = name, data[:128] + mutation.raw(data[128:], rng), method


def _special(members: Members, rng: random.Random) -> None:
    """A number that is none, or as large as there are."""
    at = rng.randrange(len(members))
    name, data, method = members[at]
    place = 128 + 8 * rng.randrange(max(1, (len(data) - 128) // 8))
    number = rng.choice((float("nan"), float("inf"), -0.0, 1e300, 5e-324))
    members[at] = name, data[:place] + np.float64(number).tobytes() + data[place + 8 :], method


def _order(members: Members, rng: random.Random) -> None:
    rng.choice((rng.shuffle, list.pop, lambda all_of_them: all_of_them.append(rng.choice(all_of_them))))(members)


def _named(members: Members, rng: random.Random) -> None:
    at = rng.randrange(len(members))
    _, data, method = members[at]
    names = ("../x.npy", "/etc/x.npy", "", "x" * 60_000, "ä.npy", "release.json", "buckets.totals.npy", "x.npy")
    members[at] = rng.choice(names), data, method


def _long(members: Members, rng: random.Random) -> None:
    """An array that grows when it is inflated."""
    count = rng.choice((10**3, 10**5, 10**7))
    head = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head.encode() + bytes(count)
    at = rng.randrange(len(members))
    members[at] = members[at][0], data, rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2))
