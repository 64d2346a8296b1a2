"""The README that goes with a release: what the release is, what it protects, and how to read it."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from dawa.axis.apart import clipped
from dawa.axis.groups import combinations
from dawa.axis.written import middle, series
from dawa.publish import grouped, isolated
from dawa.results.about import called, is_link
from dawa.results.grouped import AnyRelease, GroupedRelease, inside_of
from dawa.results.insides import SAID
from dawa.results.overview import of_groups, overview
from dawa.results.release import Release
from dawa.results.statement import PrivacyStatement
from dawa.spec.ranges import example

FILES = {
    "release.json": "the release itself, complete: all other files follow from it",
    "buckets.csv": "the buckets: `from` and `to` in the attribute's own units, `value` for the number of records,"
    " `standard_deviation` for the noise in it, `unbiased` for the number before negative numbers were evened out",
    "cells.csv": "every cell: its borders and the number of records in it",
    "apart.csv": "the records that are in no range, a line for each reason: `label` says it in words, `state` for each"
    " axis; `low` to `high` holds the true number with the stated `confidence`",
    "answers.csv": "answers to the ranges that were asked when the release was made; `remark` says what else is counted"
    " in them",
    "release.svg": "a picture of the release",
    "receipt.json": "how it was paid for: one entry of a ledger, by its hash, and the SHA-256 of the other files;"
    " whoever has the ledger can verify it, or the publisher's public key if it is signed",
    "croissant.json": "for catalogues of data: words, files and columns as Croissant and schema.org write them",
    "README.md": "this page",
}

PAGE = """\
# {title}

{description}This folder says how many {records} lie between any two points of {columns}{unexposed}. The numbers are
estimates: noise was added to them on purpose, and how much is known.{kept}
{apart}
| file | what it holds |
|---|---|
{files}
{groups}{about}
## What is protected

{statement}

{odds}
{guarantee}
## What is not protected

What is true of many people is not hidden. If the numbers show that most people like you are late, they show it
whether or not you are among them. The guarantee is about this release alone: other releases of the same data add their
ε to this one.

## What the numbers are good for

Use them for counts of ranges, shares, comparisons of ranges, medians and other quantiles, each with its error. Answers
for ranges with many records are good. An answer that is smaller than its noise margin is poor: it cannot say whether
the range is empty{single}. Where records lie inside a bucket is a guess,
{inside}.{edges}

## How to read the error bars

`noise_margin` is how far noise may have moved an answer. `bias_bound` is how much more the answer may be off because
the range cuts a bucket. `measured` is the answer before negative buckets were evened out, with the records of cut
buckets spread evenly; `low` and `high` lie both errors away from it, but never below 0. They are widened to hold the
answer. `low` to `high` holds the true count with the stated confidence, for one range
that was fixed beforehand; of a hundred ranges at 95%, expect up to five misses.

## How to load it

```python
import pandas

pandas.{reader}("{table}")

import dawa  # answers any range, with error bars

release = dawa.load("release.json")
{python}
```

