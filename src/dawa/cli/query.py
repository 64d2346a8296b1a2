"""``dawa query``: ask a release, any number of times, at no cost."""

from typing import Annotated

import typer

from dawa.cli.errors import reported

HELP = """Ask a release how many records lie in a range. It costs nothing, any number of times.

\b
  dawa query out/ 20000:60000                # the upper end itself is outside
  dawa query out/ 0:1000 1000:2000 --confidence 0.99
  dawa query out/ "2013-01-01 08:00..2013-01-01 09:00"
                                      # two dots where an end has colons
  dawa query out/ low:high            # ordered categories: both ends inside
  dawa query map/ -74.1:-73.9,40.6:40.8      # one range per axis
  dawa query out/ --queries ranges.csv --csv # many: columns lo,hi or from,to

\b
Each answer comes with its noise margin, the most that cut buckets can add to
it (bias bound), and an interval, low to high, that holds the true count with
the stated confidence.
"""


def query(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="A folder that dawa release wrote, or a release.json.", show_default=False
        ),
    ],
    asked: Annotated[
        list[str] | None,
        typer.Argument(metavar="FROM:TO", help="Ranges in the attribute's own units.", show_default=False),
    ] = None,
    *,
    queries: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A CSV file of ranges: columns lo,hi or from,to.", show_default=False),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure the interval is.")] = 0.95,
    json: Annotated[bool, typer.Option("--json", help="JSON for machines.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV for spreadsheets.")] = False,
) -> None:
    """Ask a release."""
    if json and csv:
        raise typer.BadParameter("--json and --csv contradict each other.")
    with reported(json):
        from dawa.cli import answering  # noqa: PLC0415  --help answers without it

        answering.answer(release, asked or [], queries, confidence, form="json" if json else "csv" if csv else "table")
