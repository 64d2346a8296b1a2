"""Groups over HTTP: which of them a request is about, and what all of them say to one range.

A request names a group with ``group``: once for each grouping column, or in one text as on the command line. Without
it, counts are those of all groups together, and what is asked of one histogram is refused. What is asked of all groups
is computed in steps, so that a release of a thousand of them holds nobody up (``turns``).
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from dawa.axis.groups import combinations
from dawa.errors import OptionError
from dawa.results.answers import Steps
from dawa.results.ends import End
from dawa.results.grouped import AnyRelease, GroupedRelease
from dawa.results.release import Release
from dawa.server import costs, models
from dawa.spec import groups

T = TypeVar("T")

FEW = 10
"""How many groups a hint lists."""


def chosen(release: AnyRelease, asked: Sequence[str] | None) -> AnyRelease:
    """The release of the group that is asked, or all of it.

    Raises:
        OptionError: If there is no such group.
    """
    if asked is None:
        return release
    grouped = required(release)
    return grouped[groups.of(asked, grouped.by) if len(asked) > 1 else groups.typed(asked[0], grouped.by)]


def required(release: AnyRelease) -> GroupedRelease:
    """A release with groups.

    Raises:
        OptionError: If it has none.
    """
    if not isinstance(release, GroupedRelease):
        raise OptionError("This release has no groups.", "leave out the group, and ask for ranges at /answer.")
    return release


def one(release: AnyRelease) -> Release:
    """A release without groups, or one group of a release.

    Raises:
        OptionError: If it has groups, and none was chosen.
    """
    if isinstance(release, GroupedRelease):
        few = (", " if len(release.by) == 1 else "; ").join(map(groups.written, release.groups[:FEW]))
        raise OptionError(
            f"This is asked of one group, and this release has {len(release):,}.",
            f"add group=, such as one of {few}{', …' if len(release) > FEW else ''}.",
        )
    return release


def paced(steps: Steps[T], at_once: int) -> Steps[T]:
    """The same computation in fewer, longer steps."""
    while True:
        try:
            for _ in range(at_once):
                next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        yield


def by_group(
    release: GroupedRelease, lo: End, hi: End, each: float, confidence: float
) -> Iterator[list[models.InGroup]]:
    """What every group says to a range, some groups at a step; ``each`` is what one of them costs."""
    every, most = combinations(release.by), max(1, int(costs.STEP / max(each, 1e-9)))
    releases = tuple(release.values())
    for begin in range(0, len(every), most):
        yield [
            models.InGroup(group=list(group), **rel.answer(lo, hi, confidence).row())
            for group, rel in zip(every[begin : begin + most], releases[begin : begin + most], strict=True)
        ]
