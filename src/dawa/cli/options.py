"""The options that several commands share, each declared once; commands list those that they take.

Most of them describe a release: ``release`` and ``plan`` take the same ones. Those of an attribute may come several
times, each after the ``--column`` that it belongs to, so their order matters; ``InOrder`` keeps it.
"""

import os
from collections import Counter
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import dawa
from dawa import numerals
from dawa.cli.terminal import reported
from dawa.errors import OptionError
from dawa.numerals import NotANumberError, told

AXES, TEXT = "The attribute, once or several times", "Files, of which nothing is guessed"
PRIVACY, RELEASE = "Who is protected, and who pays", "The release"
ORDER = "dawa.cli.options.order"

LEDGER_VARIABLE, USUAL_LEDGER = "DAWA_LEDGER", "dawa-ledger.db"
"""Where the ledger is if nobody says so: what the variable holds, or else this file."""

Pairs = tuple[tuple[str, str], ...]
"""The options of axes with their values, in the order in which they were typed."""


def as_number(text: str | float) -> float:
    """A number that was typed, as everything else reads numbers."""
    try:
        return numerals.real(text)
    except NotANumberError as error:
        raise typer.BadParameter(f"{told(text)} {error}.") from None


MAY_BE_EMPTY = {"missing"}
"""Options of which an empty value says something: that no word means a missing value."""


