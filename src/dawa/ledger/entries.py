"""What a ledger holds: entries that are only ever added, each with a hash of the one before it.

The hash of an entry covers every field and the hash of its predecessor. So an entry that was changed, removed or
inserted breaks the chain from there on. Exact numbers are text: a database must not round them.

Names and notes are checked to fit on one line of a terminal or an error, and into any database.
"""

import functools
import gc
import getpass
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from dawa.budget import fraction
from dawa.errors import LedgerError, printable

START = "0" * 64
"""The hash that the first entry has in place of its predecessor's."""

CREATE, RAISE, RESERVE, FINALISE, FILE, TAKE_BACK, BIND, RELATE, UPGRADE = KINDS = (
    "create",
    "raise",
    "reserve",
    "finalise",
    "file",
    "take-back",
    "bind",
    "relate",
    "upgrade",
)

NEWEST = 3
"""The newest version of ledgers: each account counts for a unit of a table."""

SINCE = {TAKE_BACK: 2, BIND: NEWEST, RELATE: NEWEST, UPGRADE: NEWEST}
"""The version of ledgers that introduced a kind, if it is not the first version."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the book.

    Attributes:
        number: Its place, from 1 on, without gaps.
        kind: ``create`` and ``raise`` set a cap, ``reserve`` spends, ``finalise`` names the release that a reservation
            paid for, ``file`` says where that release was written, ``take-back`` undoes a reservation whose result
            nobody saw, ``bind`` says for whom an account counts, ``relate`` how many times another unit counts in it,
            ``upgrade`` that the ledger has the newest version from here on.
        dataset: Whose budget it concerns; empty for ``upgrade``, which concerns all.
        at: When, in UTC by the writer's clock, as ISO 8601.
        who: Who wrote it, by their own account.
        epsilon: What was spent, for ``reserve``.
        cap: The new cap, for ``create`` and ``raise``.
        mechanism: What it was spent on, for ``reserve``.
        what: The description of the release, or a reason; plain JSON values.
        reservation: The number of the entry that this one follows up, for ``finalise``, ``file`` and ``take-back``.
        release_id: The release that was made.
        file: Where the release was written.
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

_TEXT = json.JSONEncoder(separators=(",", ":"), default=repr).encode
_number = functools.lru_cache(fraction)  # a ledger's numbers are few, and written thousands of times


def canonical(what: Mapping[str, Any]) -> str:
    """A description as JSON, the same text for equal values; TypeError or ValueError if JSON cannot hold it."""
    return json.dumps(what, sort_keys=True, separators=(",", ":"), allow_nan=False)


def row(entry: Entry) -> tuple[Any, ...]:
    """An entry as a database holds it: whole numbers and text, in the order of ``COLUMNS``."""
    found = {**entry.to_json(), "what": None if entry.what is None else canonical(entry.what)}
    return tuple(found[name] for name in COLUMNS)


def read(row: Sequence[Any]) -> Entry:
    """The entry with these fields, as ``row`` gives them; ValueError, TypeError or LookupError if they are damaged."""
    found = dict(zip(COLUMNS, row, strict=True))
    if found["kind"] not in KINDS:
        raise ValueError("an unknown kind")
    for name in ("epsilon", "cap"):
        if found[name] is not None:
            found[name] = _number(found[name])
    if found["what"] is not None:
        found["what"] = json.loads(found["what"])
    return Entry(**found)


def digest(row: Sequence[Any]) -> str:
    """The hash of all fields of a row except the hash itself, which comes last."""
    return hashlib.sha256(_TEXT(row[:-1]).encode()).hexdigest()


def needed(entry: Entry) -> int:
    """The version of ledgers that an entry needs; accounts that were opened before version 3 have no description."""
    return NEWEST if entry.kind == CREATE and entry.what is not None else SINCE.get(entry.kind, 1)


def version(found: Iterable[Entry]) -> int:
    """The version of a ledger with these entries, read off the entries themselves: the chain protects them."""
    return max(map(needed, found), default=NEWEST)


def first_broken(rows: Iterable[Sequence[Any]]) -> int | None:
    """The place of the first row that does not follow from those before; None if all do."""
    previous = START
    for place, found in enumerate(rows, 1):
        if (found[0], *found[-2:]) != (place, previous, digest(found)):
            return place
        previous = found[-1]
    return None


@contextmanager
def kept() -> Iterator[None]:
    """Let Python not look for garbage among thousands of entries, none of which is."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


LONGEST = 200
"""The most characters in a name."""


def checked(value: object, what: str) -> str:
    """Text that fits on one line, or an error."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or not value.isprintable() or value.strip() != value:
        raise LedgerError(
            f"{what} must be a line of text.",
            f"pass 1 to {LONGEST} printable characters that neither begin nor end with a space.",
        )
    return value


def user() -> str:
    """The operating system's user name; in containers, users may have none."""
    try:
        return printable(getpass.getuser())[:LONGEST].strip() or "unknown"
    except (ImportError, KeyError, OSError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
