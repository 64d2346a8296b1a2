r"""Names in texts that people read: none turns the direction of what stands beside it.

A name may hold marks that turn directions, such as U+202E, and then numbers beside it would read backwards. They are
written out. A name from right to left keeps its order, and is set apart from what surrounds it. The scripts of a page
do the same (``names.js``).
"""

import re
from dataclasses import replace
from typing import Any, TypeVar

from dawa.results.grouped import AnyRelease, GroupedRelease

OneOf = TypeVar("OneOf", bound=AnyRelease)

CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
FIRST, POP = "\u2068", "\u2069"
"""What sets a text apart that has a direction of its own, and what ends that."""


def isolated(name: str) -> str:
    r"""A name as a part of a text.

    >>> print(isolated("age"), isolated("a" + chr(0x202E) + "b"), ascii(isolated(chr(0x5D0))))
    age a\u202eb '\u2068\u05d0\u2069'
    """
    text = CONTROLS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", name)
    return f"{FIRST}{text}{POP}" if LEFTWARDS.search(text) else text


def named(release: OneOf) -> OneOf:
    """A release whose columns are called as texts call them, for sentences alone."""
    axes = tuple(replace(axis, column=isolated(axis.column)) for axis in release.axes)  # type: ignore[type-var]
    units = tuple(isolated(column) for column in release.privacy.unit_columns)
    changed: dict[str, Any] = {"axes": axes, "privacy": replace(release.privacy, unit_columns=units)}
    if isinstance(release, GroupedRelease):
        changed["by"] = tuple(replace(one, axis=replace(one.axis, column=isolated(one.column))) for one in release.by)
    return replace(release, **changed)
