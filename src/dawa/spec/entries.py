"""What each entry of a spec in TOML may be: one small reader for each kind of value, and one for each table of entries.

A reader takes a value as TOML gives it and the key that it stands under. An unknown key is an error: reviewers must be
able to trust that what they see is what happens.
"""

import difflib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any

from dawa import numerals
from dawa.errors import ConditionError, SpecError
from dawa.numerals import NotANumberError, shortened, told
from dawa.sources.where_text import parsed as parsed_condition


class Bare(str):
    """A decimal number as it is written in the file, without quotes."""

    __slots__ = ()


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or isinstance(value, Bare) or not value:
        raise SpecError(f"{name} is not text.", f'put it in quotes: {name} = "…".')
    return value


def _number(value: object, name: str) -> str:
    """A number, a date or a fraction, as it is written."""
    if isinstance(value, bool) or not isinstance(value, (str, int, date, datetime)) or value == "":
        raise SpecError(f"{name} is neither a number nor a date.", f'write {name} = 0.5, or {name} = "1/3".')
    return str(value)


def _condition(value: object, name: str) -> str:
    text = _text(value, name)
    try:
        parsed_condition(text)
    except ConditionError as error:
        raise SpecError(shortened(error.problem), shortened(error.hint)) from None
    return text


def _day(value: object, name: str) -> str | date:
    """A date, in quotes or without, or a word that stands for one."""
    return value if isinstance(value, date) else _text(value, name)


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{name} is not a whole number.", f"write {name} = 1, for example.")
    return value


def _rows(value: object, name: str) -> int | str:
    """A whole number, or text that says how to find one."""
    return _text(value, name) if isinstance(value, str) and not isinstance(value, Bare) else _whole(value, name)


def _unit(value: object, name: str) -> tuple[str, ...]:
    """One column, or several; none would silently protect single records."""
    columns = (value,) if value == "" else _words(value, name) if isinstance(value, list) else (_text(value, name),)
    if not columns or not all(columns):
        raise SpecError(
            f"The {name} is empty, or one of its columns is.",
            f'write {name} = "person", or leave it out to protect each record.',
        )
    return columns


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise SpecError(f"{name} is not a list.", f"write {name} = [1, 2, 3], for example.")
    return value


def _numbers(value: object, name: str) -> tuple[str, ...]:
    return tuple(_number(entry, name) for entry in _list(value, name))


def _categories(value: object, name: str) -> tuple[str | int | bool, ...]:
    entries = _list(value, name)
    if any(isinstance(entry, Bare) or not isinstance(entry, (str, int)) for entry in entries):
        raise SpecError(f"{name} are not categories.", f'write {name} = ["low", "high"]; whole numbers work too.')
    return tuple(entries)


def _words(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or any(isinstance(entry, Bare) or not isinstance(entry, str) for entry in value):
        raise SpecError(f"{name} is not a list of text.", f'write {name} = ["a", "b"], for example.')
    return tuple(value)


def _yes(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise SpecError(f"{name} is neither true nor false.", f"write {name} = true, without quotes, or leave it out.")
    return value


def _mark(value: object, name: str) -> str | None:
    """A character; ``false`` means that there is none."""
    return None if value is False else _text(value, name)


def table(value: object, name: str) -> dict[str, Any]:
    """A table of entries."""
    if not isinstance(value, dict):
        raise SpecError(f"{name} is not a table.", f"write a line [{name}], and its entries below it.")
    return value


def _options(value: object, name: str) -> dict[str, Any]:
    """Plain values; the mechanism checks what they mean."""
    options = {}
    for option, entry in table(value, name).items():
        options[option] = _plain(entry, option)
    return options


def _plain(value: object, name: str) -> Any:  # noqa: ANN401  whatever a mechanism takes
    """Numbers, text, or lists of them."""
    if isinstance(value, list) and not any(isinstance(entry, (list, dict)) for entry in value):
        return [_plain(entry, name) for entry in value]
    if isinstance(value, (list, dict, date, datetime, time)):
        raise SpecError(f"The option {told(name)} is not a plain value.", "pass text, a number, or a list of numbers.")
    try:
        return numerals.real(value) if isinstance(value, Bare) else value
    except NotANumberError as error:
        raise SpecError(f"The option {told(name)} {error}.", "pass another number.") from None


Reader = Callable[[object, str], Any]

DIALECT: dict[str, Reader] = {
    "delimiter": _text,
    "quote": _mark,
    "escape": _text,
    "encoding": _text,
    "header": _words,
    "decimal": _text,
    "date_format": _text,
    "missing": _words,
}
"""The keys of a dialect, under [source]."""
SECTIONS: dict[str, dict[str, Reader]] = {
    "source": {
        "file": _text,
        "url": _text,
        "table": _text,
        "where": _condition,
        "format": _text,
        "sheet": _text,
        **DIALECT,
    },
    "privacy": {"epsilon": _number, "unit": _unit, "max_rows_per_unit": _rows, "ledger": _text, "dataset": _text},
    "release": {"mechanism": _text, "options": _options, "queries": _text, "out": _text, "seed": _whole},
}
AXIS: dict[str, Reader] = {
    "column": _text,
    "kind": _text,
    "start": _number,
    "stop": _number,
    "step": _number,
    "values": _categories,
    "edges": _numbers,
    "zone": _text,
    "within": _text,
    "prefix": _whole,
    "outside": _text,
    "missing": _text,
    "range": _text,
    "share": _number,
}
BY: dict[str, Reader] = {"column": _text, "values": _categories, "other": _yes}
"""The keys of a grouping column, under [[by]]."""
ABOUT: dict[str, Reader] = {
    "title": _text,
    "description": _text,
    "record": _text,
    "plural": _text,
    "publisher": _text,
    "contact": _text,
    "data_from": _day,
    "data_to": _day,
    "released": _day,
    "licence": _text,
}


def entries(found: dict[str, Any], keys: Mapping[str, Reader], where: str) -> dict[str, Any]:
    """The entries of a table, each checked."""
    known(found, keys, where)
    return {key: keys[key](value, key) for key, value in found.items()}


def known(found: Mapping[str, Any], keys: Mapping[str, Any], where: str) -> None:
    """Refuse a key that nobody would read."""
    for key in found:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(keys)}."
            raise SpecError(f"{where} has an unknown key {told(key)}.", hint)
