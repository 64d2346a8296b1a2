"""Which mechanism for this workload? Ranked by what is known before any data is read, so it costs no budget.

Mechanisms that do not look at the data have an error that is known beforehand, exactly; so they can be ranked without
data. Mechanisms that look at the data, such as the default ``dawa`` with its private partition, do better on most real
data, but how much better is itself private. The ranking says what to beat, and what to fall back on.
"""

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np
from rich.console import Console
from rich.table import Column, Table

from dawa import budget, mechanisms, workloads
from dawa.budget import Epsilon
from dawa.errors import DawaError, OptionError, WorkloadError
from dawa.limits import MOST_CELLS_RANKED
from dawa.measure import Measurements
from dawa.mechanisms.two_stage import TwoStage
from dawa.noise import discrete
from dawa.partition.buckets import every_cell
from dawa.queries.workload import Workload
from dawa.strategy import choose
from dawa.strategy.base import RESOLUTION

CANDIDATES: dict[str, dict[str, str]] = {
    "identity": {},
    "greedy-h": {},
    "hierarchical": {},
    "hb": {},
    "privelet": {},
    "dawa": {"partition": "none"},
}
"""The mechanisms that do not look at the data, and the options that keep them from looking."""


@dataclass(frozen=True)
class Ranked:
    """A mechanism with its exact expected error.

    Attributes:
        name: What to pass as ``mechanism``.
        rmse: The root of the mean squared error per query, before post-processing.
        strategy: What it would measure.
        options: What to pass besides the name.
    """

    name: str
    rmse: float
    strategy: str
    options: dict[str, str] = field(default_factory=dict)


def recommended(workload: Workload, epsilon: Epsilon = 1, effort: choose.Effort = "best") -> list[Ranked]:
    """The mechanisms that do not look at the data, from the least expected error to the largest.

    Args:
        workload: What will be asked.
        epsilon: The budget. It scales all errors equally, unless it is so large that almost no noise is left.
        effort: How hard ``dawa`` searches for its strategy: "best" or "fast".

    Raises:
        DawaError: If the workload, the budget or the effort is invalid, or the domain is too large.

    >>> from dawa import workloads
    >>> [ranked.name for ranked in recommended(workloads.prefixes(512), effort="fast")][-1]
    'identity'
    """
    if not isinstance(workload, Workload):
        raise WorkloadError(
            f"The workload is a {type(workload).__name__}, not a Workload.",
            "make one with Workload.ranges or dawa.workloads.",
        )
    choose.check_options("best", effort, None)
    if len(workload.shape) > 1:
        raise WorkloadError(
            f"The workload is over {len(workload.shape)} axes; mechanisms are ranked on one.",
            "ask `dawa plan --mechanism NAME` for the expected error of one mechanism at a time.",
        )
    if workload.size > MOST_CELLS_RANKED:
        raise WorkloadError(
            f"{workload.size} cells are too many to be measured one by one.",
            f"compare mechanisms on at most {MOST_CELLS_RANKED} cells, or use 'dawa', which chooses the resolution.",
        )
    total = budget.exact(epsilon)
    ranking = [_ranked(name, workload, total, effort) for name in CANDIDATES]
    return sorted(ranking, key=lambda ranked: ranked.rmse)


def _ranked(name: str, workload: Workload, epsilon: Fraction, effort: choose.Effort) -> Ranked:
    """One mechanism's error: what ``Estimate.rmse`` will report, without an estimate."""
    options = cast("TwoStage", mechanisms.configured(name, dict(CANDIDATES[name])))
    buckets = every_cell(workload.size)
    queries, allowance = workload.on_buckets(buckets.bounds), buckets.allowance(epsilon, RESOLUTION)
    strategy = choose.choose(queries, allowance, options.strategy, effort, options.branching)
    scale = discrete.coarsened(RESOLUTION / epsilon)
    noise = Measurements(np.zeros(0, np.int64), scale).unit_variance
    rmse = float(np.sqrt(noise * strategy.expected_error(queries) / queries.total))
    return Ranked(name, rmse, strategy.name, CANDIDATES[name])


EXAMPLES = """
examples:
  python -m dawa.mechanisms.ranking --cells 4096 --workload uniform
  python -m dawa.mechanisms.ranking --cells 1000 --workload prefixes --epsilon 0.1
  python -m dawa.mechanisms.ranking --cells 4096 --workload clustered --queries 500 --json
  python -m dawa.mechanisms.ranking --cells 365 --ranges quarters.csv

A file of ranges has two whole numbers per line, the first cell and one past the last:
  0,90
  90,181
"""

