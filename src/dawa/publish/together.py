"""The folder of several releases that were paid together: a folder for each, and a README and a page about all."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from dawa import budget
from dawa.budget import shown
from dawa.errors import FolderError
from dawa.host import atomic
from dawa.limits import MOST_BUCKETS_PAGED, MOST_RELEASES_TOGETHER
from dawa.publish import page, readme
from dawa.results.grouped import AnyRelease, estimates_of
from dawa.results.keeping import RELEASE
from dawa.results.statement import PrivacyStatement
from dawa.spec.ranges import example
from dawa.spec.several import NAME

README, PAGE_FILE = "README.md", "index.html"

PAGE = """\
# {title}

{description}This folder holds {number} releases of the same data. Each has a folder of its own, with a README.md,
tables and a picture.{page}

| folder | how many | ε |
|---|---|---|
{lines}

## What is protected

{claim}
What each release spends is in its own README.md. Other releases of the same data add their ε to these.

```
dawa query {first}/ {shell}
```
"""


def write(folder: Path, releases: Mapping[str, AnyRelease]) -> tuple[str, ...]:
    """Write what is about all of them into the folder that holds theirs; the result are the names of the files.

    A page that would be too large for a browser is left out.

    Raises:
        FolderError: If it cannot be written. The releases are complete.
    """
    buckets = sum(len(estimate.buckets) for release in releases.values() for estimate in estimates_of(release))
    files = (PAGE_FILE, README) if buckets <= MOST_BUCKETS_PAGED else (README,)
    try:
        if PAGE_FILE in files:
            atomic.write(folder / PAGE_FILE, page.html_of(list(releases.items())), new=True)
        atomic.write(folder / README, _readme(releases, PAGE_FILE if PAGE_FILE in files else None), new=True)
    except OSError as error:
        raise FolderError(
            f"The releases in {folder} are complete, but what is about all of them cannot be written beside them"
            f" ({error.strerror}).",
            "their budget is spent: keep them, and use them where they are.",
        ) from None
    return files


def held(folder: Path) -> list[str]:
    """The names of the releases that lie in folders of their own in a folder, as ``dawa release`` writes several."""
    try:
        found = sorted(child.name for child in folder.iterdir() if (child / RELEASE).is_file())
    except OSError:
        return []
    return [name for name in found if NAME.fullmatch(name)][:MOST_RELEASES_TOGETHER]


def _readme(releases: Mapping[str, AnyRelease], shown_by: str | None) -> str:
    """The README, in Markdown."""
    name, first = next(iter(releases.items()))
    total = sum((release.privacy.epsilon for release in releases.values()), Fraction(0))
    lines = [
        f"| [{name}]({name}/) | {_counted(release)} | {shown(release.privacy.epsilon)} |"
        for name, release in releases.items()
    ]
    title, description = _shared(releases)
    return PAGE.format(
        title=title,
        description=description,
        number=len(releases),
        page=f" [{shown_by}]({shown_by}) shows all of them." if shown_by else "",
        lines="\n".join(lines),
        claim=claimed(first.privacy, total),
        first=name,
        shell=example(first.axes),
    )


def _shared(releases: Mapping[str, AnyRelease]) -> tuple[str, str]:
    """The title and the description that all of them have; else the columns that they are about."""
    one = next(iter(releases.values()))
    titles, descriptions = (
        {None if release.about is None else getattr(release.about, word) for release in releases.values()}
        for word in ("title", "description")
    )
    columns = dict.fromkeys(f"`{axis.column}`" for release in releases.values() for axis in release.axes)
    along = f"How many, along {', '.join(columns)}"
    title = readme.title(one) if len(titles) == 1 and titles != {None} else along
    return title, readme.description(one) if len(descriptions) == 1 else ""


def _counted(release: AnyRelease) -> str:
    """Which records, along which axes."""
    kept = f", {release.privacy.kept}" if release.privacy.kept else ""
    return f"along {readme.along(release)}{kept}".replace("|", "\\|")


def claimed(privacy: PrivacyStatement, total: Fraction) -> str:
    """What all of them together promise, whose budgets add up to ``total``."""
    caution = f" {said}" if (said := budget.caution(total, privacy.unit)) else ""
    return (
        f"All of them together are {shown(total)}-differentially private for each {privacy.unit}, because what they"
        f" spend adds up.{caution}"
    )
