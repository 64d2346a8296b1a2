"""A spec in a TOML file, so that a release can be reviewed before it is made, and repeated afterwards.

Numbers are kept the way they are written, quoted or not. Paths are relative to the file. An unknown key is an error:
reviewers must be able to trust that what they see is what happens.
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from dawa.budget import shown
from dawa.errors import DawaError, SpecError
from dawa.host import atomic
from dawa.limits import MOST_SPEC_BYTES
from dawa.numerals import brief, shortened
from dawa.results.about import About
from dawa.sources import dialect, forms
from dawa.sources.dialect import Dialect
from dawa.sources.labels import public
from dawa.sources.tables import STANDARD_INPUT, is_address
from dawa.spec import several
from dawa.spec.entries import ABOUT, AXIS, BY, DIALECT, SECTIONS, Bare, entries, known, table
from dawa.spec.model import AxisSpec, GroupSpec, Spec, beside, declared, without_password
from dawa.spec.several import Several

SUFFIX = ".toml"

DOTTED = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
"""A key of a hundred parts: the reader's time grows with the square of their number."""


def read(path: str | os.PathLike[str]) -> Spec | Several:
    """Read the spec of a release, or of several.

    Raises:
        SpecError: If there is no such file, or it is not a spec.
    """
    if is_address(os.fspath(path)):
        raise SpecError(f"{public(os.fspath(path))} is not a file here.", "download the spec first.")
    source = Path(path)
    return parsed(decoded(_bytes(source, "a spec, such as spec.toml"), source), source)


def read_about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Words about the data from a file of their own, TOML or JSON, with the keys of ``[about]``.

    Raises:
        SpecError: If there is no such file, it is neither, or it says something else.
    """
    source = Path(path)
    kind = source.suffix.lower()
    if is_address(os.fspath(path)) or kind not in {SUFFIX, ".json"}:
        raise SpecError(f"{public(os.fspath(path))} is no file of words.", "pass one that ends with .toml or .json.")
    text = decoded(_bytes(source, "a file of words, such as about.toml"), source)
    data = _toml(text, source) if kind == SUFFIX else _json(text, source)
    try:
        found = entries(table(data["about"] if set(data) == {"about"} else data, "about"), ABOUT, "The file")
        _about(found)
    except SpecError as error:
        raise SpecError(f"{source}: {shortened(error.problem)}", shortened(error.hint)) from None
    return found


def _bytes(source: Path, what: str) -> bytes:
    """What is in a file, and no more than may be."""
    try:
        with source.open("rb") as opened:
            return opened.read(MOST_SPEC_BYTES + 1)
    except FileNotFoundError:
        raise SpecError(f"There is no file {source}.", f"pass the path of {what}.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this cannot be a name"
        raise SpecError(f"{source} cannot be read: {reason}.", "pass a text file of TOML.") from None


def _json(text: str, path: Path) -> dict[str, Any]:
    """The values in a text of JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise SpecError(f"{path} is not an object of JSON.", 'write {"title": "Flights"}, for example.')
    return data


def decoded(content: bytes, path: Path) -> str:
    """The bytes of a spec as text.

    Raises:
        SpecError: If there are too many of them, or they are not text.
    """
    if len(content) > MOST_SPEC_BYTES:
        raise SpecError(f"{path} has more than {MOST_SPEC_BYTES:,} bytes.", "pass a text file of TOML.")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise SpecError(f"{path} cannot be read: it is not text.", "pass a text file of TOML.") from None


def parsed(text: str, path: Path = Path(f"spec{SUFFIX}")) -> Spec | Several:
    """The spec in a text; ``path`` is the file that holds the text, or would hold it.

    >>> parsed('''
    ... [source]
    ... file = "people.parquet"
    ... [[axes]]
    ... column = "age"
    ... start = 0
    ... stop = 120
    ... [privacy]
    ... epsilon = 0.5
    ... ''').epsilon
    Fraction(1, 2)
    """
    data = _toml(text, path)
    try:
        if isinstance(data.get("release"), list):
            return several.parsed(data, path.parent, _spec, partial(beside, path.parent))
        return _spec(data, path.parent)
    except SpecError as error:
        raise SpecError(f"{path}: {shortened(error.problem)}", shortened(error.hint)) from None


