"""The command line ``dawa``: from a table to a release, and from a release to answers.

Each command is a module here. They import what they need when they run, so that ``--help`` answers at once.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from dawa.cli import demo, explore, ledger, mechanisms, plan, query, release, serve
from dawa.cli.described import InOrder

__all__ = ["app", "main"]

HELP = """Publish how many, between here and there, without exposing anyone.

\b
  dawa demo                          # a release of people who do not exist
  dawa plan people.parquet --column age --range 0:120 --epsilon 0.5
                                     # what a release would cost and tell
  dawa release people.parquet --column age --range 0:120 --epsilon 0.5 \\
      --out ages/                    # make it: a folder that may be published
  dawa query ages/ 18:65             # ask it anything, any number of times
"""

EPILOG = (
    "Exit codes: 0 done, 1 refused or bad input, 2 wrong usage, 3 budget exhausted."
    "\n\nEach command has examples: dawa release --help. To complete words with the tab key: dawa --install-completion."
)

app = typer.Typer(
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:  # noqa: FBT001  a callback of Typer's
    if asked:
        from dawa.version import __version__  # noqa: PLC0415  --help answers without it

        typer.echo(f"dawa {__version__}")
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """What stands before the command."""


app.command(help=release.HELP, cls=InOrder)(release.release)
app.command(help=query.HELP, context_settings={"ignore_unknown_options": True})(query.query)
app.command(help=explore.HELP)(explore.explore)
app.command(help=plan.HELP, cls=InOrder)(plan.plan)
app.add_typer(ledger.app, name="ledger")
app.command(help=serve.HELP)(serve.serve)
app.command(help=mechanisms.HELP)(mechanisms.mechanisms)
app.command(help=demo.HELP)(demo.demo)
if find_spec("dawa_bench") is not None:  # another package, which compares also with what is not private
    bench = import_module("dawa_bench.cli")
    app.command(help=bench.HELP)(bench.bench)


def main() -> None:
    """The entry point."""
    app(prog_name="dawa")
