"""How a release is written: versioned JSON, described by ``schema/release-2.json``; with groups, ``release-3.json``.

A field never changes its meaning. New versions add optional fields; a reader refuses only files newer than itself. A
release without groups is still written as version 2, which earlier readers know.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dawa import budget, check
from dawa.axis import Axis
from dawa.axis.apart import patterns
from dawa.axis.groups import Grouping, combinations
from dawa.axis.ordered import Label
from dawa.errors import ReleaseError
from dawa.limits import MOST_CELLS, MOST_CELLS_BESIDE, MOST_GROUPS, MOST_WALKS
from dawa.numerals import brief
from dawa.results import parts
from dawa.results.about import About
from dawa.results.conform import GROUPED, PLAIN, conforming, damaged, within
from dawa.results.estimate import Estimate
from dawa.results.parts import named
from dawa.results.statement import PrivacyStatement

FORMAT = "dawa-release"
VERSION, WITH_GROUPS = 2, 3
"""The version of a release, and of one with groups."""


class Parts(NamedTuple):
    """What a release consists of."""

    axes: tuple[Axis, ...]
    estimate: Estimate
    privacy: PrivacyStatement
    others: Estimate | None = None
    """The records that are counted apart."""
    about: About | None = None
    group: tuple[Label, ...] = ()
    """Which group of a release with groups it is."""


class GroupedParts(NamedTuple):
    """What a release with groups consists of."""

    by: tuple[Grouping, ...]
    axes: tuple[Axis, ...]
    privacy: PrivacyStatement
    estimates: tuple[Estimate, ...]
    """One for each group."""
    others: tuple[Estimate | None, ...]
    """The records of each group that are counted apart."""
    none: Estimate
    """The records in no group."""
    about: About | None = None


def written(release: Parts) -> dict[str, Any]:
    """A release as JSON values, with arrays in the place of long lists of numbers."""
    return {
        **_head(VERSION, release.axes, release.privacy, release.about),
        **({"group": list(release.group)} if release.group else {}),
        **parts.written(release.estimate, len(release.axes)),
        "apart": parts.written_apart(patterns(release.axes), release.others),
    }


def written_groups(release: GroupedParts) -> dict[str, Any]:
    """The same of a release with groups."""
    each = zip(combinations(release.by), release.estimates, release.others, strict=True)
    return {
        **_head(WITH_GROUPS, release.axes, release.privacy, release.about),
        "by": [grouping.to_json() for grouping in release.by],
        "groups": [
            {
                "group": list(group),
                "split": {step: str(part) for step, part in split_of(release.privacy, estimate).items()},
                **parts.written(estimate, len(release.axes)),
                "apart": parts.written_apart(patterns(release.axes), others),
            }
            for group, estimate, others in each
        ],
        "apart": parts.written_apart(patterns(release.by), release.none),
    }


def split_of(privacy: PrivacyStatement, estimate: Estimate) -> dict[str, Any]:
    """What each step spent of epsilon, with the steps of this estimate."""
    return {**privacy.searched, **{step: part * privacy.max_rows_per_unit for step, part in estimate.split.items()}}


def _head(version: int, axes: tuple[Axis, ...], privacy: PrivacyStatement, about: About | None) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": version,
        "about": None if about is None else about.to_json(),
        "privacy": privacy.to_json(),
        "axes": [axis.to_json() for axis in axes],
    }


def read(data: Any) -> Parts | GroupedParts:  # noqa: ANN401  JSON
    """What ``written`` or ``written_groups`` was given.

    The values are held against the schema first, then against each other, and only then used. Work and memory are in
    proportion to the size of the file.

    Raises:
        ReleaseError: If it is not a release that this version can read; the error names the field.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReleaseError("This file is not a dawa release.", "pass a file that Release.save wrote.")
    version = data.get("version")
    if not check.is_whole(version, 1):
        raise damaged("version", "is missing, or not a whole number of at least 1")
    if version > WITH_GROUPS:
        raise ReleaseError(
            f"This release has version {brief(version)}, newer than {WITH_GROUPS}.",
            "update dawa: pip install -U dawa.",
        )
    known = conforming(data, GROUPED if version == WITH_GROUPS else PLAIN)
    axes = tuple(_axis(axis, i) for i, axis in enumerate(known["axes"]))
    with named("axes"):
        if len({axis.column for axis in axes}) < len(axes):
            raise damaged("axes", "have the same column twice")
        if math.prod(axis.size for axis in axes) > MOST_CELLS:
            raise damaged("axes", "have more than 2^62 cells together")
        if len(axes) > 1 and max(axis.size for axis in axes) > MOST_CELLS_BESIDE:
            raise damaged("axes", "have one of more than 2^48 cells beside others")
    with named("privacy"):
        privacy = PrivacyStatement.from_json(known["privacy"])
    return (_grouped if version == WITH_GROUPS else _plain)(known, axes, privacy)