FOOTNOTE = """RMSE per query, exact and before post-processing; no data were read.
dawa with its private partition adapts to the data and usually has less error than all of these."""

WORKLOADS = ("uniform", "prefixes", "all-ranges", "identity", "clustered")
CLUSTERS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the ranking; 0 if all went well, 2 after bad input."""
    chosen = _parser().parse_args(arguments)
    errors = Console(stderr=True)
    try:
        workload = _workload(chosen)
        with errors.status("Comparing (the first run compiles, for about half a minute) …"):
            ranking = recommended(workload, chosen.epsilon, chosen.effort)
    except DawaError as error:
        errors.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        return 2
    if chosen.json:
        found = {
            "cells": workload.size,
            "epsilon": str(budget.exact(chosen.epsilon)),
            "ranking": [asdict(ranked) for ranked in ranking],
        }
        Console(soft_wrap=True).print_json(json.dumps(found))
    else:
        console = Console()
        console.print(_table(ranking, workload, chosen.epsilon))
        console.print(FOOTNOTE)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dawa.mechanisms.ranking",
        description="Rank the mechanisms that do not look at the data by their exact expected error for a workload. "
        "No data are read and no budget is spent.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cells", type=int, required=True, metavar="N", help="the number of cells in the domain")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--workload", choices=WORKLOADS, help="what will be asked, by name")
    asked.add_argument("--ranges", type=Path, metavar="FILE", help="what will be asked, range by range: a CSV file")
    parser.add_argument(
        "--queries", type=int, metavar="M", help="how many uniform or clustered ranges to draw (default: 2000)"
    )
    parser.add_argument("--epsilon", default="1", help="the privacy budget (default: 1)")
    parser.add_argument("--effort", choices=("best", "fast"), default="best", help="how hard to search for a strategy")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    return parser


def _workload(chosen: argparse.Namespace) -> Workload:
    if chosen.queries is not None and chosen.workload not in {"uniform", "clustered"}:
        raise OptionError(
            "--queries says how many ranges to draw, but no ranges are drawn.",
            "leave it out, or ask for --workload uniform or clustered.",
        )
    if chosen.ranges is not None:
        return Workload.ranges(*_ends(chosen.ranges), shape=chosen.cells)
    queries = 2000 if chosen.queries is None else chosen.queries
    if chosen.workload == "uniform":
        return workloads.uniform(chosen.cells, queries)
    if chosen.workload == "clustered":
        clusters = min(CLUSTERS, queries)
        return workloads.clustered(chosen.cells, clusters, -(-queries // max(clusters, 1)))
    named = {"prefixes": workloads.prefixes, "all-ranges": workloads.all_ranges, "identity": workloads.identity}
    return named[chosen.workload](chosen.cells)


def _ends(path: Path) -> tuple[list[int], list[int]]:
    """The ends of all ranges in a file; a first line that is not a range may name the columns."""
    hint = "write two whole numbers per line: the first cell and one past the last."
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [[entry.strip() for entry in line] for line in csv.reader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise WorkloadError(f"{path} cannot be read: {reason}.", "pass a CSV file of ranges.") from None
    lo, hi = [], []
    for number, line in enumerate(lines, 1):
        if not any(line) or (number == 1 and not any(entry.lstrip("-").isdigit() for entry in line)):
            continue
        try:
            first, last = (int(entry) for entry in line)
        except ValueError:
            raise WorkloadError(f"Line {number} of {path} is not a range: {','.join(line)!r}.", hint) from None
        lo.append(first)
        hi.append(last)
    if not lo:
        raise WorkloadError(f"{path} holds no range.", hint)
    return lo, hi


def _table(ranking: list[Ranked], workload: Workload, epsilon: str) -> Table:
    table = Table(
        "mechanism",
        Column("RMSE", justify="right"),
        Column("ratio", justify="right"),
        "it measures",
        title=f"{workload!r}, epsilon = {epsilon}",
    )
    for ranked in ranking:
        options = "".join(f", {name}={value}" for name, value in ranked.options.items())
        ratio = f"{ranked.rmse / ranking[0].rmse:.2f}"
        table.add_row(ranked.name + options, f"{ranked.rmse:,.2f}", ratio, ranked.strategy)
    return table


if __name__ == "__main__":
    sys.exit(main())
