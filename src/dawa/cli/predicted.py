"""Plans of specs, and what is said of them: sentences, tables and a picture, for ``dawa plan``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.table import Column, Table

import dawa
from dawa.budget import shown
from dawa.cli import groups, specs, words
from dawa.cli.terminal import screen, tell, working
from dawa.errors import LargeEpsilonWarning

if TYPE_CHECKING:  # --help answers without them
    from dawa.ledger import Account
    from dawa.plan import Plan
    from dawa.spec.model import Spec


@dataclass(frozen=True)
class Wanted:
    """What a plan is asked besides what it would spend: the options of that panel, by name."""

    within: str | None
    records: int | None
    kinds: tuple[str, ...]
    like: str | None
    picture: str | None
    no_open: bool


def planned(spec: Spec, meant: specs.Meaning, wanted: Wanted) -> Plan:
    """What the release would be like."""
    like = None
    if wanted.like is not None:
        like = specs.table(replace(spec, source=wanted.like, table=None, format=None, sheet=None))
    with working("Planning"), warnings.catch_warnings(action="ignore", category=LargeEpsilonWarning):  # it is told
        return dawa.plan.planned(
            meant.axes,
            epsilon=spec.epsilon if wanted.within is None else None,
            within=wanted.within,
            records=wanted.records,
            kind=wanted.kinds or None,
            like=like,
            curve=wanted.picture is not None,
            table=None if wanted.no_open else specs.table(spec),
            by=meant.by,
            unit=spec.unit or None,
            max_rows_per_unit=spec.max_rows_per_unit,
            where=spec.where,
            workload=meant.workload,
            mechanism=spec.mechanism,
            **spec.options,
        )


def booked(spec: Spec, epsilon: Fraction, account: Account) -> dict[str, object]:
    """For machines: the account, how often what is spent would count, and what would be left."""
    times = specs.times(account, spec)
    after = None if times is None else str(account.left - times * epsilon)
    return {**account.to_json(), "times": times, "after": after}


def grouping(meant: specs.Meaning) -> dict[str, object]:
    """For machines: the grouping columns, and how many groups they make; nothing without any."""
    count = math.prod(one.size for one in meant.by)
    return {"by": [one.to_json() for one in meant.by], "groups": count} if meant.by else {}


def _grouped(meant: specs.Meaning) -> list[str]:
    """For people: how many groups there would be, and what they cost."""
    if not meant.by:
        return []
    cost = (
        f"It has {groups.described(meant.by)}, each with a histogram of its own. They cost epsilon once, not once each,"
        " because a record is in one group at most. What is said about cells, noise and accuracy is about one group:"
        " each is as accurate as a release of its records alone."
    )
    return [cost, *(one.describe() for one in meant.by)]


def tell_plan(spec: Spec, meant: specs.Meaning, found: Plan, paid: Sequence[str] = ()) -> None:
    """Say it to people; ``paid`` says what a ledger would have left."""
    columns = ", ".join(axis.column for axis in spec.axes)
    cells = f" over {' × '.join(f'{cells:,}' for cells in found.shape)} cells" if found.shape else ""
    parts = " and ".join(f"{shown(part)} on {step}" for step, part in found.split.items() if part)
    tell(
        *([found.chosen] if found.chosen else []),
        f"A release of {columns}{cells} would spend epsilon = {shown(found.epsilon)}: {parts}.",
        *_grouped(meant),
        found.protected,
        *([found.caution] if found.caution else []),
        *words.told(spec.about),
        *specs.reading(spec),
        *found.filtered,
        *found.axes,
        *([] if found.opened is None else [found.opened.said]),
        *paid,
    )
    if found.looks and found.expected:
        screen().print(noise(found))
    tell(found.accuracy)
    show(found)


def left(spec: Spec, epsilon: Fraction, account: Account) -> list[str]:
    """What the dataset may spend now, and what after that; and for whom it counts."""
    now = f"The ledger has {shown(account.left)} of {shown(account.cap)} left for {account.dataset}"
    times = specs.times(account, spec)
    if times is None:
        refused = f"{now}, but that account does not count for this unit of this table: the release would be refused."
        return [refused, account.whom]
    after = account.left - times * epsilon
    often = "" if times == 1 else f", which counts {times} times"
    enough = f"{shown(after)} after it{often}" if after >= 0 else "which is not enough: the release would be refused"
    return [f"{now}, {enough}.", account.whom]


def show(found: Plan) -> None:
    """Print the predictions, if there are any; or say what they would need."""
    if not found.predictions:
        if found.shape:
            tell("To predict the whole error, noise and buckets, say about how many records there are: --records N.")
        return
    screen().print(_errors(found))
    if found.curve:
        screen().print(_curve(found))
    tell(found.predicted, *map(str, found.advice))
    if found.like:
        tell("The table of --like was read WITHOUT any privacy, and this plan tells about it: it has to be public.")


def draw(found: Plan, path: str) -> None:
    """Draw how errors fall as epsilon grows."""
    curves = {
        kind: {float(point.epsilon): point.predictions[place].most for point in found.curve}
        for place, kind in enumerate(one.kind for one in found.predictions)
    }
    line = None if found.within is None else found.within.records
    dawa.plots.epsilons(curves, path, needed=line, chosen=float(found.epsilon))


def noise(found: Plan) -> Table:
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


def _errors(found: Plan) -> Table:
    """The whole errors to expect, by kind of data."""
    rounded = dawa.plan.plan.rounded
    table = Table(
        "kind of data",
        Column("mean error", justify="right"),
        Column("lowest to highest run", justify="right"),
        Column("19 of 20 within", justify="right"),
        Column("of all records", justify="right"),
        Column("intervals", justify="right"),
        title=f"Predicted errors of {_asked(found)}, in records, at epsilon = {shown(found.epsilon)}",
    )
    for one in found.predictions:
        table.add_row(
            one.kind,
            rounded(one.mean),
            f"{rounded(one.least)} to {rounded(one.largest)}",
            rounded(one.most),
            f"{rounded(100 * one.most / (found.records or 1))}%",
            "" if one.interval is None else f"±{rounded(one.interval)}",
        )
    return table


def _curve(found: Plan) -> Table:
    """How errors fall as epsilon grows."""
    rounded, span = dawa.plan.plan.rounded, dawa.plan.plan.span
    table = Table(
        Column("epsilon", justify="right"),
        Column("mean error", justify="right"),
        Column("19 of 20 within", justify="right"),
        Column("of all records", justify="right"),
        Column("intervals", justify="right"),
        title="The same for other epsilons, over the kinds of data" if len(found.predictions) > 1 else "By epsilon",
    )
    for point in found.curve:
        mean, most = ([getattr(one, name) for one in point.predictions] for name in ("mean", "most"))
        given = [one.interval for one in point.predictions if one.interval is not None]
        table.add_row(
            shown(point.epsilon) + (" *" if point.epsilon == found.epsilon else ""),
            span(mean),
            span(most),
            f"{rounded(100 * max(most) / (found.records or 1))}%",
            f"±{span(given)}" if given else "",
        )
    return table


def _asked(found: Plan) -> str:
    return "random ranges" if found.queries is None else f"{found.queries:,} ranges"
