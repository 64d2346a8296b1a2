"""``dawa demo``: the main job end to end, on people who do not exist."""

from typing import Annotated

import typer

from dawa.cli.errors import reported

HELP = """Release the incomes of 20,000 generated people, and show the answers beside the truth.

\b
  dawa demo
  dawa query out/demo 20000:60000
"""


def demo(
    *,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The privacy budget.")] = "0.5",
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where to write the release.")] = "out/demo",
) -> None:
    """Show what a release is."""
    with reported():
        from dawa.demo import run  # noqa: PLC0415  --help answers without it

        run(epsilon, out)