def _toml(text: str, path: Path) -> dict[str, Any]:
    """The values in a text of TOML."""
    if DOTTED.search(text):
        raise SpecError(f"{path} has a key of more than 100 parts.", "no key of a spec has more than two.")
    try:
        return tomllib.loads(text, parse_float=Bare)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"{path} is not TOML: {brief(_lower(str(error)))}.", "correct that line; strings need quotes."
        ) from None
    except (ValueError, RecursionError):
        raise SpecError(
            f"{path} has a number of too many digits, or values too deep in one another.",
            "write numbers with a power of ten; no value of a spec lies in a list of lists.",
        ) from None


def written(spec: Spec, folder: Path) -> str:
    """The spec as TOML, to be written into a file in this folder.

    Raises:
        SpecError: If it holds a password.
    """
    place: dict[str, Any] = (
        {"url": without_password(spec.source, "source")}
        if is_address(spec.source)
        else {"file": _seen_from(folder, spec.source)}
    )
    place |= {
        "table": spec.table,
        "where": spec.where,
        "format": spec.format,
        "sheet": spec.sheet,
        **_dialect_entries(spec),
    }
    ledger = spec.ledger and (
        without_password(spec.ledger, "ledger") if is_address(spec.ledger) else _seen_from(folder, spec.ledger)
    )
    privacy = {
        "epsilon": _decimal(spec.epsilon),
        "unit": spec.unit[0] if len(spec.unit) == 1 else spec.unit or None,
        "max_rows_per_unit": spec.max_rows_per_unit,
        "ledger": ledger,
        "dataset": spec.dataset,
    }
    release = {
        "mechanism": spec.mechanism,
        "queries": spec.queries and _seen_from(folder, spec.queries),
        "out": spec.out and _seen_from(folder, spec.out),
        "seed": spec.seed,
    }
    parts = [
        "# What dawa releases. Check it with `dawa plan`, make it with `dawa release`, followed by this file's name.",
        _section("[source]", place),
        *(_section("[[axes]]", _axis_entries(axis)) for axis in spec.axes),
        *(_section("[[by]]", _group_entries(one)) for one in spec.by),
        _section("[privacy]", privacy, comment="epsilon is spent in full; without a unit, each record is protected"),
        _section("[release]", release),
    ]
    if spec.about is not None:
        parts.insert(1, _section("[about]", _about_entries(spec.about), comment="for readers, who see all of it"))
    if spec.options:
        parts.append(_section("[release.options]", spec.options))
    return "\n\n".join(parts) + "\n"


def save(spec: Spec, path: str | os.PathLike[str]) -> Path:
    """Write the spec into a new file; a file that already holds the same text is left as it is.

    Raises:
        SpecError: If the file holds something else, cannot be written, or would hold a password.
    """
    target = Path(path)
    text = written(spec, target.parent)
    try:
        atomic.write(target, text, new=True)
    except FileExistsError:
        if target.is_file() and target.read_bytes() == text.encode():
            return target
        raise SpecError(f"{target} exists already.", "choose another name, or move the file away first.") from None
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "some of it is not text"
        raise SpecError(f"{target} cannot be written: {reason}.", "choose another place.") from None
    return target


def _spec(data: dict[str, Any], folder: Path) -> Spec:
    known(data, {**SECTIONS, "axes": AXIS, "by": BY, "about": ABOUT}, "The file")
    source, privacy, release = (
        entries(table(data.get(name, {}), name), keys, f"[{name}]") for name, keys in SECTIONS.items()
    )
    axes, by = _tables(data, "axes", "axis"), _tables(data, "by", "grouping column")
    if ("file" in source) == ("url" in source):
        raise SpecError("[source] must name one file or one url.", 'write file = "people.parquet", for example.')
    place = source["file"] if "file" in source else without_password(source["url"], "url")
    written = {name: source[name] for name in DIALECT if name in source}
    if "ledger" in privacy:
        privacy["ledger"] = beside(folder, without_password(privacy["ledger"], "ledger"))
    for name in ("queries", "out"):
        if name in release:
            release[name] = beside(folder, release[name])
    return Spec(
        beside(folder, place) if "file" in source else place,
        tuple(_axis(entries(axis, AXIS, "[[axes]]")) for axis in axes),
        privacy.pop("epsilon", None),
        table=source.get("table"),
        dialect=_dialect(source, beside(folder, place) if "file" in source else place, written),
        where=source.get("where"),
        about=_about(entries(table(data.get("about", {}), "about"), ABOUT, "[about]")),
        format=source.get("format"),
        sheet=source.get("sheet"),
        by=tuple(_grouping(entries(one, BY, "[[by]]")) for one in by),
        **privacy,
        **release,
    )


