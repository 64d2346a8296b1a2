"""Several axes on one command line: each ``--column`` with the options that follow it."""

import csv
from collections.abc import Iterable
from typing import Any

from dawa.errors import SpecError
from dawa.spec import ranges
from dawa.spec.model import AxisSpec, Value


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
            raise SpecError(f"--{name} is given twice for one column.", "name each column before its options.")
        axis[name] = value
    if early and len(found) != 1:
        raise SpecError(f"--{next(iter(early))} stands before any --column.", "name each column before its options.")
    if early and (twice := set(early) & set(found[0])):
        raise SpecError(f"--{twice.pop()} is given twice for one column.", "give it once.")
    return tuple(_axis({**early, **axis}) for axis in found)


def _axis(given: dict[str, str]) -> AxisSpec:
    entries: dict[str, Any] = {name: given[name] for name in ("column", "step", "zone", "outside") if name in given}
    if "range" in given:
        entries["start"], entries["stop"] = ranges.split(given["range"])
    if "values" in given:
        entries["values"] = _categories(separated(given["values"]))
    if "edges" in given:
        entries["edges"] = tuple(separated(given["edges"]))
    return AxisSpec(**entries)


def separated(text: str) -> list[str]:
    """What stands between commas; an entry with a comma of its own stands in double quotes."""
    try:
        return [entry.strip() for entry in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        raise SpecError("A list has a line break in it.", "separate its entries by commas.") from None


def _categories(entries: list[str]) -> tuple[Value, ...]:
    """Whole numbers where all are that, else text."""
    try:
        numbers = [int(entry) for entry in entries]
    except ValueError:
        return tuple(entries)
    return tuple(numbers) if [str(number) for number in numbers] == entries else tuple(entries)
