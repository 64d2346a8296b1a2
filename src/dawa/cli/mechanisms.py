"""``dawa mechanisms``: what there is to choose from, and which is best for what will be asked.

Mechanisms that do not look at the data have an error that is known before any is read. So they can be ranked by it, for
the number of cells and the ranges that are named here.
"""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Column, Table

import dawa
from dawa import numerals
from dawa.budget import exact
from dawa.cli.options import Json
from dawa.cli.terminal import reported, screen, working, write_json
from dawa.errors import OptionError, WorkloadError
from dawa.numerals import told

if TYPE_CHECKING:  # --help answers without them
    from dawa.mechanisms.ranking import Ranked


HELP = """List the mechanisms, or the options of one, or rank those that do not look at the data.

\b
  dawa mechanisms
  dawa mechanisms dawa
  dawa mechanisms --cells 4096 --workload uniform
  dawa mechanisms --cells 1000 --workload prefixes --epsilon 0.1
  dawa mechanisms --cells 4096 --workload clustered --queries 500 --json
  dawa mechanisms --cells 365 --ranges quarters.csv

\b
A ranking is by expected error: exact, without data and free of budget. A file
of ranges has two whole numbers per line, the first cell and one past the last:
  0,90
  90,181
"""

FOOTNOTE = """RMSE per query, exact and before post-processing; no data were read.
dawa with its private partition adapts to the data and usually has less error than all of these."""

RANKING = "Rank those that do not look at the data"
DRAWN, CLUSTERS = 2000, 5
WIDTH = 22

Effort = Literal["best", "fast"]
Named = Literal["uniform", "prefixes", "all-ranges", "identity", "clustered"]
"""Workloads that need no file."""


def mechanisms(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this one's options.", show_default=False)
    ] = None,
    *,
    cells: Annotated[
        int | None,
        typer.Option(metavar="N", help="The number of cells in the domain.", rich_help_panel=RANKING),
    ] = None,
    workload: Annotated[
        Named | None, typer.Option(help="What will be asked, by name.", rich_help_panel=RANKING)
    ] = None,
    ranges: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What will be asked, range by range: a CSV file.", rich_help_panel=RANKING),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            help=f"How many uniform or clustered ranges to draw (default: {DRAWN}).",
            rich_help_panel=RANKING,
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="The privacy budget (default: 1).", rich_help_panel=RANKING),
    ] = None,
    effort: Annotated[
        Effort | None,
        typer.Option(help="How hard to search for a strategy (default: best).", rich_help_panel=RANKING),
    ] = None,
    json: Json = False,
) -> None:
    """List the mechanisms, describe one, or rank those that can be."""
    ranked = {"workload": workload, "ranges": ranges, "queries": queries, "epsilon": epsilon, "effort": effort}
    _check_usage(name, cells, {option for option, value in ranked.items() if value is not None})
    with reported(json):
        if cells is not None:
            asked = _asked(cells, workload, ranges, queries)
            _rank(asked, "1" if epsilon is None else epsilon, effort or "best", json=json)
        elif json:
            write_json(_listed(dawa.mechanisms.names() if name is None else (name,)))
        elif name is not None:
            typer.echo(dawa.mechanisms.describe(name))
        else:
            for one in dawa.mechanisms.names(with_error_bars=True):
                typer.echo(f"{one:<{WIDTH}}{_sentence(one)}")


def _check_usage(name: str | None, cells: int | None, given: set[str]) -> None:
    """Refuse options that nobody would read, and a ranking for which nothing is asked."""
    if cells is None:
        if given:
            raise typer.BadParameter(f"--{min(given)} belongs to a ranking, which needs --cells.")
        return
    if name is not None:
        raise typer.BadParameter("NAME shows one mechanism and --cells ranks several; leave one of them out.")
    if len(given & {"workload", "ranges"}) != 1:
        raise typer.BadParameter("--cells needs what will be asked: either --workload or --ranges, not both.")


