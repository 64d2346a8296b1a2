"""``dawa query``: ask a release, any number of times, at no cost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

import dawa
from dawa.cli.options import Json, Place
from dawa.cli.terminal import reported, screen, write_json
from dawa.errors import WorkloadError

if TYPE_CHECKING:  # --help answers without them
    from dawa.results.answers import Answer
    from dawa.results.release import Release
    from dawa.spec.ranges import Asked


HELP = """Ask a release how many records lie in a range. It costs nothing, any number of times.

\b
  dawa query out/ 20000:60000                # the upper end itself is outside
  dawa query out/ 0:1000 1000:2000 --confidence 0.99
  dawa query out/ "2013-01-01 08:00..2013-01-01 09:00"
                                      # two dots where an end has colons
  dawa query out/ low:high            # ordered categories: both ends inside
  dawa query map/ -74.1:-73.9,40.6:40.8      # one range per axis
  dawa query out/ --queries ranges.csv --csv # many: columns lo,hi or from,to

\b
Each answer comes with its noise margin, the most that cut buckets can add to
it (bias bound), and an interval, low to high, that holds the true count with
the stated confidence.
"""

SETTINGS: dict[str, Any] = {"context_settings": {"ignore_unknown_options": True}}
"""A range may begin with a minus."""


def query(
    release: Place,
    asked: Annotated[
        list[str] | None,
        typer.Argument(metavar="FROM:TO", help="Ranges in the attribute's own units.", show_default=False),
    ] = None,
    *,
    queries: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A CSV file of ranges: columns lo,hi or from,to.", show_default=False),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure the interval is.")] = 0.95,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV for spreadsheets.")] = False,
) -> None:
    """Print what a release says to ranges that were typed, and to those in a file."""
    if json and csv:
        raise typer.BadParameter("--json and --csv contradict each other.")
    with reported(json):
        found = dawa.publish.folder.opened(release)
        wanted = _wanted(found, asked or [], queries)
        answers = dawa.spec.ranges.answered(found, wanted, confidence)
        if json:
            write_json({"answers": answers_as_json(found, wanted, answers)})
        elif csv:
            dawa.publish.tables.write(dawa.publish.tables.answers(found, wanted, answers), sys.stdout)
        else:
            screen().print(answers_as_table(found, wanted, answers))


def _wanted(release: Release, typed: Sequence[str], queries: str | None) -> list[Asked]:
    """The ranges that were typed, then those in the file; at least one."""
    asked = [dawa.spec.ranges.typed(text, release.axes) for text in typed]
    if queries is not None:
        asked += dawa.spec.ranges.listed(queries, release.axes)
    if not asked:
        raise WorkloadError("No range was asked for.", f"write one, such as {dawa.spec.ranges.example(release.axes)}.")
    return asked


def answers_as_json(release: Release, asked: Sequence[Asked], answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Answers with their ranges as JSON values."""
    return [
        {
            "labels": dict(one.labels),
            "range": {axis.column: [lo, hi] for axis, lo, hi in zip(release.axes, one.lo, one.hi, strict=True)},
            **asdict(found),
        }
        for one, found in zip(asked, answers, strict=True)
    ]


def answers_as_table(release: Release, asked: Sequence[Asked], answers: Sequence[Answer]) -> Table:
    """Answers with their ranges as a table."""
    table = Table(caption=f"low to high holds the true count with {_percent(answers[0].confidence)} confidence or more")
    names = dawa.publish.tables.labels(asked)
    for name in (*names, *(axis.column for axis in release.axes)):
        table.add_column(Text(name))
    for name in ("answer", "noise margin", "bias bound", "low", "high"):
        table.add_column(name, justify="right")
    for one, found in zip(asked, answers, strict=True):
        known = dict(one.labels)
        labels = [Text(known.get(name, "")) for name in names]
        spans = [Text(f"{lo} to {hi}") for lo, hi in zip(one.lo, one.hi, strict=True)]
        numbers = (found.value, found.noise_margin, found.bias_bound, found.low, found.high)
        table.add_row(*labels, *spans, *(f"{number:,.0f}" for number in numbers))
    return table


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.10g}%"
