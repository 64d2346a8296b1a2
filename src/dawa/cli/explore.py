"""``dawa explore``: a release as a page in which a reader drags a range."""

from __future__ import annotations

import json as encoder
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import dawa
from dawa.cli.options import Json, Place
from dawa.cli.terminal import reported, tell
from dawa.errors import FolderError

HELP = """Look at a release in a browser: drag a range, read the answer.

\b
  dawa explore out/                   # writes out/report.html and opens it
  dawa explore out/release.json --out income.html --no-open
  dawa explore releases/              # several releases, with a choice of them

\b
The page is one file that needs no network and no Python: publish it, send it
by mail, print it. It holds the whole release and nothing else.
"""

NAME = "report.html"


def explore(
    release: Place,
    *,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help=f"Where to write it. Else {NAME}, beside the release.", show_default=False),
    ] = None,
    show: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open it in a browser. Else it is opened on a terminal only."),
    ] = None,
    json: Json = False,
) -> None:
    """Write the page, and open it."""
    with reported(json):
        place = Path(release)
        target = Path(out) if out is not None else (place if place.is_dir() else place.parent) / NAME
        several = [] if (place / dawa.results.keeping.RELEASE).is_file() else dawa.publish.together.held(place)
        found = [(name, dawa.publish.folder.opened_any(place / name)) for name in several]
        found = found or [("", dawa.publish.folder.opened_any(release))]
        strange = target.is_symlink() or (target.exists() and not target.is_file() and not target.is_dir())
        if out is None and strange:  # a folder that somebody sent may hold anything
            raise FolderError(f"{target} is a link, or not a file.", "name the page's file with --out.")
        _check(target)
        written = dawa.publish.page.save_all(found, target)
        wanted = sys.stdout.isatty() and not json if show is None else show
        opened = wanted and webbrowser.open(written.absolute().as_uri())
        if json:
            sys.stdout.write(encoder.dumps({"report": str(written), "opened": opened}) + "\n")
        else:
            tell(f"{written}{' (opened in a browser)' if opened else ''}")


def _check(target: Path) -> None:
    """Replace an earlier page only: a file of another kind may be dear to somebody."""
    if target.is_dir():
        raise FolderError(f"{target} is a folder.", f"name a file, such as {target / NAME}.")
    if target.is_file() and dawa.publish.page.OWN_MARK not in _begins(target):
        raise FolderError(f"{target} exists already, and is not a page of dawa's.", "choose another name with --out.")


def _begins(target: Path) -> bytes:
    with target.open("rb") as file:
        return file.read(2000)
