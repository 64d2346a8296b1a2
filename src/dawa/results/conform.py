"""JSON values held against the published schema, before anything is made of them.

The schema is the one place that says which fields a release has, of which types and in which ranges; this module reads
it, so that what is published is what is checked. It knows the words of JSON Schema that the file uses, and refuses
others when it is loaded. Lists of numbers are checked all at once, and come back as arrays.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np

from dawa.errors import ReleaseError
from dawa.numerals import told
from dawa.results.json_text import RESTORE

Schema = dict[str, Any]
Check = Callable[[Any, tuple[str | int, ...]], Any]
"""Takes a value and where it is; returns the value, with arrays in the place of lists of numbers."""

TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}
WORDS = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
}
SILENT = {"$schema", "$id", "$defs", "title", "description"}
"""Words of a schema that check nothing."""


SCHEMAS = {"urn:dawa:release:2": "release-2.json", "urn:dawa:release:3": "release-3.json"}
"""The files of the schemas, by their ``$id``; the later one refers to parts of the earlier."""
PLAIN, GROUPED = SCHEMAS
"""The schema of a release, and of one with groups."""


class DamageError(ReleaseError):
    """A field of a release that cannot be; it knows where the field is."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"This release is damaged: {where} {what}.", RESTORE)
        self.where, self.what = where, what

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Both parts."""
        return type(self), (self.where, self.what)


def conforming(data: Any, schema: str = PLAIN) -> dict[str, Any]:  # noqa: ANN401  JSON
    """A release's values, with arrays in the place of lists of numbers, if they are as the schema says.

    Raises:
        ReleaseError: If they are not; the error names the field.
    """
    found: dict[str, Any] = _root(schema)(data, ())
    return found


def damaged(where: str, problem: str) -> DamageError:
    """The error about a field of a release."""
    return DamageError(where, problem)


@contextmanager
def within(outer: str) -> Iterator[None]:
    """Errors about fields of a part of the file, which say which part that is."""
    try:
        yield
    except DamageError as error:
        raise damaged(f"{outer}.{error.where}", error.what) from error


def field(path: tuple[str | int, ...]) -> str:
    """Where a value is, as people write it.

    >>> field(("buckets", "bounds", 3)), field(())
    ('buckets.bounds[3]', 'the file')
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{told(part)[1:-1]}" for part in path)
    return "".join(parts).removeprefix(".") or "the file"


@cache
def _root(name: str) -> Check:
    return _compiler(name).compiled()


@cache
def _compiler(name: str) -> "Compiler":
    text = resources.files("dawa").joinpath(f"results/schema/{SCHEMAS[name]}").read_text(encoding="utf-8")
    return Compiler(json.loads(text))


