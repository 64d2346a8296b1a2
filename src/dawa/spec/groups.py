"""Groups as people write them: ``AA``; with several grouping columns ``AA,JFK``, one value of each.

A value that holds a comma stands in double quotes, as in a list of values. With one grouping column a text that is a
value means this value, so quotes are needed there only where it would mean something else without them.
"""

import csv
from collections.abc import Sequence

from dawa.axis.groups import Group, Grouping, combinations, number, unknown
from dawa.axis.ordered import Label
from dawa.errors import OptionError, SpecError
from dawa.numerals import told

Named = tuple[tuple[str, Label | None], ...]
"""A group as one value of each grouping column, by column; of all groups together, None of each."""


def typed(text: str, by: Sequence[Grouping]) -> Group:
    """The group that a text names.

    >>> from dawa.axis.groups import groupings
    >>> typed("AA", groupings("carrier", ["AA", "Q, R"])), typed("Q, R", groupings("carrier", ["AA", "Q, R"]))
    ('AA', 'Q, R')
    >>> typed("2, JFK", groupings({"month": [1, 2], "origin": ["JFK"]}))
    (2, 'JFK')

    Raises:
        OptionError: If there is no such group.
    """
    if len(by) == 1 and by[0].place(text) is not None:
        return of([text], by)
    try:
        parts = separated(text)
    except SpecError as error:
        raise OptionError(error.problem, error.hint) from None
    if len(parts) != len(by):
        names = ", ".join(told(grouping.column) for grouping in by)
        if len(by) == 1:
            raise unknown(by, text)
        raise OptionError(
            f"The group {told(text)} does not have one value for each of {names}.",
            f"write a value of each, such as {written(combinations(by)[0])}; one with a comma in double quotes.",
        )
    return of(parts, by)


def of(parts: Sequence[str], by: Sequence[Grouping]) -> Group:
    """The group that these texts name, one for each grouping column.

    Raises:
        OptionError: If there is no such group.
    """
    asked = tuple(parts) if len(by) > 1 or len(parts) != 1 else parts[0]
    found = combinations(by)[number(by, asked)]
    return found if len(by) > 1 else found[0]


def named(group: Group | None, by: Sequence[Grouping]) -> Named:
    """A group as one value of each column; None means all groups together.

    >>> from dawa.axis.groups import groupings
    >>> named("AA", groupings("carrier", ["AA", "UA"])), named(None, groupings("carrier", ["AA", "UA"]))
    ((('carrier', 'AA'),), (('carrier', None),))
    """
    parts = (None,) * len(by) if group is None else group if isinstance(group, tuple) else (group,)
    return tuple((grouping.column, part) for grouping, part in zip(by, parts, strict=True))


def written(group: Group) -> str:
    """A group as ``typed`` reads it.

    >>> written("AA"), written(("Q, R", 2))
    ('AA', '"Q, R",2')
    """
    return ",".join(map(_quoted, group)) if isinstance(group, tuple) else _quoted(group)


def separated(text: str) -> list[str]:
    """What stands between commas; an entry with a comma of its own stands in double quotes.

    Raises:
        SpecError: If there is a line break.
    """
    try:
        return [entry.strip() for entry in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        raise SpecError("A list has a line break in it.", "separate its entries by commas.") from None


def _quoted(label: Label) -> str:
    text = str(label)
    return '"{}"'.format(text.replace('"', '""')) if "," in text or text.startswith('"') else text