```
{shell}
```
"""


GUARANTEE = """
The guarantee assumes nothing about who looks at the numbers. It holds against people with any other knowledge, any
computer and any amount of time, today and later, and nothing that is computed from the numbers can undo it.
"""


def readme(release: AnyRelease, files: Sequence[str]) -> str:
    """The README, in Markdown."""
    release = isolated.named(release)
    table = next(name for name in ("buckets.csv", "cells.csv", "answers.csv", "release.json") if name in files)
    privacy = release.privacy
    return PAGE.format(
        title=title(release),
        description=description(release),
        about=_about(release),
        unexposed=", without exposing any of them" if privacy.exposes_nobody else "",
        guarantee=GUARANTEE if privacy.private else "",
        single=", and the numbers cannot find single records" if privacy.exposes_nobody else "",
        columns=along(release),
        records=_text(called(release.about)),
        kept=_kept(release),
        apart=_apart(release),
        inside=SAID[inside_of(release)],
        edges="".join(f"\n{sentence}" for sentence in _edges(release)),
        files="\n".join(f"| `{name}` | {FILES[name]} |" for name in files),
        statement=privacy,
        odds=_odds(privacy),
        reader="read_csv" if table.endswith(".csv") else "read_json",
        table=table,
        groups=_groups(release),
        python="\n".join(_python(release)),
        shell="\n".join(_shell(release)),
    )


def _python(release: AnyRelease) -> list[str]:
    """How to ask in Python."""
    ends = ", ".join(repr(side[0] if len(side) == 1 else tuple(side)) for side in middle(release.axes))
    if not isinstance(release, GroupedRelease):
        return [f"print(release.answer({ends}))"]
    return [
        f"print(release[{release.groups[0]!r}].answer({ends}))  # one group",
        f"print(release.answer({ends}))  # all groups together",
    ]


def _shell(release: AnyRelease) -> list[str]:
    """How to ask on a command line."""
    asked = example(release.axes)
    if not isinstance(release, GroupedRelease):
        return [f"dawa query release.json {asked}"]
    every = (",".join(map(str, group)) for group in combinations(release.by))
    plain = next((name for name in every if isolated.isolated(name) == name), None)  # a command has names as they are
    one = [] if plain is None else [f"dawa query release.json --group {shlex.quote(plain)} {asked}"]
    return [*one, f"dawa query release.json --by {asked}"]


def _groups(release: AnyRelease) -> str:
    """How many groups there are, and where their tables have them."""
    if not isinstance(release, GroupedRelease):
        return ""
    columns = " and ".join(f"`{grouping.column}`" for grouping in release.by)
    many = f"{len(release):,} group{'s' * (len(release) != 1)}"
    return (
        f"\nThere are {many} by {columns}: {_text(grouped.few(release.by))}. Each has a histogram of its own."
        f" The tables begin with {columns}: empty in lines about all groups together, and about records in no group.\n"
    )


def _kept(release: AnyRelease) -> str:
    """How many records of a unit are in the numbers."""
    kept = release.privacy.kept
    return f" They are numbers {kept}." if kept else ""


def _apart(release: AnyRelease) -> str:
    """The records that are in no range, with a warning if they are many."""
    groups = release if isinstance(release, GroupedRelease) else None
    found = overview(release) if isinstance(release, Release) else of_groups(release)
    found = replace(found, records=_text(called(release.about)))
    if found.apart is None:
        return ""
    warning = f"\n**{found.warning}**\n" if found.warning else ""
    which = "that are in a group and " if groups else "that "
    said = f"Answers count the {found.records} {which}have a place along {_places(release)}. {found.said()}"
    if groups and any(others is not None for others in groups.others):
        said += " The table `apart.csv` also has each group's records in no range."
    return f"{warning}\n{said}\n"


def along(release: AnyRelease) -> str:
    """What ranges are about, and what tells groups apart."""
    by = [f"`{grouping.column}`" for grouping in release.by] if isinstance(release, GroupedRelease) else []
    return f"{_places(release)}{', by ' if by else ''}{series(by)}"


def _places(release: AnyRelease) -> str:
    return series([f"`{axis.column}`" for axis in release.axes])


def _edges(release: AnyRelease) -> list[str]:
    """For each axis that clips, what its edges hold, and what cannot be told from them."""
    return [
        f"The first and the last cell of `{axis.column}` are counted with {clipped(axis, first=True, last=True)}:"
        " values outside the bounds cannot be told from values at the edges."
        for axis in release.axes
        if axis.outside == "clip"
    ]


def _odds(privacy: PrivacyStatement) -> str:
    """Epsilon in the words of a bet, and for whom that holds."""
    if privacy.private and privacy.caution:  # the statement has said it
        return "Do not publish it as if it exposed nobody."
    return privacy.odds + (" This holds even for somebody who knows all the others." if privacy.private else "")


def title(release: AnyRelease) -> str:
    """What the custodian calls it, or else what it is."""
    if release.about is not None and release.about.title:
        return _text(release.about.title)
    return f"How many, along {along(release)}"


def description(release: AnyRelease) -> str:
    """What the data are, in paragraphs of their own."""
    if release.about is None or not release.about.description:
        return ""
    return "\n".join(_text(line.strip()) for line in release.about.description.split("\n")) + "\n\n"


def _about(release: AnyRelease) -> str:
    """The other words about the data, in a list under a heading."""
    facts = {} if release.about is None else release.about.facts()
    listed = [f"- {name}: {f'<{text}>' if is_link(text) else _text(text)}" for name, text in facts.items()]
    return "\n".join(["\n## About these data\n", *listed, ""]) if listed else ""


MARKS = re.compile(r"[\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#|\w+;)|^[#+=:-]|#(?=#*$)")
"""What Markdown reads as more than text: marks anywhere, some only at the ends of words or lines."""


def _text(line: str) -> str:
    r"""A line as text that Markdown does not read as anything else.

    >>> print(_text("# <b>5*3</b> [x](y)"), _text("1. R&D, _a_b_"))
    \# \<b\>5\*3\</b\> \[x\](y) 1\. R&D, \_a_b\_
    """
    plain = MARKS.sub(lambda mark: f"\\{mark[0]}", line)
    return re.sub(r"^(\d+)(?=[.)])", r"\1\\", plain)
