"""Links of pages that are read in two places: in the repository, and in the site, which holds pages from all over it.

A page is written for the repository: its links lead to files from where it lies. The site has some of these files at
other places (proofs, the pages at the root), and others not at all. Those lead to the repository on its server.
"""

import posixpath
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
AT_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
INSTEAD = {
    "README.md": "index.md",
    "src/dawa/results/schema/release-2.json": "reference/release-file.md",
    "src/dawa/results/schema/release-3.json": "reference/release-file.md",
}
"""Files that have a page about them."""

LINK = re.compile(r"(?<!\\)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def proofs() -> dict[str, str]:
    """Where the site has each proof that lies beside the code, by its path in the repository."""
    found = sorted((ROOT / "src/dawa").rglob("*.md"))
    return {
        path.relative_to(ROOT).as_posix(): "proofs/" + path.relative_to(ROOT / "src/dawa").as_posix() for path in found
    }


def moved() -> dict[str, str]:
    """Where the site has what lies outside of ``docs/``."""
    return AT_THE_ROOT | proofs()


def mirrored() -> dict[str, str]:
    """The pages from outside of ``docs/``, by their places in the site."""
    return {there: (ROOT / here).read_text(encoding="utf-8") for here, there in moved().items()}


def led(markdown: str, page: str) -> str:
    """The text of a page of the site, with its links led to where the site has what they name."""
    places = moved()
    origin = {there: here for here, there in places.items()}.get(page, f"docs/{page}")
    return LINK.sub(lambda link: f"]({target(link[1], origin, page, places)}{link[2] or ''})", markdown)


def target(link: str, origin: str, page: str, places: dict[str, str]) -> str:
    """Where a link of the page ``origin`` leads from its place in the site."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    inside = places.get(path) or INSTEAD.get(path)
    if inside is None and path.startswith("docs/") and not path.endswith(".py"):
        inside = path.removeprefix("docs/").replace(".ipynb", ".md")
    if inside is not None:
        return posixpath.relpath(inside, posixpath.dirname(page) or ".")
    if (ROOT / path).exists():
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{repository()}/{kind}/main/{path}"
    return link  # MkDocs says that it leads nowhere


def repository() -> str:
    """The address of the project's files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["urls"]["Homepage"])