def _tables(data: dict[str, Any], name: str, each: str) -> list[dict[str, Any]]:
    """A list of tables."""
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise SpecError(f"{name} is not a list of tables.", f"write a line [[{name}]] above each {each}.")
    return found


def _about(words: dict[str, Any]) -> About | None:
    try:
        return About(**words) if words else None
    except DawaError as error:
        raise SpecError(error.problem, error.hint) from None


def _about_entries(about: About) -> dict[str, str]:
    """Words about the data; a description of several lines is written as such."""
    words = about.to_json()
    if "\n" in words.get("description", ""):
        lines = (_literal(line)[1:-1] for line in words["description"].split("\n"))
        words["description"] = Bare('"""\n{}"""'.format("\n".join(lines)))
    return words


def _dialect(source: dict[str, Any], path: str, entries: dict[str, Any]) -> Dialect | None:
    try:
        return declared(path, source.get("table"), source.get("format"), entries)
    except DawaError as error:
        raise SpecError(error.problem, error.hint) from None


def _dialect_entries(spec: Spec) -> dict[str, Any]:
    """The parts of a dialect that differ from the default, and always one that says that there is a dialect."""
    if spec.dialect is None:
        return {}
    always = "delimiter" if spec.kind == forms.TEXT else "decimal"
    ending = "" if spec.kind is None else forms.ending(spec.source, spec.format) or spec.source
    found, usual = asdict(spec.dialect), asdict(dialect.of(ending))
    told = {name: value for name, value in found.items() if name == always or value != usual[name]}
    return {name: False if value is None else value for name, value in told.items()}


def _axis(entries: dict[str, Any]) -> AxisSpec:
    if "column" not in entries:
        raise SpecError("An axis has no column.", 'write column = "age" below [[axes]].')
    try:
        return AxisSpec(**entries)
    except DawaError as error:
        raise SpecError(error.problem, error.hint) from None


def _grouping(entries: dict[str, Any]) -> GroupSpec:
    for name, example in (("column", '"carrier"'), ("values", '["AA", "UA"]')):
        if name not in entries:
            raise SpecError(f"A grouping column has no {name}.", f"write {name} = {example} below [[by]].")
    return GroupSpec(**entries)


def _group_entries(one: GroupSpec) -> dict[str, Any]:
    return {"column": one.column, "values": one.values, "other": one.other or None}


def _axis_entries(axis: AxisSpec) -> dict[str, Any]:
    entries = {key: getattr(axis, key) for key in AXIS}
    numbers = ("start", "stop", "step", "share")
    return entries | {key: _bare(entries[key]) for key in numbers if entries[key] is not None}


def _section(title: str, entries: Mapping[str, Any], comment: str = "") -> str:
    lines = [f"{_key(key)} = {_literal(value)}" for key, value in entries.items() if value is not None]
    return "\n".join([f"{title}  # {comment}" if comment else title, *lines])


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _literal(key)


def _literal(value: object) -> str:
    """A value as TOML."""
    if isinstance(value, Bare):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(entry) for entry in value)}]"
    escaped = (f"\\U{ord(c):08x}" if ord(c) < 32 or ord(c) == 127 else "\\" * (c in '"\\') + c for c in str(value))
    return f'"{"".join(escaped)}"'


def _bare(text: str) -> str:
    """Text without quotes, if it reads back as a number with the same text."""
    return Bare(text) if re.fullmatch(r"(?!-0$)-?(0|[1-9]\d*)(\.\d+)?", text, re.ASCII) else text


def _decimal(epsilon: Fraction) -> str:
    """Epsilon as a decimal number if that is exact, otherwise as a fraction in quotes."""
    text = shown(epsilon)
    return text if "/" in text else Bare(text)


def _seen_from(folder: Path, path: str) -> str:
    """A path relative to the folder if it lies inside, otherwise in full."""
    if path == STANDARD_INPUT:
        return path
    full = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
    inside = full.is_relative_to(os.path.abspath(folder))  # noqa: PTH100  same here
    return str(full.relative_to(os.path.abspath(folder))) if inside else str(full)  # noqa: PTH100  same here


def _lower(sentence: str) -> str:
    """A sentence that can follow a colon."""
    return sentence[:1].lower() + sentence[1:]
