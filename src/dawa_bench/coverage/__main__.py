"""How often intervals hold the truth: ``python -m dawa_bench.coverage``.

Every mechanism with error bars releases public counts again and again, with fresh noise: three lines and two maps, one
of each with 2^44 records and a budget of 10^4. Some releases are searched for the questions whose intervals fail most
often: counts in all ranges or boxes, shares, differences, ratios, quantiles, means, sums, and a few bands, which are
right only if all of their limits are. Then 4,000 fresh releases are asked these. The command fails if an interval holds
significantly less often than it says, with all lines of the table allowed for.

Examples:
  python -m dawa_bench.coverage                                    every mechanism, 4,000 releases for every question
  python -m dawa_bench.coverage dawa privtree --releases 1000
  python -m dawa_bench.coverage --report coverage.md
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import dawa
from dawa_bench.coverage.counting import DOUBT, Line, broken, covered
from dawa_bench.coverage.scenes import scenes

COLUMNS = ("released", "questions", "held", "least held", "chance", "worst question")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the coverage of the worst intervals of every mechanism, and fail if a promise is broken."""
    bars = dawa.mechanisms.names(with_error_bars=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mechanisms", nargs="*", metavar="MECHANISM", help="all of them if none is named")
    parser.add_argument("--releases", type=int, default=4000, help="fresh ones that each question is asked")
    parser.add_argument("--search", type=int, default=400, help="releases that are searched for the worst questions")
    parser.add_argument("--confidence", type=float, default=0.9, help="of every interval")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", type=Path, help="a Markdown file for the table")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.mechanisms) - set(dawa.mechanisms.names()))
    if unknown:
        parser.error(f"there is no mechanism {unknown[0]!r}; choose among {', '.join(dawa.mechanisms.names())}.")
    named = asked.mechanisms or dawa.mechanisms.names()
    scene = list(scenes([name for name in named if name in bars]))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console, found = Console(stderr=True), list[Line]()
    head = [f"Confidence {asked.confidence:g}, {asked.releases:,} releases a question.", "", *_rows([COLUMNS])]
    table = [*head, _rule(), *(_without(name) for name in named if name not in bars)]
    print("\n".join(table), flush=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task("releases", total=len(scene) * (asked.releases + asked.search))
        made = covered(
            scene,
            asked.releases,
            asked.search,
            asked.confidence,
            asked.processes,
            lambda count: bar.advance(shown, count),
        )
        for lines in made:
            found += lines
            table += _rows([_told(lines)])
            print(table[-1], flush=True)
    wrong = broken(found)
    said = _verdict(found, wrong)
    print(f"\n{said}")
    if asked.report:
        asked.report.write_text("\n".join([*table, "", said, ""]), encoding="utf-8")
    sys.exit(1 if wrong else 0)


def _told(lines: Sequence[Line]) -> tuple[str, ...]:
    """A scene, with its worst question."""
    least = min(lines, key=lambda line: line.held)
    mean = sum(line.part for line in lines) / len(lines)
    parts = (f"{mean:.4f}", f"{least.part:.4f}", f"{least.chance:.2g}")
    return (least.scene, str(len(lines)), *parts, least.question)


def _verdict(found: Sequence[Line], wrong: Sequence[Line]) -> str:
    if not wrong:
        return f"No promise is broken: {len(found)} questions, one chance in {1 / DOUBT:,.0f} of a false alarm."
    each = (f"{line.scene}: {line.question} held {line.part:.4f} (chance {line.chance:.2g})" for line in wrong)
    return f"Promises that were broken: {'; '.join(each)}."


def _without(name: str) -> str:
    return _rows([(name, "0", "", "", "", "gives no intervals")])[0]


def _rows(rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in rows]


def _rule() -> str:
    return f"|{'---|' * len(COLUMNS)}"


if __name__ == "__main__":
    main()
