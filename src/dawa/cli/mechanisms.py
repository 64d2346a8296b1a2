"""``dawa mechanisms``: what there is to choose from."""

import json as encoder
from typing import Annotated

import typer

from dawa.cli.errors import reported

HELP = """List the mechanisms, or the options of one.

\b
  dawa mechanisms
  dawa mechanisms dawa
"""


def mechanisms(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this one's options.", show_default=False)
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="JSON for machines.")] = False,
) -> None:
    """List the mechanisms."""
    with reported(json):
        from dawa.mechanisms import describe, names  # noqa: PLC0415  --help answers without it

        releasing = names(with_error_bars=True)
        if json:
            chosen = names() if name is None else (name,)
            found = [
                {"name": one, "does": _sentence(describe(one), one), "releases": one in releasing} for one in chosen
            ]
            typer.echo(encoder.dumps(found, indent=1))
        elif name is not None:
            typer.echo(describe(name))
        else:
            for one in releasing:
                typer.echo(f"{one:<22}{_sentence(describe(one), one)}")


def _sentence(described: str, name: str) -> str:
    return described.splitlines()[0].removeprefix(f"{name}: ")
