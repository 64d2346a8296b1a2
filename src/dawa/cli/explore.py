"""``dawa explore``: a release as a page in which a reader drags a range."""

import json as encoder
import sys
from pathlib import Path
from typing import Annotated

import typer

from dawa.cli.errors import reported

HELP = """Look at a release in a browser: drag a range, read the answer.

\b
  dawa explore out/                   # writes out/report.html and opens it
  dawa explore out/release.json --out income.html --no-open

\b
The page is one file that needs no network and no Python: publish it, send it
by mail, print it. It holds the whole release and nothing else.
"""

NAME = "report.html"


def explore(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="A folder that dawa release wrote, or a release.json.", show_default=False
        ),
    ],
    *,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help=f"Where to write it. Else {NAME}, beside the release.", show_default=False),
    ] = None,
    show: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open it in a browser. Else it is opened on a terminal only."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="JSON for machines.")] = False,
) -> None:
    """Write the page, and open it."""
    with reported(json):
        from dawa.publish import folder  # noqa: PLC0415  --help answers without them
        from dawa.publish import page as report  # noqa: PLC0415

        place = Path(release)
        target = Path(out) if out is not None else (place if place.is_dir() else place.parent) / NAME
        found = folder.opened(place)
        _check(target)
        written = report.save(found, target)
        opened = _opened(written) if (sys.stdout.isatty() and not json if show is None else show) else False
        if json:
            sys.stdout.write(encoder.dumps({"report": str(written), "opened": opened}) + "\n")
        else:
            typer.echo(f"{written}{' (opened in a browser)' if opened else ''}")


def _check(target: Path) -> None:
    """Replace an earlier page only: a file of another kind may be dear to somebody."""
    from dawa.errors import FolderError  # noqa: PLC0415  --help answers without it
    from dawa.publish.page.build import OWN_MARK  # noqa: PLC0415  likewise

    if target.is_dir():
        raise FolderError(f"{target} is a folder.", f"name a file, such as {target / NAME}.")
    if target.exists() and OWN_MARK not in target.read_bytes()[:2000]:
        raise FolderError(f"{target} exists already, and is no page of dawa's.", "choose another name with --out.")


def _opened(page: Path) -> bool:
    """Whether a browser took it."""
    import webbrowser  # noqa: PLC0415  rarely needed

    return webbrowser.open(page.absolute().as_uri())
