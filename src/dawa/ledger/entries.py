"""What a ledger holds: entries that are only ever added, each with a hash of the one before it.

The hash of an entry covers every field and the hash of its predecessor, so that an entry that was changed, removed or
slipped in breaks the chain from there on. Exact numbers are text: a database must not round them.

Names and notes that fit on one line: of a terminal, of an error, of any database.
"""

import getpass
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from dawa.budget import fraction
from dawa.errors import LedgerError

START = "0" * 64
"""What the first entry has for a predecessor's hash."""

CREATE, RAISE, RESERVE, FINALISE, FILE, TAKE_BACK = KINDS = (
    "create",
    "raise",
    "reserve",
    "finalise",
    "file",
    "take-back",
)

SINCE = {TAKE_BACK: 2}
"""The version of ledgers that a kind came with, where it is not the first."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the book.

    Attributes:
        number: Its place, from 1 on, without gaps.
        kind: ``create`` and ``raise`` set a cap, ``reserve`` spends, ``finalise`` names the release that came of a
            reservation, ``file`` says where that release was written, ``take-back`` undoes a reservation of which
            nothing was seen.
        dataset: Whose budget it concerns.
        at: When, in UTC by the writer's clock, as ISO 8601.
        who: Who wrote it, by their own account.
        epsilon: What was spent, for ``reserve``.
        cap: The new cap, for ``create`` and ``raise``.
        mechanism: What it was spent on, for ``reserve``.
        what: The description of the release, or a reason; plain JSON values.
        reservation: The number of the entry that this one follows up, for ``finalise``, ``file`` and ``take-back``.
        release_id: The release that came of it.
        file: Where it was written.
        previous: The hash of the entry before.
        hash: The hash of all of the above.
    """

    number: int
    kind: str
    dataset: str
    at: str
    who: str
    epsilon: Fraction | None = None
    cap: Fraction | None = None
    mechanism: str | None = None
    what: dict[str, Any] | None = None
    reservation: int | None = None
    release_id: str | None = None
    file: str | None = None
    previous: str
    hash: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {**asdict(self), **{name: _text(getattr(self, name)) for name in ("epsilon", "cap")}}


COLUMNS = tuple(field.name for field in fields(Entry))


def canonical(what: Mapping[str, Any]) -> str:
    """A description as JSON, the same text for the same value; TypeError or ValueError if JSON cannot hold it."""
    return json.dumps(what, sort_keys=True, separators=(",", ":"), allow_nan=False)


def row(entry: Entry) -> dict[str, Any]:
    """An entry as a database holds it: whole numbers and text."""
    return {**entry.to_json(), "what": None if entry.what is None else canonical(entry.what)}


def read(row: Mapping[str, Any]) -> Entry:
    """The entry that ``row`` wrote; a ValueError, TypeError or LookupError if somebody damaged it."""
    if row["kind"] not in KINDS:
        raise ValueError("an unknown kind")
    numbers = {name: None if row[name] is None else fraction(row[name]) for name in ("epsilon", "cap")}
    what = None if row["what"] is None else json.loads(row["what"])
    return Entry(**{**row, **numbers, "what": what})


def digest(row: Mapping[str, Any]) -> str:
    """The hash of a row, of all but the hash itself."""
    text = json.dumps([row[name] for name in COLUMNS if name != "hash"], separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def first_broken(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """The place from which on the rows do not follow from each other; None if they all do."""
    previous = START
    for place, found in enumerate(rows, 1):
        if (found["number"], found["previous"], found["hash"]) != (place, previous, digest(found)):
            return place
        previous = found["hash"]
    return None


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


LONGEST = 200
"""Characters in a name."""


def checked(value: object, what: str) -> str:
    """Text that can stand in a line."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or not value.isprintable() or value.strip() != value:
        raise LedgerError(
            f"{what} must be a line of text.",
            f"pass 1 to {LONGEST} printable characters that neither begin nor end with a space.",
        )
    return value


def escaped(text: str) -> str:
    r"""Text that fits on a line of any terminal and in any database.

    >>> print(escaped("a" + chr(10) + "b"))
    a\nb
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "backslashreplace").decode()
        for letter in text
    )


def user() -> str:
    """The operating system's user name; containers have users without one."""
    try:
        return escaped(getpass.getuser()) or "unknown"
    except (ImportError, KeyError, OSError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
