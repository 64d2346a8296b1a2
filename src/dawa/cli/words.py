"""The options for words about the data, which ``release`` and ``plan`` take, and how these words are told to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dawa.cli.options import Pairs

if TYPE_CHECKING:  # --help answers without it
    from dawa.results.about import About

ABOUT = "Words about the data, for those who read the release"

File = Annotated[
    str | None,
    typer.Option(
        "--about",
        metavar="FILE",
        help="All of these in a file, .toml or .json, as in [about] of a spec; options win over it.",
        rich_help_panel=ABOUT,
    ),
]
Title = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="What the release is called.", rich_help_panel=ABOUT)
]
Description = Annotated[
    str | None,
    typer.Option("--description", metavar="TEXT", help="What the data are, in some sentences.", rich_help_panel=ABOUT),
]
Record = Annotated[
    str | None,
    typer.Option("--record", metavar="TEXT", help="What a record is: 'a flight', 'a lab test'.", rich_help_panel=ABOUT),
]
Plural = Annotated[
    str | None,
    typer.Option("--plural", metavar="TEXT", help="What several records are called: 'flights'.", rich_help_panel=ABOUT),
]
Publisher = Annotated[
    str | None,
    typer.Option("--publisher", metavar="TEXT", help="Who answers for the release.", rich_help_panel=ABOUT),
]
Contact = Annotated[
    str | None,
    typer.Option(
        "--contact",
        metavar="TEXT",
        help="Whom to ask about it. An address that begins with mailto: or https:// becomes a link.",
        rich_help_panel=ABOUT,
    ),
]
DataFrom = Annotated[
    str | None,
    typer.Option(
        "--data-from", metavar="DATE", help="The first day that the data are about: 2013-01-01.", rich_help_panel=ABOUT
    ),
]
DataTo = Annotated[
    str | None,
    typer.Option("--data-to", metavar="DATE", help="The last day that the data are about.", rich_help_panel=ABOUT),
]
Released = Annotated[
    str | None,
    typer.Option(
        "--released",
        metavar="DATE",
        help="The day of the release; today is the day on which it is made (UTC).",
        rich_help_panel=ABOUT,
    ),
]
Licence = Annotated[
    str | None,
    typer.Option(
        "--licence", metavar="TEXT", help="What readers may do with it: a name or an address.", rich_help_panel=ABOUT
    ),
]


def given(file: str | None, **words: str | None) -> Pairs:
    """The words that were typed, by option, after the file of words, if one was named."""
    typed = tuple((name, text) for name, text in words.items() if text is not None)
    return typed if file is None else (("about", file), *typed)


def told(about: About | None) -> list[str]:
    """Words about the data in lines, for those who review them."""
    if about is None:
        return []
    title = [f"Title: {about.title}"] if about.title else []
    description = f"Description: {about.description}".split("\n") if about.description else []
    return [*title, *description, *(f"{name}: {fact}" for name, fact in about.facts().items())]
