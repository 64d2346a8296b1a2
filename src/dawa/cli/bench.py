"""``dawa bench``: the paper's experiments, made again."""

from typing import Annotated

import typer

from dawa.cli.terminal import reported

HELP = """Make the paper's tables and figures again, and see which mechanism is best for what.

\b
  dawa bench --list                   # the experiments
  dawa bench paper.errors             # one of them, in minutes
  dawa bench paper.errors --full      # as large as in the paper
  dawa bench --quick                  # all of them, in minutes each
  dawa bench fetch                    # the real data, from its public address
  dawa bench report                   # a page of results, docs/results.md

\b
Stopped in any way, the same command goes on where it was. Data is public here;
some of what is compared is NOT PRIVATE, and says so. A cluster is reached with
--backend dask (DASK_SCHEDULER_ADDRESS) or ray (RAY_ADDRESS).
"""


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="An experiment, 'fetch' or 'report'.", show_default=False),
    ] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Minutes: fewer runs. This is the default.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As many runs as the figures deserve.")] = False,
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where results are kept. (default: out/bench)")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the real datasets lie. (default: DAWA_DATA, else what was fetched, else stand-ins)",
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes. (default: one per core)", show_default=False)] = None,
    backend: Annotated[
        str | None, typer.Option(help="What runs them: loky, dask or ray. (default: loky)", show_default=False)
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where a report goes. (default: docs)", show_default=False)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and leave.")] = False,
) -> None:
    """Run experiments."""
    with reported():
        from dawa.cli import benching  # noqa: PLC0415  --help answers without it

        benching.run(name, quick=quick, full=full, out=out, data=data, jobs=jobs, backend=backend, to=to, listed=listed)
