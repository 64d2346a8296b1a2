"""Answers to ranges, as a table, as JSON or as CSV."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from dawa.cli.terminal import screen
from dawa.errors import WorkloadError
from dawa.publish import folder, tables
from dawa.results.answers import Answer
from dawa.results.release import Release
from dawa.spec import ranges
from dawa.spec.ranges import Asked

Form = Literal["table", "json", "csv"]


def answer(path: str, typed: Sequence[str], queries: str | None, confidence: float, form: Form) -> None:
    """Print what a release says to ranges that were typed, and to those in a file."""
    release = folder.opened(path)
    asked = [ranges.typed(text, release.axes) for text in typed]
    if queries is not None:
        asked += ranges.listed(queries, release.axes)
    if not asked:
        raise WorkloadError("No range was asked for.", f"write one, such as {ranges.example(release.axes)}.")
    answers = ranges.answered(release, asked, confidence)
    if form == "json":
        sys.stdout.write(json.dumps({"answers": as_json(release, asked, answers)}, indent=1) + "\n")
    elif form == "csv":
        tables.write(tables.answers(release, asked, answers), sys.stdout)
    else:
        screen().print(shown(release, asked, answers))


def as_json(release: Release, asked: Sequence[Asked], answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Answers with their ranges as JSON values."""
    return [
        {
            "labels": dict(one.labels),
            "range": {axis.column: [lo, hi] for axis, lo, hi in zip(release.axes, one.lo, one.hi, strict=True)},
            **asdict(found),
        }
        for one, found in zip(asked, answers, strict=True)
    ]


def shown(release: Release, asked: Sequence[Asked], answers: Sequence[Answer]) -> Table:
    """Answers with their ranges as a table."""
    table = Table(caption=f"low to high holds the true count with {_percent(answers[0].confidence)} confidence or more")
    names = tables.labels(asked)
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
