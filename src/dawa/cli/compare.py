"""``dawa compare``: several mechanisms on a public table, and which of them wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

import dawa
from dawa.budget import shown
from dawa.cli import options, specs
from dawa.cli.specs import Typed
from dawa.cli.terminal import complain, reported, screen, tell, working, write_json
from dawa.errors import SpecError

if TYPE_CHECKING:  # --help answers without it
    from dawa.plan import Comparison

HELP = """Run several mechanisms on a PUBLIC table, which is read without any privacy, and see which one wins.

\b
  dawa compare flights.parquet --column dep_delay --range -60:1320
  dawa compare flights.parquet --column dep_delay --range -60:1320 \\
      --mechanism dawa --mechanism privtree --mechanism hb \\
      --epsilon 0.05,0.5,5 --runs 20 --out who-wins.svg
  dawa compare places.csv --column lon --range -125:-66 --step 0.25 \\
      --column lat --range 24:50 --step 0.25 --json

\b
Everything that it prints depends on the records as they are. So name a table
that holds nothing to protect: last year's, or another town's, that is public.
For a table that is not public, dawa plan tries mechanisms on made-up data.
"""

SETTINGS: dict[str, Any] = {"cls": options.InOrder}
LOUD = "NOT PRIVATE: this reads every record as it is, and tells what it found. Name public tables only."
COMPARED = "What is compared"

Mechanisms = Annotated[
    list[str] | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="A mechanism, any number of times; a customary few by default. See dawa mechanisms.",
        autocompletion=lambda: list(dawa.mechanisms.names()),
        rich_help_panel=COMPARED,
    ),
]
Epsilons = Annotated[
    str | None,
    typer.Option("--epsilon", metavar="NUMBER[,…]", help="Budgets (default: 0.1,1).", rich_help_panel=COMPARED),
]
Runs = Annotated[
    int, typer.Option("--runs", metavar="N", help="How often each of them runs.", rich_help_panel=COMPARED)
]
Effort = Annotated[
    str,
    typer.Option(
        "--effort",
        metavar="fast|best",
        help="How hard to search for a strategy, where there is a choice; releases do their best.",
        rich_help_panel=COMPARED,
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="FILE", help="Draw it (.svg, .png or .pdf).", rich_help_panel=COMPARED),
]


def compare(
    ctx: typer.Context,
    source: options.Source,
    *,
    column: options.Column = None,
    range: options.Range = None,  # noqa: A002  the option's name
    step: options.Step = None,
    values: options.Values = None,
    edges: options.Edges = None,
    zone: options.Zone = None,
    network: options.Network = None,
    prefix: options.Prefix = None,
    outside: options.Outside = None,
    if_missing: options.IfMissing = None,
    delimiter: options.Delimiter = None,
    quote: options.Quote = None,
    escape: options.Escape = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    date_format: options.DateFormat = None,
    missing: options.Missing = None,
    format: options.Format = None,  # noqa: A002  the option's name
    sheet: options.Sheet = None,
    table: options.Table = None,
    where: options.Where = None,
    queries: options.Queries = None,
    mechanism: Mechanisms = None,
    epsilon: Epsilons = None,
    runs: Runs = 5,
    effort: Effort = "fast",
    out: Out = None,
    json: options.Json = False,
) -> None:
    """Read the public table, run all, and print who wins."""
    with reported(json):
        if source.endswith(dawa.spec.toml.SUFFIX):
            raise SpecError(
                "A spec describes a release, and a comparison makes none.", "name the public table and its columns."
            )
        spec = Typed(
            source=source,
            of_axes=options.in_order(
                ctx,
                column=column,
                range=range,
                step=step,
                values=values,
                edges=edges,
                zone=zone,
                network=network,
                prefix=prefix,
                outside=outside,
                if_missing=if_missing,
            ),
            epsilon="1",
            unit=None,
            max_rows_per_unit=None,
            ledger=None,
            dataset=None,
            delimiter=delimiter,
            quote=quote,
            escape=escape,
            encoding=encoding,
            header=header,
            decimal=decimal,
            date_format=date_format,
            missing=missing,
            format=format,
            sheet=sheet,
            table=table,
            where=where,
            by=None,
            other=False,
            queries=queries,
            mechanism=None,
            option=None,
            seed=None,
            about=(),
            out=None,
        ).typed()
        axes = tuple(axis.axis() for axis in spec.axes)
        workload = specs.workload(spec, axes)
        if out is not None:
            dawa.plots.drawing.check_path(out)
        complain(LOUD)
        with working("Reading"):
            found = dawa.plan.compared(
                specs.table(spec),
                axes,
                mechanism or (),
                epsilons=("0.1", "1") if epsilon is None else [part.strip() for part in epsilon.split(",")],
                runs=runs,
                where=spec.where,
                workload=workload,
                effort=effort,
            )
        if out is not None:
            dawa.plots.errors(found.errors(), out, label="mean absolute error per range, in records")
        if json:
            write_json(found.to_json())
        else:
            _show(found, out)


def _show(found: Comparison, out: str | None) -> None:
    """For people."""
    cells = " × ".join(f"{cells:,}" for cells in found.shape)
    tell(
        f"{found.records:,} records over {cells} cells, {found.queries:,} ranges, {found.runs} runs of each mechanism."
        " Errors are in records."
    )
    for epsilon in dict.fromkeys(row.epsilon for row in found.rows):
        screen().print(_table(found, epsilon))
    for name, problem in found.refused.items():
        tell(f"{name} was left out: {problem}")
    tell(
        "The mean error of a range has its standard error beside it; = marks those that cannot be told from the best."
        f" {LOUD}"
    )
    if out is not None:
        tell(f"The picture is in {out}.")


def _table(found: Comparison, epsilon: Any) -> Table:  # noqa: ANN401  a fraction
    """The mechanisms at one epsilon, the best first."""
    rounded = dawa.plan.plan.rounded
    table = Table(
        "mechanism",
        Column("mean error", justify="right"),
        Column("±", justify="right"),
        Column("lowest to highest run", justify="right"),
        Column("19 of 20 within", justify="right"),
        Column("ratio", justify="right"),
        title=f"epsilon = {shown(epsilon)}",
    )
    for row in found.rows:
        if row.epsilon == epsilon:
            one = row.errors
            table.add_row(
                f"{row.mechanism}{' =' if row.tied and row.ratio > 1 else ''}",
                rounded(one.mean),
                rounded(one.spread),
                f"{rounded(one.least)} to {rounded(one.largest)}",
                rounded(one.most),
                f"{row.ratio:.2f}",
            )
    return table
