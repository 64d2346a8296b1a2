"""How fast ``dawa --help`` answers: ``python -m dawa_bench.startup``.

The median of ten runs, in seconds and as a ratio to an interpreter that does nothing; all are measured in turn.
"""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import dawa": ["-c", "import dawa"],
    "dawa --version": ["-m", "dawa", "--version"],
    "dawa --help": ["-m", "dawa", "--help"],
    "dawa release --help": ["-m", "dawa", "release", "--help"],
    "dawa ledger --help": ["-m", "dawa", "ledger", "--help"],
}
REPEATS = 10


def seconds(arguments: list[str]) -> float:
    """One run of the interpreter."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)  # noqa: S603  our own commands
    return time.perf_counter() - start


def main() -> None:
    """Print a line per command."""
    runs: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(REPEATS + 1):
        for name, arguments in COMMANDS.items():
            runs[name].append(seconds(arguments))
    medians = {name: statistics.median(times[1:]) for name, times in runs.items()}  # the first one warms the disk
    print(f"{'':<22}{'seconds':>9}{'ratio':>8}")
    for name, median in medians.items():
        print(f"{name:<22}{median:>9.3f}{median / medians['python -c pass']:>8.1f}")


if __name__ == "__main__":
    main()
