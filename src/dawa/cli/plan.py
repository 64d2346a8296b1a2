"""``dawa plan``: what a release would spend and how accurate it would be, before anything is touched."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

import dawa
from dawa.budget import shown
from dawa.cli import groups, options, specs, words
from dawa.cli.specs import Typed
from dawa.cli.terminal import reported, screen, tell, working, write_json
from dawa.errors import LargeEpsilonWarning

if TYPE_CHECKING:  # --help answers without them
    from dawa.ledger import Account
    from dawa.plan import Plan
    from dawa.spec.model import Spec

HELP = """Say what a release would spend, whom it would protect and how accurate it would be. No data is touched.

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
To compare mechanisms that do not look at the data, by their expected error:
  dawa mechanisms --cells 4096 --workload uniform
"""

SETTINGS: dict[str, Any] = {"cls": options.InOrder}

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
    title: words.Title = None,
    description: words.Description = None,
    record: words.Record = None,
    publisher: words.Publisher = None,
    contact: words.Contact = None,
    data_from: words.DataFrom = None,
    data_to: words.DataTo = None,
    released: words.Released = None,
    licence: words.Licence = None,
    out: options.Out = None,
    toml: Toml = False,
    json: options.Json = False,
) -> None:
    """Check all that is public, and show what would come of it."""
    if toml and json:
        raise typer.BadParameter("--toml and --json contradict each other.")
    with reported(json):
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
                outside=outside,
                if_missing=if_missing,
                share=share,
            ),
            epsilon=epsilon,
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
                title=title,
                description=description,
                record=record,
                publisher=publisher,
                contact=contact,
                data_from=data_from,
                data_to=data_to,
                released=released,
                licence=licence,
            ),
            out=out,
        ).spec()
        meant = specs.meaning(spec)
        if toml:
            sys.stdout.write(dawa.spec.toml.written(spec, Path()))
            return
        account = None if meant.ledger is None else specs.account(meant.ledger, spec)
        found = _planned(spec, meant)
        times = None if account is None else specs.times(account, spec)
        if json:
            booked = None if account is None else _booked(spec, account, times)
            about = None if spec.about is None else spec.about.to_json()
            write_json({**found.to_json(), **_groups(meant), "about": about, "ledger": booked})
        else:
            _show(spec, meant, found, account, times)


def _planned(spec: Spec, meant: specs.Meaning) -> Plan:
    """What the release would be like."""
    with working("Planning"), warnings.catch_warnings(action="ignore", category=LargeEpsilonWarning):  # it is told
        return dawa.plan.planned(
            meant.axes,
            epsilon=spec.epsilon,
            unit=spec.unit or None,
            max_rows_per_unit=spec.max_rows_per_unit,
            where=spec.where,
            workload=meant.workload,
            mechanism=spec.mechanism,
            **spec.options,
        )


def _booked(spec: Spec, account: Account, times: int | None) -> dict[str, object]:
    """For machines: the account, how often the release would count, and what would be left."""
    after = None if times is None else str(account.left - times * spec.epsilon)
    return {**account.to_json(), "times": times, "after": after}


def _groups(meant: specs.Meaning) -> dict[str, object]:
    """For machines: the grouping columns, and how many groups they make; nothing without any."""
    count = math.prod(grouping.size for grouping in meant.by)
    return {"by": [grouping.to_json() for grouping in meant.by], "groups": count} if meant.by else {}


def _grouped(meant: specs.Meaning) -> list[str]:
    """For people: how many groups there would be, and what they cost."""
    if not meant.by:
        return []
    cost = (
        f"It has {groups.described(meant.by)}, each with a histogram of its own. They cost epsilon once, not once each,"
        " because a record is in one group at most. What is said about cells, noise and accuracy is about one group:"
        " each is as accurate as a release of its records alone."
    )
    return [cost, *(grouping.describe() for grouping in meant.by)]


def _show(spec: Spec, meant: specs.Meaning, found: Plan, account: Account | None, times: int | None) -> None:
    """For people."""
    console = screen()
    columns = ", ".join(axis.column for axis in spec.axes)
    cells = f" over {' × '.join(f'{cells:,}' for cells in found.shape)} cells" if found.shape else ""
    parts = " and ".join(f"{shown(part)} on {step}" for step, part in found.split.items() if part)
    lines = [
        f"A release of {columns}{cells} would spend epsilon = {shown(found.epsilon)}: {parts}.",
        *_grouped(meant),
        found.protected,
        *([found.caution] if found.caution else []),
        *words.told(spec.about),
        *specs.reading(spec),
        *found.filtered,
        *found.axes,
    ]
    if account is not None:
        lines += [_left(found, account, times), account.whom]
    tell(*lines)
    if found.looks and found.expected:
        console.print(_noise(found))
    tell(found.accuracy)


def _left(found: Plan, account: Account, times: int | None) -> str:
    """What the dataset may spend now, and what after the release."""
    left = f"The ledger has {shown(account.left)} of {shown(account.cap)} left for {account.dataset}"
    if times is None:
        return f"{left}, but that account does not count for this unit of this table: the release would be refused."
    after = account.left - times * found.epsilon
    often = "" if times == 1 else f", which counts {times} times"
    enough = f"{shown(after)} after it{often}" if after >= 0 else "which is not enough: the release would be refused"
    return f"{left}, {enough}."


def _noise(found: Plan) -> Table:
    """The noise to expect, by the number of buckets that the data support."""
    asked = "all ranges" if found.queries is None else f"{found.queries:,} ranges"
    table = Table(
        Column("buckets", justify="right"),
        Column("noise, root mean square", justify="right"),
        Column("margin at 95%", justify="right"),
        title=f"Noise of {asked}, in records, if the data support so many buckets",
    )
    for line in found.expected:
        table.add_row(f"{line.buckets:,}", f"{line.rmse:,.1f}", f"±{line.margin:,.0f}")
    return table
