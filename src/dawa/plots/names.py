"""Names, which may hold anything: none turns the text beside it, and cut ones that are different look different."""

import re
from collections.abc import Callable, Sequence
from unicodedata import east_asian_width

LEAST = 3
"""How many letters of a name are shown at least."""

CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
ABSENT = re.compile("[\u0900-\u0e7f\u0f00-\u109f\u1200-\u13ff\u1700-\u1cff]")
"""Letters of scripts that Matplotlib's own font does not have: it draws a box of twice the usual width for each."""

FIRST, POP = "\u2068", "\u2069"
"""What sets a text apart that has a direction of its own, and what ends that."""


def isolated(name: str) -> str:
    r"""A name as a part of a text.

    >>> print(isolated("age"), isolated("a" + chr(0x202E) + "b"), ascii(isolated(chr(0x5D0))))
    age a\u202eb '\u2068\u05d0\u2069'
    """
    text = CONTROLS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", name)
    return f"{FIRST}{text}{POP}" if LEFTWARDS.search(text) else text


def shortened(names: Sequence[str], rooms: Sequence[int]) -> list[str]:
    """Names that fit: cut at their ends, or else in their middles, or else without what all of them begin with.

    If names still look alike, all of them get a number.

    >>> shortened(["Ward of the north, 1", "Ward of the north, 2"], [10, 10])
    ['Ward …h, 1', 'Ward …h, 2']
    """
    long = [name for name, room in zip(names, rooms, strict=True) if _wide(name) > room]
    begin = _shared(long)
    forms: tuple[Callable[[str, int], str], ...] = (_end, _middle, lambda name, kept: "…" + _end(name[begin:], kept))
    for form in forms:
        found = [_fitting(name, room, form) for name, room in zip(names, rooms, strict=True)]
        if len(set(found)) == len(set(names)):
            return found
    return [
        f"{at}: {_fitting(name, room - len(f'{at}: '), _middle)}"
        for at, (name, room) in enumerate(zip(names, rooms, strict=True), 1)
    ]


def _shared(names: Sequence[str]) -> int:
    """How many letters all of them begin with."""
    if len(names) < 2:
        return 0
    first, last = min(names), max(names)
    return next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))


def _fitting(name: str, room: int, form: Callable[[str, int], str]) -> str:
    """A name, or as many letters of it as there is room for."""
    if _wide(name) <= room:
        return name
    kept = max(min(len(name) - 1, room), LEAST)
    while kept > LEAST and _wide(form(name, kept)) > room:
        kept -= 1
    return form(name, kept)


def _end(name: str, kept: int) -> str:
    return name if len(name) <= kept else f"{name[:kept]}…"


def _middle(name: str, kept: int) -> str:
    return f"{name[: -(-kept // 2)]}…{name[len(name) - kept // 2 :]}"


def _wide(text: str) -> int:
    """How many letters of usual width a text is as wide as."""
    return len(text) + sum(east_asian_width(letter) in "WF" or bool(ABSENT.match(letter)) for letter in text)
