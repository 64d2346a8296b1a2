"""From what was typed to a spec, and from a spec to axes, ranges, a table and a ledger.

A spec is either typed out, option by option, or a file that says all of it. Several axes stand on one command line:
each ``--column`` with the options that follow it. Everything public is checked before anything is spent, and no data is
touched here: a table is named, and opened by whoever counts it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dawa
from dawa import numerals
from dawa.cli import groups
from dawa.cli.options import LEDGER_VARIABLE, USUAL_LEDGER, Pairs, empty
from dawa.errors import OptionError, SpecError
from dawa.sources import forms
from dawa.sources.labels import public
from dawa.sources.tables import is_address, is_database
from dawa.spec.groups import separated

if TYPE_CHECKING:
    from dawa.axis import AutoAxis
    from dawa.axis.groups import Grouping
    from dawa.ledger import Account
    from dawa.queries.workload import Workload
    from dawa.sources import Table, TableLike
    from dawa.spec.model import AxisSpec, Spec
    from dawa.spec.ranges import Asked
    from dawa.spec.several import Several

BESIDE_A_FILE = {"source", "out"}
"""What may be typed beside a spec in a file, which says all the rest."""

WORDS: dict[str, bool] = {"true": True, "false": False}


@dataclass(frozen=True)
class Typed:
    """The options that describe a release, by name; those that were not given are None or empty.

    Attributes:
        of_axes: The options of axes, one by one.
        about: Words about the data, by option.
    """

    source: str
    of_axes: Pairs
    epsilon: str | None
    unit: str | None
    max_rows_per_unit: str | None
    ledger: str | None
    dataset: str | None
    delimiter: str | None
    quote: str | None
    escape: str | None
    encoding: str | None
    header: str | None
    decimal: str | None
    date_format: str | None
    missing: str | None
    format: str | None
    sheet: str | None
    table: str | None
    where: str | None
    by: list[str] | None
    other: bool
    queries: str | None
    mechanism: str | None
    option: list[str] | None
    seed: int | None
    about: Pairs
    out: str | None

    def spec(self) -> Spec | Several:
        """What these say, or the file that they name, which may describe several releases.

        Raises:
            DawaError: If that is not a release.
        """
        return self._in_a_file(self._given()) if self.source.endswith(dawa.spec.toml.SUFFIX) else self.typed()

    def _given(self) -> dict[str, Any]:
        """The options that were given, but those of axes."""
        nothing: tuple[Any, ...] = (None, [], (), False)
        return {name: value for name, value in vars(self).items() if name != "of_axes" and value not in nothing}

    def typed(self) -> Spec:
        """What these say, where they name a table."""
        given = self._given()
        found = axes(self.of_axes)
        options = _options(given.pop("option", ()))
        written = {name: _written(name, given.pop(name)) for name in dawa.spec.entries.DIALECT if name in given}
        by = groups.columns(given.pop("by", ()), other=given.pop("other", False))
        if not found:
            raise SpecError(
                "The release has no column.", "name the attribute and its bounds: --column age --range 0:120."
            )
        text = dawa.spec.model.declared(self.source, self.table, self.format, written)
        if "unit" in given:
            given["unit"] = _unit(given["unit"])
        if self.about:
            words = dict(self.about)
            read = dawa.spec.toml.read_about(words.pop("about")) if "about" in words else {}
            given["about"] = dawa.About(**{**read, **words})
        rows = numerals.whole(given.get("max_rows_per_unit", ""))
        if rows is not None:
            given["max_rows_per_unit"] = rows
        return dawa.spec.model.Spec(axes=found, options=options, dialect=text, by=by, **{"epsilon": None, **given})

    def _in_a_file(self, given: dict[str, Any]) -> Spec | Several:
        """What the file says; beside it, no option may change what was reviewed."""
        given.pop("about", None)
        for name in (*given, *(name for name, _ in (*self.of_axes, *self.about))):
            if name not in BESIDE_A_FILE:
                raise SpecError(
                    f"{_flag(name)} does not go with {public(self.source)}, which says all there is to say.",
                    "change the file, or leave the option out.",
                )
        read = dawa.spec.toml.read(self.source)
        return read if self.out is None else replace(read, out=self.out)


def axes(given: Iterable[tuple[str, str]]) -> tuple[AxisSpec, ...]:
    """The axes that options name, in the order in which they were typed.

    >>> axes([("column", "age"), ("range", "0:120")])[0].stop
    '120'

    Raises:
        SpecError: If an option comes twice, or before any column.
    """
    found: list[dict[str, str]] = []
    early: dict[str, str] = {}
    for name, value in given:
        if name == "column":
            found.append({"column": value})
            continue
        axis = found[-1] if found else early
        if name in axis:
            raise SpecError(f"{_flag(name)} is given twice for one column.", "name each column before its options.")
        axis[name] = value
    if early and len(found) != 1:
        flag = _flag(next(iter(early)))
        raise SpecError(f"{flag} stands before any --column.", "name each column before its options.")
    if early and (twice := set(early) & set(found[0])):
        raise SpecError(f"{_flag(twice.pop())} is given twice for one column.", "give it once.")
    return tuple(_axis({**early, **axis}) for axis in found)


def _flag(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"


def _axis(given: dict[str, str]) -> AxisSpec:
    names = ("column", "step", "zone", "outside", "share", "prefix")
    entries: dict[str, Any] = {name: given[name] for name in names if name in given}
    if "network" in given:
        entries["within"] = given["network"]
    if "if_missing" in given:
        entries["missing"] = given["if_missing"]
    if given.get("range") == "auto":
        entries["range"] = "auto"
    elif "range" in given:
        entries["start"], entries["stop"] = dawa.spec.notation.split(given["range"])
    if "values" in given:
        entries["values"] = groups.categories(separated(given["values"]))
    if "edges" in given:
        entries["edges"] = tuple(separated(given["edges"]))
    return dawa.spec.model.AxisSpec(**entries)


def _written(name: str, value: str) -> str | tuple[str, ...] | None:
    """What an option says of a text file.

    >>> _written("decimal", ","), _written("quote", "none"), _written("header", 'id,"last, first"')
    (',', None, ('id', 'last, first'))
    """
    if name in {"header", "missing"}:
        return tuple(separated(value))
    if name == "delimiter" and value.lower() in {"tab", "\\t"}:
        return "\t"
    return None if name in {"quote", "escape"} and value.lower() == "none" else value


def _unit(text: str) -> tuple[str, ...]:
    """The columns of a unit; none would silently protect single records."""
    columns = tuple(separated(text))
    if not columns or not all(columns):
        raise SpecError(
            "The unit is empty, or one of its columns is.", "write --unit person, or leave it out to protect each row."
        )
    return columns


def _options(texts: Iterable[str]) -> dict[str, str | int | bool]:
    """The mechanism's options, each of which comes once."""
    found: dict[str, str | int | bool] = {}
    for name, value in map(_option, texts):
        if name in found:
            raise OptionError(f"The option {name!r} is given twice.", "give it once.")
        found[name] = value
    return found


