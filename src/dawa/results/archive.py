"""A release as a compact file beside JSON: ``release.json`` in a ZIP, and its long lists of numbers as arrays.

The text is the document of ``results.file``, with the same fields and the same meaning. A long list of numbers in
``buckets``, ``strategy``, ``stops`` or ``apart``, or whatever stands beside them, is written as
``{"array": "buckets.totals", "count": 1048576}``: so many numbers of the member ``buckets.totals.npy``. Groups share
members: the numbers of ``groups.buckets.totals.npy`` are those of the first group, then those of the second. Every
number of a member is used once, in this order. Numbers are written in a narrow type if it holds them exactly. With
``"differences": true``, each is the difference to the one before; the first is as it is.

The values are those of the JSON file, and go through the same checks.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import listed
from dawa.host import atomic
from dawa.results import json_text, members
from dawa.results.conform import damaged, field

TEXT = "release.json"
"""The member that is the document."""
SUFFIX = ".npz"
"""How the name of such a file ends."""
LONG = 32
"""Numbers that are worth a place in a member."""
WHOLE = ("about", "privacy")
"""Fields whose values are words, and hold no arrays."""

Slot = tuple[str, dict[str, Any], str, tuple[str | int, ...]]
"""A field that may hold an array: its member, the object it is in, its name there, and where it is."""


class Saveable:
    """What is written as one document: a release, or one with groups."""

    def _document(self) -> dict[str, Any]:
        """All of it as JSON values, with arrays in the place of long lists."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values, as ``save`` writes them."""
        found: dict[str, Any] = listed(self._document())
        return found

    def as_text(self) -> str:
        """The release as the text of a JSON file."""
        return json_text.text(self._document())

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the release, whole or not at all; ``dawa.load`` reads it back.

        It is JSON, or, if the name ends in ``.npz``, a file with the same values that is several times as small, is
        read ten times as fast, and opens with ``numpy.load``.

        Raises:
            OSError: If it cannot be written.
        """
        return atomic.write(path, self.saved(path))

    def saved(self, path: str | PathLike[str]) -> bytes | str:
        """What ``save`` writes into a file of this name."""
        return saved(self._document(), path)


def saved(document: dict[str, Any], path: str | PathLike[str]) -> bytes | str:
    """What a file of this name holds: an archive if it ends in ``.npz``, else JSON.

    Args:
        document: What ``results.file`` wrote.
        path: The name.
    """
    return packed(document) if Path(path).suffix.lower() == SUFFIX else json_text.text(document)


# --- written ----------------------------------------------------------------------------------------------------------


def packed(document: dict[str, Any]) -> bytes:
    """A document as an archive.

    Raises:
        OptionError: If it is too large for one.
    """
    kept = _copied(document)
    columns: dict[str, list[tuple[NDArray[Any], dict[str, Any]]]] = {}
    for member, holder, name, _ in slots(kept):
        if isinstance(holder[name], np.ndarray) and len(holder[name]) >= LONG:
            numbers, holder[name] = holder[name], {"array": member, "count": len(holder[name])}
            columns.setdefault(member, []).append((numbers, holder[name]))
    arrays = {member: _column(parts) for member, parts in columns.items()}
    return members.packed((TEXT, json_text.text(kept).encode()), arrays)


def _column(parts: list[tuple[NDArray[Any], dict[str, Any]]]) -> NDArray[Any]:
    """The numbers of several fields one after the other, in the form that needs fewer bytes; notes if it is another."""
    plain = np.concatenate([numbers for numbers, _ in parts])
    if plain.dtype.kind == "f":
        return members.narrowed(plain) if _narrow(plain) else plain.astype("<f8")
    narrow = members.narrowed(plain)
    if plain.ndim == 1:
        steps = members.narrowed(np.concatenate([np.diff(numbers, prepend=0) for numbers, _ in parts]))
        if steps.itemsize < 8 and members.deflated(steps) < members.deflated(narrow):
            for _, said in parts:
                said["differences"] = True
            return steps
    return narrow


def _narrow(numbers: NDArray[Any]) -> bool:
    """Whether floats are whole numbers that a narrow type holds; a zero with a sign is none."""
    return bool(
        (np.abs(numbers) < 2**31).all()
        and (numbers == np.rint(numbers)).all()
        and not np.signbit(numbers[numbers == 0]).any()
    )


def _copied(value: Any) -> Any:  # noqa: ANN401  JSON
    """The same objects and lists anew, with the same arrays."""
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


# --- read -------------------------------------------------------------------------------------------------------------


def values(content: bytes, source: str) -> Any:  # noqa: ANN401  JSON
    """The document that ``packed`` was given, as JSON values, with arrays in the place of long lists.

    Raises:
        ReleaseError: If this is no such archive, or members and fields do not fit together.
    """
    text, arrays = members.unpacked(content, TEXT, source)
    document = json_text.values(text, source)
    used = dict.fromkeys(arrays, 0)
    for member, holder, name, path in slots(document):
        said = holder[name]
        if isinstance(said, dict) and "array" in said:
            holder[name] = _taken(said, member, arrays, used, field(path))
    for member, count in used.items():
        if count < len(arrays[member]):
            raise damaged(f"{member}.npy", "has numbers that belong to no field")
    return document


def _taken(
    said: dict[str, Any], member: str, arrays: dict[str, NDArray[Any]], used: dict[str, int], where: str
) -> NDArray[Any]:
    """The numbers of a field."""
    count, steps = said.get("count"), said.get("differences", False)
    if said["array"] != member or member not in arrays:
        raise damaged(where, f"does not name its member {member}.npy")
    if type(count) is not int or not LONG <= count <= len(arrays[member]) - used[member]:
        raise damaged(where, f"has a count that is not what {member}.npy holds")
    if type(steps) is not bool or not said.keys() <= {"array", "count", "differences"}:
        raise damaged(where, "is written in an unknown form")
    numbers = arrays[member][used[member] : used[member] + count]
    used[member] += count
    if not steps:
        return numbers
    if numbers.dtype.kind != "i" or numbers.ndim != 1 or _furthest(numbers) * count >= 2**62:
        raise damaged(where, "has differences that are not narrow whole numbers")
    return np.cumsum(numbers)


def _furthest(numbers: NDArray[Any]) -> int:
    """The largest of the whole numbers without their signs."""
    return max(-int(numbers.min()), int(numbers.max()))


def slots(document: Any) -> Iterator[Slot]:  # noqa: ANN401  JSON
    """Every field that may hold an array, in the order of the document."""
    if not isinstance(document, dict):
        return
    yield from _fields(document, "", ())
    groups = document.get("groups")
    for i, group in enumerate(groups if isinstance(groups, list) else []):
        if isinstance(group, dict):
            yield from _fields(group, "groups.", ("groups", i))


def _fields(holder: dict[str, Any], prefix: str, path: tuple[str | int, ...]) -> Iterator[Slot]:
    for part, inner in holder.items():
        if isinstance(inner, dict) and part not in WHOLE:
            for name in inner:
                yield f"{prefix}{part}.{name}", inner, name, (*path, part, name)
