"""Options about groups: which there are, where a release is made, and which are asked, where one is read."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

import dawa
from dawa import numerals
from dawa.cli.options import RELEASE
from dawa.errors import OptionError, SpecError
from dawa.numerals import told

if TYPE_CHECKING:  # --help answers without them
    from dawa.axis.groups import Group, Grouping
    from dawa.results.grouped import AnyRelease, GroupedRelease
    from dawa.spec.groups import Named
    from dawa.spec.model import GroupSpec, Value

PANEL = "Groups"

FEW = 10
"""How many groups a hint lists."""

By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="NAME=A,B,C",
        help="Make a histogram for each of these values of a column, for one epsilon: carrier=AA,UA. Repeatable, for"
        " each combination of several columns.",
        rich_help_panel=RELEASE,
        show_default=False,
    ),
]
Rest = Annotated[
    bool,
    typer.Option(
        "--other", help='Count values that --by does not list as a group called "other".', rich_help_panel=RELEASE
    ),
]
Every = Annotated[bool, typer.Option("--by", help="Ask every group, and all groups together.", rich_help_panel=PANEL)]
Some = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="GROUP",
        help="Ask this group; repeatable. A value of each column by which there are groups: AA, or AA,JFK.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]


def columns(typed: Iterable[str], *, other: bool) -> tuple[GroupSpec, ...]:
    """The grouping columns that were typed, each with its values.

    >>> [(one.column, one.values) for one in columns(["carrier=AA,UA", "month=1,2"], other=False)]
    [('carrier', ('AA', 'UA')), ('month', (1, 2))]

    Raises:
        SpecError: If one has no values, or there is none to which ``other`` could belong.
    """
    found = tuple(_column(text, other=other) for text in typed)
    if other and not found:
        raise SpecError(
            '"other" is the group of all values that are not listed, and no groups are.',
            "name the column and its values: --by carrier=AA,UA,DL.",
        )
    return found


def _column(text: str, *, other: bool) -> GroupSpec:
    name, given, values = text.partition("=")
    listed = dawa.spec.groups.separated(values)
    if not (name.strip() and given and listed and all(listed)):
        raise SpecError(
            f"--by {told(text)} does not list the values that are groups.",
            "write a column and its values: --by carrier=AA,UA,DL. They are never read from the data, because a rare"
            " value belongs to few people.",
        )
    return dawa.spec.model.GroupSpec(name.strip(), categories(listed), other)


def categories(entries: list[str]) -> tuple[Value, ...]:
    """Whole numbers where all are that, else text."""
    numbers = tuple(number for number in map(numerals.whole, entries) if number is not None)
    return numbers if [str(number) for number in numbers] == entries else tuple(entries)


def described(by: Sequence[Grouping]) -> str:
    """How many groups a release has, in words; empty if it has none."""
    if not by:
        return ""
    count = math.prod(grouping.size for grouping in by)
    names = " and ".join(told(grouping.column) for grouping in by)
    return f"{count:,} group{'s' * (count != 1)} by {names}"


@dataclass(frozen=True)
class Part:
    """What is asked: a release, one of its groups, or all of its groups together.

    Attributes:
        group: Which group, by column; None of each column for all together, nothing if nobody asked for groups.
        release: What answers.
        whole: The release that it belongs to.
    """

    group: Named
    release: AnyRelease
    whole: AnyRelease

    @property
    def label(self) -> Group:
        """What the group is called."""
        values = tuple(value for _, value in self.group if value is not None)
        return values[0] if len(values) == 1 else values


def parts(release: AnyRelease, *, every: bool, some: Sequence[str] | None) -> list[Part]:
    """What is asked.

    Raises:
        OptionError: If the release has no groups, or not these.
    """
    if not isinstance(release, dawa.GroupedRelease):
        if every or some:
            raise OptionError("This release has no groups.", f"leave out {'--by' if every else '--group'}.")
        return [Part((), release, release)]
    if every and some:
        raise OptionError("--by asks every group, and --group some of them.", "leave out one of the two.")
    named = dawa.spec.groups.named
    typed = (dawa.spec.groups.typed(text, release.by) for text in some or ())
    wanted = list(release) if every else list(dict.fromkeys(typed))
    found = [Part(named(group, release.by), release[group], release) for group in wanted]
    together = [Part(named(None, release.by), release, release)]
    return found + together if every else found or together


def hint(place: str, release: AnyRelease, asked: Iterable[str] = ()) -> str:
    """How to ask a release for its groups; empty if it has none."""
    if not isinstance(release, dawa.GroupedRelease):
        return ""
    texts = [dawa.spec.groups.written(group) for group in release.groups[:FEW]]
    between = ", " if len(release.by) == 1 else "; "
    few = between.join([*texts, *(["…"] if len(release) > FEW else [])])
    ask = shlex.join(["dawa", "query", place, *asked])
    return (
        f"These are all groups together. The release has {described(release.by)}: {few}. Ask each of them with"
        f" {ask} --by, or one with {ask} --group {shlex.quote(texts[0])}."
    )


def choose(release: GroupedRelease) -> OptionError:
    """The error about what can be asked of single groups only."""
    first = shlex.quote(dawa.spec.groups.written(release.groups[0]))
    return OptionError(
        f"This release has {described(release.by)}, and such figures are about one group each.",
        f"add --by for every group, or --group {first} for one.",
    )
