"""Plan a release and show the plan."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.table import Column, Table
from rich.text import Text

from dawa.budget import shown
from dawa.cli import making
from dawa.cli.terminal import screen, working
from dawa.plan import Plan, planned
from dawa.spec import toml
from dawa.spec.model import Spec

if TYPE_CHECKING:
    from dawa.ledger import Account

Form = Literal["table", "json", "toml"]


def run(spec: Spec, form: Form) -> None:
    """Check all that is public, and show what would come of it."""
    known = making.public(spec)
    if form == "toml":
        sys.stdout.write(toml.written(spec, Path()))
        return
    account = None if known.ledger is None else making.account(known.ledger, spec)
    with working("Planning"):
        plan = planned(
            known.axes,
            epsilon=spec.epsilon,
            unit=spec.unit,
            workload=known.workload,
            mechanism=spec.mechanism,
            **making.rows(spec),
            **spec.options,
        )
    if form == "json":
        ledger = None if account is None else {**account.to_json(), "after": str(account.left - spec.epsilon)}
        sys.stdout.write(json.dumps({**plan.to_json(), "ledger": ledger}, indent=1) + "\n")
    else:
        _show(spec, plan, account)


def _show(spec: Spec, plan: Plan, account: "Account | None") -> None:
    console = screen()
    columns = ", ".join(axis.column for axis in spec.axes)
    cells = " × ".join(f"{cells:,}" for cells in plan.shape)
    parts = " and ".join(f"{shown(part)} on {step}" for step, part in plan.split.items() if part)
    lines = [
        f"A release of {columns} over {cells} cells would spend epsilon = {shown(plan.epsilon)}: {parts}.",
        plan.protected,
        *making.reading(spec),
        *plan.axes,
    ]
    if account is not None:
        after = account.left - plan.epsilon
        enough = f"{shown(after)} after it" if after >= 0 else "which is not enough: the release would be refused"
        lines.append(
            f"The ledger has {shown(account.left)} of {shown(account.cap)} left for {account.dataset}, {enough}."
        )
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    if plan.looks and plan.expected:
        console.print(_table(plan))
    console.print(Text(plan.accuracy), soft_wrap=True)


def _table(plan: Plan) -> Table:
    asked = "all ranges" if plan.queries is None else f"{plan.queries:,} ranges"
    table = Table(
        Column("buckets", justify="right"),
        Column("noise, root mean square", justify="right"),
        Column("margin at 95%", justify="right"),
        title=f"Noise of {asked}, in records, if the data support so many buckets",
    )
    for line in plan.expected:
        table.add_row(f"{line.buckets:,}", f"{line.rmse:,.1f}", f"±{line.margin:,.0f}")
    return table