def _plain(known: dict[str, Any], axes: tuple[Axis, ...], privacy: PrivacyStatement) -> Parts:
    group = tuple(known.get("group") or ())
    if len(group) != len(privacy.by):
        raise damaged("group", "does not have one value for each column in privacy.by")
    estimate = parts.read(known, axes, privacy)
    with named("apart"):
        others = parts.read_apart(known.get("apart"), patterns(axes), privacy, "axes")
    with named("about"):
        return Parts(axes, estimate, privacy, others, About.from_json(known.get("about")), group)


def _grouped(known: dict[str, Any], axes: tuple[Axis, ...], privacy: PrivacyStatement) -> GroupedParts:
    by = tuple(_grouping(one, i) for i, one in enumerate(known["by"]))
    if tuple(grouping.column for grouping in by) != privacy.by:
        raise damaged("by", "does not name the columns in privacy.by")
    columns = {*(axis.column for axis in axes), *privacy.by}
    if len(columns) < len(axes) + len(by):
        raise damaged("by", "names a column twice, or one that is an axis")
    count = math.prod(grouping.size for grouping in by)
    if count > MOST_GROUPS or count * math.prod(axis.size for axis in axes) > MOST_CELLS:
        raise damaged("by", "has too many groups")
    groups = known["groups"]
    if len(groups) != count:
        raise damaged("groups", f"has {len(groups):,} entries, not {count:,}")
    _check_walks(groups)
    estimates, others = [], []
    for i, (group, wanted) in enumerate(zip(groups, combinations(by), strict=True)):
        with within(f"groups[{i}]"):
            if [(type(part), part) for part in group["group"]] != [(type(part), part) for part in wanted]:
                raise damaged("group", "is not what the columns in by say")
            own = _with_split(privacy, group.get("split"))
            estimates.append(parts.read(group, axes, own))
            with named("apart"):
                others.append(parts.read_apart(group.get("apart"), patterns(axes), own, "axes"))
    with named("apart"):
        none = parts.read_apart(known["apart"], patterns(by), privacy, "columns in by")
    if none is None:
        raise damaged("apart", "is missing")
    with named("about"):
        about = About.from_json(known.get("about"))
    return GroupedParts(by, axes, privacy, tuple(estimates), tuple(others), none, about)


def _axis(data: dict[str, Any], number: int) -> Axis:
    with named(f"axes[{number}]"):
        return Axis.from_json(data)


def _grouping(data: dict[str, Any], number: int) -> Grouping:
    with named(f"by[{number}]"):
        return Grouping.from_json(data)


def _with_split(privacy: PrivacyStatement, split: dict[str, str] | None) -> PrivacyStatement:
    """The statement of a group that spent its budget in this way."""
    if split is None:
        return privacy
    with named("split"):
        found = {step: budget.fraction(part) for step, part in split.items()}
    if sum(found.values()) != privacy.epsilon:
        raise damaged("split", "does not add up to epsilon")
    if any(found.get(step) != part for step, part in privacy.searched.items()):
        raise damaged("split", "does not have the parts that privacy.searched has")
    return privacy.spending(found)


def _check_walks(groups: Sequence[dict[str, Any]]) -> None:
    """Refuse files in which every group has another table of probabilities: a few bytes would cost much work each."""
    seen = set()
    for i, group in enumerate(groups):
        name = "stops" if group.get("stops") is not None else "halves"
        stops = group.get(name)
        if stops is not None:
            seen.add((stops["loss"], stops["least"], stops["theta"]))
        if len(seen) > MOST_WALKS:
            raise damaged(f"groups[{i}].{name}", f"is one of more than {MOST_WALKS} kinds in this file")
