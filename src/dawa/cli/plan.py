"""``dawa plan``: what a release would spend and how accurate it would be, before anything is touched."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import dawa
from dawa.cli import groups, options, predicted, specs, together, words
from dawa.cli.specs import Typed
from dawa.cli.terminal import reported, tell, working, write_json
from dawa.errors import SpecError

HELP = """Say what a release would spend, whom it would protect and how accurate it would be. No record is read.

\b
  dawa plan people.parquet --column income --range 0:500000 --epsilon 0.5
  dawa plan people.parquet --column age --range 0:120 --epsilon 0.1 \\
      --ledger ledger.db --dataset hr      # what would be left of its cap
  dawa plan people.parquet --column age --range 0:120 --epsilon 0.1 \\
      --toml > spec.toml                   # the same as a file, to be reviewed
  dawa plan flights.csv --column dep_delay --range -60:1440 --epsilon 0.5 \\
      --by carrier=AA,UA,DL                # the plan of one of three groups
  dawa plan spec.toml --json

\b
How accurate answers will be depends on how many records there are, and on how
rough they are. Say what is known of that, and the plan predicts it:
  dawa plan people.parquet --column income --range 0:500000 --epsilon 0.5 \\
      --records 300000                     # on made-up data of several kinds
  dawa plan people.parquet --column income --range 0:500000 --epsilon 0.5 \\
      --records 300000 --kind skewed       # of the kind that incomes have
  dawa plan delays-2024.parquet --column delay --range -60:1320 \\
      --epsilon 0.5 --like delays-2014.parquet      # which is PUBLIC
  dawa plan people.parquet --column income --range 0:500000 \\
      --records 300000 --within 500 --picture epsilon.svg
                                           # the epsilon that this takes

\b
To compare mechanisms that do not look at the data, by their expected error:
  dawa mechanisms --cells 4096 --workload uniform
"""

SETTINGS: dict[str, Any] = {"cls": options.InOrder}

PREDICTION = "How accurate it would be"
ANY = "1"
"""An epsilon for a spec whose own is still to be found."""

Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="N|N%",
        help="In place of --epsilon: find the least epsilon with which 19 of 20 ranges are predicted to be off by at"
        " most so many records, or such a part of all records.",
        rich_help_panel=PREDICTION,
    ),
]
Records = Annotated[
    int | None,
    typer.Option(
        "--records",
        metavar="N",
        help="About how many records will be counted. Errors are then predicted, noise and buckets together, on made-up"
        " data of this size.",
        rich_help_panel=PREDICTION,
    ),
]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="NAME",
        help="What the data are like, where that is known: smooth, skewed, sparse (nine of ten records in less than a"
        " tenth of the axis), spiky or periodic. All of them by default.",
        rich_help_panel=PREDICTION,
    ),
]
Like = Annotated[
    str | None,
    typer.Option(
        "--like",
        metavar="SOURCE",
        help="A PUBLIC table with the same columns, to try it on in place of made-up data. It is read without any"
        " privacy, and so is what the plan says of it.",
        rich_help_panel=PREDICTION,
    ),
]
Picture = Annotated[
    str | None,
    typer.Option(
        "--picture",
        metavar="FILE",
        help="Draw how errors fall as epsilon grows (.svg, .png or .pdf).",
        rich_help_panel=PREDICTION,
    ),
]
NoOpen = Annotated[
    bool,
    typer.Option(
        "--no-open",
        help="Do not open SOURCE, not even to read the names and types of its columns.",
        rich_help_panel=options.RELEASE,
    ),
]
Toml = Annotated[
    bool,
    typer.Option(
        "--toml",
        help="Print the spec as a file for dawa release, and nothing else.",
        rich_help_panel=options.RELEASE,
    ),
]


def plan(
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
    share: options.Share = None,
    epsilon: options.Epsilon = None,
    unit: options.Unit = None,
    max_rows_per_unit: options.MaxRowsPerUnit = None,
    ledger: options.Ledger = None,
    dataset: options.Dataset = None,
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
    by: groups.By = None,
    other: groups.Rest = False,
    queries: options.Queries = None,
    mechanism: options.Mechanism = None,
    option: options.Option = None,
    seed: options.Seed = None,
    about: words.File = None,
    title: words.Title = None,
    description: words.Description = None,
    record: words.Record = None,
    plural: words.Plural = None,
    publisher: words.Publisher = None,
    contact: words.Contact = None,
    data_from: words.DataFrom = None,
    data_to: words.DataTo = None,
    released: words.Released = None,
    licence: words.Licence = None,
    out: options.Out = None,
    within: Within = None,
    records: Records = None,
    kind: Kind = None,
    like: Like = None,
    picture: Picture = None,
    no_open: NoOpen = False,
    toml: Toml = False,
    json: options.Json = False,
) -> None:
    """Check all that is public, and show what would come of it."""
    if toml and json:
        raise typer.BadParameter("--toml and --json contradict each other.")
    with reported(json):
        if within is not None and epsilon is not None:
            raise SpecError("Both --epsilon and --within are given.", "leave one of them out.")
        if picture is not None:
            dawa.plots.drawing.check_path(picture)
        wanted = predicted.Wanted(within, records, tuple(kind or ()), like, picture, no_open)
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
                share=share,
            ),
            epsilon=epsilon if within is None or source.endswith(dawa.spec.toml.SUFFIX) else ANY,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            ledger=ledger,
            dataset=dataset,
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
            by=by,
            other=other,
            queries=queries,
            mechanism=mechanism,
            option=option,
            seed=seed,
            about=words.given(
                about,
                title=title,
                description=description,
                record=record,
                plural=plural,
                publisher=publisher,
                contact=contact,
                data_from=data_from,
                data_to=data_to,
                released=released,
                licence=licence,
            ),
            out=out,
        ).spec()
        if isinstance(spec, dawa.spec.several.Several):
            together.plan(spec, wanted, toml=toml, json=json)
            return
        meant = specs.meaning(spec)
        if toml and within is not None:
            spec = replace(spec, epsilon=predicted.planned(spec, meant, wanted).epsilon)
        if toml:
            sys.stdout.write(dawa.spec.toml.written(spec, Path()))
            return
        account = None if meant.ledger is None else specs.account(meant.ledger, spec)
        found = predicted.planned(spec, meant, wanted)
        spec = replace(spec, epsilon=found.epsilon)
        if picture is not None:
            with working("Drawing"):
                predicted.draw(found, picture)
        if json:
            booked = None if account is None else predicted.booked(spec, spec.epsilon, account)
            said = None if spec.about is None else spec.about.to_json()
            write_json({**found.to_json(), **predicted.grouping(meant), "about": said, "ledger": booked})
        else:
            predicted.tell_plan(
                spec, meant, found, () if account is None else predicted.left(spec, spec.epsilon, account)
            )
            if picture is not None:
                tell(f"The picture is in {picture}.")
