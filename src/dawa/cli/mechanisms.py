"""``dawa mechanisms``: what there is to choose from."""

from typing import Annotated

import typer

from dawa.cli.options import Json
from dawa.cli.terminal import reported, write_json
from dawa.mechanisms import describe, names

HELP = """List the mechanisms, or the options of one.

\b
  dawa mechanisms
  dawa mechanisms dawa
"""

WIDTH = 22


def mechanisms(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this one's options.", show_default=False)
    ] = None,
    *,
    json: Json = False,
) -> None:
    """List the mechanisms, or describe one."""
    with reported(json):
        if json:
            write_json(_listed(names() if name is None else (name,)))
        elif name is not None:
            typer.echo(describe(name))
        else:
            for one in names(with_error_bars=True):
                typer.echo(f"{one:<{WIDTH}}{_sentence(one)}")


def _listed(chosen: tuple[str, ...]) -> list[dict[str, object]]:
    """For machines."""
    releasing = names(with_error_bars=True)
    return [{"name": one, "does": _sentence(one), "releases": one in releasing} for one in chosen]


def _sentence(name: str) -> str:
    """What a mechanism does."""
    return describe(name).splitlines()[0].removeprefix(f"{name}: ")
