"""Entries before they have a place in the book: what callers pass, checked, but not yet compared with other entries."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from typing import Any

from dawa import budget
from dawa.errors import LedgerError, printable
from dawa.ledger import entries, scopes
from dawa.ledger.entries import (
    BIND,
    CREATE,
    FILE,
    FINALISE,
    RAISE,
    RELATE,
    RESERVE,
    START,
    TAKE_BACK,
    Entry,
    canonical,
    checked,
)
from dawa.ledger.scopes import FOR, Scope
from dawa.limits import MOST_FILE_DEPTH
from dawa.numerals import told
from dawa.results.paid import DIGEST


def create(dataset: object, cap: object, who: str | None, unit: object, table: object) -> Entry:
    """A new account; that it has a description at all shows that the ledger has version 3."""
    return entry(CREATE, dataset, who, cap=exact(cap, "cap"), what=scope(unit, table).to_json())


def raised(dataset: object, cap: object, who: str | None, why: object) -> Entry:
    """A higher cap."""
    return entry(RAISE, dataset, who, cap=exact(cap, "cap"), what={"why": checked(why, "why")})


def bind(dataset: object, who: str | None, why: object, unit: object, table: object) -> Entry:
    """For whom an account counts."""
    said = scope(unit, table)
    if said == Scope():
        raise LedgerError("Neither a unit nor a table is named.", "pass unit='person', or a table, or both.")
    return entry(BIND, dataset, who, what={FOR: said.to_json(), "why": checked(why, "why")})


def relate(dataset: object, who: str | None, why: object, unit: object, table: object, times: object) -> Entry:
    """How many times another unit counts."""
    what = {FOR: scope(unit, table).to_json(), "times": scopes.times_of(times), "why": checked(why, "why")}
    return entry(RELATE, dataset, who, what=what)


def reserve(
    dataset: object, epsilon: object, who: str | None, what: object, mechanism: object, unit: object, table: object
) -> Entry:
    """What is spent, for whom, on what."""
    spending = exact(epsilon, "epsilon")
    asked = Scope(scopes.unit_of(unit), scopes.table_of(table))
    told = {**described(what), FOR: asked.to_json()}
    return entry(RESERVE, dataset, who, epsilon=spending, what=told, mechanism=checked(mechanism, "mechanism"))


def take_back(number: int, who: str | None, why: object) -> Entry:
    """An undone reservation; its dataset is filled in when the reservation is found."""
    return _now(TAKE_BACK, "", who, reservation=number, what={"why": checked(why, "why")})


def finalise(reserved: Entry, release_id: object, file: str | PathLike[str] | None, digest: str | None = None) -> Entry:
    """The release that a reservation paid for, and its file."""
    return _now(
        FINALISE,
        reserved.dataset,
        reserved.who,
        reservation=reserved.number,
        release_id=checked(release_id, "release_id"),
        file=None if file is None else _path(file),
        what=None if digest is None else {DIGEST: checked(digest, DIGEST)},
    )


def filed(release_id: object, file: str | PathLike[str]) -> Entry:
    """Where a release is; its reservation is filled in when the release is found."""
    return _now(FILE, "", None, release_id=checked(release_id, "release_id"), file=_path(file))


def _path(file: object) -> str:
    if isinstance(file, (str, PathLike)) and isinstance(named := os.fspath(file), str):
        return printable(named)
    raise LedgerError(f"file={told(file)} is not a path.", "pass a path, as text.")


def entry(kind: str, dataset: object, who: str | None, **more: Any) -> Entry:  # noqa: ANN401  fields of an entry
    """An entry about a dataset."""
    return _now(kind, checked(dataset, "dataset"), who, **more)


def upgrade(who: str | None, what: dict[str, Any]) -> Entry:
    """The newest version, from here on."""
    return _now(entries.UPGRADE, "", who, what=what)


def _now(kind: str, dataset: str, who: str | None, **more: Any) -> Entry:  # noqa: ANN401  fields of an entry
    """An entry of this moment, without its place in the chain."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    name = entries.user() if who is None else checked(who, "who")
    return Entry(number=0, kind=kind, dataset=dataset, at=at, who=name, previous=START, **more)


def scope(unit: object, table: object) -> Scope:
    """A unit and a table as people write them; None stays None."""
    return Scope(None if unit is None else scopes.unit_of(unit), scopes.table_of(table))


def exact(number: object, name: str) -> Fraction:
    """A budget as it was written, if it has few enough digits to be booked."""
    return budget.exact(number, name)


def described(what: object) -> dict[str, Any]:
    """A description as it will be read back."""
    hint = "pass a dict of plain values: text, numbers, lists, dicts; exact numbers as text."
    if not isinstance(what, Mapping):
        raise LedgerError(f"what must be a dict, not {type(what).__name__}.", hint)
    if FOR in what:
        raise LedgerError(f"The ledger itself writes '{FOR}' into descriptions.", "choose another word for yours.")
    try:
        found = canonical(dict(what))
    except (TypeError, ValueError, RecursionError):
        raise LedgerError("what must hold plain JSON values only.", hint) from None
    read = dict(json.loads(found))
    _check_depth(read)
    return read


def _check_depth(what: dict[str, Any]) -> None:
    """Refuse what a reader of the ledger could not take apart."""
    level: list[Any] = [what]
    for _ in range(MOST_FILE_DEPTH):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [value for values in inner for value in values if isinstance(value, (dict, list))]
        if not level:
            return
    raise LedgerError(
        f"what holds lists or dicts that lie more than {MOST_FILE_DEPTH} deep in one another.", "pass it as text."
    )
