"""What a long ledger costs: ``python -m dawa_bench.bookings``.

A booking in a process that has not read the ledger before, as of one command, and one in a process that has; the median
of some runs, in seconds and as a ratio to a ledger with a single account and nothing else.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from dawa import ledger
from dawa.ledger import entries

BOOK = """
import json, sys, time
from dawa import ledger
times = []
for _ in range(3):
    start = time.perf_counter()
    ledger.opened(sys.argv[1]).reserve("hr", "0.001", what={}, mechanism="dawa")
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""
WHAT = {"axes": [{"kind": "number", "column": "age", "start": "0", "stop": "100", "step": "1"}], "source": "people.csv"}


def lengthened(path: Path, length: int) -> Path:
    """A ledger of so many entries: releases that were paid for and made, written at once instead of one by one."""
    book = ledger.opened(path)
    book.create("hr", cap=10**6, unit="record")
    if length <= 1:
        return path
    book.reserve("hr", "0.1", what=WHAT, mechanism="dawa").finalise("0" * 32, "out/0")
    paid, made = book.history()[-2:]
    columns = ", ".join(entries.COLUMNS)
    rows, last = [], made
    for number in range(made.number + 1, length + 1, 2):
        for draft in (
            replace(paid, number=number),
            replace(made, number=number + 1, reservation=number, release_id=f"{number:032x}", file=f"out/{number}"),
        ):
            entry = replace(draft, previous=last.hash)
            last = replace(entry, hash=entries.digest(entries.row(entry)))
            rows.append(entries.row(last))
    with closing(sqlite3.connect(path)) as connection, connection:
        marks = ", ".join("?" * len(entries.COLUMNS))
        connection.executemany(f"INSERT INTO dawa_ledger_entries ({columns}) VALUES ({marks})", rows)  # noqa: S608  ours
    return path


def measured(path: Path, repeats: int) -> tuple[float, float]:
    """Seconds of the first booking of a process, and of a later one; medians."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-c", BOOK, str(path)]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  ours
        runs.append(json.loads(ran.stdout))
    return statistics.median(times[0] for times in runs), statistics.median(times[2] for times in runs)


def main() -> None:
    """Print a line per length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, nargs="+", default=[1, 1_001, 10_001, 50_001], help="lengths of ledgers")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each")
    asked = parser.parse_args()
    print(f"{'entries':>9}{'first booking':>16}{'ratio':>8}{'next booking':>15}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        least = measured(lengthened(Path(folder) / "short.db", 1), asked.repeats)
        for length in asked.entries:
            first, later = measured(lengthened(Path(folder) / f"{length}.db", length), asked.repeats)
            ratios = first / least[0], later / least[1]
            print(f"{length:>9,}{first:>14.3f} s{ratios[0]:>8.1f}{later:>13.3f} s{ratios[1]:>8.1f}")


if __name__ == "__main__":
    main()
