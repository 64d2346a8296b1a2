"""The arguments that describe a release: declared once, for every command that takes them.

A command decorated with ``describing`` is handed a ``Spec``, whether it was typed out or is in a file.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from dawa.cli.errors import reported

if TYPE_CHECKING:
    from dawa.spec.model import Spec

AXES, TEXT = "The attribute, once or several times", "Text files, of which nothing is guessed"
PRIVACY, RELEASE = "Who is protected, and who pays", "The release"
OF_AXES = ("column", "range", "step", "values", "edges", "zone", "outside")
ORDER = "dawa.layout.curve"


class InOrder(TyperCommand):
    """A command that remembers in which order the options of axes came: parsers forget it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  Typer's own class is private
        """Note the order, then parse as ever."""
        ctx.meta[ORDER] = list(noted(args))
        return super().parse_args(ctx, args)


def noted(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options of axes with their values, in order.

    >>> list(noted(["people.csv", "--column", "age", "--range=0:120"]))
    [('column', 'age'), ('range', '0:120')]
    """
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            return
        name, given, value = arg.partition("=")
        if name.startswith("--") and name[2:] in OF_AXES:
            yield name[2:], value if given else next(rest, "")


def _mechanisms() -> list[str]:
    from dawa import mechanisms  # noqa: PLC0415  only when the shell completes a name

    return list(mechanisms.names(with_error_bars=True))


def arguments(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file (.parquet, .csv, .tsv, .arrow), the address of a database (postgresql://…, with --table), or"
            " the description of a release (spec.toml), which says all the rest.",
            show_default=False,
        ),
    ],
    *,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The column that holds it. The options below belong to the column before them.",
            rich_help_panel=AXES,
        ),
    ] = None,
    range: Annotated[  # noqa: A002  the option's name
        list[str] | None,
        typer.Option(
            metavar="FROM:TO",
            help="Public bounds, never read from the data: 0:120, or 2013-01-01..2014-01-01 (two dots where an end has"
            " colons). TO itself is outside.",
            rich_help_panel=AXES,
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP",
            help="The finest difference that matters: 1 (the default), 0.01, '1 hour', '1 day'.",
            rich_help_panel=AXES,
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,C", help="Ordered categories, in place of a range.", rich_help_panel=AXES),
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(metavar="0,10,50", help="Borders of cells, in place of a range.", rich_help_panel=AXES),
    ] = None,
    zone: Annotated[
        list[str] | None,
        typer.Option(metavar="ZONE", help="Read times in this zone, such as Europe/Berlin.", rich_help_panel=AXES),
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="clip|drop",
            help="Values outside the bounds: count them in the edge cells (the default), or leave them out.",
            rich_help_panel=AXES,
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="The privacy budget, spent in full: 0.5, or 1/3. Smaller is more private.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Protect whoever this column names, with all their rows; without it, single rows.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    max_rows_per_unit: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep at most so many rows of each, at random.", rich_help_panel=PRIVACY),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The ledger that counts what was spent: a file, or the address of a database."
            " Where a dataset is named, DAWA_LEDGER or dawa-ledger.db by default.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The account in it that pays.", rich_help_panel=PRIVACY)
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            help="What stands between fields: , (the default; tabs in .tsv files), ';', '|', or tab.",
            rich_help_panel=TEXT,
        ),
    ] = None,
    quote: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER", help='What stands around fields (default: "), or none.', rich_help_panel=TEXT
        ),
    ] = None,
    escape: Annotated[
        str | None,
        typer.Option(metavar="CHARACTER", help="What makes the next character an ordinary one.", rich_help_panel=TEXT),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="utf-8 (the default), latin-1, cp1252, utf-16, …", rich_help_panel=TEXT),
    ] = None,
    header: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="The columns of a file without a header line.", rich_help_panel=TEXT),
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(metavar="CHARACTER", help="The decimal mark: . (the default) or ,", rich_help_panel=TEXT),
    ] = None,
    date_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="How dates are written: '%d.%m.%Y %H:%M' (default: ISO 8601).", rich_help_panel=TEXT
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Words for a missing value, as empty text always is (default: NA, NULL, …).",
            rich_help_panel=TEXT,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The table, where SOURCE is a database.", rich_help_panel=RELEASE),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A CSV file of ranges (columns lo,hi or from,to) that matter most: the release is made good at them,"
            " and answers them in answers.csv.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How to do it (default: dawa); see dawa mechanisms.",
            autocompletion=_mechanisms,
            rich_help_panel=RELEASE,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="An option of the mechanism's, such as effort=fast.", rich_help_panel=RELEASE
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="For experiments on public data only: voids all privacy.", rich_help_panel=RELEASE
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Where to write the release.", rich_help_panel=RELEASE),
    ] = None,
) -> "Spec":
    """What these say.

    Raises:
        DawaError: If that is no release.
    """
    typed = {name: value for name, value in locals().items() if name not in {*OF_AXES, "ctx"}}
    from dawa.cli import flags  # noqa: PLC0415  --help answers without it

    return flags.spec(typed, ctx.meta[ORDER])


def describing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments above, and hand it what they describe as its first argument.

    Errors of all of it are reported the way that its own option ``json`` asks for.
    """
    shared = inspect.signature(arguments).parameters
    own = list(inspect.signature(command).parameters.values())[1:]

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401  Typer's to check
        with reported(json=given.get("json", False)):
            command(arguments(**{name: given.pop(name) for name in shared}), **given)

    run.__signature__ = inspect.Signature([*shared.values(), *own])  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in run.__signature__.parameters.items()}  # type: ignore[attr-defined]
    return run
