"""Every mechanism under the same conditions: ``python -m dawa_bench.rivals``.

Mean L1 error per query on 2,000 uniform intervals, beside the research code's errors if there is a file of them, and
the median time of a run. The research code is not private in several places (the proof files say where); its figures
are only for comparison.

Examples:
  python -m dawa_bench.rivals                                    all but the slowest
  python -m dawa_bench.rivals efpa --set share=1/2 --set weights=equal --set cells=False
  python -m dawa_bench.rivals mwem --set rounds=100 --against "MWEM(T=100)"
"""

import time
from dataclasses import dataclass

import numpy as np

import dawa
from dawa.arrays import IntArray
from dawa_bench import comparison
from dawa_bench.comparison import EPSILONS, geometric

REFERENCE = {
    "dawa": "DAWA",
    "greedy-h": "GreedyH",
    "identity": "Identity",
    "privelet": "Privelet",
    "hierarchical": "H2",
    "hb": "HB",
    "efpa": "EFPA",
    "php": "PHP",
    "structure-first": "StructureFirst",
    "mwem": "MWEM(T=10)",
}
"""The research code's names of our mechanisms."""

SLOW = {"dawa-2014-all"}
COLUMNS = ("mechanism", "error · ε", "geometric mean of ratios", "ratio of means", "largest ratio", "seconds")


@dataclass(frozen=True)
class Case:
    """One histogram and epsilon: our error, the research code's if known, and the seconds of a run."""

    epsilon: float
    error: float
    theirs: float | None
    seconds: float


def measured(
    name: str,
    counts: IntArray,
    epsilon: str,
    workloads: int,
    trials: int,
    first_seed: int,
    options: dict[str, object],
) -> tuple[float, float]:
    """Mean absolute error per query, and the median seconds of a run."""
    errors, seconds = [], []
    for number in range(workloads):
        workload = dawa.workloads.uniform(len(counts), 2000, seed=number)
        truth = workload.answers(counts)
        for trial in range(trials):
            seed = first_seed + 1000 * number + trial
            begin = time.perf_counter()
            found = dawa.estimate(counts, workload, epsilon=epsilon, mechanism=name, seed=seed, **options)
            seconds.append(time.perf_counter() - begin)
            errors.append(np.abs(found.answers(workload) - truth).mean())
    return float(np.mean(errors)), float(np.median(seconds))


def row(name: str, cases: list[Case]) -> list[str]:
    """One line of the table."""
    known = [(case.error, case.theirs) for case in cases if case.theirs]
    compared = ["", "", ""]
    if known:
        ratios = [ours / theirs for ours, theirs in known]
        means = sum(ours for ours, _ in known) / sum(theirs for _, theirs in known)
        compared = [f"{geometric(ratios):.2f}", f"{means:.2f}", f"{max(ratios):.2f}"]
    scaled = geometric([case.error * case.epsilon for case in cases])
    return [name, f"{scaled:,.1f}", *compared, f"{np.median([case.seconds for case in cases]):.3f}"]


def main() -> None:
    """Print one line per mechanism, as a Markdown table."""
    parser = comparison.parser_of_many(__doc__, comparison.REFERENCE, trials=3)
    parser.add_argument("--workloads", type=int, default=5)
    chosen = parser.parse_args()
    names = chosen.mechanisms or [name for name in dawa.mechanisms.names() if name not in SLOW]
    kind, histograms = comparison.measured_on(1)
    reference = comparison.reference_errors(chosen.reference)
    options = dict(chosen.set)
    print(f"On {kind} data, {len(histograms)} histograms; options: {options or 'the defaults'}\n")
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for name in names:
        dawa.estimate(np.ones(64, np.int64), epsilon=1, mechanism=name, **options)
        cases = []
        for number, (dataset, counts) in enumerate(histograms.items()):
            for epsilon in EPSILONS:
                theirs = reference.get((chosen.against or REFERENCE.get(name, ""), dataset, epsilon))
                if chosen.against and theirs is None:
                    continue
                error, seconds = measured(
                    name, counts, epsilon, chosen.workloads, chosen.trials, 10_000 * number, options
                )
                cases.append(Case(float(epsilon), error, theirs, seconds))
        print(f"| {' | '.join(row(f'`{name}`', cases))} |", flush=True)


if __name__ == "__main__":
    main()