class Compiler:
    """Makes a check of every part of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.shared: dict[str, Check] = {}

    def compiled(self) -> Check:
        """The check of a whole document."""
        return self._node(self.schema)

    def _node(self, schema: Schema) -> Check:
        if "$ref" in schema:
            document, _, part = schema["$ref"].partition("#")
            return (_compiler(document) if document else self)._shared(part)  # noqa: SLF001  of another schema
        if "oneOf" in schema:
            return self._choice(schema["oneOf"])
        if schema.get("type") == "array":
            numbers = self._numbers(schema)
            if numbers is not None:
                return numbers
        steps = list(self._steps(schema))

        def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
            for step in steps:
                value = step(value, path)
            return value

        return check

    def _shared(self, place: str) -> Check:
        """A part of the schema by its place, such as ``/$defs/column``; it may refer to itself."""

        def late(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
            if place not in self.shared:
                self.shared[place] = self._node(self._at(place))
            return self.shared[place](value, path)

        return late

    def _at(self, place: str) -> Schema:
        found: Any = self.schema
        for step in place.split("/")[1:]:
            found = found[int(step) if isinstance(found, list) else step]
        return dict(found)

    def _steps(self, schema: Schema) -> Iterator[Check]:
        """One check after the other, the type first."""
        known = {word: part for word, part in schema.items() if word not in SILENT}
        if "type" in known:
            yield _of_type(known.pop("type"))
        for word in known.keys() & {"const", "enum"}:
            yield _among([known.pop(word)] if word == "const" else known.pop(word))
        if known.keys() & {"pattern", "maxLength"}:
            yield _text(known.pop("pattern", None), known.pop("maxLength", math.inf))
        if known.keys() & BOUNDS.keys():
            yield _scalar({word: known.pop(word) for word in BOUNDS if word in known})
        if known.keys() & {"items", "minItems", "maxItems"}:
            counts = known.pop("minItems", 0), known.pop("maxItems", math.inf), known.pop("uniqueItems", False)
            yield _listed(self._node(known.pop("items", {})), *counts)
        if known.keys() & {"properties", "required", "additionalProperties", "propertyNames", "maxProperties"}:
            yield self._object(known)
        if "if" in known:
            parts = [self._node(known.pop(word, {})) for word in ("if", "then", "else")]
            yield _implied(*parts)
        if known:
            raise NotImplementedError(f"The schema says {', '.join(known)}.")

    def _object(self, schema: Schema) -> Check:
        """The fields of an object; unknown ones are left as they are, unless the schema describes them."""
        known = {name: self._node(part) for name, part in schema.pop("properties", {}).items()}
        required, most = schema.pop("required", []), schema.pop("maxProperties", math.inf)
        rest = schema.pop("additionalProperties", True)
        others = None if rest is True else self._node(rest)
        names = self._node(schema.pop("propertyNames", {}))

        def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
            if type(value) is not dict:
                return value
            for name in required:
                if name not in value:
                    raise damaged(field((*path, name)), "is missing")
            if len(value) > most:
                raise damaged(field(path), f"has more than {most} fields")
            found = {}
            for name, part in value.items():
                names(name, (*path, "a field's name"))
                each = known.get(name, others)
                found[name] = part if each is None else each(part, (*path, name))
            return found

        return check

    def _choice(self, branches: list[Schema]) -> Check:
        """One of several forms, told apart by their type or by their field ``kind``."""
        made = [(branch.get("properties", {}).get("kind", {}).get("const"), branch) for branch in branches]
        kinds = {kind: self._node(branch) for kind, branch in made if kind is not None}
        types = [(self._types(branch), self._node(branch)) for kind, branch in made if kind is None]
        listed = ", ".join(kinds)

        def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
            for accepted, branch in types:
                if type(value) in accepted:
                    return branch(value, path)
            if not kinds:
                raise damaged(field(path), "is of the wrong type")
            if type(value) is not dict:
                raise damaged(field(path), "is not an object")
            kind = value.get("kind")
            if type(kind) is not str or kind not in kinds:
                raise damaged(field((*path, "kind")), f"is not one of {listed}")
            return kinds[kind](value, path)

        return check

    def _types(self, branch: Schema) -> tuple[type, ...]:
        resolved = self._at(branch["$ref"].partition("#")[2]) if "$ref" in branch else branch
        return TYPES[resolved["type"]]

    def _numbers(self, schema: Schema) -> Check | None:
        """The check of a list of numbers, or of rows of numbers; None if it is another list."""
        items = schema["items"]
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        if items.get("type") == "array" and items["items"].get("type") == "integer":
            inner = items.get("minItems", 0), items.get("maxItems", math.inf)
            return _rows(_numbers(items["items"], 0, math.inf), least, most, *inner)
        return _numbers(items, least, most) if items.get("type") in ("integer", "number") else None


BOUNDS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "minimum": (lambda value, bound: value >= bound, "at least"),
    "maximum": (lambda value, bound: value <= bound, "at most"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "above"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "below"),
}
"""How a number is held against a bound, and how that is said."""


def _of_type(named: str | list[str]) -> Check:
    names = [named] if isinstance(named, str) else named
    accepted = tuple(chain.from_iterable(TYPES[name] for name in names))
    said = " or ".join(WORDS[name] for name in names)

    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        if type(value) not in accepted:
            raise damaged(field(path), f"is not {said}")
        return value

    return check


def _among(accepted: list[Any]) -> Check:
    said = ", ".join(map(repr, accepted))

    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        if not any(type(value) is type(one) and value == one for one in accepted):
            raise damaged(field(path), f"is not {said}" if len(accepted) == 1 else f"is not one of {said}")
        return value

    return check


def _text(pattern: str | None, most: float) -> Check:
    """Text of a limited length; no schema can say that it is text, so halves of characters are refused here."""
    form = None if pattern is None else re.compile(pattern.removesuffix("$") + r"\Z", re.ASCII)

    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        if type(value) is not str:
            return value
        if len(value) > most:
            raise damaged(field(path), f"has more than {most} characters")
        if form is not None and not form.search(value):
            raise damaged(field(path), "is not written as it should be")
        if not value.isascii() and not _whole_characters(value):
            raise damaged(field(path), "has half of a character in it")
        return value

    return check


def _whole_characters(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scalar(bounds: dict[str, Any]) -> Check:
    tests = [(*BOUNDS[word], bound) for word, bound in bounds.items()]

    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        if type(value) in (int, float):
            for holds, said, bound in tests:
                if not holds(value, bound):
                    raise damaged(field(path), f"is not {said} {bound}")
        return value

    return check


def _listed(each: Check, least: int, most: float, unique: bool) -> Check:  # noqa: FBT001  as the schema says
    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        if type(value) is not list:
            return value
        _counted(value, least, most, path)
        found = [each(entry, (*path, i)) for i, entry in enumerate(value)]
        if unique and len({(type(entry), entry) for entry in found}) < len(found):
            raise damaged(field(path), "lists something twice")
        return found

    return check


def _counted(value: list[Any] | np.ndarray[Any, Any], least: int, most: float, path: tuple[str | int, ...]) -> None:
    if not least <= len(value) <= most:
        bounds = f"at least {least}" if most == math.inf else f"{least} to {most}"
        raise damaged(field(path), f"has {len(value):,} entries, not {bounds}")


def _numbers(items: Schema, least: int, most: float) -> Check:
    """Lists of numbers, as arrays; the entries are looked at one by one only to say which one is wrong."""
    accepted, kind = (set(TYPES[items["type"]]), np.int64 if items["type"] == "integer" else np.float64)
    bounds = {word: items[word] for word in BOUNDS if word in items}
    one = [_of_type(items["type"]), _scalar(bounds)]

    def wrong(value: Any, path: tuple[str | int, ...]) -> DamageError:  # noqa: ANN401  JSON
        for i, entry in enumerate(value.tolist() if isinstance(value, np.ndarray) else value):
            for step in one:
                step(entry, (*path, i))
        return damaged(field(path), "has numbers beyond their bounds")

    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        if type(value) is not list and not (type(value) is np.ndarray and value.ndim == 1):
            raise damaged(field(path), "is not a list")
        _counted(value, least, most, path)
        array = _array(value, kind, accepted)
        if array is None or not _bounded(array, bounds):
            raise wrong(value, path)
        return array

    return check


def _array(
    value: list[Any] | np.ndarray[Any, Any], kind: type[np.int64 | np.float64], accepted: set[type]
) -> np.ndarray[Any, Any] | None:
    """Numbers as an array of this kind; None if some are of another type, or too large.

    Lists that came as arrays are of 64-bit numbers already; whole ones may stand for any numbers, as in JSON.
    """
    if isinstance(value, np.ndarray):
        return value.astype(kind, copy=False) if value.dtype in {np.dtype(np.int64), np.dtype(kind)} else None
    if not accepted.issuperset(map(type, value)):
        return None
    try:
        return np.array(value, kind)
    except OverflowError:
        return None


def _bounded(array: np.ndarray[Any, Any], bounds: dict[str, Any]) -> bool:
    """Whether all numbers lie within the bounds, and none is infinite or NaN: JSON cannot say these."""
    within_bounds = all(BOUNDS[word][0](array, bound).all() for word, bound in bounds.items())
    return within_bounds and (array.dtype == np.int64 or bool(np.isfinite(array).all()))


def _rows(each: Check, least: int, most: float, shortest: int, longest: float) -> Check:
    """Lists of rows of whole numbers, all of one length, as one array."""

    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        table = type(value) is np.ndarray and value.ndim == 2
        if type(value) is not list and not table:
            raise damaged(field(path), "is not a list")
        _counted(value, least, most, path)
        if not table and (set(map(type, value)) != {list} or len(set(map(len, value))) > 1):
            wrong = next(i for i, row in enumerate(value) if type(row) is not list or len(row) != len(value[0]))
            raise damaged(field((*path, wrong)), "is not a list as long as the first one")
        width = len(value[0])
        if not shortest <= width <= longest:
            raise damaged(field((*path, 0)), f"has {width} entries, not {shortest} to {longest}")
        try:
            return each(value.ravel() if table else list(chain.from_iterable(value)), path).reshape(len(value), width)
        except ReleaseError:
            for i, row in enumerate(value):
                each(row, (*path, i))
            raise

    return check


def _implied(condition: Check, consequence: Check, otherwise: Check) -> Check:
    def check(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  JSON
        try:
            condition(value, path)
        except ReleaseError:
            otherwise(value, path)
        else:
            consequence(value, path)
        return value

    return check
