"""The folder of a release: its files, written once the release is paid for, and kept whatever happens then.

The release itself is written first. If there is no room for it, it is saved wherever there is; if the rest cannot be
written, the folder is kept without it. Either way the ledger is told that the release exists, and the person where.
"""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO

from dawa import limits, progress
from dawa.errors import FolderError, ReleaseError
from dawa.host import atomic, extras
from dawa.host.scratch import HALF
from dawa.plots import multiples, picture
from dawa.publish import grouped, readme, tables
from dawa.publish import place as places
from dawa.publish.place import ASKED, Place
from dawa.publish.records import croissant
from dawa.publish.records.croissant import CROISSANT
from dawa.results.answers import Answer
from dawa.results.grouped import AnyRelease, GroupedRelease, single
from dawa.results.keeping import RELEASE, Kept, rescued
from dawa.results.loading import load
from dawa.results.paid import RECEIPT, Paid
from dawa.results.release import Release
from dawa.sources.labels import public
from dawa.sources.tables import is_address
from dawa.spec import ranges
from dawa.spec.ranges import Asked

README, FIGURE = "README.md", "release.svg"
HINT = "pass a folder that dawa release wrote."
BUCKETS, CELLS, APART, ANSWERS = "buckets.csv", "cells.csv", "apart.csv", "answers.csv"


@dataclass(frozen=True)
class Written:
    """What became of a folder.

    Attributes:
        folder: Where it is.
        files: The names of its files.
        answers: The release's answers to the ranges that were asked; with groups, those of all groups together.
        earlier: Where an earlier folder of that name was moved, if there was one.
        problem: Why it is not what was asked for; None if it is.
    """

    folder: Path
    files: tuple[str, ...]
    answers: tuple[Answer, ...]
    earlier: Path | None = None
    problem: FolderError | None = None


@dataclass
class FolderKeeper:
    """Writes a release into a folder as soon as it is made, and remembers what became of it.

    Attributes:
        place: What ``place.prepared`` made.
        asked: Ranges to list with their answers; without any, that file is not written.
        last_resort: The stream that the release is printed to if it cannot be written to any disk.
        written: The folder, once ``keep`` was called.
    """

    place: Place
    asked: Sequence[Asked] = ()
    last_resort: TextIO | None = None
    written: Written | None = field(default=None, init=False)

    @property
    def where(self) -> Mapping[str, str]:
        """Where the release will be, for a ledger."""
        return self.place.where

    @property
    def parent(self) -> Path:
        """The folder in which the scratch folder lies."""
        return self.place.scratch.parent

    def keep(self, release: AnyRelease, paid: Paid | None = None) -> Kept | None:
        """Write the release; the result is its folder or file, or None if it could only be printed.

        Whatever cannot be written is told by ``written.problem``: nothing is raised once the release is safe.
        """
        self.written = _kept(self.place, release, self.asked, self.last_resort, paid)
        return Kept.at(self.written.folder) if self.written.files else None

    def withdraw(self, kept: Kept) -> Path | None:
        """Take a release that is not paid for away from where people look, and put an earlier one back."""
        hidden, target = kept.withdrawn(), self.place.target
        if self.written is not None and self.written.earlier is not None and not os.path.lexists(target):
            with suppress(OSError):
                self.written.earlier.rename(target)
        return hidden


@contextmanager
def prepared(
    target: str | os.PathLike[str],
    asked: Sequence[Asked] = (),
    last_resort: TextIO | None = None,
    *,
    replace: bool = False,
) -> Iterator[FolderKeeper]:
    """Make sure that a folder can be written, before anything is spent on it.

    Args:
        target: The folder to write.
        asked: Ranges to list with their answers.
        last_resort: The stream that the release is printed to if it cannot be written to any disk.
        replace: Whether to move an earlier folder of that name aside.

    Raises:
        FolderError: If the folder exists already, or cannot be written.
        InstallationError: If its picture could not be drawn.
    """
    extras.needed("The picture in the folder", extras.PICTURES, "release")
    with places.prepared(target, replace=replace) as place:
        try:
            atomic.write(place.scratch / ASKED, json.dumps([asdict(one) for one in asked]))
        except OSError as error:
            raise FolderError(f"{target} cannot be written: {error.strerror}.", "choose another folder.") from None
        yield FolderKeeper(place, asked, last_resort)