def _listed(chosen: tuple[str, ...]) -> list[dict[str, object]]:
    """For machines."""
    releasing = dawa.mechanisms.names(with_error_bars=True)
    return [
        {
            "name": one,
            "does": _sentence(one),
            "releases": one in releasing,
            "options": [{**vars(option), "default": _plain(option.default)} for option in dawa.mechanisms.options(one)],
        }
        for one in chosen
    ]


def _plain(default: object) -> object:
    """A default as JSON can hold it; a method with options of its own as Python writes it."""
    if default is None or isinstance(default, (bool, int, float, str)):
        return default
    return str(default)


def _sentence(name: str) -> str:
    """What a mechanism does."""
    return dawa.mechanisms.describe(name).splitlines()[0].removeprefix(f"{name}: ")


def _rank(asked: dawa.Workload, epsilon: str, effort: Effort, *, json: bool) -> None:
    """Show which mechanism has how much error."""
    with working("Comparing"):
        ranking = dawa.mechanisms.recommended(asked, epsilon, effort)
    if json:
        found = [asdict(ranked) for ranked in ranking]
        write_json({"cells": asked.size, "epsilon": str(exact(epsilon)), "ranking": found})
    else:
        console = screen()
        console.print(_table(ranking, f"{asked!r}, epsilon = {epsilon}"))
        console.print(FOOTNOTE)


def _table(ranking: list[Ranked], title: str) -> Table:
    """The ranking with each error as a ratio to the least."""
    table = Table(
        "mechanism", Column("RMSE", justify="right"), Column("ratio", justify="right"), "it measures", title=title
    )
    for ranked in ranking:
        options = "".join(f", {name}={value}" for name, value in ranked.options.items())
        ratio = f"{ranked.rmse / ranking[0].rmse:.2f}"
        table.add_row(ranked.name + options, f"{ranked.rmse:,.2f}", ratio, ranked.strategy)
    return table


def _asked(cells: int, workload: Named | None, ranges: Path | None, queries: int | None) -> dawa.Workload:
    """What will be asked: the ranges in a file, or those that a name stands for."""
    if queries is not None and workload not in {"uniform", "clustered"}:
        raise OptionError(
            "--queries says how many ranges are drawn, but none are.",
            "leave it out, or ask for --workload uniform or clustered.",
        )
    if ranges is not None:
        return dawa.Workload.ranges(*_ends(ranges), shape=cells)
    drawn = DRAWN if queries is None else queries
    if workload == "uniform":
        return dawa.workloads.uniform(cells, drawn)
    if workload == "clustered":
        clusters = min(CLUSTERS, drawn)
        return dawa.workloads.clustered(cells, clusters, -(-drawn // max(clusters, 1)))
    listed = {
        "prefixes": dawa.workloads.prefixes,
        "all-ranges": dawa.workloads.all_ranges,
        "identity": dawa.workloads.identity,
    }
    return listed[str(workload)](cells)


def _ends(path: Path) -> tuple[list[int], list[int]]:
    """The ends of all ranges in a file; a first line that is not a range may name the columns."""
    hint = "write two whole numbers per line: the first cell and one past the last."
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [[entry.strip() for entry in line] for line in csv.reader(dawa.spec.ranges.limited(file, path))]
    except WorkloadError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise WorkloadError(f"{path} cannot be read: {reason}.", "pass a CSV file of ranges.") from None
    lo, hi = [], []
    for number, line in enumerate(lines, 1):
        if not any(line) or (number == 1 and not any(entry.lstrip("-").isdigit() for entry in line)):
            continue
        first, last = map(numerals.whole, line) if len(line) == 2 else (None, None)
        if first is None or last is None:
            raise WorkloadError(f"Line {number} of {path} is not a range: {told(','.join(line))}.", hint)
        lo.append(first)
        hi.append(last)
    if not lo:
        raise WorkloadError(f"{path} holds no range.", hint)
    return lo, hi
