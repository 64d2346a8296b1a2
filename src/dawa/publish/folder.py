"""The output folder: written whole or not at all, never over an earlier release, and never lost once it is paid for.

Everything goes into a scratch folder beside the target, which is renamed when it is complete. The release itself is
written first. If the disk is full by then, the budget is already spent, so the release is saved wherever there is room.
"""

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dawa import limits, progress
from dawa.errors import FolderError, ReleaseError
from dawa.plots import picture
from dawa.publish import readme, tables
from dawa.results.answers import Answer
from dawa.results.release import Release, load
from dawa.spec import ranges
from dawa.spec.ranges import Asked

RELEASE, README, FIGURE = "release.json", "README.md", "release.svg"
BUCKETS, CELLS, APART, ANSWERS = "buckets.csv", "cells.csv", "apart.csv", "answers.csv"


@dataclass(frozen=True)
class Place:
    """Where a folder will be.

    Attributes:
        target: Its final path.
        scratch: Where it is written first.
        replace: Whether an earlier folder of that name is moved aside.
    """

    target: Path
    scratch: Path
    replace: bool


@dataclass(frozen=True)
class Written:
    """A complete folder.

    Attributes:
        folder: Where it is.
        files: The names of its files.
        answers: The release's answers to the ranges that were asked.
        earlier: Where an earlier folder of that name was moved, if there was one.
    """

    folder: Path
    files: tuple[str, ...]
    answers: tuple[Answer, ...]
    earlier: Path | None = None


@contextmanager
def prepared(target: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Place]:
    """Make sure that a folder can be written, before anything is spent on it.

    Args:
        target: The folder to write.
        replace: Whether to move an earlier folder of that name aside.

    Raises:
        FolderError: If the folder exists already, or cannot be written.
    """
    place = Path(target)
    try:
        _check(place, replace=replace)
        scratch = place.absolute().parent / f".{place.name}-{uuid.uuid4().hex[:8]}"
        scratch.mkdir(parents=True)
        (scratch / README).touch()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this cannot be a name"
        raise FolderError(f"{place} cannot be written: {reason}.", "choose another folder.") from None
    try:
        yield Place(place, scratch, replace)
    finally:
        if not (scratch / RELEASE).exists():
            shutil.rmtree(scratch, ignore_errors=True)


def fill(place: Place, release: Release, asked: Sequence[Asked], last_resort: TextIO) -> Written:
    """Write all files and give the folder its name.

    Args:
        place: What ``prepared`` made.
        release: What to write.
        asked: Ranges to list with their answers; without any, that file is not written.
        last_resort: The stream that the release is printed to if it cannot be written to any disk.

    Raises:
        FolderError: If something could not be written; the error says where the release is.
    """
    progress.reached("Writing")
    _save(place, release, last_resort)
    try:
        answers = ranges.answered(release, asked)
        written = _tables(release, asked, answers)
        for name, table in written.items():
            with (place.scratch / name).open("w", encoding="utf-8", newline="") as file:
                tables.write(table, file)
        pictures = (FIGURE,) if picture.drawable(release) else ()
        for name in pictures:
            picture.draw(release, place.scratch / name)
        files = (RELEASE, *written, *pictures, README)
        (place.scratch / README).write_text(readme.readme(release, files), encoding="utf-8")
        earlier = _named(place)
    except BaseException as error:  # noqa: BLE001  after any error, the release is still paid for
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise FolderError(
            f"{place.target} is not complete ({reason}), but the release is safe in {place.scratch / RELEASE}.",
            "its budget is spent: keep that file, and make room before you copy it.",
        ) from None
    return Written(place.target, files, tuple(answers), earlier)


def opened(path: str | os.PathLike[str]) -> Release:
    """The release in a folder, or in a file.

    Raises:
        ReleaseError: If there is no release.
    """
    place = Path(path)
    if place.is_dir() and not (place / RELEASE).exists():
        raise ReleaseError(f"There is no {RELEASE} in {place}.", "pass a folder that dawa release wrote.")
    return load(place / RELEASE if place.is_dir() else place)


def _check(place: Path, *, replace: bool) -> None:
    if place.exists() and not place.is_dir():
        raise FolderError(f"{place} is a file.", "choose another name for the folder.")
    if place.resolve() in {Path.cwd(), *Path.cwd().parents}:
        raise FolderError(f"{place} is the current folder, or a folder above it.", "name a new folder.")
    if _holds_something(place) and not replace:
        raise FolderError(
            f"{place} exists already.",
            "choose another folder, or pass --force: the earlier one is then moved aside, not deleted.",
        )


def _tables(release: Release, asked: Sequence[Asked], answers: Sequence[Answer]) -> dict[str, tables.Rows]:
    """The tables that go with a release, by the names of their files."""
    found = {}
    if len(release.axes) == 1:
        found[BUCKETS] = tables.buckets(release)
    elif release.estimate.size <= limits.MOST_ROWS_WRITTEN:
        found[CELLS] = tables.cells(release)
    if release.others is not None:
        found[APART] = tables.apart(release)
    if asked:
        found[ANSWERS] = tables.answers(release, asked, answers)
    return found


def _save(place: Place, release: Release, last_resort: TextIO) -> None:
    """Write the release itself; if it does not fit here, write it elsewhere."""
    try:
        _safely(release, place.scratch / RELEASE)
    except OSError as error:
        reason = error.strerror
    else:
        return
    for folder in (Path(tempfile.gettempdir()), Path.home()):
        rescue = folder / f"dawa-{place.target.name}-{uuid.uuid4().hex[:8]}.json"
        with suppress(OSError):
            _safely(release, rescue)
            raise FolderError(
                f"{place.target} cannot be written ({reason}), but the release is safe in {rescue}.",
                "its budget is spent: keep that file.",
            )
    last_resort.write(json.dumps(release.to_json()) + "\n")
    last_resort.flush()
    raise FolderError(
        f"Neither {place.target} nor any other place can be written ({reason}), so the release was printed.",
        f"its budget is spent: copy the line that begins with {{ into a file {RELEASE}.",
    )


def _safely(release: Release, path: Path) -> None:
    """Write a release through to the disk, or leave no file behind."""
    try:
        release.save(path)
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _named(place: Place) -> Path | None:
    """Give the scratch folder its final name; returns where an earlier folder of that name was moved."""
    earlier = None
    if _holds_something(place.target):
        if not place.replace:
            raise FileExistsError(0, "it appeared in the meantime")
        earlier = _free(place.target)
        place.target.rename(earlier)
    elif place.target.exists():
        place.target.rmdir()
    try:
        place.scratch.rename(place.target)
    except OSError:
        if earlier is not None:
            earlier.rename(place.target)
        raise
    return earlier


def _free(target: Path) -> Path:
    """A name for the earlier folder that is not taken."""
    number = 1
    while (name := target.with_name(f"{target.name}.earlier-{number}")).exists():
        number += 1
    return name


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
