"""``dawa sample``: a synthetic table from a release, for tools that need rows."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import dawa
from dawa import check, limits
from dawa.cli.options import Place
from dawa.cli.terminal import reported

HELP = """Draw a synthetic table from a release: rows for tools that need rows, at no further cost.

\b
  dawa sample out/ --rows 1000               # CSV on standard output
  dawa sample out/ --rows 1000 --seed 1      # the same rows every time
  dawa sample map/ --rows 1000000 --out synthetic.parquet

\b
No row is copied from the data: all are drawn from the released distribution,
so they cost no epsilon and say nothing that the release does not. The columns
are those of the axes; where there are groups, the columns that say which come
first, and every group has its part of the rows. Records that are in no range, because they are missing,
outside or not listed, have no rows. Counts of these rows have no error bars:
ask the release for counts, with dawa query.
"""

NOTE = (
    "These rows are synthetic: they are drawn from the release, not copied from the data, and cost nothing further."
    " Records that are in no range have no rows among them.\n"
)


def sample(
    release: Place,
    *,
    rows: Annotated[
        int, typer.Option(metavar="N", help=f"How many rows, up to {limits.MOST_ROWS_SAMPLED:,}.", show_default=False)
    ],
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", help="Draw the same rows every time. It does no harm here.", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A new file, .csv or .parquet, in place of standard output."),
    ] = None,
) -> None:
    """Write rows that are drawn from a release."""
    with reported():
        check.whole(rows, "--rows", 0, limits.MOST_ROWS_SAMPLED)
        if seed is not None:
            check.whole(seed, "--seed", 0)
        if out is not None:
            dawa.publish.files.ending(out, dawa.publish.files.ROWS)
        found = dawa.publish.folder.opened_any(release)
        pieces, axes = found.sampled(rows, seed), dawa.publish.files.columns(found)
        if out is None:
            dawa.publish.files.write_rows(sys.stdout, axes, pieces)
        else:
            dawa.publish.files.save_rows(out, axes, pieces)
        sys.stderr.write(NOTE)
