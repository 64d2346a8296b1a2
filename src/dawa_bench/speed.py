"""Speed as ratios to things measured in the same run: ``python -m dawa_bench.speed``.

Medians of several warm runs. The yardstick is sorting as many random integers as there are cells, because sorting is
n·log n too and known to everyone. It is NumPy's stable sort, which is the same on every processor; the default one is
twelve times as fast on those with registers of 64 bytes. ``--beside PYTHON`` times the estimates of another
installation of dawa, too.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import dawa
from dawa.arrays import IntArray


def median_seconds(action: Callable[[], object], repeats: int) -> float:
    """The median time of a warm call."""
    action()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def domain(n: int) -> IntArray:
    """Counts with structure at every scale: smooth hills, flat stretches, rough stretches and spikes."""
    rng = np.random.default_rng(n)
    position = np.arange(n) / n
    rate = 40 * np.exp(-(((position - 0.3) / 0.15) ** 2)) + 5 * (position > 0.6)
    rough = (position > 0.8) & (position < 0.85)
    rate[rough] = rng.gamma(0.3, 400, rough.sum())
    counts: IntArray = rng.poisson(rate).astype(np.int64)
    counts[rng.integers(0, n, 40)] += rng.integers(100, 5000, 40)
    return counts


def sort_seconds(n: int) -> float:
    """Sorting n random 64-bit integers."""
    numbers = np.random.default_rng(0).integers(0, 2**62, n)
    return median_seconds(lambda: np.sort(numbers, kind="stable"), 7)


def estimate_seconds(n: int, effort: str, repeats: int, epsilon: str = "0.1") -> float:
    """One estimate with 2,000 queries."""
    counts, workload = domain(n), dawa.workloads.uniform(n, 2000)
    return median_seconds(lambda: dawa.estimate(counts, workload, epsilon=epsilon, effort=effort), repeats)


def seconds_of(python: str, n: int, effort: str) -> float:
    """One warm estimate with 2,000 queries in a process of its own, by any installation of dawa."""
    code = f"import dawa_bench.speed as s; print(s.estimate_seconds({n}, {effort!r}, 9))"
    out = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    return float(out.stdout)


def peak_megabytes(n: int) -> float:
    """Peak memory of a fresh process that makes one estimate, including the interpreter and its libraries."""
    code = f"import dawa_bench.speed as s; s.estimate_seconds({n}, 'fast', 1); print(s.own_peak())"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    return float(out.stdout)


def own_peak() -> float:
    """Peak memory of this process in megabytes."""
    import resource  # noqa: PLC0415  not on every system

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def import_seconds() -> float:
    """``import dawa`` in a fresh interpreter, without the time to start the interpreter."""
    times = []
    for statement in ("import dawa", "pass"):
        runs = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)  # noqa: S603
            runs.append(time.perf_counter() - begin)
        times.append(float(np.median(runs)))
    return times[0] - times[1]


def main() -> None:
    """Print times, their ratios, and how time grows with the domain."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=22, help="log2 of the largest domain (default: 22)")
    parser.add_argument("--beside", help="the Python of another installation of dawa, which is timed, too")
    chosen = parser.parse_args()
    largest = chosen.largest
    print(f"import dawa: {import_seconds():.2f} s")
    # First: where processes are forked, one begins with the peak of the one that started it.
    print(f"peak memory at n = 1,048,576: {peak_megabytes(2**20):.0f} MB")
    fast = estimate_seconds(4096, "fast", 15)
    print(f"n = 4,096, 2,000 queries, effort=fast: {1e3 * fast:.1f} ms, {fast / sort_seconds(4096):.0f} sorts")
    best = estimate_seconds(4096, "best", 5)
    print(f"n = 4,096, 2,000 queries, effort=best: {best:.2f} s")
    print(f"{'n':>9} {'seconds':>9} {'sorts':>7} {'growth':>7} {'n·log²n':>8}")
    before = None
    for power in range(14, largest + 1, 2):
        n = 2**power
        seconds = estimate_seconds(n, "fast", 5)
        growth = f"{seconds / before[1]:7.2f} {n * power**2 / (before[0] * (power - 2) ** 2):8.2f}" if before else ""
        print(f"{n:9,} {seconds:9.3f} {seconds / sort_seconds(n):7.1f} {growth}")
        before = n, seconds
    if chosen.beside:
        print(f"{'n':>9} {'effort':>7} {'seconds':>9} {'beside':>9}")
        for n, effort in ((4096, "fast"), (4096, "best"), (2**20, "fast")):
            both = (seconds_of(python, n, effort) for python in (sys.executable, chosen.beside))
            print(f"{n:9,} {effort:>7} " + " ".join(f"{seconds:9.4f}" for seconds in both))


if __name__ == "__main__":
    main()
