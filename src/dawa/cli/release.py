"""``dawa release``: from a table to a folder that may be published."""

from typing import TYPE_CHECKING, Annotated

import typer

from dawa.cli.described import RELEASE, describing

if TYPE_CHECKING:
    from dawa.spec.model import Spec

HELP = """Release how many records lie between any two points of an attribute, without exposing any of them.

\b
  dawa release people.parquet --column income --range 0:500000 --step 1 \\
      --epsilon 0.5 --out out/
  dawa release visits.csv --column when --range 2013-01-01..2014-01-01 \\
      --step "1 hour" --epsilon 1 --unit person_id --max-rows-per-unit 3 \\
      --out visits/
  dawa release taxis.parquet --column lon --range -74.1:-73.7 --step 0.001 \\
      --column lat --range 40.6:40.9 --step 0.001 --epsilon 1 --out map/
  dawa release 'postgresql://reader:${PGPASSWORD}@server/hr' --table people \\
      --column age --range 0:120 --epsilon 0.1 --dataset hr --out ages/
  dawa release spec.toml       # all of it in a file that can be reviewed

\b
The folder holds release.json, tables, a picture, and a README.md that says
what is protected. Try the same arguments with dawa plan first: it says what
would be spent and how accurate it would be, and touches no data.
"""


@describing
def release(
    spec: "Spec",
    *,
    save_spec: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the description to this file too, to be reviewed and repeated.",
            show_default=False,
            rich_help_panel=RELEASE,
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Move an earlier folder of that name aside.", rich_help_panel=RELEASE),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON for machines.")] = False,
) -> None:
    """Make a release."""
    from dawa.cli import releasing  # noqa: PLC0415  --help answers without it

    releasing.run(spec, save_spec=save_spec, force=force, json=json)
