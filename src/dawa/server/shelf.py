"""The releases that are served, by name: read once, and never again."""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from dawa.errors import DawaError, ReleaseError
from dawa.limits import MOST_PAGES_BYTES
from dawa.results.archive import SUFFIX
from dawa.results.grouped import AnyRelease
from dawa.results.keeping import RELEASE
from dawa.results.loading import contents, loaded
from dawa.results.members import BEGINS
from dawa.results.release import Release
from dawa.server.headers import Document

SUFFIXES = (".json", SUFFIX)
"""How the names of release files in a folder end."""

HINT = "pass a folder that dawa release wrote, a folder of such folders, or release files."


@dataclass(frozen=True, eq=False)
class Shelved:
    """A release that is served.

    Attributes:
        name: Its name in requests.
        place: The file it was read from.
        release: The release.
        file: The file's own bytes, as they were then; JSON, if the file is a compact one.
    """

    name: str
    place: Path
    release: AnyRelease
    file: bytes

    @cached_property
    def document(self) -> Document:
        """The file to download."""
        return Document.file(self.file)

    def of(self, release: AnyRelease) -> "Shelved":
        """The same place with one group of the release, or with all of it."""
        return self if release is self.release else replace(self, release=release)

    def page(self) -> Document:
        """The page on which a reader drags a range."""
        from dawa.publish import page as report  # noqa: PLC0415  rarely used

        return Document.page(report.html(self.release).encode("utf-8", "replace"))


@dataclass(frozen=True, eq=False)
class Shelf:
    """All that is served.

    Attributes:
        releases: The releases, by name.
        skipped: A sentence for each file that is damaged or not a release.
    """

    releases: Mapping[str, Shelved]
    skipped: tuple[str, ...]


class Pages:
    """The pages that were asked for last, as many as a worker may keep."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Document] = OrderedDict()

    def known(self, shelved: Shelved) -> Document | None:
        """The page of a release, if it is kept."""
        return self._kept.get(_key(shelved))

    def page(self, shelved: Shelved) -> Document:
        """The page of a release, which is kept; others are forgotten if they are too many."""
        page = self._kept.pop(_key(shelved), None) or shelved.page()
        self._kept[_key(shelved)] = page
        while len(self._kept) > 1 and sum(len(kept.content) for kept in self._kept.values()) > MOST_PAGES_BYTES:
            self._kept.popitem(last=False)
        return page


def _key(shelved: Shelved) -> str:
    """Which release, and which group of it; no name of a release holds a space."""
    group = shelved.release.group if isinstance(shelved.release, Release) else ()
    return f"{shelved.name} {group!r}" if group else shelved.name


def filled(places: Sequence[str | PathLike[str]]) -> Shelf:
    """Read all releases in these files and folders.

    A release has the name of its folder, or of its file if the file is not called ``release.json``. If two have the
    same name, the second is called ``name-2``.

    Raises:
        ReleaseError: If there is no release in a place, or none anywhere that can be read.
    """
    found: dict[str, Shelved] = {}
    skipped: list[str] = []
    files = dict.fromkeys(file.resolve() for place in places for file in _files(Path(place)))
    for file in files:
        try:
            content = contents(file)
            release = loaded(content, str(file))
        except (DawaError, OSError, RecursionError) as error:
            reason = error.problem if isinstance(error, DawaError) else "It cannot be read."
            skipped.append(f"{file} is not served. {reason}")
            continue
        name = _free(called(file), found)
        told = release.as_text().encode() if content.startswith(BEGINS) else content
        found[name] = Shelved(name, file, release, told)
    if not found:
        raise ReleaseError(skipped[0] if skipped else "There is nothing to serve.", HINT)
    return Shelf(found, tuple(skipped))


def called(file: Path) -> str:
    """The name of the release in a file for requests: only letters, digits, dots, underscores and hyphens.

    >>> called(Path("/out/Ages of all/release.json")), called(Path("/out/incomes.json"))
    ('Ages-of-all', 'incomes')
    """
    name = file.parent.name if file.name == RELEASE else file.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "release"


def _files(place: Path) -> list[Path]:
    """The files in a place that should be releases."""
    try:
        listed = _listed(place)
    except (OSError, ValueError):
        raise ReleaseError(f"{place} cannot be read.", HINT) from None
    if listed is None:
        raise ReleaseError(f"There is no file or folder {place}.", HINT)
    if not listed:
        raise ReleaseError(f"There is no release in {place}.", HINT)
    return listed


def _listed(place: Path) -> list[Path] | None:
    """A file, the release of a folder, or those of a folder of releases in the order of their names."""
    if place.is_file():
        return [place]
    if (place / RELEASE).is_file():
        return [place / RELEASE]
    if not place.is_dir():
        return None
    children = [child for child in sorted(place.iterdir()) if not child.name.startswith(".")]
    found = [child / RELEASE if child.is_dir() else child for child in children]
    return [file for file in found if file.suffix in SUFFIXES and file.is_file()]


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number after it if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