def _option(text: str) -> tuple[str, str | int | bool]:
    """One option of a mechanism's.

    >>> _option("effort=fast"), _option("branching=4"), _option("merge=false")
    (('effort', 'fast'), ('branching', 4), ('merge', False))
    """
    name, given, value = text.partition("=")
    if not (name and given and value):
        raise OptionError(
            f"{text!r} is not an option of a mechanism.", "write its name and value: --option effort=fast."
        )
    if value.lower() in WORDS:
        return name, WORDS[value.lower()]
    number = numerals.whole(value)
    return name, value if number is None else number


@dataclass(frozen=True)
class Meaning:
    """What a spec means, without a look at the data.

    Attributes:
        axes: The axes.
        asked: The ranges that matter most, if any were named.
        workload: The same in cells.
        ledger: The ledger that pays, if one does.
        by: The columns that put records into groups.
    """

    axes: tuple[dawa.Axis | AutoAxis, ...]
    asked: tuple[Asked, ...]
    workload: Workload | None
    ledger: str | None
    by: tuple[Grouping, ...] = ()


def meaning(spec: Spec) -> Meaning:
    """Read all that a spec names, except the data."""
    axes = tuple(axis.axis() for axis in spec.axes)
    if spec.queries is None:
        return Meaning(axes, (), None, _ledger(spec), spec.groups)
    asked = _asked(spec, axes)
    return Meaning(axes, asked, _workload(asked, axes), _ledger(spec), spec.groups)


