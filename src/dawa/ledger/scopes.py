"""For whom something counts: the units of a table. Scopes are compared here, and put into words.

A unit is named by columns: ``()`` stands for single records, ``("person", "day")`` for all records that agree in both
columns, and None for a unit that nobody said. The order of columns does not matter, and neither does case.
"""

import csv
import io
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dawa import check
from dawa.errors import LedgerError, printable

RECORD, UNKNOWN = "record", "unknown"
"""How single records, and units that nobody said, are written on a command line."""

FOR = "for"
"""The word in an entry's description under which the ledger says for whom it was spent, or for whom it counts."""

MOST_TIMES = 10**6
"""The largest factor of a relation."""

HINT = "pass 'record' for single records, or the column or columns that name the unit: unit='person'."

Unit = tuple[str, ...] | None
UnitLike = str | Sequence[str]
"""A unit as people write it: "record", the name of a column, or several names."""

Key = tuple[str | None, frozenset[str] | None]
"""A scope in a form that is equal for equal scopes."""


@dataclass(frozen=True)
class Scope:
    """A unit and a table.

    Attributes:
        unit: The columns that name the unit; none for single records, None if it is not said.
        table: The table's public name; None if it is not said.
    """

    unit: Unit = None
    table: str | None = None

    @property
    def key(self) -> Key:
        """The same for scopes that are the same."""
        return self.table, _key(self.unit)

    def alike(self, other: "Scope") -> bool:
        """Whether both name the same unit, whatever the table."""
        return self.unit is not None and _key(self.unit) == _key(other.unit)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"unit": None if self.unit is None else list(self.unit), "table": self.table}

    @classmethod
    def from_json(cls, data: Any) -> "Scope":  # noqa: ANN401  JSON
        """The scope that ``to_json`` wrote; an error of Python's own if somebody damaged it."""
        unit, table = data["unit"], data["table"]
        columns = unit if isinstance(unit, list) else []
        if not (unit is None or isinstance(unit, list)) or not all(isinstance(column, str) for column in columns):
            raise ValueError("not a unit")
        if not (table is None or isinstance(table, str)):
            raise ValueError("not a table")
        return cls(None if unit is None else tuple(unit), table)


def folded(name: str) -> str:
    """A name as it is compared: without case, and however its accents are encoded.

    >>> folded("HR") == folded("hr"), folded("Straße") == folded("STRASSE")
    (True, True)
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


_UNSEEN = [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFFFC, 0x16FE4, 0x1D159]
_UNSEEN += [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)]
UNSEEN = dict.fromkeys(_UNSEEN)
"""Letters that nobody sees, though they count as printable: fillers, joiners and choices between forms of a letter."""


def same_account(name: str) -> str:
    r"""The name of an account as it is compared: other forms of a letter, such as wide ones, are that letter.

    >>> same_account("\uff28\uff32") == same_account("hr"), same_account("\ufb01les") == same_account("files")
    (True, True)
    """
    seen = unicodedata.normalize("NFKC", name.translate(UNSEEN)).translate(UNSEEN)
    return folded(unicodedata.normalize("NFKC", folded(seen)))


def unit_of(unit: object) -> tuple[str, ...]:
    """The columns that name a unit; a column that is called record or unknown stands in a list.

    >>> unit_of("record"), unit_of("person"), unit_of(["person", "day"])
    ((), ('person',), ('person', 'day'))
    """
    if isinstance(unit, str) and unit == RECORD:
        return ()
    if isinstance(unit, str) and unit == UNKNOWN:
        raise unnamed()
    columns = (unit,) if isinstance(unit, str) else unit
    if not isinstance(columns, Sequence) or not all(isinstance(column, str) and column for column in columns):
        raise LedgerError("A unit is named by columns.", HINT)
    found = tuple(printable(column) for column in columns)
    if len(set(map(folded, found))) < len(found):
        raise LedgerError("A unit names a column twice; names are compared without case.", "name each column once.")
    return found


def unnamed() -> LedgerError:
    """The error about a unit that is called unknown, where somebody has to name it."""
    return LedgerError(
        f"'{UNKNOWN}' is not a unit: it stands for entries of old ledgers that do not say theirs.",
        f"name the unit: record, or columns; a column of that name is --unit '\"{UNKNOWN}\"', unit=['{UNKNOWN}'] in"
        " Python.",
    )


def table_of(table: object) -> str | None:
    """A table's public name on one line; None stays None."""
    if table is None:
        return None
    if not isinstance(table, str) or not table.strip():
        raise LedgerError(
            "A table is named by text in a ledger.", "pass the name that dawa.sources.label(table) gives."
        )
    return printable(table)


