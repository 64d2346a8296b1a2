"""``dawa plan``: what a release would spend and how accurate it would be, before anything is touched."""

from typing import TYPE_CHECKING, Annotated

import typer

from dawa.cli.described import RELEASE, describing

if TYPE_CHECKING:
    from dawa.spec.model import Spec

HELP = """Say what a release would spend, whom it would protect and how accurate it would be. No data is touched.

\b
  dawa plan people.parquet --column income --range 0:500000 --epsilon 0.5
  dawa plan people.parquet --column age --range 0:120 --epsilon 0.1 \\
      --ledger ledger.db --dataset hr      # what would be left of its cap
  dawa plan people.parquet --column age --range 0:120 --epsilon 0.1 \\
      --toml > spec.toml                   # the same as a file, to be reviewed
  dawa plan spec.toml --json
"""


@describing
def plan(
    spec: "Spec",
    *,
    toml: Annotated[
        bool,
        typer.Option(
            "--toml",
            help="Print the description as a file for dawa release, and nothing else.",
            rich_help_panel=RELEASE,
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON for machines.")] = False,
) -> None:
    """Plan a release."""
    if toml and json:
        raise typer.BadParameter("--toml and --json contradict each other.")
    from dawa.cli import planning  # noqa: PLC0415  --help answers without it

    planning.run(spec, form="toml" if toml else "json" if json else "table")
