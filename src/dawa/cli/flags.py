"""From options on a command line to the description of a release."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dawa.cli.axis_flags import axes, separated
from dawa.errors import OptionError, SpecError
from dawa.sources import dialect
from dawa.spec import toml
from dawa.spec.model import Spec

BESIDE_A_FILE = {"source", "out"}
"""What may be typed beside a description that says all the rest."""

WORDS: dict[str, bool] = {"true": True, "false": False}


def spec(typed: Mapping[str, Any], of_axes: Sequence[tuple[str, str]]) -> Spec:
    """What was typed, or what the file says that was named.

    Args:
        typed: Options by name; those that were not given are None or empty.
        of_axes: The options of axes, in the order in which they were typed.
    """
    given = {name: value for name, value in typed.items() if value not in (None, [], ())}
    source = given["source"]
    if source.endswith(toml.SUFFIX):
        for name in (*given, *(name for name, _ in of_axes)):
            if name not in BESIDE_A_FILE:
                raise SpecError(
                    f"--{name.replace('_', '-')} does not go with {source}, which says all there is to say.",
                    "change the file, or leave the option out.",
                )
        read = toml.read(source)
        return replace(read, out=given["out"]) if "out" in given else read
    found = axes(of_axes)
    options = dict(_option(text) for text in given.pop("option", ()))
    written = {name: _written(name, given.pop(name)) for name in toml.DIALECT if name in given}
    if not found:
        raise SpecError("The release has no column.", "name the attribute and its bounds: --column age --range 0:120.")
    text = dialect.of(source, **written) if written else None
    return Spec(axes=found, options=options, dialect=text, **{"epsilon": None, **given})


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


def _option(text: str) -> tuple[str, str | int | bool]:
    """One option of a mechanism's.

    >>> _option("effort=fast"), _option("branching=4"), _option("merge=false")
    (('effort', 'fast'), ('branching', 4), ('merge', False))
    """
    name, given, value = text.partition("=")
    if not (name and given and value):
        raise OptionError(f"{text!r} is no option of a mechanism.", "write its name and value: --option effort=fast.")
    if value.lower() in WORDS:
        return name, WORDS[value.lower()]
    return name, int(value) if value.removeprefix("-").isdecimal() else value