def completed(place: Place, release: AnyRelease, paid: Paid | None = None) -> Written:
    """Complete a folder whose run was killed after it had written the release, and give it its name.

    Raises:
        OSError: If something cannot be written; the release stays where it is.
    """
    try:
        file = place.scratch / ASKED
        listed = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
        asked = [
            Asked(tuple(one["lo"]), tuple(one["hi"]), one["where"], tuple(map(tuple, one["labels"]))) for one in listed
        ]
    except (OSError, ValueError, LookupError, TypeError):  # removed right before the folder gets its name, or damaged
        asked = []
    moved = [file.name for file in place.target.iterdir()] if place.inside else []
    return _completed(place, release, asked, paid, moved)


def opened(path: str | os.PathLike[str]) -> Release:
    """The release in a folder, or in a file, for what cannot take groups.

    Raises:
        ReleaseError: If there is no release, or it has groups.
    """
    return single(opened_any(path))


def opened_any(path: str | os.PathLike[str]) -> AnyRelease:
    """The release in a folder, or in a file, with groups or without.

    Raises:
        ReleaseError: If there is no release.
    """
    if is_address(os.fspath(path)):
        raise ReleaseError(f"{public(os.fspath(path))} is not a file here.", "download the release first.")
    place = Path(path)
    if place.is_dir() and not (place / RELEASE).is_file():  # a pipe in a folder that somebody sent is no release
        several = [child.name for child in sorted(place.iterdir()) if (child / RELEASE).is_file()]
        hint = f"it holds several releases: name one of them, such as {place / several[0]}." if several else HINT
        raise ReleaseError(f"There is no {RELEASE} in '{place}'.", hint)
    return load(place / RELEASE if place.is_dir() else place)


def _kept(
    place: Place, release: AnyRelease, asked: Sequence[Asked], last_resort: TextIO | None, paid: Paid | None
) -> Written:
    """Write all files and give the folder its name, or keep the release as well as can be."""
    progress.reached("Writing")
    try:
        release.save(place.scratch / RELEASE)
    except BaseException as error:  # noqa: BLE001  whatever it is, the release is paid for
        return _rescued(place, release, last_resort, _reason(error))
    try:
        written = _completed(place, release, asked, paid)
    except BaseException as error:  # noqa: BLE001  likewise
        folder = places.visible(place)
        problem = FolderError(
            f"{place.label} is not complete ({_reason(error)}), but the release is safe in {folder / RELEASE}.",
            "its budget is spent: keep that file, and make room before you copy it.",
        )
        return Written(folder, (RELEASE,), (), problem=problem)
    return written


def _completed(
    place: Place, release: AnyRelease, asked: Sequence[Asked], paid: Paid | None, moved: Sequence[str] = ()
) -> Written:
    """Write the files that are not there yet, and were not moved to their place, and give the folder its name."""
    answers = ranges.answered(release, asked)
    rows = _tables(release, asked, answers)
    drawn = _drawn(release)
    pictures = () if drawn is None else (FIGURE,)
    receipts = () if paid is None else (RECEIPT,)
    files = (RELEASE, *rows, *pictures, CROISSANT, README, *receipts)
    there = {*moved, *(file.name for file in place.scratch.iterdir())}
    for name, table in rows.items():
        if name not in there:
            text = io.StringIO(newline="")
            tables.write(table, text)
            atomic.write(place.scratch / name, text.getvalue(), new=True)
    if drawn is not None and FIGURE not in there:
        drawn(place.scratch / FIGURE)
    if README not in there:
        atomic.write(place.scratch / README, readme.readme(release, files), new=True)
    if CROISSANT not in there:
        others = {name: _now(place, name) for name in files if name not in {CROISSANT, *receipts}}
        headers = {name: table.header for name, table in rows.items()}
        atomic.write(place.scratch / CROISSANT, croissant.as_text(release, others, headers), new=True)
    if paid is not None and RECEIPT not in there:  # the last one: it names all others as they are
        beside = {name: _now(place, name) for name in files if name not in {RELEASE, RECEIPT}}
        atomic.write(place.scratch / RECEIPT, paid.of(_now(place, RELEASE), beside).as_text(), new=True)
    return _named(place, files, answers)