class InOrder(TyperCommand):
    """A command that remembers in which order its options came: parsers collect the values of each by itself.

    It refuses an empty value, which is how a variable that is not set looks, and an option of one value that has two.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  Typer's own class is private
        """Note the order, then parse as ever."""
        given, _, came = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[ORDER] = [parameter.name for parameter in came]
        if not ctx.resilient_parsing and not set(args) & set(ctx.help_option_names):
            with reported("--json" in args):
                self._check(given, Counter(came))
        return super().parse_args(ctx, args)

    def _check(self, given: dict[str, Any], came: Counter[Any]) -> None:
        for parameter, times in came.items():
            _check(parameter, given.get(parameter.name), times)
        for parameter in self.params:
            variable = parameter.envvar
            if isinstance(variable, str) and parameter.name not in given and os.environ.get(variable) == "":
                raise empty(variable)


def _check(parameter: Any, value: object, times: int) -> None:  # noqa: ANN401  Typer's own class is private
    """Refuse an empty value, and a second one where there is room for one."""
    option = parameter.param_type_name == "option"
    name = parameter.opts[0] if option else str(parameter.metavar or parameter.name).strip("[]")
    if parameter.name not in MAY_BE_EMPTY and "" in (value if isinstance(value, (list, tuple)) else (value,)):
        raise empty(name)
    if times > 1 and option and not parameter.multiple and not parameter.is_flag and not parameter.count:
        raise OptionError(f"{name} is given {times} times, and has room for one value.", "give it once.")


def empty(name: str) -> OptionError:
    """The error about an empty value, which must not mean the same as none."""
    return OptionError(
        f"{name} is empty.", "is a variable of the shell not set? An option that is not needed can be left out."
    )


def in_order(ctx: typer.Context, **given: list[str] | None) -> Pairs:
    """Options that came several times, one by one, as they were typed.

    Args:
        ctx: Of a command of the class ``InOrder``.
        **given: Each option's values.
    """
    left = {name: iter(values or ()) for name, values in given.items()}
    return tuple((name, next(left[name])) for name in ctx.meta[ORDER] if name in left)


def _mechanisms() -> list[str]:
    return list(dawa.mechanisms.names(with_error_bars=True))


Json = Annotated[bool, typer.Option("--json", help="JSON for machines.")]

Place = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE", help="A folder that dawa release wrote, or a release.json or .npz.", show_default=False
    ),
]

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file (.parquet, .csv, .tsv, .jsonl, .xlsx, .arrow, or .sqlite, .db, .duckdb with --table), - for"
        " standard input, the address of a file (https://…, s3://…) or of a database (postgresql://…, with --table),"
        " or a spec (spec.toml), which says all the rest.",
        show_default=False,
    ),
]

# The attribute.

Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="The column that holds it. The options below belong to the column before them.",
        rich_help_panel=AXES,
    ),
]
Range = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="FROM:TO",
        help="Public bounds: 0:120, or 2013-01-01..2014-01-01 (two dots where an end has colons). TO itself is outside."
        " Where nobody knows them, auto finds bounds in the data, privately, for a share of epsilon.",
        rich_help_panel=AXES,
    ),
]
Step = Annotated[
    list[str] | None,
    typer.Option(
        "--step",
        metavar="STEP",
        help="The finest difference that matters: 1 (the default), 0.01, '1 hour', '1 day'.",
        rich_help_panel=AXES,
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--values", metavar="A,B,C", help="Ordered categories, in place of a range.", rich_help_panel=AXES),
]
Edges = Annotated[
    list[str] | None,
    typer.Option("--edges", metavar="0,10,50", help="Borders of cells, in place of a range.", rich_help_panel=AXES),
]
Zone = Annotated[
    list[str] | None,
    typer.Option(
        "--zone", metavar="ZONE", help="Read times in this zone, such as Europe/Berlin.", rich_help_panel=AXES
    ),
]
Network = Annotated[
    list[str] | None,
    typer.Option(
        "--network",
        metavar="NETWORK",
        help="Addresses, in place of a range: those in 10.0.0.0/8, in 2001:db8::/32, or all IPv4 in 0.0.0.0/0.",
        rich_help_panel=AXES,
    ),
]
Prefix = Annotated[
    list[str] | None,
    typer.Option(
        "--prefix",
        metavar="BITS",
        help="How many leading bits the addresses of a cell share: 32 (the default; 64 in IPv6), 24, …",
        rich_help_panel=AXES,
    ),
]
Outside = Annotated[
    list[str] | None,
    typer.Option(
        "--outside",
        metavar="clip|drop|own",
        help="Values outside the bounds: count them in the edge cells (the default), leave them out, or count them"
        " apart, in cells of their own (the default for categories that --values does not list).",
        rich_help_panel=AXES,
    ),
]
IfMissing = Annotated[
    list[str] | None,
    typer.Option(
        "--if-missing",
        metavar="own|drop",
        help="Missing values: count them apart, in a cell of their own (the default), or leave them out.",
        rich_help_panel=AXES,
    ),
]
Share = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        metavar="PART",
        help="The part of epsilon that --range auto may spend (default: 0.05).",
        rich_help_panel=AXES,
    ),
]

# Who is protected, and who pays.

Epsilon = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        metavar="NUMBER",
        help="The privacy budget, spent in full: 0.5, or 1/3. Smaller is more private.",
        rich_help_panel=PRIVACY,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="COLUMN",
        help="Protect whoever this column names, with all their rows; without it, single rows. person,day protects what"
        " one person did on one day.",
        rich_help_panel=PRIVACY,
    ),
]
MaxRowsPerUnit = Annotated[
    str | None,
    typer.Option(
        "--max-rows-per-unit",
        metavar="N",
        help="Keep at most so many rows of each, at random; needed with --unit. 95% finds a number that keeps that part"
        " of all rows, for 5% of epsilon; auto means 90%.",
        rich_help_panel=PRIVACY,
    ),
]
Ledger = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="The ledger that counts what was spent: a file, or the address of a database."
        f" Where a dataset is named, {LEDGER_VARIABLE} or {USUAL_LEDGER} by default.",
        rich_help_panel=PRIVACY,
    ),
]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", help="The account in it that pays.", rich_help_panel=PRIVACY),
]

# Text files.

Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        help="What stands between fields: , (the default; tabs in .tsv files), ';', '|', or tab.",
        rich_help_panel=TEXT,
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(
        "--quote",
        metavar="CHARACTER",
        help='What stands around fields (default: "), or none.',
        rich_help_panel=TEXT,
    ),
]
Escape = Annotated[
    str | None,
    typer.Option(
        "--escape",
        metavar="CHARACTER",
        help="What makes the next character an ordinary one.",
        rich_help_panel=TEXT,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="utf-8 (the default), latin-1, cp1252, utf-16, …",
        rich_help_panel=TEXT,
    ),
]
Header = Annotated[
    str | None,
    typer.Option(
        "--header", metavar="A,B,C", help="The columns of a file without a header line.", rich_help_panel=TEXT
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="CHARACTER",
        help="The decimal mark: . (the default) or , (this and the next two go with text in any source)",
        rich_help_panel=TEXT,
    ),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format",
        metavar="FORMAT",
        help="How dates are written: '%d.%m.%Y %H:%M' (default: ISO 8601).",
        rich_help_panel=TEXT,
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="A,B",
        help="Words for a missing value, as empty text always is (default: NA, NULL, …).",
        rich_help_panel=TEXT,
    ),
]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="What the file is, whatever its name: csv, tsv, jsonl (each also with .gz), xlsx. Standard input is csv by"
        " default.",
        rich_help_panel=TEXT,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="The sheet of an Excel workbook (default: the first).", rich_help_panel=TEXT
    ),
]

# The release.

Table = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="The table, where SOURCE is a database.", rich_help_panel=RELEASE),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Count only records for which this is true: \"carrier = 'AA' and year >= 2013\".",
        rich_help_panel=RELEASE,
    ),
]
Queries = Annotated[
    str | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="A CSV file of ranges (columns lo,hi or from,to) that matter most: the release is made good at them,"
        " and answers them in answers.csv.",
        rich_help_panel=RELEASE,
    ),
]
Mechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="How to do it (default: dawa); see dawa mechanisms.",
        autocompletion=_mechanisms,
        rich_help_panel=RELEASE,
    ),
]
Option = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the mechanism's, such as effort=fast.",
        rich_help_panel=RELEASE,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        help="For experiments on public data only: voids all privacy.",
        rich_help_panel=RELEASE,
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="FOLDER", help="Where to write the release.", rich_help_panel=RELEASE),
]
