"""The command line ``dawa``: from a table to a release, and from a release to answers.

Each command is a module here, with its name: a plain function and its ``HELP``, or an ``app`` where the command has
commands of its own. A module is imported when its command is asked for, so that ``dawa --help`` answers at once.
"""

import gc
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import dawa
from dawa.errors import OptionError

__all__ = ["app", "main"]

COMMANDS = {
    "release": "Release how many records lie between any two points of an attribute, without exposing any of them.",
    "query": "Ask a release how many records lie in a range. It costs nothing, any number of times.",
    "sample": "Draw a synthetic table from a release: rows for tools that need rows, at no further cost.",
    "explore": "Look at a release in a browser: drag a range, read the answer.",
    "plan": "Say what a release would spend, whom it would protect and how accurate it would be. No record is read.",
    "compare": "Run several mechanisms on a PUBLIC table, which is read without any privacy, and see which one wins.",
    "serve": "Answer ranges over HTTP, for people who build on releases. Only releases are read, never data.",
    "mechanisms": "List the mechanisms, or the options of one, or rank those that do not look at the data.",
    "demo": "Release the incomes of 20,000 generated people, and show the answers beside the truth.",
    "bench": "Make the paper's tables and figures again, and see which mechanism suits which data.",
    "audit": "Look for what mechanisms lose beyond the epsilon that they claim, from outside.",
    "warm-up": "Do once what a first run would do: for images of containers.",
    "ledger": "The book of what was spent on each dataset. It cannot be overspent.",
}
"""What each command does: how its own ``HELP`` begins, said here without importing it."""

ELSEWHERE = {"bench": "dawa_bench.cli", "audit": "dawa_bench.audit.cli"}
"""Commands that another package brings, if it is installed. It is found by name: nothing here may import it."""

MOST_YOUNG = 50_000
"""How many new objects Python looks for garbage among. Libraries that load make very many, and all of them stay."""

ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}

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


class Later(TyperCommand):
    """A command that is known by its name and one sentence; the rest is imported when it is parsed or completed."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:  # noqa: ANN401  Typer's own classes are private
        """Hand all that was typed to the command itself."""
        return self.loaded().make_context(info_name, args, parent, **extra)

    def loaded(self) -> Any:  # noqa: ANN401  likewise
        """The command itself."""
        name = str(self.name)
        spelled = name.replace("-", "_")
        module = import_module(ELSEWHERE.get(name, f"{__name__}.{spelled}"))
        if hasattr(module, "app"):
            return typer.main.get_command(module.app)
        alone = typer.Typer(add_completion=False)
        alone.command(name, help=module.HELP, **getattr(module, "SETTINGS", {}))(getattr(module, spelled))
        return typer.main.get_command(alone)


class Absent(TyperCommand):
    """A command whose package is not installed: not listed, but it says so."""

    def __init__(self, name: str, package: str, **settings: Any) -> None:  # noqa: ANN401  Typer's to check
        super().__init__(name, hidden=True, context_settings=ANYTHING, callback=self.refuse, **settings)
        self.package = package

    def refuse(self) -> None:
        """Say what is missing."""
        from dawa.cli.terminal import reported  # noqa: PLC0415  --help answers without it

        with reported():
            raise OptionError(
                f"dawa {self.name} is not installed: there is no package {self.package}.",
                f"install dawa again: {self.package} is part of it.",
            )


class Commands(TyperGroup):
    """All commands, of which none is imported yet."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  Typer's to check
        super().__init__(**settings)
        for name, does in COMMANDS.items():
            package = ELSEWHERE.get(name, __name__).partition(".")[0]
            here = find_spec(package) is not None
            self.add_command(Later(name, help=does) if here else Absent(name, package, help=does))


app = typer.Typer(
    cls=Commands,
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:  # noqa: FBT001  a callback of Typer's
    if asked:
        typer.echo(f"dawa {dawa.__version__}")
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """What stands before the command."""


def main() -> None:
    """The entry point."""
    gc.set_threshold(MOST_YOUNG)
    try:
        _check_folder()
        app(prog_name="dawa")
    except KeyboardInterrupt:  # before a command has begun, or after it has said what it did
        sys.stderr.write("Stopped.\n")
        sys.exit(130)


def _check_folder() -> None:
    """Refuse a folder that was removed before arguments are read: what reads them may fail there in ways of its own."""
    try:
        Path.cwd()
    except FileNotFoundError:
        from dawa.cli.terminal import reported  # noqa: PLC0415  --help answers without it

        try:
            with reported("--json" in sys.argv):
                pass  # it says so
        except typer.Exit as left:
            sys.exit(left.exit_code)