def workload(spec: Spec, axes: tuple[dawa.Axis | AutoAxis, ...]) -> Workload | None:
    """The ranges that a spec names, in cells; None if it names none."""
    return None if spec.queries is None else _workload(_asked(spec, axes), axes)


def _asked(spec: Spec, axes: tuple[dawa.Axis | AutoAxis, ...]) -> tuple[Asked, ...]:
    """The ranges that matter most."""
    known = tuple(axis for axis in axes if isinstance(axis, dawa.Axis))
    if len(known) < len(axes):
        raise SpecError(
            "Ranges that matter most need bounds that are known, and these are to be found in the data.",
            "name the bounds in place of auto, or ask the ranges afterwards, with dawa query.",
        )
    return tuple(dawa.spec.ranges.listed(str(spec.queries), known))


def _workload(asked: tuple[Asked, ...], axes: tuple[dawa.Axis | AutoAxis, ...]) -> Workload | None:
    known = tuple(axis for axis in axes if isinstance(axis, dawa.Axis))
    return dawa.spec.ranges.workload(asked, known) if asked else None


def table(spec: Spec) -> TableLike:
    """What to read: a file, or a table of a database."""
    if spec.kind is not None:
        source = dawa.spec.model.expanded(spec.source) if is_address(spec.source) else spec.source
        return forms.declared(source, spec.format, spec.sheet, spec.dialect)
    return _table(spec) if spec.dialect is None else dawa.sources.Written(_table(spec), spec.dialect)


def _table(spec: Spec) -> str | Table:
    place = dawa.spec.model.expanded(spec.source) if is_address(spec.source) else spec.source
    if not is_database(spec.source):
        return place if spec.table is None else dawa.sources.table(Path(place), spec.table)
    if spec.table is None:
        return place
    schema, dot, name = spec.table.partition(".")
    return dawa.sources.table(place, name if dot else schema, schema if dot else None)


def reading(spec: Spec) -> tuple[str, ...]:
    """How a file would be read, in sentences; sources with types say by themselves what they hold."""
    if spec.kind is None:
        return () if spec.dialect is None else (spec.dialect.describe_values(),)
    found = forms.declared(spec.source, spec.format, spec.sheet, spec.dialect)
    if isinstance(found, dawa.sources.Workbook):
        return forms.describe(forms.EXCEL, found.dialect, found.sheet)
    if isinstance(found, dawa.sources.JsonLines):
        return forms.describe(forms.JSON_LINES, found.dialect)
    return found.dialect.describe() if isinstance(found, dawa.sources.TextFile) else ()


def account(ledger: str, spec: Spec) -> Account:
    """What the ledger says now; nothing is booked."""
    return dawa.ledger.opened(ledger).account(str(spec.dataset))


def times(found: Account, spec: Spec) -> int | None:
    """How many times the release would count in an account; None if the account counts for others."""
    return found.times(spec.unit, dawa.sources.label(table(spec)))


def _ledger(spec: Spec) -> str | None:
    """The ledger that is named, or the usual one where a dataset is."""
    if spec.ledger is None and os.environ.get(LEDGER_VARIABLE) == "":
        raise empty(LEDGER_VARIABLE)
    if spec.dataset is None:
        if LEDGER_VARIABLE in os.environ and spec.seed is not None:
            raise SpecError(
                f"{LEDGER_VARIABLE} names a ledger, and no ledger books a run with a seed: it is not private.",
                f"leave out the seed and name the dataset, or unset {LEDGER_VARIABLE}.",
            )
        if LEDGER_VARIABLE in os.environ:
            raise SpecError(
                f"{LEDGER_VARIABLE} names a ledger, but the release names no dataset that pays.",
                f"name it with --dataset, or unset {LEDGER_VARIABLE}.",
            )
        return None
    return dawa.spec.model.expanded(spec.ledger or os.environ.get(LEDGER_VARIABLE, USUAL_LEDGER))
