"""What a plan predicts, as tables and a picture: for ``dawa plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table

import dawa
from dawa.budget import shown
from dawa.cli.terminal import screen, tell

if TYPE_CHECKING:  # --help answers without it
    from dawa.plan import Plan


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