def _now(place: Place, name: str) -> Path:
    """Where a file is that may have been moved up already."""
    return next((file for file in (place.scratch / name, place.target / name) if file.is_file()), place.scratch / name)


def _drawn(release: AnyRelease) -> Callable[[Path], None] | None:
    """What writes the picture that goes with a release; None if there is none."""
    if isinstance(release, GroupedRelease):
        return partial(multiples.draw, release) if multiples.drawable(release) else None
    return partial(picture.draw, release) if picture.drawable(release) else None


def _named(place: Place, files: Sequence[str], answers: Sequence[Answer]) -> Written:
    """Give the folder its name, with nothing in it but its files."""
    for file in place.scratch.iterdir():
        if file.name == ASKED or HALF.fullmatch(file.name):  # or half a file that a killed run left
            file.unlink()
    found = places.named(place)
    why = found.problem or f"{place.label} was taken in the meantime"
    taken = FolderError(
        f"{why}: the release is complete in {found.folder}.", "its budget is spent: use it there, or rename it."
    )
    problem = None if found.folder == place.target else taken
    return Written(found.folder, tuple(files), tuple(answers), found.earlier, problem)


def _tables(release: AnyRelease, asked: Sequence[Asked], answers: Sequence[Answer]) -> dict[str, tables.Rows]:
    """The tables that go with a release, by the names of their files."""
    found = {}
    if isinstance(release, GroupedRelease):
        if len(release.axes) == 1:
            found[BUCKETS] = grouped.buckets(release)
        elif grouped.few_cells(release):
            found[CELLS] = grouped.cells(release)
        found[APART] = grouped.apart(release)
        if asked:
            found[ANSWERS] = grouped.answers(release, asked, grouped.answered(release, asked))
        return found
    if len(release.axes) == 1:
        found[BUCKETS] = tables.buckets(release)
    elif release.estimate.size <= limits.MOST_ROWS_WRITTEN:
        found[CELLS] = tables.cells(release)
    if release.others is not None:
        found[APART] = tables.apart(release)
    if asked:
        found[ANSWERS] = tables.answers(release, asked, answers)
    return found


def _rescued(place: Place, release: AnyRelease, last_resort: TextIO | None, reason: str) -> Written:
    """A release that does not fit where it should be, saved elsewhere."""
    rescue = rescued(release, place.rescues)
    if rescue is not None:
        problem = FolderError(
            f"{place.label} cannot be written ({reason}), but the release is safe in {rescue}.",
            "its budget is spent: keep that file.",
        )
        return Written(rescue, (rescue.name,), (), problem=problem)
    if not any(_printed(release, stream) for stream in (last_resort, sys.stderr) if last_resort is not None):
        raise FolderError(f"{place.label} cannot be written ({reason}), nor can any other place.", "make room.")
    problem = FolderError(
        f"Neither {place.label} nor any other place can be written ({reason}), so the release was printed.",
        f"its budget is spent: copy the line that begins with {{ into a file {RELEASE}.",
    )
    return Written(place.target, (), (), problem=problem)


def _printed(release: AnyRelease, stream: TextIO | None) -> bool:
    """Whether a release could be printed to a stream."""
    with suppress(OSError, ValueError, AttributeError, MemoryError):
        stream.write(json.dumps(release.to_json()) + "\n")  # type: ignore[union-attr]
        stream.flush()  # type: ignore[union-attr]
        return True
    return False


def _reason(error: BaseException) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
