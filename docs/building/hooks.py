"""What MkDocs calls while it builds the site: pages that are made from the code are added, links are led to them."""

from typing import Any

from docs.building import links, notebooks, reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

GENERATED: dict[str, str] = {}
"""The pages and pictures that are made for this build, by their place in the site."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the pages, and put those that the navigation names with a star in their places."""
    GENERATED.clear()
    GENERATED.update(links.mirrored() | reference.pages() | notebooks.pages())
    config.nav = filled(config.nav)
    config.watch.append("src/dawa")
    return config


def filled(nav: Any) -> Any:  # noqa: ANN401  what YAML holds
    """The navigation with every ``folder/*`` replaced by the pages that were made in that folder."""
    if isinstance(nav, list):
        return [filled(entry) for entry in nav]
    if isinstance(nav, dict):
        return {title: filled(entry) for title, entry in nav.items()}
    if isinstance(nav, str) and nav.endswith("/*"):
        folder = nav.removesuffix("*")
        return [name for name in GENERATED if name.startswith(folder) and name.endswith(".md")]
    return nav


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what was made."""
    for name, content in GENERATED.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:  # noqa: ANN401, ARG001  MkDocs calls it so
    """Lead links to files outside of ``docs/`` to their pages in the site, or to the repository."""
    return links.led(markdown, page.file.src_uri)
