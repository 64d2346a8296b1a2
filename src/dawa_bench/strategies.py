"""Expected error of every strategy at epsilon = 1, exactly: ``python -m dawa_bench.strategies``.

Root mean squared error per query when every cell is its own bucket; no data and no randomness are involved.
"""

import time

import numpy as np

import dawa
from dawa.queries.workload import Workload
from dawa.strategy import choose
from dawa.strategy.base import RESOLUTION

CASES: tuple[tuple[str, Workload, float | None], ...] = (
    ("all ranges, n = 256", dawa.workloads.all_ranges(256), None),
    ("all ranges, n = 1,024", dawa.workloads.all_ranges(1024), 11.3),
    ("prefixes, n = 1,024", dawa.workloads.prefixes(1024), 9.9),
    ("uniform intervals, n = 4,096", dawa.workloads.uniform(4096), 14.5),
    ("clustered intervals, n = 4,096", dawa.workloads.clustered(4096), None),
    ("uniform intervals, n = 65,536", dawa.workloads.uniform(65536), None),
)
STRATEGIES = (
    ("leaves", "leaves", "fast"),
    ("uniform", "uniform", "fast"),
    ("geometric", "geometric", "fast"),
    ("greedy", "greedy", "fast"),
    ("levels", "levels", "fast"),
    ("best, fast", "best", "fast"),
    ("best", "best", "best"),
)


def main() -> None:
    """Print one line per workload and one column per strategy."""
    print("RMSE per query at epsilon = 1; seconds for the default in the last column")
    print(f"{'workload':32}" + "".join(f"{title:>12}" for title, _, _ in STRATEGIES) + f"{'seconds':>9}  target")
    for title, workload, target in CASES:
        queries = workload.on_buckets(np.arange(workload.size + 1))
        allowance = np.full(workload.size, RESOLUTION)
        errors, seconds = [], 0.0
        for _, name, effort in STRATEGIES:
            begin = time.perf_counter()
            strategy = choose.choose(queries, allowance, name, "fast" if effort == "fast" else "best")
            seconds = time.perf_counter() - begin
            errors.append(np.sqrt(2 * strategy.expected_error(queries) / queries.total))
        numbers = "".join(f"{error:12.2f}" for error in errors)
        print(f"{title:32}{numbers}{seconds:9.2f}  {f'<= {target}' if target else ''}")


if __name__ == "__main__":
    main()
