"""Pages for people who open the server's address in a browser: which releases there are, and what can be asked.

They are plain HTML without scripts, made from what the server says of itself, and load nothing from anywhere.
"""

from html import escape
from importlib import resources
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Response

from dawa.budget import shown
from dawa.results.grouped import GroupedRelease
from dawa.server import headers
from dawa.server.headers import NOTHING, Document
from dawa.server.shelf import Shelf, Shelved
from dawa.version import __version__

POLICY = f"{NOTHING}; style-src 'unsafe-inline'"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style} a {{ color: var(--accent); }}</style>
</head>
<body>
<main>
<header><h1>{title}</h1><p class="lead">{lead}</p></header>
{body}
<footer><p class="hint">dawa {version}</p></footer>
</main>
</body>
</html>
"""


def router(app: FastAPI, shelf: Shelf, only: Any) -> APIRouter:  # noqa: ANN401  a dependency of FastAPI's
    """The paths of these pages; ``only`` refuses parameters."""
    found = APIRouter(include_in_schema=False, dependencies=[only])
    index = _document(_index(shelf))
    known: dict[str, Document] = {}

    @found.get("/", response_class=Response)
    async def releases() -> Response:
        """All releases."""
        return headers.Kept(index, "text/html")

    @found.get("/docs", response_class=Response)
    async def docs() -> Response:
        """What can be asked."""
        if "docs" not in known:
            known["docs"] = _document(_docs(app.openapi()))
        return headers.Kept(known["docs"], "text/html")

    return found


def _document(text: str) -> Document:
    made = Document.file(text.encode("utf-8"))
    return Document(made.content, made.tag, POLICY)


def _filled(title: str, lead: str, body: str) -> str:
    style = resources.files("dawa.publish.page").joinpath("page.css").read_text(encoding="utf-8")
    return PAGE.format(title=escape(title), lead=lead, body=body, style=style, version=escape(__version__))


def _index(shelf: Shelf) -> str:
    rows = "".join(_row(one) for one in shelf.releases.values())
    header = "".join(f'<th scope="col">{name}</th>' for name in ("Release", "Along", "ε", "Protected", ""))
    table = f"<table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>"
    lead = (
        "Open a release to drag a range and read about how many records lie in it. Programs ask the same over HTTP:"
        ' <a href="docs">what can be asked</a>.'
    )
    listed = f'<div class="scroll" tabindex="0" role="region" aria-label="Releases">{table}</div>'
    return _filled("Releases", lead, f"<section>{listed}</section>")


def _row(one: Shelved) -> str:
    privacy, name, path = one.release.privacy, escape(one.name), quote(f"releases/{one.name}")
    along = " and ".join(escape(axis.column) for axis in one.release.axes)
    if isinstance(one.release, GroupedRelease):
        by = " and ".join(escape(grouping.column) for grouping in one.release.by)
        along += f", {len(one.release):,} groups by {by}"
    protected = escape(privacy.unit) if privacy.private else "<b>nobody: an experiment</b>"
    links = f'<a href="{path}">description</a> · <a href="{path}/file">file</a>'
    cells = (along, escape(shown(privacy.epsilon)), protected, links)
    about = one.release.about
    title = f"<br><small>{escape(about.title)}</small>" if about is not None and about.title else ""
    first = f'<th scope="row"><a href="{path}/page">{name}</a>{title}</th>'
    return f"<tr>{first}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _docs(described: dict[str, Any]) -> str:
    parts = [
        _path(path, method.upper(), told)
        for path, methods in described["paths"].items()
        for method, told in methods.items()
    ]
    lead = (
        "Answers follow from the releases alone, so asking costs no privacy, any number of times. For tools there is an"
        ' <a href="openapi.json">OpenAPI description</a>. Back to <a href="./">all releases</a>.'
    )
    return _filled("What can be asked", lead, "".join(parts))


def _path(path: str, method: str, told: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(one["name"])}</code></th>'
        f"<td>{'needed' if one.get('required') else 'may be left out'}</td>"
        f"<td>{escape(one.get('description') or one.get('schema', {}).get('description') or '')}</td></tr>"
        for one in told.get("parameters", ())
    )
    table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    said = f"<p>{escape(told.get('description', ''))}</p>"
    return f"<section><h2><code>{method} {escape(path)}</code></h2>{said}{table}</section>"