def times_of(times: object) -> int:
    """A factor, as a whole number: what counts less than once is counted once."""
    if not check.is_whole(times, 1, MOST_TIMES):
        raise LedgerError(
            "times must be a whole number of at least 1.",
            f"pass a number from 1 to {MOST_TIMES}; round fractions up: counting too much is safe.",
        )
    return int(times)


def parsed(text: str) -> Unit:
    """A unit as it is typed: record, unknown, or columns between commas.

    >>> parsed("record"), parsed("person, day"), parsed('"record"'), parsed("unknown")
    ((), ('person', 'day'), ('record',), None)
    """
    if text.strip() in {RECORD, UNKNOWN}:
        return () if text.strip() == RECORD else None
    try:
        columns = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        columns = []
    if not columns or not all(column.strip() for column in columns):
        raise LedgerError(f"{printable(text)!r} names no unit.", "write --unit record, or columns: --unit person,day.")
    return unit_of([column.strip() for column in columns])


def written(unit: Unit) -> str:
    """A unit as ``parsed`` reads it.

    >>> written(()), written(("person", "day")), written(("record",)), written(None)
    ('record', 'person,day', '"record"', 'unknown')
    """
    if not unit:
        return UNKNOWN if unit is None else RECORD
    if unit in {(RECORD,), (UNKNOWN,)}:
        return f'"{unit[0]}"'
    target = io.StringIO()
    csv.writer(target, lineterminator="").writerow(unit)
    return target.getvalue()


def typed(scope: Scope) -> str:
    """A scope as options of a command line."""
    table = "" if scope.table is None else f" --table {shlex.quote(scope.table)}"
    return f"--unit {shlex.quote(written(scope.unit))}{table}"


def each(unit: Unit) -> str:
    """A unit in words.

    >>> each(()), each(("person",)), each(("person", "day"))
    ('each record', "each 'person'", "each combination of 'person' and 'day'")
    """
    if not unit:
        return "a unit that nobody named" if unit is None else "each record"
    return f"each {_one(unit)}"


def told(scope: Scope) -> str:
    """A scope in words."""
    return each(scope.unit) if scope.table is None else f"{each(scope.unit)} in {scope.table}"


def advice(own: Scope, other: Scope) -> str:
    """How many times what ``other`` loses counts against ``own``: what a person has to know to say it.

    ``ledger.md`` proves the factors.
    """
    mine, theirs = _key(own.unit), _key(other.unit)
    if mine is None or theirs is None:
        return "once, if it is known to be the same unit"
    if other.table is not None and other.table != own.table:
        return _elsewhere(own, other, same=mine == theirs)
    if not theirs:
        return f"as many times as {_one(own.unit)} has records at most"
    if mine and mine < theirs:
        extra = " and ".join(repr(column) for column in other.unit or () if folded(column) not in mine)
        return f"as many times as {_one(own.unit)} has different values of {extra} at most"
    if not mine or theirs < mine:
        return f"2 times, because a record more may change which records of its {_one(other.unit)} are kept"
    return f"2k times, if the records of {_one(own.unit)} belong to at most k different values of {_one(other.unit)}"


def _elsewhere(own: Scope, other: Scope, *, same: bool) -> str:
    if same:
        whose = f" of the same {_one(own.unit)}" if own.unit else ""
        return f"once, if it is the same table under another name, or holds other records{whose}"
    theirs = f"units of {_one(other.unit)}" if other.unit else "records"
    return f"k times, if one {_one(own.unit)} more or less means at most k {theirs} more or less there"


def _one(unit: Unit) -> str:
    if not unit:
        return "record"
    names = [repr(column) for column in unit]
    return names[0] if len(names) == 1 else f"combination of {', '.join(names[:-1])} and {names[-1]}"


def _key(unit: Unit) -> frozenset[str] | None:
    return None if unit is None else frozenset(map(folded, unit))
